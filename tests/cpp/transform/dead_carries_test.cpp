// What loops carry for nobody disappears, and nothing else does.
#include <gtest/gtest.h>

#include "primitives/families/control.h"
#include "transform/simplify.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

using primitives::Control;

const graph::Call* find_loop(const Graph& g, Control control = Control::loop) {
  for (const graph::Call& c : g.calls)
    if (primitives::control_of(c) == control) return &c;
  return nullptr;
}

// state: a counter, what is asked for, a value that it needs, and two that only need each other
GraphPtr five_values(bool read_last) {
  return trace({f64_scalar}, [read_last](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {integer(g, 0), x[0], x[0] * 2.0, x[0] * 3.0, x[0] * 4.0},
        [](Graph& b, const Vars& s) { return s[0] < integer(b, 5); },
        [](Graph& b, const Vars& s) {
          return Vars{s[0] + integer(b, 1), s[1] + s[2], sin(s[2]), cos(s[4]), s[3] * s[4]};
        });
    return Vars{read_last ? r[1] + r[4] : r[1]};
  });
}

TEST(DeadCarries, GoWithWhatOnlyTheyNeed) {
  GraphPtr f = five_values(false);
  const auto before = numbers(eigen::evaluate(*f, {tensor({}, {0.7})})[0]);
  transform::remove_dead_calls(*f);
  primitives::verify(*f);
  const graph::Call* loop = find_loop(*f);
  ASSERT_NE(loop, nullptr);
  EXPECT_EQ(loop->inputs.size(), 3u);
  EXPECT_EQ(loop->outputs.size(), 3u);
  EXPECT_EQ(numbers(eigen::evaluate(*f, {tensor({}, {0.7})})[0]), before);
}

TEST(DeadCarries, StayWhenTheyAreRead) {
  GraphPtr f = five_values(true);
  transform::remove_dead_calls(*f);
  primitives::verify(*f);
  EXPECT_EQ(find_loop(*f)->inputs.size(), 5u);
}

TEST(DeadCarries, InnerLoopsLoseTheirsToo) {
  GraphPtr f = trace({f64_scalar}, [](Graph& g, const Vars& x) {
    Vars outer = while_loop(
        g, {integer(g, 0), x[0], x[0]}, [](Graph& b, const Vars& s) { return s[0] < integer(b, 3); },
        [](Graph& b, const Vars& s) {
          Vars inner = while_loop(
              b, {integer(b, 0), s[1], s[2]}, [](Graph& c, const Vars& t) { return t[0] < integer(c, 2); },
              [](Graph& c, const Vars& t) {
                return Vars{t[0] + integer(c, 1), sin(t[1]), exp(t[2])};
              });
          return Vars{s[0] + integer(b, 1), inner[1], inner[2]};
        });
    return Vars{outer[1]};
  });
  const auto before = numbers(eigen::evaluate(*f, {tensor({}, {0.7})})[0]);
  transform::remove_dead_calls(*f);
  primitives::verify(*f);
  const graph::Call* loop = find_loop(*f);
  EXPECT_EQ(loop->inputs.size(), 2u);
  EXPECT_EQ(find_loop(*loop->params.graph("body_graph"))->inputs.size(), 2u);
  EXPECT_EQ(numbers(eigen::evaluate(*f, {tensor({}, {0.7})})[0]), before);
}

// Time grows with the depth of a nest, not as a power of it.
Vars nest(Graph& g, const Vars& initial, int depth) {
  return while_loop(
      g, initial, [](Graph& b, const Vars& s) { return s[0] < integer(b, 1); },
      [depth](Graph& b, const Vars& s) {
        Vars next = {s[0] + integer(b, 1), sin(s[1]), exp(s[2])};
        if (depth == 0) return next;
        Vars inner = nest(b, {integer(b, 0), next[1], next[2]}, depth - 1);
        return Vars{next[0], inner[1], inner[2]};
      });
}
TEST(DeadCarries, DeepNests) {
  GraphPtr f = trace({f64_scalar}, [](Graph& g, const Vars& x) {
    return Vars{nest(g, {integer(g, 0), x[0], x[0]}, 60)[1]};
  });
  transform::remove_dead_calls(*f);
  const graph::Call* loop = find_loop(*f);
  for (int depth = 60; depth >= 0; --depth) {
    ASSERT_NE(loop, nullptr);
    EXPECT_EQ(loop->inputs.size(), 2u);
    loop = find_loop(*loop->params.graph("body_graph"));
  }
}

// A loop of which only the tape is read keeps what it records, under its new number.
TEST(DeadCarries, RecordedOnesKeepTheirPlace) {
  GraphPtr f = trace({f64_scalar}, [](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {x[0] * 3.0, integer(g, 0), x[0]}, [](Graph& b, const Vars& s) { return s[1] < integer(b, 4); },
        [](Graph& b, const Vars& s) {
          return Vars{exp(s[0]), s[1] + integer(b, 1), sin(s[2])};
        });
    return Vars{r[2]};
  });
  GraphPtr slope = transform::gradient(*f, {true}, false);
  const auto before = numbers(eigen::evaluate(*slope, {tensor({}, {0.7})})[0]);
  transform::remove_dead_calls(*slope);
  primitives::verify(*slope);
  const graph::Call* loop = find_loop(*slope);
  ASSERT_TRUE(primitives::records(*loop));
  EXPECT_EQ(loop->inputs.size(), 2u);
  EXPECT_EQ(primitives::record_layout(*loop, 2), std::vector<TensorType>{f64_scalar});
  EXPECT_EQ(numbers(eigen::evaluate(*slope, {tensor({}, {0.7})})[0]), before);
}

// A reduction by a region, which is differentiated through its expansion, of what nothing is
// differentiated by: the call stays one call.
TEST(Expansion, HappensOnlyWhereADerivativeFlows) {
  auto f = trace({f64({8}), f64({8})}, [](Graph& g, const Vars& x) {
    auto body = std::make_shared<Graph>();
    for (int i = 0; i < 2; ++i) body->inputs.push_back(graph::make_value(graph::Value::Kind::input, f64_scalar));
    Var a{body.get(), body->inputs[0]}, b{body.get(), body->inputs[1]};
    body->outputs = {(a + b + a * b).value};
    auto folded = [&](Var v) {
      return Var{&g, primitives::record(g, primitives::registry().at("reduce"), {v.value, number(g, 0).value},
                                        {{"dims", std::vector<int64_t>{0}, true}, {"body", body}})[0]};
    };
    return Vars{folded(x[0]) * folded(x[1])};
  });
  const auto count = [](const Graph& g) {
    return std::count_if(g.calls.begin(), g.calls.end(),
                         [](const graph::Call& c) { return c.primitive->name == "reduce"; });
  };
  EXPECT_EQ(count(*transform::gradient(*f, {true, false}, false)), 1);
  EXPECT_EQ(count(*transform::gradient(*f, {true, true}, false)), 0);
  expect_gradient(f, {tensor({8}, {.1, .2, .3, .4, .5, .6, .7, .8}), tensor({8}, {.3, .1, .2, .5, .4, .6, .2, .1})}, 2);
}

// Of two sorted tensors only the second one is read: nothing is scattered for the first.
TEST(Cotangents, ThatDoNotExistCostNothing) {
  auto f = trace({f64({4}), f64({4})}, [](Graph&, const Vars& x) {
    return Vars{primitives::reduce_sum(primitives::sort({x[0], x[1]}, 0)[1] * 2.0, {0})};
  });
  auto g = transform::gradient(*f, {true, true}, false);
  EXPECT_EQ(std::count_if(g->calls.begin(), g->calls.end(),
                          [](const graph::Call& c) { return c.primitive->name == "scatter"; }),
            1);
  auto slopes = eigen::evaluate(*g, {tensor({4}, {4, 2, 3, 1}), tensor({4}, {1, 2, 3, 4})});
  EXPECT_EQ(numbers(slopes[0]), (std::vector<double>{0, 0, 0, 0}));
  EXPECT_EQ(numbers(slopes[1]), (std::vector<double>{2, 2, 2, 2}));
}

}  // namespace
}  // namespace anvil::testing
