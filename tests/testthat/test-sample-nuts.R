# The no-U-turn sampler: its bookkeeping against the recursion, and what it samples from.

f64 <- function(x, ...) nv_tensor(x, "f64", ...)

test_that("the loop over points finds the U-turns of the recursion's subtrees", {
  model <- list(size = 2L, dtype = "f64", metric = metrics$diagonal, max_depth = 4L)
  metric <- list(inverse = f64(c(1, 1)))
  found_turns <- jit(function(momenta) {
    nv_scan(list(n = 0L, kept = no_checkpoints(model), sum = nv_fill(0, 2L, "f64")), momenta, function(carry, r) {
      sum <- carry$sum + r
      place <- checkpoint_places(carry$n)
      kept <- with_checkpoint(carry$kept, place, r, sum)
      list(carry = list(n = carry$n + 1L, kept = kept, sum = sum), out = turns_inside(model, metric, kept, place, r, sum))
    })$out
  })
  # of all subtrees that end with a point: does one turn?
  turned <- function(r, end) {
    any(vapply(which(end %% 2^(1:4) == 0), function(level) {
      part <- r[end - seq_len(2^level) + 1L, ]
      along <- colSums(part) - (part[1L, ] + part[2^level, ]) / 2
      sum(along * part[1L, ]) <= 0 || sum(along * part[2^level, ]) <= 0
    }, NA))
  }
  for (frequency in c(0.1, 0.3, 0.7, 1.5)) {
    t <- 1:16 * frequency
    r <- cbind(cos(t), 1.3 * sin(1.7 * t + 0.2))
    expect_identical(c(as_array(found_turns(f64(r)))), vapply(1:16, function(end) turned(r, end), NA), info = frequency)
  }
})

test_that("draws have the distribution of the density", {
  # a normal, a gamma and a beta variable, on the scales where they are unbounded
  density <- function(par) {
    nv_dnorm(par$a, 1, 3, log = TRUE) + (2.5 * par$b - exp(par$b)) + (2 * par$c - 5 * nv_log1p(exp(par$c)))
  }
  scalar <- nv_aten("f64", integer())
  found <- nv_nuts(density, list(a = scalar, b = scalar, c = scalar), draws = 500, thin = 8, seed = 4)
  draws <- as.array(found)
  p <- function(x, f, ...) stats::ks.test(c(x), f, ...)$p.value
  expect_gt(p(draws[, , "a"], "pnorm", 1, 3), 0.001)
  expect_gt(p(exp(draws[, , "b"]), "pgamma", 2.5), 0.001)
  expect_gt(p(stats::plogis(draws[, , "c"]), "pbeta", 2, 3), 0.001)
  # the numbers are nearly independent, so that the test is one
  expect_gt(min(summary(found)$ess_bulk), 1500)
})

test_that("twenty correlated normal variables have their covariances, by a dense metric in short trajectories", {
  scale <- sqrt(1:20)
  sigma <- 0.8^abs(outer(1:20, 1:20, "-")) * outer(scale, scale)
  density <- function(x, precision) -0.5 * sum(x * nv_squeeze(precision %*% x))
  found <- nv_nuts(density, nv_aten("f64", 20L), precision = solve(sigma), metric = "dense", seed = 3)
  table <- summary(found)
  expect_equal(table$sd, scale, tolerance = 0.08) # four standard errors: 0.019 over fifteen seeds
  expect_lt(max(abs(table$mean) / scale * sqrt(table$ess_bulk)), 4)
  expect_lt(max(abs(stats::cor(as.data.frame(found)[-(1:2)]) - stats::cov2cor(sigma))), 0.08)
  expect_gt(min(table$ess_bulk), 6000)
  expect_lt(mean(attr(found, "statistics")$steps), 9)
  expect_equal(diag(attr(found, "metric")[[1L]]), scale^2, tolerance = 0.25)
})

test_that("eight schools and a funnel, in parameters that are independent and standard", {
  density <- function(par, y, se) {
    tau <- exp(par$log_tau)
    sum(nv_dnorm(y, par$mu + tau * par$eta, se, log = TRUE)) + sum(nv_dnorm(par$eta, log = TRUE)) +
      nv_dnorm(par$mu, 0, 5, log = TRUE) + nv_dcauchy(tau, 0, 5, log = TRUE) + par$log_tau
  }
  scalar <- nv_aten("f64", integer())
  y <- c(28, 8, -3, 7, -1, 1, 18, 12)
  se <- c(15, 10, 16, 11, 9, 11, 10, 18)
  found <- nv_nuts(density, list(mu = scalar, log_tau = scalar, eta = nv_aten("f64", 8L)), y = y, se = se, seed = 1, target = 0.9)
  # given tau, the rest is normal: the posterior of tau by a sum over a grid
  tau <- exp(seq(-12, 6, length.out = 4000))
  weight <- vapply(tau, function(tau) {
    precision <- sum(1 / (se^2 + tau^2)) + 1 / 25
    mean <- sum(y / (se^2 + tau^2)) / precision
    exp(sum(stats::dnorm(y, mean, sqrt(se^2 + tau^2), TRUE)) + stats::dnorm(mean, 0, 5, TRUE) - log(precision) / 2) * stats::dcauchy(tau, 0, 5) * tau
  }, 0)
  means <- vapply(tau, function(tau) sum(y / (se^2 + tau^2)) / (sum(1 / (se^2 + tau^2)) + 1 / 25), 0)
  table <- summary(found)
  expect_equal(table$mean[1L], sum(weight * means) / sum(weight), tolerance = 0.05)
  expect_equal(table$mean[2L], sum(weight * log(tau)) / sum(weight), tolerance = 0.1)
  expect_lt(max(table$rhat), 1.01)

  funnel <- nv_nuts(function(par) -sum(par$v^2) / 2 - sum(par$x^2) / 2, list(v = 0, x = numeric(9)), seed = 2)
  v <- 3 * funnel[, , "v"]
  expect_lt(abs(mean(v)), 0.2)
  expect_equal(stats::sd(v), 3, tolerance = 0.05)
  x <- funnel[, , "x[1]"] * exp(v / 2)
  expect_equal(mean(abs(x) < 1), stats::integrate(function(v) (1 - 2 * stats::pnorm(-exp(-v / 2))) * stats::dnorm(v, 0, 3), -Inf, Inf)$value, tolerance = 0.05)
})

test_that("posteriors of data from the prior have the prior on average", {
  # simulation-based calibration (Talts and others, 2018): the rank of the truth among draws is uniform
  density <- function(par, y) sum(nv_dnorm(y, par$mu, exp(par$log_sd), log = TRUE)) + nv_dnorm(par$mu, log = TRUE) + nv_dnorm(par$log_sd, 0, 0.5, log = TRUE)
  withr::local_seed(1)
  found <- NULL
  ranks <- replicate(120, {
    mu <- stats::rnorm(1)
    log_sd <- stats::rnorm(1, 0, 0.5)
    y <- stats::rnorm(6, mu, exp(log_sd))
    found <<- nv_nuts(found %||% density, list(mu = 0, log_sd = 0), y = y, chains = 1, draws = 39, thin = 3, warmup = 150)
    c(sum(found[, , "mu"] < mu), sum(found[, , "log_sd"] < log_sd))
  })
  expect_gt(stats::chisq.test(tabulate(ranks[1L, ] %/% 10 + 1, 4))$p.value, 0.001)
  expect_gt(stats::chisq.test(tabulate(ranks[2L, ] %/% 10 + 1, 4))$p.value, 0.001)
  expect_identical(environment(attr(found, "program")$run)$cache$size, 1L)
})

test_that("trajectories end where they diverge, or after the last doubling", {
  expect_warning(found <- nv_nuts(function(x) -sum(x^2) / 2, c(0, 0), step_size = 1e-4, max_depth = 3, draws = 20, warmup = 0, seed = 1), class = "anvil_warning_long")
  expect_true(all(attr(found, "statistics")$steps == 7))
  expect_warning(found <- nv_nuts(function(x) -sum(x^2) / 2, c(1, 0), step_size = 100, draws = 20, warmup = 0, seed = 1), class = "anvil_warning_divergent")
  expect_true(all(attr(found, "statistics")$steps == 1))
  expect_true(all(found[, , 1] == 1))
})
