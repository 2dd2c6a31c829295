// The state of one run of an executable, which the functions that generated code calls
// receive: its tapes, how to ask whether the user wants to stop, and what went wrong.
#pragma once
#include <exception>
#include <functional>

#include "runtime/tape.h"

namespace anvil::runtime {

enum Status : int32_t { done = 0, interrupted = 1, failed = 2 };

struct Run {
  const std::function<bool()>* interrupted = nullptr;
  Tapes tapes;
  std::exception_ptr failure;  // for Status failed: thrown again when generated code has returned
};

// Asks; exceptions must not pass through generated code and are kept.
int32_t poll(Run*);

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
