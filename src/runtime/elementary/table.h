// The elementary functions by name: for evaluators as calls and over whole arrays, for
// generated code as addresses. Promises: the same argument gives the same bits from a
// scalar call, a vector of any width, apply() and any instruction set, but for the sign of a
// NaN; functions of one argument keep the payload of a NaN (R's NA). The vector functions
// take and return their vectors in registers, as the C functions of libmvec do.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// Every function once: ONE, TWO or THREE by its number of arguments, and whether elementary.h
// has a formula or special.h computes each lane by itself.
// clang-format off
#define ANVIL_ELEMENTARY_FUNCTIONS(ONE, TWO, THREE)                                                              \
  ONE(exp, formula) ONE(expm1, formula) ONE(log, formula) ONE(log1p, formula) ONE(log2, formula)                 \
  ONE(log10, formula) ONE(sin, formula) ONE(cos, formula) ONE(tan, formula) ONE(asin, formula)                   \
  ONE(acos, formula) ONE(atan, formula) ONE(sinh, formula) ONE(cosh, formula) ONE(tanh, formula)                 \
  ONE(asinh, formula) ONE(acosh, formula) ONE(atanh, formula) ONE(logistic, formula) ONE(erf, formula)           \
  ONE(erfc, formula) ONE(erf_inv, formula) ONE(cbrt, formula) ONE(rsqrt, formula) ONE(lgamma, formula)           \
  ONE(digamma, formula) ONE(trigamma, formula) ONE(bessel_i1e, special)                                          \
  TWO(pow, formula) TWO(atan2, formula) TWO(fmod, special) TWO(polygamma, special) TWO(zeta, special)    \
  TWO(igamma, special) TWO(igammac, special) TWO(igamma_grad_a, special) TWO(gamma_density, special)             \
  TWO(bessel_j, special) TWO(bessel_y, special) TWO(bessel_i, special) TWO(bessel_k, special)                    \
  TWO(bessel_ie, special) TWO(bessel_ke, special) THREE(betainc, special) THREE(beta_density, special)           \
  THREE(betaincc, special) THREE(betainc_grad_a, special) THREE(betainc_grad_b, special)
// clang-format on

namespace anvil::elementary {

#define ANVIL_ELEMENTARY_NAME(name, kind) name,
enum class Function : uint8_t {
  ANVIL_ELEMENTARY_FUNCTIONS(ANVIL_ELEMENTARY_NAME, ANVIL_ELEMENTARY_NAME, ANVIL_ELEMENTARY_NAME) count
};
#undef ANVIL_ELEMENTARY_NAME

const char* name(Function);  // "exp"
int arity(Function);         // 1 to 3
std::optional<Function> find(std::string_view name);

// What the vector functions may use. avx2 includes FMA, avx512 means F, BW, DQ and VL.
enum class Isa : uint8_t { baseline, avx2, avx512 };

// The best one that this processor and its operating system offer; the environment
// variable ANVIL_ISA (baseline, avx2 or avx512) can only lower it. Asked once.
Isa detected_isa();

// One value, by the best instruction set, of as many arguments as the function has. polygamma(n, x), atan2(y, x),
// fmod(x, y), pow(x, y), igamma(a, x), betainc(a, b, x), bessel_j(nu, x).
float call(Function, float x, float y = 0, float z = 0);
double call(Function, double x, double y = 0, double z = 0);

// Whole arrays: out[i] = f(a[i]), f(a[i], b[i]) or f(a[i], b[i], c[i]); out may be one of them.
template <class T>
using Arguments = std::array<const T*, 3>;
void apply(Function, const Arguments<float>&, float* out, int64_t n);
void apply(Function, const Arguments<double>&, double* out, int64_t n);

// What generated code calls: every function, as a scalar ("anvil_exp_f64") and with every
// width that the instruction set has ("anvil_exp_f32x16"). The code of an instruction
// set must only run where the processor has it.
struct Symbol {
  const char* name;
  void* address;
};
std::span<const Symbol> symbols(Isa);
std::string symbol_name(Function, bool f64, int lanes);  // lanes 1: the scalar

}  // namespace anvil::elementary
