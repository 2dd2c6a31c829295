// Calls of the steps of a loop on what they read step by step, made ahead of it: step_calls.cpp.
#include <algorithm>

#include "transform/all_steps.h"
#include "transform/step_loop.h"

namespace anvil::transform {
namespace {

using namespace step_costs;
using primitives::Var;

constexpr int most_cost = 1 << 20;

class EarlyCalls : StepLoop {
 public:
  using StepLoop::StepLoop;

  // Whether there are any.
  bool move() {
    for (const Call& c : calls_)
      if (is_early(c)) early_.push_back(&c);
    keep_worthy();
    if (early_.empty() || early_.size() > most_moved) return false;
    const std::vector<const Call*> read = read_later();
    int64_t saved = 0, bytes = 0;
    for (const Call* c : early_) saved += cost_of_moved(*c);
    for (const Call* c : read) bytes += first_->steps() * size_in_bytes(c->outputs[0]);
    if (saved < (of_record + 1) * static_cast<int64_t>(read.size()) || bytes > most_kept) return false;

    AllSteps all(around_, first_->steps());
    for (const Call* c : early_)
      for (const ValuePtr& v : c->inputs) place(v, all);
    body_.calls.clear();
    auto next = early_.cbegin(), next_read = read.cbegin();  // both in the order of the calls
    for (const Call& c : calls_) {
      if (next == early_.cend() || *next != &c) {
        body_.calls.push_back(c);
        continue;
      }
      all.add(**next++);
      if (next_read == read.cend() || *next_read != &c) continue;
      ++next_read;
      const size_t before = body_.calls.size();
      const Var whole = all.of(c.outputs[0], c.outputs[0]->type.shape);
      primitives::element({&body_, whole.value}, last_dimension(whole), {&body_, first_->place});
      graph::locate(body_.calls, before, c.location, c.derivative);
      body_.calls.back().outputs[0] = c.outputs[0];
    }
    return true;
  }

 private:
  // All that is read step by step is read at the same place, or at the number of the step from either end.
  bool is_early(const Call& c) {
    if (!can_move(c)) return false;
    bool reads_step = false;
    std::optional<StepRead> first = first_;
    for (const ValuePtr& v : c.inputs) {
      if (invariant(v)) continue;
      reads_step = true;
      if (made_.count(v.get()) != 0) continue;
      const auto read = read_of_step(v);
      if (!read || (first && !goes_with(*read, *first))) return false;
      if (2 * steps_ < read->steps()) return false;
      if (!first) first = read;
    }
    if (!reads_step) return false;
    first_ = first;
    made_.insert(c.outputs[0].get());
    return true;
  }
  bool goes_with(const StepRead& read, const StepRead& first) {
    if (read.steps() != first.steps()) return false;
    if (read.place == first.place) return true;
    return read.steps() == steps_ && direction(read.place) != 0 && direction(first.place) != 0;
  }
  // What takes more than a read, with all that it is made of.
  void keep_worthy() {
    std::unordered_map<const Value*, int> costs;
    Values kept;
    for (const Call* c : early_) {
      int& total = costs[c->outputs[0].get()];
      total = cost_of_moved(*c);
      for (const ValuePtr& v : c->inputs)
        if (made_.count(v.get()) != 0) total = std::min(total + costs[v.get()], most_cost);
    }
    for (const Call* c : read_later())
      if (costs[c->outputs[0].get()] > of_record) kept.insert(c->outputs[0].get());
    for (auto c = early_.rbegin(); c != early_.rend(); ++c)
      if (makes_any_of(**c, kept))
        for (const ValuePtr& v : (*c)->inputs) kept.insert(v.get());
    std::erase_if(early_, [&](const Call* c) { return !makes_any_of(*c, kept); });
  }
  // Those that others read.
  std::vector<const Call*> read_later() const {
    std::unordered_map<const Value*, int> by_early;
    for (const Call* c : early_)
      for (const ValuePtr& v : c->inputs) ++by_early[v.get()];
    std::vector<const Call*> read;
    for (const Call* c : early_)
      if (reads(c->outputs[0]) > by_early[c->outputs[0].get()]) read.push_back(c);
    return read;
  }
  void place(const ValuePtr& v, AllSteps& all) {
    if (all.has(v)) return;
    if (const ValuePtr outside = invariant(v))
      all.same(v, outside);
    else if (const auto read = read_of_step(v))
      all.set(v, all.turned(read->whole, read->dim, direction(read->place) != direction(first_->place)));
  }

  std::vector<const Call*> early_;
  Values made_;
  std::optional<StepRead> first_;  // of what is read
};

}  // namespace

bool move_early(Graph& around, Call& loop, int64_t steps) { return EarlyCalls(around, loop, steps).move(); }

}  // namespace anvil::transform
