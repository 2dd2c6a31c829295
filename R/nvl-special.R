#' Primitives of special functions
#'
#' Each records one call of the primitive of its name. Operands must have the same float dtype and shape;
#' [nv_igamma()] and the others promote and broadcast scalars.
#'
#' `nvl_gamma_density()` and `nvl_beta_density()` are the derivatives of `nvl_igamma()` and `nvl_betainc()` by `x`:
#' R's `dgamma(x, a)` and `dbeta(x, a, b)`. `nvl_igamma_grad_a()`, `nvl_betainc_grad_a()` and `nvl_betainc_grad_b()`
#' are those by `a` and by `b`, which have derivatives by `x` only. `nvl_bessel_ie()` and `nvl_bessel_ke()` are the
#' scaled functions.
#'
#' @param a,b,x Tensors.
#' @param nu The order: a number between -100000 and 100000.
#' @return A tensor (in a trace a box).
#' @keywords internal
#' @name nvl_special
#' @examples
#' nvl_igamma(nv_scalar(2), nv_scalar(1.5))
#' nvl_bessel_j(nv_tensor(c(0, 1, 2)), 0)
NULL

#' @rdname nvl_special
#' @export
nvl_igamma <- function(a, x) record("igamma", list(a, x))

#' @rdname nvl_special
#' @export
nvl_igammac <- function(a, x) record("igammac", list(a, x))

#' @rdname nvl_special
#' @export
nvl_igamma_grad_a <- function(a, x) record("igamma_grad_a", list(a, x))

#' @rdname nvl_special
#' @export
nvl_gamma_density <- function(a, x) record("gamma_density", list(a, x))

#' @rdname nvl_special
#' @export
nvl_betainc <- function(a, b, x) record("betainc", list(a, b, x))

#' @rdname nvl_special
#' @export
nvl_betaincc <- function(a, b, x) record("betaincc", list(a, b, x))

#' @rdname nvl_special
#' @export
nvl_betainc_grad_a <- function(a, b, x) record("betainc_grad_a", list(a, b, x))

#' @rdname nvl_special
#' @export
nvl_betainc_grad_b <- function(a, b, x) record("betainc_grad_b", list(a, b, x))

#' @rdname nvl_special
#' @export
nvl_beta_density <- function(a, b, x) record("beta_density", list(a, b, x))

#' @rdname nvl_special
#' @export
nvl_bessel_j <- function(x, nu) record("bessel_j", list(x), list(nu = nu))

#' @rdname nvl_special
#' @export
nvl_bessel_y <- function(x, nu) record("bessel_y", list(x), list(nu = nu))

#' @rdname nvl_special
#' @export
nvl_bessel_i <- function(x, nu) record("bessel_i", list(x), list(nu = nu))

#' @rdname nvl_special
#' @export
nvl_bessel_k <- function(x, nu) record("bessel_k", list(x), list(nu = nu))

#' @rdname nvl_special
#' @export
nvl_bessel_ie <- function(x, nu) record("bessel_ie", list(x), list(nu = nu))

#' @rdname nvl_special
#' @export
nvl_bessel_ke <- function(x, nu) record("bessel_ke", list(x), list(nu = nu))
