// Size classes: four to each power of two. Every block starts with a header of 64 bytes;
// the word in front of what take() returns leads back to it. Small blocks are malloc's, large ones mapped; those
// between, a page or more each, share regions of huge pages: the pages of a virtual machine cost up to fifteen times
// as much one by one.
#include "runtime/pool.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>

#include "base/error.h"
#include "base/memory.h"
#include "base/timing.h"
#include "runtime/huge_pages.h"

namespace anvil::runtime {
namespace {

constexpr size_t alignment = 64, smallest = 256;
constexpr size_t huge_page = size_t(1) << 21, least_page = 4096;
constexpr size_t shared_from = size_t(1) << 15;  // such blocks are parts of a region
constexpr size_t mapped_from = size_t(1) << 22;  // such blocks are mapped, at multiples of a huge page
constexpr size_t region_bytes = size_t(1) << 23;
constexpr size_t most_touched = size_t(1) << 23;
constexpr int classes = 4 * 48;

struct Region;
struct Header {
  Header *next, *previous;  // in a list
  Region* region;           // that the block is a part of, or null
  size_t bytes;             // of the whole block
  int size_class;
  unsigned given;  // when
};
static_assert(sizeof(Header) + sizeof(void*) <= alignment);

// Blocks behind each other. Those that nobody has and that have no pages but their first ones are empty.
struct Region {
  char* memory;
  size_t carved = 0;
  int not_empty = 0;
};

// Blocks that nobody has, the last one given first.
struct List {
  Header *first = nullptr, *last = nullptr;

  void add(Header* h) {
    h->next = first;
    h->previous = nullptr;
    (first ? first->previous : last) = h;
    first = h;
  }
  void remove(Header* h) {
    (h->previous ? h->previous->next : first) = h->next;
    (h->next ? h->next->previous : last) = h->previous;
  }
};

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
char* map(size_t bytes) {
  const size_t wide = bytes + huge_page;
  void* raw = mmap(nullptr, wide, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  const auto start = reinterpret_cast<uintptr_t>(raw), aligned = (start + huge_page - 1) & ~(huge_page - 1);
  if (aligned > start) munmap(raw, aligned - start);
  munmap(reinterpret_cast<void*>(aligned + bytes), start + wide - aligned - bytes);
  return reinterpret_cast<char*>(aligned);
}

void ask_for_huge_pages([[maybe_unused]] char* from, [[maybe_unused]] size_t bytes) {
#ifdef MADV_HUGEPAGE
  madvise(from, bytes, MADV_HUGEPAGE);
#endif
}

// The whole pages between two addresses.
void empty_pages(uintptr_t from, uintptr_t to) {
  static const auto page = uintptr_t(sysconf(_SC_PAGESIZE));
  from = (from + page - 1) / page * page;
  to = to / page * page;
  if (from < to) madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
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
    const std::lock_guard lock(mutex_);
    ++statistics_.taken;
    Header* h = kept_[c].first;
    if (h) {
      kept_[c].remove(h);
      statistics_.kept -= h->bytes;
    } else {
      ++statistics_.fresh;
      h = fresh(c, bytes);
    }
    statistics_.used += h->bytes;
    return h;
  }
  bool has(size_t bytes) {
    const std::lock_guard lock(mutex_);
    return kept_[class_of(bytes)].first != nullptr;
  }
  void give(Header* h) {
    const std::lock_guard lock(mutex_);
    statistics_.used -= h->bytes;
    if (statistics_.kept + h->bytes > limit_) return to_system(h);
    statistics_.kept += h->bytes;
    h->given = now_;
    kept_[h->size_class].add(h);
  }
  // The largest first: they are the most memory for the least work.
  void trim(size_t keep) {
    for (int c = classes - 1; c >= 0 && statistics_.kept > keep; --c)
      while (kept_[c].last && statistics_.kept > keep) give_up(kept_[c].last);
  }
  void trim_idle() {
    for (List& list : kept_)
      while (list.last && list.last->given != now_) give_up(list.last);
    ++now_;
  }

  PoolStatistics statistics() const {
    PoolStatistics s = statistics_;
    s.limit = limit_;
    return s;
  }

  std::mutex mutex_;
  size_t machine_, limit_;  // what may be used; what may be kept

 private:
  // Of the system; kept blocks go back to it before that fails. What is taken counts even
  // where nothing is written yet, so that the system does not see it.
  Header* fresh(int size_class, size_t asked) {
    const size_t size = bytes_of(size_class);
    const auto fits = [&] { return statistics_.used + size <= machine_ && memory_for(size); };
    if (!fits() && statistics_.kept > 0) trim(0);
    Header* h = fits() ? from_system(size_class, asked) : nullptr;
    if (!h && statistics_.kept > 0) {
      trim(0);
      h = from_system(size_class, asked);
    }
    if (!h) out_of_memory(asked);
    return h;
  }

  // ---- blocks of the system, null where it has none ----------------------------------------------

  char* map_pages(size_t bytes) {
    char* const memory = map(bytes);
    if (!memory || !huge_pages_.to_be_tried()) return memory;
    ask_for_huge_pages(memory, huge_page);
    const double start = thread_seconds();
    *static_cast<volatile char*>(memory) = 0;
    const double seconds = thread_seconds() - start;
    touching_ += seconds;
    if (huge_pages_.are_fast(seconds)) ask_for_huge_pages(memory + huge_page, bytes - huge_page);
    return memory;
  }

  Header* from_system(int size_class, size_t asked) {
    const size_t bytes = bytes_of(size_class);
    if (bytes >= shared_from && bytes < mapped_from) return part_of_region(size_class, asked);
    return begin(bytes >= mapped_from ? map_pages(bytes) : std::aligned_alloc(alignment, bytes), size_class, asked);
  }
  Header* part_of_region(int size_class, size_t asked) {
    const size_t bytes = bytes_of(size_class);
    Header* h = empty_[size_class].first;
    if (h) {
      empty_[size_class].remove(h);
      touch(h, asked);
    } else {
      if (!open_ || open_->carved + bytes > region_bytes) {
        char* const memory = map_pages(region_bytes);
        if (!memory) return nullptr;
        open_ = &regions_.emplace_back(Region{memory});
      }
      h = begin(open_->memory + open_->carved, size_class, asked);
      h->region = open_;
      open_->carved += bytes;
    }
    ++h->region->not_empty;
    return h;
  }
  Header* begin(void* memory, int size_class, size_t asked) {
    if (!memory) return nullptr;
    touch(memory, asked);
    return new (memory) Header{nullptr, nullptr, nullptr, bytes_of(size_class), size_class, now_};
  }

  void give_up(Header* h) {
    kept_[h->size_class].remove(h);
    statistics_.kept -= h->bytes;
    to_system(h);
  }
  void to_system(Header* h) {
    if (h->region) {
      empty_pages(reinterpret_cast<uintptr_t>(h + 1), reinterpret_cast<uintptr_t>(h) + h->bytes);
      empty_[h->size_class].add(h);
      if (--h->region->not_empty == 0) unmap(h->region);
    } else if (h->bytes >= mapped_from) {
      munmap(h, h->bytes);
    } else {
      std::free(h);
    }
  }
  // All of whose blocks are empty.
  void unmap(Region* region) {
    for (size_t at = 0; at < region->carved;) {
      auto* const h = reinterpret_cast<Header*>(region->memory + at);
      at += h->bytes;
      empty_[h->size_class].remove(h);
    }
    munmap(region->memory, region_bytes);
    if (open_ == region) open_ = nullptr;
    regions_.remove_if([region](const Region& r) { return &r == region; });
  }

  // A large block is written to anyway. The system finds its pages at the first write; here that can be timed, for
  // as many as take no moment. The first ones of a process may take many times what later ones do, and the first block
  // in a huge page what those behind it do not.
  void touch(void* memory, size_t bytes) {
    if (bytes < shared_from) return;
    const size_t some = std::min(bytes, most_touched);
    const double start = thread_seconds();
    for (size_t at = 0; at < some; at += least_page) static_cast<volatile char*>(memory)[at] = 0;
    touching_ += thread_seconds() - start;
    touched_ += static_cast<double>(some);
    statistics_.seconds_of_byte = touching_ / touched_;
    if (touched_ >= static_cast<double>(most_touched)) {
      touching_ /= 2;
      touched_ /= 2;
    }
  }

  PoolStatistics statistics_;
  HugePages huge_pages_;
  double touching_ = 0, touched_ = 0;  // seconds and bytes of late
  unsigned now_ = 0;                   // calls of trim_idle()
  std::list<Region> regions_;
  Region* open_ = nullptr;  // whose end is for new blocks
  List kept_[classes], empty_[classes];
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
