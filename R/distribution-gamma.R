#' Gamma and chi-squared distributions
#'
#' Densities, distribution functions and quantiles, with the arguments of R's functions `dgamma()`, `dchisq()` and
#' so on. [nv_rgamma()] and [nv_rchisq()] draw from them.
#'
#' @inherit nv_dnorm details return
#' @inheritParams nv_dnorm
#' @section Errors:
#' Those of [nv_dnorm()]. A second derivative of a distribution function by `shape` or `df` is an error of class
#' `anvil_error_gradient`, see [nv_igamma()].
#' @param shape,rate,scale Parameters; `rate` is one over `scale`, and one of both is enough. `shape = 0` is a point mass
#'   at 0.
#' @param df Degrees of freedom.
#' @family distributions
#' @name nv_dgamma
#' @examples
#' x <- nv_tensor(c(0.5, 1, 2), dtype = "f64")
#' nv_dgamma(x, shape = 2, rate = 3)
#' nv_pgamma(1000 * x, shape = 2, lower.tail = FALSE, log.p = TRUE)
#' nv_qchisq(0.95, df = nv_tensor(c(1, 2, 10), dtype = "f64"))
#'
#' # how a quantile depends on the shape
#' jit(gradient(function(shape) nv_qgamma(0.9, shape)))(nv_scalar(2, "f64"))
NULL

#' @rdname nv_dgamma
#' @export
nv_dgamma <- function(x, shape, rate = 1, scale = 1 / rate, log = FALSE) {
  given <- as_floats(x = x, shape = shape, scale = scale_of(rate, scale, missing(rate), missing(scale)))
  log_density <- log_gamma_density(given$shape, given$x / given$scale) - nv_log(given$scale)
  density_of(log_density, given$x < 0 | given$x == Inf | given$shape == Inf, given$shape >= 0 & given$scale > 0 & given$x == given$x, log)
}

#' @rdname nv_dgamma
#' @export
nv_pgamma <- function(q, shape, rate = 1, scale = 1 / rate, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(q = q, shape = shape, scale = scale_of(rate, scale, missing(rate), missing(scale)))
  valid <- given$shape >= 0 & given$scale > 0
  x <- given$q / given$scale
  gamma_probability(given$shape, x, lower.tail, log.p, valid, given$q <= 0, given$q == Inf | (given$shape == 0 & given$q > 0))
}

#' @rdname nv_dgamma
#' @export
nv_qgamma <- function(p, shape, rate = 1, scale = 1 / rate, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(p = p, shape = shape, scale = scale_of(rate, scale, missing(rate), missing(scale)))
  x <- gamma_quantile(tails_of(given$p, lower.tail, log.p), given$shape)
  nv_ifelse(given$shape >= 0 & given$scale >= 0, given$scale * x, NaN)
}

#' @rdname nv_dgamma
#' @export
nv_dchisq <- function(x, df, log = FALSE) nv_dgamma(x, halved(df), scale = 2, log = log)

#' @rdname nv_dgamma
#' @export
nv_pchisq <- function(q, df, lower.tail = TRUE, log.p = FALSE) {
  nv_pgamma(q, halved(df), scale = 2, lower.tail = lower.tail, log.p = log.p)
}

#' @rdname nv_dgamma
#' @export
nv_qchisq <- function(p, df, lower.tail = TRUE, log.p = FALSE) {
  nv_qgamma(p, halved(df), scale = 2, lower.tail = lower.tail, log.p = log.p)
}

halved <- function(df, name = rlang::caller_arg(df)) if (is_number(df)) df / 2 else real_div(as_operand(df, name), 2)

# `scale`, or where it is not given what `rate` makes it.
scale_of <- function(rate, scale, no_rate, no_scale) {
  if (!no_rate && !no_scale) abort_anvil("argument", "Only one of `rate` and `scale` can be given.")
  if (!no_scale) scale else if (is_number(rate)) 1 / rate else real_div(1, as_operand(rate, "rate"))
}
is_number <- function(x) is.numeric(x) && is_literal(x)

# --- the gamma distribution with scale 1 ------------------------------------------------------

# The logarithm of x^a e^-x / Gamma(a), the density of log(x).
log_gamma_weight <- function(a, x) nv_log(a) + log_poisson(a, x)

# For small a by the definition: what cancels in the weight would be most of a logarithm near 0.
log_gamma_density <- function(a, x) {
  at_zero <- power_at_zero(a, -x)
  inner <- nv_ifelse(x == 0, 1, x)
  log_x <- nv_log(inner)
  small <- a > 0 & a < 2
  direct <- (a - 1) * log_x - inner - nv_lgamma(nv_ifelse(small, a, 1))
  nv_ifelse(x == 0, at_zero, nv_ifelse(small, direct, log_gamma_weight(a, inner) - log_x))
}

gamma_tail <- function(a, x, lower, where = TRUE) {
  one_of_two(lower, where, x, function(x) nv_igamma(a, x), function(x) nv_igammac(a, x))
}
log_gamma_tail <- function(a, x, lower, where = TRUE, tail = gamma_tail(a, x, lower, where)) {
  log_tail_of(tail, log_gamma_weight(a, x), x - a, x, x, x)
}

gamma_probability <- function(a, x, lower.tail, log.p, valid, before, beyond) {
  tail <- function(lower, where) gamma_tail(a, x, lower, where)
  log_tail <- function(tail, lower) log_gamma_tail(a, x, lower, tail = tail)
  probability_of(tail, valid, lower.tail, log.p, log_tail, before, beyond)
}

# The logarithm of a gamma variable has a logarithmically concave density, and so have its tails: from one side, Newton's
# steps for the logarithm of a tail over log(x) do not pass the root. They start from Wilson and Hilferty's
# approximation, within bounds of the quantile: x^a / Gamma(a + 1) is above the lower tail.
gamma_quantile <- function(tails, a) {
  tail <- smaller_tail(tails)
  most <- nv_log(most_of_gamma(a, -tails$log_upper))
  least <- (tails$log_lower + nv_lgamma(a + 1)) / a
  variance <- 1 / (9 * a)
  root <- 1 - variance + nv_sqrt(variance) * standard_quantile(tails)
  start <- nv_max(nv_ifelse(root > 0.05, nv_log(a) + 3 * nv_log(root), -Inf), least)
  at <- function(u, open) {
    x <- nv_exp(u)
    log <- log_gamma_tail(a, x, tail$lower, open)
    slope <- nv_exp(log_gamma_weight(a, x) - log)
    slope <- nv_ifelse(tail$lower, slope, -slope)
    list(log = log, slope = slope, bend = a - x - slope)
  }
  u <- halley(nv_max(nv_min(start, most), log(smallest(dtype(a)))), tail$log, at, most)
  u <- implicitly(u, list(tail$log, a), list(tail$lower), function(u, given, constants) {
    log_gamma_tail(given[[2L]], nv_exp(u), constants[[1L]]) - given[[1L]]
  })
  nv_exp(with_ends(nv_ifelse(a == 0 & tail$log <= 0, -Inf, u), tail, -Inf, Inf))
}
