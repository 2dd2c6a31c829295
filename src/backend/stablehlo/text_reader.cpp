#include "backend/stablehlo/text_reader.h"

#include <cctype>
#include <charconv>

#include "base/error.h"

namespace anvil::stablehlo {

void refuse(Position at, const std::string& message, std::vector<std::string> details) {
  throw Error("stablehlo", "Line " + std::to_string(at.line) + ", column " + std::to_string(at.column) + ": " + message,
              std::move(details));
}

namespace {
bool word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.' || c == '-';
}
bool identifier_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.';
}
}  // namespace

TextReader::TextReader(std::string_view text) : text_(text) {
  if (text_.substr(0, 3) == "\xEF\xBB\xBF") place_ = 3;  // a byte-order mark
}

Position TextReader::position(size_t place) const {
  Position p;
  for (size_t i = 0; i < place && i < text_.size(); ++i) {
    if (text_[i] == '\n') {
      ++p.line;
      p.column = 1;
    } else
      ++p.column;
  }
  return p;
}

Position TextReader::here() {
  skip_space();
  if (place_ < counted_) {
    counted_ = 0;
    counted_position_ = {};
  }
  for (; counted_ < place_; ++counted_) {
    if (text_[counted_] == '\n') {
      ++counted_position_.line;
      counted_position_.column = 1;
    } else
      ++counted_position_.column;
  }
  return counted_position_;
}

void TextReader::fail(const std::string& message) {
  skip_space();
  std::string near(text_.substr(place_, 40));
  if (size_t end = near.find_first_of("\r\n"); end != std::string::npos) near.resize(end);
  refuse(position(place_), message, {near.empty() ? "x The text ends here." : "x Got `" + near + "`."});
}

void TextReader::skip_space() {
  while (place_ < text_.size()) {
    char c = text_[place_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r')
      ++place_;
    else if (c == '/' && text_.substr(place_, 2) == "//") {
      while (place_ < text_.size() && text_[place_] != '\n') ++place_;
    } else
      break;
  }
}

bool TextReader::at_end() {
  skip_space();
  return place_ >= text_.size();
}

char TextReader::peek() {
  skip_space();
  return place_ < text_.size() ? text_[place_] : '\0';
}

bool TextReader::at(std::string_view s) {
  skip_space();
  return text_.substr(place_, s.size()) == s;
}

bool TextReader::accept(std::string_view s) {
  if (!at(s)) return false;
  place_ += s.size();
  return true;
}

void TextReader::expect(std::string_view s) {
  if (!accept(s)) fail("expected `" + std::string(s) + "`");
}

bool TextReader::at_word(std::string_view word) {
  return at(word) && (place_ + word.size() >= text_.size() || !identifier_character(text_[place_ + word.size()]));
}

bool TextReader::accept_word(std::string_view word) {
  if (!at_word(word)) return false;
  place_ += word.size();
  return true;
}

std::string TextReader::identifier() {
  skip_space();
  size_t start = place_;
  while (place_ < text_.size() && identifier_character(text_[place_])) ++place_;
  if (start == place_) fail("expected a name");
  return std::string(text_.substr(start, place_ - start));
}

std::string TextReader::quoted() {
  expect("\"");
  std::string s;
  while (place_ < text_.size() && text_[place_] != '"') {
    char c = text_[place_++];
    if (c != '\\') {
      s += c;
      continue;
    }
    if (place_ >= text_.size()) break;
    char e = text_[place_++];
    auto hex = [](char h) {
      return std::isdigit(static_cast<unsigned char>(h)) ? h - '0' : std::toupper(h) - 'A' + 10;
    };
    if (e == 'n')
      s += '\n';
    else if (e == 't')
      s += '\t';
    else if (std::isxdigit(static_cast<unsigned char>(e)) && place_ < text_.size() &&
             std::isxdigit(static_cast<unsigned char>(text_[place_])))
      s += static_cast<char>(hex(e) * 16 + hex(text_[place_++]));
    else
      s += e;
  }
  expect("\"");
  return s;
}

int64_t TextReader::integer() {
  skip_space();
  size_t start = place_;
  bool negative = accept("-");
  uint64_t value = 0;
  std::from_chars_result r{};
  if (text_.substr(place_, 2) == "0x")
    r = std::from_chars(text_.data() + place_ + 2, text_.data() + text_.size(), value, 16);
  else
    r = std::from_chars(text_.data() + place_, text_.data() + text_.size(), value);
  if (r.ec != std::errc()) {
    place_ = start;
    fail("expected an integer");
  }
  place_ = static_cast<size_t>(r.ptr - text_.data());
  return negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
}

std::string_view TextReader::balanced() {
  skip_space();
  size_t start = place_ + 1;
  std::string stack;
  while (place_ < text_.size()) {
    char c = text_[place_];
    if (c == '"') {
      quoted();
      continue;
    }
    if (c == '-' && text_.substr(place_, 2) == "->") {
      place_ += 2;
      continue;
    }
    ++place_;
    if (c == '(')
      stack += ')';
    else if (c == '[')
      stack += ']';
    else if (c == '{')
      stack += '}';
    else if (c == '<')
      stack += '>';
    else if (!stack.empty() && c == stack.back()) {
      stack.pop_back();
      if (stack.empty()) return text_.substr(start, place_ - 1 - start);
    }
  }
  fail("a bracket is not closed");
}

std::string TextReader::value_name() {
  skip_space();
  size_t start = place_;
  if (peek() != '%') fail("expected a value such as `%0`");
  ++place_;
  while (place_ < text_.size() && word_character(text_[place_])) ++place_;
  if (place_ < text_.size() && text_[place_] == '#') {
    ++place_;
    while (place_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[place_]))) ++place_;
  }
  return std::string(text_.substr(start, place_ - start));
}

std::string TextReader::symbol() {
  expect("@");
  if (peek() == '"') return quoted();
  size_t start = place_;
  while (place_ < text_.size() && word_character(text_[place_])) ++place_;
  return std::string(text_.substr(start, place_ - start));
}

void TextReader::skip_location() {
  while (at_word("loc")) {
    place_ += 3;
    balanced();
  }
}

}  // namespace anvil::stablehlo
