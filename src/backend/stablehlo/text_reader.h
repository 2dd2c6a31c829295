// The characters of a text: places, words, brackets, comments. Everything that reads
// StableHLO stands on it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "backend/stablehlo/syntax.h"
#include "base/interrupt.h"

namespace anvil::stablehlo {

// What bounds hostile text.
constexpr int deepest_nesting = 200;
constexpr size_t longest_word = 4096;   // characters of a name or a number
constexpr size_t most_values = 65536;   // operands or results of an operation
constexpr size_t most_dimensions = 64;  // of a tensor

bool is_letter(char c);
bool is_digit(char c);

class TextReader {
 protected:
  explicit TextReader(std::string_view text);

  Position position(size_t place) const;
  Position here();  // of the next token
  [[noreturn]] void fail(const std::string& message);
  [[noreturn]] void fail_at(size_t place, const std::string& message, std::vector<std::string> details = {});
  void skip_space() {
    while (place_ < text_.size()) {
      char c = text_[place_];
      if (c == ' ' || c == '\n' || c == '\t' || c == '\r')
        ++place_;
      else if (c == '/')
        if (!skip_comment())
          return;
        else
          continue;
      else
        return;
    }
  }
  bool at_end();
  char peek() {
    skip_space();
    return place_ < text_.size() ? text_[place_] : '\0';
  }
  bool at(std::string_view s) {
    skip_space();
    return text_.compare(place_, s.size(), s) == 0;
  }
  bool accept(std::string_view s) {
    if (!at(s)) return false;
    place_ += s.size();
    return true;
  }
  void expect(std::string_view s) {
    if (!accept(s)) fail_expected(s);
  }
  bool at_word(std::string_view word);
  bool accept_word(std::string_view word);
  bool at_identifier();
  std::string identifier();
  std::string quoted();
  // An integer of 64 bits, signed or not; hexadecimal too.
  int64_t integer();
  // The text between brackets, strings and comments respected; the place moves behind it.
  std::string_view balanced();
  struct Deeper {
    explicit Deeper(TextReader& r, int n = 1) : reader(r), levels(n) {
      if ((reader.depth_ += levels) > deepest_nesting) reader.fail("nested too deeply");
    }
    ~Deeper() { reader.depth_ -= levels; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    TextReader& reader;
    int levels;
  };
  // Once for each of the small things that a text has many of: asks now and then whether to stop.
  void count_step() {
    if ((++steps_ & 1023) == 0) poll();
  }

  std::string value_name();  // %0, %values#1
  std::string symbol();
  // loc(...), any number of them; gives the name in loc("name").
  std::string skip_location();

  std::string_view text_;
  size_t place_ = 0;

 private:
  bool skip_comment();
  void skip_quoted();
  size_t word_end(size_t from, bool dashes);
  [[noreturn]] void fail_expected(std::string_view s);

  std::vector<size_t> lines_;  // where each line starts
  size_t line_ = 0;            // of the last position that was asked for
  int depth_ = 0;
  size_t steps_ = 0;
};

}  // namespace anvil::stablehlo
