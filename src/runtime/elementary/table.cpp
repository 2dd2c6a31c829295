// Names, the choice of the instruction set, and calls through the tables of symbols.
#include "runtime/elementary/table.h"
#include <algorithm>
#include <cstdlib>
#include "runtime/elementary/kernels.h"

namespace anvil::elementary {
namespace {

struct Entry {
  const char* name;
  int arity;
};
#define ANVIL_ONE(name, kind) {#name, 1},
#define ANVIL_TWO(name, kind) {#name, 2},
#define ANVIL_THREE(name, kind) {#name, 3},
constexpr Entry entries[] = {ANVIL_ELEMENTARY_FUNCTIONS(ANVIL_ONE, ANVIL_TWO, ANVIL_THREE)};
#undef ANVIL_ONE
#undef ANVIL_TWO
#undef ANVIL_THREE

Isa best_isa() {
  Isa isa = Isa::baseline;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    isa = Isa::avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
      isa = Isa::avx512;
  }
#endif
  const char* wish = std::getenv("ANVIL_ISA");
  if (!wish) return isa;
  if (std::string_view(wish) == "baseline") return Isa::baseline;
  if (std::string_view(wish) == "avx2") return std::min(isa, Isa::avx2);
  return isa;
}

const Kernels& best() {
  static const Kernels kernels = kernels_of(detected_isa());
  return kernels;
}

// The address of f in the best instruction set, the type counted as in kernels.h.
void* address(Function f, int type) { return best().symbols[int(f) * best().types + type].address; }

template <class T>
T call_scalar(Function f, T x, T y, T z) {
  void* found = address(f, sizeof(T) == 8);
  switch (arity(f)) {
    case 1: return reinterpret_cast<T (*)(T)>(found)(x);
    case 2: return reinterpret_cast<T (*)(T, T)>(found)(x, y);
    default: return reinterpret_cast<T (*)(T, T, T)>(found)(x, y, z);
  }
}

// The arguments that the function has; the others are not read.
template <class T>
Arguments<T> known(Function f, Arguments<T> x) {
  for (size_t k = static_cast<size_t>(arity(f)); k < x.size(); ++k) x[k] = nullptr;
  return x;
}

}  // namespace

const char* name(Function f) { return entries[int(f)].name; }
int arity(Function f) { return entries[int(f)].arity; }

std::optional<Function> find(std::string_view name) {
  for (int i = 0; i < int(Function::count); ++i)
    if (name == entries[i].name) return Function(i);
  return std::nullopt;
}

Isa detected_isa() {
  static const Isa isa = best_isa();
  return isa;
}

float call(Function f, float x, float y, float z) { return call_scalar(f, x, y, z); }
double call(Function f, double x, double y, double z) { return call_scalar(f, x, y, z); }

void apply(Function f, const Arguments<float>& x, float* out, int64_t n) {
  best().loop_f32(address(f, best().types - 2), known(f, x), out, n);
}
void apply(Function f, const Arguments<double>& x, double* out, int64_t n) {
  best().loop_f64(address(f, best().types - 1), known(f, x), out, n);
}

std::span<const Symbol> symbols(Isa isa) { return kernels_of(isa).symbols; }

std::string symbol_name(Function f, bool f64, int lanes) {
  std::string text = std::string("anvil_") + name(f) + (f64 ? "_f64" : "_f32");
  return lanes == 1 ? text : text + "x" + std::to_string(lanes);
}

}  // namespace anvil::elementary
