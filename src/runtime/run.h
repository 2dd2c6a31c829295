// The state of one run of an executable, which the functions that generated code calls
// receive: its tapes, what went wrong, and where the time goes.
#pragma once
#include <cstdint>
#include <exception>

#include "runtime/profile.h"
#include "runtime/tape.h"

namespace anvil::runtime {

enum Status : int32_t { done = 0, failed = 1 };

struct Run {
  Tapes tapes;
  std::exception_ptr failure;  // for Status failed: thrown again when generated code has returned
  Profile* profile = nullptr;  // of runs that are timed
};

// base/interrupt.h for generated code, which exceptions must not pass through.
int32_t poll(Run*);

// A parallel loop of generated code: task(context, run of the thread, k, memory of its own) for each k, on
// several threads. `nanoseconds` is about what all take on one.
using Task = int32_t (*)(void* const* context, Run*, int64_t k, char* own);
int32_t parallel(Run*, Task, void* const* context, int64_t tasks, int64_t own_bytes, int64_t nanoseconds);

// Calls f, which may throw, for generated code.
template <class F>
int32_t guarded(Run* run, F&& f) {
  try {
    f();
    return done;
  } catch (...) {
    run->failure = std::current_exception();
    return failed;
  }
}

}  // namespace anvil::runtime
