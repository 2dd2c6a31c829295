# Arrays of draws: what they know, and what is said of wrong arguments.

normal <- function(x) -sum(x^2) / 2
few <- function(...) nv_nuts(..., draws = 40, warmup = 40, chains = 2)
plain <- function(x) unclass(as.array(x))

test_that("parameters are nested lists with names for their elements, and starts numbers, types or functions", {
  seen <- NULL
  density <- function(par) {
    seen <<- list(names(par), shape(par$a), shape(par$b$m), shape(par$b$v), as.character(dtype(par$a)))
    -(par$a^2 + sum(par$b$m^2) + sum(par$b$v^2)) / 2
  }
  found <- few(density, list(a = 1, b = list(m = matrix(0, 2, 2), v = nv_aten("f32", 1L))), seed = 1)
  expect_identical(seen, list(c("a", "b"), integer(), c(2L, 2L), 1L, "f64"))
  expect_identical(dimnames(found), list(iteration = NULL, chain = NULL, variable = c("a", "b.m[1,1]", "b.m[2,1]", "b.m[1,2]", "b.m[2,2]", "b.v[1]")))
  expect_identical(dimnames(few(normal, c(first = 0, second = 1), seed = 1))$variable, c("first", "second"))
  expect_identical(dimnames(few(function(x) normal(x[[1]]) + normal(x[[2]]), list(0, 1), seed = 1))$variable, c("par[[1]]", "par[[2]]"))
  expect_warning(far <- few(function(x) -abs(sum(x)), function(chain) 100 * chain, seed = 1, step_size = 1e-3, max_depth = 1), "after 1 step[.]")
  expect_equal(far[1, , "par[1]"], c(100, 200), tolerance = 0.01)
  half <- few(function(x) {
    stopifnot(dtype(x) == "f32")
    normal(x)
  }, nv_aten("f32", 2L), dtype = "f32", seed = 1)
  expect_true(all(is.finite(half)))
})

test_that("draws follow from the seed, or from set.seed(), whatever else is drawn", {
  a <- few(normal, c(0, 0), seed = 1)
  expect_identical(plain(few(a, seed = 1)), plain(a))
  expect_identical(plain(few(normal, c(0, 0), seed = 1)), plain(a))
  expect_false(identical(plain(few(a, seed = 2)), plain(a)))
  expect_false(identical(a[, 1, ], a[, 2, ]))
  b <- withr::with_seed(3, list(few(a), few(a)))
  expect_identical(withr::with_seed(3, plain(few(a))), plain(b[[1]]))
  expect_false(identical(plain(b[[1]]), plain(b[[2]])))
  # of eight draws every fourth
  every <- nv_hmc(a, seed = 5, chains = 1, draws = 8, warmup = 30)
  expect_identical(plain(nv_hmc(a, seed = 5, chains = 1, draws = 2, thin = 4, warmup = 30)), plain(every)[c(4, 8), , , drop = FALSE])
})

test_that("data are tensors, or known when the density is traced, and the program runs again for others", {
  traced <- 0
  density <- function(mu, y, prior, log) {
    traced <<- traced + 1
    stopifnot(is.character(log), is.function(prior))
    sum(nv_dnorm(y, mu, log = TRUE)) + prior(mu)
  }
  prior <- function(x) -sum(x^2)
  call <- function(f, y, ...) nv_nuts(log_density = f, y = y, prior = prior, log = "yes", chains = 1, draws = 300, warmup = 100, seed = 1, ...)
  a <- call(density, c(0, 1), start = 0)
  once <- traced
  b <- call(a, c(10, 11))
  expect_identical(traced, once)
  expect_equal(c(mean(a), mean(b)), c(1, 21) / 4, tolerance = 0.2)
})

test_that("what is not given is as in the draws that stand for the density", {
  a <- nv_hmc(normal, c(0, 0), chains = 2, draws = 30, warmup = 20, thin = 2, steps = 3, step_size = 0.5, dtype = "f32", seed = 1)
  expect_identical(plain(nv_hmc(a, seed = 1)), plain(a))
  b <- nv_hmc(a, draws = 10, time = 1, seed = 1)
  settings <- attr(b, "program")$settings
  expect_identical(dim(b), c(10L, 2L, 2L))
  expect_identical(settings[c("warmup", "thin", "step_size", "dtype", "time")], list(warmup = 20L, thin = 2L, step_size = 0.5, dtype = "f32", time = 1))
  expect_null(settings$steps)
  other <- nv_nuts(a, seed = 1)
  expect_identical(attr(other, "method"), "nuts")
  expect_identical(dim(other), dim(a))
})

test_that("a draw's array, data frame and summary hold the same", {
  x <- nv_hmc(normal, c(a = 0, b = 0), chains = 2, draws = 50, warmup = 30, seed = 1)
  expect_identical(dim(x), c(50L, 2L, 2L))
  frame <- as.data.frame(x)
  expect_identical(names(frame), c(".chain", ".iteration", "a", "b"))
  expect_identical(frame$b[frame$.chain == 2], c(x[, 2, "b"]))
  expect_null(attr(as.array(x), "statistics"))
  table <- summary(x, probs = c(0.1, 0.999))
  expect_identical(names(table), c("variable", "mean", "sd", "q10", "q99.9", "rhat", "ess_bulk", "ess_tail"))
  expect_equal(table$mean, unname(colMeans(frame[-(1:2)])))
  expect_equal(table$q10[2], unname(stats::quantile(frame$b, 0.1)))
  expect_identical(lapply(attr(x, "statistics"), dim), stats::setNames(rep(list(c(50L, 2L)), 5), c("value", "accept", "steps", "divergent", "energy")))
  expect_length(attr(x, "step_size"), 2)
  expect_length(attr(x, "metric")[[2]], 2)
  as_draws <- getNamespace("anvil")$as_draws.anvil_draws
  expect_s3_class(as_draws(x), c("draws_array", "draws", "array"), exact = TRUE)
  expect_identical(dimnames(as_draws(x))$chain, c("1", "2"))
})

test_that("package posterior summarises draws, and sees what we see", {
  skip_if_not_installed("posterior")
  x <- nv_nuts(function(p) sum(nv_dnorm(p$mu, 0, 2, log = TRUE)) + nv_dexp(exp(p$scale), log = TRUE) + p$scale,
    list(mu = c(0, 0), scale = 0), chains = 2, draws = 200, warmup = 100, seed = 3
  )
  theirs <- posterior::summarise_draws(x, "mean", "sd", "rhat", "ess_bulk", "ess_tail")
  ours <- summary(x)
  expect_identical(theirs$variable, c("mu[1]", "mu[2]", "scale"))
  for (what in c("mean", "sd", "rhat", "ess_bulk", "ess_tail")) expect_equal(as.numeric(theirs[[what]]), ours[[what]], tolerance = 1e-6, label = what)
})

test_that("R-hat and effective numbers of draws are those of the theory", {
  withr::local_seed(1)
  series <- function(rho, n = 4000) replicate(4, as.vector(stats::filter(stats::rnorm(n), rho, "recursive")))
  for (rho in c(-0.3, 0, 0.5, 0.9)) {
    expect_equal(ess_bulk(series(rho)) / 16000, (1 - rho) / (1 + rho), tolerance = 0.12)
  }
  x <- series(0.5)
  expect_lt(rhat(x), 1.01)
  expect_gt(rhat(sweep(x, 2, 1:4)), 1.2)
  expect_gt(rhat(sweep(x, 2, c(1, 1, 1, 4), "*")), 1.1)
  expect_gt(rhat(x + (1:4000) / 1000), 1.1)
  expect_identical(c(rhat(x[1:3, ]), ess_bulk(0 * x), ess_tail(x / 0)), rep(NA_real_, 3))
  expect_lt(ess_tail(x), 16000)
})

test_that("windows are Stan's", {
  ends <- function(n) which(warmup_phases(n, 5L) == 3L)
  expect_identical(ends(1000L), c(100L, 150L, 250L, 450L, 950L))
  expect_identical(ends(200L), c(100L, 150L))
  expect_identical(ends(100L), 90L)
  expect_identical(warmup_phases(3L, 2L), c(1L, 1L, 1L, 0L, 0L))
  for (n in 0:400) expect_length(warmup_phases(n, 1L), n + 1L)
})

test_that("draws print their summary, and errors say what is wrong", {
  # made by hand, since other instructions round otherwise
  numbers <- array(sin((1:1400)^2), c(100, 2, 7))
  numbers[, , 5:6] <- rep(c(7, 0), each = 200)
  found <- list(draws = aperm(abs(numbers), c(2, 3, 1)), step_size = c(0.5, 0.6), inverse = matrix(1, 2, 2))
  settings <- list(layout = list(names = c("a", "b[1]")), method = "nuts", chains = 2L, max_depth = 10L)
  expect_snapshot({
    x <- made_draws(found, settings, 0.1, list())
    x
    nv_nuts(normal, c(0, 0), chains = 1, draws = 10, warmup = 0, step_size = 100, seed = 1)
    x <- nv_nuts(normal, c(0, 0), chains = 1, draws = 10, warmup = 0, step_size = 0.001, max_depth = 2, seed = 1)
    x <- nv_hmc(normal, c(0, 0), chains = 1, draws = 10, warmup = 0, step_size = 0.001, seed = 1)
  })
  expect_snapshot(error = TRUE, {
    nv_nuts(normal)
    nv_nuts(normal, "a")
    nv_nuts(normal, list(a = 1, b = NA_real_))
    nv_nuts(normal, nv_tensor(c(1, NaN)))
    nv_nuts(normal, c(0, 0), s = 3)
    nv_nuts(normal, function(chain) if (chain == 2) c(0, 0) else 0)
    nv_nuts(function(x) x, c(0, 0))
    nv_nuts(function(x) sum(log(x)), c(1, -1))
    nv_nuts(function(x) sum(log(x - 5)), nv_aten("f64", 2L))
    nv_nuts(normal, 0, metric = "euclidean")
    nv_nuts(normal, 0, target = 1)
    nv_nuts(normal, 0, max_depth = 30)
    nv_hmc(normal, 0, time = 0)
    nv_hmc(normal, 0, jitter = 1)
    nv_hmc(normal, 0, draws = 2^31 - 1, thin = 9)
    summary(x, probs = 2)
  })
})
