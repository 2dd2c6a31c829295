// std::sort for bench/sort.R.
#define R_NO_REMAP
#include <Rinternals.h>

#include <algorithm>

extern "C" SEXP peer_sort(SEXP x) {
  SEXP y = PROTECT(Rf_duplicate(x));
  if (TYPEOF(y) == REALSXP)
    std::sort(REAL(y), REAL(y) + XLENGTH(y));
  else
    std::sort(INTEGER(y), INTEGER(y) + XLENGTH(y));
  UNPROTECT(1);
  return y;
}
