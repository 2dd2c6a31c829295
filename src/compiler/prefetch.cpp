// Rows of a table that a loop looks up one after the other, at places that data give, are asked for some steps ahead:
// no processor foresees them, and few look far enough ahead to wait for more than one or two at a time.
//
//   for j in 0..200000 {                        for j in 0..200000 {
//     $p1 = min(max(i64(x2[j]), 0), 99999)        $p2 = min(j + 12, 199999)
//     for i in 0..64 {                            $p3 = min(max(i64(x2[$p2]), 0), 99999)
//       out1[i, j] = x1[i, $p1]                   prefetch x1[0, $p3], 256 bytes
//     }                                           $p1 = min(max(i64(x2[j]), 0), 99999)
//   }                                             for i in 0..64 { out1[i, j] = x1[i, $p1] }
//                                               }
//
// So are rows far from each other of which each element is much work, as those of a block of a matrix: the processor
// foresees what follows in memory, but does not get far ahead before such a row ends, and never to the next one.
//
//   for j in 0..50 {                            for j in 0..50 {
//     for i in 0..400 vector 8 {                  $p1 = min(j + 1, 49)
//       out1[i, j] = exp(x1[i + 400*k, j])        for i in 0..400 vector 8 {
//     }                                             prefetch x1[i + 400*k, $p1], 64 bytes
//   }                                               out1[i, j] = exp(x1[i + 400*k, j])
//                                                 }
//                                               }
//
// And any rows that a loop reads a second time, as for their variances: memory has nothing to do meanwhile.
//
// Only in tables that the cache near the processor does not hold. What is asked for in vain does no harm: a place may
// come from data that the loop itself changes, or be that of a step that does nothing.
#include <algorithm>
#include <cstdlib>
#include <unordered_set>
#include <utility>

#include "compiler/passes.h"
#include "compiler/schedule.h"

namespace anvil::compiler {
namespace {

using loops::Bind;
using loops::For;

class Prefetcher {
 public:
  Prefetcher(Program& p, double cache) : program_(p), cache_(cache) {}

  void block(Block& b) {
    for (Stmt& s : b) {
      poll();
      auto f = std::get_if<For>(&s.is);
      if (f && f->kind == For::Kind::vector) continue;
      if (f && f->kind == For::Kind::serial && extent(*f) >= least_steps) look_ahead(*f);
      if (f && f->kind != For::Kind::parallel && extent(*f) >= few_rows) look_at_next_row(*f);
      each_block(s, [this](Block& inner) { block(inner); });
    }
  }

 private:
  static constexpr int64_t least_steps = 64, least_row = 64, most_row = 4096;  // bytes of a row
  static constexpr int64_t on_the_way = 3072;                                  // bytes of rows that are asked for
  static constexpr int64_t least_ahead = 4, most_ahead = 16;                   // steps
  static constexpr size_t most_nodes = 24;                                     // of what a place is computed from
  static constexpr int64_t few_rows = 8, least_apart = 4096,
                           least_long_row = 256;  // rows that follow each other, bytes
  static constexpr double much_work = 10;         // of an element

  // What one step of a loop makes, and the loops inside it.
  struct Inside {
    std::unordered_set<LocalId> locals;
    std::unordered_set<Variable> variables;
    std::unordered_map<Variable, const For*> loops;
    std::vector<const Bind*> places;  // outside of the inner loops
  };
  static void collect(const Block& b, bool in_loop, Inside& inside) {
    for (const Stmt& s : b) {
      if (auto l = std::get_if<loops::Let>(&s.is)) inside.locals.insert(l->local);
      if (auto d = std::get_if<loops::Declare>(&s.is)) inside.locals.insert(d->local);
      if (auto u = std::get_if<loops::Update>(&s.is)) inside.locals.insert(u->local);
      if (auto bind = std::get_if<Bind>(&s.is)) {
        inside.variables.insert(bind->parameter);
        if (!in_loop) inside.places.push_back(bind);
      }
      auto f = std::get_if<For>(&s.is);
      if (f) inside.variables.insert(f->variable), inside.loops.emplace(f->variable, f);
      const bool loop = f || std::holds_alternative<loops::While>(s.is);
      each_block(s, [&](const Block& inner) { collect(inner, in_loop || loop, inside); });
    }
  }

  // Whether a place is read from memory, and known as soon as the number of the step is.
  static bool known_ahead(const Bind& place, const For& f, const Inside& inside) {
    bool loads = false, known = true;
    size_t nodes = 0;
    each_node(place.value, [&](Expr e) {
      ++nodes;
      if (e->op == Op::local) known = known && inside.locals.count(e->local) == 0;
      if (loops::effort(e->op) == loops::Effort::call) known = false;
      for (const Affine& a : e->place)
        for (const loops::Term& t : a.terms) {
          known = known && inside.variables.count(t.variable) == 0;
          loads = loads || (e->op == Op::load && t.variable == f.variable);
        }
    });
    return loads && known && nodes <= most_nodes;
  }

  struct Row {
    BufferId buffer;
    Index place;  // of its first element, in the step itself
    int64_t bytes;
    bool operator==(const Row&) const = default;
  };
  // The rows of large tables at a place.
  std::vector<Row> rows_at(Variable parameter, const For& f, const Inside& inside) const {
    std::vector<Row> rows;
    for (const Stmt& s : f.body)
      each_access_inside(s, [&](BufferId b, const Index* place, AccessKind) {
        if (place == nullptr) return;
        const Affine at = linear(program_, b, *place);
        if (loops::factor(at, parameter) == 0) return;
        const For* along = nullptr;
        for (const loops::Term& t : at.terms) {
          if (t.variable == parameter || inside.variables.count(t.variable) == 0) continue;
          const auto loop = inside.loops.find(t.variable);
          if (along || t.factor != 1 || loop == inside.loops.end()) return;
          along = loop->second;
        }
        const int64_t bytes = along ? size(b) * extent(*along) : 0;
        if (bytes < least_row || bytes > most_row || !is_large(b)) return;
        Row row{b, substitute({{along->variable, {along->begin, {}}}}, *place), bytes};
        if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(std::move(row));
      });
    return rows;
  }

  Expr number(int64_t x) { return program_.exprs.constant(x, DType::i64); }
  Expr at_most(Expr x, int64_t high) { return program_.exprs.binary(Op::minimum, x, number(high)); }
  Expr at_least(Expr x, int64_t low) { return program_.exprs.binary(Op::maximum, x, number(low)); }
  Expr between(Expr x, int64_t low, int64_t high) {
    const bool is = x->op == Op::minimum && x == at_most(x->args[0], high) && x->args[0]->op == Op::maximum &&
                    x->args[0] == at_least(x->args[0]->args[0], low);
    return is ? x : at_most(at_least(x, low), high);
  }
  // A parameter of this value.
  Variable bind(Expr value, int64_t low, int64_t high, Block& to) {
    const Variable v = make_parameter(program_, low, high);
    to.push_back({Bind{v, value}});
    return v;
  }
  void look_ahead(For& f) {
    Inside inside;
    collect(f.body, false, inside);
    Block ahead;
    for (const Bind* place : inside.places) {
      if (!known_ahead(*place, f, inside)) continue;
      const std::vector<Row> rows = rows_at(place->parameter, f, inside);
      if (rows.empty()) continue;
      int64_t bytes = 0;
      for (const Row& row : rows) bytes += row.bytes;
      const int64_t steps = std::clamp(on_the_way / bytes, least_ahead, most_ahead);
      const int64_t last = f.end - 1;
      const Expr next = at_most(program_.exprs.index(loops::variable(f.variable) + steps), last);
      VariableMap later = {{f.variable, loops::variable(bind(next, f.begin, last, ahead))}};
      const auto [name, parameter, low, high] = program_.variables[static_cast<size_t>(place->parameter)];
      const Expr there = variable_rewriter(program_.exprs, later)(place->value);
      later[place->parameter] = loops::variable(bind(between(there, low, high), low, high, ahead));
      for (const Row& row : rows)
        ahead.push_back({loops::Prefetch{row.buffer, substitute(later, row.place), row.bytes}});
    }
    f.body.insert(f.body.begin(), std::make_move_iterator(ahead.begin()), std::make_move_iterator(ahead.end()));
  }

  // ---- rows that follow each other ----
  void look_at_next_row(For& f) {
    Block ahead;
    std::vector<Row> read, asked_for;
    Inside inside;
    collect(f.body, false, inside);
    for (Stmt& s : f.body) {
      auto row = std::get_if<For>(&s.is);
      if (!row || row->kind != For::Kind::vector) continue;
      const std::vector<std::pair<BufferId, Index>> places = places_of_rows(f, *row, inside, read, asked_for);
      if (places.empty()) continue;
      const Expr next = at_most(program_.exprs.index(loops::variable(f.variable) + steps_at_once(f)), f.end - 1);
      const VariableMap later = {{f.variable, loops::variable(bind(next, f.begin, f.end - 1, ahead))}};
      Block asked;
      for (const auto& [b, place] : places)
        asked.push_back({loops::Prefetch{b, substitute(later, place), row->width * size(b)}});
      row->body.insert(row->body.begin(), std::make_move_iterator(asked.begin()), std::make_move_iterator(asked.end()));
    }
    f.body.insert(f.body.begin(), std::make_move_iterator(ahead.begin()), std::make_move_iterator(ahead.end()));
  }
  // Where a loop reads such rows along memory, each step of f another one. `read`: by the loops before it.
  std::vector<std::pair<BufferId, Index>> places_of_rows(const For& f, const For& row, const Inside& inside,
                                                         std::vector<Row>& read, std::vector<Row>& asked_for) const {
    const bool much = loop_facts(row).weight >= much_work;
    const auto before = static_cast<std::ptrdiff_t>(read.size());
    std::vector<std::pair<BufferId, Index>> list;
    for (const Stmt& s : row.body)
      each_access_inside(s, [&](BufferId b, const Index* place, AccessKind kind) {
        if (kind != AccessKind::read || !is_large(b)) return;
        const Affine at = linear(program_, b, *place);
        const int64_t bytes = extent(row) * size(b), apart = std::abs(loops::factor(at, f.variable)) * size(b);
        const bool along = loops::factor(at, row.variable) == 1 &&
                           std::all_of(at.terms.begin(), at.terms.end(), [&](const loops::Term& t) {
                             return t.variable == row.variable || inside.variables.count(t.variable) == 0;
                           });
        if (!along || bytes < least_long_row || static_cast<double>(4 * bytes) > cache_) return;
        const Row whole{b, substitute({{row.variable, {row.begin, {}}}}, *place), bytes};
        read.push_back(whole);
        const bool again =
                       apart >= bytes && std::find(read.begin(), read.begin() + before, whole) != read.begin() + before,
                   far = much && apart >= std::max(least_apart, 2 * bytes),
                   asked = std::find(asked_for.begin(), asked_for.end(), whole) != asked_for.end();
        if (asked || !(again || far)) return;
        asked_for.push_back(whole);
        list.emplace_back(b, *place);
      });
    return list;
  }
  int64_t size(BufferId b) const {
    return static_cast<int64_t>(size_of(program_.buffers[static_cast<size_t>(b)].dtype));
  }
  bool is_large(BufferId b) const {
    return static_cast<double>(elements(program_.buffers[static_cast<size_t>(b)].shape) * size(b)) > cache_;
  }

  Program& program_;
  const double cache_;
};

}  // namespace

void prefetch_rows(Program& p, const Target& target) { Prefetcher(p, target.cache).block(p.body); }

}  // namespace anvil::compiler
