# Samplers of counts without an upper end.

#' @rdname nv_rgamma
#' @export
nv_rpois <- function(shape, initial_state = NULL, lambda, dtype = NULL) {
  check_known(lambda, function(x) x >= 0 & x < Inf, "a finite number of at least 0")
  lambda <- as_f64(lambda, check_sizes(shape))
  draw_counts(shape, initial_state, dtype, lambda >= 0 & lambda < Inf, function(shape, state) poisson_draw(shape, state, lambda))
}

#' @rdname nv_rgamma
#' @export
nv_rnbinom <- function(shape, initial_state = NULL, size, prob = NULL, mu = NULL, dtype = NULL) {
  shape <- check_sizes(shape)
  check_known(size, function(x) x >= 0 & x < Inf, "a finite number of at least 0")
  check_known(prob, function(x) x > 0 & x <= 1, "a number above 0 and up to 1")
  check_known(mu, function(x) x >= 0 & x < Inf, "a finite number of at least 0")
  as_given <- function(x, name) if (!is.null(x)) as_f64(x, shape, name)
  given <- negative_binomial(list(0), as_f64(size, shape), as_given(prob, "prob"), as_given(mu, "mu"))
  size <- given$size
  odds <- given$q / given$p
  draw_counts(shape, initial_state, dtype, given$valid & size < Inf & odds < Inf, function(shape, state) {
    gamma <- log_gamma_draw(shape, state, size)
    poisson_draw(shape, gamma[[1L]], nv_ifelse(size == 0, 0, nv_exp(gamma[[2L]]) * odds))
  })
}

#' @rdname nv_rgamma
#' @export
nv_rgeom <- function(shape, initial_state = NULL, prob, dtype = NULL) {
  check_known(prob, function(x) x > 0 & x <= 1, "a number above 0 and up to 1")
  prob <- as_f64(prob, check_sizes(shape))
  draw_counts(shape, initial_state, dtype, prob > 0 & prob <= 1, function(shape, state) {
    drawn <- open_uniform(shape, state, "f64")
    list(drawn[[1L]], nv_floor(nv_log(drawn[[2L]]) / nv_log1p(-prob)))
  })
}

# A parameter of counts that R knows must be one: an integer has no NaN to say so.
check_known <- function(x, holds, what, name = rlang::caller_arg(x)) {
  if (is_r_data(x) && is.numeric(x) && !isTRUE(all(holds(x)))) wrong_argument(name, what, x)
}

# Where the parameters are not `valid`, NaN, and 0 of integers.
draw_counts <- function(shape, initial_state, dtype, valid, draw) {
  dtype <- count_dtype(dtype, 1)
  shape <- check_sizes(shape)
  with_state(initial_state, function(state) {
    drawn <- draw(shape, state)
    list(drawn[[1L]], nv_convert(nv_ifelse(valid, nv_stop_gradient(drawn[[2L]]), NaN), dtype))
  })
}

# Small means by search, large ones by transformed rejection, algorithm PTRS of Hormann (1993); u, v, a, b are named as
# there.
poisson_draw <- function(shape, state, lambda) {
  lambda <- nv_broadcast_to(lambda, shape)
  lambda <- nv_ifelse(lambda >= 0 & lambda < Inf, lambda, 0)
  large <- lambda >= 10
  few <- nv_ifelse(large, 0, lambda)
  low <- count_by_search(shape, state, nv_exp(-few), function(k) few / (k + 1))
  high <- poisson_by_rejection(shape, low[[1L]], nv_ifelse(large, lambda, 10), large)
  list(high[[1L]], nv_ifelse(large, high[[2L]], low[[2L]]))
}

poisson_by_rejection <- function(shape, state, lambda, wanted) {
  b <- 0.931 + 2.53 * nv_sqrt(lambda)
  a <- 0.02483 * b - 0.059
  scale <- nv_log(1.1239 + 1.1328 / (b - 3.4))
  squeeze <- 0.9277 - 3.6224 / (b - 2)
  attempt <- function(state, count, open) {
    first <- unit_uniform(shape, state, "f64")
    second <- open_uniform(shape, first[[1L]], "f64")
    u <- first[[2L]] - 0.5
    v <- second[[2L]]
    side <- 0.5 - nv_abs(u)
    k <- nv_floor((2 * a / side + b) * u + lambda + 0.43)
    height <- nv_log(v) + scale - nv_log(a / (side * side) + b)
    quick <- side >= 0.07 & v <= squeeze
    fits <- open & k >= 0 & (quick | ((side >= 0.013 | v <= side) & height <= log_poisson(nv_max(k, 0), lambda)))
    list(state = second[[1L]], count = nv_ifelse(fits, k, count), open = open & nv_not(fits))
  }
  start <- list(state = state, count = nv_fill(0, shape, "f64"), open = wanted)
  end <- nv_while(start, function(state, count, open) nv_reduce_any(open), attempt)
  list(end$state, end$count)
}
