# Tensors as R data: arrays, vectors and bytes.

#' Tensors back to R
#'
#' `as_array()` gives an R array, or a vector of length 1 for a scalar: doubles for
#' floats, integers for integers, logicals for `bool`. Tensors of `i64`, `ui64` and
#' `ui32` come back as doubles as long as all values are exact (at most 2^53), and
#' as `bit64::integer64` otherwise; so do those of `i32` that hold -2^31, which is R's `NA`. `as_raw()` gives the bytes. `as.double()`,
#' `as.integer()`, `as.logical()` and `as.vector()` give plain vectors, converted as R converts its own, and
#' `as.data.frame()` a data frame of the columns.
#'
#' The array of a large result of `f64` or `i32` is the vector that the program wrote, not a copy; R copies it when somebody
#' changes it.
#'
#' @param x A tensor; for `as_array()` also a sparse one ([nv_sparse()]), of which it gives all elements.
#' @param row_major Whether the bytes are ordered with the last dimension fastest.
#' @return An R array or vector.
#' @family tensors
#' @export
#' @examples
#' as_array(nv_tensor(1:6, shape = c(2, 3)))
#' as.double(nv_scalar(1.5))
#' as_raw(nv_scalar(1L, "i16"))
as_array <- function(x) .Call(C_anvil_as_array, concrete(if (is_sparse(x)) nv_dense(x) else x))

#' @rdname as_array
#' @export
as_raw <- function(x, row_major = FALSE) .Call(C_anvil_as_raw, concrete(x), row_major)

#' A tensor from its bytes
#'
#' @param data A raw vector.
#' @inheritParams nv_tensor
#' @inheritParams as_array
#' @return An `AnvilTensor`.
#' @family tensors
#' @export
#' @examples
#' nv_from_raw(as.raw(c(1, 0, 2, 0)), "i16", 2)
nv_from_raw <- function(data, dtype, shape, row_major = FALSE, ambiguous = FALSE) {
  .Call(C_anvil_from_raw, data, make_tag(dtype, shape, ambiguous), row_major, "AnvilTensor", NULL)
}

# The AnvilTensor behind x, or an error that says what to do.
concrete <- function(x, name = "x") {
  if (inherits(x, c("AnvilTensor", "AnvilBuffer"))) {
    return(x)
  }
  if (inherits(x, "GraphBox")) {
    hints <- hint_of_calls() # before other calls are under way
    abort_anvil("trace", "A traced value has no data yet.", c(
      hints,
      "i Use `nv_*` functions on it, or make the argument static so that R sees its value."
    ))
  }
  if (inherits(x, "DebugBox")) {
    abort_anvil("argument", sprintf("`%s` is a debug box with a type, but without data.", name))
  }
  abort_anvil("argument", sprintf("`%s` must be an AnvilTensor.", name), sprintf("x Got <%s>.", described_class(x)))
}

#' @export
as.double.AnvilValue <- function(x, ...) as.double(as_array(x))
#' @export
as.integer.AnvilValue <- function(x, ...) as.integer(as_array(x))
#' @export
as.logical.AnvilValue <- function(x, ...) {
  refuse_ifelse()
  as.logical(as_array(x))
}
#' @export
as.vector.AnvilValue <- function(x, mode = "any") as.vector(as_array(x), mode)
#' @export
as.array.AnvilValue <- function(x, ...) as.array(as_array(x))
#' @export
as.matrix.AnvilValue <- function(x, ...) as.matrix(as_array(x))
#' @export
as.character.AnvilValue <- function(x, ...) as.character(as_array(x))
#' @export
as.data.frame.AnvilValue <- function(x, row.names = NULL, optional = FALSE, ..., nm = deparse1(substitute(x))) {
  frame <- as.data.frame(as_array(x), row.names = row.names, optional = optional, ...)
  if (rank_of(x) < 2L && !optional) names(frame) <- nm
  frame
}
