# The words that the families of distributions are written in. A density is given by its logarithm, a
# distribution function by both of its tails, a quantile by the logarithms of both tails; what R's `log`,
# `log.p` and `lower.tail` make of them is here. Elementwise functions of tensors throughout, so that derivatives,
# batches and compiled code follow.

# The operands as tensors of their common float dtype, with their names. Vectors of R count as in operators.
as_floats <- function(...) {
  operands <- lapply(list(...), vector_as_array)
  keep_names(.Call(C_anvil_promote, c(operands, 1), FALSE)[seq_along(operands)], operands)
}

# --- densities --------------------------------------------------------------------------------

# From the logarithm of a density: nothing where `outside`, NaN where the parameters are not `valid`. Comparisons with
# NaN are FALSE: a NaN is not outside, and no valid parameter.
density_of <- function(log_density, outside, valid, log) {
  if (!is.null(outside)) log_density <- nv_ifelse(outside, -Inf, log_density)
  log_density <- nv_ifelse(valid, log_density, NaN)
  if (check_flag(log)) log_density else nv_exp(log_density)
}

# Counts up to rounding, as R has them: `number` is whole, and keeps its derivative; `none` says where it is no count,
# `is` where it is one, and neither where it is NaN.
counted <- function(x) {
  off <- nv_round(x) - x
  none <- x < 0 | nv_abs(off) > 1e-7 * nv_max(nv_abs(x), 1) | x == Inf
  list(number = x + nv_stop_gradient(nv_ifelse(nv_is_finite(off), off, 0)), none = none, is = x >= 0 & nv_not(none))
}
is_count <- function(n) n >= 0 & n == nv_floor(n) & n < Inf

# Probabilities of counts where each trial fails for sure, up to the first order in their mean, so that there is a slope.
of_small_mean <- function(k, mean, here, log) {
  mean <- nv_ifelse(here, mean, 0.5)
  value <- nv_ifelse(k == 0, 1 - mean, nv_ifelse(if (log) k > 0 else k == 1, mean, nv_ifelse(nv_is_nan(k + mean), NaN, 0)))
  if (log) nv_log(value) else value
}

# An infinite parameter as a number that is as good as infinite, for families that have a limit there.
nearly_infinite <- function(x) nv_ifelse(x == Inf, switch(as.character(dtype(x)), f64 = 1e30, f16 = 6e4, 1e16), x)

# --- distribution functions -------------------------------------------------------------------

# From `tail(lower, where)`, the lower or the upper tail where it is asked for, and `log_tail(tail, lower)`, the logarithm
# of a small one. All values lie above where it is `before` them, and below where it is `beyond` them.
probability_of <- function(tail, valid, lower.tail, log.p, log_tail = function(tail, lower) nv_log(tail), before = NULL, beyond = NULL) {
  value <- tail(check_flag(lower.tail), TRUE)
  if (check_flag(log.p)) {
    small <- value < 0.5
    log_small <- log_tail(value, lower.tail)
    log_small <- nv_ifelse(value == 0 & nv_is_nan(log_small), -Inf, log_small)
    value <- nv_ifelse(small, log_small, nv_log1p(-tail(!lower.tail, nv_not(small))))
  }
  if (!is.null(before)) {
    none <- if (log.p) -Inf else 0
    all <- if (log.p) 0 else 1
    value <- nv_ifelse(before, if (lower.tail) none else all, nv_ifelse(beyond, if (lower.tail) all else none, value))
  }
  nv_ifelse(valid, value, NaN)
}

# From the logarithms of both tails, where those have a formula.
probability_of_logs <- function(lower, upper, valid, lower.tail, log.p) {
  value <- if (check_flag(lower.tail)) lower else upper
  nv_ifelse(valid, if (check_flag(log.p)) value else nv_exp(value), NaN)
}

# Of two functions of x that are costly the one that each element asks for, where it is asked for. Everywhere else they
# are at 0, where what they are is known at once; so a derivative is none of theirs, whatever it is there.
one_of_two <- function(first, where, x, one, other) {
  at <- function(here) if (isTRUE(here)) x else nv_ifelse(here, x, 0)
  if (is.logical(first)) {
    return(if (first) one(at(where)) else other(at(where)))
  }
  both <- function(here) if (isTRUE(where)) here else here & where
  nv_ifelse(first, one(at(both(first))), other(at(both(nv_not(first)))))
}

# log(1 - e^x) for x <= 0.
log1mexp <- function(x) nv_ifelse(x > -log(2), nv_log(-nv_expm1(x)), nv_log1p(-nv_exp(x)))

# --- quantiles --------------------------------------------------------------------------------

# What `p` says of the lower and the upper tail, as probabilities and as logarithms, each when it is asked for. What is
# no probability is NaN.
tails_of <- function(p, lower.tail, log.p) {
  p <- if (check_flag(log.p)) nv_ifelse(p > 0, NaN, p) else nv_ifelse(p < 0 | p > 1, NaN, p)
  tails <- new.env(parent = emptyenv())
  tails$deep <- log.p # whether a tail can be below the smallest number
  tails$given <- p
  tails$lower_given <- lower.tail
  names <- c("lower", "upper")
  if (!check_flag(lower.tail)) names <- rev(names)
  delayedAssign(names[1L], if (log.p) nv_exp(p) else p, assign.env = tails)
  delayedAssign(names[2L], if (log.p) -nv_expm1(p) else 1 - p, assign.env = tails)
  delayedAssign(paste0("log_", names[1L]), if (log.p) p else nv_log(p), assign.env = tails)
  delayedAssign(paste0("log_", names[2L]), if (log.p) log1mexp(p) else nv_log1p(-p), assign.env = tails)
  tails
}

# Where the logarithm of a tail is `wanted`, by Halley's method, whose errors become their third powers: `at(x, open)`
# gives that logarithm, its slope, and its second derivative divided by the slope, where it is `open`. A step is at most
# twice Newton's. Once an element is this near, its step is the last one. Where a step is no number, as beyond the range
# of the dtype, x stays. None leads beyond `most`.
halley <- function(start, wanted, at, most = Inf) {
  small <- epsilon(dtype(start))^0.35 * (1 - wanted)
  end <- nv_while(
    list(x = start, open = start == start, steps = 0L),
    function(x, open, steps) nv_reduce_any(open) & steps < 60L,
    function(x, open, steps) {
      now <- at(x, open)
      off <- wanted - now$log
      newton <- off / now$slope
      change <- nv_min(newton / (1 + nv_max(nv_min(0.5 * newton * now$bend, 4), -0.5)), most - x)
      open <- open & nv_is_finite(change)
      list(x = nv_ifelse(open, x + change, x), open = open & nv_abs(off) > small, steps = steps + 1L)
    }
  )
  end$x
}

# `x` with the derivatives of the solution of `equation(x, parameters, constants) = 0` by the parameters, by the
# implicit function theorem: those of the steps that led to it are not taken. `equation` reads nothing else. Where the solution
# is no inner one, as at the end of a distribution, it does not move.
implicitly <- function(x, parameters, constants, equation) {
  solution <- nv_custom_jvp(
    function(x, parameters, constants) x,
    function(inputs, outputs, tangents) {
      by_parameters <- function(parameters) equation(outputs, parameters, inputs$constants)
      by_x <- function(x) equation(x, inputs$parameters, inputs$constants)
      along <- jvp(by_parameters)(list(inputs$parameters), list(tangents$parameters))$tangent
      slope <- jvp(by_x)(list(outputs), list(nv_fill_like(outputs, 1)))$tangent
      nv_ifelse(nv_is_finite(slope) & slope != 0, -along / slope, 0)
    }
  )
  solution(nv_stop_gradient(x), parameters, constants)
}

# The smaller one of both tails says a quantile best: its logarithm, and whether it is the lower one. Where it is empty,
# another number takes the place of its logarithm, so that no derivative is infinite.
smaller_tail <- function(tails) {
  lower <- tails$log_lower < tails$log_upper
  log <- nv_ifelse(lower, tails$log_lower, tails$log_upper)
  empty <- log == -Inf
  list(log = nv_ifelse(empty, -1, log), lower = lower, empty = empty)
}

# A quantile, where the tail is empty the end of the distribution.
with_ends <- function(x, tail, first, last) {
  nv_ifelse(tail$empty, nv_ifelse(tail$lower, first, last), x)
}

# Of a float dtype: the distance from 1 to the next number, and the smallest normal number.
epsilon <- function(dtype) 2^-dtype_sizes[[as.character(dtype)]]$mantissa
smallest <- function(dtype) 2^(2 - 2^(dtype_sizes[[as.character(dtype)]]$exponent - 1))

# --- parts of densities -----------------------------------------------------------------------

# Densities of the Poisson, binomial, gamma and beta families are products of powers and gamma functions that
# cancel to many digits. Written by these two parts, they do not (Loader 2000, Fast and accurate computation of
# binomial probabilities): log(m^k e^-m / k!) = -poisson_deviance(k, m) - factorial_rest(k).

# The logarithm of a density at 0, next to which it is a power x^(a - 1); if a is 1 it is `level` there, with its slope.
power_at_zero <- function(a, level) nv_ifelse(a < 1, Inf, nv_ifelse(a == 1, level, -Inf))

# A gamma variable of shape a is larger with probability at most e^-t (Laurent and Massart 2000, lemma 1).
most_of_gamma <- function(a, t) a + nv_sqrt(2 * a * t) + t

# k log(k / m) + m - k >= 0.
poisson_deviance <- function(k, m) {
  away <- k - m
  relative <- away / m
  logarithm <- nv_ifelse(nv_abs(relative) < 0.5, nv_log1p(relative), nv_log(k) - nv_log(m))
  nv_ifelse(k == 0, m, k * logarithm - away)
}

# log(k!) - k log(k) + k >= 0 (Stirling's series is DLMF 5.11.1).
factorial_rest <- function(k) {
  z <- 1 / k
  square <- z * z
  series <- z * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188))))
  log_k <- nv_log(k)
  far <- 0.5 * (log_k + log(2 * pi)) + series
  nv_ifelse(k == 0, 0, nv_ifelse(k < 16, nv_lgamma(k + 1) - k * log_k + k, far))
}

# The logarithm of m^k e^-m / k!, for any k >= 0.
log_poisson <- function(k, m) -poisson_deviance(k, m) - factorial_rest(k)

# The logarithm of (n over k) p^k q^(n - k), for any 0 <= k <= n. rest: n - k, where it has digits that n has no room for.
log_binomial <- function(k, n, p, q, rest = n - k) {
  factorial_rest(n) - factorial_rest(k) - factorial_rest(rest) - poisson_deviance(k, n * p) - poisson_deviance(rest, n * q)
}

# The logarithm of a tail: where it is below the smallest number, weight times the integral over t > 0 of
# exp(-f(t)), f(0) = 0, by Laplace's method. The slope f'(0) is large compared with what the further derivatives
# say; for the lower tail, where t goes the other way, the odd ones have the other sign.
log_tail_of <- function(tail, log_weight, slope, second, third, fourth) {
  inverse <- 1 / slope
  square <- inverse * inverse
  curvature <- second * square
  skewness <- third * square * inverse
  rest <- -curvature - skewness - fourth * square * square + 3 * curvature^2 + 10 * curvature * skewness - 15 * curvature^3
  beyond <- log_weight - nv_log(nv_abs(slope)) + nv_log1p(rest)
  nv_ifelse(tail < smallest(dtype(tail)), beyond, nv_log(tail))
}
