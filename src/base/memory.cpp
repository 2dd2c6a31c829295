#include "base/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>

#include "base/control_groups.h"
#include "base/error.h"

namespace anvil {
namespace {

constexpr size_t unlimited = std::numeric_limits<size_t>::max();
constexpr size_t looked_at = size_t(64) << 20;  // reading the files takes as long as filling a few pages

size_t plus(size_t a, size_t b) { return a > unlimited - b ? unlimited : a + b; }

// A number alone in a file; "max" is unlimited.
std::optional<size_t> number_in(const std::string& file) {
  std::ifstream in(file);
  std::string word;
  if (!(in >> word)) return std::nullopt;
  if (word == "max") return unlimited;
  size_t value = 0;
  return std::istringstream(word) >> value ? std::optional(value) : std::nullopt;
}

// The sum of the lines "key value" with these keys; the values are multiples of `unit`.
std::optional<size_t> sum_in(const std::string& file, std::initializer_list<std::string_view> keys, size_t unit) {
  std::ifstream in(file);
  std::optional<size_t> sum;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string key;
    size_t value = 0;
    if (words >> key >> value && std::find(keys.begin(), keys.end(), key) != keys.end())
      sum = sum.value_or(0) + value * unit;
  }
  return sum;
}

// How a version of control groups calls its files.
struct Files {
  std::string limit, usage, stat;
  std::array<const char*, 2> cache;  // lines of `stat`: what the system can free
  std::string swap;
};
const Files version_1{
    "memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat", {"total_inactive_file", "total_active_file"}, ""};
const Files version_2{
    "memory.max", "memory.current", "memory.stat", {"inactive_file", "active_file"}, "memory.swap.max"};

void restrict(MemoryState& state, const std::string& group, const Files& files, size_t swap) {
  const auto limit = number_in(group + files.limit);
  if (!limit || *limit >= state.limit) return;
  const size_t allowed =
      plus(*limit, files.swap.empty() ? 0 : std::min(swap, number_in(group + files.swap).value_or(0)));
  const size_t used = number_in(group + files.usage).value_or(0);
  const size_t cache = sum_in(group + files.stat, {files.cache[0], files.cache[1]}, 1).value_or(0);
  const size_t held = used - std::min(used, cache);
  state.limit = std::min(state.limit, allowed);
  state.available = std::min(state.available, allowed - std::min(allowed, held));
}

std::atomic<int64_t> until_failure = 0;

}  // namespace

MemoryState memory_state(const std::string& root) {
  const std::string meminfo = root + "/proc/meminfo";
  const size_t swap = sum_in(meminfo, {"SwapTotal:"}, 1024).value_or(0);
  MemoryState state{unlimited, unlimited};
  if (const auto total = sum_in(meminfo, {"MemTotal:"}, 1024)) {
    state.limit = *total + swap;
    state.available = sum_in(meminfo, {"MemAvailable:", "SwapFree:"}, 1024).value_or(state.limit);
  } else if (const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE); pages > 0 && page > 0) {
    state.limit = state.available = size_t(pages) * size_t(page);
  }
  for (const ControlGroup& group : control_groups(root, "memory"))
    restrict(state, group.folder, group.unified ? version_2 : version_1, swap);
  return state;
}

// Of this process, where the shell or a job limits its address space (ulimit -v).
static MemoryState own_state() {
  MemoryState state = memory_state("");
  rlimit space;
  if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return state;
  const size_t allowed = space.rlim_cur, page = size_t(std::max(1L, sysconf(_SC_PAGESIZE)));
  const size_t used = number_in("/proc/self/statm").value_or(0) * page;
  state.limit = std::min(state.limit, allowed);
  state.available = std::min(state.available, allowed - std::min(allowed, used));
  return state;
}
size_t memory_limit() { return own_state().limit; }
size_t memory_available() { return own_state().available; }

std::string text_of_bytes(double bytes) {
  const char* units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < std::size(units); ++unit) bytes /= 1000;
  char text[40];
  std::snprintf(text, sizeof text, unit == 0 || bytes >= 100 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
  return text;
}

void out_of_memory(size_t bytes) {
  throw Error("memory", "There is not enough memory for " + text_of_bytes(static_cast<double>(bytes)) + " more.",
              {"x " + text_of_bytes(static_cast<double>(memory_available())) + " can be had.",
               "i Use smaller tensors, or remove some; `anvil_memory()` shows what anvil holds."});
}

size_t bytes_of(DType dtype, const Shape& shape) {
  constexpr int64_t most = int64_t(1) << 47;  // more than any address space has
  const int64_t n = elements(shape);
  if (n > most / static_cast<int64_t>(size_of(dtype))) out_of_memory(size_t(most));
  return static_cast<size_t>(n) * size_of(dtype);
}

bool memory_for(size_t bytes) { return bytes < looked_at || bytes <= memory_available(); }
void expect_memory(size_t bytes) {
  if (!memory_for(bytes)) out_of_memory(bytes);
}

static thread_local Reclaim reclaim = nullptr;
void set_reclaim(Reclaim r) { reclaim = r; }

void* allocate_data(size_t bytes) {
  if (allocation_fails()) out_of_memory(bytes);
  const auto attempt = [&]() -> void* {
    return memory_for(bytes) ? std::aligned_alloc(64, (bytes + 64) / 64 * 64) : nullptr;
  };
  void* p = attempt();
  if (p == nullptr && reclaim != nullptr) {
    reclaim();
    p = attempt();
  }
  if (p == nullptr) out_of_memory(bytes);
  return p;
}

void fail_allocation(int64_t n) { until_failure = n; }
bool allocation_fails() { return until_failure.load(std::memory_order_relaxed) > 0 && until_failure.fetch_sub(1) == 1; }

}  // namespace anvil
