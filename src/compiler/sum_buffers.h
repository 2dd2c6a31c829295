// Sums that lie in a buffer and that steps of a loop add to:
//
//   for p in 0..2000 {
//     for i in 0..2000 {
//       a1 = s1[i]
//       a1 += x1[i, p]
//       s1[i] = a1
//
// as a contraction that adds does as well. Their order is free, so that tasks may have parts of them: parallel.cpp.
#pragma once
#include <vector>

#include "compiler/traverse.h"

namespace anvil::compiler {

struct SumBuffer {
  BufferId buffer;  // no view
  Op op;            // by which each access in the loop changes what is there, and nothing else reads it
};
std::vector<SumBuffer> sum_buffers(const Program&, const loops::For&);

// The parts of `count` tasks, the steps of the loop f among them: f adds to that of `task`. Gives what has to run before
// f in each task, and after all tasks.
struct PartsOfSum {
  Block before, after;
};
PartsOfSum take_parts(Program&, const SumBuffer&, loops::For& f, const Affine& task, int64_t count, int width);

}  // namespace anvil::compiler
