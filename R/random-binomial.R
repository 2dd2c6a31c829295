# Numbers of successes. A few trials are made one by one; of more, the number is found in the table
# of its distribution when it is small, and by rejection when it is large, so that the
# cost does not grow with the number of trials.

few_trials <- 16L
small_mean <- 30

#' @rdname nv_random
#' @export
nv_rbinom <- function(shape, initial_state = NULL, size = 1L, prob = 0.5, dtype = NULL, n = NULL) {
  trials <- given_as(size, n)
  shape <- check_sizes(shape)
  numbers <- !is_value(trials$value) && !is_value(prob)
  draw <- if (numbers) binomial_of_numbers(trials, prob) else binomial_of_tensors(as_f64(trials$value, shape, trials$name), as_f64(prob, shape))
  dtype <- count_dtype(dtype, if (is_value(trials$value)) 1 else trials$value, trials$name)
  with_state(initial_state, function(state) {
    drawn <- draw(shape, state)
    list(drawn[[1L]], nv_convert(drawn[[2L]], dtype))
  })
}

binomial_of_numbers <- function(trials, prob) {
  size <- check_whole_number(trials$value, trials$name, 0L)
  if (!is.numeric(prob) || length(prob) != 1L || !isTRUE(prob >= 0 && prob <= 1)) {
    abort_anvil("argument", "`prob` must be a number from 0 to 1.", got_value(prob))
  }
  if (size <= few_trials) {
    return(function(shape, state) trials_one_by_one(shape, state, size, prob))
  }
  # the rarer outcome is counted
  rare <- min(prob, 1 - prob)
  draw <- if (size * rare < small_mean) binomial_by_table else binomial_by_rejection
  function(shape, state) {
    drawn <- draw(shape, state, size, rare)
    if (prob > 0.5) drawn[[2L]] <- nv_sub(size, drawn[[2L]])
    drawn
  }
}

# Of tensors, each element takes the way that suits it; where parameters have no distribution, the count is NaN.
binomial_of_tensors <- function(size, prob) {
  function(shape, state) {
    valid <- is_count(size) & size <= 2^53 & is_share(prob)
    rare <- nv_ifelse(valid, nv_min(prob, 1 - prob), 0)
    trials <- nv_ifelse(valid, size, 0)
    large <- trials * rare >= 10
    few <- nv_ifelse(large, 0, trials)
    next_ratio <- function(k) (few - k) / (k + 1) * (rare / (1 - rare))
    low <- count_by_search(shape, state, nv_exp(few * nv_log1p(-rare)), next_ratio)
    high <- binomial_by_rejection(shape, low[[1L]], nv_ifelse(large, trials, 100), nv_ifelse(large, rare, 0.5))
    counted <- nv_ifelse(large, high[[2L]], low[[2L]])
    list(high[[1L]], nv_ifelse(valid, nv_ifelse(prob > 0.5, trials - counted, counted), NaN))
  }
}

# Inversion, one count after the other: the probability of 0 and the ratio of that of k + 1 to that of k.
count_by_search <- function(shape, state, none, next_ratio) {
  drawn <- unit_uniform(shape, state, "f64")
  start <- list(k = nv_fill(0, shape, "f64"), p = nv_broadcast_to(none, shape), rest = drawn[[2L]])
  # beyond 200 there is nothing of a mean below 10
  end <- nv_while(start, function(k, p, rest) nv_reduce_any(rest >= p & k < 200), function(k, p, rest) {
    on <- rest >= p & k < 200
    list(k = nv_ifelse(on, k + 1, k), p = nv_ifelse(on, p * next_ratio(k), p), rest = nv_ifelse(on, rest - p, rest))
  })
  list(drawn[[1L]], end$k)
}

trials_one_by_one <- function(shape, state, n, prob) {
  drawn <- unit_uniform(if (n != 1L) c(n, shape) else shape, state, "f64")
  successes <- nv_convert(nv_lt(drawn[[2L]], prob), "i32")
  list(drawn[[1L]], if (n != 1L) nv_reduce_sum(successes, dims = 1L) else successes)
}

# Inversion: how many values of the distribution function are at most u, by bisection.
# The table ends where no u is left, at 1 - 2^-53.
binomial_by_table <- function(shape, state, n, prob) {
  last <- stats::qbinom(2^-53, n, prob, lower.tail = FALSE)
  steps <- ceiling(log2(last + 2))
  table <- c(stats::pbinom(0:last, n, prob), rep(1, 2^steps - last - 1))
  table <- nv_tensor(table, "f64")
  drawn <- unit_uniform(shape, state, "f64")
  count <- nv_fill(0L, shape, "i32")
  for (step in as.integer(2^((steps - 1):0))) {
    further <- nv_add(count, step)
    count <- nv_ifelse(nv_ge(drawn[[2L]], slices_at(table, further)), further, count)
  }
  list(drawn[[1L]], nv_convert(count, "f64"))
}

# Transformed rejection with squeeze, algorithm BTRS of Hormann (1993); u, v, a, b and so on are
# named as there. Elements that are not accepted draw again.
binomial_by_rejection <- function(shape, state, n, prob) {
  spread <- sqrt(n * prob * (1 - prob))
  b <- 1.15 + 2.53 * spread
  a <- -0.0873 + 0.0248 * b + 0.01 * prob
  alpha <- (2.83 + 5.1 / b) * spread
  mode <- floor((n + 1) * prob)
  squeeze <- 0.92 - 4.2 / b
  attempt <- function(state, count, open) {
    first <- unit_uniform(shape, state, "f64")
    second <- open_uniform(shape, first[[1L]], "f64")
    u <- nv_sub(first[[2L]], 0.5)
    v <- second[[2L]]
    side <- nv_sub(0.5, nv_abs(u))
    k <- nv_floor(nv_add(nv_mul(nv_add(nv_div(2 * a, side), b), u), n * prob + 0.5))
    height <- nv_log(nv_div(nv_mul(v, alpha), nv_add(nv_div(a, nv_mul(side, side)), b)))
    quick <- nv_and(nv_ge(side, 0.07), nv_le(v, squeeze))
    fits <- nv_or(quick, nv_le(height, binomial_log_ratio(nv_clamp(0, k, n), mode, n, prob)))
    fits <- nv_and(open, nv_and(fits, nv_and(nv_ge(k, 0), nv_le(k, n))))
    list(state = second[[1L]], count = nv_ifelse(fits, k, count), open = nv_and(open, nv_not(fits)))
  }
  start <- list(state = state, count = nv_fill(0, shape, "f64"), open = nv_fill(TRUE, shape, "bool"))
  end <- nv_while(start, function(state, count, open) nv_reduce_any(open), attempt)
  list(end$state, end$count)
}

# log(P(k) / P(mode)). Stirling's formula leaves no difference of large numbers.
binomial_log_ratio <- function(k, mode, n, prob) {
  odds <- prob / (1 - prob)
  others <- nv_sub(n + 1, k)
  constant <- (mode + 0.5) * log((mode + 1) / (odds * (n - mode + 1))) + stirling_rest(mode) + stirling_rest(n - mode)
  shifted <- nv_mul(nv_log1p(nv_div(nv_sub(k, mode), others)), n + 1)
  own <- nv_mul(nv_add(k, 0.5), nv_log(nv_div(nv_mul(others, odds), nv_add(k, 1))))
  rests <- nv_add(stirling_rest(k), stirling_rest(nv_sub(n, k)))
  nv_sub(nv_add(nv_add(shifted, own), constant), rests)
}

# What Stirling's formula lacks of log(k!), as a series in 1 / (k + 1).
stirling_rest <- function(k) {
  z <- 1 / (k + 1)
  z * (1 / 12 - z^2 * (1 / 360 - z^2 * (1 / 1260 - z^2 / 1680)))
}
