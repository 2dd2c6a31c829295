// The primitive that CONTRIBUTING.md adds as its example, added: the build copies the
// statement out of the document.
#include <gtest/gtest.h>

#include "backend/eigen/evaluate.h"
#include "primitives/families/monoid.h"
#include "primitives/vocabulary/composite.h"
#include "primitives/vocabulary/elementwise.h"
#include "primitives/vocabulary/structured.h"
#include "support/loop_rule.h"
#include "transform/reverse.h"

namespace anvil::primitives {
namespace {

TEST(Contributing, TheExampleOfTheDocumentIsAPrimitive) {
  auto& r = registry();
  if (r.find("square") == nullptr) {
#include "contributing_example.inc"
  }
  const Primitive& square = r.at("square");
  EXPECT_TRUE(square.lower && square.reverse && square.elementwise);
  graph::Graph g;
  g.inputs = {graph::make_value(graph::Value::Kind::input, {DType::f64, {}, false})};
  g.outputs = record(g, square, g.inputs);
  graph::Tensor three = graph::full({DType::f64, {}, false}, Scalar(3.0));
  EXPECT_EQ(graph::element(eigen::evaluate(g, {three})[0], 0).as<double>(), 9);
  auto slope = transform::gradient(g, {true}, false);
  EXPECT_EQ(graph::element(eigen::evaluate(*slope, {three})[0], 0).as<double>(), 6);
}

TEST(Contributing, TheReductionOfTheDocumentIsOneRow) {
  auto& r = registry();
  if (r.find("reduce_xor") == nullptr) {
#include "contributing_reduction.inc"
  }
  graph::Graph g;
  g.inputs = {graph::make_value(graph::Value::Kind::input, {DType::i32, {3, 2}, false})};
  g.outputs = record(g, r.at("reduce_xor"), g.inputs, {{"dims", std::vector<int64_t>{0}, true}, {"drop", true}});
  graph::Tensor x = graph::allocate({DType::i32, {3, 2}});
  for (int k = 0; k < 6; ++k) graph::set_element(x, k, Scalar(1 << k));
  const graph::Tensor y = eigen::evaluate(g, {x})[0];
  EXPECT_EQ(graph::element(y, 0).as<int>(), 7);
  EXPECT_EQ(graph::element(y, 1).as<int>(), 56);
  test::expect_loop_rules_agree(g, {x});
}

TEST(Contributing, TheStructuredPrimitiveOfTheDocumentIsMadeOfOthers) {
  auto& r = registry();
  if (r.find("reduce_range") == nullptr) {
#include "contributing_structured.inc"
  }
  graph::Graph g;
  g.inputs = {graph::make_value(graph::Value::Kind::input, {DType::f64, {3, 2}, false})};
  const Params both = {{"dims", std::vector<int64_t>{0, 1}, true}};
  g.outputs = record(g, r.at("reduce_range"), g.inputs, both);
  graph::Tensor x = graph::allocate({DType::f64, {3, 2}});
  for (int k = 0; k < 6; ++k) graph::set_element(x, k, Scalar((k * 5) % 7));  // 0 5 3 1 6 4
  EXPECT_EQ(graph::element(eigen::evaluate(g, {x})[0], 0).as<double>(), 6);
  const graph::Tensor slope = eigen::evaluate(*transform::gradient(g, {true}, false), {x})[0];
  for (int k = 0; k < 6; ++k) EXPECT_EQ(graph::element(slope, k).as<double>(), k == 4 ? 1 : k == 0 ? -1 : 0) << k;
  test::expect_loop_rules_agree(*expand(g, Reader::lowering), {x});
}

}  // namespace
}  // namespace anvil::primitives
