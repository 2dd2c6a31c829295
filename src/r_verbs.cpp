// What R's own functions, as the package has them for tensors (R/masks.R), ask at each call: whether
// they are meant, and which function is called otherwise. Everybody's calls come here, so they are short.
#include "r_common.h"
#include "r_routines.h"

namespace anvil::r {

// Whether one of the arguments is a tensor or a box.
SEXP anvil_any_value(SEXP, SEXP, SEXP args, SEXP) {
  bool found = false;
  for (SEXP rest = CDR(args); rest != R_NilValue && !found; rest = CDR(rest))
    found = Rf_isObject(CAR(rest)) && Rf_inherits(CAR(rest), "AnvilValue");
  return Rf_ScalarLogical(found);
}

// The function of this name that is found behind an attached environment. R's errors may leave it at once: nothing here has a
// destructor.
SEXP anvil_behind(SEXP attached, SEXP name) {
  if (TYPEOF(attached) != ENVSXP)
    return entry([&]() -> SEXP { throw wrong_argument("attached", "an environment", attached); });
  if (TYPEOF(name) != SYMSXP) return entry([&]() -> SEXP { throw wrong_argument("name", "a name", name); });
  for (SEXP frame = enclosing(attached); frame != R_EmptyEnv; frame = enclosing(frame)) {
    SEXP found = variable_of(frame, name);
    if (TYPEOF(found) == PROMSXP) {  // loaded when it is needed
      PROTECT(found);
      found = Rf_eval(found, frame);
      UNPROTECT(1);
    }
    if (Rf_isFunction(found)) return found;
  }
  return R_NilValue;
}

}  // namespace anvil::r
