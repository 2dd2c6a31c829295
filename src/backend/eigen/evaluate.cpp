// A graph, call after call. Inner graphs read the values around them, so one environment
// serves all scopes; a loop's body overwrites its own values at each iteration.
#include "backend/eigen/evaluate.h"

#include <algorithm>
#include <map>

#include "backend/eigen/kernels.h"
#include "base/interrupt.h"
#include "primitives/families/control.h"
#include "primitives/vocabulary/composite.h"
#include "primitives/vocabulary/region.h"

namespace anvil::eigen {

using graph::Graph;
using graph::Value;
using graph::ValuePtr;

Kernel find_kernel(std::string_view primitive) {
  static const std::unordered_map<std::string_view, Kernel> table = [] {
    std::unordered_map<std::string_view, Kernel> all;
    for (auto family : {shape_kernels, reduce_kernels, linalg_kernels, factorisation_kernels, random_kernels,
                        gather_kernels, sort_kernels, window_kernels, function_kernels})
      for (const NamedKernel& k : family()) all.emplace(k.name, k.kernel);
    return all;
  }();
  auto it = table.find(primitive);
  return it == table.end() ? nullptr : it->second;
}

RegionKernel find_region_kernel(std::string_view primitive) {
  static const std::unordered_map<std::string_view, RegionKernel> table = [] {
    std::unordered_map<std::string_view, RegionKernel> all;
    for (auto family : {scatter_kernels, fold_kernels})
      for (const NamedRegionKernel& k : family()) all.emplace(k.name, k.kernel);
    return all;
  }();
  auto it = table.find(primitive);
  return it == table.end() ? nullptr : it->second;
}

namespace {

class Evaluator {
 public:
  explicit Evaluator(const Options& options) : options_(options) {}

  void bind(const std::vector<ValuePtr>& values, const Tensors& tensors) {
    for (size_t i = 0; i < values.size(); ++i) environment_[values[i].get()] = tensors[i];
  }

  Tensors run(const Graph& g) {
    for (const Call& call : g.calls) {
      poll();
      Tensors results = evaluate(call);
      for (size_t i = 0; i < results.size(); ++i) results[i].type = call.outputs[i]->type;
      bind(call.outputs, results);
      if (options_.observe)
        for (const Tensor& t : results) options_.observe(call, t);
    }
    return read(g.outputs);
  }
  Tensors run(const Graph& g, const Tensors& inputs) {
    bind(g.inputs, inputs);
    return run(g);
  }

 private:
  Tensor read(const ValuePtr& v) {
    if (v->kind == Value::Kind::constant) return v->constant;
    auto it = environment_.find(v.get());
    if (it != environment_.end()) return it->second;
    if (v->kind != Value::Kind::literal) throw InternalError("evaluate: a value is used before it is made");
    return environment_[v.get()] = graph::full(v->type, v->literal);
  }
  Tensors read(const std::vector<ValuePtr>& values) {
    Tensors tensors;
    for (const ValuePtr& v : values) tensors.push_back(read(v));
    return tensors;
  }

  // Kernels compute small floats in their compute type, and the results are rounded once.
  Tensors evaluate(const Call& call) {
    Tensors operands = read(call.inputs);
    auto small = [](const auto& x) { return is_small(x.type.dtype); };
    const bool rounds =
        std::any_of(operands.begin(), operands.end(), small) ||
        std::any_of(call.outputs.begin(), call.outputs.end(), [&](const ValuePtr& v) { return small(*v); });
    const primitives::Primitive& p = primitives::primitive_of(call);
    if (!rounds || !p.computes() || p.elementwise) return evaluate(call, std::move(operands));
    for (Tensor& t : operands) t = graph::converted(t, compute_type(t.type.dtype));
    Call wide = call;
    for (ValuePtr& v : wide.outputs) {
      graph::TensorType type = v->type;
      type.dtype = compute_type(type.dtype);
      v = graph::make_value(Value::Kind::result, type);
    }
    Tensors results = evaluate(wide, std::move(operands));
    for (size_t i = 0; i < results.size(); ++i) results[i] = graph::converted(results[i], call.outputs[i]->type.dtype);
    return results;
  }
  Tensors evaluate(const Call& call, Tensors operands) {
    const std::string& name = call.primitive->name;
    if (primitives::primitive_of(call).monoid != nullptr) return reduce_by_monoid(call, operands);
    if (Kernel kernel = find_kernel(name)) return kernel(call, operands);
    if (RegionKernel kernel = find_region_kernel(name))
      return kernel(call, operands, [this](const Graph& g, const Tensors& arguments) { return apply(g, arguments); });
    switch (primitives::control_of(call)) {
      case primitives::Control::none: break;
      case primitives::Control::once: return run(*call.params.graph("body_graph"));
      case primitives::Control::branch:
        return run(*call.params.graph(*operands[0].as<bool>() ? "true_graph" : "false_graph"));
      case primitives::Control::loop: return loop(call, std::move(operands));
      case primitives::Control::scan: return tape_scan(call, std::move(operands));
    }
    return elementwise(call, operands);
  }

  // A region on tensors of one shape. Lifted ones are kept: kernels repeat them, and the
  // environment knows their values by address.
  Tensors apply(const Graph& region, const Tensors& arguments) {
    const Shape shape = arguments.empty() ? Shape{} : arguments[0].type.shape;
    graph::GraphPtr& lifted = lifted_[{&region, shape}];
    if (!lifted) {
      lifted = std::make_shared<Graph>();
      std::vector<primitives::Var> inputs;
      for (const ValuePtr& v : region.inputs) {
        lifted->inputs.push_back(graph::make_value(Value::Kind::input, {v->type.dtype, shape, false}));
        inputs.push_back({lifted.get(), lifted->inputs.back()});
      }
      for (const primitives::Var& v : primitives::lift(*lifted, region, inputs, shape))
        lifted->outputs.push_back(v.value);
    }
    return run(*lifted, arguments);
  }

  Tensors elementwise(const Call& call, const Tensors& operands) {
    const auto& all_elements = primitives::primitive_of(call).elementwise;
    if (!all_elements) throw InternalError("evaluate: there is no kernel for " + call.primitive->name);
    const Tensor out = make_result(call);
    const Shape& shape = out.type.shape;
    auto apply_to = [&](const Tensors& x, const Tensor& y) {
      std::vector<const Tensor*> pointers;
      for (const Tensor& t : x) pointers.push_back(&t);
      all_elements(pointers, y, call.params);
    };
    bool whole = std::any_of(operands.begin(), operands.end(),
                             [&](const Tensor& t) { return t.type.shape != shape && !t.type.shape.empty(); });
    constexpr int64_t slow = 100, small = 64;  // operations of an element, as lgamma has them; elements
    if (whole || elements(shape) <= small) {
      apply_to(operands, out);
      return {out};
    }
    in_pieces(elements(shape), slow, [&](int64_t first, int64_t end) {
      auto piece = [&](const Tensor& t) {
        if (t.type.shape.empty()) return t;
        char* data = t.as<char>() + static_cast<size_t>(first) * size_of(t.type.dtype);
        return Tensor{{t.type.dtype, {end - first}}, std::shared_ptr<void>(t.data, data)};
      };
      Tensors parts;
      for (const Tensor& t : operands) parts.push_back(piece(t));
      apply_to(parts, piece(out));
    });
    return {out};
  }

  Tensors loop(const Call& call, Tensors state) {
    const Graph &condition = *call.params.graph("cond_graph"), &body = *call.params.graph("body_graph");
    const Tensors handles = new_tapes(call);
    while (*run(condition, state)[0].as<bool>()) state = keep_records(call, handles, run(body, state));
    state.insert(state.end(), handles.begin(), handles.end());
    return state;
  }

  Tensors tape_scan(const Call& call, Tensors operands) {
    const Graph& body = *call.params.graph("body_graph");
    const auto& last_first = call.params.ints("last_first");
    Tensors carry(operands.begin() + static_cast<std::ptrdiff_t>(last_first.size()), operands.end());
    const Tensors handles = new_tapes(call);
    const size_t steps = tape(operands[0]).size();
    for (size_t step = 0; step < steps; ++step) {
      Tensors inputs;
      for (size_t i = 0; i < last_first.size(); ++i) {
        const Tensors& record = tape(operands[i]).at(last_first[i] ? steps - 1 - step : step);
        inputs.insert(inputs.end(), record.begin(), record.end());
      }
      inputs.insert(inputs.end(), carry.begin(), carry.end());
      carry = keep_records(call, handles, run(body, inputs));
    }
    carry.insert(carry.end(), handles.begin(), handles.end());
    return carry;
  }

  // Of what a body gives, the records go onto the tapes; the rest is carried on.
  Tensors keep_records(const Call& call, const Tensors& handles, Tensors outputs) {
    const auto counts = primitives::new_field_counts(call);
    const auto end = outputs.begin() + static_cast<std::ptrdiff_t>(primitives::carried(call));
    auto field = end;
    for (size_t i = 0; i < handles.size(); ++i) {
      tape(handles[i]).emplace_back(field, field + counts[i]);
      field += counts[i];
    }
    outputs.erase(end, outputs.end());
    return outputs;
  }

  // A handle is the number of a tape; records share the tensors of the run.
  using Tape = std::vector<Tensors>;
  Tensor new_tape() {
    tapes_.emplace_back();
    return graph::full(graph::tape_type, tapes_.size() - 1);
  }
  Tensors new_tapes(const Call& call) {
    Tensors handles;
    for (size_t i = primitives::carried(call); i < call.outputs.size(); ++i) handles.push_back(new_tape());
    return handles;
  }
  Tape& tape(const Tensor& handle) { return tapes_.at(*handle.as<uint64_t>()); }

  const Options& options_;
  std::unordered_map<const Value*, Tensor> environment_;
  std::vector<Tape> tapes_;
  std::map<std::pair<const Graph*, Shape>, graph::GraphPtr> lifted_;
};

}  // namespace

std::vector<Tensor> evaluate(const Graph& g, const std::vector<Tensor>& inputs, const Options& options) {
  if (inputs.size() != g.inputs.size()) throw InternalError("evaluate: the number of inputs is wrong");
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!same_type(inputs[i].type, g.inputs[i]->type)) throw InternalError("evaluate: an input has the wrong type");
  auto expanded = primitives::expand(g, primitives::Reader::backend);
  return Evaluator(options).run(*expanded, inputs);
}

}  // namespace anvil::eigen
