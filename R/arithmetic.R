#' Arithmetic
#'
#' Elementwise arithmetic. The operators `+`, `-`, `*`, `/`, `^`, `%%` and `%/%` call
#' these functions when one operand is a tensor.
#'
#' `/` is R's real division: integers and `bool` divide into a float of the default dtype
#' ([default_dtypes()]), so that `sum(p == y) / length(y)` is a share. `nv_div()` divides
#' integers as the hardware does, rounded towards zero, and `%/%` rounds down. A power of integers
#' by `^` is such a float, too, but for a whole exponent of at least 0 that is
#' written in R (`x^2L`), which keeps the dtype and with it all digits.
#'
#' Operands of different dtypes are converted to their common dtype
#' ([common_dtype()]); a number written in R adapts to the tensor that it meets.
#' Scalars are spread over the shape of the other operand. Nothing else is
#' recycled: `nv_tensor(1:4) + nv_tensor(1:2)` is an error, see
#' [nv_broadcast_tensors()].
#'
#' # Differences from R
#'
#' * Integers wrap around instead of becoming `NA`. By zero, `%/%` and `nv_div()` of integers give
#'   -1 (all bits set) and `%%` the dividend; neither stops the program.
#' * `nv_pow()` of integers is an integer; a negative exponent gives 0, except for
#'   the bases 1 and -1. Of floats it is C's `pow()`: `(-2)^Inf` is `Inf`, and `(-Inf)^0.5`, too, which are `NaN` in R.
#' * Logicals count as 0 and 1 of dtype `i32`, extremes too, as R's count as integers. The strict `nvl_add()` and `nvl_mul()` of
#'   `bool` are "or" and "and".
#'
#' `nv_mod()` and `%%` have the sign of the divisor, as in R, and `nv_floor_div()` and
#' `%/%` round down, so that `x == y * (x %/% y) + x %% y`. `nv_remainder()` has the
#' sign of the dividend, as in C. `nv_max()` and `nv_min()`, or `nv_pmax()` and `nv_pmin()`, are R's `pmax()` and
#' `pmin()` of two operands; a NaN in either gives NaN. The largest element of one is [nv_reduce_max()].
#'
#' @param lhs,rhs Tensors, R arrays or single numbers. Without dimensions, or of equal
#'   shapes.
#' @param operand A tensor, R array or single number.
#' @return A tensor of the common dtype and shape.
#' @family elementwise functions
#' @name nv_arithmetic
#' @examples
#' x <- nv_tensor(c(5, -5, 2))
#' x + 1
#' nv_pow(x, 2)
#' x %% 3
#' nv_remainder(x, 3)
#' nv_pmax(x, 0)
#' nv_tensor(7L) / 2L
#' nv_tensor(7L) %/% 2L
NULL

# R's `/`.
real_div <- function(lhs, rhs) record_promoted("divide", list(lhs, rhs), least = "float")

# R's `^`: an integer only where it surely is one.
real_pow <- function(lhs, rhs) {
  stays <- is.integer(rhs) && is_literal(rhs) && !is.na(rhs) && rhs >= 0L
  record_promoted("power", list(lhs, rhs), least = if (stays) "number" else "float")
}

#' @rdname nv_arithmetic
#' @export
nv_add <- function(lhs, rhs) record_promoted("add", list(lhs, rhs), least = "number")

#' @rdname nv_arithmetic
#' @export
nv_sub <- function(lhs, rhs) record_promoted("sub", list(lhs, rhs), least = "number")

#' @rdname nv_arithmetic
#' @export
nv_mul <- function(lhs, rhs) record_promoted("mul", list(lhs, rhs), least = "number")

#' @rdname nv_arithmetic
#' @export
nv_div <- function(lhs, rhs) record_promoted("divide", list(lhs, rhs), least = "number")

#' @rdname nv_arithmetic
#' @export
nv_pow <- function(lhs, rhs) record_promoted("power", list(lhs, rhs), least = "number")

#' @rdname nv_arithmetic
#' @export
nv_remainder <- function(lhs, rhs) record_promoted("remainder", list(lhs, rhs), least = "number")

#' @rdname nv_arithmetic
#' @export
nv_mod <- function(lhs, rhs) {
  x <- floored(lhs, rhs)
  if (is.null(x$below)) x$remainder else record("select", list(x$below, nv_add(x$remainder, x$rhs), x$remainder))
}

#' @rdname nv_arithmetic
#' @export
nv_floor_div <- function(lhs, rhs) {
  x <- floored(lhs, rhs)
  if (is.null(x$below)) {
    return(nv_div(x$lhs, x$rhs))
  }
  if (!is_float_code(x$code)) {
    down <- nv_and(x$below, nv_ne(x$rhs, 0L))
    return(nv_sub(nv_div(x$lhs, x$rhs), convert_to(down, x$code)))
  }
  # what the remainder leaves is a whole multiple; without one (x / 0, Inf / x) as R does
  truncated <- nv_round(nv_div(nv_sub(x$lhs, x$remainder), x$rhs))
  record("select", list(nv_is_finite(truncated), nv_sub(truncated, convert_to(x$below, x$code)), nv_div(x$lhs, x$rhs)))
}

# The truncated remainder, and where it must be completed: it is not zero and has not the
# sign of the divisor. Nowhere for unsigned integers.
floored <- function(lhs, rhs) {
  operands <- .Call(C_anvil_promote, list(lhs = lhs, rhs = rhs), TRUE)
  operands <- lapply(operands, as_number)
  lhs <- operands[[1L]]
  rhs <- operands[[2L]]
  code <- type_tag(lhs)[1L]
  remainder <- nv_remainder(lhs, rhs)
  below <- if (code < dtype_codes[["ui8"]] || code > dtype_codes[["ui64"]]) {
    nv_and(nv_ne(remainder, 0L), nv_ne(nv_lt(remainder, 0L), nv_lt(rhs, 0L)))
  }
  list(lhs = lhs, rhs = rhs, code = code, remainder = remainder, below = below)
}

#' @rdname nv_arithmetic
#' @export
nv_max <- function(lhs, rhs) record_promoted("maximum", list(lhs, rhs), least = "number")

#' @rdname nv_arithmetic
#' @export
nv_pmax <- nv_max

#' @rdname nv_arithmetic
#' @export
nv_min <- function(lhs, rhs) record_promoted("minimum", list(lhs, rhs), least = "number")

#' @rdname nv_arithmetic
#' @export
nv_pmin <- nv_min

#' @rdname nv_arithmetic
#' @export
nv_negate <- function(operand) record("negate", list(as_number(operand)))

#' @rdname nv_arithmetic
#' @export
nv_abs <- function(operand) {
  operand <- as_number(operand)
  if (has_sign(operand)) record("abs", list(operand)) else operand
}

#' @rdname nv_arithmetic
#' @export
nv_sign <- function(operand) {
  operand <- as_number(operand)
  if (has_sign(operand)) record("sign", list(operand)) else nv_min(operand, 1L)
}

has_sign <- function(x) !inherits(dtype(x), "UnsignedType")
