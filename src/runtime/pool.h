// Memory for tensors and temporaries that is kept when it is given back: fresh pages from
// the system cost several times what most kernels do with them. Blocks come in size
// classes; all but small ones ask for huge pages. Safe to use from any thread and after fork().
#pragma once
#include <cstddef>

namespace anvil::runtime {

// A block of at least `bytes` bytes, uninitialised, whose byte `lead` is 64-byte aligned
// (the bytes ahead of it hold what an owner such as R puts in front of its data). Throws
// Error("memory") when there is none, after giving kept blocks back to the system.
void* take(size_t bytes, size_t lead = 0);
void give(void*) noexcept;          // null is ignored
bool would_be_fresh(size_t bytes);  // whether such a block would come from the system

struct PoolStatistics {
  size_t used = 0;              // bytes in blocks that are taken
  size_t kept = 0;              // bytes in blocks that wait to be taken
  size_t limit = 0;             // of `kept`
  size_t taken = 0, fresh = 0;  // calls of take, and those that asked the system
  double seconds_of_byte = 0;   // that it takes to find pages for one, of late; 0: not known yet
};
PoolStatistics pool_statistics();
void trim_pool(size_t keep = 0);    // gives blocks back to the system until so many bytes are kept
void trim_idle();                   // the same with those that nobody needed since the last call
void set_pool_limit(size_t bytes);  // of what is kept; at first a quarter of memory_limit()

// A block for a scope.
class Block {
 public:
  Block() = default;
  explicit Block(size_t bytes) : data_(static_cast<char*>(take(bytes))) {}
  ~Block() { give(data_); }
  Block(Block&& o) noexcept : data_(o.data_) { o.data_ = nullptr; }
  Block& operator=(Block&& o) noexcept {
    char* old = data_;
    data_ = o.data_;
    o.data_ = nullptr;
    give(old);
    return *this;
  }
  char* data() const { return data_; }

 private:
  char* data_ = nullptr;
};

}  // namespace anvil::runtime
