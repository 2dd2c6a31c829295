// Chunk k of a tape holds first_chunk << k records.
#include "runtime/tape.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace anvil::runtime {

namespace {
constexpr int64_t first_bytes = 1024;
}

Tape::Tape(int64_t record_bytes)
    : record_bytes_(record_bytes),
      first_chunk_(std::max<int64_t>(1, first_bytes / std::max<int64_t>(1, record_bytes))) {}

char* Tape::place(int64_t record) const {
  const auto k = std::bit_width(static_cast<uint64_t>(record / first_chunk_ + 1)) - 1;
  return chunks_[static_cast<size_t>(k)].data() + (record - first_chunk_ * ((int64_t(1) << k) - 1)) * record_bytes_;
}

char* Tape::append() {
  const int64_t capacity = first_chunk_ * ((int64_t(1) << chunks_.size()) - 1);
  if (length_ == capacity) chunks_.emplace_back(static_cast<size_t>((first_chunk_ << chunks_.size()) * record_bytes_));
  return place(length_++);
}

const char* Tape::record(int64_t i) const {
  if (i < 0 || i >= length_)
    throw InternalError("record " + std::to_string(i) + " of a tape of " + std::to_string(length_));
  return place(i);
}

uint64_t Tapes::add(int64_t record_bytes) {
  tapes_.emplace_back(record_bytes);
  return tapes_.size();
}

Tape& Tapes::at(uint64_t handle) {
  if (handle == 0 || handle > tapes_.size()) throw InternalError("there is no tape " + std::to_string(handle));
  return tapes_[handle - 1];
}

}  // namespace anvil::runtime
