data <- withr::with_seed(1, {
  x <- stats::runif(40)
  n <- rep(c(5, 8), 20)
  rate <- exp(0.5 + x)
  data.frame(
    x = x, n = n, w = rep(1:4, 10), flag = stats::runif(40) < x, count = stats::rpois(40, rate), k = stats::rbinom(40, n, 0.2 + 0.4 * x),
    size = stats::rgamma(40, 4, 4 / rate), level = stats::rnorm(40, 2 + x, 0.3)
  )
})

# The model fitted by nv_minimize() beside what glm() says of it.
compare <- function(formula, family, start, dispersed = FALSE, weights = NULL) {
  # the value of an argument that is an expression of columns
  frame <- do.call(nv_model_frame, list(formula, data, weights = weights))
  peer <- suppressWarnings(do.call(stats::glm, list(formula, family, data, weights = weights, start = start, epsilon = 1e-14, maxit = 100)))
  on_tensors <- nv_family(family)
  n <- if (family$family == "gaussian") nrow(data) else sum(stats::weights(peer, "prior"))
  dispersion <- if (dispersed) stats::deviance(peer) / n else 1
  nll <- function(beta, y, x, w) {
    -if (dispersed) on_tensors$log_likelihood(y, nv_squeeze(x %*% beta), w, dispersion) else on_tensors$log_likelihood(y, nv_squeeze(x %*% beta), w)
  }
  objective <- as_objective(nll, start, y = frame$y, x = frame$x, w = frame$weights)
  expect_equal(-objective$fn(stats::coef(peer)), c(stats::logLik(peer)), tolerance = 1e-10)
  fit <- nv_minimize(objective, method = "newton")
  expect_identical(fit$convergence, 0L)
  expect_equal(unname(stats::coef(fit)), unname(stats::coef(peer)), tolerance = 1e-6)

  # the expected information, which glm() takes the standard errors from; for canonical links it is the observed one
  eta <- nv_squeeze(frame$x %*% stats::coef(peer))
  slope <- gradient(function(eta) sum(on_tensors$linkinv(eta)))(eta)$eta
  mu <- on_tensors$linkinv(eta)
  trials <- if (length(dim(frame$y)) == 2L) nv_row_sums(frame$y) else 1
  weights <- as_array(frame$weights * trials * slope^2 / on_tensors$variance(mu))
  information <- crossprod(as_array(frame$x), c(weights) * as_array(frame$x)) / summary(peer)$dispersion
  expect_equal(unname(solve(information)), unname(stats::vcov(peer)), tolerance = 1e-6)
  canonical <- formals(get0(peer$family$family, asNamespace("stats")) %||% MASS::negative.binomial)$link == peer$family$link
  if (canonical && peer$family$family != "Negative Binomial(2)") {
    scale <- summary(peer)$dispersion / dispersion
    expect_equal(unname(stats::vcov(fit)) * scale, unname(stats::vcov(peer)), tolerance = 1e-5)
  }
  shares <- if (length(dim(frame$y)) == 2L) frame$y[, 1] / trials else frame$y
  expect_equal(sum(flat(on_tensors$dev.resids(shares, mu, frame$weights * trials))), stats::deviance(peer))
}

test_that("fits are those of glm(), for every family and link", {
  for (link in c("logit", "probit", "cauchit", "cloglog")) compare(flag ~ x, stats::binomial(link), c(0, 0))
  for (link in c("logit", "log")) compare(cbind(k, n - k) ~ x, stats::binomial(link), c(-1, 0))
  compare(I(k / n) ~ x, stats::binomial(), c(0, 0), weights = data$n)
  for (link in c("log", "sqrt", "identity")) compare(count ~ x, stats::poisson(link), c(1, 0), weights = data$w)
  for (link in c("identity", "log", "inverse")) compare(level ~ x, stats::gaussian(link), c(0.5, 0), dispersed = TRUE, weights = data$w)
  for (link in c("inverse", "log", "identity")) compare(size ~ x, stats::Gamma(link), c(1, 0), dispersed = TRUE, weights = data$w)
  for (link in c("1/mu^2", "log")) compare(size ~ x, stats::inverse.gaussian(link), c(0.2, 0), dispersed = TRUE)
  skip_if_not_installed("MASS")
  compare(count ~ x, MASS::negative.binomial(2), c(1, 0))
})

test_that("quasi-families have deviances, and no likelihood", {
  frame <- nv_model_frame(count ~ x, data)
  mu <- c(0.5, 1, 3)
  y <- c(0, 1.5, 4)
  families <- list(
    stats::quasipoisson(), stats::quasibinomial(), stats::quasi(), stats::quasi(stats::power(1 / 3), "mu"),
    stats::quasi("inverse", "mu^2"), stats::quasi("log", "mu^3"), stats::quasi("logit", "mu(1-mu)")
  )
  for (family in families) {
    on_tensors <- nv_family(family)
    scale <- if (grepl("binomial", family$family) || identical(family$varfun, "mu(1-mu)")) 5 else 1
    at <- f64(mu / scale)
    expect_equal(flat(on_tensors$variance(at)), family$variance(mu / scale))
    expect_equal(flat(on_tensors$linkinv(on_tensors$linkfun(at))), mu / scale)
    if (!identical(family$varfun, "mu^3")) expect_equal(flat(on_tensors$dev.resids(y / scale, at, 1:3)), family$dev.resids(y / scale, mu / scale, 1:3))
    expect_error(on_tensors$log_likelihood(y, at), "no likelihood", class = "anvil_error_argument")
  }
  # half the deviance as the objective
  quasi <- nv_family(stats::quasipoisson())
  fit <- nv_minimize(function(beta, y, x) quasi$dev.resids(y, quasi$linkinv(nv_squeeze(x %*% beta))) / 2, c(0, 0), y = frame$y, x = frame$x)
  expect_equal(unname(stats::coef(fit)), unname(stats::coef(stats::glm(count ~ x, stats::quasipoisson(), data))), tolerance = 1e-6)
})

test_that("log-likelihoods of probabilities that round to 0 and 1 are right", {
  eta <- f64(c(-800, -40, 40))
  one <- nv_family(stats::binomial())$log_likelihood(c(1, 1, 0), eta)
  expect_equal(flat(one), c(-800, -40, -40))
  expect_equal(flat(nv_family(stats::binomial("probit"))$log_likelihood(c(1, 1, 0), eta)), stats::pnorm(c(-800, -40, -40), log.p = TRUE))
  complementary <- nv_family(stats::binomial("cloglog"))
  expect_equal(flat(complementary$log_likelihood(c(1, 1, 0), eta)), c(-800, -40, -exp(40)))
  for (link in c("logit", "probit", "cauchit", "cloglog")) {
    family <- nv_family(stats::binomial(link))
    slope <- function(eta) gradient(function(eta) sum(family$log_likelihood(c(1, 1, 0), eta)))(eta)$eta
    expect_true(all(is.finite(both(slope, eta))), label = link)
    expect_true(all(is.finite(flat(gradient(function(eta) sum(slope(eta)))(eta)$eta))), label = link)
  }
})

test_that("what a family does not have is no number", {
  at <- function(family, y, eta, ...) flat(nv_family(family)$log_likelihood(y, f64(eta), ...))
  expect_identical(at(stats::binomial(), c(2.5, -0.5), c(0, 0)), c(-Inf, -Inf))
  expect_identical(at(stats::binomial("log"), c(1, 0, 1), c(0.1, 0.1, 0)), c(NaN, NaN, 0))
  expect_identical(at(stats::binomial("identity"), c(1, 0), c(1.2, -0.2)), c(NaN, NaN))
  expect_identical(at(stats::poisson("identity"), c(1, 0.5), c(-1, 1)), c(NaN, -Inf))
  expect_identical(at(stats::inverse.gaussian("identity"), c(1, -1), c(-1, 1)), c(NaN, -Inf))
  expect_identical(at(stats::gaussian(), c(0, 1), c(0, 0), weights = c(1, 0))[2L], 0)
})

test_that("the code of families and links of one's own is run on tensors", {
  # ?family: mortality by days of exposure
  days <- 3
  link <- structure(list(
    linkfun = function(mu) stats::qlogis(mu^(1 / days)), linkinv = function(eta) stats::plogis(eta)^days,
    mu.eta = function(eta) days * stats::plogis(eta)^(days - 1) * stats::dlogis(eta), valideta = function(eta) TRUE, name = "logexp"
  ), class = "link-glm")
  # R's functions are seen by their names: with `stats::` they are R's
  plain <- link
  plain[c("linkfun", "linkinv")] <- list(function(mu) qlogis(mu^(1 / days)), function(eta) plogis(eta)^days)
  family <- nv_family(stats::binomial(plain))
  eta <- c(-1, 0, 2)
  expect_equal(flat(family$linkinv(f64(eta))), link$linkinv(eta))
  expect_equal(flat(family$linkfun(family$linkinv(f64(eta)))), eta)
  expect_equal(flat(family$log_likelihood(c(0, 1, 1), f64(eta))), stats::dbinom(c(0, 1, 1), 1, link$linkinv(eta), log = TRUE))
  expect_error(nv_family(stats::binomial(link))$linkinv(f64(eta)), "cannot be run on tensors", class = "anvil_error_argument")
  # the name of a link does not make it R's
  plain$name <- "logit"
  expect_equal(flat(nv_family(stats::binomial(plain))$linkinv(f64(eta))), link$linkinv(eta))
})

test_that("families work where the package is loaded and not attached", {
  found <- in_child(c(
    "unloadNamespace('anvil')", "family <- stats::binomial()",
    "family$linkinv <- function(eta) pmax(plogis(eta), 0.2) * pmax(0.25, 0.5)", # of R data, too
    "as.numeric(anvil::nv_family(family)$linkinv(anvil::nv_tensor(c(-5, 0), 'f64')))"
  ))
  expect_equal(found, c(0.1, 0.25))
})

test_that("families work compiled, in batches and in f32, by whatever name", {
  family <- nv_family("Gamma")
  f <- function(y, eta, phi) sum(family$log_likelihood(y, eta, dispersion = phi))
  expect_equal(c(both(f, f64(c(1, 2)), f64(c(0.5, 0.7)), f64(0.3, shape = integer()))), sum(stats::dgamma(c(1, 2), 1 / 0.3, scale = 0.3 / c(0.5, 0.7), log = TRUE)))
  expect_identical(as.character(dtype(nv_family(stats::poisson)$log_likelihood(nv_tensor(1:2), nv_tensor(c(0, 1), "f32")))), "f32")
  eta <- f64(matrix(c(0.1, 0.2, 0.3, 0.4), 2L))
  expect_equal(value(vectorize(function(eta) family$linkinv(eta))(eta)), 1 / value(eta))
})

test_that("mistakes are explained", {
  expect_snapshot(error = TRUE, {
    nv_family(binomial("probit"))
    nv_family("unknown")
    nv_family(1)
    nv_family(poisson)$log_likelihood(1, 1, dispersion = 2)
    nv_family(quasipoisson)$log_likelihood(1, 1)
    nv_family(binomial)$log_likelihood(matrix(1, 2, 3), nv_tensor(c(1, 2)))
  })
})
