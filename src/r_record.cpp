// One call: its operands are boxed into the current graph and the call is recorded, or,
// outside of a trace, they are the inputs of a graph that is evaluated at once and thrown
// away. Each recorded call keeps the user's R call.
#include <limits>

#include "primitives/vocabulary/composite.h"
#include "primitives/vocabulary/simplification.h"
#include "primitives/vocabulary/var.h"
#include "r_descriptor.h"
#include "r_routines.h"

namespace anvil::r {

static std::string quoted(const std::string& name) { return name.empty() ? "An operand" : "`" + name + "`"; }
static const std::string& label_of(const std::vector<std::string>& labels, size_t i) {
  static const std::string none;
  return labels.empty() ? none : labels[std::min(i, labels.size() - 1)];
}

[[noreturn]] void not_a_tensor(SEXP x, const std::string& name) {
  std::string argument = quoted(name);
  if (class_of(x) == Class::abstract)
    throw Error("argument", argument + " must be a tensor, not an AbstractTensor.",
                {"i For debugging, `debug_box()` makes a box of a given type; `eq_type()` compares types."});
  std::vector<std::string> details = {"x Got " + describe(x) + "."};
  if (is_data(x))
    details.push_back("i Vectors do not become tensors by themselves: use `array(x)` or `nv_tensor(x)`.");
  else if (class_of(x) == Class::buffer)
    details.push_back("i Use `nv_tensor()` to make a tensor of the buffer.");
  throw Error("argument", argument + " must be a tensor, an R array or a number.", details);
}

bool is_literal(SEXP x) { return is_data(x) && XLENGTH(x) == 1 && Rf_getAttrib(x, R_DimSymbol) == R_NilValue; }
bool is_array(SEXP x) { return is_data(x) && Rf_getAttrib(x, R_DimSymbol) != R_NilValue; }
static bool is_vector(SEXP x) { return is_data(x) && XLENGTH(x) != 1 && Rf_getAttrib(x, R_DimSymbol) == R_NilValue; }

TensorType type_of_data(SEXP x) {
  bool ambiguous = TYPEOF(x) != LGLSXP;
  if (is_literal(x)) return {default_dtype(x), {}, ambiguous};
  return {array_dtype(x), shape_of_data(x), ambiguous};
}

namespace {

ValuePtr literal_of(SEXP x, const std::string& name) {
  const bool logical = TYPEOF(x) == LGLSXP;
  if ((logical && LOGICAL_ELT(x, 0) == NA_LOGICAL) || (TYPEOF(x) == INTSXP && INTEGER_ELT(x, 0) == NA_INTEGER)) {
    std::vector<std::string> fix;
    if (!logical) fix = {"i Use `NaN` or `NA_real_`."};
    throw Error("missing", quoted(name) + " is NA: tensors know NaN, but no NA.", fix);
  }
  return graph::make_literal(scalar_of(x), {default_dtype(x), {}, !logical});
}

ValuePtr literal_of(SEXP aval) {
  Shield<SEXP> tag(call_r("abstract_tag", {aval}));
  return literal_of_type(element_named(aval, "data"), type_of(tag));
}

SEXP array_tensor(SEXP x, DType dtype) { return make_tensor(x, &dtype, shape_of_data(x), TYPEOF(x) != LGLSXP, false); }

}  // namespace

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
  auto& calls = graph().calls;
  const auto is_located = [](const graph::Call& c) { return c.location >= 0; };
  if (std::all_of(calls.begin() + static_cast<std::ptrdiff_t>(first_), calls.end(), is_located)) return;
  Locations& locations = *current().locations;
  const int location = location_of_call(locations, frame_);
  graph::locate(calls, first_, location);
  count_recorded(locations, location);
}

ValuePtr Recording::operand(SEXP x, const std::string& name) {
  switch (class_of(x)) {
    case Class::graph_box: return unboxed(x);
    case Class::tensor: return debug_ ? debug_->input(x) : captured_tensor(x);
    case Class::debug_box:
      if (debug_) return debug_->unknown(type_of(tensor_tag(x)));
      if (stack.front()->purpose == Purpose::types) return unknown_value(x);
      throw Error("trace", "A debug box without data cannot be used inside of a trace.",
                  {"i Make it an argument of the traced function."});
    case Class::abstract:
      if (Rf_inherits(x, "LiteralTensor")) return literal_of(x);
      break;
    default: break;
  }
  if (is_literal(x)) return literal_of(x, name);
  if (!is_array(x)) not_a_tensor(x, name);
  Shield<SEXP> tensor(array_tensor(x, array_dtype(x)));
  return debug_ ? debug_->input(tensor) : captured_tensor(tensor);
}

std::vector<ValuePtr> Recording::operands(SEXP list, const char* argument, const std::vector<std::string>& labels) {
  list_of(list, argument);
  std::vector<ValuePtr> values;
  values.reserve(static_cast<size_t>(XLENGTH(list)));
  for (R_xlen_t i = 0; i < XLENGTH(list); ++i)
    values.push_back(operand(VECTOR_ELT(list, i), label_of(labels, static_cast<size_t>(i))));
  return values;
}

namespace {
// A vector without dimensions goes with tensors of one dimension and its length, and with nothing else: R would recycle.
void check_vector(const TensorType& vector, const std::string& name, const std::vector<ValuePtr>& values,
                  SEXP operands) {
  bool fits = false, wrong = false;
  std::string shapes;
  for (size_t i = 0; i < values.size(); ++i) {
    SEXP x = VECTOR_ELT(operands, static_cast<R_xlen_t>(i));
    const Shape& shape = values[i]->type.shape;
    if (shape.empty() || is_vector(x)) continue;
    (shape == vector.shape ? fits : wrong) = true;
    shapes += (shapes.empty() ? "" : ", ") + in_parentheses(shape);
  }
  if (fits && !wrong) return;
  std::vector<std::string> details = {"x Got a vector of length " + std::to_string(vector.shape[0]) +
                                      (shapes.empty() ? "." : " and shapes " + shapes + ".")};
  if (wrong)
    details.push_back(
        "i `sweep(x, 1, v, \"+\")` adds a vector that is lined up with the rows of a tensor, `sweep(x, 2, v, \"+\")` "
        "with its columns.");
  details.push_back("i Otherwise vectors do not become tensors by themselves: use `array(x)` or `nv_tensor(x)`.");
  throw Error("argument",
              quoted(name) + " is a vector of R: it goes with tensors of one dimension and its length only.", details);
}
}  // namespace

// R arrays enter with the common dtype at once, so that no digit of theirs is lost. Where shapes are
// made equal, vectors may stand for arrays of one dimension.
std::vector<ValuePtr> Recording::promoted(SEXP operands, const std::vector<std::string>& labels, bool broadcast,
                                          Least least) {
  std::vector<ValuePtr> values(static_cast<size_t>(XLENGTH(list_of(operands, "operands"))));
  bool first = true, arrays = false;
  auto enters = [&](SEXP x) { return is_array(x) || (broadcast && is_vector(x)); };
  primitives::CommonType common{};
  for (size_t i = 0; i < values.size(); ++i) {
    SEXP x = VECTOR_ELT(operands, static_cast<R_xlen_t>(i));
    primitives::CommonType type{};
    if (enters(x)) {
      arrays = true;
      type = {array_dtype(x), TYPEOF(x) != LGLSXP};
    } else {
      values[i] = operand(x, label_of(labels, i));
      type = {values[i]->type.dtype, values[i]->type.ambiguous};
    }
    common = first ? type : primitives::common_dtype(common, type);
    first = false;
  }
  if (least == Least::floating && !is_float(common.dtype)) common = {default_float(), true};
  if (least == Least::number && common.dtype == DType::boolean) common = {DType::i32, false};
  for (size_t i = 0; arrays && i < values.size(); ++i) {
    if (values[i]) continue;
    Shield<SEXP> tensor(array_tensor(VECTOR_ELT(operands, static_cast<R_xlen_t>(i)), common.dtype));
    values[i] = debug_ ? debug_->input(tensor) : captured_tensor(tensor);
  }
  for (size_t i = 0; arrays && i < values.size(); ++i)
    if (is_vector(VECTOR_ELT(operands, static_cast<R_xlen_t>(i))))
      check_vector(values[i]->type, label_of(labels, i), values, operands);
  values = primitives::promote(graph(), std::move(values), common);
  return broadcast ? primitives::broadcast_operands(graph(), std::move(values)) : values;
}

SEXP Recording::finish(const std::vector<ValuePtr>& results) {
  R_xlen_t n = static_cast<R_xlen_t>(results.size());
  if (!debug_) {
    locate();
    Descriptor& d = current();
    if (n == 1) return guarded([&] { return new_box(d, results[0]); });
    return new_boxes(d, results);
  }
  std::vector<Tensor> data;
  debug_->graph.outputs = results;
  if (!captures(debug_->graph).empty()) debug_->abstract = true;  // inner graphs may read a box without data
  if (!debug_->abstract) {
    data = evaluate_graph(debug_->graph, debug_->inputs);
    for (size_t i = 0; i < data.size(); ++i)  // a type may differ in its ambiguity
      data[i].type = results[i]->type;
  }
  auto box = [&](size_t i) { return debug_result(results[i], debug_->abstract ? nullptr : &data[i]); };
  if (n == 1) return observed(box(0));
  Shield<SEXP> list(guarded([&] { return Rf_allocVector(VECSXP, n); }));
  for (R_xlen_t i = 0; i < n; ++i) SET_VECTOR_ELT(list, i, box(static_cast<size_t>(i)));
  return observed(list);
}

// What debug mode computed; nv_check() is told of it, with the user's call.
SEXP Recording::observed(SEXP result) const {
  SEXP observe = frame_ == nullptr ? R_NilValue : Rf_GetOption1(names.observe);
  if (!Rf_isFunction(observe)) return result;
  Shield<SEXP> kept(result);
  Locations locations;
  Shield<SEXP> call(locations.at(location_of_call(locations, frame_)));
  return call_r("observed_result", {observe, call, result});
}

// ---- positions, which count from 1 in R and from 0 in the core ---------------------------------

namespace {
using primitives::Var;

// One less, as an i64: no smaller dtype has room for what is left of its smallest number. What has
// no room in an i64 is outside of every tensor before and after.
ValuePtr from_zero(Graph& g, const ValuePtr& index) {
  const DType t = index->type.dtype;
  if (!is_integer(t)) return index;  // an error of the primitive's
  const TensorType wide{DType::i64, index->type.shape};
  constexpr int64_t least = std::numeric_limits<int64_t>::min(), largest = std::numeric_limits<int64_t>::max();
  if (const auto number = primitives::splat(index); number && t != DType::ui64 && number->as<int64_t>() != least)
    return graph::make_literal(number->as<int64_t>() - 1, wide);
  Var x{&g, index};
  if (t == DType::ui64) x = primitives::minimum(x, primitives::literal(x, largest));
  if (t == DType::i64) x = primitives::maximum(x, primitives::literal(x, least + 1));
  return (primitives::convert(x, DType::i64) - primitives::literal(g, 1, wide)).value;
}

std::vector<ValuePtr> record_counting_from_one(Graph& g, const Primitive& p, std::vector<ValuePtr> operands,
                                               graph::Params params) {
  for (size_t k = 0; k < operands.size(); ++k)
    if (p.indices.contains(k, operands.size())) operands[k] = from_zero(g, operands[k]);
  std::vector<ValuePtr> results = primitives::record(g, p, std::move(operands), std::move(params));
  for (size_t k : p.index_results) results[k] = (Var{&g, results[k]} + 1.0).value;
  return results;
}
}  // namespace

// name, operands, params
SEXP anvil_record(SEXP, SEXP, SEXP args, SEXP frame) {
  return entry([&] {
    External arguments{args};
    SEXP name = arguments.next(), operands = arguments.next(), params = arguments.next();
    const Primitive& p = primitive_named(name);
    Recording recording(frame);
    std::vector<ValuePtr> values = recording.operands(operands, "operands", p.operands);
    return recording.finish(record_counting_from_one(recording.graph(), p, std::move(values), params_from(p, params)));
  });
}

static Least least_named(SEXP name) {
  const std::string text = text_of(name, "least");
  return text == "float" ? Least::floating : text == "number" ? Least::number : Least::any;
}

// name, operands, params, whether scalars are spread over the common shape, and what the common
// dtype is at least
SEXP anvil_record_promoted(SEXP, SEXP, SEXP args, SEXP frame) {
  return entry([&] {
    External arguments{args};
    SEXP name = arguments.next(), operands = arguments.next(), params = arguments.next();
    const bool broadcast = flag_of(arguments.next(), "broadcast");
    const Least least = least_named(arguments.next());
    const Primitive& p = primitive_named(name);
    Recording recording(frame);
    std::vector<ValuePtr> values = recording.promoted(operands, p.operands, broadcast, least);
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

static std::vector<std::string> names_of(SEXP list) { return texts_of(Rf_getAttrib(list, R_NamesSymbol), "names"); }

SEXP anvil_promote(SEXP operands, SEXP broadcast) {
  return entry([&] {
    Recording recording;
    if (XLENGTH(list_of(operands, "operands")) == 0) return operands;
    std::vector<ValuePtr> values = recording.promoted(operands, names_of(operands), flag_of(broadcast, "broadcast"));
    return as_list(recording.finish(values), values.size());
  });
}

// stretch: whether dimensions of size 1 are repeated, too
SEXP anvil_broadcast(SEXP operands, SEXP stretch) {
  return entry([&] {
    Recording recording;
    auto broadcast = flag_of(stretch, "stretch") ? primitives::broadcast_operands : primitives::broadcast_scalars;
    std::vector<ValuePtr> values =
        broadcast(recording.graph(), recording.operands(operands, "operands", names_of(operands)));
    return as_list(recording.finish(values), values.size());
  });
}

// The calls of a graph, on these arguments.
SEXP anvil_inline(SEXP graph, SEXP arguments) {
  return entry([&] {
    const GraphHolder& holder = graph_of(graph);
    Recording recording;
    std::vector<ValuePtr> values = recording.operands(arguments, "arguments");
    if (values.size() != holder.graph->inputs.size())
      throw Error("argument", "The graph has " + std::to_string(holder.graph->inputs.size()) + " inputs.",
                  {"x Got " + std::to_string(values.size()) + "."});
    for (size_t i = 0; i < values.size(); ++i)
      if (const TensorType& type = holder.graph->inputs[i]->type; !graph::same_type(values[i]->type, type))
        throw Error("argument",
                    "Argument " + std::to_string(i + 1) + " of the graph must be " + graph::text(type) + ".",
                    {"x Got " + graph::text(values[i]->type) + "."});
    if (tracing())
      for (const ValuePtr& v : holder.graph->constants)
        if (v->kind == Value::Kind::constant) capture(v);
    const size_t first = recording.graph().calls.size();
    std::vector<ValuePtr> results = graph::inline_calls(*holder.graph, values, recording.graph());
    if (tracing()) adopt_locations(recording.graph(), first, holder.locations.get());
    SEXP found = naming_calls(holder.locations.get(), [&] { return recording.finish(results); });
    return as_list(found, results.size());
  });
}

}  // namespace anvil::r
