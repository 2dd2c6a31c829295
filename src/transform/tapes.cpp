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
//
// which is also what compiled programs do where they can: such loops are loops over arrays as others are.
#include "transform/tapes.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "base/interrupt.h"
#include "primitives/families/control.h"
#include "primitives/vocabulary/var.h"
#include "transform/nested_tapes.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"
#include "transform/trip_count.h"

namespace anvil::transform {

using graph::Params;
using graph::TensorType;
using primitives::values;
using primitives::Var;
using primitives::Vars;
using primitives::vars;

namespace {

using ValueList = std::vector<ValuePtr>;
constexpr int64_t most_bytes = int64_t(1) << 31;  // of the tensors of one tape

Var var(Graph& g, const ValuePtr& v) { return {&g, v}; }

template <class T>
std::vector<T> part(const std::vector<T>& list, size_t from, size_t n) {
  auto first = list.begin() + static_cast<std::ptrdiff_t>(from);
  return {first, first + static_cast<std::ptrdiff_t>(n)};
}

struct Tape {
  ValuePtr length;               // i64
  std::optional<int64_t> known;  // its value
  std::function<Vars(Graph& to, const Var& place)> record;
};

// ---- records in tensors -------------------------------------------------------------------
// Field by field, a tensor with the records along its last dimension.

bool fits(const std::vector<TensorType>& layout, std::optional<int64_t> n) {
  if (!n) return false;
  double bytes = 0;
  for (const TensorType& t : layout)
    bytes += static_cast<double>(size_of(t.dtype)) * static_cast<double>(elements(t.shape)) * static_cast<double>(*n);
  return bytes <= static_cast<double>(most_bytes);
}
Var empty_records(Graph& g, const TensorType& field, int64_t n) {
  TensorType all{field.dtype, field.shape, false};
  all.shape.push_back(std::max<int64_t>(n, 1));  // the loop's body has one to write to, though it may never run
  return primitives::literal(g, 0, all);
}
Tape tape_of(const ValuePtr& length, std::optional<int64_t> known, const Vars& records) {
  return {length, known, [records](Graph& to, const Var& place) {
            Vars fields;
            for (const Var& r : records) fields.push_back(element(var(to, r.value), last_dimension(r), place));
            return fields;
          }};
}

// ---- the rewriting ------------------------------------------------------------------------

// Of a call that is rewritten what it carries leaves as the values that it was.
class Untaper {
 public:
  // Which loops: all, in inner graphs too, or those of the graph itself whose records fit into tensors.
  enum class Of : uint8_t { all, fitting };
  explicit Untaper(Of loops) : all_(loops == Of::all) {}

  GraphPtr run(const Graph& g) {
    auto to = std::make_shared<Graph>(g);
    to->calls.clear();
    for (const Call& c : g.calls) {
      poll();
      call(*to, c);
    }
    return to;
  }
  // Whether there is something new, of which nothing reads a tape that is no more.
  bool succeeded(const Graph& changed) const {
    if (tapes_.empty()) return false;
    Values read;
    collect_reads(changed, read);
    return std::none_of(tapes_.begin(), tapes_.end(), [&](const auto& tape) { return read.count(tape.first) != 0; });
  }

 private:
  void call(Graph& to, Call c) {
    if (all_)
      for (graph::Param& p : c.params.items)
        if (auto* inner = std::get_if<GraphPtr>(&p.value)) *inner = run(**inner);
    const bool scans = primitives::control_of(c) == primitives::Control::scan;
    if (!(scans || primitives::records(c)) || !is_rewritten(c)) return to.calls.push_back(std::move(c));
    const size_t before = to.calls.size();
    scans ? tape_scan(to, c) : while_record(to, c);
    graph::locate(to.calls, before, c.location, c.derivative);
  }
  bool is_rewritten(const Call& c) {
    if (all_) return true;
    const bool scans = primitives::control_of(c) == primitives::Control::scan;
    const size_t read = scans ? c.params.ints("last_first").size() : 0;
    size_t there = 0;
    for (size_t i = 0; i < read; ++i) there += tapes_.count(c.inputs[i].get());
    const auto known = !scans ? trip_count(c) : there > 0 ? tapes_.at(c.inputs[0].get()).known : std::nullopt;
    const auto layout = new_fields(c);
    const bool nested = std::any_of(layout.begin(), layout.end(), [](const TensorType& t) { return t.tape; });
    return there == read && !nested && (layout.empty() || fits(layout, known));
  }
  // Of all tapes that a loop records.
  static std::vector<TensorType> new_fields(const Call& c) {
    const ValueList& made = c.params.graph("body_graph")->outputs;
    std::vector<TensorType> layout;
    for (size_t k = primitives::carried(c); k < made.size(); ++k) layout.push_back(made[k]->type);
    return layout;
  }

  // What a step gives from the carried values and the count of steps before: the next carried values,
  // then the fields of new records.
  using Outputs = std::function<Vars(Graph&, const Vars& counted)>;

  void while_record(Graph& to, const Call& c) {
    const size_t n = c.inputs.size();
    const GraphPtr condition = c.params.graph("cond_graph"), body = c.params.graph("body_graph");
    recording_loop(
        to, c, vars(to, c.inputs),
        [n, condition](Graph& g, const Vars& counted) { return inlined(*condition, part(counted, 0, n), g).at(0); },
        [n, body](Graph& g, const Vars& counted) { return inlined(*body, part(counted, 0, n), g); }, nullptr,
        trip_count(c));
  }

  void tape_scan(Graph& to, const Call& c) {
    const auto& directions = c.params.ints("last_first");
    std::vector<Tape> from;
    for (size_t i = 0; i < directions.size(); ++i) from.push_back(tapes_.at(c.inputs[i].get()));
    const Vars carry = vars(to, part(c.inputs, directions.size(), c.inputs.size() - directions.size()));
    const size_t n = carry.size();
    const GraphPtr body = c.params.graph("body_graph");
    const ValuePtr length = from[0].length;
    recording_loop(
        to, c, carry, below(n, length),
        [=](Graph& g, const Vars& counted) {
          Vars inputs;
          const Var step = counted[n];
          for (size_t i = 0; i < from.size(); ++i)
            append(inputs, from[i].record(g, directions[i] ? var(g, length) - 1.0 - step : step));
          append(inputs, part(counted, 0, n));
          return inlined(*body, inputs, g);
        },
        length, from[0].known);
  }

  static primitives::Test below(size_t n, const ValuePtr& limit) {
    return [n, limit](Graph& g, const Vars& counted) { return counted[n] < var(g, limit); };
  }

  // A loop in the place of one that records. `length`: how often it runs, null where only its end tells.
  void recording_loop(Graph& to, const Call& c, const Vars& start, const primitives::Test& go_on,
                      const Outputs& outputs, ValuePtr length, std::optional<int64_t> known) {
    const size_t n = start.size();
    const std::vector<int64_t> counts = primitives::new_field_counts(c);
    const std::vector<TensorType> layout = new_fields(c);
    const auto advance = [n](const Vars& counted, const Vars& made) {
      Vars next = part(made, 0, n);
      next.push_back(counted[n] + 1.0);
      return next;
    };
    Vars counted = start;
    counted.push_back(primitives::literal(to, 0, {DType::i64, {}}));
    Vars state = counted;
    const bool stored = fits(layout, known);
    if (stored)
      for (const TensorType& t : layout) state.push_back(empty_records(to, t, *known));
    const Vars end = loop(to, state, go_on, [&](Graph& g, const Vars& now) {
      const Vars made = outputs(g, now);
      Vars next = advance(now, made);
      for (size_t k = 0; stored && k < layout.size(); ++k) {
        const Var records = now[n + 1 + k];
        next.push_back(with_element(records, last_dimension(records), now[n], made[n + k]));
      }
      return next;
    });
    for (size_t i = 0; i < n; ++i) to.calls.back().outputs[i] = c.outputs[i];
    if (!length) length = known ? primitives::literal(to, *known, {DType::i64, {}}).value : end[n].value;
    size_t field = 0;
    for (size_t t = 0; t < counts.size(); ++t) {
      const auto fields = static_cast<size_t>(counts[t]);
      Tape& tape = tapes_[c.outputs[n + t].get()];
      if (stored)
        tape = tape_of(length, known, part(end, n + 1 + field, fields));
      else
        tape = {length, known, [=](Graph& g, const Var& place) {
                  if (fields == 0) return Vars();
                  const Vars there = loop(g, counted, below(n, place.value), [&](Graph& inner, const Vars& now) {
                    return advance(now, outputs(inner, now));
                  });
                  return part(outputs(g, there), n + field, fields);
                }};
      field += fields;
    }
  }

  const bool all_;
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
  GraphPtr plain = Untaper(Untaper::Of::all).run(*without_nested_tapes(g));
  remove_dead_calls(*plain);  // of a step that runs again for one record the rest is read by nobody
  return plain;
}

GraphPtr fitting_tapes_as_tensors(const Graph& g) {
  Untaper untaper(Untaper::Of::fitting);
  GraphPtr changed = untaper.run(g);
  return untaper.succeeded(*changed) ? changed : nullptr;
}

void fit_tapes(Graph& g) {
  if (!has_tapes(g)) return;
  for (Call& c : g.calls) rewrite_subgraphs(c, fit_tapes);
  if (const GraphPtr changed = fitting_tapes_as_tensors(g)) g = *changed;
}

}  // namespace anvil::transform
