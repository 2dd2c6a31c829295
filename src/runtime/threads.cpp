// A team of helpers that wait for work. Work is published by a pointer; a helper enters, takes tasks, and
// leaves. The caller does tasks as well, withdraws the work when none are left, and waits for those who have
// entered, so that a helper that the system has not woken in time is never waited for.
#include "runtime/threads.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "base/interrupt.h"
#include "base/processors.h"
#include "runtime/own_thread.h"

namespace anvil::runtime {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto awake = std::chrono::microseconds(100);        // how long one looks for work before it sleeps
constexpr auto between_polls = std::chrono::milliseconds(5);  // of a caller that waits

constexpr double least_work = 8e3;      // nanoseconds: less is done before a helper sees it
constexpr double worth_waking = 150e3;  // waking somebody takes 7 of the caller's microseconds, and 100 to happen

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}
// Looks at a condition for a while, and lets others have the processor now and then.
template <class F>
bool becomes(F&& condition) {
  const auto end = Clock::now() + awake;
  do {
    for (int i = 0; i < 64; ++i) {
      if (condition()) return true;
      pause();
    }
    sched_yield();
  } while (Clock::now() < end);
  return condition();
}

#if defined(__linux__)
int processor() { return sched_getcpu(); }
// Systems tend to wake a thread on the processor of who woke it, where it would have to wait for that one.
class Affinity {
 public:
  Affinity() { known_ = sched_getaffinity(0, sizeof all_, &all_) == 0 && CPU_COUNT(&all_) > 1; }
  void avoid(int processor) {
    if (!known_ || processor < 0 || processor >= CPU_SETSIZE || processor == avoided_) return;
    cpu_set_t others = all_;
    CPU_CLR(processor, &others);
    sched_setaffinity(0, sizeof others, &others);
    avoided_ = processor;
  }

 private:
  cpu_set_t all_;
  bool known_;
  int avoided_ = -1;
};
#else
int processor() { return -1; }
struct Affinity {
  void avoid(int) {}
};
#endif

struct Job {
  Job(Work w, const void* c, int64_t count, int p) : work(w), context(c), tasks(count, p), parts(p) {}
  Work work;
  const void* context;
  Tasks tasks;
  int parts;
  int of_caller = processor();
  std::mutex mutex;
  std::exception_ptr failure;

  template <class F>
  void guard(F&& f) {
    try {
      f();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      tasks.cancel();
    }
  }
  void run(int part) {
    guard([&] { work(context, tasks, part); });
  }
};

std::atomic<bool> everything_is_shared{false};
thread_local bool at_work = false;                    // this thread does a task
thread_local const Tasks* tasks_of_helper = nullptr;  // of the work that this helper has entered

class Team {
 public:
  // False where the caller had better do it alone: somebody else's work is being done, or all helpers sleep
  // and there was little to do since.
  bool run(Job& job, double nanoseconds) {
    const bool everything = everything_is_shared;
    if ((nanoseconds < least_work && !everything) || busy_.exchange(true)) return false;
    while (helpers_ < job.parts - 1 && start_helper()) {
    }
    const bool wakes = asleep_ > 0 && ((alone_ += nanoseconds) >= worth_waking || everything);
    if (asleep_ < helpers_ || wakes) {
      alone_ = 0;
      job_ = &job;
      ++round_;
      if (wakes) {
        const std::lock_guard lock(mutex_);  // who goes to sleep just now has seen the work, or hears this
        wake_.notify_all();
      }
    }
    if (everything) becomes([this] { return inside_ > 0; });
    at_work = true;
    job.run(0);
    at_work = false;
    if (job_.exchange(nullptr)) wait_for_helpers(job);
    busy_ = false;
    return true;
  }

 private:
  void wait_for_helpers(Job& job) {
    const auto gone = [this] { return inside_ == 0; };
    while (!becomes(gone)) {
      {
        std::unique_lock lock(mutex_);
        waits_ = true;
        left_.wait_for(lock, between_polls, gone);
        waits_ = false;
      }
      job.guard([] { anvil::poll(); });
    }
  }

  bool start_helper() {
    if (!start_thread([this, part = helpers_ + 1] { help(part); })) return false;  // those who are there do the work
    ++helpers_;
    return true;
  }

  [[noreturn]] void help(int part) {
    at_work = true;
    set_interrupt_check([] { return tasks_of_helper && tasks_of_helper->cancelled(); }, 0);
    Affinity affinity;
    uint64_t seen = 0;
    const auto news = [&] { return round_ != seen; };
    for (;;) {
      if (!becomes(news)) {
        std::unique_lock lock(mutex_);
        ++asleep_;
        wake_.wait(lock, news);
        --asleep_;
      }
      seen = round_;
      ++inside_;
      if (Job* const job = job_; job && part < job->parts) {
        affinity.avoid(job->of_caller);
        tasks_of_helper = &job->tasks;
        job->run(part);
        tasks_of_helper = nullptr;
      }
      if (--inside_ == 0 && waits_) {
        const std::lock_guard lock(mutex_);
        left_.notify_all();
      }
    }
  }

  std::atomic<Job*> job_{nullptr};
  std::atomic<uint64_t> round_{0};  // how often there was work
  std::atomic<int> inside_{0}, asleep_{0};
  std::atomic<bool> busy_{false}, waits_{false};
  std::mutex mutex_;
  std::condition_variable wake_, left_;
  int helpers_ = 0;
  double alone_ = 0;  // nanoseconds of work that was done without those who sleep
};

// Never destroyed: helpers wait in it until the process ends. A forked process has none of them, and leaves
// what they left behind alone.
Team* team = nullptr;
std::atomic<int> wanted{0};  // as set; 0: not yet
std::mutex making;

void after_fork() {
  team = nullptr;
  wanted = 1;
  new (&making) std::mutex;
}
// From the start: also the children of a process that has shared no work yet are workers.
[[maybe_unused]] const int handler = pthread_atfork(nullptr, nullptr, after_fork);

Team& the_team() {
  const std::lock_guard lock(making);
  if (!team) team = new Team;
  return *team;
}

}  // namespace

int threads() {
  if (wanted == 0) set_threads(0);
  return wanted;
}
void share_everything(bool everything) { everything_is_shared = everything; }
void set_threads(int n) { wanted = n > 0 ? n : processors(); }

Tasks::Tasks(int64_t count, int parts) : parts_(std::clamp(parts, 1, most_parts)) {
  for (int k = 0; k < parts_; ++k) part_[k].next = count * k / parts_, part_[k].end = count * (k + 1) / parts_;
}

int64_t Tasks::take(int part) {
  for (int k = 0; k < parts_ && !cancelled(); ++k) {
    Part& p = part_[(part + k) % parts_];
    if (p.next.load(std::memory_order_relaxed) >= p.end) continue;
    if (const int64_t task = p.next.fetch_add(1, std::memory_order_relaxed); task < p.end) return task;
  }
  return -1;
}

void share(int64_t tasks, double nanoseconds, Work work, const void* context) {
  const int parts = at_work ? 1 : int(std::min<int64_t>({threads(), tasks, Tasks::most_parts}));
  Job job(work, context, tasks, parts);
  if (parts < 2 || !the_team().run(job, nanoseconds)) job.run(0);
  if (job.failure) std::rethrow_exception(job.failure);
}

}  // namespace anvil::runtime
