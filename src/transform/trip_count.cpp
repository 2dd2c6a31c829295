#include "transform/trip_count.h"

#include <algorithm>

#include "primitives/vocabulary/primitive.h"

namespace anvil::transform {

using graph::Call;
using graph::Graph;
using graph::Value;
using graph::ValuePtr;

const Call* maker(const Graph& g, const ValuePtr& v) {
  for (const Call& c : g.calls)
    if (std::find(c.outputs.begin(), c.outputs.end(), v) != c.outputs.end()) return &c;
  return nullptr;
}

namespace {

std::optional<int64_t> number(const ValuePtr& v) {
  if (!is_integer(v->type.dtype) || !v->type.shape.empty()) return std::nullopt;
  if (v->kind == Value::Kind::constant) return graph::element(v->constant, 0).as<int64_t>();
  if (v->kind != Value::Kind::literal) return std::nullopt;
  return v->literal.rounded_to(v->type.dtype).as<int64_t>();
}
bool is(const Call& c, loops::Op op) { return primitives::primitive_of(c).op == op; }
}  // namespace

std::optional<int64_t> trip_count(const Call& c) {
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

}  // namespace anvil::transform
