// What is added to rows of a table goes row by row. Tables lie in memory column by column, so that what one step looks up
// and changes lies apart. Some columns at a time become rows of their own, and columns again at the end:
//
//   for j in 0..64 {                        for b in 0..8 {
//     for i in 0..900 {                       for i in 0..900 { for j in 0..8 { r4[j, i] = 0 } }
//       out1[i, j] = 0                        for k in 0..4 {
//     }                                         for i in 0..128 { for j in 0..8 { r5[j, i] = x3[i + 128*k, j + 8*b] } }
//     for i in 0..1024 {                        for i in 0..128 {
//       if x2[i] < 900 {                          if x2[i + 128*k] < 900 {
//         $p = x2[i]                                $p = x2[i + 128*k]
//         out1[$p, j] =                             for j in 0..8 {
//           out1[$p, j] + x3[i, j]                    r4[j, $p] = r4[j, $p] + r5[j, i]
//                                             for j in 0..8 { for i in 0..900 { out1[i, j + 8*b] = r4[j, i] } }
//
// Columns that are left over make a block of their own.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "compiler/copy.h"
#include "compiler/own.h"
#include "compiler/passes.h"
#include "compiler/schedule.h"
#include "loops/origins.h"

namespace anvil::compiler {
namespace {

using loops::Bind;
using loops::For;
using loops::If;

constexpr int64_t narrow_block = 4, wide_block = 8;  // columns
constexpr double least_updates = 32;                 // of a column
constexpr double most_moved = 4;                     // numbers that become rows and columns again, for each update
constexpr int64_t most_bytes = int64_t(8) << 20;     // of the rows of a block
constexpr int64_t steps_together = 128;              // whose operands become rows before they are needed

bool looks_up(const Block&);
bool looks_up(const Stmt& s) {
  if (std::holds_alternative<Bind>(s.is) || std::holds_alternative<If>(s.is)) return true;
  auto f = std::get_if<For>(&s.is);
  return f && looks_up(f->body);
}
bool looks_up(const Block& b) {
  return std::any_of(b.begin(), b.end(), [](const Stmt& s) { return looks_up(s); });
}

// Such a sum may begin anywhere before it is needed.
bool begins_sum(const Stmt& s) {
  auto declare = std::get_if<loops::Declare>(&s.is);
  return declare && declare->value->op == Op::constant;
}

// A buffer whose columns become rows: the column comes first in memory, then the step, then the other dimensions.
struct Table {
  std::optional<size_t> column;         // dimension that the loop over columns moves in; none: each step has a buffer
  std::optional<size_t> step;           // dimension that a statement of the loop takes some steps of at a time
  size_t statement = 0;                 // this one, which alone needs the table
  std::map<size_t, Affine> fixed = {};  // dimensions that stay where they are in the loop
  bool stored = false, filled = false;  // in the loop; before it is read
};

// What the pass has to know of a loop over columns. Up to the last statement that changes what it looked up all that needs
// the tables goes by rows, what follows by columns again.
class Columns {
 public:
  Columns(const Program& p, const OwnBuffers& own, const For& f) : program_(p), f_(f) {
    if (f.kind != For::Kind::serial || f.begin != 0 || extent(f) < narrow_block || updates(f.body) < least_updates)
      return;
    for (size_t k = 0; k < f.body.size(); ++k)
      if (updates(f.body[k]) > 0) last_ = k;
    inside_.insert(f.variable);
    for (const Stmt& s : f.body) collect_variables(s);
    possible_ =
        find_tables(own) && parts_go_alone() && loop_facts(f).updated.empty() && pays() && independent(p, f, own_);
  }
  bool possible() const { return possible_; }
  // As many as leave work for several threads.
  int64_t at_once() const { return extent(f_) < 2 * wide_block ? narrow_block : wide_block; }
  size_t last() const { return last_; }
  const std::map<BufferId, Table>& tables() const { return tables_; }
  bool touches_tables(const Stmt& s) const {
    bool found = looks_up(s);
    each_access_inside(s, [&](BufferId b, const Index*, AccessKind) { found = found || tables_.count(b); });
    return found;
  }

 private:
  struct Use {
    size_t by;  // the number of a statement in the loop
    const Index* place;
    AccessKind kind;
  };

  const loops::Buffer& buffer(BufferId b) const { return program_.buffers[static_cast<size_t>(b)]; }

  bool find_tables(const OwnBuffers& own_buffers) {
    std::map<BufferId, std::vector<Use>> uses;
    for (size_t k = 0; k < f_.body.size(); ++k)
      each_access_inside(f_.body[k], [&](BufferId b, const Index* place, AccessKind kind) {
        uses[b].push_back({k, place, kind});
      });
    for (BufferId b : own_buffers.of(f_))
      if (uses.count(b) && std::none_of(uses[b].begin(), uses[b].end(), [&](const Use& u) { return step(b, u) != 0; }))
        own_.push_back(b);
    for (auto& [b, list] : uses) {
      const bool own = std::find(own_.begin(), own_.end(), b) != own_.end();
      if (own && list[0].by > last_) continue;
      if (!own) std::erase_if(list, [this](const Use& u) { return u.by > last_; });
      const bool apart = std::any_of(list.begin(), list.end(), [&, b = b](const Use& u) {
        return looks_up(f_.body[u.by]) && std::abs(step(b, u)) > 1;
      });
      const bool seen_otherwise = std::any_of(uses.begin(), uses.end(), [&, b = b](const auto& other) {
        return other.first != b && root(program_, other.first) == root(program_, b);
      });
      if ((own || apart) && (seen_otherwise || !add_table(b, list, own))) return false;
    }
    return !tables_.empty();
  }
  void collect_variables(const Stmt& s) {
    if (auto f = std::get_if<For>(&s.is)) inside_.insert(f->variable);
    if (auto bind = std::get_if<Bind>(&s.is)) inside_.insert(bind->parameter);
    if (auto c = std::get_if<loops::Contraction>(&s.is))
      for (const auto& axis : c->axes) inside_.insert(axis.variable);
    each_block(s, [this](const Block& b) {
      for (const Stmt& inner : b) collect_variables(inner);
    });
  }
  int64_t step(BufferId b, const Use& u) const { return u.place ? loops::step(program_, b, *u.place, f_.variable) : 0; }
  // False where not every access is in the column of its step.
  bool add_table(BufferId b, const std::vector<Use>& uses, bool own) {
    Table t;
    if (!own && !(t.column = moving_dimension(uses, f_.variable))) return false;
    bool others = false;
    for (const Use& u : uses) {
      t.stored = t.stored || u.kind == AccessKind::write;
      others = others || u.by != uses[0].by;
    }
    const Stmt& first = f_.body[uses[0].by];
    t.filled = !looks_up(first) && std::all_of(uses.begin(), uses.end(), [&](const Use& u) {
      return u.by != uses[0].by || u.kind == AccessKind::write;
    });
    auto steps = std::get_if<For>(&first.is);
    if (steps && steps->begin == 0 && !others && !t.stored) t.step = moving_dimension(uses, steps->variable);
    t.statement = uses[0].by;
    for (size_t d = 0; uses[0].place && d < uses[0].place->size(); ++d) {
      const Affine& a = (*uses[0].place)[d];
      const bool stays =
          std::all_of(uses.begin(), uses.end(), [&](const Use& u) { return u.place && (*u.place)[d] == a; });
      if (stays &&
          std::none_of(a.terms.begin(), a.terms.end(), [this](const auto& x) { return inside_.count(x.variable); }))
        t.fixed.emplace(d, a);
    }
    tables_.emplace(b, t);
    return true;
  }
  // The one dimension of all places that depends on a variable, if it is the variable.
  static std::optional<size_t> moving_dimension(const std::vector<Use>& uses, Variable v) {
    std::optional<size_t> found;
    for (const Use& u : uses) {
      if (u.place == nullptr) return std::nullopt;
      int dimensions = 0;
      for (size_t d = 0; d < u.place->size(); ++d) {
        const Affine& a = (*u.place)[d];
        if (loops::factor(a, v) == 0) continue;
        if (++dimensions > 1 || !(a == loops::variable(v)) || found.value_or(d) != d) return std::nullopt;
        found = d;
      }
      if (dimensions == 0) return std::nullopt;
    }
    return found;
  }

  // Whether the loop may be one for each of its parts, and sums begin with what goes by columns.
  bool parts_go_alone() const {
    std::unordered_set<LocalId> sums;
    for (size_t k = 0; k <= last_; ++k) {
      const Stmt& s = f_.body[k];
      auto f = std::get_if<For>(&s.is);
      bool made = false;
      if (begins_sum(s)) sums.insert(std::get<loops::Declare>(s.is).local);
      if (needs(s, sums)) return false;
      const bool whole = begins_sum(s) || (f && loop_facts(*f).updated.empty() && !touches_tables(s));
      if (!whole && (!alike(s, made) || made)) return false;
    }
    return true;
  }
  static bool needs(const Stmt& s, const std::unordered_set<LocalId>& locals) {
    bool found = false;
    each_expression(s, [&](Expr e) {
      each_node(e, [&](Expr x) { found = found || (x->op == Op::local && locals.count(x->local)); });
    });
    each_block(s, [&](const Block& b) {
      for (const Stmt& inner : b) found = found || needs(inner, locals);
    });
    return found;
  }
  // Whether what is looked up is the same for each column, and locals are needed only where they are made.
  bool alike(const Block& b) const {
    bool made = false;
    return std::all_of(b.begin(), b.end(), [&](const Stmt& s) { return alike(s, made); });
  }
  bool alike(const Stmt& s, bool& made) const {  // made: a local, before it
    if (std::holds_alternative<loops::Let>(s.is)) return made = true;
    if (std::holds_alternative<loops::Store>(s.is)) return true;
    if (made) return false;
    if (auto bind = std::get_if<Bind>(&s.is)) return same(bind->value);
    if (auto branch = std::get_if<If>(&s.is)) return same(branch->condition) && alike(branch->yes) && alike(branch->no);
    auto f = std::get_if<For>(&s.is);
    return f && f->kind == For::Kind::serial && alike(f->body);
  }
  bool same(Expr e) const {
    bool same = true;
    each_node(e, [&](Expr x) {
      same = same && x->op != Op::local && !(x->op == Op::load && tables_.count(x->buffer));
      for (const Affine& a : x->place) same = same && loops::factor(a, f_.variable) == 0;
    });
    return same;
  }

  // ---- costs ----
  bool pays() const {
    double moved = 0;
    int64_t bytes = 0;
    for (const auto& [b, t] : tables_) {
      int64_t n = 1;
      for (size_t d = 0; d < buffer(b).shape.size(); ++d)
        if (d != t.column && !t.fixed.count(d)) n *= buffer(b).shape[d];
      if (t.column) moved += static_cast<double>(n * ((t.filled ? 0 : 1) + (t.stored ? 1 : 0)));
      if (!t.step) bytes += n * at_once() * static_cast<int64_t>(size_of(buffer(b).dtype));
    }
    return moved <= most_moved * updates(f_.body) && bytes <= most_bytes;
  }
  // How often a step changes its column at a place that was looked up.
  double updates(const Block& b) const {
    double n = 0;
    for (const Stmt& s : b) n += updates(s);
    return n;
  }
  double updates(const Stmt& s) const {
    if (auto f = std::get_if<For>(&s.is)) return static_cast<double>(extent(*f)) * updates(f->body);
    if (auto branch = std::get_if<If>(&s.is)) return std::max(updates(branch->yes), updates(branch->no));
    auto store = std::get_if<loops::Store>(&s.is);
    return store ? looked_up(store->place) : 0;
  }
  bool looked_up(const Index& place) const {
    return std::any_of(place.begin(), place.end(), [&](const Affine& a) {
      return std::any_of(a.terms.begin(), a.terms.end(), [&](const loops::Term& t) {
        return program_.variables[static_cast<size_t>(t.variable)].parameter;
      });
    });
  }

  const Program& program_;
  const For& f_;
  std::map<BufferId, Table> tables_;
  std::vector<BufferId> own_;
  std::unordered_set<Variable> inside_;  // variables that the loop gives values
  size_t last_ = 0;
  bool possible_ = false;
};

// A block of columns, row by row.
class RowByRow {
 public:
  // f: over the columns of the block, the first of which is `first`.
  RowByRow(Program& p, const OwnBuffers& own, const Columns& columns, const For& f, const Affine& first,
           const loops::Origins& origins)
      : program_(p),
        own_(own),
        columns_(columns),
        f_(f),
        column_(first + loops::variable(f.variable)),
        origins_(origins) {
    f_.body.clear();
  }
  Block operator()(Block body) {
    for (const auto& [b, t] : columns_.tables())
      if (!t.step) rows_[b] = {make_rows(b, t, 0), {}};
    Block result, by_column;
    for (size_t k = 0; k < body.size(); ++k) {
      Stmt& s = body[k];
      if (k > columns_.last() || begins_sum(s))
        by_column.push_back(std::move(s));
      else if (columns_.touches_tables(s))
        statement(std::move(s), k, result);
      else
        result.push_back(each_column({std::move(s)}));
    }
    for (const auto& [b, t] : columns_.tables()) {
      if (!t.column || t.step) continue;
      if (!own_.written_first(result, rows_.at(b).buffer)) result.insert(result.begin(), to_rows(b, t, 0, {}));
      if (t.stored) result.push_back(to_columns(b, t));
    }
    std::erase_if(rows_, [this](const auto& rows) { return columns_.tables().at(rows.first).column; });
    for (Stmt& s : by_column) redirect(s);
    if (!by_column.empty()) result.push_back(each_column(std::move(by_column)));
    return result;
  }

 private:
  struct Rows {
    BufferId buffer;
    Affine step;  // of a table some steps of which are there
  };

  // Statement k of the loop, its operands some steps at a time.
  void statement(Stmt s, size_t k, Block& result) {
    std::vector<BufferId> operands;
    for (const auto& [b, t] : columns_.tables())
      if (t.step && t.statement == k) operands.push_back(b);
    if (operands.empty()) {
      redirect(s);
      for (Stmt& x : by_row({std::move(s)})) result.push_back(std::move(x));
      return;
    }
    For& loop = std::get<For>(s.is);
    const int64_t n = extent(loop), blocks = n < 2 * steps_together ? 0 : n / steps_together;
    const int64_t rest = n - blocks * steps_together;
    if (blocks > 0) {
      For some = rest > 0 ? LoopCopy(program_)(loop) : loop;
      For around = loop_over_blocks(program_, some, blocks, steps_together);
      add_steps(std::move(some), loops::variable(around.variable) * steps_together, operands, around.body);
      result.push_back({std::move(around)});
    }
    if (rest > 0) {
      loop.begin = loop.end - rest;
      const Affine start{loop.begin, {}};
      take_block(program_, loop, {}, rest);
      add_steps(std::move(loop), start, operands, result);
    }
  }
  void add_steps(For loop, const Affine& start, const std::vector<BufferId>& operands, Block& result) {
    for (BufferId b : operands) {
      const Table& t = columns_.tables().at(b);
      rows_[b] = {make_rows(b, t, extent(loop)), extent(loop) > 1 ? loops::variable(loop.variable) : Affine{}};
      result.push_back(to_rows(b, t, extent(loop), start));
    }
    Stmt s{std::move(loop)};
    redirect(s);
    for (Stmt& x : by_row({std::move(s)})) result.push_back(std::move(x));
  }
  // The loop over columns goes to where numbers are.
  Block by_row(Block body) {
    Block result, group;
    const auto write_out = [&] {
      if (!group.empty()) result.push_back(each_column(std::exchange(group, {})));
    };
    for (Stmt& s : body) {
      if (std::holds_alternative<loops::Store>(s.is) || std::holds_alternative<loops::Let>(s.is)) {
        group.push_back(std::move(s));
        continue;
      }
      write_out();
      each_block(s, [this](Block& inner) { inner = by_row(std::move(inner)); });
      result.push_back(std::move(s));
    }
    write_out();
    return result;
  }
  Stmt each_column(Block body) const {
    For f = f_;
    f.body = std::move(body);
    return {std::move(f)};
  }

  // ---- rows ----
  const Shape& shape(BufferId b) const { return program_.buffers[static_cast<size_t>(b)].shape; }
  BufferId make_rows(BufferId b, const Table& t, int64_t steps) {
    Shape rows = {extent(f_)};
    if (t.step) rows.push_back(steps);
    for (size_t d = 0; d < shape(b).size(); ++d)
      if (remains(t, d)) rows.push_back(shape(b)[d]);
    return make_temporary(program_, program_.buffers[static_cast<size_t>(b)].dtype, std::move(rows), "r");
  }
  // Whether it is a dimension of the rows as well.
  static bool remains(const Table& t, size_t d) { return d != t.column && d != t.step && !t.fixed.count(d); }
  Index row_place(const Table& t, const Affine& step, const Index& place) const {
    Index row = {loops::variable(f_.variable)};
    if (t.step) row.push_back(step);
    for (size_t d = 0; d < place.size(); ++d)
      if (remains(t, d)) row.push_back(place[d]);
    return row;
  }
  void redirect(Stmt& s) {
    Rewriter rewriter(program_.exprs, [this](Expr e) -> Expr {
      const auto found = e->op == Op::load ? rows_.find(e->buffer) : rows_.end();
      if (found == rows_.end()) return nullptr;
      const auto& [buffer, step] = found->second;
      return program_.exprs.load(buffer, e->dtype, row_place(columns_.tables().at(e->buffer), step, e->place));
    });
    redirect(s, rewriter);
  }
  template <class R>
  void redirect(Stmt& s, R& rewriter) {
    each_expression(s, [&](Expr& e) { e = rewriter(e); });
    const auto store = [this](auto& to) {
      const auto found = rows_.find(to.buffer);
      if (found == rows_.end()) return;
      to.place = row_place(columns_.tables().at(to.buffer), found->second.step, to.place);
      to.buffer = found->second.buffer;
    };
    if (auto to = std::get_if<loops::Store>(&s.is)) store(*to);
    if (auto to = std::get_if<loops::Contraction>(&s.is)) store(*to);
    each_block(s, [&](Block& inner) {
      for (Stmt& x : inner) redirect(x, rewriter);
    });
  }

  // ---- copies ----
  // Loops over the dimensions of a table but the column, the first one innermost, and the places that they lead to.
  struct Walk {
    std::vector<For> loops;
    Index table, row;
  };
  Walk walk(BufferId b, const Table& t, int64_t steps, const Affine& start) {
    Walk w;
    Affine step;
    for (size_t d = 0; d < shape(b).size(); ++d) {
      if (d == t.column) {
        w.table.push_back(column_);
        continue;
      }
      if (const auto fixed = t.fixed.find(d); fixed != t.fixed.end()) {
        w.table.push_back(fixed->second);
        continue;
      }
      For loop = make_loop(program_, f_.variable, d == t.step ? steps : shape(b)[d]);
      w.table.push_back(loop.end == 1 ? Affine{} : loops::variable(loop.variable));
      if (d == t.step) step = std::exchange(w.table.back(), w.table.back() + start);
      if (loop.end > 1) w.loops.push_back(std::move(loop));
    }
    w.row = row_place(t, step, w.table);
    return w;
  }
  Stmt to_rows(BufferId b, const Table& t, int64_t steps, const Affine& start) {
    Walk w = walk(b, t, steps, start);
    w.loops.insert(w.loops.begin(), f_);
    return nest(std::move(w.loops), rows_.at(b).buffer, std::move(w.row), b, std::move(w.table));
  }
  Stmt to_columns(BufferId b, const Table& t) {
    Walk w = walk(b, t, 0, {});
    w.loops.insert(w.loops.begin() + !w.loops.empty(), f_);
    return nest(std::move(w.loops), b, std::move(w.table), rows_.at(b).buffer, std::move(w.row));
  }
  Stmt nest(std::vector<For> loops, BufferId to, Index place, BufferId from, Index read) {
    const DType t = program_.buffers[static_cast<size_t>(from)].dtype;
    Stmt s{loops::Store{to, std::move(place), program_.exprs.load(from, t, std::move(read))}, origins_};
    for (For& f : loops) {
      f.body.push_back(std::move(s));
      s = {std::move(f)};
    }
    return s;
  }

  Program& program_;
  const OwnBuffers& own_;
  const Columns& columns_;
  For f_;
  const Affine column_;
  const loops::Origins& origins_;
  std::map<BufferId, Rows> rows_;
};

bool possible_inside(const Program& p, const OwnBuffers& own, const Block& b) {
  return std::any_of(b.begin(), b.end(), [&](const Stmt& s) {
    auto f = std::get_if<For>(&s.is);
    return f && (Columns(p, own, *f).possible() || possible_inside(p, own, f->body));
  });
}

}  // namespace

void update_by_rows(Program& p) {
  const OwnBuffers own(p);  // before loops move
  replace_loops(p.body, [&](Stmt& s, For& f, Block& result) {
    const Columns columns(p, own, f);
    if (!columns.possible() || possible_inside(p, own, f.body)) return false;
    const int64_t size = columns.at_once(), count = extent(f) / size, rest = extent(f) - count * size;
    const loops::Origins from = loops::origins(s);
    std::optional<For> last;
    if (rest > 0) {
      last = LoopCopy(p)(f);
      last->begin = last->end - rest;
    }
    For blocks = loop_over_blocks(p, f, count, size);
    RowByRow rows(p, own, columns, f, loops::variable(blocks.variable) * size, from);
    blocks.body = rows(std::move(f.body));
    result.push_back({std::move(blocks)});
    if (rest > 1) {
      take_block(p, *last, {}, rest);
      RowByRow left(p, own, columns, *last, {count * size, {}}, from);
      for (Stmt& x : left(std::move(last->body))) result.push_back(std::move(x));
    } else if (last) {
      result.push_back({std::move(*last)});
    }
    return true;
  });
}

}  // namespace anvil::compiler
