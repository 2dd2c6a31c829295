// Readings of the clock for programs that are timed.
#include "runtime/profile.h"

#include <gtest/gtest.h>

#include "runtime/run.h"

namespace anvil::runtime {
namespace {

TEST(Profile, CountsRunsAndTimeOfEachNest) {
  Profile profile(2);
  runtime::Run run;
  run.profile = &profile;
  const int64_t first = 0, second = 1;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(profile_begin(&run, nullptr, &second), done);
    for (const int64_t start = clock_now(); clock_now() - start < 100'000;) {
    }
    EXPECT_EQ(profile_end(&run, nullptr, &second), done);
  }
  EXPECT_EQ(profile_begin(&run, nullptr, &first), done);
  EXPECT_EQ(profile_end(&run, nullptr, &first), done);
  EXPECT_EQ(profile.nests[0].runs, 1);
  EXPECT_EQ(profile.nests[1].runs, 3);
  EXPECT_GE(profile.nests[1].nanoseconds, 300'000);
  EXPECT_GE(profile.nests[0].nanoseconds, 0);
}

TEST(Profile, OfARunWithoutOneIsNothing) {
  runtime::Run run;
  const int64_t nest = 7;
  EXPECT_EQ(profile_begin(&run, nullptr, &nest), done);
  EXPECT_EQ(profile_end(&run, nullptr, &nest), done);
}

TEST(Profile, AReadingCostsLessThanAMicrosecondOrTwo) {
  EXPECT_GE(cost_of_reading(), 0);
  EXPECT_LT(cost_of_reading(), 2000);
}

}  // namespace
}  // namespace anvil::runtime
