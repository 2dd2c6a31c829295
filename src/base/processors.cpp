#include "base/processors.h"

#if defined(__linux__)
#include <sched.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/control_groups.h"

namespace anvil {
namespace {

// The first number of a text such as "4" or "4,2"; 0 where there is none.
int number_of(const char* text) {
  return text == nullptr ? 0 : int(std::clamp(std::strtol(text, nullptr, 10), 0L, 1L << 20));
}

// The share of the processors' time that a group may have.
double quota(const ControlGroup& group) {
  double time = -1, period = -1;
  if (group.unified) {
    std::ifstream(group.folder + "cpu.max") >> time >> period;  // "max 100000" gives no time
  } else {
    std::ifstream(group.folder + "cpu.cfs_quota_us") >> time;
    std::ifstream(group.folder + "cpu.cfs_period_us") >> period;
  }
  return time > 0 && period > 0 ? time / period : INFINITY;
}

int allowed_processors() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  return int(std::thread::hardware_concurrency());
}

}  // namespace

int processors(int allowed, const std::string& root, const char* (*variable)(const char* name)) {
  int n = std::max(1, allowed);
  for (const ControlGroup& group : control_groups(root, "cpu"))
    n = std::min(n, int(std::ceil(std::min(quota(group), 1e6))));
  for (const char* name : {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT"})
    if (const int most = number_of(variable(name)); most > 0) n = std::min(n, most);
  if (const char* few = variable("_R_CHECK_LIMIT_CORES_"); few && *few) {  // anything but a word for no
    const std::string word = few;
    if (word != "false" && word != "FALSE" && word != "no" && word != "0") n = std::min(n, 2);
  }
  return n;
}

int processors() {
  return processors(allowed_processors(), "", [](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace anvil
