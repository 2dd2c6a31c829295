// Contractions go step by step with the nest that reads their results or makes their operands, so that what passes
// between them stays in the cache: all of attention for one head after the other.
//
//   contract h in 0..8, i, j, p:                         for h in 0..8 {
//     t1[j, i, h] = sum of x1[j, p, h] * x2[i, p, h]       contract i, j, p: t1[j, i, h] = sum of ...
//   for h in 0..8 {                                        for i in 0..256 { for j in 0..256 { ... } }
//     for i in 0..256 {                                    contract i, k, j: out1[k, i, h] = sum of ...
//       for j in 0..256 {                                }
//         t2[j, i, h] = exp(t1[j, i, h]) ...
//       }
//     }
//   }
//   contract h in 0..8, i, k, j:
//     out1[k, i, h] = sum of t2[j, i, h] * x3[j, k, h]
//
// The leading loops of the nest become loops around the contractions as far as these have axes for them, as few as it
// takes, or another loop that may as well come first; of the last one a step may be several of its steps. Then nests are merged again, and temporaries shrink to what
// a step needs. An axis that moves only one of the operands is cut into large blocks, since the other operand is packed
// again for each of them, and where the products are so short that memory is what they wait for.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/interrupt.h"
#include "compiler/passes.h"
#include "compiler/schedule.h"
#include "compiler/traverse.h"

namespace anvil::compiler {
namespace {

using loops::Contraction;
using loops::For;

constexpr double least_between = 0.5;      // of the cache, that passes between a nest and its contractions
constexpr double least_of_step = 1 << 18;  // multiplications of a step, of each contraction
constexpr double least_steps = 4;
constexpr int64_t rows_of_block = 128;  // at least,
constexpr double blocks_of_rows = 16;   // and so many
constexpr double rows_of_cache = 0.5;   // that such a block fills
constexpr double most_of_row = 128;     // multiplications for each element that passes

class Stepper {
 public:
  Stepper(Program& p, const Target& target) : program_(p), target_(target), accesses_(count_accesses(p)) {}

  void block(Block& b) {
    for (Stmt& s : b) {
      poll();
      if (!std::holds_alternative<For>(s.is)) each_block(s, [this](Block& inner) { block(inner); });
    }
    contractions_.clear();
    for (size_t k = 0; k < b.size(); ++k)
      if (std::holds_alternative<Contraction>(b[k].is))
        each_access(b[k], [&](BufferId x, const Index*, AccessKind) {
          if (is_temporary(x)) contractions_[x].insert(k);
        });
    if (contractions_.empty()) return;
    // Results that are read first: they go both ways.
    for (const bool results : {true, false})
      for (size_t k = 0; k < b.size(); ++k)
        if (std::holds_alternative<For>(b[k].is)) go_together(b, k, results);
  }
  bool changed() const { return changed_; }

 private:
  // A contraction beside a nest, and its axes for the leading loops of that.
  struct Partner {
    size_t statement;
    std::vector<Variable> axes;
    std::set<BufferId> between;
  };
  // The loops of a nest, and these in an order in which they may run as well: one of them before all others.
  struct Walk {
    size_t nest;
    std::vector<For*> loops, order;
    size_t first;
  };
  // How far the loops of a nest go around its partners, and how many steps of the last one at once.
  struct Cut {
    size_t loops;
    int64_t size;
  };

  const loops::Buffer& buffer(BufferId b) const { return program_.buffers[static_cast<size_t>(b)]; }
  bool is_temporary(BufferId b) const {
    return buffer(b).kind == loops::Buffer::Kind::temporary && accesses_[static_cast<size_t>(b)] < many_accesses &&
           buffer(b).alias < 0;
  }
  double bytes(BufferId b) const {
    return static_cast<double>(elements(buffer(b).shape)) * static_cast<double>(size_of(buffer(b).dtype));
  }

  void go_together(Block& b, size_t nest, bool results) {
    for (const Walk& walk : walks(b, nest)) {
      std::vector<Partner> partners = partners_of(b, walk);
      if (partners.empty() || (results && partners[0].statement > nest)) continue;
      const std::optional<Cut> cut = choose(b, walk, partners);
      if (!cut) continue;
      changed_ = true;
      std::vector<Walk> nests = others(b, walk, *cut, partners);
      nests.push_back(walk);
      std::vector<std::pair<size_t, Variable>> blocks;  // statements, and the loops over their blocks
      for (const Partner& p : partners) blocks.push_back({p.statement, surround(b[p.statement], p, walk, *cut)});
      for (const Walk& each : nests) {
        if (cut->size > 1) blocks.push_back({each.nest, split(*each.order[cut->loops - 1], cut->size)});
        move_loop(each.loops, each.first, 0);
      }
      if (cut->size > 1) split_buffers(b, partners, blocks, cut->size);
      return;
    }
  }

  // ---- who goes with whom ----
  std::vector<Walk> walks(Block& b, size_t nest) const {
    const std::vector<For*> loops = outer_loops(&std::get<For>(b[nest].is));
    std::vector<Walk> list = {{nest, loops, loops, 0}};
    for (size_t k = 1; k < loops.size() && (k > 1 || independent(program_, *loops[0])); ++k) {
      if (!independent(program_, *loops[k])) break;
      std::vector<For*> order = loops;
      std::rotate(order.begin(), order.begin() + static_cast<ptrdiff_t>(k),
                  order.begin() + static_cast<ptrdiff_t>(k) + 1);
      list.push_back({nest, loops, std::move(order), k});
    }
    return list;
  }
  std::vector<Partner> partners_of(const Block& b, const Walk& walk) const {
    std::set<size_t> beside;
    each_access_inside(b[walk.nest], [&](BufferId x, const Index*, AccessKind) {
      if (auto known = contractions_.find(x); known != contractions_.end())
        beside.insert(known->second.begin(), known->second.end());
    });
    std::vector<Partner> list;
    for (size_t k : beside)
      if (std::holds_alternative<Contraction>(b[k].is))
        if (Partner p = partner(b, k, walk); !p.axes.empty()) list.push_back(std::move(p));
    return list;
  }
  // Further nests that make operands of the partners or read their results, and that can be cut as they are.
  std::vector<Walk> others(Block& b, const Walk& walk, const Cut& cut, std::vector<Partner>& partners) const {
    std::vector<Walk> list;
    for (size_t k = 0; k < b.size(); ++k)
      if (k != walk.nest && std::holds_alternative<For>(b[k].is))
        for (Walk& w : walks(b, k))
          if ((w.first == 0 || cut.loops == 1) && goes_with(b, w, cut, partners)) {
            list.push_back(std::move(w));
            break;
          }
    return list;
  }
  bool goes_with(const Block& b, const Walk& walk, const Cut& cut, std::vector<Partner>& partners) const {
    std::vector<std::pair<Partner*, Partner>> known;
    for (Partner& p : partners)
      if (Partner other = partner(b, p.statement, walk); !other.between.empty()) {
        if (common(other.axes, p.axes) < cut.loops) return false;
        known.emplace_back(&p, std::move(other));
      }
    for (auto& [p, other] : known) p->between.merge(other.between);
    return !known.empty();
  }
  Partner partner(const Block& b, size_t k, const Walk& walk) const {
    const auto& c = std::get<Contraction>(b[k].is);
    const Stmt& nest = b[walk.nest];
    const bool before = k < walk.nest;
    Partner p = {k, {}, {}};
    for (const auto& [x, place] : places(c, before)) {
      if (!is_temporary(x) || !touches(nest, x, before ? AccessKind::read : AccessKind::write)) continue;
      std::vector<Variable> axes = axes_of(c, nest, x, *place, walk.order);
      if (p.between.empty()) p.axes = axes;
      p.axes.resize(common(axes, p.axes));
      p.between.insert(x);
    }
    return p;
  }
  static size_t common(const std::vector<Variable>& a, const std::vector<Variable>& b) {
    return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  }
  // Its result, or its operands.
  static std::vector<std::pair<BufferId, const Index*>> places(const Contraction& c, bool result) {
    if (result) return {{c.buffer, &c.place}};
    return {{c.left()->buffer, &c.left()->place}, {c.right()->buffer, &c.right()->place}};
  }
  static bool touches(const Stmt& s, BufferId b, AccessKind wanted) {
    bool found = false;
    each_access_inside(s,
                       [&](BufferId x, const Index*, AccessKind kind) { found = found || (x == b && kind == wanted); });
    return found;
  }

  // Axes that are at a step where the leading loops of the nest are at it: in one dimension of the buffer each of them
  // is all that moves all accesses.
  std::vector<Variable> axes_of(const Contraction& c, const Stmt& nest, BufferId b, const Index& place,
                                const std::vector<For*>& loops) const {
    std::vector<Variable> found;
    for (const For* f : loops) {
      const auto axis = std::find_if(c.axes.begin(), c.axes.end(), [&](const Contraction::Axis& x) {
        return f->begin == 0 && x.extent == f->end && std::count(found.begin(), found.end(), x.variable) == 0 &&
               step(program_, c.buffer, c.place, x.variable) != 0 &&
               same_dimension(nest, b, f->variable, place, x.variable);
      });
      if (axis == c.axes.end()) break;
      found.push_back(axis->variable);
    }
    return found;
  }
  static bool same_dimension(const Stmt& nest, BufferId b, Variable loop, const Index& place, Variable axis) {
    for (size_t d = 0; d < place.size(); ++d) {
      if (!(place[d] == loops::variable(axis))) continue;
      bool all = true;
      each_access_inside(nest, [&](BufferId x, const Index* at, AccessKind) {
        if (x == b) all = all && at && (*at)[d] == loops::variable(loop);
      });
      return all;
    }
    return false;
  }

  // ---- how far ----
  std::optional<Cut> choose(const Block& b, const Walk& walk, const std::vector<Partner>& partners) const {
    const std::vector<For*>& loops = walk.order;
    size_t most = walk.first == 0 ? loops.size() : 1;
    std::set<BufferId> between;
    double work = INFINITY, all_work = 0;
    for (const Partner& p : partners) {
      most = std::min(most, p.axes.size());
      between.insert(p.between.begin(), p.between.end());
      const double own = multiplications(std::get<Contraction>(b[p.statement].is));
      work = std::min(work, own), all_work += own;
    }
    double room = 0, numbers = 0, steps = 1;
    for (BufferId x : between) room += bytes(x), numbers += static_cast<double>(elements(buffer(x).shape));
    if (room < least_between * target_.cache) return std::nullopt;
    for (size_t k = 0; k < most; ++k) {
      const int64_t n = loops[k]->end;
      const bool rows = std::any_of(partners.begin(), partners.end(), [&](const Partner& p) {
        return moves_one_operand(std::get<Contraction>(b[p.statement].is), p.axes[k]);
      });
      room /= static_cast<double>(n), work /= static_cast<double>(n), steps *= static_cast<double>(n);
      if (room > target_.cache && !rows) continue;
      const int64_t size = rows               ? largest_divisor(n, rows_of_cache * target_.cache / room)
                           : target_.any_size ? 1
                                              : smallest_divisor(n, least_of_step / work);
      if (static_cast<double>(size) * room > target_.cache) return std::nullopt;
      if (!target_.any_size && (steps / static_cast<double>(size) < (rows ? blocks_of_rows : least_steps) ||
                                (rows && (size < rows_of_block || all_work > most_of_row * numbers))))
        return std::nullopt;
      return Cut{k + 1, size};
    }
    return std::nullopt;
  }
  bool moves_one_operand(const Contraction& c, Variable axis) const {
    return (step(program_, c.left(), axis) == 0) != (step(program_, c.right(), axis) == 0);
  }
  static int64_t largest_divisor(int64_t n, double most) {
    int64_t best = 1;
    for (int64_t d = 1; static_cast<double>(d) <= most && d <= n; ++d)
      if (n % d == 0) best = d;
    return best;
  }
  static int64_t smallest_divisor(int64_t n, double least) {
    int64_t d = 1;
    while (d < n && (n % d != 0 || static_cast<double>(d) < least)) ++d;
    return d;
  }

  // ---- changes ----
  // Loops around a contraction, outermost first; gives the variable of the last one.
  Variable surround(Stmt& s, const Partner& p, const Walk& walk, const Cut& cut) {
    auto& c = std::get<Contraction>(s.is);
    const std::vector<For*>& loops = walk.order;
    Variable last = p.axes[cut.loops - 1];
    int64_t steps = loops[cut.loops - 1]->end / cut.size;
    for (size_t k = 0; k < cut.loops; ++k)
      if (k + 1 < cut.loops || cut.size == 1)
        std::erase_if(c.axes, [&](const auto& axis) { return axis.variable == p.axes[k]; });
    if (cut.size > 1) {
      last = make_variable(program_, last);
      for (auto& axis : c.axes)
        if (axis.variable == p.axes[cut.loops - 1]) axis.extent = cut.size;
      const VariableMap map = {
          {p.axes[cut.loops - 1], loops::variable(last) * cut.size + loops::variable(p.axes[cut.loops - 1])}};
      auto rewriter = variable_rewriter(program_.exprs, map);
      rewrite(s, rewriter, map);
    }
    for (size_t k = cut.loops; k-- > 0;) {
      For f;
      f.variable = k + 1 == cut.loops ? last : p.axes[k];
      f.end = k + 1 == cut.loops ? steps : loops[k]->end;
      f.body.push_back(std::move(s));
      s = {std::move(f)};
    }
    return last;
  }
  Variable split(For& f, int64_t size) {
    For blocks = loop_over_blocks(program_, f, f.end / size, size);
    std::swap(f, blocks);
    f.body.push_back({std::move(blocks)});
    return f.variable;
  }

  static bool is_between(const std::vector<Partner>& partners, BufferId b) {
    return std::any_of(partners.begin(), partners.end(), [b](const Partner& p) { return p.between.count(b) > 0; });
  }
  // The dimension of an access that blocks move, one after the other: none where that is not all they do.
  static std::optional<size_t> dimension_of_blocks(const Index& place, Variable v, int64_t size) {
    std::optional<size_t> dimension;
    for (size_t d = 0; d < place.size(); ++d) {
      const Affine& a = place[d];
      if (loops::factor(a, v) == 0) continue;
      const Affine inside = a + loops::variable(v) * -size;
      if (dimension || inside.constant != 0 || inside.terms.size() != 1 || inside.terms[0].factor != 1 ||
          inside.terms[0].variable == v)
        return std::nullopt;
      dimension = d;
    }
    return dimension;
  }
  // Buffers that nobody else knows get a dimension for the blocks, if all see them so: t[i + 128*k, j] becomes t[i, j, k].
  void split_buffers(Block& b, const std::vector<Partner>& partners,
                     const std::vector<std::pair<size_t, Variable>>& blocks, int64_t size) {
    std::map<BufferId, int> seen;
    for (const auto& [k, _] : blocks)
      each_access_inside(b[k], [&](BufferId x, const Index*, AccessKind) { ++seen[x]; });
    std::map<BufferId, size_t> dimensions;
    std::set<BufferId> others;
    for (const Partner& p : partners)
      for (BufferId x : p.between)
        if (seen[x] != accesses_[static_cast<size_t>(x)]) others.insert(x);
    for (const auto& [k, v] : blocks)
      each_access_inside(b[k], [&, v = v](BufferId x, const Index* place, AccessKind) {
        if (!is_between(partners, x)) return;
        const std::optional<size_t> d = place ? dimension_of_blocks(*place, v, size) : std::nullopt;
        if (!d || dimensions.emplace(x, *d).first->second != *d) others.insert(x);
      });
    for (BufferId x : others) dimensions.erase(x);
    for (const auto& [x, d] : dimensions) {
      Shape& shape = program_.buffers[static_cast<size_t>(x)].shape;
      shape.push_back(shape[d] / size);
      shape[d] = size;
    }
    for (const auto& [k, v] : blocks) {
      const auto split_place = [&, v = v](BufferId x, Index place) {
        if (auto it = dimensions.find(x); it != dimensions.end()) {
          std::erase_if(place[it->second].terms, [v](const loops::Term& t) { return t.variable == v; });
          place.push_back(loops::variable(v));
        }
        return place;
      };
      Rewriter rewriter(program_.exprs, [&](Expr e) -> Expr {
        if (e->op != Op::load || !dimensions.count(e->buffer)) return nullptr;
        return program_.exprs.load(e->buffer, e->dtype, split_place(e->buffer, e->place));
      });
      split_places(b[k], rewriter, split_place);
    }
  }
  template <class R, class F>
  static void split_places(Stmt& s, R& rewriter, const F& split_place) {
    each_expression(s, [&](Expr& e) { e = rewriter(e); });
    if (auto store = std::get_if<loops::Store>(&s.is)) store->place = split_place(store->buffer, store->place);
    if (auto c = std::get_if<Contraction>(&s.is)) c->place = split_place(c->buffer, c->place);
    each_block(s, [&](Block& inner) {
      for (Stmt& t : inner) split_places(t, rewriter, split_place);
    });
  }

  Program& program_;
  const Target& target_;
  std::vector<int> accesses_;
  std::unordered_map<BufferId, std::set<size_t>> contractions_;  // of the block, by the temporaries that they touch
  bool changed_ = false;
};

}  // namespace

void step_contractions(Program& p, const Target& target) {
  Stepper stepper(p, target);
  stepper.block(p.body);
  if (stepper.changed()) merge_nests(p);
}

}  // namespace anvil::compiler
