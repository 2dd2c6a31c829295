// A loop over the columns of tables, of which rows.cpp makes loops over their rows: whether it may, and what it has to know.
#pragma once
#include <map>
#include <optional>
#include <unordered_set>
#include <vector>

#include "compiler/own.h"
#include "compiler/traverse.h"

namespace anvil::compiler {

// A buffer whose columns become rows: the column comes first in memory, then the step, then the other dimensions.
struct Table {
  std::optional<size_t> column;         // dimension that the loop over columns moves in; none: each step has a buffer
  std::optional<size_t> step;           // dimension that a statement of the loop takes some steps of at a time
  size_t statement = 0;                 // this one, which alone needs the table
  std::map<size_t, Affine> fixed = {};  // dimensions that stay where they are in the loop
  bool stored = false, filled = false;  // in the loop; before it is read
};
using Tables = std::map<BufferId, Table>;

class Columns {
 public:
  Columns(const Program&, const OwnBuffers&, const loops::For&);
  bool may_become_rows() const { return possible_; }
  const Tables& tables() const { return tables_; }
  int64_t at_once() const;
  // Up to the last statement that changes what it looked up all that needs the tables goes by rows, and other statements
  // for each column where they are. What follows has columns again; sums may begin with it.
  enum class Part : uint8_t { by_rows, for_each_column, afterwards };
  Part part(const Stmt&, size_t number) const;

 private:
  struct Use {
    size_t by;  // the number of a statement in the loop
    const Index* place;
    AccessKind kind;
  };
  using Uses = std::vector<Use>;

  bool find_tables(const OwnBuffers&);
  bool add_table(BufferId, const Uses&, bool own);
  void find_fixed_dimensions(Table&, const Uses&) const;
  void find_variables(const Stmt&);
  bool parts_go_alone() const;
  bool alike(const Block&) const;
  bool alike(const Stmt&, bool& made) const;
  bool same_for_all(Expr) const;
  bool pays() const;
  double updates(const Block&) const;
  double updates(const Stmt&) const;

  const Program& program_;
  const loops::For& f_;
  Tables tables_;
  std::vector<BufferId> own_;            // buffers that each step has for itself
  std::unordered_set<Variable> inside_;  // variables that the loop gives values
  size_t last_ = 0;                      // statement that changes what it looked up
  bool possible_ = false;
};

}  // namespace anvil::compiler
