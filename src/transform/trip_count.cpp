#include "transform/trip_count.h"

#include <algorithm>

#include "primitives/families/control.h"

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

std::optional<Counter> counter(const Call& c) {
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
  return Counter{k, *start, *step, distance <= 0 ? 0 : (distance + *step - 1) / *step};
}

std::optional<int64_t> TripCounts::of(const Call& c) {
  std::optional<int64_t> n;
  if (primitives::control_of(c) == primitives::Control::loop)
    n = trip_count(c);
  else if (const auto found = records_.find(c.inputs.at(0).get()); found != records_.end())
    n = found->second;
  if (n)
    for (size_t k = primitives::carried(c); k < c.outputs.size(); ++k) records_[c.outputs[k].get()] = *n;
  return n;
}

bool counts_all(const Graph& body, ValuePtr v, const ValuePtr& k, int64_t start, int64_t n) {
  int64_t sign = 1, shift = 0;  // what was asked for is sign * v + shift
  constexpr int64_t most = int64_t(1) << 30;
  const auto fits = [&](int64_t place) {
    const int64_t x = sign * (place - shift);
    return Scalar(x).rounded_to(v->type.dtype).as<int64_t>() == x;
  };
  while (v != k) {
    if (!fits(0) || !fits(n - 1)) return false;
    const Call* c = maker(body, v);
    if (!c || c->inputs.empty()) return false;
    const std::optional<int64_t> left = number(c->inputs.front()), right = number(c->inputs.back());
    if (std::abs(left.value_or(0)) > most || std::abs(right.value_or(0)) > most) return false;
    if (is(*c, loops::Op::convert)) {
      v = c->inputs[0];
    } else if (is(*c, loops::Op::sub) && left) {
      v = c->inputs[1], shift += sign * *left, sign = -sign;
    } else if (is(*c, loops::Op::sub) && right) {
      v = c->inputs[0], shift -= sign * *right;
    } else if (is(*c, loops::Op::add) && (left || right)) {
      v = c->inputs[left ? 1 : 0], shift += sign * (left ? *left : *right);
    } else {
      return false;
    }
  }
  return shift == (sign > 0 ? -start : n - 1 + start);
}

bool overwrites(const Call& loop, size_t carried) {
  const auto count = counter(loop);
  const Graph &condition = *loop.params.graph("cond_graph"), &body = *loop.params.graph("body_graph");
  const ValuePtr &array = body.inputs[carried], &result = body.outputs[carried];
  const Call* update = maker(body, result);
  if (!count || count->step != 1 || !update || !primitives::primitive_of(*update).updates || update->inputs[0] != array)
    return false;
  const auto used = [](const Graph& g, const ValuePtr& v) {
    int64_t n = std::count(g.outputs.begin(), g.outputs.end(), v);
    for (const Call& c : g.calls) {
      n += std::count(c.inputs.begin(), c.inputs.end(), v);
      for (const auto& inner : subgraphs(c)) {
        const auto outer = captures(*inner);
        n += std::count(outer.begin(), outer.end(), v);
      }
    }
    return n;
  };
  if (used(condition, condition.inputs[carried]) != 0 || used(body, array) != 1 || used(body, result) != 1)
    return false;
  const Shape &whole = array->type.shape, &part = update->inputs[1]->type.shape;
  bool steps = false;
  for (size_t d = 0; d < whole.size(); ++d) {
    if (part[d] == whole[d]) continue;
    if (steps || part[d] != 1 || whole[d] != count->steps ||
        !counts_all(body, update->inputs[2 + d], body.inputs[count->carried], count->start, whole[d]))
      return false;
    steps = true;
  }
  return steps;
}

}  // namespace anvil::transform
