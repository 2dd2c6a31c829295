// Blocked loops whose ranges the steps do not divide: nests of two and three loops under every
// schedule, with all that a body may hold (lets, sums of its own, sums of loops around it, parameters,
// stores, changes in place), against the same nest run one step after the other.
#include "backend_llvm/programs.h"

namespace anvil::test {
namespace {

struct Schedule {
  int width, copies;  // 1 x 1: serial; fewer copies where the loop is shorter
};
Stmt loop(Variable v, int64_t n, Schedule s, Block body) {
  if (n < s.width) s.width = 1;
  s.copies = static_cast<int>(std::min<int64_t>(s.copies, n / s.width));
  if (s.width > 1) return vector(v, 0, n, s.width, s.copies, std::move(body));
  if (s.copies > 1) return unroll(v, 0, n, s.copies, std::move(body));
  return serial(v, 0, n, std::move(body));
}

// for j { a2 = 0; for i { a1 = 0; for p { a1 += A[i, p] * B[p, j] }; let t = a1 + i; y[i, j] = t;
//   z[i, j] = z[i, j] * t; a2 += t * g[$q] }; s[j] = a2 }
Program columns_of_a_product(int64_t columns, int64_t rows, int64_t depth, Schedule by_column, Schedule by_row,
                             Schedule by_depth, bool in_place) {
  ProgramBuilder b;
  const DType t = DType::f64;
  const BufferId left = b.input(t, {rows, depth}), right = b.input(t, {depth, columns}),
                 places = b.input(DType::i64, {rows}), table = b.input(t, {7}), y = b.output(t, {rows, columns}),
                 z = b.output(t, {rows, columns}), sums = b.output(t, {columns});
  const Variable j = b.index("j"), i = b.index("i"), p = b.index("p"), k = b.index("k"), l = b.index("l"),
                 q = b.parameter(0, 6);
  const LocalId a1 = b.local(t), a2 = b.local(t), x = b.local(t, "t");
  const Expr zero = b.number(0, t);
  b.p.body.push_back(serial(k, 0, columns, {serial(l, 0, rows, {{Store{z, {at(l), at(k)}, b.number(2, t)}}})}));
  Block row;
  row.push_back({Declare{a1, zero}});
  row.push_back(loop(
      p, depth, by_depth,
      {{Update{a1, Op::add, b.e().binary(Op::mul, b.load(left, {at(i), at(p)}), b.load(right, {at(p), at(j)}))}}}));
  row.push_back({Let{x, b.e().binary(Op::add, b.get(a1), b.e().convert(b.e().index(at(i)), t))}});
  row.push_back({Store{y, {at(i), at(j)}, b.get(x)}});
  if (in_place) row.push_back({Store{z, {at(i), at(j)}, b.e().binary(Op::mul, b.load(z, {at(i), at(j)}), b.get(x))}});
  row.push_back({Bind{q, b.load(places, {at(i)})}});
  row.push_back({Update{a2, Op::add, b.e().binary(Op::mul, b.get(x), b.load(table, {at(q)}))}});
  Block column;
  column.push_back({Declare{a2, zero}});
  column.push_back(loop(i, rows, by_row, std::move(row)));
  column.push_back({Store{sums, {at(j)}, b.get(a2)}});
  b.p.body.push_back(loop(j, columns, by_column, std::move(column)));
  return std::move(b.p);
}

void expect_tails(int64_t columns, int64_t rows, int64_t depth, Schedule by_column, Schedule by_row, Schedule by_depth,
                  bool in_place = true) {
  Program p = columns_of_a_product(columns, rows, depth, by_column, by_row, by_depth, in_place);
  Tensor places = graph::allocate({DType::i64, {rows}});
  for (int64_t i = 0; i < rows; ++i) set_element(places, i, Scalar(i * 5 % 7));
  expect_as_interpreted(p,
                        {random_tensor(DType::f64, {rows, depth}, 1), random_tensor(DType::f64, {depth, columns}, 2),
                         places, random_tensor(DType::f64, {7}, 3)},
                        1e-12);
}

TEST(Tails, RowsAreLanes) {
  for (const int64_t rows : {4, 5, 7, 8, 9, 12, 15, 17, 21, 31})
    for (const Schedule by_row : {Schedule{4, 1}, Schedule{4, 2}, Schedule{2, 3}, Schedule{1, 4}})
      for (const auto& [columns, by_column] :
           {std::pair{1, Schedule{1, 1}}, {2, Schedule{1, 2}}, {3, Schedule{1, 2}}, {7, Schedule{1, 4}}})
        expect_tails(columns, rows, 3, by_column, by_row, {1, 1});
}
TEST(Tails, ColumnsAreLanes) {
  for (const int64_t columns : {4, 6, 9, 11})
    for (const int64_t rows : {1, 3, 6})
      for (const Schedule by_row : {Schedule{1, 1}, Schedule{1, 2}, Schedule{1, 4}})
        expect_tails(columns, rows, 5, {4, 2}, by_row, {1, 2});
}
TEST(Tails, SumsAreLanes) {
  for (const int64_t depth : {4, 5, 9, 600, 1027})  // the longest are summed in blocks
    for (const int64_t rows : {2, 5})
      for (const Schedule by_depth : {Schedule{4, 2}, Schedule{1, 3}})
        expect_tails(3, rows, depth, {1, 2}, {1, 2}, by_depth);
}
// A sum for each row that is long, in a loop over rows that adds up as well: done lanes keep their rows.
TEST(Tails, LongSumsInsideOfLanes) {
  for (const int64_t rows : {5, 9, 13, 19})
    for (const Schedule by_row : {Schedule{4, 1}, Schedule{4, 2}, Schedule{4, 3}}) {
      for (const bool in_place : {true, false}) {
        expect_tails(1, rows, 700, {1, 1}, by_row, {1, 1}, in_place);
        expect_tails(3, rows, 700, {1, 2}, by_row, {1, 2}, in_place);
      }
    }
}

}  // namespace
}  // namespace anvil::test
