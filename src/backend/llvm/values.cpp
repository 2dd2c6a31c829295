// Expressions: where each is placed, and its instructions.
//
// Of a vector that depends on i >> 1 alone, as the blocks of random bits do, two neighbours are equal wherever
// steps start at even numbers: it is computed with half as many lanes, and doubled where others need it.
#include <algorithm>
#include <utility>

#include "backend/llvm/emitter.h"
#include "base/error.h"
#include "loops/lanes.h"

namespace anvil::llvm_backend {

using loops::Op;
using loops::Term;

namespace {

// Where splats of a value are remembered: loops differ in their number of lanes.
int splat_key(int coordinate, int lanes) { return coordinate + (lanes << 20); }

}  // namespace

void Emitter::depends(Info& in, const Affine& a) {
  for (const Term& t : a.terms) {
    const VariableState& v = variable_state(t.variable);
    in.level = std::max(in.level, v.level);
    in.axes |= v.axes;
    in.lanes |= v.lanes;
    in.changed = std::max(in.changed, v.changed);
    if (program_.variables[size_t(t.variable)].parameter)
      for (int s = int(scopes_.size()) - 1; s > in.level; --s)
        if (scopes_[size_t(s)].statement && facts(scopes_[size_t(s)]).bound.count(t.variable)) in.level = s;
  }
}

Emitter::Info Emitter::info(Expr e) {
  const auto known = infos_.find(e);
  if (known != infos_.end()) return known->second;
  Info in;
  const auto changing = [&](auto&& changes) {
    for (int s = int(scopes_.size()) - 1; s > in.level; --s)
      if (scopes_[size_t(s)].statement && changes(facts(scopes_[size_t(s)]))) {
        in.level = s;
        return;
      }
  };
  for (const Affine& a : e->place) depends(in, a);
  if (e->op == Op::load) {
    const BufferId b = analysis_.root(e->buffer);
    changing([&](const Facts& f) { return f.changed.count(b) > 0; });
    in.changed = std::max(in.changed, buffer_changed_[b]);
  } else if (e->op == Op::local) {
    const LocalState& l = local_state(e->local);
    in = l;
    if (!l.constant) changing([&](const Facts& f) { return f.updated.count(e->local) > 0; });
  }
  for (int i = 0; i < e->argument_count(); ++i) {
    const Info a = info(e->args[size_t(i)]);
    in.level = std::max(in.level, a.level);
    in.axes |= a.axes;
    in.lanes |= a.lanes;
    in.changed = std::max(in.changed, a.changed);
  }
  in.pairs = in.lanes && pairwise(e);
  return infos_[e] = in;
}

// i + 2j + ..., i the vector loop
bool Emitter::alternates(const Affine& a) {
  return std::all_of(a.terms.begin(), a.terms.end(), [this](const Term& t) {
    const VariableState& v = variable_state(t.variable);
    return v.lanes ? v.axis == vector_axis_ && v.even && t.factor == 1 : t.factor % 2 == 0;
  });
}
bool Emitter::half_of_even_index(Expr e) {
  const Affine* const a = loops::halved_index(e);
  return a && lanes() >= 4 && alternates(*a) && range(*a).first >= 0;
}

bool Emitter::pairwise(Expr e) {
  if (half_of_even_index(e)) return true;
  for (int i = 0; i < e->argument_count(); ++i)
    if (const Info a = info(e->args[size_t(i)]); a.lanes && !a.pairs) return false;
  return e->argument_count() > 0;
}

int Emitter::project(AxisMask axes, const Coordinate& c) const {
  int index = 0;
  for (size_t i = 0; i < axes_.size(); ++i)
    if (axes >> i & 1) index = index * axes_[i].radix + c[i];
  return index;
}

Emitter::Value Emitter::remembered(const void* key, int coordinate, const Info& in) const {
  for (int s = in.level; s <= home(in.level); ++s) {
    const auto& values = scopes_[size_t(s)].values;
    const auto found = values.find({key, coordinate});
    if (found != values.end() && found->second.time >= in.changed) return found->second.value;
  }
  return nullptr;
}

Emitter::Value Emitter::remember(const void* key, int coordinate, int level, Value v) {
  scopes_[size_t(level)].values[{key, coordinate}] = {v, time_};
  return v;
}

Emitter::Value Emitter::value(Expr e, const Coordinate& c) {
  if (e->op == Op::constant) return ops_.constant(e->constant, e->dtype);
  const Info in = info(e);
  const int key = project(in.axes, c);
  if (e->op == Op::local) {
    const LocalState& l = local_state(e->local);
    if (l.constant) return l.values[size_t(key)];
  }
  if (reloads(e)) return reloaded(e, key, c, in, 1);
  if (Value v = remembered(e, key, in)) return v;
  const int level = home(in.level);
  if (load_together(e, c, in, level)) return remembered(e, key, in);
  if (!in.pairs) return remember(e, key, level, make(e, c, in, level, lanes(in)));
  Value once = half(e, c, in);
  const At at(*this, level);
  llvm::SmallVector<int, 64> twice;
  for (int l = 0; l < lanes(); ++l) twice.push_back(l / 2);
  return remember(e, key, level, b_.CreateShuffleVector(once, twice));
}

Emitter::Value Emitter::half(Expr e, const Coordinate& c, const Info& in) {
  const int key = splat_key(project(in.axes, c), lanes() / 2), level = home(in.level);
  if (Value v = remembered(e, key, in)) return v;
  if (!half_of_even_index(e)) return remember(e, key, level, make(e, c, in, level, lanes() / 2));
  const At at(*this, level);
  Value first = b_.CreateLShr(first_index(*loops::halved_index(e), c), i64(1));
  return remember(e, key, level, b_.CreateAdd(ops_.splat(first, lanes() / 2), ramp(DType::i64, lanes() / 2, 1)));
}

// In a long block a load is repeated after a while, unless it is for a place in front of the
// block: the register allocator takes quadratic time for a value with many uses among calls.
bool Emitter::reloads(Expr e) const {
  return long_block_ && e->op == Op::load && (consumer_ < 0 || consumer_ + 1 == int(scopes_.size()));
}
Emitter::Value Emitter::reloaded(Expr e, int key, const Coordinate& c, const Info& in, int splat) {
  constexpr uint64_t young = 40;  // values
  ++made_;
  Recent& recent = recent_[{e, key}];
  if (!recent.value || recent.block != b_.GetInsertBlock() || recent.time < in.changed || made_ - recent.made > young) {
    Value v = make(e, c, in, int(scopes_.size()) - 1, lanes(in));
    recent = {splat > 1 ? ops_.splat(v, splat) : v, b_.GetInsertBlock(), time_, made_};
  }
  return recent.value;
}

Emitter::Value Emitter::spread(Expr e, const Coordinate& c, int n) {
  if (n == 1) return value(e, c);
  if (e->op == Op::constant) return ops_.constant(e->constant, e->dtype, n);
  const Info in = info(e);
  if (in.lanes) return n < lanes() ? half(e, c, in) : value(e, c);
  const int key = splat_key(project(in.axes, c), n);
  if (reloads(e)) return reloaded(e, key, c, in, n);
  if (Value v = remembered(e, key, in)) return v;
  const int level = home(in.level);
  const int outer = std::exchange(consumer_, level);
  Value scalar = value(e, c);
  consumer_ = outer;
  const At at(*this, level);
  return remember(e, key, level, ops_.splat(scalar, n));
}

Emitter::Value Emitter::make(Expr e, const Coordinate& c, const Info& in, int level, int width) {
  std::array<Value, 3> a = {};
  const int n = e->argument_count();
  const bool shortcut = e->op == Op::convert && e->args[0]->op == Op::index;
  if (const Affine* parity = loops::index_with_one(Op::bit_and, e); parity && in.lanes && alternates(*parity))
    return b_.CreateAnd(ramp(DType::i64, width, 1, parity->constant), ops_.constant(Scalar(1), DType::i64, width));
  const int outer = std::exchange(consumer_, level);
  for (int i = 0; i < n && !shortcut; ++i) a[size_t(i)] = spread(e->args[size_t(i)], c, width);
  consumer_ = outer;
  const DType t = n > 0 ? e->args[0]->dtype : e->dtype;
  const At at(*this, level);
  switch (e->op) {
    case Op::load: return load(e->buffer, e->dtype, e->place, c, in);
    case Op::index: return index_value(e->place[0], e->dtype, c, in);
    case Op::local: {
      const LocalState& l = local_state(e->local);
      return b_.CreateLoad(ops_.type(e->dtype, width), l.values[size_t(project(in.axes, c))],
                           program_.locals[size_t(e->local)].name);
    }
    case Op::convert:
      if (shortcut) return index_value(e->args[0]->place[0], e->dtype, c, in);
      return ops_.convert(a[0], t, e->dtype);
    case Op::bitcast: return ops_.bitcast(a[0], t, e->dtype);
    case Op::select: return b_.CreateSelect(a[0], a[1], a[2]);
    case Op::fma: return ops_.fma(t, a[0], a[1], a[2]);
    case Op::function: return function(e->name, t, {a.data(), size_t(n)});
    case Op::power: return is_float(t) ? function("pow", t, {a.data(), 2}) : power(t, a[0], a[1]);
    case Op::remainder:
      if (is_float(t)) return function("fmod", t, {a.data(), 2});
      break;
    default: break;
  }
  return n == 1 ? ops_.unary(e->op, t, a[0]) : ops_.binary(e->op, t, a[0], a[1]);
}

// The smallest and the largest value of an index.
std::pair<int64_t, int64_t> Emitter::range(const Affine& a) {
  int64_t low = a.constant, high = a.constant;
  for (const Term& t : a.terms) {
    const VariableState& v = variable_state(t.variable);
    const int64_t first = v.low, last = v.high;
    low += t.factor * (t.factor > 0 ? first : last);
    high += t.factor * (t.factor > 0 ? last : first);
  }
  return {low, high};
}

// Of the first lane, without the terms of parameters that differ by lane.
Emitter::Value Emitter::first_index(const Affine& a, const Coordinate& c) {
  Value sum = i64(a.constant);
  for (const Term& term : a.terms) {
    const VariableState& v = variable_state(term.variable);
    if (v.axis < 0 && v.lanes) continue;
    Value number = v.values.empty() ? v.start : v.values[size_t(project(v.axes, c))];
    if (v.axis >= 0) number = b_.CreateAdd(number, i64(int64_t(c[size_t(v.axis)]) * axes_[size_t(v.axis)].width));
    sum = b_.CreateAdd(sum, b_.CreateMul(number, i64(term.factor)));
  }
  return sum;
}
llvm::Constant* Emitter::ramp(DType t, int n, int64_t step, int64_t first) {
  llvm::SmallVector<llvm::Constant*, 64> steps;
  for (int l = 0; l < n; ++l) steps.push_back(llvm::ConstantInt::get(ops_.type(t), uint64_t(first + l * step)));
  return llvm::ConstantVector::get(steps);
}

// An index as a number of any dtype. Floats are made from the narrowest integers that hold
// the index: few processors convert vectors of 64-bit integers.
Emitter::Value Emitter::index_value(const Affine& a, DType to, const Coordinate& c, const Info& in) {
  DType t = to;
  if (is_float(to)) {
    const auto [low, high] = range(a);
    t = low >= INT32_MIN && high <= INT32_MAX ? DType::i32 : DType::i64;
  } else if (!is_integer(to)) {
    t = DType::i64;
  }
  const int n = in.lanes ? lanes() : 1;
  Value varying = nullptr;
  const auto vary = [&](Value by) { varying = varying ? b_.CreateAdd(varying, by) : by; };
  for (const Term& term : a.terms) {
    const VariableState& v = variable_state(term.variable);
    if (v.axis >= 0 && axes_[size_t(v.axis)].width > 1)
      vary(ramp(t, axes_[size_t(v.axis)].width, term.factor));
    else if (v.axis < 0 && v.lanes)
      vary(b_.CreateTrunc(
          b_.CreateMul(v.values[size_t(project(v.axes, c))], ops_.constant(Scalar(term.factor), DType::i64, n)),
          ops_.type(t, n)));
  }
  Value same = first_index(a, c);
  Value number = b_.CreateTrunc(same, ops_.type(t));
  if (n > 1) number = ops_.splat(number, n);
  if (varying) number = b_.CreateAdd(number, varying);
  return is_float(to) || !is_integer(to) ? ops_.convert(number, t, to) : number;
}

}  // namespace anvil::llvm_backend
