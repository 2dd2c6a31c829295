// The graph language by itself: printing, nesting, copies, and what the verifier refuses.
#include "graph/graph.h"

#include <gtest/gtest.h>

namespace anvil::graph {
namespace {

const Operation add{"add"}, reduce{"reduce_sum"}, fill{"fill"}, branch{"if"}, sort{"sort"};
const TensorType scalar{DType::f32, {}, false}, vector{DType::f32, {3}, false};

ValuePtr input(Graph& g, TensorType t) {
  g.inputs.push_back(make_value(Value::Kind::input, std::move(t)));
  return g.inputs.back();
}
ValuePtr call(Graph& g, const Operation& op, std::vector<ValuePtr> inputs, TensorType t, Params params = {}) {
  ValuePtr v = make_value(Value::Kind::result, std::move(t));
  g.calls.push_back({&op, std::move(inputs), std::move(params), {v}});
  return v;
}

TEST(Graph, PrintsAsDocumented) {
  Graph g;
  ValuePtr x = input(g, {DType::f32, {2, 3}, false});
  ValuePtr y = input(g, {DType::i32, {}, true});
  ValuePtr c = make_constant(full(scalar, Scalar(1.0)));
  g.constants = {c};
  ValuePtr s =
      call(g, reduce, {x}, {DType::f32, {2}, false}, {{"dims", std::vector<int64_t>{1}, true}, {"drop", true}});
  ValuePtr f =
      call(g, fill, {}, scalar, {{"value", Scalar(2.5)}, {"shape", std::vector<int64_t>{}}, {"dtype", DType::f32}});
  ValuePtr z = call(g, add, {f, make_literal(Scalar(1.0), {DType::f32, {}, true})}, scalar);
  ValuePtr a = make_value(Value::Kind::result, scalar), b = make_value(Value::Kind::result, {DType::i32, {}, false});
  g.calls.push_back({&sort, {z, y}, {{"pairs", std::vector<std::vector<int64_t>>{{1}, {}}, true}}, {a, b}});
  g.outputs = {s, a, make_literal(Scalar(7), {DType::i32, {1, 1}, false})};
  EXPECT_EQ(print(g),
            "<AnvilGraph>\n"
            "  Inputs:\n"
            "    %x1: f32[2, 3]\n"
            "    %x2: i32?[]\n"
            "  Constants:\n"
            "    %c1: f32[]\n"
            "  Body:\n"
            "    %1: f32[2] = reduce_sum [dims = 2, drop = TRUE] (%x1)\n"
            "    %2: f32[] = fill [value = 2.5, shape = <any>, dtype = f32] ()\n"
            "    %3: f32[] = add(%2, 1:f32?)\n"
            "    (%4, %5): (f32[], i32[]) = sort [pairs = [2, <any>]] (%3, %x2)\n"
            "  Outputs:\n"
            "    %1: f32[2]\n"
            "    %4: f32[]\n"
            "    7:i32[(1,1)]");
}

TEST(Graph, PrintsWhatIsNotThere) {
  EXPECT_EQ(print(Graph{}, "GraphDescriptor"),
            "<GraphDescriptor>\n  Inputs: (none)\n  Body: (empty)\n  Outputs: (none)");
}

TEST(Graph, InnerGraphsReadOuterValues) {
  Graph g;
  ValuePtr x = input(g, vector), p = input(g, {DType::boolean, {}, false});
  auto yes = std::make_shared<Graph>(), no = std::make_shared<Graph>();
  yes->outputs = {call(*yes, add, {x, x}, vector)};
  no->outputs = {x};
  ValuePtr r = call(g, branch, {p}, vector, {{"true_graph", yes}, {"false_graph", no}});
  g.outputs = {r};
  EXPECT_NO_THROW(verify_structure(g));
  EXPECT_EQ(captures(*yes), std::vector<ValuePtr>{x});
  EXPECT_TRUE(captures(g).empty());
  EXPECT_EQ(subgraphs(g.calls[0]).size(), 2u);
  EXPECT_NE(print(g).find("if [true_graph = graph[0 -> 1], false_graph = graph[0 -> 1]] (%x2)"), std::string::npos);

  Substitution map;
  GraphPtr copy = clone(g, map);
  EXPECT_NO_THROW(verify_structure(*copy));
  EXPECT_EQ(print(*copy), print(g));
  GraphPtr inner = copy->calls[0].params.graph("true_graph");
  EXPECT_NE(inner, yes);
  EXPECT_EQ(captures(*inner), std::vector<ValuePtr>{copy->inputs[0]});  // the copy's own input
}

TEST(Graph, InliningReplacesInputs) {
  Graph inner;
  ValuePtr a = input(inner, vector);
  inner.outputs = {call(inner, add, {a, a}, vector), a};
  Graph outer;
  ValuePtr x = input(outer, vector);
  std::vector<ValuePtr> results = inline_calls(inner, {x}, outer);
  EXPECT_EQ(results[1], x);
  EXPECT_EQ(outer.calls.at(0).inputs, (std::vector<ValuePtr>{x, x}));
  EXPECT_NE(outer.calls.at(0).outputs[0], inner.calls[0].outputs[0]);
}

TEST(Graph, TheVerifierRefuses) {
  Graph early;
  ValuePtr later = make_value(Value::Kind::result, scalar);
  call(early, add, {later, later}, scalar);
  EXPECT_THROW(verify_structure(early), InternalError);

  Graph twice;
  ValuePtr x = input(twice, scalar);
  twice.calls.push_back({&add, {x, x}, {}, {x}});
  EXPECT_THROW(verify_structure(twice), InternalError);

  Graph nameless;
  nameless.calls.push_back({nullptr, {}, {}, {}});
  EXPECT_THROW(verify_structure(nameless), InternalError);

  Graph null;
  null.outputs = {nullptr};
  EXPECT_THROW(verify_structure(null), InternalError);
}

TEST(Graph, ParametersAreTyped) {
  Params p{{"dims", std::vector<int64_t>{0}, true}, {"drop", false}};
  EXPECT_EQ(p.ints("dims"), std::vector<int64_t>{0});
  EXPECT_FALSE(p.flag("drop"));
  EXPECT_THROW(p.ints("drop"), InternalError);
  EXPECT_THROW(p.flag("absent"), InternalError);
}

TEST(Tensor, ElementsOfEveryDtype) {
  for (int i = 0; i <= static_cast<int>(DType::f64); ++i) {
    Tensor t = full({static_cast<DType>(i), {2, 2}, false}, Scalar(1));
    set_element(t, 3, Scalar(0));
    EXPECT_EQ(element(t, 2).as<double>(), 1);
    EXPECT_EQ(element(t, 3).as<double>(), 0);
  }
  EXPECT_EQ(text(TensorType{DType::f64, {2, 3}, true}), "f64?[2, 3]");
  EXPECT_EQ(hlo_text({DType::boolean, {2}, false}), "tensor<2xi1>");
}

}  // namespace
}  // namespace anvil::graph
