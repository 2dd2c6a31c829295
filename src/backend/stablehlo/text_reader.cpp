// See text_reader.h; and refusals, with the text that they are about.
#include "backend/stablehlo/text_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace anvil::stablehlo {
namespace {

enum : uint8_t { letter = 1, digit = 2, in_identifier = 4, in_name = 8, hexadecimal = 16 };
constexpr std::array<uint8_t, 256> kinds = [] {
  std::array<uint8_t, 256> k{};
  for (int c = 'a'; c <= 'z'; ++c) k[c] = k[c - 'a' + 'A'] = letter | in_identifier | in_name;
  for (int c = '0'; c <= '9'; ++c) k[c] = digit | in_identifier | in_name | hexadecimal;
  for (int c = 'a'; c <= 'f'; ++c) k[c] = k[c - 'a' + 'A'] = letter | in_identifier | in_name | hexadecimal;
  for (char c : {'_', '$', '.'}) k[static_cast<uint8_t>(c)] = in_identifier | in_name;
  k[uint8_t('-')] = in_name;
  return k;
}();
bool is(char c, uint8_t kind) { return kinds[static_cast<uint8_t>(c)] & kind; }
int hex_value(char c) { return is(c, digit) ? c - '0' : (c | 0x20) - 'a' + 10; }

// The rest of a line, shortened, without half a character of UTF-8 at its end.
std::string excerpt(std::string_view text, size_t place) {
  constexpr size_t longest = 72;
  std::string_view line = text.substr(std::min(place, text.size()));
  line = line.substr(0, line.find_first_of("\r\n"));
  bool cut = line.size() > longest;
  if (cut) {
    size_t end = longest;
    while (end > 0 && (static_cast<uint8_t>(line[end]) & 0xC0) == 0x80) --end;
    line = line.substr(0, end);
  }
  std::string out;
  for (char c : line) out += static_cast<uint8_t>(c) < 0x20 || c == 0x7F ? ' ' : c;
  return out + (cut ? "..." : "");
}

std::string citation(std::string_view text, size_t place) {
  std::string near = excerpt(text, place);
  return near.empty() ? "x The text ends there." : "x Got `" + near + "`.";
}

}  // namespace

bool is_letter(char c) { return is(c, letter); }
bool is_digit(char c) { return is(c, digit); }

// ---- refusals -----------------------------------------------------------------------------

Refusal::Refusal(Position p, const std::string& message, std::vector<std::string> what)
    : Error("stablehlo", "Line " + std::to_string(p.line) + ", column " + std::to_string(p.column) + ": " + message,
            std::move(what)),
      at(p) {}

void refuse(Position at, const std::string& message, std::vector<std::string> details) {
  throw Refusal(at, message, std::move(details));
}

void citing(std::string_view text, const std::function<void()>& f) {
  try {
    f();
  } catch (Refusal& r) {
    bool has = std::any_of(r.details.begin(), r.details.end(), [](const std::string& d) {
      return d.rfind("x Got `", 0) == 0 || d.rfind("x The text", 0) == 0;
    });
    if (has) throw;
    size_t place = 0;
    for (int line = 1; line < r.at.line && place < text.size(); ++line) {
      size_t end = text.find('\n', place);
      place = end == std::string_view::npos ? text.size() : end + 1;
    }
    place = std::min(text.size(), place + static_cast<size_t>(r.at.column - 1));
    r.details.insert(r.details.begin(), citation(text, place));
    throw;
  }
}

// ---- places -------------------------------------------------------------------------------

TextReader::TextReader(std::string_view text) : text_(text), lines_{0} {
  if (text_.substr(0, 3) == "\xEF\xBB\xBF") place_ = 3;  // a byte-order mark
  for (size_t end = text_.find('\n'); end != std::string_view::npos; end = text_.find('\n', end + 1)) {
    lines_.push_back(end + 1);
    count_step();
  }
}

Position TextReader::position(size_t place) const {
  auto line = std::upper_bound(lines_.begin(), lines_.end(), place) - 1;
  return {static_cast<int>(line - lines_.begin()) + 1, static_cast<int>(place - *line) + 1};
}

// Asked for in order, mostly: the line is searched from the last one.
Position TextReader::here() {
  skip_space();
  if (place_ < lines_[line_]) line_ = static_cast<size_t>(position(place_).line) - 1;
  while (line_ + 1 < lines_.size() && lines_[line_ + 1] <= place_) ++line_;
  return {static_cast<int>(line_) + 1, static_cast<int>(place_ - lines_[line_]) + 1};
}

void TextReader::fail(const std::string& message) {
  skip_space();
  fail_at(place_, message);
}
void TextReader::fail_at(size_t place, const std::string& message, std::vector<std::string> details) {
  details.insert(details.begin(), citation(text_, place));
  refuse(position(place), message, std::move(details));
}
void TextReader::fail_expected(std::string_view s) { fail("expected `" + std::string(s) + "`"); }

// ---- words --------------------------------------------------------------------------------

bool TextReader::skip_comment() {
  if (text_.compare(place_, 2, "//") != 0) return false;
  place_ = std::min(text_.find('\n', place_), text_.size());
  return true;
}

bool TextReader::at_end() {
  skip_space();
  return place_ >= text_.size();
}

bool TextReader::at_word(std::string_view word) {
  return at(word) && (place_ + word.size() >= text_.size() || !is(text_[place_ + word.size()], in_identifier));
}
bool TextReader::accept_word(std::string_view word) {
  if (!at_word(word)) return false;
  place_ += word.size();
  return true;
}
bool TextReader::at_identifier() {
  char c = peek();
  return is(c, letter) || c == '_';
}

size_t TextReader::word_end(size_t from, bool dashes) {
  uint8_t kind = dashes ? in_name : in_identifier;
  size_t end = from;
  while (end < text_.size() && is(text_[end], kind)) ++end;
  if (end - from > longest_word)
    fail_at(from, "this name has more than " + std::to_string(longest_word) + " characters");
  return end;
}

std::string TextReader::identifier() {
  skip_space();
  size_t start = place_;
  place_ = word_end(place_, false);
  if (start == place_) fail("expected a name");
  return std::string(text_.substr(start, place_ - start));
}

std::string TextReader::quoted() {
  skip_space();
  size_t start = place_;
  expect("\"");
  std::string s;
  while (true) {
    size_t stop = text_.find_first_of("\"\\", place_);
    if (stop == std::string_view::npos || (text_[stop] == '\\' && stop + 1 == text_.size()))
      fail_at(start, "this string is not closed");
    s.append(text_.substr(place_, stop - place_));
    place_ = stop + 1;
    if (text_[stop] == '"') return s;
    char e = text_[place_++];
    if (is(e, hexadecimal) && place_ < text_.size() && is(text_[place_], hexadecimal))
      s += static_cast<char>(hex_value(e) * 16 + hex_value(text_[place_++]));
    else
      s += e == 'n' ? '\n' : e == 't' ? '\t' : e;
  }
}

void TextReader::skip_quoted() {
  size_t start = place_++;
  while (true) {
    size_t stop = text_.find_first_of("\"\\", place_);
    if (stop == std::string_view::npos || (text_[stop] == '\\' && stop + 1 == text_.size()))
      fail_at(start, "this string is not closed");
    place_ = stop + (text_[stop] == '"' ? 1 : 2);
    if (text_[stop] == '"') return;
  }
}

int64_t TextReader::integer() {
  skip_space();
  size_t start = place_;
  bool negative = text_.compare(place_, 1, "-") == 0;
  size_t first = place_ + negative;
  bool hex = text_.compare(first, 2, "0x") == 0;
  if (hex) first += 2;
  const char* end = text_.data() + text_.size();
  uint64_t value = 0;
  auto r = std::from_chars(text_.data() + std::min(first, text_.size()), end, value, hex ? 16 : 10);
  if (r.ec == std::errc::result_out_of_range) fail_at(start, "this integer does not fit 64 bits");
  if (r.ec != std::errc()) fail_at(start, "expected an integer");
  place_ = static_cast<size_t>(r.ptr - text_.data());
  if (negative && value > uint64_t(1) << 63) fail_at(start, "this integer does not fit 64 bits");
  return static_cast<int64_t>(negative ? 0 - value : value);
}

std::string_view TextReader::balanced() {
  skip_space();
  size_t open = place_, start = place_ + 1;
  std::string stack;
  while (place_ < text_.size()) {
    count_step();
    char c = text_[place_];
    if (c == '"') {
      skip_quoted();
      continue;
    }
    if (c == '/' && skip_comment()) continue;
    if (c == '-' && text_.compare(place_, 2, "->") == 0) {
      place_ += 2;
      continue;
    }
    ++place_;
    if (c == '(' || c == '[' || c == '{' || c == '<') {
      stack += c == '(' ? ')' : c == '[' ? ']' : c == '{' ? '}' : '>';
    } else if (c == ')' || c == ']' || c == '}' || c == '>') {
      if (c == '>' && !stack.empty() && stack.back() != '>') continue;  // a sign of comparison
      if (stack.empty() || c != stack.back()) fail_at(place_ - 1, "this bracket closes nothing");
      stack.pop_back();
      if (stack.empty()) return text_.substr(start, place_ - 1 - start);
    }
    if (stack.empty()) fail_at(open, "expected a bracket");
  }
  fail_at(open, "this bracket is not closed");
}

std::string TextReader::value_name() {
  if (peek() != '%') fail("expected a value such as `%0`");
  size_t start = place_;
  place_ = word_end(place_ + 1, true);
  if (place_ == start + 1) fail_at(start, "expected a value such as `%0`");
  if (text_.compare(place_, 1, "#") == 0) {
    size_t number = ++place_;
    while (place_ < text_.size() && is(text_[place_], digit)) ++place_;
    if (place_ == number || place_ - number > 9) fail_at(start, "expected the number of a result after `#`");
  }
  return std::string(text_.substr(start, place_ - start));
}

std::string TextReader::symbol() {
  expect("@");
  if (text_.compare(place_, 1, "\"") == 0) return quoted();
  size_t start = place_;
  place_ = word_end(place_, true);
  if (start == place_) fail("expected a name after `@`");
  return std::string(text_.substr(start, place_ - start));
}

std::string TextReader::skip_location() {
  std::string name;
  while (at_word("loc")) {
    place_ += 3;
    if (peek() != '(') fail("expected `(`");
    size_t start = place_;
    balanced();
    size_t end = place_;
    place_ = start + 1;
    if (peek() == '"') {
      name = quoted();
      if (peek() != ')') name.clear();
    }
    place_ = end;
  }
  return name;
}

}  // namespace anvil::stablehlo
