// Two calls that one call can say:
//
//   %1 = reduce_sum [dims = 1, drop = TRUE] (%x)      %2 = reduce_sum [dims = 1, drop = FALSE] (%x)
//   %2 = reshape [shape = (1, 3)] (%1)
//
// What can be said so is the primitives' rule `absorb`. The order of all other calls stays: between the
// two there is nothing, or only what the reader reads.
#include <algorithm>

#include "base/interrupt.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"

namespace anvil::transform {
namespace {

constexpr size_t most_between = 8;  // calls

class Absorption {
 public:
  explicit Absorption(const Graph& g) { count(g); }

  void visit(Graph& g) {
    for (size_t i = 0; i < g.calls.size(); ++i) {
      poll();
      Call& call = g.calls[i];
      rewrite_subgraphs(call, [this](Graph& inner) { visit(inner); });
      if (call.outputs.size() == 1 && taken_in(g, i))
        call.outputs.clear();  // and so it goes, below
      else
        for (const ValuePtr& v : call.outputs) makers_[v.get()] = &call;
    }
    std::erase_if(g.calls, [](const Call& c) { return c.outputs.empty() && !has_effect(c); });
  }

 private:
  struct Reads {
    size_t depth;  // of the graph that makes the value
    int number = 0;
    size_t last = 0;  // the call of that graph in which the last one stands
  };

  void count(const Graph& g) {
    const size_t depth = places_.size();
    places_.push_back(0);
    for (const Call& c : g.calls) {
      poll();
      std::for_each(c.inputs.begin(), c.inputs.end(), [this](const ValuePtr& v) { read(v); });
      for (const GraphPtr& inner : subgraphs(c)) count(*inner);
      for (const ValuePtr& v : c.outputs) reads_[v.get()] = {depth};
      ++places_.back();
    }
    std::for_each(g.outputs.begin(), g.outputs.end(), [this](const ValuePtr& v) { read(v); });
    places_.pop_back();
  }
  void read(const ValuePtr& v) {
    const auto found = reads_.find(v.get());
    if (found == reads_.end()) return;
    ++found->second.number;
    found->second.last = places_[found->second.depth];
  }

  bool taken_in(Graph& g, size_t at) {
    const Call& reader = g.calls[at];
    for (size_t k = at; k-- > 0 && at - k <= most_between;) {
      Call& made = g.calls[k];
      const auto& rule = primitives::primitive_of(made).absorb;
      const auto v = std::find_if(made.outputs.begin(), made.outputs.end(), [&](const ValuePtr& x) {
        return std::find(reader.inputs.begin(), reader.inputs.end(), x) != reader.inputs.end();
      });
      if (rule && v != made.outputs.end() && reads_.at(v->get()).number == 1 && rule(made, reader, maker_)) {
        *v = reader.outputs[0];
        makers_[v->get()] = &made;
        return true;
      }
      for (const ValuePtr& x : made.outputs)
        if (reads_.at(x.get()).last > at) return false;
    }
    return false;
  }

  std::unordered_map<const Value*, const Call*> makers_;
  std::unordered_map<const Value*, Reads> reads_;
  std::vector<size_t> places_;  // of the calls that are counted, from the outermost graph inwards
  const primitives::Maker maker_ = [this](const ValuePtr& v) -> const Call* {
    const auto it = makers_.find(v.get());
    return it != makers_.end() ? it->second : nullptr;
  };
};

}  // namespace

void absorb_readers(Graph& g) {
  const KeptValues kept(g);
  Absorption(g).visit(g);
}

}  // namespace anvil::transform
