// Whether two evaluations of a program agree: every element of every result, up to rounding.
// Where they do not, the program itself tells what rounding may do to it: it is evaluated with
// the results of its calls, its inputs and its constants moved by a unit in the last place or
// two, at random, a few times (Vignes' CESTAC method), sums by what another order of their terms may
// round to, and what is only moved or selected not at all: what a maximum equals is found again. An element may
// differ by a small multiple of how far it then moved, and by nothing else.
#pragma once
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/eigen/evaluate.h"
#include "primitives/vocabulary/primitive.h"

namespace anvil::test {

using Tensors = std::vector<graph::Tensor>;

inline double unit_roundoff(DType t) { return std::ldexp(0.5, -descriptor(t).mantissa_bits); }
// The least subnormal number.
inline double smallest(DType t) {
  return std::ldexp(2, 1 - (1 << (descriptor(t).exponent_bits - 1)) - descriptor(t).mantissa_bits);
}

// One rounding of another order of sums, or of a fused multiplication, is no more than this.
inline bool element_agrees(DType t, const Scalar& x, const Scalar& y) {
  if (!is_float(t)) return x == y;
  double a = x.as<double>(), b = y.as<double>();
  return a == b || (a != a && b != b) ||
         std::fabs(a - b) <= 64 * std::max(smallest(t), unit_roundoff(t) * std::max(std::fabs(a), std::fabs(b)));
}

// A copy whose floats are moved by up to two units in the last place.
inline graph::Tensor jittered(const graph::Tensor& t, std::mt19937_64& random) {
  graph::Tensor moved = graph::allocate(t.type);
  std::uniform_real_distribution<double> ulps(-4, 4);
  for (int64_t i = 0; i < elements(t.type.shape); ++i) {
    Scalar x = graph::element(t, i);
    if (is_float(t.type.dtype)) x = Scalar(x.as<double>() * (1 + ulps(random) * unit_roundoff(t.type.dtype)));
    graph::set_element(moved, i, x);
  }
  return moved;
}
// The sums of the absolute values of what a call adds up; nothing for a call that is no sum, or
// where an operand is not known.
using Known = std::unordered_map<const graph::Value*, graph::Tensor>;
inline Tensors absolute_sums(const graph::Call& call, const Known& known) {
  static const std::set<std::string> sums = {"reduce_sum",  "cumsum",      "dot_general",
                                             "convolution", "sum_windows", "scatter"};
  if (sums.count(call.primitive->name) == 0) return {};
  graph::Graph alone;
  Tensors sizes;
  for (const graph::ValuePtr& v : call.inputs) {
    const auto it = known.find(v.get());
    if (it == known.end()) return {};
    if (!is_float(v->type.dtype)) {  // indices
      sizes.push_back(it->second);
      continue;
    }
    graph::Tensor size = graph::allocate(it->second.type);
    for (int64_t i = 0; i < elements(size.type.shape); ++i)
      set_element(size, i, Scalar(std::fabs(element(it->second, i).as<double>())));
    sizes.push_back(size);
  }
  alone.inputs = call.inputs;
  alone.calls = {call};
  alone.outputs = call.outputs;
  return eigen::evaluate(alone, sizes);
}
inline Tensors evaluate_jittered(const graph::Graph& g, const Tensors& inputs, uint64_t seed) {
  std::mt19937_64 random(seed);
  Tensors moved;
  Known known;
  for (const graph::Tensor& t : inputs) moved.push_back(jittered(t, random));
  for (size_t i = 0; i < inputs.size(); ++i) known[g.inputs[i].get()] = moved[i];
  for (const graph::ValuePtr& v : g.constants) known[v.get()] = v->constant;
  eigen::Options options;
  options.observe = [&](const graph::Call& call, const graph::Tensor& result) {
    const primitives::Primitive& p = primitives::primitive_of(call);
    const bool exact = p.acts == primitives::Acts::moves || (p.selects && !p.regions);
    if (!is_float(result.type.dtype) || exact) {
      if (call.outputs.size() == 1) known[call.outputs[0].get()] = result;
      return;
    }
    const graph::Tensor other = jittered(result, random);
    const Tensors sums = absolute_sums(call, known);
    std::uniform_real_distribution<double> ulps(-4, 4);
    for (int64_t i = 0; i < elements(result.type.shape); ++i) {
      double x = element(other, i).as<double>();
      if (!sums.empty()) x += ulps(random) * unit_roundoff(result.type.dtype) * element(sums[0], i).as<double>();
      set_element(result, i, Scalar(x));
    }
    if (call.outputs.size() == 1) known[call.outputs[0].get()] = result;
  };
  return eigen::evaluate(g, moved, options);
}

// "" when they agree, else which element does not and why that is no rounding.
inline std::string disagreement(const graph::Graph& g, const Tensors& inputs, const Tensors& expected,
                                const Tensors& got) {
  constexpr int trials = 8;
  constexpr double margin = 32;
  std::vector<Tensors> moved;
  if (expected.size() != got.size()) return "another number of results";
  for (size_t k = 0; k < expected.size(); ++k) {
    const graph::Tensor &a = expected[k], &b = got[k];
    if (!same_type(a.type, b.type)) return "result " + std::to_string(k + 1) + " has another type";
    for (int64_t i = 0; i < elements(a.type.shape); ++i) {
      if (element_agrees(a.type.dtype, element(a, i), element(b, i))) continue;
      for (uint64_t t = moved.size(); t < trials; ++t) moved.push_back(evaluate_jittered(g, inputs, t + 1));
      double x = element(a, i).as<double>(), y = element(b, i).as<double>(), reach = 0;
      bool anything = false;  // it becomes or stops being a number
      for (const Tensors& m : moved) {
        double z = element(m[k], i).as<double>();
        anything = anything || std::isfinite(z) != std::isfinite(x) || (std::isinf(z) && z != x);
        if (std::isfinite(z - x)) reach = std::max(reach, std::fabs(z - x));
      }
      if (anything || std::fabs(x - y) <= margin * reach) continue;
      const auto text = [](double v) { return Scalar(v).text(DType::f64); };
      return "element " + std::to_string(i + 1) + " of result " + std::to_string(k + 1) + " is " + text(y) + ", not " +
             text(x) + " (rounding moves it by " + text(reach) + ")";
    }
  }
  return "";
}

}  // namespace anvil::test
