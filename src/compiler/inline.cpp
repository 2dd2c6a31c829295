// Producers into consumers: a temporary whose elements are each one expression is not
// stored when computing it at its use costs no more.
//
//   t1[i] = x1[i] + 1                      out1[i] = (x1[i] + 1) * 2
//   out1[i] = t1[i] * 2
//
// It moves when all its uses are one read in one statement that happens at most once per
// element, or when it is light (a few additions, no function), or, whatever the number of
// reads, when it only moves data (slices, broadcasts, transposes, constants). Nests that branch are no vectors: what is
// more than light is computed before them. What is read more
// than once as a smaller dtype is converted where it is made, so that the larger is never stored. And what a loop of
// unknown length reads slice by slice, from a temporary in which these lie together, is not read across memory instead.
// Data moved to where a view of it is read stays there; who reads it directly, but across memory, reads it where it was.
#include <algorithm>

#include "base/interrupt.h"
#include "compiler/passes.h"
#include "compiler/traverse.h"
#include "loops/origins.h"

namespace anvil::compiler {
namespace {

constexpr int most_moved_nodes = 80;  // of an expression that moves
constexpr int light_ops = 4, light_loads = 2;
constexpr int64_t least_of_slice = 1 << 13;  // elements

// for each buffer: where it changes, and who reads it
struct Use {
  int statement;
  Expr load;
  double visits;
  Variable innermost;  // of the loops around it, -1 without one
};
struct Candidate {
  std::vector<int> writes;  // positions of statements
  std::vector<Use> uses;
  bool whole = false;    // a runtime function or a swap has it
  bool viewed = false;   // it has an alias, or is one
  bool moved = false;    // decided: into its consumers, but for those that see a view
  Expr value = nullptr;  // of a producer
  const loops::Origins* origins = nullptr;
  std::vector<Variable> variables;  // of its dimensions, -1 where the size is 1
};
struct Statement {
  int parent;             // the statement whose block contains it, -1 for the program
  int end;                // position after everything inside
  bool branches = false;  // a nest with a branch
};

class Inliner {
 public:
  // Moves temporaries that have views, or those that have none.
  Inliner(Program& p, bool viewed) : program_(p), viewed_(viewed), candidates_(p.buffers.size()) {
    for (size_t b = 0; b < p.buffers.size(); ++b)
      if (p.buffers[b].alias >= 0)
        candidates_[b].viewed = candidates_[static_cast<size_t>(p.buffers[b].alias)].viewed = true;
  }
  void run() {
    collect(program_.body, -1);
    next_ = 0;
    rewrite_block(program_.body);
    remove_moved(program_.body);
    remove_dead_stores(program_);
  }

 private:
  Candidate& candidate(BufferId b) { return candidates_[static_cast<size_t>(root(program_, b))]; }

  // ---- facts ----
  void collect(const Block& block, int parent) {
    for (const Stmt& s : block) {
      int id = static_cast<int>(statements_.size());
      statements_.push_back({parent, 0});
      if (std::holds_alternative<loops::For>(s.is))
        collect_nest(s, id, 1, -1);
      else {
        collect_own(s, id, 1, -1);
        each_block(s, [&](const Block& b) { collect(b, id); });
      }
      statements_[static_cast<size_t>(id)].end = static_cast<int>(statements_.size());
    }
  }
  void collect_nest(const Stmt& s, int id, double visits, Variable innermost) {
    collect_own(s, id, visits, innermost);
    if (std::holds_alternative<loops::If>(s.is)) statements_[static_cast<size_t>(id)].branches = true;
    if (auto f = std::get_if<loops::For>(&s.is)) {
      visits *= static_cast<double>(f->end - f->begin);
      innermost = f->variable;
    }
    each_block(s, [&](const Block& b) {
      for (const Stmt& inner : b) collect_nest(inner, id, visits, innermost);
    });
  }
  void collect_own(const Stmt& s, int id, double visits, Variable innermost) {
    loops::ExprSet seen;
    each_expression(s, [&](Expr e) {
      each_node(e, seen, [&](Expr x) {
        if (x->op == Op::load) candidate(x->buffer).uses.push_back({id, x, visits, innermost});
      });
    });
    if (auto st = std::get_if<loops::Store>(&s.is)) candidate(st->buffer).writes.push_back(id);
    if (auto update = std::get_if<loops::Update>(&s.is)) updates_[update->local].push_back(id);
    each_access(s, [&](BufferId b, const Index*, AccessKind kind) {
      if (kind != AccessKind::whole) return;
      candidate(b).whole = true;
      candidate(b).writes.push_back(id);
    });
  }

  // ---- decisions ----
  // Whether a nest does nothing but store an expression to each element of a temporary.
  bool producer(const Stmt& nest, int id, const Stmt*& only) {
    std::vector<const loops::For*> loops;
    const Stmt* s = &nest;
    for (const loops::For* f; (f = std::get_if<loops::For>(&s->is)); s = &f->body[0]) {
      if (f->body.size() != 1) return false;
      loops.push_back(f);
    }
    const auto store = std::get_if<loops::Store>(&s->is);
    if (store == nullptr) return false;
    only = s;
    const loops::Buffer& b = program_.buffers[static_cast<size_t>(store->buffer)];
    Candidate& f = candidate(store->buffer);
    if (b.kind != loops::Buffer::Kind::temporary || b.alias >= 0 || f.viewed != viewed_ || f.whole ||
        f.writes.size() != 1 || f.writes[0] != id)
      return false;
    f.variables.assign(b.shape.size(), -1);
    size_t found = 0;
    for (size_t d = 0; d < b.shape.size(); ++d) {
      const Affine& at = store->place[d];
      if (b.shape[d] == 1) continue;
      if (at.terms.size() != 1 || at.constant != 0 || at.terms[0].factor != 1) return false;
      auto loop = std::find_if(loops.begin(), loops.end(),
                               [&](const loops::For* l) { return l->variable == at.terms[0].variable; });
      if (loop == loops.end() || (*loop)->begin != 0 || (*loop)->end != b.shape[d]) return false;
      f.variables[d] = at.terms[0].variable;
      ++found;
    }
    return found == loops.size();
  }

  struct Cost {
    int ops = 0, loads = 0, nodes = 0;
    bool heavy = false;
    std::vector<Expr> reads;  // loads and locals
  };
  static Cost cost(Expr value) {
    Cost c;
    each_node(value, [&](Expr e) {
      ++c.nodes;
      if (e->op == Op::load || e->op == Op::local) c.reads.push_back(e);
      if (e->op == Op::load)
        ++c.loads;
      else if (loops::effort(e->op) != loops::Effort::little)
        c.heavy = true;
      else if (e->argument_count() > 0 && e->op != Op::convert && e->op != Op::bitcast)
        ++c.ops;
    });
    return c;
  }

  // Whether the elements of a temporary that nobody else reads become smaller.
  bool narrows(Expr value) {
    if (value->op != Op::convert || value->args[0]->op != Op::load) return false;
    const Expr wide = value->args[0];
    const auto& buffer = program_.buffers[static_cast<size_t>(wide->buffer)];
    return size_of(value->dtype) < size_of(wide->dtype) && buffer.kind == loops::Buffer::Kind::temporary &&
           candidate(wide->buffer).uses.size() == 1;
  }

  // Nothing that an expression reads changes between the producer and a use.
  bool unchanged(const std::vector<Expr>& reads, int producer, const Use& use) {
    int last = use.statement;  // the statement around the use that stands beside the producer
    int parent = statements_[static_cast<size_t>(producer)].parent;
    bool inner = statements_[static_cast<size_t>(last)].parent != parent;
    while (statements_[static_cast<size_t>(last)].parent != parent) {
      last = statements_[static_cast<size_t>(last)].parent;
      if (last < 0) return false;  // outside: a loop's condition reads what the block before it makes
    }
    int end = inner ? statements_[static_cast<size_t>(last)].end
                    : last;  // exclusive; the user's own stores are looked at below
    return std::all_of(reads.begin(), reads.end(), [&](Expr e) {
      const auto& writes = e->op == Op::load ? candidate(e->buffer).writes : updates_[e->local];
      const auto next = std::upper_bound(writes.begin(), writes.end(), producer);
      return (next == writes.end() || *next >= end) &&
             (inner || !std::binary_search(writes.begin(), writes.end(), use.statement));
    });
  }

  // Whether a use of moved data reads a slice at each step, whose elements are next to each other in the temporary and
  // were a line apart or more before.
  bool keeps_slice_together(Expr value, const Candidate& f, const Shape& shape, const Use& use) const {
    const auto moves = [&](const loops::Term& t) {
      return !program_.variables[static_cast<size_t>(t.variable)].parameter;
    };
    int64_t slice = 1, apart = 0;
    bool sliced = false;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1) continue;
      const auto& terms = use.load->place[d].terms;
      if (!terms.empty() && std::none_of(terms.begin(), terms.end(), moves)) {
        sliced = true;
        continue;
      }
      slice *= shape[d];
      if (apart == 0 && value->op == Op::load) apart = std::abs(loops::step(program_, value, f.variables[d]));
    }
    return sliced && slice >= least_of_slice &&
           apart * static_cast<int64_t>(size_of(value->dtype)) >= loops::cache_line;
  }

  // Whether the value that a producer stores is made where it is read instead.
  bool goes_to_readers(const loops::Store& store, int id) {
    const Candidate& f = candidate(store.buffer);
    if (f.uses.empty()) return false;
    if (f.viewed) return lies_closer_before(store, id);
    const Cost c = cost(store.value);
    bool moves_data = !c.heavy && c.ops == 0 && c.loads <= 1;
    bool light = !c.heavy && c.ops <= light_ops && c.loads <= light_loads;
    if (c.nodes > most_moved_nodes) return false;
    const Shape& shape = program_.buffers[static_cast<size_t>(store.buffer)].shape;
    if (shape.empty() && !moves_data) return false;  // a number: becomes a local
    auto size = static_cast<double>(elements(shape));
    const Use& first = f.uses[0];
    double visits = 0;
    for (const Use& u : f.uses) visits += u.visits;
    if (visits > size && narrows(store.value)) return false;
    for (const Use& u : f.uses) {
      bool beside = statements_[static_cast<size_t>(u.statement)].parent == statements_[static_cast<size_t>(id)].parent;
      bool one = u.statement == first.statement && u.load == first.load;
      if (!moves_data && (!beside || u.visits > size || !(one || light))) return false;
      if (!light && !moves_data && (!one || statements_[static_cast<size_t>(u.statement)].branches)) return false;
      if (!beside && keeps_slice_together(store.value, f, shape, u)) return false;
      if (!unchanged(c.reads, id, u)) return false;
    }
    return true;
  }
  // Moved data that is stored for its views: whether all that read it directly have it closer together where it was.
  bool lies_closer_before(const loops::Store& store, int id) {
    const Candidate& f = candidate(store.buffer);
    if (store.value->op != Op::load) return false;
    bool closer = false;
    for (const Use& u : f.uses) {
      if (u.load->buffer != store.buffer) continue;
      if (u.innermost < 0 || !unchanged({store.value}, id, u)) return false;
      const auto step = [&](Expr load) { return std::abs(loops::step(program_, load, u.innermost)); };
      const int64_t here = step(u.load), before = step(element_of(store.value, f, u.load));
      if (before > here) return false;
      closer = closer || before < here;
    }
    return closer;
  }
  void move(const Stmt& only) {
    const auto& store = std::get<loops::Store>(only.is);
    Candidate& f = candidate(store.buffer);
    f.moved = true;
    f.value = store.value;
    f.origins = &only.origins;  // statements stay where they are until all are rewritten
  }

  // ---- rewriting, producers first ----
  Expr element(Expr load) {
    const Candidate& f = candidate(load->buffer);
    if (!f.moved || program_.buffers[static_cast<size_t>(load->buffer)].alias >= 0) return nullptr;
    return element_of(f.value, f, load);
  }
  // The value of a producer where it is loaded.
  Expr element_of(Expr value, const Candidate& f, Expr load) {
    VariableMap map;
    bool same = true;
    for (size_t d = 0; d < f.variables.size(); ++d) {
      if (f.variables[d] < 0) continue;
      map[f.variables[d]] = load->place[d];
      same = same && load->place[d] == loops::variable(f.variables[d]);
    }
    if (same) return value;
    auto rewriter = variable_rewriter(program_.exprs, map);
    return rewriter(value);
  }
  void rewrite_own(Stmt& s) {
    Rewriter rewriter(program_.exprs, [&](Expr e) -> Expr {
      const Expr moved = e->op == Op::load ? element(e) : nullptr;
      if (moved != nullptr) loops::unite(s.origins, *candidate(e->buffer).origins);
      return moved;
    });
    each_expression(s, [&](Expr& e) { e = rewriter(e); });
  }
  void rewrite_nest(Stmt& s) {
    rewrite_own(s);
    each_block(s, [this](Block& b) {
      for (Stmt& inner : b) rewrite_nest(inner);
    });
  }
  void rewrite_block(Block& block) {
    for (Stmt& s : block) {
      poll();
      int id = next_++;
      if (std::holds_alternative<loops::For>(s.is)) {
        rewrite_nest(s);
      } else {
        rewrite_own(s);
        each_block(s, [&](Block& b) { rewrite_block(b); });
      }
      const Stmt* only = nullptr;
      if (producer(s, id, only) && goes_to_readers(std::get<loops::Store>(only->is), id)) move(*only);
    }
  }
  // What nobody reads any more, before all that is left is walked: a value of many producers stands in each of them.
  void remove_moved(Block& block) {
    std::erase_if(block, [this](const Stmt& nest) {
      const Stmt* s = &nest;
      for (const loops::For* f; (f = std::get_if<loops::For>(&s->is)) && f->body.size() == 1;) s = &f->body[0];
      auto store = std::get_if<loops::Store>(&s->is);
      return store != nullptr && candidate(store->buffer).moved && !candidate(store->buffer).viewed;
    });
    for (Stmt& s : block)
      if (!std::holds_alternative<loops::For>(s.is)) each_block(s, [this](Block& b) { remove_moved(b); });
  }

  Program& program_;
  bool viewed_;
  std::vector<Candidate> candidates_;
  std::vector<Statement> statements_;
  std::unordered_map<loops::LocalId, std::vector<int>> updates_;  // positions of statements
  int next_ = 0;
};

}  // namespace

void inline_producers(Program& p) {
  Inliner(p, false).run();
  // after that: who reads what a view shows is known then
  const auto is_view = [](const loops::Buffer& b) { return b.alias >= 0; };
  if (std::any_of(p.buffers.begin(), p.buffers.end(), is_view)) Inliner(p, true).run();
}

}  // namespace anvil::compiler
