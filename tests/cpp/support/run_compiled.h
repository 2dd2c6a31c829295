// Compiles and runs a graph, as the package does: optimised copy, loop program, machine code.
#pragma once
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "anvil.h"
#include "base/memory.h"
#include "loops/program.h"
#include "primitives/vocabulary/composite.h"
#include "runtime/threads.h"
#include "support/load_llvm.h"

namespace anvil::test {

inline graph::GraphPtr optimized(const graph::Graph& g) {
  graph::Substitution map;
  graph::GraphPtr copy = graph::clone(*primitives::expand(g, primitives::Reader::backend), map);
  transform::inline_scalar_constants(*copy);
  transform::remove_unused_constants(*copy);
  transform::optimize(*copy);
  return copy;
}

// This machine; for every other program with contractions of any size, and for two of four with tasks of
// any size; for every third as if the cache were small.
inline compiler::Target target_for(const graph::Graph& g) {
  compiler::Target target = llvm_backend::target();
  target.any_size = g.calls.size() % 2 == 1;
  if (g.calls.size() % 4 < 2) target.task = 2;
  if (g.calls.size() % 3 == 0) target.cache = 512;
  if (g.calls.size() % 7 == 0) target.cache = 16;
  return target;
}

// A program of loops made of a graph, by each number of threads in turn, from the first on; the results must have
// the same bits, and none of what stood in their memory before.
inline std::vector<graph::Tensor> run_loops(const loops::Program& program, const graph::Graph& g,
                                            const std::vector<graph::Tensor>& inputs,
                                            const std::vector<int>& threads = {2}) {
  loops::verify(program);
  runtime::Executable executable = llvm_backend::compile(program);
  const auto run = [&] {
    std::vector<void*> buffers;
    for (const auto& t : inputs) buffers.push_back(t.data.get());
    for (const auto& v : g.constants) buffers.push_back(v->constant.data.get());
    std::vector<graph::Tensor> outputs;
    for (const auto& v : g.outputs) {
      outputs.push_back(graph::full(v->type, Scalar(-12345)));
      buffers.push_back(outputs.back().data.get());
    }
    runtime::run(executable, buffers.data());
    return outputs;
  };
  runtime::share_everything(true);  // also the small tasks that target_for() asks for
  std::vector<graph::Tensor> first;
  for (int n : threads) {
    runtime::set_threads(n);
    std::vector<graph::Tensor> outputs = run();
    if (first.empty()) first = outputs;
    for (size_t k = 0; k < outputs.size(); ++k)
      if (std::memcmp(outputs[k].data.get(), first[k].data.get(),
                      bytes_of(outputs[k].type.dtype, outputs[k].type.shape)) != 0)
        throw std::logic_error("other bits on " + std::to_string(n) + " threads");
  }
  runtime::set_threads(0);
  runtime::share_everything(false);
  return first;
}

inline std::vector<graph::Tensor> run_compiled(const graph::Graph& g, const std::vector<graph::Tensor>& inputs,
                                               const std::vector<int>& threads = {2},
                                               const compiler::Target* target = nullptr) {
  load_llvm();
  graph::GraphPtr copy = optimized(g);
  return run_loops(compiler::compile(*copy, target ? *target : target_for(*copy)), *copy, inputs, threads);
}

}  // namespace anvil::test
