// Threads that share work: the caller and helpers, which are made when work is first shared and
// sleep in between. What is computed must not depend on who computes it: work is cut into tasks by
// what it is, never by how many threads there are, so that results have the same bits on any number.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>

namespace anvil::runtime {

// How many work at once, the caller among them: at first as many as processors() says; in a process that
// was forked off another one 1, until it is told otherwise.
int threads();
void set_threads(int);        // 0: as at first
void share_everything(bool);  // also work that is too small to be worth it, and only when a helper is there: for tests

// The tasks of one piece of work, numbered from 0. Each thread begins with a part of its own, so that it
// meets the same data again in the work that follows, and then helps the others.
class Tasks {
 public:
  static constexpr int most_parts = 64;
  Tasks(int64_t count, int parts);
  int64_t take(int part);  // the number of a task that nobody has taken, -1 where there is none
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

 private:
  struct alignas(64) Part {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  int parts_;
  std::atomic<bool> cancelled_{false};
  Part part_[most_parts];
};

// work(tasks, part) on several threads, each of which takes tasks until there are none; waits for all.
// `nanoseconds` is about how long all takes on one thread: waking somebody who sleeps costs more than small
// work does. The first exception of any is thrown again, an interrupt of the caller's among them; poll()
// throws on helpers when the work was given up. Work that is shared inside of a task is done by the thread
// that does the task.
using Work = void (*)(const void* context, Tasks&, int part);
void share(int64_t tasks, double nanoseconds, Work, const void* context);
template <class F>
void share(int64_t tasks, double nanoseconds, const F& work) {
  share(
      tasks, nanoseconds,
      [](const void* context, Tasks& all, int part) { (*static_cast<const F*>(context))(all, part); }, &work);
}
// The same for task(k) with k from 0 to `tasks`, in any order.
template <class F>
void share_each(int64_t tasks, double nanoseconds, const F& task) {
  share(tasks, nanoseconds, [&task](Tasks& all, int part) {
    for (int64_t k; (k = all.take(part)) >= 0;) task(k);
  });
}

// The same for f(first, end) of ranges of n things that take so many nanoseconds each.
template <class F>
void share_ranges(int64_t n, double nanoseconds, const F& f) {
  constexpr double of_range = 20e3;
  const auto wish = static_cast<int64_t>(std::min(64.0, static_cast<double>(n) * nanoseconds / of_range));
  const int64_t count = std::clamp<int64_t>(wish, 1, std::max<int64_t>(1, n));
  if (count == 1) return f(int64_t{0}, n);
  share_each(count, static_cast<double>(n) * nanoseconds, [&](int64_t k) { f(n * k / count, n * (k + 1) / count); });
}

}  // namespace anvil::runtime
