// Where the time of runs goes: for each nest of a program how often it ran and for how long, by readings of the
// clock that the program asks for (compiler/profile.cpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace anvil::runtime {

struct Run;

struct Profile {
  struct Nest {
    int64_t runs = 0;
    int64_t nanoseconds = 0;
    int64_t begun = 0;
  };
  explicit Profile(size_t count) : nests(count) {}
  std::vector<Nest> nests;
};
int64_t clock_now();       // in nanoseconds
double cost_of_reading();  // what a nest that does nothing would seem to take, in nanoseconds

// No buffers. numbers: of the nest. Of runs without a profile they do nothing.
int32_t profile_begin(Run*, void* const* buffers, const int64_t* numbers);
int32_t profile_end(Run*, void* const* buffers, const int64_t* numbers);

}  // namespace anvil::runtime
