// The characters of a text: places, words, brackets, comments. Everything that reads
// StableHLO stands on it.
#pragma once
#include <string>
#include <string_view>

#include "backend/stablehlo/syntax.h"

namespace anvil::stablehlo {

constexpr int deepest_nesting = 200;

class TextReader {
 protected:
  explicit TextReader(std::string_view text);

  Position position(size_t place) const;
  // Positions of operations are asked for in order: count lines from the last one.
  Position here();
  [[noreturn]] void fail(const std::string& message);
  void skip_space();
  bool at_end();
  char peek();
  bool at(std::string_view s);
  bool accept(std::string_view s);
  void expect(std::string_view s);
  bool at_word(std::string_view word);
  bool accept_word(std::string_view word);
  std::string identifier();
  std::string quoted();
  int64_t integer();
  // The text between brackets, strings respected; the place moves behind it.
  std::string_view balanced();
  struct Deeper {
    explicit Deeper(TextReader& r) : reader(r) {
      if (++reader.depth_ > deepest_nesting) reader.fail("nested too deeply");
    }
    ~Deeper() { --reader.depth_; }
    TextReader& reader;
  };

  std::string value_name();
  std::string symbol();
  void skip_location();

  std::string_view text_;
  size_t place_ = 0;

 private:
  size_t counted_ = 0;
  Position counted_position_;
  int depth_ = 0;
};

}  // namespace anvil::stablehlo
