// Loops in every schedule: the result is that of one step after the other.
#include "backend_llvm/programs.h"

namespace anvil::test {
namespace {

TEST(Loops, EveryExtentWidthAndNumberOfCopies) {
  for (int64_t n = 1; n <= 40; n += n < 20 ? 1 : 7)
    for (const auto& [width, copies] : {std::pair{1, 1}, {4, 1}, {8, 2}, {2, 3}, {16, 4}}) {
      if (width * copies > n) continue;
      ProgramBuilder b;
      const BufferId x = b.input(DType::f32, {n}), y = b.output(DType::f32, {n}), z = b.output(DType::boolean, {n});
      const Variable i = b.index();
      const Expr v = b.load(x, {at(i)});
      b.p.body.push_back(vector(i, 0, n, width, copies,
                                {{Store{y, {at(i)}, b.e().binary(Op::mul, v, v)}},
                                 {Store{z, {at(i)}, b.e().binary(Op::gt, v, b.number(0, DType::f32))}}}));
      expect_as_interpreted(b.p, {random_tensor(DType::f32, {n}, uint64_t(n))});
    }
}

TEST(Loops, InPlaceDoesNothingTwice) {
  for (const int64_t n : {7, 19, 32, 45}) {
    ProgramBuilder b;
    const BufferId x = b.input(DType::f64, {n}), t = b.temporary(DType::f64, {n}), y = b.output(DType::f64, {n});
    const Variable i = b.index(), j = b.index(), k = b.index();
    b.p.body.push_back(vector(i, 0, n, 4, 1, {{Store{t, {at(i)}, b.load(x, {at(i)})}}}));
    b.p.body.push_back(
        vector(j, 0, n, 2, 3, {{Store{t, {at(j)}, b.e().binary(Op::add, b.load(t, {at(j)}), b.load(t, {at(j)}))}}}));
    b.p.body.push_back(vector(k, 0, n, 4, 1, {{Store{y, {at(k)}, b.load(t, {at(k)})}}}));
    expect_as_interpreted(b.p, {random_tensor(DType::f64, {n}, 3)});
  }
}

TEST(Loops, TemporariesThatShareMemoryAreInPlaceToo) {
  const int64_t n = 27;
  ProgramBuilder b;
  const BufferId x = b.input(DType::f64, {n}), t = b.temporary(DType::f64, {n}), u = b.temporary(DType::f64, {n}),
                 y = b.output(DType::f64, {n});
  b.p.buffers[size_t(u)].offset = b.p.buffers[size_t(t)].offset;
  const Variable i = b.index(), j = b.index(), k = b.index();
  b.p.body.push_back(vector(i, 0, n, 4, 1, {{Store{t, {at(i)}, b.load(x, {at(i)})}}}));
  b.p.body.push_back(
      vector(j, 0, n, 8, 1, {{Store{u, {at(j)}, b.e().binary(Op::mul, b.load(t, {at(j)}), b.load(t, {at(j)}))}}}));
  b.p.body.push_back(vector(k, 0, n, 4, 1, {{Store{y, {at(k)}, b.load(u, {at(k)})}}}));
  expect_as_interpreted(b.p, {random_tensor(DType::f64, {n}, 3)});
}

TEST(Loops, StridesBackwardsAndTransposed) {
  const int64_t n = 21, m = 13;
  for (const DType t : {DType::f32, DType::i64, DType::boolean}) {
    ProgramBuilder b;
    const BufferId x = b.input(t, {2 * n}), w = b.input(t, {m, n}), y = b.output(t, {n, m}), r = b.output(t, {n}),
                   s = b.output(t, {2 * n}), g = b.output(t, {n});
    const Variable i = b.index(), j = b.index(), k = b.index();
    b.p.body.push_back(vector(k, 0, n, 8, 2,
                              {{Store{r, {at(k) * -1 + (n - 1)}, b.load(x, {at(k) * -1 + (2 * n - 1)})}},
                               {Store{s, {at(k) * 2}, b.load(x, {at(k)})}},
                               {Store{s, {at(k) * 2 + 1}, b.load(x, {at(k) * 2})}},
                               {Store{g, {at(k)}, b.load(w, {Affine{3, {}}, Affine{4, {}}})}}}));
    b.p.body.push_back(
        serial(j, 0, m, {vector(i, 0, n, 4, 1, {{Store{y, {at(i), at(j)}, b.load(w, {at(j), at(i)})}}})}));
    expect_as_interpreted(b.p, {random_tensor(t, {2 * n}, 1), random_tensor(t, {m, n}, 2)});
  }
}

// Lanes that lie a few elements apart are picked from the vectors between the first and the last one.
TEST(Loops, LanesAFewElementsApart) {
  const int64_t n = 67;
  for (const DType t : {DType::f32, DType::i32, DType::f64, DType::ui8})
    for (const int lanes : {2, 4, 8, 16, 32})
      for (const int64_t apart : {-5, -4, -3, -2, 2, 3, 4, 5}) {
        SCOPED_TRACE(std::string(name(t)) + " " + std::to_string(lanes) + " lanes, apart " + std::to_string(apart));
        ProgramBuilder b;
        const int64_t elements = (n - 1) * std::abs(apart) + 1;
        const BufferId x = b.input(t, {elements}), y = b.output(t, {n});
        const Variable i = b.index();
        b.p.body.push_back(vector(i, 0, n, lanes, 2,
                                  {{Store{y, {at(i)}, b.load(x, {at(i) * apart + (apart < 0 ? elements - 1 : 0)})}}}));
        expect_as_interpreted(b.p, {random_tensor(t, {elements}, 4)});
      }
}

// What one step leaves, the next one reads: only one after the other is right.
TEST(Loops, DependentStepsStaySerial) {
  const int64_t n = 30;
  ProgramBuilder b;
  const BufferId x = b.input(DType::f64, {n}), y = b.output(DType::f64, {n + 1}), z = b.output(DType::f64, {n});
  const Variable i = b.index(), j = b.index();
  b.p.body.push_back({Store{y, {Affine{}}, b.number(1.0, DType::f64)}});
  b.p.body.push_back(
      vector(i, 0, n, 4, 2, {{Store{y, {at(i) + 1}, b.e().binary(Op::add, b.load(y, {at(i)}), b.load(x, {at(i)}))}}}));
  b.p.body.push_back(
      vector(j, 0, n, 4, 1, {{Store{z, {Affine{}}, b.load(x, {at(j)})}}, {Store{z, {at(j)}, b.load(x, {at(j)})}}}));
  expect_as_interpreted(b.p, {random_tensor(DType::f64, {n}, 1)});
}

TEST(Loops, RowTemporariesWithinABlockedLoop) {
  const int64_t n = 37, m = 9;
  ProgramBuilder b;
  const BufferId x = b.input(DType::f32, {n, m}), row = b.temporary(DType::f32, {n}),
                 both = b.temporary(DType::f32, {n, m}), y = b.output(DType::f32, {n, m});
  const Variable i = b.index(), j = b.index(), k = b.index(), l = b.index(), o = b.index();
  // shared by all j: unroll must not be taken at its word; `both` is the j's own
  b.p.body.push_back(
      unroll(j, 0, m, 4,
             {vector(i, 0, n, 8, 1, {{Store{row, {at(i)}, b.load(x, {at(i), at(j)})}}}),
              vector(k, 0, n, 8, 1, {{Store{both, {at(k), at(j)}, b.load(row, {at(k) * -1 + (n - 1)})}}})}));
  b.p.body.push_back(unroll(
      o, 0, m, 2, {vector(l, 0, n, 8, 2, {{Store{y, {at(l), at(o)}, b.load(both, {at(l) * -1 + (n - 1), at(o)})}}})}));
  expect_as_interpreted(b.p, {random_tensor(DType::f32, {n, m}, 1)});
}

TEST(Loops, GatherAndScatterByParameters) {
  const int64_t n = 29, m = 50;
  for (const int width : {1, 8}) {
    ProgramBuilder b;
    const BufferId where = b.input(DType::i32, {n}), x = b.input(DType::f64, {m}), y = b.output(DType::f64, {n}),
                   z = b.output(DType::f64, {m});
    const Variable i = b.index(), j = b.index(), k = b.index(), p = b.parameter(0, m - 1), q = b.parameter(0, m - 1);
    const auto clamped = [&](Expr e) {
      const Expr wide = b.e().convert(e, DType::i64);
      return b.e().binary(Op::minimum, b.e().binary(Op::maximum, wide, b.number(0, DType::i64)),
                          b.number(m - 1, DType::i64));
    };
    b.p.body.push_back(vector(i, 0, n, width, 1,
                              {{Bind{p, clamped(b.load(where, {at(i)}))}}, {Store{y, {at(i)}, b.load(x, {at(p)})}}}));
    b.p.body.push_back(vector(k, 0, m, width, 1, {{Store{z, {at(k)}, b.number(0, DType::f64)}}}));
    b.p.body.push_back(vector(j, 0, n, width, 1,
                              {{Bind{q, clamped(b.load(where, {at(j)}))}},
                               {Store{z, {at(q)}, b.e().binary(Op::add, b.load(z, {at(q)}), b.load(y, {at(j)}))}}}));
    expect_as_interpreted(b.p, {random_tensor(DType::i32, {n}, 1), random_tensor(DType::f64, {m}, 2)});
  }
}

// Values computed inside loops that depend on none of them are computed once, but not
// when something they read changes.
TEST(Loops, InvariantsFollowChanges) {
  const int64_t n = 11, m = 5;
  ProgramBuilder b;
  const BufferId x = b.input(DType::f64, {n}), t = b.temporary(DType::f64, {1}), y = b.output(DType::f64, {n, m});
  const Variable i = b.index(), j = b.index(), k = b.index();
  const Expr scale = b.e().unary(Op::sqrt, b.load(t, {Affine{}}));
  b.p.body.push_back({Store{t, {Affine{}}, b.number(2.0, DType::f64)}});
  b.p.body.push_back(serial(
      j, 0, m,
      {vector(i, 0, n, 4, 1, {{Store{y, {at(i), at(j)}, b.e().binary(Op::mul, b.load(x, {at(i)}), scale)}}}),
       {Store{
           t, {Affine{}}, b.e().binary(Op::add, b.load(t, {Affine{}}), b.e().convert(b.e().index(at(j)), DType::f64))}},
       serial(k, 0, n, {{Store{y, {at(k), at(j)}, b.e().binary(Op::add, b.load(y, {at(k), at(j)}), scale)}}})}));
  expect_as_interpreted(b.p, {random_tensor(DType::f64, {n}, 1)});
}

// Gram matrix of a few rows: many addresses that differ by constants, some of the same number.
TEST(Loops, AddressesThatDifferByConstants) {
  for (const DType t : {DType::f32, DType::f64, DType::i8}) {
    ProgramBuilder b;
    const BufferId x = b.input(t, {3, 4}), y = b.output(t, {4, 4});
    const Variable i = b.index("i"), j = b.index("j");
    const LocalId a = b.local(t);
    const auto at_row = [&](int64_t row, Variable column) { return b.load(x, {Affine{row, {}}, at(column)}); };
    Block body{{Declare{a, b.number(0, t)}}};
    for (int64_t row = 0; row < 3; ++row)
      body.push_back({Update{a, Op::add, b.e().binary(Op::mul, at_row(row, i), at_row(row, j))}});
    body.push_back({Store{y, {at(i), at(j)}, b.get(a)}});
    b.p.body = {serial(j, 0, 4, {vector(i, 0, 4, 4, 1, body)})};
    expect_as_interpreted(b.p, {random_tensor(t, {3, 4}, 1)}, 1e-5);
  }
}

TEST(Loops, SiblingsOfDifferentWidthsShareNoVectors) {
  ProgramBuilder b;
  const BufferId x = b.input(DType::f32, {40}), c = b.input(DType::f32, {}), y = b.output(DType::f32, {40});
  for (const auto& [begin, end, width] : {std::tuple{0, 20, 4}, {20, 28, 8}, {28, 30, 2}, {30, 40, 2}}) {
    const Variable i = b.index();
    b.p.body.push_back(vector(i, begin, end, width, 1,
                              {{Store{y, {at(i)}, b.e().binary(Op::mul, b.load(x, {at(i)}), b.load(c, {}))}}}));
  }
  expect_as_interpreted(b.p, {random_tensor(DType::f32, {40}, 1), random_tensor(DType::f32, {}, 2)});
}

// In the last steps of a blocked loop fewer copies are in flight than planned, and those of the
// loop around it are all there: what a step makes and binds must be found for each of both.
TEST(Loops, ValuesOfAShortLastStepInsideOfAnUnrolledLoop) {
  for (const int64_t n : {9, 13, 17, 20, 33, 100})
    for (const int outer : {2, 3}) {
      ProgramBuilder b;
      const BufferId x = b.input(DType::f64, {n, outer}), where = b.input(DType::i32, {n, outer}),
                     y = b.output(DType::f64, {outer}), z = b.output(DType::f64, {outer});
      const Variable j = b.index("j"), i = b.index("i"), p = b.parameter(0, n - 1);
      const LocalId sum = b.local(DType::f64), picked = b.local(DType::f64), t = b.local(DType::f64);
      const Expr row =
          b.e().binary(Op::maximum, b.e().convert(b.load(where, {at(i), at(j)}), DType::i64), b.number(0, DType::i64));
      Block body{{Let{t, b.e().binary(Op::mul, b.load(x, {at(i), at(j)}), b.number(3, DType::f64))}},
                 {Update{sum, Op::add, b.get(t)}},
                 {Bind{p, b.e().binary(Op::minimum, row, b.number(n - 1, DType::i64))}},
                 {Update{picked, Op::add, b.load(x, {at(p), at(j)})}}};
      b.p.body.push_back(unroll(j, 0, outer, outer,
                                {{Declare{sum, b.number(0, DType::f64)}},
                                 {Declare{picked, b.number(0, DType::f64)}},
                                 vector(i, 0, n, 4, 2, std::move(body)),
                                 {Store{y, {at(j)}, b.get(sum)}},
                                 {Store{z, {at(j)}, b.get(picked)}}}));
      expect_as_interpreted(b.p, {random_tensor(DType::f64, {n, outer}, 1), random_tensor(DType::i32, {n, outer}, 2)},
                            1e-12);
    }
}

// Nests of three loops in random order, with random schedules, parts of the body at random levels.
TEST(Loops, RandomNests) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](int64_t k) { return int64_t(random() % uint64_t(k)); };
    const int64_t extent[3] = {1 + below(40), 1 + below(12), 1 + below(9)};
    const DType t = below(2) ? DType::f32 : DType::i32;
    ProgramBuilder b;
    const Shape cube{extent[0], extent[1], extent[2]};
    const BufferId x = b.input(t, cube), row = b.input(t, {extent[0]}), y = b.output(t, cube),
                   z = b.output(t, {extent[1], extent[0]}), tmp = b.temporary(t, cube);
    const Variable v[3] = {b.index("i"), b.index("j"), b.index("k")}, w[3] = {b.index("l"), b.index("m"), b.index("n")};
    const auto loop = [&](Variable name, int64_t n, Block body) {
      const int64_t kind = below(3);
      if (kind == 1) {
        int width = 1 << below(5);
        while (width > n) width /= 2;
        return vector(name, 0, n, width, int(1 + below(std::min<int64_t>(4, n / width))), std::move(body));
      }
      return kind == 2 ? unroll(name, 0, n, int(1 + below(std::min<int64_t>(4, n))), std::move(body))
                       : serial(name, 0, n, std::move(body));
    };
    const auto nest = [&](const Variable* name, Stmt inner) {
      int order[3] = {0, 1, 2};
      std::shuffle(order, order + 3, random);
      for (const int d : order) inner = loop(name[d], extent[d], {inner});
      return inner;
    };
    ExprPool& e = b.e();
    const Expr value =
        e.binary(Op::sub, e.binary(Op::mul, b.load(x, {at(v[0]), at(v[1]), at(v[2])}), b.load(row, {at(v[0])})),
                 b.load(x, {at(v[0]), Affine{}, at(v[2])}));
    b.p.body.push_back(nest(v, {Store{tmp, {at(v[0]), at(v[1]), at(v[2])}, value}}));
    const Variable u[3] = {b.index(), b.index(), b.index()};  // y is complete, whatever comes
    b.p.body.push_back(nest(u, {Store{y, {at(u[0]), at(u[1]), at(u[2])}, b.number(0, t)}}));
    const Expr again = e.binary(Op::add, b.load(tmp, {at(w[0]), at(w[1]), at(w[2])}),
                                b.load(x, {at(w[0]) * -1 + (extent[0] - 1), at(w[1]), at(w[2])}));
    b.p.body.push_back(nest(w, {Store{below(2) ? y : tmp, {at(w[0]), at(w[1]), at(w[2])}, again}}));
    // a sum over k for each (i, j), stored transposed
    const Variable i = b.index(), j = b.index(), k = b.index();
    const LocalId sum = b.local(t);
    Block body{{Declare{sum, b.number(0, t)}},
               loop(k, extent[2], {{Update{sum, Op::add, b.load(tmp, {at(i), at(j), at(k)})}}}),
               {Store{z, {at(j), at(i)}, b.get(sum)}}};
    b.p.body.push_back(below(2) ? loop(j, extent[1], {loop(i, extent[0], body)})
                                : loop(i, extent[0], {loop(j, extent[1], body)}));
    SCOPED_TRACE(seed);
    expect_as_interpreted(b.p, {random_tensor(t, cube, seed), random_tensor(t, {extent[0]}, seed + 1)},
                          t == DType::f32 ? 1e-5 : 0);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace anvil::test
