// What a loop or a branch gives a tape for, and whoever reads the tape:
//
//   %t = while_record (%i0, %y)            recorded, at each step of a loop: %i0 and %y in the place of %t
//   recorded, at each step of a loop: %t   ...
//   ...                                    %t = while_record (%i0, %y)
//   tape_scan (%t, ...)                    tape_scan (%t, ...)
//
// the recording loop is made again before the call that reads its tape, from what it reads itself; in a branch with
// all that it needs of that branch.
#include "transform/nested_tapes.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "base/interrupt.h"
#include "primitives/families/control.h"
#include "transform/needed.h"
#include "transform/segments.h"
#include "transform/simplify.h"
#include "transform/trip_count.h"

namespace anvil::transform {

namespace {

using primitives::Control;

// Fields of the tapes before this one.
size_t fields_before(const std::vector<int64_t>& counts, size_t tape) {
  return static_cast<size_t>(
      std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(tape), int64_t(0)));
}
size_t place_of(const ValueList& list, const ValuePtr& v) {
  return static_cast<size_t>(std::find(list.begin(), list.end(), v) - list.begin());
}
// The branch that makes result k of a call, where the others give a literal.
const Graph& branch_with_tape(const Call& c, size_t k) {
  for (const GraphPtr& g : subgraphs(c))
    if (g->outputs[k]->kind != Value::Kind::literal) return *g;
  throw InternalError("a branch gives no tape");
}
bool is_tape(const ValuePtr& v) { return v->type.tape; }
bool any_tape(const ValueList& list) { return std::any_of(list.begin(), list.end(), is_tape); }

// The calls that make some tapes, and what they read. Of a branch everything is made again, of a loop's body nothing
// but tapes.
class Makers {
 public:
  Makers(const Graph& of, bool in_branch) : graph_(of), all_(in_branch), needed_(of.calls.size()) {}

  // Gives what the tape is among the calls.
  ValuePtr add(const ValuePtr& v) {
    const Call* c = maker(graph_, v);
    if (c == nullptr || !(all_ || is_tape(v))) {
      const bool fixed = v->kind == Value::Kind::literal || v->kind == Value::Kind::constant;
      if (!fixed && !contains(read_, v)) read_.push_back(v);
      return v;
    }
    const auto place = static_cast<size_t>(c - graph_.calls.data());
    if (is_tape(v) && primitives::control_of(*c) == Control::branch) return add_of_branch(*c, place, v);
    if (!needed_[place]) {
      needed_[place] = true;
      for (const ValuePtr& r : reads(*c)) add(r);
    }
    return v;
  }
  const ValueList& read() const { return read_; }
  void list(std::vector<Call>& to) const {
    for (size_t i = 0; i < graph_.calls.size(); ++i) {
      for (const auto& [graph, inner] : branches_)
        if (inner.place == i) inner.makers->list(to);
      if (needed_[i]) to.push_back(graph_.calls[i]);
    }
  }

 private:
  ValuePtr add_of_branch(const Call& c, size_t place, const ValuePtr& v) {
    const size_t k = place_of(c.outputs, v);
    const Graph& g = branch_with_tape(c, k);
    Inner& inner = branches_[&g];
    if (!inner.makers) inner = {place, std::make_unique<Makers>(g, true)};
    const ValuePtr tape = inner.makers->add(g.outputs[k]);
    for (const ValuePtr& r : ValueList(inner.makers->read())) add(r);
    return tape;
  }

  struct Inner {
    size_t place = 0;
    std::unique_ptr<Makers> makers;
  };
  const Graph& graph_;
  const bool all_;
  std::vector<bool> needed_;
  std::unordered_map<const Graph*, Inner> branches_;
  ValueList read_;
};

bool has_nested_tapes(const Graph& g) {
  return std::any_of(g.calls.begin(), g.calls.end(), [](const Call& c) {
    if (primitives::control_of(c) == Control::branch && any_tape(c.outputs)) return true;
    if (primitives::records(c) && any_tape(c.params.graph("body_graph")->outputs)) return true;
    const auto inner = subgraphs(c);
    return std::any_of(inner.begin(), inner.end(), [](const GraphPtr& i) { return has_nested_tapes(*i); });
  });
}

class Unnester {
 public:
  void visit(Graph& g) {
    for (size_t i = 0; i < g.calls.size(); ++i) {
      poll();
      for (size_t t = 0; t < primitives::new_field_counts(g.calls[i]).size(); ++t) unnest(g, i, t);
      rewrite_subgraphs(g.calls[i], [this](Graph& inner) { visit(inner); });
    }
    graph::Substitution tapes;
    for (const Call& c : g.calls)
      if (primitives::control_of(c) == Control::branch)
        for (const ValuePtr& v : c.outputs)
          if (is_tape(v)) tapes[v.get()] = v;
    if (!tapes.empty()) make_again(g, tapes, Graph(g), {});
  }
  const Values& made_again() const { return again_; }

 private:
  // Records of a loop's tape hold what the makers of its tapes read, which its readers run.
  void unnest(Graph& g, size_t at, size_t tape) {
    Call& loop = g.calls[at];
    std::vector<int64_t> counts = primitives::new_field_counts(loop);
    const size_t carried = primitives::carried(loop);
    const size_t first = carried + fields_before(counts, tape);
    const auto body = std::make_shared<Graph>(*loop.params.graph("body_graph"));
    const auto begin = body->outputs.begin() + static_cast<std::ptrdiff_t>(first), end = begin + counts[tape];
    const ValueList before(begin, end);
    if (!any_tape(before)) return;
    Makers makers(*body, false);
    ValueList after;
    for (const ValuePtr& v : before) is_tape(v) ? void(makers.add(v)) : after.push_back(v);
    for (const ValuePtr& v : makers.read()) {
      const bool of_step = contains(body->inputs, v) || maker(*body, v) != nullptr;
      if (of_step && !contains(after, v)) after.push_back(v);
    }
    body->outputs.insert(body->outputs.erase(begin, end), after.begin(), after.end());
    counts[tape] = static_cast<int64_t>(after.size());
    loop.params.set("body_graph", body);
    loop.params.set("new_field_counts", std::move(counts));
    const Records records{loop.outputs[carried + tape], *body, before, after};
    for (size_t i = at + 1; i < g.calls.size(); ++i) change_readers(g.calls[i], records);
  }

  struct Records {
    ValuePtr tape;
    const Graph& step;
    ValueList before, after;  // fields
  };
  void change_readers(Call& c, const Records& r) {
    for (size_t k = 0; k < c.inputs.size(); ++k)
      if (c.inputs[k] == r.tape) change_reader(c, k, r);
    rewrite_subgraphs(c, [&](Graph& inner) {
      for (Call& i : inner.calls) change_readers(i, r);
    });
  }
  void change_reader(Call& scan, size_t operand, const Records& r) {
    std::vector<int64_t> counts = scan.params.ints("field_counts");
    const size_t first = fields_before(counts, operand);
    const auto body = std::make_shared<Graph>(*scan.params.graph("body_graph"));
    const auto begin = body->inputs.begin() + static_cast<std::ptrdiff_t>(first), end = begin + counts[operand];
    graph::Substitution tapes, read;
    for (size_t k = 0; k < r.before.size(); ++k) {
      const ValuePtr field = begin[static_cast<std::ptrdiff_t>(k)];
      is_tape(field) ? tapes[field.get()] = r.before[k] : read[r.before[k].get()] = field;
    }
    ValueList fields;
    for (const ValuePtr& v : r.after) {
      if (read.count(v.get()) == 0) read[v.get()] = make_value(Value::Kind::input, v->type);
      fields.push_back(read[v.get()]);
    }
    const ValueList gone(begin, end);  // `tapes` knows them by address
    body->inputs.insert(body->inputs.erase(begin, end), fields.begin(), fields.end());
    counts[operand] = static_cast<int64_t>(fields.size());
    scan.params.set("field_counts", std::move(counts));
    scan.params.set("body_graph", body);
    make_again(*body, tapes, r.step, read);
  }

  // Before whoever reads one of the tapes, the value of `from` that it stands for is made.
  void make_again(Graph& g, const graph::Substitution& tapes, const Graph& from, const graph::Substitution& read) {
    std::vector<Call> made;
    for (Call& c : g.calls) {
      rewrite_subgraphs(c, [&](Graph& inner) { make_again(inner, tapes, from, read); });
      Makers makers(from, false);
      std::unordered_map<size_t, ValuePtr> operands;
      for (size_t k = 0; k < c.inputs.size(); ++k)
        if (const auto tape = tapes.find(c.inputs[k].get()); tape != tapes.end())
          operands[k] = makers.add(tape->second);
      if (!operands.empty()) {
        Graph part;
        makers.list(part.calls);
        graph::Substitution map = read;
        append(made, graph::clone(part, map)->calls);
        for (const auto& [k, tape] : operands) c.inputs[k] = substitute(map, tape);
        for (const auto& entry : map) kept_.push_back(entry.second), again_.insert(entry.second.get());
      }
      made.push_back(std::move(c));
    }
    g.calls = std::move(made);
  }

  Values again_;
  ValueList kept_;  // it knows them by address
};

}  // namespace

std::optional<int64_t> expected_bytes(const Graph& of, const ValuePtr& tape) {
  const Call* c = maker(of, tape);
  if (c == nullptr) return std::nullopt;
  const size_t k = place_of(c->outputs, tape);
  if (primitives::control_of(*c) == Control::branch) {
    const Graph& g = branch_with_tape(*c, k);
    return expected_bytes(g, g.outputs[k]);
  }
  const bool scans = primitives::control_of(*c) == Control::scan;
  if (scans && !expected_bytes(of, c->inputs[0])) return std::nullopt;
  const auto steps = kept_records(*c);
  if (!steps) return std::nullopt;
  const auto counts = primitives::new_field_counts(*c);
  const Graph& body = *c->params.graph("body_graph");
  const size_t carried = primitives::carried(*c), tape_number = k - carried;
  size_t field = carried + fields_before(counts, tape_number);
  double record = 0;
  for (int64_t i = 0; i < counts[tape_number]; ++i, ++field) {
    const ValuePtr& v = body.outputs[field];
    record += static_cast<double>(is_tape(v) ? expected_bytes(body, v).value_or(0) : size_in_bytes(v));
  }
  constexpr double most = 1e12;  // far from where costs overflow
  return handle_bytes + static_cast<int64_t>(std::min(most, record * static_cast<double>(*steps)));
}

GraphPtr without_nested_tapes(const Graph& g) {
  auto to = std::make_shared<Graph>(g);
  if (!has_nested_tapes(g)) return to;
  Unnester unnester;
  unnester.visit(*to);
  remove_dead_calls(*to, unnester.made_again());
  list_inner_constants(*to);
  return to;
}

}  // namespace anvil::transform
