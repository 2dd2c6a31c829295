#include "runtime/own_thread.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include "base/interrupt.h"

namespace anvil::runtime {

bool start_thread(std::function<void()> f) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    std::thread(std::move(f)).detach();
  } catch (const std::exception&) {
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

void call_on_own_thread(std::function<void()> call) {
  constexpr auto between_polls = std::chrono::milliseconds(5);
  const auto task = std::make_shared<std::packaged_task<void()>>(std::move(call));
  std::future<void> done = task->get_future();
  if (!start_thread([task] { (*task)(); })) (*task)();
  while (done.wait_for(between_polls) != std::future_status::ready) anvil::poll();
  done.get();
}

}  // namespace anvil::runtime
