// Texts that the reader refuses.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "backend/stablehlo/stablehlo.h"
#include "base/error.h"

namespace anvil::test {

// What is said of a text, or "accepted".
inline std::string refusal(const std::string& text) {
  try {
    stablehlo::read(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind, "stablehlo");
    EXPECT_NE(std::string(e.what()).find("Line "), std::string::npos) << e.what();
    return e.what();
  }
  return "accepted";
}
inline void expect_refused(const std::string& text, const std::string& because) {
  EXPECT_NE(refusal(text).find(because), std::string::npos) << refusal(text);
}

}  // namespace anvil::test
