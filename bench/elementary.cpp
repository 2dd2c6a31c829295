// The largest errors of the elementary functions and their speed: bench/elementary [--fast] [function ...] compiles
// and runs this. Floats: all of them (--fast: each 64th), against our function of doubles; doubles: random ones,
// against libquadmath. ns an element in arrays that fit into the cache, for each instruction set.
#include <quadmath.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "runtime/elementary/kernels.h"
#include "runtime/elementary/table.h"

namespace {

using namespace anvil::elementary;
using F = Function;
using Quad = __float128;

// ---- references ----------------------------------------------------------------------------
Quad erf_inv(Quad x) {  // Newton's steps from the result for doubles
  const Quad size = fabsq(x);
  if (!(size < 1)) return size == 1 ? copysignq(INFINITY, x) : x == x ? Quad(NAN) : x;
  Quad y = call(F::erf_inv, double(size));
  for (int step = 0; step < 3 && y > 0; ++step) {
    const Quad residual = size < 0.5Q ? erfq(y) - size : (1 - size) - erfcq(y);
    y -= residual * 0.886226925452758013649083741670572591Q * expq(y * y);
  }
  return copysignq(size < 1e-30Q ? size * 0.886226925452758013649083741670572591Q : y, x);
}
// The n-th derivative of digamma, n = 0 or 1: shifted beyond 40, then the asymptotic series (DLMF 5.11.2, 5.15.8).
Quad polygamma(int n, Quad x) {
  static const Quad bernoulli[] = {1 / 6.Q,       -1 / 30.Q,       1 / 42.Q,       -1 / 30.Q,
                                   5 / 66.Q,      -691 / 2730.Q,   7 / 6.Q,        -3617 / 510.Q,
                                   43867 / 798.Q, -174611 / 330.Q, 854513 / 138.Q, -236364091 / 2730.Q,
                                   8553103 / 6.Q};
  if (x != x) return x;
  if (x <= 0 && x == floorq(x)) return n == 1 && x > -HUGE_VALQ ? Quad(INFINITY) : Quad(NAN);
  if (x < 0) {
    const Quad r = x - rintq(x), sine = sinq(M_PIq * r);
    if (n == 0) return polygamma(0, 1 - x) - M_PIq * cosq(M_PIq * r) / sine;
    return M_PIq * M_PIq / (sine * sine) - polygamma(1, 1 - x);
  }
  Quad sum = 0;
  for (; x < 40; x += 1) sum += n == 0 ? -1 / x : 1 / (x * x);
  const Quad z = 1 / (x * x);
  Quad power = n == 0 ? -z : z / x;
  sum += n == 0 ? logq(x) - 0.5Q / x : 1 / x + 0.5Q * z;
  for (int k = 1; k <= 13; ++k, power *= z) sum += bernoulli[k - 1] * (n == 0 ? power / (2 * k) : power);
  return sum;
}
Quad lgamma(Quad x) {  // libquadmath's is inexact next to the zeros at negative x
  if (!(x < 0) || x == floorq(x)) return lgammaq(x);
  return logq(M_PIq / fabsq(x * sinq(M_PIq * (x - rintq(x))))) - lgammaq(-x);
}

struct Case {
  F function;
  Quad (*reference)(Quad, Quad);
  double low, high;  // where the arguments are interesting
  int sign;  // 1 and -1: only x of that sign; for -1 errors in spacings of at least 1, as no formula keeps the zeros there
};
#define SIDE(name, sign, low, high, expression)                                                  \
  {                                                                                              \
    F::name, [](Quad x, [[maybe_unused]] Quad y) -> Quad { return expression; }, low, high, sign \
  }
#define CASE(name, low, high, expression) SIDE(name, 0, low, high, expression)
const Case cases[] = {
    CASE(exp, -110, 95, expq(x)),
    CASE(expm1, -40, 90, expm1q(x)),
    CASE(log, 0, 10, logq(x)),
    CASE(log1p, -1, 10, log1pq(x)),
    CASE(log2, 0, 10, log2q(x)),
    CASE(log10, 0, 10, log10q(x)),
    CASE(sin, -20, 20, sinq(x)),
    CASE(cos, -20, 20, cosq(x)),
    CASE(tan, -20, 20, tanq(x)),
    CASE(asin, -1, 1, asinq(x)),
    CASE(acos, -1, 1, acosq(x)),
    CASE(atan, -5, 5, atanq(x)),
    CASE(sinh, -10, 10, sinhq(x)),
    CASE(cosh, -10, 10, coshq(x)),
    CASE(tanh, -10, 10, tanhq(x)),
    CASE(asinh, -10, 10, asinhq(x)),
    CASE(acosh, 1, 10, acoshq(x)),
    CASE(atanh, -1, 1, atanhq(x)),
    CASE(logistic, -40, 40, 1 / (1 + expq(-x))),
    CASE(erf, -6, 6, erfq(x)),
    CASE(erfc, -6, 27, erfcq(x)),
    CASE(erf_inv, -1, 1, erf_inv(x)),
    CASE(cbrt, -10, 10, cbrtq(x)),
    CASE(rsqrt, 0, 10, 1 / sqrtq(x)),
    SIDE(lgamma, 1, 0, 20, lgamma(x)),
    SIDE(lgamma, -1, -20, 0, lgamma(x)),
    SIDE(digamma, 1, 0, 20, polygamma(0, x)),
    SIDE(digamma, -1, -20, 0, polygamma(0, x)),
    CASE(trigamma, 0, 20, polygamma(1, x)),
    CASE(pow, 0, 10, powq(x, y)),
    CASE(atan2, -10, 10, atan2q(x, y)),
};

// ---- errors --------------------------------------------------------------------------------
struct Worst {
  double ulps = 0, x = 0, y = 0;
  void see(double error, double at, double at_y = 0) {
    if (!(error <= ulps)) *this = {error, at, at_y};
  }
};

// The error in spacings of T at the exact result; infinity counts as the power of two after the largest number.
template <class T, class Wide>
double error_in_ulps(T got, Wide want, int exponent) {
  using L = std::numeric_limits<T>;
  if (want != want || got != got) return want != want && got != got ? 0 : INFINITY;
  const Wide next = Wide(L::max()) + Wide(L::max()) * Wide(L::epsilon()) / 2, size = want < 0 ? -want : want;
  if (std::signbit(got) != std::signbit(double(want)) && exponent != 0) return INFINITY;
  if (std::isinf(got)) {
    if (size >= next) return 0;
    got = L::max();  // one spacing below
    return 1 + double((next - size) / Wide(std::ldexp(1, L::max_exponent - L::digits)));
  }
  if (size >= 2 * next) return INFINITY;
  exponent = std::max(exponent, L::min_exponent - 1);
  const Wide error = Wide(got) > want ? Wide(got) - want : want - Wide(got);
  // two steps: the spacing of the smallest numbers is no normal number
  return std::ldexp(double(error * Wide(std::ldexp(1, -exponent / 2))), L::digits - 1 - exponent + exponent / 2);
}
int exponent_of(const Case& c, double x) {
  return std::max(c.sign < 0 ? 0 : -2000, x == 0 || !std::isfinite(x) ? -2000 : std::ilogb(x));
}
int exponent_of(const Case& c, Quad x) {
  return std::max(c.sign < 0 ? 0 : -20000, x == 0 || !finiteq(x) ? -20000 : ilogbq(x));
}

// All floats, or each of `step`; where our function of doubles is exact to 2^-29 of a float's spacing.
Worst all_floats(const Case& c, uint32_t step) {
  constexpr int block = 4096;
  std::vector<float> x(block), got(block);
  std::vector<double> wide(block), want(block);
  Worst worst;
  for (uint64_t start = 0; start < uint64_t(1) << 32; start += uint64_t(block) * step) {
    if (c.sign != 0 && (start >> 31 != 0) != (c.sign < 0)) continue;
    for (int i = 0; i < block; ++i) wide[i] = x[i] = std::bit_cast<float>(uint32_t(start + uint64_t(i) * step));
    apply(c.function, {x.data()}, got.data(), block);
    apply(c.function, {wide.data()}, want.data(), block);
    for (int i = 0; i < block; ++i) {
      // Quickly: the error against the worst one so far times a power of two not above the spacing; what is rounded
      // correctly, as all that is zero, infinite or NaN must be.
      const double spacing = std::bit_cast<double>(std::bit_cast<uint64_t>(want[i]) & 0x7ff0000000000000) * 0x1p-23;
      if (std::fabs(got[i] - want[i]) <= worst.ulps * spacing && got[i] != 0) continue;
      const auto rounded = static_cast<float>(want[i]);
      if (worst.ulps > 0.5 && (std::bit_cast<uint32_t>(rounded) == std::bit_cast<uint32_t>(got[i]) ||
                               (rounded != rounded && got[i] != got[i])))
        continue;
      worst.see(error_in_ulps(got[i], want[i], exponent_of(c, want[i])), x[i]);
    }
  }
  return worst;
}

// Any bits, moderate exponents, the interesting range and its ends.
template <class T>
T argument(std::mt19937_64& random, double low, double high) {
  const uint64_t draw = random();
  std::uniform_real_distribution<double> uniform(low, high), exponent(-40, 0);
  switch (draw % 8) {
    case 0: return std::bit_cast<T>(std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>(random()));
    case 1: return T(std::exp2(uniform(random) / 2) * (draw & 8 ? 1 : -1));
    case 2: return T((draw & 16 ? low : high) * (1 - std::exp2(exponent(random))));
    case 3: return T(std::exp2(exponent(random) / 4) * (draw & 8 ? 1 : -1));
    default: return T(uniform(random));
  }
}
template <class T>
Worst sampled(const Case& c, int64_t samples) {
  constexpr int block = 4096;
  std::mt19937_64 random(20);
  std::vector<T> x(block), y(block), got(block);
  Worst worst;
  for (int64_t start = 0; start < samples; start += block) {
    for (T& v : x) {
      v = argument<T>(random, c.low, c.high);
      if (c.sign != 0) v = std::copysign(v, T(c.sign));
    }
    for (T& v : y) v = argument<T>(random, -10, 10);
    apply(c.function, {x.data(), y.data()}, got.data(), block);
    for (int i = 0; i < block; ++i) {
      const Quad want = c.reference(x[i], y[i]);
      worst.see(error_in_ulps(got[i], want, exponent_of(c, want)), x[i], y[i]);
    }
  }
  return worst;
}

// ---- speed ---------------------------------------------------------------------------------
template <class T>
double nanoseconds(const Case& c, Isa isa) {
  using Clock = std::chrono::steady_clock;
  constexpr int n = 2048;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(c.low, c.high), exponents(-3, 3);
  std::vector<T> x(n), y(n), out(n);
  for (T& v : x) v = T(uniform(random));
  for (T& v : y) v = T(exponents(random));
  const Kernels kernels = kernels_of(isa);
  void* address =
      kernels.symbols[size_t(int(c.function) * kernels.types + kernels.types - (sizeof(T) == 4 ? 2 : 1))].address;
  double best = INFINITY;
  for (int round = 0; round < 60; ++round) {
    int repeats = 0;
    const auto start = Clock::now();
    double passed = 0;
    for (; passed < 3e5; passed = std::chrono::duration<double, std::nano>(Clock::now() - start).count(), ++repeats) {
      const Arguments<T> arguments = {x.data(), arity(c.function) == 2 ? y.data() : nullptr};
      if constexpr (sizeof(T) == 4)
        kernels.loop_f32(address, arguments, out.data(), n);
      else
        kernels.loop_f64(address, arguments, out.data(), n);
    }
    best = std::min(best, passed / repeats / n);
  }
  return best;
}

std::string place(const Case& c, const Worst& w) {
  char text[80];
  std::snprintf(text, sizeof text, arity(c.function) == 2 ? "%a, %a" : "%a", w.x, w.y);
  return text;
}

}  // namespace

int main(int count, char** words) {
  bool fast = false, speed_only = false;
  int64_t samples = 1000000;
  std::vector<std::string> wanted;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--fast")
      fast = true;
    else if (word == "--speed")
      speed_only = true;
    else if (word.starts_with("--samples="))
      samples = std::atoll(word.c_str() + 10);
    else
      wanted.push_back(word);
  }
  const std::vector<std::pair<Isa, const char*>> sets = {
      {Isa::baseline, "baseline"}, {Isa::avx2, "avx2"}, {Isa::avx512, "avx512"}};
  std::printf("| function | f32 ulp | at | f64 ulp | at |");
  for (const char* type : {"f32", "f64"})
    for (auto [isa, name] : sets)
      if (isa <= detected_isa()) std::printf(" ns %s %s |", type, name);
  std::printf("\n|---|---|---|---|---|%s\n", detected_isa() == Isa::baseline ? "---|---|"
                                             : detected_isa() == Isa::avx2   ? "---|---|---|---|"
                                                                             : "---|---|---|---|---|---|");
  for (const Case& c : cases) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name(c.function)) == wanted.end()) continue;
    std::printf("| %s%s |", name(c.function), c.sign > 0 ? ", x > 0" : c.sign < 0 ? ", x < 0" : "");
    if (speed_only) {
      std::printf(" | | | |");
    } else {
      const Worst single = arity(c.function) == 1 ? all_floats(c, fast ? 64 : 1) : sampled<float>(c, samples);
      const Worst wide = sampled<double>(c, fast ? samples / 8 : samples);
      std::printf(" %.3f | %s | %.3f | %s |", single.ulps, place(c, single).c_str(), wide.ulps, place(c, wide).c_str());
    }
    for (auto [isa, name] : sets)
      if (isa <= detected_isa()) std::printf(" %.2f |", nanoseconds<float>(c, isa));
    for (auto [isa, name] : sets)
      if (isa <= detected_isa()) std::printf(" %.2f |", nanoseconds<double>(c, isa));
    std::printf("\n");
    std::fflush(stdout);
  }
}
