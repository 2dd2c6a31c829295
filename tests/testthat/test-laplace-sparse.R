# Random effects whose matrix of second derivatives is sparse, but not in groups.
skip_if_not_installed("Matrix")

test_that("a random walk is integrated as the normal distribution that it is", {
  withr::local_seed(5)
  n <- 60L
  y <- cumsum(stats::rnorm(n, sd = 0.3)) + stats::rnorm(n, sd = 0.5)
  walk <- function(par, y) {
    -sum(dnorm(y, par$u, exp(par$s[1]), log = TRUE)) - sum(dnorm(diff(par$u), 0, exp(par$s[2]), log = TRUE)) - sum(dnorm(par$u[1:1], 0, 2, log = TRUE))
  }
  objective <- nv_laplace(walk, list(s = c(-0.5, -1), u = numeric(n)), "u", y = y)
  exact <- function(s) {
    v <- exp(2 * s[2]) * (outer(seq_len(n), seq_len(n), pmin) - 1) + 4 + diag(exp(2 * s[1]), n)
    root <- chol(v)
    sum(log(diag(root))) + sum(backsolve(root, y, transpose = TRUE)^2) / 2 + n * log(2 * pi) / 2
  }
  for (s in list(c(-0.5, -1), c(0, -2))) {
    expect_equal(objective$fn(s), exact(s))
    slopes <- function(f, s) vapply(1:2, function(k) {
      step <- replace(c(0, 0), k, 1e-4)
      (f(s + step) - f(s - step)) / 2e-4
    }, f(s))
    expect_equal(unname(objective$gr(s)), slopes(exact, s), tolerance = 1e-6)
    expect_equal(unname(objective$he(s)), unname(slopes(objective$gr, s)), tolerance = 1e-5)
  }
  single <- nv_laplace(walk, list(s = c(-0.5, -1), u = numeric(n)), "u", y = y, dtype = "f32")
  expect_equal(single$fn(c(0, -2)), exact(c(0, -2)), tolerance = 1e-4)
})

test_that("crossed effects are those of lmer()", {
  skip_if_not_installed("lme4")
  withr::local_seed(6)
  n <- 400L
  data <- data.frame(first = sample.int(60L, n, TRUE), second = sample.int(40L, n, TRUE))
  data$y <- 1 + stats::rnorm(60L)[data$first] + 0.5 * stats::rnorm(40L)[data$second] + stats::rnorm(n)
  crossed <- function(par, y, first, second) {
    mean <- par$mu + exp(par$l[1]) * par$a[first] + exp(par$l[2]) * par$b[second]
    -sum(dnorm(y, mean, exp(par$l[3]), log = TRUE)) - sum(dnorm(par$a, log = TRUE)) - sum(dnorm(par$b, log = TRUE))
  }
  objective <- nv_laplace(crossed, list(mu = 0, l = c(0, 0, 0), a = numeric(60), b = numeric(40)), c("a", "b"), y = data$y, first = data$first, second = data$second)
  fit <- lme4::lmer(y ~ 1 + (1 | first) + (1 | second), data, REML = FALSE)
  variances <- as.data.frame(lme4::VarCorr(fit))$sdcor
  at <- c(lme4::fixef(fit), log(variances))
  expect_equal(objective$fn(at), -as.numeric(stats::logLik(fit)))
  expect_lt(max(abs(objective$gr(at))), 0.01)
  expect_equal(objective$random(at)$b * variances[2L], lme4::ranef(fit)$second[[1L]], tolerance = 1e-6)
})

counts <- list(y = round(exp(1 + sin(1:50 / 5))))
counts$objective <- function() {
  walk <- function(par, y) {
    -sum(dpois(y, exp(par$mu + par$u), log = TRUE)) - sum(dnorm(par$u[1:1], log = TRUE)) - sum(dnorm(diff(par$u), 0, exp(par$log_sd), log = TRUE))
  }
  nv_laplace(walk, list(log_sd = -1, mu = 1, u = numeric(50)), "u", y = counts$y)
}

test_that("counts on a random walk have the value and the gradient of TMB", {
  # by TMB 1.9.2 from the source in the next test
  objective <- counts$objective()
  expect_equal(objective$fn(c(-1, 1)), 97.7655954313985)
  expect_equal(unname(objective$gr(c(-1, 1))), c(9.907883762005268, -0.255006444659829), tolerance = 1e-7)
})

test_that("TMB as it is installed gives the same value, gradient, modes and minimum", {
  skip_on_cran()
  skip_if_not_installed("TMB")
  of_tmb <- function(name, ...) getExportedValue("TMB", name)(...)
  folder <- withr::local_tempdir()
  source <- file.path(folder, "walk.cpp")
  writeLines(c(
    "#include <TMB.hpp>",
    "template <class Type> Type objective_function<Type>::operator()() {",
    "  DATA_VECTOR(y); PARAMETER(log_sd); PARAMETER(mu); PARAMETER_VECTOR(u);",
    "  Type f = -dnorm(u(0), Type(0), Type(1), true);",
    "  for (int i = 0; i < y.size(); i++) f -= dpois(y(i), exp(mu + u(i)), true);",
    "  for (int i = 1; i < y.size(); i++) f -= dnorm(u(i), u(i - 1), exp(log_sd), true);",
    "  return f;",
    "}"
  ), source)
  # some 20 seconds, with a compiler
  status <- tryCatch({
    utils::capture.output(status <- of_tmb("compile", source, flags = "-O0 -w"))
    status
  }, error = conditionMessage)
  skip_if_not(identical(as.integer(status), 0L), "TMB does not compile a model")
  loaded <- dyn.load(file.path(folder, of_tmb("dynlib", "walk")))
  withr::defer(dyn.unload(loaded[["path"]]))
  peer <- of_tmb("MakeADFun", list(y = counts$y), list(log_sd = -1, mu = 1, u = numeric(50)), random = "u", DLL = "walk", silent = TRUE)
  objective <- counts$objective()
  for (at in list(c(-1, 1), c(-2, 0.5))) {
    expect_equal(objective$fn(at), as.numeric(peer$fn(at)))
    expect_equal(unname(objective$gr(at)), c(peer$gr(at)), tolerance = 1e-6)
    expect_equal(objective$random(at)$u, unname(peer$env$last.par[peer$env$random]), tolerance = 1e-6)
  }
  best <- stats::nlminb(c(-1, 1), peer$fn, peer$gr)
  expect_equal(nv_minimize(objective)$value, best$objective)
})

test_that("colours show every element of a symmetric matrix", {
  withr::local_seed(7)
  patterns <- list(
    chain = which(abs(outer(1:40, 1:40, "-")) <= 2, arr.ind = TRUE), arrow = rbind(cbind(1:40, 1L), cbind(1L, 1:40), cbind(1:40, 1:40)),
    crossed = unique(cbind(sample.int(30, 80, TRUE), 30 + sample.int(10, 80, TRUE))), random = unique(cbind(sample.int(50, 90, TRUE), sample.int(50, 90, TRUE))),
    none = cbind(1:5, 1:5), full = as.matrix(expand.grid(1:12, 1:12)), one = cbind(1L, 1L)
  )
  for (pairs in patterns) {
    n <- max(pairs)
    dense <- matrix(0, n, n)
    dense[rbind(pairs, pairs[, 2:1], cbind(1:n, 1:n))] <- 1
    dense <- dense * outer(1:n, 1:n, function(i, j) 1 / (i + j))
    layout <- sparse_layout(list(n = n, pairs = unname(pairs)), "f64")
    shown <- layout$curvature(function(v) nv_squeeze(nv_matmul(nv_tensor(dense, "f64"), v), 2L))
    lower <- which(dense != 0 & lower.tri(dense, TRUE))
    expect_setequal(as_array(shown), dense[lower])
    expect_equal(c(as_array(layout$times(shown, nv_tensor(as.numeric(1:n), "f64")))), c(dense %*% 1:n))
  }
  colours <- function(name) max(star_colours(max(patterns[[name]]), patterns[[name]][, 1L], patterns[[name]][, 2L]))
  expect_identical(colours("arrow"), 2L)
  expect_lte(colours("chain"), 5L)
  expect_lte(colours("crossed"), 11L)
})

test_that("effects that meet elsewhere than at the start are noticed", {
  apart <- function(par) {
    chain <- sum((par$u - par$a)^2) + 0.1 * sum(diff(par$u)^2)
    chain + nv_ifelse(par$a > 2, 0.1 * par$u[1] * par$u[40], 0)
  }
  objective <- nv_laplace(apart, list(a = 0, u = numeric(40)), "u")
  expect_true(is.finite(objective$fn(1)))
  expect_identical(objective$fn(3), NaN)
})
