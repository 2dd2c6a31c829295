// Short ways to parse a text in a test: a module, the first operation of a function, what is
// said of a text that is refused.
#pragma once
#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "backend/stablehlo/attributes.h"
#include "backend/stablehlo/stablehlo.h"
#include "backend/stablehlo/syntax.h"

namespace anvil::stablehlo {

// The operation that is written first in the body of a function, at 2:3. Literals are parts of
// their text, so that it is kept.
inline Operation first(const std::string& operation) {
  static std::deque<std::string> texts;
  texts.push_back("func.func @main() {\n  " + operation + "\n  return\n}\n");
  Module m = parse(texts.back());
  EXPECT_EQ(m.functions.size(), 1u);
  return m.functions.at(0).body.operations.at(0);
}

// "line:column message | detail | ..." or "accepted".
template <class F>
std::string said(F&& f) {
  try {
    f();
  } catch (const Refusal& r) {
    std::string prefix = "Line " + std::to_string(r.at.line) + ", column " + std::to_string(r.at.column) + ": ";
    std::string message = r.what();
    EXPECT_EQ(message.substr(0, prefix.size()), prefix);
    EXPECT_EQ(r.kind, "stablehlo");
    message = std::to_string(r.at.line) + ":" + std::to_string(r.at.column) + " " + message.substr(prefix.size());
    for (const std::string& d : r.details) message += " | " + d;
    return message;
  }
  return "accepted";
}
inline std::string refusal(const std::string& text) {
  return said([&] { parse(text); });
}

// What the importer says of a text.
inline std::string read_refusal(const std::string& text) {
  return said([&] { read(text); });
}
inline void expect_starts(const std::string& message, const std::string& start) {
  EXPECT_EQ(message.substr(0, start.size()), start) << message.substr(0, 300);
}

inline graph::TensorType tensor(DType t, Shape shape) { return {t, std::move(shape), false}; }

}  // namespace anvil::stablehlo
