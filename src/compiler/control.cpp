// Loops in loop programs. The state of a loop lives in buffers; the next state is
// written to others and moved there at the end of the body:
//
//   t1[] = 0                              the state
//   loop {
//     t2[] = t1[] < 10                    the condition
//     while t2[]
//     t3[] = t1[] + 1                     the next state
//     t1[] = t3[]                         large tensors are swapped instead
//   }
#include <algorithm>
#include <unordered_set>

#include "base/memory.h"
#include "compiler/lower.h"
#include "loops/origins.h"
#include "primitives/families/control.h"
#include "transform/trip_count.h"

namespace anvil::compiler {

using loops::Buffer;

namespace {
constexpr int64_t copied_elements = 16;  // states up to this size are copied, not swapped
}

void Lowerer::open_region(const Graph& g, const std::vector<BufferId>& inputs) {
  Region region;
  region.id = ++next_region_;
  for (size_t n = 0; n < g.calls.size(); ++n) {
    for (const ValuePtr& v : g.calls[n].inputs) region.last_use[v.get()] = static_cast<int>(n);
    for (const auto& inner : subgraphs(g.calls[n]))
      for (const ValuePtr& v : captures(*inner)) region.last_use[v.get()] = static_cast<int>(n);
  }
  for (const ValuePtr& v : g.outputs) region.last_use[v.get()] = forever;
  regions_.push_back(std::move(region));
  for (size_t k = 0; k < inputs.size(); ++k) place(g.inputs[k], inputs[k]);
}

void Lowerer::close_region() {
  for (const auto& [tape, location] : regions_.back().tapes) {
    runtime_call("tape_free", {tape}, {});
    loops::set_origin(block_->back(), location);
  }
  regions_.pop_back();
}

// A tape among what a region gives does not end with it: a record or the region around has it from now on.
void Lowerer::leave_tape(const ValuePtr& v) {
  if (!v->type.tape || v->kind == Value::Kind::literal) return;
  if (std::erase_if(regions_.back().tapes, [b = buffer_of(v)](const auto& tape) { return tape.first == b; }) != 1)
    throw InternalError("a tape leaves a region that it is not of");
}

void Lowerer::runtime_call(const char* function, std::vector<BufferId> buffers, std::vector<Expr> numbers) {
  emit({loops::Call{function, std::move(buffers), std::move(numbers)}});
}

// ---- while --------------------------------------------------------------------------------

// The buffers of a state, filled with its initial values, but where the loop writes all of it before it reads
// any. A temporary that nobody needs any more, neither later nor in the loop, is taken over.
std::vector<BufferId> Lowerer::enter_state(const graph::Call& c, const std::vector<ValuePtr>& initial,
                                           const std::function<bool(size_t)>& written_anyway) {
  std::vector<BufferId> state;
  std::unordered_set<BufferId> taken;
  for (const auto& inner : subgraphs(c))
    for (const ValuePtr& v : captures(*inner))
      if (auto it = places_.find(v.get()); it != places_.end()) taken.insert(root(it->second));
  for (const ValuePtr& v : initial) {
    const bool several = std::count(initial.begin(), initial.end(), v) > 1, written = written_anyway(state.size());
    if (!written && !several && dead_after_this_call(v)) {
      BufferId b = buffer_of(v);
      if (b == root(b) && taken.insert(b).second) {
        state.push_back(b);
        continue;
      }
    }
    state.push_back(make_buffer(Buffer::Kind::temporary, v->type));
    if (!written) copy(state.back(), v);
  }
  return state;
}

std::vector<BufferId> Lowerer::next_state(const std::vector<BufferId>& state) {
  std::vector<BufferId> next;
  for (BufferId b : state) {
    Buffer copy = program_.buffers[static_cast<size_t>(b)];
    next.push_back(make_buffer(Buffer::Kind::temporary, {copy.dtype, copy.shape, false}));
  }
  return next;
}

// Moves the outputs of a loop's body, where they are not yet, from `next` to `state`.
void Lowerer::replace_state(const Graph& body, const std::vector<BufferId>& state, std::vector<BufferId> next) {
  std::vector<size_t> moved;
  std::unordered_set<BufferId> taken(next.begin(), next.end());
  for (size_t k = 0; k < state.size(); ++k) {
    const ValuePtr& v = body.outputs[k];
    auto it = places_.find(v.get());
    BufferId now = v->kind == Value::Kind::literal || it == places_.end() ? -1 : it->second;
    if (now == state[k]) continue;
    if (now != next[k]) {
      // a temporary of this body that holds nothing else can itself become the state
      bool free = now >= 0 && now == root(now) && owners_[static_cast<size_t>(now)].region == regions_.back().id &&
                  std::count(state.begin(), state.end(), now) == 0 && taken.insert(now).second;
      if (free)
        next[k] = now;
      else
        copy(next[k], v);
    }
    moved.push_back(k);
  }
  for (size_t k : moved) {
    const Buffer& b = program_.buffers[static_cast<size_t>(state[k])];
    int64_t count = elements(b.shape);
    if (count == 0) continue;
    if (count > copied_elements) {
      emit({loops::Swap{state[k], next[k]}});
      continue;
    }
    store_box(state[k], {b.shape, [](const Index& i) { return i; },
                         [&, dtype = b.dtype](const Index& i) { return exprs().load(next[k], dtype, i); }});
  }
}

void Lowerer::lower_while(const graph::Call& c) {
  const Graph &condition = *c.params.graph("cond_graph"), &body = *c.params.graph("body_graph");
  std::vector<BufferId> state = enter_state(c, c.inputs, [&](size_t k) { return transform::overwrites(c, k); });
  make_tapes(c);
  loops::While loop;
  Block* outer = std::exchange(block_, &loop.before);
  open_region(condition, state);
  lower_calls(condition, {});
  loop.condition = load(condition.outputs[0], {});
  close_region();

  block_ = &loop.body;
  std::vector<BufferId> next = next_state(state);
  for (BufferId b : state) owners_[static_cast<size_t>(b)] = {next_region_ + 1, -1};
  open_region(body, state);
  lower_calls(body, next);
  push_records(c);
  replace_state(body, state, next);
  close_region();
  block_ = outer;
  emit({std::move(loop)});
  leave_loop(c, state);
}

// The state at the end of a loop is the first of its results, its tapes are the others.
void Lowerer::leave_loop(const graph::Call& c, const std::vector<BufferId>& state) {
  for (size_t k = 0; k < state.size(); ++k) {
    owners_[static_cast<size_t>(state[k])] = {regions_.back().id, -1};
    place(c.outputs[k], state[k]);  // whoever wants it elsewhere moves it, or lets this be the place
  }
}

// ---- tapes --------------------------------------------------------------------------------

std::vector<Expr> Lowerer::record_numbers(const std::vector<graph::TensorType>& layout) {
  std::vector<Expr> numbers = {number(static_cast<int64_t>(layout.size()))};
  for (const auto& type : layout) numbers.push_back(number(static_cast<int64_t>(bytes_of(type.dtype, type.shape))));
  return numbers;
}

void Lowerer::make_tapes(const graph::Call& c) {
  for (size_t t = primitives::carried(c); t < c.outputs.size(); ++t) {
    BufferId tape = make_buffer(Buffer::Kind::temporary, c.outputs[t]->type);
    int64_t size = 0;
    std::vector<Expr> handles;
    for (const auto& type : primitives::record_layout(c, t)) {
      if (type.tape) handles.push_back(number(size));
      size += static_cast<int64_t>(bytes_of(type.dtype, type.shape));
    }
    std::vector<Expr> numbers = {number(size), number(static_cast<int64_t>(handles.size()))};
    numbers.insert(numbers.end(), handles.begin(), handles.end());
    runtime_call("tape_new", {tape}, std::move(numbers));
    regions_.back().tapes.push_back({tape, c.location});
    place(c.outputs[t], tape);
  }
}

// What the body of a loop gives after the next state.
void Lowerer::push_records(const graph::Call& c) {
  const Graph& body = *c.params.graph("body_graph");
  size_t made = primitives::carried(c);
  for (size_t t = made; t < c.outputs.size(); ++t) {
    std::vector<graph::TensorType> layout = primitives::record_layout(c, t);
    std::vector<BufferId> parts = {buffer_of(c.outputs[t])};
    for (size_t k = 0; k < layout.size(); ++k, ++made) {
      leave_tape(body.outputs[made]);
      parts.push_back(buffer_of(body.outputs[made]));
    }
    runtime_call("tape_push", std::move(parts), record_numbers(layout));
  }
}

void Lowerer::lower_tape_scan(const graph::Call& c) {
  const Graph& body = *c.params.graph("body_graph");
  const auto &field_counts = c.params.ints("field_counts"), &last_first = c.params.ints("last_first");
  size_t tapes = last_first.size(), carried = c.inputs.size() - tapes;
  const graph::TensorType count_type{DType::i64, {}, false};
  std::vector<BufferId> state = enter_state(c, {c.inputs.begin() + static_cast<std::ptrdiff_t>(tapes), c.inputs.end()},
                                            [](size_t) { return false; });
  make_tapes(c);
  BufferId length = make_buffer(Buffer::Kind::temporary, count_type),
           counter = make_buffer(Buffer::Kind::temporary, count_type);
  BufferId total = make_buffer(Buffer::Kind::temporary, count_type);
  runtime_call("tape_length", {length, buffer_of(c.inputs[0])}, {});
  loops::ExprPool& e = exprs();
  emit({loops::Store{total, {}, e.load(length, DType::i64, {})}});
  emit({loops::Store{counter, {}, number(0)}});
  Expr step = e.load(counter, DType::i64, {}), steps = e.load(total, DType::i64, {});

  loops::While loop;
  loop.condition = e.binary(Op::lt, step, steps);
  Block* outer = std::exchange(block_, &loop.body);
  std::vector<BufferId> next = next_state(state);
  for (BufferId b : state) owners_[static_cast<size_t>(b)] = {next_region_ + 1, -1};
  open_region(body, {});
  size_t fields = body.inputs.size() - carried, field = 0;
  for (size_t t = 0; t < tapes; ++t) {
    std::vector<BufferId> parts;
    std::vector<graph::TensorType> layout;
    for (int64_t k = 0; k < field_counts[t]; ++k, ++field) {
      layout.push_back(body.inputs[field]->type);
      parts.push_back(make_buffer(Buffer::Kind::temporary, layout.back()));
      place(body.inputs[field], parts.back());
    }
    parts.push_back(buffer_of(c.inputs[t]));
    std::vector<Expr> numbers = record_numbers(layout);
    Expr last = e.binary(Op::sub, e.binary(Op::sub, steps, number(1)), step);
    numbers.insert(numbers.begin(), last_first[t] ? last : step);
    runtime_call("tape_read", std::move(parts), std::move(numbers));
  }
  for (size_t k = 0; k < carried; ++k) place(body.inputs[fields + k], state[k]);
  lower_calls(body, next);
  push_records(c);
  replace_state(body, state, next);
  emit({loops::Store{counter, {}, e.binary(Op::add, step, number(1))}});
  close_region();
  block_ = outer;
  emit({std::move(loop)});
  leave_loop(c, state);
}

}  // namespace anvil::compiler
