// An input that the steps of a loop read slice by slice is turned ahead of the loop, so that a slice lies together:
//
//   while                                        %t = transpose [2, 3, 1] (%x1)
//     %p = dynamic_slice (%x1, %i, 1, 1)         while
//                                                  %q = dynamic_slice (%t, 1, 1, %i)
//                                                  %p = reshape (%q)
//
// Scans of other tools go along the first dimension, whose elements are neighbours in memory here: the elements of a
// slice are as far from each other as the input has slices, and each of them takes a line of the cache for itself.
// Where all these lines stay in a second cache until the next step reads the elements beside, it is left as it is.
// Inputs only: what a program makes itself is laid out by the loop compiler (compiler/record_layout.cpp). And only
// where the loop is known to read about as much as there is, since what is turned is turned as a whole.
#include <map>
#include <numeric>

#include "base/interrupt.h"
#include "primitives/families/control.h"
#include "primitives/vocabulary/infer.h"
#include "primitives/vocabulary/var.h"
#include "transform/loop.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"
#include "transform/trip_count.h"

namespace anvil::transform {
namespace {

using primitives::Var;

constexpr int64_t bytes_of_line = 64;
constexpr int64_t least_lines = 1 << 13;           // of a slice
constexpr double least_share = 0.5;                // of the input, that is read in all steps
constexpr int64_t most_turned = int64_t(1) << 30;  // bytes

class SlicedInputs {
 public:
  explicit SlicedInputs(Graph& g) : graph_(g) {
    for (const auto* list : {&g.inputs, &g.constants})
      for (const ValuePtr& v : *list) same_[v.get()] = v;
  }

  void run() {
    count(graph_, 1, false);
    if (std::none_of(sliced_.begin(), sliced_.end(), is_worthwhile)) return;
    std::vector<Call> calls;
    calls.swap(graph_.calls);
    for (Sliced& s : sliced_)
      if (is_worthwhile(s)) turn(s);
    read_turned(calls, graph_, false);
    list_inner_constants(graph_);
  }

 private:
  struct Sliced {
    ValuePtr input;
    std::vector<int64_t> order;  // its dimensions, those last of which a slice has one step
    size_t whole;                // how many are not such
    double share = 0;            // of it that all steps read, above 1 where they read it several times
    ValuePtr turned = {};
  };

  // What is read how often: `times` that the graph runs.
  void count(const Graph& g, double times, bool in_loop) {
    for (const Call& c : g.calls) {
      poll();
      if (in_loop) add(c, times);
      const bool loop = primitives::repeats(c);
      if (loop) know_invariants(Loop(c));
      const double steps = loop ? static_cast<double>(trip_counts_.of(c).value_or(0)) : 1;
      for (const GraphPtr& inner : subgraphs(c)) count(*inner, times * steps, in_loop || loop);
    }
  }
  // Bodies may be shared by loops: what a carried value is holds until the next loop is looked at.
  void know_invariants(const Loop& loop) {
    for (size_t i = 0; i < loop.carried; ++i) {
      const auto known = same_.find(loop.initial(i).get());
      if (loop.body.outputs[i] == loop.carry(i) && known != same_.end())
        same_[loop.carry(i).get()] = known->second;
      else
        same_.erase(loop.carry(i).get());
    }
  }
  // What is read of which input.
  std::optional<Sliced> read(const Call& c) const {
    const auto known = is_dynamic_slice(c) ? same_.find(c.inputs[0].get()) : same_.end();
    if (known == same_.end() || elements(c.outputs[0]->type.shape) == 0) return std::nullopt;
    const Shape &all = known->second->type.shape, &part = c.outputs[0]->type.shape;
    std::vector<int64_t> order(all.size());
    std::iota(order.begin(), order.end(), int64_t(0));
    const auto is_whole = [&](auto d) { return part[static_cast<size_t>(d)] == all[static_cast<size_t>(d)]; };
    const auto sliced = std::stable_partition(order.begin(), order.end(), is_whole);
    if (sliced == order.end() ||
        std::any_of(sliced, order.end(), [&](int64_t d) { return part[static_cast<size_t>(d)] != 1; }))
      return std::nullopt;
    const auto whole = static_cast<size_t>(sliced - order.begin());
    return Sliced{known->second, std::move(order), whole};
  }
  void add(const Call& c, double times) {
    const auto s = read(c);
    if (!s) return;
    const auto [place, fresh] = places_.try_emplace({s->input.get(), s->order}, sliced_.size());
    if (fresh) sliced_.push_back(*s);
    sliced_[place->second].share += times * static_cast<double>(elements(c.outputs[0]->type.shape)) /
                                    static_cast<double>(elements(s->input->type.shape));
  }
  const Sliced* turned(const Call& c) const {
    const auto s = read(c);
    if (!s) return nullptr;
    const Sliced& found = sliced_[places_.at({s->input.get(), s->order})];
    return found.turned ? &found : nullptr;
  }

  static bool is_worthwhile(const Sliced& s) {
    const auto extent = [&s](size_t k) { return s.input->type.shape[static_cast<size_t>(s.order[k])]; };
    auto together = static_cast<int64_t>(size_of(s.input->type.dtype));  // bytes of a slice
    size_t k = 0;
    for (; k < s.whole && s.order[k] == static_cast<int64_t>(k); ++k) together *= extent(k);
    int64_t runs = 1;
    for (; k < s.whole; ++k) runs *= extent(k);
    return together < bytes_of_line && runs >= least_lines && s.share >= least_share &&
           size_in_bytes(s.input) <= most_turned;
  }

  void turn(Sliced& s) { s.turned = primitives::transpose({&graph_, s.input}, s.order).value; }
  void read_turned(std::vector<Call>& calls, Graph& g, bool in_loop) {
    for (Call& call : calls) {
      poll();
      const bool loop = primitives::repeats(call);
      if (loop) know_invariants(Loop(call));
      rewrite_subgraphs(call, [&](Graph& inner) {
        std::vector<Call> steps;
        steps.swap(inner.calls);
        read_turned(steps, inner, in_loop || loop);
      });
      const Sliced* const s = in_loop ? turned(call) : nullptr;
      if (!s) {
        g.calls.push_back(std::move(call));
        continue;
      }
      const size_t before = g.calls.size();
      std::vector<Var> starts;
      for (size_t k = 1; k < call.inputs.size(); ++k) starts.push_back({&g, call.inputs[k]});
      const ValuePtr& part = call.outputs[0];
      const Shape& sizes = part->type.shape;
      const Var slice = primitives::dynamic_slice({&g, s->turned}, primitives::take(starts, s->order),
                                                  primitives::take(sizes, s->order));
      primitives::reshape(slice, sizes);
      graph::locate(g.calls, before, call.location, call.derivative);
      g.calls.back().outputs[0] = part;
    }
  }

  Graph& graph_;
  TripCounts trip_counts_;
  graph::Substitution same_;  // of inputs, and of what loops carry that is one
  std::vector<Sliced> sliced_;
  std::map<std::pair<const Value*, std::vector<int64_t>>, size_t> places_;  // in it
};

}  // namespace

void turn_sliced_inputs(Graph& g) {
  const KeptValues kept(g);
  SlicedInputs(g).run();
}

}  // namespace anvil::transform
