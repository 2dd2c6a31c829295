// Printing: the same numbers in the same order, whoever runs the program, and once, whatever is made of it.
#include <gtest/gtest.h>

#include <cstring>

#include "base/memory.h"
#include "base/printing.h"
#include "support/batches.h"
#include "support/gradient_check.h"
#include "support/random_loops.h"
#include "support/run_compiled.h"
#include "transform/rewrite.h"

namespace anvil::test {
namespace {

using graph::Graph;
using graph::ValuePtr;

// What has been printed while it lives.
struct Printout {
  struct Line {
    std::string format;
    Tensor tensor;
  };
  std::vector<Line> lines;
  Printout() {
    now = this;
    set_printer([](std::string_view format, std::span<const DenseTensor> tensors) {
      const DenseTensor& t = tensors.front();
      const Tensor copy = graph::allocate({t.dtype, Shape(t.shape.begin(), t.shape.end()), t.ambiguous});
      std::memcpy(copy.data.get(), t.data, bytes_of(t.dtype, copy.type.shape));
      now->lines.push_back({std::string(format), copy});
    });
  }
  ~Printout() { set_printer(nullptr); }
  Printout(const Printout&) = delete;
  Printout& operator=(const Printout&) = delete;
  std::string formats() const {
    std::string all;
    for (const Line& l : lines) all += l.format + " ";
    return all;
  }
  static Printout* now;
};
Printout* Printout::now = nullptr;

Var print(Graph& g, const std::string& format, Var x) {
  primitives::record(g, primitives::registry().at("print"), {x.value}, {{"format", format}});
  return x;
}

// A print behind about every third call, inner graphs included, numbered in `next`; in conditions of loops
// only if `tests`: a loop in segments asks once more when one begins.
void add_prints(Graph& g, std::mt19937_64& random, int& next, bool tests) {
  const std::vector<graph::Call> calls = std::exchange(g.calls, {});
  for (graph::Call c : calls) {
    for (graph::Param& p : c.params.items) {
      auto* inner = std::get_if<graph::GraphPtr>(&p.value);
      if (inner == nullptr || primitives::control_of(c) == primitives::Control::none) continue;  // regions only compute
      if (p.name == "cond_graph" && !tests) continue;
      *inner = std::make_shared<Graph>(**inner);
      add_prints(**inner, random, next, tests);
    }
    const ValuePtr made = c.outputs.at(0);
    g.calls.push_back(std::move(c));
    if (random() % 3 == 0 && !made->type.tape) print(g, std::to_string(next++), {&g, made});
  }
}

Graph printing_loops(uint64_t seed, const std::vector<Tensor>& at, bool tests) {
  Graph g = build([seed](Graph& inner, const std::vector<Var>& x) { return RandomLoops(seed)(inner, x); }, at);
  std::mt19937_64 random(seed);
  int next = 0;
  add_prints(g, random, next, tests);
  return g;
}
std::vector<Tensor> arguments(uint64_t seed) {
  const int64_t length = RandomLoops(seed).length;
  return {spread_values(DType::f64, {}, -0.8, 0.8), spread_values(DType::f64, {length}),
          spread_values(DType::f64, {length})};
}

template <class F>
std::string printed_by(F&& f, std::vector<Printout::Line>* lines = nullptr) {
  Printout out;
  f();
  if (lines != nullptr) *lines = out.lines;
  return out.formats();
}

TEST(Print, CompiledLoopsPrintWhatTheEvaluatorPrints) {
  size_t total = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const std::vector<Tensor> at = arguments(seed);
    const Graph g = printing_loops(seed, at, true);
    std::vector<Printout::Line> expected, lines;
    const std::string formats = printed_by([&] { eigen::evaluate(g, at); }, &expected);
    total += expected.size();
    ASSERT_EQ(printed_by([&] { run_compiled(g, at); }, &lines), formats);
    for (size_t i = 0; i < lines.size(); ++i) {
      const Tensor &x = expected[i].tensor, &y = lines[i].tensor;
      ASSERT_EQ(x.type, y.type);
      for (int64_t k = 0; k < elements(x.type.shape); ++k)
        ASSERT_NEAR(element(x, k).as<double>(), element(y, k).as<double>(), 1e-9);
    }
  }
  EXPECT_GT(total, 1000u);
}

TEST(Print, DerivativesPrintOnce) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    const std::vector<Tensor> at = arguments(seed);
    Graph g = printing_loops(seed, at, false);
    weigh(g, 1);
    const std::string formats = printed_by([&] { eigen::evaluate(g, at); });
    const auto slopes = transform::gradient(g, {true, true, true}, true);
    EXPECT_EQ(printed_by([&] { eigen::evaluate(*slopes, at); }), formats);
    EXPECT_EQ(printed_by([&] { run_compiled(*slopes, at); }), formats);
    std::vector<Tensor> with_tangents = at;
    with_tangents.insert(with_tangents.end(), at.begin(), at.end());
    const auto tangents = transform::jvp(g, {true, true, true});
    EXPECT_EQ(printed_by([&] { run_compiled(*tangents, with_tangents); }), formats);
    if (seed % 4 != 0) continue;
    weigh(*slopes, 2);
    const auto second = transform::gradient(*slopes, {true, true, true}, false);
    EXPECT_EQ(printed_by([&] { run_compiled(*second, at); }), formats);
  }
}

Tensor doubles(const Shape& shape, const std::vector<double>& values) { return tensor(DType::f64, shape, values); }

TEST(Print, APartOfAProgramThatOnlyPrintsStays) {
  Graph g;
  const Var x = input(g, {DType::f64, {}, false});
  print(g, "a", x * 2.0);
  primitives::reduce_sum(broadcast_in_dim(print(g, "b", sin(x)), {3}, {}), {0});
  g.outputs = {x.value};
  EXPECT_EQ(printed_by([&] { run_compiled(g, {doubles({}, {1})}); }), "a b ");
  EXPECT_EQ(printed_by([&] { eigen::evaluate(g, {doubles({}, {1})}); }), "a b ");
}

// A branch without results.
TEST(Print, ABranchThatOnlyPrints) {
  Graph g;
  const Var x = input(g, {DType::f64, {}, false});
  auto yes = std::make_shared<Graph>(), no = std::make_shared<Graph>();
  print(*yes, "yes", x * x);
  for (const auto& branch : {yes, no}) transform::list_constants(*branch);
  auto body = std::make_shared<Graph>();
  primitives::branch(*body, (x > 0.0).value, yes, no);
  body->outputs = {sin(Var{body.get(), x.value}).value};
  transform::list_constants(*body);
  g.outputs = primitives::checkpoint(g, body);
  const auto slopes = transform::gradient(g, {true}, false);
  EXPECT_EQ(printed_by([&] { run_compiled(*slopes, {doubles({}, {1})}); }), "yes ");
  EXPECT_EQ(printed_by([&] { run_compiled(*slopes, {doubles({}, {-1})}); }), "");
}

TEST(Print, EachExampleOfABatchPrints) {
  Graph g;
  const Var x = input(g, {DType::f64, {2}, false});
  g.outputs = {sin(print(g, "x", x)).value};
  std::vector<Printout::Line> lines;
  const auto together = transform::batch(g, {true}, 3);
  printed_by([&] { run_compiled(*together, {doubles({2, 3}, {1, 2, 3, 4, 5, 6})}); }, &lines);
  ASSERT_EQ(lines.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(element(lines[i].tensor, 1).as<double>(), 2.0 * static_cast<double>(i) + 2);
}

TEST(Print, AResultThatIsReadIsTheOperand) {
  Graph g;
  const Var x = input(g, {DType::f64, {2}, false});
  const Var y{&g,
              primitives::record(g, primitives::registry().at("print"), {x.value}, {{"format", std::string("x")}})[0]};
  g.outputs = {primitives::reduce_sum(y * y, {0}).value};
  const auto slopes = transform::gradient(g, {true}, false);
  std::vector<Tensor> results;
  EXPECT_EQ(printed_by([&] { results = run_compiled(*slopes, {doubles({2}, {1, 2})}); }), "x ");
  EXPECT_EQ(element(results[0], 1).as<double>(), 4);
}

TEST(Print, AFailureOfThePrinterEndsTheRun) {
  Graph g;
  const Var x = input(g, {DType::f64, {}, false});
  g.outputs = {sin(print(g, "x", x)).value};
  set_printer([](std::string_view, std::span<const DenseTensor>) { throw Error("argument", "no paper"); });
  EXPECT_THROW(run_compiled(g, {doubles({}, {1})}), Error);
  set_printer(nullptr);
}

}  // namespace
}  // namespace anvil::test
