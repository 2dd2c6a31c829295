// Vectors in registers across calls, when clang compiles. Clang decides how a vector wider
// than 16 bytes travels by the command line alone: without -mavx in memory, whatever the
// target attribute says. What generated code and GCC expect is the register, so the symbols
// are thunks in assembly around functions of pointers. GCC needs none of this.
#pragma once
#if defined(__clang__) && defined(ANVIL_ELEMENTARY_AVX2)

namespace anvil::elementary::ANVIL_ELEMENTARY_ISA {

#define ANVIL_THUNKS(bytes, reg)                                                                  \
  template <auto body>                                                                            \
  __attribute__((naked)) void thunk_##bytes() {                                                   \
    __asm__(                                                                                      \
        "pushq %%rbp\n movq %%rsp, %%rbp\n andq $-64, %%rsp\n subq $192, %%rsp\n"                 \
        "vmovaps %%" reg "0, (%%rsp)\n vmovaps %%" reg "1, 64(%%rsp)\n vmovaps %%" reg            \
        "2, 128(%%rsp)\n"                                                                         \
        "movq %%rsp, %%rdi\n leaq 64(%%rsp), %%rsi\n leaq 128(%%rsp), %%rdx\n call %P0\n"         \
        "vmovaps (%%rsp), %%" reg "0\n movq %%rbp, %%rsp\n popq %%rbp\n ret" ::"i"(body));        \
  }                                                                                               \
  template <class V>                                                                              \
  __attribute__((naked)) void call_##bytes(void*, const void*, const void*, const void*, void*) { \
    __asm__(                                                                                      \
        "pushq %rbx\n movq %r8, %rbx\n"                                                           \
        "vmovups (%rsi), %" reg "0\n vmovups (%rdx), %" reg "1\n vmovups (%rcx), %" reg           \
        "2\n call *%rdi\n"                                                                        \
        "vmovups %" reg "0, (%rbx)\n vzeroupper\n popq %rbx\n ret");                              \
  }
ANVIL_THUNKS(32, "ymm")
ANVIL_THUNKS(64, "zmm")
#undef ANVIL_THUNKS

template <class V, auto entry>
__attribute__((flatten)) void body(V* x, const V* y, const V* z) {
  if constexpr (requires { entry(x->v); })
    x->v = entry(x->v);
  else if constexpr (requires { entry(x->v, y->v); })
    x->v = entry(x->v, y->v);
  else
    x->v = entry(x->v, y->v, z->v);
}

// The address of entry, taking and returning vectors in registers.
template <class V, auto entry>
void* address_of() {
  if constexpr (sizeof(V) == 64)
    return reinterpret_cast<void*>(&thunk_64<&body<V, entry>>);
  else if constexpr (sizeof(V) == 32)
    return reinterpret_cast<void*>(&thunk_32<&body<V, entry>>);
  else
    return reinterpret_cast<void*>(entry);
}

// *out = f(*x), f(*x, *y) or f(*x, *y, *z), f one of those.
template <class V>
void call_in_registers(void* f, const void* x, const void* y, const void* z, void* out) {
  if constexpr (sizeof(V) == 64)
    call_64<V>(f, x, y ? y : x, z ? z : x, out);
  else
    call_32<V>(f, x, y ? y : x, z ? z : x, out);
}

}  // namespace anvil::elementary::ANVIL_ELEMENTARY_ISA

#else

namespace anvil::elementary::ANVIL_ELEMENTARY_ISA {

template <class V, auto entry>
void* address_of() {
  return reinterpret_cast<void*>(entry);
}

template <class V>
void call_in_registers(void* f, const void* x, const void* y, const void* z, void* out) {
  using R = typename V::vector;
  R a, b, c;
  __builtin_memcpy(&a, x, sizeof a);
  __builtin_memcpy(&b, y ? y : x, sizeof b);
  __builtin_memcpy(&c, z ? z : x, sizeof c);
  if (z)
    a = reinterpret_cast<R (*)(R, R, R)>(f)(a, b, c);
  else if (y)
    a = reinterpret_cast<R (*)(R, R)>(f)(a, b);
  else
    a = reinterpret_cast<R (*)(R)>(f)(a);
  __builtin_memcpy(out, &a, sizeof a);
}

}  // namespace anvil::elementary::ANVIL_ELEMENTARY_ISA

#endif
