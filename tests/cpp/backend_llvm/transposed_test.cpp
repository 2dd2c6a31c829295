// Loads across memory that are turned in registers: every dtype, numbers of lanes and copies, and ranges that these do
// not divide.
#include <cstring>

#include "backend_llvm/programs.h"

namespace anvil::test {
namespace {

// y[i, k, j] = x[j, k, i]: j side by side in x, i in y.
void expect_transposed(DType t, int64_t rows, int64_t columns, int lanes, int copies) {
  SCOPED_TRACE(std::string(name(t)) + " " + std::to_string(rows) + " x " + std::to_string(columns) + " vector " +
               std::to_string(lanes) + " unroll " + std::to_string(copies));
  constexpr int64_t between = 3;
  ProgramBuilder b;
  const BufferId x = b.input(t, {columns, between, rows}), y = b.output(t, {rows, between, columns});
  const Variable i = b.index(), j = b.index(), k = b.index();
  const Stmt store = {Store{y, {at(i), at(k), at(j)}, b.load(x, {at(j), at(k), at(i)})}};
  b.p.body = {serial(k, 0, between, {unroll(j, 0, columns, copies, {vector(i, 0, rows, lanes, 1, {store})})})};
  const Tensor in = random_tensor(t, {columns, between, rows}, 7);
  const Tensor out = run_native(b.p, {in})[0];
  const size_t size = size_of(t);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t m = 0; m < between; ++m)
        ASSERT_EQ(std::memcmp(out.as<char>() + size_t(r + rows * (m + between * c)) * size,
                              in.as<char>() + size_t(c + columns * (m + between * r)) * size, size),
                  0)
            << r << ", " << m << ", " << c;
}

TEST(Transposed, EveryDtype) {
  for (DType t : {DType::boolean, DType::i8, DType::ui16, DType::i32, DType::i64, DType::f16, DType::bf16, DType::f32,
                  DType::f64})
    expect_transposed(t, 37, 53, 8, 8);
}

TEST(Transposed, LanesAndCopies) {
  for (int lanes : {2, 4, 8, 16})
    for (int copies : {2, 3, 4, 8, 16}) {
      expect_transposed(DType::f32, lanes + 5, copies + 3, lanes, copies);
      expect_transposed(DType::f64, 2 * lanes, 2 * copies, lanes, copies);
    }
  expect_transposed(DType::ui8, 100, 40, 64, 16);
}

}  // namespace
}  // namespace anvil::test
