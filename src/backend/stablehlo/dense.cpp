// Dense literals to tensors: splats, nested lists, bit patterns, hexadecimal blobs.
#include <charconv>
#include <cstring>
#include <limits>

#include "backend/stablehlo/layout.h"
#include "backend/stablehlo/syntax.h"

namespace anvil::stablehlo {
namespace {

class DenseReader {
 public:
  DenseReader(const Dense& d, Position at) : text_(d.body), type_(d.type), at_(at) {}

  graph::Tensor read() {
    int64_t n = elements(type_.shape);
    skip();
    if (n == 0) return graph::allocate(type_);
    if (peek() == '"') return blob(n);
    if (peek() != '[') {
      Scalar x = number();
      end();
      return graph::full(type_, x);
    }
    // the text is at least two characters an element, so the size is checked before memory is taken
    if (static_cast<uint64_t>(n) > text_.size())
      refuse(at_, "the literal has fewer numbers than " + graph::hlo_text(type_));
    graph::Tensor t = graph::allocate(type_);
    RowMajorWalk walk(type_.shape);
    list(0, t, walk);
    end();
    return t;
  }

 private:
  char peek() const { return place_ < text_.size() ? text_[place_] : '\0'; }
  void skip() {
    while (place_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[place_])))
        ++place_;
      else if (text_.substr(place_, 2) == "//")
        while (place_ < text_.size() && text_[place_] != '\n') ++place_;
      else
        break;
    }
  }
  void end() {
    skip();
    if (place_ != text_.size()) refuse(at_, "the literal does not fit " + graph::hlo_text(type_));
  }
  void list(size_t dim, const graph::Tensor& t, RowMajorWalk& walk) {
    skip();
    if (dim == type_.shape.size()) {
      graph::set_element(t, walk.position(), number());
      walk.next();
      return;
    }
    if (peek() != '[') refuse(at_, "the nesting of the literal does not fit " + graph::hlo_text(type_));
    ++place_;
    for (int64_t i = 0; i < type_.shape[dim]; ++i) {
      if (i) {
        skip();
        if (peek() != ',') refuse(at_, "a list of the literal is too short for " + graph::hlo_text(type_));
        ++place_;
      }
      list(dim + 1, t, walk);
    }
    skip();
    if (peek() != ']') refuse(at_, "a list of the literal is too long for " + graph::hlo_text(type_));
    ++place_;
  }
  Scalar number() {
    skip();
    size_t start = place_;
    while (place_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[place_])) || std::strchr("+-.", text_[place_])))
      ++place_;
    std::string s(text_.substr(start, place_ - start));
    if (s.empty()) refuse(at_, "expected a number in the literal");
    if (is_bool(type_.dtype)) {
      if (s == "true" || s == "1") return Scalar(true);
      if (s == "false" || s == "0") return Scalar(false);
      refuse(at_, "`" + s + "` is not a boolean");
    }
    return is_float(type_.dtype) ? real(s) : integer(s);
  }
  Scalar real(const std::string& s) {
    if (s.rfind("0x", 0) == 0) {
      uint64_t bits = 0;
      auto r = std::from_chars(s.data() + 2, s.data() + s.size(), bits, 16);
      size_t width = size_of(type_.dtype);
      if (r.ec != std::errc() || r.ptr != s.data() + s.size() || s.size() - 2 > 2 * width)
        refuse(at_, "`" + s + "` is no bit pattern of " + std::string(name(type_.dtype)));
      return type_.dtype == DType::f32 ? Scalar(std::bit_cast<float>(static_cast<uint32_t>(bits)))
                                       : Scalar(std::bit_cast<double>(bits));
    }
    char* stop = nullptr;
    double x =
        type_.dtype == DType::f32 ? static_cast<double>(std::strtof(s.c_str(), &stop)) : std::strtod(s.c_str(), &stop);
    if (*stop != '\0' || s.find_first_not_of("0123456789+-.eE") != std::string::npos)
      refuse(at_, "`" + s + "` is not a number");
    return Scalar(x);
  }
  Scalar integer(const std::string& s) {
    bool negative = s[0] == '-';
    const char* first = s.data() + negative;
    const char* last = s.data() + s.size();
    uint64_t x = 0;
    bool hex = s.size() > 2 + size_t(negative) && first[0] == '0' && first[1] == 'x';
    auto r = hex ? std::from_chars(first + 2, last, x, 16) : std::from_chars(first, last, x);
    if (r.ec != std::errc() || r.ptr != last) refuse(at_, "`" + s + "` is not an integer");
    return visit(type_.dtype, [&]<class T>() -> Scalar {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        using U = std::make_unsigned_t<T>;
        auto top = static_cast<uint64_t>(std::numeric_limits<T>::max());
        bool fits = hex && !negative ? x <= std::numeric_limits<U>::max()
                    : negative       ? std::is_signed_v<T> && x <= top + 1
                                     : x <= top;
        if (!fits) refuse(at_, "`" + s + "` does not fit " + std::string(name(type_.dtype)));
        return Scalar(static_cast<T>(negative ? U(0) - static_cast<U>(x) : static_cast<U>(x)));
      } else
        return Scalar(0);
    });
  }
  graph::Tensor blob(int64_t n) {
    size_t close = text_.rfind('"');
    std::string_view hex =
        text_.substr(place_ + 1, close == std::string_view::npos || close <= place_ ? 0 : close - place_ - 1);
    if (hex.substr(0, 2) != "0x" || hex.size() % 2) refuse(at_, "the hexadecimal literal is malformed");
    hex.remove_prefix(2);
    std::string bytes(hex.size() / 2, '\0');
    for (size_t i = 0; i < bytes.size(); ++i) {
      uint8_t b = 0;
      auto r = std::from_chars(hex.data() + 2 * i, hex.data() + 2 * i + 2, b, 16);
      if (r.ec != std::errc() || r.ptr != hex.data() + 2 * i + 2) refuse(at_, "the hexadecimal literal is malformed");
      bytes[i] = static_cast<char>(b);
    }
    size_t width = size_of(type_.dtype);
    auto count = static_cast<size_t>(n);
    if (is_bool(type_.dtype) && bytes.size() != count) bytes = unpacked(bytes, count);
    bool splat = bytes.size() == width;
    if (!splat && bytes.size() / width != count)
      refuse(at_, "the hexadecimal literal has the wrong number of bytes for " + graph::hlo_text(type_));
    if (bytes.size() % width)
      refuse(at_, "the hexadecimal literal has the wrong number of bytes for " + graph::hlo_text(type_));
    graph::Tensor t = graph::allocate(type_);
    RowMajorWalk walk(type_.shape);
    for (size_t i = 0; i < count; ++i, walk.next())
      std::memcpy(t.as<char>() + static_cast<size_t>(walk.position()) * width, bytes.data() + (splat ? 0 : i * width),
                  width);
    return t;
  }
  // Booleans come as one byte each, as eight to a byte, or as one byte for all.
  std::string unpacked(const std::string& bytes, size_t count) {
    std::string out(count, '\0');
    if (bytes.size() == 1 && (bytes[0] == '\0' || bytes[0] == '\xff'))
      return std::string(count, bytes[0] ? '\1' : '\0');
    if (bytes.size() != (count + 7) / 8)
      refuse(at_, "the hexadecimal literal has the wrong number of bytes for " + graph::hlo_text(type_));
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<char>((bytes[i / 8] >> (i % 8)) & 1);
    return out;
  }

  std::string_view text_;
  size_t place_ = 0;
  graph::TensorType type_;
  Position at_;
};

}  // namespace

graph::Tensor dense_tensor(const Dense& d, Position at) { return DenseReader(d, at).read(); }

}  // namespace anvil::stablehlo
