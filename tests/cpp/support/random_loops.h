// Random loops as people write them: scalars and an array that is read and written element by element are
// carried, other arrays are captured; branches, inner loops, checkpoints and segments stand in the bodies.
#pragma once
#include <functional>
#include <random>
#include <vector>

#include "primitives/families/control.h"
#include "primitives/vocabulary/var.h"

namespace anvil::test {

class RandomLoops {
 public:
  using Var = primitives::Var;
  using Vars = std::vector<Var>;
  using Graph = graph::Graph;
  const int64_t length;  // of all arrays; small ones are copied, others stay in place

  // `uneven`: how many steps a loop makes depends on what it computes.
  explicit RandomLoops(uint64_t seed, bool uneven = false)
      : length(seed % 3 == 0 ? 20 : 5), uneven_(uneven), random_(seed) {}
  // Uneven ones of so many times the steps, of larger arrays.
  RandomLoops(uint64_t seed, int64_t elements, int64_t times)
      : length(elements), uneven_(true), times_(times), random_(seed) {}

  // Of a scalar and two arrays, all f64: some more.
  Vars operator()(Graph& g, const Vars& x) {
    const Scope scope{{x[0]}, {x[1], x[2]}, {integer(g, 2)}};
    return loop(g, scope, x[0] * 0.5, x[1], 2);
  }

 private:
  // What can be read: floats and arrays of floats, and positions.
  struct Scope {
    Vars scalars, arrays, places;
  };

  int64_t below(int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random_); }
  bool chance(int percent) { return below(100) < percent; }
  Var any(Graph& g, const Vars& list) {
    return {&g, list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))].value};
  }
  static Var integer(Graph& g, int64_t x) { return primitives::literal(g, Scalar(x), {DType::i32, {}, false}); }
  static Var number(Graph& g, double x) { return primitives::literal(g, Scalar(x), {DType::f64, {}, false}); }

  Var element(Graph& g, const Scope& s) {
    const Var a = any(g, s.arrays), i = any(g, s.places);
    const int64_t how = below(100);
    if (how < 30) {
      const Var at = reshape(i, {1});
      return reshape(primitives::gather(a, at, {1}, {{0}, {}, {}, {}, {0}, 0}), {});
    }
    if (how < 50) return reshape(primitives::dynamic_slice(sin(a) * a, {i}, {1}), {});
    return reshape(primitives::dynamic_slice(a, {i}, {1}), {});
  }
  Var scalar(Graph& g, const Scope& s, int depth) {
    const Var u = any(g, s.scalars);
    switch (below(depth > 0 ? 11 : 8)) {
      case 0: return sin(u);
      case 1: return u * any(g, s.scalars) * 0.5;
      case 2: return u * element(g, s) * 0.7;
      case 3: return element(g, s) + u * 0.3;
      case 4: return convert(any(g, s.places), DType::f64) * u * 0.2;
      case 5: return reduce_sum(any(g, s.arrays) * any(g, s.arrays), {0}) * 0.1;
      case 6: return exp(u * u * -1.0);
      case 7: return select(u < 0.3, u * 0.5, sin(element(g, s)));
      case 8: return branch(g, s, depth);
      case 9: return checkpoint(g, s, depth);
      default: {
        const Vars r = loop(g, s, u, any(g, s.arrays), depth - 1);
        return r[0] + reduce_sum(r[1], {0}) * 0.2;
      }
    }
  }
  Var written(Graph& g, const Scope& s, Var array) {
    const Var at = any(g, s.places), x = any(g, s.scalars);
    switch (below(6)) {
      case 0: return array * 0.9 + broadcast_in_dim(sin(x), {length}, {});
      case 1: {
        const Var index = reshape(at, {1, 1}), update = reshape(x, {1});
        const char* joined[] = {"add", "add", "add", "", "", "mul", "maximum"};
        return primitives::scatter(array, index, update, {{}, {0}, {}, {}, {0}, 1}, joined[below(100) * 7 / 100]);
      }
      case 2: return primitives::dynamic_update_slice(array, broadcast_in_dim(x * 0.5, {2}, {}), {at});
      default: return primitives::dynamic_update_slice(array, reshape(x, {1}), {at});
    }
  }

  Var branch(Graph& g, const Scope& s, int depth) {
    const Var condition = any(g, s.scalars) < 0.2;
    const auto side = [&](Graph& inside, const Vars&) { return Vars{scalar(inside, s, depth - 1)}; };
    const auto yes = primitives::inner_graph({}, side), no = primitives::inner_graph({}, side);
    return {&g, primitives::branch(g, condition.value, yes, no)[0]};
  }
  Var checkpoint(Graph& g, const Scope& s, int depth) {
    const auto body = primitives::inner_graph({}, [&](Graph& to, const Vars&) {
      Scope inside = s;
      for (int k = 0; k < 2; ++k) inside.scalars.push_back(scalar(to, inside, depth - 1));
      return Vars{inside.scalars.back()};
    });
    return {&g, primitives::checkpoint(g, body)[0]};
  }

  // Gives a scalar and an array, from those that the loop starts with.
  Vars loop(Graph& g, const Scope& outer, Var x, Var array, int depth) {
    const Vars start = {reduced(x), array, integer(g, below(2)), integer(g, 4 - below(2)), any(g, outer.scalars)};
    const auto go_on = [this](Graph& test, const Vars& now) {
      const Var more = now[2] < integer(test, below(5));
      if (uneven_)
        return (now[2] < integer(test, times_ * (2 + below(3)))) & (now[0] < 0.1 * static_cast<double>(below(8)));
      return chance(30) ? more & (now[0] < 0.9) : more;
    };
    const Vars results = primitives::loop(g, start, go_on, [&](Graph& body, const Vars& s) {
      Scope scope = outer;
      for (Var v : {s[0], s[4]}) scope.scalars.push_back(v);
      scope.arrays.push_back(s[1]);
      for (Var v : {s[2], s[3]}) scope.places.push_back(v);
      Var next = s[1];
      for (int64_t k = 2 + below(4); k > 0; --k) {
        if (chance(65)) {
          scope.scalars.push_back(scalar(body, scope, depth));
        } else {
          next = written(body, scope, next);
          scope.arrays.push_back(next);
        }
      }
      return Vars{reduced(scope.scalars.back()), next, s[2] + integer(body, 1), s[3] - integer(body, 1),
                  chance(40) ? s[4] : any(body, scope.scalars)};
    });
    if (chance(40)) g.calls.back().params.items.push_back({"segment", below(4)});
    return {results[0], results[1]};
  }
  // Into (-1, 1), so that nothing grows from step to step.
  static Var reduced(Var x) { return sin(x); }

  const bool uneven_;
  const int64_t times_ = 1;
  std::mt19937_64 random_;
};

}  // namespace anvil::test
