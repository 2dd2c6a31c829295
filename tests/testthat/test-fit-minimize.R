rosenbrock <- function(p) 100 * (p[2] - p[1]^2)^2 + (1 - p[1])^2
powell <- function(p) (p[1] + 10 * p[2])^2 + 5 * (p[3] - p[4])^2 + (p[2] - 2 * p[3])^4 + 10 * (p[1] - p[4])^4
wood <- function(p) {
  100 * (p[2] - p[1]^2)^2 + (1 - p[1])^2 + 90 * (p[4] - p[3]^2)^2 + (1 - p[3])^2 + 10.1 * ((p[2] - 1)^2 + (p[4] - 1)^2) + 19.8 * (p[2] - 1) * (p[4] - 1)
}
beale <- function(p) (1.5 - p[1] * (1 - p[2]))^2 + (2.25 - p[1] * (1 - p[2]^2))^2 + (2.625 - p[1] * (1 - p[2]^3))^2
helical <- function(p) 100 * ((p[3] - 10 * nv_atan2(p[2], p[1]) / (2 * pi))^2 + (sqrt(p[1]^2 + p[2]^2) - 1)^2) + p[3]^2
extended <- function(p) {
  q <- nv_reshape(p, c(2L, shape(p) / 2))
  sum(100 * (q[2, ] - q[1, ]^2)^2 + (1 - q[1, ])^2)
}
# More, Garbow and Hillstrom (1981), Testing unconstrained optimization software, ACM TOMS 7.
problems <- list(
  rosenbrock = list(f = rosenbrock, start = c(-1.2, 1), par = c(1, 1)), powell = list(f = powell, start = c(3, -1, 0, 1), par = rep(0, 4)),
  wood = list(f = wood, start = c(-3, -1, -3, -1), par = rep(1, 4)), beale = list(f = beale, start = c(1, 1), par = c(3, 0.5)),
  helical = list(f = helical, start = c(-1, 0.1, 0), par = c(1, 0, 0)), extended = list(f = extended, start = rep(c(-1.2, 1), 20), par = rep(1, 40))
)
general <- c("L-BFGS", "newton", "trust")

test_that("the minima of test problems are found", {
  for (name in names(problems)) {
    p <- problems[[name]]
    o <- as_objective(p$f, p$start)
    for (method in general) {
      fit <- nv_minimize(o, method = method)
      expect_identical(fit$convergence, 0L, info = paste(name, method))
      expect_lt(fit$value, 1e-10)
      expect_lt(max(abs(fit$par - p$par)), if (name == "powell") 1e-2 else 1e-6)
      expect_equal(o$fn(fit$par), fit$value)
    }
  }
})

test_that("a search ends soon where rounding hides what a step promises", {
  # away from the start the value is larger by what hides all that is to be gained
  hidden <- function(p) 1 + sum((p - 1)^2) + 1e-6 * nv_convert(nv_stop_gradient(p[1]) != 1.0001, "f64")
  for (method in c("L-BFGS", "newton")) {
    fit <- nv_minimize(hidden, 1.0001, method)
    expect_identical(fit$convergence, 0L)
    expect_identical(unname(fit$par), 1.0001)
    expect_lt(fit$counts[[1L]], 15)
  }
})

test_that("with bounds they are those of nlminb()", {
  for (name in names(problems)) {
    p <- problems[[name]]
    o <- as_objective(p$f, p$start)
    n <- length(p$start)
    lower <- rep_len(c(-Inf, -0.5), n)
    upper <- rep_len(c(0.6, 0.8), n)
    known <- nlminb(pmax(lower, pmin(upper, p$start)), o$fn, o$gr, o$he, lower = lower, upper = upper)
    for (method in general) {
      fit <- nv_minimize(o, method = method, lower = lower, upper = upper)
      expect_identical(fit$convergence, 0L, info = paste(name, method))
      expect_lt(abs(fit$value - known$objective), 1e-8)
      expect_true(all(fit$par >= lower & fit$par <= upper))
    }
  }
})

test_that("a logistic regression is that of glm()", {
  set.seed(1)
  x <- cbind(1, matrix(rnorm(600), 200))
  y <- as.double(runif(200) < plogis(drop(x %*% c(0.3, 1, -1, 0.5))))
  nll <- function(par, x, y) {
    eta <- nv_flatten(x %*% par$beta)
    nv_log1p(nv_exp(eta)) - y * eta
  }
  known <- glm(y ~ x - 1, family = binomial(), control = list(epsilon = 1e-14))
  for (method in general) {
    fit <- nv_minimize(nll, list(beta = rep(0, 4)), method, x = x, y = y)
    expect_equal(unname(coef(fit)), unname(coef(known)), tolerance = 1e-6)
    expect_equal(unname(vcov(fit)), unname(vcov(known)), tolerance = 1e-5)
    expect_equal(c(logLik(fit)), c(logLik(known)))
    expect_equal(c(AIC(fit), BIC(fit)), c(AIC(known), BIC(known)))
  }
})

test_that("least squares are those of nls(), and of the reference data of NIST", {
  treated <- Puromycin[Puromycin$state == "treated", ]
  known <- nls(rate ~ Vm * conc / (K + conc), treated, list(Vm = 200, K = 0.05))
  # https://www.itl.nist.gov/div898/strd/nls/data/misra1a.shtml
  y <- c(10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78)
  x <- c(77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0)
  for (method in c("gauss-newton", "levenberg-marquardt")) {
    fit <- nv_minimize(function(p, conc, rate) rate - p$Vm * conc / (p$K + conc), list(Vm = 200, K = 0.05), method, conc = treated$conc, rate = treated$rate)
    expect_equal(fit$value, deviance(known))
    expect_equal(summary(fit)$coefficients, summary(known)$coefficients, tolerance = 1e-5)
    expect_equal(c(logLik(fit)), c(logLik(known)))
    expect_identical(attr(logLik(fit), "df"), attr(logLik(known), "df"))
    fit <- nv_minimize(function(p, x, y) y - p$b1 * (1 - exp(-p$b2 * x)), list(b1 = 500, b2 = 1e-4), method, x = x, y = y)
    expect_equal(unname(coef(fit)), c(2.3894212918e+02, 5.5015643181e-04), tolerance = 1e-7)
    expect_equal(unname(sqrt(diag(vcov(fit)))), c(2.7070075241, 7.2668688436e-06), tolerance = 1e-6)
    expect_equal(fit$value, 1.2455138894e-01)
    held <- nv_minimize(function(p, x, y) y - p$b1 * (1 - exp(-p$b2 * x)), list(b1 = 200, b2 = 1e-4), method, upper = list(220, 1), x = x, y = y)
    by_port <- nls(y ~ b1 * (1 - exp(-b2 * x)), list(x = x, y = y), list(b1 = 200, b2 = 5e-4), algorithm = "port", upper = c(220, 1))
    expect_equal(unname(coef(held)), unname(coef(by_port)), tolerance = 1e-5)
  }
})

test_that("control stops the search as it says", {
  o <- as_objective(rosenbrock, c(-1.2, 1))
  fit <- nv_minimize(o, control = list(maxit = 3))
  expect_identical(fit[c("iterations", "convergence")], list(iterations = 3L, convergence = 1L))
  expect_identical(nv_minimize(o, control = list(maxit = 0))$par, c(-1.2, 1))
  expect_match(nv_minimize(o, control = list(abstol = 1))$message, "abstol")
  expect_match(nv_minimize(o, control = list(reltol = 0.1))$message, "reltol")
  expect_match(nv_minimize(o, c(1, 1))$message, "pgtol")
  expect_identical(nv_minimize(o, c(1, 1))$iterations, 0L)
  expect_identical(nv_minimize(o, control = list(lmm = 2))$convergence, 0L)
})

test_that("a problem is scaled as by optim()", {
  # scales far apart
  far <- function(p) sum((p / c(1e-3, 1e3) - c(1, 2))^4) + p[1] * p[2]
  o <- as_objective(far, c(0.01, 100))
  scale <- c(1e-3, 1e3)
  scaled <- as_objective(function(q) far(q * scale) / 7, c(10, 0.1))
  known <- optim(o$par, o$fn, o$gr, method = "BFGS", control = list(parscale = scale, fnscale = 7, maxit = 1000, reltol = 1e-15))
  boxes <- list(list(-Inf, Inf), list(c(0.0011, -Inf), c(Inf, 1700)))
  for (method in general) {
    fit <- nv_minimize(o, method = method, control = list(parscale = scale, fnscale = 7))
    expect_equal(fit$value, known$value, tolerance = 1e-8)
    expect_equal(fit$par / scale, unname(known$par) / scale, tolerance = 1e-3)
    for (box in boxes) {
      # the same steps as those of the problem that is scaled by hand
      a <- nv_minimize(o, method = method, control = list(parscale = scale, fnscale = 7, maxit = 6), lower = box[[1L]], upper = box[[2L]])
      b <- nv_minimize(scaled, method = method, control = list(maxit = 6), lower = box[[1L]] / scale, upper = box[[2L]] / scale)
      expect_identical(a[c("counts", "iterations", "convergence", "free")], b[c("counts", "iterations", "convergence", "free")])
      expect_equal(a$par / scale, b$par)
      expect_equal(a$value, 7 * b$value)
    }
  }
  # with the scales it is no long way, and the stopping rules are about what is scaled
  expect_lt(nv_minimize(o, control = list(parscale = scale))$iterations, 60L)
  expect_identical(nv_minimize(o, control = list(fnscale = 1e12, abstol = 1e-9))$iterations, 1L)
})

test_that("in a box a scaled problem is never evaluated outside, and ends at the bounds themselves", {
  bounds <- list(lower = 0.1 + (1:20) / 7, upper = 5)
  # NaN below the bounds, and an infinite slope at them
  f <- function(p) sum(sqrt(p - bounds$lower) + p) + sum(sqrt(5 - p))
  for (scale in c(0.3, 1 / 3, 7)) {
    fit <- nv_minimize(function(p) sum(p), rep(4, 20), lower = bounds$lower, upper = 5, control = list(parscale = scale))
    expect_identical(fit$par, bounds$lower)
    expect_false(any(fit$free))
    fit <- nv_minimize(f, rep(4, 20), "newton", lower = bounds$lower, upper = 5, control = list(parscale = scale, maxit = 20))
    expect_equal(fit$value, sum(sqrt(fit$par - bounds$lower) + fit$par + sqrt(5 - fit$par)))
    expect_true(all(fit$par >= bounds$lower & fit$par <= 5))
  }
})

test_that("a negative fnscale finds the maximum, and a log-likelihood has its variances", {
  x <- c(1.2, 0.4, 2.2, 1.9, 0.7)
  log_density <- function(par, x) nv_dnorm(x, par$mu, exp(par$log_sigma), log = TRUE)
  start <- list(mu = 0, log_sigma = 0)
  least <- nv_minimize(function(par, x) -log_density(par, x), start, x = x)
  for (method in general) {
    fit <- nv_minimize(log_density, start, method, x = x, control = list(fnscale = -1))
    known <- optim(c(0, 0), function(p) sum(dnorm(x, p[1], exp(p[2]), log = TRUE)), method = "BFGS", hessian = TRUE, control = list(fnscale = -1))
    expect_equal(fit$value, known$value)
    expect_equal(unname(coef(fit)), known$par, tolerance = 1e-3)
    expect_lt(max(abs(unname(vcov(fit)) - solve(-known$hessian))), 1e-4)
    expect_equal(vcov(fit, "sandwich"), vcov(least, "sandwich"), tolerance = 1e-6)
    expect_equal(c(logLik(fit)), known$value)
  }
  expect_output(print(fit), "Maximum")
})

test_that("least squares are scaled by the sum", {
  y <- c(5.9, 3.4, 2.2, 1.2, 0.7, 0.5)
  decay <- function(p, time, y) y - p[1] * exp(-p[2] * time)
  for (method in c("gauss-newton", "levenberg-marquardt")) {
    plain <- nv_minimize(decay, c(5, 1), method, time = 1:6, y = y)
    fit <- nv_minimize(decay, c(5, 1), method, time = 1:6, y = y, control = list(fnscale = 100, parscale = c(10, 0.5)))
    expect_equal(fit[c("par", "value")], plain[c("par", "value")], tolerance = 1e-6)
    expect_equal(vcov(fit), vcov(plain), tolerance = 1e-6)
  }
  stopped <- nv_minimize(decay, c(5, 1), "gauss-newton", time = 1:6, y = y, control = list(fnscale = 100, abstol = 1))
  expect_identical(stopped$iterations, 1L)
})

test_that("a search tells where it is", {
  expect_snapshot({
    a <- nv_minimize(rosenbrock, c(-1.2, 1), "newton", control = list(trace = 1))
    b <- nv_minimize(rosenbrock, c(-1.2, 1), "newton", control = list(trace = TRUE, REPORT = 4, maxit = 10, fnscale = 1000))
  })
  expect_silent(c <- nv_minimize(rosenbrock, c(-1.2, 1), "newton", control = list(trace = 0)))
  expect_identical(a[c("par", "counts")], c[c("par", "counts")])
})

test_that("functions without a second derivative, infinite ones and ones without a minimum are no trouble", {
  fit <- nv_minimize(function(p) sum(abs(p - c(1, 2))), c(0, 0))
  expect_equal(fit$par, c(1, 2))
  barrier <- nv_minimize(function(p) p^2 / 2 - log(1 - p), -5) # NaN beyond 1
  expect_equal(barrier$par, (1 - sqrt(5)) / 2, tolerance = 1e-7)
  for (method in general) {
    falls <- nv_minimize(function(p) sum(-p), c(0, 0), method, control = list(maxit = 50))
    expect_true(falls$value < -1e3)
  }
  # where the slope becomes infinite, the parameters are those of the value
  edge <- nv_minimize(function(p) sum(sqrt(p)), c(4, 3), lower = 0)
  expect_equal(edge$value, sum(sqrt(edge$par)))
  # a start on a saddle, with a direction of negative curvature
  saddle <- function(p) p[1]^2 - p[2]^2 + p[2]^4
  for (method in general) expect_equal(nv_minimize(saddle, c(1, 0.01), method)$value, -0.25)
})

test_that("in f32 the search stops where rounding is", {
  for (method in general) {
    fit <- nv_minimize(rosenbrock, c(-1.2, 1), method, dtype = "f32")
    expect_identical(fit$convergence, 0L)
    expect_equal(fit$par, c(1, 1), tolerance = 1e-2)
  }
})

test_that("an objective compiles its search once", {
  o <- as_objective(rosenbrock, c(-1.2, 1))
  a <- nv_minimize(o)
  compiled <- as.list(o$problem$programs)
  expect_identical(nv_minimize(o, a$par)$iterations, 0L)
  expect_identical(nv_minimize(o)[c("par", "counts")], a[c("par", "counts")])
  expect_identical(as.list(o$problem$programs), compiled)
})

test_that("a function without a minimum is not said to have one", {
  end <- function(...) nv_minimize(...)[c("convergence", "message")]
  none <- list(convergence = 52L, message = "the value has no bound, as far as steps go")
  falls <- list(function(p) sum(p), function(p) -sum(p^2), function(p) log(p[1]))
  for (method in c("L-BFGS", "trust")) for (f in falls) expect_identical(end(f, c(2, 1), method), none)
  for (f in falls[1:2]) expect_identical(end(f, c(2, 1), "newton"), none)
  expect_identical(end(function(p) -exp(sum(p^2)), c(1, 1)), none)
  expect_identical(end(function(p) exp(sum(p^2)), c(1, 1), control = list(fnscale = -1)), none)
  at_bound <- nv_minimize(function(p) log(p), 2, lower = 0)
  expect_identical(at_bound[c("value", "convergence")], list(value = -Inf, convergence = 52L))
  expect_output(print(at_bound), "not converged")
  # a value below is one that is less
  expect_identical(nv_minimize(function(p) sum(p^4), 3, control = list(abstol = 20))$message, "the value is below abstol")
})

test_that("bounds and scales go by the names of parameters", {
  apart <- function(p) (p$a - 1)^2 + (p$b - 2)^2
  found <- function(...) unlist(nv_minimize(apart, list(a = 5, b = 5), ...)$par)
  for (lower in list(list(b = 3), c(b = 3), c(b = 3, a = 0), list(b = 3, a = 0), c(0, 3), list(0, 3), list(a = NULL, b = 3))) {
    expect_equal(found(lower = lower), c(a = 1, b = 3))
  }
  expect_equal(found(lower = 3), c(a = 3, b = 3))
  expect_equal(found(control = list(parscale = c(b = 10))), c(a = 1, b = 2), tolerance = 1e-6)
  nested <- function(p) sum((p$a - 1)^2) + (p$s$v - 0.1)^2
  of_nested <- function(lower) unlist(nv_minimize(nested, list(a = c(x = -5, y = -5), s = list(v = 1)), lower = lower)$par)
  expect_equal(of_nested(list(a = 2)), c(a.x = 2, a.y = 2, s.v = 0.1))
  expect_equal(of_nested(list(a = c(y = 2))), c(a.x = 1, a.y = 2, s.v = 0.1))
  expect_equal(of_nested(list(s = list(v = 3))), c(a.x = 1, a.y = 1, s.v = 3))
  expect_equal(of_nested(c(a.y = 2)), c(a.x = 1, a.y = 2, s.v = 0.1))
  expect_snapshot(error = TRUE, {
    found(lower = list(c = 3))
    found(upper = c(b = 1, b = 2))
    found(lower = c(1, 2, 3))
    found(lower = list(b = "a"))
    found(control = list(parscale = c(x = 1)))
    of_nested(list(a = c(1, 2, 3)))
  })
})

test_that("another start of an objective has its parameters", {
  o <- as_objective(function(p) sum(p^2), c(a = 1, b = 2))
  at <- function(start) nv_minimize(o, start, control = list(maxit = 0))$par
  for (start in list(list(b = 7, a = 8), c(b = 7, a = 8), c(8, 7), f64(c(8, 7)))) expect_equal(at(start), c(a = 8, b = 7))
  expect_snapshot(error = TRUE, {
    at(5)
    at(c(5, 6, 7))
    at(c(x = 1, y = 2))
    at(list(a = 1))
  })
})

test_that("errors say what is wrong", {
  expect_snapshot(error = TRUE, {
    nv_minimize(rosenbrock, c(-1.2, 1), "bfgs")
    nv_minimize(rosenbrock, c(-1.2, 1), lower = c(0, 0, 0))
    nv_minimize(rosenbrock, c(a = -1.2, b = 1), lower = 1, upper = c(2, 0))
    nv_minimize(rosenbrock, c(-1.2, 1), control = list(ndeps = 1))
    nv_minimize(rosenbrock, c(-1.2, 1), control = list(iter.max = 10))
    nv_minimize(rosenbrock, c(-1.2, 1), control = list(trace = NA))
    nv_minimize(rosenbrock, c(-1.2, 1), control = list(fnscale = 0))
    nv_minimize(rosenbrock, c(-1.2, 1), control = list(parscale = c(1, -1)))
    nv_minimize(rosenbrock, c(-1.2, 1), control = list(parscale = c(1, 2, 3)))
    nv_minimize(rosenbrock, c(-1.2, 1), "gauss-newton", control = list(fnscale = -1))
    nv_minimize(rosenbrock, c(-1.2, 1), control = list(reltol = NA))
    nv_minimize(function(p) log(p), -1)
    nv_minimize(function(p) sqrt(p), 0)
    nv_minimize(function(p, x) sum((x - p)^2), 0, x = c(1, NA))
    nv_minimize(as_objective(rosenbrock, c(1, 1)), x = 1)
  })
})

# More, Garbow and Hillstrom (1981), Testing unconstrained optimization software, ACM TOMS 7, problems 2 and 6: both lead to
# Jacobians of less than full rank.
test_that("Gauss-Newton steps end at a minimum also where the residuals' derivatives depend on each other", {
  freudenstein <- function(p) {
    nv_concatenate(-13 + p[1] + ((5 - p[2]) * p[2] - 2) * p[2], -29 + p[1] + ((p[2] + 1) * p[2] - 14) * p[2])
  }
  fit <- nv_minimize(freudenstein, c(0.5, -2), "gauss-newton")
  expect_equal(fit$value, 48.98425, tolerance = 1e-6)
  expect_equal(unname(fit$par), c(11.4128, -0.8968), tolerance = 1e-4)
  k <- nv_tensor(as.numeric(1:10), "f64")
  sampson <- function(p) 2 + 2 * k - (exp(k * p[1]) + exp(k * p[2]))
  fit <- nv_minimize(sampson, c(0.3, 0.4), "gauss-newton")
  expect_equal(fit$value, 124.3622, tolerance = 1e-5)
  expect_identical(fit$convergence, 0L)
  # the same column twice: of all minima one near the start
  x <- nv_tensor(cbind(c(1, 2, 3), c(1, 2, 3)), "f64")
  fit <- nv_minimize(function(b) nv_tensor(c(2, 4, 7), "f64") - nv_reshape(x %*% b, 3L), c(0, 0), "gauss-newton")
  expect_equal(sum(fit$par), 31 / 14, tolerance = 1e-6)
})
