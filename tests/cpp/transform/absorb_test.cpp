// Two calls that one can say become one, and only then.
#include <gtest/gtest.h>

#include "transform/simplify.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

std::string absorbed(Graph g, const std::vector<Tensor>& at) {
  const auto before = eigen::evaluate(g, at);
  transform::absorb_readers(g);
  primitives::verify(g);
  const auto after = eigen::evaluate(g, at);
  for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(numbers(before[i]), numbers(after[i]));
  std::string s;
  for (const auto& c : g.calls) s += (s.empty() ? "" : " ") + c.primitive->name;
  return s;
}
const Tensor x23 = tensor({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(Absorb, AReductionKeepsTheDimensionsThatAReshapeGivesBack) {
  auto f = trace({f64({2, 3})}, [](Graph&, const Vars& x) {
    return Vars{reshape(reduce_sum(x[0], {1}), {2, 1}) * 2.0};
  });
  EXPECT_EQ(absorbed(*f, {x23}), "reduce_sum mul");
}
TEST(Absorb, AnotherShapeStaysAReshape) {
  auto f = trace({f64({2, 3})}, [](Graph&, const Vars& x) { return Vars{reshape(reduce_sum(x[0], {1}), {1, 2})}; });
  EXPECT_EQ(absorbed(*f, {x23}), "reduce_sum reshape");
}
TEST(Absorb, WhatOthersReadStays) {
  auto f = trace({f64({2, 3})}, [](Graph&, const Vars& x) {
    Var sum = reduce_sum(x[0], {1});
    return Vars{reshape(sum, {2, 1}), sum};
  });
  EXPECT_EQ(absorbed(*f, {x23}), "reduce_sum reshape");
}
TEST(Absorb, TheOrderOfOtherCallsStays) {
  auto f = trace({f64({2, 3})}, [](Graph&, const Vars& x) {
    Var sum = reduce_sum(x[0], {1}), other = x[0] * 2.0;
    return Vars{reshape(sum, {2, 1}), other};
  });
  EXPECT_EQ(absorbed(*f, {x23}), "reduce_sum mul reshape");
}
TEST(Absorb, WhatAnInnerGraphReadsStays) {
  auto f = trace({f64({2, 3}), f64_scalar}, [](Graph& g, const Vars& x) {
    Var sum = reduce_sum(x[0], {1});
    return if_else(
        g, x[1] > 0.0,
        [&](Graph& b) {
          return Vars{reshape(in(b, sum), {2, 1})};
        },
        [&](Graph& b) {
          return Vars{reshape(reduce_sum(in(b, x[0]), {1}), {2, 1})};
        });
  });
  Graph g = *f;
  transform::absorb_readers(g);
  EXPECT_EQ(g.calls.back().params.graph("true_graph")->calls.size(), 1u);
  EXPECT_EQ(g.calls.back().params.graph("false_graph")->calls.size(), 1u) << "a reduction that keeps its dimensions";
  EXPECT_EQ(f->calls.back().params.graph("false_graph")->calls.size(), 2u) << "the original is left alone";
  for (double sign : {1.0, -1.0})
    EXPECT_EQ(numbers(eigen::evaluate(g, {x23, tensor({}, {sign})})[0]),
              numbers(eigen::evaluate(*f, {x23, tensor({}, {sign})})[0]));
}
TEST(Absorb, AnIotaStartsWhereNoNumberIsRounded) {
  const auto counted = [](DType t, double start, int64_t n) {
    return trace({}, [=](Graph& g, const Vars&) {
      Var i = primitives::iota(g, 0, t, {n});
      return Vars{i + primitives::literal(i, Scalar(start))};
    });
  };
  EXPECT_EQ(absorbed(*counted(DType::f64, 5, 4), {}), "iota");
  EXPECT_EQ(absorbed(*counted(DType::f64, 0.5, 4), {}), "iota add");
  EXPECT_EQ(absorbed(*counted(DType::i8, 100, 20), {}), "iota");
  EXPECT_EQ(absorbed(*counted(DType::f32, 16777210, 20), {}), "iota add");
  EXPECT_EQ(absorbed(*counted(DType::f16, 2040, 20), {}), "iota add") << "2049 is no f16";
}

}  // namespace
}  // namespace anvil::testing
