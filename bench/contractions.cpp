// Where the packed kernel is worth it: products of many shapes and layouts, each as loops and over packed
// blocks, and which of the two compiler/contraction.cpp chooses. A good rule chooses the faster one, or
// nearly.
//
//   anvil_bench_contractions, built by CMake from tests/cpp; ANVIL_LLVM_LIBRARY names the code generator
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "anvil.h"
#include "compiler/passes.h"
#include "primitives/vocabulary/var.h"
#include "runtime/run.h"

namespace {

using namespace anvil;
using Sizes = std::map<char, int64_t>;

// The dimensions of operands by letters: "bmk" and "bnk" are a batch of products with a transposed operand.
graph::GraphPtr product(const std::string& x, const std::string& y, const Sizes& sizes) {
  auto g = std::make_shared<graph::Graph>();
  const auto input = [&](const std::string& letters) {
    Shape shape;
    for (char c : letters) shape.push_back(sizes.at(c));
    g->inputs.push_back(graph::make_value(graph::Value::Kind::input, {DType::f32, shape, false}));
    return primitives::Var{g.get(), g->inputs.back()};
  };
  const auto a = input(x), b = input(y);
  std::vector<int64_t> contracted[2], batch[2];
  for (char c : x)
    if (y.find(c) != std::string::npos) {
      auto& lists = c == 'b' ? batch : contracted;
      lists[0].push_back(static_cast<int64_t>(x.find(c)));
      lists[1].push_back(static_cast<int64_t>(y.find(c)));
    }
  g->outputs.push_back(primitives::dot_general(a, b, contracted[0], contracted[1], batch[0], batch[1]).value);
  return g;
}

double milliseconds(const loops::Program& p, const graph::Graph& g) {
  const runtime::Executable code = llvm_backend::compile(p);
  std::vector<graph::Tensor> tensors;
  std::vector<void*> buffers;
  for (const auto* list : {&g.inputs, &g.outputs})
    for (const auto& v : *list) tensors.push_back(graph::full(v->type, Scalar(0.5)));
  for (const auto& t : tensors) buffers.push_back(t.data.get());
  double best = 1e30, total = 0;
  for (int k = 0; k < 500 && (k < 5 || total < 0.2); ++k) {
    const std::clock_t start = std::clock();
    runtime::run(code, buffers.data());
    const double t = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    best = std::min(best, t), total += t;
  }
  return 1e3 * best;
}

loops::Program compiled(const graph::Graph& g, bool loops, bool all) {
  compiler::Target target = llvm_backend::target();
  target.contract_all = all;
  loops::Program p = compiler::lower(g);
  for (const compiler::Pass& pass : compiler::passes())
    if (!loops || std::string(pass.name) != "contraction") pass.run(p, target);
  return p;
}
bool packed(const loops::Program& p) {
  return std::any_of(p.body.begin(), p.body.end(),
                     [](const loops::Stmt& s) { return std::holds_alternative<loops::Contraction>(s.is); });
}

void row(const char* x, const char* y, const Sizes& sizes) {
  const graph::GraphPtr g = product(x, y, sizes);
  transform::optimize(*g);
  const double as_loops = milliseconds(compiled(*g, true, false), *g),
               blocks = milliseconds(compiled(*g, false, true), *g);
  const bool chosen = packed(compiled(*g, false, false));
  std::string text = std::string(x) + " x " + y;
  for (const auto& [letter, n] : sizes) text += std::string(" ") + letter + std::to_string(n);
  double work = 1;
  for (const auto& [_, n] : sizes) work *= static_cast<double>(n);
  std::printf("%-44s loops %9.3f ms  packed %9.3f ms %6.1f GFLOP/s  %s %s\n", text.c_str(), as_loops, blocks,
              2e-6 * work / blocks, chosen ? "packed" : "loops",
              (chosen ? blocks / as_loops : as_loops / blocks) > 1.25 ? "  <- the other one is faster" : "");
}

}  // namespace

int main() {
  for (int64_t n : {4, 8, 16, 32, 64, 128, 256, 512})
    for (const char* y : {"kn", "nk"})
      for (const char* x : {"mk", "km"}) row(x, y, {{'m', 512}, {'n', n}, {'k', 256}});
  for (int64_t m : {4, 8, 16, 32, 64, 128}) row("mk", "kn", {{'m', m}, {'n', 512}, {'k', 256}});
  for (int64_t n : {8, 16, 24, 32, 48, 64, 128})
    for (const char* x : {"bmk", "mkb"})
      row(x, x[0] == 'b' ? "bnk" : "knb",
          {{'b', std::max<int64_t>(2, (1 << 22) / (n * n * n))}, {'m', n}, {'n', n}, {'k', n}});
  for (int64_t k : {4, 8, 16, 64, 1024}) row("mk", "kn", {{'m', 256}, {'n', 256}, {'k', k}});
}
