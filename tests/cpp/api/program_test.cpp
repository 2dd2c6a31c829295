// Whole programs, given as StableHLO text, that were once compiled wrongly: compiled = Eigen.
#include <gtest/gtest.h>

#include "backend/eigen/evaluate.h"
#include "backend/stablehlo/stablehlo.h"
#include "support/run_compiled.h"

namespace anvil::test {
namespace {

void expect_same(const char* text) {
  graph::GraphPtr g = stablehlo::read(text);
  std::vector<graph::Tensor> expected = eigen::evaluate(*g, {}), got = run_compiled(*g, {});
  for (size_t k = 0; k < expected.size(); ++k)
    for (int64_t i = 0; i < elements(expected[k].type.shape); ++i)
      EXPECT_EQ(element(got[k], i), element(expected[k], i)) << "output " << k << ", element " << i;
}

// The steps of a running value are stored one after the other; none may be read later.
TEST(Program, ARunningValueIsReadBeforeItChanges) {
  expect_same(R"(func.func @main() -> tensor<7xui16> {
    %ones = stablehlo.constant dense<1> : tensor<7xui16>
    %zero = stablehlo.constant dense<0> : tensor<ui16>
    %start = stablehlo.constant dense<0> : tensor<i32>
    %running = "stablehlo.reduce_window"(%ones, %zero) ({
      ^bb0(%a: tensor<ui16>, %b: tensor<ui16>):
        %r = stablehlo.xor %a, %b : tensor<ui16>
        stablehlo.return %r : tensor<ui16>
    }) {window_dimensions = array<i64: 7>, padding = dense<[[6, 0]]> : tensor<1x2xi64>}
      : (tensor<7xui16>, tensor<ui16>) -> tensor<7xui16>
    %0:3 = stablehlo.while(%x = %ones, %y = %running, %k = %start) : tensor<7xui16>, tensor<7xui16>, tensor<i32>
      cond {
        %two = stablehlo.constant dense<2> : tensor<i32>
        %more = stablehlo.compare LT, %k, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %more : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %m = stablehlo.minimum %x, %running : tensor<7xui16>
        %n = stablehlo.maximum %m, %y : tensor<7xui16>
        %next = stablehlo.add %k, %one : tensor<i32>
        stablehlo.return %n, %x, %next : tensor<7xui16>, tensor<7xui16>, tensor<i32>
      }
    return %0#1 : tensor<7xui16>
  })");
}

}  // namespace
}  // namespace anvil::test
