#include "runtime/tape.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"

namespace anvil::runtime {
namespace {

TEST(Tape, RemembersRecordsOfAnySize) {
  for (const int64_t bytes : {0, 1, 8, 24, 1000, 5000, 100000}) {
    Tape tape(bytes);
    const int64_t count = bytes > 10000 ? 40 : 3000;
    for (int64_t i = 0; i < count; ++i) std::memset(tape.append(), int(i % 251), size_t(bytes));
    EXPECT_EQ(tape.length(), count);
    for (int64_t i = 0; i < count && bytes > 0; ++i) {
      EXPECT_EQ(static_cast<unsigned char>(tape.record(i)[0]), i % 251);
      EXPECT_EQ(static_cast<unsigned char>(tape.record(i)[bytes - 1]), i % 251);
    }
    EXPECT_THROW(tape.record(count), InternalError);
    EXPECT_THROW(tape.record(-1), InternalError);
  }
}

TEST(Tape, EndsWithTheTapesInItsRecords) {
  const int64_t before = tape_statistics().now;
  Tapes tapes;
  const uint64_t outer = tapes.add(16, {8});
  for (const bool none : {false, true, false}) {
    const uint64_t inner = none ? 0 : tapes.add(4);
    if (!none) tapes.at(inner).append();
    std::memcpy(tapes.at(outer).append() + 8, &inner, sizeof(inner));
  }
  const uint64_t other = tapes.add(4);
  tapes.free(outer);
  for (const uint64_t ended : {outer, outer + 1, outer + 2}) EXPECT_THROW(tapes.at(ended), InternalError);
  EXPECT_EQ(tapes.at(other).length(), 0);
  EXPECT_EQ(tape_statistics().now, before);
}

TEST(Tape, ShortTapesAreSmallAndMemoryComesBack) {
  trim_pool();
  const size_t used = pool_statistics().used;
  {
    Tapes tapes;
    for (int i = 0; i < 1000; ++i) tapes.at(tapes.add(8)).append();
    EXPECT_LT(pool_statistics().used - used, size_t(2) << 20);
    EXPECT_THROW(tapes.at(0), InternalError);
    EXPECT_THROW(tapes.at(1001), InternalError);
  }
  EXPECT_EQ(pool_statistics().used, used);
}

}  // namespace
}  // namespace anvil::runtime
