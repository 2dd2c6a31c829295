x <- c(-800, -30, -2, -0.3, 0, 0.4, 3, 40, 800)

test_that("activations are what their formulas say", {
  expect_equal(c(both(nv_relu, f64(x))), pmax(x, 0))
  expect_equal(c(both(nv_leaky_relu, f64(x))), ifelse(x > 0, x, 0.01 * x))
  expect_equal(c(both(function(x) nv_elu(x, 2), f64(x))), ifelse(x > 0, x, 2 * expm1(x)))
  expect_close(both(nv_softplus, f64(x)), -stats::plogis(-x, log.p = TRUE), 1e-14)
  expect_close(both(nv_silu, f64(x)), x * stats::plogis(x), 1e-14)
  expect_close(both(nv_gelu, f64(x)), x * stats::pnorm(x), 1e-13)
  expect_equal(c(both(function(x) nv_gelu(x, approximate = TRUE), f64(c(-1, 0.5, 2)))), {
    y <- c(-1, 0.5, 2)
    0.5 * y * (1 + tanh(sqrt(2 / pi) * (y + 0.044715 * y^3)))
  })
  expect_equal(flat(nv_relu(nv_tensor(-1:1))), c(0L, 0L, 1L))
  expect_equal(as_array(nv_silu(2L)), 2 * plogis(2), tolerance = 1e-6)
})

test_that("activations are checked, also where their formulas are none", {
  for (f in list(nv_relu, nv_leaky_relu, nv_elu, nv_softplus, nv_silu, nv_gelu, function(x) nv_gelu(x, TRUE))) {
    expect_checked(f, of_f64(5))
    expect_true(is.nan(as_array(f(f64(NaN)))))
    expect_equal(flat(f(f64(Inf))), Inf)
    for (dtype in c("f16", "f32", "f64")) {
      x <- nv_tensor(c(-1e4, -100, 20, 1e4), dtype = dtype)
      expect_close(f(x), f(f64(flat(x))), 0.01, absolute = 1e-6)
      expect_true(all(is.finite(gradient_of(function(x) sum(f(x)), x))))
    }
  }
  for (f in list(nv_silu, nv_gelu, function(x) nv_gelu(x, TRUE), nv_softplus, nv_relu)) expect_equal(flat(f(f64(-Inf))), 0)
  expect_equal(flat(nv_elu(f64(-Inf))), -1)
})

test_that("derivatives at kinks and of higher order", {
  at <- function(f, x = 0) c(gradient_of(f, nv_scalar(x, "f64")))
  expect_equal(c(at(nv_relu), at(nv_leaky_relu), at(function(x) nv_elu(x, 3))), c(0, 0.01, 3))
  expect_equal(at(nv_softplus), 0.5)
  second <- function(f) function(x) gradient(f)(x)[[1L]]
  expect_equal(at(second(nv_softplus)), 0.25)
  expect_checked(function(x) gradient(function(x) sum(nv_softplus(x)))(x)$x, of_f64(4))
})

test_that("softmax, its logarithm and the logarithm of the sum", {
  m <- rbind(c(1, 2, 3), c(1000, 1001, -Inf), c(-1e4, -1e4, -1e4))
  expected <- t(apply(m, 1, function(r) exp(r - max(r)) / sum(exp(r - max(r)))))
  expect_close(both(nv_softmax, f64(m)), expected, 1e-14)
  expect_close(both(nv_log_softmax, f64(m)), log(expected), 1e-14)
  expect_close(both(function(x) nv_logsumexp(x, 2), f64(m)), apply(m, 1, function(r) max(r) + log(sum(exp(r - max(r))))), 1e-14)
  expect_equal(shape(nv_logsumexp(f64(m), 2, drop = FALSE)), c(3L, 1L))
  expect_equal(both(function(x) nv_softmax(x, 1), f64(t(m))), t(both(nv_softmax, f64(m))))
  expect_equal(flat(nv_logsumexp(f64(1:3))), log(sum(exp(1:3))))
  expect_equal(flat(nv_logsumexp(nv_scalar(3))), 3)
  for (f in list(nv_softmax, nv_log_softmax, nv_logsumexp, function(x) nv_logsumexp(x, 1, FALSE))) expect_checked(f, of_f64(2, 3))
})

test_that("lines of -Inf, Inf and NaN", {
  none <- rows_of(c(-Inf, -Inf), c(0, -Inf))
  expect_equal(both(nv_softmax, none), rbind(c(0, 0), c(1, 0)))
  expect_equal(both(nv_log_softmax, none), rbind(c(-Inf, -Inf), c(0, -Inf)))
  expect_equal(c(both(function(x) nv_logsumexp(x, 2), none)), c(-Inf, 0))
  weights <- rows_of(c(1, 2), c(3, 5))
  expect_equal(gradient_of(function(x) sum(nv_softmax(x) * weights), none), matrix(0, 2, 2))
  expect_equal(gradient_of(function(x) sum(nv_logsumexp(x, 2)), none), rbind(c(0, 0), c(1, 0)))
  expect_true(all(is.finite(gradient_of(function(x) sum(nv_ifelse(none == 0, nv_log_softmax(x), 0)), none))))
  expect_equal(flat(nv_logsumexp(f64(c(Inf, 1)))), Inf)
  expect_true(all(is.nan(flat(nv_softmax(f64(c(NaN, 1)))))))
  expect_equal(flat(nv_logsumexp(nv_empty("f64", 0L))), -Inf)
  expect_equal(shape(nv_softmax(nv_empty("f32", c(2L, 0L)))), c(2L, 0L))
})

test_that("gates are open at Inf and shut at -Inf, and so are their derivatives", {
  x <- f64(c(-Inf, -1000, 1000, Inf))
  for (f in list(nv_silu, nv_gelu, function(x) nv_gelu(x, approximate = TRUE))) {
    expect_identical(flat(f(x)), c(0, 0, 1000, Inf))
    expect_identical(flat(gradient(function(x) sum(f(x)))(x)$x), c(0, 0, 1, 1))
    expect_identical(flat(f(f64(NaN))), NaN)
  }
})

test_that("errors name what is wrong", {
  expect_snapshot(error = TRUE, {
    nv_softmax(nv_scalar(1))
    nv_softmax(f64(1:3), dims = 2)
    nv_logsumexp(f64(1:3), dims = 2)
    nv_elu(f64(1), alpha = "a")
    nv_relu("a")
  })
})

test_that("a NaN shows in the derivatives of smooth functions", {
  for (f in list(nv_silu, nv_gelu, function(x) nv_gelu(x, approximate = TRUE), nv_elu, nv_softplus)) {
    slope <- gradient(function(x) sum(f(x)))
    for (by in list(slope, jit(slope))) {
      found <- value(by(nv_tensor(c(NaN, 1), "f64"))[[1L]])
      expect_identical(is.nan(as.vector(found)), c(TRUE, FALSE))
    }
  }
})
