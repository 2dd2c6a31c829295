// Labels of values: unique over all scopes, and of what is captured those of the scope that it comes from.
#include "graph/labels.h"

#include <gtest/gtest.h>

#include <set>

namespace anvil::graph {
namespace {

const Operation step{"step"}, choice{"if"};
const TensorType number{DType::f32, {}, false};

ValuePtr made(Graph& g, const Operation& op, std::vector<ValuePtr> inputs, Params params = {}) {
  ValuePtr v = make_value(Value::Kind::result, number);
  g.calls.push_back({&op, std::move(inputs), std::move(params), {v}});
  return v;
}

// if (x) { inner step of x and of an input } else { x }, and a second one without a result
struct Program {
  Graph whole;
  GraphPtr yes = std::make_shared<Graph>(), no = std::make_shared<Graph>(), silent = std::make_shared<Graph>();
  Program() {
    const ValuePtr x = make_value(Value::Kind::input, number), own = make_value(Value::Kind::input, number);
    const ValuePtr c = make_constant(full(number, Scalar(2.0)));
    whole.inputs = {x};
    whole.constants = {c};
    yes->inputs = {own};
    yes->constants = {x};
    yes->outputs = {made(*yes, step, {x, own, c})};
    no->constants = {x};
    no->outputs = {made(*no, step, {x})};
    const ValuePtr y = made(whole, choice, {x}, {{"yes", yes}, {"no", no}});
    made(*silent, step, {y});
    whole.calls.push_back({&choice, {x}, {{"silent", silent}}, {}});
    whole.outputs = {made(whole, step, {y})};
  }
};

TEST(Labels, AreUniqueOverScopes) {
  const Program p;
  const Labels labels = labels_of(p.whole);
  std::set<std::string> all;
  for (const auto& entry : labels) all.insert(entry.second);
  EXPECT_EQ(all.size(), labels.size());
  EXPECT_EQ(all, (std::set<std::string>{"%x1", "%c1", "%1", "%1.x1", "%1.1", "%1.2", "%2.1", "%3"}));
  EXPECT_EQ(label(labels, make_value(Value::Kind::input, number)), "???");
  EXPECT_EQ(label(labels, make_literal(Scalar(1.0), number)), "1:f32");
}

TEST(Labels, InnerGraphsPrintBelowTheirCalls) {
  const Program p;
  EXPECT_EQ(print(p.whole, "AnvilGraph", labels_of(p.whole), true),
            "<AnvilGraph>\n"
            "  Inputs:\n"
            "    %x1: f32[]\n"
            "  Constants:\n"
            "    %c1: f32[]\n"
            "  Body:\n"
            "    %1: f32[] = if [yes = graph[1 -> 1], no = graph[0 -> 1]] (%x1)\n"
            "      yes(%1.x1: f32[]):\n"
            "        %1.1: f32[] = step(%x1, %1.x1, %c1)\n"
            "        return %1.1\n"
            "      no():\n"
            "        %1.2: f32[] = step(%x1)\n"
            "        return %1.2\n"
            "    (): () = if [silent = graph[0 -> 0]] (%x1)\n"
            "      silent():\n"
            "        %2.1: f32[] = step(%1)\n"
            "        return \n"
            "    %3: f32[] = step(%1)\n"
            "  Outputs:\n"
            "    %3: f32[]");
}

TEST(Labels, OfAScopeBeginWithIt) {
  const Program p;
  Labels labels;
  add_labels(p.whole, "%", labels);
  EXPECT_EQ(add_labels(*p.yes, "%7.", labels), 1);
  EXPECT_EQ(label(labels, p.yes->outputs[0]), "%1.1");  // what has a label keeps it
}

}  // namespace
}  // namespace anvil::graph
