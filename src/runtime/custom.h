// Functions of somebody else's that programs call: by the evaluator as they are, by generated code through
// `custom_call` (runtime/functions.h). Calls own them (graph::Owned), and who keeps code keeps them.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/dtype.h"

namespace anvil::runtime {

struct Run;

struct CustomBuffer {  // dense and column-major
  void* data;
  DType dtype;
  std::span<const int64_t> shape;
};

struct CustomFunction {
  std::string name;
  // Throws where it fails.
  std::function<void(std::span<const CustomBuffer> inputs, std::span<const CustomBuffer> outputs)> run;
};

// Runs it, and lets the user stop afterwards.
void call(const CustomFunction&, std::span<const CustomBuffer> inputs, std::span<const CustomBuffer> outputs);

int32_t custom_call(Run*, void* const* buffers, const int64_t* numbers);

}  // namespace anvil::runtime
