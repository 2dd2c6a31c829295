#' Elementary and special functions
#'
#' Elementwise functions of float tensors. R's functions of the same names call them:
#' `exp(x)`, `sqrt(x)`, `lgamma(x)` and so on.
#'
#' They want float tensors, into which R's functions convert integers and `bool`, and else [nv_convert()]. Where
#' a function is not defined (`log(-1)`) the result is NaN, without a warning.
#'
#' `nv_sine()`, `nv_cosine()` and `nv_ceil()` are other names of `nv_sin()`, `nv_cos()`
#' and `nv_ceiling()`. `nv_rsqrt(x)` is `1 / sqrt(x)`, `nv_cbrt()` the cube root, also
#' of negative numbers, `nv_logistic()` is R's `plogis()`, `nv_erf_inv()` the inverse of
#' the error function `nv_erf()`, `nv_erfc(x)` is `1 - erf(x)` without cancellation.
#' `nv_polygamma(n, x)` is R's `psigamma(x, n)`, `nv_zeta(s, a)` Hurwitz' zeta function,
#' the sum of `(a + k)^-s` over k = 0, 1, ... (Riemann's for `a = 1`), and
#' `nv_bessel_i1e(x)` is `besselI(x, 1, expon.scaled = TRUE)`, also for negative `x`.
#' `nv_zeta()` has no derivative by `s`: it is NaN.
#'
#' `nv_round()` rounds to whole numbers, halves to the even one as in R, or with
#' `method = "afz"` away from zero. There is no `digits`. `nv_trunc()` drops the
#' fraction. `nv_next_after(lhs, rhs)` is the number next to `lhs` on the side of `rhs`.
#' `nv_reduce_precision()` rounds to what a float with fewer bits can hold:
#' `nv_reduce_precision(x, 5, 10)` to half precision, `nv_reduce_precision(x, 8, 7)` to
#' bfloat16.
#'
#' @param operand,lhs,rhs,n,x,s,a Tensors, R arrays or single numbers. Functions of two
#'   promote and broadcast scalars as arithmetic does.
#' @param method `"nearest_even"` or `"afz"`.
#' @param exponent_bits,mantissa_bits Whole numbers.
#' @return A tensor of the same dtype and shape.
#' @family elementwise functions
#' @name nv_math
#' @examples
#' x <- nv_tensor(c(0.5, 1, 2), dtype = "f64")
#' nv_exp(x)
#' log(x)
#' nv_erf(x)
#' nv_round(nv_tensor(c(0.5, 1.5, 2.5)), method = "afz")
NULL

#' @rdname nv_math
#' @export
nv_sqrt <- function(operand) record("sqrt", list(operand))

#' @rdname nv_math
#' @export
nv_rsqrt <- function(operand) record("rsqrt", list(operand))

#' @rdname nv_math
#' @export
nv_cbrt <- function(operand) record("cbrt", list(operand))

#' @rdname nv_math
#' @export
nv_square <- function(operand) {
  operand <- as_number(as_operand(operand, "operand"))
  record("mul", list(operand, operand))
}

#' @rdname nv_math
#' @export
nv_exp <- function(operand) record("exp", list(operand))

#' @rdname nv_math
#' @export
nv_expm1 <- function(operand) record("expm1", list(operand))

#' @rdname nv_math
#' @export
nv_log <- function(operand) record("log", list(operand))

#' @rdname nv_math
#' @export
nv_log1p <- function(operand) record("log1p", list(operand))

#' @rdname nv_math
#' @export
nv_log2 <- function(operand) nv_div(nv_log(operand), log(2))

#' @rdname nv_math
#' @export
nv_log10 <- function(operand) nv_div(nv_log(operand), log(10))

#' @rdname nv_math
#' @export
nv_logistic <- function(operand) record("logistic", list(operand))

#' @rdname nv_math
#' @export
nv_sin <- function(operand) record("sine", list(operand))

#' @rdname nv_math
#' @export
nv_sine <- nv_sin

#' @rdname nv_math
#' @export
nv_cos <- function(operand) record("cosine", list(operand))

#' @rdname nv_math
#' @export
nv_cosine <- nv_cos

#' @rdname nv_math
#' @export
nv_tan <- function(operand) record("tan", list(operand))

#' @rdname nv_math
#' @export
nv_asin <- function(operand) record("asin", list(operand))

#' @rdname nv_math
#' @export
nv_acos <- function(operand) record("acos", list(operand))

#' @rdname nv_math
#' @export
nv_atan <- function(operand) record("atan", list(operand))

#' @rdname nv_math
#' @export
nv_atan2 <- function(lhs, rhs) record_promoted("atan2", list(lhs, rhs), least = "float")

#' @rdname nv_math
#' @export
nv_sinh <- function(operand) record("sinh", list(operand))

#' @rdname nv_math
#' @export
nv_cosh <- function(operand) record("cosh", list(operand))

#' @rdname nv_math
#' @export
nv_tanh <- function(operand) record("tanh", list(operand))

#' @rdname nv_math
#' @export
nv_asinh <- function(operand) record("asinh", list(operand))

#' @rdname nv_math
#' @export
nv_acosh <- function(operand) record("acosh", list(operand))

#' @rdname nv_math
#' @export
nv_atanh <- function(operand) record("atanh", list(operand))

#' @rdname nv_math
#' @export
nv_erf <- function(operand) record("erf", list(operand))

#' @rdname nv_math
#' @export
nv_erfc <- function(operand) record("erfc", list(operand))

#' @rdname nv_math
#' @export
nv_erf_inv <- function(operand) record("erf_inv", list(operand))

#' @rdname nv_math
#' @export
nv_lgamma <- function(operand) record("lgamma", list(operand))

#' @rdname nv_math
#' @export
nv_digamma <- function(operand) record("digamma", list(operand))

#' @rdname nv_math
#' @export
nv_polygamma <- function(n, x) record_promoted("polygamma", list(n, x))

#' @rdname nv_math
#' @export
nv_zeta <- function(s, a) record_promoted("zeta", list(s, a))

#' @rdname nv_math
#' @export
nv_bessel_i1e <- function(operand) record("bessel_i1e", list(operand))

#' @rdname nv_math
#' @export
nv_floor <- function(operand) record("floor", list(operand))

#' @rdname nv_math
#' @export
nv_ceiling <- function(operand) record("ceil", list(operand))

#' @rdname nv_math
#' @export
nv_ceil <- nv_ceiling

#' @rdname nv_math
#' @export
nv_round <- function(operand, method = "nearest_even") record("round", list(operand), list(method = method))

#' @rdname nv_math
#' @export
nv_trunc <- function(operand) nv_mul(nv_sign(operand), nv_floor(nv_abs(operand)))

#' @rdname nv_math
#' @export
nv_next_after <- function(lhs, rhs) record_promoted("next_after", list(lhs, rhs))

#' @rdname nv_math
#' @export
nv_reduce_precision <- function(operand, exponent_bits, mantissa_bits) {
  nvl_reduce_precision(operand, exponent_bits, mantissa_bits)
}
