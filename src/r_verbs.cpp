// What R's own functions, as the package has them for tensors (R/masks.R), ask at each call: whether
// they are meant, and which function is called otherwise. Everybody's calls come here, so they are short.
#include <cstring>

#include "r_common.h"
#include "r_routines.h"

namespace anvil::r {

// Whether what is attached there are R's functions.
static bool is_of_r(SEXP frame) {
  if (frame == R_BaseEnv) return true;
  SEXP name = Rf_getAttrib(frame, R_NameSymbol);
  return Rf_isString(name) && Rf_length(name) == 1 && std::strcmp(CHAR(STRING_ELT(name, 0)), "package:stats") == 0;
}

// The function of this name that is found behind an attached environment; TRUE if it is R's own and `unless_own`.
// R's errors may leave it at once: nothing here has a destructor.
SEXP anvil_behind(SEXP attached, SEXP name, SEXP unless_own) {
  if (TYPEOF(attached) != ENVSXP)
    return entry([&]() -> SEXP { throw wrong_argument("attached", "an environment", attached); });
  if (TYPEOF(name) != SYMSXP) return entry([&]() -> SEXP { throw wrong_argument("name", "a name", name); });
  for (SEXP frame = enclosing(attached); frame != R_EmptyEnv; frame = enclosing(frame)) {
    SEXP found = variable_of(frame, name);
    if ((TYPEOF(found) == PROMSXP || Rf_isFunction(found)) && Rf_asLogical(unless_own) == TRUE && is_of_r(frame))
      return unless_own;
    if (TYPEOF(found) == PROMSXP) {  // loaded when it is needed
      PROTECT(found);
      found = Rf_eval(found, frame);
      UNPROTECT(1);
    }
    if (Rf_isFunction(found)) return found;
  }
  return R_NilValue;
}

// The same for the arguments that follow; NULL if one of them is a tensor or a box. If `unless_own` is NA, it is TRUE
// for arguments that are no objects and have no names.
SEXP anvil_behind_data(SEXP call, SEXP, SEXP args, SEXP) {
  if (Rf_length(args) < 4)
    return entry([&]() -> SEXP { throw wrong_argument("...", "an environment, a name and a flag", call); });
  bool plain = true;
  for (SEXP rest = CDR(CDDDR(args)); rest != R_NilValue; rest = CDR(rest)) {
    const bool object = Rf_isObject(CAR(rest));
    if (object && Rf_inherits(CAR(rest), "AnvilValue")) return R_NilValue;
    plain = plain && !object && TAG(rest) == R_NilValue;
  }
  SEXP unless_own = CADDDR(args);
  if (Rf_asLogical(unless_own) == NA_LOGICAL) unless_own = Rf_ScalarLogical(plain);
  return anvil_behind(CADR(args), CADDR(args), unless_own);
}

}  // namespace anvil::r
