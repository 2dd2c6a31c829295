// Decimal numbers of StableHLO text. A float is rounded once, from its digits.
#pragma once
#include <string_view>

namespace anvil::stablehlo {

// Where the characters of a number that starts at `start` end: digits, letters, a point, signs of exponents.
size_t number_end(std::string_view text, size_t start);

// -1.5e-03, 1., 12.0E5: digits, a point, an exponent. False for any other text. T: float, double.
template <class T>
bool parse_real(std::string_view digits, T& value);

}  // namespace anvil::stablehlo
