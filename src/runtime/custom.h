// Functions of somebody else's that programs call: by the evaluator as they are, by generated code through
// `custom_call` (runtime/functions.h). Calls own them (graph::Owned), and who keeps code keeps them.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/dense_tensor.h"

namespace anvil::runtime {

struct Run;

struct CustomFunction {
  std::string name;
  // Throws where it fails.
  std::function<void(std::span<const DenseTensor> inputs, std::span<const DenseTensor> outputs)> run;
};

// Runs it, and lets the user stop afterwards.
void call(const CustomFunction&, std::span<const DenseTensor> inputs, std::span<const DenseTensor> outputs);

int32_t custom_call(Run*, void* const* buffers, const int64_t* numbers);

}  // namespace anvil::runtime
