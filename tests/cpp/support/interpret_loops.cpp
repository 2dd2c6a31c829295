// Memory, expressions and simple statements of interpreted loop programs; loops have a file of
// their own, and calls as well.
#include "support/interpret_loops.h"

#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>
#include <unordered_set>

#include "support/loop_values.h"

namespace anvil::test {

using loops::Buffer;
using loops::BufferId;

void LoopInterpreter::fail(const std::string& what) const { throw std::logic_error("interpreter: " + what); }

// ---- memory -------------------------------------------------------------------------------

LoopInterpreter::LoopInterpreter(const loops::Program& p, std::vector<graph::Tensor> inputs,
                                 std::vector<graph::Tensor> constants, runtime::Run* run, bool arena, TermLog* log)
    : program_(p),
      run_(run),
      make_(log),
      plans_(plan_loops(p)),
      places_(p.buffers.size()),
      outputs_(static_cast<size_t>(p.outputs)),
      variables_(p.variables.size()),
      locals_(p.locals.size()) {
  place_buffers(inputs, constants, arena);
}

LoopMemory& LoopInterpreter::add_memory(std::shared_ptr<void> data, int64_t bytes, int64_t unit) {
  memories_.push_back(std::make_unique<LoopMemory>(std::move(data), bytes, unit));
  return *memories_.back();
}

void LoopInterpreter::place_buffers(const std::vector<graph::Tensor>& inputs,
                                    const std::vector<graph::Tensor>& constants, bool arena) {
  LoopMemory* shared = nullptr;
  if (arena)
    shared = &add_memory(graph::allocate({DType::ui8, {program_.arena_bytes + 64}}).data, program_.arena_bytes, 1);
  for (size_t b = 0; b < program_.buffers.size(); ++b) {
    const Buffer& buffer = program_.buffers[b];
    if (buffer.alias >= 0 || buffer.own) continue;
    auto position = static_cast<size_t>(buffer.position);
    const int64_t count = elements(buffer.shape), unit = static_cast<int64_t>(size_of(buffer.dtype));
    if (buffer.kind == Buffer::Kind::temporary && arena) {
      if (buffer.offset >= 0) places_[b] = {shared, buffer.offset};
      continue;
    }
    bool given = buffer.kind == Buffer::Kind::input || buffer.kind == Buffer::Kind::constant;
    graph::Tensor t;
    if (given) {
      t = (buffer.kind == Buffer::Kind::input ? inputs : constants).at(position);
    } else {
      t = graph::allocate({buffer.dtype, buffer.shape});
      std::memset(t.data.get(), 255, static_cast<size_t>(count * unit));
      if (buffer.kind == Buffer::Kind::output) outputs_.at(position) = t;
    }
    places_[b] = {&add_memory(t.data, count * unit, unit), 0};
    for (int64_t k = 0; given && k < count; ++k)
      places_[b].memory->set_term(k * unit, buffer.dtype,
                                  make_.input(buffer.name, static_cast<int>(buffer.kind), buffer.position, k));
  }
}

// Memory for one task, where the program says once it does.
void LoopInterpreter::place_own(const std::vector<BufferId>& own) {
  const auto bytes = [this](BufferId b) {
    const Buffer& buffer = program_.buffers[static_cast<size_t>(b)];
    return elements(buffer.shape) * static_cast<int64_t>(size_of(buffer.dtype));
  };
  const auto fresh = [this](int64_t size, int64_t unit) -> LoopMemory* {
    return &add_memory(graph::allocate({DType::ui8, {size + 64}}).data, size, unit);
  };
  int64_t all = 0;
  for (BufferId b : own) all = std::max(all, program_.buffers[static_cast<size_t>(b)].offset + bytes(b));
  LoopMemory* shared = nullptr;
  for (BufferId b : own) {
    const Buffer& buffer = program_.buffers[static_cast<size_t>(b)];
    if (buffer.offset >= 0 && !shared) shared = fresh(all, 1);
    const auto unit = static_cast<int64_t>(size_of(buffer.dtype));
    places_[static_cast<size_t>(b)] =
        buffer.offset >= 0 ? Place{shared, buffer.offset} : Place{fresh(bytes(b), unit), 0};
  }
}

LoopInterpreter::Place LoopInterpreter::place(BufferId b) const {
  BufferId root = program_.buffers[static_cast<size_t>(b)].alias;
  Place p = places_[static_cast<size_t>(root < 0 ? b : root)];
  if (p.memory == nullptr) fail("buffer " + name(b) + " has no memory");
  return p;
}

int64_t LoopInterpreter::position(BufferId b, const loops::Index& index, size_t point) const {
  const Shape& shape = program_.buffers[static_cast<size_t>(b)].shape;
  if (shape.size() != index.size()) fail("wrong rank of an access to " + name(b));
  int64_t at = 0, stride = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t i = value(index[d], point);
    if (i < 0 || i >= shape[d])
      fail("access outside of " + name(b) + ": " + std::to_string(i) + " in dimension " + std::to_string(d + 1));
    at += i * stride;
    stride *= shape[d];
  }
  return at;
}

Traced LoopInterpreter::element(BufferId b, int64_t position) const {
  const Buffer& buffer = program_.buffers[static_cast<size_t>(b)];
  const Place p = place(b);
  auto x = p.memory->read(p.offset + position * static_cast<int64_t>(size_of(buffer.dtype)), buffer.dtype);
  if (!x) fail("element " + std::to_string(position) + " of " + buffer.name + " is read, but was never written");
  return *x;
}

std::vector<Term> LoopInterpreter::whole(BufferId b) const {
  std::vector<Term> terms;
  for (int64_t k = 0, n = elements(program_.buffers[static_cast<size_t>(b)].shape); k < n; ++k)
    terms.push_back(element(b, k).term);
  return terms;
}

std::vector<graph::Tensor> LoopInterpreter::run() {
  block(program_.body);
  return outputs_;
}

std::vector<std::vector<Term>> LoopInterpreter::terms() const {
  std::vector<std::vector<Term>> list(static_cast<size_t>(program_.outputs));
  for (size_t b = 0; b < program_.buffers.size(); ++b) {
    const Buffer& buffer = program_.buffers[b];
    if (buffer.kind == Buffer::Kind::output && buffer.alias < 0)
      list[static_cast<size_t>(buffer.position)] = whole(static_cast<BufferId>(b));
  }
  return list;
}

// ---- expressions --------------------------------------------------------------------------

int64_t LoopInterpreter::value(const loops::Affine& a, size_t point) const {
  int64_t x = a.constant;
  for (const loops::Term& t : a.terms) {
    const VariableState& v = variables_[static_cast<size_t>(t.variable)];
    if (!v.visible) fail(program_.variables[static_cast<size_t>(t.variable)].name + " has no value");
    x += t.factor * at(v.values, point);
  }
  return x;
}

const LoopInterpreter::Code& LoopInterpreter::code(Expr root) {
  auto [it, fresh] = codes_.try_emplace(root);
  if (!fresh) return it->second;
  Code list;
  std::unordered_map<Expr, int> numbers;
  std::function<int(Expr)> visit = [&](Expr e) {
    auto known = numbers.find(e);
    if (known != numbers.end()) return known->second;
    Instruction i{e, {-1, -1, -1}};
    for (int k = 0; k < e->argument_count(); ++k)
      i.operands[static_cast<size_t>(k)] = visit(e->args[static_cast<size_t>(k)]);
    list.push_back(i);
    return numbers[e] = static_cast<int>(list.size()) - 1;
  };
  visit(root);
  return codes_[root] = std::move(list);
}

Traced LoopInterpreter::local(loops::LocalId id, size_t point) const {
  const Local& l = locals_[static_cast<size_t>(id)];
  const std::string& who = program_.locals[static_cast<size_t>(id)].name;
  if (!l.made) fail("local " + who + " is read before it is made");
  if (!l.sums.empty()) fail("local " + who + " is read while steps side by side accumulate into it");
  return at(l.values, point);
}

Traced LoopInterpreter::evaluate(Expr root, size_t point) {
  const Code& list = code(root);
  if (scratch_.size() < list.size()) scratch_.resize(list.size());
  for (size_t k = 0; k < list.size(); ++k) {
    Expr e = list[k].node;
    Traced& x = scratch_[k];
    switch (e->op) {
      case Op::constant: x = {e->constant, make_.constant(e->constant, e->dtype)}; break;
      case Op::index: {
        int64_t i = value(e->place[0], point);
        x = {Scalar(i), make_.constant(Scalar(i), DType::i64)};
        break;
      }
      case Op::local: x = local(e->local, point); break;
      case Op::load:
        ++loads;
        x = element(e->buffer, position(e->buffer, e->place, point));
        break;
      default: {
        Scalar numbers[3];
        Term terms[3];
        const auto count = static_cast<size_t>(e->argument_count());
        for (size_t a = 0; a < count; ++a) {
          const Traced& from = scratch_[static_cast<size_t>(list[k].operands[a])];
          numbers[a] = from.number, terms[a] = from.term;
        }
        x.number = compute(*e, numbers);
        x.term = make_.apply(*e, {terms, count}, x.number);
      }
    }
  }
  return scratch_[list.size() - 1];
}

// ---- statements ---------------------------------------------------------------------------

void LoopInterpreter::block(const loops::Block& b) {
  const size_t outer = made_.size();
  for (const loops::Stmt& s : b) std::visit([this](const auto& x) { statement(x); }, s.is);
  for (; made_.size() > outer; made_.pop_back()) locals_[static_cast<size_t>(made_.back())].made = false;
}

void LoopInterpreter::statement(const loops::Store& s) {
  const Place to = place(s.buffer);
  const DType t = program_.buffers[static_cast<size_t>(s.buffer)].dtype;
  std::vector<std::pair<int64_t, Traced>> elements;
  for (size_t p = 0; p < points(); ++p) {
    Traced x = evaluate(s.value, p);
    elements.emplace_back(position(s.buffer, s.place, p), x);
  }
  for (size_t p = 0; p < points(); ++p) {
    if (keeps(p)) continue;
    ++steps;
    to.memory->write(to.offset + elements[p].first * static_cast<int64_t>(size_of(t)), t, elements[p].second);
  }
}

void LoopInterpreter::define(loops::LocalId id, Expr value) {
  std::vector<Traced> values;
  for (size_t p = 0; p < points(); ++p) values.push_back(evaluate(value, p));
  Local& l = locals_[static_cast<size_t>(id)];
  l = {};
  l.made = true;
  l.depth = axes_.size();
  l.values = std::move(values);
  made_.push_back(id);
}

void LoopInterpreter::statement(const loops::Bind& s) {
  const loops::VariableInfo& info = program_.variables[static_cast<size_t>(s.parameter)];
  std::vector<int64_t> values;
  for (size_t p = 0; p < points(); ++p) {
    values.push_back(evaluate(s.value, p).number.as<int64_t>());
    if (values.back() < info.low || values.back() > info.high) fail("parameter " + info.name + " is out of range");
  }
  variables_[static_cast<size_t>(s.parameter)] = {true, std::move(values)};
}

void LoopInterpreter::require_one_step(const char* what) const {
  if (points() != 1) fail(std::string(what) + " inside of a blocked loop");
}

void LoopInterpreter::statement(const loops::If& s) {
  require_one_step("a branch");
  block(evaluate(s.condition, 0).number.as<bool>() ? s.yes : s.no);
}

// What `before` makes is visible in the condition and in the body.
void LoopInterpreter::statement(const loops::While& s) {
  require_one_step("a loop of unknown length");
  const size_t outer = made_.size();
  for (int64_t round = 0;; ++round) {
    if (round == 10'000) fail("a loop does not end");
    for (const loops::Stmt& inner : s.before) std::visit([this](const auto& x) { statement(x); }, inner.is);
    bool go_on = evaluate(s.condition, 0).number.as<bool>();
    if (go_on) block(s.body);
    for (; made_.size() > outer; made_.pop_back()) locals_[static_cast<size_t>(made_.back())].made = false;
    if (!go_on) return;
  }
}

void LoopInterpreter::statement(const loops::Swap& s) {
  require_one_step("an exchange of buffers");
  std::swap(places_[static_cast<size_t>(s.first)], places_[static_cast<size_t>(s.second)]);
}

// As the loops that it stands for.
void LoopInterpreter::statement(const loops::Contraction& s) {
  require_one_step("a contraction");
  multiply(s, s.axes, s.buffer, s.place, s.product);
  for (const loops::Contraction::Beside& b : s.beside) {
    std::vector<loops::Contraction::Axis> axes = s.axes;
    std::erase_if(axes, [&](const auto& axis) { return s.is_column(axis.variable); });
    axes.insert(axes.end(), b.columns.begin(), b.columns.end());
    multiply(s, axes, b.buffer, b.place, products_.binary(Op::mul, s.product->args[0], b.operand));
  }
}
void LoopInterpreter::multiply(const loops::Contraction& s, const std::vector<loops::Contraction::Axis>& axes,
                               loops::BufferId buffer, const loops::Index& result, Expr product) {
  const DType t = product->dtype, stored = program_.buffers[static_cast<size_t>(buffer)].dtype;
  const int64_t size = static_cast<int64_t>(size_of(stored));
  std::unordered_map<int64_t, Traced> sums;  // by position
  std::unordered_set<int64_t> unwanted;
  const auto step = [&](const auto& self, size_t axis) -> void {
    if (axis < axes.size()) {
      VariableState& v = variables_[static_cast<size_t>(axes[axis].variable)];
      for (int64_t i = 0; i < axes[axis].extent; ++i) v = {true, {i}}, self(self, axis + 1);
      v = {};
      return;
    }
    const Traced x = evaluate(product, 0);
    const int64_t at = position(buffer, result, 0);
    if (sums.count(at) == 0) sums[at] = s.adds ? element(buffer, at) : Traced{Scalar(0), make_.constant(Scalar(0), t)};
    Traced& to = sums[at];
    leave_out_identity(to, Op::add, t);
    to = {combine(Op::add, t, to.number, x.number), make_.accumulate(Op::add, to.term, x.term)};
    if (s.wanted && value(*s.wanted, 0) < 0) unwanted.insert(at);
    ++steps;
  };
  step(step, 0);
  const Place to = place(buffer);
  loops::Node rounding;
  rounding.op = Op::convert;
  rounding.dtype = stored;
  for (auto& [at, sum] : sums) {
    if (stored != t) {
      const Scalar number = sum.number.rounded_to(stored);
      sum = {number, make_.apply(rounding, {&sum.term, 1}, number)};
    }
    if (unwanted.count(at) > 0) sum.number = Scalar(std::numeric_limits<double>::quiet_NaN()).rounded_to(stored);
    to.memory->write(to.offset + at * size, stored, sum);
  }
}

}  // namespace anvil::test
