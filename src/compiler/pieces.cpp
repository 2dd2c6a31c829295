// What is made in pieces moves into its readers, whose loops are cut where the pieces meet:
//
//   t1[0] = x1[255]                        out1[0] = x1[255] + x1[0]
//   for i in 0..255 {                      for i in 0..255 {
//     t1[i + 1] = x1[i]                      out1[i + 1] = x1[i] + x1[i + 1]
//   }                                      }
//   for i in 0..256 {
//     out1[i] = t1[i] + x1[i]
//   }
//
// So joined, rolled and padded tensors are not stored where they are read element by element. Nests that read the
// result element by element are cut likewise, so that they can become one with it. Runs of memory stay long. What is
// computed for several readers beside constants, as padding leaves it, is kept without these.
#include <algorithm>
#include <set>

#include "base/interrupt.h"
#include "compiler/block_facts.h"
#include "compiler/passes.h"
#include "compiler/store_nest.h"
#include "compiler/traverse.h"
#include "loops/dependence.h"
#include "loops/origins.h"

namespace anvil::compiler {
namespace {

using loops::For;

constexpr size_t most_parts = 12;            // of one nest
constexpr size_t most_nodes_of_parts = 400;  // of expressions in all pieces of one nest
constexpr int64_t one_in_short_runs = 8;     // of all elements: one in so many may lie in short runs
constexpr size_t most_followers = 8;         // that are cut like one that they read

class PieceMover {
 public:
  PieceMover(Program& p, const Target& target)
      : program_(p), least_run_(target.vector_bytes), homes_(p.buffers.size(), nullptr) {
    for (const loops::Buffer& b : p.buffers)
      if (b.alias >= 0) viewed_.insert(b.alias);
    find_homes(p.body);
  }

  void block(Block& b) {
    for (Stmt& s : b)
      if (!std::holds_alternative<For>(s.is)) each_block(s, [this](Block& inner) { block(inner); });
    home_ = &b;
    facts_.emplace(program_, b);
    slots_.clear();
    cut_.clear();
    std::vector<BufferId> made;
    for (const auto& [id, f] : facts_->buffers())
      if (f.stores > 1) made.push_back(id);
    if (made.empty()) return;
    std::sort(made.begin(), made.end(), [&](BufferId x, BufferId y) { return order(x) < order(y); });
    for (Stmt& s : b) slots_.push_back(Block{std::move(s)});
    for (BufferId id : made) {
      poll();
      move(id);
    }
    for (size_t k : cut_)
      if (slots_[k].size() > 1) follow(k);
    b.clear();
    for (Block& slot : slots_) std::move(slot.begin(), slot.end(), std::back_inserter(b));
  }

 private:
  using OfBuffer = BlockFacts::OfBuffer;
  std::pair<size_t, BufferId> order(BufferId b) const { return {*facts_->at(b).writers.begin(), b}; }

  void find_homes(const Block& b) {
    for (const Stmt& s : b) {
      const auto note = [&](BufferId x, const Index*, AccessKind) {
        const Block*& home = homes_[static_cast<size_t>(root(program_, x))];
        home = home == nullptr || home == &b ? &b : &nowhere_;
      };
      if (std::holds_alternative<For>(s.is)) {
        each_access_inside(s, note);
      } else {
        each_access(s, note);
        each_block(s, [this](const Block& inner) { find_homes(inner); });
      }
    }
  }

  // ---- decisions ----
  // The pieces of a buffer, where they are all of it and each element is made once.
  std::vector<Piece> pieces(BufferId b, const OfBuffer& f) const {
    const loops::Buffer& buffer = program_.buffers[static_cast<size_t>(b)];
    if (buffer.kind != loops::Buffer::Kind::temporary || viewed_.count(b) || f.whole || f.readers.empty() ||
        *f.writers.rbegin() >= *f.readers.begin() || homes_[static_cast<size_t>(b)] != home_)
      return {};
    std::vector<Piece> list;
    int64_t all = 0;
    for (size_t k : f.writers)
      for (const Stmt& s : slots_[k]) {
        const std::optional<Piece> p = piece_of(s);
        if (!p || list.size() == most_parts) return {};
        for (const Piece& other : list)
          if (meet(*p, other)) return {};
        list.push_back(*p);
        all += elements(p->extents);
      }
    return all == elements(buffer.shape) && list.size() > 1 ? list : std::vector<Piece>{};
  }
  static bool moves_data(Expr value) {
    return value->op == Op::load || value->op == Op::constant || value->op == Op::local;
  }

  // The cuts that let each load in a nest read one piece; none where that is impossible.
  static std::optional<Cuts> cuts_for(const StoreNest& n, const std::vector<Expr>& loads,
                                      const std::vector<Piece>& pieces) {
    Cuts cuts;
    for (const Expr load : loads)
      for (size_t d = 0; d < load->place.size(); ++d) {
        const Affine& a = load->place[d];
        if (a.terms.empty()) continue;
        const For* loop = n.loop_of(a);
        if (a.terms.size() != 1 || a.terms[0].factor != 1 || loop == nullptr) return std::nullopt;
        for (const Piece& p : pieces)
          for (int64_t border : {p.low[d] - a.constant, p.low[d] + p.extents[d] - a.constant})
            if (border > 0 && border < loop->end) cuts[a.terms[0].variable].insert(border);
      }
    return cuts;
  }

  // How many elements a part of a nest stores, and how many of these lie beside each other.
  struct Extent {
    int64_t all = 1, run = 1;
  };
  Extent extent(const StoreNest& n, const Ranges& ranges) const {
    Extent e;
    const Shape& shape = program_.buffers[static_cast<size_t>(n.store->buffer)].shape;
    bool full = true;
    for (size_t d = 0; d < shape.size(); ++d) {
      const Affine& a = n.store->place[d];
      const auto range = a.terms.empty() ? ranges.end() : ranges.find(a.terms[0].variable);  // none of a parameter
      const int64_t length = range == ranges.end() ? 1 : range->second.second - range->second.first;
      e.all *= length;
      if (full) e.run *= length;
      full = full && length == shape[d];
    }
    return e;
  }
  static size_t nodes(const StoreNest& n) {
    size_t all = 0;
    each_node(n.store->value, [&](Expr) { ++all; });
    return all;
  }

  // A nest whose steps may run in any order: it does not read what it changes.
  std::optional<StoreNest> free_nest(const Stmt& s) const {
    std::optional<StoreNest> n = store_nest(s);
    if (!n) return std::nullopt;
    bool reads_own = false;
    each_node(n->store->value, [&](Expr e) {
      reads_own = reads_own || (e->op == Op::load && root(program_, e->buffer) == root(program_, n->store->buffer));
    });
    return reads_own ? std::nullopt : n;
  }

  // How the nests in a statement's place are cut so that each reads one piece: into few parts, most of it long in memory.
  // Kept pieces are worth it also where nests that read the result stay whole.
  std::optional<std::vector<std::vector<Ranges>>> cuts_in(size_t slot, BufferId b, const std::vector<Piece>& pieces,
                                                          bool kept) const {
    std::vector<std::vector<Ranges>> list;
    size_t all = 0, all_nodes = 0;
    int64_t size = 0, in_short_runs = 0;
    for (const Stmt& s : slots_[slot]) {
      const std::optional<StoreNest> n = free_nest(s);
      if (!n || !(kept || followed(n->store->buffer))) return std::nullopt;
      const std::optional<Cuts> cuts = cuts_for(*n, loads_of(*n, b), pieces);
      if (!cuts) return std::nullopt;
      list.push_back(grid(*n, *cuts, most_parts));
      all += list.back().size();
      all_nodes += list.back().size() * nodes(*n);
      if (list.back().empty() || all > most_parts || all_nodes > most_nodes_of_parts) return std::nullopt;
      for (const Ranges& r : list.back()) {
        const Extent e = extent(*n, r);
        size += e.all;
        if (e.run < least_run_) in_short_runs += e.all;
      }
    }
    if (in_short_runs * one_in_short_runs > size) return std::nullopt;
    return list;
  }
  // Whether no element is computed more often than it was.
  bool once(BufferId b, const OfBuffer& f) const {
    size_t loads = 0;
    int64_t visits = 0;
    for (size_t k : f.readers)
      for (const Stmt& s : slots_[k]) {
        const std::optional<StoreNest> n = store_nest(s);
        if (!n) return false;
        const size_t here = loads_of(*n, b).size();
        int64_t steps = 1;
        for (const For* loop : n->loops) steps *= loop->end;
        loads = std::max(loads, here);
        if (here > 0) visits += steps;
      }
    return loads <= 1 && visits <= elements(program_.buffers[static_cast<size_t>(b)].shape);
  }
  // Whether all nests that read a buffer can be cut as it is: else they would not become one with the nest that makes it.
  bool followed(BufferId b) const {
    const std::set<size_t>& list = facts_->at(b).readers;
    return list.size() <= most_followers && std::all_of(list.begin(), list.end(), [&](size_t k) {
             return std::all_of(slots_[k].begin(), slots_[k].end(), [&](const Stmt& s) {
               return !std::holds_alternative<For>(s.is) || free_nest(s).has_value();
             });
           });
  }

  // ---- cutting ----
  void move(BufferId b) {
    const OfBuffer f = facts_->at(b);
    std::vector<Piece> made = pieces(b, f);
    if (made.empty()) return;
    const auto all = [&](auto holds) { return std::all_of(made.begin(), made.end(), holds); };
    const bool kept = !all([](const Piece& p) { return moves_data(p.value); }) && !once(b, f);
    if (kept && all([](const Piece& p) { return p.value->op != Op::constant; })) return;
    std::vector<std::vector<std::vector<Ranges>>> cuts;
    for (size_t k : f.readers) {
      auto here = cuts_in(k, b, made, kept);
      if (!here) return;
      cuts.push_back(std::move(*here));
      for (const Piece& p : made)
        if (!facts_->unchanged(p.value, *f.writers.begin(), k)) return;
    }
    auto piece = made.begin();
    for (size_t k : f.writers) {
      Block rest;
      for (Stmt& s : slots_[k]) {
        if (kept && !moves_data(piece->value)) rest.push_back(keep(std::move(s), b, *piece, k));
        ++piece;
      }
      slots_[k] = std::move(rest);
    }
    auto next = cuts.begin();
    for (size_t slot : f.readers) {
      const Block whole = std::exchange(slots_[slot], {});
      for (size_t k = 0; k < whole.size(); ++k)
        for (const Ranges& r : (*next)[k]) slots_[slot].push_back(part(program_, whole[k], r));
      ++next;
      for (Stmt& s : slots_[slot]) take_pieces(s, b, made);
      for (const Piece& p : made)
        each_node(p.value, [&](Expr e) {
          if (e->op == Op::load) facts_->of(e->buffer).readers.insert(slot);
        });
      cut_.insert(slot);
    }
  }
  // The nest of a piece, which makes a buffer of just the piece.
  Stmt keep(Stmt s, BufferId b, Piece& piece, size_t slot) {
    const BufferId id = make_temporary(program_, b, piece.extents, "k");
    homes_.push_back(home_);
    facts_->of(id).writers = {slot};
    facts_->of(id).stores = 1;
    Stmt* innermost = &s;
    while (auto f = std::get_if<For>(&innermost->is)) innermost = &f->body[0];
    auto& store = std::get<loops::Store>(innermost->is);
    store.buffer = id;
    Index place;
    for (size_t d = 0; d < piece.low.size(); ++d) {
      store.place[d] = store.place[d] + -piece.low[d];
      place.push_back(piece.variables[d] >= 0 ? loops::variable(piece.variables[d]) : Affine{0, {}});
    }
    piece.value = program_.exprs.load(id, program_.buffers.back().dtype, std::move(place));
    return s;
  }
  // The loads of the buffer become what the piece that they lie in holds.
  void take_pieces(Stmt& s, BufferId b, const std::vector<Piece>& pieces) {
    if (auto f = std::get_if<For>(&s.is)) return take_pieces(f->body[0], b, pieces);
    Rewriter rewriter(program_.exprs, [&](Expr e) -> Expr {
      if (e->op != Op::load || e->buffer != b) return nullptr;
      const Piece& p = *std::find_if(pieces.begin(), pieces.end(), [&](const Piece& x) {
        for (size_t d = 0; d < x.low.size(); ++d)
          if (const int64_t first = e->place[d].constant; first < x.low[d] || first >= x.low[d] + x.extents[d])
            return false;
        return true;
      });
      loops::unite(s.origins, p.origins);
      VariableMap map;
      for (size_t d = 0; d < p.low.size(); ++d)
        if (p.variables[d] >= 0) map[p.variables[d]] = e->place[d] + -p.low[d];
      auto moved = variable_rewriter(program_.exprs, map);
      return moved(p.value);
    });
    each_expression(s, [&](Expr& e) { e = rewriter(e); });
  }

  // Nests that read, each element at its step, what the nests in the place of one store are cut likewise, and each
  // part comes behind the one that it reads.
  void follow(size_t slot) {
    std::vector<Block> groups;
    for (Stmt& s : slots_[slot]) groups.push_back(Block{std::move(s)});
    std::vector<BufferId> made = {store_nest(groups[0][0])->store->buffer};
    for (size_t m = 0; m < made.size(); ++m)
      for (size_t k : facts_->at(made[m]).readers) {
        if (k <= slot || slots_[k].size() != 1 || !may_move(slots_[k][0], slot, k)) continue;
        const StoreNest n = *store_nest(slots_[k][0]);
        const std::vector<Ranges> ranges = ranges_behind(n, groups, made);
        if (ranges.empty() || nodes(n) * groups.size() > most_nodes_of_parts) continue;
        for (size_t g = 0; g < groups.size(); ++g) groups[g].push_back(part(program_, slots_[k][0], ranges[g]));
        made.push_back(n.store->buffer);
        slots_[k].clear();
      }
    slots_[slot].clear();
    for (Block& g : groups) std::move(g.begin(), g.end(), std::back_inserter(slots_[slot]));
  }
  // Whether nothing between two statements minds where the later one, a nest, stands.
  bool may_move(const Stmt& s, size_t slot, size_t k) const {
    const std::optional<StoreNest> n = free_nest(s);
    if (!n || !facts_->unchanged(n->store->value, slot + 1, k)) return false;
    const OfBuffer& own = facts_->at(n->store->buffer);
    const auto between = [&](size_t x) { return x >= slot && x < k; };
    const auto stays = [&](const std::set<size_t>& list) { return std::none_of(list.begin(), list.end(), between); };
    const auto parameters = loops::Footprint(program_, s).parameters();
    return stays(own.readers) && stays(own.writers) &&
           std::all_of(parameters.begin(), parameters.end(),
                       [&](const auto& parameter) { return !facts_->binds(parameter.first, slot, k - 1); });
  }
  // The steps of a nest that read what each group makes of the buffers in `made`; none where they read more.
  std::vector<Ranges> ranges_behind(const StoreNest& n, const std::vector<Block>& groups,
                                    const std::vector<BufferId>& made) const {
    std::vector<Ranges> list;
    int64_t all = 0;
    for (const Block& g : groups) {
      std::optional<Ranges> ranges;
      bool same = true;
      each_node(n.store->value, [&](Expr e) {
        if (e->op != Op::load) return;
        for (size_t m = 0; m < made.size(); ++m) {
          if (root(program_, made[m]) != root(program_, e->buffer)) continue;
          same = same && made[m] == e->buffer && step_by_step(n, *e);
          if (!same) return;
          const std::optional<Piece> piece = piece_of(g[m]);
          if (!piece) return void(same = false);
          const Ranges here = ranges_of(*e, *piece);
          same = !ranges || *ranges == here;
          ranges = here;
        }
      });
      if (!same || !ranges) return {};
      int64_t steps = 1;
      for (const auto& [_, range] : *ranges) steps *= range.second - range.first;
      all += steps;
      list.push_back(std::move(*ranges));
    }
    int64_t steps = 1;
    for (const For* f : n.loops) steps *= f->end;
    return all == steps ? list : std::vector<Ranges>{};
  }
  // Whether the loops of a nest are those of the dimensions of what it loads.
  bool step_by_step(const StoreNest& n, const loops::Node& load) const {
    size_t moving = 0;
    const Shape& shape = program_.buffers[static_cast<size_t>(load.buffer)].shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1) continue;
      const Affine& a = load.place[d];
      if (a.terms.size() != 1 || a.constant != 0 || a.terms[0].factor != 1) return false;
      const For* loop = n.loop_of(a);
      if (loop == nullptr || loop->end != shape[d]) return false;
      ++moving;
    }
    return moving == n.loops.size();
  }
  static Ranges ranges_of(const loops::Node& load, const Piece& p) {
    Ranges ranges;
    for (size_t d = 0; d < p.low.size(); ++d)
      if (!load.place[d].terms.empty()) ranges[load.place[d].terms[0].variable] = {p.low[d], p.low[d] + p.extents[d]};
    return ranges;
  }

  Program& program_;
  int64_t least_run_;  // elements beside each other in memory
  Block nowhere_;
  std::vector<const Block*> homes_;  // of each buffer: the block that has all its accesses
  std::unordered_set<BufferId> viewed_;
  const Block* home_ = nullptr;
  std::optional<BlockFacts> facts_;
  std::set<size_t> cut_;
  std::vector<Block> slots_;  // what has become of each statement of the block
};

}  // namespace

void cut_at_pieces(Program& p, const Target& target) { PieceMover(p, target).block(p.body); }

}  // namespace anvil::compiler
