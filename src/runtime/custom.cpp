// Calls of functions of somebody else's from generated code.
#include "runtime/custom.h"

#include <vector>

#include "base/interrupt.h"
#include "runtime/run.h"

namespace anvil::runtime {

void call(const CustomFunction& f, std::span<const DenseTensor> inputs, std::span<const DenseTensor> outputs) {
  f.run(inputs, outputs);
  anvil::poll();
}

// buffers: outputs, inputs. numbers: the address of the function, then the outputs and the inputs as described().
int32_t custom_call(Run* run, void* const* buffers, const int64_t* numbers) {
  return guarded(run, [&] {
    const auto& f = *reinterpret_cast<const CustomFunction*>(static_cast<intptr_t>(*numbers++));
    const auto outputs = read_described(buffers, numbers), inputs = read_described(buffers, numbers);
    call(f, inputs, outputs);
  });
}

}  // namespace anvil::runtime
