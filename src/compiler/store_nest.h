// Nests that store one expression, which passes cut and move into each other.
#pragma once
#include <optional>
#include <set>

#include "compiler/traverse.h"
#include "loops/origins.h"

namespace anvil::compiler {

// Loops from 0, each around the next, and a store at a place that differs from step to step.
struct StoreNest {
  std::vector<const loops::For*> loops;  // outermost first
  const loops::Store* store = nullptr;
  const loops::For* loop_of(const Affine&) const;  // of its first variable; null where that is no loop's
};
std::optional<StoreNest> store_nest(const Stmt&);
std::vector<Expr> loads_of(const StoreNest&, BufferId);

// The steps of a nest from begin to end of each of its loops, by their variables; a loop of one step is none.
using Ranges = std::unordered_map<Variable, std::pair<int64_t, int64_t>>;
Stmt part(Program&, const Stmt& nest, const Ranges&);
using Cuts = std::unordered_map<Variable, std::set<int64_t>>;          // the steps in front of which loops are cut
std::vector<Ranges> grid(const StoreNest&, const Cuts&, size_t most);  // of all parts; none where they are more

// Elements low[d] .. low[d] + extent[d] in each dimension, of which `value` is the one at low + variables.
struct Piece {
  Shape low, extents;
  std::vector<Variable> variables;  // -1 where the extent is 1
  Expr value;
  loops::Origins origins;
};
std::optional<Piece> piece_of(const Stmt& nest);
bool meet(const Piece&, const Piece&);

}  // namespace anvil::compiler
