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
// a buffer, no statement between them depends on either, and every buffer that one of them
// changes is indexed by the loop's variable in the same way throughout both.
#include <algorithm>
#include <memory>

#include "compiler/passes.h"
#include "compiler/traverse.h"

namespace anvil::compiler {
namespace {

constexpr size_t furthest = 64;       // how many statements back a partner may be
constexpr int most_statements = 400;  // in one loop
constexpr int most_nodes = 1200;      // of expressions in one loop: code is generated in more than linear time
constexpr int64_t small_extent = 8;

// What a statement with all inside it does to one buffer, local or parameter.
struct Touch {
  bool reads = false, writes = false;
  bool uniform = true;  // all accesses are through `view`; `place` says where
  BufferId view = -1;
  Index place;  // per dimension the common index; `varies` marks those without
  std::vector<bool> varies;
};

// Buffers, locals and parameters in one numbering.
enum class Space : int { buffer, local, parameter };
int key(Space space, int id) { return id * 3 + static_cast<int>(space); }

using Summary = std::unordered_map<int, Touch>;

void add(Summary& summary, int k, bool write, BufferId view, const Index* place) {
  auto [it, fresh] = summary.try_emplace(k);
  Touch& t = it->second;
  (write ? t.writes : t.reads) = true;
  if (place == nullptr || (!fresh && t.view != view)) {
    t.uniform = false;
  } else if (fresh) {
    t.view = view;
    t.place = *place;
    t.varies.assign(place->size(), false);
  } else if (t.uniform) {
    for (size_t d = 0; d < place->size(); ++d)
      if (!(t.place[d] == (*place)[d])) t.varies[d] = true;
  }
}
void add(Summary& to, const Summary& from) {
  for (const auto& [k, touch] : from) {
    auto [it, fresh] = to.try_emplace(k, touch);
    if (fresh) continue;
    Touch& t = it->second;
    t.reads = t.reads || touch.reads;
    t.writes = t.writes || touch.writes;
    if (!touch.uniform || t.view != touch.view) t.uniform = false;
    if (!t.uniform) continue;
    for (size_t d = 0; d < t.place.size(); ++d)
      if (touch.varies[d] || !(t.place[d] == touch.place[d])) t.varies[d] = true;
  }
}

struct Node {
  Stmt stmt;  // a loop has its body in `children`
  std::vector<std::unique_ptr<Node>> children;
  Summary summary;
  int statements = 1, nodes = 0;
  bool is_loop = false;
  int product = 0;       // 1 for the sum of a product, 2 for the loop around it, ...; 0: none inside
  bool reduces = false;  // updates a local made outside
  bool carried = false;  // and reads it as well: a scan
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
    n.summary.clear();
    n.statements = 1;
    n.nodes = 0;
    if (!n.is_loop) {
      n.nodes = nodes(n.stmt);
      return summarise_statement(n.stmt, n.summary);
    }
    int inner_product = 0;
    n.reduces = n.carried = false;
    for (const NodePtr& c : n.children) {
      add(n.summary, c->summary);
      n.statements += c->statements;
      n.nodes += c->nodes;
      inner_product = std::max(inner_product, c->product);
    }
    Variable v = std::get<loops::For>(n.stmt.is).variable;
    bool own_update = false;
    for (const NodePtr& c : n.children) own_update = own_update || std::holds_alternative<loops::Update>(c->stmt.is);
    for (const auto& [k, t] : n.summary) {
      if (k % 3 != static_cast<int>(Space::local) || !t.writes || declares(n, k / 3)) continue;
      n.reduces = true;
      if (reads_local(n, k / 3)) n.carried = true;
    }
    n.product = inner_product == 0 ? 0 : n.reduces ? inner_product : inner_product + 1;
    if (own_update)
      for (const NodePtr& c : n.children)
        if (auto u = std::get_if<loops::Update>(&c->stmt.is))
          if (u->op == Op::add && u->value->op == Op::mul && u->value->args[0] != u->value->args[1] &&
              has_load(u->value->args[0], v) && has_load(u->value->args[1], v))
            n.product = std::max(n.product, 1);
  }
  static int nodes(const Stmt& s) {
    std::unordered_set<Expr> seen;
    each_expression(s, [&](Expr e) { each_node(e, seen, [](Expr) {}); });
    int sum = static_cast<int>(seen.size());
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
  static bool declares(const Node& n, LocalId l) {
    for (const NodePtr& c : n.children) {
      if (auto d = std::get_if<loops::Declare>(&c->stmt.is)) {
        if (d->local == l) return true;
      } else if (c->is_loop && declares(*c, l)) {
        return true;
      }
    }
    return false;
  }
  // Other than in updates of itself.
  static bool reads_local(const Node& n, LocalId l) {
    auto it = n.summary.find(key(Space::local, l));
    return it != n.summary.end() && it->second.reads;
  }

  void summarise_statement(const Stmt& s, Summary& out) {
    std::unordered_set<Expr> seen;
    auto parameters = [&](const Affine& a) {
      for (const loops::Term& t : a.terms)
        if (program_.variables[static_cast<size_t>(t.variable)].parameter)
          add(out, key(Space::parameter, t.variable), false, -1, nullptr);
    };
    each_expression(s, [&](Expr e) {
      each_node(e, seen, [&](Expr x) {
        if (x->op == Op::load) add(out, key(Space::buffer, root(program_, x->buffer)), false, x->buffer, &x->place);
        if (x->op == Op::local) add(out, key(Space::local, x->local), false, -1, nullptr);
        for (const Affine& a : x->place) parameters(a);
      });
    });
    std::visit(
        [&](const auto& x) {
          using T = std::decay_t<decltype(x)>;
          if constexpr (std::is_same_v<T, loops::Store>) {
            add(out, key(Space::buffer, root(program_, x.buffer)), true, x.buffer, &x.place);
            for (const Affine& a : x.place) parameters(a);
          } else if constexpr (std::is_same_v<T, loops::Let> || std::is_same_v<T, loops::Declare> ||
                               std::is_same_v<T, loops::Update>) {
            add(out, key(Space::local, x.local), true, -1, nullptr);
          } else if constexpr (std::is_same_v<T, loops::Bind>) {
            add(out, key(Space::parameter, x.parameter), true, -1, nullptr);
          } else if constexpr (std::is_same_v<T, loops::Call>) {
            for (BufferId b : x.buffers) add(out, key(Space::buffer, root(program_, b)), true, -1, nullptr);
          } else if constexpr (std::is_same_v<T, loops::Swap>) {
            for (BufferId b : {x.first, x.second}) add(out, key(Space::buffer, b), true, -1, nullptr);
          }
        },
        s.is);
    each_block(s, [&](const Block& b) {
      for (const Stmt& inner : b) {
        Summary part;
        summarise_statement(inner, part);
        for (auto& [k, t] : part) t.uniform = false;
        add(out, part);
      }
    });
  }

  // ---- dependences ----
  template <class F>
  static bool any_shared(const Summary& a, const Summary& b, F&& f) {
    const Summary &small = a.size() < b.size() ? a : b, &large = a.size() < b.size() ? b : a;
    for (const auto& [k, t] : small) {
      auto it = large.find(k);
      if (it != large.end() && f(k, t, it->second)) return true;
    }
    return false;
  }
  static bool conflict(const Node& a, const Node& b) {
    return any_shared(a.summary, b.summary, [](int, const Touch& x, const Touch& y) { return x.writes || y.writes; });
  }
  // The same element in the same iteration, where one of two loops changes a buffer.
  static bool legal(const Node& a, const Node& b) {
    Variable v = std::get<loops::For>(a.stmt.is).variable, w = std::get<loops::For>(b.stmt.is).variable;
    auto along = [](const Touch& t, size_t d, Variable x) -> const loops::Term* {
      const Affine& i = t.place[d];
      return !t.varies[d] && i.terms.size() == 1 && i.terms[0].variable == x ? &i.terms[0] : nullptr;
    };
    const Summary *first = &a.summary, *second = &b.summary;
    Variable first_variable = v, second_variable = w;
    if (first->size() > second->size()) std::swap(first, second), std::swap(first_variable, second_variable);
    return !any_shared(*first, *second, [&](int k, const Touch& x, const Touch& y) {
      if (!x.writes && !y.writes) return false;
      if (k % 3 != static_cast<int>(Space::buffer) || !x.uniform || !y.uniform || x.view != y.view) return true;
      for (size_t d = 0; d < x.place.size(); ++d) {
        auto p = along(x, d, first_variable), q = along(y, d, second_variable);
        if (p && q && p->factor == q->factor && x.place[d].constant == y.place[d].constant) return false;
      }
      return true;
    });
  }
  bool worthwhile(const Node& a, const Node& b) const {
    if (a.statements + b.statements > most_statements || a.nodes + b.nodes > most_nodes) return false;
    if (a.carried || b.carried) return false;
    bool tiny = a.extent() <= small_extent && b.extent() <= small_extent;
    if (!tiny && (a.product == 3 || b.product == 3) && !around_product(a, b)) return false;
    return any_shared(a.summary, b.summary,
                      [](int k, const Touch&, const Touch&) { return k % 3 == static_cast<int>(Space::buffer); });
  }
  // A product of matrices is blocked in two loops. What joins it must fit into the inner
  // one, element by element.
  static bool around_product(const Node& a, const Node& b) {
    if (a.product == b.product) return false;
    const Node *x = only_loop(a), *y = only_loop(b);
    return x && y && same_steps(*x, *y) && !x->reduces && !y->reduces && legal(*x, *y);
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
    size_t first = list.size() > furthest ? list.size() - furthest : 0, place = list.size();
    for (; place > first; --place) {
      Node& x = *list[place - 1];
      if (n->is_loop && x.is_loop && same_steps(x, *n) && worthwhile(x, *n) && legal(x, *n))
        return join(x, std::move(n));
      if (conflict(x, *n)) break;
    }
    // Statements other than loops go as far forward as they can, out of the way.
    bool early = std::holds_alternative<loops::Declare>(n->stmt.is) || std::holds_alternative<loops::Bind>(n->stmt.is);
    list.insert(early ? list.begin() + static_cast<std::ptrdiff_t>(place) : list.end(), std::move(n));
  }
  void join(Node& x, NodePtr n) {
    Variable v = std::get<loops::For>(x.stmt.is).variable, w = std::get<loops::For>(n->stmt.is).variable;
    if (v != w) rename(*n, w, v);
    add(x.summary, n->summary);
    x.statements += n->statements;
    x.nodes += n->nodes;
    x.product = std::max(x.product, n->product);
    x.reduces = x.reduces || n->reduces;
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
    if (auto f = std::get_if<loops::For>(&s.is))
      f->variable = f->variable == a ? b : f->variable == b ? a : f->variable;
    each_block(s, [&](Block& inner) {
      for (Stmt& t : inner) rename_loops(t, a, b);
    });
  }

  Program& program_;
};

}  // namespace

void merge_nests(Program& p) { Merger(p).block(p.body); }

}  // namespace anvil::compiler
