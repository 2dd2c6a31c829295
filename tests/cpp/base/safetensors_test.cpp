// Headers of safetensors data: what they say, and that nothing that is wrong with one gets through.
#include "base/safetensors.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"

namespace anvil {
namespace {

std::string problem(std::string_view header, std::optional<int64_t> bytes = std::nullopt) {
  try {
    read_safetensors(header, bytes);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind, "safetensors");
    return e.details.at(0);
  }
  return "";
}

const char* valid =
    R"({"__metadata__":{"format":"np","\u00b5":"\ud83d\ude00 \"é\"\n"},)"
    R"("b": {"dtype":"F32","shape":[2,3],"data_offsets":[8,32]}, "a":{"data_offsets":[0,8],"shape":[],"dtype":"I64"},)"
    R"("none":{"dtype":"BF16","shape":[0,9223372036854775807],"data_offsets":[8,8]}}   )";

TEST(SafeTensors, SayWhatThereIs) {
  const SafeHeader header = read_safetensors(valid, 32);
  ASSERT_EQ(header.tensors.size(), 3u);
  EXPECT_EQ(header.tensors[0].name, "b");
  EXPECT_EQ(header.tensors[0].dtype, DType::f32);
  EXPECT_EQ(header.tensors[0].shape, (Shape{2, 3}));
  EXPECT_EQ(header.tensors[0].begin, 8);
  EXPECT_EQ(header.tensors[1].dtype, DType::i64);
  EXPECT_EQ(header.tensors[2].dtype, DType::bf16);
  EXPECT_EQ(header.metadata[1].first, "µ");
  EXPECT_EQ(header.metadata[1].second, "\U0001f600 \"é\"\n");
  EXPECT_EQ(problem("{}", 0), "");
  EXPECT_EQ(problem("{ \"__metadata__\" : { } }", 0), "");
}

TEST(SafeTensors, NamesOfDtypesAreTheFormats) {
  EXPECT_EQ(safetensors_name(DType::boolean), "BOOL");
  EXPECT_EQ(safetensors_name(DType::ui16), "U16");
  EXPECT_EQ(safetensors_name(DType::i8), "I8");
  EXPECT_EQ(safetensors_name(DType::bf16), "BF16");
}

std::string one(const char* dtype, const char* shape, const char* offsets) {
  return std::string("{\"a\":{\"dtype\":\"") + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}}";
}

TEST(SafeTensors, SayWhatIsWrong) {
  auto expect = [](const std::string& header, const char* what, std::optional<int64_t> bytes = std::nullopt) {
    EXPECT_NE(problem(header, bytes).find(what), std::string::npos) << header << "\n" << problem(header, bytes);
  };
  expect("", "`{` is expected");
  expect(" {}", "`{` is expected");
  expect("[]", "`{` is expected");
  expect("{", "a string is expected");
  expect("{}x", "goes on");
  expect(std::string("{}\0", 3), "goes on");
  expect("{\"a\":1}", "`{` is expected");
  expect("{\"a\":{}}", "needs `dtype`, `shape` and `data_offsets`");
  expect("{\"a\":{\"size\":[1]}}", "has no field \"size\"");
  expect("{\"a\xff\":{}}", "not UTF-8");
  expect("{\"\xed\xa0\x80\":{}}", "not UTF-8");
  expect("{\"\xc0\x80\":{}}", "not UTF-8");
  expect("{\"\\ud800\":{}}", "half a character");
  expect("{\"\\u0000\":{}}", "NUL");
  expect("{\"\\x\":{}}", "no such escape");
  expect("{\"\\u12", "four hexadecimal digits");
  expect("{\"\\", "no such escape");
  expect("{\"a\n\":{}}", "control character");
  expect("{\"__metadata__\":{\"a\":1}}", "a string is expected");
  expect("{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", "the key \"a\" occurs twice");
  expect("{\"a\":" + std::string(100'000, '{'), "a string is expected");
  expect("{\"a\":{\"shape\":" + std::string(100'000, '['), "a whole number");
  expect(one("F8_E4M3", "[]", "[0,1]"), "the dtype \"F8_E4M3\"");
  expect(one("F32", "[-1]", "[0,4]"), "a whole number");
  expect(one("F32", "[1.5]", "[0,4]"), "`]` is expected");
  expect(one("F32", "[01]", "[0,4]"), "a whole number");
  expect(one("F32", "[1e1]", "[0,4]"), "`]` is expected");
  expect(one("F32", "[99999999999999999999]", "[0,4]"), "too large");
  expect(one("F32", "[4294967296,4294967296]", "[0,4]"), "too large");
  expect(one("F32", "[2]", "[0]"), "must be two numbers");
  expect(one("F32", "[2]", "[8,0]"), "end before they begin");
  expect(one("F32", "[2]", "[0,4]"), "has 8 bytes, not 4");
  expect(one("F32", "[2]", "[4,12]"), "a hole");
  expect(one("F32", "[2]", "[0,8]"), "cut off", 7);
  expect(one("F32", "[2]", "[0,8]"), "9 are there", 9);
  const std::string two = one("U8", "[4]", "[0,4]"), more = two.substr(0, two.size() - 1);
  expect(more + ",\"a\":{}}", "the key \"a\" occurs twice");
  expect(more + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})", "overlap");
  expect(more + R"(,"b":{"dtype":"U8","shape":[4],"data_offsets":[6,10]}})", "a hole");
}

// A valid header with bytes changed, doubled, left out or swapped is read, or is an error of ours.
TEST(SafeTensors, NothingElseHappens) {
  std::mt19937 random(1);
  const std::string alphabet =
      "{}[]\",:\\ u0189eE+-.\n\0\xff\xe2\x82"
      "af";
  for (int round = 0; round < 20'000; ++round) {
    std::string text = valid;
    for (unsigned change = 1 + random() % 4; change > 0; --change) {
      const size_t at = random() % text.size(), length = 1 + random() % 12;
      switch (random() % 4) {
        case 0: text[at] = alphabet[random() % alphabet.size()]; break;
        case 1: text.erase(at, length); break;
        case 2: text.insert(random() % (text.size() + 1), text.substr(at, length)); break;
        default: text.resize(at + 1);
      }
      if (text.empty()) break;
    }
    try {
      int64_t reached = 0;
      const SafeHeader header = read_safetensors(text, 32);
      for (const SafeTensor& t : header.tensors) reached = std::max(reached, t.end);
      EXPECT_EQ(reached, 32);
    } catch (const Error& e) {
      EXPECT_EQ(e.kind, "safetensors");
    }
  }
}

}  // namespace
}  // namespace anvil
