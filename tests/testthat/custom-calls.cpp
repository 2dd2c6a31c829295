// Functions that test-custom-call.R calls: by the header that users have, with what they may do and what they should not.
#include <Rinternals.h>
#include <anvil/custom_call.h>

#include <cstring>
#include <stdexcept>

namespace {
long calls = 0;
double noted[64];
SEXP call_back = R_NilValue;
}  // namespace

extern "C" {

// How often a function here was called, and the first numbers that `note` was called with.
SEXP count_calls(void) { return Rf_ScalarReal(static_cast<double>(calls)); }
SEXP clear_calls(void) {
  calls = 0;
  return R_NilValue;
}
SEXP noted_numbers(void) {
  SEXP x = Rf_allocVector(REALSXP, calls < 64 ? calls : 64);
  std::memcpy(REAL(x), noted, sizeof(double) * static_cast<size_t>(XLENGTH(x)));
  return x;
}

int twice(const anvil_buffer* inputs, int, const anvil_buffer* outputs, int, char*, size_t) {
  ++calls;
  const double* x = static_cast<const double*>(inputs[0].data);
  double* y = static_cast<double*>(outputs[0].data);
  for (int64_t i = 0, n = anvil_elements(&inputs[0]); i < n; i++) y[i] = 2 * x[i];
  return 0;
}

// The sums of the rows and of the columns of an f32 matrix: two results of other shapes.
int sums(const anvil_buffer* inputs, int n_inputs, const anvil_buffer* outputs, int n_outputs, char* message, size_t size) {
  ++calls;
  if (n_inputs != 1 || n_outputs != 2 || inputs[0].ndim != 2 || inputs[0].dtype != ANVIL_F32) {
    std::strncpy(message, "this takes one f32 matrix", size);
    return 1;
  }
  const float* x = static_cast<const float*>(inputs[0].data);
  float *rows = static_cast<float*>(outputs[0].data), *columns = static_cast<float*>(outputs[1].data);
  const int64_t m = inputs[0].shape[0], n = inputs[0].shape[1];
  for (int64_t i = 0; i < m; i++) rows[i] = 0;
  for (int64_t j = 0; j < n; j++) {
    columns[j] = 0;
    for (int64_t i = 0; i < m; i++) {
      rows[i] += x[i + m * j];
      columns[j] += x[i + m * j];
    }
  }
  return 0;
}

// The code of the dtype, the rank and the bytes of what comes.
int describe(const anvil_buffer* inputs, int n_inputs, const anvil_buffer* outputs, int, char*, size_t) {
  int32_t* y = static_cast<int32_t*>(outputs[0].data);
  for (int i = 0; i < n_inputs; i++) {
    y[3 * i] = inputs[i].dtype;
    y[3 * i + 1] = inputs[i].ndim;
    y[3 * i + 2] = reinterpret_cast<uintptr_t>(inputs[i].data) % 8 == 0;
  }
  return 0;
}

int note(const anvil_buffer* inputs, int, const anvil_buffer*, int, char*, size_t) {
  if (calls < 64) noted[calls] = *static_cast<const double*>(inputs[0].data);
  ++calls;
  return 0;
}

int fail_silently(const anvil_buffer*, int, const anvil_buffer*, int, char*, size_t) { return 7; }
int fail_aloud(const anvil_buffer*, int, const anvil_buffer*, int, char* message, size_t size) {
  std::memset(message, 'x', size);  // without an end
  return 1;
}
// Evaluates an R call that was set before, then gives 1.
SEXP set_call_back(SEXP call) { return call_back = call; }
int calls_back(const anvil_buffer*, int, const anvil_buffer* outputs, int, char*, size_t) {
  Rf_eval(call_back, R_GlobalEnv);
  *static_cast<double*>(outputs[0].data) = 1;
  return 0;
}
int raise(const anvil_buffer*, int, const anvil_buffer*, int, char*, size_t) { Rf_error("raised in C"); }
int throws(const anvil_buffer*, int, const anvil_buffer*, int, char*, size_t) { throw std::runtime_error("thrown in C++"); }
int throws_int(const anvil_buffer*, int, const anvil_buffer*, int, char*, size_t) { throw 1; }
}
