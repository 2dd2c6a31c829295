// Small tensors in loops of unknown length become numbers: the nests that work on them are
// written out step by step, and each element becomes a buffer of its own, later a local.
//
//   loop {                                 loop {
//     for i in 0..2 {                        t2_1[] = t1_1[] * 0.5
//       t2[i] = t1[i] * 0.5                  t2_2[] = t1_2[] * 0.5
//     }                                      ...
//     ...
//
// The same once more for what has become small inside of loops, when temporaries have lost the loops' dimensions:
// there, short loops are written out beside whatever they read.
#include <algorithm>
#include <map>

#include "compiler/passes.h"
#include "compiler/traverse.h"

namespace anvil::compiler {
namespace {

constexpr int64_t most_elements = 16;          // of a tensor
constexpr int64_t most_steps = 64;             // of a nest,
constexpr int64_t most_steps_with_others = 4;  // and of one that works on larger temporaries as well: a row of a path
constexpr double most_functions = 7;           // that a nest calls for numbers: more are vectors
constexpr int64_t most_inner_steps = 3;        // of a loop inside of another one: too few for a vector
constexpr double most_unrolled_nodes = 4000;   // of everything that is written out

enum class Where : uint8_t { nests, inside };

class Unroller {
 public:
  Unroller(Program& p, Where where) : program_(p), where_(where), buffers_(p.buffers.size()) {
    for (size_t b = 0; b < p.buffers.size(); ++b) {
      const loops::Buffer& buffer = p.buffers[b];
      Candidate& f = buffers_[b];
      f.small = buffer.kind == loops::Buffer::Kind::temporary && !buffer.shape.empty() &&
                elements(buffer.shape) <= most_elements && elements(buffer.shape) > 0;
      if (buffer.alias >= 0) f.small = buffers_[static_cast<size_t>(buffer.alias)].small = false;
    }
  }

  bool run() {  // whether any tensor became numbers
    collect(program_.body, false);
    for (Candidate& f : buffers_) f.small = f.small && f.in_loop;
    if (std::none_of(buffers_.begin(), buffers_.end(), [](const Candidate& f) { return f.small; })) return false;
    // A nest that is too long, or works on other temporaries as well though it is not short, keeps all its buffers.
    while (settle()) {
    }
    if (std::none_of(buffers_.begin(), buffers_.end(), [](const Candidate& f) { return f.small; })) return false;
    double nodes = 0;
    for (const Nest& n : nests_)
      if (wanted(n)) nodes += n.size.nodes;
    if (nodes > most_unrolled_nodes) return false;
    rewrite_block(program_.body);
    return true;
  }

 private:
  struct Candidate {
    bool small = false, in_loop = false;
    std::vector<BufferId> parts;
  };
  struct Size {  // of what would be written out
    double nodes = 0;
    double functions = 0;  // how often one statement calls any
  };
  struct Nest {
    const Stmt* stmt;
    bool possible;     // short, and every small buffer is accessed at places that become constant
    bool with_others;  // may work on other temporaries as well
    Size size;
    std::vector<BufferId> buffers;
  };

  void collect(const Block& block, bool in_loop) {
    for (const Stmt& s : block) {
      bool loop = in_loop || std::holds_alternative<loops::While>(s.is) || std::holds_alternative<loops::For>(s.is);
      if (!is_nest(s)) {
        const bool in_memory = std::holds_alternative<loops::Contraction>(s.is);
        each_access(
            s, [&](BufferId b, const Index* place, AccessKind) { access(b, in_memory ? nullptr : place, in_loop); });
        each_block(s, [&](const Block& inner) { collect(inner, loop); });
        continue;
      }
      Nest n{&s, true, true, {}, {}};
      const double count = steps(s, 1, n.size);
      n.with_others = where_ == Where::inside || count <= most_steps_with_others;
      n.possible = count <= most_steps_here() && (where_ == Where::inside || n.size.functions <= most_functions);
      std::unordered_set<Variable> own;
      loops_of(s, own);
      each_access_inside(s, [&](BufferId b, const Index* place, AccessKind) {
        n.buffers.push_back(b);
        buffers_[static_cast<size_t>(b)].in_loop = buffers_[static_cast<size_t>(b)].in_loop || in_loop;
        for (const Affine& a : *place)
          for (const loops::Term& t : a.terms)
            if (!own.count(t.variable)) buffers_[static_cast<size_t>(b)].small = false;
      });
      std::sort(n.buffers.begin(), n.buffers.end());
      n.buffers.erase(std::unique(n.buffers.begin(), n.buffers.end()), n.buffers.end());
      nests_.push_back(std::move(n));
    }
  }
  static void loops_of(const Stmt& s, std::unordered_set<Variable>& variables) {
    if (auto f = std::get_if<loops::For>(&s.is)) variables.insert(f->variable);
    each_block(s, [&](const Block& b) {
      for (const Stmt& inner : b) loops_of(inner, variables);
    });
  }
  double most_steps_here() const { return static_cast<double>(where_ == Where::nests ? most_steps : most_inner_steps); }
  // What is written out as a whole or not at all.
  bool is_nest(const Stmt& s) {
    Size size;
    return std::holds_alternative<loops::For>(s.is) &&
           (where_ == Where::nests || steps(s, 1, size) <= most_steps_here());
  }
  void access(BufferId b, const Index* place, bool in_loop) {
    Candidate& f = buffers_[static_cast<size_t>(b)];
    f.in_loop = f.in_loop || in_loop;
    if (place == nullptr)
      f.small = false;
    else
      for (const Affine& a : *place) f.small = f.small && a.terms.empty();
  }
  // How often the innermost statements run; adds to the size.
  double steps(const Stmt& s, double times, Size& size) {
    if (auto f = std::get_if<loops::For>(&s.is)) {
      double sum = 0;
      for (const Stmt& inner : f->body)
        sum = std::max(sum, steps(inner, times * static_cast<double>(f->end - f->begin), size));
      return sum;
    }
    if (!std::holds_alternative<loops::Store>(s.is) && !std::holds_alternative<loops::Declare>(s.is) &&
        !std::holds_alternative<loops::Update>(s.is))
      return static_cast<double>(most_steps) + 1;
    double own = 1;
    each_expression(s, [&](Expr e) {
      each_node(e, [&](Expr x) {
        own += 1;
        if (loops::effort(x->op) == loops::Effort::call) size.functions = std::max(size.functions, times);
      });
    });
    size.nodes += own * times;
    return times;
  }
  bool wanted(const Nest& n) const {
    return n.possible && std::any_of(n.buffers.begin(), n.buffers.end(),
                                     [this](BufferId b) { return buffers_[static_cast<size_t>(b)].small; });
  }
  bool settle() {
    bool changed = false;
    for (const Nest& n : nests_) {
      bool all_small = std::all_of(n.buffers.begin(), n.buffers.end(), [&](BufferId b) {
        return n.with_others || program_.buffers[static_cast<size_t>(b)].kind != loops::Buffer::Kind::temporary ||
               program_.buffers[static_cast<size_t>(b)].shape.empty() || buffers_[static_cast<size_t>(b)].small;
      });
      if (n.possible && all_small) continue;
      for (BufferId b : n.buffers)
        if (buffers_[static_cast<size_t>(b)].small) buffers_[static_cast<size_t>(b)].small = false, changed = true;
    }
    return changed;
  }

  // ---- writing out ----
  std::pair<BufferId, Index> part(BufferId b, const Index& place) {
    Candidate& f = buffers_[static_cast<size_t>(b)];
    int64_t at = linear(program_, b, place).constant;
    if (f.parts.empty())
      f.parts.assign(static_cast<size_t>(elements(program_.buffers[static_cast<size_t>(b)].shape)), -1);
    BufferId& id = f.parts[static_cast<size_t>(at)];
    if (id < 0) {
      loops::Buffer copy = program_.buffers[static_cast<size_t>(b)];
      copy.shape = {};
      copy.name += "_" + std::to_string(at + 1);
      id = static_cast<BufferId>(program_.buffers.size());
      program_.buffers.push_back(std::move(copy));
    }
    return {id, {}};
  }
  bool is_small(BufferId b) const {
    return static_cast<size_t>(b) < buffers_.size() && buffers_[static_cast<size_t>(b)].small;
  }

  void rewrite_block(Block& block) {
    Block result;
    for (Stmt& s : block) {
      if (is_nest(s)) {
        const Nest& n = nests_[next_++];
        if (!wanted(n)) {
          result.push_back(std::move(s));
          continue;
        }
        VariableMap map;
        write_out(s, map, result);
        continue;
      }
      VariableMap none;
      result.push_back(std::move(s));
      rewrite_simple(result.back(), none, {});
      each_block(result.back(), [this](Block& inner) { rewrite_block(inner); });
    }
    block = std::move(result);
  }
  void write_out(const Stmt& s, VariableMap& map, Block& out) {
    if (auto f = std::get_if<loops::For>(&s.is)) {
      for (int64_t i = f->begin; i < f->end; ++i) {
        map[f->variable] = Affine{i, {}};
        std::unordered_map<LocalId, LocalId> outer = locals_;
        for (const Stmt& inner : f->body) write_out(inner, map, out);
        locals_ = std::move(outer);
      }
      map.erase(f->variable);
      return;
    }
    if (auto d = std::get_if<loops::Declare>(&s.is)) {  // one of its own for each step
      locals_[d->local] = make_local(program_, d->local);
      program_.locals.back().name += "_" + std::to_string(program_.locals.size());
    }
    out.push_back(s);
    rewrite_simple(out.back(), map, locals_);
  }
  void rewrite_simple(Stmt& s, const VariableMap& map, const std::unordered_map<LocalId, LocalId>& locals) {
    auto local = [&](LocalId l) {
      auto it = locals.find(l);
      return it == locals.end() ? l : it->second;
    };
    loops::ExprPool& pool = program_.exprs;
    Rewriter rewriter(pool, [&](Expr e) -> Expr {
      if (e->op == Op::local) return pool.local(local(e->local), e->dtype);
      if (e->op == Op::index) return pool.index(substitute(map, e->place[0]));
      if (e->op != Op::load) return nullptr;
      Index at = substitute(map, e->place);
      BufferId b = e->buffer;
      if (is_small(b)) std::tie(b, at) = part(b, at);
      return pool.load(b, e->dtype, at);
    });
    each_expression(s, [&](Expr& e) { e = rewriter(e); });
    if (auto store = std::get_if<loops::Store>(&s.is)) {
      store->place = substitute(map, store->place);
      if (is_small(store->buffer)) std::tie(store->buffer, store->place) = part(store->buffer, store->place);
    } else if (auto d = std::get_if<loops::Declare>(&s.is)) {
      d->local = local(d->local);
    } else if (auto u = std::get_if<loops::Update>(&s.is)) {
      u->local = local(u->local);
    }
  }

  Program& program_;
  Where where_;
  std::vector<Candidate> buffers_;
  std::vector<Nest> nests_;
  size_t next_ = 0;
  std::unordered_map<LocalId, LocalId> locals_;
};

}  // namespace

void unroll_small(Program& p) { Unroller(p, Where::nests).run(); }
bool unroll_inside(Program& p) { return Unroller(p, Where::inside).run(); }

}  // namespace anvil::compiler
