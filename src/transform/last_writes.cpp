// What a step of a loop reads of an array is carried where the steps before have written it:
//
//   while                                        %p = %y0[0]
//     %p = %y[%i - 1]                            while
//     %v = %f (%p)                                 %v = %f (%p)
//     %y = %y with %v at %i                        %y = %y with %v at %i, %p = %v
//
// and read of the array ahead of the loop where they have not. A number that was written just now takes as long to read
// as several operations on it; and an array that is only written is a record, whose values other passes know. It is
// what a loop in R says that fills a vector: y[i] <- f(y[i - 1]).
#include <algorithm>

#include "primitives/families/control.h"
#include "transform/all_steps.h"
#include "transform/step_loop.h"

namespace anvil::transform {
namespace {

using primitives::Var;

class LastWrites : StepLoop {
 public:
  using StepLoop::StepLoop;

  // Whether any read is gone.
  bool carry_parts() {
    bool any = false;
    for (size_t i = 0; i < seen_.carried; ++i) {
      Accesses found{i};
      if (is_tested(i) || !find(found) || !place(found)) continue;
      carry_parts(found);
      any = true;
    }
    std::erase_if(body_.calls,
                  [this](const Call& c) { return !c.outputs.empty() && replaced_.count(c.outputs[0].get()) != 0; });
    for (auto& [read, part] : replaced_)  // what was written may itself have been read
      while (replaced_.count(part.get()) != 0) part = replaced_.at(part.get());
    substitute_in(replaced_, body_);
    return any;
  }

 private:
  // A read or a write of one part of an array, by how far it is ahead of the first write, as the steps go.
  struct Access {
    const Call* call;
    bool writes;
    size_t version;  // how many writes of the step come before
    int64_t ahead = 0;

    const graph::TensorType& type() const { return (writes ? call->inputs[1] : call->outputs[0])->type; }
    const ValuePtr& place(size_t dim) const { return call->inputs[(writes ? 2 : 1) + dim]; }
  };
  struct Accesses {
    size_t carried;
    std::vector<Access> all = {};
    size_t dim = 0;
    Count first = {0, 0};            // the places of the first write
    int64_t oldest = 0, newest = 0;  // how far ahead parts are that are accessed, and that are written
  };
  using Parts = std::map<int64_t, ValuePtr>;  // by how far they are ahead
  static constexpr int64_t most_carried = 4;

  // Whether the step only reads parts of an array and writes others, and gives what it is then.
  bool find(Accesses& a) const {
    std::vector<ValuePtr> versions = {seen_.carry(a.carried)};
    int uses = 1;  // the output
    bool reads_any = false;
    for (const Call& c : calls_) {
      if (c.inputs.empty()) continue;
      const auto used = std::find(versions.begin(), versions.end(), c.inputs[0]);
      if (used == versions.end()) continue;
      const bool writes = primitives::primitive_of(c).updates;
      if (writes ? c.inputs[0] != versions.back() : !is_dynamic_slice(c)) return false;
      a.all.push_back({&c, writes, static_cast<size_t>(used - versions.begin())});
      ++uses;
      if (writes) versions.push_back(c.outputs[0]);
      reads_any = reads_any || !writes;
    }
    for (const ValuePtr& v : versions) uses -= reads(v);
    return reads_any && versions.size() > 1 && versions.back() == body_.outputs[a.carried] && uses == 0;
  }

  // Whether the parts are few numbers, along one dimension, at places that go on by one from step to step and never
  // reach beyond an end.
  bool place(Accesses& a) const {
    const Shape& whole = seen_.carry(a.carried)->type.shape;
    const Access& first = *std::find_if(a.all.begin(), a.all.end(), [](const Access& x) { return x.writes; });
    const Shape& part = first.type().shape;
    const auto dim = sliced_dimension(whole, part);
    if (!dim || elements(part) > few_numbers) return false;
    a.dim = *dim;
    const auto start = progress(loop_, first.place(a.dim), steps_);
    if (!start || std::abs(start->step) != 1) return false;
    a.first = *start;
    for (Access& x : a.all) {
      const auto at = progress(loop_, x.place(a.dim), steps_);
      if (x.type().shape != part || !at || at->step != start->step) return false;
      for (int64_t end : {at->start, at->start + (steps_ - 1) * at->step})
        if (end < 0 || end >= whole[a.dim]) return false;
      x.ahead = (at->start - start->start) * start->step;
      a.oldest = std::min(a.oldest, x.ahead);
      if (x.writes) a.newest = std::max(a.newest, x.ahead);
    }
    return a.newest - a.oldest <= most_carried;
  }

  void carry_parts(const Accesses& a) {
    const Var before{&around_, seen_.initial(a.carried)};
    Parts carried;
    for (int64_t k = a.oldest; k < a.newest; ++k)
      carried[k] = graph::make_value(Value::Kind::input, a.all.front().type());
    std::vector<Parts> versions = {carried};
    for (const Access& x : a.all) {
      if (x.writes) {
        versions.push_back(versions.back());
        versions.back()[x.ahead] = x.call->inputs[1];
      } else if (const auto part = versions[x.version].find(x.ahead); part != versions[x.version].end()) {
        replaced_[x.call->outputs[0].get()] = part->second;
      } else {  // no step has written that far
        body_.calls[static_cast<size_t>(x.call - calls_.data())].inputs[0] = before.value;
      }
    }
    const std::vector<int64_t> steps(before.shape().size(), 1);
    for (const auto& [k, value] : carried) {
      std::vector<int64_t> starts(steps.size(), 0), ends = before.shape();
      starts[a.dim] = a.first.start + k * a.first.step;
      ends[a.dim] = starts[a.dim] + 1;
      carry(value, primitives::slice(before, starts, ends, steps).value, versions.back().at(k + 1));
    }
  }

  graph::Substitution replaced_;
};

constexpr int64_t few_steps = 8;

}  // namespace

bool carry_last_writes(Graph& g) {
  return rewrite_loops(g, [](Graph& around, Call& loop, int64_t steps) {
    if (!is_plain(loop) || steps < few_steps) return Rewritten::no;
    return LastWrites(around, loop, steps).carry_parts() ? Rewritten::in_place : Rewritten::no;
  });
}

}  // namespace anvil::transform
