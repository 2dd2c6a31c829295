// Contractions and nests that may go through the same axis together, since one makes what another reads there:
//
//   contract i, j, p: t1[i, j] = sum of x1[i, p] * x2[p, j]      all of them along i: rows of the first product,
//   for j { for i { t2[i, j] = tanh(t1[i, j]) } }                the inner loop of the nest, and the depth of the
//   contract k, j, i: out1[k, j] = sum of x1[i, k] * t2[i, j]    second product
//
// None of them waits for all of another one.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "compiler/traverse.h"
#include "loops/dependence.h"

namespace anvil::compiler {

// The loops of a nest, and these in an order in which they may run as well: one of them before all others.
struct Walk {
  size_t nest;
  std::vector<loops::For*> loops, order;
  size_t first;
};
// A contraction, its axes for the leading loops of nests, and temporaries that it reads or makes and they as well.
struct Partner {
  size_t statement;
  std::vector<Variable> axes;
  std::set<BufferId> between;
};
struct Group {
  std::vector<Walk> nests;
  std::vector<Partner> partners;
  bool has(size_t statement) const;
  std::set<BufferId> between() const;
};

// Of a block; `accesses`: how many each buffer has in the program.
class Companions {
 public:
  Companions(const Program&, Block&, const std::vector<int>& accesses);
  bool any() const { return !contractions_.empty(); }

  bool beside(size_t nest) const { return beside_.count(nest) > 0; }  // whether it shares temporaries with contractions
  std::vector<Walk> walks(size_t nest) const;
  std::vector<Partner> partners_of(const Walk&) const;
  // Removes partners that wait for the nest, or it for them; whether there were any.
  bool remove_those_that_wait(Group&, size_t loops) const;
  // What shares temporaries with a group and stands near.
  std::set<size_t> around(const Group&) const;
  // Whether a nest can go along with so many loops, which it does then.
  bool join(Group&, size_t nest, size_t loops) const;
  // A contraction that can.
  std::optional<Partner> partner_of(const Group&, size_t contraction, size_t loops) const;
  // Whether a loop makes rows of an operand that a contraction sums over.
  bool makes_depth(const loops::For*) const;
  // Whether most of what passes between them need not be in memory for others.
  bool mostly_alone(const Group&) const;

  // Whether the axis of a contraction is one that it sums over.
  bool is_depth(const Partner&, size_t axis) const;
  bool moves_one_operand(const Partner&, size_t axis) const;
  const loops::Contraction& contraction(size_t k) const { return std::get<loops::Contraction>(block_[k].is); }
  double bytes(BufferId b) const;

 private:
  Partner partner(size_t contraction, const Walk&) const;
  std::vector<Variable> axes_of(const loops::Contraction&, const Stmt& nest, BufferId, const Index& place,
                                const std::vector<loops::For*>&) const;
  bool is_depth(const loops::Contraction& c, Variable axis) const {
    return step(program_, c.buffer, c.place, axis) == 0;
  }
  bool is_temporary(BufferId) const;
  using Steps = std::map<size_t, Variable>;  // statements, and the axis of each
  static Steps steps(const Group&, size_t loops);
  bool nothing_waits(const Steps&) const;
  const loops::Footprint& touched(size_t statement) const;

  const Program& program_;
  Block& block_;
  const std::vector<int>& accesses_;
  std::unordered_map<BufferId, std::set<size_t>> contractions_;  // by the temporaries that they touch
  std::unordered_map<BufferId, std::set<size_t>> touching_;      // all statements, by these
  std::set<size_t> beside_;                                      // all statements that touch any of them
  mutable std::unordered_map<size_t, loops::Footprint> touched_;
};

}  // namespace anvil::compiler
