#' Binomial and hypergeometric distributions
#'
#' Probabilities, distribution functions and quantiles of numbers of successes, with the arguments of R's functions
#' `dbinom()`, `dhyper()` and so on. [nv_rbinom()] draws from the binomial distribution.
#'
#' @inherit nv_dnorm details return
#' @inheritParams nv_dnorm
#' @section Counts:
#' Counts are tensors of any dtype. What is no whole number, up to rounding as in R, has probability 0, without a warning; a parameter that is no
#' whole number, where it should be one, gives NaN. Quantiles of counts have no derivative: it is zero.
#' @section Errors:
#' Those of [nv_dnorm()]. A second derivative of `nv_pbinom()` by parameters is an error of class
#' `anvil_error_gradient`, see [nv_betainc()].
#' @param size The number of trials.
#' @param prob The probability of a success.
#' @param m,n,k Numbers of white balls and of black balls, and how many of them are drawn.
#' @family distributions
#' @name nv_dbinom
#' @examples
#' x <- nv_tensor(0:3)
#' nv_dbinom(x, size = 3, prob = 0.2)
#' nv_pbinom(x, 3, 0.2, lower.tail = FALSE)
#' nv_qbinom(nv_tensor(c(0.1, 0.5, 0.9)), 100, 0.2)
#' nv_dhyper(x, m = 10, n = 7, k = 8)
#'
#' # where the likelihood of a share is steepest
#' jit(gradient(function(prob) sum(nv_dbinom(x, 3, prob, log = TRUE))))(nv_scalar(0.2))
NULL

#' @rdname nv_dbinom
#' @export
nv_dbinom <- function(x, size, prob, log = FALSE) {
  given <- as_floats(x = x, size = size, prob = prob)
  k <- counted(given$x)
  size <- counted(given$size)
  prob <- given$prob
  sure <- prob == 0 | prob == 1
  p <- nv_ifelse(sure, 0.5, prob)
  outside <- k$none | k$number > size$number
  valid <- size$is & is_share(prob)
  density <- density_of(log_binomial(k$number, size$number, p, 1 - p), outside, valid, log)
  rare <- nv_ifelse(prob == 1, size$number - k$number, k$number)
  mean <- size$number * nv_ifelse(prob == 1, 1 - prob, prob)
  nv_ifelse(sure & valid & nv_not(outside), of_small_mean(rare, mean, sure, log), density)
}

#' @rdname nv_dbinom
#' @export
nv_pbinom <- function(q, size, prob, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(q = q, size = size, prob = prob)
  k <- count_below(given$q)
  # the probability of at most k successes is that of a beta variable above prob
  beta_probability(
    k + 1, given$size - k, given$prob, NULL, !check_flag(lower.tail), log.p,
    is_count(given$size) & is_share(given$prob), given$size <= k, k < 0
  )
}

#' @rdname nv_dbinom
#' @export
nv_qbinom <- function(p, size, prob, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(p = p, size = size, prob = prob)
  size <- given$size
  prob <- given$prob
  mean <- size * prob
  sd <- nv_sqrt(mean * (1 - prob))
  tail <- function(k, lower, where, log) (if (log) log_beta_tail else beta_tail)(k + 1, size - k, prob, NULL, nv_not(lower), where)
  x <- count_quantile(tails_of(given$p, lower.tail, log.p), mean, sd, (1 - 2 * prob) / sd, size, tail)
  nv_ifelse(is_count(size) & is_share(prob), x, NaN)
}

#' @rdname nv_dbinom
#' @export
nv_dhyper <- function(x, m, n, k, log = FALSE) {
  given <- as_floats(x = x, m = m, n = n, k = k)
  counts <- lapply(given, counted)
  numbers <- lapply(counts, `[[`, "number")
  x <- numbers$x
  all <- numbers$m + numbers$n
  rest <- numbers$k - x
  p <- numbers$k / nv_max(all, 1)
  q <- 1 - p
  log_density <- log_binomial(x, numbers$m, p, q) + log_binomial(rest, numbers$n, p, q) - log_binomial(numbers$k, all, p, q)
  outside <- counts$x$none | x > numbers$m | rest < 0 | rest > numbers$n
  density_of(log_density, outside, counts$m$is & counts$n$is & counts$k$is & numbers$k <= all, log)
}
