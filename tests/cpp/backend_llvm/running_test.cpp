// What runs along a vector loop: sums, products and extrema of all steps so far, each of which is read.
#include "backend_llvm/programs.h"

namespace anvil::test {
namespace {

constexpr Op operations[] = {Op::add, Op::mul, Op::minimum, Op::maximum, Op::bit_and, Op::bit_or};

// y[i] is what has run as far as i, `last` what is left in the local: rows of n, from `start` on.
ProgramBuilder running(DType t, Op op, Scalar start, int64_t n, int width, int copies) {
  ProgramBuilder b;
  const BufferId x = b.input(t, {n}), y = b.output(t, {n}), last = b.output(t, {});
  const Variable i = b.index();
  const LocalId a = b.local(t);
  b.p.body = {
      {Declare{a, b.number(start, t)}},
      vector(i, 0, n, width, copies, {{Update{a, op, b.load(x, {at(i)}), true}}, {Store{y, {at(i)}, b.get(a)}}}),
      {Store{last, {}, b.get(a)}}};
  return b;
}

TEST(Running, EveryOperationAndLength) {
  for (const DType t : {DType::boolean, DType::i8, DType::i32, DType::ui64, DType::f32, DType::f64})
    for (const Op op : operations) {
      if (is_float(t) && (op == Op::bit_and || op == Op::bit_or)) continue;
      for (const auto& [width, copies] : {std::pair{2, 1}, {4, 2}, {8, 1}, {16, 3}})
        for (int64_t n = int64_t(width) * copies; n < 3 * width * copies; n += 1 + n / 7) {
          ProgramBuilder b = running(t, op, op == Op::mul || op == Op::bit_and ? 1 : 3, n, width, copies);
          expect_as_interpreted(b.p, {random_tensor(t, {n}, unsigned(n))}, is_float(t) ? 1e-4 : 0);
        }
    }
}

// Once a NaN or an infinity has been met, what follows is as one step after the other.
TEST(Running, SpecialValuesReachAllThatFollowsAndNothingBefore) {
  const int64_t n = 45;
  for (const Op op : {Op::add, Op::mul, Op::minimum, Op::maximum})
    for (const double special : {double(NAN), double(INFINITY), -double(INFINITY), -0.0})
      for (int64_t place = 0; place < n; ++place) {
        Tensor in = graph::full({DType::f32, {n}}, Scalar(0.5));
        set_element(in, place, Scalar(special));
        ProgramBuilder b = running(DType::f32, op, Scalar(op == Op::mul), n, 8, 2);
        expect_as_interpreted(b.p, {in}, 1e-6);
      }
}

// A sum to which nothing negative is added does not fall, as little as one step after the other does.
TEST(Running, RoundingKeepsTheOrder) {
  for (const int width : {4, 8, 16})
    for (unsigned seed = 0; seed < 200; ++seed) {
      const int64_t n = 100;
      Tensor in = random_tensor(DType::f32, {n}, seed);
      for (int64_t k = 0; k < n; ++k)
        set_element(in, k, Scalar(std::ldexp(std::fabs(element(in, k).as<double>()), -int(k * seed % 25))));
      const std::vector<Tensor> got = run_native(running(DType::f32, Op::add, 0, n, width, 2).p, {in});
      const float* sums = got[0].as<float>();
      EXPECT_TRUE(std::is_sorted(sums, sums + n)) << seed;
      EXPECT_EQ(sums[n - 1], got[1].as<float>()[0]) << seed;
    }
}

// Beside each other, one along the other, with sums that nobody reads, in several columns at once.
TEST(Running, SeveralInOneLoop) {
  const int64_t n = 53, m = 6;
  ProgramBuilder b;
  const BufferId x = b.input(DType::f64, {n, m}), y = b.output(DType::f64, {n, m}), z = b.output(DType::f64, {n, m}),
                 all = b.output(DType::f64, {m}), top = b.output(DType::f64, {});
  const Variable j = b.index("j"), i = b.index("i");
  const LocalId sum = b.local(DType::f64), twice = b.local(DType::f64), squares = b.local(DType::f64),
                high = b.local(DType::f64);
  const Expr v = b.load(x, {at(i), at(j)}), zero = b.number(0, DType::f64);
  b.p.body = {{Declare{high, b.number(-10.0, DType::f64)}},
              unroll(j, 0, m, 3,
                     {{Declare{sum, zero}},
                      {Declare{twice, zero}},
                      {Declare{squares, zero}},
                      vector(i, 0, n, 4, 2,
                             {{Update{sum, Op::add, v, true}},
                              {Store{y, {at(i), at(j)}, b.get(sum)}},
                              {Update{squares, Op::add, b.e().binary(Op::mul, v, v)}},
                              {Update{twice, Op::add, b.get(sum), true}},
                              {Store{z, {at(i), at(j)}, b.e().binary(Op::sub, b.get(twice), b.get(sum))}}}),
                      {Update{high, Op::maximum, b.get(twice)}},
                      {Store{all, {at(j)}, b.e().binary(Op::add, b.get(sum), b.get(squares))}}}),
              {Store{top, {}, b.get(high)}}};
  expect_as_interpreted(b.p, {random_tensor(DType::f64, {n, m}, 3)}, 1e-12);
}

// What is changed in place is changed once, the last steps too.
TEST(Running, InPlace) {
  for (const int64_t n : {16, 21, 61}) {
    ProgramBuilder b;
    const BufferId x = b.input(DType::f32, {n}), y = b.output(DType::f32, {n});
    const Variable k = b.index("k"), i = b.index("i");
    const LocalId a = b.local(DType::f32);
    b.p.body = {vector(k, 0, n, 8, 1, {{Store{y, {at(k)}, b.load(x, {at(k)})}}}),
                {Declare{a, b.number(2, DType::f32)}},
                vector(i, 0, n, 8, 2, {{Update{a, Op::add, b.load(y, {at(i)}), true}}, {Store{y, {at(i)}, b.get(a)}}})};
    expect_as_interpreted(b.p, {random_tensor(DType::f32, {n}, 1)}, 1e-5);
  }
}

}  // namespace
}  // namespace anvil::test
