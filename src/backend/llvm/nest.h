// Nests that differ only in the buffers that they work on, and in the locals of what is around them, are written once,
// as a function of those. The layers of a network, the steps of an unrolled solver:
//
//   for i in 0..8 { t4[i] = tanh(t2[i]); a1 += t2[i] }        nest1(t4, t2, {a1})
//   for i in 0..8 { t9[i] = tanh(t7[i]); a5 += t7[i] }        nest1(t9, t7, {a5})
#pragma once
#include <optional>
#include <vector>

#include "backend/llvm/analysis.h"

namespace anvil::llvm_backend {

struct Nest {
  std::vector<int64_t> signature;  // equal for equal nests
  std::vector<BufferId> buffers;   // no aliases, none of a task's own, in order of first mention
  std::vector<LocalId> locals;     // made outside, in order of first mention
};
// Nothing for a nest that is more than a function of these: it uses variables from outside, calls, or exchanges
// buffers.
std::optional<Nest> describe(const Program&, const Analysis&, const loops::For&);

struct NestOf {
  const loops::For* loop;
  std::vector<BufferId> buffers;
  std::vector<LocalId> locals;
};
// Nests of each list differ in these only. What describe() gives nothing for is in none of them.
std::vector<std::vector<NestOf>> equal_nests(const Program&, const Analysis&, const std::vector<const loops::For*>&);

}  // namespace anvil::llvm_backend
