// Vectors that show the elements of others: so R data with other attributes than those of a tensor's data become one
// without a copy. Who wants to write gets a copy while somebody else has the elements. R has such vectors, too, but keeps
// them to itself from R 4.5 on.
#include <algorithm>

#include "r_common.h"

// behind what defines R's types
#include <R_ext/Altrep.h>

namespace anvil::r {

SEXP copy_of(SEXP x) {  // may jump
  const R_xlen_t n = XLENGTH(x);
  SEXP copy = Rf_allocVector(TYPEOF(x), n);
  if (TYPEOF(x) == REALSXP)
    std::copy_n(REAL_RO(x), n, REAL(copy));
  else
    std::copy_n(INTEGER_RO(x), n, INTEGER(copy));
  return copy;
}

namespace {

R_altrep_class_t real_view, integer_view;

SEXP shown(SEXP view) { return R_altrep_data1(view); }

void* elements_to(SEXP view, Rboolean write) {
  if (write && MAYBE_SHARED(shown(view))) {
    PROTECT(view);
    R_set_altrep_data1(view, copy_of(shown(view)));
    UNPROTECT(1);
  }
  return const_cast<void*>(DATAPTR_RO(shown(view)));
}

void define(R_altrep_class_t of) {
  R_set_altrep_Length_method(of, [](SEXP view) { return XLENGTH(shown(view)); });
  R_set_altrep_Duplicate_method(of, [](SEXP view, Rboolean) { return copy_of(shown(view)); });
  R_set_altvec_Dataptr_method(of, elements_to);
  R_set_altvec_Dataptr_or_null_method(of, [](SEXP view) { return DATAPTR_OR_NULL(shown(view)); });
}

}  // namespace

void register_views(DllInfo* dll) {
  real_view = R_make_altreal_class("view", "anvil", dll);
  integer_view = R_make_altinteger_class("integer_view", "anvil", dll);
  define(real_view);
  define(integer_view);
  R_set_altreal_Elt_method(real_view, [](SEXP view, R_xlen_t i) { return REAL_ELT(shown(view), i); });
  R_set_altinteger_Elt_method(integer_view, [](SEXP view, R_xlen_t i) { return INTEGER_ELT(shown(view), i); });
}

bool is_view(SEXP x) { return ALTREP(x) && (R_altrep_inherits(x, real_view) || R_altrep_inherits(x, integer_view)); }

SEXP view_of(SEXP x) {
  return R_new_altrep(TYPEOF(x) == REALSXP ? real_view : integer_view, is_view(x) ? shown(x) : x, R_NilValue);
}

}  // namespace anvil::r
