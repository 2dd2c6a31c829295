// Random programs: their inputs, values and elementwise steps, and what the drawing rules of the
// structured primitives share.
#include "support/random_program.h"

#include <algorithm>

#include "support/regions.h"

namespace anvil::test {
namespace {
// In text it is a call of ours, which no other reader knows.
bool written_as_ours(const primitives::Primitive& p) { return p.hlo.op.starts_with("custom_call @anvil."); }
}  // namespace

RandomProgram::RandomProgram(uint64_t seed, Options options) : random_(seed), options_(options) {
  int count = 1 + below(3);
  for (int i = 0; i < count; ++i) {
    TensorType type{any_dtype(), any_shape(), false};
    graph.inputs.push_back(graph::make_value(Value::Kind::input, type));
    inputs.push_back(any_tensor(type));
    pool_.push_back({&graph, graph.inputs.back()});
  }
  for (int k = 0; k < options_.calls;) k += step(0);
  // the last values, so that chains fuse, and one from anywhere
  for (int k = 0; k < 2 && k < static_cast<int>(pool_.size()); ++k)
    graph.outputs.push_back(pool_[pool_.size() - 1 - static_cast<size_t>(k)].value);
  graph.outputs.push_back(any().value);
}

std::set<std::string> RandomProgram::structured() {
  std::set<std::string> names;
  for (const auto& [name, rule] : rules()) names.insert(name);
  return names;
}

const RandomProgram::Rules& RandomProgram::rules() {
  static const Rules table = [] {
    Rules all;
    for (auto add : {add_elements, add_windows, add_structured, add_factorisations}) add(all);
    return all;
  }();
  return table;
}

DType RandomProgram::any_dtype() {
  const DType t = options_.float_only ? DType::f64 : drawn_dtype();
  return is_float(t) ? options_.floats.value_or(t) : t;
}

DType RandomProgram::drawn_dtype() {
  static const DType list[] = {DType::f32,  DType::f32,  DType::f64,  DType::f64,    DType::i32,
                               DType::i32,  DType::i64,  DType::i8,   DType::i16,    DType::ui8,
                               DType::ui16, DType::ui32, DType::ui64, DType::boolean};
  const int pick = below(options_.exportable ? 14 : 16);  // other programs round small floats more seldom
  if (pick < 14) return list[pick];
  std::vector<DType> small;
  for (size_t i = 0; i < descriptors.size(); ++i)
    if (is_small(static_cast<DType>(i))) small.push_back(static_cast<DType>(i));
  return small[static_cast<size_t>(below(static_cast<int>(small.size())))];
}

Shape RandomProgram::any_shape() {
  static const int64_t sizes[] = {0, 1, 1, 2, 3, 4, 5, 7, 2, 3, 8, 16, 17, 31, 33};
  Shape s(static_cast<size_t>(std::min(below(5), below(5))));
  for (auto& d : s) d = options_.float_only ? 1 + below(3) : sizes[below(15)];
  while (elements(s) > 600) *std::max_element(s.begin(), s.end()) = 2;
  return s;
}

// Small multiples of 1/4 make sums exact; the rest is ordinary, some of it special.
Tensor RandomProgram::any_tensor(const TensorType& type) {
  Tensor t = graph::allocate(type);
  bool exact = chance(50), special = !options_.float_only && !options_.exportable && chance(15);
  static const double specials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e-310, 1e30, -1e30, 0.5, 1};
  for (int64_t i = 0; i < elements(type.shape); ++i) {
    double x = exact ? 0.25 * (below(33) - 16) : std::uniform_real_distribution<double>(-2, 2)(random_);
    if (options_.float_only) x = std::uniform_real_distribution<double>(0.3, 1.7)(random_);
    if (special && chance(30)) x = specials[below(10)];
    if (is_float(type.dtype))
      graph::set_element(t, i, Scalar(x));
    else if (is_bool(type.dtype))
      graph::set_element(t, i, Scalar(chance(50)));
    else if (special && chance(30))
      graph::set_element(t, i, chance(50) ? lowest(type.dtype) : highest(type.dtype));
    else
      graph::set_element(t, i, Scalar(is_unsigned_integer(type.dtype) ? below(9) : below(17) - 8));
  }
  return t;
}

Var RandomProgram::any() {
  size_t n = pool_.size();
  if (n > 6 && chance(70)) return pool_[n - 1 - static_cast<size_t>(below(6))];
  return pool_[static_cast<size_t>(below(static_cast<int>(n)))];
}

Var RandomProgram::like(Var x) {
  std::vector<Var> same;
  for (Var v : pool_)
    if (same_type(v.type(), x.type())) same.push_back(v);
  if (!same.empty() && chance(80))
    return {x.graph, same[static_cast<size_t>(below(static_cast<int>(same.size())))].value};
  return primitives::literal(x, is_float(x.dtype()) ? Scalar(0.5 * (1 + below(4))) : Scalar(1 + below(2)));
}

void RandomProgram::keep(Var v) {
  if (elements(v.shape()) <= 4000) pool_.push_back(v);
}

int RandomProgram::step(int depth) {
  if (chance(60)) return elementwise() ? 1 : 0;
  const auto& list = rules();
  auto it = list.begin();
  std::advance(it, below(static_cast<int>(list.size())));
  if (depth > 0 && (it->first == "while" || it->first == "if" || it->first == "case")) return 0;
  return it->second(*this) ? 1 : 0;
}

bool RandomProgram::elementwise() {
  auto all = primitives::registry().all();
  // of checkpoints random_loops.h has programs
  std::erase_if(all, [](const primitives::Primitive* p) { return p->control == primitives::Control::once; });
  const primitives::Primitive* p = all[static_cast<size_t>(below(static_cast<int>(all.size())))];
  if (!p->elementwise || !p->parameters.empty() || p->operands.size() > 2) return false;
  if (p->domain[0].low == p->domain[0].high) return false;  // takes a number, not any operand
  if (options_.float_only && p->zero_derivative) return false;
  Var x = any();
  if (!contains(p->group, x.dtype())) return false;
  if (options_.exportable && written_as_ours(*p)) return false;
  // XLA takes integer powers modulo 64 in the exponent
  if (options_.exportable && p->name == "power" && !is_float(x.dtype())) return false;
  std::vector<Var> operands = {into_domain(x, p->domain.at(0))};
  if (p->operands.size() == 2)
    operands.push_back(into_domain(like(x), p->domain.size() > 1 ? p->domain[1] : p->domain[0]));
  keep(primitives::record(p->name.c_str(), operands));
  return true;
}

// Floats are drawn into the primitive's interval by a smooth map, most of the time.
Var RandomProgram::into_domain(Var x, primitives::Domain d) {
  if (!is_float(x.dtype()) || (!options_.float_only && chance(20))) return x;
  double low = std::max(d.low, -4.0), high = std::min(d.high, 4.0);
  if (low <= -4 && high >= 4 && !options_.float_only) return x;
  double middle = 0.5 * (low + high), half = 0.45 * (high - low);
  return primitives::record("tanh", {x * 0.25}) * half + middle;
}

std::vector<int64_t> RandomProgram::some_dims(size_t rank) {
  std::vector<int64_t> dims;
  for (size_t d = 0; d < rank; ++d)
    if (chance(50)) dims.push_back(static_cast<int64_t>(d));
  return dims;
}

std::vector<int64_t> RandomProgram::permutation(size_t rank) {
  std::vector<int64_t> p(rank);
  for (size_t d = 0; d < rank; ++d) p[d] = static_cast<int64_t>(d);
  std::shuffle(p.begin(), p.end(), random_);
  return p;
}

Var RandomProgram::start(Var x, int64_t size) {
  return primitives::literal(*x.graph, Scalar(below(static_cast<int>(size) + 2) - 1), {DType::i32, {}, false});
}

std::optional<RandomProgram::Indexed> RandomProgram::indexed(Var x, bool whole) {
  const Shape& shape = x.shape();
  if (shape.size() > 3 || (shape.empty() && options_.exportable) || elements(shape) == 0 || elements(shape) > 600)
    return std::nullopt;
  auto draw = [this](int n) { return below(n); };
  RandomIndex index(shape, draw);
  if (elements(index.indices) < 2 || elements(index.indices) > 200) return std::nullopt;
  static const DType kinds[] = {DType::i32, DType::i32, DType::i64, DType::ui8, DType::ui32, DType::i16};
  Tensor places = index.values(kinds[below(6)], shape, draw, whole);
  int64_t other = 1;  // all equal: text reads back as a literal
  while (other < elements(index.indices) && element(places, other) == element(places, 0)) ++other;
  if (other == elements(index.indices)) return std::nullopt;
  graph.constants.push_back(graph::make_constant(places));
  return Indexed{index, {&graph, graph.constants.back()}};
}

const char* RandomProgram::any_combiner(DType t) {
  // the last of these has no rule of its own: its gradient is that of rounds
  static const char* floats[] = {"add", "mul", "", "sub", "maximum", "minimum", "atan2"};
  static const char* bits[] = {"and", "or", "xor", ""};
  return is_bool(t) ? bits[below(4)] : floats[below(options_.float_only && is_float(t) ? 7 : 6)];
}

Var RandomProgram::order_key(Var x) {
  if (!is_float(x.dtype())) return x;
  if (options_.float_only) return x + 0.618 * primitives::iota(graph, 0, x.dtype(), x.shape());
  Var rounded = primitives::round(x);
  return primitives::select(rounded != rounded, primitives::literal(x, Scalar(NAN)), rounded);
}

Params RandomProgram::any_window(const Shape& shape, bool dilated) {
  Ints size, stride, base, dilation, low, high;
  for (int64_t n : shape) {
    size.push_back(1 + below(n > 4 ? 4 : 2));
    stride.push_back(1 + below(2));
    base.push_back(chance(20) ? 2 : 1);
    dilation.push_back(chance(20) ? 2 : 1);
    low.push_back(below(2));
    high.push_back(below(3) - (n > 3 ? 1 : 0));
  }
  Params window{{"window_dimensions", size}, {"window_strides", stride}};
  if (dilated) {
    window.items.push_back({"base_dilations", base});
    window.items.push_back({"window_dilations", dilation});
  }
  window.items.push_back({"padding_low", low});
  window.items.push_back({"padding_high", high});
  return window;
}

void RandomProgram::fold(const char* primitive, Var x, Params params) {
  auto scalar = [&](Scalar value, DType t) { return primitives::literal(graph, value, {t, {}}); };
  DType t = x.dtype();
  if (!options_.float_only && !x.shape().empty() && chance(50)) {
    Var place = primitives::iota(graph, 0, DType::i32, x.shape());
    params.items.push_back({"body", first_largest(t, DType::i32)});
    for (Var v : call(primitive, {x, place, scalar(lowest(t), t), scalar(-1, DType::i32)}, params)) keep(v);
    return;
  }
  graph::GraphPtr body =
      is_float(t)
          ? region({t, t}, [](const std::vector<Var>& v) { return std::vector<Var>{v[0] + v[1] + v[0] * v[1] * 0.5}; })
          : operation("xor", t);
  params.items.push_back({"body", body});
  Var bounded = is_float(t) ? primitives::record("tanh", {x * 0.5}) * 0.25 : x;
  keep(call(primitive, {bounded, scalar(0, t)}, params)[0]);
}

Var RandomProgram::spread_scalar(Var x) {
  std::vector<int64_t> all;
  for (size_t d = 0; d < x.shape().size(); ++d) all.push_back(static_cast<int64_t>(d));
  return options_.float_only ? primitives::reduce_sum(x, all) : primitives::reduce_max(x, all);
}

bool RandomProgram::reduction(const char* name) {
  Var x = any();
  const auto& p = primitives::registry().at(name);
  if (!contains(p.group, x.dtype()) ||
      (options_.exportable && is_bool(x.dtype()) && std::string(name) == "reduce_prod"))
    return false;
  // where a product over- or underflows half-way depends on its order
  if (std::string(name) == "reduce_prod" && is_float(x.dtype()) && !options_.float_only)
    x = primitives::record("tanh", {x}) + 0.5;
  auto dims = some_dims(x.shape().size());
  if (options_.exportable && is_bool(x.dtype()) && dims.empty()) return false;
  keep(primitives::record(name, {x}, {{"dims", dims, true}, {"drop", chance(50)}}));
  return true;
}

}  // namespace anvil::test
