// Derivatives of elements that were not taken: by a select, a maximum, a clamp. They are zero whatever comes of
// these elements, and stay zero when they meet an infinite slope, where zero times that would be NaN:
//
//   select(x > 0, log(x), 0) at x = 0      g = 0 comes back to log(x), whose slope is infinite
//
// Which elements these are is computed as a value of its own, not read off the derivative: one that merely happens
// to be zero, such as that of a square at zero, has a derivative itself.
#pragma once
#include <functional>
#include <unordered_map>

#include "primitives/vocabulary/var.h"
#include "transform/activity.h"

namespace anvil::transform {

// Whether what was not taken can be followed through calls of a primitive with weights that are not negative: no
// sums of them vanish.
inline bool never_cancels(const primitives::Primitive& p) {
  using primitives::Acts;
  return p.acts == Acts::per_element || p.acts == Acts::moves || p.acts == Acts::reduces || p.rearranges;
}

// The results of one call in each graph that asks for it, where those who ask are many: weights ask for weights.
class OnceInEachGraph {
 public:
  template <class Record>  // gives the results of a graph's last call
  ValueList operator()(Graph& to, const Record& record) {
    for (const Recorded& r : recorded_)
      if (r.graph == &to && r.call < to.calls.size() && to.calls[r.call].outputs == r.results) return r.results;
    const ValueList results = record(to);
    std::erase_if(recorded_, [&](const Recorded& r) { return r.graph == &to; });
    recorded_.push_back({&to, to.calls.size() - 1, results});
    return results;
  }

 private:
  struct Recorded {
    const Graph* graph;
    size_t call;  // of it, if it is still there
    ValueList results;
  };
  std::vector<Recorded> recorded_;
};

class Selected {
 public:
  // Records, into a graph, a float for each element of a derivative: 0 where it was not taken.
  using Weights = std::function<ValuePtr(Graph&)>;

  bool contains(const ValuePtr& derivative) const { return entries_.count(derivative) != 0; }
  // Whether there are such derivatives, and no others; null is none.
  bool contain(const ValueList& derivatives) const;
  // The weights, which may ask for those of derivatives in `from`, are recorded when they are asked for.
  void insert(const ValuePtr& derivative, Weights weights, const ValueList& from, Graph& to);
  // One whose elements were taken where those of another one were.
  void insert(const ValuePtr& derivative, const ValuePtr& like);
  // 1 for each element of a derivative that was taken, 0 for others.
  ValuePtr taken(const ValuePtr& derivative, Graph& to);
  // What is made of a derivative element by element, with zeros where that was not taken.
  ValuePtr kept(const ValuePtr& made, const ValuePtr& derivative, Graph& to);

 private:
  primitives::Var untaken(const ValuePtr& derivative, Graph& to);

  struct Entry {
    Weights weights;
    int depth;  // of weights that ask for weights
    OnceInEachGraph untaken;
  };
  std::unordered_map<ValuePtr, std::shared_ptr<Entry>> entries_;
};

}  // namespace anvil::transform
