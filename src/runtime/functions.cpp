// The table of functions for generated code, those of the tapes, printing, and powers of integers.
#include "runtime/functions.h"

#include <cstring>

#include "base/check.h"
#include "base/error.h"
#include "base/printing.h"
#include "runtime/custom.h"
#include "runtime/linalg.h"
#include "runtime/run.h"
#include "runtime/scalar.h"
#include "runtime/sort/sort.h"

namespace anvil::runtime {
namespace {

// buffers: handle. numbers: bytes of a record, count of handles in it, where they are.
int32_t tape_new(Run* run, void* const* buffers, const int64_t* numbers) {
  return guarded(run, [&] {
    const std::vector<int64_t> handles(numbers + 2, numbers + 2 + numbers[1]);
    *static_cast<uint64_t*>(buffers[0]) = run->tapes.add(numbers[0], handles);
  });
}

// buffers: handle, parts. numbers: count of parts, bytes of each.
int32_t tape_push(Run* run, void* const* buffers, const int64_t* numbers) {
  return guarded(run, [&] {
    char* to = run->tapes.at(*static_cast<const uint64_t*>(buffers[0])).append();
    for (int64_t i = 0; i < numbers[0]; ++i) {
      std::memcpy(to, buffers[1 + i], static_cast<size_t>(numbers[1 + i]));
      to += numbers[1 + i];
    }
  });
}

// buffers: parts, handle. numbers: record (from 0), count of parts, bytes of each.
int32_t tape_read(Run* run, void* const* buffers, const int64_t* numbers) {
  return guarded(run, [&] {
    const int64_t count = numbers[1];
    const char* from = run->tapes.at(*static_cast<const uint64_t*>(buffers[count])).record(numbers[0]);
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(buffers[i], from, static_cast<size_t>(numbers[2 + i]));
      from += numbers[2 + i];
    }
  });
}

// buffers: length (i64), handle.
int32_t tape_length(Run* run, void* const* buffers, const int64_t*) {
  return guarded(run, [&] {
    *static_cast<int64_t*>(buffers[0]) = run->tapes.at(*static_cast<const uint64_t*>(buffers[1])).length();
  });
}

// buffers: handle.
int32_t tape_free(Run* run, void* const* buffers, const int64_t*) {
  return guarded(run, [&] { run->tapes.free(*static_cast<const uint64_t*>(buffers[0])); });
}

// buffers: the tensors. numbers: these as described(), the format.
int32_t print_tensors(Run* run, void* const* buffers, const int64_t* numbers) {
  return guarded(run, [&] {
    const auto tensors = read_described(buffers, numbers);
    print(read_text(numbers), tensors);
  });
}

// buffers: the tensors. numbers: these as described(), the error, its text, which of the user's calls it is about.
int32_t check_tensors(Run* run, void* const* buffers, const int64_t* numbers) {
  return guarded(run, [&] {
    const auto tensors = read_described(buffers, numbers);
    const auto error = read_text(numbers), message = read_text(numbers);
    check_flags({error, message, static_cast<int>(*numbers)}, tensors);
  });
}

}  // namespace

std::span<const NamedFunction> functions() {
  static constexpr NamedFunction table[] = {
      {"contract", contract},
      {"cholesky_f32", cholesky_f32},
      {"cholesky_f64", cholesky_f64},
      {"cholesky_reverse_f32", cholesky_reverse_f32},
      {"cholesky_reverse_f64", cholesky_reverse_f64},
      {"triangular_solve_f32", triangular_solve_f32},
      {"triangular_solve_f64", triangular_solve_f64},
      {"lu_f32", lu_f32},
      {"lu_f64", lu_f64},
      {"geqrf_f32", geqrf_f32},
      {"geqrf_f64", geqrf_f64},
      {"householder_product_f32", householder_product_f32},
      {"householder_product_f64", householder_product_f64},
      {"qr_f32", qr_f32},
      {"qr_f64", qr_f64},
      {"eigh_f32", eigh_f32},
      {"eigh_f64", eigh_f64},
      {"svd_f32", svd_f32},
      {"svd_f64", svd_f64},
      {"eigh_values_f32", eigh_values_f32},
      {"eigh_values_f64", eigh_values_f64},
      {"svd_values_f32", svd_values_f32},
      {"svd_values_f64", svd_values_f64},
      {"sort", sort},
      {"top_k", top_k},
      {"tape_new", tape_new},
      {"tape_push", tape_push},
      {"tape_read", tape_read},
      {"tape_length", tape_length},
      {"tape_free", tape_free},
      {"profile_begin", profile_begin},
      {"profile_end", profile_end},
      {"print", print_tensors},
      {"check", check_tensors},
      {"custom_call", custom_call},
  };
  return table;
}

int64_t power_i64(int64_t base, int64_t exponent) { return scalar::power(base, exponent); }
uint64_t power_ui64(uint64_t base, uint64_t exponent) { return scalar::power(base, exponent); }

}  // namespace anvil::runtime
