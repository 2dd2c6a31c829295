// Sparse Cholesky factors for R (runtime/sparse_cholesky.h), as functions of custom calls: R/sparse-cholesky.R makes those.
#include <algorithm>

#include "r_common.h"
#include "r_routines.h"
#include "runtime/sparse_cholesky.h"

namespace anvil::r {
namespace {

using Tensors = std::span<const DenseTensor>;

template <class T>
std::span<T> elements(const DenseTensor& x) {
  int64_t count = 1;
  for (int64_t size : x.shape) count *= size;
  if (x.dtype != dtype_of<std::remove_const_t<T>>()) throw Error("argument", "A tensor has the wrong dtype.");
  return {static_cast<T*>(x.data), static_cast<size_t>(count)};
}
void same_size(size_t a, size_t b) {
  if (a != b) throw Error("argument", "Tensors do not have the sizes that belong together.");
}
void count(Tensors x, size_t least) {
  if (x.size() < least) throw Error("argument", "There are too few tensors.");
}

// The last two operands are the pattern of the factor.
runtime::SparsePattern pattern(Tensors inputs, std::span<const int32_t> place = {}) {
  const runtime::SparsePattern p = {elements<const int32_t>(inputs[inputs.size() - 2]),
                                    elements<const int32_t>(inputs[inputs.size() - 1])};
  check_pattern(p, place);
  return p;
}

// (values, directions..., place, columns, rows)
struct Given {
  std::vector<const double*> parts;
  std::span<const int32_t> place;
  explicit Given(Tensors inputs) {
    count(inputs, 4);
    place = elements<const int32_t>(inputs[inputs.size() - 3]);
    for (const DenseTensor& x : inputs.first(inputs.size() - 3)) {
      const auto part = elements<const double>(x);
      same_size(part.size(), place.size());
      parts.push_back(part.data());
    }
  }
  runtime::SparseElements moving() const { return {parts, place}; }
};

// As many results as the factor has elements, or A.
void from_elements(Tensors inputs, Tensors outputs, bool of_factor,
                   void (*f)(const runtime::SparsePattern&, const runtime::SparseElements&, double*)) {
  const Given given(inputs);
  const auto p = pattern(inputs, given.place);
  const auto to = elements<double>(outputs[0]);
  same_size(to.size(), of_factor ? p.rows.size() : given.place.size());
  f(p, given.moving(), to.data());
}

void factor(Tensors inputs, Tensors outputs) { from_elements(inputs, outputs, true, runtime::sparse_factor); }
void inverse_derivative(Tensors inputs, Tensors outputs) {
  from_elements(inputs, outputs, false, runtime::sparse_inverse_derivative);
}

// (factor, place, columns, rows)
void inverse(Tensors inputs, Tensors outputs) {
  count(inputs, 4);
  const auto place = elements<const int32_t>(inputs[1]);
  const auto p = pattern(inputs, place);
  const auto from = elements<const double>(inputs[0]);
  const auto to = elements<double>(outputs[0]);
  same_size(from.size(), p.rows.size());
  same_size(to.size(), place.size());
  sparse_inverse(p, from.data(), place, to.data());
}

// (factor, right-hand sides in columns, columns, rows)
void solve(Tensors inputs, Tensors outputs) {
  count(inputs, 4);
  const auto p = pattern(inputs);
  const auto from = elements<const double>(inputs[0]);
  const auto b = elements<const double>(inputs[1]);
  const auto x = elements<double>(outputs[0]);
  same_size(from.size(), p.rows.size());
  same_size(x.size(), b.size());
  std::ranges::copy(b, x.begin());
  const auto n = static_cast<size_t>(p.size());
  if (n == 0) return;
  same_size(x.size() % n, 0);
  for (size_t first = 0; first < x.size(); first += n) sparse_solve(p, from.data(), x.data() + first);
}

}  // namespace

SEXP anvil_sparse(SEXP name) {
  return entry([&] {
    const std::string text = text_of(name, "name");
    const auto make = [&](void (*f)(Tensors, Tensors)) { return custom_handle({"anvil.sparse_" + text, f}, false); };
    if (text == "factor") return make(factor);
    if (text == "inverse") return make(inverse);
    if (text == "inverse_derivative") return make(inverse_derivative);
    if (text == "solve") return make(solve);
    throw Error("argument", "There is no such function of sparse matrices.", {"x Got \"" + text + "\"."});
  });
}

}  // namespace anvil::r
