#include "runtime/pool.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/memory.h"
#include "runtime/huge_pages.h"

namespace anvil::runtime {
namespace {

TEST(Pool, DataIsAlignedBehindAnyLead) {
  for (const size_t bytes : {size_t(0), size_t(1), size_t(100), size_t(5000), size_t(1) << 20, size_t(9) << 20})
    for (const size_t lead : {0, 8, 48, 56, 64, 100}) {
      char* p = static_cast<char*>(take(bytes + lead, lead));
      EXPECT_EQ((reinterpret_cast<uintptr_t>(p) + lead) % 64, 0u);
      std::memset(p, 1, bytes + lead);
      give(p);
    }
  give(nullptr);
}

TEST(HugePages, AreLeftOutForSomeMappingsWhereTheyAreSlow) {
  HugePages pages;
  for (int k = 0; k < 100; ++k) EXPECT_TRUE(pages.to_be_tried() && pages.are_fast(HugePages::most_seconds));
  EXPECT_TRUE(pages.to_be_tried());
  EXPECT_FALSE(pages.are_fast(2 * HugePages::most_seconds));
  for (int k = 0; k < HugePages::mappings_without; ++k) EXPECT_FALSE(pages.to_be_tried());
  EXPECT_TRUE(pages.to_be_tried());
  EXPECT_TRUE(pages.are_fast(0));
  EXPECT_TRUE(pages.to_be_tried());
}

TEST(Pool, BlocksAreUsedAgain) {
  trim_pool();
  for (const size_t bytes : {size_t(300), size_t(70000), size_t(20) << 20}) {
    void* first = take(bytes);
    give(first);
    EXPECT_GE(pool_statistics().kept, bytes);
    EXPECT_EQ(take(bytes), first);
    give(first);
  }
  const PoolStatistics before = pool_statistics();
  trim_pool();
  EXPECT_EQ(pool_statistics().kept, 0u);
  EXPECT_EQ(pool_statistics().used, before.used);
}

TEST(Pool, BlocksDoNotOverlapAndWasteLittle) {
  trim_pool();
  const size_t used = pool_statistics().used;
  std::vector<std::pair<char*, size_t>> blocks;
  size_t total = 0;
  for (size_t bytes = 1000; bytes < 10'000'000; bytes = bytes * 13 / 10) {
    char* p = static_cast<char*>(take(bytes));
    std::memset(p, int(blocks.size()), bytes);
    blocks.emplace_back(p, bytes);
    total += bytes;
  }
  EXPECT_LT(double(pool_statistics().used - used), 1.3 * double(total));
  for (size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(blocks[i].first[0], char(i));
    EXPECT_EQ(blocks[i].first[blocks[i].second - 1], char(i));
    give(blocks[i].first);
  }
  EXPECT_EQ(pool_statistics().used, used);
}

TEST(Pool, KeepsNoMoreThanItsLimit) {
  set_pool_limit(1 << 20);
  std::vector<void*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(take(500'000));
  for (void* p : blocks) give(p);
  EXPECT_LE(pool_statistics().kept, size_t(1) << 20);
  set_pool_limit(size_t(1) << 32);
}

TEST(Pool, NoMemoryIsAnError) {
  for (const size_t bytes : {size_t(1) << 46, 2 * memory_limit(), ~size_t(0) - 10}) {
    try {
      take(bytes);
      ADD_FAILURE() << bytes;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind, "memory");
    }
  }
  // what is taken counts even where nothing was written
  const size_t third = memory_limit() / 3;
  std::vector<void*> blocks;
  EXPECT_THROW(for (int i = 0; i < 4; ++i) blocks.push_back(take(third)), Error);
  EXPECT_LE(blocks.size(), 3u);
  for (void* p : blocks) give(p);
  trim_pool();
  give(take(1000));
}

TEST(Pool, AnAllocationFailsOnRequest) {
  fail_allocation(2);
  give(take(1000));
  EXPECT_THROW(take(1000), Error);
  give(take(1000));
  fail_allocation(0);
}

TEST(Pool, GivesBackWhatNobodyNeeded) {
  constexpr size_t busy = size_t(5) << 20, idle = size_t(40) << 20;
  trim_pool();
  give(take(idle));
  trim_idle();  // looks for the first time: the block was in use since the last call
  EXPECT_GE(pool_statistics().kept, idle);
  give(take(busy));
  trim_idle();
  EXPECT_LT(pool_statistics().kept, idle) << "nobody took the large block";
  EXPECT_GE(pool_statistics().kept, busy) << "the small one was in use";
  trim_idle();
  EXPECT_EQ(pool_statistics().kept, size_t(0));
  EXPECT_GT(pool_statistics().limit, size_t(0));
}

// As many blocks as fill some regions, each full of its number.
struct Blocks {
  static constexpr size_t bytes = 100'000, count = 300;
  std::vector<char*> at;
  Blocks() {
    for (size_t i = 0; i < count; ++i) {
      at.push_back(static_cast<char*>(take(bytes)));
      std::memset(at.back(), int(i), bytes);
    }
  }
  bool holds(size_t i) const {
    for (size_t k = 0; k < bytes; ++k)
      if (at[i][k] != char(i)) return false;
    return true;
  }
};

size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * size_t(sysconf(_SC_PAGESIZE));
}

TEST(Pool, PartsOfARegionGoBackBesideOneThatStays) {
  trim_pool();
  const size_t before = resident_bytes();
  const Blocks blocks;
  for (size_t i = 0; i < Blocks::count; ++i)
    if (i % 100 != 50) give(blocks.at[i]);
  trim_pool();
  EXPECT_EQ(pool_statistics().kept, 0u);
  if (before > 0) {
    EXPECT_LT(resident_bytes(), before + Blocks::count * Blocks::bytes / 2);
  }
  for (const size_t i : {50, 150, 250}) EXPECT_TRUE(blocks.holds(i));
  const size_t fresh = pool_statistics().fresh;
  const Blocks again;  // where the others were
  EXPECT_EQ(pool_statistics().fresh, fresh + Blocks::count);
  for (size_t i = 0; i < Blocks::count; ++i) EXPECT_TRUE(again.holds(i));
  for (const size_t i : {50, 150, 250}) {
    EXPECT_TRUE(blocks.holds(i));
    give(blocks.at[i]);
  }
  for (char* p : again.at) give(p);
  trim_pool();
  EXPECT_EQ(pool_statistics().kept, 0u);
}

#ifdef __linux__
TEST(Pool, ARegionThatNobodyUsesIsUnmapped) {
  trim_pool();
  const Blocks blocks;
  const uintptr_t page = reinterpret_cast<uintptr_t>(blocks.at[150]) & ~uintptr_t(sysconf(_SC_PAGESIZE) - 1);
  unsigned char resident = 0;
  for (char* p : blocks.at) give(p);
  EXPECT_EQ(mincore(reinterpret_cast<void*>(page), 1, &resident), 0);
  trim_pool();
  EXPECT_EQ(mincore(reinterpret_cast<void*>(page), 1, &resident), -1) << "still mapped";
}
#endif

// What is idle is a matter of each block, not of how much is kept: in every round another size is in use.
TEST(Pool, KeepsTheBlocksThatAreInUse) {
  trim_pool();
  give(take(200'000));
  for (int round = 0; round < 5; ++round) {
    void* large = take(1'000'000);
    void* larger = take(3'000'000);
    give(large);
    give(larger);
    trim_idle();
    const size_t fresh = pool_statistics().fresh;
    give(take(1'000'000));
    EXPECT_EQ(pool_statistics().fresh, fresh) << "round " << round;
  }
  EXPECT_LT(pool_statistics().kept, size_t(4'300'000)) << "nobody took the small block";
}

TEST(Pool, ThreadsAndForkedChildren) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 5000; ++i) {
        char* p = static_cast<char*>(take(size_t(200 + i * 7)));
        p[0] = 1;
        give(p);
      }
    });
  for (int i = 0; i < 10; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      give(take(1000));
      _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace anvil::runtime
