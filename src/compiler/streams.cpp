// Long sums whose terms lie far apart in memory, such as those of the rows of a matrix, are added up in the order of
// memory: some columns at a time for a block of rows, whose sums pass through a buffer.
//
//   for i in 0..1024 vector 8 x 4 {        for b in 0..2 {
//     a1 = 0                                 for i in 0..512 vector 8 x 4 { s1[i] = 0 }
//     for p in 0..4096 {                     for p3 in 0..16 {
//       a1 += x1[i, p]                         for i in 0..512 vector 8 x 4 { s2[i] = 0 }
//     }                                        for p2 in 0..16 {
//     out1[i] = a1                               for i in 0..512 vector 8 x 4 {
//   }                                              a2 = s2[i]
//                                                  for p in 0..16 { a2 += x1[i + 512*b, p + 16*p2 + 256*p3] }
//                                                  s2[i] = a2
//                                              ...
//                                              for i in 0..512 vector 8 x 4 { s1[i] += s2[i] }
//                                            }
//                                            for i in 0..512 vector 8 x 4 { out1[i + 512*b] = s1[i] }
//                                          }
//
// In the order on the left every line of memory is far from the one before it, which no processor foresees. The steps of
// a vector loop are independent of each other, so that what follows each other in one of them may be a loop of its own.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "compiler/copy.h"
#include "compiler/passes.h"
#include "compiler/schedule.h"

namespace anvil::compiler {
namespace {

using loops::For;

constexpr int64_t far_apart = 1024;           // bytes from one term to the next that are not foreseen
constexpr int64_t bytes_of_rows = 2048;       // of a column that one block reads
constexpr int64_t columns = 16, rounds = 16;  // terms of a sum in a register; of these in one buffer
constexpr int64_t least_terms = 4 * columns;  // of a sum

class Streams {
 public:
  Streams(Program& p, const Target& target) : program_(p), cache_(target.cache) {}
  void run() {
    replace_loops(program_.body, [this](Stmt& s, For& f, Block& result) {
      if (f.kind != For::Kind::vector || !sums_far_apart(f)) return false;
      blocks_of_rows(f, s.origins, result);
      return true;
    });
  }

 private:
  // ---- which loops ----
  bool sums_far_apart(const For& v) const {
    if (!loop_facts(v).updated.empty()) return false;
    bool sums = false;
    for (const Stmt& s : v.body) {
      if (auto p = std::get_if<For>(&s.is)) {
        if (p->kind != For::Kind::serial || extent(*p) < least_terms || !adds_up(v, *p)) return false;
        sums = sums || crosses_memory(v, *p);
      } else if (!std::holds_alternative<loops::Declare>(s.is) && !std::holds_alternative<loops::Let>(s.is) &&
                 !std::holds_alternative<loops::Store>(s.is)) {
        return false;
      }
    }
    return sums;
  }
  // Whether a loop does nothing but to accumulate, into locals that v declares and each by one operation, what depends on
  // none of them: then their order and grouping are free.
  static bool adds_up(const For& v, const For& p) {
    std::map<LocalId, Op> sums;
    for (const Stmt& s : p.body) {
      auto u = std::get_if<loops::Update>(&s.is);
      if (u == nullptr || loops::accumulates(*u) == Op::local ||
          sums.try_emplace(u->local, loops::accumulates(*u)).first->second != loops::accumulates(*u))
        return false;
    }
    const auto declares = [](const Stmt& s, LocalId l) {
      auto declared = std::get_if<loops::Declare>(&s.is);
      return declared && declared->local == l;
    };
    const auto reads_sums = [&](Expr e) {
      return loops::any_node(e, [&](Expr x) { return x->op == Op::local && sums.count(x->local) > 0; });
    };
    return std::all_of(sums.begin(), sums.end(),
                       [&](const auto& sum) {
                         return std::any_of(v.body.begin(), v.body.end(),
                                            [&](const Stmt& s) { return declares(s, sum.first); });
                       }) &&
           std::all_of(p.body.begin(), p.body.end(), [&](const Stmt& s) {
             bool reads = false;
             loops::each_operand(s, [&](Expr e) { reads = reads || reads_sums(e); });
             return !reads;
           });
  }
  // Whether what p adds up is more than a cache holds, side by side along v and far apart along p.
  bool crosses_memory(const For& v, const For& p) const {
    bool crosses = false, fits = true;
    for (const Stmt& s : p.body)
      each_access(s, [&](BufferId b, const Index* place, AccessKind) {
        if (place == nullptr) return void(fits = false);
        const Affine at = loops::linear(program_, b, *place);
        const int64_t along = loops::factor(at, v.variable);
        const auto size = static_cast<int64_t>(size_of(program_.buffers[static_cast<size_t>(b)].dtype));
        fits = fits && (along == 0 || along == 1);
        crosses = crosses || (along == 1 && std::abs(loops::factor(at, p.variable)) * size >= far_apart &&
                              static_cast<double>(extent(v) * extent(p) * size) >= cache_);
      });
    return fits && crosses;
  }

  // ---- blocks of rows ----
  void blocks_of_rows(For& v, const loops::Origins& from, Block& result) {
    const int64_t most = bytes_of_rows / std::max(1, loop_facts(v).widest), n = extent(v);
    const int64_t rows = n < 2 * most ? n : most, count = n / rows, rest = n - count * rows;
    std::optional<For> last;
    if (rest > 0) {
      last = LoopCopy(program_)(v);
      last->begin = last->end - rest;
      narrow(*last);
    }
    add_block(v, count, rows, from, result);
    if (last) add_block(*last, 1, rest, from, result);
  }
  void add_block(For& v, int64_t count, int64_t rows, const loops::Origins& from, Block& result) {
    For outer = loop_over_blocks(program_, v, count, rows);
    from_ = from, in_memory_.clear();
    narrow(v);
    outer.body = in_order_of_memory(v);
    result.push_back({std::move(outer), from});
  }

  // ---- a loop for each sum and for what stands between them ----
  // What is declared, and what later loops need, lies in memory.
  Block in_order_of_memory(const For& v) {
    Block result, between;
    std::map<LocalId, BufferId> of_later;
    const auto end_loop = [&] {
      if (!between.empty()) result.push_back(row_loop(v, std::exchange(between, {})));
      in_memory_.merge(of_later);
      of_later.clear();
    };
    for (size_t k = 0; k < v.body.size(); ++k) {
      Stmt s = v.body[k];
      if (auto p = std::get_if<For>(&s.is)) {
        end_loop();
        add_sum(v, *p, result);
        continue;
      }
      each_expression(s, [&](Expr& e) { e = from_memory(v, e); });
      if (auto declared = std::get_if<loops::Declare>(&s.is)) {
        const BufferId b = in_memory_[declared->local] = buffer(v, declared->local);
        between.push_back(store(v, b, declared->value));
        continue;
      }
      auto let = std::get_if<loops::Let>(&s.is);
      const LocalId made = let ? let->local : -1;
      between.push_back(std::move(s));
      if (made < 0 || !used_in_later_loop(v, k, made)) continue;
      of_later[made] = buffer(v, made);
      between.push_back(store(v, of_later[made], program_.exprs.local(made, dtype(made))));
    }
    end_loop();
    return result;
  }
  static bool used_in_later_loop(const For& v, size_t k, LocalId l) {
    while (k < v.body.size() && !std::holds_alternative<For>(v.body[k].is)) ++k;
    bool used = false;
    for (; k < v.body.size(); ++k) used = used || uses(v.body[k], l);
    return used;
  }
  static bool uses(const Stmt& s, LocalId l) {
    bool used = false;
    each_expression(
        s, [&](Expr e) { each_node(e, [&](Expr x) { used = used || (x->op == Op::local && x->local == l); }); });
    each_block(s, [&](const Block& b) {
      used = used || std::any_of(b.begin(), b.end(), [l](const Stmt& inner) { return uses(inner, l); });
    });
    return used;
  }

  // ---- one sum, or several of one loop ----
  struct Part {  // of a sum: of the columns in a register, and of those in a buffer
    LocalId local;
    BufferId buffer;
    Op op;
  };
  void add_sum(const For& v, const For& p, Block& result) {
    std::map<LocalId, Part> parts;
    for (const Stmt& s : p.body) {
      const auto& u = std::get<loops::Update>(s.is);
      auto [part, fresh] = parts.try_emplace(u.local, Part{u.local, -1, loops::accumulates(u)});
      if (!fresh) continue;
      part->second.local = make_local(program_, u.local);
      part->second.buffer = buffer(v, u.local);
    }
    For sum = p;
    Rewriter rewriter(program_.exprs, [&](Expr e) -> Expr {
      if (e->op != Op::local) return nullptr;
      auto part = parts.find(e->local);
      return part == parts.end() ? from_memory(v, e) : program_.exprs.local(part->second.local, e->dtype);
    });
    for (Stmt& s : sum.body) {
      each_expression(s, [&](Expr& e) { e = rewriter(e); });
      auto& u = std::get<loops::Update>(s.is);
      u.local = parts.at(u.local).local;
    }
    const int64_t n = extent(p), round = columns * rounds, whole = n / round, rest = n % round;
    if (whole > 0) {
      For loop = make_loop(program_, p.variable, whole);
      add_round(v, sum, parts, Affine{p.begin, {}} + loops::variable(loop.variable) * round, rounds, 0, loop.body);
      result.push_back({std::move(loop), from_});
    }
    if (rest > 0) add_round(v, sum, parts, Affine{p.begin + whole * round, {}}, rest / columns, rest % columns, result);
  }
  // The columns from `first` on.
  void add_round(const For& v, const For& sum, const std::map<LocalId, Part>& parts, const Affine& first, int64_t count,
                 int64_t rest, Block& result) {
    loops::ExprPool& e = program_.exprs;
    Block before, after;
    for (const auto& [whole, part] : parts) {
      const DType t = dtype(whole);
      const BufferId all = in_memory_.at(whole);
      before.push_back(store(v, part.buffer, e.constant(loops::identity(part.op, t), t)));
      after.push_back({loops::Declare{part.local, load(v, all)}, from_});
      after.push_back({loops::Update{part.local, part.op, load(v, part.buffer)}, from_});
      after.push_back(store(v, all, e.local(part.local, t)));
    }
    result.push_back(row_loop(v, std::move(before)));
    if (count > 0) {
      For loop = make_loop(program_, sum.variable, count);
      loop.body.push_back(columns_of_rows(v, sum, parts, first + loops::variable(loop.variable) * columns, columns));
      result.push_back({std::move(loop), from_});
    }
    if (rest > 0) result.push_back(columns_of_rows(v, sum, parts, first + Affine{count * columns, {}}, rest));
    result.push_back(row_loop(v, std::move(after)));
  }
  Stmt columns_of_rows(const For& v, const For& sum, const std::map<LocalId, Part>& parts, const Affine& first,
                       int64_t count) {
    loops::ExprPool& e = program_.exprs;
    Block body;
    for (const auto& [whole, part] : parts) body.push_back({loops::Declare{part.local, load(v, part.buffer)}, from_});
    For some = sum;
    const VariableMap map = {{sum.variable, first + loops::variable(sum.variable)}};
    auto rewriter = variable_rewriter(e, map);
    for (Stmt& s : some.body) rewrite(s, rewriter, map);
    some.begin = 0, some.end = count;
    body.push_back({std::move(some), from_});
    for (const auto& [whole, part] : parts) body.push_back(store(v, part.buffer, e.local(part.local, dtype(whole))));
    return row_loop(v, std::move(body));
  }

  // ---- statements ----
  DType dtype(LocalId l) const { return program_.locals[static_cast<size_t>(l)].dtype; }
  BufferId buffer(const For& v, LocalId l) { return make_temporary(program_, dtype(l), {extent(v)}, "s"); }
  Expr load(const For& v, BufferId b) {
    return program_.exprs.load(b, program_.buffers[static_cast<size_t>(b)].dtype, {loops::variable(v.variable)});
  }
  Stmt store(const For& v, BufferId b, Expr value) const {
    return {loops::Store{b, {loops::variable(v.variable)}, value}, from_};
  }
  Expr from_memory(const For& v, Expr e) {
    return Rewriter(program_.exprs, [&](Expr x) -> Expr {
      auto b = x->op == Op::local ? in_memory_.find(x->local) : in_memory_.end();
      return b == in_memory_.end() ? nullptr : load(v, b->second);
    })(e);
  }
  Stmt row_loop(const For& v, Block body) {
    For f = v;
    f.body = std::move(body);
    return {LoopCopy(program_)(std::move(f)), from_};
  }

  Program& program_;
  const double cache_;
  loops::Origins from_;
  std::map<LocalId, BufferId> in_memory_;
};

}  // namespace

void stream_sums(Program& p, const Target& target) { Streams(p, target).run(); }

}  // namespace anvil::compiler
