// Random graphs: every pass keeps the results.
#include <random>

#include "compiler/graphs.h"
#include "support/campaign.h"
#include "support/random_program.h"
#include "support/run_compiled.h"

namespace anvil::test {
namespace {

using namespace primitives;

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  graph::GraphPtr graph() {
    Builder b;
    for (int k = 0; k < 3; ++k) values_.push_back(b.input(DType::f64, shape()));
    values_.push_back(b.input(DType::f64, {}));
    grow(*b.g, 4 + pick(14), 2);
    int outputs = 1 + pick(3);
    for (int k = 0; k < outputs; ++k)
      b.output(
          values_[values_.size() - 1 - static_cast<size_t>(pick(std::min<int>(4, static_cast<int>(values_.size()))))]);
    return b.g;
  }

 private:
  int pick(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  Var any() { return values_[static_cast<size_t>(pick(static_cast<int>(values_.size())))]; }
  int64_t size() {
    constexpr int64_t sizes[] = {1, 2, 3, 3, 4, 5, 17};
    return sizes[pick(7)];
  }
  Shape shape() {
    Shape s;
    for (int d = pick(4); d > 0; --d) s.push_back(size());
    return s;
  }
  Var of(graph::Graph& g, Var v) { return {&g, v.value}; }

  // A value of the wanted shape made of any other one.
  Var fit(graph::Graph& g, Var v, const Shape& shape) {
    v = of(g, v);
    if (v.shape() == shape) return v;
    if (!v.shape().empty()) {
      std::vector<int64_t> all;
      for (size_t d = 0; d < v.shape().size(); ++d) all.push_back(static_cast<int64_t>(d));
      v = reduce_sum(v, all) * 0.1;
    }
    return broadcast_in_dim(v, shape, {});
  }
  void grow(graph::Graph& g, int count, int depth) {
    for (int k = 0; k < count; ++k) {
      Var v = of(g, any());
      if (auto made = step(g, v, depth)) values_.push_back(*made);
    }
  }
  std::optional<Var> step(graph::Graph& g, Var v, int depth) {
    const Shape s = v.shape();
    auto rank = static_cast<int64_t>(s.size());
    switch (pick(17)) {
      case 0: return v + fit(g, any(), s);
      case 1: return v * fit(g, any(), s) * 0.5;
      case 2: return maximum(v, fit(g, any(), s));
      case 3: return sin(v);
      case 4: return exp(-abs(v));
      case 5: return select(v > fit(g, any(), s), v, literal(v, 0.25));
      case 6: {
        if (rank == 0) return broadcast_in_dim(v, shape(), {});
        std::vector<int64_t> dims;
        for (int64_t d = 0; d < rank; ++d)
          if (pick(2)) dims.push_back(d);
        bool drop = pick(2);
        return pick(2) ? reduce_sum(v, dims, drop) * 0.1 : reduce_max(v, dims, drop);
      }
      case 7: {
        Shape to;
        std::vector<int64_t> dims;
        for (int64_t d = 0; d < rank; ++d) {
          if (pick(3) == 0 && rank < 3) to.push_back(size());
          dims.push_back(static_cast<int64_t>(to.size()));
          to.push_back(s[static_cast<size_t>(d)] == 1 && pick(2) ? size() : s[static_cast<size_t>(d)]);
        }
        return broadcast_in_dim(v, to, dims);
      }
      case 8: {
        std::vector<int64_t> p;
        for (int64_t d = 0; d < rank; ++d) p.push_back(d);
        std::shuffle(p.begin(), p.end(), random_);
        return transpose(v, p);
      }
      case 9: {
        std::vector<int64_t> from, to, by;
        for (int64_t n : s) {
          int64_t a = pick(static_cast<int>(n)), b = a + 1 + pick(static_cast<int>(n - a));
          from.push_back(a), to.push_back(b), by.push_back(1 + pick(2));
        }
        return slice(v, from, to, by);
      }
      case 10: {
        std::vector<int64_t> low, high, interior;
        for (size_t d = 0; d < s.size(); ++d)
          low.push_back(pick(3) - 1), high.push_back(pick(3)), interior.push_back(pick(2));
        for (size_t d = 0; d < s.size(); ++d)
          if (s[d] < 2) low[d] = std::max<int64_t>(low[d], 0);
        return pad(v, literal(g, 0.5, {DType::f64, {}, false}), low, high, interior);
      }
      case 11: return rank == 0 ? v : concatenate({v, v * 2.0, v}, pick(static_cast<int>(rank)));
      case 12: {
        if (rank < 1) return reshape(v, {1, 1});
        return reshape(v, pick(2) ? Shape{elements(s)} : Shape{1, elements(s), 1});
      }
      case 13: {
        if (rank < 2) return std::nullopt;
        int64_t k = pick(static_cast<int>(rank));
        Var other = sin(v);
        if (elements(s) * elements(s) / s[static_cast<size_t>(k)] / s[static_cast<size_t>(k)] > 3000)
          return std::nullopt;
        return dot_general(v, other, {k}, {k}, {}, {}) * 0.1;
      }
      case 14: {
        if (rank == 0) return std::nullopt;
        std::vector<Var> starts;
        Shape part;
        for (int64_t n : s) {
          part.push_back(1 + pick(static_cast<int>(n)));
          starts.push_back(literal(g, pick(8), {DType::i32, {}, false}));
          if (pick(2)) starts.back() = convert(fit(g, any(), {}) * 3.0, DType::i32);
        }
        if (pick(2)) return dynamic_slice(v, starts, part);
        return dynamic_update_slice(v, fit(g, any(), part), starts);
      }
      case 15: {
        if (depth == 0) return std::nullopt;
        Var condition = fit(g, any(), {}) > 0.1;
        Var w = of(g, any());
        size_t mark = values_.size();
        auto branch = [&](graph::Graph& inner) {
          grow(inner, pick(4), depth - 1);
          std::vector<Var> out = {fit(inner, any(), s), fit(inner, any(), w.shape())};
          if (pick(3) == 0) out[0] = of(inner, v);
          values_.resize(mark, v);
          return out;
        };
        auto r = if_else(g, condition, branch, branch);
        values_.push_back(r[0]);
        return r[1];
      }
      default: {
        if (depth == 0) return std::nullopt;
        std::vector<Var> init = {v, of(g, any()), of(g, any()), literal(g, 0, {DType::i32, {}, false})};
        size_t mark = values_.size();
        int steps = 1 + pick(4);
        auto r = while_loop(
            g, init, [&](std::vector<Var>& state) { return state[3] < double(steps); },
            [&](std::vector<Var>& state) {
              graph::Graph& inner = *state[0].graph;
              for (int k = 0; k < 3; ++k) values_.push_back(state[static_cast<size_t>(k)]);
              grow(inner, 1 + pick(6), depth - 1);
              std::vector<Var> next;
              for (size_t k = 0; k < 3; ++k) {
                Var n = fit(inner, any(), state[k].shape());
                if (pick(2) && !state[k].shape().empty()) {
                  Shape part(state[k].shape().size(), 1);
                  std::vector<Var> starts(part.size(), state[3]);
                  n = dynamic_update_slice(pick(4) ? state[k] : n, fit(inner, any(), part), starts);
                }
                next.push_back(n);
              }
              if (pick(3) == 0 && state[0].shape() == state[1].shape()) std::swap(next[0], next[1]);
              next.push_back(state[3] + 1.0);
              values_.resize(mark, v);
              return next;
            });
        values_.push_back(r[0]);
        values_.push_back(r[1]);
        return r[2];
      }
    }
  }

  std::mt19937 random_;
  std::vector<Var> values_;
};

TEST(RandomGraphs, PassesKeepResults) {
  const Campaign campaign(400);
  for (unsigned seed = campaign.first; seed < campaign.first + campaign.count && !HasFailure(); ++seed) {
    SCOPED_TRACE("ANVIL_SEED=" + std::to_string(seed));
    graph::GraphPtr g = Generator(seed).graph();
    expect_passes_agree(*g, numbers_for(*g), 1e-9, targets[seed % std::size(targets)]);
  }
}

// Over the whole registry: windows, convolutions, sorting, factorisations, random bits.
TEST(RandomPrograms, PassesKeepWhatResultsAreMadeOf) {
  const Campaign campaign(150);
  for (unsigned seed = campaign.first; seed < campaign.first + campaign.count && !HasFailure(); ++seed) {
    SCOPED_TRACE("ANVIL_SEED=" + std::to_string(seed));
    RandomProgram program(seed, {});
    graph::GraphPtr g = optimized(program.graph);
    // the numbers are compared where programs are compiled; here some are not even finite
    expect_passes_agree(*g, program.inputs, INFINITY, targets[seed % std::size(targets)]);
  }
}

}  // namespace
}  // namespace anvil::test
