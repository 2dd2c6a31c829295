#include "compiler/axis_blocks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "compiler/copy.h"
#include "loops/dependence.h"

namespace anvil::compiler {
namespace {

using loops::Contraction;
using loops::For;
using Dimensions = std::map<BufferId, size_t>;

For& loop(Stmt& s, size_t k) { return *outer_loops(&std::get<For>(s.is))[k]; }

Variable variable_of(Stmt& s, size_t axis) {
  if (auto c = std::get_if<Contraction>(&s.is)) return c->axes[axis].variable;
  return loop(s, axis).variable;
}
int64_t& extent_of(Stmt& s, size_t axis) {
  if (auto c = std::get_if<Contraction>(&s.is)) return c->axes[axis].extent;
  return loop(s, axis).end;
}

// The dimension that the axis is in buffers that nobody else knows.
Dimensions dimensions_of(Block& b, const std::vector<AlongAxis>& statements, const std::set<BufferId>& between,
                         const std::vector<int>& accesses) {
  Dimensions found;
  std::set<BufferId> others;
  std::map<BufferId, int> seen;
  for (const auto& [k, axis] : statements)
    each_access_inside(b[k], [&, v = variable_of(b[k], axis)](BufferId x, const Index* place, AccessKind) {
      if (between.count(x) == 0) return;
      ++seen[x];
      const std::optional<size_t> d = place ? dimension_of(*place, v) : std::nullopt;
      if (!d || found.emplace(x, *d).first->second != *d) others.insert(x);
    });
  std::erase_if(found, [&](const auto& x) {
    return others.count(x.first) > 0 || seen[x.first] != accesses[static_cast<size_t>(x.first)];
  });
  return found;
}

// Writes `to` for a variable; places in buffers that `own` knows become own(buffer, place).
template <class Own>
void move(Program& p, Stmt& s, Variable v, const Affine& to, const Own& own) {
  const VariableMap map = {{v, to}};
  const auto moved = [&](BufferId x, const Index& place) {
    std::optional<Index> found = own(x, place);
    return found ? *std::move(found) : substitute(map, place);
  };
  Rewriter rewriter(p.exprs, [&](Expr e) -> Expr {
    if (e->op == Op::load) return p.exprs.load(e->buffer, e->dtype, moved(e->buffer, e->place));
    return e->op == Op::index ? p.exprs.index(substitute(map, e->place[0])) : nullptr;
  });
  rewrite_places(s, rewriter, moved);
}

// Copies of the statements for the steps from `first` on, with buffers of their own.
std::vector<AddedStatement> rests(Program& p, Block& b, const std::vector<AlongAxis>& statements,
                                  const Dimensions& dimensions, int64_t first, int64_t count) {
  std::vector<BufferId> own;
  std::set<BufferId> copies;
  for (const auto& [x, _] : dimensions) own.push_back(x);
  LoopCopy copy(p, own);
  for (const auto& [x, d] : dimensions) {
    copies.insert(copy.of(x));
    loops::Buffer& rest = p.buffers[static_cast<size_t>(copy.of(x))];
    rest.name += "rest";
    rest.shape[d] = count;
  }
  std::vector<AddedStatement> list;
  for (const auto& [k, axis] : statements) {
    Stmt s = copy(b[k]);
    extent_of(s, axis) = count;
    const Variable v = variable_of(s, axis);
    move(p, s, v, loops::variable(v) + Affine{first, {}},
         [&](BufferId x, const Index& place) { return copies.count(x) ? std::optional(place) : std::nullopt; });
    list.push_back({k, false, std::move(s)});
  }
  return list;
}

// A nest that sets the result of a contraction to 0.
Stmt zeros(Program& p, const Contraction& c, const loops::Origins& from) {
  VariableMap own;
  std::vector<For> around;
  for (const auto& axis : c.axes)
    if (step(p, c.buffer, c.place, axis.variable) != 0) {
      around.push_back(make_loop(p, axis.variable, axis.extent));
      own[axis.variable] = loops::variable(around.back().variable);
    }
  const Expr zero = p.exprs.constant(0, p.buffers[static_cast<size_t>(c.buffer)].dtype);
  Stmt nest = {loops::Store{c.buffer, substitute(own, c.place), zero}, from};
  for (; !around.empty(); around.pop_back()) {
    around.back().body.push_back(std::move(nest));
    nest = {std::move(around.back())};
  }
  return nest;
}

// The place of the loop over blocks: around a contraction, or around that loop of a nest.
void put_around(Stmt& s, size_t axis, For blocks) {
  if (std::holds_alternative<For>(s.is)) {
    For& around = loop(s, axis);
    std::swap(around, blocks);
    around.body.push_back({std::move(blocks)});
  } else {
    blocks.body.push_back(std::move(s));
    s = {std::move(blocks)};
  }
}

}  // namespace

std::vector<AddedStatement> cut_along(Program& p, Block& b, const std::vector<AlongAxis>& statements, int64_t size,
                                      const std::set<BufferId>& between, const std::vector<int>& accesses) {
  const Dimensions dimensions = dimensions_of(b, statements, between, accesses);
  const int64_t n = extent_of(b[statements[0].statement], statements[0].axis), count = n / size;
  std::vector<AddedStatement> added;
  for (const auto& [k, axis] : statements)
    if (auto c = std::get_if<Contraction>(&b[k].is);
        c && step(p, c->buffer, c->place, c->axes[axis].variable) == 0 && !c->adds) {
      added.push_back({k, true, zeros(p, *c, b[k].origins)});
      c->adds = true;
    }
  if (n % size > 0) {
    std::vector<AddedStatement> rest = rests(p, b, statements, dimensions, count * size, n % size);
    std::move(rest.begin(), rest.end(), std::back_inserter(added));
  }
  for (const auto& [x, d] : dimensions) {
    Shape& shape = p.buffers[static_cast<size_t>(x)].shape;
    shape[d] = size;
    shape.push_back(count);
  }
  for (const auto& [k, axis] : statements) {
    const Variable v = variable_of(b[k], axis);
    For blocks = make_loop(p, v, count);
    const Affine block = loops::variable(blocks.variable);
    extent_of(b[k], axis) = size;
    move(p, b[k], v, block * size + loops::variable(v), [&](BufferId x, Index place) -> std::optional<Index> {
      if (dimensions.count(x) == 0) return std::nullopt;
      place.push_back(block);
      return place;
    });
    put_around(b[k], axis, std::move(blocks));
  }
  return added;
}

void add_statements(const Program& p, Block& b, std::vector<AddedStatement> list) {
  // from the last one on, so that those before stay where they are
  std::sort(list.begin(), list.end(), [](const AddedStatement& x, const AddedStatement& y) {
    return std::pair(x.statement, !x.before) > std::pair(y.statement, !y.before);
  });
  size_t last = list.empty() ? 0 : list[0].statement;
  for (auto& [k, before, s] : list) {
    size_t to = before ? k : k + 1;
    if (!before) {
      const loops::Footprint touched(p, s);
      while (to <= last && !conflict(touched, loops::Footprint(p, b[to]))) ++to;
    }
    if (to <= last) ++last;
    b.insert(b.begin() + static_cast<ptrdiff_t>(to), std::move(s));
  }
}

}  // namespace anvil::compiler
