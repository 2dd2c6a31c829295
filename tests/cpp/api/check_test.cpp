// Checks: the same call is at fault first, whoever runs the program, and none is lost, whatever is made of it.
#include <gtest/gtest.h>

#include "primitives/families/check.h"
#include "support/batches.h"
#include "support/gradient_check.h"
#include "support/random_loops.h"
#include "support/run_compiled.h"
#include "transform/check_values.h"

namespace anvil::test {
namespace {

using graph::Graph;
using transform::Faults;

template <class F>
std::string failure(F&& run) {
  try {
    run();
  } catch (const Error& e) {
    return e.kind + " " + std::to_string(e.location) + ": " + e.what();
  }
  return "none";
}
// What both say, who must agree.
std::string failure_of(const Graph& g, const std::vector<Tensor>& at) {
  const std::string by_evaluator = failure([&] { eigen::evaluate(g, at); });
  EXPECT_EQ(failure([&] { run_compiled(g, at); }), by_evaluator);
  return by_evaluator;
}
// Behind about every eighth call, a root of what it gives, and an exponential: NaN here and there, and Inf.
void add_roots(Graph& g, std::mt19937_64& random) {
  for (graph::Call c : std::exchange(g.calls, {})) {
    if (primitives::control_of(c) != primitives::Control::none)
      for (graph::Param& p : c.params.items)
        if (auto* inner = std::get_if<graph::GraphPtr>(&p.value)) {
          *inner = std::make_shared<Graph>(**inner);
          add_roots(**inner, random);
        }
    const graph::ValuePtr made = c.outputs.at(0);
    g.calls.push_back(std::move(c));
    if (random() % 8 != 0 || made->type.tape || made->type.dtype != DType::f64) continue;
    const Var x{&g, made};
    sqrt(x + 0.002 * static_cast<double>(random() % 200));
    exp(x * 3000.0);
  }
}
void number_calls(Graph& g, int& next) {
  for (graph::Call& c : g.calls) {
    c.location = next++;
    for (const graph::GraphPtr& inner : subgraphs(c)) number_calls(*inner, next);
  }
}
graph::GraphPtr checked(const Graph& g, Faults faults) {
  graph::Substitution map;
  auto copy = graph::clone(*primitives::expand(g, primitives::Reader::backend), map);
  transform::check_values(*copy, faults);
  primitives::verify(*copy);
  return copy;
}

bool at_fault(const Tensor& t, Faults faults) {
  bool found = false;
  if (is_float(t.type.dtype))
    for (int64_t k = 0; k < elements(t.type.shape); ++k) {
      const double x = element(t, k).as<double>();
      found = found || (faults == Faults::nan ? std::isnan(x) : !std::isfinite(x));
    }
  return found;
}
// The first result that is at fault, where no input is: without checks.
std::string expected_failure(const Graph& g, const std::vector<Tensor>& at, Faults faults) {
  std::string first = "none";
  eigen::Options options;
  options.observe = [&](const graph::Call& c, const Tensor& t) {
    if (first == "none" && at_fault(t, faults) && primitives::control_of(c) == primitives::Control::none)
      first = "nan " + std::to_string(c.location) + ": `" + c.primitive->name + "` produced " +
              (faults == Faults::nan ? "NaN." : "NaN or Inf.");
  };
  eigen::evaluate(g, at, options);
  return first;
}

TEST(Check, RandomLoopsStopAtTheFirstFault) {
  int found = 0;
  for (uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(seed);
    const int64_t length = RandomLoops(seed).length;
    const std::vector<Tensor> at = {spread_values(DType::f64, {}), spread_values(DType::f64, {length}),
                                    spread_values(DType::f64, {length})};
    Graph g = build([seed](Graph& inner, const std::vector<Var>& x) { return RandomLoops(seed)(inner, x); }, at);
    weigh(g, 1);
    graph::GraphPtr program = std::make_shared<Graph>(g);
    if (seed % 2 == 0) program = transform::gradient(g, {true, true, true}, true);
    program = primitives::expand(*program, primitives::Reader::backend);
    std::mt19937_64 random(seed);
    add_roots(*program, random);
    int next = 0;
    number_calls(*program, next);
    for (const Faults faults : {Faults::nan, Faults::not_finite}) {
      const std::string expected = expected_failure(*program, at, faults);
      ASSERT_EQ(failure_of(*checked(*program, faults), at), expected);
      found += expected != "none";
    }
  }
  EXPECT_GT(found, 12);
  EXPECT_LT(found, 45);
}

TEST(Check, AFaultOfAnOperandIsNotTheCalls) {
  Graph g;
  const Var x = input(g, {DType::f64, {2}, false});
  g.outputs = {log(x + 1.0).value};
  int next = 0;
  number_calls(g, next);
  const auto program = checked(g, Faults::nan);
  EXPECT_EQ(failure_of(*program, {tensor(DType::f64, {2}, {1, 2})}), "none");
  EXPECT_EQ(failure_of(*program, {tensor(DType::f64, {2}, {1, -2})}), "nan 1: `log` produced NaN.");
  EXPECT_EQ(failure_of(*program, {tensor(DType::f64, {2}, {NAN, 2})}), "none");
  EXPECT_EQ(failure_of(*program, {tensor(DType::f64, {2}, {-1, 2})}), "none") << "Inf is none";
  EXPECT_EQ(failure_of(*checked(g, Faults::not_finite), {tensor(DType::f64, {2}, {-1, 2})}),
            "nan 1: `log` produced NaN or Inf.");
}

TEST(Check, SmallFloatsAndEmptyTensors) {
  for (const DType t : {DType::f16, DType::bf16, DType::f32}) {
    Graph g;
    const Var x = input(g, {t, {3}, false}), none = input(g, {t, {0}, false});
    g.outputs = {sqrt(x).value, sqrt(none).value};
    const auto program = checked(g, Faults::nan);
    const Tensor empty = tensor(t, {0}, {});
    EXPECT_EQ(failure_of(*program, {tensor(t, {3}, {1, 2, 3}), empty}), "none");
    EXPECT_EQ(failure_of(*program, {tensor(t, {3}, {1, 2, -3}), empty}), "nan -1: `sqrt` produced NaN.");
  }
}

Var require(Var holds, const std::string& what) {
  primitives::check(holds, "argument", what, -1);
  return holds;
}

// Of what the program is for, nothing is left but the checks.
TEST(Check, StaysWhereNobodyReadsAnything) {
  Graph g;
  const Var x = input(g, {DType::f64, {}, false});
  require(x > 0.0, "first");
  require(sin(x) < 0.5, "second");
  g.outputs = {x.value};
  for (const auto& program : {std::make_shared<Graph>(g), transform::gradient(g, {true}, false), optimized(g)}) {
    EXPECT_EQ(failure_of(*program, {tensor(DType::f64, {}, {0.1})}), "none");
    EXPECT_EQ(failure_of(*program, {tensor(DType::f64, {}, {-4})}), "argument -1: first");
    EXPECT_EQ(failure_of(*program, {tensor(DType::f64, {}, {1})}), "argument -1: second");
  }
}

TEST(Check, EqualOnesInTheOrderOfTheCalls) {
  Graph g;
  const Var x = input(g, {DType::f64, {}, false}), y = input(g, {DType::f64, {}, false});
  require(x > 0.0, "x");
  require(y > 0.0, "y");
  require(x > 0.0, "x");
  g.outputs = {(x + y).value};
  EXPECT_EQ(optimized(g)->calls.size(), 6u);
  EXPECT_EQ(failure_of(g, {tensor(DType::f64, {}, {1}), tensor(DType::f64, {}, {-1})}), "argument -1: y");
}

TEST(Check, OnlyExamplesThatComeThereAreChecked) {
  Graph g;
  const Var x = input(g, {DType::f64, {}, false});
  const auto yes = primitives::inner_graph({}, [&](Graph& inner, const primitives::Vars&) {
    const Var here{&inner, x.value};
    require(here < 3.0, "large");
    return primitives::Vars{sin(here)};
  });
  const auto no = primitives::inner_graph({}, [&](Graph& inner, const primitives::Vars&) {
    return primitives::Vars{Var{&inner, x.value}};
  });
  g.outputs = primitives::branch(g, (x > 0.0).value, yes, no);
  const auto together = transform::batch(g, {true}, 3);
  EXPECT_EQ(failure_of(*together, {tensor(DType::f64, {3}, {1, 2, -5})}), "none");
  EXPECT_EQ(failure_of(*together, {tensor(DType::f64, {3}, {1, -5, 5})}), "argument -1: large");
}

}  // namespace
}  // namespace anvil::test
