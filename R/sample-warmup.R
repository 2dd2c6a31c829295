# What samplers learn while they warm up: the size of a step, by dual averaging (Hoffman and Gelman, 2014), and the
# metric, the inverse of the mass matrix, from the draws of windows that double in length, as in Stan. All of it is
# traced into the sampler's program.

# What warming up starts from.
nothing_learnt <- function(model) {
  ops <- model$metric
  inverse <- ops$identity(model$size, model$dtype)
  list(
    metric = list(inverse = inverse, root = ops$root(inverse)), moments = no_moments(model),
    pace = pace_from(log(nv_scalar(model$step_size %||% 1, model$dtype))), fresh = nv_scalar(is.null(model$step_size))
  )
}

# What is learnt from a draw that was accepted with this probability; `phase` is an element of warmup_phases().
learn_from <- function(model, learnt, phase, q, accept) {
  if (is.null(model$step_size)) learnt$pace <- pace_after(learnt$pace, model$target - accept)
  learnt$moments <- nv_if(phase >= 2L, function() moments_with(model, learnt$moments, q), function() learnt$moments)
  nv_if(phase == 3L, function() {
    learnt$metric <- metric_of(model, learnt$moments)
    learnt$moments <- no_moments(model)
    learnt$fresh <- nv_scalar(is.null(model$step_size))
    learnt
  }, function() learnt)
}

# For each iteration: 0, a draw that is kept; 1, of which only the size of steps is learnt; 2, also the metric; 3, the same at
# the end of a window. Stan's lengths: 75, then 25, 50, 100, ... and at the end 50.
warmup_phases <- function(warmup, kept) {
  phases <- rep(1L, warmup)
  if (warmup >= 20L) {
    short <- warmup < 150L
    from <- if (short) floor(0.15 * warmup) else 75
    end <- warmup - if (short) floor(0.1 * warmup) else 50
    phases[seq(from + 1, end)] <- 2L
    window <- if (short) Inf else 25
    # a window whose successor would not fit goes on to the end
    while (from + 3 * window <= end) {
      from <- from + window
      phases[from] <- 3L
      window <- 2 * window
    }
    phases[end] <- 3L
  }
  c(phases, rep(0L, kept))
}

# ---- the metric ------------------------------------------------------------------------

# Operations on the inverse mass matrix `inverse`, an estimate of the covariance of the parameters, and `root`, a factor of it;
# of a diagonal one both are vectors. `momentum` makes one of standard normal numbers, `outer` is what covariances are sums of.
metrics <- list(
  diagonal = list(
    identity = function(p, dtype) nv_fill(1, p, dtype = dtype),
    root = function(inverse) sqrt(inverse),
    times = function(metric, r) metric$inverse * r,
    momentum = function(metric, z) z / metric$root,
    outer = function(a, b) a * b
  ),
  dense = list(
    identity = function(p, dtype) nv_eye(p, dtype = dtype),
    root = function(inverse) nv_chol(inverse, lower = TRUE),
    times = function(metric, r) nv_reshape(nv_matmul(metric$inverse, nv_unsqueeze(r, 2L)), shape(r)),
    momentum = function(metric, z) nv_triangular_solve(metric$root, z, transpose_a = TRUE),
    outer = function(a, b) nv_outer(a, b)
  )
)

# Welford's sums: the number of draws, their mean, and the sum of products of deviations from it.
no_moments <- function(model) {
  zero <- nv_fill(0, model$size, dtype = model$dtype)
  list(n = nv_scalar(0, model$dtype), mean = zero, sum = model$metric$outer(zero, zero))
}

moments_with <- function(model, moments, q) {
  n <- moments$n + 1
  away <- q - moments$mean
  mean <- moments$mean + away / n
  list(n = n, mean = mean, sum = moments$sum + model$metric$outer(away, q - mean))
}

# Shrunk towards a small multiple of the identity, as Stan does.
metric_of <- function(model, moments) {
  share <- moments$n / (moments$n + 5)
  inverse <- share * moments$sum / (moments$n - 1) + 1e-3 * (1 - share) * model$metric$identity(model$size, model$dtype)
  list(inverse = inverse, root = model$metric$root(inverse))
}

# ---- the size of a step ------------------------------------------------------------------

# Dual averaging: the logarithm of the size to try next, its weighted mean, the value that it is drawn to, the mean gap
# between wanted and seen acceptance, and the number of iterations.
pace_from <- function(log_size) {
  zero <- nv_fill(0, integer(), dtype = dtype(log_size))
  list(log_size = log_size, log_mean = log_size, anchor = log_size + log(10), gap = zero, n = zero)
}

pace_after <- function(pace, gap, gamma = 0.05, t0 = 10, kappa = 0.75) {
  n <- pace$n + 1
  gap <- pace$gap + (gap - pace$gap) / (n + t0)
  log_size <- pace$anchor - gap * sqrt(n) / gamma
  weight <- n^(-kappa)
  list(log_size = log_size, log_mean = pace$log_mean + weight * (log_size - pace$log_mean), anchor = pace$anchor, gap = gap, n = n)
}

# A size to begin with: doubled, or halved, until the acceptance of one step crosses 0.8.
first_pace <- function(model, metric, log_size, state, point) {
  found <- nv_while(
    list(log_size = log_size, up = FALSE, go = TRUE, n = 0L, state = state),
    function(log_size, up, go, n, state) go & n < 60L,
    function(log_size, up, go, n, state) {
      drawn <- with_momentum(model, metric, state, point)
      end <- leapfrog(model, metric, exp(log_size), drawn$z)
      accepted <- energy_of(model, metric, drawn$z) - energy_of(model, metric, end) > log(0.8)
      up <- nv_ifelse(n == 0L, accepted, up)
      go <- accepted == up
      list(log_size = log_size + log(2) * nv_ifelse(go, nv_ifelse(up, 1, -1), 0), up = up, go = go, n = n + 1L, state = drawn$state)
    }
  )
  list(pace = pace_from(found$log_size), state = found$state)
}
