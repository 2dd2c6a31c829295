// What takes the place of tapes: tensors for loops that count, repeated loops for others. That the
// values are the same is checked with every gradient (tracing.cpp).
#include "transform/tapes.h"

#include <gtest/gtest.h>

#include "transform/reverse.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}
std::string without_tapes_of_gradient(const std::function<Var(Graph&, const Vars&)>& go_on) {
  auto f = trace({f64_scalar}, [&](Graph& g, const Vars& x) {
    Vars r = while_loop(g, {x[0], integer(g, 0)}, go_on, [](Graph& b, const Vars& s) {
      return Vars{sin(s[0]), s[1] + integer(b, 2)};
    });
    return Vars{r[0]};
  });
  return print(*transform::without_tapes(*transform::gradient(*f, {true}, true)));
}

TEST(WithoutTapes, ALoopThatCountsWritesItsRecordsIntoATensor) {
  std::string text = without_tapes_of_gradient([](Graph& b, const Vars& s) { return s[1] <= integer(b, 8); });
  EXPECT_EQ(count(text, " = while "), 2u) << text;
  EXPECT_NE(text.find("f64[5]"), std::string::npos) << text;  // 0, 2, 4, 6, 8
}
TEST(WithoutTapes, ACapturedNumberIsKnownToo) {
  Tensor eight = tensor({}, {8}, DType::i32);
  std::string text = without_tapes_of_gradient([&](Graph& b, const Vars& s) {
    return s[1] < Var{&b, graph::make_constant(eight)};
  });
  EXPECT_NE(text.find("f64[4]"), std::string::npos) << text;  // 0, 2, 4, 6
}
TEST(WithoutTapes, AnotherLoopRunsAgainForEachRecord) {
  std::string text = without_tapes_of_gradient([](Graph& b, const Vars& s) { return s[0] > number(b, 0.1); });
  EXPECT_EQ(count(text, " = while "), 2u) << text;
  EXPECT_EQ(text.find("f64[5]"), std::string::npos) << text;
}
TEST(WithoutTapes, ALoopThatNeverRunsHasNoRecords) {
  auto f = trace({f64_scalar}, [](Graph& g, const Vars& x) {
    Vars r = while_loop(
        g, {x[0], integer(g, 9)}, [](Graph& b, const Vars& s) { return s[1] < integer(b, 8); },
        [](Graph& b, const Vars& s) {
          return Vars{sin(s[0]), s[1] + integer(b, 1)};
        });
    return Vars{r[0]};
  });
  auto g = transform::without_tapes(*transform::gradient(*f, {true}, true));
  auto results = eigen::evaluate(*g, {tensor({}, {0.5})});
  EXPECT_EQ(numbers(results[0]), std::vector<double>{0.5});
  EXPECT_EQ(numbers(results[1]), std::vector<double>{1});
}

}  // namespace
}  // namespace anvil::testing
