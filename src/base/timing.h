// How long the stages of some work took.
#pragma once
#include <chrono>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

namespace anvil {

struct Timing {
  std::string stage;
  double seconds;
};
using Timings = std::vector<Timing>;

class Stopwatch {
 public:
  double lap() {  // seconds since the last one
    const Clock::time_point now = Clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }
  void lap(Timings& to, std::string stage) { to.push_back({std::move(stage), lap()}); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

// What this thread has worked, the system's work for it included; time of other processes does not count.
inline double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace anvil
