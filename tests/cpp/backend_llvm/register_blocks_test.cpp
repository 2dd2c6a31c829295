// Sums in registers of three loops: steps that depend on the ones before them are not made side by side.
#include "backend_llvm/programs.h"
#include "compiler/passes.h"

namespace anvil::test {
namespace {

// for k { for j { for i { a = 0; for p { a += A[i, j, p] * B[i, p, k] }; y[i, j + dj, k + dk] = y[i, j, k] + a } } }
Program products_added(int64_t dj, int64_t dk) {
  constexpr int64_t matrices = 64, rows = 4, depth = 12, columns = 4;
  ProgramBuilder b;
  const DType t = DType::f64;
  const BufferId left = b.input(t, {matrices, rows, depth}), right = b.input(t, {matrices, depth, columns}),
                 y = b.output(t, {matrices, rows + 1, columns + 1});
  const Variable i = b.index("i"), j = b.index("j"), k = b.index("k"), p = b.index("p"), l = b.index("l"),
                 m = b.index("m"), n = b.index("n");
  const LocalId a = b.local(t);
  b.p.body.push_back(
      serial(n, 0, columns + 1,
             {serial(m, 0, rows + 1, {serial(l, 0, matrices, {{Store{y, {at(l), at(m), at(n)}, b.number(1, t)}}})})}));
  const Expr product = b.e().binary(Op::mul, b.load(left, {at(i), at(j), at(p)}), b.load(right, {at(i), at(p), at(k)}));
  Affine next_row = at(j), next_column = at(k);
  next_row.constant = dj;
  next_column.constant = dk;
  b.p.body.push_back(
      serial(k, 0, columns,
             {serial(j, 0, rows,
                     {serial(i, 0, matrices,
                             {{Declare{a, b.number(0, t)}},
                              serial(p, 0, depth, {{Update{a, Op::add, product}}}),
                              {Store{y,
                                     {at(i), next_row, next_column},
                                     b.e().binary(Op::add, b.load(y, {at(i), at(j), at(k)}), b.get(a))}}})})}));
  return std::move(b.p);
}

TEST(RegisterBlocks, StepsThatDependOnEachOtherComeOneAfterTheOther) {
  load_library();
  struct {
    int64_t dj, dk;
    const char* outer;  // the loop around the others
  } const cases[] = {{0, 0, "  for k2 in 0..4 unroll 4 {"},
                     {1, 0, "  for j1 in 0..4 {"},
                     {0, 1, "  for k2 in 0..4 {"},
                     {1, 1, "  for k2 in 0..4 {"}};
  for (const auto& c : cases) {
    Program p = products_added(c.dj, c.dk);
    compiler::schedule(p, {64, 32});
    EXPECT_NE(print(p).find(c.outer), std::string::npos) << print(p);
    expect_as_interpreted(p, {random_tensor(DType::f64, {64, 4, 12}, 1), random_tensor(DType::f64, {64, 12, 4}, 2)},
                          1e-12);
  }
}

}  // namespace
}  // namespace anvil::test
