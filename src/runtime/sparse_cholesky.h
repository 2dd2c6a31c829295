// Cholesky factors of sparse symmetric matrices, L L' = A, where the pattern of L is known: the factor, systems of equations,
// and those elements of the inverse of A that lie on the pattern of L, which are the derivative of log(det(A)) by the
// elements of A. Their derivatives in given directions are the same recurrences on truncated polynomials.
#pragma once
#include <cstdint>
#include <span>

namespace anvil::runtime {

// The lower triangle by columns: the rows of column j stand at columns[j]..columns[j + 1] - 1, ascending, the diagonal first.
// It has what elimination fills in: of two rows of a column the lower one is in the column of the upper one.
struct SparsePattern {
  std::span<const int32_t> columns, rows;
  int64_t size() const { return static_cast<int64_t>(columns.size()) - 1; }
};
// Error("argument") where reading or writing by this pattern would leave it, or `place` does not lie in it.
void check_pattern(const SparsePattern&, std::span<const int32_t> place);

// Elements of A, each with its place in L, and directions in which they move; at most `most_directions`.
struct SparseElements {
  std::span<const double* const> parts;  // values, first direction, second direction, ...
  std::span<const int32_t> place;        // of different elements different
};
constexpr size_t most_directions = 3;

// NaN everywhere where A is not positive definite. factor: as many as rows.
void sparse_factor(const SparsePattern&, const SparseElements&, double* factor);

// x becomes the solution of L x = x, and then of L' x = x: of A x = x.
void sparse_solve(const SparsePattern&, const double* factor, double* x);

// Elements of the inverse of A at the places of its own: from the factor, or of each direction the derivative of the
// derivative before, of mixed order parts.size() - 1.
void sparse_inverse(const SparsePattern&, const double* factor, std::span<const int32_t> place, double* elements);
void sparse_inverse_derivative(const SparsePattern&, const SparseElements&, double* elements);

}  // namespace anvil::runtime
