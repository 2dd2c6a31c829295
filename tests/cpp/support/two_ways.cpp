#include "support/two_ways.h"

#include "backend/stablehlo/stablehlo.h"
#include "primitives/families/control.h"
#include "primitives/vocabulary/var.h"
#include "support/forward_check.h"
#include "support/gradient_check.h"
#include "transform/batch.h"
#include "transform/jacobian.h"
#include "transform/rewrite.h"
#include "transform/simplify.h"

namespace anvil::test {

using graph::Graph;
using graph::GraphPtr;
using graph::TensorType;
using graph::Value;
using graph::ValuePtr;
using ValueList = std::vector<ValuePtr>;
using Vars = std::vector<Var>;
using Ints = std::vector<int64_t>;

GraphPtr with_float_results(const Graph& g) {
  auto copy = std::make_shared<Graph>(g);
  std::erase_if(copy->outputs, [](const ValuePtr& v) { return !is_float(v->type.dtype); });
  return copy;
}

namespace {

ValuePtr new_input(Graph& g, const TensorType& type) { return input(g, type).value; }
ValueList new_inputs(Graph& g, const ValueList& like) {
  ValueList list;
  for (const ValuePtr& v : like) list.push_back(new_input(g, v->type));
  return list;
}
// An empty graph in which the calls of another one can stand.
GraphPtr around(const Graph& g) {
  auto to = std::make_shared<Graph>();
  to->constants = g.constants;
  return to;
}
Flags from(size_t first, size_t count) {
  Flags flags(count);
  std::fill(flags.begin() + static_cast<std::ptrdiff_t>(first), flags.end(), true);
  return flags;
}
Ints all_axes(const Var& x) {
  Ints all;
  for (size_t d = 0; d < x.shape().size(); ++d) all.push_back(static_cast<int64_t>(d));
  return all;
}
Var sum_of(Graph& g, const ValuePtr& v) {
  const Var x = convert(Var{&g, v}, DType::f64);
  return x.shape().empty() ? x : reduce_sum(x, all_axes(x));
}
GraphPtr with_weighted_sum(const Graph& g, double seed) {
  const GraphPtr copy = with_float_results(g);
  ValueList weights;
  for (const ValuePtr& v : copy->outputs) {
    const Tensor exact = spread_values(DType::f64, v->type.shape, 0.5, 1.5, seed++);
    copy->constants.push_back(graph::make_constant(exact));
    weights.push_back(copy->constants.back());
  }
  copy->outputs = {product(*copy, copy->outputs, weights)};
  return copy;
}

// A derivative of g has further inputs, in which its further results are linear: the transposed map, at
// zero, from cotangents of these results to those of these inputs.
GraphPtr transposed(const Graph& g, const Graph& derivative) {
  const size_t inputs = g.inputs.size(), outputs = g.outputs.size();
  const GraphPtr back =
      transform::vjp(derivative, from(inputs, derivative.inputs.size()), from(outputs, derivative.outputs.size()));
  const GraphPtr to = around(*back);
  ValueList arguments = new_inputs(*to, g.inputs);
  for (size_t k = inputs; k < derivative.inputs.size(); ++k)
    arguments.push_back(primitives::literal(*to, 0.0, derivative.inputs[k]->type).value);
  for (size_t k = derivative.inputs.size(); k < back->inputs.size(); ++k)
    arguments.push_back(new_input(*to, back->inputs[k]->type));
  to->outputs = inline_calls(*back, arguments, *to);
  to->outputs.erase(to->outputs.begin() + static_cast<std::ptrdiff_t>(outputs),
                    to->outputs.begin() + static_cast<std::ptrdiff_t>(derivative.outputs.size()));
  return to;
}
GraphPtr gradient_by_forward_mode(const Graph& sum, const Flags& wrt, bool with_value) {
  const GraphPtr back = transposed(sum, *transform::jvp(sum, wrt)), to = around(*back);
  ValueList arguments = new_inputs(*to, sum.inputs);
  arguments.push_back(primitives::literal(*to, 1.0, sum.outputs[0]->type).value);
  to->outputs = inline_calls(*back, arguments, *to);
  if (!with_value) to->outputs.erase(to->outputs.begin());
  return to;
}

// By forward mode for each element of each input.
GraphPtr jacobian_by_elements(const Graph& g, const Flags& wrt) {
  const GraphPtr forward = transform::jvp(g, wrt), to = around(*forward);
  const ValueList inputs = new_inputs(*to, g.inputs);
  const size_t outputs = g.outputs.size();
  std::vector<ValueList> blocks(outputs);
  for (size_t k = inputs.size(); k < forward->inputs.size(); ++k) {
    const TensorType& by = forward->inputs[k]->type;
    std::vector<Vars> columns(outputs);
    for (int64_t e = 0; e < elements(by.shape); ++e) {
      ValueList arguments = inputs;
      for (size_t m = inputs.size(); m < forward->inputs.size(); ++m) {
        Tensor unit = graph::full(forward->inputs[m]->type, 0.0);
        if (m == k) set_element(unit, e, 1.0);
        to->constants.push_back(graph::make_constant(unit));
        arguments.push_back(to->constants.back());
      }
      const ValueList found = inline_calls(*forward, arguments, *to);
      for (size_t r = 0; r < outputs; ++r) {
        Shape column = g.outputs[r]->type.shape;
        column.push_back(1);
        columns[r].push_back(reshape(Var{to.get(), found[outputs + r]}, column));
      }
    }
    for (size_t r = 0; r < outputs; ++r) {
      Shape shape = g.outputs[r]->type.shape;
      const auto last = static_cast<int64_t>(shape.size());
      shape.insert(shape.end(), by.shape.begin(), by.shape.end());
      const TensorType type{by.dtype, shape};
      blocks[r].push_back(columns[r].empty() ? primitives::literal(*to, 0.0, type).value
                                             : convert(reshape(concatenate(columns[r], last), shape), by.dtype).value);
    }
  }
  for (const ValueList& b : blocks) transform::append(to->outputs, b);
  return to;
}

GraphPtr batch_by_example(const Graph& g, const Flags& batched, int64_t size) {
  const GraphPtr to = around(g);
  for (size_t k = 0; k < batched.size(); ++k) {
    TensorType type = g.inputs[k]->type;
    if (batched[k]) type.shape.push_back(size);
    new_input(*to, type);
  }
  std::vector<Vars> results(g.outputs.size());
  for (int64_t i = 0; i < size; ++i) {
    ValueList arguments = to->inputs;
    for (size_t k = 0; k < batched.size(); ++k) {
      if (!batched[k]) continue;
      Ints first(arguments[k]->type.shape.size()), limit = arguments[k]->type.shape;
      const Ints strides(first.size(), 1);
      first.back() = i, limit.back() = i + 1;
      const Var one = slice(Var{to.get(), arguments[k]}, first, limit, strides);
      arguments[k] = reshape(one, g.inputs[k]->type.shape).value;
    }
    const ValueList found = inline_calls(g, arguments, *to);
    for (size_t r = 0; r < found.size(); ++r) {
      Shape shape = found[r]->type.shape;
      shape.push_back(1);
      results[r].push_back(reshape(Var{to.get(), found[r]}, shape));
    }
  }
  for (const Vars& r : results)
    to->outputs.push_back(concatenate(r, static_cast<int64_t>(r[0].shape().size()) - 1).value);
  return to;
}

// ---- loops ------------------------------------------------------------------------------------

// What a step makes of the inputs of g: those that are carried, then the number that is kept.
Vars one_step(const Graph& g, const ValueList& inputs, const Flags& carried, Graph& to) {
  const ValueList found = inline_calls(g, inputs, to);
  Var number = primitives::literal(to, 0.0, {DType::f64, {}});
  for (const ValuePtr& v : found)
    if (is_float(v->type.dtype)) number = number * 0.5 + sin(sum_of(to, v));
  Vars next;
  for (size_t k = 0; k < carried.size(); ++k) {
    if (!carried[k]) continue;
    const Var x{&to, inputs[k]};
    const auto same = [&](const ValuePtr& v) { return same_type(v->type, x.type()); };
    const auto result = std::find_if(found.begin(), found.end(), same);
    const Var change =
        result != found.end() ? sin(Var{&to, *result}) : broadcast_to_like(convert(sin(number), x.dtype()), x);
    next.push_back(x * 0.75 + change * 0.25);
  }
  next.push_back(number);
  return next;
}
Var goes_on(Graph& g, const ValueList& state, double limit) {
  Var sum = primitives::literal(g, 0.0, {DType::f64, {}});
  for (const ValuePtr& v : state) sum = sum + sum_of(g, v);
  return sum < limit;
}
ValueList marked(const ValueList& list, const Flags& flags) {
  ValueList chosen;
  for (size_t k = 0; k < flags.size(); ++k)
    if (flags[k]) chosen.push_back(list[k]);
  return chosen;
}
ValueList replaced(ValueList list, const Flags& flags, const ValueList& by) {
  for (size_t k = 0, next = 0; k < flags.size(); ++k)
    if (flags[k]) list[k] = by[next++];
  return list;
}

GraphPtr as_loop(const Graph& g, const Repetition& r) {
  const GraphPtr to = around(g);
  const ValueList outside = new_inputs(*to, g.inputs);
  Vars state = primitives::vars(*to, marked(outside, r.carried));
  state.push_back(primitives::literal(*to, 0.0, {DType::f64, {r.steps}}));
  state.push_back(primitives::literal(*to, 0, {DType::i32, {}}));
  const size_t carried = state.size() - 2;
  const auto first = [carried](const Vars& now) {
    return values(Vars(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(carried)));
  };
  const auto go_on = [&](Graph& test, const Vars& now) {
    const Var more = now.back() < static_cast<double>(r.steps);
    return r.until ? more & goes_on(test, first(now), r.limit) : more;
  };
  to->outputs = values(primitives::loop(*to, state, go_on, [&](Graph& body, const Vars& now) {
    Vars next = one_step(g, replaced(outside, r.carried, first(now)), r.carried, body);
    next.back() = with_element(now[carried], 0, now.back(), next.back());
    next.push_back(now.back() + 1.0);
    return next;
  }));
  to->outputs.pop_back();
  return to;
}
GraphPtr as_steps(const Graph& g, const Repetition& r) {
  const GraphPtr to = around(g);
  const ValueList outside = new_inputs(*to, g.inputs);
  ValueList state = marked(outside, r.carried);
  Vars kept;
  Var more = primitives::literal(*to, true, {DType::boolean, {}});
  for (int64_t k = 0; k < r.steps; ++k) {
    if (r.until) more = more & goes_on(*to, state, r.limit);
    const Vars next = one_step(g, replaced(outside, r.carried, state), r.carried, *to);
    const auto chosen = [&](const Var& yes, const Var& no) {
      return r.until ? select(broadcast_to_like(more, no), yes, no) : yes;
    };
    for (size_t i = 0; i < state.size(); ++i) state[i] = chosen(next[i], {to.get(), state[i]}).value;
    kept.push_back(reshape(chosen(next.back(), zeros_like(next.back())), {1}));
  }
  to->outputs = state;
  to->outputs.push_back(concatenate(kept, 0).value);
  return to;
}

// ---- conditions ----------------------------------------------------------------------------------

ValueList halved(const ValueList& inputs, Graph& to) {
  ValueList list = inputs;
  for (ValuePtr& v : list)
    if (is_float(v->type.dtype)) v = (Var{&to, v} * 0.5).value;
  return list;
}
GraphPtr as_branch(const Graph& g, size_t by, double limit) {
  const GraphPtr to = around(g);
  const ValueList inputs = new_inputs(*to, g.inputs);
  const auto yes = std::make_shared<Graph>(), no = std::make_shared<Graph>();
  yes->outputs = inline_calls(g, inputs, *yes);
  no->outputs = inline_calls(g, halved(inputs, *no), *no);
  for (const GraphPtr& inner : {yes, no}) transform::list_constants(*inner);
  const Var below = sum_of(*to, inputs[by]) < limit;
  to->outputs = primitives::branch(*to, below.value, yes, no);
  return to;
}
GraphPtr as_choice(const Graph& g, size_t by, double limit) {
  const GraphPtr to = around(g);
  const ValueList inputs = new_inputs(*to, g.inputs);
  const ValueList yes = inline_calls(g, inputs, *to), no = inline_calls(g, halved(inputs, *to), *to);
  const Var below = sum_of(*to, inputs[by]) < limit;
  for (size_t k = 0; k < yes.size(); ++k) {
    const Var a{to.get(), yes[k]}, b{to.get(), no[k]};
    to->outputs.push_back(select(broadcast_to_like(below, a), a, b).value);
  }
  return to;
}
GraphPtr in_checkpoint(const Graph& g) {
  const GraphPtr to = around(g);
  const ValueList inputs = new_inputs(*to, g.inputs);
  const auto body = std::make_shared<Graph>();
  body->outputs = inline_calls(g, inputs, *body);
  transform::list_constants(*body);
  to->outputs = primitives::checkpoint(*to, body);
  return to;
}

}  // namespace

TwoWays jvp_of(const TwoWays& f, const Flags& wrt) {
  return {transform::jvp(*f.way, wrt), transposed(*f.other, *transform::vjp(*f.other, wrt))};
}
TwoWays vjp_of(const TwoWays& f, const Flags& wrt) {
  return {transform::vjp(*f.way, wrt), transposed(*f.other, *transform::jvp(*f.other, wrt))};
}
TwoWays gradient_of(const TwoWays& f, const Flags& wrt, bool with_value, double seed) {
  return {transform::gradient(*with_weighted_sum(*f.way, seed), wrt, with_value),
          gradient_by_forward_mode(*with_weighted_sum(*f.other, seed), wrt, with_value)};
}
TwoWays jacobian_of(const TwoWays& f, const Flags& wrt) {
  return {transform::jacobian(*with_float_results(*f.way), wrt),
          jacobian_by_elements(*with_float_results(*f.other), wrt)};
}
TwoWays batch_of(const TwoWays& f, const Flags& batched, int64_t size) {
  return {transform::batch(*f.way, batched, size), batch_by_example(*f.other, batched, size)};
}
TwoWays loop_of(const TwoWays& f, const Repetition& r) { return {as_loop(*f.way, r), as_steps(*f.other, r)}; }
TwoWays branch_of(const TwoWays& f, size_t by, double limit) {
  return {as_branch(*f.way, by, limit), as_choice(*f.other, by, limit)};
}
TwoWays checkpoint_of(const TwoWays& f) { return {in_checkpoint(*f.way), f.other}; }
TwoWays simplified(const TwoWays& f) {
  const auto copy = std::make_shared<Graph>(*f.way);
  transform::simplify(*copy);
  return {copy, f.other};
}
TwoWays written(const TwoWays& f) { return {stablehlo::read(stablehlo::write(*f.way, false).text), f.other}; }

}  // namespace anvil::test
