// Reading is a function of the text: the same graph whatever was read before and wherever the
// allocator puts things.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>

#include "backend/stablehlo/stablehlo.h"
#include "base/error.h"
#include "graph/graph.h"

namespace anvil::stablehlo {
namespace {

// What reading gives, as a text: the graph with its inner graphs, or what is said of the mistake.
std::string outcome(const std::string& text) {
  try {
    graph::GraphPtr g = read(text);
    return graph::print(*g) + "\n" + write(*g, false).text;
  } catch (const Error& e) {
    return std::string("refused: ") + e.what();
  }
}

// Blocks of the sizes of values and calls, of which some are given back: the next reading finds
// the holes, in another order each time.
class Noise {
 public:
  void stir() {
    for (int k = 0; k < 200; ++k) blocks_.push_back(std::make_unique<char[]>(16 + 8 * (random_() % 40)));
    std::shuffle(blocks_.begin(), blocks_.end(), random_);
    blocks_.resize(blocks_.size() / 2);
  }

 private:
  std::mt19937 random_{1};
  std::vector<std::unique_ptr<char[]>> blocks_;
};

void expect_one_outcome(const std::string& text, int times) {
  Noise noise;
  std::string first = outcome(text);
  for (int k = 0; k < times; ++k) {
    noise.stir();
    ASSERT_EQ(outcome(text), first) << "at reading " << k + 2;
  }
}

// A `case` of slices, reshapes and concatenations in a loop.
std::string case_in_loop(int branches) {
  std::string regions;
  for (int k = 0; k < branches; ++k) {
    std::string n = std::to_string(k);
    regions += std::string(k ? ", " : "") + "{\n%one" + n + " = stablehlo.constant dense<1> : tensor<i32>\n%at" + n +
               " = stablehlo.subtract %i, %one" + n + " : tensor<i32>\n%wide" + n + " = stablehlo.convert %at" + n +
               " : (tensor<i32>) -> tensor<i64>\n%part" + n + " = stablehlo.dynamic_slice %x, %wide" + n +
               ", sizes = [2] : (tensor<6xf32>, tensor<i64>) -> tensor<2xf32>\n%turn" + n +
               " = stablehlo.reshape %part" + n + " : (tensor<2xf32>) -> tensor<1x2xf32>\n%both" + n +
               " = stablehlo.concatenate %turn" + n + ", %turn" + n + ", %turn" + n +
               ", dim = 0 : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>\n%flat" + n +
               " = stablehlo.reshape %both" + n + " : (tensor<3x2xf32>) -> tensor<6xf32>\nstablehlo.return %flat" + n +
               " : tensor<6xf32>\n}";
  }
  return "func.func @main(%x0: tensor<6xf32>, %n: tensor<i32>, %at: tensor<1x1xi32>) -> tensor<6xf32> {\n"
         "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
         "%r:2 = stablehlo.while(%x = %x0, %i = %zero) : tensor<6xf32>, tensor<i32>\n cond {\n"
         "%c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
         "stablehlo.return %c : tensor<i1>\n} do {\n%y = \"stablehlo.case\"(%i) (" +
         regions +
         ") : (tensor<i32>) -> tensor<6xf32>\n"
         "%u = stablehlo.slice %y [0:1] : (tensor<6xf32>) -> tensor<1xf32>\n"
         "%s = \"stablehlo.scatter\"(%y, %at, %u) ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
         "%ab = stablehlo.add %a, %b : tensor<f32>\nstablehlo.return %ab : tensor<f32>\n}) {"
         "scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = "
         "[0], index_vector_dim = 1>} : (tensor<6xf32>, tensor<1x1xi32>, tensor<1xf32>) -> tensor<6xf32>\n"
         "%k = stablehlo.constant dense<1> : tensor<i32>\n%next = stablehlo.add %i, %k : tensor<i32>\n"
         "stablehlo.return %s, %next : tensor<6xf32>, tensor<i32>\n}\nreturn %r#0 : tensor<6xf32>\n}\n";
}

TEST(Deterministic, ACaseInALoop) {
  for (int branches : {1, 2, 3, 5}) {
    ASSERT_EQ(outcome(case_in_loop(branches)).substr(0, 8), "<AnvilGr") << outcome(case_in_loop(branches));
    expect_one_outcome(case_in_loop(branches), 400);
  }
}

// Comparators that transpose their operands, whose graphs are gone when the next reshape asks whether
// its operand is a transpose.
std::string sorts_and_reshapes(int times) {
  std::string text = "func.func @main(%y: tensor<6xf32>, %q0: tensor<2x3xf32>) -> tensor<2x3xf32> {\n";
  for (int k = 0; k < times; ++k) {
    const std::string n = std::to_string(k), next = std::to_string(k + 1);
    text += "%s" + n + " = \"stablehlo.sort\"(%y) ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n" +
            "%c = stablehlo.transpose %a, dims = [] : (tensor<f32>) -> tensor<f32>\n" +
            "%d = stablehlo.transpose %b, dims = [] : (tensor<f32>) -> tensor<f32>\n" +
            "%less = stablehlo.compare LT, %c, %d : (tensor<f32>, tensor<f32>) -> tensor<i1>\n" +
            "stablehlo.return %less : tensor<i1>\n}) {dimension = 0 : i64} : (tensor<6xf32>) -> tensor<6xf32>\n" +
            "%p" + n + " = stablehlo.sine %q" + n + " : tensor<2x3xf32>\n%r" + n + " = stablehlo.reshape %p" + n +
            " : (tensor<2x3xf32>) -> tensor<3x2xf32>\n%t" + n + " = stablehlo.cosine %r" + n +
            " : tensor<3x2xf32>\n%q" + next + " = stablehlo.reshape %t" + n +
            " : (tensor<3x2xf32>) -> tensor<2x3xf32>\n";
  }
  return text + "return %q" + std::to_string(times) + " : tensor<2x3xf32>\n}\n";
}

TEST(Deterministic, TransposesAfterRegionsThatAreGone) {
  const std::string text = sorts_and_reshapes(8), first = outcome(text);
  ASSERT_EQ(first.substr(0, 8), "<AnvilGr") << first;
  // every reshape in row-major order stands between transposes of its own
  size_t reshapes = 0;
  for (size_t at = 0; (at = first.find("= reshape", at)) != std::string::npos; ++at) ++reshapes;
  EXPECT_EQ(reshapes, 16u);
  expect_one_outcome(text, 100);
}

std::vector<std::string> texts() {
  std::vector<std::string> found;
  std::vector<std::string> folders = {ANVIL_SOURCE_DIR "/tests/testthat/conformance",
                                      ANVIL_SOURCE_DIR "/tests/conformance/programs",
                                      ANVIL_SOURCE_DIR "/tests/cpp/fuzz/corpus"};
  if (*ANVIL_CONFORMANCE) folders.push_back(ANVIL_CONFORMANCE);
  for (const auto& folder : folders)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".mlir") {
        std::ifstream file(entry.path(), std::ios::binary);
        std::ostringstream text;
        text << file.rdbuf();
        found.push_back(text.str());
      }
  return found;
}

TEST(Deterministic, EveryTextOfTheCorpora) {
  std::vector<std::string> all = texts(), first;
  EXPECT_GT(all.size(), *ANVIL_CONFORMANCE ? 1000u : 200u);
  std::sort(all.begin(), all.end());
  for (const std::string& text : all) first.push_back(outcome(text));
  Noise noise;
  std::vector<size_t> order(all.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937 random(2);
  for (int round = 0; round < 2; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (size_t i : order) {
      noise.stir();
      ASSERT_EQ(outcome(all[i]), first[i]) << all[i].substr(0, 500);
    }
  }
}

}  // namespace
}  // namespace anvil::stablehlo
