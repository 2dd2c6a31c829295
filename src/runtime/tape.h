// Tapes: what reverse mode remembers of a loop whose length is known only when it ends.
// A tape is a list of records of one size, in chunks that double, so that remembering is
// cheap, nothing is copied as it grows, and short tapes of nested loops stay small. Records may
// hold handles of other tapes, which end with theirs. What all tapes of the process hold is counted.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/pool.h"

namespace anvil::runtime {

class Tape {
 public:
  explicit Tape(int64_t record_bytes, std::vector<int64_t> handles = {});  // handles: where records have them
  ~Tape();
  Tape(Tape&&) noexcept;
  Tape& operator=(Tape&&) = delete;
  int64_t length() const { return length_; }
  int64_t record_bytes() const { return record_bytes_; }
  char* append();                         // memory of one more record
  const char* record(int64_t) const;      // InternalError outside 0..length - 1
  std::vector<uint64_t> handles() const;  // in its records

 private:
  int64_t capacity() const;
  char* place(int64_t record) const;
  int64_t record_bytes_, first_chunk_, length_ = 0;  // first_chunk_: records of the first chunk
  std::vector<int64_t> handles_;
  std::vector<Block> chunks_;
};

// The tapes of one run; a handle is a tape's number, from 1, or 0: there is none.
class Tapes {
 public:
  uint64_t add(int64_t record_bytes, std::vector<int64_t> handles = {});
  Tape& at(uint64_t handle);  // until the next add
  void free(uint64_t handle);

 private:
  std::vector<std::optional<Tape>> tapes_;
};

// Bytes of the chunks of records.
struct TapeStatistics {
  int64_t now, most;  // most: since it was last set back
};
TapeStatistics tape_statistics();
void reset_tape_statistics();

}  // namespace anvil::runtime
