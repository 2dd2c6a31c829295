// What a program is called: the choice of the function, names of arguments and results, and
// the same written and read again.
#include <gtest/gtest.h>

#include "backend/stablehlo/stablehlo.h"
#include "base/error.h"

namespace anvil::stablehlo {
namespace {

const char* const two_functions = R"(
module @jit_f {
  func.func public @main(%arg0: tensor<2xf32> loc("p['w']"), %arg1: tensor<f32> loc(#loc1), %2: tensor<f32>)
      -> (tensor<2xf32> {jax.result_info = "result[0]['a']"}, tensor<f32>) {
    %0 = call @twice(%arg0) : (tensor<2xf32>) -> tensor<2xf32> loc("call"("inner"))
    return %0, %arg1 : tensor<2xf32>, tensor<f32>
  }
  func.func private @twice(%x: tensor<2xf32> loc("y":1:2)) -> tensor<2xf32> {
    %0 = stablehlo.add %x, %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
#loc1 = loc("not here")
)";
using Names = std::vector<std::string>;

TEST(StablehloProgram, NamesComeFromLocationsAndResultInfo) {
  Program p = read_program(two_functions);
  EXPECT_EQ(p.arguments, (Names{"p['w']", "arg1", "2"}));
  EXPECT_EQ(p.results, (Names{"result[0]['a']", ""}));
  EXPECT_EQ(graph::print(*p.graph, "AnvilGraph"), graph::print(*read(two_functions), "AnvilGraph"));
}

TEST(StablehloProgram, AnyFunctionCanBeTheEntry) {
  Program p = read_program(two_functions, "twice");
  EXPECT_EQ(p.arguments, Names{"x"});
  EXPECT_EQ(p.results, Names{""});
  EXPECT_EQ(p.graph->calls.size(), 1u);
  try {
    read_program(two_functions, "thrice");
    FAIL() << "an unknown function was read";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind, "stablehlo");
    EXPECT_STREQ(e.what(), "There is no function `@thrice`.");
    EXPECT_EQ(e.details, Names{"i The text has @main, @twice."});
  }
}

TEST(StablehloProgram, LabelsAreWrittenAndReadAgain) {
  Program p = read_program(two_functions);
  Labels labels{{"p['w']", "x", "y"}, {"result['a']", "result['b'][0]"}};
  std::string text = write(*p.graph, false, labels).text;
  Program again = read_program(text);
  EXPECT_EQ(again.arguments, labels.arguments);
  EXPECT_EQ(again.results, labels.results);
  EXPECT_EQ(graph::print(*again.graph, "AnvilGraph"), graph::print(*p.graph, "AnvilGraph"));
  // without labels the text says nothing of them
  EXPECT_EQ(write(*p.graph, false).text.find("loc("), std::string::npos);
}

}  // namespace
}  // namespace anvil::stablehlo
