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
#include <optional>
#include <set>
#include <utility>

#include "base/interrupt.h"
#include "compiler/axis_blocks.h"
#include "compiler/companions.h"
#include "compiler/passes.h"
#include "compiler/schedule.h"
#include "compiler/separate.h"

namespace anvil::compiler {
namespace {

using loops::Contraction;
using loops::For;

constexpr double least_between = 0.5;      // of the cache, that passes between a nest and its contractions
constexpr double least_of_step = 1 << 18;  // multiplications of a step, of each contraction
constexpr double least_steps = 4;
constexpr int64_t rows_of_block = 128;    // at least,
constexpr double blocks_of_rows = 16;     // and so many
constexpr double rows_of_cache = 0.5;     // that such a block fills
constexpr double most_of_row = 128;       // multiplications for each element that passes
constexpr int64_t steps_of_depth = 1500;  // at least: products of few are slow

class Stepper {
 public:
  Stepper(Program& p, const Target& target) : program_(p), target_(target), accesses_(count_accesses(p)) {}

  void block(Block& b) {
    for (Stmt& s : b) {
      poll();
      if (!std::holds_alternative<For>(s.is)) each_block(s, [this](Block& inner) { block(inner); });
    }
    std::optional<Companions> known(std::in_place, program_, b, accesses_);
    // Results that are read first: they go both ways.
    for (const bool results : {true, false})
      for (size_t k = 0; k < b.size() && known->any(); ++k)
        if (std::holds_alternative<For>(b[k].is) && known->beside(k) && go_together(b, *known, k, results))
          known.emplace(program_, b, accesses_);
    for (size_t k = 0; k < b.size() && known->any(); ++k)
      if (known->makes_depth(last_loop(b[k])) && separate_and_go(b, k)) known.emplace(program_, b, accesses_);
  }
  bool changed() const { return changed_; }

 private:
  // How far the loops of a nest go around its partners, and how many steps of the last one at once.
  struct Cut {
    size_t loops;
    int64_t size;
    bool rows;  // or a depth: not all operands are others in each step
  };

  // Whether they do; there may be more statements then.
  bool go_together(Block& b, const Companions& known, size_t nest, bool results) {
    for (Walk& walk : known.walks(nest)) {
      Group group = {{}, known.partners_of(walk)};
      if (group.partners.empty() || (results && group.partners[0].statement > nest)) continue;
      group.nests.push_back(std::move(walk));
      std::optional<Cut> cut = choose(known, group);
      const auto adds_up = [&](const Partner& p) { return known.is_depth(p, p.axes.size() - 1); };
      if (!cut && std::erase_if(group.partners, adds_up) > 0 && !group.partners.empty()) cut = choose(known, group);
      // a head of its own costs little, and nests may meet further on
      if (cut && cut->rows && known.remove_those_that_wait(group, cut->loops))
        cut = group.partners.empty() ? std::nullopt : choose(known, group);
      if (!cut) continue;
      grow(b, known, group, *cut);
      if ((cut->rows && !known.mostly_alone(group)) || !may_leave_rest(group, *cut)) continue;
      cut_all(b, group, *cut);
      changed_ = true;
      return true;
    }
    return false;
  }
  // Steps that make no block come after all others, also after those of later steps of the loops around.
  bool may_leave_rest(const Group& group, const Cut& cut) const {
    if (cut.loops == 1 || group.nests[0].order[cut.loops - 1]->end % cut.size == 0) return true;
    return std::all_of(group.nests.begin(), group.nests.end(), [&](const Walk& w) {
      return std::all_of(w.order.begin(), w.order.begin() + static_cast<ptrdiff_t>(cut.loops),
                         [&](const For* f) { return independent(program_, *f); });
    });
  }
  // A nest without its last loop, which makes an operand of a product over its rows, if that goes block by block then.
  bool separate_and_go(Block& b, size_t nest) {
    const size_t buffers = program_.buffers.size();
    std::optional<Separated> apart = separate(program_, b[nest]);
    if (!apart) return false;
    Stmt whole = std::exchange(b[nest], std::move(apart->before));
    b.insert(b.begin() + static_cast<ptrdiff_t>(nest) + 1, std::move(apart->last));
    accesses_ = count_accesses(program_);
    if (go_together(b, Companions(program_, b, accesses_), nest + 1, false)) return true;
    b.erase(b.begin() + static_cast<ptrdiff_t>(nest) + 1);
    b[nest] = std::move(whole);
    program_.buffers.resize(buffers);
    accesses_ = count_accesses(program_);
    return false;
  }
  // Further nests and contractions, as long as all of them are still worth it.
  void grow(const Block& b, const Companions& known, Group& group, Cut& cut) const {
    for (bool more = true; more;) {
      more = false;
      for (size_t k : known.around(group)) {
        if (std::holds_alternative<For>(b[k].is)) {
          more = known.join(group, k, cut.loops) || more;
        } else if (std::holds_alternative<Contraction>(b[k].is)) {
          std::optional<Partner> p = known.partner_of(group, k, cut.loops);
          if (!p) continue;
          group.partners.push_back(*std::move(p));
          if (const std::optional<Cut> wider = choose(known, group);
              wider && wider->loops == cut.loops && wider->rows == cut.rows)
            cut = *wider, more = true;
          else
            group.partners.pop_back();
        }
      }
    }
  }

  // ---- how far ----
  std::optional<Cut> choose(const Companions& known, const Group& group) const {
    const std::vector<For*>& loops = group.nests[0].order;
    size_t most = group.nests[0].first == 0 ? loops.size() : 1;
    double work = INFINITY;
    for (const Partner& p : group.partners) {
      most = std::min(most, p.axes.size());
      work = std::min(work, multiplications(known.contraction(p.statement)));
    }
    double room = 0, numbers = 0, steps = 1;
    for (BufferId x : group.between()) {
      room += known.bytes(x);
      numbers += static_cast<double>(elements(program_.buffers[static_cast<size_t>(x)].shape));
    }
    if (room < least_between * target_.cache) return std::nullopt;
    for (size_t k = 0; k < most; ++k) {
      const int64_t n = loops[k]->end;
      bool rows = false, depth = false;
      double packed_again = 0;
      for (const Partner& p : group.partners) {
        depth = depth || known.is_depth(p, k);
        if (known.moves_one_operand(p, k)) rows = true, packed_again += multiplications(known.contraction(p.statement));
      }
      rows = rows || depth;
      room /= static_cast<double>(n), work /= static_cast<double>(n), steps *= static_cast<double>(n);
      if (room > target_.cache && !rows) continue;
      const int64_t size = rows               ? block_of_rows(n, rows_of_cache * target_.cache / room)
                           : target_.any_size ? 1
                                              : smallest_divisor(n, least_of_step / work);
      if (static_cast<double>(size) * room > target_.cache || (rows && size == n) || (depth && size == 1))
        return std::nullopt;
      if (!target_.any_size &&
          (steps / static_cast<double>(size) < (rows ? blocks_of_rows : least_steps) ||
           (rows && (size < (depth ? steps_of_depth : rows_of_block) || packed_again > most_of_row * numbers))))
        return std::nullopt;
      return Cut{k + 1, size, rows};
    }
    return std::nullopt;
  }
  // At most so many, whole lines of the caches where there is room for some: a divisor of all if a large one is, else
  // blocks that are about equal. Columns of such a block are not in the same places of the caches.
  static int64_t block_of_rows(int64_t n, double most) {
    constexpr int64_t line = 16, same_places = 256;
    most = std::clamp(most, 1., static_cast<double>(n));
    const auto limit = static_cast<int64_t>(most), unit = limit < 4 * line ? 1 : line;
    for (int64_t d = limit / unit * unit; 2 * d > limit; d -= unit)
      if (n % d == 0 && (unit == 1 || d % same_places != 0)) return d;
    const int64_t count = (n + limit - 1) / limit, even = (n + count - 1) / count;
    const int64_t size = std::min((even + unit - 1) / unit, limit / unit) * unit;
    return unit > 1 && size % same_places == 0 ? size - unit : size;
  }
  static int64_t smallest_divisor(int64_t n, double least) {
    int64_t d = 1;
    while (d < n && (n % d != 0 || static_cast<double>(d) < least)) ++d;
    return d;
  }

  // ---- changes ----
  void cut_all(Block& b, const Group& group, const Cut& cut) {
    std::vector<AddedStatement> added;
    if (cut.size > 1) {
      std::vector<AlongAxis> statements;
      for (const Partner& p : group.partners) {
        const auto& axes = std::get<Contraction>(b[p.statement].is).axes;
        const auto axis = std::find_if(axes.begin(), axes.end(),
                                       [&](const Contraction::Axis& x) { return x.variable == p.axes[cut.loops - 1]; });
        statements.push_back({p.statement, static_cast<size_t>(axis - axes.begin())});
      }
      for (const Walk& each : group.nests) statements.push_back({each.nest, each.first + cut.loops - 1});
      added = cut_along(program_, b, statements, cut.size, group.between(), accesses_);
    }
    for (const Partner& p : group.partners) surround(b[p.statement], p, group.nests[0], cut);
    for (const Walk& each : group.nests) move_loop(each.loops, each.first, 0);
    add_statements(program_, b, std::move(added));
    accesses_ = count_accesses(program_);
  }
  // The loops around a contraction, outermost first, but for one over blocks that is there.
  void surround(Stmt& s, const Partner& p, const Walk& walk, const Cut& cut) {
    const size_t count = cut.size > 1 ? cut.loops - 1 : cut.loops;
    auto in_blocks = std::get_if<For>(&s.is);
    auto& c = std::get<Contraction>(in_blocks ? in_blocks->body[0].is : s.is);
    for (size_t k = 0; k < count; ++k)
      std::erase_if(c.axes, [&](const auto& axis) { return axis.variable == p.axes[k]; });
    for (size_t k = count; k-- > 0;) {
      For f;
      f.variable = p.axes[k];
      f.end = walk.order[k]->end;
      f.body.push_back(std::move(s));
      s = {std::move(f)};
    }
  }

  Program& program_;
  const Target& target_;
  std::vector<int> accesses_;
  bool changed_ = false;
};

}  // namespace

void step_contractions(Program& p, const Target& target) {
  Stepper stepper(p, target);
  stepper.block(p.body);
  if (stepper.changed()) merge_nests(p);
}

}  // namespace anvil::compiler
