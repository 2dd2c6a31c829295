// Random bits as a pure function of a state (key, counter), the same as XLA's: generated
// code computes each element from its index alone.
#include "primitives/families/families.h"
#include "primitives/vocabulary/batching.h"
#include "primitives/vocabulary/structured.h"
#include "runtime/threefry.h"

namespace anvil::primitives {
namespace {

using loops::Op;

// The words of generated code, for the formula of runtime/threefry.h.
struct Word {
  loops::ExprPool* pool;
  Expr x;
  Word with(Op op, Expr y) const { return {pool, pool->binary(op, x, y)}; }
  Expr constant(uint32_t c) const { return pool->constant(c, DType::ui32); }
};
Word operator+(Word a, Word b) { return a.with(Op::add, b.x); }
Word operator^(Word a, Word b) { return a.with(Op::bit_xor, b.x); }
Word operator+(Word a, uint32_t b) { return a.with(Op::add, a.constant(b)); }
Word operator^(Word a, uint32_t b) { return a.with(Op::bit_xor, a.constant(b)); }
Word rotate_left(Word a, int count) {
  auto left = static_cast<uint32_t>(count);
  return a.with(Op::shift_left, a.constant(left))
      .with(Op::bit_or, a.with(Op::shift_right_logical, a.constant(32 - left)).x);
}

Types infer_random(const Types& t, const Params& params) {
  const std::string& algorithm = params.string("rng_algorithm");
  if (algorithm == "PHILOX")
    throw Error("argument", "`rng_algorithm` \"PHILOX\" is not supported.", {"i Use \"THREE_FRY\"."});
  if (algorithm != "THREE_FRY" && algorithm != "DEFAULT")
    throw Error("argument", "`rng_algorithm` must be one of \"THREE_FRY\", \"DEFAULT\" or \"PHILOX\".",
                {"x Got \"" + algorithm + "\"."});
  check_has_dtype("initial_state", t[0], DType::ui64);
  check_has_shape("initial_state", t[0], {2});
  check_shape(params.ints("shape"));
  DType dtype = params.dtype("dtype");
  if (!contains(Group::numeric, dtype))
    throw Error("dtype", std::string("`dtype` must be ") + name(Group::numeric) + ".",
                {"x Got <" + std::string(anvil::name(dtype)) + ">."});
  return {{DType::ui64, {2}}, {dtype, params.ints("shape")}};
}

Expr constant(loops::ExprPool& e, int64_t x) { return e.constant(x, DType::i64); }

// The block of the element at i, and its words: as random_bits() in runtime/threefry.h.
Expr bits_at(Lowering& l, const ValuePtr& state, const runtime::BitLayout& layout, DType dtype, const Index& i) {
  loops::ExprPool& e = l.exprs();
  Affine affine;
  Expr half = nullptr, second = nullptr;
  for (size_t d = 0; d < i.size(); ++d) {
    if (static_cast<int64_t>(d) != layout.axis) {
      affine = affine + i[d] * layout.stride[d];
      continue;
    }
    Expr position = e.index(i[d]);
    half = e.binary(Op::shift_right_logical, position, constant(e, 1));
    if (layout.stride[d] != 1) half = e.binary(Op::mul, half, constant(e, layout.stride[d]));
    second = e.binary(Op::ne, e.binary(Op::bit_and, position, constant(e, 1)), constant(e, 0));
  }
  Expr block = half == nullptr ? e.index(affine) : affine == Affine{} ? half : e.binary(Op::add, e.index(affine), half);
  Expr counter = e.binary(Op::add, l.load(state, {Affine{1, {}}}), e.convert(block, DType::ui64));
  Expr key = l.load(state, {Affine{}});
  auto low = [&](Expr x) { return Word{&e, e.convert(x, DType::ui32)}; };
  auto high = [&](Expr x) { return low(e.binary(Op::shift_right_logical, x, e.constant(32, DType::ui64))); };
  auto [x0, x1] = runtime::threefry<Word>(low(key), high(key), low(counter), high(counter));

  if (size_of(dtype) == 8) {
    Expr upper = e.binary(Op::shift_left, e.convert(x1.x, DType::ui64), e.constant(32, DType::ui64));
    return e.bitcast(e.binary(Op::bit_or, e.convert(x0.x, DType::ui64), upper), dtype);
  }
  Expr word = second == nullptr ? x0.x : e.select(second, x1.x, x0.x);
  return e.bitcast(e.convert(word, unsigned_of_size(size_of(dtype))), dtype);
}

// Random bits as another dtype of their size.
bool draw_as(graph::Call& bits, const graph::Call& reader, const Maker&) {
  const DType drawn = bits.outputs[1]->type.dtype, to = reader.outputs[0]->type.dtype;
  if (primitive_of(reader).name != "bitcast_convert" || reader.inputs[0] != bits.outputs[1]) return false;
  if (!is_unsigned_integer(drawn) || size_of(to) != size_of(drawn)) return false;
  bits.params.set("dtype", to);
  return true;
}

// ---- a batch of states: the same formula in elementwise primitives ------------------------------

struct Words {
  Var x;
  Var constant(uint32_t c) const { return literal(x, c); }
};
Words operator+(Words a, Words b) { return {a.x + b.x}; }
Words operator^(Words a, Words b) { return {record("xor", {a.x, b.x})}; }
Words operator+(Words a, uint32_t b) { return {a.x + a.constant(b)}; }
Words operator^(Words a, uint32_t b) { return {record("xor", {a.x, a.constant(b)})}; }
Words rotate_left(Words a, int count) {
  const auto left = static_cast<uint32_t>(count);
  return {record("shift_left", {a.x, a.constant(left)}) | record("shift_right_logical", {a.x, a.constant(32 - left)})};
}

// Of each element of one example's bits: its block, and whether it takes the second word of it.
std::pair<Var, std::optional<Var>> blocks_of(graph::Graph& g, const Shape& shape, const runtime::BitLayout& layout) {
  Var block = literal(g, 0, {DType::ui64, shape});
  std::optional<Var> second;
  for (size_t d = 0; d < shape.size(); ++d) {
    Var position = iota(g, static_cast<int64_t>(d), DType::ui64, shape);
    if (static_cast<int64_t>(d) == layout.axis) {
      const Var one = literal(position, 1);
      second = (position & one) == one;
      position = record("shift_right_logical", {position, one});
    }
    block = block + position * literal(position, layout.stride[d]);
  }
  return {block, second};
}

void batch_random(BatchStep& step) {
  const TensorType& type = step.call.outputs[1]->type;
  const runtime::BitLayout layout = runtime::bit_layout(type.shape, type.dtype);
  const auto dims = static_cast<int64_t>(type.shape.size());
  const auto row = [&](int64_t k) { return slice(operand(step, 0), {k, 0}, {k + 1, step.size}, {1, 1}); };
  const Var used = literal(row(1), layout.blocks);
  const auto [number, second] = blocks_of(step.graph, type.shape, layout);
  const Var block = spread(number, step.size);
  const auto all = [&](int64_t k) { return broadcast_in_dim(reshape(row(k), {step.size}), block.shape(), {dims}); };
  const auto low = [](const Var& x) { return Words{convert(x, DType::ui32)}; };
  const auto high = [&](const Var& x) { return low(record("shift_right_logical", {x, literal(x, 32)})); };
  const Var key = all(0), counter = all(1) + block;
  const auto [x0, x1] = runtime::threefry<Words>(low(key), high(key), low(counter), high(counter));

  Var bits = second ? select(spread(*second, step.size), x1.x, x0.x) : x0.x;
  if (size_of(type.dtype) == 8) {
    const Var upper = convert(x1.x, DType::ui64);
    bits = convert(x0.x, DType::ui64) | record("shift_left", {upper, literal(upper, 32)});
  }
  bits = convert(bits, unsigned_of_size(size_of(type.dtype)));
  if (bits.dtype() != type.dtype) bits = record("bitcast_convert", {bits}, {{"dtype", type.dtype}});
  set(step, {concatenate({row(0), row(1) + used}, 0), bits});
}

Primitive make_rng_bit_generator() {
  Primitive p = make_primitive("random", "rng_bit_generator", {"initial_state"},
                               {{"rng_algorithm", Kind::string}, {"dtype", Kind::dtype}, {"shape", Kind::shape}});
  p.as_stored = true;
  p.batch = batch_random;
  p.infer = infer_random;
  p.zero_derivative = true;
  p.hlo = {"stablehlo.rng_bit_generator", {}, special};
  p.absorb = draw_as;
  p.lower = [](Lowering& l, const graph::Call& c) {
    ValuePtr state = c.inputs[0];
    const TensorType& type = c.outputs[1]->type;
    runtime::BitLayout layout = runtime::bit_layout(type.shape, type.dtype);
    l.map(c.outputs[0], [&l, state, blocks = layout.blocks](const Index& i) {
      loops::ExprPool& e = l.exprs();
      Expr counter = e.binary(Op::ne, e.index(i[0]), constant(e, 0));
      Expr used = e.select(counter, e.constant(blocks, DType::ui64), e.constant(0, DType::ui64));
      return e.binary(Op::add, l.load(state, i), used);
    });
    l.map(c.outputs[1],
          [&l, state, layout, dtype = type.dtype](const Index& i) { return bits_at(l, state, layout, dtype, i); });
  };
  return p;
}

}  // namespace

void register_random(Registry& r) { r.add(make_rng_bit_generator()); }

}  // namespace anvil::primitives
