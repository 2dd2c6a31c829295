#' Exponential and Weibull distributions
#'
#' Densities, distribution functions and quantiles, with the arguments of R's functions `dexp()`, `dweibull()` and so
#' on. [nv_rexp()] and [nv_rweibull()] draw from them.
#'
#' @inherit nv_dnorm details return
#' @inheritParams nv_dnorm
#' @inheritSection nv_dnorm Errors
#' @param rate One over the mean.
#' @param shape,scale Parameters of the Weibull distribution, whose upper tail is `exp(-(q / scale)^shape)`.
#' @family distributions
#' @name nv_dexp
#' @examples
#' x <- nv_tensor(c(0.5, 1, 2), dtype = "f64")
#' nv_dexp(x, rate = 2)
#' nv_pweibull(x, shape = 2, lower.tail = FALSE, log.p = TRUE)
#' nv_qweibull(nv_tensor(c(0.1, 0.5), dtype = "f64"), shape = 2, scale = 3)
NULL

#' @rdname nv_dexp
#' @export
nv_dexp <- function(x, rate = 1, log = FALSE) {
  given <- as_floats(x = x, rate = rate)
  density_of(nv_log(given$rate) - given$rate * given$x, given$x < 0, given$rate >= 0, log)
}

#' @rdname nv_dexp
#' @export
nv_pexp <- function(q, rate = 1, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(q = q, rate = rate)
  before <- given$q <= 0
  log_upper <- nv_ifelse(before, 0, -given$rate * given$q)
  of_log_upper(
    log_upper, given$rate >= 0, lower.tail, log.p,
    log_lower = nv_ifelse(before, -Inf, nv_log(given$rate) + nv_log(given$q))
  )
}

#' @rdname nv_dexp
#' @export
nv_qexp <- function(p, rate = 1, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(p = p, rate = rate)
  x <- -tails_of(given$p, lower.tail, log.p)$log_upper / given$rate
  nv_ifelse(given$rate >= 0, x, NaN)
}

#' @rdname nv_dexp
#' @export
nv_dweibull <- function(x, shape, scale = 1, log = FALSE) {
  given <- as_floats(x = x, shape = shape, scale = scale)
  shape <- given$shape
  z <- nv_ifelse(given$x < 0, 0, given$x) / given$scale
  at_zero <- power_at_zero(shape, -z)
  inner <- nv_ifelse(z == 0, 1, z)
  log_power <- nv_ifelse(z == 0, at_zero, (shape - 1) * nv_log(inner) - nv_pow(inner, shape))
  log_density <- nv_log(shape / given$scale) + log_power
  density_of(log_density, given$x < 0 | given$x == Inf, given$shape > 0 & given$scale > 0, log)
}

#' @rdname nv_dexp
#' @export
nv_pweibull <- function(q, shape, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(q = q, shape = shape, scale = scale)
  before <- given$q <= 0
  log_upper <- nv_ifelse(before, 0, -nv_pow(given$q / given$scale, given$shape))
  of_log_upper(
    log_upper, given$shape > 0 & given$scale > 0, lower.tail, log.p,
    log_lower = nv_ifelse(before, -Inf, given$shape * (nv_log(given$q) - nv_log(given$scale)))
  )
}

#' @rdname nv_dexp
#' @export
nv_qweibull <- function(p, shape, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(p = p, shape = shape, scale = scale)
  x <- given$scale * nv_pow(-tails_of(given$p, lower.tail, log.p)$log_upper, 1 / given$shape)
  nv_ifelse(given$shape > 0 & given$scale > 0 & given$p == given$p, x, NaN)
}

# A distribution function by the logarithm of its upper tail. `log_lower` is the logarithm of the lower tail where that is
# so small that the other one has no room for it.
of_log_upper <- function(log_upper, valid, lower.tail, log.p, log_lower = NULL) {
  check_flag(lower.tail)
  # nothing is left of the upper tail, whatever the parameters
  if (lower.tail || !check_flag(log.p)) log_upper <- nv_ifelse(log_upper < -1000, -Inf, log_upper)
  value <- if (!lower.tail) {
    if (log.p) log_upper else nv_exp(log_upper)
  } else if (!check_flag(log.p)) {
    -nv_expm1(log_upper)
  } else if (is.null(log_lower)) {
    log1mexp(log_upper)
  } else {
    nv_ifelse(log_upper > -smallest(dtype(log_upper)), log_lower, log1mexp(log_upper))
  }
  nv_ifelse(valid, value, NaN)
}
