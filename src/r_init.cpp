// Start-up of the package's shared object: the registered routines, the names that live as
// long as the package, and the gates between C++ exceptions and R conditions.
#include <R_ext/Rdynload.h>

#include "r_common.h"
#include "r_routines.h"
#include "runtime/functions.h"

#if ANVIL_HAVE_BLAS
#include <R_ext/BLAS.h>
#include <R_ext/Lapack.h>
#ifndef FCONE
#define FCONE
#endif
#endif

namespace anvil::r {

Names names;

// --- gates ----------------------------------------------------------------------

SEXP continuation() {
  static SEXP token = [] {
    SEXP t = R_MakeUnwindCont();
    R_PreserveObject(t);
    return t;
  }();
  return token;
}

namespace {
// The error waits here while the C++ frames end; static, so that nothing is left on the
// stack when R jumps.
struct Pending {
  std::string kind, message;
  std::vector<std::string> details;
} pending;
}  // namespace

void remember(const std::string& kind, const std::string& message, const std::vector<std::string>& details) noexcept {
  try {
    pending = {kind, message, details};
  } catch (...) {
    pending.kind = "memory";
  }
}

void raise() {
  SEXP kind = PROTECT(string(pending.kind));
  SEXP message = PROTECT(string(pending.message));
  SEXP details = PROTECT(strings(pending.details));
  SEXP call = PROTECT(Rf_lang4(Rf_install("raise_condition"), kind, message, details));
  Rf_eval(call, names.environment);
  Rf_error("%s", pending.message.c_str());
}

SEXP evaluate(SEXP call, SEXP environment) {
  return guarded([&] { return Rf_eval(call, environment); });
}

SEXP call_r(const char* function, std::initializer_list<SEXP> arguments) {
  return guarded([&] {
    SEXP list = R_NilValue;
    for (size_t i = arguments.size(); i-- > 0;) {
      list = PROTECT(Rf_cons(Rf_lang2(R_QuoteSymbol, *(arguments.begin() + i)), list));
    }
    SEXP call = PROTECT(Rf_lcons(Rf_install(function), list));
    SEXP result = Rf_eval(call, names.environment);
    UNPROTECT(static_cast<int>(arguments.size()) + 1);
    return result;
  });
}

// --- R objects --------------------------------------------------------------------

Class class_of(SEXP x) {
  if (!Rf_isObject(x)) return Class::other;
  SEXP cls = Rf_getAttrib(x, R_ClassSymbol);
  if (cls == R_NilValue) return Class::other;
  SEXP first = STRING_ELT(cls, 0);
  if (TYPEOF(x) == EXTPTRSXP) {
    if (first == STRING_ELT(names.tensor, 0)) return Class::tensor;
    if (first == STRING_ELT(names.graph_box, 0)) return Class::graph_box;
    if (first == STRING_ELT(names.debug_box, 0)) return Class::debug_box;
    if (first == STRING_ELT(names.buffer, 0)) return Class::buffer;
    return Class::other;
  }
  if (TYPEOF(x) == LGLSXP && first == STRING_ELT(names.debug_box, 0)) return Class::debug_box;
  if (TYPEOF(x) == VECSXP && Rf_inherits(x, "AbstractTensor")) return Class::abstract;
  return Class::other;
}

Kept::Kept(SEXP x) {
  SEXP token = guarded([&] { return Rcpp::Rcpp_PreciousPreserve(x); });
  handle_ = std::shared_ptr<const Handle>(new Handle{x, token});
}
Kept::Handle::~Handle() { Rcpp::Rcpp_PreciousRelease(token); }

std::string text_of(SEXP x) {
  if (TYPEOF(x) == CHARSXP) return CHAR(x);
  if (TYPEOF(x) != STRSXP || XLENGTH(x) != 1) throw InternalError("a string was expected");
  return CHAR(STRING_ELT(x, 0));
}

SEXP string(const std::string& s) {
  SEXP x = PROTECT(Rf_allocVector(STRSXP, 1));
  SET_STRING_ELT(x, 0, Rf_mkCharLenCE(s.data(), static_cast<int>(s.size()), CE_UTF8));
  UNPROTECT(1);
  return x;
}
SEXP strings(const std::vector<std::string>& list) {
  SEXP x = PROTECT(Rf_allocVector(STRSXP, static_cast<R_xlen_t>(list.size())));
  for (size_t i = 0; i < list.size(); ++i)
    SET_STRING_ELT(x, static_cast<R_xlen_t>(i),
                   Rf_mkCharLenCE(list[i].data(), static_cast<int>(list[i].size()), CE_UTF8));
  UNPROTECT(1);
  return x;
}
SEXP integers(const std::vector<int64_t>& list, int64_t add) {
  SEXP x = Rf_allocVector(INTSXP, static_cast<R_xlen_t>(list.size()));
  for (size_t i = 0; i < list.size(); ++i) INTEGER(x)[i] = static_cast<int>(list[i] + add);
  return x;
}

std::vector<int64_t> integers_of(SEXP x, const char* argument) {
  auto wrong = [&](const std::string& got) -> Error {
    return {"argument", "`" + std::string(argument) + "` must hold whole numbers.", {"x Got " + got + "."}};
  };
  if (x == R_NilValue) return {};
  if (Rf_isObject(x) || (TYPEOF(x) != INTSXP && TYPEOF(x) != REALSXP)) throw wrong(describe(x));
  std::vector<int64_t> list(static_cast<size_t>(XLENGTH(x)));
  for (size_t i = 0; i < list.size(); ++i) {
    if (TYPEOF(x) == INTSXP) {
      int value = INTEGER_ELT(x, static_cast<R_xlen_t>(i));
      if (value == NA_INTEGER) throw wrong("NA");
      list[i] = value;
    } else {
      double value = REAL_ELT(x, static_cast<R_xlen_t>(i));
      if (!(std::fabs(value) <= 9007199254740992.0) || value != std::trunc(value))
        throw wrong(ISNAN(value) ? "NA" : Scalar(value).text(DType::f64));
      list[i] = static_cast<int64_t>(value);
    }
  }
  return list;
}

std::string describe(SEXP x) {
  SEXP cls = call_r("described_class", {x});
  std::string s = "<" + text_of(cls) + ">";
  if (!Rf_isObject(x) && Rf_isVectorAtomic(x)) s += " of length " + std::to_string(XLENGTH(x));
  return s;
}

namespace {

SEXP keep(SEXP x) {
  R_PreserveObject(x);
  return x;
}

SEXP anvil_attach(SEXP environment) {
  names.environment = keep(environment);
  return R_NilValue;
}

void set_blas() {
#if ANVIL_HAVE_BLAS
  runtime::Blas blas;
  blas.dpotrf = [](const char* uplo, const int* n, double* a, const int* lda, int* info) {
    F77_CALL(dpotrf)(uplo, n, a, lda, info FCONE);
  };
  blas.dtrsm = [](const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n,
                  const double* alpha, const double* a, const int* lda, double* b, const int* ldb) {
    F77_CALL(dtrsm)(side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb FCONE FCONE FCONE FCONE);
  };
  runtime::set_blas(blas);
#endif
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
  names.tensor = cls({"AnvilTensor"});
  names.buffer = cls({"AnvilBuffer"});
  names.graph_box = cls({"GraphBox", "AnvilBox"});
  names.debug_box = cls({"DebugBox", "AnvilBox"});
  names.graph = cls({"AnvilGraph"});
  names.descriptor = cls({"GraphDescriptor"});
  names.graph_value = cls({"GraphValue", "GraphNode"});
  names.graph_literal = cls({"GraphLiteral", "GraphNode"});
  names.cache = cls({"AnvilCache"});
  names.executable = cls({"AnvilExecutable"});
  names.box_symbol = Rf_install("anvil_box");
  names.default_dtypes = Rf_install("anvil.default_dtypes");
  names.check_nan = Rf_install("anvil.check_nan");
  names.generic = Rf_install(".Generic");
  names.parent_frame = keep(Rf_lang1(Rf_install("parent.frame")));
  names.sys_call = keep(Rf_lang1(Rf_install("sys.call")));
  continuation();
  set_blas();
}

}  // namespace anvil::r

extern "C" attribute_visible void R_init_anvil(DllInfo* dll) {
  R_registerRoutines(dll, nullptr, anvil::r::routines, nullptr, anvil::r::external_routines);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
  anvil::r::initialise();
}
