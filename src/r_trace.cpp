// The trace: a stack of descriptors, each with the graph under construction, and the boxes
// that stand for its values in R. A box is an external pointer to a value that its
// descriptor keeps, so boxes need no finalizer. An inner graph refers to values of outer
// graphs directly; they are listed among its constants. Captured tensors are known by
// identity in the outermost descriptor.
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "primitives/composite.h"
#include "r_common.h"
#include "r_routines.h"

namespace anvil::r {
namespace {

struct Descriptor {
  GraphPtr graph = std::make_shared<Graph>();
  Descriptor* parent = nullptr;
  SEXP handle = R_NilValue;
  bool live = true;
  std::shared_ptr<Locations> locations;
  std::deque<ValuePtr> boxes;                          // addresses stay
  std::unordered_set<const Value*> listed;             // among the graph's constants
  std::unordered_map<SEXP, ValuePtr> tensors;          // outermost: captured tensors
};

std::vector<Descriptor*> stack;

Descriptor& current() {
  if (stack.empty())
    throw Error("trace", "No graph is currently being built.", {"i Did you forget to use `jit()` or `trace_fn()`?"});
  return *stack.back();
}

SEXP new_box(Descriptor& d, const ValuePtr& v) {  // may jump
  d.boxes.push_back(v);
  SEXP box = PROTECT(R_MakeExternalPtr(&d.boxes.back(), R_NilValue, d.handle));
  Rf_setAttrib(box, R_ClassSymbol, names.graph_box);
#if R_VERSION < R_Version(4, 3, 0)
  SET_S4_OBJECT(box);
#endif
  UNPROTECT(1);
  return box;
}

void list_constant(Descriptor& d, const ValuePtr& v) {
  if (d.listed.insert(v.get()).second) d.graph->constants.push_back(v);
}
// A captured tensor is a constant of every graph from here to the outermost one.
void capture(const ValuePtr& v) {
  for (Descriptor* d = &current(); d != nullptr; d = d->parent) list_constant(*d, v);
}

ValuePtr captured_tensor(SEXP tensor) {
  ValuePtr& v = stack.front()->tensors[tensor];
  if (!v) v = graph::make_constant(hold(tensor));
  capture(v);
  return v;
}

Descriptor& descriptor_of(SEXP box) {
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

[[noreturn]] void not_a_tensor(SEXP x, const std::string& name) {
  std::string argument = name.empty() ? "An operand" : "`" + name + "`";
  if (class_of(x) == Class::abstract)
    throw Error("argument", argument + " must be a tensor, not an AbstractTensor.",
                {"i For debugging, `debug_box()` makes a box of a given type."});
  std::vector<std::string> details = {"x Got " + describe(x) + "."};
  if (is_data(x)) details.push_back("i Vectors do not become tensors by themselves: use `array(x)` or `nv_tensor(x)`.");
  else if (class_of(x) == Class::buffer) details.push_back("i Use `nv_tensor()` to make a tensor of the buffer.");
  throw Error("argument", argument + " must be a tensor or a single number.", details);
}

bool is_literal(SEXP x) { return is_data(x) && XLENGTH(x) == 1 && Rf_getAttrib(x, R_DimSymbol) == R_NilValue; }
bool is_array(SEXP x) { return is_data(x) && Rf_getAttrib(x, R_DimSymbol) != R_NilValue; }

ValuePtr literal_of(SEXP x) {
  if ((TYPEOF(x) == LGLSXP && LOGICAL_ELT(x, 0) == NA_LOGICAL) || (TYPEOF(x) == INTSXP && INTEGER_ELT(x, 0) == NA_INTEGER))
    throw Error("missing", "Tensors know NaN, but no NA.", {"i Use `NaN` or `NA_real_`."});
  return graph::make_literal(scalar_of(x), {default_dtype(x), {}, TYPEOF(x) != LGLSXP});
}

SEXP array_tensor(SEXP x, const DType* dtype) { return make_tensor(x, dtype, shape_of_data(x), TYPEOF(x) != LGLSXP, false); }

int location_of_call(Locations& locations) {
  Shield<SEXP> where(call_r("located_call", {}));
  if (where == R_NilValue) return -1;
  locations.list.emplace_back(where);
  return static_cast<int>(locations.list.size()) - 1;
}

bool has_nan(const Tensor& t) {
  bool found = false;
  if (is_float(t.type.dtype)) visit_float(t.type.dtype, [&]<class T>() {
    const T* p = t.as<T>();
    for (int64_t i = 0, n = elements(t.type.shape); i < n && !found; ++i) found = p[i] != p[i];
  });
  return found;
}

}  // namespace

bool tracing() { return !stack.empty(); }

bool interrupted() {
  return R_ToplevelExec([](void*) { R_CheckUserInterrupt(); }, nullptr) == FALSE;
}

std::vector<Tensor> evaluate_graph(const Graph& g, const std::vector<Tensor>& inputs) {
  eigen::Options options;
  options.interrupted = interrupted;
  if (SEXP option = Rf_GetOption1(names.check_nan); Rf_isLogical(option) && Rf_asLogical(option) == TRUE) {
    for (const Tensor& t : inputs)
      if (has_nan(t)) return eigen::evaluate(*primitives::expand(g, true), inputs, options);
    options.observe = [](const graph::Call& call, const Tensor& t) {
      if (has_nan(t))
        throw Error("nan", "`" + call.primitive->name + "` produced NaN.", {"i It is the first call that did: no operand has one."});
    };
  }
  return eigen::evaluate(*primitives::expand(g, true), inputs, options);
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
#if R_VERSION < R_Version(4, 3, 0)
  SET_S4_OBJECT(box);
#endif
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

// --- one call, in a trace or at once --------------------------------------------------------

struct Recording::Debug {
  Graph graph;
  std::vector<Tensor> inputs;
  bool abstract = false;
  std::unordered_map<SEXP, ValuePtr> known;
  std::vector<Kept> kept;
  ValuePtr input(SEXP tensor) {
    ValuePtr& v = known[tensor];
    if (!v) {
      inputs.push_back(hold(tensor));
      v = graph::make_value(Value::Kind::input, inputs.back().type);
      graph.inputs.push_back(v);
    }
    return v;
  }
  ValuePtr unknown(const TensorType& type) {
    abstract = true;
    graph.inputs.push_back(graph::make_value(Value::Kind::input, type));
    return graph.inputs.back();
  }
};

Recording::Recording() {
  if (!tracing()) debug_ = std::make_unique<Debug>();
}
Recording::~Recording() = default;
Graph& Recording::graph() { return debug_ ? debug_->graph : *current().graph; }
int Recording::location() { return debug_ ? -1 : location_of_call(*current().locations); }

ValuePtr Recording::operand(SEXP x, const std::string& name) {
  switch (class_of(x)) {
    case Class::graph_box: return unboxed(x);
    case Class::tensor: return debug_ ? debug_->input(x) : captured_tensor(x);
    case Class::debug_box: {
      SEXP tensor = concrete_of(x);
      if (tensor != R_NilValue) return debug_ ? debug_->input(tensor) : captured_tensor(tensor);
      if (!debug_) throw Error("trace", "A debug box without data cannot be used inside of a trace.", {"i Make it an argument of the traced function."});
      return debug_->unknown(type_of(abstract_tag_of(x)));
    }
    default: break;
  }
  if (is_literal(x)) return literal_of(x);
  if (!is_array(x)) not_a_tensor(x, name);
  Shield<SEXP> tensor(array_tensor(x, nullptr));
  return debug_ ? debug_->input(tensor) : captured_tensor(tensor);
}

// R arrays enter with the common dtype at once, so that no digit of theirs is lost.
std::vector<ValuePtr> Recording::promoted(SEXP operands, const std::vector<std::string>& labels, bool broadcast) {
  std::vector<ValuePtr> values(static_cast<size_t>(XLENGTH(operands)));
  bool first = true, arrays = false;
  primitives::CommonType common{};
  for (size_t i = 0; i < values.size(); ++i) {
    SEXP x = VECTOR_ELT(operands, static_cast<R_xlen_t>(i));
    primitives::CommonType type{};
    if (is_array(x)) {
      arrays = true;
      type = {default_dtype(x), TYPEOF(x) != LGLSXP};
    } else {
      values[i] = operand(x, labels.empty() ? "" : labels[std::min(i, labels.size() - 1)]);
      type = {values[i]->type.dtype, values[i]->type.ambiguous};
    }
    common = first ? type : primitives::common_dtype(common, type);
    first = false;
  }
  for (size_t i = 0; arrays && i < values.size(); ++i) {
    if (values[i]) continue;
    Shield<SEXP> tensor(array_tensor(VECTOR_ELT(operands, static_cast<R_xlen_t>(i)), &common.dtype));
    values[i] = debug_ ? debug_->input(tensor) : captured_tensor(tensor);
  }
  values = primitives::promote(graph(), std::move(values));
  return broadcast ? primitives::broadcast_scalars(graph(), std::move(values)) : values;
}

SEXP Recording::finish(const std::vector<ValuePtr>& results) {
  R_xlen_t n = static_cast<R_xlen_t>(results.size());
  if (!debug_) {
    Descriptor& d = current();
    if (n == 1) return guarded([&] { return new_box(d, results[0]); });
    return guarded([&] {
      SEXP list = PROTECT(Rf_allocVector(VECSXP, n));
      for (R_xlen_t i = 0; i < n; ++i) SET_VECTOR_ELT(list, i, new_box(d, results[static_cast<size_t>(i)]));
      UNPROTECT(1);
      return list;
    });
  }
  std::vector<Tensor> data;
  if (!debug_->abstract) {
    debug_->graph.outputs = results;
    data = evaluate_graph(debug_->graph, debug_->inputs);
    for (size_t i = 0; i < data.size(); ++i)  // a type may differ in its ambiguity
      data[i].type = results[i]->type;
  }
  auto box = [&](size_t i) { return debug_result(results[i], debug_->abstract ? nullptr : &data[i]); };
  if (n == 1) return box(0);
  Shield<SEXP> list(guarded([&] { return Rf_allocVector(VECSXP, n); }));
  for (R_xlen_t i = 0; i < n; ++i) SET_VECTOR_ELT(list, i, box(static_cast<size_t>(i)));
  return list;
}

SEXP anvil_record(SEXP name, SEXP operands, SEXP params) {
  return entry([&] {
    const Primitive& p = primitive_named(name);
    Recording recording;
    std::vector<ValuePtr> values;
    values.reserve(static_cast<size_t>(XLENGTH(operands)));
    for (R_xlen_t i = 0; i < XLENGTH(operands); ++i)
      values.push_back(recording.operand(VECTOR_ELT(operands, i), p.operands.empty() ? "" : p.operands[std::min(static_cast<size_t>(i), p.operands.size() - 1)]));
    return recording.finish(primitives::record(recording.graph(), p, std::move(values), params_from(p, params), recording.location()));
  });
}

// mode: 0 common dtype, 1 also scalars spread over the common shape
SEXP anvil_record_promoted(SEXP name, SEXP operands, SEXP params, SEXP mode) {
  return entry([&] {
    const Primitive& p = primitive_named(name);
    Recording recording;
    std::vector<ValuePtr> values = recording.promoted(operands, p.operands, Rf_asInteger(mode) > 0);
    return recording.finish(primitives::record(recording.graph(), p, std::move(values), params_from(p, params), recording.location()));
  });
}

static SEXP as_list(SEXP x, size_t n) {
  if (n != 1) return x;
  Shield<SEXP> box(x);
  return guarded([&] {
    SEXP list = PROTECT(Rf_allocVector(VECSXP, 1));
    SET_VECTOR_ELT(list, 0, box);
    UNPROTECT(1);
    return list;
  });
}

SEXP anvil_promote(SEXP operands, SEXP mode) {
  return entry([&] {
    Recording recording;
    if (XLENGTH(operands) == 0) return operands;
    std::vector<ValuePtr> values = recording.promoted(operands, {}, Rf_asInteger(mode) > 0);
    return as_list(recording.finish(values), values.size());
  });
}

SEXP anvil_broadcast(SEXP operands) {
  return entry([&] {
    Recording recording;
    std::vector<ValuePtr> values;
    for (R_xlen_t i = 0; i < XLENGTH(operands); ++i) values.push_back(recording.operand(VECTOR_ELT(operands, i), ""));
    values = primitives::broadcast_scalars(recording.graph(), std::move(values));
    return as_list(recording.finish(values), values.size());
  });
}

SEXP anvil_common_dtype(SEXP a, SEXP b, SEXP a_ambiguous, SEXP b_ambiguous) {
  return entry([&] {
    auto type = [](SEXP code, SEXP ambiguous) {
      return primitives::CommonType{static_cast<DType>(Rf_asInteger(code)), Rf_asLogical(ambiguous) == TRUE};
    };
    primitives::CommonType common = primitives::common_dtype(type(a, a_ambiguous), type(b, b_ambiguous));
    return guarded([&] { return integers({static_cast<int64_t>(common.dtype), common.ambiguous}); });
  });
}

// The calls of a graph, on these arguments.
SEXP anvil_inline(SEXP graph, SEXP arguments) {
  return entry([&] {
    const GraphHolder& holder = graph_of(graph);
    Recording recording;
    std::vector<ValuePtr> values;
    for (R_xlen_t i = 0; i < XLENGTH(arguments); ++i) values.push_back(recording.operand(VECTOR_ELT(arguments, i), ""));
    if (tracing())
      for (const ValuePtr& v : holder.graph->constants)
        if (v->kind == Value::Kind::constant) capture(v);
    std::vector<ValuePtr> results = graph::inline_calls(*holder.graph, values, recording.graph());
    return as_list(recording.finish(results), results.size());
  });
}

// --- the stack of descriptors ------------------------------------------------------------

SEXP anvil_push(SEXP cls) {
  return entry([&] {
    auto* d = new Descriptor;
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

std::vector<ValuePtr> run_rule_in_trace(SEXP rule, primitives::ReverseStep& step, const std::shared_ptr<Locations>& locations) {
  Shield<SEXP> handle(anvil_push(names.descriptor));
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
      case Class::debug_box: type = type_of(TYPEOF(x) == LGLSXP ? R_ExternalPtrTag(concrete_of(x)) : abstract_tag_of(x)); break;
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

SEXP anvil_box(SEXP x) {
  return entry([&] {
    Recording recording;
    return recording.finish({recording.operand(x, "")});
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
