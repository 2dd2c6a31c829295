// Random bits and numbers.
#include "backend/stablehlo/import.h"
#include "primitives/vocabulary/infer.h"

namespace anvil::stablehlo {
namespace {

using Values = std::vector<ValuePtr>;
using namespace primitives;

Var bits_like(const Var& like, uint64_t x) { return literal(like, Scalar(x)); }
Var shifted_right(const Var& x, uint64_t count) { return record("shift_right_logical", {x, bits_like(x, count)}); }
Var shifted_left(const Var& x, uint64_t count) { return record("shift_left", {x, bits_like(x, count)}); }
Var exclusive_or(const Var& a, const Var& b) { return record("xor", {a, b}); }

// ---- Philox ---------------------------------------------------------------------------------

// Philox 4x32 with 10 rounds (Salmon et al., Parallel random numbers: as easy as 1, 2, 3,
// 2011). A state is a key and a counter of 128 bits, or of 64 bits in front of the key. Block b
// is four words made from counter + b; elements take words, or pairs of them, in row-major
// order. Words are computed in 64 bits.
class Philox {
 public:
  Philox(const Var& state, Shape shape, DType dtype)
      : state_(state), shape_(std::move(shape)), wide_(size_of(dtype) == 8), dtype_(dtype) {}

  Values results() {
    auto word = [this](int64_t i) { return reshape(slice(state_, {i}, {i + 1}, {1}), {}); };
    bool with_long_counter = state_.shape()[0] == 3;
    Var key = word(0), low = word(1), high = word(with_long_counter ? 2 : 0);
    uint64_t per_block = wide_ ? 2 : 4, n = static_cast<uint64_t>(elements(shape_));
    Var next = low + bits_like(low, (n + per_block - 1) / per_block);
    Var carried = high + convert(next < low, DType::ui64);
    auto listed = [](const Var& x) { return reshape(x, {1}); };
    Var new_state = with_long_counter ? concatenate({listed(key), listed(next), listed(carried)}, 0)
                                      : concatenate({listed(key), listed(next)}, 0);
    return values({new_state, bits(key, low, high, per_block)});
  }

 private:
  static Var lower_half(const Var& x) { return x & bits_like(x, 0xffffffff); }

  // The row-major number of each element.
  Var position() const {
    Var sum = literal(*state_.graph, 0, {DType::ui64, shape_});
    int64_t step = 1;
    for (size_t d = shape_.size(); d-- > 0; step *= shape_[d])
      sum = sum + iota(*state_.graph, static_cast<int64_t>(d), DType::ui64, shape_) * literal(sum, step);
    return sum;
  }
  Var bits(const Var& key, const Var& low, const Var& high, uint64_t per_block) const {
    Var at = position(), block = record("divide", {at, bits_like(at, per_block)});
    Var lane = record("remainder", {at, bits_like(at, per_block)});
    Var first = broadcast_to_like(low, at), counter = first + block;
    Var upper = broadcast_to_like(high, at) + convert(counter < first, DType::ui64);
    Var x[4] = {lower_half(counter), shifted_right(counter, 32), lower_half(upper), shifted_right(upper, 32)};
    Var k[2] = {broadcast_to_like(lower_half(key), at), broadcast_to_like(shifted_right(key, 32), at)};
    for (int round = 0; round < 10; ++round) {
      Var a = x[0] * bits_like(at, 0xd2511f53), b = x[2] * bits_like(at, 0xcd9e8d57);
      Var next[4] = {exclusive_or(exclusive_or(shifted_right(b, 32), x[1]), k[0]), lower_half(b),
                     exclusive_or(exclusive_or(shifted_right(a, 32), x[3]), k[1]), lower_half(a)};
      std::copy(next, next + 4, x);
      k[0] = lower_half(k[0] + bits_like(at, 0x9e3779b9));
      k[1] = lower_half(k[1] + bits_like(at, 0xbb67ae85));
    }
    auto is = [&](uint64_t number) { return lane == bits_like(at, number); };
    if (wide_) return finished(select(is(0), x[0] | shifted_left(x[1], 32), x[2] | shifted_left(x[3], 32)));
    return finished(select(is(0), x[0], select(is(1), x[1], select(is(2), x[2], x[3]))));
  }
  Var finished(const Var& word) const {
    if (wide_) return dtype_ == DType::ui64 ? word : record("bitcast_convert", {word}, {{"dtype", dtype_}});
    Var narrow = convert(word, DType::ui32);
    if (size_of(dtype_) < 4) return convert(narrow, dtype_);
    return dtype_ == DType::ui32 ? narrow : record("bitcast_convert", {narrow}, {{"dtype", dtype_}});
  }

  Var state_;
  Shape shape_;
  bool wide_;
  DType dtype_;
};

// ---- the operators ----------------------------------------------------------------------------

Values rng_bit_generator(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 1);
  if (op.result_types.size() != 2) refuse(op.at, "`stablehlo.rng_bit_generator` has two results");
  std::string algorithm = word(op, "rng_algorithm");
  const TensorType& drawn = op.result_types[1];
  const bool good = x[0].dtype() == DType::ui64 && (x[0].shape() == Shape{2} || x[0].shape() == Shape{3});
  if (algorithm == "DEFAULT") algorithm = good ? "PHILOX" : "THREE_FRY";  // what XLA takes on a CPU
  if (algorithm == "PHILOX") {
    if (!good || is_bool(drawn.dtype)) refuse(op.at, "a state of PHILOX is 2 or 3 numbers of type ui64");
    return Philox(x[0], drawn.shape, drawn.dtype).results();
  }
  return in.record("rng_bit_generator", x,
                   {{"rng_algorithm", algorithm}, {"dtype", drawn.dtype}, {"shape", drawn.shape}});
}

// Uniform in [0, 1): as many bits as the mantissa has.
Var uniform(Importer& in, const Operation& op, DType t, const Shape& shape) {
  if (!in.at_top())
    refuse(op.at, "`stablehlo.rng` in a region is not supported: it would draw the same numbers each time",
           {"i `stablehlo.rng_bit_generator` has a state to carry along."});
  bool wide = t == DType::f64;
  Var state = literal(in.graph(), Scalar(in.graph().calls.size()), {DType::ui64, {2}});
  Var bits = in.var(in.record(
      "rng_bit_generator", {state},
      {{"rng_algorithm", std::string("THREE_FRY")}, {"dtype", wide ? DType::ui64 : DType::ui32}, {"shape", shape}})[1]);
  return convert(shifted_right(bits, wide ? 11 : 8), t) * (wide ? 0x1p-53 : 0x1p-24);
}

// Numbers without a state that a program could see: a sequence of its own for each operation,
// the same at each run.
Values rng(Importer& in, const Operation& op, const Vars& x) {
  need_operands(op, 3);
  const TensorType& t = result_type(op);
  for (size_t k : {0, 1}) check_type(op.at, "operand of `stablehlo.rng`", x[k].type(), {t.dtype, {}});
  if (!is_integer(x[2].dtype()) || x[2].shape() != Shape{static_cast<int64_t>(t.shape.size())})
    refuse(op.at, "the shape of `stablehlo.rng` should be a list of integers, one for each dimension of the result");
  const graph::Value& sizes = *x[2].value;
  bool is_splat = sizes.kind == graph::Value::Kind::literal, is_list = sizes.kind == graph::Value::Kind::constant;
  for (size_t d = 0; d < t.shape.size() && (is_splat || is_list); ++d) {
    Scalar size = is_splat ? sizes.literal : graph::element(sizes.constant, static_cast<int64_t>(d));
    if (size.as<int64_t>() != t.shape[d]) refuse(op.at, "the shape of `stablehlo.rng` is not that of the result");
  }
  std::string distribution = word(op, "rng_distribution");
  if (!is_float(t.dtype)) refuse(op.at, "`stablehlo.rng` of " + std::string(name(t.dtype)) + " is not supported");
  Var u = uniform(in, op, t.dtype, t.shape), a = broadcast_to_like(x[0], u), b = broadcast_to_like(x[1], u);
  if (distribution == "UNIFORM") return {(a + (b - a) * u).value};
  if (distribution != "NORMAL")
    refuse(op.at, "`" + distribution + "` is no distribution; there are UNIFORM and NORMAL");
  // by the inverse of the distribution, of the middles between the numbers that u can be: all exact
  Var middle = (u * 2.0 - 1.0) + (t.dtype == DType::f64 ? 0x1p-53 : 0x1p-24);
  Var normal = record("erf_inv", {middle}) * std::sqrt(2.0);
  return {(a + b * normal).value};
}

}  // namespace

void add_random_rules(Rules& rules) {
  add(rules, "stablehlo.rng_bit_generator", rng_bit_generator);
  add(rules, "stablehlo.rng", rng);
}

}  // namespace anvil::stablehlo
