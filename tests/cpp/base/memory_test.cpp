// How much memory a process may use, read from files as systems have them.
#include "base/memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/error.h"

namespace anvil {
namespace {

constexpr size_t GB = size_t(1) << 30;

// A folder with the /proc and /sys of a machine of 64 GB, 40 of them free.
class Machine {
 public:
  explicit Machine(const std::string& swap_kb = "0") {
    root_ = std::filesystem::path(testing::TempDir()) / "anvil_memory_test";
    std::filesystem::remove_all(root_);
    file("proc/meminfo", "MemTotal:       67108864 kB\nMemFree: 1 kB\nMemAvailable:   41943040 kB\nSwapTotal: " +
                             swap_kb + " kB\nSwapFree: " + swap_kb + " kB\n");
  }
  ~Machine() { std::filesystem::remove_all(root_); }
  void file(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  MemoryState state() const { return memory_state(root_.string()); }

 private:
  std::filesystem::path root_;
};

void expect_state(const Machine& m, size_t limit, size_t available) {
  EXPECT_EQ(m.state().limit, limit);
  EXPECT_EQ(m.state().available, available);
}

TEST(Memory, OfTheMachine) {
  expect_state(Machine(), 64 * GB, 40 * GB);
  expect_state(Machine("8388608"), 72 * GB, 48 * GB);
}

TEST(Memory, OfAContainerWithVersion2) {
  Machine m("8388608");
  m.file("proc/self/cgroup", "0::/\n");
  m.file("sys/fs/cgroup/memory.max", "4294967296\n");
  m.file("sys/fs/cgroup/memory.current", "3221225472\n");
  m.file("sys/fs/cgroup/memory.stat", "anon 1\nfile 2147483648\ninactive_file 1073741824\nactive_file 1073741824\n");
  m.file("sys/fs/cgroup/memory.swap.max", "0\n");
  expect_state(m, 4 * GB, 3 * GB);
  m.file("sys/fs/cgroup/memory.swap.max", "1073741824\n");
  expect_state(m, 5 * GB, 4 * GB);
  m.file("sys/fs/cgroup/memory.max", "max\n");
  expect_state(m, 72 * GB, 48 * GB);
}

TEST(Memory, OfAGroupWithinGroups) {
  Machine m;
  m.file("proc/self/cgroup", "12:cpu,cpuacct:/other\n0::/batch/job/step\n");
  m.file("sys/fs/cgroup/batch/memory.max", "8589934592\n");
  m.file("sys/fs/cgroup/batch/memory.current", "6442450944\n");
  m.file("sys/fs/cgroup/batch/job/memory.max", "2147483648\n");
  m.file("sys/fs/cgroup/batch/job/step/memory.max", "max\n");
  expect_state(m, 2 * GB, 2 * GB);
}

TEST(Memory, OfAContainerWithVersion1) {
  Machine m;
  // the path is that outside of the container; within, its group is the root
  m.file("proc/self/cgroup", "5:devices:/x\n4:hugetlb,memory:/docker/0123abcd\n1:name=systemd:/docker/0123abcd\n");
  m.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
  m.file("sys/fs/cgroup/memory/memory.usage_in_bytes", "536870912\n");
  m.file("sys/fs/cgroup/memory/memory.stat", "cache 1\ntotal_inactive_file 268435456\ntotal_active_file 0\n");
  expect_state(m, GB, GB - (GB >> 2));
  m.file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");  // none
  expect_state(m, 64 * GB, 40 * GB);
}

TEST(Memory, IsAskedFor) {
  EXPECT_LE(memory_available(), memory_limit());
  EXPECT_TRUE(memory_for(1000));
  EXPECT_FALSE(memory_for(2 * memory_limit()));
  try {
    expect_memory(~size_t(0));
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind, "memory");
  }
  EXPECT_EQ(bytes_of(DType::f64, {3, 4}), 96u);
  EXPECT_EQ(bytes_of(DType::f64, {0, INT32_MAX}), 0u);
  EXPECT_THROW(bytes_of(DType::f64, {INT32_MAX, INT32_MAX}), Error);  // 2^65 bytes would be 8
  EXPECT_THROW(bytes_of(DType::i8, {int64_t(1) << 62}), Error);
}

TEST(Memory, InUnitsThatPeopleRead) {
  EXPECT_EQ(text_of_bytes(0), "0 bytes");
  EXPECT_EQ(text_of_bytes(999), "999 bytes");
  EXPECT_EQ(text_of_bytes(1500), "1.5 kB");
  EXPECT_EQ(text_of_bytes(123456789), "123 MB");
  EXPECT_EQ(text_of_bytes(8e12), "8.0 TB");
}

}  // namespace
}  // namespace anvil
