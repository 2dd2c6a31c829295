// The values of the elementary functions: against the C library in a wider type, and at special values.
#include <gtest/gtest.h>
#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>
#include "runtime/elementary/table.h"
#include "runtime/elementary_arguments.h"
#include "runtime/worst_values.h"

namespace {

using namespace anvil::elementary;
using F = Function;

// ---- references --------------------------------------------------------------------
// What a function should be, its largest error in ulps for floats and doubles, and where
// its arguments are interesting.
struct Case {
  Function function;
  long double (*reference)(long double, long double);
  double ulps_f32, ulps_f64;
  double low, high;
  // No formula keeps the zeros at negative x, no reference here the one of digamma: errors count in spacings at
  // least of these numbers for x < 0 and x > 0.
  double least_below = 0, least = 0;
};
// One step of Newton in long double, from our result.
long double erf_inv(long double x) {
  long double y = call(F::erf_inv, double(x));
  if (!std::isfinite(y) || y == 0) return y;
  long double residual =
      std::fabs(x) < 0.5 ? std::erf(y) - x : std::copysign(1.0L, x) * ((1 - std::fabs(x)) - std::erfc(std::fabs(y)));
  return y - residual * 0.886226925452758013649L * std::exp(y * y);
}
// digamma (n = 0) and trigamma (n = 1): shifted beyond 20, then the asymptotic series (DLMF 5.11.2, 5.15.8).
long double polygamma(int n, long double x) {
  static const long double bernoulli[] = {1 / 6.0L,  -1 / 30.0L,     1 / 42.0L, -1 / 30.0L,
                                          5 / 66.0L, -691 / 2730.0L, 7 / 6.0L,  -3617 / 510.0L};
  constexpr long double pi = 3.141592653589793238463L;
  if (x <= 0 && x == std::floor(x)) return n == 1 && std::isfinite(x) ? INFINITY : NAN;
  if (x < 0) {
    const long double r = x - std::nearbyint(x), sine = std::sin(pi * r);
    if (n == 0) return polygamma(0, 1 - x) - pi * std::cos(pi * r) / sine;
    return pi / sine * (pi / sine) - polygamma(1, 1 - x);
  }
  if (x == INFINITY) return n == 0 ? x : 0;
  long double sum = 0;
  for (; x < 20; x += 1) sum += n == 0 ? -1 / x : 1 / x / x;
  const long double z = 1 / x / x;
  long double power = n == 0 ? -z : z / x;
  sum += n == 0 ? std::log(x) - 0.5L / x : 1 / x + 0.5L * z;
  for (int k = 1; k <= 8; ++k, power *= z) sum += bernoulli[k - 1] * (n == 0 ? power / (2 * k) : power);
  return sum;
}
#define REFERENCE(expression)                       \
  [](long double x, long double y) -> long double { \
    (void)y;                                        \
    return expression;                              \
  }
const Case cases[] = {
    {F::exp, REFERENCE(std::exp(x)), 0.9, 1.01, -110, 95},
    {F::expm1, REFERENCE(std::expm1(x)), 1.1, 1.1, -40, 90},
    {F::log, REFERENCE(std::log(x)), 0.95, 0.95, 0, 10},
    {F::log1p, REFERENCE(std::log1p(x)), 0.95, 0.95, -1, 10},
    {F::log2, REFERENCE(std::log2(x)), 1.04, 1.0, 0, 10},
    {F::log10, REFERENCE(std::log10(x)), 1.1, 1.1, 0, 10},
    {F::sin, REFERENCE(std::sin(x)), 1.04, 1.04, -1e5, 1e5},
    {F::cos, REFERENCE(std::cos(x)), 1.06, 1.04, -1e5, 1e5},
    {F::tan, REFERENCE(std::tan(x)), 1.1, 1.1, -1e5, 1e5},
    {F::asin, REFERENCE(std::asin(x)), 1.1, 1.1, -1, 1},
    {F::acos, REFERENCE(std::acos(x)), 1.1, 1.1, -1, 1},
    {F::atan, REFERENCE(std::atan(x)), 1.03, 1.1, -5, 5},
    {F::sinh, REFERENCE(std::sinh(x)), 1.1, 1.1, -90, 90},
    {F::cosh, REFERENCE(std::cosh(x)), 1.1, 1.1, -90, 90},
    {F::tanh, REFERENCE(std::tanh(x)), 1.01, 1.1, -20, 20},
    {F::asinh, REFERENCE(std::asinh(x)), 1.1, 1.1, -10, 10},
    {F::acosh, REFERENCE(std::acosh(x)), 1.1, 1.1, 1, 10},
    {F::atanh, REFERENCE(std::atanh(x)), 1.1, 1.1, -1, 1},
    {F::logistic, REFERENCE(1 / (1 + std::exp(-x))), 1.08, 1.08, -100, 40},
    {F::erf, REFERENCE(std::erf(x)), 1.01, 1.1, -6, 6},
    {F::erfc, REFERENCE(std::erfc(x)), 1.1, 1.1, -6, 27},
    {F::erf_inv, REFERENCE(erf_inv(x)), 1.1, 1.1, -1, 1},
    {F::cbrt, REFERENCE(std::cbrt(x)), 0.501, 0.501, -10, 10},
    {F::rsqrt, REFERENCE(1 / std::sqrt(x)), 0.501, 0.501, 0, 10},
    {F::lgamma, REFERENCE(std::lgamma(x)), 2, 2, 0, 50, 1},
    {F::digamma, REFERENCE(polygamma(0, x)), 2, 2, 0, 50, 1, 0x1p-4},
    {F::trigamma, REFERENCE(polygamma(1, x)), 2, 2, 0, 50},
    {F::pow, REFERENCE(std::pow(x, y)), 1.11, 1.07, 0, 10},
    {F::atan2, REFERENCE(std::atan2(x, y)), 1.0, 1.0, -10, 10},
    {F::fmod, REFERENCE(std::fmod(x, y)), 0, 0, -100, 100},
};

// The distance in units of the spacing of T at the exact result; overflow counts as the
// number after the largest one. Infinite where a NaN, a sign or a zero is wrong.
template <class T>
double error_in_ulps(T got, long double want, double least = 0) {
  using L = std::numeric_limits<T>;
  if (std::isnan(want)) return std::isnan(got) ? 0 : inf<double>;
  if (std::isnan(got) || (std::signbit(got) != std::signbit(want) && least == 0)) return inf<double>;
  if (want == 0 || std::isinf(want)) return got == want ? 0 : inf<double>;
  long double next = std::ldexp(1.0L, L::max_exponent);
  if (std::isinf(got) && std::fabs(want) >= next) return 0;
  long double value = std::isinf(got) ? std::copysign(next, want) : (long double)got;
  int exponent = std::max(std::ilogb(std::fmax(std::fabs(want), static_cast<long double>(least))), L::min_exponent - 1);
  return double(std::ldexp(std::fabs(value - want), L::digits - 1 - exponent));
}

template <class T>
void check_accuracy(const Case& c, size_t n) {
  std::vector<T> x = arguments<T>(n, c.low, c.high, 1), y(n), out(n);
  if (arity(c.function) == 2) {
    y = arguments<T>(n, -10, 10, 2);
    size_t s = special_values<T>().size(), i = 0;  // every pair of special values
    for (T a : special_values<T>())
      for (T b : special_values<T>())
        if (i < n) x[i] = a, y[i] = b, ++i;
    std::shuffle(x.begin() + std::min(n, s * s), x.end(), std::mt19937_64(3));
  }
  apply(c.function, {x.data(), y.data()}, out.data(), int64_t(n));
  double worst = 0, limit = sizeof(T) == 4 ? c.ulps_f32 : c.ulps_f64;
  size_t at = 0;
  for (size_t i = 0; i < n; ++i) {
    double error = error_in_ulps(out[i], c.reference(x[i], y[i]), x[i] < 0 ? c.least_below : c.least);
    if (!(error <= worst)) worst = error, at = i;
  }
  EXPECT_LE(worst, limit) << name(c.function) << " at " << std::hexfloat << x[at] << " " << y[at] << " is " << out[at]
                          << ", should be " << double(c.reference(x[at], y[at]));
  if (std::getenv("ANVIL_SHOW_ULPS"))
    std::printf("%-8s %s %.3f at %a\n", name(c.function), sizeof(T) == 4 ? "f32" : "f64", worst, double(x[at]));
}

TEST(Elementary, AccuracyOfFloats) {
  for (const Case& c : cases) check_accuracy<float>(c, 60000);
}
TEST(Elementary, AccuracyOfDoubles) {
  for (const Case& c : cases) check_accuracy<double>(c, 60000);
}

// The largest errors that were found, and where formulas meet. Beyond what the references above can tell.
TEST(Elementary, WorstArguments) {
  for (const WorstValue& v : worst_values) {
    const Case& c =
        *std::find_if(std::begin(cases), std::end(cases), [&](const Case& k) { return k.function == v.function; });
    const double least = v.x < 0 ? c.least_below : 0;
    const long double want = static_cast<long double>(v.high) + v.low;
    EXPECT_LE(error_in_ulps(call(v.function, v.x), want, least), c.ulps_f64)
        << name(v.function) << std::hexfloat << v.x;
    const auto x = static_cast<float>(v.x);
    if (x != v.x) continue;
    EXPECT_LE(error_in_ulps(call(v.function, x), want, least), c.ulps_f32) << name(v.function) << std::hexfloat << x;
  }
}

// ---- special values --------------------------------------------------------------------
// The accuracy tests meet these, too; here they are spelled out.
template <class T>
void check_special_values() {
  using L = std::numeric_limits<T>;
  const T i = inf<T>, nan = not_a_number<T>, tiny = L::denorm_min();
  struct {
    F f;
    T x, want;
  } const unary[] = {{F::exp, -i, 0},
                     {F::exp, i, i},
                     {F::exp, T(-0.), 1},
                     {F::exp, L::max(), i},
                     {F::exp, -L::max(), 0},
                     {F::expm1, -i, -1},
                     {F::expm1, T(-0.), T(-0.)},
                     {F::expm1, tiny, tiny},
                     {F::log, 0, -i},
                     {F::log, T(-0.), -i},
                     {F::log, -1, nan},
                     {F::log, i, i},
                     {F::log, 1, 0},
                     {F::log1p, -1, -i},
                     {F::log1p, T(-0.), T(-0.)},
                     {F::log1p, -2, nan},
                     {F::log2, 8, 3},
                     {F::log2, tiny, T(L::min_exponent - L::digits)},
                     {F::log10, 1, 0},
                     {F::log10, 10, 1},
                     {F::log10, 1000, 3},
                     {F::log10, T(1e10), 10},
                     {F::sin, T(-0.), T(-0.)},
                     {F::sin, i, nan},
                     {F::cos, 0, 1},
                     {F::cos, -i, nan},
                     {F::tan, T(-0.), T(-0.)},
                     {F::asin, T(1.5), nan},
                     {F::acos, 1, 0},
                     {F::atan, T(-0.), T(-0.)},
                     {F::acosh, T(0.5), nan},
                     {F::atanh, 1, i},
                     {F::tanh, i, 1},
                     {F::tanh, -i, -1},
                     {F::tanh, T(-0.), T(-0.)},
                     {F::logistic, -i, 0},
                     {F::logistic, i, 1},
                     {F::logistic, 0, T(0.5)},
                     {F::erf, -i, -1},
                     {F::erf, T(-0.), T(-0.)},
                     {F::erfc, i, 0},
                     {F::erfc, -i, 2},
                     {F::erf_inv, 1, i},
                     {F::erf_inv, -1, -i},
                     {F::erf_inv, T(-0.), T(-0.)},
                     {F::erf_inv, 2, nan},
                     {F::cbrt, -27, -3},
                     {F::rsqrt, 0, i},
                     {F::rsqrt, T(-0.), -i},
                     {F::rsqrt, i, 0},
                     {F::rsqrt, -1, nan},
                     {F::asinh, T(-0.), T(-0.)},
                     {F::atanh, T(-0.), T(-0.)},
                     {F::sinh, -i, -i},
                     {F::cosh, -i, i},
                     {F::asinh, -i, -i},
                     {F::acosh, i, i},
                     {F::acosh, 1, 0},
                     {F::atanh, -1, -i},
                     {F::erf_inv, tiny, tiny},
                     {F::lgamma, -1, i},
                     {F::lgamma, 0, i},
                     {F::lgamma, T(-0.), i},
                     {F::lgamma, i, i},
                     {F::lgamma, -i, i},
                     {F::lgamma, L::max(), i},
                     {F::lgamma, -L::max(), i},
                     {F::lgamma, 1, 0},
                     {F::lgamma, 2, 0},
                     {F::digamma, 0, nan},
                     {F::digamma, -3, nan},
                     {F::digamma, -i, nan},
                     {F::digamma, i, i},
                     {F::digamma, tiny, -i},
                     {F::digamma, -tiny, i},
                     {F::trigamma, 0, i},
                     {F::trigamma, -3, i},
                     {F::trigamma, -i, nan},
                     {F::trigamma, i, 0},
                     {F::trigamma, -tiny, i}};
  for (auto& c : unary)
    EXPECT_EQ(error_in_ulps(call(c.f, c.x), c.want), 0) << name(c.f) << " " << c.x << " is " << call(c.f, c.x);
  struct {
    F f;
    T x, y, want;
  } const binary[] = {{F::pow, 0, 0, 1},   {F::pow, nan, 0, 1},           {F::pow, 1, nan, 1},
                      {F::pow, -1, i, 1},  {F::pow, T(-0.), -3, -i},      {F::pow, T(-0.), -2, i},
                      {F::pow, -2, 3, -8}, {F::pow, -2, T(0.5), nan},     {F::pow, T(0.5), -i, i},
                      {F::pow, -i, 3, -i}, {F::atan2, T(-0.), 1, T(-0.)}, {F::fmod, -7, 3, -1},
                      {F::fmod, 7, -3, 1}, {F::fmod, -6, 3, T(-0.)},      {F::fmod, 1, 0, nan},
                      {F::fmod, 1, i, 1},  {F::fmod, i, 1, nan}};
  for (auto& c : binary)
    EXPECT_EQ(error_in_ulps(call(c.f, c.x, c.y), c.want), 0)
        << name(c.f) << " " << c.x << " " << c.y << " is " << call(c.f, c.x, c.y);
  for (F f : all_functions()) {  // NaN stays NaN, also in vectors
    const T na = sizeof(T) == 4 ? T(std::bit_cast<float>(0x7fc007a2u)) : T(std::bit_cast<double>(0x7ff80000000007a2u));
    std::vector<T> x(20, na), y(20, 2), out(20);
    apply(f, {x.data(), y.data(), y.data()}, out.data(), 20);
    for (T r : out) EXPECT_TRUE(std::isnan(r)) << name(f);
    if (arity(f) == 1) {
      EXPECT_EQ(std::memcmp(&out[7], &na, sizeof(T) - 1), 0) << name(f);
    }
  }
}
TEST(Elementary, SpecialValuesOfFloats) { check_special_values<float>(); }
TEST(Elementary, SpecialValuesOfDoubles) { check_special_values<double>(); }

// Processors take long for a product that underflows; a masked softmax has many. Not for the instruction of AVX-512 that
// multiplies by a power of two.
template <class T>
void check_zeros_far_out() {
  const struct {
    F f;
    T x, y, want;
  } far_out[] = {{F::exp, T(-1e9), 0, 0},      {F::exp, -inf<T>, 0, 0},      {F::logistic, T(-1e9), 0, 0},
                 {F::logistic, T(1e9), 0, 1},  {F::logistic, -inf<T>, 0, 0}, {F::erfc, T(1e3), 0, 0},
                 {F::erfc, inf<T>, 0, 0},      {F::erfc, T(-1e3), 0, 2},     {F::pow, T(0.5), T(1e9), 0},
                 {F::pow, T(-0.5), T(1e9), 0}, {F::pow, T(0.5), inf<T>, 0},  {F::tanh, T(-1e9), 0, -1},
                 {F::expm1, T(-1e9), 0, -1}};
  for (const auto& c : far_out) {
    std::vector<T> x(20, c.x), y(20, c.y), out(20);
    std::feclearexcept(FE_ALL_EXCEPT);
    EXPECT_EQ(call(c.f, c.x, c.y), c.want) << name(c.f) << " " << c.x << " " << c.y;
    if (detected_isa() != Isa::avx512) apply(c.f, {x.data(), y.data()}, out.data(), 20);
    EXPECT_FALSE(std::fetestexcept(FE_UNDERFLOW)) << name(c.f) << " " << c.x << " " << c.y;
    apply(c.f, {x.data(), y.data()}, out.data(), 20);
    EXPECT_EQ(out, std::vector<T>(20, c.want)) << name(c.f) << " " << c.x << " " << c.y;
  }
}
TEST(Elementary, ZerosFarOutAreNoUnderflow) {
  check_zeros_far_out<float>();
  check_zeros_far_out<double>();
}

}  // namespace
