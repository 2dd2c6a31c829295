// Calls happen before the reshapes that merge dimensions; the values stay what they were.
#include <gtest/gtest.h>

#include <random>

#include "primitives/families/control.h"
#include "primitives/vocabulary/infer.h"
#include "transform/simplify.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

using primitives::record;
using Ints = std::vector<int64_t>;

Tensor small_integers(const Shape& shape) {
  std::vector<double> x(static_cast<size_t>(elements(shape)));
  for (size_t k = 0; k < x.size(); ++k) x[k] = static_cast<double>((7 * k + 3) % 5) - 2;
  return tensor(shape, x);
}
std::string calls_of(const Graph& g) {
  std::string calls;
  for (const graph::Call& c : g.calls)
    calls += (calls.empty() ? "" : " ") + c.primitive->name + in_parentheses(c.outputs[0]->type.shape);
  return calls;
}
// The calls of a graph afterwards, each with the shape of its result. Its results are the same, of small integers
// to the bit.
std::string late(const GraphPtr& g) {
  std::vector<Tensor> inputs;
  for (const ValuePtr& v : g->inputs) inputs.push_back(small_integers(v->type.shape));
  const std::vector<Tensor> before = eigen::evaluate(*g, inputs);
  transform::merge_late(*g);
  transform::remove_dead_calls(*g);
  primitives::verify(*g);
  const std::vector<Tensor> after = eigen::evaluate(*g, inputs);
  for (size_t k = 0; k < before.size(); ++k) {
    EXPECT_EQ(after[k].type, before[k].type);
    EXPECT_EQ(numbers(after[k]), numbers(before[k]));
  }
  return calls_of(*g);
}
std::string late(const std::vector<TensorType>& inputs, const std::function<Vars(const Vars&)>& body) {
  return late(trace(inputs, [&](Graph&, const Vars& v) { return body(v); }));
}
Var negated(const Var& x) { return record("negate", {x}); }
Var plus(const Var& a, const Var& b) { return record("add", {a, b}); }

// Of two tensors that are merged to vectors.
std::string late_sum(const Shape& a, const Shape& b) {
  return late({f64(a), f64(b)}, [&](const Vars& v) {
    const Var first = reshape(negated(v[0]), {elements(a)});
    return Vars{plus(first, reshape(negated(v[1]), {elements(b)}))};
  });
}

TEST(LateMerges, CallsPerElementComeFirst) {
  EXPECT_EQ(late({f64({4, 3, 2}), f64({12, 2})},
                 [](const Vars& v) {
                   const Var merged = reshape(negated(v[0]), {12, 2});
                   return Vars{plus(merged, v[1])};
                 }),
            "negate(4,3,2) reshape(4,3,2) add(4,3,2) reshape(12,2)");
  EXPECT_EQ(late_sum({4, 3}, {2, 6}), "negate(4,3) negate(2,6) reshape(2,2,3) reshape(2,2,3) add(2,2,3) reshape(12)")
      << "parts of parts";
  EXPECT_EQ(late({f64({4, 3})},
                 [](const Vars& v) {
                   return Vars{reshape(negated(reshape(negated(v[0]), {12, 1})), {1, 4, 3})};
                 }),
            "negate(4,3) negate(4,3) reshape(1,4,3)")
      << "merged for nobody";
}

TEST(LateMerges, SoDoOthersByDimension) {
  EXPECT_EQ(late({f64({2, 3, 4})},
                 [](const Vars& v) {
                   return Vars{transpose(reshape(negated(v[0]), {6, 4}), {1, 0})};
                 }),
            "negate(2,3,4) transpose(4,2,3) reshape(4,6)");
  EXPECT_EQ(late({f64({2, 3, 4})},
                 [](const Vars& v) {
                   return Vars{reduce_sum(reshape(negated(v[0]), {6, 4}), {0}, false)};
                 }),
            "negate(2,3,4) reduce_sum(4) reshape(1,4)");
  EXPECT_EQ(late({f64({2, 3, 4})},
                 [](const Vars& v) {
                   return Vars{reduce_sum(reshape(negated(v[0]), {6, 4}), {1}, false)};
                 }),
            "negate(2,3,4) reduce_sum(2,3) reshape(6,1)");
  EXPECT_EQ(late({f64({2, 3})},
                 [](const Vars& v) {
                   return Vars{broadcast_in_dim(reshape(negated(v[0]), {6, 1}), {6, 5, 2}, {0, 1})};
                 }),
            "negate(2,3) broadcast_in_dim(2,3,5,2) reshape(6,5,2)");
  EXPECT_EQ(late({f64({2, 3, 4})},
                 [](const Vars& v) {
                   return Vars{broadcast_in_dim(reshape(negated(v[0]), {6, 4}), {4, 5, 6}, {2, 0})};
                 }),
            "negate(2,3,4) broadcast_in_dim(4,5,2,3) reshape(4,5,6)");
  EXPECT_EQ(late({f64({2, 3, 4, 5}), f64({6, 5, 7})},
                 [](const Vars& v) {
                   const Var x = reshape(negated(v[0]), {6, 4, 5});
                   return Vars{dot_general(x, v[1], {2}, {1}, {0}, {0})};
                 }),
            "negate(2,3,4,5) reshape(2,3,5,7) dot_general(2,3,4,7) reshape(6,4,7)");
}

// What is taken out of one loop gives its memory to what is made in those after it: no value is taken for another one.
TEST(LateMerges, InLoopsAfterEachOther) {
  std::vector<TensorType> types;
  for (int64_t n = 2; n < 26; ++n) types.push_back(f64({n, 2, 3}));
  late(trace(types, [](Graph& g, const Vars& x) {
    Vars results;
    for (const Var& v : x) {
      const int64_t n = v.shape()[0];
      results.push_back(while_loop(
          g, {integer(g, 0), v}, [](Graph& b, const Vars& s) { return s[0] < integer(b, 2); },
          [n](Graph& b, const Vars& s) {
            const Var merged = reshape(negated(s[1]), {2 * n, 3}), twice = plus(negated(merged), merged);
            return Vars{s[0] + integer(b, 1), plus(s[1], reshape(plus(twice, merged), {n, 2, 3}))};
          })[1]);
      const Var whole = reshape(negated(results.back()), {6 * n});
      results.push_back(reduce_sum(plus(whole, negated(whole)), {0}));
    }
    return results;
  }));
}

TEST(LateMerges, WhatCannotComeFirstComesLater) {
  EXPECT_EQ(late_sum({4, 6}, {6, 4}), "negate(4,6) negate(6,4) reshape(24) reshape(24) add(24)") << "no common parts";
  EXPECT_EQ(late({f64({4, 6}), f64({24})}, [](const Vars& v) { return Vars{plus(reshape(v[0], {24}), v[1])}; }),
            "reshape(24) add(24)")
      << "in memory anyway";
  EXPECT_EQ(late({f64({4, 6}), f64({24, 5}), f64({5})},
                 [](const Vars& v) {
                   const Var first = reshape(negated(v[0]), {24});
                   return Vars{plus(first, dot_general(v[1], v[2], {1}, {0}, {}, {}))};
                 }),
            "negate(4,6) dot_general(24) reshape(24) add(24)")
      << "a product goes on as it is";
  EXPECT_EQ(late({f64({2, 3, 4}), f64({12, 5})},
                 [](const Vars& v) {
                   return Vars{dot_general(reshape(negated(v[0]), {2, 12}), v[1], {1}, {0}, {}, {})};
                 }),
            "negate(2,3,4) reshape(2,12) dot_general(2,5)")
      << "what is summed stays one dimension";
  EXPECT_EQ(late({f64({4, 6})}, [](const Vars& v) { return Vars{reverse(reshape(negated(v[0]), {24}), {0})}; }),
            "negate(4,6) reshape(24) reverse(24)");
}

TEST(LateMerges, InnerGraphsReadWhatIsApart) {
  const GraphPtr g = trace({f64({4, 3}), f64({12})}, [](Graph& graph, const Vars& v) {
    const Var merged = reshape(negated(v[0]), {12});
    const Var positive = record("greater", {reduce_sum(v[1], {0}, true), number(graph, 0)});
    return if_else(
        graph, positive, [&](Graph& inner) { return Vars{plus(in(inner, merged), in(inner, v[1]))}; },
        [&](Graph& inner) { return Vars{reverse(in(inner, merged), {0})}; });
  });
  EXPECT_EQ(late(g), "negate(4,3) reduce_sum() greater() reshape(12) if(12)");
}

// Programs of such calls at random.
class Programs {
 public:
  explicit Programs(uint64_t seed) : random_(seed) {}

  GraphPtr make() {
    return trace({f64({2, 6, 4})}, [&](Graph& g, const Vars& v) {
      std::vector<Var> made = v;
      for (int k = 0; k < 12; ++k)
        made.push_back(step(g, made[made.size() - 1 - below(std::min<size_t>(3, made.size()))]));
      return Vars{made.back(), made[made.size() / 2]};
    });
  }

 private:
  size_t below(size_t n) { return static_cast<size_t>(random_() % n); }
  // A list of sizes with this product, some of them 1.
  Shape sizes(int64_t n) {
    Shape shape;
    for (const int64_t prime : {2, 2, 2, 3, 2, 5, 2, 3})
      if (n % prime == 0) {
        n /= prime;
        if (shape.empty() || below(2) == 0)
          shape.push_back(prime);
        else
          shape[below(shape.size())] *= prime;
      }
    shape.push_back(n);
    std::shuffle(shape.begin(), shape.end(), random_);
    return shape;
  }
  Ints some_dimensions(size_t rank) {
    Ints dims;
    for (size_t d = 0; d < rank; ++d)
      if (below(2) == 0) dims.push_back(static_cast<int64_t>(d));
    return dims;
  }
  static Var clamped(Graph& g, const Var& x) { return record("clamp", {number(g, -3), x, number(g, 3)}); }
  Var constant(Graph& g, const Shape& shape) { return {&g, graph::make_constant(small_integers(shape))}; }

  Var step(Graph& g, const Var& x) {
    const Shape& shape = x.shape();
    const size_t rank = shape.size();
    switch (below(9)) {
      case 0: return negated(x);
      case 1: return clamped(g, plus(x, constant(g, shape)));
      case 2: {
        const Shape other = sizes(elements(shape));
        return clamped(g, plus(reshape(negated(x), other), reshape(clamped(g, constant(g, shape)), other)));
      }
      case 3: {
        Ints order = reversal(rank);
        std::shuffle(order.begin(), order.end(), random_);
        return transpose(x, order);
      }
      case 4: {
        if (elements(shape) < 12) break;
        const Ints dims = some_dimensions(rank);
        return clamped(g, reduce_sum(x, dims, below(2) == 0));
      }
      case 5: {
        if (elements(shape) > 500) break;
        const size_t fresh = below(rank + 1);
        Shape wide = shape;
        wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(fresh), static_cast<int64_t>(1 + below(3)));
        const Ints dims = primitives::other_axes(rank + 1, {static_cast<int64_t>(fresh)});
        return broadcast_in_dim(x, wide, dims);
      }
      case 6: {
        if (rank == 0) break;
        const auto d = static_cast<int64_t>(below(rank));
        const int64_t size = shape[static_cast<size_t>(d)];
        return clamped(g, dot_general(x, constant(g, {3, size}), {d}, {1}, {}, {}));
      }
      case 7: {
        if (rank < 2) break;
        const auto d = static_cast<int64_t>(below(rank - 1));
        const Shape other = {shape[static_cast<size_t>(d)], 2, shape[static_cast<size_t>(d) + 1]};
        return clamped(g, dot_general(constant(g, other), x, {2}, {d + 1}, {0}, {d}));
      }
      default: break;
    }
    return reshape(x, sizes(elements(shape)));
  }

  std::mt19937_64 random_;
};

TEST(LateMerges, RandomProgramsStayWhatTheyAre) {
  int changed = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const GraphPtr g = Programs(seed).make();
    const std::string before = calls_of(*g);
    changed += before != late(g);
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_GT(changed, 100);
}

}  // namespace
}  // namespace anvil::testing
