// The next state of a loop that is made of the state element by element goes where that lies: half of the memory is
// touched.
//
//   loop {                                 loop {
//     while t3                               while t3
//     for i in 0..900 {                      for i in 0..900 {
//       t4[i] = t1[i] * 2                      t1[i] = t1[i] * 2
//     }                                      }
//     swap t1, t4                          }
//   }
//
// So it is where one nest makes the next state, each element once and after its last use of the same element of the
// state, which nothing behind the nest reads.
#include <optional>
#include <set>

#include "compiler/passes.h"
#include "compiler/traverse.h"

namespace anvil::compiler {
namespace {

class StatesInPlace {
 public:
  explicit StatesInPlace(Program& p) : program_(p), accesses_(count_accesses(p)) {}

  void block(Block& b) {
    for (Stmt& s : b) each_block(s, [this](Block& inner) { block(inner); });
    for (size_t k = 0; k < b.size();) {
      auto swap = std::get_if<loops::Swap>(&b[k].is);
      const auto maker = swap ? maker_in_place(b, k, *swap) : std::nullopt;
      if (!maker) {
        ++k;
        continue;
      }
      const auto [state, next] = *swap;
      b.erase(b.begin() + static_cast<ptrdiff_t>(k));
      for (size_t m = *maker; m < k; ++m) rename(b[m], next, state);
    }
  }

 private:
  // Where an element is stored: the statement of a block, and the loops around that.
  struct Place {
    const Block* block;
    size_t statement;
    std::set<Variable> around;
  };

  bool may_move(BufferId b) const {
    return root(program_, b) == b && accesses_[static_cast<size_t>(b)] < many_accesses;
  }
  static int count(const Stmt& s, BufferId buffer) {
    int n = 0;
    each_access_inside(s, [&](BufferId b, const Index*, AccessKind) { n += b == buffer; });
    return n;
  }

  // The statement that makes the next state, which statement `end` moves to the state, if it may do so in place.
  std::optional<size_t> maker_in_place(const Block& b, size_t end, const loops::Swap& swap) const {
    const auto [state, next] = swap;
    if (!may_move(state) || !may_move(next)) return std::nullopt;
    std::optional<size_t> maker;
    int of_next = 0;
    for (size_t k = 0; k <= end; ++k) {
      of_next += count(b[k], next);
      if (k == end) break;
      if (maker ? count(b[k], state) > 0 || stores(b[k], next) : stores(b[k], state)) return std::nullopt;
      if (!maker && count(b[k], next) > 0) maker = k;
    }
    const bool elsewhere = of_next != accesses_[static_cast<size_t>(next)];
    if (!maker || elsewhere || !element_by_element(b[*maker], state, next)) return std::nullopt;
    return maker;
  }
  // Or gives the whole buffer away.
  static bool stores(const Stmt& s, BufferId buffer) {
    bool found = false;
    each_access_inside(s, [&](BufferId b, const Index*, AccessKind kind) {
      found = found || (b == buffer && kind != AccessKind::read);
    });
    return found;
  }

  // Whether a nest stores each element of the next state once, and uses no others of both in that step, nor any of the
  // state after it.
  bool element_by_element(const Stmt& nest, BufferId state, BufferId next) const {
    const std::optional<Place> at = find_store(nest, next, {});
    if (!at) return false;
    const Index& place = std::get<loops::Store>((*at->block)[at->statement].is).place;
    if (!visits_once(place, at->around)) return false;
    int seen = 0;
    bool fits = true;
    for (size_t k = 0; k < at->block->size(); ++k)
      each_access((*at->block)[k], [&](BufferId b, const Index* where, AccessKind kind) {
        if (b != state && b != next) return;
        ++seen;
        const bool in_order =
            b == state ? k <= at->statement : k > at->statement || (k == at->statement && kind == AccessKind::write);
        fits = fits && in_order && where != nullptr && *where == place;
      });
    return fits && seen == count(nest, state) + count(nest, next);
  }
  // In nothing but loops.
  static std::optional<Place> find_store(const Stmt& s, BufferId buffer, std::set<Variable> around) {
    auto f = std::get_if<loops::For>(&s.is);
    if (!f) return std::nullopt;
    around.insert(f->variable);
    for (size_t k = 0; k < f->body.size(); ++k) {
      auto store = std::get_if<loops::Store>(&f->body[k].is);
      if (store && store->buffer == buffer) return Place{&f->body, k, std::move(around)};
      if (auto inner = find_store(f->body[k], buffer, around)) return inner;
    }
    return std::nullopt;
  }

  void rename(Stmt& s, BufferId from, BufferId to) {
    Rewriter rewriter(program_.exprs, [&](Expr e) -> Expr {
      return e->op == Op::load && e->buffer == from ? program_.exprs.load(to, e->dtype, e->place) : nullptr;
    });
    rename_stores(s, from, to);
    rewrite(s, rewriter, {});
  }
  static void rename_stores(Stmt& s, BufferId from, BufferId to) {
    if (auto store = std::get_if<loops::Store>(&s.is); store && store->buffer == from) store->buffer = to;
    each_block(s, [&](Block& b) {
      for (Stmt& each : b) rename_stores(each, from, to);
    });
  }

  Program& program_;
  std::vector<int> accesses_;
};

}  // namespace

void update_states_in_place(Program& p) { StatesInPlace(p).block(p.body); }

}  // namespace anvil::compiler
