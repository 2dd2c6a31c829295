// Jacobians: a batch of the directions of the smaller side at a time, with what does not depend on them before.
#include "transform/jacobian.h"

#include <gtest/gtest.h>

#include "primitives/families/control.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

using Numbers = std::vector<double>;

GraphPtr jacobian_of(const std::vector<TensorType>& inputs, const std::function<Vars(Graph&, const Vars&)>& f) {
  auto g = transform::jacobian(*trace(inputs, f), std::vector<bool>(inputs.size(), true));
  primitives::verify(*g);
  return g;
}
const graph::Call& loop_of(const Graph& g) {
  for (const graph::Call& c : g.calls)
    if (c.primitive->name == "while") return c;
  throw InternalError("there is no loop");
}
bool calls(const Graph& g, const std::string& name) {
  return std::any_of(g.calls.begin(), g.calls.end(), [&](const graph::Call& c) { return c.primitive->name == name; });
}

// As a gradient, whichever mode is taken.
TEST(Jacobian, HasTheDtypeOfItsInputs) {
  for (const int64_t more : {0, 3}) {
    const auto g = jacobian_of({{DType::f32, {2}}, f64_scalar}, [more](Graph& b, const Vars& x) {
      return Vars{convert(x[0], DType::f64) * broadcast_in_dim(x[1], {2}, {}), x[0],
                  primitives::fill(b, 1, {DType::f32, {more}})};
    });
    for (size_t k = 0; k < g->outputs.size(); ++k)
      EXPECT_EQ(g->outputs[k]->type.dtype, k % 2 == 0 ? DType::f32 : DType::f64) << k;
  }
}

TEST(Jacobian, BothModesGiveItsBlocks) {
  for (const int64_t more : {0, 3}) {  // results besides, so that there are more of them than arguments
    auto g = jacobian_of({f64({2}), f64_scalar}, [more](Graph& b, const Vars& x) {
      return Vars{x[0] * x[0] * broadcast_in_dim(x[1], {2}, {}), primitives::fill(b, 1, f64({more}))};
    });
    auto blocks = eigen::evaluate(*g, {tensor({2}, {3, 5}), tensor({}, {2})});
    ASSERT_EQ(blocks.size(), 4u);
    EXPECT_EQ(blocks[0].type.shape, (Shape{2, 2}));
    EXPECT_EQ(numbers(blocks[0]), (Numbers{12, 0, 0, 20}));
    EXPECT_EQ(blocks[1].type.shape, (Shape{2}));
    EXPECT_EQ(numbers(blocks[1]), (Numbers{9, 25}));
    EXPECT_EQ(blocks[2].type.shape, (Shape{more, 2}));
    EXPECT_EQ(numbers(blocks[3]), Numbers(static_cast<size_t>(more), 0));
  }
}

TEST(Jacobian, FewDirectionsGoTogether) {
  auto g = jacobian_of({f64({3})}, [](Graph&, const Vars& x) { return Vars{sin(x[0])}; });
  EXPECT_TRUE(calls(*g, "cosine"));
  EXPECT_FALSE(calls(*g, "while"));
}

// 130 columns in three batches of 44, or 96 rows in two.
TEST(Jacobian, WhatDoesNotDependOnTheDirectionIsComputedOnce) {
  for (const bool reverse : {false, true}) {
    const int64_t n = 65, half = 32;
    auto g = jacobian_of({f64({n}), f64({n})}, [&](Graph& b, const Vars& x) {
      const Var y = sin(x[0]) * x[1];
      if (!reverse) return Vars{y, x[1]};
      return Vars{slice(y, {0}, {half}, {1}), primitives::fill(b, 1, f64({2 * half}))};  // 96 results
    });
    EXPECT_TRUE(calls(*g, "cosine"));
    EXPECT_FALSE(calls(*loop_of(*g).params.graph("body_graph"), "cosine"));
    EXPECT_TRUE(calls(*loop_of(*g).params.graph("body_graph"), "mul"));
    Numbers x, y;
    for (int64_t i = 0; i < n; ++i) x.push_back(0.1 * static_cast<double>(i)), y.push_back(2 + x.back());
    const auto blocks = eigen::evaluate(*g, {tensor({n}, x), tensor({n}, y)});
    const int64_t rows = blocks[0].type.shape[0];
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = 0; i < rows; ++i) {
        const auto at = static_cast<size_t>(i);
        EXPECT_DOUBLE_EQ(element(blocks[0], i + rows * j).as<double>(), i == j ? std::cos(x[at]) * y[at] : 0);
        EXPECT_DOUBLE_EQ(element(blocks[1], i + rows * j).as<double>(), i == j ? std::sin(x[at]) : 0);
      }
  }
}

// Reverse mode, whose tapes stand beside those who read them; and its own derivative.
TEST(Jacobian, OfLoopsInReverseMode) {
  const auto loop = [](Graph& g, const Vars& x) {
    Var sum = primitives::reduce_sum(x[0], {0});
    return Vars{while_loop(
        g, {sum, integer(g, 0)}, [](Graph& b, const Vars& s) { return s[1] < integer(b, 4); },
        [](Graph& b, const Vars& s) {
          return Vars{sin(s[0]), s[1] + integer(b, 1)};
        })[0]};
  };
  auto g = jacobian_of({f64({3})}, loop);
  const std::vector<Tensor> at = {tensor({3}, {0.1, 0.2, 0.3})};
  auto slopes = transform::gradient(*trace({f64({3})}, loop), {true}, false);
  EXPECT_EQ(numbers(eigen::evaluate(*g, at)[0]), numbers(eigen::evaluate(*slopes, at)[0]));
  auto summed = trace({f64({3})}, [&](Graph& to, const Vars& x) {
    return Vars{primitives::reduce_sum(Var{&to, inline_calls(*g, {x[0].value}, to)[0]}, {0})};
  });
  expect_gradient(summed, at, 2, 1e-5);
}

TEST(Jacobian, OfNothing) {
  auto g = jacobian_of({f64({0})}, [](Graph&, const Vars& x) { return Vars{x[0], primitives::reduce_sum(x[0], {0})}; });
  auto blocks = eigen::evaluate(*g, {tensor({0}, {})});
  EXPECT_EQ(blocks[0].type.shape, (Shape{0, 0}));
  EXPECT_EQ(blocks[1].type.shape, (Shape{0}));
}

TEST(Jacobian, OfFloatsOnly) {
  EXPECT_THROW(jacobian_of({f64({2})}, [](Graph&, const Vars& x) { return Vars{x[0] > 0.0}; }), Error);
}

}  // namespace
}  // namespace anvil::testing
