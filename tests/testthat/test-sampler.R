state <- nv_rng_state(7L)
n <- 20000L
drawn <- function(draw) as.vector(as_array(draw[[2L]]))
# Of right samplers one in 1000 would fail by chance, for another seed than this.
level <- 1e-3

test_that("continuous samples have their distributions", {
  expect_distribution <- function(draw, cdf, ...) {
    label <- deparse(substitute(draw))[1L]
    expect_gt(suppressWarnings(ks.test(drawn(draw), cdf, ...)$p.value), level, label = label)
  }
  expect_distribution(nv_rexp(n, state, "f64", rate = 3), "pexp", 3)
  expect_distribution(nv_rweibull(n, state, "f64", alpha = 0.7, scale = 3), "pweibull", 0.7, 3)
  expect_distribution(nv_rlogis(n, state, "f64", 1, 3), "plogis", 1, 3)
  expect_distribution(nv_rcauchy(n, state, "f64", 1, 3), "pcauchy", 1, 3)
  expect_distribution(nv_rlaplace(n, state, "f64", 1, 3), function(q) flat(nv_plaplace(f64(q), 1, 3)))
  expect_distribution(nv_rlnorm(n, state, "f64", 1, 3), "plnorm", 1, 3)
  for (alpha in c(0.05, 0.5, 1, 2, 30, 1e5, 1e14)) expect_distribution(nv_rgamma(n, state, "f64", alpha = alpha, rate = 2), "pgamma", alpha, 2)
  expect_distribution(nv_rgamma(n, state, alpha = 2), "pgamma", 2)
  expect_distribution(nv_rchisq(n, state, "f64", df = 3), "pchisq", 3)
  expect_distribution(nv_rbeta(n, state, "f64", 0.1, 0.3), "pbeta", 0.1, 0.3)
  expect_distribution(nv_rf(n, state, "f64", 3, 5), "pf", 3, 5)
  expect_distribution(nv_rt(n, state, "f64", 3), "pt", 3)
  expect_distribution(nv_rtruncnorm(n, state, "f64", 1, 3, -Inf, Inf), "pnorm", 1, 3)
  # each element has its own parameter
  alpha <- rep(c(0.5, 5), n / 2)
  expect_gt(suppressWarnings(ks.test(pgamma(drawn(nv_rgamma(n, state, "f64", alpha = f64(alpha))), alpha), "punif")$p.value), level)
})

test_that("truncated normal samples have their distribution in the middle and in the tails", {
  for (bounds in list(c(-2, 2), c(-0.1, 3), c(-Inf, -3), c(5, 9), c(30, Inf), c(1e5, Inf), c(-40.1, -40))) {
    x <- drawn(nv_rtruncnorm(n, state, "f64", 0, 1, bounds[1], bounds[2]))
    expect_true(all(x >= bounds[1] & x <= bounds[2]))
    # of the tail that the bounds are in
    log_p <- function(q) if (sum(bounds) > 0) pnorm(-q, log.p = TRUE) else pnorm(q, log.p = TRUE)
    ends <- range(log_p(bounds))
    u <- (exp(log_p(x) - ends[2]) - exp(ends[1] - ends[2])) / -expm1(ends[1] - ends[2])
    expect_gt(suppressWarnings(ks.test(u, "punif")$p.value), level, label = format(bounds))
  }
  expect_equal(sd(drawn(nv_rtruncnorm(n, state, mean = 4, sd = 10))) / 10, sqrt(1 - 4 * dnorm(2) / (2 * pnorm(2) - 1)), tolerance = 0.01)
  expect_true(all(is.nan(drawn(nv_rtruncnorm(4, state, sd = f64(c(-1, 1, 1, 0)), min = f64(c(0, 1, NaN, 0)), max = 1)))))
})

# P values of chi-square tests of counts, in up to 40 cells.
count_p <- function(x, p, q) {
  breaks <- unique(c(-1, q(seq(0.025, 0.975, 0.025)), Inf))
  suppressWarnings(stats::chisq.test(table(cut(x, breaks)), p = diff(p(breaks)), rescale.p = TRUE)$p.value)
}

test_that("counts have their distributions", {
  for (lambda in c(0.3, 5, 9.9, 10, 50, 1e4, 1e9)) {
    expect_gt(count_p(drawn(nv_rpois(n, state, lambda)), function(x) ppois(x, lambda), function(p) qpois(p, lambda)), level, label = paste("lambda", lambda))
  }
  for (mu in c(0.3, 5, 50)) {
    expect_gt(count_p(drawn(nv_rnbinom(n, state, size = 2.5, mu = mu)), function(x) pnbinom(x, 2.5, mu = mu), function(p) qnbinom(p, 2.5, mu = mu)), level)
  }
  for (prob in c(0.03, 0.5, 0.9)) {
    expect_gt(count_p(drawn(nv_rgeom(n, state, prob)), function(x) pgeom(x, prob), function(p) qgeom(p, prob)), level)
  }
  for (case in list(c(5, 0.3), c(100, 0.02), c(100, 0.3), c(1000, 0.4), c(1e9, 0.5))) {
    x <- drawn(nv_rbinom(n, state, nv_scalar(case[1], "f64"), f64(rep(case[2], n))))
    expect_gt(count_p(x, function(x) pbinom(x, case[1], case[2]), function(p) qbinom(p, case[1], case[2])), level)
  }
  expect_equal(drawn(nv_rbinom(4, state, 10, f64(c(0, 1, NaN, -1)))), c(0, 10, 0, 0))
  expect_equal(drawn(nv_rpois(3, state, f64(c(0, -1, Inf)))), c(0, 0, 0))
})

test_that("vectors have their distributions", {
  sigma <- matrix(c(2, 1, 1, 3), 2)
  x <- as_array(nv_rmvnorm(n, state, "f64", nv_tensor(c(1, 2)), f64(sigma))[[2]])
  # the squared distance from the mean is chi-squared
  distance <- stats::mahalanobis(x, c(1, 2), sigma)
  expect_gt(suppressWarnings(ks.test(distance, "pchisq", 2)$p.value), level)
  expect_equal(cov(x), sigma, tolerance = 0.06)
  x <- as_array(nv_rdirichlet(n, state, "f64", f64(c(0.5, 1, 2)))[[2]])
  expect_equal(rowSums(x), rep(1, n))
  for (k in 1:3) expect_gt(suppressWarnings(ks.test(x[, k], "pbeta", c(0.5, 1, 2)[k], 3.5 - c(0.5, 1, 2)[k])$p.value), level)
  x <- as_array(nv_rmultinom(n, state, 50, f64(c(1, 2, 7)))[[2]])
  expect_equal(rowSums(x), rep(50, n))
  for (k in 1:3) expect_gt(count_p(x[, k], function(x) pbinom(x, 50, c(0.1, 0.2, 0.7)[k]), function(p) qbinom(p, 50, c(0.1, 0.2, 0.7)[k])), level)
  counts <- tabulate(drawn(nv_rcategorical(n, state, f64(c(1, 0, 3, 6)))), 4)
  expect_identical(counts[2], 0L)
  expect_gt(stats::chisq.test(counts[-2], p = c(1, 3, 6) / 10)$p.value, level)
  expect_equal(shape(nv_rmvnorm(c(2, 3), state, sigma = f64(sigma))[[2]]), c(2L, 3L, 2L))
  expect_equal(shape(nv_rdirichlet(integer(), state, alpha = f64(c(1, 1)))[[2]]), 2L)
  expect_equal(shape(nv_rmultinom(c(2, 3), state, 5, f64(c(1, 1)))[[2]]), c(2L, 3L, 2L))
})

test_that("densities of vectors", {
  sigma <- matrix(c(2, 1, 1, 3), 2)
  x <- matrix(c(0.3, 1, 2, -1, 0, 5), 3)
  wanted <- -stats::mahalanobis(x, c(1, 2), sigma) / 2 - log(2 * pi) - log(det(sigma)) / 2
  expect_equal(flat(nv_dmvnorm(f64(x), f64(c(1, 2)), f64(sigma), log = TRUE)), wanted)
  expect_equal(flat(nv_dmvnorm(f64(x[1, ]), f64(c(1, 2)), f64(sigma))), exp(wanted[1]))
  counts <- rbind(c(1, 2, 4), c(0, 0, 7), c(0, 1.5, 1))
  expect_equal(flat(nv_dmultinom(f64(counts), prob = f64(c(1, 2, 7)))), c(apply(counts[1:2, ], 1, dmultinom, prob = c(1, 2, 7)), 0))
  expect_equal(flat(nv_dmultinom(f64(counts), size = 6, prob = f64(c(1, 2, 7)))), c(0, 0, 0))
  # large counts lose no digits
  expect_equal(flat(nv_dmultinom(f64(c(3e8, 7e8)), prob = f64(c(3, 7)))), dbinom(3e8, 1e9, 0.3), tolerance = 1e-12)
  expect_equal(flat(nv_ddirichlet(f64(c(0.1, 0.9)), f64(c(2, 3)))), dbeta(0.1, 2, 3))
  expect_equal(flat(nv_ddirichlet(f64(rbind(c(0.1, 0.2, 0.7), c(0.1, 0.2, 0.6))), f64(c(2, 3, 4)), log = TRUE)), c(lgamma(9) - lgamma(2) - lgamma(3) - lgamma(4) + log(0.1) + 2 * log(0.2) + 3 * log(0.7), -Inf))
  expect_equal(flat(nv_dcategorical(nv_tensor(c(0L, 1L, 3L, 4L)), f64(c(1, 2, 7)))), c(0, 0.1, 0.7, 0))
  # gradients by mean and covariance
  f <- function(mean, sigma) sum(nv_dmvnorm(f64(x), mean, sigma, log = TRUE))
  g <- jit(gradient(f))(f64(c(1, 2)), f64(sigma))
  away <- t(x) - c(1, 2)
  inverse <- solve(sigma)
  expect_equal(flat(g$mean), as.vector(inverse %*% rowSums(away)))
  whole <- 0.5 * inverse %*% away %*% t(away) %*% inverse - 1.5 * inverse
  expect_equal(sum(flat(g$sigma)), sum(whole))
})

test_that("samples with and without replacement", {
  expect_setequal(drawn(nv_sample_int(100, initial_state = state)), 1:100)
  expect_identical(anyDuplicated(drawn(nv_sample_int(1000, 500, state))), 0L)
  expect_equal(type_of(nv_sample_int(5, c(2, 3), state, replace = TRUE)[[2]]), "i32[2,3]")
  first <- tabulate(drawn(nv_sample_int(6, n, state, replace = TRUE)), 6)
  expect_gt(stats::chisq.test(first)$p.value, level)
  weights <- c(1, 2, 7)
  orders <- jit(function(state) nv_sample_int(3, 2, state, prob = f64(weights))[[2]])
  x <- vapply(nv_rng_split(state, 2000), function(s) flat(orders(s)), c(0, 0))
  pairs <- table(factor(x[1, ], 1:3), factor(x[2, ], 1:3))
  wanted <- outer(1:3, 1:3, function(i, j) weights[i] / 10 * weights[j] / (10 - weights[i]))
  off <- row(wanted) != col(wanted)
  expect_identical(sum(diag(pairs)), 0L)
  expect_gt(stats::chisq.test(pairs[off], p = wanted[off])$p.value, level)
  m <- matrix(as.double(1:6), 3)
  rows <- as_array(nv_sample(f64(m), initial_state = state)[[2]])
  expect_equal(rows[order(rows[, 1]), ], m)
  expect_equal(shape(nv_sample(f64(m), c(4, 5), state, replace = TRUE)[[2]]), c(4L, 5L, 2L))
})

test_that("parameters out of range give no ordinary numbers", {
  for (sd in list(-1, f64(c(-1, -1)))) expect_true(all(is.nan(drawn(nv_rnorm(2, state, "f64", sd = sd)))))
  expect_identical(is.nan(drawn(nv_rnorm(3, state, "f64", sd = f64(c(1, -1, NaN))))), c(FALSE, TRUE, TRUE))
  expect_true(all(is.nan(drawn(nv_runif(2, state, "f64", min = nv_scalar(2, "f64"), max = 1)))))
  expect_true(all(is.nan(drawn(nv_rgamma(2, state, alpha = -1)))))
  for (call in expression(
    nv_rpois(2, state, -1), nv_rpois(2, state, Inf), nv_rpois(2, state, NaN), nv_rgeom(2, state, 0), nv_rgeom(2, state, 1.5),
    nv_rnbinom(2, state, -1, 0.5), nv_rnbinom(2, state, 2, 0), nv_rnbinom(2, state, 2, mu = -1), nv_rbinom(2, state, prob = 2)
  )) {
    expect_error(eval(call), class = "anvil_error_argument")
  }
  for (draw in list(
    function(dtype) nv_rpois(2, state, f64(c(-1, 3)), dtype), function(dtype) nv_rgeom(2, state, f64(c(0, 1)), dtype),
    function(dtype) nv_rnbinom(2, state, f64(c(-1, 2)), 0.5, dtype = dtype), function(dtype) nv_rbinom(2, state, 5, f64(c(2, 0.5)), dtype)
  )) {
    expect_identical(is.nan(drawn(draw("f64"))), c(TRUE, FALSE))
    expect_identical(drawn(draw("i32"))[1], 0L)
  }
})

test_that("without a state, numbers follow R's generator, and in a trace that is an error", {
  set.seed(3)
  x <- nv_rnorm(3)
  y <- nv_rgamma(2, alpha = 3)
  set.seed(3)
  expect_identical(as_array(nv_rnorm(3)), as_array(x))
  expect_identical(as_array(nv_rgamma(2, alpha = 3)), as_array(y))
  expect_false(identical(as_array(nv_rnorm(3)), as_array(x)))
  expect_snapshot(error = TRUE, {
    jit(function(x) x + nv_rnorm(1))(nv_scalar(1))
    nv_rgamma(3, state, alpha = 1, rate = 1, scale = 2)
    nv_rt(3, state, df = f64(c(1, 2)))
    nv_sample_int(3, 4, state)
    nv_sample(nv_scalar(1), 1, state)
    nv_rmvnorm(2, state, sigma = f64(c(1, 2)))
    nv_dmvnorm(f64(c(1, 2, 3)), sigma = f64(diag(2)))
    nv_rng_split(1)
  })
})

test_that("states that were split differ, also from what follows", {
  states <- nv_rng_split(state, 3)
  numbers <- lapply(c(states, list(state)), function(s) drawn(nv_runif(2, s, "f64")))
  expect_identical(anyDuplicated(unlist(numbers)), 0L)
  compiled <- jit(function(s) nv_rng_split(s, 3))(state)
  expect_identical(lapply(compiled, as_raw), lapply(states, as_raw))
})

test_that("compiled samples are those of debug mode", {
  same <- function(f) {
    at_once <- f(state)
    compiled <- jit(f)(state)
    expect_identical(as_array(compiled[[1]]), as_array(at_once[[1]]))
    expect_close(compiled[[2]], at_once[[2]], 1e-12)
  }
  same(function(s) nv_rgamma(c(3, 4), s, "f64", alpha = 0.3))
  same(function(s) nv_rt(11, s, "f64", df = 3))
  same(function(s) nv_rpois(c(3, 4), s, f64(matrix(c(0.1, 20, 300), 3, 4))))
  same(function(s) nv_rnbinom(11, s, size = 3, prob = 0.1))
  same(function(s) nv_rmultinom(11, s, 20, f64(c(1, 2, 3))))
  same(function(s) nv_rdirichlet(11, s, "f64", f64(c(1, 2, 3))))
  same(function(s) nv_sample_int(10, initial_state = s))
})

test_that("parameters may be vectors of R", {
  set.seed(1)
  expect_equal(flat(nv_rnorm(3, mean = c(10, 100, 1000), sd = c(1e-4, 1e-4, 1e-4))), c(10, 100, 1000), tolerance = 1e-3)
  expect_equal(flat(nv_rpois(2, lambda = c(0, 1e6))) > 1000, c(FALSE, TRUE))
  expect_identical(flat(nv_sample_int(3, size = 1, prob = c(0, 1, 0))), 2L)
  expect_error(nv_rnorm(3, mean = c(1, 2)), class = "anvil_error_shape")
})

test_that("samples have the derivatives of quantiles at a fixed probability", {
  slope <- function(draw, at) flat(jit(gradient(function(a) sum(draw(a)[[2]])))(nv_scalar(at, "f64"))[[1L]])
  expected <- function(x, p, q, at) {
    u <- p(x, at)
    h <- 1e-5
    sum((q(u, at + h) - q(u, at - h)) / (2 * h))
  }
  for (a in c(0.4, 2, 40)) {
    draw <- function(a) nv_rgamma(5, state, "f64", alpha = a)
    expect_equal(slope(draw, a), expected(drawn(draw(a)), pgamma, qgamma, a), tolerance = 1e-6)
  }
  draw <- function(rate) nv_rexp(5, state, "f64", rate)
  expect_equal(slope(draw, 2), -sum(drawn(draw(2))) / 2)
  # of E(X) = 2 a for the sum of squares, by its formula and by samples
  pathwise <- slope(function(df) nv_rchisq(n, state, "f64", df), 3) / n
  expect_equal(pathwise, 1, tolerance = 0.03)
})

test_that("truncated normal variables have derivatives where bounds are infinite", {
  state <- nv_rng_state(5L)
  draw <- function(mean, sd, min, max) sum(nv_rtruncnorm(3L, state, dtype = "f64", mean = mean, sd = sd, min = min, max = max)[[2L]])
  at <- function(mean, sd, min, max) as_array(draw(f64_scalar(mean), f64_scalar(sd), min, max))
  f64_scalar <- function(x) nv_scalar(x, "f64")
  h <- 1e-5
  for (bounds in list(c(0, Inf), c(-Inf, 1), c(-Inf, Inf), c(-1, 2))) {
    of <- function(mean, sd) draw(mean, sd, bounds[1L], bounds[2L])
    found <- gradient(of)(f64_scalar(1), f64_scalar(1.3))
    expect_equal(as_array(found$mean), (at(1 + h, 1.3, bounds[1L], bounds[2L]) - at(1 - h, 1.3, bounds[1L], bounds[2L])) / (2 * h), tolerance = 1e-6)
    expect_equal(as_array(found$sd), (at(1, 1.3 + h, bounds[1L], bounds[2L]) - at(1, 1.3 - h, bounds[1L], bounds[2L])) / (2 * h), tolerance = 1e-6)
    along <- jvp(of)(list(mean = f64_scalar(1), sd = f64_scalar(1.3)), list(mean = f64_scalar(1), sd = f64_scalar(0)))
    expect_equal(as_array(along[[2L]]), as_array(found$mean), tolerance = 1e-12)
  }
  expect_true(all(is.nan(as_array(nv_rtruncnorm(3L, state, mean = NaN, min = 0, max = Inf)[[2L]]))))
})

test_that("shares that add up to 1 but for the rounding of their own dtype have a density", {
  alpha <- nv_tensor(c(1, 2, 3), "f64")
  density <- function(x) as_array(nv_ddirichlet(x, alpha, log = TRUE))
  expect_equal(density(nv_tensor(c(0.1, 0.2, 0.7), "f32")), density(nv_tensor(c(0.1, 0.2, 0.7), "f64")), tolerance = 1e-6)
  expect_equal(density(nv_tensor(c(0.1, 0.2, 0.7 + 1e-12), "f64")), density(nv_tensor(c(0.1, 0.2, 0.7), "f64")), tolerance = 1e-9)
  expect_identical(density(nv_tensor(c(0.1, 0.2, 0.71), "f64")), -Inf)
})
