// Tensors as R objects. An AnvilTensor is an external pointer: its protected slot holds an
// R vector with the elements in column-major order (double for f64, integer for i32, raw
// bytes for every other dtype), its tag an integer vector c(dtype, ambiguous, sizes...). So
// R's collector owns the memory and a tensor can be saved. The address is that of the
// elements; it is gone after readRDS() and found again at the first use.
#include <R_ext/Rallocators.h>

#include <cstring>

#include "r_common.h"
#include "r_routines.h"
#include "runtime/pool.h"

namespace anvil::r {

TensorType type_of(SEXP tag) {
  const int* t = INTEGER(tag);
  TensorType type{static_cast<DType>(t[0]), {}, t[1] != 0};
  type.shape.assign(t + 2, t + XLENGTH(tag));
  return type;
}

SEXP tag_of(const TensorType& type) {
  size_t rank = type.shape.size();
  SEXP tag = Rf_allocVector(INTSXP, static_cast<R_xlen_t>(rank + 2));
  INTEGER(tag)[0] = static_cast<int>(type.dtype);
  INTEGER(tag)[1] = type.ambiguous;
  for (size_t d = 0; d < rank; ++d) INTEGER(tag)[d + 2] = static_cast<int>(type.shape[d]);
  return tag;
}

SEXP wrap_tensor(SEXP data, SEXP tag, SEXP cls) {
  void* address = data == R_NilValue ? nullptr : const_cast<void*>(DATAPTR_RO(data));
  SEXP x = PROTECT(R_MakeExternalPtr(address, tag, data));
  Rf_setAttrib(x, R_ClassSymbol, cls);
  UNPROTECT(1);
  return x;
}

// Large vectors take their memory from the runtime's pool, whose pages stay mapped; the
// offset puts the elements on a cache line.
namespace {
constexpr size_t large = size_t(1) << 16;
constexpr size_t header = sizeof(R_allocator_t) + 48;  // what R puts before the elements
constexpr size_t offset = (64 - header % 64) % 64;
void* pool_alloc(R_allocator_t*, size_t bytes) {
  auto* p = static_cast<char*>(runtime::take(bytes + offset));
  return p == nullptr ? nullptr : p + offset;
}
void pool_free(R_allocator_t*, void* p) { runtime::give(static_cast<char*>(p) - offset); }
}  // namespace

// R does not see what results cost: new pages take several times what it takes to fill
// them. A collection gives old results back to the pool; where the pool has no block left,
// it is worth its time for every 128 MB of results, and with much memory in use for more.
static void collect_before(size_t bytes) {
  static size_t since = 0;
  since += bytes;
  if (since < std::max(size_t(128) << 20, runtime::pool_statistics().used / 2) || !runtime::would_be_fresh(bytes))
    return;
  since = 0;
  R_gc();
}

SEXP allocate_data(const TensorType& type) {
  R_xlen_t n = static_cast<R_xlen_t>(elements(type.shape));
  SEXPTYPE kind = type.dtype == DType::f64 ? REALSXP : type.dtype == DType::i32 ? INTSXP : RAWSXP;
  size_t bytes = static_cast<size_t>(n) * size_of(type.dtype);
  R_xlen_t length = kind == RAWSXP ? static_cast<R_xlen_t>(bytes) : n;
  if (bytes < large) return Rf_allocVector(kind, length);
  collect_before(bytes);
  R_allocator_t allocator{pool_alloc, pool_free, nullptr, nullptr};
  return Rf_allocVector3(kind, length, &allocator);
}

void* data_of(SEXP tensor) {
  if (void* p = R_ExternalPtrAddr(tensor)) return p;
  SEXP data = R_ExternalPtrProtected(tensor);
  if (data == R_NilValue)
    throw Error("donated", "This tensor was donated to a jitted function and its data are gone.",
                {"i Leave the argument out of `donate`, or use the result of that call."});
  void* p = const_cast<void*>(DATAPTR_RO(data));
  R_SetExternalPtrAddr(tensor, p);
  return p;
}

Tensor borrow(SEXP tensor) {
  return {type_of(R_ExternalPtrTag(tensor)), std::shared_ptr<void>(std::shared_ptr<void>(), data_of(tensor))};
}

namespace {
struct Release {
  Kept tensor, data;  // the data too: donation takes them from the tensor
  void operator()(void*) {}
};
}  // namespace

Tensor hold(SEXP tensor) {
  void* p = data_of(tensor);
  Release release{Kept(tensor), Kept(R_ExternalPtrProtected(tensor))};
  return {type_of(R_ExternalPtrTag(tensor)), std::shared_ptr<void>(p, std::move(release))};
}

SEXP holder_of(const Tensor& t) {
  auto* release = std::get_deleter<Release>(t.data);
  return release == nullptr ? R_NilValue : release->tensor.get();
}

SEXP tensor_from(const Tensor& t) {
  SEXP holder = holder_of(t);
  if (holder != R_NilValue) {  // a reshape shares its data, but is another tensor
    TensorType held = type_of(R_ExternalPtrTag(holder));
    if (graph::same_type(held, t.type) && held.ambiguous == t.type.ambiguous) return holder;
  }
  return guarded([&] {
    SEXP data = PROTECT(allocate_data(t.type));
    SEXP tag = PROTECT(tag_of(t.type));
    size_t bytes = static_cast<size_t>(elements(t.type.shape)) * size_of(t.type.dtype);
    if (bytes > 0) std::memcpy(const_cast<void*>(DATAPTR_RO(data)), t.data.get(), bytes);
    SEXP x = wrap_tensor(data, tag, names.tensor);
    UNPROTECT(2);
    return x;
  });
}

// --- from R data ----------------------------------------------------------------------

static bool is_integer64(SEXP x) { return TYPEOF(x) == REALSXP && Rf_inherits(x, "integer64"); }

bool is_data(SEXP x) {
  if (TYPEOF(x) != LGLSXP && TYPEOF(x) != INTSXP && TYPEOF(x) != REALSXP) return false;
  return !Rf_isObject(x) || is_integer64(x);
}

DType default_dtype(SEXP data) {
  if (TYPEOF(data) == LGLSXP) return DType::boolean;
  if (is_integer64(data)) return DType::i64;
  bool real = TYPEOF(data) == REALSXP;
  SEXP option = Rf_GetOption1(names.default_dtypes);
  if (option == R_NilValue) return real ? DType::f32 : DType::i32;
  SEXP fields = Rf_getAttrib(option, R_NamesSymbol);
  for (R_xlen_t i = 0; TYPEOF(option) == STRSXP && fields != R_NilValue && i < XLENGTH(option); ++i)
    if (std::strcmp(CHAR(STRING_ELT(fields, i)), real ? "float" : "int") == 0)
      if (auto dtype = parse_dtype(CHAR(STRING_ELT(option, i)));
          dtype && (real ? is_float(*dtype) : is_integer(*dtype)))
        return *dtype;
  return real ? DType::f32 : DType::i32;
}

Shape shape_of_data(SEXP data) {
  SEXP dim = Rf_getAttrib(data, R_DimSymbol);
  if (dim == R_NilValue) return {static_cast<int64_t>(XLENGTH(data))};
  return {INTEGER(dim), INTEGER(dim) + XLENGTH(dim)};
}

Scalar scalar_of(SEXP x) {
  if (TYPEOF(x) == LGLSXP) return Scalar(LOGICAL_ELT(x, 0) != 0);
  if (TYPEOF(x) == INTSXP)
    return INTEGER_ELT(x, 0) == NA_INTEGER ? Scalar(NA_REAL) : Scalar(int64_t(INTEGER_ELT(x, 0)));
  double value = REAL_ELT(x, 0);
  return is_integer64(x) ? Scalar(std::bit_cast<int64_t>(value)) : Scalar(value);
}

namespace {

template <class To>
To from_integer(int x) {
  if constexpr (std::is_floating_point_v<To>)
    if (x == NA_INTEGER) return static_cast<To>(NA_REAL);
  return convert_number<To>(x);
}

template <class To>
void copy_elements(SEXP from, int64_t n, To* to) {
  bool recycle = XLENGTH(from) == 1;
  auto fill = [&](auto element) {
    for (int64_t i = 0; i < n; ++i) to[i] = element(recycle ? 0 : i);
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

int64_t count_missing(SEXP x) {
  int64_t n = 0;
  for (R_xlen_t i = 0; i < XLENGTH(x); ++i) {
    if (TYPEOF(x) == REALSXP)
      n += is_integer64(x) ? std::bit_cast<int64_t>(REAL_ELT(x, i)) == INT64_MIN : ISNA(REAL_ELT(x, i)) != 0;
    else
      n += (TYPEOF(x) == LGLSXP ? LOGICAL_ELT(x, i) : INTEGER_ELT(x, i)) == NA_INTEGER;
  }
  return n;
}

}  // namespace

SEXP make_tensor(SEXP data, const DType* dtype, const Shape& shape, bool ambiguous, bool check) {
  if (!is_data(data)) {
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
  TensorType type{dtype ? *dtype : default_dtype(data), shape, ambiguous};
  int64_t n = elements(shape), length = XLENGTH(data);
  if (length != n && length != 1)
    throw Error("shape",
                "`data` has length " + std::to_string(length) + ", but the shape " + in_parentheses(shape) + " has " +
                    std::to_string(n) + " elements.",
                {"i Only data of length 1 are repeated."});
  for (int64_t size : shape)
    if (size > INT32_MAX)
      throw Error("shape", "A dimension of a tensor has at most 2^31 - 1 elements.",
                  {"x Got " + std::to_string(size) + "."});
  if (check)
    if (int64_t missing = count_missing(data))
      throw Error("missing", "`data` has " + std::to_string(missing) + " missing value" + (missing == 1 ? "." : "s."),
                  {"i Tensors know NaN, but no NA."});
  bool same = length == n && ((type.dtype == DType::f64 && TYPEOF(data) == REALSXP && !is_integer64(data)) ||
                              (type.dtype == DType::i32 && TYPEOF(data) == INTSXP));
  return guarded([&] {
    SEXP held = PROTECT(same ? data : allocate_data(type));
    if (!same) {
      void* p = const_cast<void*>(DATAPTR_RO(held));
      visit(type.dtype, [&]<class T>() { copy_elements(data, n, static_cast<T*>(p)); });
    }
    SEXP tag = PROTECT(tag_of(type));
    SEXP x = wrap_tensor(held, tag, names.tensor);
    UNPROTECT(2);
    return x;
  });
}

static DType dtype_of_code(SEXP code) { return static_cast<DType>(Rf_asInteger(code)); }

// dtype: a code or NULL; shape: sizes or NULL; ambiguous
SEXP anvil_tensor(SEXP data, SEXP dtype, SEXP shape, SEXP ambiguous, SEXP check) {
  return entry([&] {
    DType wanted = dtype == R_NilValue ? DType::f32 : dtype_of_code(dtype);
    Shape sizes = shape != R_NilValue ? integers_of(shape, "shape") : is_data(data) ? shape_of_data(data) : Shape{};
    for (int64_t size : sizes)
      if (size < 0)
        throw Error("shape", "`shape` must hold sizes of at least 0.", {"x Got " + in_parentheses(sizes) + "."});
    return make_tensor(data, dtype == R_NilValue ? nullptr : &wanted, sizes, Rf_asLogical(ambiguous) == TRUE,
                       Rf_asLogical(check) == TRUE);
  });
}

SEXP anvil_empty(SEXP tag, SEXP) {
  return entry([&] {
    TensorType type = type_of(tag);
    for (int64_t size : type.shape)
      if (size < 0)
        throw Error("shape", "`shape` must hold sizes of at least 0.", {"x Got " + in_parentheses(type.shape) + "."});
    elements(type.shape);
    return guarded([&] {
      SEXP data = PROTECT(allocate_data(type));
      size_t bytes = static_cast<size_t>(elements(type.shape)) * size_of(type.dtype);
      if (bytes > 0) std::memset(const_cast<void*>(DATAPTR_RO(data)), 0, bytes);
      SEXP x = wrap_tensor(data, tag, names.tensor);
      UNPROTECT(1);
      return x;
    });
  });
}

// --- to R data --------------------------------------------------------------------------

static SEXP wide_integers(const Tensor& t, int64_t n) {
  constexpr int64_t exact = int64_t(1) << 53;
  bool fits = true, beyond = false;
  auto value = [&](int64_t i) {
    return t.type.dtype == DType::i64 ? t.as<int64_t>()[i] : std::bit_cast<int64_t>(t.as<uint64_t>()[i]);
  };
  for (int64_t i = 0; i < n; ++i) {
    int64_t x = value(i);
    if (t.type.dtype != DType::i64 && x < 0) beyond = true;
    if (x > exact || x < -exact) fits = false;
  }
  if (beyond)
    throw Error("dtype", "This ui64 tensor holds numbers beyond 2^63, which no R type can represent.",
                {"i Use `as_raw()` for the bytes, or `nv_convert()` to another dtype."});
  if (!fits) call_r("check_integer64", {});
  return guarded([&] {
    SEXP x = PROTECT(Rf_allocVector(REALSXP, static_cast<R_xlen_t>(n)));
    for (int64_t i = 0; i < n; ++i) REAL(x)[i] = fits ? static_cast<double>(value(i)) : std::bit_cast<double>(value(i));
    if (!fits) Rf_setAttrib(x, R_ClassSymbol, Rf_mkString("integer64"));
    UNPROTECT(1);
    return x;
  });
}

SEXP anvil_as_array(SEXP tensor) {
  return entry([&] {
    Tensor t = borrow(tensor);
    int64_t n = elements(t.type.shape);
    DType dtype = t.type.dtype;
    Shield<SEXP> values(dtype == DType::i64 || dtype == DType::ui64 ? wide_integers(t, n) : guarded([&] {
      SEXPTYPE kind = is_bool(dtype) ? LGLSXP : is_float(dtype) || dtype == DType::ui32 ? REALSXP : INTSXP;
      SEXP x = PROTECT(Rf_allocVector(kind, static_cast<R_xlen_t>(n)));
      visit(dtype, [&]<class T>() {
        const T* from = t.as<T>();
        if (kind == REALSXP)
          std::copy(from, from + n, REAL(x));
        else
          std::copy(from, from + n, INTEGER(x));
      });
      UNPROTECT(1);
      return x;
    }));
    if (!t.type.shape.empty())
      guarded([&] {
        SEXP dim = PROTECT(integers(t.type.shape));
        Rf_setAttrib(values, R_DimSymbol, dim);
        UNPROTECT(1);
        return R_NilValue;
      });
    return static_cast<SEXP>(values);
  });
}

// Copies elements between column-major and row-major order.
static void reorder(const char* from, char* to, const Shape& shape, size_t size, bool to_row_major) {
  Shape reversed(shape.rbegin(), shape.rend());
  std::vector<int64_t> step = strides(reversed), index(shape.size(), 0);
  int64_t n = elements(shape);
  for (int64_t column = 0; column < n; ++column, next_index(index, shape)) {
    int64_t row = 0;
    for (size_t d = 0; d < shape.size(); ++d) row += index[d] * step[shape.size() - 1 - d];
    int64_t source = to_row_major ? column : row, target = to_row_major ? row : column;
    std::memcpy(to + static_cast<size_t>(target) * size, from + static_cast<size_t>(source) * size, size);
  }
}

SEXP anvil_as_raw(SEXP tensor, SEXP row_major) {
  return entry([&] {
    Tensor t = borrow(tensor);
    size_t size = size_of(t.type.dtype);
    SEXP x = guarded([&] {
      return Rf_allocVector(RAWSXP, static_cast<R_xlen_t>(elements(t.type.shape) * static_cast<int64_t>(size)));
    });
    char* to = reinterpret_cast<char*>(RAW(x));
    if (Rf_asLogical(row_major) == TRUE)
      reorder(t.as<char>(), to, t.type.shape, size, true);
    else if (XLENGTH(x) > 0)
      std::memcpy(to, t.data.get(), static_cast<size_t>(XLENGTH(x)));
    return x;
  });
}

SEXP anvil_from_raw(SEXP bytes, SEXP tag, SEXP row_major, SEXP cls) {
  return entry([&] {
    TensorType type = type_of(tag);
    size_t size = size_of(type.dtype), needed = static_cast<size_t>(elements(type.shape)) * size;
    if (TYPEOF(bytes) != RAWSXP || static_cast<size_t>(XLENGTH(bytes)) != needed)
      throw Error("shape",
                  "`data` must hold the " + std::to_string(needed) + " bytes of a tensor " + graph::text(type) + ".",
                  {"x Got " + describe(bytes) + "."});
    return guarded([&] {
      SEXP data = PROTECT(allocate_data(type));
      char* to = static_cast<char*>(const_cast<void*>(DATAPTR_RO(data)));
      const char* from = reinterpret_cast<const char*>(RAW_RO(bytes));
      if (Rf_asLogical(row_major) == TRUE)
        reorder(from, to, type.shape, size, false);
      else if (needed > 0)
        std::memcpy(to, from, needed);
      if (is_bool(type.dtype))
        for (size_t i = 0; i < needed; ++i) to[i] = to[i] != 0;
      SEXP x = wrap_tensor(data, tag, cls);
      UNPROTECT(1);
      return x;
    });
  });
}

// The same data under another class: tensor and raw buffer.
SEXP anvil_rewrap(SEXP x, SEXP cls) {
  return entry([&] {
    data_of(x);
    return guarded([&] { return wrap_tensor(R_ExternalPtrProtected(x), R_ExternalPtrTag(x), cls); });
  });
}

SEXP anvil_invalidate(SEXP x) {
  R_SetExternalPtrProtected(x, R_NilValue);
  R_SetExternalPtrAddr(x, nullptr);
  return R_NilValue;
}

SEXP anvil_dtype_code(SEXP text) {
  return entry([&] {
    auto dtype = parse_dtype(text_of(text));
    return guarded([&] { return Rf_ScalarInteger(dtype ? static_cast<int>(*dtype) : NA_INTEGER); });
  });
}

}  // namespace anvil::r
