// Size classes: four to each power of two. Every block starts with a header of 64 bytes;
// the word in front of what take() returns leads back to it.
#include "runtime/pool.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/error.h"
#include "base/memory.h"
#include "base/timing.h"

namespace anvil::runtime {
namespace {

constexpr size_t alignment = 64, smallest = 256;
constexpr size_t mapped_from = size_t(1) << 22;  // such blocks are mapped, at multiples of a huge page
constexpr size_t huge_page = size_t(1) << 21, page = 4096;
constexpr size_t looked_at = size_t(1) << 16, most_touched = size_t(1) << 23;
constexpr int classes = 4 * 48;

struct Header {
  Header* next;
  size_t bytes;  // of the whole block
  int size_class;
};
static_assert(sizeof(Header) + sizeof(void*) <= alignment);

// Sizes (4 + q) * 2^p / 4 for q = 0..3.
int class_of(size_t bytes) {
  bytes = std::max(bytes, smallest);
  const int p = std::bit_width(bytes - 1) - 1;  // 2^p < bytes <= 2^(p + 1)
  const size_t quarter = size_t(1) << (p - 2);
  const auto q = int((bytes - (size_t(1) << p) + quarter - 1) / quarter);
  return 4 * p + q;
}
size_t bytes_of(int size_class) {
  const int p = size_class / 4, q = size_class % 4;
  return (size_t(4) + size_t(q)) << (p - 2);
}

// A mapping at a multiple of a huge page: map more, give the ends back.
void* map(size_t bytes) {
  const size_t wide = bytes + huge_page;
  void* raw = mmap(nullptr, wide, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  const auto start = reinterpret_cast<uintptr_t>(raw), aligned = (start + huge_page - 1) & ~(huge_page - 1);
  if (aligned > start) munmap(raw, aligned - start);
  munmap(reinterpret_cast<void*>(aligned + bytes), start + wide - aligned - bytes);
#ifdef MADV_HUGEPAGE
  madvise(reinterpret_cast<void*>(aligned), bytes, MADV_HUGEPAGE);
#endif
  return reinterpret_cast<void*>(aligned);
}

void* from_system(size_t bytes) { return bytes >= mapped_from ? map(bytes) : std::aligned_alloc(alignment, bytes); }
void to_system(Header* h) {
  if (h->bytes >= mapped_from)
    munmap(h, h->bytes);
  else
    std::free(h);
}

class Pool {
 public:
  Pool() : machine_(memory_limit()), limit_(machine_ / 4) {
    pthread_atfork([] { pool().mutex_.lock(); }, [] { pool().mutex_.unlock(); }, [] { pool().mutex_.unlock(); });
  }
  static Pool& pool() {
    static Pool& only = *new Pool;  // never destroyed: other static objects may hold blocks
    return only;
  }

  Header* take(size_t bytes) {
    const int c = class_of(bytes);
    const size_t size = bytes_of(c);
    const std::lock_guard lock(mutex_);
    ++statistics_.taken;
    Header* h = free_[c];
    if (h) {
      free_[c] = h->next;
      kept_changes(-ptrdiff_t(size));
    } else {
      ++statistics_.fresh;
      h = new (fresh(size, bytes)) Header{nullptr, size, c};
    }
    statistics_.used += size;
    return h;
  }
  bool has(size_t bytes) {
    const std::lock_guard lock(mutex_);
    return free_[class_of(bytes)] != nullptr;
  }
  void give(Header* h) {
    const std::lock_guard lock(mutex_);
    statistics_.used -= h->bytes;
    if (statistics_.kept + h->bytes > limit_) {
      to_system(h);
      return;
    }
    kept_changes(ptrdiff_t(h->bytes));
    h->next = free_[h->size_class];
    free_[h->size_class] = h;
  }
  // The largest first: they are the most memory for the least work.
  void trim(size_t keep) {
    for (int c = classes - 1; c >= 0 && statistics_.kept > keep; --c)
      while (free_[c] && statistics_.kept > keep) {
        Header* h = free_[c];
        free_[c] = h->next;
        kept_changes(-ptrdiff_t(h->bytes));
        to_system(h);
      }
  }
  void trim_idle() {
    trim(statistics_.kept - idle_);
    idle_ = statistics_.kept;
  }

  PoolStatistics statistics() const {
    PoolStatistics s = statistics_;
    s.limit = limit_;
    return s;
  }

  std::mutex mutex_;
  size_t machine_, limit_;  // what may be used; what may be kept

 private:
  void kept_changes(ptrdiff_t bytes) {
    statistics_.kept += size_t(bytes);
    idle_ = std::min(idle_, statistics_.kept);
  }
  // Of the system; kept blocks go back to it before that fails. What is taken counts even
  // where nothing is written yet, so that the system does not see it.
  void* fresh(size_t size, size_t asked) {
    const auto fits = [&] { return statistics_.used + size <= machine_ && memory_for(size); };
    if (!fits() && statistics_.kept > 0) trim(0);
    void* memory = fits() ? from_system(size) : nullptr;
    if (!memory && statistics_.kept > 0) {
      trim(0);
      memory = from_system(size);
    }
    if (!memory) out_of_memory(asked);
    touch(memory, asked);
    return memory;
  }
  // A large block is written to anyway. The system finds its pages at the first write; here that can be timed, for
  // as many as take no moment. The first ones of a process may take many times what later ones do.
  void touch(void* memory, size_t bytes) {
    if (bytes < looked_at) return;
    const size_t some = std::min(bytes, most_touched);
    const double start = thread_seconds();
    for (size_t at = 0; at < some; at += page) static_cast<volatile char*>(memory)[at] = 0;
    double& price = statistics_.seconds_of_byte;
    const double seen = (thread_seconds() - start) / static_cast<double>(some);
    price = price == 0 ? seen : (price + seen) / 2;
  }

  PoolStatistics statistics_;
  size_t idle_ = 0;  // the least that was kept since the last trim_idle()
  Header* free_[classes] = {};
};

}  // namespace

void* take(size_t bytes, size_t lead) {
  const size_t front = alignment + (alignment - lead % alignment) % alignment;
  if (bytes > (size_t(1) << 47) || allocation_fails()) out_of_memory(bytes);
  Header* h = Pool::pool().take(bytes + front);
  char* p = reinterpret_cast<char*>(h) + front;
  std::memcpy(p - sizeof h, &h, sizeof h);  // `lead` may be any number: p need not be aligned
  return p;
}

void give(void* p) noexcept {
  if (!p) return;
  Header* h = nullptr;
  std::memcpy(&h, static_cast<char*>(p) - sizeof h, sizeof h);
  Pool::pool().give(h);
}

bool would_be_fresh(size_t bytes) { return !Pool::pool().has(bytes + 2 * alignment); }

PoolStatistics pool_statistics() {
  const std::lock_guard lock(Pool::pool().mutex_);
  return Pool::pool().statistics();
}

void trim_pool(size_t keep) {
  const std::lock_guard lock(Pool::pool().mutex_);
  Pool::pool().trim(keep);
}

void trim_idle() {
  const std::lock_guard lock(Pool::pool().mutex_);
  Pool::pool().trim_idle();
}

void set_pool_limit(size_t bytes) {
  const std::lock_guard lock(Pool::pool().mutex_);
  Pool::pool().limit_ = bytes;
  Pool::pool().trim(bytes);
}

}  // namespace anvil::runtime
