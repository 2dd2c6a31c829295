// Substitution in indices, and the removal of stores that nothing reads.
#include "compiler/traverse.h"

#include <algorithm>

namespace anvil::compiler {

Affine substitute(const VariableMap& map, const Affine& a) {
  bool found = false;
  for (const loops::Term& t : a.terms) found = found || map.count(t.variable);
  if (!found) return a;
  Affine sum{a.constant, {}};
  for (const loops::Term& t : a.terms) {
    auto it = map.find(t.variable);
    sum = sum + (it == map.end() ? Affine{0, {t}} : it->second * t.factor);
  }
  return sum;
}

Index substitute(const VariableMap& map, const Index& index) {
  Index result;
  result.reserve(index.size());
  for (const Affine& a : index) result.push_back(substitute(map, a));
  return result;
}

void substitute_in_wanted(const VariableMap& map, Stmt& s) {
  if (auto c = std::get_if<loops::Contraction>(&s.is); c && c->wanted) c->wanted = substitute(map, *c->wanted);
  each_block(s, [&](Block& b) {
    for (Stmt& inner : b) substitute_in_wanted(map, inner);
  });
}

void take_block(Program& p, loops::For& f, const Affine& block, int64_t size) {
  VariableMap map = {{f.variable, Affine{f.begin, {}} + block * size}};
  if (size > 1) map[f.variable] = map[f.variable] + loops::variable(f.variable);
  auto rewriter = variable_rewriter(p.exprs, map);
  for (Stmt& s : f.body) rewrite(s, rewriter, map);
  f.begin = 0, f.end = size;
}

loops::For loop_over_blocks(Program& p, loops::For& f, int64_t count, int64_t size) {
  loops::For blocks = make_loop(p, f.variable, count);
  take_block(p, f, loops::variable(blocks.variable), size);
  return blocks;
}

namespace {

class DeadStores {
 public:
  explicit DeadStores(Program& p) : program_(p), reads_(p.buffers.size(), 0) { count(p.body); }
  void run() {
    do changed_ = false, clean(program_.body);
    while (changed_);
  }

 private:
  int& reads(BufferId b) { return reads_[static_cast<size_t>(root(program_, b))]; }
  void count(const Block& block) {
    for (const Stmt& s : block) count(s, 1);
  }
  void count(const Stmt& s, int step) {
    each_access_inside(s, [&](BufferId b, const Index*, AccessKind kind) {
      if (kind != AccessKind::write) reads(b) += step;
    });
  }
  bool dead(const Stmt& s) {
    if (auto f = std::get_if<loops::For>(&s.is)) return f->body.empty();
    if (auto i = std::get_if<loops::If>(&s.is)) return i->yes.empty() && i->no.empty();
    auto store = std::get_if<loops::Store>(&s.is);
    if (store == nullptr) return false;
    BufferId b = root(program_, store->buffer);
    return program_.buffers[static_cast<size_t>(b)].kind == loops::Buffer::Kind::temporary && reads(b) == 0;
  }
  // Last statements first, so that a chain of dead values goes in one round.
  void clean(Block& block) {
    size_t kept = block.size();
    for (size_t k = block.size(); k-- > 0;) {
      each_block(block[k], [&](Block& b) { clean(b); });
      if (dead(block[k])) {
        count(block[k], -1);
        changed_ = true;
      } else {
        --kept;
        if (kept != k) block[kept] = std::move(block[k]);
      }
    }
    block.erase(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(kept));
  }

  Program& program_;
  std::vector<int> reads_;
  bool changed_ = false;
};

BufferId add_temporary(Program& p, DType dtype, Shape shape, std::string name) {
  loops::Buffer b;
  b.dtype = dtype;
  b.shape = std::move(shape);
  b.name = std::move(name);
  p.buffers.push_back(std::move(b));
  return static_cast<BufferId>(p.buffers.size()) - 1;
}

}  // namespace

std::vector<int> count_accesses(const Program& p) {
  std::vector<int> counts(p.buffers.size(), 0);
  for (const loops::Buffer& b : p.buffers)
    if (b.alias >= 0) counts[static_cast<size_t>(b.alias)] = many_accesses;
  for (const Stmt& s : p.body)
    each_access_inside(s, [&](BufferId x, const Index*, AccessKind) {
      int& n = counts[static_cast<size_t>(x)];
      n = std::min(many_accesses, n + 1);
    });
  return counts;
}

bool visits_once(const Index& place, std::set<Variable> loops) {
  for (const Affine& a : place) {
    if (a.terms.size() > 1) return false;
    if (!a.terms.empty() && loops.erase(a.terms[0].variable) == 0) return false;
  }
  return loops.empty();
}

std::optional<size_t> dimension_of(const Index& place, Variable axis) {
  std::optional<size_t> found;
  for (size_t d = 0; d < place.size(); ++d) {
    if (loops::factor(place[d], axis) == 0) continue;
    if (found || !(place[d] == loops::variable(axis))) return std::nullopt;
    found = d;
  }
  return found;
}

BufferId make_temporary(Program& p, DType dtype, Shape shape, const char* mark) {
  const std::string number = std::to_string(p.buffers.size() + 1);
  return add_temporary(p, dtype, std::move(shape), mark + number);
}

BufferId make_temporary(Program& p, BufferId like, Shape shape, const char* mark) {
  const loops::Buffer& b = p.buffers[static_cast<size_t>(like)];
  return add_temporary(p, b.dtype, std::move(shape), b.name + mark + std::to_string(p.buffers.size()));
}

LocalId make_local(Program& p, LocalId like) {
  loops::LocalInfo copy = p.locals[static_cast<size_t>(like)];
  p.locals.push_back(std::move(copy));
  return static_cast<LocalId>(p.locals.size()) - 1;
}
LocalId make_local(Program& p, DType dtype) {
  p.locals.push_back({"a" + std::to_string(p.locals.size() + 1), dtype});
  return static_cast<LocalId>(p.locals.size()) - 1;
}

Variable make_variable(Program& p, Variable like) {
  std::string name = p.variables[static_cast<size_t>(like)].name;
  p.variables.push_back({std::move(name)});
  return static_cast<Variable>(p.variables.size()) - 1;
}
Variable make_parameter(Program& p, int64_t low, int64_t high) {
  const auto v = static_cast<Variable>(p.variables.size());
  p.variables.push_back({"p" + std::to_string(v), true, low, high});
  return v;
}
loops::For make_loop(Program& p, Variable like, int64_t count) {
  loops::For f;
  f.variable = make_variable(p, like);
  f.end = count;
  return f;
}

void remove_dead_stores(Program& p) { DeadStores(p).run(); }

// Of a matrix of rows and columns; where loops around give a part of the difference, a half.
static double wanted_part(const loops::Contraction& c) {
  double all = 1, some = 1;
  Affine rest = *c.wanted;
  int64_t extents[2] = {1, 1};
  for (const auto& axis : c.axes) {
    if (const int64_t by = loops::factor(*c.wanted, axis.variable); by != 0) {
      extents[by > 0 ? 0 : 1] = axis.extent;
      rest = rest + loops::variable(axis.variable) * -by;
    }
  }
  if (!rest.terms.empty()) return 0.5;
  all = double(extents[0]) * double(extents[1]);
  some = 0;
  for (int64_t i = 0; i < extents[0]; ++i) some += double(std::clamp<int64_t>(i + rest.constant + 1, 0, extents[1]));
  return some / all;
}
double multiplications(const loops::Contraction& c) {
  double n = c.wanted ? wanted_part(c) : 1, shared = 1;
  for (const auto& axis : c.axes) {
    n *= static_cast<double>(axis.extent);
    if (!c.is_column(axis.variable)) shared *= static_cast<double>(axis.extent);
  }
  for (const auto& b : c.beside) {
    double columns = 1;
    for (const auto& axis : b.columns) columns *= static_cast<double>(axis.extent);
    n += shared * columns;
  }
  return n;
}

namespace {

template <class T>
std::vector<T> reordered(const std::vector<T>& x, const Order& order) {
  std::vector<T> y;
  for (size_t d : order) y.push_back(x[d]);
  return y;
}
}  // namespace

void reorder_dimensions(Program& p, const std::vector<Order>& orders) {
  if (std::all_of(orders.begin(), orders.end(), [](const Order& o) { return o.empty(); })) return;
  for (size_t b = 0; b < orders.size(); ++b)
    if (!orders[b].empty()) p.buffers[b].shape = reordered(p.buffers[b].shape, orders[b]);
  const auto place = [&](BufferId b, const Index& at) {
    const Order& order = orders[static_cast<size_t>(b)];
    return order.empty() ? at : reordered(at, order);
  };
  Rewriter rewriter(p.exprs, [&](Expr e) -> Expr {
    if (e->op != Op::load || orders[static_cast<size_t>(e->buffer)].empty()) return nullptr;
    return p.exprs.load(e->buffer, e->dtype, place(e->buffer, e->place));
  });
  for (Stmt& s : p.body) rewrite_places(s, rewriter, place);
}

}  // namespace anvil::compiler
