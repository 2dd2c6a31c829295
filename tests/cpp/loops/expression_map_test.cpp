// Tables of expressions, beside those of the standard library.
#include "loops/expression_map.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace anvil::loops {
namespace {

TEST(ExprMap, KeepsWhatIsPutIntoIt) {
  ExprPool pool;
  std::vector<Expr> all;
  for (int i = 0; i < 1000; ++i) all.push_back(pool.constant(i, DType::f64));
  std::mt19937 random(1);
  for (size_t different : {size_t(1), size_t(16), size_t(17), size_t(33), all.size()}) {
    ExprMap<int> map;
    ExprSet set;
    std::unordered_map<Expr, int> expected;
    for (int k = 0; k < 3000; ++k) {
      const Expr e = all[random() % different];
      const bool fresh = expected.count(e) == 0;
      EXPECT_EQ(map.find(e) == nullptr, fresh);
      const auto [value, is_new] = map.insert(e);
      EXPECT_EQ(is_new, fresh);
      EXPECT_EQ(*value, fresh ? 0 : expected[e]);
      EXPECT_EQ(set.insert(e), fresh);
      *value = expected[e] = k;
    }
    for (const auto& [e, value] : expected) {
      ASSERT_NE(map.find(e), nullptr);
      EXPECT_EQ(*map.find(e), value);
    }
    map.clear();
    for (Expr e : all) EXPECT_EQ(map.find(e), nullptr);
    EXPECT_TRUE(map.insert(all[0]).second);
  }
}

}  // namespace
}  // namespace anvil::loops
