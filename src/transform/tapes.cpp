// Tapes as tensors or as repeated loops. A tape is known by its length and by what gives one
// of its records. Where the body gives the next %s and the field %f of a record:
//
//   %s, %tape = while_record (%s0)                   %s, %k = while (%s0, 0), the body counting %k
//   ... a record of %tape at place %i                %r, .. = while (%s0, 0) as long as the count is < %i,
//                                                      then the body once more for its %f
//
// and, when it is known that the loop runs n times,
//
//   %s, %tape = while_record (%s0)                   %s, %k, %t = while (%s0, 0, zeros[.., n]), which also
//                                                      writes %f into %t[.., %k]
//   ... a record of %tape at place %i                %t[.., %i]
#include "transform/tapes.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "base/interrupt.h"
#include "primitives/families/control.h"
#include "primitives/vocabulary/var.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"
#include "transform/trip_count.h"

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
    if (primitives::control_of(c) == primitives::Control::scan) return tape_scan(to, c);
    if (primitives::records(c)) return while_record(to, c);
    to.calls.push_back(std::move(c));
  }
  void bind(const ValueList& from, const ValueList& to) {
    for (size_t i = 0; i < to.size(); ++i) map_[from[i].get()] = to[i];
  }

  // What a step gives from the carried values and the count of steps before: the next carried values,
  // then the fields of new records.
  using Outputs = std::function<ValueList(Graph&, const ValueList& counted)>;

  void while_record(Graph& to, const Call& c) {
    const size_t n = c.inputs.size();
    const GraphPtr condition = c.params.graph("cond_graph"), body = c.params.graph("body_graph");
    recording_loop(
        to, c, c.inputs,
        [n, condition](Graph& g, const ValueList& counted) {
          return inline_calls(*condition, part(counted, 0, n), g).at(0);
        },
        [n, body](Graph& g, const ValueList& counted) { return inline_calls(*body, part(counted, 0, n), g); }, nullptr,
        trip_count(c));
  }

  void tape_scan(Graph& to, const Call& c) {
    const auto& directions = c.params.ints("last_first");
    std::vector<Tape> from;
    for (size_t i = 0; i < directions.size(); ++i) from.push_back(tapes_.at(c.inputs[i].get()));
    const ValueList carry = part(c.inputs, directions.size(), c.inputs.size() - directions.size());
    const size_t n = carry.size();
    const GraphPtr body = c.params.graph("body_graph");
    const ValuePtr length = from[0].length;
    recording_loop(
        to, c, carry, below(n, length),
        [=](Graph& g, const ValueList& counted) {
          ValueList inputs;
          for (size_t i = 0; i < from.size(); ++i) {
            Var step = var(g, counted[n]);
            append(inputs, from[i].record(g, directions[i] ? (var(g, length) - 1.0 - step).value : step.value));
          }
          append(inputs, part(counted, 0, n));
          return inline_calls(*body, inputs, g);
        },
        length, from[0].known);
  }

  static Condition below(size_t n, const ValuePtr& limit) {
    return [n, limit](Graph& g, const ValueList& counted) { return (var(g, counted[n]) < var(g, limit)).value; };
  }

  // A loop in the place of one that records. `length`: how often it runs, null where only its end tells.
  void recording_loop(Graph& to, const Call& c, const ValueList& start, const Condition& go_on, const Outputs& outputs,
                      ValuePtr length, std::optional<int64_t> known) {
    const size_t n = start.size();
    const std::vector<int64_t> counts = primitives::new_field_counts(c);
    const ValueList& made_by_body = c.params.graph("body_graph")->outputs;
    std::vector<TensorType> layout;
    for (size_t k = n; k < made_by_body.size(); ++k) layout.push_back(made_by_body[k]->type);
    const auto advance = [n](Graph& g, const ValueList& counted, const ValueList& made) {
      ValueList next = part(made, 0, n);
      next.push_back((var(g, counted[n]) + 1.0).value);
      return next;
    };
    ValueList counted = start;
    counted.push_back(count(0));
    ValueList state = counted;
    const bool stored = fits(layout, known);
    if (stored)
      for (const TensorType& t : layout) state.push_back(empty_records(t, *known));
    const ValueList end = loop(to, state, go_on, [=](Graph& g, const ValueList& now) {
      ValueList made = outputs(g, now), next = advance(g, now, made);
      for (size_t k = 0; stored && k < layout.size(); ++k)
        next.push_back(written(g, now[n + 1 + k], made[n + k], now[n]));
      return next;
    });
    bind(c.outputs, part(end, 0, n));
    if (!length) length = end[n];
    size_t field = 0;
    for (size_t t = 0; t < counts.size(); ++t) {
      const auto fields = static_cast<size_t>(counts[t]);
      Tape& tape = tapes_[c.outputs[n + t].get()];
      if (stored)
        tape = tape_of(length, known, part(end, n + 1 + field, fields));
      else
        tape = {length, known, [=](Graph& g, const ValuePtr& place) {
                  if (fields == 0) return ValueList();
                  ValueList there = loop(g, counted, below(n, place), [=](Graph& inner, const ValueList& now) {
                    return advance(inner, now, outputs(inner, now));
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

GraphPtr without_tapes(const Graph& g) {
  if (!has_tapes(g)) return std::make_shared<Graph>(g);
  GraphPtr plain = Untaper().run(g);
  remove_dead_calls(*plain);  // of a step that runs again for one record the rest is read by nobody
  return plain;
}

}  // namespace anvil::transform
