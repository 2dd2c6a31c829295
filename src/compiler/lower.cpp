// Buffers and nests of lowering; see lower.h.
#include "compiler/lower.h"

#include <algorithm>
#include <optional>

#include "compiler/passes.h"
#include "compiler/traverse.h"
#include "primitives/vocabulary/composite.h"

namespace anvil::compiler {

using loops::Buffer;

loops::Program lower(const Graph& g) { return Lowerer().run(*primitives::expand(g, primitives::Reader::lowering)); }

loops::Program Lowerer::run(const Graph& g) {
  block_ = &program_.body;
  program_.inputs = static_cast<int>(g.inputs.size());
  program_.constants = static_cast<int>(g.constants.size());
  program_.outputs = static_cast<int>(g.outputs.size());
  std::vector<BufferId> targets;
  for (size_t i = 0; i < g.inputs.size(); ++i)
    places_[g.inputs[i].get()] = make_buffer(Buffer::Kind::input, g.inputs[i]->type, static_cast<int>(i));
  for (size_t i = 0; i < g.constants.size(); ++i)
    places_[g.constants[i].get()] = make_buffer(Buffer::Kind::constant, g.constants[i]->type, static_cast<int>(i));
  for (size_t i = 0; i < g.outputs.size(); ++i)
    targets.push_back(make_buffer(Buffer::Kind::output, g.outputs[i]->type, static_cast<int>(i)));
  open_region(g, {});
  lower_calls(g, targets);
  copy_outputs(g, targets);
  close_region();
  return std::move(program_);
}

// ---- buffers ------------------------------------------------------------------------------

BufferId Lowerer::make_buffer(Buffer::Kind kind, const graph::TensorType& type, int position) {
  Buffer b;
  b.kind = kind;
  b.dtype = type.dtype;
  b.shape = type.shape;
  b.position = position;
  constexpr const char* prefixes[] = {"x", "c", "out", "t"};
  b.name = prefixes[static_cast<size_t>(kind)] +
           std::to_string(kind == Buffer::Kind::temporary ? ++temporaries_ : position + 1);
  program_.buffers.push_back(std::move(b));
  owners_.push_back({kind == Buffer::Kind::temporary && !regions_.empty() ? regions_.back().id : -1, -1});
  return static_cast<BufferId>(program_.buffers.size()) - 1;
}

BufferId Lowerer::root(BufferId b) const {
  BufferId up = program_.buffers[static_cast<size_t>(b)].alias;
  return up < 0 ? b : up;
}

void Lowerer::place(const ValuePtr& v, BufferId b) {
  places_[v.get()] = b;
  Ownership& owner = owners_[static_cast<size_t>(root(b))];
  auto use = regions_.back().last_use.find(v.get());
  int last = use == regions_.back().last_use.end() ? -1 : use->second;
  owner.last_use = std::max(owner.last_use, last);
}

void Lowerer::bind(const ValuePtr& v, BufferId b) {
  auto target = regions_.back().targets.find(v.get());
  place(v, b);
  if (target == regions_.back().targets.end() || target->second == b) return;
  copy(target->second, v);
  place(v, target->second);
}

BufferId Lowerer::result_buffer(const ValuePtr& v) {
  auto target = regions_.back().targets.find(v.get());
  BufferId b = target != regions_.back().targets.end() ? target->second : make_buffer(Buffer::Kind::temporary, v->type);
  place(v, b);
  return b;
}

BufferId Lowerer::buffer_of(const ValuePtr& v) {
  if (v->kind == Value::Kind::literal) {
    BufferId b = make_buffer(Buffer::Kind::temporary, v->type);
    copy(b, v);
    return b;
  }
  auto it = places_.find(v.get());
  if (it == places_.end()) throw InternalError("lower: a value has no buffer");
  return it->second;
}

Expr Lowerer::load(const ValuePtr& v, const Index& at) {
  const DType t = v->type.dtype;
  if (v->kind == Value::Kind::literal) return primitives::widened(exprs(), rule_, exprs().constant(v->literal, t));
  Index place = at;
  for (size_t d = 0; d < place.size(); ++d)
    if (v->type.shape[d] == 1) place[d] = {};
  return primitives::widened(exprs(), rule_, exprs().load(buffer_of(v), t, std::move(place)));
}

Stmt Lowerer::stored(BufferId to, Index place, Expr value) {
  const DType t = program_.buffers[static_cast<size_t>(to)].dtype;
  return {loops::Store{to, std::move(place), primitives::narrowed(exprs(), value, t)}};
}

bool Lowerer::dead_after_this_call(const ValuePtr& v) const {
  auto it = places_.find(v.get());
  if (it == places_.end()) return false;
  const Ownership& owner = owners_[static_cast<size_t>(root(it->second))];
  return owner.region == regions_.back().id && owner.last_use <= regions_.back().position;
}

// ---- nests --------------------------------------------------------------------------------

static Variable shared_variable(loops::Program& p, std::vector<Variable>& known, size_t d, const char* letters) {
  constexpr size_t count = 6;
  while (known.size() <= d) {
    std::string name(1, letters[known.size() % count]);
    if (known.size() >= count) name += std::to_string(known.size() / count + 1);
    p.variables.push_back({name, false, 0, 0});
    known.push_back(static_cast<Variable>(p.variables.size()) - 1);
  }
  return known[d];
}
Variable Lowerer::dimension(size_t d) { return shared_variable(program_, dimensions_, d, "ijklmn"); }
Variable Lowerer::reduced(size_t d) { return shared_variable(program_, reduced_, d, "pqrstu"); }

Index Lowerer::index(const Shape& shape, Variable (Lowerer::*variable)(size_t)) {
  Index at(shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1) at[d] = loops::variable((this->*variable)(d));
  return at;
}

void Lowerer::emit(Block statements) {
  for (Stmt& s : statements) block_->push_back(std::move(s));
}

// Takes the parameters out of a loop's body that do not depend on its variable.
static Block fixed_parameters(Block& body, Variable variable) {
  std::unordered_set<Variable> moving = {variable};
  auto moves = [&](Expr value) {
    bool found = false;
    each_node(value, [&](Expr e) {
      found = found || e->op == Op::local;
      for (const Affine& a : e->place)
        for (const loops::Term& t : a.terms) found = found || moving.count(t.variable) > 0;
    });
    return found;
  };
  Block fixed, rest;
  for (Stmt& s : body) {
    auto bind = std::get_if<loops::Bind>(&s.is);
    if (bind && moves(bind->value)) moving.insert(bind->parameter), bind = nullptr;
    (bind ? fixed : rest).push_back(std::move(s));
  }
  body = std::move(rest);
  return fixed;
}

void Lowerer::nest(const Shape& shape, Variable (Lowerer::*variable)(size_t), Block body) {
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1) continue;
    loops::For loop;
    loop.variable = (this->*variable)(d);
    loop.end = shape[d];
    loop.body = std::move(body);
    body = fixed_parameters(loop.body, loop.variable);
    body.push_back({std::move(loop)});
  }
  emit(std::move(body));
}

Expr Lowerer::evaluate(const std::function<Expr()>& make, Block& body) {
  Block* outer = std::exchange(parameters_, &body);
  Expr e = make();
  parameters_ = outer;
  return e;
}

void Lowerer::store_box(BufferId to, const Part& part) {
  if (elements(part.extents) == 0) return;
  Index i = index(part.extents, &Lowerer::dimension);
  Block body;
  Expr value = evaluate([&] { return part.element(i); }, body);
  body.push_back(stored(to, part.place(i), value));
  nest(part.extents, &Lowerer::dimension, std::move(body));
}

static Index unchanged(const Index& i) { return i; }

void Lowerer::copy(BufferId to, const ValuePtr& from) {
  store_box(to, {from->type.shape, unchanged, [&](const Index& i) { return load(from, i); }});
}

void Lowerer::map(const ValuePtr& result, std::function<Expr(const Index&)> element) {
  store_box(result_buffer(result), {result->type.shape, unchanged, std::move(element)});
}

static bool is_identity(Op op, Scalar x, DType t) {
  switch (op) {
    case Op::add: return x == Scalar(is_float(t) ? Scalar(-0.0) : Scalar(0)).rounded_to(t);
    case Op::bit_or: return x == Scalar(0).rounded_to(t);
    case Op::mul: return x == Scalar(1).rounded_to(t);
    case Op::maximum: return x == lowest(t).rounded_to(t);
    case Op::minimum: return x == highest(t).rounded_to(t);
    default: return false;
  }
}

void Lowerer::reduce(const ValuePtr& result, const Shape& extents, Op op, Scalar initial,
                     std::function<Expr(const Index&, const Index&)> element) {
  const Shape& shape = result->type.shape;
  if (elements(extents) == 1) {
    const DType t = compute_type(result->type.dtype);
    const bool identity = is_identity(op, initial.rounded_to(t), t);
    return map(result, [&](const Index& o) {
      Expr only = element(o, Index(extents.size()));
      return identity ? only : exprs().binary(op, exprs().constant(initial, t), only);
    });
  }
  BufferId to = result_buffer(result);
  if (elements(shape) == 0) return;
  Index o = index(shape, &Lowerer::dimension), r = index(extents, &Lowerer::reduced);
  DType dtype = compute_type(result->type.dtype);
  const loops::LocalId sum = make_local(program_, dtype);
  Block body;
  Block* outer = std::exchange(block_, &body);
  emit({loops::Declare{sum, exprs().constant(initial, dtype)}});
  if (elements(extents) > 0) {
    Block inner;
    Expr value = evaluate([&] { return element(o, r); }, inner);
    inner.push_back({loops::Update{sum, op, value}});
    nest(extents, &Lowerer::reduced, std::move(inner));
  }
  emit(stored(to, o, exprs().local(sum, dtype)));
  block_ = outer;
  nest(shape, &Lowerer::dimension, std::move(body));
}

void Lowerer::scan(const ValuePtr& result, int64_t axis, Op op, Scalar initial,
                   std::function<Expr(const Index&)> element) {
  const Shape& shape = result->type.shape;
  BufferId to = result_buffer(result);
  if (elements(shape) == 0) return;
  Index i = index(shape, &Lowerer::dimension);
  DType dtype = compute_type(result->type.dtype);
  const loops::LocalId sum = make_local(program_, dtype);
  Block step, body;
  Expr value = evaluate([&] { return element(i); }, step);
  step.push_back({loops::Update{sum, op, value}});
  step.push_back(stored(to, i, exprs().local(sum, dtype)));
  body.push_back({loops::Declare{sum, exprs().constant(initial, dtype)}});
  Shape others = shape, along(shape.size(), 1);
  std::swap(others[static_cast<size_t>(axis)], along[static_cast<size_t>(axis)]);
  Block* outer = std::exchange(block_, &body);
  nest(along, &Lowerer::dimension, std::move(step));
  block_ = outer;
  nest(others, &Lowerer::dimension, std::move(body));
}

// ---- parameters and functions ----------------------------------------------------------------

// The value of an i64 expression of constants, as far as starts of slices need it.
static std::optional<int64_t> known_value(Expr e) {
  if (e->dtype != DType::i64) return std::nullopt;
  if (e->op == Op::constant) return e->constant.as<int64_t>();
  if (e->argument_count() != 2) return std::nullopt;
  auto a = known_value(e->args[0]), b = known_value(e->args[1]);
  if (!a || !b) return std::nullopt;
  if (e->op == Op::minimum) return std::min(*a, *b);
  if (e->op == Op::maximum) return std::max(*a, *b);
  if (e->op == Op::sub) return static_cast<int64_t>(static_cast<uint64_t>(*a) - static_cast<uint64_t>(*b));
  return std::nullopt;
}

Affine Lowerer::parameter(Expr value, int64_t low, int64_t high) {
  if (low == high) return {low, {}};
  if (auto known = known_value(value)) return {std::clamp(*known, low, high), {}};
  loops::ExprPool& e = exprs();
  value = e.binary(Op::minimum, e.binary(Op::maximum, e.convert(value, DType::i64), number(low)), number(high));
  return bound_parameter(value, low, high, parameters_ ? *parameters_ : *block_);
}

Expr Lowerer::let(Expr value) {
  auto l = static_cast<loops::LocalId>(program_.locals.size());
  program_.locals.push_back({"n" + std::to_string(l + 1), value->dtype});
  (parameters_ ? *parameters_ : *block_).push_back({loops::Let{l, value}});
  return exprs().local(l, value->dtype);
}

// Functions of the runtime compute with what they find in memory, so small floats are copied for them.
void Lowerer::call(const char* function, const std::vector<ValuePtr>& results, const std::vector<ValuePtr>& operands,
                   const std::vector<int64_t>& numbers) {
  auto copied = [&](const ValuePtr& v) { return rule_->computes() && is_small(v->type.dtype); };
  auto wide = [&](const ValuePtr& v) {
    return make_buffer(Buffer::Kind::temporary, {compute_type(v->type.dtype), v->type.shape});
  };
  std::vector<BufferId> inputs, buffers;
  for (const ValuePtr& v : operands) {
    inputs.push_back(copied(v) ? wide(v) : buffer_of(v));
    if (copied(v)) copy(inputs.back(), v);
  }
  for (const ValuePtr& v : results) buffers.push_back(copied(v) ? wide(v) : result_buffer(v));
  const std::vector<BufferId> made = buffers;
  buffers.insert(buffers.end(), inputs.begin(), inputs.end());
  std::vector<Expr> values;
  for (int64_t x : numbers) values.push_back(number(x));
  runtime_call(function, std::move(buffers), std::move(values));
  for (size_t k = 0; k < results.size(); ++k)
    if (const ValuePtr& v = results[k]; copied(v))
      store_box(result_buffer(v), {v->type.shape, unchanged, [&](const Index& i) {
                                     return exprs().load(made[k], compute_type(v->type.dtype), i);
                                   }});
}

}  // namespace anvil::compiler
