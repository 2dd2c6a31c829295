decay <- function(par, time) par$a * exp(-par$rate * time)
data <- data.frame(time = 1:6, y = c(5.9, 3.4, 2.2, 1.2, 0.7, 0.5))
least_squares <- function(...) {
  nv_minimize(function(par, time, y) y - decay(par, time), list(a = 5, rate = 1), "levenberg-marquardt", time = data$time, y = data$y, ...)
}
x <- c(1.2, 0.4, 2.2, 1.9, -0.3)
normal <- function(par, x) -nv_dnorm(x, par$mu, exp(par$log_sigma), log = TRUE)

test_that("a fit prints its estimates", {
  expect_snapshot({
    fit <- nv_minimize(normal, list(mu = 0, log_sigma = 0), "newton", x = x)
    fit
    summary(fit)
    summary(least_squares())
  })
})

test_that("the methods of models work", {
  fit <- nv_minimize(normal, list(mu = 0, log_sigma = 0), x = x)
  s <- sqrt(mean((x - mean(x))^2))
  expect_equal(coef(fit), c(mu = mean(x), log_sigma = log(s)), tolerance = 1e-6)
  expect_equal(fit$par, list(mu = mean(x), log_sigma = log(s)), tolerance = 1e-6)
  expect_lt(max(abs(vcov(fit) - diag(c(s^2, 1 / 2) / 5))), 1e-7)
  expect_equal(unname(confint(fit)["mu", ]), mean(x) + c(-1, 1) * qnorm(0.975) * s / sqrt(5), tolerance = 1e-6)
  known <- logLik(lm(x ~ 1))
  expect_equal(c(logLik(fit)), c(known))
  expect_equal(c(AIC(fit), BIC(fit), nobs(fit)), c(AIC(known), BIC(known), 5))
  # a total instead of values of observations: the number of these must be said
  total <- function(par, x) sum(normal(par, x))
  expect_identical(nobs(nv_minimize(total, list(mu = 0, log_sigma = 0), x = x)), NA_integer_)
  expect_equal(BIC(nv_minimize(total, list(mu = 0, log_sigma = 0), x = x, nobs = 5)), BIC(known))
})

test_that("the Hessian matrix is compiled once for all fits of an objective", {
  objective <- as_objective(normal, list(mu = 0, log_sigma = 0), x = x)
  vcov(nv_minimize(objective))
  program <- objective$problem$programs$curvature
  expect_type(program, "closure")
  summary(nv_minimize(objective, list(mu = 1, log_sigma = 0)))
  expect_identical(objective$problem$programs$curvature, program)
})

test_that("sandwich variances are those of the formula", {
  fit <- nv_minimize(normal, list(mu = 0, log_sigma = 0), x = x)
  s <- sqrt(mean((x - mean(x))^2))
  g <- cbind(-(x - mean(x)) / s^2, 1 - (x - mean(x))^2 / s^2)
  bread <- diag(c(s^2, 1 / 2) / 5)
  expect_equal(unname(vcov(fit, type = "sandwich")), bread %*% crossprod(g) %*% bread, tolerance = 1e-5)
  fit <- least_squares()
  e <- exp(-coef(fit)[["rate"]] * data$time)
  j <- cbind(e, -coef(fit)[["a"]] * data$time * e)
  r <- data$y - coef(fit)[["a"]] * e
  bread <- solve(crossprod(j))
  expect_equal(unname(vcov(fit, type = "sandwich")), unname(bread %*% crossprod(j * r) %*% bread), tolerance = 1e-6)
})

test_that("parameters at a bound have no variance", {
  fit <- nv_minimize(normal, list(mu = 0, log_sigma = 0), upper = c(0.5, Inf), x = x)
  expect_identical(coef(fit)[["mu"]], 0.5)
  expect_identical(is.na(diag(vcov(fit))), c(mu = TRUE, log_sigma = FALSE))
  expect_identical(attr(logLik(fit), "df"), 1L)
})

test_that("a model predicts", {
  fit <- least_squares(model = decay)
  expect_equal(c(predict(fit)), coef(fit)[["a"]] * exp(-coef(fit)[["rate"]] * data$time))
  expect_equal(c(predict(fit, time = 7:8)), coef(fit)[["a"]] * exp(-coef(fit)[["rate"]] * 7:8))
})

test_that("a fit by least squares has residuals", {
  fit <- least_squares(model = decay)
  expect_equal(c(residuals(fit)), data$y - c(fitted(fit)))
  expect_equal(deviance(fit), sum(residuals(fit)^2))
})

test_that("where the search did not end at a minimum there are no variances", {
  saddle <- nv_minimize(function(p) p[1]^4 - p[1]^2, 0)
  expect_warning(v <- vcov(saddle), "not positive definite", class = "anvil_warning_singular")
  expect_identical(v[[1L]], NA_real_)
  endless <- nv_minimize(function(p) -exp(sum(p^2)), c(1, 1))
  expect_warning(expect_true(all(is.na(vcov(endless)))), "not finite", class = "anvil_warning_singular")
  held <- nv_minimize(function(p) sum((p - 1)^2), c(0, 0), lower = c(2, 2))
  expect_true(all(is.na(vcov(held))))
})

test_that("errors and warnings say what is wrong", {
  total <- nv_minimize(function(p) sum((p - 1)^2), c(0, 0))
  expect_snapshot(error = TRUE, {
    predict(total)
    vcov(total, type = "sandwich")
    vcov(total, type = "other")
    residuals(total)
    predict(least_squares(model = decay), tim = 7)
  })
  expect_snapshot(vcov(nv_minimize(function(p) (p[1] + p[2])^2, c(1, 1))))
})

test_that("least squares of one number have no variance", {
  fit <- nv_minimize(function(p) p - 2, 0, "gauss-newton")
  for (method in list(vcov, logLik, function(fit) summary(fit))) {
    expect_error(method(fit), "one number")
  }
  expect_error(logLik(fit), class = "anvil_error_argument")
})
