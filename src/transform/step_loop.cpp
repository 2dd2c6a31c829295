#include "transform/step_loop.h"

#include "base/interrupt.h"
#include "primitives/families/control.h"

namespace anvil::transform {

using primitives::Axes;
using primitives::Var;

StepLoop::StepLoop(Graph& around, Call& loop, int64_t steps)
    : around_(around),
      loop_(loop),
      seen_(loop),
      body_(*loop.params.graph("body_graph")),
      steps_(steps),
      calls_(body_.calls),
      carried_(seen_.carried) {
  if (!seen_.is_scan()) {
    condition_ = loop.params.graph("cond_graph").get();
    count_ = counter(loop);
  }
  for (const Call& c : calls_) {
    for (const ValuePtr& v : c.outputs) makers_[v.get()] = &c;
    for (const ValuePtr& v : c.inputs) ++reads_[v.get()];
    for (const GraphPtr& inner : subgraphs(c))
      for (const ValuePtr& v : captures(*inner)) reads_[v.get()] += 2;  // any number of times
  }
  for (const ValuePtr& v : body_.outputs) ++reads_[v.get()];
  for (size_t i = 0; i < body_.inputs.size(); ++i) inputs_[body_.inputs[i].get()] = i;
}

const Call* StepLoop::maker_of(const ValuePtr& v) const {
  const auto found = makers_.find(v.get());
  return found == makers_.end() ? nullptr : found->second;
}

int StepLoop::reads(const ValuePtr& v) const {
  const auto found = reads_.find(v.get());
  return found == reads_.end() ? 0 : found->second;
}

ValuePtr StepLoop::invariant(const ValuePtr& v) const {
  if (makers_.count(v.get()) != 0) return nullptr;
  const auto input = inputs_.find(v.get());
  if (input == inputs_.end()) return v;
  if (input->second < seen_.fields) return nullptr;
  const size_t i = input->second - seen_.fields;
  return body_.outputs[i] == v ? seen_.initial(i) : nullptr;
}

std::optional<StepRead> StepLoop::read_of_step(const ValuePtr& v) const {
  const Call* c = maker_of(v);
  if (!c || !has_axes(*c, Axes::regrouped)) return std::nullopt;
  c = maker_of(c->inputs[0]);
  if (!c || !is_dynamic_slice(*c)) return std::nullopt;
  Shape left = c->outputs[0]->type.shape;
  const auto dim = sliced_dimension(c->inputs[0]->type.shape, left);
  if (!dim) return std::nullopt;
  left.erase(left.begin() + static_cast<std::ptrdiff_t>(*dim));
  const ValuePtr whole = invariant(c->inputs[0]);
  if (!whole || left != v->type.shape) return std::nullopt;
  return StepRead{whole, c->inputs[1 + *dim], static_cast<int64_t>(*dim)};
}

int StepLoop::direction(const ValuePtr& place) {
  const auto [found, fresh] = directions_.try_emplace(place.get(), 0);
  if (fresh) found->second = direction_of(loop_, place, steps_);
  return found->second;
}

bool StepLoop::is_tested(size_t carried) {
  if (!condition_) return false;
  if (tested_.empty()) collect_reads(*condition_, tested_);
  return tested_.count(condition_->inputs[carried].get()) != 0;
}

ValuePtr StepLoop::number_of_step() {
  if (number_) return number_;
  if (count_ && count_->step == 1) {
    const Var k{&body_, seen_.carry(count_->carried)};
    return number_ = count_->start == 0 ? k.value : (k - static_cast<double>(count_->start)).value;
  }
  const graph::TensorType type{DType::i64, {}};
  number_ = graph::make_value(graph::Value::Kind::input, type);
  carry(number_, primitives::fill(around_, 0, type).value, (Var{&body_, number_} + 1).value);
  return number_;
}

ValuePtr StepLoop::record(const ValuePtr& v, const ValuePtr& place) {
  ValuePtr& found = recorded_[{v.get(), place.get()}];
  if (found) return found;
  graph::TensorType type = v->type;
  const auto last = static_cast<int64_t>(type.shape.size());
  type.shape.push_back(steps_);
  type.ambiguous = false;
  const ValuePtr before = graph::make_value(graph::Value::Kind::input, type);
  const Var after = primitives::with_element({&body_, before}, last, {&body_, place}, {&body_, v});
  return found = carry(before, primitives::fill(around_, 0, type).value, after.value);
}

ValuePtr StepLoop::carry(const ValuePtr& value, const ValuePtr& initial, const ValuePtr& next) {
  const ValuePtr result = graph::make_value(graph::Value::Kind::result, value->type);
  const auto end = static_cast<std::ptrdiff_t>(carried_++);
  loop_.inputs.push_back(initial);
  body_.inputs.push_back(value);
  if (condition_) condition_->inputs.push_back(graph::make_value(graph::Value::Kind::input, value->type));
  body_.outputs.insert(body_.outputs.begin() + end, next);
  loop_.outputs.insert(loop_.outputs.begin() + end, result);
  return result;
}

bool rewrite_loops(Graph& g, const LoopRewrite& rewrite) {
  const KeptValues kept(g);
  TripCounts trip_counts;
  bool any = false;
  const std::function<void(Graph&)> visit = [&](Graph& graph) {
    std::vector<Call> calls;
    calls.swap(graph.calls);
    for (Call& call : calls) {
      poll();
      rewrite_subgraphs(call, visit);
      const auto steps = primitives::repeats(call) ? trip_counts.of(call) : std::nullopt;
      const Rewritten done = steps ? rewrite(graph, call, *steps) : Rewritten::no;
      any = any || done != Rewritten::no;
      if (done != Rewritten::with_what_follows) graph.calls.push_back(std::move(call));
    }
  };
  visit(g);
  if (any) list_inner_constants(g);
  return any;
}

void StepLoop::drop_carried(const std::vector<size_t>& places) {
  const auto drop = [&](std::vector<ValuePtr>& values, size_t first) {
    for (auto place = places.rbegin(); place != places.rend(); ++place)
      values.erase(values.begin() + static_cast<std::ptrdiff_t>(first + *place));
  };
  drop(loop_.inputs, seen_.counts.size());
  drop(loop_.outputs, 0);
  drop(body_.inputs, seen_.fields);
  drop(body_.outputs, 0);
  if (condition_) drop(condition_->inputs, 0);
}

}  // namespace anvil::transform
