// The table of the elementary functions: their names and symbols, and that every width, every instruction set and
// apply() give the same bits.
#include <gtest/gtest.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>
#include "runtime/elementary/table.h"
#include "runtime/elementary_arguments.h"

namespace {

using namespace anvil::elementary;
using F = Function;

// ---- the table -----------------------------------------------------------------------
TEST(ElementaryTable, Names) {
  EXPECT_EQ(all_functions().size(), 48u);
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
std::vector<int> widths([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  return isa == Isa::avx512 ? std::vector{8, 16} : isa == Isa::avx2 ? std::vector{8} : std::vector<int>{};
#else
  return {4};
#endif
}

TEST(ElementaryTable, SymbolsAreComplete) {
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
TEST(ElementaryTable, FloatsAreTheSameBitsEverywhere) { check_same_bits<float>(); }
TEST(ElementaryTable, DoublesAreTheSameBitsEverywhere) { check_same_bits<double>(); }

}  // namespace
