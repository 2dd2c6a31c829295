#include "backend/stablehlo/numbers.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>

#include "backend/stablehlo/text_reader.h"

namespace anvil::stablehlo {
namespace {

// 10^0 to 10^22 are doubles without rounding.
constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

struct Decimal {
  uint64_t digits = 0;  // the first 19 significant ones
  int count = 0;        // of them
  int64_t exponent = 0;
  bool negative = false, exact = true;
};

// Any number of digits after the ones in front of *p.
void read_digits(const char*& p, const char* end, Decimal& d, bool fraction) {
  for (; p < end && is_digit(*p); ++p) {
    if (d.count == 19) {
      d.exact = d.exact && *p == '0';
      d.exponent += !fraction;
      continue;
    }
    d.digits = d.digits * 10 + static_cast<uint64_t>(*p - '0');
    d.count += d.digits != 0;
    d.exponent -= fraction;
  }
}

bool scan(std::string_view text, Decimal& d) {
  const char *p = text.data(), *end = p + text.size();
  if (p < end && *p == '-') d.negative = true, ++p;
  const char* first = p;
  read_digits(p, end, d, false);
  if (p == first || p == end || *p != '.') return false;
  ++p;
  read_digits(p, end, d, true);
  if (p == end) return true;
  if (*p != 'e' && *p != 'E') return false;
  ++p;
  bool down = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) ++p;
  first = p;
  int64_t e = 0;
  for (; p < end && is_digit(*p); ++p)
    if (e < 100000) e = e * 10 + (*p - '0');
  d.exponent += down ? -e : e;
  return p == end && p != first;
}

// A product or quotient of two exact doubles is rounded once (Clinger 1990). As a float it is
// rounded twice, which matters only where the double lies half-way between two floats.
template <class T>
bool fast(const Decimal& d, T& value) {
  if (d.digits == 0) {
    value = d.negative ? T(-0.0) : T(0);
    return d.exact;
  }
  if (!d.exact || d.digits > (uint64_t(1) << 53) || d.exponent < -22 || d.exponent > 22) return false;
  auto x = static_cast<double>(d.digits);
  x = d.exponent < 0 ? x / powers[-d.exponent] : x * powers[d.exponent];
  if constexpr (std::is_same_v<T, float>) {
    constexpr uint64_t below = (uint64_t(1) << 29) - 1;  // bits of a double that a float lacks
    bool half = (std::bit_cast<uint64_t>(x) & below) == (below + 1) / 2;
    if (half || x < 1.2e-38 || x > 3.4e38) return false;
  }
  value = static_cast<T>(d.negative ? -x : x);
  return true;
}

}  // namespace

size_t number_end(std::string_view text, size_t start) {
  size_t end = start;
  bool hex = false;
  for (; end < text.size(); ++end) {
    char c = text[end];
    if (is_digit(c) || c == '.') continue;
    if (is_letter(c)) {
      hex = hex || c == 'x';
      continue;
    }
    bool sign = (c == '-' || c == '+') && (end == start || (!hex && (text[end - 1] | 0x20) == 'e'));
    if (!sign) break;
  }
  return end;
}

template <class T>
bool parse_real(std::string_view text, T& value) {
  Decimal d;
  if (!scan(text, d)) return false;
  if (fast(d, value)) return true;
  char small[64];
  std::string large;
  const char* digits = small;
  if (text.size() < sizeof small) {
    std::memcpy(small, text.data(), text.size());
    small[text.size()] = '\0';
  } else {
    large = text;
    digits = large.c_str();
  }
  if constexpr (std::is_same_v<T, float>)
    value = std::strtof(digits, nullptr);
  else
    value = std::strtod(digits, nullptr);
  return true;
}

template bool parse_real<float>(std::string_view, float&);
template bool parse_real<double>(std::string_view, double&);

}  // namespace anvil::stablehlo
