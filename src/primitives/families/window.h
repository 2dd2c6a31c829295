// Windows that slide over a tensor, for the operators that are made of them.
#pragma once
#include "primitives/vocabulary/var.h"

namespace anvil::primitives {

// One dimension: windows of `size` elements that lie `dilation` apart start every `stride`
// elements of the operand, whose own elements come to lie `base_dilation` apart and which
// is padded (cropped, where negative) at both ends.
struct WindowDimension {
  int64_t size = 1, stride = 1, dilation = 1, base_dilation = 1, low = 0, high = 0;
};
// How many windows there are over n elements.
int64_t window_count(int64_t n, const WindowDimension&);
int64_t dilated(int64_t n, int64_t by);  // from the first of n elements to the last, when they lie `by` apart
void check_positive(const char* argument, const std::vector<int64_t>& values);

// `dim`, of `groups` runs of elements, as two: the place in the run, and the run.
Var split(const Var&, int64_t dim, int64_t groups);
Var merged(const Var&, int64_t dim);  // `dim` and the one behind it as one

// x as the windows slide over it: with base dilation and padding.
Var padded(const Var& x, const Var& value, const std::vector<WindowDimension>&);
// All windows: the dimensions of x with the number of windows, then those of one window.
Var windows(const Var& x, std::vector<int64_t> dims, std::vector<int64_t> sizes, std::vector<int64_t> strides,
            std::vector<int64_t> dilations);
// The adjoint: each element of a tensor of this shape is the sum of what is in its places in all windows.
Var from_windows(Var, const std::vector<int64_t>& dims, const std::vector<int64_t>& strides,
                 const std::vector<int64_t>& dilations, const Shape&);
Var sum_windows(const Var& x, std::vector<int64_t> dims, std::vector<int64_t> dilations);

void register_window_views(Registry&);  // part of register_window

}  // namespace anvil::primitives
