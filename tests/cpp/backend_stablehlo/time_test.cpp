// Reading takes time in proportion to the length of the text, measured as t(2n) / t(n), and
// can be interrupted, as writing can.
#include <algorithm>
#include <ctime>

#include "backend_stablehlo/long_texts.h"
#include "backend_stablehlo/parsed.h"
#include "support/interrupt_at.h"

namespace anvil::stablehlo {
namespace {

// ---- time ---------------------------------------------------------------------------------

double seconds_to_read(const std::string& text) {
  double best = 1e9;
  for (int k = 0; k < 3; ++k) {
    std::clock_t start = std::clock();
    EXPECT_EQ(read_refusal(text), "accepted") << text.substr(0, 200);
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}
// Twice the text takes about twice the time: below the ratio 4 of what is quadratic, which no
// other work on the machine brings down. Of texts that are long enough to be measured.
template <class F>
void expect_linear(const char* what, F&& text, size_t n) {
  double one = seconds_to_read(text(n)), two = seconds_to_read(text(2 * n));
  for (int attempt = 0; attempt < 6 && (one < 0.002 || two / one >= 3.2); ++attempt) {
    if (one < 0.002) n *= 2;
    one = seconds_to_read(text(n)), two = seconds_to_read(text(2 * n));
  }
  EXPECT_LT(two / one, 3.2) << what << ": " << one << " s, twice as much " << two << " s";
  EXPECT_GE(one, 0.002) << what << " is too short to be measured";
}

// A sort of integers by a comparator of %a and %b whose lines are given; its result is %r.
std::string sort_by(const std::string& lines) {
  return "func.func @main(%x: tensor<8xi32>) -> tensor<8xi32> {\n%s = \"stablehlo.sort\"(%x) ({\n^bb0(%a: tensor<i32>, "
         "%b: tensor<i32>):\n" +
         lines +
         "stablehlo.return %r : tensor<i1>\n}) {dimension = 0 : i64, is_stable = true} : (tensor<8xi32>) -> "
         "tensor<8xi32>\nreturn %s : tensor<8xi32>\n}\n";
}
std::string compared(const std::string& result, const char* direction, const std::string& a, const std::string& b) {
  return result + " = stablehlo.compare " + direction + ", " + a + ", " + b +
         " : (tensor<i32>, tensor<i32>) -> tensor<i1>\n";
}
const std::string less = compared("%q", "LT", "%a", "%b");

TEST(Growth, ComparatorsTakeLinearTime) {
  expect_linear(
      "selects of keys",
      [](size_t n) {
        return sort_by(less + "%k0 = stablehlo.select %q, %a, %b : tensor<i1>, tensor<i32>\n" +
                       numbered("%k# = stablehlo.select %q, %k~, %k~ : tensor<i1>, tensor<i32>\n", n) +
                       compared("%r", "LT", "%k" + std::to_string(n), "%b"));
      },
      2000);
  expect_linear(
      "selects of orders",
      [](size_t n) {
        return sort_by(less + compared("%e", "EQ", "%a", "%b") + compared("%o0", "LT", "%a", "%b") +
                       numbered("%o# = stablehlo.select %e, %o~, %o~ : tensor<i1>, tensor<i1>\n", n) +
                       "%r = stablehlo.or %o" + std::to_string(n) + ", %o0 : tensor<i1>\n");
      },
      2000);
  expect_linear(
      "equalities",
      [](size_t n) {
        return sort_by(less + compared("%e0", "EQ", "%a", "%b") +
                       numbered("%e# = stablehlo.and %e~, %e~ : tensor<i1>\n", n) + "%t = stablehlo.and %e" +
                       std::to_string(n) + ", %q : tensor<i1>\n%r = stablehlo.or %q, %t : tensor<i1>\n");
      },
      2000);
  expect_linear(
      "depth",
      [](size_t n) {
        return sort_by(
            "%m0 = stablehlo.negate %a : tensor<i32>\n%n0 = stablehlo.negate %b : tensor<i32>\n" +
            numbered("%m# = stablehlo.negate %m~ : tensor<i32>\n%n# = stablehlo.negate %n~ : tensor<i32>\n", n) +
            compared("%r", "LT", "%m" + std::to_string(n), "%n" + std::to_string(n)));
      },
      2000);
  expect_linear(
      "keys",
      [](size_t n) {
        std::string text, rest = "%q0";
        text = compared("%q0", "LT", "%a", "%b");
        for (size_t k = 1; k <= n; ++k) {
          std::string i = std::to_string(k), c = "%c" + i, a = "%a" + i, b = "%b" + i;
          std::string known = rest;
          rest = k == n ? "%r" : "%q" + i;
          text += c + " = stablehlo.constant dense<" + i + "> : tensor<i32>\n" + a + " = stablehlo.xor %a, " + c +
                  " : tensor<i32>\n" + b + " = stablehlo.xor %b, " + c + " : tensor<i32>\n" +
                  compared("%l" + i, "LT", a, b) + compared("%e" + i, "EQ", a, b) + "%t" + i + " = stablehlo.and %e" +
                  i + ", " + known + " : tensor<i1>\n" + rest + " = stablehlo.or %l" + i + ", %t" + i +
                  " : tensor<i1>\n";
        }
        return sort_by(text);
      },
      500);
}

// What was 22 selects for 2.6 s, doubling with each.
TEST(Growth, ComparatorsMayNestAsTheyLike) {
  std::string n = "100000";
  std::string deep =
      "%m0 = stablehlo.negate %a : tensor<i32>\n%n0 = stablehlo.negate %b : tensor<i32>\n" +
      numbered("%m# = stablehlo.negate %m~ : tensor<i32>\n%n# = stablehlo.negate %n~ : tensor<i32>\n", 100000);
  graph::GraphPtr g = read(sort_by(deep + compared("%r", "LT", "%m" + n, "%n" + n)));
  EXPECT_EQ(g->calls.back().primitive->name, "sort");
  EXPECT_EQ(g->calls.size(), 100002u);  // one column is computed, on the left side only
}

TEST(Growth, FunctionsAndConstantsTakeLinearTime) {
  auto calls = [](size_t n) {
    std::string list;
    for (int i = 0; i < 2000; ++i) list += (i ? ", " : "") + std::to_string(i % 3);
    return "func.func private @f(%x: tensor<2000xi32>) -> tensor<2000xi32> {\n%c = stablehlo.constant dense<[" + list +
           "]> : tensor<2000xi32>\n%y = stablehlo.add %x, %c : tensor<2000xi32>\nreturn %y : tensor<2000xi32>\n}\n"
           "func.func @main(%v0: tensor<2000xi32>) -> tensor<2000xi32> {\n" +
           numbered("%v# = call @f(%v~) : (tensor<2000xi32>) -> tensor<2000xi32>\n", n) + "return %v" +
           std::to_string(n) + " : tensor<2000xi32>\n}\n";
  };
  EXPECT_EQ(read(calls(50))->constants.size(), 1u);  // whatever it is called, it is one tensor
  expect_linear("calls", calls, 1000);
  expect_linear(
      "lines", [](size_t n) { return repeated("\n", n) + in_function(""); }, 1000000);
  expect_linear(
      "operations",
      [](size_t n) {
        return in_function("%v0 = stablehlo.abs %a : tensor<f32>\n" +
                           numbered("%v# = stablehlo.negate %v~ : tensor<f32>\n", n));
      },
      3000);
  expect_linear(
      "a literal",
      [](size_t n) {
        return in_function("%0 = stablehlo.constant dense<[" + repeated("1.5, ", n - 1) + "2.0]> : tensor<" +
                           std::to_string(n) + "xf32>");
      },
      100000);
}

// ---- interrupts ---------------------------------------------------------------------------

// Asked while it works, and ended by the first yes.
template <class F>
void expect_interruptible(const char* what, F&& work) {
  test::InterruptAt never(-1);
  work();
  EXPECT_GT(never.asked(), 2) << what;
  test::InterruptAt second(2);
  try {
    work();
    ADD_FAILURE() << what << " went on";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind, "interrupt") << what << ": " << e.what();
  }
  EXPECT_EQ(second.asked(), 2) << what;
}

TEST(Interrupts, ReadingAndWritingCanBeInterrupted) {
  std::string literal = in_function("%0 = stablehlo.constant dense<[" + repeated("1.5, ", 2000000) +
                                    "2.0]> : tensor<2000001xf32>\n%1 = stablehlo.negate %0 : tensor<2000001xf32>");
  expect_interruptible("a literal", [&] { read(literal); });
  std::string bytes = in_function("%0 = stablehlo.constant dense<\"0x" + repeated("0102030405060708", 4000000) +
                                  "\"> : tensor<4000000xi64>");
  expect_interruptible("bytes", [&] { read(bytes); });
  std::string lists = in_function("\"x.y\"() {a = [" + repeated("1, ", 500000) + "2]} : () -> ()");
  expect_interruptible("a list", [&] { refusal(lists); });
  std::string brackets = "!t = tuple<" + repeated("(()) ", 5000000) + ">\n";
  expect_interruptible("brackets", [&] { refusal(brackets); });
  std::string operations = in_function("%v0 = stablehlo.abs %a : tensor<f32>\n" +
                                       numbered("%v# = stablehlo.negate %v~ : tensor<f32>\n", 50000));
  expect_interruptible("operations", [&] { read(operations); });
  std::string kept = "func.func @main(%v0: tensor<f32>) -> tensor<f32> {\n" +
                     numbered("%v# = stablehlo.negate %v~ : tensor<f32>\n", 50000) + "return %v50000 : tensor<f32>\n}";
  graph::GraphPtr g = read(kept);
  expect_interruptible("writing operations", [&] { write(*g); });
  graph::Graph constant;
  graph::Tensor t = graph::allocate(tensor(DType::f64, {1000, 400}));
  for (int64_t i = 0; i < 400000; ++i) graph::set_element(t, i, Scalar(static_cast<double>(i)));
  constant.constants = constant.outputs = {graph::make_constant(t)};
  expect_interruptible("writing a literal", [&] { write(constant, false); });
}

}  // namespace
}  // namespace anvil::stablehlo
