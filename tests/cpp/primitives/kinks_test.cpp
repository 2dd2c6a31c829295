// One convention at kinks: equal elements share the cotangent equally, a NaN gives nobody any, and
// how a constant was spelt does not matter.
#include <cmath>

#include "primitives/families/window.h"
#include "support/regions.h"
#include "support/structured.h"

namespace anvil::test {
namespace {

using namespace primitives;
using Vars = std::vector<Var>;
using Numbers = std::vector<double>;
const double nan = std::nan(""), inf = INFINITY;

Tensor vector(const Numbers& x) { return tensor(DType::f64, {static_cast<int64_t>(x.size())}, x); }

// The gradient of the sum of the first result by each input.
std::vector<Numbers> gradients(const Program& program, const std::vector<Tensor>& at) {
  graph::Graph g = build(program, at);
  Var y{&g, g.outputs[0]};
  g.outputs = {(y.shape().empty() ? y : reduce_sum(y, all_axes(y.shape().size()))).value};
  std::vector<Numbers> found;
  for (const Tensor& t : eigen::evaluate(*transform::gradient(g, std::vector<bool>(at.size(), true), false), at))
    found.push_back(values(t));
  return found;
}
Numbers gradient(const Program& program, const Numbers& at) { return gradients(program, {vector(at)})[0]; }

// How the initial value of a reduction may be given.
enum class Spelling { literal, constant };
Var spelt(graph::Graph& g, double x, Spelling spelling) {
  if (spelling == Spelling::literal) return literal(g, x, {DType::f64, {}});
  g.constants.push_back(graph::make_constant(tensor(DType::f64, {}, {x})));
  return {&g, g.constants.back()};
}
Program reduce_by(const char* name, double initial, Spelling spelling = Spelling::literal) {
  return [=](graph::Graph& g, const Vars& x) {
    return call("reduce", {x[0], spelt(g, initial, spelling)},
                {{"dims", Ints{0}, true}, {"body", operation(name, DType::f64)}});
  };
}
Program window_by(const char* name, int64_t size, double initial, Spelling spelling = Spelling::literal) {
  return [=](graph::Graph& g, const Vars& x) {
    return call("reduce_window", {x[0], spelt(g, initial, spelling)},
                {{"window_dimensions", Ints{size}},
                 {"window_strides", Ints{1}},
                 {"base_dilations", Ints{1}},
                 {"window_dilations", Ints{1}},
                 {"padding_low", Ints{0}},
                 {"padding_high", Ints{0}},
                 {"body", operation(name, DType::f64)}});
  };
}
Program running(const char* name, double initial) {
  return [=](graph::Graph& g, const Vars& x) {
    return call("cumulative", {x[0], literal(g, initial, {DType::f64, {}})},
                {{"dim", int64_t(0), true}, {"body", operation(name, DType::f64)}});
  };
}
Program sorted_times(const Numbers& weights, bool descending = false) {
  return [=](graph::Graph& g, const Vars& x) {
    g.constants.push_back(graph::make_constant(vector(weights)));
    return Vars{sort({x[0]}, 0, descending)[0] * Var{&g, g.constants.back()}};
  };
}
Program largest(int64_t k) {
  return [=](graph::Graph&, const Vars& x) { return Vars{call("top_k", {x[0]}, {{"k", k}})[0]}; };
}

TEST(Kinks, ElementsShareEqually) {
  auto both = [](const char* name) {
    return [=](graph::Graph&, const Vars& x) { return Vars{record(name, {x[0], x[1]})}; };
  };
  EXPECT_EQ(gradients(both("maximum"), {vector({1, 2, 3, nan, 1}), vector({2, 2, 2, 1, nan})}),
            (std::vector<Numbers>{{0, .5, 1, 0, 0}, {1, .5, 0, 0, 0}}));
  EXPECT_EQ(gradients(both("minimum"), {vector({1, 2, 3, nan, -0.0}), vector({2, 2, 2, 1, 0})}),
            (std::vector<Numbers>{{1, .5, 0, 0, .5}, {0, .5, 1, 0, .5}}));
  Program rectified = [](graph::Graph&, const Vars& x) { return Vars{maximum(x[0], literal(x[0], 0))}; };
  EXPECT_EQ(gradient(rectified, {-1, 0, 2, nan}), (Numbers{0, .5, 1, 0}));
  // the greater one of x and -x
  Program size = [](graph::Graph&, const Vars& x) { return Vars{abs(x[0])}; };
  Program greater = [](graph::Graph&, const Vars& x) { return Vars{maximum(x[0], -x[0])}; };
  EXPECT_EQ(gradient(size, {-2, -0.0, 0, 3, -inf, nan}), (Numbers{-1, 0, 0, 1, -1, 0}));
  EXPECT_EQ(gradient(greater, {-2, -0.0, 0, 3, -inf, nan}), (Numbers{-1, 0, 0, 1, -1, 0}));
}

TEST(Kinks, BoundsShareEqually) {
  Program clamped = [](graph::Graph&, const Vars& x) { return Vars{record("clamp", {x[0], x[1], x[2]})}; };
  Program composed = [](graph::Graph&, const Vars& x) { return Vars{minimum(maximum(x[1], x[0]), x[2])}; };
  const std::vector<Tensor> apart = {vector({0, 0, 0, 0, 0, nan}), vector({-1, 0, .5, 1, nan, 0}),
                                     vector({1, 1, 1, 1, 1, 1})};
  for (const Program& p : {clamped, composed})
    EXPECT_EQ(gradients(p, apart),
              (std::vector<Numbers>{{1, .5, 0, 0, 0, 0}, {0, .5, 1, .5, 0, 0}, {0, 0, 0, .5, 0, 0}}));
  // all three are the result, or the upper bound alone
  EXPECT_EQ(gradients(clamped, {vector({1, 2}), vector({1, 0}), vector({1, 1})}),
            (std::vector<Numbers>{{1. / 3, 0}, {1. / 3, 0}, {1. / 3, 1}}));
}

TEST(Kinks, ReductionsShareEqually) {
  Program largest_of = [](graph::Graph&, const Vars& x) { return Vars{reduce_max(x[0], {0})}; };
  Program smallest_of = [](graph::Graph&, const Vars& x) {
    return Vars{record("reduce_min", {x[0]}, {{"dims", Ints{0}, true}, {"drop", true}})};
  };
  EXPECT_EQ(gradient(largest_of, {2, 1, 2, 0}), (Numbers{.5, 0, .5, 0}));
  EXPECT_EQ(gradient(smallest_of, {0, 1, -0.0, 2}), (Numbers{.5, 0, .5, 0}));
  EXPECT_EQ(gradient(largest_of, {2, nan, 2}), (Numbers{0, 0, 0}));
}

TEST(Kinks, ReductionsByARegionShareEqually) {
  for (Spelling s : {Spelling::literal, Spelling::constant}) {
    EXPECT_EQ(gradient(reduce_by("maximum", -inf, s), {2, 1, 2, 2, 2, 0}), (Numbers{.25, 0, .25, .25, .25, 0}));
    EXPECT_EQ(gradient(reduce_by("minimum", inf, s), {1, 2, 1}), (Numbers{.5, 0, .5}));
    // the initial value is one of them
    EXPECT_EQ(gradient(reduce_by("maximum", 2, s), {2, 1, 2, 2}), (Numbers{.25, 0, .25, .25}));
    EXPECT_EQ(gradient(reduce_by("maximum", 3, s), {2, 1}), (Numbers{0, 0}));
    EXPECT_EQ(gradient(reduce_by("maximum", -inf, s), {2, nan, 2}), (Numbers{0, 0, 0}));
  }
  Program by_both = [](graph::Graph&, const Vars& x) {
    return call("reduce", {x[0], x[1]}, {{"dims", Ints{0}, true}, {"body", operation("maximum", DType::f64)}});
  };
  EXPECT_EQ(gradients(by_both, {vector({2, 1, 2, 2}), tensor(DType::f64, {}, {2})}),
            (std::vector<Numbers>{{.25, 0, .25, .25}, {.25}}));
}

TEST(Kinks, NeutralInitialValuesShareWithNobody) {
  for (Spelling s : {Spelling::literal, Spelling::constant}) {
    EXPECT_EQ(gradient(reduce_by("maximum", -inf, s), {-inf, -inf}), (Numbers{.5, .5}));
    EXPECT_EQ(gradient(reduce_by("minimum", inf, s), {inf, inf}), (Numbers{.5, .5}));
    EXPECT_EQ(gradient(window_by("maximum", 2, -inf, s), {-inf, -inf}), (Numbers{.5, .5}));
  }
  Program by_both = [](graph::Graph&, const Vars& x) {
    return call("reduce", {x[0], x[1]}, {{"dims", Ints{0}, true}, {"body", operation("maximum", DType::f64)}});
  };
  EXPECT_EQ(gradients(by_both, {vector({-inf}), tensor(DType::f64, {}, {-inf})}), (std::vector<Numbers>{{1}, {0}}));
  EXPECT_EQ(gradients(by_both, {vector({}), tensor(DType::f64, {}, {-inf})}), (std::vector<Numbers>{{}, {1}}));
}

TEST(Kinks, ReductionsHaveHigherDerivatives) {
  // x^2 before, so that the second derivative sees the shares; the NaN stays where it is
  Program f = [](graph::Graph&, const Vars& x) {
    Var y = reduce_max(x[0] * x[0], {0});
    return Vars{y * y};
  };
  graph::Graph g = build(f, {vector({2, 2, 1})});
  auto first = transform::gradient(g, {true}, false);
  Var d{first.get(), first->outputs[0]};
  first->outputs = {reduce_sum(d, {0}).value};
  Numbers second = values(eigen::evaluate(*transform::gradient(*first, {true}, false), {vector({2, 2, 1})})[0]);
  for (double x : second) EXPECT_TRUE(std::isfinite(x));
  second = values(eigen::evaluate(*transform::gradient(*first, {true}, false), {vector({nan, 2, 1})})[0]);
  EXPECT_EQ(second[1], 0);
}

TEST(Kinks, WindowsShareEquallyHoweverTheirStartIsSpelt) {
  for (Spelling s : {Spelling::literal, Spelling::constant}) {
    Numbers third = gradient(window_by("maximum", 4, -inf, s), {1, 1, 1, 0});
    for (size_t k = 0; k < 4; ++k) EXPECT_EQ(third[k], k < 3 ? 1.0 / 3 : 0);
    EXPECT_EQ(gradient(window_by("maximum", 2, -inf, s), {1, 1, 0, 0}), (Numbers{.5, 1.5, .5, .5}));
    EXPECT_EQ(gradient(window_by("minimum", 2, inf, s), {1, 1, 2}), (Numbers{.5, 1.5, 0}));
    EXPECT_EQ(gradient(window_by("maximum", 2, -inf, s), {nan, 1, 0}), (Numbers{0, 1, 0}));
    EXPECT_EQ(gradient(window_by("add", 2, 0, s), {nan, 1, 0}), (Numbers{1, 2, 1}));
  }
}

// The one exception: the last of equal elements so far has it all, as where its position is recorded.
TEST(Kinks, RunningExtremesAreTheLastSoFar) {
  EXPECT_EQ(gradient(running("maximum", -inf), {1, 3, 3, 2, 3}), (Numbers{1, 1, 2, 0, 1}));
  EXPECT_EQ(gradient(running("minimum", inf), {2, 1, 3}), (Numbers{1, 2, 0}));
  EXPECT_EQ(gradient(running("maximum", 2), {1, 2, 2}), (Numbers{0, 1, 1}));
  EXPECT_EQ(gradient(running("maximum", -inf), {-inf, -inf}), (Numbers{1, 1}));
  EXPECT_EQ(gradient(running("maximum", -inf), {nan, 2}), (Numbers{0, 0}));
  EXPECT_EQ(gradient(running("maximum", -inf), {1, nan, 3}), (Numbers{1, 0, 0}));
  EXPECT_EQ(gradient(running("add", 5), {1, 2, 3}), (Numbers{3, 2, 1}));
  EXPECT_EQ(gradient(running("maximum", -inf), {4}), (Numbers{1}));
}

TEST(Kinks, SortedEqualsShareEqually) {
  EXPECT_EQ(gradient(sorted_times({1, 10, 100}), {5, 4, 6}), (Numbers{10, 1, 100}));
  EXPECT_EQ(gradient(sorted_times({1, 10, 100}), {5, 5, 1}), (Numbers{55, 55, 1}));
  EXPECT_EQ(gradient(sorted_times({1, 10, 100}, true), {5, 5, 6}), (Numbers{55, 55, 1}));
  EXPECT_EQ(gradient(sorted_times({1, 10, 100, 1000}), {nan, 0, -0.0, nan}), (Numbers{0, 5.5, 5.5, 0}));
  // the largest, in three ways
  Numbers x = {3, 7, 7, 1, 7}, by_max = gradient(reduce_by("maximum", -inf), x);
  EXPECT_EQ(gradient(sorted_times({0, 0, 0, 0, 1}), x), by_max);
  EXPECT_EQ(gradient(largest(1), x), by_max);
}

TEST(Kinks, TheLargestShareWithTheirEqualsThatAreLeftOut) {
  EXPECT_EQ(gradient(largest(2), {3, 1, 3, 3}), (Numbers{2. / 3, 0, 2. / 3, 2. / 3}));
  EXPECT_EQ(gradient(largest(3), {3, 1, 5, 1}), (Numbers{1, .5, 1, .5}));
  EXPECT_EQ(gradient(largest(4), {3, 1, 3, 3}), (Numbers{1, 1, 1, 1}));
  EXPECT_EQ(gradient(largest(2), {nan, 1, 3, 3}), (Numbers{0, 0, .5, .5}));
  EXPECT_EQ(gradient(largest(1), {nan, 1}), (Numbers{0, 0}));
}

// The payload of a sort is carried along: equal keys keep their order, and each its cotangent.
TEST(Kinks, PayloadsOfEqualKeysAreNotMixed) {
  Program f = [](graph::Graph& g, const Vars& x) {
    g.constants.push_back(graph::make_constant(vector({1, 10, 100})));
    return Vars{sort({x[0], x[1]}, 0)[1] * Var{&g, g.constants.back()}};
  };
  EXPECT_EQ(gradients(f, {vector({2, 2, 1}), vector({5, 6, 7})}), (std::vector<Numbers>{{0, 0, 0}, {10, 100, 1}}));
}

TEST(Kinks, ScattersShareEqually) {
  auto scattered = [](const char* name) {
    return [=](graph::Graph& g, const Vars& x) {
      g.constants.push_back(graph::make_constant(tensor(DType::i32, {3, 1}, {0, 0, 1})));
      return Vars{scatter(x[0], {&g, g.constants.back()}, x[1], {{}, {0}, {}, {}, {0}, 1}, name)};
    };
  };
  EXPECT_EQ(gradients(scattered("maximum"), {vector({4, 4, 4}), vector({4, 4, 9})}),
            (std::vector<Numbers>{{1. / 3, 0, 1}, {1. / 3, 1. / 3, 1}}));
  EXPECT_EQ(gradients(scattered("minimum"), {vector({nan, 4, 4}), vector({4, 4, 4})}),
            (std::vector<Numbers>{{0, .5, 1}, {0, 0, .5}}));
}

// Whether they are few, so that no other places are looked at, or not.
TEST(Kinks, UpdatesShareEquallyAndLeaveOthersAlone) {
  for (const size_t n : {5, 200}) {
    SCOPED_TRACE(n);
    const auto scattered = [](const char* name) {
      return [=](graph::Graph& g, const Vars& x) {
        g.constants.push_back(graph::make_constant(tensor(DType::i32, {5, 1}, {0, 0, 1, 2, -1})));
        return Vars{scatter(x[0], {&g, g.constants.back()}, x[1], {{}, {0}, {}, {}, {0}, 1}, name)};
      };
    };
    Numbers x(n, nan), by_x(n, 1);
    x[0] = 4, x[1] = 5, by_x[0] = 1. / 3, by_x[2] = 0;
    EXPECT_EQ(gradients(scattered("maximum"), {vector(x), vector({4, 4, 3, 1, 0})}),
              (std::vector<Numbers>{by_x, {1. / 3, 1. / 3, 0, 0, 0}}));
    x[0] = 9, by_x[0] = 0, by_x[1] = .5;
    EXPECT_EQ(gradients(scattered("minimum"), {vector(x), vector({4, 7, 5, 1, 0})}),
              (std::vector<Numbers>{by_x, {1, 0, .5, 0, 0}}));
  }
}

// One index: elements that it does not name are passed on, whatever they are.
TEST(Kinks, SingleUpdatesShareWithTheirElements) {
  const auto updated = [](const char* name, double at) {
    return [=](graph::Graph& g, const Vars& x) {
      g.constants.push_back(graph::make_constant(tensor(DType::i32, {1, 1}, {at})));
      return Vars{scatter(x[0], {&g, g.constants.back()}, x[1], {{}, {0}, {}, {}, {0}, 1}, name)};
    };
  };
  EXPECT_EQ(gradients(updated("maximum", 1), {vector({nan, 4, 9}), vector({4})}),
            (std::vector<Numbers>{{1, .5, 1}, {.5}}));
  EXPECT_EQ(gradients(updated("minimum", 2), {vector({1, 4, 9}), vector({4})}), (std::vector<Numbers>{{1, 1, 0}, {1}}));
  EXPECT_EQ(gradients(updated("maximum", 0), {vector({5, 4, 9}), vector({4})}), (std::vector<Numbers>{{1, 1, 1}, {0}}));
  EXPECT_EQ(gradients(updated("maximum", 0), {vector({nan, 4}), vector({4})}), (std::vector<Numbers>{{0, 1}, {0}}));
  EXPECT_EQ(gradients(updated("maximum", 7), {vector({0, 4}), vector({0})}), (std::vector<Numbers>{{1, 1}, {0}}));
}

}  // namespace
}  // namespace anvil::test
