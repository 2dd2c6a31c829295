// A recursive-descent reader of JSON; see json.h.
#include "json.h"

#include <cstdlib>
#include <stdexcept>

#include "backend/stablehlo/layout.h"

namespace anvil::conformance {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}
  Json document() {
    Json j = value();
    if (peek() != '\0') fail("text after the end");
    return j;
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    throw std::runtime_error("JSON, character " + std::to_string(place_ + 1) + ": " + what);
  }
  char peek() {
    while (place_ < text_.size() && std::string_view(" \t\r\n").find(text_[place_]) != std::string_view::npos) ++place_;
    return place_ < text_.size() ? text_[place_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++place_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail("unexpected character");
  }

  Json value() {
    Json j;
    char c = peek();
    if (c == '{' || c == '[') {
      ++place_;
      bool object = c == '{';
      j.kind = object ? Json::Kind::object : Json::Kind::array;
      char end = object ? '}' : ']';
      if (accept(end)) return j;
      do {
        if (object) {
          peek();
          j.keys.push_back(string());
          expect(':');
        }
        j.items.push_back(value());
      } while (accept(','));
      expect(end);
    } else if (c == '"') {
      j.kind = Json::Kind::string;
      j.text = string();
    } else {
      size_t end = std::min(text_.find_first_of(",]} \t\r\n", place_), text_.size());
      j.text = text_.substr(place_, end - place_);
      if (j.text.empty()) fail("a value is missing");
      j.kind = j.text == "null"                        ? Json::Kind::null
               : j.text == "true" || j.text == "false" ? Json::Kind::boolean
                                                       : Json::Kind::number;
      place_ = end;
    }
    return j;
  }

  std::string string() {
    if (place_ >= text_.size() || text_[place_] != '"') fail("expected a string");
    std::string s;
    for (++place_; place_ < text_.size() && text_[place_] != '"'; ++place_) {
      if (text_[place_] == '\\' && ++place_ >= text_.size()) break;
      s += text_[place_];
    }
    if (place_++ >= text_.size()) fail("a string does not end");
    return s;
  }

  std::string_view text_;
  size_t place_ = 0;
};

Scalar number(const std::string& text, DType dtype) {
  if (is_bool(dtype)) return text == "true";
  if (is_float(dtype)) return std::strtod(text.c_str(), nullptr);  // knows NaN and Infinity
  if (is_unsigned_integer(dtype)) return std::strtoull(text.c_str(), nullptr, 10);
  return std::strtoll(text.c_str(), nullptr, 10);
}

}  // namespace

const Json* Json::find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == key) return &items[i];
  return nullptr;
}
const Json& Json::at(std::string_view key) const {
  if (const Json* found = find(key)) return *found;
  throw std::runtime_error("JSON: there is no \"" + std::string(key) + "\"");
}

Json parse_json(std::string_view text) { return Reader(text).document(); }

graph::Tensor tensor_of(const Json& j) {
  auto dtype = parse_dtype(j.at("dtype").text);
  if (!dtype) throw std::runtime_error("JSON: unknown dtype " + j.at("dtype").text);
  graph::TensorType type{*dtype, {}, false};
  for (const Json& n : j.at("shape").items) type.shape.push_back(std::strtoll(n.text.c_str(), nullptr, 10));
  const std::vector<Json>& data = j.at("data").items;
  if (static_cast<int64_t>(data.size()) != elements(type.shape)) throw std::runtime_error("JSON: wrong number of data");
  graph::Tensor t = graph::allocate(type);
  stablehlo::RowMajorWalk walk(type.shape);
  for (const Json& x : data) {
    graph::set_element(t, walk.position(), number(x.text, *dtype));
    walk.next();
  }
  return t;
}

}  // namespace anvil::conformance
