#' Comparisons
#'
#' Elementwise comparisons; the operators `==`, `!=`, `>`, `>=`, `<` and `<=` call them.
#' Operands are promoted and scalars are spread as in [arithmetic][nv_arithmetic]. A
#' comparison with NaN is `FALSE`, but `nv_ne()` is `TRUE`. In arithmetic what they give counts as 0 and 1 of dtype `i32`.
#'
#' A scalar of dtype `bool` is an R logical, too: outside of a trace it can stand in `if`, `while`,
#' `&&` and [isTRUE()], whether it was computed at once or by a jitted function. In a trace it has no
#' value yet: `if` is an error, and [isTRUE()] is `FALSE`. To
#' choose element by element use [nv_ifelse()], to branch in compiled code [nv_if()].
#'
#' @inheritParams nv_arithmetic
#' @return A tensor of dtype `bool`.
#' @family elementwise functions
#' @name nv_compare
#' @examples
#' x <- nv_tensor(1:4)
#' x > 2L
#' nv_eq(x, 3L)
NULL

#' @rdname nv_compare
#' @export
nv_eq <- function(lhs, rhs) record_promoted("equal", list(lhs, rhs))

#' @rdname nv_compare
#' @export
nv_ne <- function(lhs, rhs) record_promoted("not_equal", list(lhs, rhs))

#' @rdname nv_compare
#' @export
nv_gt <- function(lhs, rhs) record_promoted("greater", list(lhs, rhs))

#' @rdname nv_compare
#' @export
nv_ge <- function(lhs, rhs) record_promoted("greater_equal", list(lhs, rhs))

#' @rdname nv_compare
#' @export
nv_lt <- function(lhs, rhs) record_promoted("less", list(lhs, rhs))

#' @rdname nv_compare
#' @export
nv_le <- function(lhs, rhs) record_promoted("less_equal", list(lhs, rhs))

#' Finite, infinite and missing numbers
#'
#' R's functions `is.finite()`, `is.infinite()` and `is.nan()` call them. Since tensors
#' know no `NA`, `is.na()` is the same as `is.nan()`.
#'
#' @param operand A tensor. Integers and bools are always finite.
#' @return A tensor of dtype `bool`.
#' @family elementwise functions
#' @name nv_is_finite
#' @examples
#' x <- nv_tensor(c(1, NaN, Inf))
#' nv_is_finite(x)
#' nv_is_infinite(x)
#' is.nan(x)
NULL

#' @rdname nv_is_finite
#' @export
nv_is_finite <- function(operand) {
  operand <- as_operand(operand, "operand")
  if (is_float_code(type_tag(operand)[1L])) record("is_finite", list(operand)) else nv_eq(operand, operand)
}

#' @rdname nv_is_finite
#' @export
nv_is_infinite <- function(operand) {
  operand <- as_operand(operand, "operand")
  if (is_float_code(type_tag(operand)[1L])) nv_eq(nv_abs(operand), Inf) else nv_ne(operand, operand)
}

#' @rdname nv_is_finite
#' @export
nv_is_nan <- function(operand) {
  operand <- as_operand(operand, "operand")
  record("not_equal", list(operand, operand))
}

#' Logic and bits
#'
#' `nv_and()`, `nv_or()`, `nv_xor()` and `nv_not()` are logical on `bool` and work bit by
#' bit on integers. The operators `&`, `|` and `!` are for `bool` only: in R they turn
#' numbers into logicals, so on numbers they are an error here.
#'
#' Shifts move the bits of `lhs` by `rhs` places. A shift by the width of the dtype or
#' more gives 0, or for `nv_shift_right_arithmetic()`, which repeats the sign, 0 or -1.
#' `nv_popcnt()` counts the bits that are set.
#'
#' @inheritParams nv_arithmetic
#' @return A tensor of the common dtype.
#' @family elementwise functions
#' @name nv_logic
#' @examples
#' nv_and(nv_tensor(c(TRUE, TRUE)), nv_tensor(c(TRUE, FALSE)))
#' nv_xor(nv_tensor(5L), 3L)
#' nv_shift_left(nv_tensor(1:3), 2L)
#' nv_popcnt(nv_tensor(c(7L, 8L)))
NULL

#' @rdname nv_logic
#' @export
nv_and <- function(lhs, rhs) record_promoted("and", list(lhs, rhs))

#' @rdname nv_logic
#' @export
nv_or <- function(lhs, rhs) record_promoted("or", list(lhs, rhs))

#' @rdname nv_logic
#' @export
nv_xor <- function(lhs, rhs) record_promoted("xor", list(lhs, rhs))

#' @rdname nv_logic
#' @export
nv_not <- function(operand) record("not", list(operand))

#' @rdname nv_logic
#' @export
nv_shift_left <- function(lhs, rhs) record_promoted("shift_left", list(lhs, rhs))

#' @rdname nv_logic
#' @export
nv_shift_right_logical <- function(lhs, rhs) record_promoted("shift_right_logical", list(lhs, rhs))

#' @rdname nv_logic
#' @export
nv_shift_right_arithmetic <- function(lhs, rhs) record_promoted("shift_right_arithmetic", list(lhs, rhs))

#' @rdname nv_logic
#' @export
nv_popcnt <- function(operand) record("popcnt", list(operand))
