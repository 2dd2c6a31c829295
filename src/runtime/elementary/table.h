// The elementary functions by name: for evaluators as calls and over whole arrays, for
// generated code as addresses. Promises: the same argument gives the same bits from a
// scalar call, a vector of any width, apply() and any instruction set, but for the sign of a
// NaN; functions of one argument keep the payload of a NaN (R's NA). The vector functions
// take and return their vectors in registers, as the C functions of libmvec do.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// Every function once: ONE or TWO by its number of arguments, and whether elementary.h
// has a formula or special.h computes each lane by itself.
// clang-format off
#define ANVIL_ELEMENTARY_FUNCTIONS(ONE, TWO)                                                                     \
  ONE(exp, formula) ONE(expm1, formula) ONE(log, formula) ONE(log1p, formula) ONE(log2, formula)                 \
  ONE(log10, formula) ONE(sin, formula) ONE(cos, formula) ONE(tan, formula) ONE(asin, formula)                   \
  ONE(acos, formula) ONE(atan, formula) ONE(sinh, formula) ONE(cosh, formula) ONE(tanh, formula)                 \
  ONE(asinh, formula) ONE(acosh, formula) ONE(atanh, formula) ONE(logistic, formula) ONE(erf, formula)           \
  ONE(erfc, formula) ONE(erf_inv, special) ONE(cbrt, formula) ONE(rsqrt, formula) ONE(lgamma, special)           \
  ONE(digamma, special) ONE(trigamma, special) ONE(bessel_i1e, special)                                          \
  TWO(pow, formula) TWO(atan2, formula) TWO(fmod, special) TWO(polygamma, special) TWO(zeta, special)
// clang-format on

namespace anvil::elementary {

#define ANVIL_ELEMENTARY_NAME(name, kind) name,
enum class Function : uint8_t { ANVIL_ELEMENTARY_FUNCTIONS(ANVIL_ELEMENTARY_NAME, ANVIL_ELEMENTARY_NAME) count };
#undef ANVIL_ELEMENTARY_NAME

const char* name(Function);  // "exp"
int arity(Function);         // 1 or 2
std::optional<Function> find(std::string_view name);

// What the vector functions may use. avx2 includes FMA, avx512 means F, BW, DQ and VL.
enum class Isa : uint8_t { baseline, avx2, avx512 };

// The best one that this processor and its operating system offer; the environment
// variable ANVIL_ISA (baseline, avx2 or avx512) can only lower it. Asked once.
Isa detected_isa();

// One value, by the best instruction set. polygamma(n, x), atan2(y, x), fmod(x, y), pow(x, y).
float call(Function, float x);
double call(Function, double x);
float call(Function, float x, float y);
double call(Function, double x, double y);

// Whole arrays: out[i] = f(a[i]) or f(a[i], b[i]); out may be a or b.
void apply(Function, const float* a, const float* b, float* out, int64_t n);
void apply(Function, const double* a, const double* b, double* out, int64_t n);

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
