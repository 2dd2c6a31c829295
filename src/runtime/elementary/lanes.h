// The vocabulary of the formulas, for plain numbers and for vectors of N numbers; each
// word is one instruction. Everything lies in a namespace named after the instruction
// set that it is compiled for, so that one program can hold several. Only kernels.inc
// includes this, after having chosen the instruction set.
//
//   V(double)              the constant, rounded to the lane's precision
//   a + b  a - b  a * b  a / b  -a
//   fma(a, b, c)           one rounding; nothing else is ever contracted
//   sqrt(a) trunc(a) abs(a)
//   a < b  a <= b  a == b  a != b       != is true of NaN, the others false -> mask
//   m & n  m | n  !m
//   select(m, a, b)        numbers or bits
//   lesser(a, b)           select(a < b, a, b): b when unordered (vminps)
//   greater(a, b)          select(b < a, a, b): b when unordered (vmaxps)
//   as_bits(a) as_number(i)             the same bits
//   i + j  i - j  i & j  i | j  i ^ j   unsigned, same width
//   i << n  i >> n  i == j
// Only where an argument of sin, cos or tan is large:
//   any(m)                 is a lane set
//   lookup(table, i)       a load per lane
// There is no conversion between integers and floating point numbers and no
// arithmetic shift: AVX2 has neither for 64-bit lanes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define ANVIL_INLINE inline __attribute__((always_inline))
#define ANVIL_RARE __attribute__((noinline, cold))

namespace anvil::elementary::ANVIL_ELEMENTARY_ISA {

// What a lane type is made of.
template <class V>
struct lane;
template <>
struct lane<float> {
  using number = float;
  using bits = uint32_t;
  using mask = bool;
};
template <>
struct lane<double> {
  using number = double;
  using bits = uint64_t;
  using mask = bool;
};

// ---- plain numbers -----------------------------------------------------------------
ANVIL_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
ANVIL_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
#if defined(__x86_64__)  // the builtins call the library for negative numbers, to set errno
ANVIL_INLINE float sqrt(float a) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a))); }
ANVIL_INLINE double sqrt(double a) { return _mm_cvtsd_f64(_mm_sqrt_pd(_mm_set_sd(a))); }
#else
ANVIL_INLINE float sqrt(float a) { return __builtin_sqrtf(a); }
ANVIL_INLINE double sqrt(double a) { return __builtin_sqrt(a); }
#endif
ANVIL_INLINE float trunc(float a) { return __builtin_truncf(a); }
ANVIL_INLINE double trunc(double a) { return __builtin_trunc(a); }
ANVIL_INLINE float abs(float a) { return __builtin_fabsf(a); }
ANVIL_INLINE double abs(double a) { return __builtin_fabs(a); }
constexpr uint32_t as_bits(float a) { return __builtin_bit_cast(uint32_t, a); }
constexpr uint64_t as_bits(double a) { return __builtin_bit_cast(uint64_t, a); }
constexpr float as_number(uint32_t a) { return __builtin_bit_cast(float, a); }
constexpr double as_number(uint64_t a) { return __builtin_bit_cast(double, a); }
template <class T>
requires std::is_arithmetic_v<T> T select(bool m, T a, T b) { return m ? a : b; }
ANVIL_INLINE bool any(bool m) { return m; }
template <class T, class I>
requires std::is_integral_v<I> T lookup(const T* table, I i) { return table[i]; }

// ---- vectors of N numbers ----------------------------------------------------------
template <class T, int N>
struct Lanes {
  typedef T vector __attribute__((vector_size(sizeof(T) * N)));
  vector v;
  Lanes() = default;
  ANVIL_INLINE Lanes(vector x) : v(x) {}
  template <class C>
  requires std::is_arithmetic_v<C> ANVIL_INLINE explicit Lanes(C c) : v(T(c) - vector{}) {}
  ANVIL_INLINE friend Lanes operator+(Lanes a, Lanes b) { return a.v + b.v; }
  ANVIL_INLINE friend Lanes operator-(Lanes a, Lanes b) { return a.v - b.v; }
  ANVIL_INLINE friend Lanes operator*(Lanes a, Lanes b) { return a.v * b.v; }
  ANVIL_INLINE friend Lanes operator/(Lanes a, Lanes b) { return a.v / b.v; }
  ANVIL_INLINE friend Lanes operator-(Lanes a) { return -a.v; }
  ANVIL_INLINE friend Lanes operator&(Lanes a, Lanes b) { return a.v & b.v; }
  ANVIL_INLINE friend Lanes operator|(Lanes a, Lanes b) { return a.v | b.v; }
  ANVIL_INLINE friend Lanes operator^(Lanes a, Lanes b) { return a.v ^ b.v; }
  ANVIL_INLINE friend Lanes operator!(Lanes a) { return ~a.v; }
  ANVIL_INLINE friend Lanes operator<<(Lanes a, int n) { return a.v << n; }
  ANVIL_INLINE friend Lanes operator>>(Lanes a, int n) { return a.v >> n; }
};
template <class T, int N>
using mask_of = Lanes<std::conditional_t<sizeof(T) == 4, int32_t, int64_t>, N>;
template <int N>
struct lane<Lanes<float, N>> {
  using number = float;
  using bits = Lanes<uint32_t, N>;
  using mask = mask_of<float, N>;
};
template <int N>
struct lane<Lanes<double, N>> {
  using number = double;
  using bits = Lanes<uint64_t, N>;
  using mask = mask_of<double, N>;
};

template <class T, int N>
ANVIL_INLINE mask_of<T, N> operator<(Lanes<T, N> a, Lanes<T, N> b) {
  return {a.v < b.v};
}
template <class T, int N>
ANVIL_INLINE mask_of<T, N> operator<=(Lanes<T, N> a, Lanes<T, N> b) {
  return {a.v <= b.v};
}
template <class T, int N>
ANVIL_INLINE mask_of<T, N> operator==(Lanes<T, N> a, Lanes<T, N> b) {
  return {a.v == b.v};
}
template <class T, int N>
ANVIL_INLINE mask_of<T, N> operator!=(Lanes<T, N> a, Lanes<T, N> b) {
  return {a.v != b.v};
}
template <class T, int N>
ANVIL_INLINE Lanes<T, N> select(mask_of<T, N> m, Lanes<T, N> a, Lanes<T, N> b) {
  return {m.v ? a.v : b.v};
}
template <int N>
ANVIL_INLINE Lanes<uint32_t, N> as_bits(Lanes<float, N> a) {
  return {(typename Lanes<uint32_t, N>::vector)a.v};
}
template <int N>
ANVIL_INLINE Lanes<uint64_t, N> as_bits(Lanes<double, N> a) {
  return {(typename Lanes<uint64_t, N>::vector)a.v};
}
template <int N>
ANVIL_INLINE Lanes<float, N> as_number(Lanes<uint32_t, N> a) {
  return {(typename Lanes<float, N>::vector)a.v};
}
template <int N>
ANVIL_INLINE Lanes<double, N> as_number(Lanes<uint64_t, N> a) {
  return {(typename Lanes<double, N>::vector)a.v};
}
template <int N>
ANVIL_INLINE Lanes<float, N> abs(Lanes<float, N> a) {
  return as_number(as_bits(a) & Lanes<uint32_t, N>(0x7fffffffu));
}
template <int N>
ANVIL_INLINE Lanes<double, N> abs(Lanes<double, N> a) {
  return as_number(as_bits(a) & Lanes<uint64_t, N>(~uint64_t(0) >> 1));
}
template <class T, class I, int N>
Lanes<T, N> lookup(const T* table, Lanes<I, N> i) {
  Lanes<T, N> r;
  for (int k = 0; k < N; ++k) r.v[k] = table[i.v[k]];
  return r;
}

// What GCC has no operators or elementwise builtins for.
#if defined(ANVIL_ELEMENTARY_AVX2)
#define ANVIL_LANES(T, N, prefix, suffix, square_root, truncated, minimum, maximum, any_lane) \
  ANVIL_INLINE Lanes<T, N> fma(Lanes<T, N> a, Lanes<T, N> b, Lanes<T, N> c) {                 \
    return {prefix##_fmadd_##suffix(a.v, b.v, c.v)};                                          \
  }                                                                                           \
  ANVIL_INLINE Lanes<T, N> sqrt(Lanes<T, N> a) { return {square_root}; }                      \
  ANVIL_INLINE Lanes<T, N> trunc(Lanes<T, N> a) { return {truncated}; }                       \
  ANVIL_INLINE Lanes<T, N> lesser(Lanes<T, N> a, Lanes<T, N> b) { return {minimum}; }         \
  ANVIL_INLINE Lanes<T, N> greater(Lanes<T, N> a, Lanes<T, N> b) { return {maximum}; }        \
  ANVIL_INLINE bool any(mask_of<T, N> m) { return any_lane; }
#define ANVIL_LANES_32(T, N, s)                                                                           \
  ANVIL_LANES(T, N, _mm256, s, _mm256_sqrt_##s(a.v), _mm256_round_##s(a.v, 11), _mm256_min_##s(a.v, b.v), \
              _mm256_max_##s(a.v, b.v), !_mm256_testz_si256((__m256i)m.v, (__m256i)m.v))
// "maskz", with all lanes: GCC 12 warns of what the plain ones leave undefined.
#define ANVIL_LANES_64(T, N, s, i, all)                                                                    \
  ANVIL_LANES(T, N, _mm512, s, _mm512_maskz_sqrt_##s(all, a.v), _mm512_maskz_roundscale_##s(all, a.v, 11), \
              _mm512_maskz_min_##s(all, a.v, b.v), _mm512_maskz_max_##s(all, a.v, b.v),                    \
              _mm512_test_##i##_mask((__m512i)m.v, (__m512i)m.v) != 0)
ANVIL_LANES_32(float, 8, ps)
ANVIL_LANES_32(double, 4, pd)
#if defined(ANVIL_ELEMENTARY_AVX512)
ANVIL_LANES_64(float, 16, ps, epi32, 0xffff)
ANVIL_LANES_64(double, 8, pd, epi64, 0xff)
#endif
#undef ANVIL_LANES_64
#undef ANVIL_LANES_32
#undef ANVIL_LANES
#elif defined(__aarch64__)
#define ANVIL_LANES(T, N, registers, s)                                                                      \
  ANVIL_INLINE Lanes<T, N> fma(Lanes<T, N> a, Lanes<T, N> b, Lanes<T, N> c) {                                \
    return {(Lanes<T, N>::vector)vfmaq_##s((registers)c.v, (registers)a.v, (registers)b.v)};                 \
  }                                                                                                          \
  ANVIL_INLINE Lanes<T, N> sqrt(Lanes<T, N> a) { return {(Lanes<T, N>::vector)vsqrtq_##s((registers)a.v)}; } \
  ANVIL_INLINE Lanes<T, N> trunc(Lanes<T, N> a) { return {(Lanes<T, N>::vector)vrndq_##s((registers)a.v)}; } \
  ANVIL_INLINE bool any(mask_of<T, N> m) { return vmaxvq_u32((uint32x4_t)m.v) != 0; }
ANVIL_LANES(float, 4, float32x4_t, f32)
ANVIL_LANES(double, 2, float64x2_t, f64)
#undef ANVIL_LANES
#else  // the compiler makes vectors of these loops where it can
template <class T, int N>
ANVIL_INLINE Lanes<T, N> fma(Lanes<T, N> a, Lanes<T, N> b, Lanes<T, N> c) {
  for (int i = 0; i < N; ++i) a.v[i] = fma(T(a.v[i]), T(b.v[i]), T(c.v[i]));
  return a;
}
template <class T, int N>
ANVIL_INLINE Lanes<T, N> sqrt(Lanes<T, N> a) {
  for (int i = 0; i < N; ++i) a.v[i] = sqrt(T(a.v[i]));
  return a;
}
template <class T, int N>
ANVIL_INLINE Lanes<T, N> trunc(Lanes<T, N> a) {
  for (int i = 0; i < N; ++i) a.v[i] = trunc(T(a.v[i]));
  return a;
}
template <class T, int N>
bool any(Lanes<T, N> m) {
  T r = 0;
  for (int i = 0; i < N; ++i) r |= m.v[i];
  return r != 0;
}
#endif

// ---- spelled in the words above ----------------------------------------------------
template <class V>
V lesser(V a, V b) {
  return select(a < b, a, b);
}
template <class V>
V greater(V a, V b) {
  return select(b < a, a, b);
}

}  // namespace anvil::elementary::ANVIL_ELEMENTARY_ISA
