// R values: how arguments are told apart and read, and how results are made.
#include <cmath>

#include "r_common.h"
#include "r_routines.h"

namespace anvil::r {

Class class_of(SEXP x) {
  if (!Rf_isObject(x)) return Class::other;
  SEXP cls = Rf_getAttrib(x, R_ClassSymbol);
  if (TYPEOF(cls) != STRSXP || XLENGTH(cls) == 0) return Class::other;
  // I() and others put a class of their own in front
  if (TYPEOF(x) == EXTPTRSXP) {
    for (R_xlen_t k = 0; k < XLENGTH(cls); ++k) {
      const SEXP name = STRING_ELT(cls, k);
      if (name == STRING_ELT(names.tensor, 0)) return Class::tensor;
      if (name == STRING_ELT(names.graph_box, 0)) return Class::graph_box;
      if (name == STRING_ELT(names.debug_box, 0)) return Class::debug_box;
      if (name == STRING_ELT(names.buffer, 0)) return Class::buffer;
    }
    return Class::other;
  }
  if (TYPEOF(x) == LGLSXP && STRING_ELT(cls, 0) == STRING_ELT(names.tensor, 0)) return Class::tensor;
  if (TYPEOF(x) == VECSXP && Rf_inherits(x, "AbstractTensor")) return Class::abstract;
  return Class::other;
}

// Vectors that compute their elements do so now.
SEXP settled(SEXP x) {
  if (!ALTREP(x)) return x;
  guarded([&] {
    if (TYPEOF(x) == STRSXP)
      for (R_xlen_t i = 0; i < XLENGTH(x); ++i) STRING_ELT(x, i);
    else if (TYPEOF(x) != VECSXP)
      DATAPTR_RO(x);
    return R_NilValue;
  });
  return x;
}

// --- arguments ----------------------------------------------------------------------------

namespace {

// What was given, and for a traced value what to do.
std::vector<std::string> details_of(SEXP got) {
  std::vector<std::string> details = {"x Got " + describe(got) + "."};
  if (class_of(got) == Class::graph_box)
    details.push_back(
        "i It must be known when the program is traced: name the argument that it comes from in `static`.");
  return details;
}

}  // namespace

Error wrong_argument(const std::string& argument, const char* what, SEXP got) {
  return {"argument", "`" + argument + "` must be " + what + ".", details_of(got)};
}

std::string text_of(SEXP x, const char* argument) {
  if (TYPEOF(x) == CHARSXP) return CHAR(x);
  if (TYPEOF(x) != STRSXP || XLENGTH(x) != 1) throw wrong_argument(argument, "a string", x);
  return CHAR(STRING_ELT(settled(x), 0));
}

std::vector<std::string> texts_of(SEXP x, const char* argument) {
  std::vector<std::string> list;
  if (x == R_NilValue) return list;
  if (TYPEOF(x) != STRSXP) throw wrong_argument(argument, "a character vector", x);
  settled(x);
  for (R_xlen_t i = 0; i < XLENGTH(x); ++i) list.emplace_back(CHAR(STRING_ELT(x, i)));
  return list;
}

bool flag_of(SEXP x, const char* argument) {
  if (TYPEOF(x) != LGLSXP || XLENGTH(x) != 1 || LOGICAL_ELT(x, 0) == NA_LOGICAL)
    throw wrong_argument(argument, "`TRUE` or `FALSE`", x);
  return LOGICAL_ELT(x, 0) != 0;
}

double number_of(SEXP x, const char* argument) {
  if (Rf_isObject(x) || (TYPEOF(x) != INTSXP && TYPEOF(x) != REALSXP) || XLENGTH(x) != 1)
    throw wrong_argument(argument, "a number", x);
  settled(x);
  if (TYPEOF(x) == REALSXP) return REAL_ELT(x, 0);
  int value = INTEGER_ELT(x, 0);
  return value == NA_INTEGER ? NA_REAL : value;
}

std::vector<int64_t> integers_of(SEXP x, const char* argument) {
  const std::string message = "`" + std::string(argument) + "` must hold whole numbers.";
  auto wrong = [&](const std::string& got) -> Error { return {"argument", message, {"x Got " + got + "."}}; };
  if (x == R_NilValue) return {};
  if (Rf_isObject(x) || (TYPEOF(x) != INTSXP && TYPEOF(x) != REALSXP)) throw Error("argument", message, details_of(x));
  std::vector<int64_t> list(static_cast<size_t>(XLENGTH(settled(x))));
  for (size_t i = 0; i < list.size(); ++i) {
    if (TYPEOF(x) == INTSXP) {
      int value = INTEGER_RO(x)[i];
      if (value == NA_INTEGER) throw wrong("NA");
      list[i] = value;
    } else {
      double value = REAL_RO(x)[i];
      if (!(std::fabs(value) <= 9007199254740992.0) || value != std::trunc(value))
        throw wrong(ISNAN(value) ? "NA" : Scalar(value).text(DType::f64));
      list[i] = static_cast<int64_t>(value);
    }
  }
  return list;
}

int64_t integer_of(SEXP x, const char* argument) {
  std::vector<int64_t> list = integers_of(x, argument);
  if (list.size() != 1)
    throw Error("argument", "`" + std::string(argument) + "` must be a single whole number.",
                {"x Got " + describe(x) + "."});
  return list[0];
}

DType dtype_of_code(SEXP code) {
  int64_t i = integer_of(code, "dtype");
  if (i < 0 || i >= static_cast<int64_t>(descriptors.size())) throw Error("dtype", "`dtype` must be a dtype.");
  return static_cast<DType>(i);
}

SEXP list_of(SEXP x, const char* argument) {
  if (TYPEOF(x) != VECSXP) throw wrong_argument(argument, "a list", x);
  return x;
}

std::string describe(SEXP x) {
  Shield<SEXP> cls(call_r("described_class", {x}));
  std::string s = "<" + text_of(cls, "class") + ">";
  if (!Rf_isObject(x) && Rf_isVectorAtomic(x)) s += " of length " + std::to_string(XLENGTH(x));
  return s;
}

SEXP element_named(SEXP list, const char* name) {
  SEXP labels = Rf_getAttrib(list, R_NamesSymbol);
  if (TYPEOF(list) != VECSXP || TYPEOF(labels) != STRSXP) return R_NilValue;
  for (R_xlen_t i = 0; i < XLENGTH(list) && i < XLENGTH(labels); ++i)
    if (std::string_view(CHAR(STRING_ELT(labels, i))) == name) return VECTOR_ELT(list, i);
  return R_NilValue;
}

// --- results --------------------------------------------------------------------------------

static SEXP text(std::string_view s) {
  if (s.size() > INT32_MAX) throw Error("argument", "A text has more than 2^31 - 1 bytes, the most that R can hold.");
  return Rf_mkCharLenCE(s.data(), static_cast<int>(s.size()), CE_UTF8);
}

SEXP string(std::string_view s) {
  SEXP x = PROTECT(Rf_allocVector(STRSXP, 1));
  SET_STRING_ELT(x, 0, text(s));
  UNPROTECT(1);
  return x;
}
SEXP strings(const std::vector<std::string>& list) {
  SEXP x = PROTECT(Rf_allocVector(STRSXP, static_cast<R_xlen_t>(list.size())));
  for (size_t i = 0; i < list.size(); ++i) SET_STRING_ELT(x, static_cast<R_xlen_t>(i), text(list[i]));
  UNPROTECT(1);
  return x;
}

static bool fits(int64_t x) { return x > INT32_MIN && x <= INT32_MAX; }
SEXP number(int64_t x) {
  return fits(x) ? Rf_ScalarInteger(static_cast<int>(x)) : Rf_ScalarReal(static_cast<double>(x));
}
SEXP integers(const std::vector<int64_t>& list, int64_t add) {
  bool narrow = true;
  for (int64_t x : list) narrow = narrow && fits(x + add);
  SEXP x = Rf_allocVector(narrow ? INTSXP : REALSXP, static_cast<R_xlen_t>(list.size()));
  for (size_t i = 0; i < list.size(); ++i) {
    if (narrow)
      INTEGER(x)[i] = static_cast<int>(list[i] + add);
    else
      REAL(x)[i] = static_cast<double>(list[i] + add);
  }
  return x;
}

SEXP anvil_common_dtype(SEXP a, SEXP b, SEXP a_ambiguous, SEXP b_ambiguous) {
  return entry([&] {
    primitives::CommonType common = primitives::common_dtype({dtype_of_code(a), flag_of(a_ambiguous, "lhs_ambiguous")},
                                                             {dtype_of_code(b), flag_of(b_ambiguous, "rhs_ambiguous")});
    const std::vector<int64_t> words{static_cast<int64_t>(common.dtype), common.ambiguous};
    return guarded([&] { return integers(words); });
  });
}

}  // namespace anvil::r
