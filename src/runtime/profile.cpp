// Readings of the clock.
#include "runtime/profile.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "runtime/run.h"

namespace anvil::runtime {

int64_t clock_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

int32_t profile_begin(Run* run, void* const*, const int64_t* numbers) {
  if (run->profile != nullptr) run->profile->nests[static_cast<size_t>(numbers[0])].begun = clock_now();
  return done;
}

int32_t profile_end(Run* run, void* const*, const int64_t* numbers) {
  if (run->profile == nullptr) return done;
  const int64_t now = clock_now();
  Profile::Nest& nest = run->profile->nests[static_cast<size_t>(numbers[0])];
  nest.nanoseconds += now - nest.begun;
  ++nest.runs;
  return done;
}

double cost_of_reading() {
  constexpr int tries = 20, readings = 200;
  const int64_t nest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (int t = 0; t < tries; ++t) {
    Profile profile(1);
    Run run;
    run.profile = &profile;
    for (int i = 0; i < readings; ++i) profile_begin(&run, nullptr, &nest), profile_end(&run, nullptr, &nest);
    least = std::min(least, static_cast<double>(profile.nests[0].nanoseconds) / readings);
  }
  return least;
}

}  // namespace anvil::runtime
