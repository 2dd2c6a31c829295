#include "transform/tracing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "primitives/vocabulary/primitive.h"
#include "support/forward_check.h"
#include "transform/tapes.h"

namespace anvil::testing {

using primitives::record;
using primitives::registry;

GraphPtr trace(const std::vector<TensorType>& inputs, const std::function<Vars(Graph&, const Vars&)>& body) {
  auto g = std::make_shared<Graph>();
  Vars vars;
  for (const TensorType& t : inputs) {
    g->inputs.push_back(make_value(graph::Value::Kind::input, t));
    vars.push_back({g.get(), g->inputs.back()});
  }
  for (const Var& v : body(*g, vars)) g->outputs.push_back(v.value);
  return g;
}

static Vars vars_of(Graph& g, const std::vector<ValuePtr>& values) {
  Vars vars;
  for (const ValuePtr& v : values) vars.push_back({&g, v});
  return vars;
}

Vars if_else(Graph& g, Var condition, const std::function<Vars(Graph&)>& yes, const std::function<Vars(Graph&)>& no) {
  auto branch = [](const std::function<Vars(Graph&)>& f) {
    return trace({}, [&](Graph& inner, const Vars&) { return f(inner); });
  };
  return vars_of(
      g, record(g, registry().at("if"), {condition.value}, {{"true_graph", branch(yes)}, {"false_graph", branch(no)}}));
}

Vars while_loop(Graph& g, const Vars& initial, const std::function<Var(Graph&, const Vars&)>& condition,
                const Step& body) {
  std::vector<TensorType> types;
  std::vector<ValuePtr> operands;
  for (const Var& v : initial) {
    types.push_back(v.type());
    operands.push_back(v.value);
  }
  GraphPtr cond_graph = trace(types, [&](Graph& inner, const Vars& state) { return Vars{condition(inner, state)}; });
  return vars_of(
      g, record(g, registry().at("while"), operands, {{"cond_graph", cond_graph}, {"body_graph", trace(types, body)}}));
}

GraphPtr counting_loop(const std::vector<TensorType>& inputs, int64_t steps,
                       const std::function<Vars(Graph&, const Vars&)>& initial, const Body& body, int64_t first) {
  return trace(inputs, [&](Graph& g, const Vars& x) {
    Vars start = initial(g, x);
    start.insert(start.begin(), integer(g, first));
    const Vars end = while_loop(
        g, start, [&](Graph& c, const Vars& s) { return s[0] < integer(c, first + steps); },
        [&](Graph& c, const Vars& s) {
          Vars outer;
          for (const Var& v : x) outer.push_back(in(c, v));
          Vars next = body(c, first == 0 ? s[0] : s[0] - integer(c, first), {s.begin() + 1, s.end()}, outer);
          next.insert(next.begin(), s[0] + integer(c, 1));
          return next;
        });
    return Vars{end.begin() + 1, end.end()};
  });
}

Var number(Graph& g, double x) { return primitives::literal(g, x, f64_scalar); }
Var integer(Graph& g, int64_t x) { return primitives::literal(g, x, {DType::i32, {}}); }

Tensor tensor(const Shape& shape, const std::vector<double>& values, DType dtype) {
  Tensor t = graph::allocate({dtype, shape});
  for (size_t i = 0; i < values.size(); ++i) set_element(t, static_cast<int64_t>(i), values[i]);
  return t;
}
std::vector<double> numbers(const Tensor& t) {
  std::vector<double> values;
  for (int64_t i = 0; i < elements(t.type.shape); ++i) values.push_back(element(t, i).as<double>());
  return values;
}

std::vector<Tensor> inputs_around(double value, const Graph& g) {
  std::vector<Tensor> list;
  for (const ValuePtr& v : g.inputs) {
    std::vector<double> x;
    for (int64_t k = 0; k < elements(v->type.shape); ++k)
      x.push_back(value + std::sin(0.37 * double(k) + double(list.size())));
    list.push_back(tensor(v->type.shape, x, v->type.dtype));
  }
  return list;
}

void expect_same(const Graph& expected, const Graph& got, const std::vector<Tensor>& inputs, double tolerance) {
  const auto x = eigen::evaluate(expected, inputs), y = eigen::evaluate(got, inputs);
  ASSERT_EQ(y.size(), x.size());
  for (size_t k = 0; k < x.size(); ++k) {
    ASSERT_EQ(y[k].type.shape, x[k].type.shape) << "output " << k;
    const std::vector<double> a = numbers(x[k]), b = numbers(y[k]);
    for (size_t e = 0; e < a.size(); ++e)
      EXPECT_NEAR(a[e], b[e], tolerance * (1 + std::abs(a[e]))) << "output " << k << ", " << e;
  }
}

// sum of w[k] * gradient[k], with different weights for all places
static GraphPtr weighted(const Graph& gradients, const std::vector<TensorType>& types) {
  return trace(types, [&](Graph& g, const Vars& x) {
    std::vector<ValuePtr> arguments;
    for (const Var& v : x) arguments.push_back(v.value);
    Var sum = number(g, 0);
    double k = 1;
    for (const Var& v : vars_of(g, inline_calls(gradients, arguments, g))) {
      if (!is_float(v.dtype())) continue;
      std::vector<int64_t> dims;
      for (size_t d = 0; d < v.shape().size(); ++d) dims.push_back(static_cast<int64_t>(d));
      std::vector<double> weights;
      for (int64_t i = 0; i < elements(v.shape()); ++i, ++k) weights.push_back(0.5 + 0.3 * k - 0.05 * k * k);
      Var w{&g, graph::make_constant(tensor(v.shape(), weights))};
      sum = sum + reduce_sum(w * v, dims);
    }
    return Vars{sum};
  });
}

// The same values without tapes; beyond the second derivative of loops that do not count, running
// them again for each record takes too long for a test.
static void expect_same_without_tapes(const graph::Graph& g, const std::vector<Tensor>& inputs,
                                      const std::vector<Tensor>& expected) {
  GraphPtr plain = transform::without_tapes(g);
  ASSERT_NO_THROW(primitives::verify(*plain)) << print(*plain);
  std::string text = print(*plain);
  EXPECT_EQ(text.find("tape"), std::string::npos) << text;
  EXPECT_EQ(text.find("while_record"), std::string::npos) << text;
  auto got = eigen::evaluate(*plain, inputs);
  for (size_t k = 0; k < expected.size(); ++k) EXPECT_EQ(numbers(got[k]), numbers(expected[k])) << "output " << k;
}

void expect_gradient(const GraphPtr& function, const std::vector<Tensor>& inputs, int orders, double tolerance) {
  std::vector<TensorType> types;
  std::vector<bool> wrt;
  for (const Tensor& t : inputs) {
    types.push_back(t.type);
    wrt.push_back(is_float(t.type.dtype));
  }
  GraphPtr f = function;
  for (int order = 1; order <= orders; ++order) {
    SCOPED_TRACE("order " + std::to_string(order));
    test::expect_modes_agree(*f, inputs);
    GraphPtr g = transform::gradient(*f, wrt, true);
    ASSERT_NO_THROW(primitives::verify(*g)) << print(*g);
    auto results = eigen::evaluate(*g, inputs);
    EXPECT_DOUBLE_EQ(numbers(results[0])[0], numbers(eigen::evaluate(*f, inputs)[0])[0]);
    if (order <= 2) expect_same_without_tapes(*g, inputs, results);
    size_t output = 1;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!wrt[i]) continue;
      auto found = numbers(results[output++]);
      for (size_t k = 0; k < found.size(); ++k) {
        auto value_at = [&](double step) {
          std::vector<Tensor> moved = inputs;
          auto values = numbers(inputs[i]);
          values[k] += step;
          moved[i] = tensor(inputs[i].type.shape, values);
          return numbers(eigen::evaluate(*f, moved)[0])[0];
        };
        double h = 1e-4;  // fourth order: the error is about 1e-16 / h + h^4
        double expected = (8 * (value_at(h) - value_at(-h)) - (value_at(2 * h) - value_at(-2 * h))) / (12 * h);
        EXPECT_NEAR(found[k], expected, tolerance * (1 + std::abs(expected))) << "input " << i << ", place " << k;
      }
    }
    GraphPtr all = transform::gradient(*f, wrt, false);
    f = weighted(*all, types);
  }
}

}  // namespace anvil::testing
