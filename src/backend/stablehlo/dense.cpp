// Dense literals to tensors: splats, nested lists, bit patterns, hexadecimal blobs.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

#include "backend/stablehlo/layout.h"
#include "backend/stablehlo/numbers.h"
#include "backend/stablehlo/text_reader.h"

namespace anvil::stablehlo {
namespace {

constexpr int64_t largest_splat = int64_t(1) << 26;  // bytes

constexpr std::array<int8_t, 256> hex_digits = [] {
  std::array<int8_t, 256> digits{};
  digits.fill(-1);
  for (int k = 0; k < 10; ++k) digits['0' + k] = static_cast<int8_t>(k);
  for (int k = 10; k < 16; ++k) digits['a' + k - 10] = digits['A' + k - 10] = static_cast<int8_t>(k);
  return digits;
}();
int hex_digit(char c) { return hex_digits[static_cast<uint8_t>(c)]; }

class DenseReader {
 public:
  // A body knows its place, unless it was made by hand.
  DenseReader(const Dense& d, Position at)
      : text_(d.body), type_(d.type), at_(d.at.line * d.at.column == 1 ? at : d.at), steps_(strides(d.type.shape)) {}

  graph::Tensor tensor() {
    int64_t n = elements(type_.shape);
    if (peek() == '"') return blob(n);
    if (peek() != '[') {
      if (n == 0 && peek() == '\0') return graph::allocate(type_);
      Scalar x = one();
      if (n > largest_splat / static_cast<int64_t>(size_of(type_.dtype)))
        fail("a tensor of one number repeated is not read at the size of " + graph::hlo_text(type_));
      return graph::full(type_, x);
    }
    // an element takes two characters at least: the size is checked before memory is taken
    if (static_cast<uint64_t>(n) > text_.size()) fail("the literal has fewer numbers than " + graph::hlo_text(type_));
    graph::Tensor t = graph::allocate(type_);
    visit(type_.dtype, [&]<class T>() {
      if (type_.shape.empty()) fail_nesting();
      list(0, t.as<T>(), 0);
    });
    end();
    return t;
  }

  std::optional<Scalar> splat() {
    char c = peek();
    if (c == '[' || c == '\0') return std::nullopt;
    if (c != '"') return one();
    std::string_view hex = digits();
    int64_t n = elements(type_.shape);
    bool all = hex.size() == 2 * size_of(type_.dtype) && n > 0;
    if (all && is_bool(type_.dtype)) all = n == 1 || is_splat_byte(byte(hex, 0), n);
    if (!all) return std::nullopt;
    return visit(type_.dtype, [&]<class T>() {
      if constexpr (std::is_same_v<T, bool>)
        return Scalar(byte(hex, 0) != 0);
      else
        return Scalar(value<T>(hex, 0));
    });
  }

 private:
  // ---- the text ----
  char peek() {
    while (place_ < text_.size()) {
      char c = text_[place_];
      if (c == ' ' || c == '\n' || c == '\t' || c == '\r')
        ++place_;
      else if (c == '/' && text_.compare(place_, 2, "//") == 0)
        place_ = std::min(text_.find('\n', place_), text_.size());
      else
        return c;
    }
    return '\0';
  }
  [[noreturn]] void fail(const std::string& message) { fail_at(place_, message); }
  [[noreturn]] void fail_at(size_t place, const std::string& message) {
    Position p = at_;
    for (size_t i = 0; i < place; ++i) {
      ++p.column;
      if (text_[i] == '\n') p = {p.line + 1, 1};
    }
    refuse(p, message);
  }
  [[noreturn]] void fail_nesting() { fail("the nesting of the literal does not fit " + graph::hlo_text(type_)); }
  void end() {
    if (peek() != '\0') fail("the literal does not fit " + graph::hlo_text(type_));
  }

  // ---- numbers ----
  Scalar one() {
    Scalar x = visit(type_.dtype, [&]<class T>() { return Scalar(number<T>()); });
    end();
    return x;
  }
  // The numbers below a dimension, in row-major order; the first goes to data[place].
  template <class T>
  void list(size_t dim, T* data, int64_t place) {
    if (peek() != '[') fail_nesting();
    int64_t size = type_.shape[dim], step = steps_[dim];
    bool last = dim + 1 == type_.shape.size();
    if (size == 0 && !last) fail_nesting();
    ++place_;
    for (int64_t i = 0; i < size; ++i, place += step) {
      char c = peek();
      if (i) {
        if (c != ',')
          fail(std::string("expected ") + (c == ']' ? "more elements" : "`,`") + " in a list of " + described(dim));
        ++place_;
        c = peek();
      }
      if (!last)
        list(dim + 1, data, place);
      else if (c == '[')
        fail_nesting();
      else
        data[place] = number<T>();
      if ((++read_ & 0xFFFF) == 0) poll();
    }
    if (peek() != ']') fail("expected `]` after a list of " + described(dim));
    ++place_;
  }
  std::string described(size_t dim) {
    return std::to_string(type_.shape[dim]) + " elements of " + graph::hlo_text(type_);
  }

  template <class T>
  T number() {
    const std::string_view s = word();
    T x{};
    if (!number(s, x)) fail_number(s);
    return x;
  }
  std::string_view word() {
    peek();
    const size_t start = place_;
    place_ = number_end(text_, place_);
    const std::string_view s = text_.substr(start, place_ - start);
    if (s.empty()) fail("expected a number of " + graph::hlo_text(type_));
    if (s.size() > longest_word) fail_at(start, "this number has too many digits");
    return s;
  }
  [[noreturn]] void fail_number(std::string_view s) {
    fail_at(static_cast<size_t>(s.data() - text_.data()), "`" + std::string(s.substr(0, 40)) + "` is no " + kind());
  }
  std::string kind() const {
    return is_bool(type_.dtype)
               ? "boolean: true or false"
               : "number of type " + std::string(name(type_.dtype)) +
                     (is_float(type_.dtype) ? ": it needs a decimal point, or as many bits as the type has" : "");
  }
  static bool number(std::string_view s, bool& x) {
    x = s == "true" || s == "1";
    return x || s == "false" || s == "0";
  }
  template <class T>
  static bool number(std::string_view s, T& x) {
    bool negative = s[0] == '-', hex = s.size() > 2 && s[0] == '0' && s[1] == 'x';
    if constexpr (is_real_number<T>) {
      if (!hex && is_small_float<T>) {
        double number = 0;
        const bool is_number = parse_real(s, number);
        x = static_cast<T>(number);
        return is_number;
      }
      if constexpr (!is_small_float<T>)
        if (!hex) return parse_real(s, x);
      Unsigned<T> bits = 0;
      auto r = std::from_chars(s.data() + 2, s.data() + s.size(), bits, 16);
      x = std::bit_cast<T>(bits);
      return r.ec == std::errc() && r.ptr == s.data() + s.size() && s.size() - 2 <= 2 * sizeof(T);
    } else {
      bool minus_hex = negative && s.size() > 3 && s[1] == '0' && s[2] == 'x';
      uint64_t u = 0;
      auto r = hex || minus_hex ? std::from_chars(s.data() + (minus_hex ? 3 : 2), s.data() + s.size(), u, 16)
                                : std::from_chars(s.data() + negative, s.data() + s.size(), u);
      if (r.ec != std::errc() || r.ptr != s.data() + s.size()) return false;
      auto top = static_cast<uint64_t>(std::numeric_limits<T>::max());
      x = static_cast<T>(negative ? Unsigned<T>(0) - static_cast<Unsigned<T>>(u) : static_cast<Unsigned<T>>(u));
      if (negative) return u == 0 || (std::is_signed_v<T> && u <= top + 1);
      return u <= (hex ? uint64_t(std::numeric_limits<Unsigned<T>>::max()) : top);
    }
  }

  // ---- blobs ----
  // The hexadecimal digits of "0x..."; nothing else may follow.
  std::string_view digits() {
    size_t close = text_.find('"', place_ + 1);
    if (close == std::string_view::npos) fail("this literal is not closed");
    std::string_view hex = text_.substr(place_ + 1, close - place_ - 1);
    if (hex.substr(0, 2) != "0x") fail("expected `\"0x...\"`");
    hex.remove_prefix(2);
    for (size_t i = 0; i < hex.size(); ++i) {
      if (hex_digit(hex[i]) < 0) fail_at(place_ + 3 + i, "this is no hexadecimal digit");
      if ((i & 0xFFFFFF) == 0) poll();
    }
    if (hex.size() % 2) fail("the literal has an odd number of hexadecimal digits");
    size_t start = place_;
    place_ = close + 1;
    end();
    place_ = start;
    return hex;
  }
  static uint8_t byte(std::string_view hex, size_t i) {
    return static_cast<uint8_t>(hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]));
  }
  // The i-th number, whose bytes stand in little-endian order.
  template <class T>
  static T value(std::string_view hex, size_t i) {
    Unsigned<T> bits = 0;
    for (size_t k = 0; k < sizeof(T); ++k)
      bits |= static_cast<Unsigned<T>>(Unsigned<T>(byte(hex, i * sizeof(T) + k)) << (8 * k));
    return std::bit_cast<T>(bits);
  }
  // Up to 8 booleans may be packed into a byte, where 0x01 is the first of them.
  static bool is_splat_byte(uint8_t b, int64_t n) { return b == 0 || b == 0xFF || (b == 1 && n > 8); }

  graph::Tensor blob(int64_t n) {
    std::string_view hex = digits();
    size_t bytes = hex.size() / 2, width = size_of(type_.dtype);
    auto count = static_cast<size_t>(n);
    bool packed = is_bool(type_.dtype) && bytes != count && bytes == (count + 7) / 8;
    if (bytes == 0 ? count != 0 : !packed && (bytes % width != 0 || bytes / width != count)) {
      if (std::optional<Scalar> x = splat(); x && n <= largest_splat / static_cast<int64_t>(width))
        return graph::full(type_, *x);
      fail("the literal has " + std::to_string(bytes) + " bytes, which is not what " + graph::hlo_text(type_) +
           " takes");
    }
    graph::Tensor t = graph::allocate(type_);
    RowMajorWalk walk(type_.shape);
    visit(type_.dtype, [&]<class T>() {
      T* to = t.as<T>();
      for (size_t i = 0; i < count; ++i, walk.next()) {
        if ((i & 0xFFFFF) == 0) poll();
        if constexpr (std::is_same_v<T, bool>)
          to[walk.position()] = packed ? (byte(hex, i / 8) >> (i % 8)) & 1 : byte(hex, i) != 0;
        else
          to[walk.position()] = value<T>(hex, i);
      }
    });
    return t;
  }

  std::string_view text_;
  size_t place_ = 0;
  const graph::TensorType& type_;
  Position at_;
  std::vector<int64_t> steps_;
  size_t read_ = 0;  // numbers of a list
};

}  // namespace

graph::Tensor dense_tensor(const Dense& d, Position at) { return DenseReader(d, at).tensor(); }
std::optional<Scalar> dense_splat(const Dense& d, Position at) { return DenseReader(d, at).splat(); }

}  // namespace anvil::stablehlo
