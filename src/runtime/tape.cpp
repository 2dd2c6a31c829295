// Chunk k of a tape holds first_chunk << k records. Chunks are what is counted: their bytes are in use.
#include "runtime/tape.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace anvil::runtime {

namespace {
constexpr int64_t first_bytes = 192;  // the least that the pool gives, but for its header

std::atomic<int64_t> bytes_now = 0, bytes_most = 0;

void count(int64_t bytes) {
  const int64_t now = bytes_now += bytes;
  for (int64_t most = bytes_most; now > most && !bytes_most.compare_exchange_weak(most, now);) {
  }
}
}  // namespace

TapeStatistics tape_statistics() { return {bytes_now, bytes_most}; }
void reset_tape_statistics() { bytes_most = bytes_now.load(); }

Tape::Tape(int64_t record_bytes, std::vector<int64_t> handles)
    : record_bytes_(record_bytes),
      first_chunk_(std::max<int64_t>(1, first_bytes / std::max<int64_t>(1, record_bytes))),
      handles_(std::move(handles)) {}

Tape::~Tape() { count(-capacity() * record_bytes_); }
Tape::Tape(Tape&& o) noexcept
    : record_bytes_(o.record_bytes_),
      first_chunk_(o.first_chunk_),
      length_(std::exchange(o.length_, 0)),
      handles_(std::move(o.handles_)),
      chunks_(std::exchange(o.chunks_, {})) {}

int64_t Tape::capacity() const { return first_chunk_ * ((int64_t(1) << chunks_.size()) - 1); }

char* Tape::place(int64_t record) const {
  const auto k = std::bit_width(static_cast<uint64_t>(record / first_chunk_ + 1)) - 1;
  return chunks_[static_cast<size_t>(k)].data() + (record - first_chunk_ * ((int64_t(1) << k) - 1)) * record_bytes_;
}

char* Tape::append() {
  if (length_ == capacity()) {
    const int64_t bytes = (first_chunk_ << chunks_.size()) * record_bytes_;
    try {
      chunks_.emplace_back(static_cast<size_t>(bytes));
    } catch (Error& e) {
      e.details.push_back("i The derivative of a loop records its steps: `nv_while(checkpoint = )` records fewer.");
      throw;
    }
    count(bytes);
  }
  return place(length_++);
}

const char* Tape::record(int64_t i) const {
  if (i < 0 || i >= length_)
    throw InternalError("record " + std::to_string(i) + " of a tape of " + std::to_string(length_));
  return place(i);
}

std::vector<uint64_t> Tape::handles() const {
  std::vector<uint64_t> found;
  for (int64_t i = 0; i < length_; ++i)
    for (const int64_t at : handles_) std::memcpy(&found.emplace_back(), place(i) + at, sizeof(uint64_t));
  return found;
}

uint64_t Tapes::add(int64_t record_bytes, std::vector<int64_t> handles) {
  tapes_.emplace_back(std::in_place, record_bytes, std::move(handles));
  return tapes_.size();
}

Tape& Tapes::at(uint64_t handle) {
  if (handle == 0 || handle > tapes_.size() || !tapes_[handle - 1])
    throw InternalError("there is no tape " + std::to_string(handle));
  return *tapes_[handle - 1];
}

// Numbers of tapes that end in the order in which they began are given again.
void Tapes::free(uint64_t handle) {
  if (handle == 0) return;
  const std::vector<uint64_t> inner = at(handle).handles();
  tapes_[handle - 1].reset();
  for (const uint64_t h : inner) free(h);
  while (!tapes_.empty() && !tapes_.back()) tapes_.pop_back();
}

}  // namespace anvil::runtime
