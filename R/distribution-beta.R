#' Beta, t and F distributions
#'
#' Densities, distribution functions and quantiles, with the arguments of R's functions `dbeta()`, `dt()`, `df()` and
#' so on, without non-centrality parameters. [nv_rbeta()], [nv_rt()] and [nv_rf()] draw from them.
#'
#' @inherit nv_dnorm details return
#' @inheritParams nv_dnorm
#' @section Errors:
#' Those of [nv_dnorm()]. A second derivative of a distribution function by the shapes or degrees of freedom is an error
#' of class `anvil_error_gradient`, see [nv_betainc()].
#' @param shape1,shape2 Parameters of the beta distribution.
#' @param df,df1,df2 Degrees of freedom; `Inf` is allowed where R allows it.
#' @family distributions
#' @name nv_dbeta
#' @examples
#' x <- nv_tensor(c(0.1, 0.5, 0.9), dtype = "f64")
#' nv_dbeta(x, 2, 3, log = TRUE)
#' nv_pt(-10 * x, df = 4)
#' nv_qf(0.95, df1 = 2, df2 = nv_tensor(c(5, 10, 100), dtype = "f64"))
#'
#' # a likelihood with heavy tails, and its slope by the degrees of freedom
#' jit(gradient(function(df) sum(nv_dt(x, df, log = TRUE))))(nv_scalar(3, "f64"))
NULL

#' @rdname nv_dbeta
#' @export
nv_dbeta <- function(x, shape1, shape2, log = FALSE) {
  given <- as_floats(x = x, shape1 = shape1, shape2 = shape2)
  outside <- given$x < 0 | given$x > 1
  a <- given$shape1
  b <- given$shape2
  log_density <- log_beta_density(nearly_infinite(a), nearly_infinite(b), given$x)
  # with an infinite parameter, a point mass
  point <- nv_ifelse(a == b, 0.5, nv_ifelse(a == Inf, 1, 0))
  log_density <- nv_ifelse(a == Inf | b == Inf, nv_ifelse(given$x == point, Inf, -Inf), log_density)
  density_of(log_density, outside, a >= 0 & b >= 0 & given$x == given$x, log)
}

#' @rdname nv_dbeta
#' @export
nv_pbeta <- function(q, shape1, shape2, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(q = q, shape1 = shape1, shape2 = shape2)
  valid <- given$shape1 >= 0 & given$shape2 >= 0
  beta_probability(given$shape1, given$shape2, given$q, NULL, lower.tail, log.p, valid, given$q <= 0, given$q >= 1)
}

#' @rdname nv_dbeta
#' @export
nv_qbeta <- function(p, shape1, shape2, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(p = p, shape1 = shape1, shape2 = shape2)
  beta_quantile(tails_of(given$p, lower.tail, log.p), given$shape1, given$shape2)$x
}

#' @rdname nv_dbeta
#' @export
nv_dt <- function(x, df, log = FALSE) {
  given <- as_floats(x = x, df = df)
  size <- nv_abs(given$x)
  relative <- given$x * (given$x / given$df)
  # log(1 + x^2 / df), where x^2 overflows, too
  spread <- nv_ifelse(relative > 1e17, 2 * nv_log(size) - nv_log(given$df), nv_log1p(relative))
  log_density <- log_half_ratio(given$df / 2) - 0.5 * (nv_log(pi * given$df) + (given$df + 1) * spread)
  log_density <- nv_ifelse(given$df == Inf, log_normal_density(given$x), log_density)
  density_of(log_density, size == Inf, given$df > 0, log)
}

#' @rdname nv_dbeta
#' @export
nv_pt <- function(q, df, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(q = q, df = df, half = 0.5)
  df <- nv_ifelse(given$df == Inf, 1, given$df)
  size <- nv_abs(given$q)
  end <- size == Inf
  q <- nv_ifelse(end, 0, given$q)
  a <- df / 2
  b <- given$half
  # P(|T| > |q|) is that of a beta variable with 1/2 and df / 2 above this one; far out it is a power of |q|
  size <- nv_ifelse(end, 0, size) / nv_sqrt(df)
  part <- odds_share(size * size)
  log_power <- log_t_power(a) - df * nv_log(size)
  far <- size > 1e10
  inner <- beta_tail(a, b, part$y, part$x, TRUE)
  outer <- 0.5 * nv_ifelse(far, nv_exp(log_power), inner)
  # next to 0 linear: there the beta variable has no derivative by q
  middle <- nv_abs(q) < t_middle
  rise <- q * t_centre(df)
  tail <- function(negative, rise) nv_ifelse(middle, 0.5 + rise, nv_ifelse(negative, outer, 1 - outer))
  lower <- tail(q < 0, rise)
  upper <- tail(q > 0, -rise)
  log_tail <- function(tail, lower) {
    log_outer <- nv_ifelse(far, log_power, log_beta_tail(a, b, part$y, part$x, TRUE, tail = inner)) - log(2)
    nv_ifelse(tail < 0.25, log_outer, nv_log(tail))
  }
  before <- end & given$q < 0
  p <- probability_of(function(below, where) if (below) lower else upper, df > 0, lower.tail, log.p, log_tail, before, end & given$q > 0)
  nv_ifelse(given$df == Inf, nv_pnorm(given$q, 0, 1, lower.tail, log.p), p)
}

#' @rdname nv_dbeta
#' @export
nv_qt <- function(p, df, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(p = p, df = df, half = 0.5)
  tails <- tails_of(given$p, lower.tail, log.p)
  tail <- smaller_tail(tails)
  p <- nv_ifelse(tail$lower, tails$lower, tails$upper)
  twice <- list(lower = 2 * p, upper = 1 - 2 * p, log_lower = tail$log + log(2), log_upper = nv_log1p(-2 * p), deep = tails$deep)
  start <- nv_ifelse(given$df > 1, hill_start(twice, -nv_abs(standard_quantile(tails)), given$df), NaN)
  found <- beta_quantile(twice, given$df / 2, given$half, start)
  log_size <- (log_t_power(given$df / 2) - twice$log_lower) / given$df
  size <- nv_sqrt(given$df) * nv_ifelse(log_size > log(1e10), nv_exp(log_size), nv_sqrt(found$y / found$x))
  off <- nv_ifelse(tail$lower, tails$lower - 0.5, 0.5 - tails$upper)
  linear <- off / t_centre(given$df)
  x <- nv_ifelse(nv_abs(linear) < t_middle, linear, nv_ifelse(tail$lower, -size, size))
  x <- with_ends(x, tail, -Inf, Inf)
  nv_ifelse(given$df > 0, nv_ifelse(given$df == Inf, nv_qnorm(given$p, 0, 1, lower.tail, log.p), x), NaN)
}

# The logarithm of df / t^2 by Hill (1970, algorithm 396), from both tails together and the normal quantile of the lower one.
hill_start <- function(twice, z, df) {
  a <- 1 / (df - 0.5)
  b <- (48 / a)^2
  c <- ((20700 * a / b - 98) * a - 16) * a + 96.36
  d <- ((94.5 / (b + c) - 3) / b + 1) * nv_sqrt(a * (pi / 2)) * df
  y <- nv_exp((nv_log(d) + twice$log_lower) * (2 / df))
  far <- ((1 / (((df + 6) / (df * y) - 0.089 * d - 0.822) * (df + 2) * 3) + 0.5 / (df + 4)) * y - 1) * (df + 1) / (df + 2) + 1 / y
  c <- c + nv_ifelse(df < 5, 0.3 * (df - 4.5) * (z + 0.6), 0)
  square <- z * z
  c <- (((0.05 * d * z - 5) * z - 7) * z - 2) * z + b + c
  near <- (((((0.4 * square + 6.3) * square + 36) * square + 94.5) / c - square - 3) / b + 1) * z
  -nv_log(nv_ifelse(y > 0.05 + a, nv_expm1(a * near * near), far))
}

# The density at 0, and how far from there the distribution function is linear to all digits.
t_centre <- function(df) nv_exp(log_half_ratio(df / 2) - 0.5 * nv_log(pi * df))
t_middle <- 1e-9

# P(|T| > q) for large q is about this, exponentiated, times (q / sqrt(2 a))^(-2 a).
log_t_power <- function(a) log_half_ratio(a) - nv_log(a) - log(pi) / 2

#' @rdname nv_dbeta
#' @export
nv_df <- function(x, df1, df2, log = FALSE) {
  given <- as_floats(x = x, df1 = df1, df2 = df2)
  df1 <- nearly_infinite(given$df1)
  df2 <- nearly_infinite(given$df2)
  a <- df1 / 2
  b <- df2 / 2
  ratio <- df1 / df2
  inner <- nv_ifelse(given$x == 0, 1, given$x)
  part <- odds_share(inner * ratio)
  at_zero <- power_at_zero(a, -(b + 1) * nv_log1p(ratio * given$x))
  inside <- largest_beta_weight(a, b) + beta_factor(a, a + b, part$x, nv_log(part$x)) - poisson_deviance(b, (a + b) * part$y)
  log_density <- nv_ifelse(given$x == 0, at_zero, inside + nv_log(part$y) + nv_log(ratio))
  density_of(log_density, given$x < 0 | given$x == Inf, a > 0 & b > 0, log)
}

#' @rdname nv_dbeta
#' @export
nv_pf <- function(q, df1, df2, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(q = q, df1 = df1, df2 = df2)
  df1 <- nearly_infinite(given$df1)
  df2 <- nearly_infinite(given$df2)
  part <- odds_share(given$q * (df1 / df2))
  beta_probability(df1 / 2, df2 / 2, part$x, part$y, lower.tail, log.p, df1 > 0 & df2 > 0, given$q <= 0, given$q == Inf)
}

#' @rdname nv_dbeta
#' @export
nv_qf <- function(p, df1, df2, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(p = p, df1 = df1, df2 = df2)
  df1 <- nearly_infinite(given$df1)
  df2 <- nearly_infinite(given$df2)
  found <- beta_quantile(tails_of(given$p, lower.tail, log.p), df1 / 2, df2 / 2)
  nv_ifelse(df1 > 0 & df2 > 0, (df2 / df1) * (found$x / found$y), NaN)
}

# x and y = 1 - x with x / y = odds, both with all of their digits.
odds_share <- function(odds) {
  small <- odds < 1
  share <- nv_ifelse(small, odds, 1 / odds)
  x <- share / (1 + share)
  y <- 1 / (1 + share)
  list(x = nv_ifelse(small, x, y), y = nv_ifelse(small, y, x))
}

# --- the beta distribution --------------------------------------------------------------------

# The logarithm of x^a y^b / B(a, b), the density of log(x / y); y is 1 - x. It is largest at the mean.
log_beta_weight <- function(a, b, x, y) {
  sum <- a + b
  largest_beta_weight(a, b) - poisson_deviance(a, sum * x) - poisson_deviance(b, sum * y)
}
largest_beta_weight <- function(a, b) {
  sum <- a + b
  nv_log(a) + nv_log(b / sum) + (factorial_rest(sum) - factorial_rest(a) - factorial_rest(b))
}
log_beta_function <- function(a, b) -a * nv_log1p(b / a) - b * nv_log1p(a / b) - largest_beta_weight(a, b)

log_beta_density <- function(a, b, x) {
  y <- 1 - x
  end <- function(a, b, x) power_at_zero(a, nv_log(b) + (b - 1) * nv_log1p(-x))
  inside <- largest_beta_weight(a, b) + beta_factor(a, a + b, x, nv_log(x)) + beta_factor(b, a + b, y, nv_log1p(-x))
  nv_ifelse(x == 0, end(a, b, x), nv_ifelse(y == 0, end(b, a, y), inside))
}

# The factor of x^a y^b / B(a, b), over its largest value, that x makes, divided by x, as a logarithm: for small a as a
# power of x, whose derivatives by x are as exact as a - 1.
beta_factor <- function(a, sum, x, log_x) {
  small <- a > 0 & a < 2
  inner <- nv_ifelse(small, a, 1)
  power <- (inner - 1) * log_x + inner * nv_log(sum / inner) + (inner - sum * x)
  nv_ifelse(small, power, -poisson_deviance(a, sum * x) - log_x)
}

# log(Gamma(a + 1/2) / Gamma(a)).
log_half_ratio <- function(a) {
  half <- a + 0.5
  factorial_rest(half) - factorial_rest(a) + a * nv_log1p(0.5 / a) - 0.5 + nv_log(a / half) + 0.5 * nv_log(half)
}

# The lower or the upper tail, by the one of x and y = 1 - x that has more digits: x where y is not known of itself.
beta_tail <- function(a, b, x, y, lower, where = TRUE) {
  if (!is.null(y)) {
    first <- x < y
    given_a <- a
    a <- nv_ifelse(first, a, b)
    b <- nv_ifelse(first, b, given_a)
    x <- nv_ifelse(first, x, y)
    lower <- nv_eq(first, lower)
  }
  one_of_two(lower, where, x, function(x) nv_betainc(a, b, x), function(x) nv_betaincc(a, b, x))
}

log_beta_tail <- function(a, b, x, y, lower, where = TRUE, tail = beta_tail(a, b, x, y, lower, where)) {
  force(tail)
  if (is.null(y)) y <- 1 - x
  variance <- (a + b) * x * y
  log_tail_of(tail, log_beta_weight(a, b, x, y), b * x - a * y, variance, variance * (y - x), variance * (1 - 6 * x * y))
}

beta_probability <- function(a, b, x, y, lower.tail, log.p, valid, before, beyond) {
  tail <- function(lower, where) beta_tail(a, b, x, y, lower, where)
  log_tail <- function(tail, lower) log_beta_tail(a, b, x, y, lower, tail = tail)
  probability_of(tail, valid, lower.tail, log.p, log_tail, before, beyond)
}

# The quantile x and y = 1 - x. The density of log(x / y) is logarithmically concave, and so are its tails: from one
# side, Newton's steps for the logarithm of a tail do not pass the root. They start from `start`, or where that is
# none from the normal distribution with the same moments, within bounds: for u = log(x / y), exp(a u) / (a B(a, b)) is
# above the lower tail, exp(-b u) / (b B(a, b)) above the upper one, and x / y is a ratio of gamma variables.
beta_quantile <- function(tails, a, b, start = NaN) {
  tail <- smaller_tail(tails)
  limit <- -log(smallest(dtype(a)))
  log_beta <- log_beta_function(a, b)
  least <- nv_max((tails$log_lower + nv_log(a) + log_beta) / a, -most_log_odds(b, a, tails$log_lower))
  most <- nv_min(-(tails$log_upper + nv_log(b) + log_beta) / b, most_log_odds(a, b, tails$log_upper))
  spread <- nv_sqrt(nv_polygamma(1, a) + nv_polygamma(1, b))
  normal <- nv_digamma(a) - nv_digamma(b) + spread * standard_quantile(tails)
  start <- nv_ifelse(nv_is_nan(start), nv_min(nv_max(normal, least), most), start)
  at <- function(u, open) {
    x <- nv_logistic(u)
    y <- nv_logistic(-u)
    log <- log_beta_tail(a, b, x, y, tail$lower, open)
    slope <- nv_exp(log_beta_weight(a, b, x, y) - log)
    slope <- nv_ifelse(tail$lower, slope, -slope)
    list(log = log, slope = slope, bend = a * y - b * x - slope)
  }
  u <- halley(nv_clamp(-limit, start, limit), tail$log, at)
  u <- implicitly(u, list(tail$log, a, b), list(tail$lower), function(u, given, constants) {
    log_beta_tail(given[[2L]], given[[3L]], nv_logistic(u), nv_logistic(-u), constants[[1L]]) - given[[1L]]
  })
  u <- nv_ifelse(a >= 0 & b >= 0, with_ends(u, tail, -Inf, Inf), NaN)
  list(x = nv_logistic(u), y = nv_logistic(-u))
}

# x / y is larger than exp() of this with at most the probability whose logarithm is given: the numerator, a gamma variable
# of shape a, is above its bound with half of that, the denominator, of shape b, below its own (Laurent and Massart 2000,
# lemma 1).
most_log_odds <- function(a, b, log_probability) {
  t <- log(2) - log_probability
  least_of_b <- b - nv_sqrt(2 * b * t)
  nv_ifelse(least_of_b > 0, nv_log(most_of_gamma(a, t)) - nv_log(least_of_b), Inf)
}
