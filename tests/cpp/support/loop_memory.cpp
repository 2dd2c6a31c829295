#include "support/loop_memory.h"

#include <cstring>

namespace anvil::test {

LoopMemory::LoopMemory(std::shared_ptr<void> data, int64_t bytes, int64_t unit)
    : data_(std::move(data)), unit_(unit), cells_(static_cast<size_t>(bytes / unit)) {}

void LoopMemory::set_term(int64_t at, DType t, const Term& term) {
  const auto size = static_cast<int64_t>(size_of(t));
  for (int64_t part = 0; part < size / unit_; ++part)
    cells_[static_cast<size_t>(at / unit_ + part)] = {term, static_cast<uint8_t>(size), static_cast<uint8_t>(part)};
}

void LoopMemory::write(int64_t at, DType t, const Traced& x) {
  visit(t, [&]<class T>() {
    const T number = x.number.as<T>();
    std::memcpy(address(at), &number, sizeof number);
  });
  set_term(at, t, x.term);
}

std::optional<Traced> LoopMemory::read(int64_t at, DType t) const {
  const auto size = static_cast<int64_t>(size_of(t));
  const Cell& first = cells_[static_cast<size_t>(at / unit_)];
  for (int64_t part = 0; part < size / unit_; ++part) {
    const Cell& c = cells_[static_cast<size_t>(at / unit_ + part)];
    if (c.size != size || c.part != part || !(c.term == first.term)) return std::nullopt;
  }
  Traced x{{}, first.term};
  visit(t, [&]<class T>() {
    T number;
    std::memcpy(&number, address(at), sizeof number);
    x.number = Scalar(number);
  });
  return x;
}

}  // namespace anvil::test
