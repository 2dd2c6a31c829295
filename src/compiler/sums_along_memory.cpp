// Sums across memory, such as those of the rows of a matrix, become sums along it where another nest goes through the same
// memory and there is much of it: they are added up in a buffer, so that the two nests can become one.
//
//   for j in 0..2000 {                     for j in 0..2000 {
//     for i in 0..2000 {                     for i in 0..2000 {
//       out1[i, j] = exp(x1[i, j])             out1[i, j] = exp(x1[i, j])
//     }                                      }
//   }                                      }
//   for i in 0..2000 {                     for i in 0..2000 { s1[i] = 0 }
//     a1 = 0                               for p in 0..2000 {
//     for p in 0..2000 {                     for i in 0..2000 {
//       a1 += out1[i, p]                       a1 = s1[i]
//     }                                        a1 += out1[i, p]
//     out2[i] = a1                             s1[i] = a1
//   }                                        }
//                                          }
//                                          for i in 0..2000 { out2[i] = s1[i] }
//
// Others stay, and streams.cpp makes an order of them that memory likes. merge.cpp joins the nests, and parallel.cpp
// gives each task sums of its own.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "compiler/copy.h"
#include "compiler/passes.h"
#include "compiler/schedule.h"
#include "loops/dependence.h"
#include "loops/origins.h"

namespace anvil::compiler {
namespace {

using loops::For;

constexpr size_t furthest_partner = 64;    // how many statements away the other nest may be
constexpr int64_t least_terms_along = 32;  // of a sum: enough for several tasks
constexpr double most_of_cache = 0.25;     // that the sums may take
constexpr double large = 0.125;            // of the cache: what is worth reading once

// A nest of sums, by its loops: those over the sums, and those over the terms of each.
struct SumNest {
  std::vector<For*> over, terms;
};

class SumsAlongMemory {
 public:
  SumsAlongMemory(Program& p, const Target& target) : program_(p), target_(target) {}
  void run() { block(program_.body); }

 private:
  void block(Block& b) {
    for (size_t k = 0; k < b.size(); ++k) {
      poll();
      if (!std::holds_alternative<For>(b[k].is)) each_block(b[k], [this](Block& inner) { block(inner); });
      const std::optional<SumNest> sums = sums_across_memory(b[k]);
      if (!sums) continue;
      const size_t buffers = program_.buffers.size();
      Turned turned = turn(b[k], *sums);
      if (!has_partner(b, k, *sums, turned.along)) {
        program_.buffers.resize(buffers);
        continue;
      }
      b[k] = std::move(turned.after);
      b.insert(at(b, k), std::move(turned.along));
      b.insert(b.begin(), std::move(turned.before));  // out of the way
      k += 2;
    }
  }
  static Block::iterator at(Block& b, size_t k) { return b.begin() + static_cast<std::ptrdiff_t>(k); }

  // ---- which nests ----
  std::optional<SumNest> sums_across_memory(Stmt& s) const {
    auto f = std::get_if<For>(&s.is);
    if (f == nullptr) return std::nullopt;
    SumNest sums{outer_loops(f), {}};
    bool before = true;  // the loop over the terms
    std::vector<LocalId> declared;
    for (Stmt& inner : sums.over.back()->body) {
      if (auto d = std::get_if<loops::Declare>(&inner.is); d && before && d->value->op == Op::constant) {
        declared.push_back(d->local);
      } else if (auto terms = std::get_if<For>(&inner.is); terms && before) {
        sums.terms = outer_loops(terms);
        before = false;
      } else if (before ||
                 !(std::holds_alternative<loops::Let>(inner.is) || std::holds_alternative<loops::Store>(inner.is))) {
        return std::nullopt;
      }
    }
    if (before || (!target_.any_size && extent(*sums.terms[0]) < least_terms_along)) return std::nullopt;
    for (const auto* loops : {&sums.over, &sums.terms})
      for (const For* l : *loops)
        if (l->begin != 0) return std::nullopt;
    double bytes = 0;
    for (const Stmt& inner : sums.terms.back()->body) {
      auto u = std::get_if<loops::Update>(&inner.is);
      if (u == nullptr || u->op == Op::local || reads_locals(u->value) ||
          std::find(declared.begin(), declared.end(), u->local) == declared.end())
        return std::nullopt;
      bytes += static_cast<double>(size_of(program_.locals[static_cast<size_t>(u->local)].dtype));
    }
    for (const For* l : sums.over) bytes *= static_cast<double>(extent(*l));
    const bool small = target_.any_size || bytes <= most_of_cache * target_.cache;
    return small && !large_operands(sums).empty() ? std::optional(std::move(sums)) : std::nullopt;
  }
  static bool reads_locals(Expr e) {
    bool reads = false;
    each_node(e, [&](Expr x) { reads = reads || x->op == Op::local; });
    return reads;
  }
  // What is large, side by side along the sums and apart along their terms. None if other operands lie otherwise.
  std::vector<Expr> large_operands(const SumNest& sums) const {
    std::vector<Expr> list;
    bool fits = true;
    for (const Stmt& s : sums.terms.back()->body)
      each_node(std::get<loops::Update>(s.is).value, [&](Expr e) {
        if (e->op != Op::load) return;
        int64_t apart = std::numeric_limits<int64_t>::max();
        bool in_order = true;
        for (const auto* loops : {&sums.terms, &sums.over})
          for (const For* l : *loops) {
            const int64_t step = std::abs(loops::step(program_, e, l->variable));
            in_order = in_order && 0 < step && step < apart;
            apart = step;
          }
        in_order = in_order && apart == 1;
        const int64_t along = std::abs(loops::step(program_, e, sums.over.back()->variable));
        fits = fits && along <= 1;
        if (in_order && is_large(e->buffer)) list.push_back(e);
      });
    return fits ? list : std::vector<Expr>{};
  }
  bool is_large(BufferId b) const {
    const loops::Buffer& x = program_.buffers[static_cast<size_t>(b)];
    const double bytes = static_cast<double>(elements(x.shape)) * static_cast<double>(size_of(x.dtype));
    return target_.any_size || bytes >= large * target_.cache;
  }

  // Whether a nest in the block that goes through an operand in the same order may become one with the sums of statement k.
  bool has_partner(const Block& b, size_t k, const SumNest& sums, const Stmt& along) const {
    const std::vector<Expr> operands = large_operands(sums);
    const loops::Footprint all(program_, along);
    loops::Footprint between;
    for (size_t l = k; l-- > 0 && k - l <= furthest_partner;) {
      const loops::Footprint other(program_, b[l]);
      if (joins(b[l], along, operands) && (!conflict(between, all) || !conflict(between, other))) return true;
      between.add(other);
    }
    between = loops::Footprint(program_, b[k]);
    for (size_t l = k + 1; l < b.size() && l - k <= furthest_partner; ++l) {
      const loops::Footprint other(program_, b[l]);
      if (!conflict(between, other) && joins(along, b[l], operands)) return true;
      between.add(other);
    }
    return false;
  }
  bool joins(const Stmt& first, const Stmt& second, const std::vector<Expr>& operands) const {
    auto f = std::get_if<For>(&first.is), g = std::get_if<For>(&second.is);
    if (!f || !g || f->begin != g->begin || f->end != g->end) return false;
    const loops::Footprint x(program_, f->body), y(program_, g->body);
    return std::any_of(operands.begin(), operands.end(),
                       [&](Expr e) { return goes_through(*f, x, e) && goes_through(*g, y, e); }) &&
           may_fuse(program_, steps(*f, x), steps(*g, y));
  }
  // Whether the steps of a loop go through the memory of a load as the loop over the terms does: each through the part
  // behind that of the step before it.
  bool goes_through(const For& f, const loops::Footprint& step, Expr load) const {
    const auto memory = step.memory().find(root(program_, load->buffer));
    if (memory == step.memory().end() || memory->second.whole) return false;
    return std::any_of(memory->second.accesses.begin(), memory->second.accesses.end(), [&](const loops::Access& a) {
      const Affine at = loops::linear(program_, a.view, a.place);
      const int64_t far = std::abs(loops::factor(at, f.variable));
      return far > 0 && std::all_of(a.inside.begin(), a.inside.end(), [&](const loops::Range& r) {
               return std::abs(loops::factor(at, r.variable)) * (r.high - r.low) < far;
             });
    });
  }

  // ---- the same sums along memory ----
  struct Turned {  // what the sums begin with, the sums, and what becomes of them
    Stmt before, along, after;
  };
  Turned turn(const Stmt& s, const SumNest& sums) {
    loops::ExprPool& e = program_.exprs;
    const loops::Origins from = loops::origins(s);
    Shape shape;
    Index place;
    for (auto l = sums.over.rbegin(); l != sums.over.rend(); ++l) {
      shape.push_back(extent(**l));
      place.push_back(loops::variable((*l)->variable));
    }
    Block before, along, stores, after;
    for (const Stmt& inner : sums.over.back()->body) {
      if (auto d = std::get_if<loops::Declare>(&inner.is)) {
        const DType t = d->value->dtype;
        const BufferId b = make_temporary(program_, t, shape, "s");
        const Expr sum = e.load(b, t, place);
        before.push_back({loops::Store{b, place, d->value}, from});
        along.push_back({loops::Declare{d->local, sum}, from});
        stores.push_back({loops::Store{b, place, e.local(d->local, t)}, from});
        after.push_back({loops::Let{d->local, sum}, from});
      } else if (!std::holds_alternative<For>(inner.is)) {
        after.push_back(inner);
      }
    }
    const Block& updates = sums.terms.back()->body;
    along.insert(along.end(), updates.begin(), updates.end());
    along.insert(along.end(), stores.begin(), stores.end());
    std::vector<For*> all = sums.terms;
    all.insert(all.end(), sums.over.begin(), sums.over.end());
    return {nest(sums.over, std::move(before)), nest(all, std::move(along)), nest(sums.over, std::move(after))};
  }
  Stmt nest(const std::vector<For*>& loops, Block body) {
    For f;
    for (auto l = loops.rbegin(); l != loops.rend(); ++l) {
      f = {};
      f.variable = (*l)->variable;
      f.end = (*l)->end;
      f.body = std::exchange(body, {});
      body.push_back({f});
    }
    return {LoopCopy(program_)(std::move(f))};
  }

  Program& program_;
  const Target& target_;
};

}  // namespace

void sum_along_memory(Program& p, const Target& target) { SumsAlongMemory(p, target).run(); }

}  // namespace anvil::compiler
