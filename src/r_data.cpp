// R data to tensors and back: vectors, arrays and bytes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "base/memory.h"
#include "r_common.h"
#include "r_routines.h"

namespace anvil::r {

// --- from R data ----------------------------------------------------------------------

static bool is_integer64(SEXP x) { return TYPEOF(x) == REALSXP && Rf_inherits(x, "integer64"); }

bool is_data(SEXP x) {
  if (TYPEOF(x) != LGLSXP && TYPEOF(x) != INTSXP && TYPEOF(x) != REALSXP) return false;
  return !Rf_isObject(x) || is_integer64(x);
}

// options(anvil.default_dtypes = c(float = , int = )). Without names, a dtype stands for its own kind.
namespace {
struct Defaults {
  std::optional<DType> real, integer;
};

Defaults chosen_defaults() {
  Defaults chosen;
  SEXP option = Rf_GetOption1(names.default_dtypes);
  if (option == R_NilValue) return chosen;
  auto wrong = [&](const std::string& got) {
    return Error(
        "dtype", "The option `anvil.default_dtypes` must hold a float dtype, an integer dtype, or both.",
        {"x Got " + got + ".", "i For example `options(anvil.default_dtypes = c(float = \"f64\", int = \"i32\"))`."});
  };
  if (TYPEOF(option) != STRSXP) throw wrong(describe(option));
  SEXP labels = Rf_getAttrib(settled(option), R_NamesSymbol);
  for (R_xlen_t i = 0; i < XLENGTH(option); ++i) {
    std::string text = CHAR(STRING_ELT(option, i)), label = labels == R_NilValue ? "" : CHAR(STRING_ELT(labels, i));
    auto dtype = parse_dtype(text);
    bool real = dtype && is_float(*dtype), integer = dtype && is_integer(*dtype);
    auto& slot = real ? chosen.real : chosen.integer;
    if (!(real || integer) || slot || !(label.empty() || label == (real ? "float" : "int")))
      throw wrong((label.empty() ? "" : label + " = ") + "\"" + text + "\"" + (slot ? " as a second one" : ""));
    slot = dtype;
  }
  return chosen;
}
}  // namespace

int64_t defaults_chosen() {
  const Defaults chosen = chosen_defaults();
  auto code = [](std::optional<DType> dtype) { return dtype ? 1 + static_cast<int64_t>(*dtype) : 0; };
  return 256 * code(chosen.real) + code(chosen.integer);
}

DType default_float() { return chosen_defaults().real.value_or(DType::f32); }

DType default_dtype(SEXP data) {
  if (TYPEOF(data) == LGLSXP) return DType::boolean;
  if (is_integer64(data)) return DType::i64;
  return TYPEOF(data) == REALSXP ? default_float() : chosen_defaults().integer.value_or(DType::i32);
}

DType array_dtype(SEXP data) {
  if (TYPEOF(data) != REALSXP || is_integer64(data)) return default_dtype(data);
  return chosen_defaults().real.value_or(DType::f64);
}

SEXP anvil_default_dtypes() {
  return entry([&] {
    Defaults chosen = chosen_defaults();
    const std::vector<std::string> dtypes = {std::string(name(chosen.real.value_or(DType::f32))),
                                             std::string(name(chosen.integer.value_or(DType::i32)))};
    const std::vector<std::string> kinds = {"float", "int"};
    return guarded([&] {
      SEXP x = PROTECT(strings(dtypes)), labels = PROTECT(strings(kinds));
      Rf_setAttrib(x, R_NamesSymbol, labels);
      UNPROTECT(2);
      return x;
    });
  });
}

Shape shape_of_data(SEXP data) {
  SEXP dim = Rf_getAttrib(data, R_DimSymbol);
  if (dim == R_NilValue) return {static_cast<int64_t>(XLENGTH(data))};
  return integers_of(dim, "dim");
}

Scalar scalar_of(SEXP x) {
  settled(x);
  if (TYPEOF(x) == LGLSXP) return Scalar(LOGICAL_ELT(x, 0) != 0);
  if (TYPEOF(x) == INTSXP)
    return INTEGER_ELT(x, 0) == NA_INTEGER ? Scalar(NA_REAL) : Scalar(int64_t(INTEGER_ELT(x, 0)));
  double value = REAL_ELT(x, 0);
  return is_integer64(x) ? Scalar(std::bit_cast<int64_t>(value)) : Scalar(value);
}

namespace {

template <class To>
To from_integer(int x) {
  if constexpr (is_real_number<To>)
    if (x == NA_INTEGER) return static_cast<To>(NA_REAL);
  return convert_number<To>(x);
}

template <class To>
void copy_elements(SEXP from, int64_t n, To* to) {
  bool recycle = XLENGTH(from) == 1;
  auto fill = [&](auto element) {
    in_pieces(n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = element(recycle ? 0 : i);
    });
  };
  if (TYPEOF(from) == LGLSXP) {
    const int* p = LOGICAL_RO(from);
    fill([&](int64_t i) { return from_integer<To>(p[i]); });
  } else if (TYPEOF(from) == INTSXP) {
    const int* p = INTEGER_RO(from);
    fill([&](int64_t i) { return from_integer<To>(p[i]); });
  } else if (is_integer64(from)) {
    const double* p = REAL_RO(from);
    fill([&](int64_t i) { return convert_number<To>(std::bit_cast<int64_t>(p[i])); });
  } else {
    const double* p = REAL_RO(from);
    fill([&](int64_t i) { return convert_number<To>(p[i]); });
  }
}

// Of doubles, NaN that is no NA counts where it would be no number of the dtype.
int64_t count_missing(SEXP x, bool nan) {
  int64_t missing = 0;
  bool wide = is_integer64(x);
  in_pieces(XLENGTH(x), [&](int64_t begin, int64_t end) {
    if (TYPEOF(x) == REALSXP) {
      const double* p = REAL_RO(x);
      for (int64_t i = begin; i < end; ++i)
        missing += wide  ? std::bit_cast<int64_t>(p[i]) == INT64_MIN
                   : nan ? R_IsNaN(p[i]) || R_IsNA(p[i])
                         : R_IsNA(p[i]) != 0;
    } else {
      const int* p = TYPEOF(x) == LGLSXP ? LOGICAL_RO(x) : INTEGER_RO(x);
      missing += std::count(p + begin, p + end, NA_INTEGER);
    }
  });
  return missing;
}

template <class To>
bool has_room(double x) {
  const double end = std::ldexp(1.0, std::numeric_limits<To>::digits), whole = std::trunc(x);
  return whole >= (std::is_signed_v<To> ? -end : 0.0) && whole < end;
}
template <class To>
bool has_room(int64_t x) {
  return std::in_range<To>(x);
}

// Numbers that an integer dtype does not have would become others.
template <class To>
void check_room(SEXP from, DType dtype) {
  const auto check = [&](auto x) {
    if (has_room<To>(x)) return;
    const std::string number = Scalar(x).text(std::is_same_v<decltype(x), double> ? DType::f64 : DType::i64);
    throw Error("dtype", "`data` has " + number + ", which is no number of dtype " + std::string(name(dtype)) + ".",
                {"i Choose another dtype; `nv_convert()` of a tensor takes any number."});
  };
  const R_xlen_t n = XLENGTH(from);
  if (TYPEOF(from) == INTSXP)
    for (const int *p = INTEGER_RO(from), *end = p + n; p != end; ++p) check(int64_t{*p});
  else if (is_integer64(from))
    for (const double *p = REAL_RO(from), *end = p + n; p != end; ++p) check(std::bit_cast<int64_t>(*p));
  else if (TYPEOF(from) == REALSXP)
    for (const double *p = REAL_RO(from), *end = p + n; p != end; ++p) check(*p);
}

// The same elements as the data of a tensor; where there are many, without a copy.
SEXP data_from(SEXP x, const Shape& shape) {
  int attributes = 0;
  each_attribute(x, [&](SEXP) { ++attributes; });
  const bool wants_dim = is_large(XLENGTH(x));
  if (wants_dim ? attributes == 1 && has_dim(x, shape) : attributes == 0) return x;
  return guarded([&] {
    SEXP data = PROTECT(wants_dim ? view_of(x) : copy_of(x));
    if (wants_dim) set_dim(data, shape);
    UNPROTECT(1);
    return data;
  });
}

[[noreturn]] void not_data(SEXP data) {
  std::vector<std::string> details = {"x Got " + describe(data) + "."};
  if (Rf_inherits(data, "factor"))
    details.push_back("i Use `as.integer()` for the numbers of the levels, or `model.matrix()` for indicators.");
  else if (Rf_inherits(data, "data.frame"))
    details.push_back("i Use `as.matrix()` if all columns are numbers, else `model.matrix()`.");
  else if (TYPEOF(data) == VECSXP)
    details.push_back("i Use `unlist()`. Functions take and return lists of tensors as they are.");
  else if (TYPEOF(data) == STRSXP)
    details.push_back("i Use `as.numeric()` if the strings are numbers, else `match()`.");
  else if (data == R_NilValue)
    details.push_back("i Use `nv_empty()`, or `numeric()` for a tensor without elements.");
  throw Error("argument", "`data` must be a logical, integer or double vector or array.", details);
}

}  // namespace

SEXP make_tensor(SEXP data, const DType* dtype, const Shape& shape, bool ambiguous, bool check) {
  if (!is_data(data)) not_data(data);
  TensorType type{dtype ? *dtype : default_dtype(data), shape, ambiguous};
  int64_t n = elements(shape), length = XLENGTH(settled(data));
  if (length != n && length != 1)
    throw Error("shape",
                "`data` has length " + std::to_string(length) + ", but the `shape` " + in_parentheses(shape) + " has " +
                    std::to_string(n) + " elements.",
                {"i Only data of length 1 are repeated."});
  if (check || !is_float(type.dtype))
    if (int64_t missing = count_missing(data, !is_float(type.dtype)))
      throw Error("missing", "`data` has " + std::to_string(missing) + " missing value" + (missing == 1 ? "." : "s."),
                  {"i Tensors know NaN, but no NA.",
                   "i `nv_tensor(data, na = 0L)` says what missing values become; in a float dtype they are NaN."});
  bool same = length == n && ((type.dtype == DType::f64 && TYPEOF(data) == REALSXP && !is_integer64(data)) ||
                              (type.dtype == DType::i32 && TYPEOF(data) == INTSXP));
  if (!same && is_integer(type.dtype))
    visit(type.dtype, [&]<class T>() {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) check_room<T>(data, type.dtype);
    });
  Shield<SEXP> held(same ? data_from(data, shape) : guarded([&] { return allocate_data(type); }));
  if (!same) visit(type.dtype, [&]<class T>() { copy_elements(data, n, static_cast<T*>(writable(held))); });
  return guarded([&] {
    SEXP tag = PROTECT(tag_of(type));
    SEXP x = wrap_tensor(held, tag, names.tensor);
    UNPROTECT(1);
    return x;
  });
}

// dtype: a code or NULL; shape: sizes or NULL
SEXP anvil_tensor(SEXP data, SEXP dtype, SEXP shape, SEXP ambiguous, SEXP check) {
  return entry([&] {
    DType wanted = dtype == R_NilValue ? DType::f32 : dtype_of_code(dtype);
    Shape sizes = shape != R_NilValue ? integers_of(shape, "shape") : is_data(data) ? shape_of_data(data) : Shape{};
    for (int64_t size : sizes)
      if (size < 0)
        throw Error("shape", "`shape` must hold sizes of at least 0.", {"x Got " + in_parentheses(sizes) + "."});
    return make_tensor(data, dtype == R_NilValue ? nullptr : &wanted, sizes, flag_of(ambiguous, "ambiguous"),
                       flag_of(check, "check"));
  });
}

// --- to R data --------------------------------------------------------------------------

namespace {

Tensor viewed(SEXP x) {
  if (Class c = class_of(x); c != Class::tensor && c != Class::buffer) throw wrong_argument("x", "an AnvilTensor", x);
  return borrow(x);
}

SEXP vector_for(SEXPTYPE kind, int64_t n) {
  expect_memory(static_cast<size_t>(n) * (kind == REALSXP ? 8 : kind == RAWSXP ? 1 : 4));
  return guarded([&] { return Rf_allocVector(kind, static_cast<R_xlen_t>(n)); });
}

SEXP wide_integers(const Tensor& t, int64_t n) {
  constexpr int64_t exact = int64_t(1) << 53, least = std::numeric_limits<int64_t>::min();  // NA to bit64
  bool fits = true, beyond = false, least_seen = false;
  const auto* words = t.as<int64_t>();
  in_pieces(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (t.type.dtype != DType::i64 && words[i] < 0) beyond = true;
      if ((words[i] > exact || words[i] < -exact) && words[i] != least) fits = false;
      if (words[i] == least) least_seen = true;
    }
  });
  if (beyond)
    throw Error("dtype", "This ui64 tensor holds numbers beyond 2^63, which no R type can represent.",
                {"i Use `as_raw()` for the bytes, or `nv_convert()` to another dtype."});
  if (!fits && least_seen)
    throw Error("dtype", "This i64 tensor holds -2^63 and other numbers that no R type can represent with it.",
                {"i Use `as_raw()` for the bytes, or `nv_convert()` to another dtype."});
  if (!fits) call_r("check_integer64", {});
  Shield<SEXP> x(vector_for(REALSXP, n));
  double* to = REAL(x);
  in_pieces(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      to[i] = fits ? static_cast<double>(words[i]) : std::bit_cast<double>(words[i]);
  });
  if (!fits)
    guarded([&] {
      SEXP cls = PROTECT(Rf_mkString("integer64"));
      Rf_setAttrib(x, R_ClassSymbol, cls);
      UNPROTECT(1);
      return R_NilValue;
    });
  return x;
}

// -2^31 is R's missing value.
bool holds_missing(const Tensor& t, int64_t n) {
  if (t.type.dtype != DType::i32) return false;
  bool found = false;
  in_pieces(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) found |= t.as<int32_t>()[i] == NA_INTEGER;
  });
  return found;
}

SEXP plain_numbers(const Tensor& t, int64_t n) {
  const DType dtype = t.type.dtype;
  const bool doubles = is_float(dtype) || dtype == DType::ui32 || holds_missing(t, n);
  const SEXPTYPE kind = is_bool(dtype) ? LGLSXP : doubles ? REALSXP : INTSXP;
  Shield<SEXP> x(vector_for(kind, n));
  auto copy = [&]<class T, class To>(const T* from, To* to) {
    in_pieces(n, [&](int64_t begin, int64_t end) { std::copy(from + begin, from + end, to + begin); });
  };
  visit(dtype, [&]<class T>() {
    if (kind == REALSXP)
      copy(t.as<T>(), REAL(x));
    else
      copy(t.as<T>(), kind == LGLSXP ? LOGICAL(x) : INTEGER(x));
  });
  return x;
}

}  // namespace

SEXP anvil_as_array(SEXP tensor) {
  return entry([&] {
    Tensor t = viewed(tensor);
    for (int64_t size : t.type.shape)
      if (size > INT32_MAX)
        throw Error("shape", "A dimension of an R array has at most 2^31 - 1 elements.",
                    {"x The shape is " + in_parentheses(t.type.shape) + ".", "i Use `as_raw()` for the bytes."});
    int64_t n = elements(t.type.shape);
    DType dtype = t.type.dtype;
    SEXP data = tensor_data(tensor);
    if (has_dim(data, t.type.shape) && !is_view(data) && !holds_missing(t, n)) {
      set_alone(tensor, false);
      return data;
    }
    Shield<SEXP> values(dtype == DType::i64 || dtype == DType::ui64 ? wide_integers(t, n) : plain_numbers(t, n));
    if (!t.type.shape.empty())
      guarded([&] {
        set_dim(values, t.type.shape);
        return R_NilValue;
      });
    return static_cast<SEXP>(values);
  });
}

}  // namespace anvil::r
