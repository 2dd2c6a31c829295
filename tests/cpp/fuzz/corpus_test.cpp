// Every file of the kept corpus through the function that libFuzzer runs: seeds of every
// form, and what was once found to fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

std::vector<std::string> files() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(ANVIL_SOURCE_DIR "/tests/cpp/fuzz/corpus"))
    found.push_back(entry.path().string());
  std::sort(found.begin(), found.end());
  return found;
}

class Corpus : public testing::TestWithParam<std::string> {};

TEST_P(Corpus, IsReadOrRefused) {
  std::ifstream file(GetParam(), std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  ASSERT_FALSE(text.str().empty());
  std::string s = text.str();
  EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(s.data()), s.size()), 0);
}

INSTANTIATE_TEST_SUITE_P(Kept, Corpus, testing::ValuesIn(files()), [](const auto& one) {
  std::string name = std::filesystem::path(one.param).stem().string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
});

}  // namespace
