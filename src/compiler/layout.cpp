// How temporaries lie in memory, as far as the graph has left it open (transform/mirror.cpp
// makes whole parts of it row-major). One that is only read transposed is made transposed, the
// loops of its nest in the order that fits:
//
//   t1[i, j] = sum of ...                  t1[j, i] = sum of ...   (for i, then for j)
//   out1[i, j] = x1[i, j] - t1[j, i]       out1[i, j] = x1[i, j] - t1[i, j]
//
// An operand that the vector loop would read across memory, of a product or of a nest per element, is
// copied first, when enough columns use the copy; nests of a block that have the operand in common share it:
//
//   for j, for i, for p:                   for p, for i: t2[i, p] = x1[p, i]
//     a1 += x1[p, i] * x2[p, j]            for j, for i, for p: a1 += t2[i, p] * x2[p, j]
#include <algorithm>
#include <numeric>

#include "compiler/passes.h"
#include "compiler/traverse.h"
#include "loops/dependence.h"
#include "loops/origins.h"

namespace anvil::compiler {
namespace {

using loops::For;

constexpr int64_t least_rows = 8, least_columns = 4;
constexpr int64_t much_more = 8;   // elements that are read than are made
constexpr int64_t least_uses = 8;  // of each element of a copy

// ---- transposed temporaries ---------------------------------------------------------------

class Transposer {
 public:
  explicit Transposer(Program& p) : program_(p), candidates_(p.buffers.size()) {
    for (size_t b = 0; b < p.buffers.size(); ++b) {
      const loops::Buffer& buffer = p.buffers[b];
      if (buffer.kind != loops::Buffer::Kind::temporary || buffer.shape.size() < 2) candidates_[b].fixed = true;
      if (buffer.alias >= 0) candidates_[b].fixed = candidates_[static_cast<size_t>(buffer.alias)].fixed = true;
    }
  }
  void run() {
    collect(program_.body);
    std::vector<Order> orders(candidates_.size());
    for (size_t b = 0; b < candidates_.size(); ++b) {
      const Candidate& f = candidates_[b];
      if (!f.fixed && f.store && f.read && !std::is_sorted(f.order.begin(), f.order.end()) &&
          turn(static_cast<BufferId>(b)))
        orders[b] = f.order;
    }
    reorder_dimensions(program_, orders);
  }

 private:
  struct Candidate {
    bool fixed = false, read = false;
    Stmt* nest = nullptr;  // of its only store
    loops::Store* store = nullptr;
    Order order;  // dimensions by the loops of the readers, innermost first
  };

  void collect(Block& block) {
    for (Stmt& s : block) {
      std::vector<const For*> loops;
      walk(s, s, loops, false);
      if (!std::holds_alternative<For>(s.is)) each_block(s, [this](Block& b) { collect(b); });
    }
  }
  // `summing`: inside a loop that updates a local from outside.
  void walk(Stmt& nest, Stmt& s, std::vector<const For*>& loops, bool summing) {
    each_access(s, [&](BufferId b, const Index* place, AccessKind kind) {
      Candidate& f = candidates_[static_cast<size_t>(b)];
      if (f.fixed) return;
      if (kind == AccessKind::whole || std::holds_alternative<loops::Contraction>(s.is) ||
          (kind == AccessKind::write && f.store)) {
        f.fixed = true;
      } else if (kind == AccessKind::write) {
        f.nest = &nest;
        f.store = &std::get<loops::Store>(s.is);
      } else {
        auto order = summing ? std::nullopt : read_order(*place, loops);
        if (!order || (f.read && *order != f.order))
          f.fixed = true;
        else
          f.order = *order, f.read = true;
      }
    });
    auto loop = std::get_if<For>(&s.is);
    if (loop == nullptr) {
      if (&s == &nest) return;  // its blocks are collected as such
      each_block(s, [&](Block& b) {
        for (Stmt& inner : b) walk(nest, inner, loops, summing);
      });
      return;
    }
    loops.push_back(loop);
    bool sums = std::any_of(loop->body.begin(), loop->body.end(),
                            [](const Stmt& t) { return std::holds_alternative<loops::Update>(t.is); });
    for (Stmt& inner : loop->body) walk(nest, inner, loops, summing || sums);
    loops.pop_back();
  }
  // Dimensions of size 1 have no loop and come last.
  static std::optional<Order> read_order(const Index& place, const std::vector<const For*>& loops) {
    std::vector<std::pair<int, size_t>> depth;
    for (size_t d = 0; d < place.size(); ++d) {
      const Affine& a = place[d];
      if (a.terms.empty() && a.constant == 0) {
        depth.push_back({1, d});
        continue;
      }
      if (a.terms.size() != 1 || a.terms[0].factor != 1 || a.constant != 0) return std::nullopt;
      auto it =
          std::find_if(loops.begin(), loops.end(), [&](const For* f) { return f->variable == a.terms[0].variable; });
      if (it == loops.end()) return std::nullopt;
      depth.push_back({-static_cast<int>(it - loops.begin()), d});
    }
    std::stable_sort(depth.begin(), depth.end(), [](auto& a, auto& b) { return a.first < b.first; });
    Order order;
    for (auto& [_, d] : depth) order.push_back(d);
    return order;
  }

  // Whether sums in a nest would read much more than its result across memory, and did not before.
  bool reads_across(const Candidate& f, Variable inner, Variable before) const {
    const int64_t result = elements(program_.buffers[static_cast<size_t>(f.store->buffer)].shape);
    const auto along = [&](BufferId b, const Index& place, Variable v) {
      return std::abs(loops::step(program_, b, place, v)) <= 1;
    };
    bool across = false;
    each_access_inside(*f.nest, [&](BufferId b, const Index* place, AccessKind kind) {
      across = across ||
               (kind == AccessKind::read && place != nullptr && along(b, *place, before) && !along(b, *place, inner) &&
                elements(program_.buffers[static_cast<size_t>(b)].shape) > much_more * result);
    });
    return across;
  }

  // Sorts the loops of the nest; false when they are not those of the dimensions.
  bool turn(BufferId b) {
    Candidate& f = candidates_[static_cast<size_t>(b)];
    const Shape& shape = program_.buffers[static_cast<size_t>(b)].shape;
    std::vector<For*> loops = outer_loops(std::get_if<For>(&f.nest->is));
    std::vector<std::pair<Variable, int64_t>> wanted;  // innermost first
    for (size_t d : f.order) {
      if (shape[d] == 1) continue;
      const Affine& a = f.store->place[d];
      if (a.terms.size() != 1 || a.constant != 0) return false;
      wanted.push_back({a.terms[0].variable, shape[d]});
    }
    if (wanted.size() < 2 || loops.size() < wanted.size()) return false;
    loops.resize(wanted.size());  // the rest are sums
    if (reads_across(f, wanted[0].first, loops.back()->variable)) return false;
    for (For* l : loops)
      if (!steps_apart(program_, loops::steps(*l, loops::Footprint(program_, l->body))) ||
          std::none_of(wanted.begin(), wanted.end(),
                       [&](auto& w) { return w.first == l->variable && w.second == l->end && l->begin == 0; }))
        return false;
    for (size_t k = 0; k < loops.size(); ++k) {
      auto& [variable, size] = wanted[wanted.size() - 1 - k];
      loops[k]->variable = variable;
      loops[k]->end = size;
    }
    return true;
  }

  Program& program_;
  std::vector<Candidate> candidates_;
};

// ---- packed operands ----------------------------------------------------------------------

class Packer {
 public:
  explicit Packer(Program& p) : program_(p) {}

  void block(Block& b) {
    Block result;
    for (Stmt& s : b) {
      if (!std::holds_alternative<For>(s.is)) {
        each_block(s, [this](Block& inner) {
          packs_.clear();
          block(inner);
        });
        packs_.clear();
      } else {
        pack(s, result);
        forget_changed(s);
      }
      result.push_back(std::move(s));
    }
    b = std::move(result);
  }

 private:
  struct Pack {
    Expr load;
    std::vector<std::pair<Variable, int64_t>> loops;  // variables and ends
    Expr packed;
    size_t place;  // of the nest that copies, in its block
  };
  int64_t step(Expr load, Variable v) const { return loops::step(program_, load, v); }

  // The body of the innermost loop: a store, of each element or of a sum of products, which is `sum` then.
  struct Rows {
    const loops::Store* store = nullptr;
    const For* sum = nullptr;
    Expr* value = nullptr;
  };
  static Rows rows_of(For& rows) {
    if (rows.body.size() == 1)
      if (auto store = std::get_if<loops::Store>(&rows.body[0].is)) return {store, nullptr, &store->value};
    if (rows.body.size() != 3) return {};
    auto sum = std::get_if<For>(&rows.body[1].is);
    auto store = std::get_if<loops::Store>(&rows.body[2].is);
    if (sum == nullptr || store == nullptr || sum->body.size() != 1) return {};
    auto update = std::get_if<loops::Update>(&sum->body[0].is);
    if (update == nullptr || update->op != Op::add || update->value->op != Op::mul) return {};
    return {store, sum, &update->value};
  }

  void replace(Expr& value, const std::unordered_map<Expr, Expr>& loads) {
    Rewriter rewriter(program_.exprs, [&](Expr e) -> Expr {
      auto it = loads.find(e);
      return it == loads.end() ? nullptr : it->second;
    });
    value = rewriter(value);
  }

  // Of a few rows: a long sum, along which what all rows have in common lies in memory.
  bool sum_is_the_vector(const For& sum, const For& rows, Expr value) const {
    bool along = false;
    each_node(value, [&](Expr e) {
      along = along || (e->op == Op::load && step(e, sum.variable) == 1 && step(e, rows.variable) == 0);
    });
    return along && sum.end - sum.begin >= long_sum;
  }

  void pack(Stmt& nest, Block& before) {
    std::vector<For*> loops = outer_loops(std::get_if<For>(&nest.is));
    if (loops.size() < 2) return;
    For& rows = *loops.back();
    const Rows body = rows_of(rows);
    if (body.store == nullptr) return;
    const bool few = rows.end - rows.begin < least_rows;
    if (few) pack_for_one_loop(nest, loops, body, before);
    if (few && (body.sum == nullptr || !sum_is_the_vector(*body.sum, rows, *body.value))) return;
    const For& vector = few ? *body.sum : rows;
    if (loops::factor(linear(program_, body.store->buffer, body.store->place), rows.variable) != 1) return;
    int64_t columns = 1;
    for (For* f : loops) columns *= f == &rows ? 1 : f->end - f->begin;
    std::unordered_map<Expr, Expr> packed;
    each_node(*body.value, [&](Expr e) {
      if (e->op != Op::load || root(program_, e->buffer) == root(program_, body.store->buffer)) return;
      const int64_t by = step(e, vector.variable);
      if (by == 0 || by == 1) return;
      // used by each column that the operand does not itself depend on
      int64_t uses = columns;
      std::vector<const For*> order = {&vector};
      if (few && step(e, rows.variable) != 0) order.push_back(&rows);
      if (!few && body.sum != nullptr) order.push_back(body.sum);
      for (auto f = loops.rbegin() + 1; f != loops.rend(); ++f)
        if (step(e, (*f)->variable) != 0) order.push_back(*f), uses /= (*f)->end - (*f)->begin;
      if (uses < least_columns) return;
      // else the sum itself becomes the vector: a fold for each element
      if (!few && body.sum != nullptr && step(e, body.sum->variable) == 1 && body.sum->end - body.sum->begin > 4 * uses)
        return;
      const Pack& pack = copy(e, order, before);
      loops::add_origins(before[pack.place], loops::origins(nest));
      packed[e] = pack.packed;
    });
    if (packed.empty()) return;
    replace(*body.value, packed);
  }

  // Two loops over few rows each are one if all accesses take them so; of other operands a copy does that is small
  // beside the nest: x1[i, 4*j + k] with j and i as t2[i, j, k].
  void pack_for_one_loop(const Stmt& nest, const std::vector<For*>& loops, const Rows& body, Block& before) {
    const For &rows = *loops.back(), &next = *loops[loops.size() - 2];
    const int64_t n = rows.end - rows.begin;
    const Affine stored = linear(program_, body.store->buffer, body.store->place);
    if (rows.begin != 0 || next.begin != 0 || loops::factor(stored, rows.variable) != 1 ||
        loops::factor(stored, next.variable) != n)
      return;
    std::vector<const For*> all(loops.rbegin(), loops.rend());  // rows, next, ...
    if (body.sum != nullptr) all.insert(all.begin() + 2, body.sum);
    const auto order_of = [&](Expr e) {
      std::vector<const For*> order = {&rows, &next};
      for (size_t k = 2; k < all.size(); ++k)
        if (step(e, all[k]->variable) != 0) order.push_back(all[k]);
      return order;
    };
    const auto steps_of = [](const std::vector<const For*>& of) {
      int64_t steps = 1;
      for (const For* f : of) steps *= f->end - f->begin;
      return steps;
    };
    std::unordered_map<Expr, Expr> packed;
    int64_t most = 0;
    bool fits = false, written = false;
    each_node(*body.value, [&](Expr e) {
      written = written || (e->op == Op::index) ||
                (e->op == Op::load && root(program_, e->buffer) == root(program_, body.store->buffer));
      if (e->op != Op::load) return;
      const int64_t by = step(e, rows.variable);
      if (step(e, next.variable) == n * by) return void(fits = fits || by == 1);
      packed[e] = nullptr;
      most = std::max(most, steps_of(order_of(e)));
    });
    if (packed.empty() || !fits || written || most * least_uses > steps_of(all)) return;
    for (auto& [e, copied] : packed) {
      const Pack& pack = copy(e, order_of(e), before);
      loops::add_origins(before[pack.place], loops::origins(nest));
      copied = pack.packed;
    }
    replace(*body.value, packed);
  }

  // Copies of what a nest changes are of no use to those after it.
  void forget_changed(const Stmt& nest) {
    if (packs_.empty()) return;
    each_access_inside(nest, [this](BufferId b, const Index*, AccessKind kind) {
      if (kind == AccessKind::read) return;
      std::erase_if(packs_, [&](const Pack& p) { return root(program_, p.load->buffer) == root(program_, b); });
    });
  }

  // Stores an operand with its dimensions in the order of these loops, the first one fastest, or finds that an
  // earlier nest did.
  const Pack& copy(Expr load, const std::vector<const For*>& order, Block& before) {
    std::vector<std::pair<Variable, int64_t>> loops;
    for (const For* f : order) loops.push_back({f->variable, f->end});
    for (const Pack& p : packs_)
      if (p.load == load && p.loops == loops) return p;
    Shape extents;
    Index place;
    for (const For* f : order) {
      extents.push_back(f->end);
      place.push_back(loops::variable(f->variable));
    }
    const BufferId id = make_temporary(program_, load->buffer, std::move(extents), "p");
    Block body = {{loops::Store{id, place, load}}};
    for (const For* f : order) {
      For loop;
      loop.variable = f->variable;
      loop.begin = f->begin;
      loop.end = f->end;
      loop.body = std::move(body);
      body.clear();
      body.push_back({std::move(loop)});
    }
    before.push_back(std::move(body[0]));
    packs_.push_back({load, std::move(loops), program_.exprs.load(id, load->dtype, place), before.size() - 1});
    return packs_.back();
  }

  Program& program_;
  std::vector<Pack> packs_;  // made before in this block, of what has not changed since
};

}  // namespace

void choose_layouts(Program& p) {
  lay_out_records(p);
  Transposer(p).run();
  Packer(p).block(p.body);
}

}  // namespace anvil::compiler
