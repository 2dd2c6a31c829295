// What the steps of a loop look up alike, several of them look up together. Where rows of a table are added to, column by
// column as they lie in memory, some short columns go at once:
//
//   for j in 0..64 {                             for b in 0..16 {
//     for i in 0..1024 {                           for i in 0..1024 {
//       if ui64(i64(x2[i])) < 100 {                  if ui64(i64(x2[i])) < 100 {
//         $p = i64(x2[i])                              $p = i64(x2[i])
//         out1[$p, j] = out1[$p, j] + x3[i, j]         for j in 0..4 unroll 4 {
//                                                        out1[$p, j + 4*b] = out1[$p, j + 4*b] + x3[i, j + 4*b]
//
// Columns that are left over follow as a nest of their own.
#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/copy.h"
#include "compiler/passes.h"
#include "compiler/schedule.h"

namespace anvil::compiler {
namespace {

using loops::Bind;
using loops::For;
using loops::If;

constexpr double nearest = 1. / 16;  // of the cache
constexpr int64_t at_once = 4;       // steps
constexpr int64_t least_blocks = 4;  // of these: fewer would leave threads without work

class LookUps {
 public:
  LookUps(Program& p, const Target& target) : program_(p), cache_(nearest * target.cache) {}
  void run() {
    replace_loops(program_.body, [this](Stmt& s, For& f, Block& result) {
      if (f.kind != For::Kind::serial || extent(f) < at_once * least_blocks || !looks_up(f.body) ||
          !alike(f.body, f.variable) || !fits(f) || !independent(program_, f))
        return false;
      const int64_t count = extent(f) / at_once, rest = extent(f) - count * at_once;
      std::optional<For> last;
      if (rest > 0) {
        last = LoopCopy(program_)(f);
        last->begin = last->end - rest;
      }
      For blocks = loop_over_blocks(program_, f, count, at_once);
      blocks.body = together(f, std::move(f.body));
      result.push_back({std::move(blocks), s.origins});
      if (last) result.push_back({std::move(*last), s.origins});
      return true;
    });
  }

 private:
  // ---- which loops ----
  static bool looks_up(const Stmt& s) {
    if (std::holds_alternative<Bind>(s.is) || std::holds_alternative<If>(s.is)) return true;
    auto f = std::get_if<For>(&s.is);
    return f && looks_up(f->body);
  }
  static bool looks_up(const Block& b) {
    return std::any_of(b.begin(), b.end(), [](const Stmt& s) { return looks_up(s); });
  }
  // Whether all that is looked up is the same for each step of the loop over v, and nothing but loops and branches is around.
  bool alike(const Block& b, Variable v) const {
    bool made = false;  // a local, which no other group of statements may need
    const bool inside = std::any_of(b.begin(), b.end(),
                                    [](const Stmt& s) { return looks_up(s) && !std::holds_alternative<Bind>(s.is); });
    return std::all_of(b.begin(), b.end(), [&](const Stmt& s) {
      if (auto bind = std::get_if<Bind>(&s.is)) return !made && same(bind->value, v);
      if (auto branch = std::get_if<If>(&s.is))
        return branch->no.empty() && same(branch->condition, v) && alike(branch->yes, v);
      if (auto f = std::get_if<For>(&s.is)) return !looks_up(s) || (f->kind == For::Kind::serial && alike(f->body, v));
      if (std::holds_alternative<loops::Let>(s.is)) return made = true, !inside;
      return std::holds_alternative<loops::Store>(s.is);
    });
  }
  static bool same(Expr e, Variable v) {
    bool same = true;
    each_node(e, [&](Expr x) {
      same = same && x->op != Op::local;
      for (const Affine& a : x->place) same = same && loops::factor(a, v) == 0;
    });
    return same;
  }
  // Whether what the steps of a block write lies in the nearest cache: else they would wait for memory, one by one or not.
  bool fits(const For& f) const {
    double bytes = 0;
    for (const Stmt& s : f.body)
      each_access_inside(s, [&](BufferId b, const Index* place, AccessKind kind) {
        const loops::Buffer& buffer = program_.buffers[static_cast<size_t>(b)];
        if (kind == AccessKind::write && place != nullptr &&
            loops::factor(loops::linear(program_, b, *place), f.variable) != 0)
          bytes = std::max(bytes, static_cast<double>(elements(buffer.shape) * int64_t(size_of(buffer.dtype))));
      });
    bytes /= static_cast<double>(extent(f));
    return at_once * bytes <= cache_;
  }

  // ---- steps that go together ----
  Block together(const For& f, Block body) {
    Block result, apart;
    const auto write_out = [&] {
      if (!apart.empty()) result.push_back(each_step(f, std::exchange(apart, {})));
    };
    for (Stmt& s : body) {
      if (!looks_up(s)) {
        apart.push_back(std::move(s));
        continue;
      }
      write_out();
      if (auto branch = std::get_if<If>(&s.is)) branch->yes = together(f, std::move(branch->yes));
      if (auto inner = std::get_if<For>(&s.is)) inner->body = together(f, std::move(inner->body));
      result.push_back(std::move(s));
    }
    write_out();
    return result;
  }
  Stmt each_step(const For& f, Block body) {
    For steps = f;
    steps.body = std::move(body);
    const bool loops = std::any_of(steps.body.begin(), steps.body.end(),
                                   [](const Stmt& s) { return std::holds_alternative<For>(s.is); });
    if (!loops) steps.kind = For::Kind::unroll, steps.copies = at_once;
    return {LoopCopy(program_)(std::move(steps))};
  }

  Program& program_;
  const double cache_;
};

}  // namespace

void share_lookups(Program& p, const Target& target) { LookUps(p, target).run(); }

}  // namespace anvil::compiler
