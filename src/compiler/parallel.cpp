// Large nests are cut into tasks, which threads share:
//
//   for i in 0..1000000 vector 8 x 4 {        for k in 0..50 parallel {
//     out1[i] = exp(x1[i])                      for i in 0..20000 vector 8 x 4 {
//   }                                             out1[20000*k + i] = exp(x1[20000*k + i])
//
// Steps that make no whole task follow as a loop of their own, unless that would write a long body once more and tasks
// of another size leave none: where the steps of such a task end before it does, the last one repeats elements of the
// one before. Of a sum each task makes a part:
//
//   a1 = 0                                    for k in 0..50 parallel {
//   for i in 0..1000000 vector 8 x 4 {          b1 = 0
//     a1 += x1[i]                               for i in 0..20000 vector 8 x 4 { b1 += x1[20000*k + i] }
//   }                                           t1[k] = b1
//                                             }
//                                             for k in 0..50 { a1 += t1[k] }
//
// And of sums that lie in a buffer, each of which every step adds to, such as those of the rows of a matrix that steps go
// through by columns: a task has a part of the buffer's size.
//
// Temporaries that no step reads from another one are the task's own (own.h). How a nest is cut depends on
// the program alone, so that results have the same bits for any number of threads.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "base/interrupt.h"
#include "compiler/copy.h"
#include "compiler/own.h"
#include "compiler/passes.h"
#include "compiler/schedule.h"
#include "compiler/sum_buffers.h"
#include "loops/dependence.h"
#include "loops/origins.h"

namespace anvil::compiler {
namespace {

using loops::For;

// Or as many as keep each short, since only between tasks it is asked whether the user wants to stop.
constexpr int64_t most_tasks = 64;
constexpr double short_task = 10;  // of what is worth to be one
constexpr int64_t few_steps = 8;   // of a loop: another one is cut where it has more
constexpr double most_of_a_step = 0.75;
constexpr double share_of_parts = 1. / 16;  // of a task: what parts of sums in a buffer may take
constexpr double long_body = 64;            // operations
constexpr double most_longer = 1.125;       // is what tasks that leave nothing may take

class Cutter {
 public:
  Cutter(Program& p, const Target& target) : program_(p), target_(target), own_(p) {}
  void run() { block(program_.body); }

 private:
  void block(Block& b) {
    Block result;
    for (Stmt& s : b) {
      poll();
      auto f = std::get_if<For>(&s.is);
      if (!f) {
        each_block(s, [this](Block& inner) { block(inner); });
      } else if (const double cost = nest_cost(program_, *f); cost >= 2 * target_.task) {
        if (!goes_inside(*f) && bring_outside(*f)) {
          const loops::Origins from = loops::origins(s);
          cut(std::move(*f), cost, from, result);
          continue;
        }
        if (f->kind == For::Kind::serial) block(f->body);
      }
      result.push_back(std::move(s));
    }
    b = std::move(result);
  }

  // ---- which loop ----
  // A loop of few steps, most of each of them in loops that are large enough.
  bool goes_inside(const For& f) const {
    if (f.kind != For::Kind::serial || steps(f) >= few_steps) return false;
    double all = 0, inside = 0;
    for (const Stmt& s : f.body) {
      auto inner = std::get_if<For>(&s.is);
      if (inner == nullptr) continue;
      const double cost = nest_cost(program_, *inner);
      all += cost;
      if (cost >= few_steps * target_.task && steps(*inner) >= few_steps && may_cut(*inner)) inside += cost;
    }
    return inside > 0 && inside >= most_of_a_step * all;
  }
  bool may_cut(const For& f) const {
    std::vector<BufferId> own = own_.of(f);
    for (const SumBuffer& s : shared_sums(f)) own.push_back(s.buffer);
    return independent(program_, f, own);
  }
  static int64_t steps(const For& f) { return extent(f) / steps_at_once(f); }

  // The loop that is cut becomes the outermost: one that has enough steps, if all steps of all loops on the
  // way are independent.
  bool bring_outside(For& f) const {
    const std::vector<For*> loops = outer_loops(&f);
    size_t best = 0;
    for (size_t k = 1; k < loops.size() && steps(*loops[best]) < few_steps; ++k)
      if (steps(*loops[k]) > steps(*loops[best])) best = k;
    if (best > 0 && loops[best]->kind == For::Kind::serial &&
        std::all_of(loops.begin(), loops.begin() + static_cast<ptrdiff_t>(best) + 1,
                    [this](const For* l) { return may_cut(*l) && loop_facts(*l).updated.empty(); })) {
      move_loop(loops, best, 0);
    }
    return steps(f) >= 2 && may_cut(f);
  }

  // ---- cutting ----
  // The steps of a task: so that little is left over, and four threads are done at the same time. Of all tasks of so
  // many, those leave least that are as large as they can be.
  int64_t steps_of_task(const For& f, double cost, const std::vector<SumBuffer>& sums) const {
    const int64_t n = steps(f);
    if (!target_.any_size) cost = std::min(cost, target_.task * cost / least_cost(sums));
    const auto short_ones = static_cast<int64_t>(cost / (short_task * target_.task));
    const auto tasks = std::clamp<int64_t>(static_cast<int64_t>(cost / target_.task), 2,
                                           std::min(std::max(most_tasks, short_ones), n));
    const int64_t least_size = std::max<int64_t>(1, n / tasks),
                  most_size = std::min(n / 2, (short_ones < most_tasks ? 8 : 2) * least_size);
    const int64_t at_once = steps_at_once(f);
    const bool leave_none = loop_facts(f).ops >= long_body;
    int64_t best = 1, best_of_all = 0;
    double least = INFINITY, least_of_all = INFINITY;
    for (int64_t count = n / least_size; count >= 1 && n / count <= most_size; --count) {
      const int64_t size = n / count, of_four = (count + 3) / 4;
      const double rest = static_cast<double>(extent(f) - count * size * at_once) / static_cast<double>(at_once),
                   time = static_cast<double>(of_four * size) + rest,
                   time_of_all = static_cast<double>(of_four) * ceil_div(extent(f), count * at_once);
      if (time < least) least = time, best = size * at_once;
      if (leave_none && extent(f) % count == 0 && time_of_all < least_of_all)
        least_of_all = time_of_all, best_of_all = extent(f) / count;
    }
    return least_of_all <= most_longer * least ? best_of_all : best;
  }

  void cut(For f, double cost, const loops::Origins& from, Block& result) {
    const std::vector<SumBuffer> sums_in_buffers = shared_sums(f);
    const int64_t size = steps_of_task(f, cost, sums_in_buffers), count = extent(f) / size;
    const int64_t rest = extent(f) - count * size;
    const std::vector<BufferId> own = own_.of(f);
    std::optional<For> tail;
    if (rest > 0) {
      tail = LoopCopy(program_, own)(f);
      tail->begin = tail->end - rest;
      narrow(*tail);
    }
    For tasks = loop_over_blocks(program_, f, count, size);
    tasks.kind = For::Kind::parallel;
    tasks.own = own;
    for (BufferId b : own) program_.buffers[static_cast<size_t>(b)].own = true;

    Block sums;
    std::vector<Sum> parts = parts_of(f, count);
    for (const Sum& s : parts) add_up(s, from, tasks, sums);
    for (const SumBuffer& sum : sums_in_buffers) {
      const int width =
          target_.vector_bytes / static_cast<int>(size_of(program_.buffers[static_cast<size_t>(sum.buffer)].dtype));
      PartsOfSum in_buffer = take_parts(program_, sum, f, loops::variable(tasks.variable), count, width);
      std::move(in_buffer.before.begin(), in_buffer.before.end(), std::back_inserter(tasks.body));
      std::move(in_buffer.after.begin(), in_buffer.after.end(), std::back_inserter(sums));
    }
    if (size > 1)
      tasks.body.push_back({std::move(f)});
    else
      std::move(f.body.begin(), f.body.end(), std::back_inserter(tasks.body));
    for (const Sum& s : parts)
      tasks.body.push_back(
          {loops::Store{s.buffer, {loops::variable(tasks.variable)}, program_.exprs.local(s.part, s.dtype)}, from});
    result.push_back({std::move(tasks)});
    std::move(sums.begin(), sums.end(), std::back_inserter(result));
    if (tail) result.push_back({std::move(*tail)});
  }

  // ---- sums ----
  // Those in a buffer, if tasks are large enough for parts of them.
  std::vector<SumBuffer> shared_sums(const For& f) const {
    std::vector<SumBuffer> list = sum_buffers(program_, f);
    const bool worthwhile = list.empty() || target_.any_size || nest_cost(program_, f) >= 2 * least_cost(list);
    return worthwhile ? list : std::vector<SumBuffer>{};
  }
  // Of a task: a part is filled, read and added to the whole.
  double least_cost(const std::vector<SumBuffer>& sums) const {
    double vectors = 0;
    for (const SumBuffer& s : sums) {
      const loops::Buffer& b = program_.buffers[static_cast<size_t>(s.buffer)];
      vectors += ceil_div(elements(b.shape) * static_cast<int64_t>(size_of(b.dtype)), target_.vector_bytes);
    }
    return std::max(target_.task, 4 * vectors / share_of_parts);
  }
  struct Sum {
    LocalId whole, part;
    Op op;
    DType dtype;
    BufferId buffer;
  };
  // Locals from outside that a task adds to get a local of the task instead, and a buffer for its values.
  std::vector<Sum> parts_of(For& f, int64_t count) {
    std::vector<Sum> list;
    for (LocalId l : loop_facts(f).updated) {
      const DType t = program_.locals[static_cast<size_t>(l)].dtype;
      list.push_back({l, make_local(program_, l), Op::add, t, make_temporary(program_, t, {count}, "t")});
    }
    if (list.empty()) return list;
    const auto sum_of = [&](LocalId l) {
      return std::find_if(list.begin(), list.end(), [l](const Sum& s) { return s.whole == l; });
    };
    Rewriter rewriter(program_.exprs, [&](Expr e) -> Expr {
      auto s = e->op == Op::local ? sum_of(e->local) : list.end();
      return s == list.end() ? nullptr : program_.exprs.local(s->part, s->dtype);
    });
    const auto walk = [&](const auto& self, Block& block) -> void {
      for (Stmt& s : block) {
        each_expression(s, [&](Expr& e) { e = rewriter(e); });
        if (auto u = std::get_if<loops::Update>(&s.is))
          if (auto sum = sum_of(u->local); sum != list.end()) {
            if (u->op != Op::local) sum->op = u->op;  // else a sum of products
            u->local = sum->part;
          }
        each_block(s, [&](Block& b) { self(self, b); });
      }
    };
    walk(walk, f.body);
    return list;
  }
  void add_up(const Sum& s, const loops::Origins& from, For& tasks, Block& sums) {
    loops::ExprPool& e = program_.exprs;
    tasks.body.push_back({loops::Declare{s.part, e.constant(loops::identity(s.op, s.dtype), s.dtype)}, from});
    For all = make_loop(program_, tasks.variable, tasks.end);
    all.reduction = true;
    all.body.push_back(
        {loops::Update{s.whole, s.op, e.load(s.buffer, s.dtype, {loops::variable(all.variable)})}, from});
    sums.push_back({std::move(all)});
  }

  Program& program_;
  const Target& target_;
  OwnBuffers own_;
};

}  // namespace

void cut_into_tasks(Program& p, const Target& target) { Cutter(p, target).run(); }

}  // namespace anvil::compiler
