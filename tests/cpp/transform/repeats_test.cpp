// Repeats in row-major order need no transposes; what is not one stays.
#include <gtest/gtest.h>

#include "transform/simplify.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

Var in_row_major(const Var& x, const Shape& shape) {
  const Var merged = primitives::reshape(primitives::transpose(x, reversal(x.shape().size())), reversed(shape));
  return shape.size() < 2 ? merged : primitives::transpose(merged, reversal(shape.size()));
}

// How many transposes are left of a row-major reshape of a broadcast; the values are the same.
int transposes_of(const Shape& x, const Shape& wide, const std::vector<int64_t>& dims, const Shape& shape) {
  const GraphPtr g = trace({f64(x)}, [&](Graph&, const Vars& v) {
    return Vars{in_row_major(primitives::broadcast_in_dim(v[0], wide, dims), shape)};
  });
  std::vector<double> values(static_cast<size_t>(elements(x)));
  for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<double>(k);
  const Tensor input = tensor(x, values);
  const auto before = numbers(eigen::evaluate(*g, {input})[0]);
  const bool any = transform::merge_repeats(*g);
  transform::remove_dead_calls(*g);
  primitives::verify(*g);
  EXPECT_EQ(g->outputs[0]->type.shape, shape);
  EXPECT_EQ(numbers(eigen::evaluate(*g, {input})[0]), before);
  int left = 0;
  for (const graph::Call& c : g->calls) left += c.params.find("permutation") != nullptr;
  EXPECT_EQ(any, left == 0);
  return left;
}

TEST(Repeats, NeedNoTransposes) {
  EXPECT_EQ(transposes_of({3}, {3, 2}, {0}, {6}), 0) << "each element";
  EXPECT_EQ(transposes_of({3}, {2, 3}, {1}, {6}), 0) << "all elements";
  EXPECT_EQ(transposes_of({2, 3, 4}, {2, 3, 2, 4}, {0, 1, 3}, {2, 6, 4}), 0) << "a dimension";
  EXPECT_EQ(transposes_of({2, 3, 4}, {2, 2, 3, 4, 3}, {1, 2, 3}, {4, 3, 12}), 0) << "two dimensions";
  EXPECT_EQ(transposes_of({2, 1, 3}, {2, 2, 1, 3, 1}, {0, 2, 3}, {4, 3, 1}), 0) << "of size 1";
  EXPECT_EQ(transposes_of({1, 3, 1, 2}, {2, 3, 2, 2}, {0, 1, 2, 3}, {6, 4}), 0) << "of size 1, spread";
  EXPECT_EQ(transposes_of({}, {2, 3}, {}, {6}), 0) << "a number";
}

TEST(Repeats, OthersStay) {
  EXPECT_EQ(transposes_of({2, 3}, {2, 3, 2}, {0, 1}, {12}), 1) << "two dimensions that change places";
  EXPECT_EQ(transposes_of({6}, {2, 6}, {1}, {2, 2, 3}), 2) << "a dimension that becomes two";
  EXPECT_EQ(transposes_of({2, 3}, {2, 3, 2}, {0, 1}, {3, 4}), 2) << "dimensions that are cut anew";
  EXPECT_EQ(transposes_of({0, 3}, {0, 3, 2}, {0, 1}, {0, 6}), 2) << "no elements";
}

}  // namespace
}  // namespace anvil::testing
