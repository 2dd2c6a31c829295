// Tensors as bytes, in either order of their elements, and the headers of safetensors data.
#include <algorithm>
#include <cstring>

#include "base/memory.h"
#include "base/safetensors.h"
#include "r_common.h"
#include "r_routines.h"

namespace anvil::r {

namespace {

void copy_bytes(const char* from, char* to, int64_t n) {
  in_pieces(n, [&](int64_t begin, int64_t end) { std::copy(from + begin, from + end, to + begin); });
}

// Copies elements of `size` bytes between column-major and row-major order: a step along the first dimension
// is a small one in the one and a large one in the other, so both ends are walked in tiles.
template <size_t size>
void reorder(const char* from, char* to, const Shape& shape, bool to_row_major) {
  constexpr int64_t tile = 64 / static_cast<int64_t>(size) + 8;
  const std::vector<int64_t> columns = strides(shape), rows = reversed(strides(reversed(shape)));
  const std::vector<int64_t>&read = to_row_major ? columns : rows, &write = to_row_major ? rows : columns;
  const size_t last = shape.size() - 1;
  const Shape between(shape.begin() + 1, shape.end() - 1);
  std::vector<int64_t> index(between.size(), 0);
  do {
    int64_t source = 0, target = 0;
    for (size_t d = 0; d < between.size(); ++d) {
      source += index[d] * read[d + 1];
      target += index[d] * write[d + 1];
    }
    for (int64_t j0 = 0; j0 < shape[last]; j0 += tile)
      for (int64_t i0 = 0; i0 < shape[0]; i0 += tile) {
        const int64_t j1 = std::min(shape[last], j0 + tile), i1 = std::min(shape[0], i0 + tile);
        for (int64_t j = j0; j < j1; ++j)
          for (int64_t i = i0; i < i1; ++i)
            std::memcpy(to + size * static_cast<size_t>(target + i * write[0] + j * write[last]),
                        from + size * static_cast<size_t>(source + i * read[0] + j * read[last]), size);
        worked((j1 - j0) * (i1 - i0));
      }
  } while (next_index(index, between));
}

void copy_in_order(const char* from, char* to, const TensorType& type, bool reordered, bool to_row_major) {
  if (!reordered || type.shape.size() < 2)
    return copy_bytes(from, to, static_cast<int64_t>(bytes_of(type.dtype, type.shape)));
  if (elements(type.shape) == 0) return;
  switch (size_of(type.dtype)) {
    case 1: return reorder<1>(from, to, type.shape, to_row_major);
    case 2: return reorder<2>(from, to, type.shape, to_row_major);
    case 4: return reorder<4>(from, to, type.shape, to_row_major);
    default: return reorder<8>(from, to, type.shape, to_row_major);
  }
}

}  // namespace

SEXP anvil_as_raw(SEXP tensor, SEXP row_major) {
  return entry([&] {
    if (Class c = class_of(tensor); c != Class::tensor && c != Class::buffer)
      throw wrong_argument("x", "an AnvilTensor", tensor);
    const Tensor t = borrow(tensor);
    const bool rows = flag_of(row_major, "row_major");
    const size_t bytes = bytes_of(t.type.dtype, t.type.shape);
    expect_memory(bytes);
    Shield<SEXP> x(guarded([&] { return Rf_allocVector(RAWSXP, static_cast<R_xlen_t>(bytes)); }));
    copy_in_order(t.as<char>(), reinterpret_cast<char*>(RAW(x)), t.type, rows, true);
    return static_cast<SEXP>(x);
  });
}

// at: where the tensor begins among these bytes, from 0 on; NULL: it is all of them
SEXP anvil_from_raw(SEXP bytes, SEXP tag, SEXP row_major, SEXP cls, SEXP at) {
  return entry([&] {
    const TensorType type = type_of(tag);
    const bool rows = flag_of(row_major, "row_major");
    SEXP given = class_named(cls);
    const auto needed = static_cast<int64_t>(bytes_of(type.dtype, type.shape));
    const int64_t before = at == R_NilValue ? 0 : integer_of(at, "at");
    const int64_t length = TYPEOF(bytes) == RAWSXP ? static_cast<int64_t>(XLENGTH(bytes)) : -1;
    if (length < 0 || (at == R_NilValue ? length != needed : before < 0 || length - needed < before))
      throw Error("shape",
                  "`data` must hold the " + std::to_string(needed) + " bytes of a tensor " + graph::text(type) + ".",
                  {"x Got " + describe(bytes) + ".", "i The size follows from `dtype` and `shape`."});
    const char* from = static_cast<const char*>(DATAPTR_RO(settled(bytes))) + before;
    Shield<SEXP> data(guarded([&] { return allocate_data(type); }));
    char* to = static_cast<char*>(writable(data));
    copy_in_order(from, to, type, rows, false);
    if (is_bool(type.dtype))
      in_pieces(needed, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) to[i] = to[i] != 0;
      });
    return guarded([&] {
      SEXP words = PROTECT(tag_of(type));
      SEXP x = wrap_tensor(data, words, given);
      UNPROTECT(1);
      return x;
    });
  });
}

// A header of safetensors data, as raw bytes, and how many bytes follow it, NULL where that is not known:
// list(names, types, begins, bytes, metadata).
SEXP anvil_safetensors(SEXP header, SEXP bytes) {
  return entry([&] {
    if (TYPEOF(header) != RAWSXP) throw wrong_argument("header", "raw bytes", header);
    const std::string_view text(static_cast<const char*>(DATAPTR_RO(settled(header))),
                                static_cast<size_t>(XLENGTH(header)));
    const auto follow = bytes == R_NilValue ? std::nullopt : std::optional(integer_of(bytes, "bytes"));
    const SafeHeader found = read_safetensors(text, follow);
    std::vector<std::string> labels, keys, values;
    std::vector<int64_t> begins;
    int64_t end = 0;
    for (const SafeTensor& t : found.tensors) {
      labels.push_back(t.name);
      begins.push_back(t.begin);
      end = std::max(end, t.end);
    }
    for (const auto& [key, value] : found.metadata) {
      keys.push_back(key);
      values.push_back(value);
    }
    std::vector<TensorType> types;
    for (const SafeTensor& t : found.tensors) types.push_back({t.dtype, t.shape, false});
    return guarded([&] {
      static const char* fields[] = {"names", "types", "begins", "bytes", "metadata", ""};
      SEXP list = PROTECT(Rf_mkNamed(VECSXP, fields));
      SET_VECTOR_ELT(list, 0, strings(labels));
      SET_VECTOR_ELT(list, 1, Rf_allocVector(VECSXP, static_cast<R_xlen_t>(types.size())));
      for (size_t i = 0; i < types.size(); ++i)
        SET_VECTOR_ELT(VECTOR_ELT(list, 1), static_cast<R_xlen_t>(i), tag_of(types[i]));
      SET_VECTOR_ELT(list, 2, integers(begins));
      SET_VECTOR_ELT(list, 3, number(end));
      SET_VECTOR_ELT(list, 4, strings(values));
      SEXP names_of_values = PROTECT(strings(keys));
      Rf_setAttrib(VECTOR_ELT(list, 4), R_NamesSymbol, names_of_values);
      UNPROTECT(2);
      return list;
    });
  });
}

}  // namespace anvil::r
