// Tapes as tensors or as repeated loops. A tape is known by its length and by what gives one
// of its records. With `body` as the body of the loop that makes it:
//
//   %s, %tape = while_record [fields = 1] (%s0)      %s, %k = while (%s0, 0), the body counting %k
//   ... a record of %tape at place %i                %r, .. = while (%s0, 0) as long as the count is < %i
//
// and, when it is known that the loop runs n times,
//
//   %s, %tape = while_record [fields = 1] (%s0)      %s, %k, %t = while (%s0, 0, zeros[.., n]), which also
//                                                      writes %s into %t[.., %k]
//   ... a record of %tape at place %i                %t[.., %i]
#include "transform/tapes.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "base/interrupt.h"
#include "primitives/families/control.h"
#include "primitives/vocabulary/var.h"
#include "transform/rewrite.h"

namespace anvil::transform {

using graph::Params;
using graph::TensorType;
using primitives::Var;

namespace {

using ValueList = std::vector<ValuePtr>;
constexpr int64_t most_bytes = int64_t(1) << 31;  // of the tensors of one tape

const TensorType count_type{DType::i64, {}, false};
ValuePtr count(int64_t n) { return graph::make_literal(Scalar(n), count_type); }
Var var(Graph& g, const ValuePtr& v) { return {&g, v}; }

ValueList part(const ValueList& list, size_t from, size_t n) {
  auto first = list.begin() + static_cast<std::ptrdiff_t>(from);
  return {first, first + static_cast<std::ptrdiff_t>(n)};
}

struct Tape {
  ValuePtr length;               // i64
  std::optional<int64_t> known;  // its value
  std::function<ValueList(Graph& to, const ValuePtr& place)> record;
};

// while (go_on(state)) state = step(state), recorded into `to`.
using Condition = std::function<ValuePtr(Graph&, const ValueList& state)>;
using Step = std::function<ValueList(Graph&, const ValueList& state)>;
ValueList loop(Graph& to, const ValueList& start, const Condition& go_on, const Step& step) {
  auto condition = std::make_shared<Graph>(), body = std::make_shared<Graph>();
  for (const ValuePtr& v : start)
    for (Graph* g : {condition.get(), body.get()}) g->inputs.push_back(graph::make_value(Value::Kind::input, v->type));
  condition->outputs = {go_on(*condition, condition->inputs)};
  body->outputs = step(*body, body->inputs);
  return primitives::loop(to, start, condition, body);
}

// ---- records in tensors -------------------------------------------------------------------
// Field by field, a tensor with the records along its last dimension.

bool fits(const std::vector<TensorType>& layout, std::optional<int64_t> n) {
  if (!n) return false;
  double bytes = 0;
  for (const TensorType& t : layout)
    bytes += static_cast<double>(size_of(t.dtype)) * static_cast<double>(elements(t.shape)) * static_cast<double>(*n);
  return bytes <= static_cast<double>(most_bytes);
}
ValuePtr empty_records(const TensorType& field, int64_t n) {
  TensorType all{field.dtype, field.shape, false};
  all.shape.push_back(std::max<int64_t>(n, 1));  // the loop's body has one to write to, though it may never run
  return graph::make_literal(Scalar(0), all);
}
std::vector<Var> starts(Graph& g, size_t rank, const ValuePtr& place) {
  std::vector<Var> list(rank, var(g, count(0)));
  list.push_back(var(g, place));
  return list;
}
ValuePtr written(Graph& g, const ValuePtr& records, const ValuePtr& field, const ValuePtr& place) {
  Shape one = field->type.shape;
  one.push_back(1);
  return dynamic_update_slice(var(g, records), reshape(var(g, field), one), starts(g, field->type.shape.size(), place))
      .value;
}
ValuePtr read(Graph& g, const ValuePtr& records, const ValuePtr& place) {
  Shape one = records->type.shape, field(one.begin(), one.end() - 1);
  one.back() = 1;
  return reshape(dynamic_slice(var(g, records), starts(g, field.size(), place), one), field).value;
}
Tape tape_of(const ValuePtr& length, std::optional<int64_t> known, const ValueList& records) {
  return {length, known, [records](Graph& to, const ValuePtr& place) {
            ValueList fields;
            for (const ValuePtr& r : records) fields.push_back(read(to, r, place));
            return fields;
          }};
}

// ---- how often a loop runs ----------------------------------------------------------------

const Call* maker(const Graph& g, const ValuePtr& v) {
  for (const Call& c : g.calls)
    if (std::find(c.outputs.begin(), c.outputs.end(), v) != c.outputs.end()) return &c;
  return nullptr;
}
std::optional<int64_t> number(const ValuePtr& v) {
  if (!is_integer(v->type.dtype) || !v->type.shape.empty()) return std::nullopt;
  if (v->kind == Value::Kind::constant) return graph::element(v->constant, 0).as<int64_t>();
  if (v->kind != Value::Kind::literal) return std::nullopt;
  return v->literal.rounded_to(v->type.dtype).as<int64_t>();
}
bool is(const Call& c, loops::Op op) { return primitives::primitive_of(c).op == op; }
// For `k < end` or `k <= end` with k = k + step, all of them numbers of the text.
std::optional<int64_t> iterations(const Call& c) {
  const Graph &condition = *c.params.graph("cond_graph"), &body = *c.params.graph("body_graph");
  const Call* test = maker(condition, condition.outputs[0]);
  const bool below = test != nullptr && is(*test, loops::Op::lt);
  if (test == nullptr || !(below || is(*test, loops::Op::le))) return std::nullopt;
  auto counter = std::find(condition.inputs.begin(), condition.inputs.end(), test->inputs[0]);
  auto end = number(test->inputs[1]);
  if (counter == condition.inputs.end() || !end) return std::nullopt;
  auto k = static_cast<size_t>(counter - condition.inputs.begin());
  const Call* next = maker(body, body.outputs[k]);
  auto start = number(c.inputs[k]);
  if (!start || next == nullptr || !is(*next, loops::Op::add)) return std::nullopt;
  auto step = next->inputs[0] == body.inputs[k]   ? number(next->inputs[1])
              : next->inputs[1] == body.inputs[k] ? number(next->inputs[0])
                                                  : std::nullopt;
  constexpr int64_t most = int64_t(1) << 30;  // far from where any of these dtypes wraps but the small ones
  if (!step || *step < 1 || *step > most || std::abs(*start) > most || std::abs(*end) > most) return std::nullopt;
  int64_t last = *end + *step;
  if (Scalar(last).rounded_to(c.inputs[k]->type.dtype).as<int64_t>() != last) return std::nullopt;
  int64_t distance = *end - *start + (below ? 0 : 1);
  return distance <= 0 ? 0 : (distance + *step - 1) / *step;
}

// ---- the rewriting ------------------------------------------------------------------------

class Untaper {
 public:
  GraphPtr run(const Graph& g) {
    auto to = std::make_shared<Graph>();
    to->inputs = g.inputs;
    for (const ValuePtr& v : g.constants) to->constants.push_back(substitute(map_, v));
    for (const Call& c : g.calls) {
      poll();
      call(*to, c);
    }
    for (const ValuePtr& v : g.outputs) to->outputs.push_back(substitute(map_, v));
    return to;
  }

 private:
  void call(Graph& to, Call c) {
    for (graph::Param& p : c.params.items)
      if (auto* inner = std::get_if<GraphPtr>(&p.value)) *inner = run(**inner);
    substitute_all(map_, c.inputs);
    if (primitives::records(c)) return while_record(to, c);
    if (primitives::control_of(c) == primitives::Control::scan) return tape_scan(to, c);
    to.calls.push_back(std::move(c));
  }
  void bind(const ValueList& from, const ValueList& to) {
    for (size_t i = 0; i < to.size(); ++i) map_[from[i].get()] = to[i];
  }

  void while_record(Graph& to, const Call& c) {
    size_t n = c.inputs.size();
    std::optional<int64_t> known = iterations(c);
    std::vector<TensorType> layout = primitives::record_layout(c, n);
    std::vector<int64_t> fields = c.params.ints("fields");
    GraphPtr condition = c.params.graph("cond_graph"), body = c.params.graph("body_graph");
    auto advance = [n, body](Graph& g, const ValueList& state) {  // the state, then the count
      ValueList next = inline_calls(*body, part(state, 0, n), g);
      next.push_back((var(g, state[n]) + 1.0).value);
      return next;
    };
    auto go_on = [n, condition](Graph& g, const ValueList& state) {
      return inline_calls(*condition, part(state, 0, n), g).at(0);
    };
    ValueList counted = c.inputs;
    counted.push_back(count(0));
    if (!fits(layout, known)) {
      ValueList end = loop(to, counted, go_on, advance);
      bind(c.outputs, part(end, 0, n));
      tapes_[c.outputs[n].get()] = {end[n], known, [=](Graph& g, const ValuePtr& place) {
                                      ValueList there = loop(
                                          g, counted,
                                          [n, place](Graph& inner, const ValueList& state) {
                                            return (var(inner, state[n]) < var(inner, place)).value;
                                          },
                                          advance);
                                      ValueList record;
                                      for (int64_t f : fields) record.push_back(there[static_cast<size_t>(f)]);
                                      return record;
                                    }};
      return;
    }
    for (const TensorType& t : layout) counted.push_back(empty_records(t, *known));
    ValueList end = loop(to, counted, go_on, [=](Graph& g, const ValueList& state) {
      ValueList next = advance(g, state);
      for (size_t k = 0; k < fields.size(); ++k)
        next.push_back(written(g, state[n + 1 + k], state[static_cast<size_t>(fields[k])], state[n]));
      return next;
    });
    bind(c.outputs, part(end, 0, n));
    tapes_[c.outputs[n].get()] = tape_of(end[n], known, part(end, n + 1, fields.size()));
  }

  void tape_scan(Graph& to, const Call& c) {
    const auto &directions = c.params.ints("last_first"), &new_counts = c.params.ints("new_field_counts");
    std::vector<Tape> from;
    for (size_t i = 0; i < directions.size(); ++i) from.push_back(tapes_.at(c.inputs[i].get()));
    ValueList carry = part(c.inputs, directions.size(), c.inputs.size() - directions.size());
    size_t n = carry.size();
    GraphPtr body = c.params.graph("body_graph");
    const ValuePtr length = from[0].length;
    std::optional<int64_t> known = from[0].known;
    // all outputs of the body at a step: the next carry, then the fields of new records
    auto outputs = [=](Graph& g, const ValueList& state) {
      ValueList inputs;
      for (size_t i = 0; i < from.size(); ++i) {
        Var step = var(g, state[n]);
        append(inputs, from[i].record(g, directions[i] ? (var(g, length) - 1.0 - step).value : step.value));
      }
      append(inputs, part(state, 0, n));
      return inline_calls(*body, inputs, g);
    };
    auto until = [n](const ValuePtr& limit) {
      return [n, limit](Graph& g, const ValueList& state) { return (var(g, state[n]) < var(g, limit)).value; };
    };
    auto advance = [n](Graph& g, const ValueList& state, const ValueList& made) {
      ValueList next = part(made, 0, n);
      next.push_back((var(g, state[n]) + 1.0).value);
      return next;
    };
    ValueList counted = carry;
    counted.push_back(count(0));
    std::vector<TensorType> layout;
    for (size_t k = n; k < body->outputs.size(); ++k) layout.push_back(body->outputs[k]->type);
    bool stored = fits(layout, known);
    if (stored)
      for (const TensorType& t : layout) counted.push_back(empty_records(t, *known));
    ValueList end = loop(to, counted, until(length), [=](Graph& g, const ValueList& state) {
      ValueList made = outputs(g, state), next = advance(g, state, made);
      for (size_t k = 0; stored && k < layout.size(); ++k)
        next.push_back(written(g, state[n + 1 + k], made[n + k], state[n]));
      return next;
    });
    bind(c.outputs, part(end, 0, n));
    size_t field = 0;
    for (size_t t = 0; t < new_counts.size(); ++t) {
      auto fields = static_cast<size_t>(new_counts[t]);
      Tape& tape = tapes_[c.outputs[n + t].get()];
      if (stored)
        tape = tape_of(length, known, part(end, n + 1 + field, fields));
      else
        tape = {length, known, [=](Graph& g, const ValuePtr& place) {
                  ValueList there =
                      loop(g, part(counted, 0, n + 1), until(place), [=](Graph& inner, const ValueList& state) {
                        return advance(inner, state, outputs(inner, state));
                      });
                  return part(outputs(g, there), n + field, fields);
                }};
      field += fields;
    }
  }

  graph::Substitution map_;
  std::unordered_map<const Value*, Tape> tapes_;
};

bool has_tapes(const Graph& g) {
  return std::any_of(g.calls.begin(), g.calls.end(), [](const Call& c) {
    if (primitives::records(c) || primitives::control_of(c) == primitives::Control::scan) return true;
    for (const GraphPtr& inner : subgraphs(c))
      if (has_tapes(*inner)) return true;
    return false;
  });
}

}  // namespace

GraphPtr without_tapes(const Graph& g) { return has_tapes(g) ? Untaper().run(g) : std::make_shared<Graph>(g); }

}  // namespace anvil::transform
