// How many processors a process may use, read from files as systems have them.
#include "base/processors.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace anvil {
namespace {

class Processors : public testing::Test {
 protected:
  Processors() { std::filesystem::remove_all(root_); }
  ~Processors() override { std::filesystem::remove_all(root_); }
  void file(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  int of(int allowed) {
    return processors(allowed, root_.string(), [](const char*) -> const char* { return nullptr; });
  }

 private:
  std::filesystem::path root_ = std::filesystem::path(testing::TempDir()) / "anvil_processors_test";
};

TEST_F(Processors, AsManyAsTheSystemAllows) {
  EXPECT_EQ(of(8), 8);
  EXPECT_EQ(of(0), 1);
  EXPECT_GE(processors(), 1);
}

TEST_F(Processors, AQuotaOfVersion2) {
  file("proc/self/cgroup", "0::/job/step\n");
  file("sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_EQ(of(8), 8);
  file("sys/fs/cgroup/job/cpu.max", "250000 100000\n");  // two and a half
  EXPECT_EQ(of(8), 3);
  file("sys/fs/cgroup/job/step/cpu.max", "50000 100000\n");
  EXPECT_EQ(of(8), 1);
}

TEST_F(Processors, AQuotaOfVersion1) {
  file("proc/self/cgroup", "5:memory:/other\n4:cpu,cpuacct:/job\n");
  file("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
  file("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(of(8), 8);
  file("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "400000\n");
  EXPECT_EQ(of(8), 4);
}

TEST_F(Processors, VariablesOfTheEnvironment) {
  const auto with = [](const char* name, const char* value, int allowed) {
    static const char *wanted, *text;
    wanted = name, text = value;
    return processors(allowed, "", [](const char* n) { return std::strcmp(n, wanted) == 0 ? text : nullptr; });
  };
  EXPECT_EQ(with("OMP_NUM_THREADS", "1", 8), 1);
  EXPECT_EQ(with("OMP_NUM_THREADS", "1,4", 8), 1);
  EXPECT_EQ(with("OMP_THREAD_LIMIT", "1", 8), 1);
  EXPECT_EQ(with("OMP_NUM_THREADS", "99", 1), 1);
  const int all = with("OMP_NUM_THREADS", "none", 8);
  EXPECT_EQ(with("OMP_NUM_THREADS", "", 8), all);
  EXPECT_EQ(with("OMP_NUM_THREADS", "-3", 8), all);
  EXPECT_EQ(with("_R_CHECK_LIMIT_CORES_", "TRUE", 8), std::min(all, 2));
  EXPECT_EQ(with("_R_CHECK_LIMIT_CORES_", "warn", 8), std::min(all, 2));
  EXPECT_EQ(with("_R_CHECK_LIMIT_CORES_", "false", 8), all);
}

}  // namespace
}  // namespace anvil
