// Start-up of the package's shared object: the registered routines, and the names that live
// as long as the package.
#include <R_ext/Rdynload.h>

#include "r_common.h"
#include "r_routines.h"

namespace anvil::r {

Names names;

namespace {

SEXP keep(SEXP x) {
  R_PreserveObject(x);
  return x;
}

// Again when the namespace was unloaded and loaded: this object stays (see .onUnload).
SEXP anvil_attach(SEXP environment) {
  return entry([&] {
    if (TYPEOF(environment) != ENVSXP || !R_IsNamespaceEnv(environment))
      throw Error("argument", "`environment` must be the namespace of the package.");
    SEXP masks = guarded([&] {
      keep(environment);
      return keep(Rf_eval(Rf_install("mask_home"), environment));
    });
    names.environment = environment;
    names.masks = masks;
    return R_NilValue;
  });
}

template <class F>
DL_FUNC routine(F* f) {
  return reinterpret_cast<DL_FUNC>(reinterpret_cast<void (*)()>(f));
}

#define ANVIL_ROUTINE(name, arguments) {"C_" #name, routine(name), arguments},
const R_CallMethodDef routines[] = {{"C_anvil_attach", routine(anvil_attach), 1},
                                    ANVIL_ROUTINES(ANVIL_ROUTINE){nullptr, nullptr, 0}};
const R_ExternalMethodDef external_routines[] = {ANVIL_EXTERNAL_ROUTINES(ANVIL_ROUTINE){nullptr, nullptr, 0}};
#undef ANVIL_ROUTINE

}  // namespace

static void initialise() {
  auto cls = [](std::vector<std::string> list) { return keep(strings(list)); };
  names.tensor = cls({"AnvilTensor", "AnvilValue"});
  names.buffer = cls({"AnvilBuffer"});
  names.graph_box = cls({"GraphBox", "AnvilValue"});
  names.debug_box = cls({"DebugBox", "AnvilValue"});
  names.graph = cls({"AnvilGraph"});
  names.descriptor = cls({"GraphDescriptor"});
  names.graph_value = cls({"GraphValue", "GraphNode"});
  names.graph_literal = cls({"GraphLiteral", "GraphNode"});
  names.primitive_call = cls({"PrimitiveCall"});
  names.cache = cls({"AnvilCache"});
  names.executable = cls({"AnvilExecutable"});
  names.a_graph = Rf_install("anvil_graph");
  names.a_descriptor = Rf_install("anvil_descriptor");
  names.a_box = Rf_install("anvil_box");
  names.a_node = Rf_install("anvil_node");
  names.a_call = Rf_install("anvil_call");
  names.a_cache = Rf_install("anvil_cache");
  names.an_executable = Rf_install("anvil_executable");
  names.data = Rf_install("data");
  names.type = Rf_install("type");
  names.handle = Rf_install("handle");
  names.pattern = Rf_install("pattern");
  names.debug = Rf_install("debug");
  names.alone = Rf_install("alone");
  names.operand = Rf_install("x");
  names.function = Rf_install("f");
  names.function_keyword = Rf_install("function");
  names.reference = Rf_install(".xData");
  names.default_dtypes = Rf_install("anvil.default_dtypes");
  names.check_nan = Rf_install("anvil.check_nan");
  names.check_index = Rf_install("anvil.check_index");
  names.unrolled_calls = Rf_install("anvil.unrolled_calls");
  names.observe = Rf_install("anvil.observe");
  names.place = Rf_install("srcref");
  names.file = Rf_install("srcfile");
  names.generic = Rf_install(".Generic");
  // the functions themselves and their defaults: half of the time goes into looking for them
  const auto base = [](const char* name, int argument) {
    SEXP function = PROTECT(Rf_eval(Rf_install(name), R_BaseEnv));
    SEXP call = keep(Rf_lang2(function, Rf_ScalarInteger(argument)));
    UNPROTECT(1);
    return call;
  };
  names.parent_frame = base("parent.frame", 1);
  names.sys_call = base("sys.call", 0);
  continuation();
  set_printer(print_in_r);
  set_interrupt_check(wants_to_stop);
}

}  // namespace anvil::r

extern "C" attribute_visible void R_init_anvil(DllInfo* dll) {
  R_registerRoutines(dll, nullptr, anvil::r::routines, nullptr, anvil::r::external_routines);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
  anvil::r::initialise();
  anvil::r::register_saved(dll);
  anvil::r::register_views(dll);
}
