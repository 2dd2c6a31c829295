// Where statements come from: unions of locations, and walks over statements.
#include "loops/origins.h"

#include <gtest/gtest.h>

namespace anvil::loops {
namespace {

TEST(Origins, UnionsAreSortedAndHoldEachOnce) {
  Origins o;
  unite(o, {3, 7});
  unite(o, {1, 3, 9});
  EXPECT_EQ(o, (Origins{1, 3, 7, 9}));
  unite(o, {});
  unite(o, {7});
  EXPECT_EQ(o, (Origins{1, 3, 7, 9}));
}

TEST(Origins, OfALoopAreThoseOfWhatIsInside) {
  Program p;
  const Expr one = p.exprs.constant(1, DType::f64);
  For loop;
  loop.body = {{Store{0, {}, one}}, {Store{1, {}, one}, {5}}};
  Stmt nest{loop};
  EXPECT_EQ(origins(nest), (Origins{5}));
  set_origin(nest, -1);
  set_origin(nest, 2);  // where none is known
  EXPECT_EQ(origins(nest), (Origins{2, 5}));
  EXPECT_TRUE(nest.origins.empty()) << "a loop computes nothing itself";
  add_origins(nest, {4});
  const Block& body = std::get<For>(nest.is).body;
  EXPECT_EQ(body[0].origins, (Origins{2, 4}));
  EXPECT_EQ(body[1].origins, (Origins{4, 5}));
}

TEST(Origins, OfAConditionAreItsOwn) {
  Program p;
  If branch;
  branch.condition = p.exprs.constant(1, DType::boolean);
  branch.yes = {{Store{0, {}, p.exprs.constant(1, DType::f64)}}};
  Stmt s{branch};
  set_origin(s, 3);
  EXPECT_EQ(s.origins, (Origins{3}));
  EXPECT_EQ(std::get<If>(s.is).yes[0].origins, (Origins{3}));
}

}  // namespace
}  // namespace anvil::loops
