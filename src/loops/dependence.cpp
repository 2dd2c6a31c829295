#include "loops/dependence.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace anvil::loops {

// ---- footprints ---------------------------------------------------------------------------

namespace {

constexpr size_t most_accesses = 128;  // of one memory that are told apart

}  // namespace

Footprint::Footprint(const Program& p, const Stmt& s) {
  add_own(p, s);
  each_block(s, [&](const Block& b) { add(Footprint(p, b)); });
  if (auto f = std::get_if<For>(&s.is)) enclose(*f);
}
Footprint::Footprint(const Program& p, const Block& b) {
  for (const Stmt& s : b) add(Footprint(p, s));
}

void Footprint::add(const Footprint& from) {
  for (const auto& [b, m] : from.memory_) {
    Memory& to = memory_[b];
    to.read |= m.read;
    to.written |= m.written;
    to.whole |= m.whole;
    for (const Access& a : m.accesses) add_access(to, a);
  }
  const auto merge = [](auto& to, const auto& list) {
    for (const auto& [id, s] : list) {
      Scalar& known = to[id];
      known.read |= s.read;
      known.written |= s.written;
    }
  };
  merge(locals_, from.locals_);
  merge(parameters_, from.parameters_);
}

void Footprint::enclose(const For& f) {
  for (auto& [b, m] : memory_)
    for (Access& a : m.accesses) a.inside.push_back({f.variable, f.begin, f.end - 1});
}

bool Footprint::binds(Variable v) const {
  auto it = parameters_.find(v);
  return it != parameters_.end() && it->second.written;
}

void Footprint::add_access(Memory& m, const Access& a) {
  if (m.whole || std::find(m.accesses.begin(), m.accesses.end(), a) != m.accesses.end()) return;
  m.accesses.push_back(a);
  if (m.accesses.size() > most_accesses) m.whole = true, m.accesses.clear();
}

void Footprint::add_access(const Program& p, BufferId b, const Index* place, AccessKind kind) {
  Memory& m = memory_[root(p, b)];
  (kind == AccessKind::read ? m.read : m.written) = true;
  if (kind == AccessKind::whole) {
    m.read = m.whole = true;
    m.accesses.clear();
  } else {
    add_access(m, {b, *place, kind == AccessKind::write, {}});
    for (const Affine& a : *place) read_parameters(p, a);
  }
}

void Footprint::read_parameters(const Program& p, const Affine& a) {
  for (const Term& t : a.terms)
    if (p.variables[static_cast<size_t>(t.variable)].parameter) parameters_[t.variable].read = true;
}

void Footprint::add_own(const Program& p, const Stmt& s) {
  ExprSet seen;
  each_expression(s, [&](Expr e) {
    each_node(e, seen, [&](Expr x) {
      if (x->op == Op::local) locals_[x->local].read = true;
      if (x->op == Op::index) read_parameters(p, x->place[0]);
    });
  });
  each_access(s, [&](BufferId b, const Index* place, AccessKind kind) { add_access(p, b, place, kind); });
  if (auto c = std::get_if<Contraction>(&s.is))
    c->each_axis([&](const Contraction::Axis& x) {
      for (auto& [_, m] : memory_)
        for (Access& a : m.accesses) a.inside.push_back({x.variable, 0, x.extent - 1});
    });
  if (auto x = std::get_if<Let>(&s.is)) locals_[x->local].written = true;
  if (auto x = std::get_if<Declare>(&s.is)) locals_[x->local].written = true;
  if (auto x = std::get_if<Update>(&s.is)) locals_[x->local].written = true;
  if (auto x = std::get_if<Bind>(&s.is)) parameters_[x->parameter].written = true;
}

namespace {

template <class Map, class F>
bool any_shared(const Map& a, const Map& b, F&& f) {  // f(key, of a, of b)
  const bool swapped = b.size() < a.size();
  const Map &small = swapped ? b : a, &large = swapped ? a : b;
  for (const auto& [k, x] : small) {
    auto it = large.find(k);
    if (it != large.end() && (swapped ? f(k, it->second, x) : f(k, x, it->second))) return true;
  }
  return false;
}
bool changed(const Footprint::Scalar& a, const Footprint::Scalar& b) { return a.written || b.written; }
bool scalars_conflict(const Footprint& a, const Footprint& b) {
  auto either = [](int, const Footprint::Scalar& x, const Footprint::Scalar& y) { return changed(x, y); };
  return any_shared(a.locals(), b.locals(), either) || any_shared(a.parameters(), b.parameters(), either);
}

}  // namespace

bool conflict(const Footprint& a, const Footprint& b) {
  return scalars_conflict(a, b) ||
         any_shared(a.memory(), b.memory(), [](BufferId, const Footprint::Memory& x, const Footprint::Memory& y) {
           return x.written || y.written;
         });
}

// ---- where two accesses meet --------------------------------------------------------------

namespace {

__extension__ using Wide = __int128;  // sums of products of sizes

// The difference of two indices: constant + sum of parts, each a multiple of its factor.
struct Difference {
  struct Part {
    Wide low = 0, high = 0;  // of the number that the factor is multiplied with
    bool step = false;       // the distance of the two steps is part of it,
    bool others = false;     // other variables are
  };
  Wide constant = 0;
  std::map<int64_t, Part> parts;  // by the size of the factor
  bool bounded = true;

  void add(int64_t factor, Wide low, Wide high, bool step = false) {
    if (factor < 0) std::swap(low, high), low = -low, high = -high;
    Part& p = parts[std::abs(factor)];
    p.low += low;
    p.high += high;
    (step ? p.step : p.others) = true;
  }
};

// The values of a variable of an access that differ between steps; none for one that stands still.
const Range* range(const Program& p, const Access& a, const Steps& s, Variable v, Range& storage) {
  for (const Range& r : a.inside)
    if (r.variable == v) return &r;
  const VariableInfo& info = p.variables[static_cast<size_t>(v)];
  if (!s.body.binds(v)) return nullptr;
  storage = {v, info.low, info.high};
  return &storage;
}

Difference difference(const Program& p, const Affine& x, const Access& a, const Steps& s, const Affine& y,
                      const Access& b, const Steps& t) {
  Difference d;
  d.constant = Wide(x.constant) - y.constant;
  int64_t by_s = 0, by_t = 0;
  std::map<Variable, Wide> fixed;
  const auto add = [&](const Affine& index, const Access& access, const Steps& steps, int sign, int64_t& by_step) {
    for (const Term& term : index.terms) {
      Range storage;
      if (const Range* r = range(p, access, steps, term.variable, storage))
        d.add(sign * term.factor, r->low, r->high);
      else if (term.variable == steps.variable)
        by_step = term.factor;
      else
        fixed[term.variable] += sign * Wide(term.factor);
    }
  };
  add(x, a, s, 1, by_s);
  add(y, b, t, -1, by_t);
  for (const auto& [v, factor] : fixed) d.bounded = d.bounded && factor == 0;
  const Wide most = std::max<Wide>(0, std::max(Wide(s.end) - s.begin, Wide(t.end) - t.begin) - 1);
  if (by_s == by_t && by_s != 0 && s.begin == t.begin && s.end == t.end) {
    d.add(by_s, -most, most, true);
  } else {
    if (by_s != 0) d.add(by_s, s.begin, Wide(s.end) - 1);
    if (by_t != 0) d.add(-by_t, t.begin, Wide(t.end) - 1);
  }
  return d;
}

// Whether the difference cannot be zero.
bool never_zero(const Difference& d) {
  if (!d.bounded) return false;
  Wide low = d.constant, high = d.constant;
  int64_t divisor = 0;
  for (const auto& [factor, part] : d.parts) {
    low += factor * part.low;
    high += factor * part.high;
    divisor = std::gcd(divisor, factor);
  }
  return low > 0 || high < 0 || (divisor != 0 && d.constant % divisor != 0);
}

// Whether it is zero only where the distance of the steps is: from the largest factor down, a part
// whose smallest change outweighs all that is smaller must be zero itself.
bool zero_at_same_step(const Difference& d) {
  if (!d.bounded) return false;
  Wide rest = d.constant < 0 ? -d.constant : d.constant;
  for (const auto& [factor, part] : d.parts) rest += factor * std::max(-part.low, part.high);
  for (auto it = d.parts.rbegin(); it != d.parts.rend(); ++it) {
    const auto& [factor, part] = *it;
    rest -= factor * std::max(-part.low, part.high);
    if (factor <= rest) return false;
    if (part.step) return !part.others;
  }
  return false;
}

Meeting meeting(const Difference& d) {
  if (never_zero(d)) return Meeting::never;
  return zero_at_same_step(d) ? Meeting::same_step : Meeting::unknown;
}

}  // namespace

Meeting meeting(const Program& p, const Access& a, const Steps& s, const Access& b, const Steps& t) {
  const Buffer &x = p.buffers[static_cast<size_t>(a.view)], &y = p.buffers[static_cast<size_t>(b.view)];
  Meeting best = Meeting::unknown;
  const auto compare = [&](const Affine& i, const Affine& j) {
    Meeting m = meeting(difference(p, i, a, s, j, b, t));
    if (m != Meeting::unknown && best != Meeting::never) best = m;
  };
  if (x.shape == y.shape)
    for (size_t d = 0; d < a.place.size(); ++d) compare(a.place[d], b.place[d]);
  if (best == Meeting::unknown && x.dtype == y.dtype) compare(linear(p, a.view, a.place), linear(p, b.view, b.place));
  return best;
}

namespace {

bool all_meet_in_step(const Program& p, const Footprint::Memory& x, const Steps& s, const Footprint::Memory& y,
                      const Steps& t) {
  if (!x.written && !y.written) return true;
  if (x.whole || y.whole) return false;
  for (const Access& a : x.accesses)
    for (const Access& b : y.accesses)
      if ((a.write || b.write) && meeting(p, a, s, b, t) == Meeting::unknown) return false;
  return true;
}

}  // namespace

bool may_fuse(const Program& p, const Steps& first, const Steps& second) {
  if (first.begin != second.begin || first.end != second.end || scalars_conflict(first.body, second.body)) return false;
  return !any_shared(first.body.memory(), second.body.memory(),
                     [&](BufferId, const Footprint::Memory& x, const Footprint::Memory& y) {
                       return !all_meet_in_step(p, x, first, y, second);
                     });
}

bool steps_apart(const Program& p, const Steps& s) {
  return std::all_of(s.body.memory().begin(), s.body.memory().end(),
                     [&](const auto& m) { return all_meet_in_step(p, m.second, s, m.second, s); });
}

}  // namespace anvil::loops
