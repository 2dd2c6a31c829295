// Temporaries that live within one iteration of a loop lose the dimension of that loop;
// what has none left is a local. After that, what was just stored is not loaded again.
//
//   for j in 0..12 {                       for j in 0..12 {
//     t1[j] = x1[j] * 2                      let t1 = x1[j] * 2
//     for i in 0..40 {                       for i in 0..40 {
//       t2[i, j] = x2[i] + t1[j]               t2[i] = x2[i] + t1
//     }                                      }
//     ...                                    ...
#include <algorithm>

#include "base/interrupt.h"
#include "compiler/passes.h"
#include "compiler/traverse.h"
#include "loops/origins.h"

namespace anvil::compiler {
namespace {

class Shrinker {
 public:
  explicit Shrinker(Program& p) : program_(p), temps_(p.buffers.size()) {
    for (size_t b = 0; b < p.buffers.size(); ++b) {
      const loops::Buffer& buffer = p.buffers[b];
      if (buffer.kind != loops::Buffer::Kind::temporary) temps_[b].fixed = true;
      if (buffer.alias >= 0) temps_[b].fixed = temps_[static_cast<size_t>(buffer.alias)].fixed = true;
    }
    nodes_.push_back({-1, 0, nullptr});
  }

  void run() {
    collect(program_.body, 0);
    for (size_t b = 0; b < temps_.size(); ++b) decide(static_cast<BufferId>(b));
    Rewriter rewriter(program_.exprs, [this](Expr e) { return e->op == Op::load ? shrunk(e) : nullptr; });
    apply(program_.body, rewriter);
  }

 private:
  struct Temporary {
    bool fixed = false;
    bool in_memory = false;  // a contraction accesses it
    int home = -1;           // the innermost statement around all accesses, 0 for the program
    int stores = 0;
    int first_store = -1, first_access = -1;  // statements, in order of the program
    Index place;                              // per dimension what all accesses have in common, see `varies`
    std::vector<bool> varies, kept;
    bool local = false, declared = false;
    LocalId id = -1;
  };
  struct Node {
    int parent, depth;
    const Stmt* stmt;
  };

  // ---- accesses ----
  void collect(const Block& block, int parent) {
    for (const Stmt& s : block) {
      int id = static_cast<int>(nodes_.size());
      nodes_.push_back({parent, nodes_[static_cast<size_t>(parent)].depth + 1, &s});
      if (auto loop = std::get_if<loops::While>(&s.is)) {
        collect(loop->before, id);
        int condition = static_cast<int>(nodes_.size());  // counts as a statement between the two blocks
        nodes_.push_back({id, nodes_[static_cast<size_t>(id)].depth + 1, nullptr});
        each_access(s, [&](BufferId b, const Index* place, AccessKind kind) { access(b, place, kind, condition); });
        collect(loop->body, id);
        continue;
      }
      each_access(s, [&](BufferId b, const Index* place, AccessKind kind) {
        access(b, place, kind, id);
        if (std::holds_alternative<loops::Contraction>(s.is)) temps_[static_cast<size_t>(b)].in_memory = true;
      });
      each_block(s, [&](const Block& inner) { collect(inner, id); });
    }
  }
  void access(BufferId b, const Index* place, AccessKind kind, int id) {
    Temporary& t = temps_[static_cast<size_t>(b)];
    if (place == nullptr) t.fixed = true;
    if (t.fixed) return;
    int block = nodes_[static_cast<size_t>(id)].parent;
    if (t.home < 0) {
      t.home = block;
      t.place = *place;
      t.varies.assign(place->size(), false);
      t.first_access = id;
    } else {
      t.home = common(t.home, block);
      for (size_t d = 0; d < place->size(); ++d)
        if (!(t.place[d] == (*place)[d])) t.varies[d] = true;
    }
    if (kind == AccessKind::write) {
      if (t.stores++ == 0) t.first_store = id;
    }
  }
  int common(int a, int b) const {
    while (a != b) {
      int& deeper = nodes_[static_cast<size_t>(a)].depth >= nodes_[static_cast<size_t>(b)].depth ? a : b;
      deeper = nodes_[static_cast<size_t>(deeper)].parent;
    }
    return a;
  }

  // ---- decisions ----
  bool around(Variable v, int node) const {  // a parameter or the variable of a loop around the statements of `node`
    for (; node > 0; node = nodes_[static_cast<size_t>(node)].parent)
      if (auto f = std::get_if<loops::For>(&nodes_[static_cast<size_t>(node)].stmt->is))
        if (f->variable == v) return true;
    return false;
  }
  void decide(BufferId b) {
    Temporary& t = temps_[static_cast<size_t>(b)];
    if (t.fixed || t.home < 0) return;
    t.local = true;
    t.kept.assign(t.place.size(), false);
    for (size_t d = 0; d < t.place.size(); ++d) {
      bool same = !t.varies[d];
      for (const loops::Term& term : t.place[d].terms) same = same && around(term.variable, t.home);
      if (!same) t.kept[d] = true, t.local = false;
    }
    if (t.local && t.in_memory) {
      t.fixed = true;
      return;
    }
    loops::Buffer& buffer = program_.buffers[static_cast<size_t>(b)];
    if (t.local) {
      t.id = static_cast<LocalId>(program_.locals.size());
      program_.locals.push_back({buffer.name, buffer.dtype});
      // assigned once, beside or around its uses: a Let; otherwise declared in front
      const Node& store = nodes_[static_cast<size_t>(t.first_store < 0 ? 0 : t.first_store)];
      bool once = t.stores == 1 && t.first_store <= t.first_access && store.parent == t.home;
      t.declared = !once;
      // the blocks of an If do not see each other
      while (t.declared && t.home > 0 &&
             std::holds_alternative<loops::If>(nodes_[static_cast<size_t>(t.home)].stmt->is))
        t.home = nodes_[static_cast<size_t>(t.home)].parent;
      if (t.declared) declarations_[child_of(t.home, t.first_access)].push_back(b);
    } else {
      Shape shape;
      for (size_t d = 0; d < buffer.shape.size(); ++d)
        if (t.kept[d]) shape.push_back(buffer.shape[d]);
      buffer.shape = shape;
    }
  }
  int child_of(int home, int n) const {
    while (nodes_[static_cast<size_t>(n)].parent != home) n = nodes_[static_cast<size_t>(n)].parent;
    return n;
  }

  // ---- rewriting ----
  Index shrunk(const Temporary& t, const Index& place) const {
    Index left;
    for (size_t d = 0; d < place.size(); ++d)
      if (t.kept[d]) left.push_back(place[d]);
    return left;
  }
  Expr shrunk(Expr load) {
    const Temporary& t = temps_[static_cast<size_t>(load->buffer)];
    if (t.fixed || t.home < 0) return nullptr;
    if (t.local) return program_.exprs.local(t.id, load->dtype);
    return program_.exprs.load(load->buffer, load->dtype, shrunk(t, load->place));
  }
  template <class R>
  void apply(Block& block, R& rewriter) {
    Block result;
    result.reserve(block.size());
    for (Stmt& s : block) {
      poll();
      int id = ++position_;
      auto declared = declarations_.find(id);
      if (declared != declarations_.end())
        for (BufferId b : declared->second) {
          const Temporary& t = temps_[static_cast<size_t>(b)];
          DType dtype = program_.buffers[static_cast<size_t>(b)].dtype;
          auto store = std::get_if<loops::Store>(&s.is);
          if (store && store->buffer == b) continue;  // the first store declares
          result.push_back({loops::Declare{t.id, program_.exprs.constant(0, dtype)}, loops::origins(s)});
        }
      each_expression(s, [&](Expr& e) { e = rewriter(e); });
      if (auto c = std::get_if<loops::Contraction>(&s.is)) {
        const Temporary& t = temps_[static_cast<size_t>(c->buffer)];
        if (!t.fixed && t.home >= 0) c->place = shrunk(t, c->place);
      }
      if (auto store = std::get_if<loops::Store>(&s.is)) {
        const Temporary& t = temps_[static_cast<size_t>(store->buffer)];
        if (!t.fixed && t.home >= 0) {
          if (!t.local) {
            store->place = shrunk(t, store->place);
          } else if (!t.declared) {
            s.is = loops::Let{t.id, store->value};
          } else if (declared != declarations_.end() &&
                     std::count(declared->second.begin(), declared->second.end(), store->buffer)) {
            s.is = loops::Declare{t.id, store->value};
          } else {
            s.is = loops::Update{t.id, Op::local, store->value};
          }
        }
      }
      if (auto loop = std::get_if<loops::While>(&s.is)) {
        apply(loop->before, rewriter);
        ++position_;
        apply(loop->body, rewriter);
      } else {
        each_block(s, [&](Block& inner) { apply(inner, rewriter); });
      }
      result.push_back(std::move(s));
    }
    block = std::move(result);
  }

  Program& program_;
  std::vector<Temporary> temps_;
  std::vector<Node> nodes_;
  std::unordered_map<int, std::vector<BufferId>> declarations_;  // in front of a statement
  int position_ = 0;
};

// Loads of what the same iteration has stored become locals.
class Forwarder {
 public:
  explicit Forwarder(Program& p) : program_(p), stored_(p.buffers.size()) {}
  void run() {
    // only buffers that are both stored and loaded can gain
    loaded_.assign(program_.buffers.size(), false);
    find_loads(program_.body);
    position_ = 0;
    block(program_.body);
  }

 private:
  void find_loads(const Block& b) {
    for (const Stmt& s : b) {
      ++position_;
      if (std::holds_alternative<loops::Contraction>(s.is)) continue;  // loads from memory
      loops::ExprSet seen;
      each_expression(s, [&](Expr e) {
        each_node(e, seen, [&](Expr x) {
          if (x->op == Op::load) loaded_[static_cast<size_t>(x->buffer)] = true, last_load_[x] = position_;
        });
      });
      each_block(s, [&](const Block& inner) { find_loads(inner); });
    }
  }
  void forget(BufferId b) {
    b = root(program_, b);
    for (Expr e : stored_[static_cast<size_t>(b)]) known_.erase(e);
    stored_[static_cast<size_t>(b)].clear();
  }
  void forget_changed(const Stmt& s) {
    each_access_inside(s, [&](BufferId b, const Index*, AccessKind kind) {
      if (kind != AccessKind::read) forget(b);
    });
  }
  void block(Block& b) {
    std::vector<Expr> here;
    Block result;
    result.reserve(b.size());
    for (Stmt& s : b) {
      const int position = ++position_;
      bool compound = std::holds_alternative<loops::For>(s.is) || std::holds_alternative<loops::While>(s.is) ||
                      std::holds_alternative<loops::If>(s.is);
      if (compound) forget_changed(s);  // before: a later iteration sees the change
      if (!known_.empty()) {
        Rewriter rewriter(program_.exprs, [&](Expr e) -> Expr {
          auto it = e->op == Op::load ? known_.find(e) : known_.end();
          if (it == known_.end()) return nullptr;
          loops::unite(s.origins, it->second.origins);
          return it->second.value;
        });
        each_expression(s, [&](Expr& e) { e = rewriter(e); });
      }
      each_block(s, [&](Block& inner) { block(inner); });
      if (compound) forget_changed(s);
      auto store = std::get_if<loops::Store>(&s.is);
      if (store == nullptr) {
        if (!compound) forget_changed(s);
        result.push_back(std::move(s));
        continue;
      }
      forget(store->buffer);
      if (loaded_[static_cast<size_t>(store->buffer)]) {
        Expr load = program_.exprs.load(store->buffer, store->value->dtype, store->place);
        if (const auto last = last_load_.find(load); last != last_load_.end() && last->second > position) {
          // a local that changes later would forward another value than the stored one
          bool stays =
              store->value->op == Op::constant || (store->value->op == Op::local && !updated(store->value->local));
          if (!stays) {
            auto local = static_cast<LocalId>(program_.locals.size());
            program_.locals.push_back(
                {program_.buffers[static_cast<size_t>(store->buffer)].name + "_" + std::to_string(local), load->dtype});
            result.push_back({loops::Let{local, store->value}, s.origins});
            store->value = program_.exprs.local(local, load->dtype);
          }
          BufferId r = root(program_, store->buffer);
          known_[load] = {store->value, s.origins};
          stored_[static_cast<size_t>(r)].push_back(load);
          here.push_back(load);
        }
      }
      result.push_back(std::move(s));
    }
    for (Expr load : here) known_.erase(load);
    b = std::move(result);
  }
  bool updated(LocalId l) {
    if (!counted_) {
      counted_ = true;
      changing_.assign(program_.locals.size(), false);
      find_updates(program_.body);
    }
    return static_cast<size_t>(l) < changing_.size() && changing_[static_cast<size_t>(l)];
  }
  void find_updates(const Block& b) {
    for (const Stmt& s : b) {
      if (auto u = std::get_if<loops::Update>(&s.is)) changing_[static_cast<size_t>(u->local)] = true;
      each_block(s, [&](const Block& inner) { find_updates(inner); });
    }
  }

  Program& program_;
  std::vector<bool> loaded_;
  std::unordered_map<Expr, int> last_load_;  // the number of its statement, in order of the program
  int position_ = 0;
  struct Known {
    Expr value;
    loops::Origins origins;
  };
  std::unordered_map<Expr, Known> known_;  // by load
  std::vector<std::vector<Expr>> stored_;
  std::vector<bool> changing_;
  bool counted_ = false;
};

}  // namespace

void shrink_buffers(Program& p) {
  Shrinker(p).run();
  if (unroll_inside(p)) Shrinker(p).run();
  Forwarder(p).run();
  remove_dead_stores(p);
}

}  // namespace anvil::compiler
