// Which statements of a block store to its buffers and read them, update its locals and bind its parameters: by their
// number, with all that is inside of them.
#pragma once
#include <set>
#include <unordered_map>

#include "compiler/traverse.h"

namespace anvil::compiler {

class BlockFacts {
 public:
  struct OfBuffer {
    std::set<size_t> writers, readers;
    int stores = 0;
    bool whole = false;  // accessed as a whole, or by contractions
  };

  BlockFacts(const Program&, const Block&);
  OfBuffer& of(BufferId b) { return buffers_[root(program_, b)]; }
  const OfBuffer& at(BufferId b) const { return buffers_.at(root(program_, b)); }
  const std::unordered_map<BufferId, OfBuffer>& buffers() const { return buffers_; }
  // Nothing that the expression reads changes from statement `first` up to and with statement `last`.
  bool unchanged(Expr, size_t first, size_t last) const;
  bool binds(Variable parameter, size_t first, size_t last) const;  // whether one of these statements does

 private:
  void collect(const Stmt&, size_t k);
  void collect_names(const Stmt&, size_t k);

  const Program& program_;
  std::unordered_map<BufferId, OfBuffer> buffers_;
  std::unordered_map<LocalId, std::set<size_t>> updates_;
  std::unordered_map<Variable, std::set<size_t>> bindings_;
};

}  // namespace anvil::compiler
