// Which random programs a test makes. In the environment: ANVIL_SEED=n alone makes program n,
// ANVIL_SEEDS=m makes m programs from there, and ANVIL_WITHOUT=pass leaves that pass of the compiler out
// of all of them.
#pragma once
#include <cstdlib>
#include <optional>
#include <string>

namespace anvil::test {

struct Campaign {
  explicit Campaign(unsigned usual_count) : count(usual_count) {
    if (const char* text = std::getenv("ANVIL_SEED")) first = number(text), count = 1;
    if (const char* text = std::getenv("ANVIL_SEEDS")) count = number(text);
    if (const char* text = std::getenv("ANVIL_WITHOUT")) without = text;
  }
  unsigned first = 1, count;
  std::optional<std::string> without;

 private:
  static unsigned number(const char* text) { return static_cast<unsigned>(std::strtoul(text, nullptr, 10)); }
};

}  // namespace anvil::test
