// Products of few lines with others over a depth that lies together in both operands, or does so in long runs, as in
// X'X of a tall matrix and the gradient of a convolution's kernel: lanes run along the depth, so that nothing is packed.
#pragma once
#include "runtime/product/axes.h"

namespace anvil::product {

// Sums of products of each row with each column: what they take, in products of tiles over packed blocks; infinite
// where a block of the fewer lines and some others leaves the second cache. `run`: so many steps of the depth lie
// together.
struct DotShape {
  int64_t rows, columns, depth, run, element_bytes, vector_bytes;
  bool symmetric;  // A and B are one matrix: only what lies below the diagonal is made
};
double cost_of_dots(const DotShape&);

// Whether C = A B takes less time so than over packed blocks.
template <class T>
bool dots_are_faster(const T* a, const T* b, const Offsets&, elementary::Isa);
template <class T>
void add_dots(T* c, const T* a, const T* b, const T* weights, const Offsets&, const Update&, elementary::Isa);

}  // namespace anvil::product
