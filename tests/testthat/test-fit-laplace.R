normal_effects <- function(par, y, x, group) {
  mean <- nv_squeeze(x %*% par$beta) + par$u[group] * exp(par$log_sd[1])
  sum(-nv_dnorm(y, mean, exp(par$log_sd[2]), log = TRUE)) + sum(-nv_dnorm(par$u, log = TRUE))
}
differences <- function(f, par) {
  vapply(seq_along(par), function(i) {
    step <- replace(0 * par, i, 1e-4 * (1 + abs(par[i])))
    (f(par + step) - f(par - step)) / (2 * sum(step))
  }, f(par))
}

test_that("normal effects are integrated exactly: the likelihood is lme4's", {
  skip_if_not_installed("lme4")
  data <- lme4::sleepstudy
  frame <- nv_model_frame(Reaction ~ Days + (1 | Subject), data)
  objective <- nv_laplace(normal_effects, list(beta = c(250, 10), log_sd = c(3, 3), u = numeric(18)), "u",
    y = frame$y, x = frame$x, group = frame$random$Subject$index
  )
  fit <- lme4::lmer(Reaction ~ Days + (1 | Subject), data, REML = FALSE)
  par <- c(unname(lme4::fixef(fit)), log(as.data.frame(lme4::VarCorr(fit))$sdcor))
  expect_equal(objective$fn(par), -as.numeric(stats::logLik(fit)))
  expect_lt(max(abs(objective$gr(par))), 1e-5)
  expect_equal(objective$random(par)$u * exp(par[3]), lme4::ranef(fit)$Subject[[1L]], tolerance = 1e-8)
  expect_equal(unname(stats::coef(nv_minimize(objective))), par, tolerance = 1e-5)
  # away from the minimum
  par <- 1.01 * par
  expect_equal(unname(objective$gr(par)), differences(objective$fn, par), tolerance = 1e-5)
  expect_equal(unname(objective$he(par)), unname(differences(objective$gr, par)), tolerance = 1e-4)
})

test_that("effects with several elements, and crossed ones, are those of lme4", {
  skip_if_not_installed("lme4")
  frame <- nv_model_frame(Reaction ~ Days + (Days | Subject), lme4::sleepstudy)
  slopes <- function(par, y, x, z, group) {
    root <- nv_tril(nv_reshape(nv_concatenate(exp(par$l[1:1]), par$l[2:2], 0 * par$l[1:1], exp(par$l[3:3])), c(2L, 2L)))
    mean <- nv_squeeze(x %*% par$beta) + nv_row_sums(z * (par$u %*% t(root))[group, ])
    sum(-nv_dnorm(y, mean, exp(par$s), log = TRUE)) + sum(-nv_dnorm(par$u, log = TRUE))
  }
  objective <- nv_laplace(slopes, list(beta = c(250, 10), l = c(3, 0, 1), s = 3, u = matrix(0, 18, 2)), "u",
    y = frame$y, x = frame$x, z = frame$random$Subject$z, group = frame$random$Subject$index
  )
  fit <- lme4::lmer(Reaction ~ Days + (Days | Subject), lme4::sleepstudy, REML = FALSE)
  expect_equal(nv_minimize(objective)$value, -as.numeric(stats::logLik(fit)), tolerance = 1e-8)

  frame <- nv_model_frame(diameter ~ 1 + (1 | plate) + (1 | sample), lme4::Penicillin)
  crossed <- function(par, y, plate, lot) {
    mean <- par$mu + exp(par$l[1]) * par$a[plate] + exp(par$l[2]) * par$b[lot]
    sum(-nv_dnorm(y, mean, exp(par$l[3]), log = TRUE)) + sum(-nv_dnorm(par$a, log = TRUE)) + sum(-nv_dnorm(par$b, log = TRUE))
  }
  objective <- nv_laplace(crossed, list(mu = 20, l = c(0, 0, 0), a = numeric(24), b = numeric(6)), c("a", "b"),
    y = frame$y, plate = frame$random$plate$index, lot = frame$random$sample$index
  )
  fit <- lme4::lmer(diameter ~ 1 + (1 | plate) + (1 | sample), lme4::Penicillin, REML = FALSE)
  expect_equal(nv_minimize(objective)$value, -as.numeric(stats::logLik(fit)), tolerance = 1e-8)
})

test_that("other effects are approximated as by glmer()", {
  skip_if_not_installed("lme4")
  data <- lme4::cbpp
  frame <- nv_model_frame(incidence ~ period + (1 | herd), data)
  counts <- function(par, k, n, x, herd) {
    eta <- nv_squeeze(x %*% par$beta) + exp(par$log_sd) * par$u[herd]
    sum(-nv_dbinom(k, n, nv_logistic(eta), log = TRUE)) + sum(-nv_dnorm(par$u, log = TRUE))
  }
  objective <- nv_laplace(counts, list(beta = numeric(4), log_sd = 0, u = numeric(15)), "u",
    k = as.numeric(data$incidence), n = as.numeric(data$size), x = frame$x, herd = frame$random$herd$index
  )
  # whose own modes are found to a few digits only, unless told
  fit <- lme4::glmer(cbind(incidence, size - incidence) ~ period + (1 | herd), data, stats::binomial(), control = lme4::glmerControl(tolPwrss = 1e-13))
  at <- c(lme4::fixef(fit), log(fit@theta))
  expect_equal(objective$fn(at), -as.numeric(stats::logLik(fit)), tolerance = 1e-6)
  expect_equal(unname(objective$gr(at * 1.1)), differences(objective$fn, unname(at) * 1.1), tolerance = 1e-5)
})

test_that("the approximation of an integral is that of its formula", {
  # of exp(-f) with f = n (u - log u), around u = 1: Stirling's formula
  objective <- nv_laplace(function(par, n) n * (par$u - log(par$u)) + 0 * par$a, list(a = 0, u = 2), "u", n = 30)
  expect_equal(objective$fn(0), 30 - 0.5 * log(2 * pi / 30))
  expect_equal(objective$random(0), list(u = 1))
})

test_that("groups are found, and effects that meet elsewhere are noticed", {
  pairs <- function(...) list(n = 5L, pairs = rbind(cbind(1:5, 1:5), ...))
  groups <- effect_groups(pairs(), "f64")
  expect_identical(groups[c("size", "count", "members", "place")], list(size = 1L, count = 5L, members = 1:5, place = 1:5))
  groups <- effect_groups(pairs(c(1, 4), c(4, 1), c(2, 3), c(3, 2)), "f64")
  expect_identical(groups$members, c(1L, 4L, 2L, 3L, 5L, 6L))
  expect_identical(which(groups$fill != 0), 12L)
  expect_identical(effect_groups(pairs(c(1, 2), c(2, 1), c(2, 3), c(3, 2), c(3, 4), c(4, 3)), "f64")$count, 1L)
  # at the start the product is not there
  apart <- function(par) sum((par$u - par$a)^2) + nv_ifelse(par$a > 2, 0.1 * par$u[1] * par$u[2], 0)
  objective <- nv_laplace(apart, list(a = 0, u = c(0, 0)), "u")
  expect_equal(objective$fn(1), 0.5 * log(4) - log(2 * pi))
  expect_identical(objective$fn(3), NaN)
})

test_that("data may have any names", {
  value <- function(f, ...) nv_laplace(f, list(m = 1, u = c(0, 0)), "u", ...)$fn(2)
  expected <- value(function(par, w) sum((par$u - par$m)^2 * w), w = c(1, 2))
  expect_identical(value(function(par, p) sum((par$u - par$m)^2 * p), p = c(1, 2)), expected)
  expect_identical(value(function(b, par) sum((b$u - b$m)^2 * par), par = c(1, 2)), expected)
})

test_that("mistakes are explained", {
  f <- function(par, s) sum(par$u^2) + par$a
  expect_snapshot(error = TRUE, {
    nv_laplace(f, c(1, 2), "u")
    nv_laplace(f, list(a = 1, u = 2), "v")
    nv_laplace(f, list(a = 1, u = 2), c("a", "u"))
    nv_laplace(f, random = "u", s = 1)
    nv_laplace(f, list(a = 1, u = 2), "u", q = 1)
  })
})

test_that("in f32 the mode is found wherever it is looked for", {
  f <- function(par, y) sum((y - par$u)^2) / 2 + sum((par$u - par$m)^2) / 2
  at <- function(dtype) nv_laplace(f, list(m = 0, u = c(0, 0)), "u", y = c(1.1, 2.3), dtype = dtype)$fn
  means <- seq(-3, 3, 0.1)
  expect_equal(vapply(means, at("f32"), 0), vapply(means, at("f64"), 0), tolerance = 1e-5)
})
