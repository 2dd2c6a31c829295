#' Logistic, Cauchy, Laplace and uniform distributions
#'
#' Densities, distribution functions and quantiles, with the arguments of R's functions `dlogis()`, `dcauchy()`,
#' `dunif()` and so on. The Laplace distribution, which R does not have, is that of the difference of two
#' exponential variables of mean `scale`, plus `location`. [nv_rlogis()], [nv_rcauchy()],
#' [nv_rlaplace()] and [nv_runif()] draw from them.
#'
#' @inherit nv_dnorm details return
#' @inheritParams nv_dnorm
#' @inheritSection nv_dnorm Errors
#' @param location,scale Median and scale.
#' @param min,max Bounds.
#' @family distributions
#' @name nv_dlogis
#' @examples
#' x <- nv_tensor(c(-2, 0, 50), dtype = "f64")
#' nv_dlogis(x, log = TRUE)
#' nv_pcauchy(x, lower.tail = FALSE)
#' nv_qlaplace(nv_tensor(c(0.1, 0.5), dtype = "f64"), location = 1)
#' nv_punif(x, min = -3, max = 3)
NULL

#' @rdname nv_dlogis
#' @export
nv_dlogis <- function(x, location = 0, scale = 1, log = FALSE) {
  given <- as_floats(x = x, location = location, scale = scale)
  z <- standardised(given)
  log_density <- log_logistic(z) + log_logistic(-z) - nv_log(given$scale)
  density_of(log_density, nv_abs(z) == Inf, given$scale > 0, log)
}

#' @rdname nv_dlogis
#' @export
nv_plogis <- function(q, location = 0, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(q = q, location = location, scale = scale)
  z <- standardised(given)
  probability_of_logs(log_logistic(z), log_logistic(-z), given$scale > 0, lower.tail, log.p)
}

#' @rdname nv_dlogis
#' @export
nv_qlogis <- function(p, location = 0, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(p = p, location = location, scale = scale)
  tails <- tails_of(given$p, lower.tail, log.p)
  unstandardised(tails$log_lower - tails$log_upper, given)
}

#' @rdname nv_dlogis
#' @export
nv_dcauchy <- function(x, location = 0, scale = 1, log = FALSE) {
  given <- as_floats(x = x, location = location, scale = scale)
  z <- standardised(given)
  size <- nv_abs(z)
  # of 1 + z^2, which overflows
  logarithm <- nv_ifelse(size > 1e10, 2 * nv_log(size), nv_log1p(z * z))
  density_of(-logarithm - nv_log(given$scale) - log(pi), NULL, given$scale > 0, log)
}

#' @rdname nv_dlogis
#' @export
nv_pcauchy <- function(q, location = 0, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(q = q, location = location, scale = scale)
  inner <- function(z) nv_ifelse(z < -1, nv_atan(-1 / z), nv_atan(z) + pi / 2)
  # the second derivative of nv_atan() at Inf is none
  tail <- function(z) nv_ifelse(z == Inf, pi, inner(z)) / pi
  z <- standardised(given)
  probability_of(function(lower, where) tail(if (lower) z else -z), given$scale > 0, lower.tail, log.p)
}

#' @rdname nv_dlogis
#' @export
nv_qcauchy <- function(p, location = 0, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(p = p, location = location, scale = scale)
  tails <- tails_of(given$p, lower.tail, log.p)
  off <- tails$lower - 0.5
  far <- 1 / nv_tan(pi * nv_abs(nv_ifelse(off < 0, tails$lower, tails$upper)))
  unstandardised(nv_ifelse(nv_abs(off) < 0.25, nv_tan(pi * off), nv_ifelse(off < 0, -far, far)), given)
}

#' @rdname nv_dlogis
#' @export
nv_dlaplace <- function(x, location = 0, scale = 1, log = FALSE) {
  given <- as_floats(x = x, location = location, scale = scale)
  density_of(-nv_abs(standardised(given)) - nv_log(2 * given$scale), NULL, given$scale > 0, log)
}

#' @rdname nv_dlogis
#' @export
nv_plaplace <- function(q, location = 0, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(q = q, location = location, scale = scale)
  tail <- function(z) nv_ifelse(z < 0, z - log(2), nv_log1p(-0.5 * nv_exp(-z)))
  z <- standardised(given)
  probability_of_logs(tail(z), tail(-z), given$scale > 0, lower.tail, log.p)
}

#' @rdname nv_dlogis
#' @export
nv_qlaplace <- function(p, location = 0, scale = 1, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(p = p, location = location, scale = scale)
  tails <- tails_of(given$p, lower.tail, log.p)
  z <- nv_ifelse(tails$log_lower < tails$log_upper, tails$log_lower + log(2), -tails$log_upper - log(2))
  unstandardised(z, given)
}

#' @rdname nv_dlogis
#' @export
nv_dunif <- function(x, min = 0, max = 1, log = FALSE) {
  given <- as_floats(x = x, min = min, max = max)
  # a NaN is kept by the sum
  log_density <- 0 * given$x - nv_log(given$max - given$min)
  density_of(log_density, given$x < given$min | given$x > given$max, given$max > given$min, log)
}

#' @rdname nv_dlogis
#' @export
nv_punif <- function(q, min = 0, max = 1, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(q = q, min = min, max = max)
  width <- given$max - given$min
  beyond <- given$q >= given$max
  before <- given$q <= given$min
  lower <- nv_ifelse(beyond, 1, nv_ifelse(before, 0, (given$q - given$min) / width))
  upper <- nv_ifelse(beyond, 0, nv_ifelse(before, 1, (given$max - given$q) / width))
  probability_of(function(below, where) if (below) lower else upper, width >= 0, lower.tail, log.p)
}

#' @rdname nv_dlogis
#' @export
nv_qunif <- function(p, min = 0, max = 1, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(p = p, min = min, max = max)
  width <- given$max - given$min
  nv_ifelse(width >= 0, given$min + tails_of(given$p, lower.tail, log.p)$lower * width, NaN)
}

# Of families with a location and a scale. What is infinite is that for every scale.
standardised <- function(given) {
  away <- given[[1L]] - given$location
  nv_ifelse(nv_abs(away) == Inf, away / nv_stop_gradient(given$scale), away / given$scale)
}
# With a scale of 0, all is at the location.
unstandardised <- function(z, given) {
  x <- nv_ifelse(given$scale == 0 & nv_abs(z) <= Inf, given$location, given$location + given$scale * z)
  nv_ifelse(given$scale >= 0, x, NaN)
}

# log(1 / (1 + e^-z))
log_logistic <- function(z) -nv_softplus(-z)
