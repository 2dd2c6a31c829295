// Sorting networks for several lines at once. The lines are interleaved: a row holds element i of each of as
// many lines as a register has numbers. Comparing two rows puts two elements of all of these lines in order
// by two instructions, and which rows are compared does not depend on what they hold. Elements are words,
// signed integers that are in order where the elements are.
#pragma once
#include <cstdint>

#include "runtime/elementary/instruction_sets.h"

namespace anvil::sorting {

// How floats become words: `equal` takes NaN for the largest and -0 for 0; `total` is the total order.
enum class Order { equal, total };

struct Kernels {
  int64_t register_bytes;
  int64_t block;  // a number of rows that is sorted must be a multiple of it
  // Each row for itself, from the smallest to the largest word.
  void (*sort32)(int32_t* words, int64_t rows);
  void (*sort64)(int64_t* words, int64_t rows);
  void (*sort_pairs)(int64_t* words, int64_t* positions, int64_t rows);  // equal words by their positions
  // The k smallest of each line go to the first k rows of `best`, in order.
  void (*smallest64)(int64_t* best, int64_t k, const int64_t* words, int64_t rows);
  void (*smallest_pairs)(int64_t* best, int64_t* best_positions, int64_t k, const int64_t* words,
                         const int64_t* positions, int64_t rows);
  // In place, the bits of floats to words, each xor `flip`; whether there is a NaN or a -0. Then back.
  bool (*words32)(int32_t* bits, int64_t count, Order, int32_t flip);
  bool (*words64)(int64_t* bits, int64_t count, Order, int64_t flip);
  void (*floats32)(int32_t* words, int64_t count, int32_t flip);
  void (*floats64)(int64_t* words, int64_t count, int64_t flip);
};
ANVIL_KERNELS_OF_SETS(Kernels)

}  // namespace anvil::sorting
