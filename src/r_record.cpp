// One call: its operands are boxed into the current graph and the call is recorded, or,
// outside of a trace, they are the inputs of a graph that is evaluated at once and thrown
// away. Each recorded call keeps the user's R call.
#include "primitives/composite.h"
#include "r_descriptor.h"
#include "r_routines.h"

namespace anvil::r {

[[noreturn]] void not_a_tensor(SEXP x, const std::string& name) {
  std::string argument = name.empty() ? "An operand" : "`" + name + "`";
  if (class_of(x) == Class::abstract)
    throw Error("argument", argument + " must be a tensor, not an AbstractTensor.",
                {"i For debugging, `debug_box()` makes a box of a given type; `eq_type()` compares types."});
  std::vector<std::string> details = {"x Got " + describe(x) + "."};
  if (is_data(x))
    details.push_back("i Vectors do not become tensors by themselves: use `array(x)` or `nv_tensor(x)`.");
  else if (class_of(x) == Class::buffer)
    details.push_back("i Use `nv_tensor()` to make a tensor of the buffer.");
  throw Error("argument", argument + " must be a tensor or a single number.", details);
}

bool is_literal(SEXP x) { return is_data(x) && XLENGTH(x) == 1 && Rf_getAttrib(x, R_DimSymbol) == R_NilValue; }
bool is_array(SEXP x) { return is_data(x) && Rf_getAttrib(x, R_DimSymbol) != R_NilValue; }

namespace {

ValuePtr literal_of(SEXP x) {
  if ((TYPEOF(x) == LGLSXP && LOGICAL_ELT(x, 0) == NA_LOGICAL) ||
      (TYPEOF(x) == INTSXP && INTEGER_ELT(x, 0) == NA_INTEGER))
    throw Error("missing", "Tensors know NaN, but no NA.", {"i Use `NaN` or `NA_real_`."});
  return graph::make_literal(scalar_of(x), {default_dtype(x), {}, TYPEOF(x) != LGLSXP});
}

SEXP array_tensor(SEXP x, const DType* dtype) {
  return make_tensor(x, dtype, shape_of_data(x), TYPEOF(x) != LGLSXP, false);
}

bool is_own(SEXP frame) {
  SEXP around = frame;
  while (around != R_EmptyEnv && around != R_GlobalEnv && around != R_BaseEnv && around != names.environment)
    around = ENCLOS(around);
  return around == names.environment && frame != names.environment;
}

// The user's call: that of the outermost function of the package that led to `frame`.
int location_of_call(Locations& locations, SEXP frame) {
  Shield<SEXP> call(guarded([&] {
    for (;;) {
      SEXP parent = Rf_eval(names.parent_frame, frame);
      if (!is_own(parent)) break;
      frame = parent;
    }
    SEXP found = Rf_eval(names.sys_call, frame);
    SEXP generic = Rf_findVarInFrame(frame, names.generic);
    if (TYPEOF(generic) == STRSXP && TYPEOF(found) == LANGSXP) {  // an operator called a method
      PROTECT(found);
      SETCAR(found, Rf_installChar(STRING_ELT(generic, 0)));
      UNPROTECT(1);
    }
    return found;
  }));
  if (TYPEOF(call) != LANGSXP) return -1;
  locations.list.emplace_back(call);
  return static_cast<int>(locations.list.size()) - 1;
}

bool has_nan(const Tensor& t) {
  bool found = false;
  if (is_float(t.type.dtype))
    visit_float(t.type.dtype, [&]<class T>() {
      const T* p = t.as<T>();
      for (int64_t i = 0, n = elements(t.type.shape); i < n && !found; ++i) found = p[i] != p[i];
    });
  return found;
}

}  // namespace

bool interrupted() {
  return R_ToplevelExec([](void*) { R_CheckUserInterrupt(); }, nullptr) == FALSE;
}

std::vector<Tensor> evaluate_graph(const Graph& g, const std::vector<Tensor>& inputs) {
  eigen::Options options;
  options.interrupted = interrupted;
  if (SEXP option = Rf_GetOption1(names.check_nan); Rf_isLogical(option) && Rf_asLogical(option) == TRUE) {
    for (const Tensor& t : inputs)
      if (has_nan(t)) return eigen::evaluate(g, inputs, options);
    options.observe = [](const graph::Call& call, const Tensor& t) {
      if (has_nan(t))
        throw Error("nan", "`" + call.primitive->name + "` produced NaN.",
                    {"i It is the first call that did: no operand has one."});
    };
  }
  return eigen::evaluate(g, inputs, options);
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

Recording::Recording(SEXP frame) : frame_(frame) {
  if (tracing())
    first_ = graph().calls.size();
  else
    debug_ = std::make_unique<Debug>();
}
Recording::~Recording() = default;
Graph& Recording::graph() { return debug_ ? debug_->graph : *current().graph; }

// The calls of this recording that nobody else made are the user's call.
void Recording::locate() {
  if (frame_ == nullptr) return;
  int location = -1;
  auto& calls = graph().calls;
  for (size_t i = first_; i < calls.size(); ++i) {
    if (calls[i].location >= 0) continue;
    if (location < 0 && (location = location_of_call(*current().locations, frame_)) < 0) return;
    calls[i].location = location;
  }
}

ValuePtr Recording::operand(SEXP x, const std::string& name) {
  switch (class_of(x)) {
    case Class::graph_box: return unboxed(x);
    case Class::tensor: return debug_ ? debug_->input(x) : captured_tensor(x);
    case Class::debug_box: {
      SEXP tensor = concrete_of(x);
      if (tensor != R_NilValue) return debug_ ? debug_->input(tensor) : captured_tensor(tensor);
      if (!debug_ && stack.front()->types_only) return unknown_value(x);
      if (!debug_)
        throw Error("trace", "A debug box without data cannot be used inside of a trace.",
                    {"i Make it an argument of the traced function."});
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
    locate();
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

namespace {
// The arguments of an .External2 call: what follows the routine's name.
struct External {
  SEXP rest;
  SEXP next() {
    rest = CDR(rest);
    return CAR(rest);
  }
};
}  // namespace

// name, operands, params
SEXP anvil_record(SEXP, SEXP, SEXP args, SEXP frame) {
  return entry([&] {
    External arguments{args};
    SEXP name = arguments.next(), operands = arguments.next(), params = arguments.next();
    const Primitive& p = primitive_named(name);
    Recording recording(frame);
    std::vector<ValuePtr> values;
    values.reserve(static_cast<size_t>(XLENGTH(operands)));
    for (R_xlen_t i = 0; i < XLENGTH(operands); ++i)
      values.push_back(recording.operand(
          VECTOR_ELT(operands, i),
          p.operands.empty() ? "" : p.operands[std::min(static_cast<size_t>(i), p.operands.size() - 1)]));
    return recording.finish(primitives::record(recording.graph(), p, std::move(values), params_from(p, params)));
  });
}

// name, operands, params, and whether scalars are spread over the common shape
SEXP anvil_record_promoted(SEXP, SEXP, SEXP args, SEXP frame) {
  return entry([&] {
    External arguments{args};
    SEXP name = arguments.next(), operands = arguments.next(), params = arguments.next(), broadcast = arguments.next();
    const Primitive& p = primitive_named(name);
    Recording recording(frame);
    std::vector<ValuePtr> values = recording.promoted(operands, p.operands, Rf_asLogical(broadcast) == TRUE);
    return recording.finish(primitives::record(recording.graph(), p, std::move(values), params_from(p, params)));
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
    std::vector<std::string> labels;
    SEXP given = Rf_getAttrib(operands, R_NamesSymbol);
    for (R_xlen_t i = 0; i < Rf_xlength(given); ++i) labels.emplace_back(CHAR(STRING_ELT(given, i)));
    std::vector<ValuePtr> values = recording.promoted(operands, labels, Rf_asInteger(mode) > 0);
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

}  // namespace anvil::r
