// What graphs are made of, as R objects: values with their labels and types, and calls. A value keeps the graph that
// it belongs to; an inner graph knows the program around it, so that labels are those of the whole.
#include <cinttypes>
#include <cstdio>

#include "primitives/vocabulary/composite.h"
#include "r_descriptor.h"
#include "r_routines.h"

namespace anvil::r {

// A literal as an R number, or as text where R has none: a double has no room for all integers.
static SEXP literal_data(const Value& v) {  // may jump
  if (is_bool(v.type.dtype)) return Rf_ScalarLogical(v.literal.as<bool>());
  if (is_float(v.type.dtype)) return Rf_ScalarReal(v.literal.as<double>());
  constexpr uint64_t room = uint64_t(1) << 53;
  const auto value = v.literal.as<int64_t>();
  const bool fits = v.type.dtype == DType::ui64
                        ? v.literal.as<uint64_t>() <= room
                        : value >= -static_cast<int64_t>(room) && value <= static_cast<int64_t>(room);
  if (fits) return number(value);
  char text[32];
  if (v.type.dtype == DType::ui64)
    std::snprintf(text, sizeof text, "%" PRIu64, v.literal.as<uint64_t>());
  else
    std::snprintf(text, sizeof text, "%" PRId64, value);
  return Rf_mkString(text);
}

// AbstractTensor, ConcreteTensor or LiteralTensor, as R's constructors make them.
SEXP abstract_of(const ValuePtr& v) {
  Shield<SEXP> tag(guarded([&] { return tag_of(v->type); }));
  Shield<SEXP> data(v->kind == Value::Kind::constant  ? tensor_from(v->constant)
                    : v->kind == Value::Kind::literal ? guarded([&] { return literal_data(*v); })
                                                      : R_NilValue);
  Shield<SEXP> kind(guarded([&] { return Rf_ScalarInteger(static_cast<int>(v->kind)); }));
  return call_r("abstract_value", {tag, data, kind});
}

// --- labels --------------------------------------------------------------------------------

static void find_ranges(const Graph& g, const Primitive* iota, Program& found) {
  for (const graph::Call& c : g.calls) {
    if (c.primitive == iota) found.ranges.emplace(c.outputs[0].get(), c.params);
    for (const GraphPtr& inner : subgraphs(c)) find_ranges(*inner, iota, found);
  }
}

const Program& program_of(const GraphHolder& holder) {
  if (!holder.program) {
    auto program = std::make_shared<Program>();
    program->labels = graph::labels_of(*holder.graph);
    find_ranges(*holder.graph, primitives::registry().find("iota"), *program);
    std::unordered_set<const Value*> known;  // from outside
    for (const ValuePtr& v : holder.graph->constants) known.insert(v.get());
    for (const auto& entry : program->labels)
      if (entry.first->kind != Value::Kind::constant && !known.count(entry.first))
        program->numbers.emplace(entry.first, program->numbers.size() + 1);
    holder.program = std::move(program);
  }
  return *holder.program;
}

// --- values ----------------------------------------------------------------------------------

// A node of a graph; its address is the value's, so that equal nodes are identical in R.
static SEXP node(const ValuePtr& v, SEXP graph) {  // may jump
  bool literal = v->kind == Value::Kind::literal;
  SEXP x = PROTECT(R_MakeExternalPtr(v.get(), names.a_node, graph));
  Rf_setAttrib(x, R_ClassSymbol, literal ? names.graph_literal : names.graph_value);
  UNPROTECT(1);
  return x;
}
SEXP nodes(const std::vector<ValuePtr>& values, SEXP graph) {
  return guarded([&] {
    SEXP list = PROTECT(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(values.size())));
    for (size_t i = 0; i < values.size(); ++i) SET_VECTOR_ELT(list, static_cast<R_xlen_t>(i), node(values[i], graph));
    UNPROTECT(1);
    return list;
  });
}

Node node_of(SEXP x) {
  if (!is_kind(x, names.a_node)) throw wrong_argument("x", "a value of a graph", x);
  auto* v = owned<Value>(x, names.a_node);
  if (v == nullptr)
    throw Error("argument", "This value of a graph was saved in another session.",
                {"i Take it from the graph again, which is restored."});
  const GraphHolder& holder = graph_of(R_ExternalPtrProtected(x));
  return {holder, ValuePtr(holder.graph, v)};
}

SEXP anvil_value_abstract(SEXP x) {
  return entry([&] {
    const Node n = node_of(x);
    Shield<SEXP> type(abstract_of(n.value));
    if (n.value->kind != Value::Kind::result) return static_cast<SEXP>(type);
    const auto& ranges = program_of(n.holder).ranges;
    const auto at = ranges.find(n.value.get());
    if (at == ranges.end()) return static_cast<SEXP>(type);
    const graph::Call call{primitives::registry().find("iota"), {}, at->second, {n.value}};
    Shield<SEXP> params(params_to(call, nullptr));
    return call_r("range_type", {type, params});
  });
}

template <class F>
static SEXP texts_of_nodes(SEXP list, F&& text_of_node) {
  return entry([&] {
    std::vector<std::string> texts;
    for (R_xlen_t i = 0; i < XLENGTH(list_of(list, "nodes")); ++i) {
      const Node n = node_of(VECTOR_ELT(list, i));
      texts.push_back(text_of_node(graph::label(program_of(n.holder).labels, n.value)));
    }
    return guarded([&] { return strings(texts); });
  });
}
// The labels of a list of values; of a literal its text.
SEXP anvil_labels(SEXP list) {
  return texts_of_nodes(list, [](const std::string& label) { return label; });
}
// What R code calls them, with `dot` before it: %2.1 is v2.1, %c1 is c1, and %2.x1, an input of an inner graph, x2.1.
SEXP anvil_names(SEXP list, SEXP dot) {
  return texts_of_nodes(list, [dot](const std::string& label) {
    const size_t kind = label.find_first_of("xc");
    const std::string scope = label.substr(1, kind == label.npos ? kind : kind - 1);
    return text_of(dot, "dot") + (kind == label.npos ? "v" + scope : label[kind] + scope + label.substr(kind + 1));
  });
}

// A value of no graph yet: of a type, a captured tensor, a literal, or a range of numbers by its parameters.
SEXP anvil_new_node(SEXP type, SEXP data, SEXP range) {
  return entry([&] {
    auto alone = std::make_shared<Graph>();
    ValuePtr v;
    if (range != R_NilValue) {
      const Primitive& p = *primitives::registry().find("iota");
      v = primitives::record(*alone, p, {}, params_from(p, range)).at(0);
    } else if (class_of(data) == Class::tensor) {
      v = graph::make_constant(hold(data));
      alone->constants = {v};
    } else if (data != R_NilValue) {
      v = literal_of_type(data, type_of(type));
    } else {
      v = graph::make_value(Value::Kind::input, type_of(type));
      alone->inputs = {v};
    }
    alone->outputs = {v};
    Shield<SEXP> graph(wrap_graph(alone, nullptr, R_NilValue));
    Shield<SEXP> list(nodes(alone->outputs, graph));
    return VECTOR_ELT(list, 0);
  });
}

// --- calls -----------------------------------------------------------------------------------

namespace {

// What a call owns besides its parameters, to be recorded again with it: NULL where that is nothing.
SEXP kept_of(const graph::Call& c) {
  const auto is_owned = [](const graph::Param& p) { return std::holds_alternative<graph::Owned>(p.value); };
  const auto found = std::find_if(c.params.items.begin(), c.params.items.end(), is_owned);
  if (found == c.params.items.end()) return R_NilValue;
  return own(std::make_unique<graph::Call>(graph::Call{c.primitive, {}, c.params, {}}), names.a_call, R_NilValue,
             rules_behind(std::get<graph::Owned>(found->value)));
}

// The same of a call that was saved: its rules, with an empty definition, which the call to record has.
const graph::Call& kept_call(SEXP x) {
  if (auto* kept = owned<graph::Call>(x, names.a_call)) return *kept;
  SEXP made_of = R_ExternalPtrProtected(x);
  if (TYPEOF(made_of) != VECSXP || XLENGTH(made_of) != 2)
    throw Error("argument", "This call was saved in another session, and what it owns is not there any more.");
  auto primitive = primitive_of_rules(VECTOR_ELT(made_of, 0), VECTOR_ELT(made_of, 1));
  graph::Call call{primitive.get(), {}, {}, {}};
  call.params = {{"definition", std::make_shared<Graph>()}, {"rules", graph::Owned(std::move(primitive))}};
  adopt(x, std::make_unique<graph::Call>(std::move(call)));
  return *owned<graph::Call>(x, names.a_call);
}

// One call after the other as R objects. Those of one primitive share the object that stands for it.
class Calls {
 public:
  Calls(const GraphHolder& holder, SEXP graph) : holder_(holder), graph_(graph) {}
  SEXP all() {
    const auto& calls = holder_.graph->calls;
    Shield<SEXP> list(guarded([&] { return Rf_allocVector(VECSXP, static_cast<R_xlen_t>(calls.size())); }));
    for (size_t i = 0; i < calls.size(); ++i) {
      poll();
      SET_VECTOR_ELT(list, static_cast<R_xlen_t>(i), one(calls[i]));
    }
    return list;
  }

 private:
  SEXP one(const graph::Call& c) {
    if (!holder_.program && !subgraphs(c).empty()) program_of(holder_);
    Shield<SEXP> primitive(primitive_of(c)), inputs(nodes(c.inputs, graph_)), outputs(nodes(c.outputs, graph_));
    Shield<SEXP> params(params_to(c, holder_.locations, holder_.program));
    SEXP where = holder_.locations ? holder_.locations->at(c.location) : R_NilValue;
    return guarded([&] {
      static const char* fields[] = {"primitive", "inputs", "params", "outputs", "location", ""};
      SEXP call = PROTECT(Rf_mkNamed(VECSXP, fields));
      SEXP parts[] = {primitive, inputs, params, outputs, where};
      for (R_xlen_t i = 0; i < 5; ++i) SET_VECTOR_ELT(call, i, parts[i]);
      Rf_setAttrib(call, R_ClassSymbol, names.primitive_call);
      UNPROTECT(1);
      return call;
    });
  }
  SEXP primitive_of(const graph::Call& c) {
    const Primitive& p = primitives::primitive_of(c);
    Shield<SEXP> kept(kept_of(c));
    if (kept == R_NilValue)
      if (const auto at = known_.find(&p); at != known_.end()) return at->second.get();
    Shield<SEXP> name(guarded([&] { return string(p.key.empty() ? p.name : p.key); }));
    Shield<SEXP> found(call_r("primitive_of_call", {name, kept}));
    if (kept == R_NilValue) known_.emplace(&p, found);
    return found;
  }

  const GraphHolder& holder_;
  SEXP graph_;
  std::unordered_map<const Primitive*, Kept> known_;
};

// Numbers of values, which no two of a program share; 0 of what no call makes.
SEXP numbers_of(const Program& program, const std::vector<ValuePtr>& values) {
  std::vector<int64_t> found;
  for (const ValuePtr& v : values) {
    const auto at = program.numbers.find(v.get());
    found.push_back(at == program.numbers.end() ? 0 : at->second);
  }
  return guarded([&] { return integers(found); });
}

}  // namespace

SEXP anvil_graph_field(SEXP graph, SEXP field) {
  return entry([&]() -> SEXP {
    const GraphHolder& holder = graph_of(graph);
    std::string name = text_of(field, "field");
    if (name == "inputs") return nodes(holder.graph->inputs, graph);
    if (name == "outputs") return nodes(holder.graph->outputs, graph);
    if (name == "constants") return nodes(holder.graph->constants, graph);
    if (name == "calls") return Calls(holder, graph).all();
    return R_NilValue;
  });
}

// What a walk over a graph needs of it: its calls, what each of them reads and makes, by numbers, and whether it has inner
// graphs; what the graph gives, and how many numbers the program has.
SEXP anvil_scope(SEXP graph) {
  return entry([&] {
    const GraphHolder& holder = graph_of(graph);
    const Program& program = program_of(holder);
    const Graph& g = *holder.graph;
    const auto n = static_cast<R_xlen_t>(g.calls.size());
    Shield<SEXP> calls(Calls(holder, graph).all()), inputs(numbers_of(program, g.inputs));
    Shield<SEXP> outputs(numbers_of(program, g.outputs)), results(nodes(g.outputs, graph));
    Shield<SEXP> reads(guarded([&] { return Rf_allocVector(VECSXP, n); }));
    Shield<SEXP> makes(guarded([&] { return Rf_allocVector(VECSXP, n); }));
    Shield<SEXP> nested(guarded([&] { return Rf_allocVector(LGLSXP, n); }));
    for (R_xlen_t i = 0; i < n; ++i) {
      const graph::Call& c = g.calls[static_cast<size_t>(i)];
      SET_VECTOR_ELT(reads, i, numbers_of(program, c.inputs));
      SET_VECTOR_ELT(makes, i, numbers_of(program, c.outputs));
      LOGICAL(nested)[i] = !subgraphs(c).empty();
    }
    return guarded([&] {
      static const char* fields[] = {"calls", "inputs", "reads", "makes", "nested", "outputs", "results", "size", ""};
      SEXP list = PROTECT(Rf_mkNamed(VECSXP, fields));
      SEXP parts[] = {calls, inputs, reads, makes, nested, outputs, results};
      for (R_xlen_t i = 0; i < 7; ++i) SET_VECTOR_ELT(list, i, parts[i]);
      SET_VECTOR_ELT(list, 7, number(static_cast<int64_t>(program.numbers.size())));
      UNPROTECT(1);
      return list;
    });
  });
}

// One call as it stands in a graph, positions counted from 0: the name of its primitive, or what a call keeps, and
// its arguments: those with names of parameters are these, all others are operands, in their order.
SEXP anvil_record_call(SEXP, SEXP, SEXP args, SEXP frame) {
  return entry([&] {
    External arguments{args};
    SEXP name = arguments.next(), given = arguments.next();
    const graph::Call* kept = is_kind(name, names.a_call) ? &kept_call(name) : nullptr;
    const Primitive& p = kept ? primitives::primitive_of(*kept) : primitive_named(name);
    const R_xlen_t n = XLENGTH(list_of(given, "args"));
    SEXP labels = Rf_getAttrib(given, R_NamesSymbol);
    std::vector<bool> is_parameter(static_cast<size_t>(n));
    for (R_xlen_t i = 0; i < n && labels != R_NilValue; ++i) {
      const std::string label = CHAR(STRING_ELT(labels, i));
      const auto has_name = [&](const ParamSpec& spec) { return spec.name == label; };
      is_parameter[static_cast<size_t>(i)] =
          !label.empty() &&
          (has_any_parameters(p) || kept != nullptr || std::any_of(p.parameters.begin(), p.parameters.end(), has_name));
    }
    const auto some = [&](bool parameters) {
      return guarded([&] {
        R_xlen_t size = 0;
        for (R_xlen_t i = 0; i < n; ++i) size += is_parameter[static_cast<size_t>(i)] == parameters;
        SEXP list = PROTECT(Rf_allocVector(VECSXP, size)), own = PROTECT(Rf_allocVector(STRSXP, size));
        for (R_xlen_t i = 0, k = 0; i < n; ++i) {
          if (is_parameter[static_cast<size_t>(i)] != parameters) continue;
          if (labels != R_NilValue) SET_STRING_ELT(own, k, STRING_ELT(labels, i));
          SET_VECTOR_ELT(list, k++, VECTOR_ELT(given, i));
        }
        Rf_setAttrib(list, R_NamesSymbol, own);
        UNPROTECT(2);
        return list;
      });
    };
    Shield<SEXP> operands(some(false)), parameters(some(true));
    Params params;
    if (kept != nullptr) {
      params = kept->params;
      for (graph::Param& item : params.items)
        if (SEXP x = element_named(parameters, item.name.c_str());
            x != R_NilValue && std::holds_alternative<GraphPtr>(item.value))
          item.value = graph_of(x).graph;
      if (SEXP x = element_named(parameters, "residuals"); x != R_NilValue && params.find("residuals") == nullptr)
        params.items.push_back({"residuals", integer_of(x, "residuals")});
    } else {
      params = params_from(p, parameters);
      if (primitives::is_composite(p) && params.find("definition") == nullptr)
        throw Error("argument", "A call of `" + p.name + "` must have a graph as parameter `definition`.");
    }
    Recording recording(frame);
    return recording.finish(primitives::record(
        recording.graph(), p, recording.operands(operands, "operands", p.operands), std::move(params)));
  });
}

// The labels of what a graph reads of the graph around it, where that is not one that is being built.
SEXP anvil_foreign(SEXP graph) {
  return entry([&] {
    const GraphHolder& holder = graph_of(graph);
    std::vector<std::string> labels;
    for (const ValuePtr& v : graph::captures(*holder.graph))
      if (!is_being_built(v)) labels.push_back(graph::label(program_of(holder).labels, v));
    return guarded([&] { return strings(labels); });
  });
}

}  // namespace anvil::r
