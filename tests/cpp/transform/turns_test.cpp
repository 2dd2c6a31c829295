// Transposes beside row-major reshapes become none or one; others stay.
#include <gtest/gtest.h>

#include "transform/simplify.h"
#include "transform/tracing.h"

namespace anvil::testing {
namespace {

using Ints = std::vector<int64_t>;
using primitives::reshape;
using primitives::transpose;

// The permutations of the transposes that are left; the values are the same.
std::vector<Ints> left(const GraphPtr& g, const Tensor& x) {
  const auto before = numbers(eigen::evaluate(*g, {x})[0]);
  transform::join_turns(*g);
  transform::remove_dead_calls(*g);
  primitives::verify(*g);
  EXPECT_EQ(numbers(eigen::evaluate(*g, {x})[0]), before);
  std::vector<Ints> permutations;
  for (const graph::Call& c : g->calls)
    if (const auto* p = c.params.find("permutation")) permutations.push_back(std::get<Ints>(p->value));
  return permutations;
}

TEST(Turns, TakeEachOtherBackAtAReshape) {
  const auto program = [](const std::vector<Ints>& before, Shape shape, const std::vector<Ints>& after) {
    return trace({f64({2, 3, 4})}, [=](Graph&, const Vars& x) {
      Var y = x[0];
      for (const Ints& p : before) y = transpose(y, p);
      y = reshape(y, shape);
      for (const Ints& p : after) y = transpose(y, p);
      return Vars{y};
    });
  };
  std::vector<double> values(24);
  for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<double>(k);
  const Tensor x = tensor({2, 3, 4}, values);
  const Ints turn = {2, 1, 0}, swap = {1, 0}, other = {1, 2, 0};
  EXPECT_EQ(left(program({turn, turn}, {6, 4}, {swap, swap}), x), std::vector<Ints>());
  EXPECT_EQ(left(program({turn}, {6, 4}, {swap}), x), (std::vector<Ints>{turn, swap}));
  EXPECT_EQ(left(program({other, turn}, {6, 4}, {}), x), (std::vector<Ints>{{0, 2, 1}}));
  // those of a reader and a writer, and two that were there before
  EXPECT_EQ(left(program({turn, turn, turn, turn}, {6, 4}, {}), x), (std::vector<Ints>{turn, turn}));
  EXPECT_EQ(left(program({turn, turn}, {2, 1, 3, 4}, {}), x), (std::vector<Ints>{turn, turn})) << "any order";
}

}  // namespace
}  // namespace anvil::testing
