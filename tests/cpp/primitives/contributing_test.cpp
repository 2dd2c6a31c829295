// The primitive that CONTRIBUTING.md adds as its example, added: the build copies the
// statement out of the document.
#include <gtest/gtest.h>

#include "backend/eigen/evaluate.h"
#include "primitives/vocabulary/elementwise.h"
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

}  // namespace
}  // namespace anvil::primitives
