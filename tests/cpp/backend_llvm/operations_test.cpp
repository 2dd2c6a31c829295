// Every operation, for every dtype, as a number and as a vector, on ordinary and on special
// values: the same bits as scalar.h gives.
#include "backend_llvm/programs.h"
#include "runtime/elementary/table.h"

namespace anvil::test {
namespace {

constexpr DType dtypes[] = {DType::boolean, DType::i8,   DType::i16,  DType::i32, DType::i64, DType::ui8,
                            DType::ui16,    DType::ui32, DType::ui64, DType::f32, DType::f64};  // computed with
constexpr int64_t n = 77;

// y[i] = f(x1[i], x2[i], x3[i]) once with the vector loop and once without.
template <class F>
void check(DType in, DType out, F&& f, double tolerance = 0) {
  for (const int width : {1, 8}) {
    ProgramBuilder b;
    const BufferId x1 = b.input(in, {n}), x2 = b.input(in, {n}), x3 = b.input(in, {n}), y = b.output(out, {n});
    const Variable i = b.index();
    const Expr value = f(b, b.load(x1, {at(i)}), b.load(x2, {at(i)}), b.load(x3, {at(i)}));
    b.p.body.push_back(vector(i, 0, n, width, 1, {{Store{y, {at(i)}, value}}}));
    expect_as_interpreted(
        b.p, {random_tensor(in, {n}, 1, true), random_tensor(in, {n}, 2, true), random_tensor(in, {n}, 3, true)},
        tolerance);
  }
}

TEST(Operations, Binary) {
  for (const DType t : dtypes) {
    for (int k = int(Op::add); k <= int(Op::ge); ++k) {
      const Op op = Op(k);
      const bool bits = op >= Op::bit_and && op <= Op::shift_right_arithmetic;
      if (bits && is_float(t)) continue;
      if (is_bool(t) && (op == Op::sub || op == Op::divide || op == Op::remainder || op == Op::power)) continue;
      const bool comparison = op >= Op::eq;
      check(t, comparison ? DType::boolean : t,
            [op](ProgramBuilder& b, Expr x, Expr y, Expr) { return b.e().binary(op, x, y); });
    }
  }
}

TEST(Operations, BinaryWithConstants) {
  for (const DType t : {DType::i8, DType::i32, DType::ui16, DType::i64}) {
    for (const Op op : {Op::divide, Op::remainder, Op::shift_left, Op::shift_right_logical, Op::shift_right_arithmetic})
      for (const int constant : {0, 1, -1, 3, 40, 64})
        check(t, t, [op, t, constant](ProgramBuilder& b, Expr x, Expr, Expr) {
          return b.e().binary(op, x, b.number(Scalar(constant).rounded_to(t), t));
        });
  }
}

TEST(Operations, ExtremaBesideKnownNumbers) {
  for (const DType t : {DType::f32, DType::f64})
    for (const Op op : {Op::minimum, Op::maximum})
      for (const double number : {0.0, -0.0, 1.0, -2.5, double(INFINITY), double(NAN)})
        for (const bool first : {false, true})
          check(t, t, [=](ProgramBuilder& b, Expr x, Expr, Expr) {
            const Expr known = b.number(number, t);
            return first ? b.e().binary(op, known, x) : b.e().binary(op, x, known);
          });
}

TEST(Operations, Unary) {
  for (const DType t : dtypes) {
    for (int k = int(Op::negate); k <= int(Op::is_finite); ++k) {
      const Op op = Op(k);
      if ((op >= Op::sqrt || op == Op::sign) && !is_float(t) && !(op == Op::sign && !is_bool(t))) continue;
      if ((op == Op::bit_not || op == Op::popcnt) && is_float(t)) continue;
      if (is_bool(t) && op != Op::bit_not) continue;
      check(t, op == Op::is_finite ? DType::boolean : t,
            [op](ProgramBuilder& b, Expr x, Expr, Expr) { return b.e().unary(op, x); });
    }
  }
}

TEST(Operations, Convert) {
  for (const DType from : dtypes)
    for (const DType to : dtypes) {
      check(from, to, [to](ProgramBuilder& b, Expr x, Expr, Expr) { return b.e().convert(x, to); });
      if (size_of(from) == size_of(to)) {
        if (is_bool(to) && !is_bool(from)) continue;  // other bytes than 0 and 1 are no bool
        check(from, to, [to](ProgramBuilder& b, Expr x, Expr, Expr) { return b.e().bitcast(x, to); });
      }
    }
}

TEST(Operations, SelectAndFma) {
  for (const DType t : dtypes)
    check(t, t,
          [](ProgramBuilder& b, Expr x, Expr y, Expr z) { return b.e().select(b.e().binary(Op::lt, x, y), y, z); });
  for (const DType t : {DType::f32, DType::f64})
    check(t, t, [](ProgramBuilder& b, Expr x, Expr y, Expr z) { return b.e().fma(x, y, z); });
}

TEST(Operations, ElementaryFunctionsInEveryWidth) {
  for (const DType t : {DType::f32, DType::f64})
    for (int k = 0; k < int(elementary::Function::count); ++k) {
      const auto f = elementary::Function(k);
      for (const int width : {1, 2, 4, 16, 32}) {
        ProgramBuilder b;
        const BufferId x1 = b.input(t, {n}), x2 = b.input(t, {n}), y = b.output(t, {n});
        const Variable i = b.index();
        const Expr a = b.e().unary(Op::abs, b.load(x1, {at(i)}));
        const Expr second = elementary::arity(f) > 1 ? b.load(x2, {at(i)}) : nullptr;
        const Expr third = elementary::arity(f) > 2 ? b.e().unary(Op::abs, second) : nullptr;
        const Expr value = b.e().function(elementary::name(f), a, second, third);
        b.p.body.push_back(vector(i, 0, n, width, 1, {{Store{y, {at(i)}, value}}}));
        expect_as_interpreted(b.p, {random_tensor(t, {n}, 1), random_tensor(t, {n}, 2)});
      }
    }
}

TEST(Operations, IndexAsNumber) {
  for (const DType t : dtypes)
    for (const int width : {1, 4, 16}) {
      ProgramBuilder b;
      const BufferId y = b.output(t, {50, 3});
      const Variable i = b.index("i"), j = b.index("j");
      const Affine a = at(i) * 3 + at(j) * -7 + 5;
      b.p.body.push_back(serial(
          j, 0, 3, {vector(i, 0, 50, width, 2, {{Store{y, {at(i), at(j)}, b.e().convert(b.e().index(a), t)}}})}));
      expect_as_interpreted(b.p, {});
    }
}

// What depends on i >> 1 alone is computed once for two neighbours, where steps start at even numbers.
TEST(Operations, NeighboursShareWhatDependsOnHalfTheIndex) {
  for (const int64_t begin : {0, 1, 2})
    for (const int64_t end : {40, 41, 50, 63})
      for (const int64_t shift : {-6, 0, 1, 4})
        for (const int width : {2, 4, 16}) {
          ProgramBuilder b;
          const BufferId x = b.input(DType::i64, {1}), y = b.output(DType::i64, {end - begin, 3});
          const Variable i = b.index("i"), j = b.index("j");
          const Expr place = b.e().index(at(i) + at(j) * 6 + shift);
          const auto with = [&](Op op, Expr a, int64_t k) { return b.e().binary(op, a, b.number(k, DType::i64)); };
          const Expr half = with(Op::shift_right_logical, place, 1);
          const Expr block = b.e().binary(Op::bit_xor, with(Op::mul, half, 77), b.load(x, {Affine{}}));
          const Expr odd = with(Op::ne, with(Op::bit_and, place, 1), 0);
          const Expr value = b.e().select(odd, b.e().unary(Op::popcnt, block), with(Op::add, block, 5));
          b.p.body = {serial(j, 0, 3, {vector(i, begin, end, width, 2, {{Store{y, {at(i) + -begin, at(j)}, value}}})})};
          expect_as_interpreted(b.p, {random_tensor(DType::i64, {1}, 1)});
          const bool halves = width == 16 && begin % 2 == 0 && end % 2 == 0 && shift % 2 == 0 && begin + shift >= 0;
          const std::string text = llvm_backend::text(b.p, llvm_backend::Text::llvm);
          EXPECT_TRUE(!halves || text.find("ctpop.v16i64") == std::string::npos) << text;
        }
}

// In a loop of one step the index is a vector of different constants.
TEST(Operations, DivisionByAnIndex) {
  for (const Op op : {Op::divide, Op::remainder}) {
    ProgramBuilder b;
    const BufferId x = b.input(DType::i32, {8}), y = b.output(DType::i32, {8});
    const Variable i = b.index();
    b.p.body = {vector(
        i, 0, 8, 8, 1,
        {{Store{
            y, {at(i)}, b.e().binary(op, b.load(x, {at(i)}), b.e().convert(b.e().index(at(i) + -2), DType::i32))}}})};
    expect_as_interpreted(b.p, {random_tensor(DType::i32, {8}, 1, true)});
  }
}

TEST(Operations, ConstantsKeepTheirBits) {
  ProgramBuilder b;
  const BufferId y = b.output(DType::f64, {2});
  const double missing = std::bit_cast<double>(uint64_t(0x7FF00000000007A2));  // R's NA
  b.p.body.push_back({Store{y, {Affine{0, {}}}, b.number(missing, DType::f64)}});
  b.p.body.push_back({Store{y, {Affine{1, {}}}, b.number(-0.0, DType::f64)}});
  const Tensor out = run_native(b.p, {})[0];
  EXPECT_EQ(std::bit_cast<uint64_t>(out.as<double>()[0]) & 0xFFFFFFFF, 1954u);
  EXPECT_TRUE(std::signbit(out.as<double>()[1]));
}

}  // namespace
}  // namespace anvil::test
