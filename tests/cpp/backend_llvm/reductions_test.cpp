// Reductions: accumulators for each lane and copy, blocked sums, products.
#include "backend_llvm/programs.h"

namespace anvil::test {
namespace {

constexpr Op operations[] = {Op::add, Op::mul, Op::minimum, Op::maximum, Op::bit_and, Op::bit_or};

TEST(Reductions, EveryOperationAndSchedule) {
  for (const DType t : {DType::boolean, DType::i8, DType::i32, DType::ui64, DType::f32, DType::f64})
    for (const Op op : operations) {
      if (is_float(t) && (op == Op::bit_and || op == Op::bit_or)) continue;
      for (const auto& [n, width, copies] :
           {std::tuple{1, 1, 1}, {5, 4, 1}, {64, 8, 2}, {77, 8, 4}, {31, 1, 3}, {100, 16, 1}}) {
        ProgramBuilder b;
        const BufferId x = b.input(t, {n}), y = b.output(t, {});
        const Variable i = b.index();
        const LocalId a = b.local(t);
        b.p.body.push_back({Declare{a, b.number(op == Op::mul || op == Op::bit_and ? Scalar(1) : Scalar(3), t)}});
        b.p.body.push_back(width == 1 ? unroll(i, 0, n, copies, {{Update{a, op, b.load(x, {at(i)})}}})
                                      : vector(i, 0, n, width, copies, {{Update{a, op, b.load(x, {at(i)})}}}));
        b.p.body.push_back({Store{y, {}, b.get(a)}});
        expect_as_interpreted(b.p, {random_tensor(t, {n}, 1)}, is_float(t) ? 1e-5 : 0);
      }
    }
}

// Accumulators of lanes and copies start with what changes nothing: no zero, no one.
TEST(Reductions, AccumulatorsStartWithNothing) {
  for (const DType t : {DType::i8, DType::i64, DType::f32, DType::f64})
    for (const Op op : {Op::add, Op::mul, Op::minimum, Op::maximum})
      for (const int64_t n : {8, 21}) {
        ProgramBuilder b;
        const BufferId x = b.input(t, {n}), y = b.output(t, {});
        const Variable i = b.index();
        const LocalId a = b.local(t);
        const Scalar start = op == Op::minimum ? highest(t) : op == Op::maximum ? lowest(t) : Scalar(op == Op::mul);
        b.p.body = {{Declare{a, b.number(start, t)}},
                    vector(i, 0, n, 4, 2, {{Update{a, op, b.load(x, {at(i)})}}}),
                    {Store{y, {}, b.get(a)}}};
        Tensor in = graph::full({t, {n}}, Scalar(op == Op::mul ? 1 : op == Op::minimum ? 5 : -5));
        set_element(in, n - 1, Scalar(op == Op::minimum ? 7 : op == Op::mul ? 3 : -2));
        expect_as_interpreted(b.p, {in});
      }
}

TEST(Reductions, ExtremaKeepNaN) {
  for (const Op op : {Op::minimum, Op::maximum})
    for (int64_t place = 0; place < 45; ++place) {
      ProgramBuilder b;
      const BufferId x = b.input(DType::f32, {45}), y = b.output(DType::f32, {});
      const Variable i = b.index();
      const LocalId a = b.local(DType::f32);
      b.p.body.push_back(
          {Declare{a, b.number(op == Op::minimum ? highest(DType::f32) : lowest(DType::f32), DType::f32)}});
      b.p.body.push_back(vector(i, 0, 45, 8, 2, {{Update{a, op, b.load(x, {at(i)})}}}));
      b.p.body.push_back({Store{y, {}, b.get(a)}});
      Tensor in = random_tensor(DType::f32, {45}, 1);
      set_element(in, place, Scalar(std::nan("")));
      EXPECT_TRUE(std::isnan(run_native(b.p, {in})[0].as<float>()[0])) << place;
    }
}

// The largest of zeros is 0 and the least -0, in whatever lanes they are.
TEST(Reductions, ExtremaOfZeros) {
  constexpr int64_t n = 32;
  for (const DType t : {DType::f32, DType::f64})
    for (const Op op : {Op::minimum, Op::maximum})
      for (const int width : {2, 4, 8, 16})
        for (int64_t place = 0; place < n; ++place)
          for (const bool both : {false, true}) {
            ProgramBuilder b;
            const BufferId x = b.input(t, {n}), y = b.output(t, {});
            const Variable i = b.index();
            const LocalId a = b.local(t);
            const double sign = op == Op::minimum ? 1 : -1, winner = -sign * 0.0;
            b.p.body = {{Declare{a, b.number(op == Op::minimum ? highest(t) : lowest(t), t)}},
                        vector(i, 0, n, width, 1, {{Update{a, op, b.load(x, {at(i)})}}}),
                        {Store{y, {}, b.get(a)}}};
            Tensor in = graph::full({t, {n}}, Scalar(sign).rounded_to(t));
            set_element(in, place, Scalar(-winner).rounded_to(t));
            if (both) set_element(in, (place + 13) % n, Scalar(winner).rounded_to(t));
            const double got = element(run_native(b.p, {in})[0], 0).as<double>();
            EXPECT_EQ(got, 0);
            EXPECT_EQ(std::signbit(got), std::signbit(both ? winner : -winner)) << place << " " << width;
          }
}

// Sums of many numbers are as accurate as sums of blocks: far better than one after the other.
TEST(Reductions, LongSumsAreBlocked) {
  for (const int64_t n : {100000, 99999}) {
    ProgramBuilder b;
    const BufferId x = b.input(DType::f32, {n, 10}), all = b.output(DType::f32, {}), rows = b.output(DType::f32, {10}),
                   strided = b.output(DType::f32, {});
    const Variable i = b.index(), j = b.index(), k = b.index(), l = b.index(), m = b.index();
    const LocalId s = b.local(DType::f32), r = b.local(DType::f32), u = b.local(DType::f32);
    const Expr zero = b.number(0, DType::f32);
    b.p.body.push_back({Declare{s, zero}});
    b.p.body.push_back(serial(j, 0, 10, {vector(i, 0, n, 16, 4, {{Update{s, Op::add, b.load(x, {at(i), at(j)})}}})}));
    b.p.body.push_back({Store{all, {}, b.get(s)}});
    b.p.body.push_back(serial(k, 0, 10,
                              {{Declare{r, zero}},
                               vector(l, 0, n, 8, 2, {{Update{r, Op::add, b.load(x, {at(l), at(k)})}}}),
                               {Store{rows, {at(k)}, b.get(r)}}}));
    b.p.body.push_back({Declare{u, zero}});
    b.p.body.push_back(serial(m, 0, n, {{Update{u, Op::add, b.load(x, {at(m), Affine{}})}}}));
    b.p.body.push_back({Store{strided, {}, b.get(u)}});
    Tensor in = graph::allocate({DType::f32, {n, 10}});
    std::mt19937_64 random(1);
    std::lognormal_distribution<float> numbers(0, 2);
    std::vector<double> exact(10);
    for (int64_t c = 0; c < 10; ++c)
      for (int64_t e = 0; e < n; ++e) exact[size_t(c)] += in.as<float>()[c * n + e] = numbers(random);
    const std::vector<Tensor> out = run_native(b.p, {in});
    double total = 0;
    for (int64_t c = 0; c < 10; ++c) {
      total += exact[size_t(c)];
      EXPECT_NEAR(out[1].as<float>()[c] / exact[size_t(c)], 1, 1e-6);
    }
    EXPECT_NEAR(out[0].as<float>()[0] / total, 1, 1e-6);
    EXPECT_NEAR(out[2].as<float>()[0] / exact[0], 1, 2e-6);
  }
}

// Also where each step of a loop adds several of them.
TEST(Reductions, LongSumsOfFewStepsAreBlocked) {
  constexpr int64_t steps = 500, in_step = 64;
  ProgramBuilder b;
  const BufferId x = b.input(DType::f32, {in_step, steps}), y = b.output(DType::f32, {});
  const Variable i = b.index();
  const LocalId s = b.local(DType::f32);
  b.p.body.push_back({Declare{s, b.number(0, DType::f32)}});
  Block step;
  for (int64_t k = 0; k < in_step; ++k) step.push_back({Update{s, Op::add, b.load(x, {Affine{k, {}}, at(i)})}});
  b.p.body.push_back(serial(i, 0, steps, std::move(step)));
  b.p.body.push_back({Store{y, {}, b.get(s)}});
  const Tensor in = graph::allocate({DType::f32, {in_step, steps}});
  std::mt19937_64 random(1);
  std::lognormal_distribution<float> numbers(0, 2);
  double exact = 0;
  for (int64_t e = 0; e < in_step * steps; ++e) exact += in.as<float>()[e] = numbers(random);
  EXPECT_NEAR(run_native(b.p, {in})[0].as<float>()[0] / exact, 1, 5e-7);
}

TEST(Reductions, SumOfNegativeZerosIsNegativeZero) {
  ProgramBuilder b;
  const BufferId x = b.input(DType::f64, {20}), y = b.output(DType::f64, {});
  const Variable i = b.index();
  const LocalId a = b.local(DType::f64);
  b.p.body = {{Declare{a, b.number(-0.0, DType::f64)}},
              vector(i, 0, 20, 4, 2, {{Update{a, Op::add, b.load(x, {at(i)})}}}),
              {Store{y, {}, b.get(a)}}};
  EXPECT_TRUE(std::signbit(run_native(b.p, {graph::full({DType::f64, {20}}, Scalar(-0.0))})[0].as<double>()[0]));
}

// Row sums: lanes are rows. Column sums: lanes fold. Several locals in one loop.
TEST(Reductions, RowsColumnsAndSeveralAtOnce) {
  for (const int64_t n : {16, 37}) {
    const int64_t m = 11;
    ProgramBuilder b;
    const BufferId x = b.input(DType::f64, {n, m}), rows = b.output(DType::f64, {n}),
                   columns = b.output(DType::f64, {m}), most = b.output(DType::f64, {m});
    const Variable i = b.index(), j = b.index(), k = b.index(), l = b.index();
    const LocalId r = b.local(DType::f64), s = b.local(DType::f64), t = b.local(DType::f64);
    b.p.body.push_back(vector(i, 0, n, 8, 2,
                              {{Declare{r, b.number(1.5, DType::f64)}},
                               serial(j, 0, m, {{Update{r, Op::add, b.load(x, {at(i), at(j)})}}}),
                               {Store{rows, {at(i)}, b.get(r)}}}));
    const Expr square = b.e().binary(Op::mul, b.load(x, {at(l), at(k)}), b.load(x, {at(l), at(k)}));
    b.p.body.push_back(unroll(k, 0, m, 2,
                              {{Declare{s, b.number(0, DType::f64)}},
                               {Declare{t, b.number(-5.0, DType::f64)}},
                               vector(l, 0, n, 4, 2, {{Update{s, Op::add, square}}, {Update{t, Op::maximum, square}}}),
                               {Store{columns, {at(k)}, b.get(s)}},
                               {Store{most, {at(k)}, b.get(t)}}}));
    expect_as_interpreted(b.p, {random_tensor(DType::f64, {n, m}, 1)}, 1e-12);
  }
}

TEST(Reductions, Products) {
  for (const auto& [m, n, k] : {std::tuple{32, 40, 40}, {33, 7, 5}, {50, 9, 700}, {16, 1, 3}})
    for (const bool fused : {false, true}) {
      ProgramBuilder b;
      const BufferId x = b.input(DType::f32, {m, k}), w = b.input(DType::f32, {k, n}), y = b.output(DType::f32, {m, n});
      const Variable i = b.index("i"), j = b.index("j"), l = b.index("k");
      const LocalId a = b.local(DType::f32, "acc");
      const Expr p = b.load(x, {at(i), at(l)}), q = b.load(w, {at(l), at(j)});
      const Update update =
          fused ? Update{a, Op::local, b.e().fma(p, q, b.get(a))} : Update{a, Op::add, b.e().binary(Op::mul, p, q)};
      b.p.body.push_back(unroll(j, 0, n, std::min(n, 4),
                                {vector(i, 0, m, 8, 2,
                                        {{Declare{a, b.number(0, DType::f32)}},
                                         serial(l, 0, k, {{update}}),
                                         {Store{y, {at(i), at(j)}, b.get(a)}}})}));
      expect_as_interpreted(b.p, {random_tensor(DType::f32, {m, k}, 1), random_tensor(DType::f32, {k, n}, 2)}, 2e-5);
    }
}

// A dot product by fma, with lanes along the sum.
TEST(Reductions, FusedDotProduct) {
  for (const int64_t n : {40, 1003, 5000}) {
    ProgramBuilder b;
    const BufferId x = b.input(DType::f64, {n}), w = b.input(DType::f64, {n}), y = b.output(DType::f64, {});
    const Variable i = b.index();
    const LocalId a = b.local(DType::f64);
    b.p.body = {
        {Declare{a, b.number(2.0, DType::f64)}},
        vector(i, 0, n, 4, 4, {{Update{a, Op::local, b.e().fma(b.load(x, {at(i)}), b.load(w, {at(i)}), b.get(a))}}}),
        {Store{y, {}, b.get(a)}}};
    expect_as_interpreted(b.p, {random_tensor(DType::f64, {n}, 1), random_tensor(DType::f64, {n}, 2)}, 1e-12);
  }
}

// A running sum reads what it accumulates: it is split where the program says how only.
TEST(Reductions, ScansStayInOrder) {
  const int64_t n = 23;
  ProgramBuilder b;
  const BufferId x = b.input(DType::f64, {n}), y = b.output(DType::f64, {n});
  const Variable i = b.index();
  const LocalId a = b.local(DType::f64);
  b.p.body = {{Declare{a, b.number(0, DType::f64)}},
              vector(i, 0, n, 4, 1, {{Update{a, Op::add, b.load(x, {at(i)})}}, {Store{y, {at(i)}, b.get(a)}}})};
  expect_as_interpreted(b.p, {random_tensor(DType::f64, {n}, 1)});
}

// softmax: a maximum, exponentials in a row of their own and their sum, a quotient.
TEST(Reductions, Softmax) {
  for (const int64_t n : {64, 75}) {
    const int64_t m = 6;
    ProgramBuilder b;
    const BufferId x = b.input(DType::f32, {n, m}), row = b.temporary(DType::f32, {n}),
                   y = b.output(DType::f32, {n, m});
    const Variable j = b.index("j"), i = b.index("i"), k = b.index("k"), l = b.index("l");
    const LocalId top = b.local(DType::f32, "top"), sum = b.local(DType::f32, "sum"), e = b.local(DType::f32, "e");
    ExprPool& p = b.e();
    b.p.body.push_back(
        serial(j, 0, m,
               {{Declare{top, b.number(lowest(DType::f32), DType::f32)}},
                vector(i, 0, n, 16, 2, {{Update{top, Op::maximum, b.load(x, {at(i), at(j)})}}}),
                {Declare{sum, b.number(0, DType::f32)}},
                vector(k, 0, n, 16, 1,
                       {{Let{e, p.function("exp", p.binary(Op::sub, b.load(x, {at(k), at(j)}), b.get(top)))}},
                        {Store{row, {at(k)}, b.get(e)}},
                        {Update{sum, Op::add, b.get(e)}}}),
                vector(l, 0, n, 16, 2,
                       {{Store{y, {at(l), at(j)}, p.binary(Op::divide, b.load(row, {at(l)}), b.get(sum))}}})}));
    expect_as_interpreted(b.p, {random_tensor(DType::f32, {n, m}, 1)}, 1e-6);
  }
}

}  // namespace
}  // namespace anvil::test
