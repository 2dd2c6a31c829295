// Tensors as R objects. An AnvilTensor is an external pointer without an address, with two
// attributes: `data`, an R vector that holds the elements in column-major order (double for f64,
// integer for i32, raw bytes for every other dtype; large ones of numbers are the array that
// as_array() gives, others have no attributes), and `type`, c(dtype, ambiguous, sizes...). So R's
// collector owns the memory, a tensor can be saved, and identical() compares types and data. A
// single bool is an R logical, for `if`, `while` and isTRUE(), with such a pointer as attribute
// `handle`. What print() calls a debug box has a tag in its pointer, which identical() does not
// see; what the pointer keeps says whether the data are this tensor's alone, so that a program to
// which it was donated may write there later. Nothing else is believed: whoever reads a tensor
// checks that its parts fit each other.
#include <algorithm>
#include <cmath>

#include "base/memory.h"
#include "r_common.h"
#include "r_routines.h"

namespace anvil::r {

// --- types ------------------------------------------------------------------------------

namespace {

// The words of a tag; doubles where a size is beyond R's integers.
struct Tag {
  SEXP words;
  R_xlen_t length = 0;
  explicit Tag(SEXP x) : words(settled(x)) {
    if (TYPEOF(x) == INTSXP || TYPEOF(x) == REALSXP) length = XLENGTH(x);
    if (TYPEOF(x) == INTSXP) integers_ = INTEGER_RO(x);  // nearly always, at every call
    if (TYPEOF(x) == REALSXP) doubles_ = REAL_RO(x);
    bool valid = length >= 2 && at(0) < static_cast<double>(descriptors.size());
    for (R_xlen_t i = 0; valid && i < length; ++i)  // NA is below 0 as an integer, and no number else
      valid = integers_ ? integers_[i] >= 0
                        : doubles_[i] >= 0 && doubles_[i] <= 0x1p62 && doubles_[i] == std::trunc(doubles_[i]);
    if (!valid) throw Error("argument", "This is not a tensor: it has no valid type.");
  }
  double at(R_xlen_t i) const { return integers_ ? integers_[i] : doubles_[i]; }
  DType dtype() const { return static_cast<DType>(at(0)); }
  int64_t size(R_xlen_t d) const { return static_cast<int64_t>(at(d + 2)); }
  R_xlen_t rank() const { return length - 2; }

 private:
  const int* integers_ = nullptr;
  const double* doubles_ = nullptr;
};

int vector_type(DType t) { return t == DType::f64 ? REALSXP : t == DType::i32 ? INTSXP : RAWSXP; }

}  // namespace

TensorType type_of(SEXP words) {
  const Tag tag(words);
  TensorType type{tag.dtype(), Shape(static_cast<size_t>(tag.rank())), tag.at(1) != 0};
  for (R_xlen_t d = 0; d < tag.rank(); ++d) type.shape[static_cast<size_t>(d)] = tag.size(d);
  return type;
}

SEXP tag_of(const TensorType& type) {
  const bool wide = std::any_of(type.shape.begin(), type.shape.end(), [](int64_t size) { return size > INT32_MAX; });
  const R_xlen_t rank = static_cast<R_xlen_t>(type.shape.size());
  SEXP tag = Rf_allocVector(wide ? REALSXP : INTSXP, rank + 2);
  auto set = [&](R_xlen_t i, int64_t x) {
    if (wide)
      REAL(tag)[i] = static_cast<double>(x);
    else
      INTEGER(tag)[i] = static_cast<int>(x);
  };
  set(0, static_cast<int64_t>(type.dtype));
  set(1, type.ambiguous);
  for (R_xlen_t d = 0; d < rank; ++d) set(d + 2, type.shape[static_cast<size_t>(d)]);
  return tag;
}

// --- tensors ----------------------------------------------------------------------------

SEXP class_named(SEXP name) {
  const std::string text = text_of(name, "class");
  if (text == "AnvilTensor") return names.tensor;
  if (text == "AnvilBuffer") return names.buffer;
  throw Error("argument", "`class` must be \"AnvilTensor\" or \"AnvilBuffer\".");
}

// What R's `if` may take.
static bool is_flag(const Tag& tag) {
  bool single = tag.dtype() == DType::boolean;
  for (R_xlen_t d = 0; d < tag.rank(); ++d) single = single && tag.at(d + 2) == 1;
  return single;
}

static SEXP flag_with(SEXP handle, SEXP data) {  // may jump
  SEXP x = PROTECT(Rf_allocVector(LGLSXP, 1));
  LOGICAL(x)[0] = RAW_RO(data)[0] != 0;
  Rf_setAttrib(x, names.handle, handle);
  UNPROTECT(1);
  return x;
}

SEXP wrap_tensor(SEXP data, SEXP tag, SEXP cls, bool debug) {
  const bool flag = cls == names.tensor && is_flag(Tag(tag));
  SEXP handle = PROTECT(R_MakeExternalPtr(nullptr, debug ? names.debug : R_NilValue, R_NilValue));
  Rf_setAttrib(handle, names.data, data);
  Rf_setAttrib(handle, names.type, tag);
  SEXP x = PROTECT(flag ? flag_with(handle, data) : handle);
  Rf_setAttrib(x, R_ClassSymbol, cls);
  UNPROTECT(2);
  return x;
}

// The pointer of a tensor: itself, but for a single bool.
static SEXP handle_of(SEXP tensor) {
  if (TYPEOF(tensor) != LGLSXP) return tensor;
  SEXP handle = Rf_getAttrib(tensor, names.handle);
  if (XLENGTH(tensor) != 1 || TYPEOF(handle) != EXTPTRSXP)
    throw Error("argument", "This is not a tensor: it is a logical without a handle.");
  return handle;
}

// So many that a copy would cost more than a call of as_array().
bool is_large(R_xlen_t elements) { return elements >= R_xlen_t(1) << 14; }

bool has_dim(SEXP data, const Shape& shape) {
  SEXP dim = Rf_getAttrib(data, R_DimSymbol);
  return TYPEOF(dim) == INTSXP &&
         std::equal(shape.begin(), shape.end(), INTEGER_RO(dim), INTEGER_RO(dim) + XLENGTH(dim));
}

// R has no array of larger sizes.
void set_dim(SEXP data, const Shape& shape) {
  if (std::any_of(shape.begin(), shape.end(), [](int64_t size) { return size > INT32_MAX; })) return;
  SEXP dim = PROTECT(integers(shape));
  Rf_setAttrib(data, R_DimSymbol, dim);
  UNPROTECT(1);
}

void* writable(SEXP data) { return const_cast<void*>(DATAPTR_RO(data)); }

SEXP tensor_tag(SEXP tensor) { return Tag(Rf_getAttrib(handle_of(tensor), names.type)).words; }

SEXP tensor_data(SEXP tensor) {
  SEXP handle = handle_of(tensor);
  SEXP data = Rf_getAttrib(handle, names.data);
  const Tag tag(Rf_getAttrib(handle, names.type));
  if (data == R_NilValue)
    throw Error("donated", "This tensor was donated to a jitted function and its data are gone.",
                {"i Leave the argument out of `donate`, or use the result of that call."});
  const int kind = vector_type(tag.dtype());
  double expected = kind == RAWSXP ? static_cast<double>(size_of(tag.dtype())) : 1;
  for (R_xlen_t d = 0; d < tag.rank(); ++d) expected *= tag.at(d + 2);
  bool fits = TYPEOF(data) == kind && static_cast<double>(XLENGTH(data)) == expected;
  if (fits && handle != tensor) fits = is_flag(tag) && LOGICAL_ELT(settled(tensor), 0) == RAW_ELT(data, 0);
  if (!fits) throw Error("argument", "This is not a tensor: its data do not fit its type.");
  return data;
}

bool is_alone(SEXP tensor) { return R_ExternalPtrProtected(handle_of(tensor)) == names.alone; }
void set_alone(SEXP tensor, bool alone) {
  R_SetExternalPtrProtected(handle_of(tensor), alone ? names.alone : R_NilValue);
}

void* data_of(SEXP tensor) { return elements_of(tensor_data(tensor)); }

void* elements_of(SEXP data) {
  if (const void* p = DATAPTR_OR_NULL(data)) return const_cast<void*>(p);
  return const_cast<void*>(DATAPTR_RO(settled(data)));
}

Tensor borrow(SEXP tensor) {
  void* data = data_of(tensor);
  return {type_of(tensor_tag(tensor)), std::shared_ptr<void>(std::shared_ptr<void>(), data)};
}

namespace {
struct Release {
  Kept tensor, data;  // the data too: donation takes them from the tensor
  void operator()(void*) {}
};
}  // namespace

Tensor hold(SEXP tensor) {
  void* p = data_of(tensor);
  set_alone(tensor, false);
  Release release{Kept(tensor), Kept(tensor_data(tensor))};
  return {type_of(tensor_tag(tensor)), std::shared_ptr<void>(p, std::move(release))};
}

// The AnvilTensor behind `hold`, or R_NilValue.
static SEXP holder_of(const Tensor& t) {
  auto* release = std::get_deleter<Release>(t.data);
  return release == nullptr ? R_NilValue : release->tensor.get();
}

static bool in_debug(SEXP tensor) { return R_ExternalPtrTag(handle_of(tensor)) == names.debug; }

SEXP made_in_debug(SEXP tensor) {
  SEXP data = tensor_data(tensor);
  if (in_debug(tensor)) return tensor;
  set_alone(tensor, false);
  return guarded([&] { return wrap_tensor(data, tensor_tag(tensor), names.tensor, true); });
}

SEXP tensor_from(const Tensor& t, bool debug) {
  SEXP holder = holder_of(t);
  if (holder != R_NilValue && type_of(tensor_tag(holder)) == t.type)  // not that of a reshape
    return debug ? made_in_debug(holder) : holder;
  Shield<SEXP> data(guarded([&] { return allocate_data(t.type); }));
  char* to = static_cast<char*>(writable(data));
  in_pieces(static_cast<int64_t>(bytes_of(t.type.dtype, t.type.shape)),
            [&](int64_t begin, int64_t end) { std::copy(t.as<char>() + begin, t.as<char>() + end, to + begin); });
  return guarded([&] {
    SEXP tag = PROTECT(tag_of(t.type));
    SEXP x = wrap_tensor(data, tag, names.tensor, debug);
    UNPROTECT(1);
    return x;
  });
}

// Whether print() calls it a debug box.
SEXP anvil_in_debug(SEXP x) {
  return entry([&] {
    const bool debug = class_of(x) == Class::tensor && in_debug(x);
    return guarded([&] { return Rf_ScalarLogical(debug); });
  });
}

bool is_donated(SEXP tensor) { return Rf_getAttrib(handle_of(tensor), names.data) == R_NilValue; }

// A donated single bool is NA, so that `if` does not take it.
void invalidate(SEXP tensor) {
  SEXP handle = handle_of(tensor);
  guarded([&] {
    Rf_setAttrib(handle, names.data, R_NilValue);
    if (handle != tensor) LOGICAL(tensor)[0] = NA_LOGICAL;
    return R_NilValue;
  });
}

SEXP anvil_empty(SEXP tag) {
  return entry([&] {
    const TensorType type = type_of(tag);
    Shield<SEXP> data(guarded([&] { return allocate_data(type); }));
    char* to = static_cast<char*>(writable(data));
    in_pieces(static_cast<int64_t>(bytes_of(type.dtype, type.shape)),
              [&](int64_t begin, int64_t end) { std::fill(to + begin, to + end, 0); });
    return guarded([&] {
      SEXP words = PROTECT(tag_of(type));
      SEXP x = wrap_tensor(data, words, names.tensor);
      UNPROTECT(1);
      return x;
    });
  });
}

// The same data under another class: tensor and raw buffer.
SEXP anvil_rewrap(SEXP x, SEXP cls) {
  return entry([&] {
    SEXP given = class_named(cls);
    if (Class c = class_of(x); c != Class::tensor && c != Class::buffer)
      throw wrong_argument("x", "a tensor or a raw buffer", x);
    SEXP data = tensor_data(x);
    set_alone(x, false);
    return guarded([&] { return wrap_tensor(data, tensor_tag(x), given); });
  });
}

SEXP anvil_dtype_code(SEXP text) {
  return entry([&] {
    auto dtype = parse_dtype(text_of(text, "dtype"));
    return guarded([&] { return Rf_ScalarInteger(dtype ? static_cast<int>(*dtype) : NA_INTEGER); });
  });
}

// The table of dtypes, as R needs it: their names, kinds, and how floats are made up.
SEXP anvil_dtypes() {
  return guarded([&] {
    using Rcpp::_;
    std::vector<std::string> known, kinds;
    std::vector<int> exponent, mantissa, bytes;
    constexpr const char* kind_names[] = {"BooleanType", "IntegerType", "UnsignedType", "FloatType"};
    for (const anvil::Descriptor& d : descriptors) {
      known.emplace_back(d.name);
      kinds.emplace_back(kind_names[static_cast<size_t>(d.kind)]);
      bytes.push_back(static_cast<int>(d.bytes));
      exponent.push_back(d.exponent_bits);
      mantissa.push_back(d.mantissa_bits);
    }
    return SEXP(Rcpp::List::create(_["name"] = known, _["kind"] = kinds, _["bytes"] = bytes, _["exponent"] = exponent,
                                   _["mantissa"] = mantissa));
  });
}

}  // namespace anvil::r
