// Sorts several lines at once by networks, interleaved in groups of as many as a register has numbers:
// elements of 4 or 8 bytes, and lines of which a group fits the second cache. Results are those of sort.h,
// which says what the operands and numbers mean.
#pragma once
#include <span>

#include "base/dtype.h"
#include "runtime/sort/lines.h"
#include "runtime/sort/network.h"

namespace anvil::sorting {

// Whether that pays. `with_positions`: where the elements came from is asked for.
bool worth_interleaving(DType, const Lines&, bool with_positions, elementary::Isa = elementary::detected_isa());

struct Operand {
  void* out;
  const void* in;
  DType dtype;
};
void sort_interleaved(Operand, const Lines&, bool descending, elementary::Isa = elementary::detected_isa());
// All operands by the first one.
void sort_interleaved(std::span<const Operand>, const Lines&, bool descending,
                      elementary::Isa = elementary::detected_isa());
// Many of a line are found faster otherwise.
constexpr int64_t most_largest = 32;
void largest_interleaved(Operand values, int32_t* indices, int64_t k, const Lines&,
                         elementary::Isa = elementary::detected_isa());

}  // namespace anvil::sorting
