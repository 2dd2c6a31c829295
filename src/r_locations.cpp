// Which of the user's calls made a call of a graph: found on R's stack when it is recorded, and told by errors of
// programs that run.
#include "r_common.h"

namespace anvil::r {

#if R_VERSION >= R_Version(4, 5, 0)
SEXP enclosing(SEXP environment) { return R_ParentEnv(environment); }
SEXP variable_of(SEXP frame, SEXP name) { return R_getVarEx(name, frame, FALSE, R_NilValue); }
#else
SEXP enclosing(SEXP environment) { return ENCLOS(environment); }
SEXP variable_of(SEXP frame, SEXP name) { return Rf_findVarInFrame(frame, name); }
#endif

namespace {

bool is_own(SEXP frame) {
  const auto is_home = [](SEXP environment) { return environment == names.environment || environment == names.masks; };
  SEXP around = frame;
  while (around != R_EmptyEnv && around != R_GlobalEnv && around != R_BaseEnv && !is_home(around))
    around = enclosing(around);
  return is_home(around) && around != frame;
}

// A call, which is ours to change, with names in the place of the values that do.call() and
// operators put into it: what is kept with a graph must not keep boxes or data.
void name_values(SEXP call, int depth) {  // may jump
  if (TYPEOF(CAR(call)) != SYMSXP && TYPEOF(CAR(call)) != LANGSXP) SETCAR(call, names.function);
  SEXP operands = CDR(call);
  if (CAR(call) == names.function_keyword) {  // its formals stay, and what R keeps of its source is not needed
    operands = CDR(operands);
    SETCDR(operands, R_NilValue);
  }
  for (SEXP rest = operands; rest != R_NilValue; rest = CDR(rest)) {
    SEXP x = CAR(rest);
    if (TYPEOF(x) == LANGSXP && depth > 0) {
      SETCAR(rest, x = Rf_shallow_duplicate(x));
      name_values(x, depth - 1);
    } else if (TYPEOF(x) != SYMSXP && x != R_NilValue &&
               !(Rf_isVectorAtomic(x) && !Rf_isObject(x) && XLENGTH(x) <= 1)) {
      SETCAR(rest, names.operand);
    }
  }
}

// Whether R put values in the place of what stands in the code, as for sum() and the like.
bool has_values(SEXP call) {
  for (SEXP rest = CDR(call); rest != R_NilValue; rest = CDR(rest))
    if (Rf_isObject(CAR(rest)) && TYPEOF(CAR(rest)) != LANGSXP) return true;
  return false;
}

}  // namespace

// The user's call: that of the outermost function of the package that led to `frame`.
int location_of_call(Locations& locations, SEXP frame) {
  constexpr int deepest = 1000;  // eval() in a frame that calls it makes a ring of callers
  SEXP caller = R_NilValue;
  Shield<SEXP> call(guarded([&] {
    for (int depth = 0; depth < deepest; ++depth) {
      caller = Rf_eval(names.parent_frame, frame);
      SEXP outer = caller;  // what lapply() and the like call for the package is the package's
      while (TYPEOF(outer) == ENVSXP && outer != R_GlobalEnv && enclosing(outer) == R_BaseNamespace)
        outer = Rf_eval(names.parent_frame, outer);
      if (!is_own(outer)) break;
      frame = outer;
    }
    return Rf_eval(names.sys_call, frame);
  }));
  if (TYPEOF(call) != LANGSXP) return -1;
  SEXP generic = variable_of(frame, names.generic);
  const bool of_method = TYPEOF(generic) == STRSXP && XLENGTH(generic) > 0;
  if (of_method) guarded([&] { return SETCAR(call, Rf_installChar(STRING_ELT(generic, 0))); });
  Shield<SEXP> named(of_method && has_values(call) ? call_r("call_of_generic", {call, caller})
                                                   : static_cast<SEXP>(call));
  guarded([&] {
    name_values(named, 20);
    return R_NilValue;
  });
  locations.list.emplace_back(named);
  return static_cast<int>(locations.list.size()) - 1;
}

namespace {

// One number for what stands in one line, or, where R does not keep lines, for one call in the code.
size_t line_of(SEXP x, int depth = 20) {
  const auto joined = [](size_t a, size_t b) { return (a ^ b) * 0x9e3779b97f4a7c15u; };
  const auto address = [](SEXP p) { return reinterpret_cast<size_t>(p); };
  if (TYPEOF(x) != LANGSXP || depth == 0) return address(x);
  SEXP place = Rf_getAttrib(x, names.place);
  if (TYPEOF(place) == INTSXP && XLENGTH(place) > 0)
    return joined(address(Rf_getAttrib(place, names.file)), static_cast<size_t>(INTEGER_ELT(place, 0)));
  size_t all = 0;
  for (; x != R_NilValue; x = CDR(x)) all = joined(all, line_of(CAR(x), depth - 1));
  return all;
}

double most_of_a_line() {
  constexpr double usual = 10000;
  SEXP option = Rf_GetOption1(names.unrolled_calls);
  return option == R_NilValue ? usual : number_of(option, "options(anvil.unrolled_calls = )");
}

}  // namespace

void count_recorded(Locations& locations, int location) {
  if (location < 0) return;
  if (locations.most == 0) locations.most = std::max(1.0, most_of_a_line());
  SEXP call = locations.at(location);
  if (static_cast<double>(++locations.recorded[line_of(call)]) <= locations.most) return;
  Shield<SEXP> most(guarded([&] { return Rf_ScalarReal(locations.most); }));
  locations.most = INFINITY;  // once
  call_r("warn_unrolled", {call, most});
}

// Runs with errors that are about a call of the user's.
void raise_at(const Locations* locations, const Error& e) {
  SEXP call = locations ? locations->at(e.location) : R_NilValue;
  if (call == R_NilValue) return;
  Shield<SEXP> kind(guarded([&] { return string(e.kind); })), message(guarded([&] { return string(e.what()); }));
  Shield<SEXP> details(guarded([&] { return strings(e.details); }));
  call_r("raise_at", {kind, message, details, call});
}

}  // namespace anvil::r
