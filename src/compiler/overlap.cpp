// Windows that overlap. A sum over a window that moves along memory loads a vector for each product, from places of which
// most lie across two lines of the cache, as fast as a processor loads one and not as fast as it multiplies. Windows a
// vector apart are the same vectors but for one: such steps of the sum are made together, and their loads are equal.
//
//   for j in 0..4000 vector 8 x 8 {              for j in 0..4000 vector 8 x 8 {
//     a1 = 0                                       a1 = 0
//     for q in 0..50 reduction {                   for q in 0..2 reduction {
//       a1 := fma(x1[j + q], x2[q], a1)              for q2 in 0..8 reduction {
//     }                                                a1 := fma(x1[j + 24*q + q2], x2[24*q + q2], a1)
//     out1[j] = a1                                     a1 := fma(x1[j + 24*q + q2 + 8], x2[24*q + q2 + 8], a1)
//   }                                                  a1 := fma(x1[j + 24*q + q2 + 16], x2[24*q + q2 + 16], a1)
//                                                    }
//                                                  }
//                                                  for q in 48..50 reduction {
//                                                    a1 := fma(x1[j + q], x2[q], a1)
//                                                  }
//                                                  out1[j] = a1
//                                                }
#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

#include "compiler/copy.h"
#include "compiler/passes.h"
#include "compiler/schedule.h"

namespace anvil::compiler {
namespace {

using loops::For;

// Steps of a sum that are made together, `apart` from each other.
struct StepsTogether {
  int64_t apart = 1, count = 1;
  int64_t size() const { return apart * count; }
};

class Windows {
 public:
  Windows(Program& p, const Target& target) : program_(p), target_(target) {}

  void block(Block& b) {
    Block result;
    for (Stmt& s : b) {
      poll();
      auto f = std::get_if<For>(&s.is);
      const bool at_once = f && steps_at_once(*f) > 1;
      const double runs = runs_;
      if (f) runs_ *= ceil_div(extent(*f), steps_at_once(*f));
      if (at_once) at_once_.push_back(f);
      each_block(s, [this](Block& inner) { block(inner); });
      if (at_once) at_once_.pop_back();
      runs_ = runs;
      const StepsTogether best = f ? choose(*f) : StepsTogether{};
      if (best.count > 1)
        share(*f, best, s.origins, result);
      else
        result.push_back(std::move(s));
    }
    b = std::move(result);
  }

 private:
  // Cycles: of a load within a line, and what a sum waits for; gains that are worth more code, for one sum and for all,
  // and how much of it.
  static constexpr double cycles_of_load = 0.5, cycles_of_operation = 0.5, latency = 4;
  static constexpr double worthwhile = 0.9, worth_compiling = 4000, smaller_code = 0.002, most_operations = 128;
  static constexpr int64_t most_together = 8;

  struct Sum {  // what one step of it does
    std::vector<Affine> loads;
    std::vector<double> cycles;  // of each
    int operations = 0;
    bool plain = true;  // nothing but accumulation, of products and the like
  };
  Sum look_at(const For& q, const For& v) const {
    Sum sum;
    loops::ExprSet seen;
    for (const Stmt& s : q.body) {
      auto update = std::get_if<loops::Update>(&s.is);
      if (!update && !std::holds_alternative<loops::Let>(s.is)) sum.plain = false;
      if (update && update->op != Op::local) ++sum.operations;
      each_expression(s, [&](Expr e) {
        each_node(e, seen, [&](Expr x) {
          if (x->argument_count() > 0) ++sum.operations;
          if (loops::effort(x->op) == loops::Effort::call) sum.plain = false;
          if (x->op != Op::load) return;
          const Affine at = linear(program_, x->buffer, x->place);
          if (loops::factor(at, q.variable) == 0) return;  // it stays in a register
          const auto lines = static_cast<double>(v.width * static_cast<int64_t>(size_of(x->dtype))) /
                             static_cast<double>(loops::cache_line);
          const int64_t step = std::abs(loops::factor(at, v.variable));
          sum.cycles.push_back(cycles_of_load * (step == 0 ? 1 : step == 1 ? 1 + std::min(1.0, lines) : v.width));
          sum.loads.push_back(at);
        });
      });
    }
    return sum;
  }

  // Vectors that a load is of in all steps that are made at once.
  double vectors(const Affine& load, Variable q, const StepsTogether& steps) const {
    std::set<int64_t> places = {0};
    const auto add = [&](int64_t factor, int64_t count) {
      if (factor == 0) return;
      std::set<int64_t> all;
      for (int64_t k = 0; k < count; ++k)
        for (const int64_t x : places) all.insert(x + factor * k);
      places = std::move(all);
    };
    for (const For* f : at_once_) add(loops::factor(load, f->variable) * f->width, f->copies);
    add(loops::factor(load, q) * steps.apart, steps.count);
    return static_cast<double>(places.size());
  }
  double sums_at_once() const {
    double copies = 1;
    for (const For* f : at_once_) copies *= f->copies;
    return copies;
  }
  double cycles_of_step(const Sum& sum, Variable q, const StepsTogether& steps) const {
    double of_loads = 0;
    for (size_t k = 0; k < sum.loads.size(); ++k) of_loads += sum.cycles[k] * vectors(sum.loads[k], q, steps);
    const auto count = static_cast<double>(steps.count);
    return std::max({latency * count, cycles_of_operation * sum.operations * sums_at_once() * count, of_loads}) *
           (1 + smaller_code * count);
  }
  double cycles(const Sum& sum, const For& q, const StepsTogether& steps) const {
    const int64_t blocks = extent(q) / steps.size(), rest = extent(q) % steps.size();
    double all = static_cast<double>(blocks * steps.apart) * cycles_of_step(sum, q.variable, steps);
    if (rest > 0) all += static_cast<double>(rest) * cycles_of_step(sum, q.variable, {});
    return all;
  }

  StepsTogether choose(const For& q) const {
    const auto lanes =
        std::find_if(at_once_.begin(), at_once_.end(), [](const For* f) { return f->kind == For::Kind::vector; });
    if (lanes == at_once_.end() || q.kind != For::Kind::serial || !q.reduction) return {};
    const For& v = **lanes;
    const Sum sum = look_at(q, v);
    if (!sum.plain) return {};
    std::set<int64_t> distances;  // between windows that are the same vectors
    double registers = sums_at_once() * static_cast<double>(loop_facts(q).updated.size()) + 1;
    for (const Affine& load : sum.loads) {
      const int64_t along = loops::factor(load, v.variable), step = loops::factor(load, q.variable);
      if (along != 0) registers += vectors(load, q.variable, {});
      if (std::abs(along) == 1 && v.width % step == 0 && 2 * v.width / std::abs(step) <= extent(q))
        distances.insert(v.width / std::abs(step));
    }
    if (distances.empty() || registers > target_.registers || !independent(program_, q)) return {};
    StepsTogether best;
    const double plain = cycles(sum, q, {});
    double least = std::min(worthwhile * plain, plain - worth_compiling / runs_);
    for (const int64_t apart : distances)
      for (int64_t n = 2; n <= most_together && n * apart <= extent(q); ++n) {
        if (static_cast<double>(n * sum.operations) * sums_at_once() > most_operations) break;
        if (const double c = cycles(sum, q, {apart, n}); c < least) best = {apart, n}, least = c;
      }
    return best;
  }

  // The loop over blocks, that over the steps of one which are no distance apart, and the rest.
  void share(const For& q, const StepsTogether& steps, const loops::Origins& from, Block& result) {
    const int64_t blocks = extent(q) / steps.size();
    Affine first{q.begin, {}};
    std::vector<For> loops;
    const auto loop = [&](int64_t count, int64_t step) {
      if (count == 1) return;
      loops.push_back(make_loop(program_, q.variable, count));
      loops.back().reduction = true;
      first = first + loops::variable(loops.back().variable) * step;
    };
    loop(blocks, steps.size());
    loop(steps.apart, 1);
    Block body;
    for (int64_t k = 0; k < steps.count; ++k)
      for (Stmt& s : LoopCopy(program_)(q, first + k * steps.apart)) body.push_back(std::move(s));
    for (; !loops.empty(); loops.pop_back()) {
      loops.back().body = std::move(body);
      body.clear();
      body.push_back({std::move(loops.back()), from});
    }
    for (Stmt& s : body) result.push_back(std::move(s));
    if (extent(q) % steps.size() == 0) return;
    For rest = LoopCopy(program_)(q);
    rest.begin += blocks * steps.size();
    result.push_back({std::move(rest), from});
  }

  Program& program_;
  const Target& target_;
  std::vector<const For*> at_once_;  // loops around of which several steps are made at once
  double runs_ = 1;                  // of a statement
};

}  // namespace

void share_overlap(Program& p, const Target& target) { Windows(p, target).block(p.body); }

}  // namespace anvil::compiler
