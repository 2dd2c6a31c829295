// Windows: the view and its adjoint, reduce_window and select_and_scatter against loops over
// every window, derivatives, errors.
#include <functional>

#include "primitives/families/window.h"
#include "support/regions.h"
#include "support/structured.h"

namespace anvil::test {
namespace {

using namespace primitives;
using Vars = std::vector<Var>;

struct Window {
  Ints size, stride, base, dilation, low, high;
};
Params params_of(const Window& w) {
  return {{"window_dimensions", w.size},    {"window_strides", w.stride}, {"base_dilations", w.base},
          {"window_dilations", w.dilation}, {"padding_low", w.low},       {"padding_high", w.high}};
}
Program reduce_window(const Window& w, graph::GraphPtr body, double initial) {
  return [=](graph::Graph& g, const Vars& x) {
    Params p = params_of(w);
    p.items.push_back({"body", body});
    return call("reduce_window", {x[0], literal(g, initial, {x[0].dtype(), {}})}, p);
  };
}

// For every place of the output, every place of the window, the last dimension fastest: the
// place in the operand, or -1 where there is padding.
using Visit = std::function<void(int64_t output, int64_t operand)>;
Shape each_window(const Window& w, const Shape& shape, const Visit& visit) {
  Shape out;
  for (size_t d = 0; d < shape.size(); ++d)
    out.push_back(window_count(shape[d], {w.size[d], w.stride[d], w.dilation[d], w.base[d], w.low[d], w.high[d]}));
  Shape slowest_first(w.size.rbegin(), w.size.rend());
  std::vector<int64_t> o(out.size(), 0);
  auto steps = strides(shape), places = strides(out);
  if (elements(out) > 0) do {
      std::vector<int64_t> k(w.size.size(), 0);
      do {
        int64_t at = 0, place = 0;
        for (size_t d = 0; d < shape.size(); ++d) {
          int64_t p = o[d] * w.stride[d] + k[shape.size() - 1 - d] * w.dilation[d] - w.low[d];
          bool inside = p >= 0 && p % w.base[d] == 0 && p / w.base[d] < shape[d];
          at = inside && at >= 0 ? at + p / w.base[d] * steps[d] : -1;
          place += o[d] * places[d];
        }
        visit(place, at);
      } while (next_index(k, slowest_first));
    } while (next_index(o, out));
  return out;
}
void expect_windows(const Window& w, const Tensor& x, const char* name, double initial,
                    const std::function<double(double, double)>& f) {
  std::map<int64_t, double> sums;
  Shape out = each_window(w, x.type.shape, [&](int64_t o, int64_t p) {
    auto [it, fresh] = sums.try_emplace(o, initial);
    it->second = f(it->second, p < 0 ? initial : element(x, p).as<double>());
  });
  std::vector<double> expected;
  for (auto& [o, y] : sums) expected.push_back(y);
  expect_values(reduce_window(w, operation(name, x.type.dtype), initial), {x}, out, expected);
}

const std::vector<Window> windows_over_5_by_4 = {
    {{2, 3}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, {{2, 2}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, {1, 0}},
    {{3, 2}, {2, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 0}}, {{2, 2}, {1, 2}, {1, 1}, {2, 3}, {1, 2}, {0, 2}},
    {{3, 2}, {1, 2}, {2, 3}, {1, 1}, {1, 0}, {0, 2}}, {{2, 3}, {3, 1}, {2, 1}, {2, 1}, {-1, 1}, {1, -1}},
    {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, {{1, 1}, {2, 3}, {1, 1}, {1, 1}, {1, 0}, {0, 1}},
    {{7, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}, {{5, 4}, {1, 1}, {1, 1}, {1, 1}, {4, 3}, {0, 0}}};

TEST(Window, ReduceWindowAgainstLoops) {
  for (const Window& w : windows_over_5_by_4) {
    Tensor x = counting({5, 4});
    expect_windows(w, x, "add", 0, [](double a, double b) { return a + b; });
    expect_windows(w, x, "add", 3, [](double a, double b) { return a + b; });
    expect_windows(w, x, "maximum", -INFINITY, [](double a, double b) { return std::max(a, b); });
    expect_windows(w, x, "minimum", 2, [](double a, double b) { return std::min(a, b); });
    expect_windows(w, tensor(DType::i32, {5, 4}, values(x)), "xor", 0,
                   [](double a, double b) { return static_cast<double>(int64_t(a) ^ int64_t(b)); });
  }
}

TEST(Window, ReduceWindowOfTwoOperands) {
  Window w{{3}, {2}, {1}, {1}, {1}, {1}};
  Params p = params_of(w);
  p.items.push_back({"body", first_largest(DType::f64, DType::i32)});
  Program program = [=](graph::Graph& g, const Vars& x) {
    return call("reduce_window",
                {x[0], iota(g, 0, DType::i32, x[0].shape()), literal(g, -INFINITY, {DType::f64, {}}),
                 literal(g, -1, {DType::i32, {}})},
                p);
  };
  Tensor x = tensor(DType::f64, {6}, {1, 5, 2, 2, 9, 0});
  graph::Graph g = build(program, {x});
  expect_loop_rules_agree(g, {x});
  auto r = eigen::evaluate(g, {x});
  EXPECT_EQ(values(r[0]), (std::vector<double>{5, 5, 9}));
  EXPECT_EQ(values(r[1]), (std::vector<double>{1, 1, 4}));
}

// Whether no window lies in the padding only.
bool each_sees_an_element(const Window& w, const Shape& shape) {
  std::map<int64_t, bool> sees;
  each_window(w, shape, [&](int64_t o, int64_t p) { sees[o] = sees[o] || p >= 0; });
  return std::all_of(sees.begin(), sees.end(), [](const auto& s) { return s.second; });
}

TEST(Window, ReduceWindowGradients) {
  for (const Window& w : windows_over_5_by_4) {
    Tensor x = spread_values(DType::f64, {5, 4});
    expect_gradients(reduce_window(w, operation("add", DType::f64), 0), {x});
    double lowest = each_sees_an_element(w, {5, 4}) ? -INFINITY : -9;
    expect_gradients(reduce_window(w, operation("maximum", DType::f64), lowest), {x});
    expect_gradients(reduce_window(w, operation("minimum", DType::f64), 0.3), {x}, 1);
    expect_gradients(reduce_window(w, operation("mul", DType::f64), 1), {x}, 1);
    expect_gradients(reduce_window(w, log_sum_exp(DType::f64), -1), {x}, 1);
  }
}

TEST(Window, ViewsAndTheirAdjoints) {
  auto view = [](Ints dims, Ints sizes, Ints strides, Ints dilations) {
    return [=](graph::Graph&, const Vars& x) { return Vars{windows(x[0], dims, sizes, strides, dilations)}; };
  };
  expect_values(view({0}, {2}, {2}, {1}), {counting({5})}, {2, 2}, {1, 3, 2, 4});
  expect_values(view({0}, {2}, {1}, {3}), {counting({5})}, {2, 2}, {1, 2, 4, 5});
  expect_values(view({1}, {2}, {1}, {1}), {counting({2, 3})}, {2, 2, 2}, {1, 2, 3, 4, 3, 4, 5, 6});
  expect_gradients(view({1, 0}, {2, 3}, {2, 1}, {1, 2}), {spread_values(DType::f64, {6, 5})});
  Program sums = [](graph::Graph&, const Vars& x) { return Vars{sum_windows(x[0], {0}, {1})}; };
  // diagonals of [[1, 4], [2, 5], [3, 6]]: x[1, 0] + x[0, 1], x[2, 0] + x[1, 1]
  expect_values(sums, {counting({3, 2})}, {2}, {6, 8});
  expect_gradients(sums, {spread_values(DType::f64, {5, 3})});
}

// The adjoint of the view, against a loop over all places of all windows: windows that meet, touch and lie apart, one
// that is all, none.
TEST(Window, TheAdjointAddsEveryPlaceToItsElement) {
  std::mt19937 random(11);
  const auto pick = [&](int64_t most) { return std::uniform_int_distribution<int64_t>(1, most)(random); };
  for (int trial = 0; trial < 300; ++trial) {
    const size_t rank = trial % 3 == 0 ? 1 : 2;
    const Ints dims = rank == 1 ? Ints{trial % 2} : trial % 2 == 0 ? Ints{0, 1} : Ints{1, 0};
    Ints sizes, strides, dilations;
    const Shape shape = {pick(9), pick(9)};
    Shape all = shape;
    for (size_t k = 0; k < rank; ++k) {
      sizes.push_back(pick(4));
      strides.push_back(pick(5));
      dilations.push_back(trial % 4 == 0 ? pick(3) : 1);
      int64_t& n = all[size_t(dims[k])];
      n = window_count(n, {sizes[k], strides[k], dilations[k]});
    }
    all.insert(all.end(), sizes.begin(), sizes.end());
    const Tensor g = counting(all);
    std::vector<double> wanted(size_t(elements(shape)), 0);
    std::vector<int64_t> i(all.size(), 0);
    int64_t next = 0;
    if (elements(all) > 0) do {
        std::vector<int64_t> at = i;
        for (size_t k = 0; k < rank; ++k) {
          int64_t& p = at[size_t(dims[k])];
          p = p * strides[k] + at[2 + k] * dilations[k];
        }
        wanted[size_t(at[0] + shape[0] * at[1])] += element(g, next++).as<double>();
      } while (next_index(i, all));
    const Program adjoint = [&](graph::Graph&, const Vars& v) {
      return Vars{from_windows(v[0], dims, strides, dilations, shape)};
    };
    SCOPED_TRACE(trial);
    expect_values(adjoint, {g}, shape, wanted);
  }
}
// Where windows do not meet, nothing on the way is larger than what comes in and what comes out.
TEST(Window, TheAdjointOfWindowsThatDoNotMeetTakesNoMoreMemory) {
  for (const auto& [n, size] : {std::pair<int64_t, int64_t>{64, 8}, {33, 33}, {63, 5}}) {
    const Program sums = [size = size](graph::Graph&, const Vars& v) {
      const Var all = windows(v[0], {0, 1}, {size, size}, {size, size}, {1, 1});
      return Vars{reduce_sum(all * all, {0, 1, 2, 3})};
    };
    const graph::GraphPtr slope = transform::gradient(build(sums, {counting({n, n})}), {true}, false);
    for (const graph::Call& call : slope->calls)
      EXPECT_LE(elements(call.outputs[0]->type.shape), n * n) << call.primitive;
  }
}

// The two that are no operators of StableHLO are written as others.
TEST(Window, ExpansionsAgree) {
  Tensor x = counting({6, 5}), y = counting({8, 3, 2, 2});
  Program view = [](graph::Graph&, const Vars& v) { return Vars{windows(v[0], {1, 0}, {2, 3}, {2, 1}, {1, 2})}; };
  Program sums = [](graph::Graph&, const Vars& v) { return Vars{sum_windows(v[0], {0, 1}, {3, 1})}; };
  for (auto& [program, at] : {std::pair{view, x}, std::pair{sums, y}}) {
    graph::Graph g = build(program, {at});
    graph::Graph expanded;
    expanded.inputs = g.inputs;
    expanded.outputs = primitive_of(g.calls[0]).expand(expanded, g.calls[0]);
    EXPECT_EQ(values(eigen::evaluate(expanded, {at}).at(0)), values(eigen::evaluate(g, {at}).at(0)));
  }
}

Program select_and_scatter(const Window& w, const char* select, graph::GraphPtr scatter, double initial) {
  return [=](graph::Graph& g, const Vars& x) {
    return call("select_and_scatter", {x[0], x[1], literal(g, initial, {x[0].dtype(), {}})},
                {{"window_dimensions", w.size},
                 {"window_strides", w.stride},
                 {"padding_low", w.low},
                 {"padding_high", w.high},
                 {"select", region({x[0].dtype(), x[0].dtype()},
                                   [&](const Vars& v) {
                                     return Vars{record(select, {v[0], v[1]})};
                                   })},
                 {"scatter", scatter}});
  };
}
TEST(Window, SelectAndScatterAgainstLoops) {
  Tensor x = tensor(DType::f64, {4, 5}, {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4});
  Ints ones(2, 1);
  for (Window w : {Window{{2, 2}, {2, 2}, ones, ones, {0, 0}, {0, 1}},
                   {{3, 2}, {1, 2}, ones, ones, {1, 0}, {1, 0}},
                   {{2, 3}, {1, 1}, ones, ones, {0, 1}, {1, 1}},
                   {{2, 1}, {3, 2}, ones, ones, {0, 0}, {0, 0}},
                   {{3, 3}, {2, 2}, ones, ones, {-1, 1}, {2, 0}}}) {
    std::map<int64_t, int64_t> chosen;
    Shape out = each_window(w, x.type.shape, [&](int64_t o, int64_t p) {
      if (p < 0) return;
      auto [it, fresh] = chosen.try_emplace(o, p);
      if (!(element(x, it->second).as<double>() >= element(x, p).as<double>())) it->second = p;
    });
    Tensor source = counting(out);
    std::vector<double> sums(20, 0.5), last(20, 0.5);
    for (auto [o, p] : chosen) {
      sums[static_cast<size_t>(p)] += element(source, o).as<double>();
      last[static_cast<size_t>(p)] = element(source, o).as<double>();
    }
    auto right = region({DType::f64, DType::f64}, [](const Vars& v) { return Vars{v[1]}; });
    expect_values(select_and_scatter(w, "greater_equal", operation("add", DType::f64), 0.5), {x, source}, {4, 5}, sums);
    Tensor got = evaluate(select_and_scatter(w, "greater_equal", right, 0.5), {x, source});
    for (size_t p = 0; p < 20; ++p)  // one of those that were scattered there
      EXPECT_EQ(values(got)[p] == 0.5, sums[p] == 0.5);
  }
}

TEST(Window, Errors) {
  auto params = [](Window w) {
    Params p = params_of(w);
    p.items.push_back({"body", operation("add", DType::f64)});
    return p;
  };
  expect_error("reduce_window", {f64({4}), f64()}, params({{2, 2}, {1}, {1}, {1}, {0}, {0}}), "argument",
               "`window_dimensions` must have one entry for each dimension of `reduce_window`.", nullptr);
  expect_error("reduce_window", {f64({4}), f64()}, params({{2}, {0}, {1}, {1}, {0}, {0}}), "argument",
               "`window_strides` must be positive.", "x Got 0 in dimension 1.");
  expect_error("reduce_window", {f64({4}), f64()}, params({{2}, {1}, {1}, {1}, {-3}, {-2}}), "shape",
               "Negative padding must not crop more than there is.", nullptr);
  expect_error("windows", {f64({4})},
               {{"dims", Ints{1}, true}, {"sizes", Ints{2}}, {"strides", Ints{1}}, {"dilations", Ints{1}}}, "argument",
               "`dims` contains index outside the valid range.", nullptr);
}

}  // namespace
}  // namespace anvil::test
