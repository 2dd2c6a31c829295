// Batches against their examples: what a batched graph gives is what the graph gives for each example, side by
// side along a last dimension.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "support/agreement.h"
#include "transform/batch.h"

namespace anvil::test {

using Flags = std::vector<bool>;

inline graph::TensorType of_batch(graph::TensorType t, int64_t size) {
  t.shape.push_back(size);
  return t;
}
// Example i of a batch: the elements of one place of the last dimension lie side by side.
inline graph::Tensor example(const graph::Tensor& batch, int64_t i) {
  graph::TensorType type = batch.type;
  type.shape.pop_back();
  graph::Tensor t = graph::allocate(type);
  const size_t bytes = static_cast<size_t>(elements(type.shape)) * size_of(type.dtype);
  if (bytes > 0) std::memcpy(t.as<char>(), batch.as<char>() + static_cast<size_t>(i) * bytes, bytes);
  return t;
}
inline graph::Tensor stacked(const Tensors& examples) {
  graph::TensorType type = examples.at(0).type;
  const size_t bytes = static_cast<size_t>(elements(type.shape)) * size_of(type.dtype);
  graph::Tensor t = graph::allocate(of_batch(type, static_cast<int64_t>(examples.size())));
  for (size_t i = 0; bytes > 0 && i < examples.size(); ++i)
    std::memcpy(t.as<char>() + i * bytes, examples[i].as<char>(), bytes);
  return t;
}
inline Tensors inputs_of_example(const Tensors& inputs, const Flags& batched, int64_t i) {
  Tensors list;
  for (size_t k = 0; k < inputs.size(); ++k) list.push_back(batched[k] ? example(inputs[k], i) : inputs[k]);
  return list;
}
inline Tensors evaluate_each(const graph::Graph& g, const Tensors& inputs, const Flags& batched, int64_t size) {
  std::vector<Tensors> results(g.outputs.size());
  for (int64_t i = 0; i < size; ++i) {
    const Tensors one = eigen::evaluate(g, inputs_of_example(inputs, batched, i));
    for (size_t k = 0; k < one.size(); ++k) results[k].push_back(one[k]);
  }
  Tensors list;
  for (const Tensors& r : results) list.push_back(stacked(r));
  return list;
}

// The first example is what is given, the others are like it.
inline Tensors examples_like(const Tensors& inputs, const Flags& flags, int64_t size, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> factor(-1.5, 1.5);
  Tensors list;
  for (size_t k = 0; k < inputs.size(); ++k) {
    Tensors examples;
    for (int64_t i = 0; i < size; ++i) {
      graph::Tensor t = graph::allocate(inputs[k].type);
      for (int64_t e = 0; e < elements(t.type.shape); ++e) {
        const Scalar x = graph::element(inputs[k], e);
        graph::set_element(t, e, i > 0 && is_float(t.type.dtype) ? Scalar(x.as<double>() * factor(random)) : x);
      }
      examples.push_back(t);
    }
    list.push_back(flags[k] ? stacked(examples) : inputs[k]);
  }
  return list;
}
inline Flags any_flags(size_t n, uint64_t seed) {
  std::mt19937_64 random(seed);
  Flags flags(n);
  for (size_t k = 0; k < n; ++k) flags[k] = random() % 3 != 0;
  flags[random() % n] = true;
  return flags;
}

// "" where the batched graph gives what the examples give, by the evaluator.
inline std::string batch_disagreement(const graph::Graph& g, const Tensors& inputs, const Flags& batched,
                                      int64_t size) {
  const graph::GraphPtr together = transform::batch(g, batched, size);
  primitives::verify(*together);
  return disagreement(*together, inputs, eigen::evaluate(*together, inputs), evaluate_each(g, inputs, batched, size));
}

}  // namespace anvil::test
