// Adjacent loops that walk through memory as one do become one, also where other loops shift the slower of the two
// and the faster one does not fill vectors.
// The buffers get views in which the two dimensions are one as well:
//
//   for j in 0..20 {                       for i in 0..1000 {
//     for i in 0..50 {                       out1'[i] = x1'[i] + 1
//       out1[i, j] = x1[i, j] + 1          }
//     }
//   }
#include <map>

#include "compiler/passes.h"
#include "compiler/traverse.h"

namespace anvil::compiler {
namespace {

class Collapser {
 public:
  Collapser(Program& p, const Target& target) : program_(p), target_(target) {}

  void block(Block& b) {
    for (Stmt& s : b) {
      each_block(s, [this](Block& inner) { block(inner); });
      collapse(s);
    }
  }

 private:
  // The pair of dimensions of an access that becomes one: `fast` is walked by the inner
  // loop, `slow` by the outer one, sizes between are 1. None: the access uses neither.
  struct Pair {
    bool fits = true, used = false;
    size_t fast = 0, slow = 0;
  };
  Pair pair(const Shape& shape, const Index& place, const loops::For& outer, const loops::For& inner) const {
    Pair p;
    bool has_fast = false, has_slow = false;
    for (size_t d = 0; d < place.size(); ++d) {
      int64_t fi = loops::factor(place[d], inner.variable), fo = loops::factor(place[d], outer.variable);
      if (fi == 0 && fo == 0) continue;
      if (!has_fast && place[d] == loops::variable(inner.variable) && shape[d] == inner.end)
        p.fast = d, has_fast = true;
      else if (fi == 0 && fo == 1 && !has_slow)
        p.slow = d, has_slow = true;
      else
        return {false, false, 0, 0};
    }
    p.used = has_fast || has_slow;
    if (has_fast != has_slow || (p.used && p.fast > p.slow)) return {false, false, 0, 0};
    for (size_t d = p.fast + 1; p.used && d < p.slow; ++d)
      if (shape[d] != 1) return {false, false, 0, 0};
    return p;
  }
  const Shape& shape(BufferId b) const { return program_.buffers[static_cast<size_t>(b)].shape; }

  bool fits(const Stmt& s, const loops::For& outer, const loops::For& inner) const {
    if (!std::holds_alternative<loops::For>(s.is) && !std::holds_alternative<loops::Store>(s.is) &&
        !std::holds_alternative<loops::Let>(s.is) && !std::holds_alternative<loops::Declare>(s.is) &&
        !std::holds_alternative<loops::Update>(s.is))
      return false;
    bool ok = true;
    each_access(s, [&](BufferId b, const Index* place, AccessKind) {
      if (!ok || place == nullptr) return void(ok = false);
      const Pair p = pair(shape(b), *place, outer, inner);
      const auto& buffer = program_.buffers[static_cast<size_t>(b)];
      const bool shifted = p.used && (*place)[p.slow].terms.size() > 1;
      const int64_t bytes = inner.end * static_cast<int64_t>(size_of(buffer.dtype));
      ok = p.fits && !(shifted && bytes % target_.vector_bytes == 0);
    });
    each_expression(s, [&](Expr e) {
      each_node(e, [&](Expr x) {
        if (x->op == Op::index &&
            (loops::factor(x->place[0], outer.variable) || loops::factor(x->place[0], inner.variable)))
          ok = false;
      });
    });
    each_block(s, [&](const Block& b) {
      for (const Stmt& t : b) ok = ok && fits(t, outer, inner);
    });
    return ok;
  }

  BufferId view(BufferId b, const Shape& wanted) {
    BufferId r = root(program_, b);
    if (shape(r) == wanted) return r;
    auto [it, fresh] = views_.try_emplace({r, wanted}, -1);
    if (fresh) {
      loops::Buffer copy = program_.buffers[static_cast<size_t>(r)];
      copy.alias = r;
      copy.shape = wanted;
      copy.name += std::string(static_cast<size_t>(++count_[r]), '\'');
      program_.buffers.push_back(std::move(copy));
      it->second = static_cast<BufferId>(program_.buffers.size()) - 1;
    }
    return it->second;
  }
  std::pair<BufferId, Index> joined(BufferId b, const Index& place, const loops::For& outer, const loops::For& inner) {
    const Shape old = shape(b);
    Pair p = pair(old, place, outer, inner);
    if (!p.used) return {b, place};
    Shape to;
    Index at;
    const Affine shift = place[p.slow] + loops::variable(outer.variable) * -1;
    for (size_t d = 0; d < place.size(); ++d) {
      if (d > p.fast && d <= p.slow) continue;
      to.push_back(d == p.fast ? old[p.fast] * old[p.slow] : old[d]);
      at.push_back(d == p.fast ? place[d] + shift * old[p.fast] : place[d]);
    }
    return {view(b, to), at};
  }
  template <class R>
  void join(Stmt& s, const loops::For& outer, const loops::For& inner, R& rewriter) {
    each_expression(s, [&](Expr& e) { e = rewriter(e); });
    if (auto store = std::get_if<loops::Store>(&s.is))
      std::tie(store->buffer, store->place) = joined(store->buffer, store->place, outer, inner);
    each_block(s, [&](Block& b) {
      for (Stmt& t : b) join(t, outer, inner, rewriter);
    });
  }

  void collapse(Stmt& s) {
    auto outer = std::get_if<loops::For>(&s.is);
    if (outer == nullptr || outer->body.size() != 1) return;
    auto inner = std::get_if<loops::For>(&outer->body[0].is);
    if (inner == nullptr || outer->begin != 0 || inner->begin != 0) return;
    for (const Stmt& t : inner->body)
      if (!fits(t, *outer, *inner)) return;
    Rewriter rewriter(program_.exprs, [&](Expr e) -> Expr {
      if (e->op != Op::load) return nullptr;
      auto [b, place] = joined(e->buffer, e->place, *outer, *inner);
      return program_.exprs.load(b, e->dtype, place);
    });
    for (Stmt& t : inner->body) join(t, *outer, *inner, rewriter);
    loops::For whole = std::move(*inner);
    whole.end *= outer->end;
    s.is = std::move(whole);
  }

  Program& program_;
  const Target& target_;
  std::map<std::pair<BufferId, Shape>, BufferId> views_;
  std::map<BufferId, int> count_;
};

}  // namespace

void collapse_loops(Program& p, const Target& target) { Collapser(p, target).block(p.body); }

}  // namespace anvil::compiler
