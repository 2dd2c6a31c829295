#include "transform/trip_count.h"

#include <algorithm>
#include <cmath>

#include "primitives/families/control.h"
#include "transform/rewrite.h"

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

constexpr int64_t most = int64_t(1) << 30;  // far from where any dtype of counters wraps but the small ones

std::optional<Scalar> scalar(const ValuePtr& v) {
  if (!v->type.shape.empty()) return std::nullopt;
  if (v->kind == Value::Kind::constant) return graph::element(v->constant, 0);
  if (v->kind != Value::Kind::literal) return std::nullopt;
  return v->literal.rounded_to(v->type.dtype);
}
std::optional<int64_t> number(const ValuePtr& v) {
  const auto x = is_integer(v->type.dtype) ? scalar(v) : std::nullopt;
  if (!x || (v->type.dtype == DType::ui64 && x->as<uint64_t>() > uint64_t(most))) return std::nullopt;
  return x->as<int64_t>();
}
bool is(const Call& c, loops::Op op) { return primitives::primitive_of(c).op == op; }

// k < end, or k > end
struct Test {
  ValuePtr k;
  bool below;
  int64_t end = 0;
  int64_t exact = most;  // so far are its numbers what they are compared as
};

// A comparison of an integer, which may be as a float, with a number, in either order.
std::optional<Test> test_of(const Graph& condition) {
  using loops::Op;
  const Call* test = maker(condition, condition.outputs[0]);
  if (test == nullptr) return std::nullopt;
  const bool less = is(*test, Op::lt) || is(*test, Op::le), strict = is(*test, Op::lt) || is(*test, Op::gt);
  if (!less && !is(*test, Op::gt) && !is(*test, Op::ge)) return std::nullopt;
  const bool turned = scalar(test->inputs[0]).has_value();
  const ValuePtr& last = test->inputs[turned ? 0 : 1];
  Test t{test->inputs[turned ? 1 : 0], less != turned};
  const DType compared = t.k->type.dtype;
  if (is_integer(compared)) {
    const auto end = number(last);
    if (!end) return std::nullopt;
    t.end = *end;
  } else if (is_float(compared)) {
    const Call* convert = maker(condition, t.k);
    if (convert == nullptr || !is(*convert, Op::convert) || !is_integer(convert->inputs[0]->type.dtype))
      return std::nullopt;
    t.k = convert->inputs[0];
    t.exact = std::min(most, int64_t(1) << std::min(descriptor(compared).mantissa_bits, 40));
    const auto end = scalar(last);
    const double x = end ? end->as<double>() : std::nan("");
    if (!(std::abs(x) < static_cast<double>(most))) return std::nullopt;
    t.end = static_cast<int64_t>(t.below == strict ? std::ceil(x) : std::floor(x));
  } else {
    return std::nullopt;
  }
  if (std::abs(t.end) > most) return std::nullopt;
  if (!strict) t.end += t.below ? 1 : -1;
  return t;
}

}  // namespace

std::optional<Count> count(const Call& loop, size_t carried) {
  const Graph& body = *loop.params.graph("body_graph");
  const size_t n = primitives::carried(loop);
  const ValuePtr& now = body.inputs[body.inputs.size() - n + carried];
  const Call* next = maker(body, body.outputs[carried]);
  const auto start = number(loop.inputs[loop.inputs.size() - n + carried]);
  if (!start || next == nullptr || !(is(*next, loops::Op::add) || is(*next, loops::Op::sub))) return std::nullopt;
  const bool adds = is(*next, loops::Op::add), turned = adds && next->inputs[1] == now;
  auto step = number(next->inputs[turned ? 0 : 1]);
  if (!step || next->inputs[turned ? 1 : 0] != now || std::abs(*step) > most || std::abs(*start) > most)
    return std::nullopt;
  return Count{*start, adds ? *step : -*step};
}

std::optional<Counter> counter(const Call& c) {
  const auto test = test_of(*c.params.graph("cond_graph"));
  if (!test) return std::nullopt;
  const std::vector<ValuePtr>& inputs = c.params.graph("cond_graph")->inputs;
  const auto found = std::find(inputs.begin(), inputs.end(), test->k);
  if (found == inputs.end()) return std::nullopt;
  const auto k = static_cast<size_t>(found - inputs.begin());
  const auto counted = count(c, k);
  const int64_t sign = test->below ? 1 : -1;
  if (!counted || sign * counted->step < 1) return std::nullopt;
  const auto [start, step] = *counted;
  const int64_t distance = sign * (test->end - start), by = std::abs(step);
  const int64_t last = distance > 0 ? test->end - sign + step : start;  // or nearer
  if (std::max(std::abs(start), std::abs(last)) > test->exact || !holds(c.inputs[k]->type.dtype, last))
    return std::nullopt;
  return Counter{k, start, step, distance <= 0 ? 0 : (distance + by - 1) / by};
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

std::optional<Count> progress(const Call& loop, const ValuePtr& v, int64_t n) {
  if (!is_integer(v->type.dtype) || !v->type.shape.empty()) return std::nullopt;
  const Graph& body = *loop.params.graph("body_graph");
  std::optional<Count> made;
  if (const auto input = std::find(body.inputs.begin(), body.inputs.end(), v); input != body.inputs.end()) {
    const auto fields = static_cast<std::ptrdiff_t>(body.inputs.size() - primitives::carried(loop));
    const auto at = input - body.inputs.begin();
    if (at >= fields) made = count(loop, static_cast<size_t>(at - fields));
  } else if (const Call* c = maker(body, v); c != nullptr && !c->inputs.empty()) {
    const auto left = number(c->inputs.front()), right = number(c->inputs.back());
    if (std::abs(left.value_or(0)) > most || std::abs(right.value_or(0)) > most) return std::nullopt;
    if (is(*c, loops::Op::convert)) {
      made = progress(loop, c->inputs[0], n);
    } else if ((is(*c, loops::Op::add) || is(*c, loops::Op::sub)) && (left || right)) {
      made = progress(loop, c->inputs[left ? 1 : 0], n);
      if (made && is(*c, loops::Op::add))
        made->start += left ? *left : *right;
      else if (made)
        *made = left ? Count{*left - made->start, -made->step} : Count{made->start - *right, made->step};
    }
  }
  const DType dtype = v->type.dtype;
  if (!made || !holds(dtype, made->start) || !holds(dtype, made->start + (n - 1) * made->step)) return std::nullopt;
  return made;
}

int direction_of(const Call& loop, const ValuePtr& v, int64_t n) {
  const auto found = progress(loop, v, n);
  if (!found || std::abs(found->step) != 1) return 0;
  return found->start == (found->step > 0 ? 0 : n - 1) ? static_cast<int>(found->step) : 0;
}

bool overwrites(const Call& loop, size_t carried) {
  const auto steps = trip_count(loop);
  const Graph &condition = *loop.params.graph("cond_graph"), &body = *loop.params.graph("body_graph");
  const ValuePtr &array = body.inputs[carried], &result = body.outputs[carried];
  const Call* update = maker(body, result);
  if (!steps || !update || !primitives::primitive_of(*update).updates || update->inputs[0] != array) return false;
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
  const auto d = sliced_dimension(array->type.shape, update->inputs[1]->type.shape);
  return d && array->type.shape[*d] == *steps && counts_all(loop, update->inputs[2 + *d], *steps);
}

}  // namespace anvil::transform
