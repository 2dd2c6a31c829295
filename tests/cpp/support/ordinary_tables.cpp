// Steps of ordinary programs that compute with whole tables: layers, scalings, sums.
#include <cmath>

#include "primitives/vocabulary/infer.h"
#include "support/ordinary_program.h"

namespace anvil::test {

using namespace primitives;

namespace {

Var matmul(Var a, Var b) { return dot_general(a, b, {1}, {0}, {}, {}); }
Var transposed(Var x) { return transpose(x, {1, 0}); }

}  // namespace

OrdinaryProgram::Var OrdinaryProgram::activation(Var x) {
  switch (below(6)) {
    case 0: return record("tanh", {x});
    case 1: return maximum(x, literal(x, 0));
    case 2: return record("logistic", {x});
    case 3: return exp(-abs(x));
    case 4: return select(x > literal(x, 0.1), x, x * 0.1);
    default: return x * x / (1.0 + x * x);
  }
}
OrdinaryProgram::Var OrdinaryProgram::along(Var v, Var x, int64_t dim) {
  if (chance(25)) {  // as R's sweep() or a column vector: through a size of 1
    Shape thin(x.shape().size(), 1);
    thin[static_cast<size_t>(dim)] = v.shape()[0];
    return broadcast_in_dim(reshape(v, thin), x.shape(), all_axes(thin.size()));
  }
  return broadcast_in_dim(v, x.shape(), {dim});
}
OrdinaryProgram::Var OrdinaryProgram::summary(Var x, Ints dims, bool drop) {
  auto reduced = [&](const char* name) { return record(name, {x}, {{"dims", dims, true}, {"drop", drop}}); };
  int64_t n = 1;
  for (int64_t d : dims) n *= x.shape()[static_cast<size_t>(d)];
  switch (below(6)) {
    case 0: return reduced("reduce_max");
    case 1: return reduced("reduce_min");
    case 2: return reduced("reduce_sum");
    case 3: x = record("tanh", {x}) + 1.1; return record("tanh", {reduced("reduce_prod")});
    default: return reduced("reduce_sum") / static_cast<double>(n);
  }
}

// activation(x w + b), or with the weights on the left, or without some of it.
void OrdinaryProgram::layer() {
  Var x = table();
  const int64_t n = x.shape()[0], f = x.shape()[1], units = fitting(n * f, 30000);
  if (work_ + double(n * f * units) > most_work()) return;
  work_ += double(n * f * units);
  const bool left = chance(25);
  Var z = left ? matmul(matrix(units, n), x) : matmul(x, matrix(f, units));
  if (chance(30)) z = z * (1.0 / std::sqrt(double(left ? n : f)));
  if (chance(60)) {
    const int64_t dim = chance(80) ? 1 : 0;
    z = z + along(vector(z.shape()[static_cast<size_t>(dim)]), z, dim);
  }
  keep(chance(60) ? activation(z) : record("tanh", {z * 0.5}) + z * 0.01);
}

// Rows or columns times (plus, over) a vector made in the program, and often on into a product.
void OrdinaryProgram::scaled() {
  Var x = table();
  const int64_t dim = below(2);
  Var v = vector(x.shape()[static_cast<size_t>(dim)]);
  if (chance(50)) v = chance(50) ? exp(v * 0.3) : 1.0 / (1.0 + v * v);
  Var by = along(v, x, dim);
  Var y = chance(70) ? x * by : chance(50) ? x - by : x / (1.0 + by * by);
  keep(y);
  const int64_t n = y.shape()[0], f = y.shape()[1], units = chance(50) ? f : fitting(n * f, 30000);
  if (chance(40) || work_ + double(n * f * units) > most_work()) return;
  work_ += double(n * f * units);
  keep(matmul(y, matrix(f, units)) * (1.0 / double(f)));
}

void OrdinaryProgram::standardised() {
  Var x = table();
  const int64_t dim = below(2), other = 1 - dim;
  const auto n = static_cast<double>(x.shape()[static_cast<size_t>(dim)]);
  const bool drop = chance(50);
  auto spread = [&](Var v) {
    return drop ? broadcast_in_dim(v, x.shape(), {other}) : broadcast_in_dim(v, x.shape(), {0, 1});
  };
  Var centred = x - spread(reduce_sum(x, {dim}, drop) / n);
  Var variance = reduce_sum(centred * centred, {dim}, drop) / n;
  Var y = chance(50) ? centred * spread(1.0 / sqrt(variance + 0.1)) : centred / spread(sqrt(variance + 0.1));
  if (chance(40)) y = y * along(vector(y.shape()[1]), y, 1) + along(vector(y.shape()[1]), y, 1);
  keep(y);
}

void OrdinaryProgram::softmax() {
  Var x = recent();
  if (x.shape().empty() || x.dtype() != dtype) return;
  const int64_t dim = below(static_cast<int>(x.shape().size()));
  Ints all = all_axes(x.shape().size());
  auto spread = [&](Var v) { return broadcast_in_dim(v, x.shape(), all); };
  Var high = reduce_max(x, {dim}, false), e = exp(x - spread(high)), sum = reduce_sum(e, {dim}, false);
  switch (below(3)) {
    case 0: return keep(e / spread(sum));
    case 1: return keep(x - spread(high + log(sum)));
    default: return keep(record("tanh", {reshape(high + log(sum), {elements(sum.shape())})}));
  }
}

// Sums, means, extremes over one or more sides; often spread over the table again.
void OrdinaryProgram::summarised() {
  Var x = recent();
  const auto rank = static_cast<int64_t>(x.shape().size());
  if (rank == 0 || x.dtype() != dtype) return;
  Ints dims, rest;
  for (int64_t d = 0; d < rank; ++d) (chance(rank == 1 ? 100 : 45) ? dims : rest).push_back(d);
  if (dims.empty()) dims = {rest.back()}, rest.pop_back();
  const bool drop = chance(65);
  Var s = summary(chance(40) ? activation(x) : x, dims, drop);
  keep(s);
  if (!chance(40)) return;
  Var wide = broadcast_in_dim(s, x.shape(), drop ? rest : all_axes(static_cast<size_t>(rank)));
  keep(chance(50) ? x - wide : x * wide * 0.3);
}

// Cross products of a table with itself or another one, and sums of them.
void OrdinaryProgram::crossed() {
  Var x = table();
  const bool rows = chance(50);
  const int64_t n = x.shape()[0], f = x.shape()[1], m = rows ? n : f, depth = rows ? f : n;
  if (work_ + double(m * m * depth) > most_work()) return;
  work_ += double(m * m * depth);
  Var y = chance(60) ? x : activation(x);
  if (chance(30)) y = y * broadcast_in_dim(vector(depth), y.shape(), {rows ? 1 : 0});
  Var z = (rows ? matmul(x, transposed(y)) : matmul(transposed(x), y)) * (1.0 / double(depth));
  if (chance(30)) {
    Var row = iota(*g_, 0, DType::i32, z.shape()), column = iota(*g_, 1, DType::i32, z.shape());
    z = z + select(row == column, literal(z, 0.5), literal(z, 0));
  }
  keep(z);
  if (chance(30)) keep(reduce_sum(z, {below(2)}));
}

// Products of many small matrices: with the batch in front, or behind, and heads as in attention.
void OrdinaryProgram::batched() {
  Var x = recent();
  if (x.shape().size() != 3 || x.dtype() != dtype) {
    if (depth_ > 0) return;
    x = input(dtype, {1 + below(5), 1 + below(chance(50) ? 4 : 18), fitting(20, 700)});
    if (chance(50)) x = exp(x * 0.3);
  }
  const int64_t b = chance(60) ? 0 : 2, contracted = b == 0 ? (chance(60) ? 2 : 1) : below(2),
                free = 3 - b - contracted;
  const Shape s = x.shape();
  const int64_t batch = s[static_cast<size_t>(b)], depth = s[static_cast<size_t>(contracted)],
                rows = s[static_cast<size_t>(free)], columns = fitting(batch * rows * depth, 20000);
  if (work_ + double(batch * rows * depth * columns) > most_work() || batch * rows * columns > most_elements()) return;
  work_ += double(batch * rows * depth * columns);
  if (chance(20)) x = x * broadcast_in_dim(vector(depth), s, {contracted});
  Var y;
  if (chance(30)) {
    y = dot_general(x, chance(50) ? x : activation(x), {contracted}, {contracted}, {b}, {b});
  } else {
    Shape other(3);
    other[static_cast<size_t>(b)] = batch;
    const int64_t place = b == 0 ? (chance(70) ? 1 : 2) : below(2);
    other[static_cast<size_t>(place)] = depth;
    other[static_cast<size_t>(3 - b - place)] = columns;
    Var w = depth_ == 0 ? input(dtype, other) : broadcast_in_dim(vector(depth) * 0.2, other, {place});
    y = chance(85) ? dot_general(x, w, {contracted}, {place}, {b}, {b})
                   : dot_general(x, slice(w, {0, 0, 0}, other, {1, 1, 1}), {b, contracted}, {b, place}, {}, {});
  }
  y = y * 0.3;
  keep(y);
  if (chance(60)) keep(summary(y, {below(static_cast<int>(y.shape().size()))}, chance(70)));
}

// Products of which a mask of indices hides a part, as attention that looks back does; some are read without it, too.
void OrdinaryProgram::masked() {
  Var x = table(), y = x;
  const int64_t n = x.shape()[0], f = x.shape()[1], units = chance(50) ? n : fitting(n * f, 20000);
  if (work_ + double(n * f * units) > most_work() || n * units > most_elements()) return;
  work_ += double(n * f * units);
  Var z = chance(50) && units == n ? matmul(x, transposed(activation(x))) : matmul(x, matrix(f, units));
  if (chance(50)) z = z * 0.3;
  const DType t = chance(60) ? DType::i32 : chance(50) ? DType::i64 : dtype;
  const auto index = [&](int64_t dim) { return iota(*g_, dim, t, z.shape()); };
  const auto compared = [&] {
    Var a = index(0), b = index(1);
    if (chance(30)) a = a + double(below(9) - 4);
    if (chance(10)) b = b + double(below(static_cast<int>(units)));
    const int how = below(5);
    return how == 0 ? a <= b : how == 1 ? a < b : how == 2 ? a > b : how == 3 ? a == b : a >= b;
  };
  Var mask = compared();
  if (chance(25)) mask = chance(50) ? mask & compared() : mask | compared();
  if (chance(15)) mask = mask & (along(vector(units), z, 1) > literal(z, -0.5));
  if (chance(20)) mask = !mask;
  const auto hidden = [&](Var v) {
    Var other = chance(50) ? literal(v, -2) : literal(v, 0);
    return chance(70) ? select(mask, v, other) : select(mask, other, v);
  };
  Var seen = hidden(z);
  if (chance(40)) {
    seen = exp(seen - along(reduce_max(seen, {1}), seen, 0));
  } else if (chance(40)) {
    seen = seen + hidden(chance(50) ? z * z : z);
  }
  keep(seen);
  if (chance(30)) keep(matmul(transposed(seen), x) * (1.0 / double(n)));
  if (chance(10)) keep(z);
}

void OrdinaryProgram::elementwise() {
  Var x = recent();
  if (x.dtype() != dtype) x = convert(x, dtype);
  Var y = activation(x);
  std::vector<Var> same;
  for (Var v : pool_)
    if (v.shape() == x.shape() && v.dtype() == dtype) same.push_back(here(v));
  if (!same.empty()) {
    Var other = same[static_cast<size_t>(below(static_cast<int>(same.size())))];
    y = chance(50) ? y + other : chance(50) ? y * other : select(other > y, other, y);
  }
  keep(chance(15) ? convert(y > literal(y, 0.2), DType::i32) : y);
}

// Two products that share an operand, added or side by side.
void OrdinaryProgram::several() {
  Var x = table();
  const int64_t n = x.shape()[0], f = x.shape()[1], units = fitting(n * f, 12000);
  if (work_ + 2 * double(n * f * units) > most_work()) return;
  work_ += 2 * double(n * f * units);
  Var a = matmul(x, matrix(f, units)), b = matmul(chance(50) ? x : x * x, matrix(f, units));
  Var gate = chance(50) ? record("logistic", {a}) * b : record("tanh", {a + b});
  keep(gate);
  if (chance(30)) keep(reduce_sum(a * b, {chance(50) ? 0 : 1}) * 0.1);
}

}  // namespace anvil::test
