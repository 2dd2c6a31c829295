#' Multivariate distributions: normal, Dirichlet, multinomial, categorical
#'
#' Densities and samplers of vectors. An observation lies along the last dimension: `x` is a vector, or a tensor whose
#' last dimension has the `k` elements of each observation, a row of a matrix. `nv_dcategorical()` is the probability of the
#' numbers 1 to `k` themselves.
#'
#' Densities are differentiable by all float operands. Samples of `nv_rmvnorm()` and `nv_rdirichlet()` are differentiable
#' by the parameters, for a fixed state.
#'
#' @inheritParams nv_random
#' @param x Observations. Of `nv_dcategorical()` numbers from 1 to `k`, of any shape.
#' @param mean A vector of `k` means, or a number.
#' @param sigma A covariance matrix, `k` x `k`, symmetric and positive definite.
#' @param alpha A vector of `k` positive parameters.
#' @param prob A vector of `k` probabilities, which are divided by their sum, as in R.
#' @param size The number of trials of an observation: a number; by default, for the density, the sum of each.
#' @param shape Sizes: how many observations are drawn.
#' @param log Whether densities are logarithms.
#' @return Densities: a float tensor of the shape of `x` without its last dimension, of `nv_dcategorical()` of that of `x`.
#'   Samplers: a list of the new state and the values, of shape `c(shape, k)`, of `nv_rcategorical()` of `shape`; without a
#'   state the values.
#' @section Errors:
#' Those of [nv_dnorm()] and [nv_rnorm()]; `anvil_error_shape` where the parameter is no vector, and where numbers of
#' elements differ.
#' @family distributions
#' @family random numbers
#' @name nv_dmvnorm
#' @examples
#' sigma <- nv_tensor(matrix(c(2, 1, 1, 3), 2), dtype = "f64")
#' draw <- nv_rmvnorm(4, nv_rng_state(1L), mean = 1, sigma = sigma, dtype = "f64")
#' nv_dmvnorm(draw[[2]], mean = 1, sigma = sigma, log = TRUE)
#' prob <- nv_tensor(c(0.2, 0.3, 0.5))
#' nv_dmultinom(nv_tensor(c(1, 2, 1)), prob = prob)
#' nv_ddirichlet(prob, alpha = nv_tensor(c(1, 2, 3)))
#' nv_dcategorical(nv_tensor(c(1L, 3L)), prob)
#' nv_rcategorical(5, nv_rng_state(1L), prob)[[2]]
NULL

#' @rdname nv_dmvnorm
#' @export
nv_dmvnorm <- function(x, mean = 0, sigma, log = FALSE) {
  given <- as_floats(x = x, mean = mean, sigma = sigma)
  rows <- as_rows(given$x)
  k <- shape(rows)[2L]
  check_covariance(given$sigma, k)
  root <- nv_chol(given$sigma, lower = TRUE)
  away <- nv_transpose(rows - along_rows(given$mean, k, shape(rows)))
  z <- nv_triangular_solve(root, away, lower = TRUE)
  log_density <- -0.5 * nv_reduce_sum(z * z, dims = 1L) - nv_reduce_sum(nv_log(nv_extract_diag(root))) - k * log(2 * pi) / 2
  as_density(log_density, given$x, log)
}

#' @rdname nv_dmvnorm
#' @export
nv_ddirichlet <- function(x, alpha, log = FALSE) {
  given <- as_floats(x = x, alpha = alpha)
  rows <- as_rows(given$x)
  check_parameter_vector(given$alpha, shape(rows)[2L], "alpha")
  sum <- nv_reduce_sum(given$alpha)
  a <- along_rows(given$alpha, shape(rows)[2L], shape(rows))
  inside <- nv_reduce_sum(log_gamma_density(a, sum * rows), dims = 2L) + shape(rows)[2L] * nv_log(sum) - log_gamma_weight(sum, sum)
  total <- nv_reduce_sum(rows, dims = 2L)
  tolerance <- max(1e-8, 8 * shape(rows)[2L] * epsilon(dtype(as_floats(x = x)$x)))
  outside <- nv_reduce_any(rows < 0, dims = 2L) | nv_abs(total - 1) > tolerance
  log_density <- nv_ifelse(nv_reduce_all(given$alpha > 0), nv_ifelse(outside, -Inf, inside), NaN)
  as_density(log_density, given$x, log)
}

#' @rdname nv_dmvnorm
#' @export
nv_dmultinom <- function(x, size = NULL, prob, log = FALSE) {
  given <- as_floats(x = x, prob = prob)
  counts <- counted(as_rows(given$x))
  rows <- counts$number
  p <- along_rows(shares(given$prob, shape(rows)[2L]), shape(rows)[2L], shape(rows))
  total <- nv_reduce_sum(rows, dims = 2L)
  spread <- nv_broadcast_to(nv_reshape(total, c(shape(rows)[1L], 1L)), shape(rows))
  log_density <- nv_reduce_sum(log_poisson(rows, spread * p), dims = 2L) - log_poisson(total, total)
  outside <- nv_reduce_any(counts$none, dims = 2L)
  if (!is.null(size)) outside <- outside | total != check_whole_number(size, "size", 0L)
  as_density(nv_ifelse(outside, -Inf, log_density), given$x, log)
}

#' @rdname nv_dmvnorm
#' @export
nv_dcategorical <- function(x, prob, log = FALSE) {
  prob <- as_floats(prob = prob)$prob
  p <- shares(prob, NULL)
  x <- as_operand(x, "x")
  at <- nv_convert(nv_clamp(1L, nv_convert(x, "i32"), shape(prob)), "i32")
  density_of(nv_log(slices_at(p, at)), nv_ne(nv_convert(at, dtype(x)), x), nv_eq(x, x), log)
}

#' @rdname nv_dmvnorm
#' @export
nv_rmvnorm <- function(shape, initial_state = NULL, dtype = NULL, mean = 0, sigma) {
  dtype <- float_dtype(dtype)
  sizes <- check_sizes(shape)
  sigma <- nv_convert(as_f64(sigma), dtype)
  k <- check_covariance(sigma)
  mean <- nv_convert(as_f64(mean), dtype)
  with_state(initial_state, function(state) {
    drawn <- standard_normal(c(prod(sizes), k), state, dtype)
    values <- nv_matmul(drawn[[2L]], nv_chol(sigma)) + along_rows(mean, k, c(prod(sizes), k), "`sigma`")
    list(drawn[[1L]], nv_reshape(values, c(sizes, k)))
  })
}

#' @rdname nv_dmvnorm
#' @export
nv_rdirichlet <- function(shape, initial_state = NULL, dtype = NULL, alpha) {
  sizes <- check_sizes(shape)
  dtype <- float_dtype(dtype)
  alpha <- as_f64(alpha)
  k <- check_parameter_vector(alpha, name = "alpha")
  with_state(initial_state, function(state) {
    rows <- c(as.integer(prod(sizes)), k)
    drawn <- log_gamma_draw(rows, state, along_rows(alpha, k, rows))
    logs <- drawn[[2L]]
    ratio <- nv_exp(logs - nv_broadcast_to(nv_stop_gradient(nv_reduce_max(logs, dims = 2L, drop = FALSE)), rows))
    values <- ratio / nv_broadcast_to(nv_reduce_sum(ratio, dims = 2L, drop = FALSE), rows)
    list(drawn[[1L]], nv_convert(nv_reshape(values, c(sizes, k)), dtype))
  })
}

#' @rdname nv_dmvnorm
#' @export
nv_rmultinom <- function(shape, initial_state = NULL, size, prob, dtype = NULL) {
  size <- check_whole_number(size, "size", 0L)
  dtype <- count_dtype(dtype, size)
  sizes <- check_sizes(shape)
  prob <- as_weights(prob)
  k <- shape(prob)
  with_state(initial_state, function(state) {
    left <- nv_fill(size, sizes, "f64")
    share <- nv_reverse(nv_cumsum(nv_reverse(prob, dims = 1L)), dims = 1L)
    counts <- list()
    # each count, given those before it, is binomial
    for (i in seq_len(k - 1L)) {
      ratio <- nv_static_slice(prob, i, i) / nv_static_slice(share, i, i)
      ratio <- nv_reshape(nv_ifelse(nv_is_nan(ratio), 0, ratio), integer())
      drawn <- binomial_of_tensors(left, nv_min(ratio, 1))(sizes, state)
      state <- drawn[[1L]]
      counts <- c(counts, list(nv_reshape(drawn[[2L]], c(sizes, 1L))))
      left <- left - drawn[[2L]]
    }
    counts <- do.call(nv_concatenate, c(counts, list(nv_reshape(left, c(sizes, 1L)), dimension = length(sizes) + 1L)))
    list(state, nv_convert(counts, dtype))
  })
}

#' @rdname nv_dmvnorm
#' @export
nv_rcategorical <- function(shape, initial_state = NULL, prob, dtype = NULL) {
  prob <- as_weights(prob)
  k <- shape(prob)
  dtype <- count_dtype(dtype, k)
  sizes <- check_sizes(shape)
  with_state(initial_state, function(state) {
    drawn <- unit_uniform(sizes, state, "f64")
    list(drawn[[1L]], nv_convert(places_in(nv_cumsum(prob), drawn[[2L]]), dtype))
  })
}

# Which of the intervals that end at these increasing bounds the share u of the last one falls in, from 1 on: how many
# bounds it reaches, by bisection.
places_in <- function(bounds, u) {
  k <- shape(bounds)
  steps <- ceiling(log2(k + 1))
  last <- nv_static_slice(bounds, k, k)
  at <- u * nv_reshape(last, integer())
  table <- nv_concatenate(bounds, nv_fill(Inf, as.integer(2^steps - k), "f64"))
  count <- nv_fill(0L, shape(u), "i32")
  for (step in as.integer(2^(rev(seq_len(steps)) - 1))) {
    further <- count + step
    count <- nv_ifelse(at >= slices_at(table, further), further, count)
  }
  nv_min(count + 1L, k)
}

# --- rows -------------------------------------------------------------------------------------

# Observations as the rows of a matrix, and a result for each of them in the shape of what they came as.
as_rows <- function(x) {
  sizes <- shape(x)
  if (length(sizes) == 0L) abort_anvil("shape", "`x` must have at least one dimension.", "i An observation lies along the last one.")
  nv_reshape(x, c(prod(sizes[-length(sizes)]), sizes[length(sizes)]))
}
as_density <- function(log_density, x, log) {
  sizes <- shape(x)
  density_of(nv_reshape(log_density, sizes[-length(sizes)]), NULL, TRUE, log)
}

# A vector, or a number, in each row.
along_rows <- function(v, k, shape, of = "`x`") {
  if (length(shape(v)) > 0L) check_parameter_vector(v, k, "mean", of)
  nv_broadcast_to(v, shape)
}

check_parameter_vector <- function(v, k = NULL, name, of = "`x`") {
  sizes <- shape(v)
  if (length(sizes) != 1L || (!is.null(k) && sizes != k) || sizes == 0L) {
    must <- if (is.null(k)) "must be a vector, not an empty one" else sprintf("must be a vector of length %d, as the last dimension of %s", k, of)
    abort_anvil("shape", sprintf("`%s` %s.", name, must), sprintf("x Its shape is %s.", shape2string(sizes)))
  }
  sizes
}

# Weights as a tensor, of which as many as are needed are positive, where they are known.
as_weights <- function(prob, k = NULL, least = 1L) {
  weights <- as_f64(prob)
  check_parameter_vector(weights, k, "prob")
  known <- if (is_r_data(prob) || is_tensor(prob)) as.double(prob)
  if (!is.null(known) && !isTRUE(all(known >= 0 & known < Inf) && sum(known > 0) >= least)) {
    abort_anvil("argument", sprintf("`prob` must be weights, at least %d of them positive and none negative.", least), got_value(known))
  }
  weights
}

check_covariance <- function(sigma, k = NULL) {
  sizes <- shape(sigma)
  if (length(sizes) != 2L || sizes[1L] != sizes[2L] || (!is.null(k) && sizes[1L] != k)) {
    must <- if (is.null(k)) "a square matrix" else sprintf("a matrix of %d rows and columns, as the last dimension of `x`", k)
    abort_anvil("shape", sprintf("`sigma` must be %s.", must), sprintf("x Its shape is %s.", shape2string(sizes)))
  }
  sizes[1L]
}

shares <- function(prob, k) {
  check_parameter_vector(prob, k, "prob")
  p <- prob / nv_reduce_sum(prob)
  nv_ifelse(nv_reduce_any(prob < 0), NaN, p)
}
