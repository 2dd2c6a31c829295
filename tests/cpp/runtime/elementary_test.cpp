// The elementary functions against the C library in a wider type, at special values, and
// against themselves: every width, every instruction set and apply() give the same bits.
#include <gtest/gtest.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>
#include "runtime/elementary/table.h"

namespace {

using namespace anvil::elementary;
using F = Function;
template <class T>
constexpr T inf = std::numeric_limits<T>::infinity();
template <class T>
constexpr T not_a_number = std::numeric_limits<T>::quiet_NaN();

std::vector<Function> all_functions() {
  std::vector<Function> list;
  for (int i = 0; i < int(F::count); ++i) list.push_back(Function(i));
  return list;
}

// ---- references --------------------------------------------------------------------
// What a function should be, its largest error in ulps for floats and doubles, and where
// its arguments are interesting.
struct Case {
  Function function;
  long double (*reference)(long double, long double);
  double ulps_f32, ulps_f64;
  double low, high;
};
// One step of Newton in long double, from our result.
long double erf_inv(long double x) {
  long double y = call(F::erf_inv, double(x));
  if (!std::isfinite(y) || y == 0) return y;
  long double residual =
      std::fabs(x) < 0.5 ? std::erf(y) - x : std::copysign(1.0L, x) * ((1 - std::fabs(x)) - std::erfc(std::fabs(y)));
  return y - residual * 0.886226925452758013649L * std::exp(y * y);
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
    {F::tan, REFERENCE(std::tan(x)), 1.52, 1.4, -1e5, 1e5},
    {F::asin, REFERENCE(std::asin(x)), 3, 3, -1, 1},
    {F::acos, REFERENCE(std::acos(x)), 3, 3, -1, 1},
    {F::atan, REFERENCE(std::atan(x)), 1.03, 1.1, -5, 5},
    {F::sinh, REFERENCE(std::sinh(x)), 3, 3, -90, 90},
    {F::cosh, REFERENCE(std::cosh(x)), 3, 3, -90, 90},
    {F::tanh, REFERENCE(std::tanh(x)), 1.01, 1.1, -20, 20},
    {F::asinh, REFERENCE(std::asinh(x)), 3, 3, -10, 10},
    {F::acosh, REFERENCE(std::acosh(x)), 3, 3, 1, 10},
    {F::atanh, REFERENCE(std::atanh(x)), 3, 3, -1, 1},
    {F::logistic, REFERENCE(1 / (1 + std::exp(-x))), 1.08, 1.08, -100, 40},
    {F::erf, REFERENCE(std::erf(x)), 1.01, 1.1, -6, 6},
    {F::erfc, REFERENCE(std::erfc(x)), 2.8, 2.95, -6, 27},
    {F::erf_inv, REFERENCE(erf_inv(x)), 0.51, 2, -1, 1},
    {F::cbrt, REFERENCE(std::cbrt(x)), 1.01, 1.01, -10, 10},
    {F::rsqrt, REFERENCE(1 / std::sqrt(x)), 0.501, 0.501, 0, 10},
    {F::lgamma, REFERENCE(std::lgamma(x)), 0.51, 8, 0, 50},
    {F::pow, REFERENCE(std::pow(x, y)), 1.11, 1.07, 0, 10},
    {F::atan2, REFERENCE(std::atan2(x, y)), 1.6, 1.6, -10, 10},
    {F::fmod, REFERENCE(std::fmod(x, y)), 0, 0, -100, 100},
};

// The distance in units of the spacing of T at the exact result; overflow counts as the
// number after the largest one. Infinite where a NaN, a sign or a zero is wrong.
template <class T>
double error_in_ulps(T got, long double want) {
  using L = std::numeric_limits<T>;
  if (std::isnan(want)) return std::isnan(got) ? 0 : inf<double>;
  if (std::isnan(got) || std::signbit(got) != std::signbit(want)) return inf<double>;
  if (want == 0 || std::isinf(want)) return got == want ? 0 : inf<double>;
  long double next = std::ldexp(1.0L, L::max_exponent);
  if (std::isinf(got) && std::fabs(want) >= next) return 0;
  long double value = std::isinf(got) ? std::copysign(next, want) : (long double)got;
  int exponent = std::max(std::ilogb(want), L::min_exponent - 1);
  return double(std::ldexp(std::fabs(value - want), L::digits - 1 - exponent));
}

template <class T>
const std::vector<T>& special_values() {
  using L = std::numeric_limits<T>;
  static const std::vector<T> values = [] {
    std::vector<T> v = {0,
                        1,
                        2,
                        T(0.5),
                        T(0.75),
                        T(1.5),
                        3,
                        7,
                        33,
                        T(0.1),
                        L::min(),
                        L::denorm_min(),
                        L::min() / 2,
                        L::max(),
                        inf<T>,
                        L::epsilon(),
                        T(0x1p15),
                        T(0x1p26),
                        T(1e22),
                        T(1e30),
                        T(3.14159265358979),
                        T(1.5707963267948966),
                        T(0.34657359),
                        T(0.69314718),
                        T(88.7228391),
                        T(103.97),
                        T(709.782712893384),
                        T(745.1332191),
                        T(708.396418532264),
                        T(36.7368),
                        T(17.33),
                        T(9.2),
                        T(26.5),
                        T(5.92)};
    for (T x : std::vector<T>(v)) v.push_back(std::nextafter(x, T(0))), v.push_back(std::nextafter(x, inf<T>));
    for (T x : std::vector<T>(v)) v.push_back(-x);
    v.push_back(not_a_number<T>);
    return v;
  }();
  return values;
}

// Special values, any bits, moderate exponents, and the interesting range.
template <class T>
std::vector<T> arguments(size_t n, double low, double high, int seed) {
  std::vector<T> x = special_values<T>();
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(low, high), exponent(-30, 30);
  while (x.size() < n) {
    std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t> bits = random();
    T any;
    std::memcpy(&any, &bits, sizeof any);
    x.push_back(any);
    x.push_back(T(std::exp2(exponent(random)) * (bits & 1 ? 1 : -1)));
    x.push_back(T(uniform(random)));
    x.push_back(T(uniform(random)));
  }
  x.resize(n);
  return x;
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
    double error = error_in_ulps(out[i], c.reference(x[i], y[i]));
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
                     {F::lgamma, -1, i},
                     {F::lgamma, 1, 0}};
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

// ---- the table -----------------------------------------------------------------------
TEST(Elementary, Names) {
  EXPECT_EQ(all_functions().size(), 47u);
  for (F f : all_functions()) EXPECT_EQ(find(name(f)), f);
  EXPECT_EQ(find("log1p"), F::log1p);
  EXPECT_EQ(find("nonsense"), std::nullopt);
  EXPECT_EQ(arity(F::trigamma), 1);
  EXPECT_EQ(arity(F::pow), 2);
  EXPECT_EQ(arity(F::polygamma), 2);
  EXPECT_EQ(arity(F::betainc), 3);
  EXPECT_EQ(symbol_name(F::exp, true, 1), "anvil_exp_f64");
  EXPECT_EQ(symbol_name(F::erf_inv, false, 16), "anvil_erf_inv_f32x16");
}

std::map<std::string, void*> table_of(Isa isa) {
  std::map<std::string, void*> table;
  for (const Symbol& s : symbols(isa)) EXPECT_TRUE(table.emplace(s.name, s.address).second) << s.name;
  return table;
}

// Widths in lanes of floats; of doubles half as many.
std::vector<int> widths(Isa isa) {
#if defined(__x86_64__)
  return isa == Isa::avx512 ? std::vector{8, 16} : isa == Isa::avx2 ? std::vector{8} : std::vector<int>{};
#else
  return {4};
#endif
}

TEST(Elementary, SymbolsAreComplete) {
  for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    auto table = table_of(isa);
    EXPECT_EQ(table.size(), all_functions().size() * 2 * (1 + widths(isa).size()));
    for (F f : all_functions()) {
      EXPECT_TRUE(table.count(symbol_name(f, false, 1)) && table.count(symbol_name(f, true, 1)));
      for (int w : widths(isa))
        EXPECT_TRUE(table.count(symbol_name(f, false, w)) && table.count(symbol_name(f, true, w / 2))) << name(f) << w;
    }
  }
}

// ---- the same bits everywhere ----------------------------------------------------------
// Calls of the vector functions as generated code makes them, with vectors in registers;
// in assembly, because C++ without -mavx has no such call.
#if defined(__x86_64__)
#define CALL_WITH(name, reg)                                                              \
  __attribute__((naked)) void name(void*, const void*, const void*, const void*, void*) { \
    __asm__(                                                                              \
        "pushq %rbx\n movq %r8, %rbx\n"                                                   \
        "vmovups (%rsi), %" reg "0\n vmovups (%rdx), %" reg "1\n vmovups (%rcx), %" reg   \
        "2\n call *%rdi\n"                                                                \
        "vmovups %" reg "0, (%rbx)\n vzeroupper\n popq %rbx\n ret");                      \
  }
CALL_WITH(call_ymm, "ymm")
CALL_WITH(call_zmm, "zmm")
template <class T>
void call_vector(void* f, int lanes, int, const T* a, const T* b, const T* c, T* out) {
  (lanes * sizeof(T) == 64 ? call_zmm : call_ymm)(f, a, b, c, out);
}
#else
template <class T>
void call_vector(void* f, int, int count, const T* a, const T* b, const T* c, T* out) {
  typedef T V __attribute__((vector_size(16)));
  V x, y, z;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  std::memcpy(&z, c, sizeof z);
  x = count == 1 ? reinterpret_cast<V (*)(V)>(f)(x)
      : count == 2 ? reinterpret_cast<V (*)(V, V)>(f)(x, y)
                   : reinterpret_cast<V (*)(V, V, V)>(f)(x, y, z);
  std::memcpy(out, &x, sizeof x);
}
#endif
template <class T>
void run(void* f, int lanes, int count, const T* a, const T* b, const T* c, T* out, size_t n) {
  for (size_t i = 0; i + lanes <= n; i += lanes) {
    if (lanes > 1)
      call_vector(f, lanes, count, a + i, b + i, c + i, out + i);
    else
      out[i] = count == 1   ? reinterpret_cast<T (*)(T)>(f)(a[i])
               : count == 2 ? reinterpret_cast<T (*)(T, T)>(f)(a[i], b[i])
                            : reinterpret_cast<T (*)(T, T, T)>(f)(a[i], b[i], c[i]);
  }
}

template <class T>
auto bits_but_sign_of_nan(T x) {
  if (std::isnan(x)) x = std::fabs(x);
  return std::bit_cast<std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>(x);
}

template <class T>
void check_same_bits() {
  constexpr size_t n = 2048;
  constexpr bool f64 = sizeof(T) == 8;
  std::vector<T> a = arguments<T>(n, -20, 20, 5), b = arguments<T>(n, -5, 5, 6), c = arguments<T>(n, 0, 1, 8), out(n),
                 want(n);
  std::shuffle(b.begin(), b.end(), std::mt19937_64(7));
  for (size_t i = 0; i < n; i += 3) b[i] = T(2);
  auto compare = [&](F f, const std::string& what) {
    size_t i = 0;
    while (i < n && bits_but_sign_of_nan(out[i]) == bits_but_sign_of_nan(want[i])) ++i;
    if (i < n)
      ADD_FAILURE() << name(f) << " " << what << " at " << std::hexfloat << a[i] << " " << b[i] << " is " << out[i]
                    << ", not " << want[i];
  };
  for (F f : all_functions()) {
    const T* x = f == F::polygamma ? b.data() : a.data();
    const T* y = f == F::polygamma ? a.data() : b.data();
    const T* z = c.data();
    const int count = arity(f);
    run(table_of(Isa::baseline)[symbol_name(f, f64, 1)], 1, count, x, y, z, want.data(), n);
    for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
      if (isa > detected_isa()) continue;
      auto table = table_of(isa);
      run(table[symbol_name(f, f64, 1)], 1, count, x, y, z, out.data(), n);
      compare(f, "scalar");
      for (int w : widths(isa)) {
        int lanes = f64 ? w / 2 : w;
        run(table[symbol_name(f, f64, lanes)], lanes, count, x, y, z, out.data(), n);
        compare(f, "x" + std::to_string(lanes));
      }
    }
    for (size_t start = 0, length = 0; start < n; start += length, length = (length + 1) % 37)
      apply(f, {x + start, y + start, z + start}, out.data() + start, int64_t(std::min(length, n - start)));
    compare(f, "apply");
    for (size_t i = 0; i < n; ++i) out[i] = call(f, x[i], y[i], z[i]);
    compare(f, "call");
  }
}
TEST(Elementary, FloatsAreTheSameBitsEverywhere) { check_same_bits<float>(); }
TEST(Elementary, DoublesAreTheSameBitsEverywhere) { check_same_bits<double>(); }

}  // namespace
