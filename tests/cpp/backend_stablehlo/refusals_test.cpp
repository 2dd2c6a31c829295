// What is refused, where, and in which words.
#include "backend_stablehlo/parsed.h"

namespace anvil::stablehlo {
namespace {

// A function of one operation, which starts at 2:1.
std::string in_function(const std::string& operation) { return "func.func @main() {\n" + operation + "\nreturn\n}\n"; }
std::string with_type(const std::string& type) { return "func.func @main(%a: " + type + ") {\n  return\n}\n"; }

TEST(Refusal, NamesTheTypeThatIsNotSupported) {
  struct Case {
    const char *type, *message;
  };
  const Case cases[] = {
      {"tensor<4xcomplex<f32>>",
       "1:30 the element type `complex<f32>` of `tensor<4xcomplex<f32>>` is not supported | x Got `complex<f32>>) {`."},
      {"tensor<!quant.uniform<i8:f32, 0.1:-30>>", "1:28 the element type `!quant.uniform<i8:f32, 0.1:-30>` of"},
      {"tensor<2xf8E4M3FN>", "1:30 the element type `f8E4M3FN` of `tensor<2xf8E4M3FN>` is not supported"},
      {"tensor<2xi4>", "1:30 the element type `i4`"},
      {"tensor<2xindex>", "1:30 the element type `index`"},
      {"tensor<2xbool>", "1:30 the element type `bool`"},
      {"tensor<2x?xf32>", "1:30 the size `?` of `tensor<2x?xf32>` is not supported; sizes must be numbers"},
      {"tensor<*xf32>", "1:28 tensors without a rank are not supported: `tensor<*xf32>`"},
      {"tensor<2xf32, #stablehlo.bounds<4>>",
       "1:33 the encoding of `tensor<2xf32, #stablehlo.bounds<4>>` is not supported"},
      {"tuple<tensor<f32>>", "1:21 the type `tuple<tensor<f32>>` is not supported"},
      {"!stablehlo.token", "1:21 the type `!stablehlo.token` is not supported"},
      {"() -> tensor<f32>", "1:21 the type `() -> tensor<f32>` is not supported"},
      {"f32", "1:21 the type `f32` is not supported"},
      {"tensor<9223372036854775807x2xf32>", "1:21 the tensor of type `tensor<9223372036854775807x2xf32>` is too large"},
      {"tensor<99999999999999999999xf32>", "1:28 this size is too large"},
      {"tensor<0x9223372036854775807x4xf64>", "1:21 the tensor of type"},
      {"tensor<2x>", "1:30 expected the type of the tensor's elements"},
      {"tensor<-1xf32>", "1:28 expected the type of the tensor's elements"},
      {"tensor<2 f32>", "1:30 expected `x` after a size"},
      {"%b", "1:21 expected a type"}};
  for (const Case& c : cases) expect_starts(refusal(with_type(c.type)), c.message);
  std::string deep = "tensor<";
  for (int i = 0; i < 65; ++i) deep += "1x";
  expect_starts(refusal(with_type(deep + "f32>")), "1:156 tensors of more than 64 dimensions are not supported");
}

TEST(Refusal, NamesTheTextAtFault) {
  struct Case {
    const char *operation, *message;
  };
  const Case cases[] = {
      {"%0 = stablehlo.add %a, %b : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>",
       "2:1 `stablehlo.add` has 2 operands but 3 operand types"},
      {"%0 = \"stablehlo.add\"(%a, %b) : (tensor<f32>) -> tensor<f32>",
       "2:1 `stablehlo.add` has 2 operands but 1 operand type"},
      {"%0:2 = stablehlo.abs %a : tensor<f32>", "2:1 `stablehlo.abs` has 2 results but 1 result type"},
      {"%0 = stablehlo.constant dense<1.0> : tensor<2xf8>", "2:47 the element type `f8`"},
      {"%0 = stablehlo.constant dense_resource<x> : tensor<2xf32>", "2:25 `dense_resource<...>` is not supported"},
      {"%0 = stablehlo.constant 1 : i32", "2:25 `stablehlo.constant` needs a literal `dense<...> : tensor<...>`"},
      {"%0 = stablehlo.constant dense<1", "2:30 this bracket is not closed"},
      {"%0 = stablehlo.constant dense<\"0x12> : tensor<f32>", "2:30 this literal is not closed"},
      {"\"x.y\"()[^bb1] : () -> ()", "2:8 operations with successors are not supported"},
      {"\"x.y\"() ({ ^a: \"x.z\"() : () -> () ^b: \"x.z\"() : () -> () }) : () -> ()",
       "2:35 regions of several blocks are not supported"},
      {"%0 = stablehlo.slice %a [0:1:2:3] : (tensor<f32>) -> tensor<f32>",
       "2:26 expected a range such as `0:4` or `1:9:2`"},
      {"%0 = stablehlo.slice %a [0:x] : (tensor<f32>) -> tensor<f32>", "2:28 expected an integer"},
      {"%0 = stablehlo.reduce_precision %a, format = m8 : tensor<f32>", "2:46 expected a format such as `e8m10`"},
      {"%0 = stablehlo.dot_general %a, %b, contracting_dims = [0] : (tensor<f32>, tensor<f32>) -> tensor<f32>",
       "2:55 expected two lists such as `[1] x [0]`"},
      {"%0 = stablehlo.compare LT, %a, %b, FLOAT, X : (tensor<f32>, tensor<f32>) -> tensor<i1>",
       "2:1 `stablehlo.compare` has a direction and a type"},
      {"%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, f]x[i, o]->[b, f], window = {stide = [1]} : (tensor<f32>, "
       "tensor<f32>) -> tensor<f32>",
       "2:91 a window has no `stide`"},
      {"%0 = stablehlo.reduce(%a init: %b) applies stablehlo.add : (tensor<f32>, tensor<f32>) -> tensor<f32>",
       "2:58 expected `across` | x Got `: (tensor<f32>"},
      {"%0 = stablehlo.reduce(%a init: %b) across dimensions = [0] : (tensor<f32>, tensor<f32>) -> tensor<f32>",
       "3:1 expected `reducer`"},
      {"%0 = stablehlo.while(%a = %b) : tensor<f32> cond { }", "3:1 expected `do`"},
      {"%0 = stablehlo.while(%a = %b, %c = %d) : tensor<f32> cond { } do { }",
       "2:54 `stablehlo.while` needs a type for each of its values"},
      {"%0 = stablehlo.abs %a + tensor<f32>",
       "2:23 expected `:` and the types of `stablehlo.abs` | x Got `+ tensor<f32>`."},
      {"%0#1 = stablehlo.abs %a : tensor<f32>", "2:6 a result has no number in its definition"},
      {"%0:99999999 = stablehlo.abs %a : tensor<f32>", "2:13 this number of results is not supported"},
      {"%0 = stablehlo.abs %a# : tensor<f32>", "2:20 expected the number of a result after `#`"},
      {"%0 = stablehlo.abs % : tensor<f32>", "2:20 expected a value such as `%0`"},
      {"%0 = stablehlo.iota dim = 99999999999999999999 : tensor<f32>", "2:27 this integer does not fit 64 bits"},
      {"\"x.y\"() {a = } : () -> ()", "2:14 expected an attribute"},
      {"\"x.y\"() {a = \"s} : () -> ()", "2:14 this string is not closed"},
      {"\"x.y\"() {a = #m.n<(}> } : () -> ()", "2:20 this bracket closes nothing"},
      {"\"x.y\"() {a = 1.5e} : () -> ()", "2:14 expected a number"},
      {"+", "2:1 expected an operation | x Got `+`."}};
  for (const Case& c : cases) expect_starts(refusal(in_function(c.operation)), c.message);
}

TEST(Refusal, OfModulesAndEnds) {
  expect_starts(refusal("func.func @main() {"), "1:20 expected an operation | x The text ends there.");
  expect_starts(refusal("module {\n  stablehlo.abs"), "2:3 expected a module or a function | x Got `stablehlo.abs`.");
  expect_starts(refusal("func.func main() {}"), "1:11 expected `@` | x Got `main() {}`.");
  expect_starts(refusal("{-# resources"), "1:1 the resource section is not closed");
  expect_starts(refusal("#a = "), "1:6 expected an attribute");
  EXPECT_EQ(refusal(""), "accepted");
  expect_starts(refusal(std::string("\0\xFF\r", 3)), "1:1 expected a module or a function");
  expect_starts(refusal("\r\n\r\n  x"), "3:3 expected a module or a function | x Got `x`.");
  std::string line(500, 'y');
  EXPECT_EQ(refusal("\n" + line), "2:1 expected a module or a function | x Got `" + std::string(72, 'y') + "...`.");
}

TEST(Refusal, OfTheImporterCitesTheTextToo) {
  EXPECT_EQ(
      read_refusal("func.func @main(%a: tensor<f32>) -> tensor<f32> {\n  %0 = my.op %a : tensor<f32>\n  return %0 : "
                   "tensor<f32>\n}"),
      "2:3 the operation `my.op` is not supported | x Got `%0 = my.op %a : tensor<f32>`.");
  expect_starts(read_refusal("func.func @main() {\n}"), "1:19 a region or function does not end with a return");
  expect_starts(read_refusal("func.func private @f(tensor<f32>)\nfunc.func @main(%a: tensor<f32>) {\n call @f(%a) : "
                             "(tensor<f32>) -> ()\n return }"),
                "1:11 `@f` is called but has no body");
  expect_starts(read_refusal("func.func @main() {\n call @main() : () -> ()\n return }"), "1:11 `@main` calls itself");
  expect_starts(read_refusal("func.func @main(%a: tensor<f32>, %a: tensor<f32>) {\n return }"),
                "1:51 the argument `%a` is defined twice");
  expect_starts(read_refusal("func.func @main(%a: tensor<f32>) {\n %0 = stablehlo.abs %a : tensor<f32>\n"
                             " %0 = stablehlo.abs %a : tensor<f32>\n return }"),
                "3:2 `%0` is defined twice");
}

}  // namespace
}  // namespace anvil::stablehlo
