// Products, factorisations and triangular systems. Operands are packed to stacks of plain
// matrices (rows, columns, batch) by strided copies, then Eigen works on each matrix.
#include <Eigen/Cholesky>
#include <Eigen/Core>

#include "backend/eigen/kernels.h"
#include "backend/eigen/odometer.h"

namespace anvil::eigen {
namespace {

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <class T>
using MatrixMap = Eigen::Map<Matrix<T>>;

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

// c[m, n] = sum over k of a[m, k] b[k, n]; integers wrap, bool is or of ands.
template <class T>
void product(const T* a, const T* b, T* c, int64_t rows, int64_t inner, int64_t columns) {
  if constexpr (std::is_floating_point_v<T>) {
    MatrixMap<T> out(c, rows, columns);
    if (inner == 0) {
      out.setZero();
      return;
    }
    out.noalias() = Eigen::Map<const Matrix<T>>(a, rows, inner) * Eigen::Map<const Matrix<T>>(b, inner, columns);
  } else {
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t i = 0; i < rows; ++i) {
        uint64_t sum = 0;
        for (int64_t k = 0; k < inner; ++k)
          sum += static_cast<uint64_t>(a[i + k * rows]) * static_cast<uint64_t>(b[k + j * inner]);
        c[i + j * rows] = std::is_same_v<T, bool> ? T(sum != 0) : static_cast<T>(sum);
      }
  }
}

Tensors dot_general(const Call& call, const Tensors& in) {
  Tensor out = make_result(call);
  using Pairs = std::vector<Dims>;
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
  visit(out.type.dtype, [&]<class T>() {
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

// Reads one triangle and gives the factor with the other one zero; NaN where the matrix
// is not positive definite.
template <class T, int triangle>
void factorise(T* data, int64_t n) {
  MatrixMap<T> a(data, n, n);
  Eigen::LLT<Matrix<T>, triangle> llt(a);
  Matrix<T> factor = Matrix<T>::Zero(n, n);
  if (llt.info() == Eigen::Success)
    factor = llt.matrixLLT().template triangularView<triangle>();
  else
    factor.template triangularView<triangle>().setConstant(std::numeric_limits<T>::quiet_NaN());
  a = factor;
}
Tensors cholesky(const Call& call, const Tensors& in) {
  Tensor out = make_result(call);
  Grouping g = matrices(out.type.shape);
  Tensor packed = pack(in[0], g);
  bool lower = call.params.flag("lower");
  visit_float(out.type.dtype, [&]<class T>() {
    for (int64_t i = 0; i < g.batch; ++i) {
      T* a = packed.as<T>() + i * g.rows * g.columns;
      lower ? factorise<T, Eigen::Lower>(a, g.rows) : factorise<T, Eigen::Upper>(a, g.rows);
    }
  });
  unpack(packed, out, g);
  return {out};
}

// Solves op(a) x = b, or x op(a) = b, in place of b.
template <class T, unsigned triangle>
void solve(const MatrixMap<T>& a, MatrixMap<T>& b, bool left, bool transposed) {
  auto view = a.template triangularView<triangle>();
  auto flipped = a.transpose()
                     .template triangularView<(triangle & Eigen::UnitDiag) |
                                              (triangle & Eigen::Lower ? Eigen::Upper : Eigen::Lower)>();
  if (left && transposed)
    flipped.template solveInPlace<Eigen::OnTheLeft>(b);
  else if (left)
    view.template solveInPlace<Eigen::OnTheLeft>(b);
  else if (transposed)
    flipped.template solveInPlace<Eigen::OnTheRight>(b);
  else
    view.template solveInPlace<Eigen::OnTheRight>(b);
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
      if (lower && unit)
        solve<T, Eigen::UnitLower>(matrix, rhs, left, transposed);
      else if (lower)
        solve<T, Eigen::Lower>(matrix, rhs, left, transposed);
      else if (unit)
        solve<T, Eigen::UnitUpper>(matrix, rhs, left, transposed);
      else
        solve<T, Eigen::Upper>(matrix, rhs, left, transposed);
    }
  });
  unpack(b, out, gb);
  return {out};
}

}  // namespace

std::vector<NamedKernel> linalg_kernels() {
  return {{"dot_general", dot_general}, {"cholesky", cholesky}, {"triangular_solve", triangular_solve}};
}

}  // namespace anvil::eigen
