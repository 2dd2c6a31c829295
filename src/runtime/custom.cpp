// Calls of functions of somebody else's from generated code.
#include "runtime/custom.h"

#include <vector>

#include "base/interrupt.h"
#include "runtime/run.h"

namespace anvil::runtime {

void call(const CustomFunction& f, std::span<const CustomBuffer> inputs, std::span<const CustomBuffer> outputs) {
  f.run(inputs, outputs);
  anvil::poll();
}

// buffers: outputs, inputs. numbers: the address of the function, how many outputs and inputs, then of each buffer its
// dtype, rank and sizes.
int32_t custom_call(Run* run, void* const* buffers, const int64_t* numbers) {
  return guarded(run, [&] {
    const auto& f = *reinterpret_cast<const CustomFunction*>(static_cast<intptr_t>(numbers[0]));
    const auto outputs = static_cast<size_t>(numbers[1]), inputs = static_cast<size_t>(numbers[2]);
    std::vector<CustomBuffer> all;
    const int64_t* type = numbers + 3;
    for (size_t i = 0; i < outputs + inputs; ++i) {
      const auto rank = static_cast<size_t>(type[1]);
      all.push_back({buffers[i], static_cast<DType>(type[0]), {type + 2, rank}});
      type += 2 + rank;
    }
    const std::span<const CustomBuffer> list(all);
    call(f, list.subspan(outputs), list.first(outputs));
  });
}

}  // namespace anvil::runtime
