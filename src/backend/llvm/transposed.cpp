// Loads across memory, turned in registers. Lanes that lie apart are loaded one by one; but where what the copies of
// another loop load lies side by side, they load together:
//
//   for j unroll 4 { for i vector 4 { y[i, j] = x[j, i] } }
//
//   ->  x[j..j+3, i], x[j..j+3, i+1], x[j..j+3, i+2], x[j..j+3, i+3], transposed by two rounds of interleaving
//
// A round moves the highest bit of the number of a vector behind the lowest bit of the place in it, and the highest
// bit of the place to the number.
#include "backend/llvm/emitter.h"

namespace anvil::llvm_backend {

namespace {

bool is_power_of_two(int n) { return n > 0 && (n & (n - 1)) == 0; }

using Rows = llvm::SmallVector<llvm::Value*, 16>;

// The same, of which LLVM does not see what it was made of: for better shuffles it searches through all rounds at once,
// in a time that grows by the power of their number. Of numbers that fill a register, others stay as they are.
llvm::Value* opaque(llvm::IRBuilder<>& b, llvm::Value* x, int register_bytes) {
  const uint64_t bits = x->getType()->getPrimitiveSizeInBits();
  return bits < 128 || bits > 8 * uint64_t(register_bytes) || !x->getType()->isFPOrFPVectorTy()
             ? x
             : b.CreateIntrinsic(llvm::Intrinsic::arithmetic_fence, {x->getType()}, {x});
}

// Rows of m numbers each become m vectors, one for each place in a row.
Rows transposed(llvm::IRBuilder<>& b, Rows rows, int m, int register_bytes) {
  const int w = int(rows.size());
  const auto picked = [&](llvm::Value* x, llvm::Value* y, int first, int count, auto&& place) {
    llvm::SmallVector<int, 64> mask;
    for (int k = first; k < first + count; ++k) mask.push_back(place(k));
    return b.CreateShuffleVector(x, y, mask);
  };
  int length = m;
  for (int round = 1; round < w; round *= 2) {
    const size_t half = rows.size() / 2;
    const auto interleaved = [length](int k) { return k / 2 + (k % 2) * length; };
    const bool longer = length < w;
    if (round > 1)
      for (llvm::Value*& row : rows) row = opaque(b, row, register_bytes);
    Rows next;
    for (size_t i = 0; i < half; ++i)
      for (int first = 0; first < 2 * length; first += longer ? 2 * length : length)
        next.push_back(picked(rows[i], rows[i + half], first, longer ? 2 * length : length, interleaved));
    if (longer) length *= 2;
    rows = std::move(next);
  }
  if (m <= w) return rows;
  Rows parts;  // a row was longer than a vector: each holds several vectors
  for (llvm::Value* row : rows)
    for (int first = 0; first < length; first += w)
      parts.push_back(picked(row, row, first, w, [](int k) { return k; }));
  return parts;
}

}  // namespace

// The axis along whose copies an offset grows by one.
int Emitter::contiguous_axis(const Affine& offset) {
  std::array<int64_t, most_axes> factors = {};
  for (const loops::Term& t : offset.terms) {
    const VariableState& v = variable_state(t.variable);
    if (v.axis >= 0)
      factors[size_t(v.axis)] += t.factor;
    else if (v.axes != 0)
      return -1;
  }
  for (int k = 0; k < int(axes_.size()); ++k)
    if (k != vector_axis_ && factors[size_t(k)] == 1 && axes_[size_t(k)].copies > 1) return k;
  return -1;
}

// Loads e for all copies of such an axis, and remembers them. False where there is none.
bool Emitter::load_together(Expr e, const Coordinate& c, const Info& in, int level) {
  if (e->op != loops::Op::load || !in.lanes || axes_.size() < 2) return false;
  const Affine offset = loops::linear(program_, e->buffer, e->place);
  const std::optional<int64_t> stride = lane_stride(offset);
  const int axis = contiguous_axis(offset);
  if (!stride || std::abs(*stride) <= 1 || axis < 0) return false;
  const int w = lanes(), m = axes_[size_t(axis)].copies;
  constexpr int most_registers = 16;
  if (!is_power_of_two(m) ||
      int64_t(w) * m * int64_t(size_of(e->dtype)) > int64_t(most_registers) * machine_.settings().vector_bytes)
    return false;
  const At at(*this, level);
  Coordinate copy = c;
  copy[size_t(axis)] = 0;
  llvm::Type* const type = ops_.memory_type(e->dtype, w);
  const auto bytes = size_of(e->dtype);
  const DType moved = bytes == 4 ? DType::f32 : bytes == 8 ? DType::f64 : e->dtype;  // what opaque() can do
  Rows rows;
  for (int l = 0; l < w; ++l)
    rows.push_back(b_.CreateAlignedLoad(ops_.memory_type(moved, m), pointer(e->buffer, offset, copy, *stride * l),
                                        llvm::Align(bytes)));
  rows = transposed(b_, std::move(rows), m, machine_.settings().vector_bytes);
  for (int& k = copy[size_t(axis)]; k < m; ++k) {
    Value x = b_.CreateBitCast(rows[size_t(k)], type);
    if (is_bool(e->dtype)) x = b_.CreateICmpNE(x, llvm::Constant::getNullValue(x->getType()));
    remember(e, project(in.axes, copy), level, x);
  }
  return true;
}

}  // namespace anvil::llvm_backend
