// Elements of any dtype as bits: what only moves or orders them is written once for each size.
#pragma once
#include <cstddef>
#include <cstdint>

namespace anvil {

// f.operator()<U>(), where U is the unsigned integer of as many bytes: 1, 2, 4 or 8.
template <class F>
void visit_bits(size_t bytes, F&& f) {
  switch (bytes) {
    case 1: return f.template operator()<uint8_t>();
    case 2: return f.template operator()<uint16_t>();
    case 4: return f.template operator()<uint32_t>();
    default: return f.template operator()<uint64_t>();
  }
}

}  // namespace anvil
