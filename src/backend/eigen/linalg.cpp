// Products, factorisations and triangular systems. Operands are packed to stacks of plain
// matrices (rows, columns, batch) by strided copies, then Eigen works on each matrix.
#include <Eigen/Core>

#include "backend/eigen/kernels.h"
#include "backend/eigen/odometer.h"
#include "base/interrupt.h"
#include "runtime/matrix.h"

namespace anvil::eigen {
namespace {

using runtime::ConstMatrixMap;
using runtime::Matrix;
using runtime::MatrixMap;

using Dims = std::vector<int64_t>;

// The dimensions of a tensor in three groups, seen as rows, columns and batch.
struct Grouping {
  Shape box;  // sizes of all dimensions in the new order
  View view;  // of the tensor, in that order
  int64_t rows = 1, columns = 1, batch = 1;
};
Grouping group(const Shape& shape, const Dims& rows, const Dims& columns, const Dims& batch) {
  Grouping g;
  auto steps = strides(shape);
  auto take = [&](const Dims& dims, int64_t& count) {
    for (int64_t dim : dims) {
      size_t d = static_cast<size_t>(dim);
      g.box.push_back(shape[d]);
      g.view.strides.push_back(steps[d]);
      count *= shape[d];
    }
  };
  take(rows, g.rows);
  take(columns, g.columns);
  take(batch, g.batch);
  return g;
}
Tensor pack(const Tensor& t, const Grouping& g) {
  Tensor packed = graph::allocate({t.type.dtype, g.box});
  copy_box(g.box, t, g.view, packed, whole(packed));
  return packed;
}
void unpack(const Tensor& packed, const Tensor& out, const Grouping& g) {
  copy_box(g.box, packed, {0, strides(g.box)}, out, g.view);
}

Dims sequence(size_t from, size_t to) {
  Dims dims;
  for (size_t d = from; d < to; ++d) dims.push_back(static_cast<int64_t>(d));
  return dims;
}
Dims without(size_t rank, const Dims& a, const Dims& b) {
  Dims dims;
  for (int64_t d : sequence(0, rank))
    if (std::find(a.begin(), a.end(), d) == a.end() && std::find(b.begin(), b.end(), d) == b.end()) dims.push_back(d);
  return dims;
}

constexpr int64_t most_work = 1 << 25;  // multiplications between two polls

// c[m, n] = sum over k of a[m, k] b[k, n], from 0 on; integers wrap, bool is or of ands.
template <class T>
void product(const T* a, const T* b, T* c, int64_t rows, int64_t inner, int64_t columns) {
  if constexpr (std::is_floating_point_v<T>) {
    MatrixMap<T> out(c, rows, columns);
    const ConstMatrixMap<T> x(a, rows, inner), y(b, inner, columns);
    out.setZero();
    if (out.size() == 0 || inner == 0) return;
    const int64_t depth = std::clamp<int64_t>(most_work / rows, 1, inner);
    const int64_t width = std::clamp<int64_t>(most_work / rows / depth, 1, columns);
    for (int64_t p = 0; p < inner; p += depth)
      for (int64_t j = 0; j < columns; j += width) {
        const int64_t d = std::min(depth, inner - p), w = std::min(width, columns - j);
        out.middleCols(j, w).noalias() += x.middleCols(p, d) * y.block(p, j, d, w);
        worked(rows * d * w / 4);
      }
  } else {
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < rows; ++i) {
        uint64_t sum = 0;
        in_pieces(inner, 1, [&](int64_t first, int64_t end) {
          for (int64_t k = first; k < end; ++k)
            sum += static_cast<uint64_t>(a[i + k * rows]) * static_cast<uint64_t>(b[k + j * inner]);
        });
        c[i + j * rows] = std::is_same_v<T, bool> ? T(sum != 0) : static_cast<T>(sum);
      }
  }
}

Tensors dot_general(const Call& call, const Tensors& in) {
  Tensor out = make_result(call);
  using Pairs = graph::IntegerLists;
  const Pairs &contracting = call.params.get<Pairs>("contracting_dims"),
              &batching = call.params.get<Pairs>("batching_dims");
  Dims lhs_free = without(in[0].type.shape.size(), contracting[0], batching[0]);
  Dims rhs_free = without(in[1].type.shape.size(), contracting[1], batching[1]);
  Grouping lhs = group(in[0].type.shape, lhs_free, contracting[0], batching[0]);
  Grouping rhs = group(in[1].type.shape, contracting[1], rhs_free, batching[1]);
  size_t first = batching[0].size(), second = first + lhs_free.size();
  Grouping result =
      group(out.type.shape, sequence(first, second), sequence(second, out.type.shape.size()), sequence(0, first));
  Tensor a = pack(in[0], lhs), b = pack(in[1], rhs), c = graph::allocate({out.type.dtype, result.box});
  visit_computed(out.type.dtype, [&]<class T>() {
    for (int64_t i = 0; i < result.batch; ++i)
      product(a.as<T>() + i * lhs.rows * lhs.columns, b.as<T>() + i * rhs.rows * rhs.columns,
              c.as<T>() + i * result.rows * result.columns, result.rows, lhs.columns, result.columns);
  });
  unpack(c, out, result);
  return {out};
}

Grouping matrices(const Shape& shape) {
  size_t rank = shape.size();
  return group(shape, sequence(rank - 2, rank - 1), sequence(rank - 1, rank), sequence(0, rank - 2));
}

constexpr int64_t most_columns = 128;  // that are worked on at once

// One kind of triangle is solved with, and squares are factorised by columns: each kind that Eigen has is as large as
// all else here.
template <class T>
bool factorise_square(Eigen::Ref<Matrix<T>> a) {
  for (int64_t k = 0; k < a.rows(); ++k) {
    auto column = a.col(k).tail(a.rows() - k);
    column.noalias() -= a.bottomLeftCorner(a.rows() - k, k) * a.row(k).head(k).transpose();
    if (!(column(0) > T(0))) return false;  // nor NaN
    const T root = std::sqrt(column(0));
    column /= root;
    column(0) = root;
  }
  return true;
}

// L L' = A in the lower triangle of `a`, some columns after the others: from each what the columns
// before it make of it is taken, then its own square is factorised, then what is below solved for.
template <class T>
bool factorise(Eigen::Ref<Matrix<T>> a) {
  const int64_t n = a.rows();
  for (int64_t j = 0; j < n; j += most_columns) {
    const int64_t w = std::min(most_columns, n - j), below = n - j - w;
    auto square = a.block(j, j, w, w);
    auto rest = a.block(j + w, j, below, w);
    for (int64_t i = j; i < n; i += most_columns) {
      const int64_t h = std::min(most_columns, n - i);
      a.block(i, j, h, w).noalias() -= a.block(i, 0, h, j) * a.block(j, 0, w, j).transpose();
      worked(h * w * j / 4);
    }
    if (!factorise_square<T>(square)) return false;
    if (below == 0) break;
    Matrix<T> across = rest.transpose();
    square.template triangularView<Eigen::Lower>().solveInPlace(across);
    rest = across.transpose();
    worked(below * w * w / 4);
  }
  return true;
}
// Reads one triangle and gives the factor with the other one zero; NaN where the matrix
// is not positive definite.
template <class T>
void factorise(T* data, int64_t n, bool lower) {
  MatrixMap<T> a(data, n, n);
  Matrix<T> factor = lower ? Matrix<T>(a) : Matrix<T>(a.transpose());
  if (!factorise<T>(factor)) factor.setConstant(std::numeric_limits<T>::quiet_NaN());
  a.setZero();
  if (lower)
    a.template triangularView<Eigen::Lower>() = factor;
  else
    a.template triangularView<Eigen::Upper>() = factor.transpose();
}
Tensors cholesky(const Call& call, const Tensors& in) {
  Tensor out = make_result(call);
  Grouping g = matrices(out.type.shape);
  Tensor packed = pack(in[0], g);
  bool lower = call.params.flag("lower");
  visit_float(out.type.dtype, [&]<class T>() {
    for (int64_t i = 0; i < g.batch; ++i) {
      T* a = packed.as<T>() + i * g.rows * g.columns;
      factorise<T>(a, g.rows, lower);
      worked(g.rows * g.rows);
    }
  });
  unpack(packed, out, g);
  return {out};
}

// Solves m x = b in place of b for a lower triangle, some rows after the others: from each what those before it make
// of it is taken, then its own square solved for.
template <class T>
void solve_lower(const Matrix<T>& m, Eigen::Ref<Matrix<T>> b) {
  const int64_t n = m.rows();
  // Eigen multiplies by the reciprocals of the diagonal
  const bool inverse_exists = (m.diagonal().cwiseAbs().array() >= T(1) / std::numeric_limits<T>::max()).all();
  for (int64_t done = 0; done < n; done += most_columns) {
    const int64_t w = std::min(most_columns, n - done);
    for (int64_t j = 0; j < b.cols(); j += most_columns) {
      auto columns = b.middleCols(j, std::min(most_columns, b.cols() - j));
      auto rows = columns.middleRows(done, w);
      rows.noalias() -= m.block(done, 0, w, done) * columns.topRows(done);
      const auto square = m.block(done, done, w, w);
      if (inverse_exists)
        square.template triangularView<Eigen::Lower>().solveInPlace(rows);
      else
        for (int64_t i = 0; i < w; ++i) {
          rows.row(i) /= square(i, i);
          rows.bottomRows(w - 1 - i).noalias() -= square.col(i).tail(w - 1 - i) * rows.row(i);
        }
      worked(w * (done + w) * columns.cols() / 4);
    }
  }
}
// An upper triangle is a lower one from its end.
template <class T>
void solve(const Matrix<T>& m, Matrix<T>& b, bool lower) {
  if (lower) return solve_lower<T>(m, b);
  b = Matrix<T>(b.colwise().reverse());
  solve_lower<T>(m.reverse(), b);
  b = Matrix<T>(b.colwise().reverse());
}
// With L' g = P, the lower triangle of L^-T S L^-1 for the symmetric S with half of P's: twice what is off the diagonal,
// as an element of the triangle stands for two.
Tensors cholesky_reverse(const Call& call, const Tensors& in) {
  Tensor out = make_result(call);
  Grouping group = matrices(out.type.shape);
  Tensor factors = pack(in[0], group), cotangents = pack(in[1], group);
  const bool lower = call.params.flag("lower");
  const int64_t n = group.rows;
  visit_float(out.type.dtype, [&]<class T>() {
    for (int64_t i = 0; i < group.batch; ++i) {
      MatrixMap<T> factor(factors.as<T>() + i * n * n, n, n), cotangent(cotangents.as<T>() + i * n * n, n, n);
      const Matrix<T> upper = lower ? Matrix<T>(factor.transpose()) : Matrix<T>(factor);
      const Matrix<T> g = lower ? Matrix<T>(cotangent) : Matrix<T>(cotangent.transpose());
      Matrix<T> s(n, n);
      product(upper.data(), g.data(), s.data(), n, n, n);
      for (int64_t c = 0; c < n; ++c)
        for (int64_t r = 0; r < c; ++r) s(r, c) = s(c, r);
      for (int side = 0; side < 2; ++side) {
        solve<T>(upper, s, false);
        s = Matrix<T>(s.transpose());
      }
      for (int64_t c = 0; c < n; ++c)
        for (int64_t r = 0; r < n; ++r)
          (lower ? cotangent(r, c) : cotangent(c, r)) = r < c ? T(0) : r == c ? T(0.5) * s(r, c) : s(r, c);
      worked(n * n);
    }
  });
  unpack(cotangents, out, group);
  return {out};
}

Tensors triangular_solve(const Call& call, const Tensors& in) {
  Tensor out = make_result(call);
  Grouping ga = matrices(in[0].type.shape), gb = matrices(out.type.shape);
  Tensor a = pack(in[0], ga), b = pack(in[1], gb);
  bool left = call.params.flag("left_side"), lower = call.params.flag("lower");
  bool unit = call.params.flag("unit_diagonal"), transposed = call.params.flag("transpose_a");
  if (elements(out.type.shape) == 0) return {out};
  visit_float(out.type.dtype, [&]<class T>() {
    for (int64_t i = 0; i < gb.batch; ++i) {
      MatrixMap<T> matrix(a.as<T>() + i * ga.rows * ga.columns, ga.rows, ga.columns);
      MatrixMap<T> rhs(b.as<T>() + i * gb.rows * gb.columns, gb.rows, gb.columns);
      // x op(a) = b is op(a)' x' = b'
      bool flipped = transposed == left;
      Matrix<T> m = flipped ? Matrix<T>(matrix.transpose()) : Matrix<T>(matrix);
      Matrix<T> x = left ? Matrix<T>(rhs) : Matrix<T>(rhs.transpose());
      if (unit) m.diagonal().setOnes();
      solve<T>(m, x, lower != flipped);
      if (left)
        rhs = x;
      else
        rhs = x.transpose();
      worked(ga.rows * ga.columns + gb.rows * gb.columns);
    }
  });
  unpack(b, out, gb);
  return {out};
}

}  // namespace

std::vector<NamedKernel> linalg_kernels() {
  return {{"dot_general", dot_general},
          {"cholesky", cholesky},
          {"cholesky_reverse", cholesky_reverse},
          {"triangular_solve", triangular_solve}};
}

}  // namespace anvil::eigen
