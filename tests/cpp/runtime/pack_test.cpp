// Packed panels against their definition.
#include "runtime/drawn.h"
#include "runtime/product/product.h"
#include "support/instruction_sets.h"

namespace anvil::product {
namespace {

template <class T>
struct Packing : test::Drawn<T> {
  // Places in runs of lengths that are drawn, in any order, some of them one behind the other.
  std::vector<int64_t> draw_places(int64_t count, int64_t longest) {
    std::vector<int64_t> at;
    while (int64_t(at.size()) < count) {
      const auto first = int64_t(this->random() % 300), n = 1 + int64_t(this->random() % uint64_t(longest));
      for (int64_t i = 0; i < n && int64_t(at.size()) < count; ++i) at.push_back(first + i);
    }
    return at;
  }
};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Packing, Floats);

TYPED_TEST(Packing, OfLinesInRunsOfAnyLength) {
  const auto from = this->draw(900);
  const auto check = [&](int64_t height, const Copies<TypeParam>& copies, int64_t lines, int64_t steps, int64_t longest,
                         int64_t longest_of_steps) {
    const auto of_lines = this->draw_places(lines, longest), of_steps = this->draw_places(steps, longest_of_steps);
    const int64_t size = height * steps;
    std::vector<TypeParam> to(size_t(size + 1), TypeParam(7));
    pack<TypeParam, TypeParam>(to.data(), from.data(), {of_lines.data(), lines}, {of_steps.data(), steps}, height,
                               copies);
    ASSERT_EQ(to.back(), 7);
    for (int64_t i = 0; i < height; ++i)
      for (int64_t p = 0; p < steps; ++p)
        ASSERT_EQ(to[size_t(p * height + i)],
                  i < lines ? from[size_t(of_lines[size_t(i)] + of_steps[size_t(p)])] : TypeParam(0))
            << "line " << i << " step " << p << " of a panel of " << height << ", runs of " << longest << " and "
            << longest_of_steps;
  };
  for (const auto isa : test::instruction_sets()) {
    const auto kernel = elementary::of_type<TypeParam>(kernels_of(isa));
    for (const auto& [height, copies] :
         {std::pair(kernel.rows, kernel.copy_rows), std::pair(kernel.columns, kernel.copy_columns)})
      for (const int64_t longest : {1, 3, 7, 20, 70, 200})
        for (const int64_t lines : {height, height - 1, height / 2, int64_t(1)})
          for (const int64_t steps : {1, 5, 40, 75})
            for (const int64_t of_steps : {1, 7, 90}) check(height, copies, lines, steps, longest, of_steps);
  }
}

}  // namespace
}  // namespace anvil::product
