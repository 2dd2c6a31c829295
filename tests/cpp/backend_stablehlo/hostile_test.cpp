// Text that means harm costs an error, no more. Every limit is met by a text that would be read
// without it.
#include <fstream>
#include <regex>

#include "backend_stablehlo/long_texts.h"
#include "backend_stablehlo/parsed.h"
#include "primitives/vocabulary/primitive.h"

namespace anvil::stablehlo {
namespace {

// ---- nesting ------------------------------------------------------------------------------

TEST(Hostile, NestingIsBounded) {
  const size_t n = 100000;
  for (const char* open : {"module {", "#a = [", "#a = {b = ", "#a = #stablehlo.x<a = "}) {
    std::string text = open[0] == 'm' ? repeated(open, n) : open + repeated(open + 5, n);
    EXPECT_NE(refusal(text).find(" nested too deeply | "), std::string::npos) << open << refusal(text).substr(0, 200);
  }
  for (const char* inner : {"[", "{b = "})
    EXPECT_NE(refusal(in_function("\"x.y\"() {a = " + repeated(inner, n))).find(" nested too deeply"),
              std::string::npos);
  EXPECT_NE(refusal(in_function(repeated("\"x.y\"() ({ ", n))).find(" nested too deeply"), std::string::npos);
  // brackets that are passed over are not followed
  for (const char* open : {"!t = (", "!t = tuple<"})
    expect_starts(refusal(open + repeated(open + 5, n)),
                  "1:" + std::string(open[5] == '(' ? "6" : "11") + " this bracket is not closed");
  std::string lists = "\"x.y\"() {a = " + repeated("[", 190) + repeated("]", 190) + "} : () -> ()";
  EXPECT_EQ(refusal(in_function(lists)), "accepted");
}

TEST(Hostile, AliasesDoNotNestDeeperThanText) {
  const std::string too_deep = " nested too deeply";
  auto chain = [](const std::string& open, const std::string& close, size_t n) {
    std::string text = "#k0 = 1\n";
    for (size_t i = 1; i <= n; ++i)
      text += "#k" + std::to_string(i) + " = " + open + "#k" + std::to_string(i - 1) + close + "\n";
    return text;
  };
  EXPECT_EQ(refusal(chain("[", "]", 100)), "accepted");
  for (const char* pair : {"[]", "{}"}) {
    std::string open = pair[0] == '[' ? "[" : "{x = ", close(1, pair[1]);
    ASSERT_NE(refusal(chain(open, close, 300)).find(too_deep), std::string::npos);
    ASSERT_NE(refusal(chain(open, close, 200000)).find(too_deep), std::string::npos);
    ASSERT_NE(refusal(chain(repeated(open, 150), repeated(close, 150), 60)).find(too_deep), std::string::npos);
  }
}

std::string nested_cases(size_t branches, int depth) {
  std::string text = "stablehlo.return\n";
  for (int k = 0; k < depth; ++k) {
    text = "\"stablehlo.case\"(%i) ({\n" + text + "}" + repeated(",{stablehlo.return}", branches - 1) +
           ") : (tensor<i32>) -> ()\n";
    if (k + 1 < depth) text += "stablehlo.return\n";
  }
  return "func.func @main(%i: tensor<i32>) {\n" + text + "return\n}\n";
}

// A case of many branches is a tree of graphs: these count, too.
TEST(Hostile, GraphsInGraphsAreBounded) {
  EXPECT_EQ(read_refusal(nested_cases(1, 180)), "accepted");
  EXPECT_EQ(read_refusal(nested_cases(2, 180)), "accepted");
  EXPECT_NE(read_refusal(nested_cases(64, 60)).find("calls and regions are nested too deeply"), std::string::npos);
  EXPECT_EQ(read_refusal(nested_cases(64, 20)), "accepted");
}

// What is written can be read: the writer goes as deep as the reader.
TEST(Hostile, TheWriterStopsWhereTheReaderDoes) {
  auto nested = [](int depth) {
    auto inner = std::make_shared<graph::Graph>();
    graph::ValuePtr p = graph::make_value(graph::Value::Kind::input, tensor(DType::boolean, {}));
    for (int k = 0; k < depth; ++k) {
      auto outer = std::make_shared<graph::Graph>(), other = std::make_shared<graph::Graph>();
      primitives::record(*outer, primitives::registry().at("if"), {p}, {{"true_graph", inner}, {"false_graph", other}});
      inner = outer;
    }
    inner->inputs = {p};
    return inner;
  };
  EXPECT_EQ(read_refusal(write(*nested(190)).text), "accepted");
  try {
    write(*nested(191));
    FAIL() << "written";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind, "stablehlo");
    EXPECT_STREQ(e.what(), "Functions within functions are written to a depth of 190, not beyond.");
  }
}

// ---- lengths ------------------------------------------------------------------------------

TEST(Hostile, NamesNumbersAndListsAreBounded) {
  auto named = [](size_t n) { return in_function("%" + repeated("b", n) + " = stablehlo.abs %a : tensor<f32>"); };
  EXPECT_EQ(read_refusal(named(4000)), "accepted");
  expect_starts(read_refusal(named(4097)), "2:2 this name has more than 4096 characters");
  auto digits = [](size_t n) {
    return in_function("%0 = stablehlo.constant dense<0." + repeated("1", n) + "> : tensor<f32>");
  };
  EXPECT_EQ(read_refusal(digits(4000)), "accepted");
  expect_starts(read_refusal(digits(5000)), "2:31 this number has too many digits");
  auto operands = [](size_t n) {
    return "func.func @main(%a: tensor<1xi8>) {\n%0 = \"stablehlo.concatenate\"(" + repeated("%a, ", n - 1) +
           "%a) {dimension = 0 : i64} : (" + repeated("tensor<1xi8>, ", n - 1) + "tensor<1xi8>) -> tensor<" +
           std::to_string(n) + "xi8>\nreturn\n}";
  };
  EXPECT_EQ(read_refusal(operands(3000)), "accepted");
  EXPECT_NE(read_refusal(operands(65537)).find("more than 65536 operands are not supported"), std::string::npos);
  expect_starts(refusal(in_function("%0:65536, %1:2 = \"x.y\"() : () -> ()")),
                "2:16 this number of results is not supported");
}

TEST(Hostile, AliasesThatMultiplyAreBounded) {
  std::string text = "#k0 = [1]\n";
  for (int i = 1; i < 60; ++i) {
    std::string last = "#k" + std::to_string(i - 1);
    text += "#k" + std::to_string(i) + " = [" + last + ", " + last + "]\n";
  }
  expect_starts(refusal(text), "17:9 the aliases of attributes stand for too many attributes");
}

TEST(Hostile, CallsThatMultiplyAreBounded) {
  auto doubling = [](int depth) {
    std::string text = "func.func private @f0() { return }\n";
    for (int i = 1; i <= depth; ++i) {
      std::string call = " call @f" + std::to_string(i - 1) + "() : () -> ()\n";
      text += "func.func private @f" + std::to_string(i) + "() {" + call + call + " return }\n";
    }
    return text + "func.func @main() { call @f" + std::to_string(depth) + "() : () -> () return }";
  };
  EXPECT_EQ(read_refusal(doubling(12)), "accepted");
  EXPECT_NE(read_refusal(doubling(60)).find("the calls of the text stand for too many operations"), std::string::npos);
  auto chain = [](int n) {
    std::string text = "func.func private @f0() { return }\n";
    for (int i = 1; i < n; ++i)
      text += "func.func private @f" + std::to_string(i) + "() { call @f" + std::to_string(i - 1) +
              "() : () -> () return }\n";
    return text + "func.func @main() { call @f" + std::to_string(n - 1) + "() : () -> () return }";
  };
  EXPECT_EQ(read_refusal(chain(150)), "accepted");
  EXPECT_NE(read_refusal(chain(5000)).find("calls and regions are nested too deeply"), std::string::npos);
}

TEST(Hostile, SizesDoNotWrap) {
  std::string big = "tensor<4611686018427387904xi8>", four = "tensor<4xi8>";
  expect_starts(
      read_refusal("func.func @main(%x: " + four + ") -> " + four + " {\n%c = stablehlo.constant dense<1> : " + big +
                   "\n%r = stablehlo.concatenate %c, %c, %c, %c, %x, dim = 0 : (" + big + ", " + big + ", " + big +
                   ", " + big + ", " + four + ") -> " + four + "\nreturn %r : " + four + "\n}"),
      "3:1 `stablehlo.concatenate`: ");
  expect_starts(
      read_refusal("func.func @main(%x: " + four + ", %p: tensor<i8>) -> " + four +
                   " {\n%r = stablehlo.pad %x, %p, low = [9223372036854775807], high = [9223372036854775807], interior "
                   "= [0] : (" +
                   four + ", tensor<i8>) -> tensor<2xi8>\nreturn %x : " + four + "\n}"),
      "2:1 `stablehlo.pad`: ");
  expect_starts(
      read_refusal("func.func @main(%x: " + four + ", %p: tensor<i8>) -> " + four +
                   " {\n%r = stablehlo.pad %x, %p, low = [0], high = [0], interior = [9223372036854775807] : (" + four +
                   ", tensor<i8>) -> tensor<1xi8>\nreturn %x : " + four + "\n}"),
      "2:1 `stablehlo.pad`: ");
}

// A sort without keys computes its comparator many times.
TEST(Hostile, ComparatorsWithoutKeysAreBounded) {
  auto sort = [](size_t n) {
    return "func.func @main(%x: tensor<8xi32>) {\n%s = \"stablehlo.sort\"(%x) ({\n^bb0(%n0: tensor<i32>, %b: "
           "tensor<i32>):\n" +
           numbered("%n# = stablehlo.negate %n~ : tensor<i32>\n", n) + "%r = stablehlo.compare LT, %n" +
           std::to_string(n) +
           ", %b : (tensor<i32>, tensor<i32>) -> tensor<i1>\nstablehlo.return %r : tensor<i1>\n}) " +
           "{dimension = 0 : i64} : (tensor<8xi32>) -> tensor<8xi32>\nreturn\n}\n";
  };
  EXPECT_EQ(read_refusal(sort(4095)), "accepted");
  expect_starts(read_refusal(sort(4096)), "2:1 a comparator of more than 4096 operations that compares no keys");
}

TEST(Hostile, ASizeThatIsNoI32IsRefused) {
  auto size = [](const std::string& n) {
    return "func.func @main(%x: tensor<" + n +
           "xi8>) -> tensor<i32> {\n%0 = stablehlo.get_dimension_size %x, dim = 0 " + ": (tensor<" + n +
           "xi8>) -> tensor<i32>\nreturn %0 : tensor<i32>\n}\n";
  };
  EXPECT_EQ(read_refusal(size("2147483647")), "accepted");
  expect_starts(read_refusal(size("2147483648")), "2:1 the size 2147483648 is no i32");
}

// ---- operations with too little -----------------------------------------------------------

std::vector<std::string> operations() {
  std::ifstream file(ANVIL_SOURCE_DIR "/tests/cpp/fuzz/stablehlo.dict");
  std::vector<std::string> names;
  std::regex name("\"((stablehlo|chlo|sdy|check)\\.[a-z_0-9]+)\"");
  for (std::string line; std::getline(file, line);)
    if (std::smatch found; std::regex_search(line, found, name)) names.push_back(found[1]);
  for (const primitives::Primitive* p : primitives::registry().all())
    if (!p->hlo.op.empty()) names.push_back(p->hlo.op);
  return names;
}

// Whatever is missing, the error is about the text and has a place in it.
TEST(Hostile, OperationsWithTooLittleAreRefusedWithAPlace) {
  std::vector<std::string> names = operations();
  EXPECT_GT(names.size(), 120u);
  for (const std::string& name : names)
    for (const char* region : {"", " ({stablehlo.return})", " ({stablehlo.return}, {stablehlo.return})"})
      for (int n = 0; n < 5; ++n)
        for (const char* type : {"f32", "2x3xf32", "i32"}) {
          std::string t = std::string("tensor<") + type + ">";
          std::string text = "func.func @main(%a: " + t + ") {\n\"" + name + "\"(" + repeated("%a, ", n);
          text = (n ? text.substr(0, text.size() - 2) : text) + ")" + region + " : (" + repeated(t + ", ", n);
          text = (n ? text.substr(0, text.size() - 2) : text) + ") -> ";
          for (const std::string& results : {std::string("()"), t}) try {
              read(text + results + "\nreturn\n}\n");
            } catch (const Refusal& r) {
              EXPECT_GE(r.at.line, 1);
            } catch (const std::exception& e) {
              ADD_FAILURE() << text << results << "\n" << e.what();
            }
        }
}

TEST(Hostile, CallsWithoutResultsAreNoDefinitions) {
  const std::string nothing = "\"stablehlo.if\"(%p) ({stablehlo.return}, {stablehlo.return}) : (tensor<i1>) -> ()\n";
  EXPECT_EQ(read_refusal("func.func @main(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<f32> {\n" + nothing +
                         "%i = stablehlo.constant dense<0.0> : tensor<f32>\n%a = stablehlo.negate %i : tensor<f32>\n" +
                         "%r = stablehlo.reduce(%x init: %a) applies stablehlo.add across dimensions = [0] : "
                         "(tensor<4xf32>, tensor<f32>) -> tensor<f32>\nreturn %r : tensor<f32>\n}"),
            "accepted");
  EXPECT_EQ(read_refusal("func.func @main(%p: tensor<i1>, %i: tensor<i32>) -> tensor<i32> {\n" + nothing +
                         "%r = \"stablehlo.case\"(%i) ({stablehlo.return %i : tensor<i32>}, {stablehlo.return %i : "
                         "tensor<i32>}) : (tensor<i32>) -> tensor<i32>\nreturn %r : tensor<i32>\n}"),
            "accepted");
}

TEST(Hostile, EveryBeginningOfATextIsReadOrRefused) {
  const std::string text =
      "#a = array<i64: 0>\nmodule @m attributes {x = 1 : i32} {\n func.func @main(%a: tensor<2xf32> loc(\"a\")) -> "
      "(tensor<f32> "
      "{jax.result_info = \"\"}) {\n  %c = stablehlo.constant dense<0x7FC00000> : tensor<f32>\n  %d = "
      "stablehlo.constant "
      "dense<\"0x0000803F00000040\"> : tensor<2xf32>\n  %0 = stablehlo.reduce(%a init: %c) across dimensions = [0] : "
      "(tensor<2xf32>, tensor<f32>) -> tensor<f32>\n  reducer(%x: tensor<f32>, %y: tensor<f32>) { %s = stablehlo.add "
      "%x, %y : "
      "tensor<f32> stablehlo.return %s : tensor<f32> }\n  %1 = stablehlo.slice %a [0:1] : (tensor<2xf32>) -> "
      "tensor<1xf32>\n"
      "  return %0 : tensor<f32> loc(#l)\n }\n}\n";
  EXPECT_EQ(said([&] { read(text); }), "accepted");
  for (size_t n = 0; n < text.size(); ++n) {
    std::string part = text.substr(0, n);
    said([&] { read(part); });
    part[part.size() / 2] ^= 0x15;
    said([&] { read(part); });
  }
}

}  // namespace
}  // namespace anvil::stablehlo
