// An axis of several statements is cut into blocks of steps, and what only these statements pass on gets a dimension for
// the blocks. Steps that make no whole block follow as statements of their own:
//
//   contract i in 0..1000, j in 0..7, p in 0..5:       for k in 0..7 {
//     t1[i, j] = sum of x1[i, p] * x2[p, j]              contract i in 0..128, j in 0..7, p in 0..5:
//   for j in 0..7 {                                        t1[i, j, k] = sum of x1[i + 128*k, p] * x2[p, j]
//     for i in 0..1000 {                               }
//       out1[i, j] = exp(t1[i, j])                     contract i in 0..104, j in 0..7, p in 0..5:
//     }                                                  t1rest[i, j] = sum of x1[i + 896, p] * x2[p, j]
//   }                                                  for j in 0..7 {
//                                                        for k in 0..7 {
//                                                          for i in 0..128 {
//                                                            out1[i + 128*k, j] = exp(t1[i, j, k])
//                                                      ...
#pragma once
#include <set>
#include <vector>

#include "compiler/traverse.h"

namespace anvil::compiler {

// A statement of a block, and which axis of a contraction or which outer loop of a nest, from 0 on, it is.
struct AlongAxis {
  size_t statement, axis;
};

// What has to stand right before a statement of the block, or somewhere after it.
struct AddedStatement {
  size_t statement;
  bool before;
  Stmt added;
};

// Cuts them; a contraction stands in a loop over the blocks then, and adds up if the axis is its depth: before it the
// result is set to 0. `between`: temporaries that they pass on; `accesses`: how many each buffer has in the program.
std::vector<AddedStatement> cut_along(Program&, Block&, const std::vector<AlongAxis>&, int64_t size,
                                      const std::set<BufferId>& between, const std::vector<int>& accesses);
// Puts them there; what comes after one follows the last of those that are cut, which become one, if it may.
void add_statements(const Program&, Block&, std::vector<AddedStatement>);

}  // namespace anvil::compiler
