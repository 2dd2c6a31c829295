// What a loop computes at each step from values that are the same at each step is computed before it:
//
//   while (%s0)                        %e = exp (%w)
//     %e = exp (%w)                    while (%s0)
//     %s = mul (%s, %e)                  %s = mul (%s, %e)
//
// Where the loop may make no step, this is done if its condition holds at first, or that of the loop whose records it
// goes through. What only moves data of one array stays, since it is read as it goes; so does simple arithmetic on one
// array, and what would take much more memory than it is made of.
#include <algorithm>

#include "base/interrupt.h"
#include "primitives/families/control.h"
#include "transform/needed.h"
#include "transform/simplify.h"
#include "transform/trip_count.h"

namespace anvil::transform {
namespace {

constexpr int64_t little = int64_t(1) << 20;  // bytes that a second cache holds for all steps

bool is_array(const ValuePtr& v) { return v->kind != Value::Kind::literal && elements(v->type.shape) > 1; }

// Whether its results take no longer to make than to read them. Several arrays in one do: who reads that as a whole, as
// products do, needs a copy.
bool only_moves(const Call& c) {
  const primitives::Primitive& p = primitives::primitive_of(c);
  if (std::count_if(c.inputs.begin(), c.inputs.end(), is_array) > 1) return false;
  return p.view || p.acts == primitives::Acts::moves || c.inputs.empty();
}
bool is_simple(const Call& c) {
  const primitives::Primitive& p = primitives::primitive_of(c);
  return only_moves(c) || (p.op && loops::effort(*p.op) == loops::Effort::little);
}

// What an invariant of a body is made of from outside.
struct Sources {
  int64_t bytes = 0;
  bool several = false;  // arrays
  const Value* array = nullptr;

  void add(const Sources& other) {
    bytes += other.bytes;
    several |= other.several || (array && other.array && array != other.array);
    if (!array) array = other.array;
  }
};

class Hoister {
 public:
  void visit(Graph& g) {
    std::vector<Call> calls;
    for (Call& call : g.calls) {
      poll();
      rewrite_subgraphs(call, [this](Graph& inner) { visit(inner); });
      if (primitives::repeats(call)) hoist(call, calls);
      calls.push_back(std::move(call));
    }
    g.calls = std::move(calls);
  }
  bool any() const { return any_; }

 private:
  void hoist(Call& loop, std::vector<Call>& before) {
    const auto steps = counts_.of(loop);
    const Test test = steps ? Test{} : first_test(loop, before);
    if (steps ? *steps < 2 : !test.condition) return;
    std::vector<Call> moved = take(*loop.params.graph("body_graph"));  // a copy of our own, by rewrite_subgraphs
    if (moved.empty()) return;
    any_ = true;
    if (steps)
      std::move(moved.begin(), moved.end(), std::back_inserter(before));
    else
      guard(loop, test, std::move(moved), before);
  }

  // What tells whether a loop makes a step: its condition of the values that it starts from; of a loop over records that
  // of the one that made them. None where that is not known, or would do more than to tell.
  struct Test {
    GraphPtr condition;
    ValueList state;
  };
  static Test first_test(const Call& loop, const std::vector<Call>& before) {
    if (primitives::control_of(loop) == primitives::Control::scan) {
      const auto made = std::find_if(before.begin(), before.end(), [&](const Call& c) {
        return std::find(c.outputs.begin(), c.outputs.end(), loop.inputs[0]) != c.outputs.end();
      });
      return made != before.end() && primitives::records(*made) ? first_test(*made, before) : Test{};
    }
    const GraphPtr& condition = loop.params.graph("cond_graph");
    const bool effect = std::any_of(condition->calls.begin(), condition->calls.end(), has_effect);
    return effect ? Test{} : Test{condition, loop.inputs};
  }

  // The calls that leave a body, in their order.
  static std::vector<Call> take(Graph& body) {
    const std::vector<std::optional<Sources>> sources = invariants(body);
    Values stays = addresses(body.outputs), needed;  // what is read by what stays, and by what leaves
    std::vector<bool> leaves(body.calls.size());
    for (size_t i = body.calls.size(); i-- > 0;) {
      const Call& c = body.calls[i];
      leaves[i] = sources[i] && (makes_any_of(c, needed) || (makes_any_of(c, stays) && pays(c, *sources[i])));
      (leaves[i] ? needed : stays).merge(addresses(reads(c)));
    }
    std::vector<Call> left, moved;
    graph::Substitution made_again;
    for (size_t i = 0; i < body.calls.size(); ++i) {
      Call& c = body.calls[i];
      if (leaves[i] && only_moves(c) && makes_any_of(c, stays)) left.push_back(twin(c, made_again));
      (leaves[i] ? moved : left).push_back(std::move(c));
    }
    body.calls = std::move(left);
    if (!made_again.empty()) substitute_in(made_again, body);
    return moved;
  }
  static Call twin(Call c, graph::Substitution& map) {
    for (ValuePtr& v : c.outputs) {
      const ValuePtr other = graph::make_value(Value::Kind::result, v->type);
      map[v.get()] = other;
      v = other;
    }
    return c;
  }

  // Of each call whose results are the same at each step.
  static std::vector<std::optional<Sources>> invariants(const Graph& body) {
    Values moving = addresses(body.inputs);
    std::unordered_map<const Value*, Sources> known;
    const auto of_value = [&](const ValuePtr& v) -> Sources {
      if (const auto found = known.find(v.get()); found != known.end()) return found->second;
      if (v->kind == Value::Kind::literal) return {};
      return {size_in_bytes(v), false, is_array(v) ? v.get() : nullptr};
    };
    std::vector<std::optional<Sources>> all;
    for (const Call& c : body.calls) {
      const ValueList list = reads(c);
      const auto moves = [&](const ValuePtr& v) { return moving.count(v.get()) != 0; };
      if (has_effect(c) || primitives::records(c) || std::any_of(list.begin(), list.end(), moves)) {
        moving.merge(addresses(c.outputs));
        all.emplace_back();
        continue;
      }
      Sources s;
      for (const ValuePtr& v : list) s.add(of_value(v));
      for (const ValuePtr& v : c.outputs) {
        known[v.get()] = s;
        if (only_moves(c)) known[v.get()].bytes = std::min(s.bytes, size_in_bytes(v));
      }
      all.emplace_back(s);
    }
    return all;
  }

  static bool pays(const Call& c, const Sources& from) {
    int64_t bytes = 0;
    for (const ValuePtr& v : c.outputs) bytes += size_in_bytes(v);
    if (is_simple(c)) return !only_moves(c) && from.several && bytes < from.bytes;
    return bytes <= std::max(little, from.bytes);
  }

  // In a branch where the loop makes a step; zeros in the other one.
  static void guard(Call& loop, const Test& test, std::vector<Call> moved, std::vector<Call>& before) {
    const Values read = addresses(reads(loop));
    const auto yes = std::make_shared<Graph>(), no = std::make_shared<Graph>();
    for (const Call& c : moved)
      for (const ValuePtr& v : c.outputs)
        if (read.count(v.get())) {
          yes->outputs.push_back(v);
          no->outputs.push_back(graph::make_literal(Scalar(int64_t(0)), v->type));
        }
    yes->calls = std::move(moved);
    list_constants(*yes);
    Graph g;
    const ValuePtr runs = graph::inline_calls(*test.condition, test.state, g).at(0);
    const std::vector<ValuePtr> results = primitives::branch(g, runs, yes, no);
    for (Call& c : g.calls) c.location = loop.location;
    std::move(g.calls.begin(), g.calls.end(), std::back_inserter(before));
    graph::Substitution map;
    for (size_t k = 0; k < results.size(); ++k) map[yes->outputs[k].get()] = results[k];
    rewrite_subgraphs(loop, [&](Graph& inner) { substitute_in(map, inner); });
  }

  TripCounts counts_;
  bool any_ = false;
};

}  // namespace

bool hoist_invariants(Graph& g) {
  const KeptValues kept(g);
  Hoister hoister;
  hoister.visit(g);
  if (hoister.any()) list_inner_constants(g);
  return hoister.any();
}

}  // namespace anvil::transform
