// What the code generator knows about loops before it writes them: what each reads and
// changes, how much it does, and how it will be run. A loop is run as scheduled when that
// is provably the same as one step after the other, otherwise serially:
//   for i in 0..100 vector 16 x 2 { y[i] = x[i] }        stays
//   for i in 0..99 vector 16 { x[i + 1] = x[i] }         one step after the other
#pragma once
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

#include "loops/dependence.h"

namespace anvil::llvm_backend {

using loops::Affine;
using loops::BufferId;
using loops::Expr;
using loops::LocalId;
using loops::Program;
using loops::Variable;

constexpr int most_axes = 6;  // nested loops that are blocked

// Of one For, While or If, with all it contains.
struct Facts {
  std::set<BufferId> changed;  // stored to, swapped or given to a call; no aliases
  std::set<LocalId> made, updated, read;
  std::set<Variable> bound;
  bool control = false;  // contains If, While, Call, Contraction or Swap
  double work = 0;       // scalar or vector operations
};

// How a loop runs: steps of width * copies.
struct Plan {
  int width = 1, copies = 1;
  bool blocked = false;   // copies (and lanes) are written side by side
  bool in_place = false;  // a step must not be done twice: the memory it reads changes
  double body_work = 0;   // of one step
  double runs = 1;        // of its body when the program runs, about
  int64_t step() const { return int64_t(width) * copies; }
};

// The updates of a loop that run along its lanes.
std::vector<const loops::Update*> running_updates(const loops::For&);

// One update of a local from inside a loop: the loops between, outermost first.
struct UpdatePath {
  const loops::Update* update;
  std::vector<const loops::For*> loops;
};

class Analysis {
 public:
  explicit Analysis(const Program&);

  BufferId root(BufferId) const;
  bool overlap(BufferId, BufferId) const;  // may share memory
  const std::set<BufferId>& swapped() const { return swapped_; }
  const std::set<BufferId>& called() const { return called_; }  // given to a call
  const std::vector<std::pair<BufferId, BufferId>>& swaps() const { return swaps_; }
  size_t most_call_buffers() const { return most_call_buffers_; }
  size_t most_call_numbers() const { return most_call_numbers_; }
  const Facts& facts(const void* statement) const;  // address of the For, While or If
  Facts facts_of(const loops::Stmt&);
  const Plan& plan(const loops::For*) const;
  double size(const loops::Stmt&) const;  // about how many instructions are written
  double size(const loops::For&) const;
  double size(const loops::Block&) const;
  double straight_size(const loops::Block&) const;  // of its statements without blocks of their own
  // Updates in this loop of locals made outside it that it does not read otherwise.
  std::vector<UpdatePath> updates(const loops::For&) const;

 private:
  void collect(const loops::Block&, Facts&);
  void collect(const loops::Stmt&, Facts&);
  void collect(Expr, Facts&, std::set<Expr>& seen) const;
  void merge(Facts& into, const Facts& from, double times) const;
  void plan(const loops::Block&, bool lanes, int blocked, double runs);
  void plan(const loops::For&, bool lanes, int blocked, double runs);
  bool independent(const loops::For&, bool* in_place) const;
  bool reductions_fit(const loops::For&, const Facts&) const;
  double work(const loops::Block&);
  double work(Expr) const;

  const Program& program_;
  std::unordered_map<const void*, Facts> facts_;
  std::unordered_map<const loops::For*, Plan> plans_;
  std::set<BufferId> swapped_, called_;
  std::vector<std::pair<BufferId, BufferId>> swaps_;
  size_t most_call_buffers_ = 0, most_call_numbers_ = 0;
};

}  // namespace anvil::llvm_backend
