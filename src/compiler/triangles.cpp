// Of products that are read under a mask only, as scores of attention are that looks back, what the mask hides is not
// made. The kernel leaves out the tiles that hold nothing else.
//
//   contract i in 0..64, j in 0..64, p in 0..32: t1[i, j] = sum of x1[i, p] * x2[j, p]                  where i <= j
//   ... select(j >= i, t1[i, j], -1e9) ...
//
// The mask may be stored: each store to t2 below says that t2[i, j] is whether i <= j.
//
//   t2[i, j] = j >= i
//   ... select(t2[i, j], t1[i, j], -1e9) ...
#include <algorithm>
#include <cmath>

#include "compiler/passes.h"
#include "compiler/traverse.h"

namespace anvil::compiler {
namespace {

using loops::Contraction;
using loops::For;

constexpr int most_visits = 1000;  // of nodes, on all ways from expressions to what they load

// Of the indices of an access: that in dimension `plus`, less that in `minus`, and `rest` is not negative.
struct Difference {
  size_t plus, minus;
  Affine rest;
  bool operator==(const Difference&) const = default;
};
using Differences = std::vector<Difference>;

void keep_those_of(const Differences& others, Differences& list) {
  std::erase_if(list, [&](const Difference& d) { return std::find(others.begin(), others.end(), d) == others.end(); });
}

class Triangles {
 public:
  explicit Triangles(Program& p) : program_(p), of_(p.buffers.size()) {}

  void run() {
    for (const loops::Buffer& b : program_.buffers)
      if (b.alias >= 0) of_[size_t(root(program_, b.alias))].seen = true;
    count_accesses(program_.body);
    read_masks(program_.body);
    find(program_.body);
  }

 private:
  struct Accesses {
    bool seen = false;  // through a view, or by a function of the runtime
    int loads = 0, stores = 0;
    int masks = 0;        // stores that have been looked at
    Differences mask[2];  // what they say of where they store false, and true
  };
  struct Open {  // a loop
    Variable variable;
    int64_t low, high;
  };
  // Loads of a contraction's result.
  struct Reads {
    BufferId buffer;
    size_t around;  // loops around the contraction
    int loads = 0, visits = 0;
    std::optional<Differences> all = {};  // what conditions say of all of them
  };

  bool is_own(BufferId b) const {
    const loops::Buffer& buffer = program_.buffers[size_t(b)];
    return buffer.kind == loops::Buffer::Kind::temporary && buffer.alias < 0 && !of_[size_t(b)].seen;
  }
  template <class F>
  void inside(const Stmt& s, const F& f) {
    const auto* loop = std::get_if<For>(&s.is);
    if (loop) open_.push_back({loop->variable, loop->begin, loop->end - 1});
    f();
    if (loop) open_.pop_back();
  }

  void count_accesses(const Block& block) {
    for (const Stmt& s : block)
      each_access_inside(s, [this](BufferId b, const Index* place, AccessKind kind) {
        Accesses& of = of_[size_t(b)];
        if (place == nullptr) of.seen = true;
        ++(kind == AccessKind::read ? of.loads : of.stores);
      });
  }
  void read_masks(const Block& block) {
    for (const Stmt& s : block) {
      if (auto store = std::get_if<loops::Store>(&s.is); store && is_bool(store->value->dtype)) read_mask(*store);
      inside(s, [&] { each_block(s, [this](const Block& inner) { read_masks(inner); }); });
    }
  }
  void read_mask(const loops::Store& s) {
    Accesses& of = of_[size_t(s.buffer)];
    const bool first = of.masks++ == 0;
    for (const bool holds : {false, true}) {
      Differences found;
      add_differences(found, known(s.value, holds), s.place, [](Variable) { return false; });
      first ? void(of.mask[holds] = found) : keep_those_of(found, of.mask[holds]);
    }
  }
  // What numbers that are not negative say of the indices of an access; `stays` tells of which variables the rest may be.
  template <class F>
  static void add_differences(Differences& to, const std::vector<Affine>& numbers, const Index& place, const F& stays) {
    for (const Affine& a : numbers)
      for (size_t i = 0; i < place.size(); ++i)
        for (size_t j = 0; j < place.size(); ++j) {
          const Affine rest = a + place[i] * -1 + place[j];
          if (i != j && std::all_of(rest.terms.begin(), rest.terms.end(),
                                    [&](const loops::Term& t) { return stays(t.variable); }))
            to.push_back({i, j, rest});
        }
  }

  // ---- conditions ----
  // Numbers that are not negative where a condition is as said.
  std::vector<Affine> known(Expr e, bool holds) const {
    const auto of_both = [&] {
      std::vector<Affine> list = known(e->args[0], holds), more = known(e->args[1], holds);
      list.insert(list.end(), more.begin(), more.end());
      return list;
    };
    switch (e->op) {
      case Op::bit_not: return known(e->args[0], !holds);
      case Op::bit_and: return holds ? of_both() : std::vector<Affine>();
      case Op::bit_or: return holds ? std::vector<Affine>() : of_both();
      case Op::ge: return compared(e->args[0], e->args[1], 0, holds);
      case Op::gt: return compared(e->args[0], e->args[1], -1, holds);
      case Op::le: return compared(e->args[1], e->args[0], 0, holds);
      case Op::lt: return compared(e->args[1], e->args[0], -1, holds);
      case Op::load: return loaded(e, holds);
      default: return {};
    }
  }
  // Whether a - b + more is not negative.
  std::vector<Affine> compared(Expr a, Expr b, int64_t more, bool holds) const {
    const auto x = index(a), y = index(b);
    if (!x || !y) return {};
    const Affine d = *x + *y * -1 + more;
    return {holds ? d : d * -1 + -1};
  }
  std::vector<Affine> loaded(Expr e, bool holds) const {
    std::vector<Affine> list;
    const Accesses& of = of_[size_t(e->buffer)];
    if (!is_own(e->buffer) || of.masks < of.stores) return list;
    for (const Difference& d : of.mask[holds]) list.push_back(e->place[d.plus] + e->place[d.minus] * -1 + d.rest);
    return list;
  }
  // Of a number that is a whole one, and no larger than that its dtype has them all.
  std::optional<Affine> index(Expr e) const {
    std::optional<Affine> a;
    if (e->op == Op::index) a = e->place[0];
    if (e->op == Op::constant && !is_bool(e->dtype)) a = constant(e->constant);
    if (e->op == Op::convert) a = index(e->args[0]);
    if (e->op == Op::add || e->op == Op::sub) {
      const auto x = index(e->args[0]), y = index(e->args[1]);
      if (x && y) a = *x + *y * (e->op == Op::add ? 1 : -1);
    }
    return a && fits(*a, e->dtype) ? a : std::nullopt;
  }
  static std::optional<Affine> constant(const Scalar& x) {
    constexpr double most = 1e9;
    const auto number = x.as<double>();
    if (!(std::abs(number) <= most) || number != std::trunc(number)) return std::nullopt;
    return Affine{int64_t(number), {}};
  }
  bool fits(const Affine& a, DType t) const {
    int64_t low = a.constant, high = a.constant;
    for (const loops::Term& term : a.terms) {
      const auto loop =
          std::find_if(open_.begin(), open_.end(), [&](const Open& o) { return o.variable == term.variable; });
      if (loop == open_.end()) return false;
      low += term.factor * (term.factor > 0 ? loop->low : loop->high);
      high += term.factor * (term.factor > 0 ? loop->high : loop->low);
    }
    if (!is_float(t)) return !is_bool(t) && holds(t, low) && holds(t, high);
    return std::max(std::abs(low), std::abs(high)) <= int64_t(1) << descriptor(t).mantissa_bits;
  }

  // ---- contractions ----
  void find(Block& block) {
    for (size_t k = 0; k < block.size(); ++k) {
      if (auto c = std::get_if<Contraction>(&block[k].is)) leave_out(*c, block, k);
      inside(block[k], [&] { each_block(block[k], [this](Block& inner) { find(inner); }); });
    }
  }
  void leave_out(Contraction& c, const Block& block, size_t k) {
    if (!c.beside.empty() || c.adds || !is_own(c.buffer) ||
        c.product->dtype != program_.buffers[size_t(c.buffer)].dtype)
      return;
    Reads reads{c.buffer, open_.size()};
    for (size_t later = k + 1; later < block.size(); ++later) read(block[later], reads);
    if (!reads.all || reads.loads != of_[size_t(c.buffer)].loads) return;  // some stand elsewhere
    for (const Difference& d : *reads.all) {
      const Affine wanted = c.place[d.plus] + c.place[d.minus] * -1 + d.rest;
      if (!is_triangle(c, wanted)) continue;
      c.wanted = wanted;
      return;
    }
  }
  static bool is_triangle(const Contraction& c, const Affine& wanted) {
    int64_t of_rows = 0, of_columns = 0;
    for (const auto& [v, extent] : c.axes) {
      if (extent == 1) continue;
      const int64_t by = loops::factor(wanted, v);
      int64_t* const of = c.is_row(v) ? &of_rows : c.is_column(v) ? &of_columns : nullptr;
      if (of == nullptr ? by != 0 : *of != 0 || std::abs(by) != 1) return false;
      if (of != nullptr) *of = by;
    }
    return of_rows != 0 && of_rows == -of_columns;
  }
  void read(const Stmt& s, Reads& reads) {
    each_access(s, [&](BufferId b, const Index*, AccessKind kind) {
      if (b == reads.buffer && kind == AccessKind::read) ++reads.loads;
    });
    each_expression(s, [&](Expr e) {
      loops::ExprSet holding;  // nodes with such a load below them
      each_node(e, [&](Expr x) {
        const auto end = x->args.begin() + x->argument_count();
        if ((x->op == Op::load && x->buffer == reads.buffer) ||
            std::any_of(x->args.begin(), end, [&](Expr y) { return holding.contains(y); }))
          holding.insert(x);
      });
      read(e, {}, holding, reads);
    });
    inside(s, [&] {
      each_block(s, [&](const Block& inner) {
        for (const Stmt& x : inner) read(x, reads);
      });
    });
  }
  void read(Expr e, const std::vector<Affine>& numbers, loops::ExprSet& holding, Reads& reads) {
    if (!holding.contains(e)) return;
    if (++reads.visits > most_visits) reads.all = Differences();
    if (reads.all && reads.all->empty()) return;
    if (e->op == Op::load) {
      Differences found;
      add_differences(found, numbers, e->place, [&](Variable v) {
        return std::any_of(open_.begin(), open_.begin() + ptrdiff_t(reads.around),
                           [v](const Open& o) { return o.variable == v; });
      });
      reads.all ? keep_those_of(found, *reads.all) : void(reads.all = found);
      return;
    }
    const auto under = [&](bool holds) {
      std::vector<Affine> list = known(e->args[0], holds);
      list.insert(list.end(), numbers.begin(), numbers.end());
      return list;
    };
    const bool chooses = e->op == Op::select;
    for (int i = 0; i < e->argument_count(); ++i)
      read(e->args[size_t(i)], chooses && i > 0 ? under(i == 1) : numbers, holding, reads);
  }

  Program& program_;
  std::vector<Accesses> of_;
  std::vector<Open> open_;
};

}  // namespace

void leave_out_triangles(Program& p) { Triangles(p).run(); }

}  // namespace anvil::compiler
