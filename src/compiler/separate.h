// The last loop of a nest's body becomes a nest of its own, which may go block by block along that loop then (steps.cpp):
//
//   for j in 0..10 {                                         for j in 0..10 {
//     a1 = 0                                                   a1 = 0
//     for p in 0..1000 { a1 += x1[p, j] }                      for p in 0..1000 { a1 += x1[p, j] }
//     t1[j] = a1 / 1000                                        t1[j] = a1 / 1000
//     for i in 0..1000 { t2[i, j] = x1[i, j] - t1[j] }       }
//   }                                                        for j in 0..10 {
//                                                              for i in 0..1000 { t2[i, j] = x1[i, j] - t1[j] }
//                                                            }
#pragma once
#include <optional>

#include "compiler/traverse.h"

namespace anvil::compiler {

// Such a loop, null where nothing is before it or something after.
const loops::For* last_loop(const Stmt& nest);

struct Separated {
  Stmt before, last;
};
// None where a step needs what another one makes, or more than what is in memory.
std::optional<Separated> separate(Program&, const Stmt& nest);

}  // namespace anvil::compiler
