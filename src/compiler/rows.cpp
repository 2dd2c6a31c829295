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
#include <utility>

#include "compiler/columns.h"
#include "compiler/copy.h"
#include "compiler/passes.h"
#include "compiler/schedule.h"
#include "loops/origins.h"

namespace anvil::compiler {
namespace {

using loops::For;

constexpr int64_t steps_together = 128;  // whose operands become rows before they are needed

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
    Block result, afterwards;
    for (size_t k = 0; k < body.size(); ++k) switch (columns_.part(body[k], k)) {
        case Columns::Part::by_rows: statement(std::move(body[k]), k, result); break;
        case Columns::Part::for_each_column: result.push_back(each_column({std::move(body[k])})); break;
        case Columns::Part::afterwards: afterwards.push_back(std::move(body[k])); break;
      }
    for (const auto& [b, t] : columns_.tables()) {
      if (!t.column || t.step) continue;
      if (!own_.written_first(result, rows_.at(b).buffer)) result.insert(result.begin(), to_rows(b, t, 0, {}));
      if (t.stored) result.push_back(to_columns(b, t));
    }
    std::erase_if(rows_, [this](const auto& rows) { return columns_.tables().at(rows.first).column; });
    for (Stmt& s : afterwards) redirect(s);
    if (!afterwards.empty()) result.push_back(each_column(std::move(afterwards)));
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
    if (operands.empty()) return add_by_row(std::move(s), result);
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
    add_by_row({std::move(loop)}, result);
  }
  void add_by_row(Stmt s, Block& result) {
    redirect(s);
    Block one;
    one.push_back(std::move(s));
    for (Stmt& x : by_row(std::move(one))) result.push_back(std::move(x));
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

bool become_rows_inside(const Program& p, const OwnBuffers& own, const Block& b) {
  return std::any_of(b.begin(), b.end(), [&](const Stmt& s) {
    auto f = std::get_if<For>(&s.is);
    return f && (Columns(p, own, *f).may_become_rows() || become_rows_inside(p, own, f->body));
  });
}

}  // namespace

void update_by_rows(Program& p) {
  const OwnBuffers own(p);  // before loops move
  replace_loops(p.body, [&](Stmt& s, For& f, Block& result) {
    const Columns columns(p, own, f);
    if (!columns.may_become_rows() || become_rows_inside(p, own, f.body)) return false;
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
