// The messages of type inference.
#include "primitives/vocabulary/infer.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace anvil::primitives {
namespace {

std::string quoted(const char* argument) { return "`" + std::string(argument) + "`"; }
std::string bracketed(DType t) { return "<" + std::string(name(t)) + ">"; }
std::string r_vector(const Ints& axes) {
  return axes.empty() ? "integer()" : axes.size() == 1 ? one_based(axes) : "c(" + one_based(axes) + ")";
}

std::string counted_dimensions(int64_t n) {
  return (n == 0 ? "no" : std::to_string(n)) + (n == 1 ? " dimension" : " dimensions");
}

}  // namespace

std::string one_based(const Ints& axes) {
  std::string text;
  for (size_t i = 0; i < axes.size(); ++i) text += (i ? ", " : "") + std::to_string(axes[i] + 1);
  return text;
}

void check_axis(const char* argument, int64_t axis, int64_t rank, const char* of) {
  if (axis >= 0 && axis < rank) return;
  throw Error("argument", quoted(argument) + " contains index outside the valid range.",
              {"x Got " + std::to_string(axis + 1) + ", but " + of + " has " + counted_dimensions(rank) + "."});
}

void check_axes(const char* argument, const Ints& axes, int64_t rank, const char* of) {
  for (int64_t axis : axes) check_axis(argument, axis, rank, of);
  Ints sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return;
  throw Error("argument", quoted(argument) + " contains duplicate dimension indices.",
              {"x Got [" + one_based(axes) + "]. Each dimension index must appear only once."});
}

void check_counts_in_i32(const std::string& what, int64_t size) {
  if (size > std::numeric_limits<int32_t>::max())
    throw Error("shape", what + " must have indices of dtype i32.", {"x Got size " + std::to_string(size) + "."});
}

void check_permutation(const char* argument, const Ints& permutation, int64_t rank, const char* of) {
  Ints expected = all_axes(static_cast<size_t>(rank));
  if (std::is_permutation(permutation.begin(), permutation.end(), expected.begin(), expected.end())) return;
  throw Error("argument", quoted(argument) + " must be a permutation of " + r_vector(expected) + ".",
              {"x Got " + r_vector(permutation) + " for " + of + " with " + counted_dimensions(rank) + "."});
}

void check_length(const char* argument, const Ints& values, int64_t rank, const char* of) {
  if (static_cast<int64_t>(values.size()) == rank) return;
  throw Error("argument", quoted(argument) + " must have one entry for each dimension of " + quoted(of) + ".",
              {"x Got length " + std::to_string(values.size()) + ", but " + quoted(of) + " has " +
               counted_dimensions(rank) + "."});
}

void check_shape(const Shape& shape, const char* argument) {
  for (int64_t size : shape)
    if (size < 0)
      throw Error("argument", quoted(argument) + " must not contain negative sizes.",
                  {"x Got " + in_parentheses(shape) + "."});
}

void check_has_shape(const char* argument, const TensorType& type, const Shape& shape) {
  if (type.shape == shape) return;
  throw Error("shape", quoted(argument) + " must have shape " + in_parentheses(shape) + ".",
              {"x Got " + in_parentheses(type.shape) + "."});
}

void check_has_dtype(const char* argument, const TensorType& type, DType dtype) {
  if (type.dtype == dtype) return;
  throw Error("dtype", quoted(argument) + " must have dtype " + std::string(name(dtype)) + ".",
              {"x Got " + bracketed(type.dtype) + "."});
}

void check_same_dtype(const char* a_name, const TensorType& a, const char* b_name, const TensorType& b) {
  if (a.dtype == b.dtype) return;
  throw Error("dtype", quoted(a_name) + " and " + quoted(b_name) + " must have the same dtype.",
              {"x Got " + bracketed(a.dtype) + " and " + bracketed(b.dtype) + "."});
}

bool contains(const Ints& list, int64_t x) { return std::find(list.begin(), list.end(), x) != list.end(); }

Ints all_axes(size_t rank) {
  Ints axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Ints other_axes(size_t rank, const Ints& a, const Ints& b) {
  Ints axes;
  for (int64_t d : all_axes(rank))
    if (!contains(a, d) && !contains(b, d)) axes.push_back(d);
  return axes;
}

Ints inverse(const Ints& permutation) {
  Ints result(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) result[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  return result;
}

std::optional<std::vector<Ints>> splits(const Shape& from, const Shape& to) {
  std::vector<Ints> parts(from.size());
  size_t t = 0;
  for (size_t d = 0; d < from.size(); ++d)
    for (int64_t covered = 1; covered != from[d]; ++t) {
      if (t == to.size() || covered > from[d]) return std::nullopt;
      covered *= to[t];
      if (to[t] != 1) parts[d].push_back(static_cast<int64_t>(t));
    }
  return parts;
}

}  // namespace anvil::primitives
