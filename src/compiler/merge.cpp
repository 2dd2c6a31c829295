// Nests with equal loops become one nest, from the outside in, so that values that one
// makes and another reads meet in the same iteration:
//
//   for j in 0..12 {                       for j in 0..12 {
//     a1 = 0                                 a1 = 0
//     for p in 0..40 {                       for p in 0..40 {
//       a1 += x1[p, j]                         a1 += x1[p, j]
//     }                                      }
//     t1[j] = a1                             t1[j] = a1
//   }                                        t2[j] = t1[j] / 40
//   for j in 0..12 {                       }
//     t2[j] = t1[j] / 40
//   }
//
// The nests of a block are taken one after the other and put into the tree made so far: at
// each level the last loop with the same steps takes the new one's body when the two share
// elements of a buffer, no statement between them depends on either, and steps of the two that meet in
// memory are the same (loops/dependence.h). A loop that took one looks for a partner again: with a buffer that only
// the new one reads it may belong to a loop further forward (zeros, and what is written over them). Where a statement
// between them is in the way, a loop before that follows it if it can. A loop that branches keeps others from being
// vectors: it stays alone.
#include <algorithm>
#include <memory>

#include "base/interrupt.h"
#include "compiler/passes.h"
#include "compiler/traverse.h"
#include "loops/dependence.h"

namespace anvil::compiler {
namespace {

constexpr size_t furthest = 64;       // how many statements back a partner may be
constexpr int most_statements = 400;  // in one loop
constexpr int most_nodes = 1200;      // of expressions in one loop: code is generated in more than linear time
constexpr int64_t small_extent = 8;
constexpr int64_t least_lanes = 16;                // of a loop over functions that is a vector of its own
constexpr int64_t few_lanes = 8, most_lanes = 64;  // the same, where it would join a loop around short lines in memory
constexpr int64_t short_line = 16;

struct Node {
  Stmt stmt;  // a loop has its body in `children`
  std::vector<std::unique_ptr<Node>> children;
  loops::Footprint touched;  // by a statement, or by one step of a loop
  int statements = 1, nodes = 0;
  bool is_loop = false;
  int product = 0;        // 1 for the sum of a product, 2 for a loop around it, 3 for one around that which moves one
                          // operand; 0: none inside
  Expr term = nullptr;    // of a product: left * right
  bool dots = false;      // of a product: its operands lie along the sum, which is a vector then
  bool lines = false;     // around a short loop along memory
  bool function = false;  // calls one
  bool reduces = false;   // updates a local made outside
  bool carried = false;   // and reads it as well: a scan
  bool branches() const {
    return std::any_of(children.begin(), children.end(),
                       [](const auto& c) { return std::holds_alternative<loops::If>(c->stmt.is); });
  }
  int64_t extent() const {
    auto& f = std::get<loops::For>(stmt.is);
    return f.end - f.begin;
  }
};
using NodePtr = std::unique_ptr<Node>;
using Nodes = std::vector<NodePtr>;

class Merger {
 public:
  explicit Merger(Program& p) : program_(p) {}

  void block(Block& b) {
    Nodes list;
    for (Stmt& s : b) {
      poll();
      if (!std::holds_alternative<loops::For>(s.is)) each_block(s, [this](Block& inner) { block(inner); });
      insert(list, make(std::move(s)));
    }
    b.clear();
    for (NodePtr& n : list) b.push_back(statement(std::move(n)));
  }

 private:
  // ---- statements to nodes and back ----
  NodePtr make(Stmt s) {
    auto n = std::make_unique<Node>();
    n->stmt = std::move(s);
    if (auto f = std::get_if<loops::For>(&n->stmt.is)) {
      n->is_loop = true;
      for (Stmt& inner : f->body) n->children.push_back(make(std::move(inner)));
      f->body.clear();
    }
    summarise(*n);
    return n;
  }
  static Stmt statement(NodePtr n) {
    if (auto f = std::get_if<loops::For>(&n->stmt.is))
      for (NodePtr& c : n->children) f->body.push_back(statement(std::move(c)));
    return std::move(n->stmt);
  }

  void summarise(Node& n) {
    n.touched = {};
    n.term = nullptr;
    n.statements = 1;
    n.nodes = 0;
    if (!n.is_loop) {
      n.nodes = nodes(n.stmt);
      n.function = calls_function(n.stmt);
      n.touched = loops::Footprint(program_, n.stmt);
      return;
    }
    int inner_product = 0;
    n.reduces = n.carried = n.dots = n.lines = n.function = false;
    for (const NodePtr& c : n.children) {
      n.touched.add(seen_from_outside(*c));
      n.statements += c->statements;
      n.nodes += c->nodes;
      n.dots = n.dots || c->dots;
      n.function = n.function || c->function;
      if (c->product > inner_product) inner_product = c->product, n.term = c->term;
    }
    Variable v = variable(n);
    for (const NodePtr& c : n.children) n.lines = n.lines || is_line(*c, v);
    bool own_update = false;
    for (const NodePtr& c : n.children) own_update = own_update || std::holds_alternative<loops::Update>(c->stmt.is);
    for (const auto& [l, use] : n.touched.locals()) {
      if (!use.written || makes(n, l)) continue;
      n.reduces = true;
      if (use.read) n.carried = true;
    }
    const bool of_all = inner_product == 2 && has_load(n.term->args[0], v) && has_load(n.term->args[1], v);
    n.product = inner_product == 0 ? 0 : n.reduces || of_all ? inner_product : inner_product + 1;
    if (own_update)
      for (const NodePtr& c : n.children)
        if (auto u = std::get_if<loops::Update>(&c->stmt.is); u && !makes(n, u->local))
          if (u->op == Op::add && u->value->op == Op::mul && u->value->args[0] != u->value->args[1] &&
              has_load(u->value->args[0], v) && has_load(u->value->args[1], v)) {
            if (n.product == 0) n.product = 1, n.term = u->value;
            n.dots = n.extent() >= long_sum && lies_along(u->value, v);
          }
  }
  // Whether the steps of a loop in that of v are neighbours in memory where those of v are not.
  bool is_line(const Node& n, Variable v) const {
    if (!n.is_loop || has_loops(n) || n.extent() < few_lanes || n.extent() > short_line) return false;
    bool along = false, across = false;
    for (const auto& [buffer, memory] : n.touched.memory())
      for (const loops::Access& x : memory.accesses) {
        const Affine at = loops::linear(program_, x.view, x.place);
        const int64_t step = loops::factor(at, variable(n)), outer = loops::factor(at, v);
        along = along || (step == 1 && outer != 0);
        across = across || (outer == 1 && step != 0);
      }
    return along && !across;
  }
  bool lies_along(Expr e, Variable v) const {
    bool along = true;
    each_node(e, [&](Expr x) {
      if (x->op == Op::load) along = along && loops::factor(loops::linear(program_, x->buffer, x->place), v) == 1;
    });
    return along;
  }
  static bool calls_function(const Stmt& s) {
    bool found = false;
    each_expression(s, [&](Expr e) { found = found || loops::calls_function(e); });
    return found;
  }
  static int nodes(const Stmt& s) {
    loops::ExprSet seen;
    int sum = 0;
    each_expression(s, [&](Expr e) { each_node(e, seen, [&](Expr) { ++sum; }); });
    each_block(s, [&](const Block& b) {
      for (const Stmt& inner : b) sum += nodes(inner);
    });
    return sum;
  }
  static bool has_load(Expr e, Variable v) {
    bool found = false;
    each_node(e, [&](Expr x) {
      if (x->op == Op::load)
        for (const Affine& a : x->place) found = found || loops::factor(a, v) != 0;
    });
    return found;
  }
  static loops::Footprint seen_from_outside(const Node& n) {
    loops::Footprint f = n.touched;
    if (n.is_loop) f.enclose(std::get<loops::For>(n.stmt.is));
    return f;
  }
  static bool makes(const Node& n, LocalId l) {
    return std::any_of(n.children.begin(), n.children.end(), [l](const NodePtr& c) {
      if (auto d = std::get_if<loops::Declare>(&c->stmt.is)) return d->local == l;
      if (auto d = std::get_if<loops::Let>(&c->stmt.is)) return d->local == l;
      return c->is_loop && makes(*c, l);
    });
  }

  // ---- dependences ----
  loops::Steps steps(const Node& n) const { return loops::steps(std::get<loops::For>(n.stmt.is), n.touched); }
  bool legal(const Node& a, const Node& b) const { return may_fuse(program_, steps(a), steps(b)); }
  bool worthwhile(const Node& a, const Node& b) const {
    if (a.statements + b.statements > most_statements || a.nodes + b.nodes > most_nodes) return false;
    if (a.carried || b.carried || a.branches() != b.branches()) return false;
    if (function_of_dots(a, b) || function_of_dots(b, a)) return false;
    if (function_of_lines(a, b) || function_of_lines(b, a)) return false;
    bool tiny = a.extent() <= small_extent && b.extent() <= small_extent;
    if (!tiny && (a.product == 3 || b.product == 3) && !around_product(a, b)) return false;
    return share_memory(a, b);
  }
  // Whether a step of each has something to do with the same elements of the largest buffer that both touch: one goes
  // along the rows of a matrix, say, and not the other one along its columns.
  bool share_memory(const Node& a, const Node& b) const {
    int64_t largest = 1;
    bool alike = false;
    for (const auto& [buffer, x] : a.touched.memory()) {
      const auto y = b.touched.memory().find(buffer);
      const int64_t size = elements(program_.buffers[static_cast<size_t>(buffer)].shape);
      if (y == b.touched.memory().end() || size < largest || size == 1) continue;
      const bool same =
          x.whole || y->second.whole || any_alike(x.accesses, variable(a), y->second.accesses, variable(b));
      alike = same || (alike && size == largest);
      largest = size;
    }
    return alike;
  }
  static Variable variable(const Node& n) { return std::get<loops::For>(n.stmt.is).variable; }
  static bool any_alike(const std::vector<loops::Access>& list, Variable v, const std::vector<loops::Access>& others,
                        Variable w) {
    const auto moves_alike = [&](const loops::Access& x, const loops::Access& y) {
      return x.view != y.view ||
             std::equal(x.place.begin(), x.place.end(), y.place.begin(), [&](const Affine& i, const Affine& j) {
               return (loops::factor(i, v) == 0) == (loops::factor(j, w) == 0);
             });
    };
    return std::any_of(list.begin(), list.end(), [&](const loops::Access& x) {
      return std::any_of(others.begin(), others.end(), [&](const loops::Access& y) { return moves_alike(x, y); });
    });
  }
  // A sum along memory is a vector, and what joined it would be none: functions stay a nest of their own, if it is long.
  static bool function_of_dots(const Node& sum, const Node& n) {
    if (!sum.dots || sum.product < 2 || n.product > 0 || !n.function) return false;
    const Node* inner = only_loop(n);
    const int64_t lanes = inner ? inner->extent() : 1;
    return (sum.product == 2 || (sum.product == 3 && lanes < least_lanes)) && n.extent() * lanes >= least_lanes;
  }
  static bool function_of_lines(const Node& lines, const Node& n) {
    return lines.lines && n.function && !has_loops(n) && n.extent() >= few_lanes && n.extent() <= most_lanes;
  }
  bool is_number(BufferId b) const { return elements(program_.buffers[static_cast<size_t>(b)].shape) == 1; }
  // A product of matrices is blocked in two loops. What joins it must fit into the inner
  // one, element by element.
  bool around_product(const Node& a, const Node& b) const {
    if (a.product == b.product) return false;
    const Node *x = only_loop(a), *y = only_loop(b);
    return x && y && same_steps(*x, *y) && !x->reduces && !y->reduces && legal(*x, *y);
  }
  static bool has_loops(const Node& n) {
    return std::any_of(n.children.begin(), n.children.end(), [](const NodePtr& c) { return c->is_loop; });
  }
  static const Node* only_loop(const Node& n) {
    const Node* found = nullptr;
    for (const NodePtr& c : n.children) {
      if (!c->is_loop) continue;
      if (found) return nullptr;
      found = c.get();
    }
    return found;
  }
  static bool same_steps(const Node& a, const Node& b) {
    auto &f = std::get<loops::For>(a.stmt.is), &g = std::get<loops::For>(b.stmt.is);
    return f.begin == g.begin && f.end == g.end;
  }

  // ---- the tree ----
  void insert(Nodes& list, NodePtr n) {
    const size_t end = list.size();
    insert(list, end, std::move(n), false);
  }
  // Before the node `end`, into a loop before that, or further forward.
  void insert(Nodes& list, size_t end, NodePtr n, bool again) {
    const size_t first = end > furthest ? end - furthest : 0;
    const auto takes = [&](const Node& x) { return (!again || changes_no_places(x)) && fits(x, *n); };
    size_t place = end;
    for (; place > first; --place) {
      if (takes(*list[place - 1])) return insert_into(list, place - 1, place - 1, std::move(n));
      if (conflict(list[place - 1]->touched, n->touched)) break;
    }
    for (size_t k = place; k-- > first;)
      if (takes(*list[k]) && may_follow(list, k, end)) return insert_into(list, k, end - 1, std::move(n));
    // What makes one number goes as far forward as it can, out of the way.
    const auto store = std::get_if<loops::Store>(&n->stmt.is);
    const bool early = std::holds_alternative<loops::Declare>(n->stmt.is) ||
                       std::holds_alternative<loops::Bind>(n->stmt.is) || (store && is_number(store->buffer));
    list.insert(at(list, early ? place : end), std::move(n));
  }
  // Into the loop at k, which goes to `place`. It shares more with what is before it then.
  void insert_into(Nodes& list, size_t k, size_t place, NodePtr n) {
    NodePtr x = take(list, k);
    join(*x, std::move(n));
    if (changes_no_places(*x)) return insert(list, place, std::move(x), true);
    list.insert(at(list, place), std::move(x));
  }
  // The loops of a product of matrices change places later.
  static bool changes_no_places(const Node& n) { return n.product < 3; }
  bool fits(const Node& x, const Node& n) const {
    return x.is_loop && n.is_loop && same_steps(x, n) && worthwhile(x, n) && legal(x, n);
  }
  // Whether node k needs to be before none of those behind it.
  static bool may_follow(const Nodes& list, size_t k, size_t end) {
    for (size_t i = k + 1; i < end; ++i)
      if (conflict(list[k]->touched, list[i]->touched)) return false;
    return true;
  }
  static NodePtr take(Nodes& list, size_t place) {
    NodePtr n = std::move(list[place]);
    list.erase(at(list, place));
    return n;
  }
  static Nodes::iterator at(Nodes& list, size_t place) { return list.begin() + static_cast<std::ptrdiff_t>(place); }
  void join(Node& x, NodePtr n) {
    Variable v = std::get<loops::For>(x.stmt.is).variable, w = std::get<loops::For>(n->stmt.is).variable;
    if (v != w) rename(*n, w, v);
    x.touched.add(n->touched);
    x.statements += n->statements;
    x.nodes += n->nodes;
    if (n->product > x.product) x.product = n->product, x.term = n->term;
    x.reduces = x.reduces || n->reduces;
    x.dots = x.dots || n->dots;
    x.function = x.function || n->function;
    for (NodePtr& c : n->children) insert(x.children, std::move(c));
  }
  // Exchanges two variables, since the other one may be that of a loop inside.
  void rename(Node& n, Variable a, Variable b) {
    VariableMap map = {{a, loops::variable(b)}, {b, loops::variable(a)}};
    auto rewriter = variable_rewriter(program_.exprs, map);
    rename(n, a, b, map, rewriter);
  }
  template <class R>
  void rename(Node& n, Variable a, Variable b, const VariableMap& map, R& rewriter) {
    if (auto f = std::get_if<loops::For>(&n.stmt.is)) {
      f->variable = f->variable == a ? b : f->variable == b ? a : f->variable;
      for (NodePtr& c : n.children) rename(*c, a, b, map, rewriter);
    } else {
      rename_loops(n.stmt, a, b);
      rewrite(n.stmt, rewriter, map);
    }
    summarise(n);
  }
  static void rename_loops(Stmt& s, Variable a, Variable b) {
    const auto exchange = [a, b](Variable& v) { v = v == a ? b : v == b ? a : v; };
    if (auto f = std::get_if<loops::For>(&s.is)) exchange(f->variable);
    if (auto c = std::get_if<loops::Contraction>(&s.is))
      for (auto& axis : c->axes) exchange(axis.variable);
    each_block(s, [&](Block& inner) {
      for (Stmt& t : inner) rename_loops(t, a, b);
    });
  }

  Program& program_;
};

}  // namespace

void merge_nests(Program& p) { Merger(p).block(p.body); }

}  // namespace anvil::compiler
