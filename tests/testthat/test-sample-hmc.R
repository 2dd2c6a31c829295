# Trajectories of Hamiltonian Monte Carlo, and what it samples from.

model_for <- function(density, size, metric = "diagonal") {
  both <- value_and_gradient(function(q) density(q))
  evaluate <- function(q) {
    found <- both(q)
    list(q = q, value = found$value, slope = found$grad$q)
  }
  list(size = size, dtype = "f64", metric = metrics[[metric]], evaluate = evaluate, target = 0.8)
}
f64 <- function(x, ...) nv_tensor(x, "f64", ...)

test_that("leapfrog steps keep the energy to second order, and go back the way they came", {
  for (kind in c("diagonal", "dense")) {
    model <- model_for(function(q) -sum(q^4) / 4 - q[1] * q[2] / 2, 2L, kind)
    inverse <- if (kind == "dense") matrix(c(1, 0.3, 0.3, 0.7), 2) else c(1, 0.7)
    metric <- list(inverse = f64(inverse))
    start <- c(model$evaluate(f64(c(0.5, -1))), list(r = f64(c(1, 0.2))))
    go <- jit(function(z, size, n) nv_fori(1L, n, z, function(i, z) leapfrog(model, metric, size, z)[names(z)]))
    energy <- function(z) as_array(energy_of(model, metric, z))
    error <- function(n) energy(go(start, nv_scalar(1 / n, "f64"), nv_scalar(as.integer(n)))) - energy(start)
    expect_equal(error(64) / error(128), 4, tolerance = 0.02)
    there <- go(start, nv_scalar(0.01, "f64"), nv_scalar(100L))
    back <- go(there, nv_scalar(-0.01, "f64"), nv_scalar(100L))
    expect_equal(as_array(back$q), as_array(start$q), tolerance = 1e-12)
    expect_equal(as_array(back$r), as_array(start$r), tolerance = 1e-12)
  }
})

test_that("momenta have the inverse metric as covariance", {
  sigma <- matrix(c(2, 0.9, 0.9, 1), 2)
  model <- list(size = 2L, dtype = "f64", metric = metrics$dense)
  metric <- list(inverse = f64(sigma), root = metrics$dense$root(f64(sigma)))
  draw <- jit(function(seeds) {
    vectorize(function(seed) with_momentum(model, metric, nv_rng_state(seed), list())$z$r)(seeds)
  })
  r <- as_array(draw(nv_tensor(1:20000)))
  expect_equal(stats::cov(r), solve(sigma), tolerance = 0.03)
})

test_that("the posterior of a regression has its known means and covariances", {
  withr::local_seed(1)
  x <- cbind(1, stats::rnorm(40), stats::runif(40))
  y <- drop(x %*% c(1, -2, 0.5)) + stats::rnorm(40)
  density <- function(par, x, y) sum(nv_dnorm(y - nv_squeeze(x %*% par$beta), log = TRUE)) + sum(nv_dnorm(par$beta, 0, 2, log = TRUE))
  sigma <- solve(crossprod(x) + diag(3) / 4)
  mean <- drop(sigma %*% crossprod(x, y))
  for (metric in c("diagonal", "dense")) {
    found <- nv_hmc(density, list(beta = nv_aten("f64", 3L)), x = x, y = y, metric = metric, seed = 1)
    table <- summary(found)
    expect_identical(table$variable, c("beta[1]", "beta[2]", "beta[3]"))
    # within four standard errors of a mean of as many independent draws
    expect_lt(max(abs(table$mean - mean) / sqrt(diag(sigma) / table$ess_bulk)), 4)
    expect_lt(max(abs(stats::cov(as.data.frame(found)[-(1:2)]) - sigma) / sqrt(outer(diag(sigma), diag(sigma)))), 0.08)
    expect_lt(max(table$rhat), 1.01)
    accept <- mean(attr(found, "statistics")$accept)
    expect_true(accept > 0.75 && accept < 0.95)
  }
})

test_that("numbers of steps, sizes and jitter are as given", {
  normal <- function(x) -sum(x^2) / 2
  found <- nv_hmc(normal, c(0, 0), steps = 3, step_size = 0.5, jitter = 0, seed = 1, draws = 50, warmup = 10)
  expect_true(all(attr(found, "statistics")$steps == 3))
  expect_identical(attr(found, "step_size"), rep(0.5, 4))
  # the value and the energy belong to the draw: what is left is the kinetic energy before it
  stats <- attr(found, "statistics")
  expect_equal(c(stats$value), c(-apply(as.array(found)^2, 1:2, sum) / 2))
  expect_true(all(stats$energy + stats$value > 0))
  found <- nv_hmc(normal, c(0, 0), time = 2, step_size = 0.5, jitter = 0, seed = 1, draws = 20, warmup = 0, chains = 1)
  expect_true(all(attr(found, "statistics")$steps == 4))
  expect_warning(found <- nv_hmc(normal, c(0, 0), time = 2e4, step_size = 0.5, seed = 1, draws = 3, warmup = 0, chains = 1), class = "anvil_warning_long")
  expect_true(all(attr(found, "statistics")$steps == 1000))
})
