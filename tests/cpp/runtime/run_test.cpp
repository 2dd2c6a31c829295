// Parallel loops of generated code.
#include "runtime/run.h"

#include <gtest/gtest.h>

#include "runtime/threads.h"
#include "support/interrupt_at.h"

namespace anvil::runtime {
namespace {

// However little time a task is said to take: functions of some elements take long.
TEST(ParallelLoops, AskTheCallerAfterEachTask) {
  set_threads(1);
  test::InterruptAt user(3);
  int there = 0;
  void* context[] = {&there};
  const Task task = [](void* const* c, runtime::Run*, int64_t, char*) -> int32_t {
    ++*static_cast<int*>(c[0]);
    return done;
  };
  runtime::Run run;
  ASSERT_EQ(parallel(&run, task, context, 100, 0, 100), failed);
  EXPECT_THROW(std::rethrow_exception(run.failure), Interrupted);
  EXPECT_LE(there, 3);
  set_threads(0);
}

}  // namespace
}  // namespace anvil::runtime
