# Tensors as R data: arrays, vectors, bytes, and what compares them.

#' Tensors back to R
#'
#' `as_array()` gives an R array, or a vector of length 1 for a scalar: doubles for
#' floats, integers for integers, logicals for `bool`. Tensors of `i64`, `ui64` and
#' `ui32` come back as doubles as long as all values are exact (at most 2^53), and
#' as `bit64::integer64` otherwise. `as_raw()` gives the bytes. `as.double()`,
#' `as.integer()`, `as.logical()` and `as.vector()` give plain vectors.
#'
#' @param x A tensor, or a debug box with data.
#' @param row_major Whether the bytes are ordered with the last dimension fastest.
#' @return An R array or vector.
#' @export
#' @examples
#' as_array(nv_tensor(1:6, shape = c(2, 3)))
#' as.double(nv_scalar(1.5))
#' as_raw(nv_scalar(1L, "i16"))
as_array <- function(x) .Call(C_anvil_as_array, concrete(x))

#' @rdname as_array
#' @export
as_raw <- function(x, row_major = FALSE) .Call(C_anvil_as_raw, concrete(x), row_major)

#' A tensor from its bytes
#'
#' @param data A raw vector.
#' @inheritParams nv_tensor
#' @inheritParams as_array
#' @return An `AnvilTensor`.
#' @export
#' @examples
#' nv_from_raw(as.raw(c(1, 0, 2, 0)), "i16", 2)
nv_from_raw <- function(data, dtype, shape, row_major = FALSE, ambiguous = FALSE) {
  .Call(C_anvil_from_raw, data, make_tag(dtype, shape, ambiguous), row_major, "AnvilTensor")
}

# The AnvilTensor behind x, or an error that says what to do.
concrete <- function(x, name = "x") {
  data <- .Call(C_anvil_concrete, x)
  if (!is.null(data)) {
    return(data)
  }
  if (inherits(x, "AnvilBuffer")) {
    return(x)
  }
  if (inherits(x, "GraphBox")) {
    abort_anvil("trace", "A traced value has no data yet.", c(
      "x R asked for them while the function was being traced.",
      "i Use `nv_*` functions on it, or make the argument static so that R sees its value."
    ))
  }
  if (inherits(x, "DebugBox")) {
    abort_anvil("argument", sprintf("`%s` is a debug box with a type, but without data.", name))
  }
  abort_anvil("argument", sprintf("`%s` must be an AnvilTensor.", name), sprintf("x Got <%s>.", described_class(x)))
}

vector_as <- function(x, convert, allowed, what) {
  data <- concrete(x)
  if (!allowed(dtype(data))) {
    abort_anvil("dtype", sprintf("`%s` is not defined for dtype %s.", what, as.character(dtype(data))), "i Convert it with `nv_convert()` before.")
  }
  convert(as_array(data))
}

#' @export
as.double.AnvilTensor <- function(x, ...) {
  vector_as(x, as.double, function(t) is_float_dtype(t) || is_integer_dtype(t), "as.double()")
}
#' @export
as.double.AnvilBox <- as.double.AnvilTensor

#' @export
as.integer.AnvilTensor <- function(x, ...) vector_as(x, as.integer, is_integer_dtype, "as.integer()")
#' @export
as.integer.AnvilBox <- as.integer.AnvilTensor

#' @export
as.logical.AnvilTensor <- function(x, ...) {
  refuse_ifelse()
  vector_as(x, as.logical, function(t) inherits(t, "BooleanType"), "as.logical()")
}
#' @export
as.logical.AnvilBox <- as.logical.AnvilTensor

#' @export
as.vector.AnvilTensor <- function(x, mode = "any") as.vector(as_array(x), mode)
#' @export
as.vector.AnvilBox <- as.vector.AnvilTensor

#' @export
as.array.AnvilTensor <- function(x, ...) as.array(as_array(x))
#' @export
as.array.AnvilBox <- as.array.AnvilTensor

#' @export
as.matrix.AnvilTensor <- function(x, ...) as.matrix(as_array(x))
#' @export
as.matrix.AnvilBox <- as.matrix.AnvilTensor

#' @export
as.character.AnvilTensor <- function(x, ...) as.character(as_array(x))

#' @export
`$.AnvilTensor` <- function(x, name) {
  if (name != "tensor") {
    abort_anvil("argument", sprintf("An AnvilTensor has no field `%s`.", name), field_hint(name))
  }
  .Call(C_anvil_rewrap, x, "AnvilBuffer")
}

field_hint <- function(name) {
  if (name %in% c("shape", "dtype", "ndims", "device", "dim", "length")) sprintf("i Use `%s(x)`.", name) else "i `x$tensor` is its raw buffer."
}

#' @export
`[[.AnvilTensor` <- function(x, i, ...) {
  if (is.character(i)) `$.AnvilTensor`(x, i) else abort_anvil("argument", "`[[` is not defined for tensors.", "i Use `[`.")
}

#' @exportS3Method all.equal AnvilTensor
all.equal.AnvilTensor <- function(target, current, ...) {
  if (!is_tensor(current)) {
    return("current is not an AnvilTensor")
  }
  if (!identical(type_tag(target), type_tag(current))) {
    return(sprintf("types differ: %s, %s", type_text(target), type_text(current)))
  }
  all.equal(as_array(target), as_array(current), ...)
}

# For waldo and testthat: tensors compare by their data and types.
compare_proxy_tensor <- function(x, path = "x") {
  data <- as_array(x)
  if (ndims(x) == 1L) data <- as.vector(data)
  list(object = list(data = data, shape = shape(x), dtype = as.character(dtype(x)), ambiguous = ambiguous(x)), path = path)
}
#' @exportS3Method waldo::compare_proxy
compare_proxy.AnvilTensor <- compare_proxy_tensor
#' @exportS3Method waldo::compare_proxy
compare_proxy.DebugBox <- function(x, path = "x") {
  if (is_concrete(x)) compare_proxy_tensor(.Call(C_anvil_concrete, x), path) else list(object = type_text(x), path = path)
}
