#include "compiler/sum_buffers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "compiler/copy.h"
#include "compiler/schedule.h"
#include "loops/dependence.h"
#include "loops/origins.h"

namespace anvil::compiler {
namespace {

using loops::For;

// The sums of a loop, each a local between a load and a store of the same element, and the accesses of their buffers.
class SumFinder {
 public:
  SumFinder(const Program& p, const Block& b) : program_(p) {
    block(b);
    for (const auto& [local, sum] : sums_) {
      if (sum.reads != 1 || !sum.stored || !sum.op || sum.mixed) continue;
      adds(sum.load->buffer, *sum.op);
    }
  }
  // The buffers all accesses of which add to what is there.
  std::vector<SumBuffer> sums() const {
    std::vector<SumBuffer> list;
    for (const auto& [b, x] : buffers_)
      if (x.adding == x.all) list.push_back({b, x.op});
    return list;
  }

 private:
  struct LocalSum {
    Expr load = nullptr;  // what it begins with
    std::optional<Op> op = {};
    int reads = 0;  // in statements other than its updates
    bool stored = false, mixed = false;
  };
  struct InBuffer {
    Op op = Op::add;
    int adding = 0, all = 0;  // accesses
  };
  // A read and a write.
  void adds(BufferId b, Op op) {
    InBuffer& x = buffers_[b];  // a view has no accesses of its own
    if (x.adding > 0 && x.op != op) return;
    x.op = op;
    x.adding += 2;
  }
  void block(const Block& b) {
    for (const Stmt& s : b) {
      each_access(s, [&](BufferId x, const Index*, AccessKind) { ++buffers_[root(program_, x)].all; });
      if (auto c = std::get_if<loops::Contraction>(&s.is); c && c->adds) adds(c->buffer, Op::add);
      each_expression(s, [&](Expr e) {
        each_node(e, [&](Expr x) {
          if (x->op == Op::local) ++sums_[x->local].reads;
        });
      });
      if (auto d = std::get_if<loops::Declare>(&s.is)) {
        LocalSum& sum = sums_[d->local];
        sum.mixed = sum.mixed || sum.load || d->value->op != Op::load;
        sum.load = d->value;
      } else if (auto u = std::get_if<loops::Update>(&s.is)) {
        LocalSum& sum = sums_[u->local];
        const Op op = loops::accumulates(*u);
        if (u->op == Op::local) --sum.reads;
        sum.mixed = sum.mixed || op == Op::local || sum.op.value_or(op) != op;
        sum.op = op;
      } else if (auto store = std::get_if<loops::Store>(&s.is); store && store->value->op == Op::local) {
        LocalSum& sum = sums_[store->value->local];
        sum.stored = sum.load && sum.load->op == Op::load && sum.load->buffer == store->buffer &&
                     sum.load->place == store->place;
      }
      each_block(s, [this](const Block& inner) { block(inner); });
    }
  }
  const Program& program_;
  std::map<LocalId, LocalSum> sums_;
  std::map<BufferId, InBuffer> buffers_;
};

// Whether several steps of a loop touch the same element of a buffer.
bool steps_meet(const Program& p, const For& f, BufferId b) {
  loops::Footprint of_all(p, f.body), of_one = of_all;
  for (const auto& [other, touched] : of_all.memory())
    if (other != b) of_one.forget(other);
  return !steps_apart(p, loops::steps(f, of_one));
}

}  // namespace

std::vector<SumBuffer> sum_buffers(const Program& p, const For& f) {
  std::vector<SumBuffer> list;
  for (const SumBuffer& sum : SumFinder(p, f.body).sums()) {
    const BufferId b = sum.buffer;
    const loops::Buffer& buffer = p.buffers[static_cast<size_t>(b)];
    const bool changes = buffer.kind == loops::Buffer::Kind::temporary || buffer.kind == loops::Buffer::Kind::output;
    if (changes && !buffer.own && steps_meet(p, f, b)) list.push_back(sum);
  }
  return list;
}

PartsOfSum take_parts(Program& p, const SumBuffer& sum, For& f, const Affine& task, int64_t count, int width) {
  loops::ExprPool& e = p.exprs;
  const DType t = p.buffers[static_cast<size_t>(sum.buffer)].dtype;
  const Shape shape = p.buffers[static_cast<size_t>(sum.buffer)].shape;
  Shape of_all = shape;
  of_all.push_back(count);
  const BufferId parts = make_temporary(p, t, of_all, "t");
  const auto part = [](Index place, const Affine& of) {
    place.push_back(of);
    return place;
  };
  loops::Origins from;
  Rewriter rewriter(e, [&](Expr x) -> Expr {
    return x->op == Op::load && x->buffer == sum.buffer ? e.load(parts, t, part(x->place, task)) : nullptr;
  });
  const auto redirect = [&](const auto& self, Block& block) -> void {
    for (Stmt& s : block) {
      each_expression(s, [&](Expr& x) { x = rewriter(x); });
      const auto to_part = [&](auto* to) {
        if (to == nullptr || to->buffer != sum.buffer) return;
        to->buffer = parts;
        to->place = part(to->place, task);
        loops::unite(from, s.origins);
      };
      to_part(std::get_if<loops::Store>(&s.is));
      to_part(std::get_if<loops::Contraction>(&s.is));
      each_block(s, [&](Block& b) { self(self, b); });
    }
  };
  redirect(redirect, f.body);

  // Statements for each element, the loop over the first dimension innermost.
  const auto each_element = [&](const auto& statements) {
    std::vector<For> loops;
    Index place;
    for (int64_t n : shape) {
      loops.push_back(make_loop(p, f.variable, n));
      place.push_back(loops::variable(loops.back().variable));
    }
    Block body = statements(place);
    for (For& l : loops) {
      if (&l == &loops.front() && width > 1) {
        l.kind = For::Kind::vector;
        l.width = width;
        narrow(l);
      }
      l.body = std::exchange(body, {});
      body.push_back({std::move(l)});
    }
    return body;
  };
  PartsOfSum result;
  result.before = each_element([&](const Index& place) {
    const Expr nothing = e.constant(loops::identity(sum.op, t), t);
    return Block{{loops::Store{parts, part(place, task), nothing}, from}};
  });
  For all = make_loop(p, f.variable, count);
  const LocalId whole = make_local(p, t);
  all.body = each_element([&](const Index& place) {
    const Expr one = e.load(parts, t, part(place, loops::variable(all.variable)));
    return Block{{loops::Declare{whole, e.load(sum.buffer, t, place)}, from},
                 {loops::Update{whole, sum.op, one}, from},
                 {loops::Store{sum.buffer, place, e.local(whole, t)}, from}};
  });
  result.after.push_back({std::move(all)});
  return result;
}

}  // namespace anvil::compiler
