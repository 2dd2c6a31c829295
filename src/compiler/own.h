// Temporaries that each task of a parallel loop may have for itself, since no step reads what another one wrote:
//
//   for j in 0..64 {                        for j in 0..64 parallel own t1 {
//     for i in 0..40 { t1[i] = x1[i, j] }     ...
//     for i in 0..40 { out1[i, j] = t1[39 - i] }
//   }
//
// Nothing in a program reads what was never written. So where each step of the loop touches the same elements, in the
// same order and under no condition, what the first step reads it has written itself, and the later ones have as well.
// Elements that depend on data are read after every store, or after a store to all elements.
#pragma once
#include <map>
#include <vector>

#include "compiler/traverse.h"

namespace anvil::compiler {

class OwnBuffers {
 public:
  explicit OwnBuffers(const Program&);
  // No aliases of others; none where that would be much memory for each thread.
  std::vector<BufferId> of(const loops::For&) const;
  // Whether a block writes every element of a buffer before anything reads one.
  bool written_first(const Block&, BufferId) const;

 private:
  struct Uses {
    int count = 0;
    bool whole = false;
  };
  struct Touched {  // by a statement of a loop; others than in the steps before
    bool stores = false, stores_others = false, reads_others = false;
  };
  std::map<BufferId, Uses> count(const Block&) const;
  bool same_in_each_step(const loops::For&, BufferId) const;
  void touch(const Stmt&, BufferId, Variable, bool conditional, Touched&) const;
  bool fills(const Stmt&, BufferId, std::vector<const loops::For*>& around) const;
  bool goes_everywhere(const Stmt&, BufferId, const Index& place, const std::vector<const loops::For*>& around) const;

  const Program& program_;
  std::map<BufferId, Uses> uses_;
};

}  // namespace anvil::compiler
