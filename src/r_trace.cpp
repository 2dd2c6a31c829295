// The trace as R sees it: descriptors begin and end, tensors become inputs, results become
// graphs, and boxes tell their types.
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
  SEXP box = PROTECT(R_MakeExternalPtr(&d.boxes.back(), R_NilValue, d.handle));
  Rf_setAttrib(box, R_ClassSymbol, names.graph_box);
  UNPROTECT(1);
  return box;
}

static void list_constant(Descriptor& d, const ValuePtr& v) {
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
    v = graph::make_value(Value::Kind::input, type_of(abstract_tag_of(box)));
  }
  return v;
}

static Descriptor& descriptor_of(SEXP box) {
  auto* d = static_cast<Descriptor*>(R_ExternalPtrAddr(R_ExternalPtrProtected(box)));
  if (d == nullptr || R_ExternalPtrAddr(box) == nullptr)
    throw Error("trace", "This box was saved in another session; the value it stood for is gone.");
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
    throw Error("trace", "A value of a trace was used after the trace had ended.",
                {"x Its type is " + graph::text(v->type) + ".",
                 "i Return it from the traced function instead of assigning it elsewhere."});
  if (&d != stack.back() && v->kind != Value::Kind::literal) list_constant(*stack.back(), v);
  return v;
}

// --- boxes of debug mode -----------------------------------------------------------------

SEXP concrete_of(SEXP box) {
  SEXP kept = TYPEOF(box) == LGLSXP ? Rf_getAttrib(box, names.box_symbol) : R_ExternalPtrProtected(box);
  return class_of(kept) == Class::tensor ? kept : R_NilValue;
}
SEXP abstract_tag_of(SEXP box) { return R_ExternalPtrTag(box); }

// A concrete scalar of dtype bool is a logical to R, so that `if` and `while` take it.
static SEXP new_debug_box(SEXP tensor, SEXP tag) {
  bool logical = tensor != R_NilValue && XLENGTH(tag) == 2 && INTEGER(tag)[0] == static_cast<int>(DType::boolean);
  SEXP box;
  if (logical) {
    box = PROTECT(Rf_ScalarLogical(*static_cast<const bool*>(R_ExternalPtrAddr(tensor))));
    box = PROTECT(Rf_duplicate(box));
    Rf_setAttrib(box, names.box_symbol, tensor);
  } else {
    void* address = tensor == R_NilValue ? nullptr : R_ExternalPtrAddr(tensor);
    box = PROTECT(PROTECT(R_MakeExternalPtr(address, tag, tensor)));
  }
  Rf_setAttrib(box, R_ClassSymbol, names.debug_box);
  UNPROTECT(2);
  return box;
}

SEXP debug_result(const ValuePtr& v, const Tensor* data) {
  Shield<SEXP> tensor(data == nullptr ? R_NilValue : tensor_from(*data));
  if (data != nullptr) data_of(tensor);
  return guarded([&] {
    SEXP tag = PROTECT(data == nullptr ? tag_of(v->type) : R_ExternalPtrTag(tensor));
    SEXP box = new_debug_box(tensor, tag);
    UNPROTECT(1);
    return box;
  });
}

// --- the stack of descriptors ------------------------------------------------------------

SEXP anvil_push(SEXP cls, SEXP types_only) {
  return entry([&] {
    auto* d = new Descriptor;
    d->types_only = Rf_asLogical(types_only) == TRUE;
    d->parent = stack.empty() ? nullptr : stack.back();
    d->locations = d->parent ? d->parent->locations : std::make_shared<Locations>();
    SEXP handle = guarded([&] { return own(d, cls, d->parent ? d->parent->handle : R_NilValue); });
    R_PreserveObject(handle);
    d->handle = handle;
    stack.push_back(d);
    return handle;
  });
}

// Ends this descriptor and those inside of it that an error left behind.
SEXP anvil_pop(SEXP handle) {
  return entry([&] {
    auto* d = static_cast<Descriptor*>(R_ExternalPtrAddr(handle));
    if (d == nullptr || !d->live) return R_NilValue;
    while (!stack.empty()) {
      Descriptor* top = stack.back();
      stack.pop_back();
      top->live = false;
      top->tensors.clear();
      R_ReleaseObject(top->handle);
      if (top == d) break;
    }
    return R_NilValue;
  });
}

std::vector<ValuePtr> run_rule_in_trace(SEXP rule, primitives::ReverseStep& step,
                                        const std::shared_ptr<Locations>& locations) {
  Shield<SEXP> handle(anvil_push(names.descriptor, R_NilValue));
  struct Pop {
    SEXP handle;
    ~Pop() { anvil_pop(handle); }
  } pop{handle};
  Descriptor& d = *stack.back();
  auto boxes = [&](const std::vector<ValuePtr>& values) {
    return guarded([&] {
      SEXP list = PROTECT(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(values.size())));
      for (size_t i = 0; i < values.size(); ++i) SET_VECTOR_ELT(list, static_cast<R_xlen_t>(i), new_box(d, values[i]));
      UNPROTECT(1);
      return list;
    });
  };
  Shield<SEXP> inputs(boxes(step.call.inputs)), outputs(boxes(step.call.outputs)), grads(boxes(step.cotangents));
  Shield<SEXP> params(guarded([&] { return params_to(step.call, locations); }));
  Shield<SEXP> required(guarded([&] {
    SEXP x = Rf_allocVector(LGLSXP, static_cast<R_xlen_t>(step.required.size()));
    for (size_t i = 0; i < step.required.size(); ++i) LOGICAL(x)[i] = step.required[i];
    return x;
  }));
  Shield<SEXP> found(call_r("call_backward_rule", {rule, inputs, outputs, grads, params, required}));
  std::vector<ValuePtr> results;
  Recording recording;
  for (R_xlen_t i = 0; i < XLENGTH(found); ++i) {
    SEXP x = VECTOR_ELT(found, i);
    results.push_back(x == R_NilValue ? nullptr : recording.operand(x, "gradient"));
  }
  for (graph::Call& c : d.graph->calls) step.graph.calls.push_back(std::move(c));
  for (const ValuePtr& v : d.graph->constants)
    if (v->kind == Value::Kind::constant) step.graph.constants.push_back(v);
  return results;
}

SEXP anvil_current() { return stack.empty() ? R_NilValue : stack.back()->handle; }

// A new input of the current graph, of the type of `x`.
SEXP anvil_input(SEXP x) {
  return entry([&] {
    Descriptor& d = current();
    TensorType type;
    switch (class_of(x)) {
      case Class::graph_box: type = value_of(x)->type; break;
      case Class::tensor: type = type_of(R_ExternalPtrTag(x)); break;
      case Class::debug_box:
        type = type_of(TYPEOF(x) == LGLSXP ? R_ExternalPtrTag(concrete_of(x)) : abstract_tag_of(x));
        break;
      case Class::abstract: {
        Shield<SEXP> tag(call_r("abstract_tag", {x}));
        type = type_of(tag);
        break;
      }
      default:
        if (!is_data(x) || !(is_literal(x) || is_array(x))) not_a_tensor(x, "");
        type = {default_dtype(x), is_array(x) ? shape_of_data(x) : Shape{}, TYPEOF(x) != LGLSXP};
    }
    ValuePtr v = graph::make_value(Value::Kind::input, type);
    d.graph->inputs.push_back(v);
    return guarded([&] { return new_box(d, v); });
  });
}

// The finished graph of a descriptor; `fields` are those that only R knows.
SEXP anvil_finish(SEXP handle, SEXP outputs, SEXP fields) {
  return entry([&] {
    auto* d = static_cast<Descriptor*>(R_ExternalPtrAddr(handle));
    if (stack.empty() || d != stack.back()) throw InternalError("the graph to finish is not the one being built");
    Recording recording;
    d->graph->outputs.clear();
    for (R_xlen_t i = 0; i < XLENGTH(outputs); ++i)
      d->graph->outputs.push_back(recording.operand(VECTOR_ELT(outputs, i), "value"));
    return wrap_graph(d->graph, d->locations, fields);
  });
}

SEXP anvil_box_value(SEXP box) {
  return entry([&] { return abstract_of(value_of(box)); });
}

// x: an AnvilTensor, or a type as a tag
SEXP anvil_debug_box(SEXP x) {
  return entry([&] {
    if (class_of(x) == Class::tensor) {
      data_of(x);
      return guarded([&] { return new_debug_box(x, R_ExternalPtrTag(x)); });
    }
    return guarded([&] { return new_debug_box(R_NilValue, x); });
  });
}

// The AnvilTensor behind a tensor or a debug box, or NULL.
SEXP anvil_concrete(SEXP x) {
  Class c = class_of(x);
  return c == Class::tensor ? x : c == Class::debug_box ? concrete_of(x) : R_NilValue;
}

// c(dtype, ambiguous, sizes...) of a tensor or box, NULL for anything else
SEXP anvil_tag(SEXP x) {
  return entry([&]() -> SEXP {
    switch (class_of(x)) {
      case Class::tensor:
      case Class::buffer: return R_ExternalPtrTag(x);
      case Class::debug_box: return TYPEOF(x) == LGLSXP ? R_ExternalPtrTag(concrete_of(x)) : abstract_tag_of(x);
      case Class::graph_box: {
        const TensorType& type = value_of(x)->type;
        return guarded([&] { return tag_of(type); });
      }
      default: return R_NilValue;
    }
  });
}

// The text of a graph or of the descriptor that makes one.
SEXP anvil_graph_text(SEXP x, SEXP title) {
  return entry([&] {
    auto* d = Rf_inherits(x, "GraphDescriptor") ? static_cast<Descriptor*>(R_ExternalPtrAddr(x)) : nullptr;
    std::string text = graph::print(d ? *d->graph : *graph_of(x).graph, text_of(title));
    return guarded([&] { return string(text); });
  });
}

}  // namespace anvil::r
