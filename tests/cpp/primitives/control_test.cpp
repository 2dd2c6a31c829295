#include "primitives/families/control.h"

#include <gtest/gtest.h>

#include "backend/eigen/evaluate.h"

namespace anvil::primitives {
namespace {

using graph::Graph;
using graph::GraphPtr;

const TensorType f32_scalar{DType::f32, {}}, i32_scalar{DType::i32, {}}, bool_scalar{DType::boolean, {}};

// A graph that only hands out new values of these types.
GraphPtr constant_graph(const std::vector<TensorType>& inputs, const std::vector<TensorType>& outputs) {
  auto g = std::make_shared<Graph>();
  for (const TensorType& t : inputs) g->inputs.push_back(make_value(graph::Value::Kind::input, t));
  for (const TensorType& t : outputs) g->outputs.push_back(graph::make_literal(1, t));
  return g;
}
std::vector<TensorType> infer_if(const TensorType& pred, const std::vector<TensorType>& yes,
                                 const std::vector<TensorType>& no) {
  Graph g;
  std::vector<TensorType> types;
  auto results = record(g, registry().at("if"), {graph::make_literal(true, pred)},
                        {{"true_graph", constant_graph({}, yes)}, {"false_graph", constant_graph({}, no)}});
  for (const auto& v : results) types.push_back(v->type);
  return types;
}
std::vector<TensorType> infer_while(const std::vector<TensorType>& state, const std::vector<TensorType>& condition,
                                    const std::vector<TensorType>& next) {
  Graph g;
  std::vector<ValuePtr> initial;
  for (const TensorType& t : state) initial.push_back(graph::make_literal(0, t));
  std::vector<TensorType> types;
  auto results =
      record(g, registry().at("while"), initial,
             {{"cond_graph", constant_graph(state, condition)}, {"body_graph", constant_graph(state, next)}});
  for (const auto& v : results) types.push_back(v->type);
  return types;
}
template <class F>
std::string message(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    std::string s = e.kind + ": " + e.what();
    for (const std::string& d : e.details) s += "\n" + d;
    return s;
  }
  return "no error";
}

TEST(If, GivesTheTypesOfItsBranches) {
  TensorType ambiguous{DType::f32, {}, true};
  EXPECT_EQ(infer_if(bool_scalar, {f32_scalar, i32_scalar}, {ambiguous, i32_scalar}),
            (std::vector<TensorType>{f32_scalar, i32_scalar}));
  EXPECT_EQ(infer_if(bool_scalar, {ambiguous}, {ambiguous}), std::vector<TensorType>{ambiguous});
}

TEST(If, SaysWhatDiffers) {
  EXPECT_EQ(message([] { infer_if(i32_scalar, {}, {}); }), "dtype: `pred` must have dtype bool.\nx Got <i32>.");
  EXPECT_EQ(message([] {
              infer_if({DType::boolean, {2}}, {}, {});
            }),
            "shape: `pred` must be a scalar.\nx Got shape (2).");
  EXPECT_EQ(message([] { infer_if(bool_scalar, {f32_scalar}, {}); }),
            "argument: true and false branches must have the same output structure.\nx `true` returns 1 "
            "value, `false` 0 values.");
  EXPECT_EQ(message([] {
              infer_if(bool_scalar, {f32_scalar, f32_scalar}, {f32_scalar, i32_scalar});
            }),
            "dtype: true and false branches must return the same types.\n"
            "x Output 2 is f32[] in `true` and i32[] in `false`.\ni Convert one of them with `nv_convert()`.");
  EXPECT_EQ(message([] {
              infer_if(bool_scalar, {f32_scalar}, {{DType::f32, {3}}});
            }),
            "shape: true and false branches must return the same types.\n"
            "x Output 1 is f32[] in `true` and f32[3] in `false`.\ni Broadcast or reshape one of them.");
}

TEST(While, KeepsTheTypesOfTheState) {
  TensorType ambiguous{DType::i32, {}, true};
  EXPECT_EQ(infer_while({ambiguous, f32_scalar}, {bool_scalar}, {i32_scalar, f32_scalar}),
            (std::vector<TensorType>{ambiguous, f32_scalar}));
}

TEST(While, SaysWhatIsWrong) {
  EXPECT_EQ(message([] { infer_while({}, {bool_scalar}, {}); }),
            "argument: `init` must have at least one element.\ni A loop without a state can never end.");
  EXPECT_EQ(message([] { infer_while({i32_scalar}, {i32_scalar}, {i32_scalar}); }),
            "dtype: `cond` must return a bool scalar.\nx Got i32[].\ni Compare values, for example with `<`.");
  EXPECT_EQ(message([] {
              infer_while({i32_scalar}, {{DType::boolean, {2}}}, {i32_scalar});
            }),
            "shape: `cond` must return a bool scalar.\nx Got bool[2].\ni Reduce it with `nv_reduce_any()` or "
            "`nv_reduce_all()`.");
  EXPECT_EQ(message([] {
              infer_while({i32_scalar}, {bool_scalar}, {i32_scalar, i32_scalar});
            }),
            "argument: `body` must have the same input and output structure.\n"
            "x The state has 1 element, but `body` returns 2 elements.");
  EXPECT_EQ(message([] {
              infer_while({f32_scalar, i32_scalar}, {bool_scalar}, {f32_scalar, f32_scalar});
            }),
            "dtype: `body` must return the types of the state that it gets.\n"
            "x Expected i32[] for state element 2, but `body` returns f32[].\n"
            "i Give `init` the dtype f32, or convert the result of `body` with `nv_convert()`.");
  EXPECT_EQ(message([] {
              infer_while({f32_scalar}, {bool_scalar}, {{DType::f32, {1}}});
            }),
            "shape: `body` must return the types of the state that it gets.\n"
            "x Expected f32[] for state element 1, but `body` returns f32[1].\n"
            "i A state cannot change its shape from one iteration to the next.");
}

TEST(Tapes, HaveTheLayoutOfTheirRecords) {
  Graph g;
  auto initial = {graph::make_literal(0, f32_scalar), graph::make_literal(0, {DType::i32, {3}})};
  std::vector<TensorType> state = {f32_scalar, {DType::i32, {3}}};
  auto looped = record(g, registry().at("while_record"), initial,
                       {{"cond_graph", constant_graph(state, {bool_scalar})},
                        {"body_graph", constant_graph(state, {state[0], state[1], state[1], state[0]})},
                        {"new_field_counts", std::vector<int64_t>{2}}});
  ASSERT_EQ(looped.size(), 3u);
  EXPECT_EQ(looped[2]->type, graph::tape_type);
  EXPECT_EQ(record_layout(g.calls[0], 2), (std::vector<TensorType>{{DType::i32, {3}}, f32_scalar}));

  using Numbers = std::vector<int64_t>;
  std::vector<TensorType> inputs = {{DType::i32, {3}}, f32_scalar, f32_scalar},
                          outputs = {f32_scalar, bool_scalar, i32_scalar};
  auto scanned = record(g, registry().at("tape_scan"), {looped[2], looped[0]},
                        {{"body_graph", constant_graph(inputs, outputs)},
                         {"field_counts", Numbers{2}},
                         {"last_first", Numbers{1}},
                         {"new_field_counts", Numbers{0, 2}}});
  ASSERT_EQ(scanned.size(), 3u);
  EXPECT_TRUE(record_layout(g.calls[1], 1).empty());
  EXPECT_EQ(record_layout(g.calls[1], 2), (std::vector<TensorType>{bool_scalar, i32_scalar}));
  EXPECT_THROW(record(g, registry().at("tape_scan"), {looped[0]},
                      {{"body_graph", constant_graph(inputs, outputs)},
                       {"field_counts", Numbers{2}},
                       {"last_first", Numbers{1}},
                       {"new_field_counts", Numbers{}}}),
               InternalError);
}

// k = 0, by, ... below an end that the graph around computes; what bodies read from there is listed.
TEST(While, CountsToAnEnd) {
  for (const int64_t end : {-1, 0, 1, 7, 8})
    for (const int64_t by : {1, 3}) {
      const TensorType i64_scalar{DType::i64, {}};
      Graph g;
      g.inputs = {make_value(graph::Value::Kind::input, i64_scalar)};
      const Var given{&g, g.inputs[0]}, limit = given + 0.0, zero = literal(g, 0, i64_scalar);
      const auto add = [&](Graph& body, Var k, const Vars& x) { return Vars{x[0] + k * Var{&body, given.value}}; };
      g.outputs = values(counting_loop(g, limit, {zero}, add, by));
      int64_t sum = 0;
      for (int64_t k = 0; k < end; k += by) sum += k * end;
      graph::Tensor x = graph::allocate(i64_scalar);
      set_element(x, 0, end);
      EXPECT_EQ(graph::element(eigen::evaluate(g, {x})[0], 0).as<int64_t>(), sum) << end << " by " << by;
      const graph::Call& loop = g.calls.back();
      EXPECT_EQ(loop.params.graph("cond_graph")->constants, std::vector<ValuePtr>{limit.value});
      EXPECT_EQ(loop.params.graph("body_graph")->constants, std::vector<ValuePtr>{given.value});
    }
}

}  // namespace
}  // namespace anvil::primitives
