// Primitives and their parameters between R and the core: 1-based there, 0-based here.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "backend/eigen/kernels.h"
#include "primitives/vocabulary/batching.h"
#include "primitives/vocabulary/composite.h"
#include "r_common.h"
#include "r_routines.h"

namespace anvil::r {

using Kind = ParamSpec::Kind;

// Strings are unique in R, so their addresses find primitives; the strings found are kept.
const Primitive& primitive_named(SEXP name) {
  static std::unordered_map<SEXP, const Primitive*> known;
  if (TYPEOF(name) != STRSXP || XLENGTH(name) != 1)
    throw Error("argument", "The name of a primitive must be a string.", {"x Got " + describe(name) + "."});
  SEXP key = STRING_ELT(settled(name), 0);
  auto it = known.find(key);
  if (it != known.end()) return *it->second;
  const Primitive* p = primitives::registry().find(CHAR(key));
  if (p == nullptr)
    throw Error("argument", "There is no primitive named `" + std::string(CHAR(key)) + "`.",
                {"i `prim()` lists all of them."});
  guarded([&] {
    R_PreserveObject(key);
    return R_NilValue;
  });
  known[key] = p;
  return *p;
}

// --- parameters -------------------------------------------------------------------------

namespace {

std::vector<int64_t> minus_one(std::vector<int64_t> list) {
  for (int64_t& i : list) --i;
  return list;
}

graph::Param convert(const ParamSpec& spec, SEXP x) {
  const std::string& name = spec.name;
  auto wrong = [&](const char* what) { return wrong_argument(name, what, x); };
  switch (spec.kind) {
    case Kind::flag:
      if (TYPEOF(x) != LGLSXP || Rf_isObject(x) || XLENGTH(x) != 1 || LOGICAL_ELT(x, 0) == NA_LOGICAL)
        throw wrong("`TRUE` or `FALSE`");
      return {name, LOGICAL_ELT(x, 0) != 0};
    case Kind::integer: return {name, integer_of(x, name.c_str())};
    case Kind::real:
      if (!is_data(x) || XLENGTH(x) != 1) throw wrong("an R vector of length 1");
      return {name, scalar_of(x)};
    case Kind::string:
      if (TYPEOF(x) != STRSXP || XLENGTH(x) != 1) throw wrong("a string");
      return {name, text_of(x, name.c_str())};
    case Kind::dtype: {
      if (TYPEOF(x) != STRSXP || XLENGTH(x) != 1) throw wrong("a dtype");
      auto dtype = parse_dtype(text_of(x, name.c_str()));
      if (!dtype)
        throw Error("dtype", "`" + name + "` must be a dtype.", {"x Got \"" + text_of(x, name.c_str()) + "\"."});
      return {name, *dtype};
    }
    case Kind::shape:
    case Kind::sizes:
    case Kind::limits: return {name, integers_of(x, name.c_str())};
    case Kind::axis: return {name, integer_of(x, name.c_str()) - 1, true};
    case Kind::axes:
    case Kind::starts: return {name, minus_one(integers_of(x, name.c_str())), true};
    case Kind::axis_pairs: {
      if (TYPEOF(x) != VECSXP) throw wrong("a list of vectors of dimensions");
      std::vector<std::vector<int64_t>> pairs;
      for (R_xlen_t i = 0; i < XLENGTH(x); ++i) pairs.push_back(minus_one(integers_of(VECTOR_ELT(x, i), name.c_str())));
      return {name, pairs, true};
    }
    case Kind::graph: return {name, graph_of(x).graph};
  }
  throw InternalError("unknown kind of parameter");
}

// A parameter of a primitive defined in R: whatever the printed form can show.
graph::Param convert_any(const std::string& name, SEXP x) {
  auto as = [&](Kind kind) { return convert({name, kind}, x); };
  if (Rf_inherits(x, "AnvilGraph")) return as(Kind::graph);
  if (Rf_inherits(x, "AnvilDtype")) return as(Kind::dtype);
  bool single = Rf_isVectorAtomic(x) && XLENGTH(x) == 1;
  if (TYPEOF(x) == LGLSXP && single) return as(Kind::flag);
  if (TYPEOF(x) == STRSXP && single) return as(Kind::string);
  if (TYPEOF(x) == INTSXP && single) return as(Kind::integer);
  if (TYPEOF(x) == REALSXP && single) return as(Kind::real);
  if (TYPEOF(x) == INTSXP || TYPEOF(x) == REALSXP) return as(Kind::sizes);
  throw Error("argument", "Parameter `" + name + "` must be a flag, a number, a string, a dtype or whole numbers.",
              {"x Got " + describe(x) + "."});
}

}  // namespace

// Those of a composite are its own, and "..." stands for any number.
bool has_any_parameters(const Primitive& p) {
  return primitives::is_composite(p) || (!p.parameters.empty() && p.parameters.back().name == "...");
}

Params params_from(const Primitive& p, SEXP list) {
  Params params;
  if (list == R_NilValue && p.parameters.empty()) return params;
  const R_xlen_t n = list == R_NilValue ? 0 : XLENGTH(list_of(list, "params"));
  const std::vector<std::string> given =
      texts_of(list == R_NilValue ? list : Rf_getAttrib(list, R_NamesSymbol), "names");
  if (static_cast<R_xlen_t>(given.size()) != n)
    throw Error("argument", "The parameters of `" + p.name + "` must have names.");
  if (has_any_parameters(p)) {
    for (R_xlen_t i = 0; i < n; ++i)
      params.items.push_back(convert_any(given[static_cast<size_t>(i)], VECTOR_ELT(list, i)));
    return params;
  }
  params.items.reserve(p.parameters.size());
  for (const ParamSpec& spec : p.parameters) {
    auto at = std::find(given.begin(), given.end(), spec.name);
    if (at == given.end() && spec.optional) continue;
    if (at == given.end()) throw Error("argument", "Parameter `" + spec.name + "` of `" + p.name + "` is missing.");
    params.items.push_back(convert(spec, VECTOR_ELT(list, at - given.begin())));
  }
  return params;
}

static SEXP param_value(const graph::Param& p, const std::shared_ptr<Locations>& locations,
                        const std::shared_ptr<const Program>& program) {
  if (auto* g = std::get_if<GraphPtr>(&p.value)) return wrap_graph(*g, locations, R_NilValue, program);
  if (auto* dtype = std::get_if<DType>(&p.value)) {
    Shield<SEXP> text(guarded([&] { return string(name(*dtype)); }));
    return call_r("as_dtype", {text});
  }
  struct Visitor {  // may jump
    int64_t add;
    SEXP operator()(bool x) const { return Rf_ScalarLogical(x); }
    SEXP operator()(int64_t x) const { return number(x + add); }
    SEXP operator()(const Scalar& x) const {
      const auto value = x.as<double>();
      const bool whole = !x.is_real() && std::fabs(value) <= INT32_MAX;
      return whole ? Rf_ScalarInteger(static_cast<int>(value)) : Rf_ScalarReal(value);
    }
    SEXP operator()(const std::string& x) const { return string(x); }
    SEXP operator()(const std::vector<int64_t>& x) const { return integers(x, add); }
    SEXP operator()(const graph::IntegerLists& x) const {
      SEXP list = PROTECT(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(x.size())));
      for (size_t i = 0; i < x.size(); ++i) SET_VECTOR_ELT(list, static_cast<R_xlen_t>(i), integers(x[i], add));
      UNPROTECT(1);
      return list;
    }
    SEXP operator()(DType) const { return R_NilValue; }
    SEXP operator()(const GraphPtr&) const { return R_NilValue; }
    SEXP operator()(const graph::Owned&) const { return R_NilValue; }
  };
  return guarded([&] { return std::visit(Visitor{p.index ? 1 : 0}, p.value); });
}

SEXP params_to(const graph::Call& call, const std::shared_ptr<Locations>& locations,
               const std::shared_ptr<const Program>& program) {
  std::vector<graph::Param> items = call.params.items;
  std::erase_if(items, [](const graph::Param& p) { return std::holds_alternative<graph::Owned>(p.value); });
  const auto n = static_cast<R_xlen_t>(items.size());
  Shield<SEXP> list(guarded([&] {
    SEXP x = PROTECT(Rf_allocVector(VECSXP, n)), labels = PROTECT(Rf_allocVector(STRSXP, n));
    for (R_xlen_t i = 0; i < n; ++i) SET_STRING_ELT(labels, i, Rf_mkChar(items[static_cast<size_t>(i)].name.c_str()));
    Rf_setAttrib(x, R_NamesSymbol, labels);
    UNPROTECT(2);
    return x;
  }));
  for (R_xlen_t i = 0; i < n; ++i)
    SET_VECTOR_ELT(list, i, param_value(items[static_cast<size_t>(i)], locations, program));
  return list;
}

// --- primitives ----------------------------------------------------------------------------

SEXP anvil_primitives() {
  return entry([&] {
    std::vector<std::string> keys;
    for (const Primitive* p : primitives::registry().all()) keys.push_back(p->key);
    return guarded([&] { return strings(keys); });
  });
}

// NULL, or a list of what the registry says of a primitive
SEXP anvil_primitive_info(SEXP name) {
  return entry([&]() -> SEXP {
    const Primitive* p = primitives::registry().find(text_of(name, "name"));
    if (p == nullptr) return R_NilValue;
    static const char* const kind_names[] = {"flag", "integer",    "real",   "string", "dtype", "shape", "axis",
                                             "axes", "axis_pairs", "starts", "limits", "sizes", "graph"};
    std::vector<std::string> parameters, graphs, kinds;
    for (const ParamSpec& spec : p->parameters) {
      (spec.kind == Kind::graph ? graphs : parameters).push_back(spec.name);
      if (spec.kind != Kind::graph) kinds.emplace_back(kind_names[static_cast<size_t>(spec.kind)]);
    }
    const bool control = p->control != primitives::Control::none;
    const char* acts[] = {"other", "per element", "moves", "reduces", "contracts"};
    const char* expanded = p->expand ? "expansion" : "";
    const char* reverse = control || p->reverse ? "rule" : expanded;
    const std::string forward = transform::forward_rule(*p);
    const char* batched[] = {"shared", "property", "rule", "rule", "expansion", "loop"};
    const char* loops = control || p->lower ? "rule" : expanded;
    const char* evaluated = p->elementwise ? "formula"
                            : control || p->monoid || eigen::find_kernel(p->name) || eigen::find_region_kernel(p->name)
                                ? "kernel"
                                : expanded;
    return guarded([&] {
      static const char* fields[] = {"key",       "name", "family",  "operands",  "parameters", "graphs",
                                     "backward",  "zero", "hlo",     "acts",      "reverse",    "loops",
                                     "evaluated", "jvp",  "batched", "positions", "kinds",      "effect", ""};
      SEXP list = PROTECT(Rf_mkNamed(VECSXP, fields));
      SET_VECTOR_ELT(list, 0, string(p->key));
      SET_VECTOR_ELT(list, 1, string(p->name));
      SET_VECTOR_ELT(list, 2, string(p->family));
      SET_VECTOR_ELT(list, 3, strings(p->operands));
      SET_VECTOR_ELT(list, 4, strings(parameters));
      SET_VECTOR_ELT(list, 5, strings(graphs));
      SET_VECTOR_ELT(list, 6, Rf_ScalarLogical(control || p->reverse || p->zero_derivative));
      SET_VECTOR_ELT(list, 7, Rf_ScalarLogical(p->zero_derivative));
      SET_VECTOR_ELT(list, 8, string(p->hlo.op));
      SET_VECTOR_ELT(list, 9, string(control ? "control" : acts[static_cast<size_t>(p->acts)]));
      SET_VECTOR_ELT(list, 10, string(p->zero_derivative ? "zero" : reverse));
      SET_VECTOR_ELT(list, 11, string(loops));
      SET_VECTOR_ELT(list, 12, string(evaluated));
      SET_VECTOR_ELT(list, 13, string(forward));
      SET_VECTOR_ELT(list, 15, Rf_ScalarLogical(!p->indices.empty() || !p->index_results.empty()));
      SET_VECTOR_ELT(list, 16, strings(kinds));
      SET_VECTOR_ELT(list, 17, Rf_ScalarLogical(p->effect));
      SET_VECTOR_ELT(list, 14, string(batched[static_cast<size_t>(transform::batched_by(*p))]));
      UNPROTECT(1);
      return list;
    });
  });
}

}  // namespace anvil::r
