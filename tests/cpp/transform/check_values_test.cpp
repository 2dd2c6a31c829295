// Which calls get a check, and what it reads.
#include "transform/check_values.h"

#include <gtest/gtest.h>

#include "primitives/families/control.h"
#include "primitives/vocabulary/inner_graph.h"
#include "support/gradient_check.h"

namespace anvil::test {
namespace {

using graph::Graph;

const graph::TensorType matrix{DType::f64, {2, 3}, false}, scalar{DType::f64, {}, false};

size_t checks_in(const Graph& g) {
  size_t count = 0;
  for (const graph::Call& c : g.calls) {
    count += c.primitive->name == "check";
    for (const graph::GraphPtr& inner : subgraphs(c)) count += checks_in(*inner);
  }
  return count;
}
void add_checks(Graph& g, transform::Faults faults = transform::Faults::nan) {
  transform::check_values(g, faults);
  primitives::verify(g);
}

TEST(CheckValues, OnesThatAreMovedOrMadeOfNothingHaveNoCheck) {
  Graph g;
  const Var x = input(g, matrix);
  const Var y = transpose(x, {1, 0}), filled = primitives::fill(g, 1.0, y.type());
  const Var large = convert(log(y + filled) > 0.0, DType::i32);
  g.outputs = {large.value};
  add_checks(g);
  EXPECT_EQ(checks_in(g), 2u);
}

TEST(CheckValues, AFlagIsMadeOnceAndEachCheckReadsThoseOfItsOperands) {
  Graph g;
  const Var x = input(g, scalar);
  g.outputs = {(exp(x) - x).value};
  add_checks(g);
  const std::string hint = "\ni It is the first call that did: no operand has one.";
  EXPECT_EQ(graph::print(g),
            "<AnvilGraph>\n"
            "  Inputs:\n"
            "    %x1: f64[]\n"
            "  Body:\n"
            "    %1: f64[] = exp(%x1)\n"
            "    %2: bool[] = not_equal(%1, %1)\n"
            "    %3: bool[] = not(%2)\n"
            "    %4: bool[] = not_equal(%x1, %x1)\n"
            "    %5: bool[] = or(%3, %4)\n"
            "    %6: bool[] = check [error = nan, message = `exp` produced NaN." +
                hint +
                "] (%5)\n"
                "    %7: f64[] = sub(%1, %x1)\n"
                "    %8: bool[] = not_equal(%7, %7)\n"
                "    %9: bool[] = not(%8)\n"
                "    %10: bool[] = or(%2, %4)\n"
                "    %11: bool[] = or(%9, %10)\n"
                "    %12: bool[] = check [error = nan, message = `sub` produced NaN." +
                hint +
                "] (%11)\n"
                "  Outputs:\n"
                "    %7: f64[]");
}

TEST(CheckValues, AllResultsOfACall) {
  Graph g;
  const Var x = input(g, matrix);
  g.outputs = record(g, primitives::registry().at("qr"), {x.value});
  add_checks(g);
  EXPECT_EQ(std::count_if(g.calls.begin(), g.calls.end(),
                          [](const graph::Call& c) { return c.primitive->name == "not_equal"; }),
            3);
}

TEST(CheckValues, InnerGraphsReadFlagsFromAroundThem) {
  Graph g;
  const Var x = input(g, scalar), on = input(g, {DType::boolean, {}, false});
  const auto yes = primitives::inner_graph({}, [&](Graph& inner, const primitives::Vars&) {
    return primitives::Vars{log(Var{&inner, x.value})};
  });
  const auto no = primitives::inner_graph({}, [&](Graph& inner, const primitives::Vars&) {
    return primitives::Vars{Var{&inner, x.value}};
  });
  g.outputs = primitives::branch(g, on.value, yes, no);
  add_checks(g, transform::Faults::not_finite);
  EXPECT_EQ(checks_in(g), 1u);
  EXPECT_EQ(g.calls.front().primitive->name, "is_finite");
  EXPECT_EQ(captures(*g.calls.back().params.graph("true_graph")).size(), 2u) << "%x and its flag";
}

}  // namespace
}  // namespace anvil::test
