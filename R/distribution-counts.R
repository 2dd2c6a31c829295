#' Poisson, negative binomial and geometric distributions
#'
#' Probabilities, distribution functions and quantiles of counts, with the arguments of R's functions `dpois()`,
#' `dnbinom()`, `dgeom()` and so on. [nv_rpois()], [nv_rnbinom()] and [nv_rgeom()] draw from them.
#'
#' @inherit nv_dnorm details return
#' @inheritParams nv_dnorm
#' @inheritSection nv_dbinom Counts
#' @section Errors:
#' Those of [nv_dnorm()], and `anvil_error_argument` where of `prob` and `mu` not exactly one is given. A second derivative of
#' `nv_ppois()` or `nv_pnbinom()` by parameters is an error of class `anvil_error_gradient`, see [nv_igamma()].
#' @param lambda The mean.
#' @param size,prob The number of successes that are waited for, not necessarily whole, and the probability of a success; the
#'   value is the number of failures before that. For `geom` the number is 1.
#' @param mu The mean, which is `size * (1 - prob) / prob`, in place of `prob`: `size` is then the parameter of dispersion.
#' @family distributions
#' @name nv_dpois
#' @examples
#' x <- nv_tensor(0:3)
#' nv_dpois(x, lambda = 1.5)
#' nv_dnbinom(x, size = 2.5, mu = 4, log = TRUE)
#' nv_pgeom(x, prob = 0.3)
#' nv_qpois(nv_tensor(c(0.1, 0.5, 0.9)), 20)
#'
#' # the slope of a log-likelihood by mean and dispersion
#' likelihood <- function(mu, size) sum(nv_dnbinom(x, size = size, mu = mu, log = TRUE))
#' jit(gradient(likelihood))(nv_scalar(2), nv_scalar(1.5))
NULL

#' @rdname nv_dpois
#' @export
nv_dpois <- function(x, lambda, log = FALSE) {
  given <- as_floats(x = x, lambda = lambda)
  k <- counted(given$x)
  lambda <- given$lambda
  none <- lambda == 0
  density <- density_of(log_poisson(k$number, nv_ifelse(none, 1, lambda)), k$none | lambda == Inf, lambda >= 0 & given$x == given$x, log)
  nv_ifelse(none & nv_not(k$none), of_small_mean(k$number, lambda, none, log), density)
}

#' @rdname nv_dpois
#' @export
nv_ppois <- function(q, lambda, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(q = q, lambda = lambda)
  k <- count_below(given$q)
  # the probability of at most k events is that of a gamma variable above lambda
  gamma_probability(k + 1, given$lambda, !check_flag(lower.tail), log.p, given$lambda >= 0, k == Inf, k < 0)
}

#' @rdname nv_dpois
#' @export
nv_qpois <- function(p, lambda, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(p = p, lambda = lambda)
  lambda <- given$lambda
  sd <- nv_sqrt(lambda)
  tail <- function(k, lower, where, log) (if (log) log_gamma_tail else gamma_tail)(k + 1, lambda, nv_not(lower), where)
  last <- nv_ifelse(lambda == 0, 0, Inf)
  nv_ifelse(lambda >= 0, count_quantile(tails_of(given$p, lower.tail, log.p), lambda, sd, 1 / sd, last, tail), NaN)
}

#' @rdname nv_dpois
#' @export
nv_dnbinom <- function(x, size, prob = NULL, mu = NULL, log = FALSE) {
  given <- negative_binomial(list(x = x), size, prob, mu)
  k <- counted(given$x)
  x <- k$number
  size <- given$size
  all <- size + x
  sure <- given$q == 0 & size > 0
  p <- nv_ifelse(sure, 0.5, given$p)
  q <- nv_ifelse(sure, 0.5, given$q)
  log_density <- nv_ifelse(x == 0, 0, nv_log(size / all)) + log_binomial(size, all, p, q, x)
  density <- density_of(log_density, k$none, given$valid, log)
  nv_ifelse(sure & given$valid & nv_not(k$none), of_small_mean(x, size * given$q / given$p, sure, log), density)
}

#' @rdname nv_dpois
#' @export
nv_pnbinom <- function(q, size, prob = NULL, mu = NULL, lower.tail = TRUE, log.p = FALSE) {
  given <- negative_binomial(list(q = q), size, prob, mu)
  k <- count_below(given$x)
  beyond <- k == Inf | (k >= 0 & given$size == 0)
  beta_probability(given$size, k + 1, given$p, given$q, lower.tail, log.p, given$valid, k < 0, beyond)
}

#' @rdname nv_dpois
#' @export
nv_qnbinom <- function(p, size, prob = NULL, mu = NULL, lower.tail = TRUE, log.p = FALSE) {
  given <- negative_binomial(list(p = p), size, prob, mu)
  mean <- given$size * given$q / given$p
  sd <- nv_sqrt(mean / given$p)
  tail <- function(k, lower, where, log) (if (log) log_beta_tail else beta_tail)(given$size, k + 1, given$p, given$q, lower, where)
  last <- nv_ifelse(given$size == 0 | given$q == 0, 0, Inf)
  x <- count_quantile(tails_of(given$x, lower.tail, log.p), mean, sd, (1 + given$q) / (given$p * sd), last, tail)
  nv_ifelse(given$valid, x, NaN)
}

#' @rdname nv_dpois
#' @export
nv_dgeom <- function(x, prob, log = FALSE) {
  given <- as_floats(x = x, prob = prob)
  k <- counted(given$x)
  failures <- nv_ifelse(k$number == 0, 0, k$number * nv_log1p(-given$prob))
  density_of(nv_log(given$prob) + failures, k$none, given$prob > 0 & given$prob <= 1, log)
}

#' @rdname nv_dpois
#' @export
nv_pgeom <- function(q, prob, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(q = q, prob = prob)
  k <- count_below(given$q)
  log_upper <- nv_ifelse(k < 0, 0, (k + 1) * nv_log1p(-given$prob))
  of_log_upper(log_upper, given$prob > 0 & given$prob <= 1, lower.tail, log.p)
}

#' @rdname nv_dpois
#' @export
nv_qgeom <- function(p, prob, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(p = p, prob = prob)
  tails <- tails_of(given$p, lower.tail, log.p)
  log_upper <- tails$log_upper
  log_failure <- nv_log1p(-given$prob)
  trials <- log_upper / log_failure
  # the rounding of the given tail as a part of the upper one, and that of the quotient; the constant is R's
  part <- if (tails$deep) nv_max(-tails$given, 1) else if (tails$lower_given) tails$given / tails$upper else 1
  rounding <- epsilon(dtype(trials)) * (4 * trials - 0.5 * part / log_failure)
  x <- nv_max(nv_ceiling(trials - 1 - nv_clamp(1e-12, rounding, 0.5)), 0)
  x <- nv_ifelse(given$prob == 1, nv_ifelse(log_upper <= 0, 0, NaN), x)
  nv_ifelse(given$prob > 0 & given$prob <= 1, nv_stop_gradient(x), NaN)
}

# Both forms: p and q = 1 - p of the negative binomial distribution. `x` is a list of the first operand.
negative_binomial <- function(x, size, prob, mu) {
  if (is.null(prob) == is.null(mu)) {
    abort_anvil("argument", "Either `prob` or `mu` must be given.", if (is.null(mu)) "x Got none of them." else "x Got both of them.")
  }
  other <- if (is.null(mu)) list(prob = prob) else list(mu = mu)
  given <- do.call(as_floats, c(x, list(size = size), other), quote = TRUE)
  x <- given[[1L]]
  size <- nearly_infinite(given$size)
  if (is.null(mu)) {
    p <- given$prob
    return(list(x = x, size = size, p = p, q = 1 - p, valid = size >= 0 & p > 0 & p <= 1))
  }
  all <- size + given$mu
  none <- all == 0
  list(
    x = x, size = size, p = nv_ifelse(none, 1, size / all), q = nv_ifelse(none, 0, given$mu / all),
    valid = size >= 0 & given$mu >= 0
  )
}

# --- counts -----------------------------------------------------------------------------------

# The largest whole number that is not above, up to rounding, as R has it.
count_below <- function(q) nv_floor(q + 1e-7)

is_share <- function(p) p >= 0 & p <= 1

# The smallest count up to `last` whose lower tail is at least the given one, up to rounding.
# `tail_of(k, lower, where, log)` is the probability of at most, or of more than, k, or its logarithm.
count_quantile <- function(tails, mean, sd, skewness, last, tail_of) {
  tail <- smaller_tail(tails)
  # probabilities are as good as their logarithms where they are no smaller than the smallest number
  wanted <- if (tails$deep) tail$log else nv_ifelse(tail$lower, tails$lower, tails$upper)
  rounding <- rounding_of(tails, tail$log)
  # how far a tail is on the side of smaller counts
  short_of <- function(now) nv_ifelse(tail$lower, wanted - now, now - wanted)
  at <- function(k, open) {
    now <- tail_of(k, tail$lower, open, tails$deep)
    # so that a NaN ends the search, too
    list(tail = now, reached = k >= 0 & (k >= last | nv_not(short_of(now) > 0.5 * rounding)))
  }
  none <- tail$log != tail$log | tail$empty
  found <- count_bracket(count_start(tails, tail, mean, sd, skewness, last), none, at)
  # the count before, where only rounding and the errors of the tails speak against it: it is much nearer than the one found
  short <- short_of(found$below)
  error <- nv_max(4 * rounding, 1e-12 * if (tails$deep) nv_max(-wanted, 1) else wanted)
  near <- found$low >= 0 & short <= error & short < 0.5 * nv_abs(found$above - found$below)
  x <- nv_ifelse(near, found$low, found$high)
  nv_stop_gradient(nv_ifelse(tail$log != tail$log, NaN, with_ends(x, tail, 0, last)))
}

# Where the expansion of Cornish and Fisher says. Far below the mean it turns back upwards.
count_start <- function(tails, tail, mean, sd, skewness, last) {
  z <- standard_quantile(tails)
  start <- nv_round(mean + sd * (z + skewness * (z * z - 1) / 6))
  start <- nv_ifelse(tail$lower, nv_min(start, nv_round(mean)), start)
  nv_ifelse(nv_is_finite(start), nv_min(nv_max(start, 0), last), nv_ifelse(mean == Inf, Inf, 0))
}

# Two counts next to each other, of which the higher one is reached and the lower one, or -1, is not, with their tails:
# search with steps that double until it lies between two counts, then by bisection. `at(k, open)` says the tail at k and
# whether that is reached.
count_bracket <- function(start, none, at) {
  # whether a number lies between them, or an upward step has not come to its end
  is_open <- function(k, low, high) {
    middle <- nv_ceiling((low + high) / 2)
    nv_ifelse(high == Inf, k < Inf, low < middle & middle < high)
  }
  zero <- nv_fill_like(start, 0)
  first <- list(k = start, low = zero - 1, high = nv_ifelse(none, 0, zero + Inf), below = zero, above = zero, step = zero + 1, steps = 0L)
  nv_while(
    first,
    # twice the number of exponents, and some
    function(k, low, high, below, above, step, steps) nv_reduce_any(is_open(k, low, high)) & steps < 2200L,
    function(k, low, high, below, above, step, steps) {
      open <- is_open(k, low, high)
      now <- at(k, open)
      down <- open & now$reached & k < high
      up <- open & nv_not(now$reached) & k > low
      high <- nv_ifelse(down, k, high)
      low <- nv_ifelse(up, k, low)
      middle <- nv_ceiling((low + high) / 2)
      next_k <- nv_ifelse(now$reached, nv_max(high - step, middle), nv_min(low + step, middle))
      list(
        k = nv_ifelse(open, next_k, k), low = low, high = high, below = nv_ifelse(up, now$tail, below),
        above = nv_ifelse(down, now$tail, above), step = 2 * step, steps = steps + 1L
      )
    }
  )
}

# How much a tail is rounded: relative to the one that is given, be it the smaller one or the other; of a logarithm below -1
# relative to that.
rounding_of <- function(tails, log) {
  epsilon(dtype(log)) * if (tails$deep) nv_max(-log, 1) else tails$given
}
