// How long work asks whether the user wants to stop. Whatever may take longer than a moment
// calls poll() now and then, at most 0.5 s apart; a call costs about as much as reading the
// clock. Frames that must not be unwound (generated code, LLVM, R) keep the exception and
// throw it again behind them, as runtime/run.h does.
#pragma once
#include <algorithm>
#include <cstdint>

#include "base/error.h"

namespace anvil {

struct Interrupted : Error {
  Interrupted() : Error("interrupt", "Interrupted.") {}
};

// True when the user wants to stop, and then only once. Throws nothing.
using InterruptCheck = bool (*)();

// The check of the thread that calls; none at first. The others never ask, so that R is only
// asked on R's own thread. A shared object that has its own copy of this layer has its own.
// Between two questions are at least so many milliseconds; tests, which count them, say 0.
void set_interrupt_check(InterruptCheck, int pause = 5);
InterruptCheck interrupt_check();

// Throws Interrupted when the check says so. Does not ask before the pause is over.
void poll();

// The same for short steps: so many operations, of a nanosecond or so each, have been done, and
// it is asked after a great many.
extern constinit thread_local int64_t operations_until_poll;
inline void worked(int64_t operations) {
  if ((operations_until_poll -= operations) >= 0) return;
  operations_until_poll = 1'000'000;
  poll();
}
// f(first, end) for pieces of [0, n), polling in between; an element takes `each` operations.
template <class F>
void in_pieces(int64_t n, int64_t each, F&& f) {
  const int64_t size = std::max<int64_t>(1, 250'000 / each);
  for (int64_t first = 0; first < n; first += size) {
    const int64_t end = std::min(n, first + size);
    f(first, end);
    worked((end - first) * each);
  }
}

}  // namespace anvil
