// Where the packed kernel is worth it: products of many shapes and layouts, each as loops and over packed
// blocks, and which of the two compiler/contraction.cpp chooses. A good rule chooses the faster one, or
// nearly.
//
//   anvil_bench_contractions [ROWS], built by CMake from tests/cpp: those with ROWS in their text;
//   ANVIL_LLVM_LIBRARY names the code generator
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "anvil.h"
#include "compiler/passes.h"
#include "primitives/vocabulary/composite.h"
#include "primitives/vocabulary/var.h"
#include "runtime/run.h"
#include "runtime/threads.h"
#include "support/convolution.h"

namespace {

using namespace anvil;
using test::Layer;
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

std::string wanted;  // rows with this in their text

void compare(const std::string& text, const graph::Graph& g, double work) {
  if (text.find(wanted) == std::string::npos) return;
  const double as_loops = milliseconds(compiled(g, true, false), g), blocks = milliseconds(compiled(g, false, true), g);
  const bool chosen = packed(compiled(g, false, false));
  std::printf("%-44s loops %9.3f ms  packed %9.3f ms %6.1f GFLOP/s  %s %s\n", text.c_str(), as_loops, blocks,
              2e-6 * work / blocks, chosen ? "packed" : "loops",
              (chosen ? blocks / as_loops : as_loops / blocks) > 1.25 ? "  <- the other one is faster" : "");
}

void row(const char* x, const char* y, const Sizes& sizes) {
  const graph::GraphPtr g = product(x, y, sizes);
  transform::optimize(*g);
  std::string text = std::string(x) + " x " + y;
  for (const auto& [letter, n] : sizes) text += std::string(" ") + letter + std::to_string(n);
  double work = 1;
  for (const auto& [_, n] : sizes) work *= static_cast<double>(n);
  compare(text, *g, work);
}

// A convolution of examples [batch, features, size, size] with kernels of `window` by `window`: its value, and its
// derivatives by the input and by the kernel.
void rows(const Layer& l) {
  const auto input = [](graph::Graph& g, Shape shape) {
    g.inputs.push_back(graph::make_value(graph::Value::Kind::input, {DType::f32, std::move(shape), false}));
    return primitives::Var{&g, g.inputs.back()};
  };
  graph::Graph g;
  const auto x = input(g, l.input()), w = input(g, l.kernel());
  const auto y = test::convolved(l, x, w);
  const Shape of_y = y.shape();
  const double work = static_cast<double>(elements(of_y) * elements(w.shape()) / l.results);
  g.outputs = {y.value};
  graph::Graph sum = g;
  sum.outputs = {primitives::reduce_sum(primitives::Var{&sum, y.value} * input(sum, of_y), {0, 1, 2, 3}).value};
  const graph::GraphPtr by_x = transform::gradient(sum, {true, false, false}, false),
                        by_w = transform::gradient(sum, {false, true, false}, false);
  const std::string text = std::to_string(l.batch) + "x" + std::to_string(l.features) + "x" + std::to_string(l.size) +
                           "^2 to " + std::to_string(l.results) + ", " + std::to_string(l.window) + "^2" +
                           (l.groups > 1 ? ", groups " + std::to_string(l.groups) : "") +
                           (l.stride > 1 ? ", stride " + std::to_string(l.stride) : "");
  for (auto [what, graph] : {std::pair{"", &g}, {" by input", by_x.get()}, {" by kernel", by_w.get()}}) {
    const graph::GraphPtr expanded = primitives::expand(*graph, primitives::Reader::backend);
    transform::optimize(*expanded);
    compare(text + what, *expanded, work);
  }
}

}  // namespace

int main(int count, char** arguments) {
  runtime::set_threads(1);
  if (count > 1) wanted = arguments[1];
  for (int64_t n : {4, 8, 16, 32, 64, 128, 256, 512})
    for (const char* y : {"kn", "nk"})
      for (const char* x : {"mk", "km"}) row(x, y, {{'m', 512}, {'n', n}, {'k', 256}});
  for (int64_t m : {4, 8, 16, 32, 64, 128}) row("mk", "kn", {{'m', m}, {'n', 512}, {'k', 256}});
  for (int64_t n : {2, 3, 4, 6, 8, 12})  // more than a cache holds with a few columns, or rows
    for (const char* x : {"mk", "km"}) {
      row(x, "kn", {{'m', 1000}, {'n', n}, {'k', 1000}});
      row(x, "kn", {{'n', 1000}, {'m', n}, {'k', 1000}});
      row(x, "nk", {{'n', 1000}, {'m', n}, {'k', 1000}});
    }
  for (int64_t m : {2, 4, 8, 16, 24})  // a step of a recurrent cell
    for (int64_t n : {32, 64, 128, 256})
      for (const char* y : {"kn", "nk"}) row("mk", y, {{'m', m}, {'n', n}, {'k', n}});
  for (int64_t n : {8, 16, 24, 32, 48, 64, 128})
    for (const char* x : {"bmk", "mkb"})
      row(x, x[0] == 'b' ? "bnk" : "knb",
          {{'b', std::max<int64_t>(2, (1 << 22) / (n * n * n))}, {'m', n}, {'n', n}, {'k', n}});
  for (int64_t b : {2, 4, 12, 16, 32, 37, 100})
    for (int64_t n : {16, 24, 32, 64}) row("bmk", "bkn", {{'b', b}, {'m', n}, {'n', n}, {'k', n}});
  for (int64_t k : {4, 8, 16, 64, 1024}) row("mk", "kn", {{'m', 256}, {'n', 256}, {'k', k}});
  for (int64_t n : {4, 8, 16, 32})  // deep ones, as derivatives by parameters are
    for (int64_t m : {8, 64})
      for (const char* x : {"km", "mk"})
        for (const char* y : {"kn", "nk"}) row(x, y, {{'m', m}, {'n', n}, {'k', 1 << 14}});
  for (int64_t n : {1, 2, 4, 8, 20, 50})  // of tall matrices
    for (int64_t m : {1, 5, 20, 50}) row("km", "kn", {{'m', m}, {'n', n}, {'k', 50000}});
  for (const Layer& l : {Layer{32, 16, 28, 32, 3}, Layer{32, 16, 28, 8, 3}, Layer{8, 32, 28, 32, 3},
                         Layer{1, 16, 64, 32, 3}, Layer{32, 1, 28, 16, 5}, Layer{8, 32, 28, 32, 3, 1, 2},
                         Layer{16, 32, 28, 32, 3, 4}, Layer{16, 32, 28, 32, 3, 32}, Layer{1, 32, 28, 32, 3, 32}})
    rows(l);
}
