// Random bits, element by element from the formula of runtime/threefry.h.
#include "backend/eigen/kernels.h"
#include "base/interrupt.h"
#include "runtime/threefry.h"

namespace anvil::eigen {
namespace {

Tensors rng_bit_generator(const Call& call, const Tensors& in) {
  Tensor state = make_result(call, 0), bits = make_result(call, 1);
  const Shape& shape = bits.type.shape;
  uint64_t key = in[0].as<uint64_t>()[0], counter = in[0].as<uint64_t>()[1];
  runtime::BitLayout layout = runtime::bit_layout(shape, bits.type.dtype);
  state.as<uint64_t>()[0] = key;
  state.as<uint64_t>()[1] = counter + static_cast<uint64_t>(layout.blocks);
  std::vector<int64_t> index(shape.size(), 0);
  auto fill = [&]<class Bits>(Bits) {
    in_pieces(elements(shape), 50, [&](int64_t first, int64_t end) {
      for (int64_t i = first; i < end; ++i, next_index(index, shape))
        bits.as<Bits>()[i] = static_cast<Bits>(runtime::random_bits(key, counter, layout, sizeof(Bits) == 8, index));
    });
  };
  switch (size_of(bits.type.dtype)) {
    case 1: fill(uint8_t()); break;
    case 2: fill(uint16_t()); break;
    case 4: fill(uint32_t()); break;
    default: fill(uint64_t());
  }
  return {state, bits};
}

}  // namespace

std::vector<NamedKernel> random_kernels() { return {{"rng_bit_generator", rng_bit_generator}}; }

}  // namespace anvil::eigen
