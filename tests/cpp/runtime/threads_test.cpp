#include "runtime/threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include "base/interrupt.h"

namespace anvil::runtime {
namespace {

constexpr double much = 1e12;  // nanoseconds: helpers are woken

class Threads : public testing::Test {
 protected:
  ~Threads() override { set_threads(0); }
};

using Clock = std::chrono::steady_clock;
bool before(Clock::time_point end) { return Clock::now() < end; }
Clock::time_point in_a_while() { return Clock::now() + std::chrono::seconds(20); }

TEST_F(Threads, EveryTaskIsDoneOnce) {
  for (const int n : {1, 2, 3, 7}) {
    set_threads(n);
    EXPECT_EQ(threads(), n);
    for (const int64_t count : {0, 1, 2, 5, 64, 1000}) {
      std::vector<std::atomic<int>> done(static_cast<size_t>(count));
      share_each(count, much, [&](int64_t k) { ++done[static_cast<size_t>(k)]; });
      for (const auto& d : done) EXPECT_EQ(d, 1) << n << " threads, " << count << " tasks";
    }
  }
}

// All tasks are of one part, so that two threads meet at each of them.
TEST_F(Threads, TwoTakeNoTaskTwice) {
  constexpr int64_t count = 100'000;
  Tasks tasks(count, 1);
  std::vector<std::atomic<int>> taken(count);
  std::atomic<int> there{0};
  const auto end = in_a_while();
  const auto take = [&] {
    ++there;
    while (there < 2 && before(end)) std::this_thread::yield();
    for (int64_t k; (k = tasks.take(0)) >= 0;) ++taken[static_cast<size_t>(k)];
  };
  std::thread other(take);
  take();
  other.join();
  EXPECT_TRUE(std::all_of(taken.begin(), taken.end(), [](int times) { return times == 1; }));
}

TEST_F(Threads, SeveralWorkAtOnce) {
  set_threads(3);
  std::atomic<int> there{0};
  const auto end = in_a_while();
  share_each(3, much, [&](int64_t) {
    ++there;
    while (there < 3 && before(end)) std::this_thread::yield();
  });
  EXPECT_EQ(there, 3);
}

TEST_F(Threads, WorkInsideOfWorkIsDoneByOneThread) {
  set_threads(2);
  share_each(4, much, [&](int64_t) {
    std::set<std::thread::id> ids;
    share_each(8, much, [&](int64_t) { ids.insert(std::this_thread::get_id()); });
    EXPECT_EQ(ids, std::set{std::this_thread::get_id()});
  });
}

TEST_F(Threads, SmallWorkIsDoneByTheCaller) {
  set_threads(2);
  std::set<std::thread::id> ids;
  for (int i = 0; i < 100; ++i) share_each(8, 10, [&](int64_t) { ids.insert(std::this_thread::get_id()); });
  EXPECT_EQ(ids, std::set{std::this_thread::get_id()});
}

TEST_F(Threads, TheFirstExceptionIsThrownAgainAndEndsTheWork) {
  for (const int n : {1, 2}) {
    set_threads(n);
    std::atomic<int> done{0};
    const auto fails = [&] {
      share_each(1000, much, [&](int64_t k) {
        if (k % 10 == 3) throw Error("test", "no");
        ++done;
      });
    };
    EXPECT_THROW(fails(), Error);
    EXPECT_LT(done, 900);
    share_each(10, much, [&](int64_t) { ++done; });  // and nothing is left behind
  }
}

// A helper in the middle of a long task hears of it when it asks.
TEST_F(Threads, AnInterruptReachesHelpers) {
  set_threads(2);
  std::atomic<bool> helper_stopped{false};
  std::atomic<int> there{0};
  const auto caller = std::this_thread::get_id();
  const auto end = in_a_while();
  const auto work = [&] {
    share_each(2, much, [&](int64_t) {
      ++there;
      while (there < 2 && before(end)) std::this_thread::yield();
      if (std::this_thread::get_id() == caller) throw Interrupted();
      try {
        while (before(end)) poll();
      } catch (const Interrupted&) {
        helper_stopped = true;
        throw;
      }
    });
  };
  EXPECT_THROW(work(), Interrupted);
  EXPECT_TRUE(helper_stopped);
}

// The caller has nothing left to do and waits: it is asked all the same.
TEST_F(Threads, AWaitingCallerIsAsked) {
  set_threads(2);
  const auto caller = std::this_thread::get_id();
  const auto end = in_a_while();
  std::atomic<int> there{0};
  set_interrupt_check([] { return true; }, 0);
  const auto work = [&] {
    share_each(2, much, [&](int64_t) {
      ++there;
      while (there < 2 && before(end)) std::this_thread::yield();
      if (std::this_thread::get_id() == caller) return;
      while (before(end)) poll();
    });
  };
  EXPECT_THROW(work(), Interrupted);
  EXPECT_TRUE(before(end));
  set_interrupt_check(nullptr);
}

TEST_F(Threads, AForkedProcessWorksAloneUntilItIsToldOtherwise) {
  set_threads(2);
  share_each(100, much, [](int64_t) {});
  const pid_t child = fork();
  if (child == 0) {
    int done = 0;  // no atomic: one thread
    share_each(100, much, [&](int64_t) { ++done; });
    bool right = threads() == 1 && done == 100;
    set_threads(2);
    std::atomic<int> there{0};
    const auto end = in_a_while();
    share_each(2, much, [&](int64_t) {
      ++there;
      while (there < 2 && before(end)) std::this_thread::yield();
    });
    right = right && there == 2;
    _exit(right ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(threads(), 2);
}

// Two threads of the program that share work at the same time.
TEST_F(Threads, OneOfTwoCallersWorksAlone) {
  set_threads(2);
  std::vector<std::thread> callers;
  std::atomic<int64_t> sum{0};
  for (int c = 0; c < 3; ++c)
    callers.emplace_back([&] {
      for (int i = 0; i < 200; ++i) share_each(20, much, [&](int64_t k) { sum += k; });
    });
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(sum, 3 * 200 * 190);
}

}  // namespace
}  // namespace anvil::runtime
