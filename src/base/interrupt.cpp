#include "base/interrupt.h"

#include <chrono>

namespace anvil {
namespace {

using Clock = std::chrono::steady_clock;

thread_local InterruptCheck check = nullptr;
thread_local std::chrono::milliseconds pause{};
thread_local Clock::time_point next_time{};

}  // namespace

constinit thread_local int64_t operations_until_poll = 0;

void set_interrupt_check(InterruptCheck c, int milliseconds) {
  check = c;
  pause = std::chrono::milliseconds(milliseconds);
  next_time = {};
  operations_until_poll = 0;
}

InterruptCheck interrupt_check() { return check; }

void poll() {
  if (check == nullptr || Clock::now() < next_time) return;
  const bool stop = check();
  next_time = Clock::now() + pause;
  if (stop) throw Interrupted();
}

}  // namespace anvil
