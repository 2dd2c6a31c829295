/* The C interface of nv_custom_call(): what a compiled function gets, and how it says that it failed.

     #include <anvil/custom_call.h>

     int scale(const anvil_buffer *inputs, int n_inputs, const anvil_buffer *outputs, int n_outputs,
               char *message, size_t message_size) {
       const double *x = inputs[0].data;
       double *y = outputs[0].data;
       for (int64_t i = 0, n = anvil_elements(&inputs[0]); i < n; i++) y[i] = 2 * x[i];
       return 0;
     }

   Types are those that nv_custom_call() inferred: the number and the shapes of the outputs are known before the
   function is called, and their memory is there. Elements are dense and column-major, as in R: element (i, j) of a
   matrix stands at i + shape[0] * j. `data` is aligned to the size of an element, at least; it may be NULL where a
   tensor has no elements. The function writes every element of each output and nothing else: not the inputs, which may
   be memory of R's objects, and no output is an input. It keeps no pointer after it has returned.

   It returns 0, or anything else where it failed; then `message`, which is empty at first, may hold the reason, with a
   final 0 within `message_size` bytes, and becomes an R error of class `anvil_error_call`.

   It is called on the thread that runs the program, which today is R's own; a function that shall work in later versions
   does not call R's API, and is ready to be called by several threads at once. An R error and a C++ exception that leave
   it are caught and become R errors, past what the function itself has to clean up. The user's interrupt is asked for when
   it has returned. */
#ifndef ANVIL_CUSTOM_CALL_H
#define ANVIL_CUSTOM_CALL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  ANVIL_BOOL = 0, /* one byte, 0 or 1 */
  ANVIL_I8 = 1,
  ANVIL_I16 = 2,
  ANVIL_I32 = 3,
  ANVIL_I64 = 4,
  ANVIL_UI8 = 5,
  ANVIL_UI16 = 6,
  ANVIL_UI32 = 7,
  ANVIL_UI64 = 8,
  ANVIL_F32 = 9,
  ANVIL_F64 = 10,
  ANVIL_F16 = 11, /* IEEE binary16 in two bytes */
  ANVIL_BF16 = 12, /* the upper two bytes of an f32 */
  ANVIL_DTYPE_COUNT /* how many there are */
} anvil_dtype;

typedef struct {
  void *data;
  const int64_t *shape; /* `ndim` sizes */
  int32_t ndim;         /* 0: a scalar */
  int32_t dtype;        /* anvil_dtype */
} anvil_buffer;

typedef int (*anvil_custom_call)(const anvil_buffer *inputs, int n_inputs, const anvil_buffer *outputs, int n_outputs,
                                 char *message, size_t message_size);

static inline int64_t anvil_elements(const anvil_buffer *b) {
  int64_t n = 1;
  for (int32_t d = 0; d < b->ndim; d++) n *= b->shape[d];
  return n;
}

#ifdef __cplusplus
}
#endif

#endif
