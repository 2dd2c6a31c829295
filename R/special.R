#' Incomplete gamma and beta functions, Bessel functions
#'
#' Elementwise functions of float tensors, accurate also where their values are small. Compared with R's:
#'
#' | function | R |
#' |---|---|
#' | `nv_igamma(a, x)` | `pgamma(x, a)` |
#' | `nv_igammac(a, x)` | `pgamma(x, a, lower.tail = FALSE)` |
#' | `nv_betainc(a, b, x)` | `pbeta(x, a, b)` |
#' | `nv_betaincc(a, b, x)` | `pbeta(x, a, b, lower.tail = FALSE)` |
#' | `nv_bessel_j(x, nu)` | `besselJ(x, nu)` |
#' | `nv_bessel_y(x, nu)` | `besselY(x, nu)` |
#' | `nv_bessel_i(x, nu, scaled)` | `besselI(x, nu, expon.scaled)` |
#' | `nv_bessel_k(x, nu, scaled)` | `besselK(x, nu, expon.scaled)` |
#'
#' The incomplete functions are defined for `a >= 0` and `b >= 0`, with the limits at 0 and `Inf`, and `x >= 0`
#' (`nv_betainc()` and `nv_betaincc()`: `0 <= x <= 1`); elsewhere, and where there is no limit (`a = x = 0`), they are
#' NaN, without a warning. Bessel functions are defined for `x >= 0`; those of a whole order `nu`, `nv_bessel_j()` and
#' `nv_bessel_i()`, also for negative `x`, where R's are not, and `scaled` then means a factor `exp(-abs(x))`.
#'
#' The derivatives by `x` are of any order. `nv_igamma()`, `nv_igammac()`, `nv_betainc()` and `nv_betaincc()` are
#' differentiable by `a` and `b`, too, but only once: a second derivative by a parameter is an error of class `anvil_error_gradient`.
#' The order `nu` of a Bessel function is a number, not a tensor, and there is no derivative by it.
#'
#' Relative errors of `f64` values are below 1e-13, of `nv_bessel_j()` and `nv_bessel_y()` those of the larger one
#' of both where they oscillate. Values of other dtypes are computed in `f64` and rounded.
#'
#' @param a,b,x Tensors, R arrays or single numbers. They are promoted and scalars are broadcast as in arithmetic.
#' @param nu The order: a number between -100000 and 100000.
#' @param scaled Whether to multiply by `exp(-abs(x))` (`nv_bessel_i()`) or `exp(x)` (`nv_bessel_k()`).
#' @return A tensor of the same dtype and shape.
#' @seealso [nv_math] for `nv_lgamma()`, `nv_digamma()` and other functions of one argument.
#' @family elementwise functions
#' @name nv_special
#' @examples
#' x <- nv_tensor(c(0.5, 1, 2), dtype = "f64")
#' nv_igamma(2.5, x)
#' nv_betainc(2, 3, x / 2)
#' nv_bessel_j(x, 0)
#' nv_bessel_k(x, 1.5, scaled = TRUE)
#'
#' # the slope of a distribution function by its shape
#' jit(gradient(function(a) nv_igamma(a, 2)))(nv_scalar(1.5))
NULL

#' @rdname nv_special
#' @export
nv_igamma <- function(a, x) record_promoted("igamma", list(a, x))

#' @rdname nv_special
#' @export
nv_igammac <- function(a, x) record_promoted("igammac", list(a, x))

#' @rdname nv_special
#' @export
nv_betainc <- function(a, b, x) record_promoted("betainc", list(a, b, x))

#' @rdname nv_special
#' @export
nv_betaincc <- function(a, b, x) record_promoted("betaincc", list(a, b, x))

#' @rdname nv_special
#' @export
nv_bessel_j <- function(x, nu) nvl_bessel_j(x, nu)

#' @rdname nv_special
#' @export
nv_bessel_y <- function(x, nu) nvl_bessel_y(x, nu)

#' @rdname nv_special
#' @export
nv_bessel_i <- function(x, nu, scaled = FALSE) if (check_flag(scaled)) nvl_bessel_ie(x, nu) else nvl_bessel_i(x, nu)

#' @rdname nv_special
#' @export
nv_bessel_k <- function(x, nu, scaled = FALSE) if (check_flag(scaled)) nvl_bessel_ke(x, nu) else nvl_bessel_k(x, nu)
