// The trace as R sees it: descriptors begin and end, tensors become inputs, results become
// graphs, and boxes tell their types.
#include <algorithm>

#include "primitives/vocabulary/batching.h"
#include "r_descriptor.h"
#include "r_routines.h"

namespace anvil::r {

std::vector<Descriptor*> stack;

bool tracing() { return !stack.empty(); }

Descriptor& current() {
  if (stack.empty())
    throw Error("trace", "No graph is currently being built.", {"i Did you forget to use `jit()` or `trace_fn()`?"});
  return *stack.back();
}

SEXP new_box(Descriptor& d, const ValuePtr& v) {  // may jump
  d.boxes.push_back(v);
  SEXP box = PROTECT(R_MakeExternalPtr(&d.boxes.back(), names.a_box, d.handle));
  Rf_setAttrib(box, R_ClassSymbol, names.graph_box);
  UNPROTECT(1);
  return box;
}

SEXP new_boxes(Descriptor& d, const std::vector<ValuePtr>& values) {
  return guarded([&] {
    SEXP list = PROTECT(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(values.size())));
    for (size_t i = 0; i < values.size(); ++i) SET_VECTOR_ELT(list, static_cast<R_xlen_t>(i), new_box(d, values[i]));
    UNPROTECT(1);
    return list;
  });
}

void list_constant(Descriptor& d, const ValuePtr& v) {
  if (d.listed.insert(v.get()).second) d.graph->constants.push_back(v);
}
void capture(const ValuePtr& v) {
  for (Descriptor* d = &current(); d != nullptr; d = d->parent) list_constant(*d, v);
}

ValuePtr captured_tensor(SEXP tensor) {
  ValuePtr& v = stack.front()->tensors[tensor];
  if (!v) v = graph::make_constant(hold(tensor));
  capture(v);
  return v;
}

ValuePtr unknown_value(SEXP box) {
  Descriptor& root = *stack.front();
  ValuePtr& v = root.tensors[box];
  if (!v) {
    root.kept.emplace_back(box);
    v = graph::make_value(Value::Kind::input, type_of(tensor_tag(box)));
  }
  return v;
}

Descriptor& descriptor_of(SEXP box) {
  if (!is_kind(box, names.a_box)) throw Error("argument", "This is not a box of a trace.");
  auto* d = owned<Descriptor>(R_ExternalPtrProtected(box), names.a_descriptor);
  if (d == nullptr || R_ExternalPtrAddr(box) == nullptr)
    throw Error("trace", "This box was saved in another session; the value it stood for is gone.",
                {"i Trace the function again, and save graphs or tensors."});
  return *d;
}
const ValuePtr& value_of(SEXP box) {
  descriptor_of(box);
  return *static_cast<ValuePtr*>(R_ExternalPtrAddr(box));
}

ValuePtr unboxed(SEXP box) {
  Descriptor& d = descriptor_of(box);
  const ValuePtr& v = value_of(box);
  if (!d.live || stack.empty())
    throw Error(
        "trace", "A value of a trace was used after the trace had ended.",
        {"x Its type is " + graph::text(v->type) + ".",
         "i Return it from the traced function instead of assigning it elsewhere.",
         "i R computes an argument `y` where it is first read: if that is in an inner function, `force(y)` before."});
  if (&d != stack.back() && v->kind != Value::Kind::literal) {
    const Descriptor* around = stack.back()->parent;
    while (around != nullptr && around != &d) around = around->parent;
    if (around == nullptr)
      throw Error("trace", "A value of one graph was used in another one that is being built.",
                  {"x Its type is " + graph::text(v->type) + "."});
    list_constant(*stack.back(), v);
  }
  return v;
}

bool is_being_built(const ValuePtr& v) {
  return std::any_of(stack.begin(), stack.end(), [&](const Descriptor* d) {
    return std::find(d->boxes.begin(), d->boxes.end(), v) != d->boxes.end();
  });
}

// --- results of debug mode ---------------------------------------------------------------

// What is computed in debug mode is a tensor. Where there are no data, a debug box stands for
// it: an external pointer without an address, like a tensor, with a `type` only.
static SEXP new_debug_box(SEXP tag) {
  type_of(tag);
  return guarded([&] {
    SEXP box = PROTECT(R_MakeExternalPtr(nullptr, R_NilValue, R_NilValue));
    Rf_setAttrib(box, names.type, tag);
    Rf_setAttrib(box, R_ClassSymbol, names.debug_box);
    UNPROTECT(1);
    return box;
  });
}

SEXP debug_result(const ValuePtr& v, const Tensor* data) {
  if (data != nullptr) return tensor_from(*data, true);
  Shield<SEXP> tag(guarded([&] { return tag_of(v->type); }));
  return new_debug_box(tag);
}

// --- the stack of descriptors ------------------------------------------------------------

static Descriptor* push(Purpose purpose) {
  stack.reserve(stack.size() + 1);
  auto made = std::make_unique<Descriptor>();
  Descriptor* d = made.get();
  d->purpose = purpose;
  d->parent = stack.empty() ? nullptr : stack.back();
  d->locations = d->parent ? d->parent->locations : std::make_shared<Locations>();
  Shield<SEXP> handle(
      own(std::move(made), names.a_descriptor, names.descriptor, d->parent ? d->parent->handle : R_NilValue));
  d->handle = handle;
  d->own_handle = Kept(handle);
  stack.push_back(d);
  return d;
}

// Ends this descriptor and those inside of it that an error left behind.
void pop(Descriptor* d) {
  if (d == nullptr || !d->live) return;
  for (Descriptor* top = nullptr; top != d && !stack.empty();) {
    top = stack.back();
    stack.pop_back();
    top->live = false;
    top->graph.reset();  // rules of its calls may refer to boxes
    top->tensors.clear();
    top->kept.clear();
    top->locations.reset();
    top->own_handle = Kept();
  }
}

Scope::Scope(Purpose purpose) : descriptor_(push(purpose)), handle_(descriptor_->own_handle) {}
Scope::~Scope() { pop(descriptor_); }

static constexpr std::array<const char*, 4> purposes = {"program", "debug", "record", "types"};

SEXP anvil_push(SEXP purpose) {
  return entry([&] {
    const auto found = std::find(purposes.begin(), purposes.end(), text_of(purpose, "purpose"));
    if (found == purposes.end()) throw Error("argument", "A trace is for nothing that is known.");
    return push(static_cast<Purpose>(found - purposes.begin()))->handle;
  });
}

// What the outermost trace is for; NULL outside of a trace.
SEXP anvil_purpose() {
  return entry([&] {
    if (!tracing()) return R_NilValue;
    return guarded([&] { return Rf_mkString(purposes[static_cast<size_t>(stack.front()->purpose)]); });
  });
}

// What a box is the negative of, as a box; NULL where it was not made so.
SEXP anvil_negated(SEXP box) {
  return entry([&]() -> SEXP {
    const ValuePtr& value = value_of(box);
    if (value->kind != Value::Kind::result) return R_NilValue;
    for (auto d = stack.rbegin(); d != stack.rend(); ++d) {
      const std::vector<graph::Call>& calls = (*d)->graph->calls;
      const auto made =
          std::find_if(calls.rbegin(), calls.rend(), [&](const graph::Call& c) { return c.outputs[0] == value; });
      if (made == calls.rend()) continue;
      if (made->primitive->name != "negate") return R_NilValue;
      return guarded([&] { return new_box(**d, made->inputs[0]); });
    }
    return R_NilValue;
  });
}

SEXP anvil_pop(SEXP handle) {
  return entry([&] {
    pop(owned<Descriptor>(handle, names.a_descriptor));
    return R_NilValue;
  });
}

static void renumber(Graph& g, size_t first, const Locations* from, std::unordered_map<int, int>& numbers) {
  auto& list = current().locations->list;
  for (size_t i = first; i < g.calls.size(); ++i) {
    int& location = g.calls[i].location;
    if (location >= 0) {
      const auto [known, fresh] = numbers.try_emplace(location, -1);
      if (fresh && from != nullptr && static_cast<size_t>(location) < from->list.size()) {
        known->second = static_cast<int>(list.size());
        list.push_back(from->list[static_cast<size_t>(location)]);
      }
      location = known->second;
    }
    for (const GraphPtr& inner : subgraphs(g.calls[i])) renumber(*inner, 0, from, numbers);
  }
}
void adopt_locations(Graph& g, size_t first, const Locations* from) {
  if (from == current().locations.get()) return;
  std::unordered_map<int, int> numbers;
  renumber(g, first, from, numbers);
}

static void forget_locations(Graph& g) {
  for (graph::Call& c : g.calls) {
    c.location = -1;
    for (const GraphPtr& inner : subgraphs(c)) forget_locations(*inner);
  }
}

// What `call` lists, boxes or NULL, for boxes of a descriptor of its own, whose graph is spliced into `to`.
template <class F>
static std::vector<ValuePtr> run_in_trace(graph::Graph& to, const char* what, F&& call) {
  Scope scope(Purpose::program);
  Descriptor& d = scope.descriptor();
  Shield<SEXP> found(call(d));
  list_of(found, "the result of a rule");
  std::vector<ValuePtr> results;
  Recording recording;
  for (R_xlen_t i = 0; i < XLENGTH(found); ++i) {
    SEXP x = VECTOR_ELT(found, i);
    results.push_back(x == R_NilValue ? nullptr : recording.operand(x, what));
  }
  forget_locations(*d.graph);  // what a rule does belongs to the call that it is for
  for (graph::Call& c : d.graph->calls) to.calls.push_back(std::move(c));
  for (const ValuePtr& v : d.graph->constants)
    if (v->kind == Value::Kind::constant) to.constants.push_back(v);
  return results;
}

std::vector<ValuePtr> run_backward_rule(SEXP rule, primitives::ReverseStep& step) {
  return run_in_trace(step.graph, "gradient", [&](Descriptor& d) -> SEXP {
    auto boxes = [&](const std::vector<ValuePtr>& values) { return new_boxes(d, values); };
    std::vector<ValuePtr> cotangents;  // a rule in R gets zeros where there are none
    for (size_t i = 0; i < step.cotangents.size(); ++i) cotangents.push_back(primitives::cotangent(step, i).value);
    Shield<SEXP> inputs(boxes(step.call.inputs)), outputs(boxes(step.call.outputs)), grads(boxes(cotangents));
    Shield<SEXP> residuals(boxes(step.residuals)), params(params_to(step.call, std::make_shared<Locations>()));
    Shield<SEXP> required(guarded([&] {
      SEXP x = Rf_allocVector(LGLSXP, static_cast<R_xlen_t>(step.required.size()));
      for (size_t i = 0; i < step.required.size(); ++i) LOGICAL(x)[i] = step.required[i];
      return x;
    }));
    return call_r("call_backward_rule", {rule, inputs, outputs, grads, residuals, params, required});
  });
}

std::vector<ValuePtr> run_jvp_rule(SEXP rule, primitives::ForwardStep& step) {
  return run_in_trace(step.graph, "tangent", [&](Descriptor& d) -> SEXP {
    std::vector<ValuePtr> tangents;  // likewise
    for (size_t i = 0; i < step.tangents.size(); ++i) tangents.push_back(primitives::tangent(step, i).value);
    Shield<SEXP> inputs(new_boxes(d, step.call.inputs)), outputs(new_boxes(d, step.call.outputs));
    Shield<SEXP> moved(new_boxes(d, tangents)), params(params_to(step.call, std::make_shared<Locations>()));
    return call_r("call_jvp_rule", {rule, inputs, outputs, moved, params});
  });
}

// A rule that gives the results of a call, in whatever way `function` makes it do so.
static std::vector<ValuePtr> run_on_inputs(const char* function, SEXP rule, graph::Graph& to, const graph::Call& call) {
  return run_in_trace(to, "outputs", [&](Descriptor& d) -> SEXP {
    Shield<SEXP> inputs(new_boxes(d, call.inputs)), params(params_to(call, std::make_shared<Locations>()));
    Shield<SEXP> count(guarded([&] { return Rf_ScalarInteger(static_cast<int>(call.outputs.size())); }));
    return call_r(function, {rule, inputs, params, count});
  });
}
std::vector<ValuePtr> run_augment_rule(SEXP rule, graph::Graph& to, const graph::Call& call) {
  return run_on_inputs("call_augment_rule", rule, to, call);
}
std::vector<ValuePtr> run_text_rule(SEXP rule, graph::Graph& to, const graph::Call& call) {
  return run_on_inputs("call_text_rule", rule, to, call);
}

std::vector<ValuePtr> run_batch_rule(SEXP rule, primitives::BatchStep& step) {
  return run_in_trace(step.graph, "outputs", [&](Descriptor& d) -> SEXP {
    Shield<SEXP> inputs(new_boxes(d, step.operands)), params(params_to(step.call, std::make_shared<Locations>()));
    Shield<SEXP> batched(guarded([&] {
      SEXP x = Rf_allocVector(LGLSXP, static_cast<R_xlen_t>(step.batched.size()));
      for (size_t i = 0; i < step.batched.size(); ++i) LOGICAL(x)[i] = step.batched[i];
      return x;
    }));
    Shield<SEXP> size(guarded([&] { return number(step.size); }));
    Shield<SEXP> count(guarded([&] { return Rf_ScalarInteger(static_cast<int>(step.call.outputs.size())); }));
    return call_r("call_batch_rule", {rule, inputs, batched, size, params, count});
  });
}

SEXP anvil_current() { return stack.empty() ? R_NilValue : stack.back()->handle; }

// A new input of the current graph, of the type of `x`.
SEXP anvil_input(SEXP x) {
  return entry([&] {
    Descriptor& d = current();
    TensorType type;
    switch (class_of(x)) {
      case Class::graph_box: type = value_of(x)->type; break;
      case Class::tensor:
      case Class::debug_box: type = type_of(tensor_tag(x)); break;
      case Class::abstract: {
        Shield<SEXP> tag(call_r("abstract_tag", {x}));
        type = type_of(tag);
        break;
      }
      default:
        if (!is_data(x) || !(is_literal(x) || is_array(x))) not_a_tensor(x, "");
        type = type_of_data(x);
    }
    ValuePtr v = graph::make_value(Value::Kind::input, type);
    d.graph->inputs.push_back(v);
    return guarded([&] { return new_box(d, v); });
  });
}

// The finished graph of a descriptor; `fields` are those that only R knows.
SEXP anvil_finish(SEXP handle, SEXP outputs, SEXP fields) {
  return entry([&] {
    auto* d = owned<Descriptor>(handle, names.a_descriptor);
    if (d == nullptr || stack.empty() || d != stack.back())
      throw Error("trace", "The graph to finish is not the one that is being built.");
    Recording recording;
    d->graph->outputs = recording.operands(outputs, "value");
    return wrap_graph(d->graph, d->locations, fields);
  });
}

// A literal of a type: a box in a trace, a tensor outside of it.
SEXP anvil_literal(SEXP x) {
  return entry([&] {
    Recording recording;
    return recording.finish({recording.operand(x, "x")});
  });
}

SEXP anvil_box_value(SEXP box) {
  return entry([&] { return abstract_of(value_of(box)); });
}

// What debug mode gives: x is a tensor, or a type as a tag
SEXP anvil_debug_box(SEXP x) {
  return entry([&] { return class_of(x) == Class::tensor ? made_in_debug(x) : new_debug_box(x); });
}

// c(dtype, ambiguous, sizes...) of a tensor or box, an R number or array; NULL for anything else
SEXP anvil_tag(SEXP x) {
  return entry([&]() -> SEXP {
    switch (class_of(x)) {
      case Class::tensor:
      case Class::buffer:
      case Class::debug_box: return tensor_tag(x);
      case Class::graph_box: {
        const TensorType& type = value_of(x)->type;
        return guarded([&] { return tag_of(type); });
      }
      default:
        if (!is_literal(x) && !is_array(x)) return R_NilValue;
        TensorType type = type_of_data(x);
        return guarded([&] { return tag_of(type); });
    }
  });
}

// The text of a graph or of the descriptor that makes one; `nested`: with the bodies of its inner graphs.
SEXP anvil_graph_text(SEXP x, SEXP title, SEXP nested) {
  return entry([&] {
    const std::string heading = text_of(title, "title");
    const bool all = flag_of(nested, "nested");
    const bool building = is_kind(x, names.a_descriptor);
    const std::string text =
        building ? graph::print(*descriptor_from(x).graph, heading, graph::labels_of(*descriptor_from(x).graph), all)
                 : graph::print(*graph_of(x).graph, heading, program_of(graph_of(x)).labels, all);
    return guarded([&] { return string(text); });
  });
}

}  // namespace anvil::r
