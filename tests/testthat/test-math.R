test_that("elementary functions agree with R", {
  set.seed(2)
  anywhere <- c(runif(20, -3, 3), 0)
  positive <- c(runif(20, 0.01, 20), 1)
  unit <- c(runif(20, -0.99, 0.99), 0)
  cases <- list(
    sqrt = positive, exp = anywhere, expm1 = anywhere, log = positive, log1p = positive, log2 = positive, log10 = positive,
    sin = anywhere, cos = anywhere, tan = unit, asin = unit, acos = unit, atan = anywhere, sinh = anywhere, cosh = anywhere,
    tanh = anywhere, asinh = anywhere, acosh = positive + 1, atanh = unit, lgamma = positive, digamma = positive, trigamma = positive,
    floor = anywhere, ceiling = anywhere, trunc = anywhere, round = anywhere, abs = anywhere, sign = anywhere
  )
  for (name in names(cases)) {
    f <- match.fun(name)
    x <- cases[[name]]
    expect_equal(as.vector(both(f, f64(x))), f(x), tolerance = 1e-12, label = name)
    expect_equal(as.vector(both(f, nv_tensor(x, "f32"))), f(x), tolerance = if (name %in% c("floor", "ceiling", "trunc", "round")) 1e-7 else 1e-5, label = name)
  }
})

test_that("functions without a name in R agree with their definitions", {
  x <- c(-2.5, -0.3, 0, 0.7, 1.9)
  expect_equal(as.vector(both(nv_rsqrt, f64(c(0.25, 4)))), c(2, 0.5))
  expect_equal(as.vector(both(nv_cbrt, f64(c(-8, 0, 27)))), c(-2, 0, 3))
  expect_equal(as.vector(both(nv_logistic, f64(x))), plogis(x))
  expect_equal(as.vector(both(nv_erf, f64(x))), 2 * pnorm(x * sqrt(2)) - 1)
  expect_equal(as.vector(both(nv_erfc, f64(c(x, 5)))), 2 * pnorm(c(x, 5) * sqrt(2), lower.tail = FALSE), tolerance = 1e-13)
  expect_equal(as.vector(both(nv_erf_inv, f64(c(-0.9, 0, 0.5)))), qnorm((c(-0.9, 0, 0.5) + 1) / 2) / sqrt(2))
  expect_equal(as.vector(both(nv_atan2, f64(x), f64(rev(x)))), atan2(x, rev(x)))
  expect_equal(as.vector(both(function(x) nv_polygamma(1, x), f64(c(0.5, 1, 2, 5)))), psigamma(c(0.5, 1, 2, 5), 1))
  expect_equal(as.vector(both(function(x) nv_polygamma(1, x), f64(c(-1, 0)))), c(Inf, Inf))
  expect_equal(as.vector(both(nv_square, f64(x))), x^2)
  expect_equal(as.vector(both(nv_bessel_i1e, f64(x))), sign(x) * besselI(abs(x), 1, TRUE))
  expect_identical(nv_sin, nv_sine)
  expect_identical(nv_ceil, nv_ceiling)
})

test_that("zeta functions", {
  s <- c(2, 4, 1.5, 3)
  sums <- vapply(s, function(s) sum((0.75 + 0:99999)^-s) + (0.75 + 99999.5)^(1 - s) / (s - 1), 1)
  expect_equal(as.vector(both(function(s) nv_zeta(s, 0.75), f64(s))), sums, tolerance = 1e-12)
  expect_equal(as.vector(both(function(s) nv_zeta(s, 1), f64(c(2, 4)))), c(pi^2 / 6, pi^4 / 90))
  expect_equal(as.vector(both(function(a) 2 * nv_zeta(3, a), f64(c(0.5, 3)))), -psigamma(c(0.5, 3), 2))
  expect_equal(flat(nv_zeta(f64(c(1, 0.5, 2)), 1)), c(Inf, NaN, pi^2 / 6))
  slope <- gradient(function(s, a) nv_zeta(s, a), wrt = c("s", "a"))(nv_scalar(2, "f64"), nv_scalar(1, "f64"))
  expect_equal(flat(slope$a), psigamma(1, 2))
  expect_identical(flat(slope$s), NaN)
})

test_that("neighbours and numbers of fewer bits", {
  x <- c(1, -1, 0, 0, 1.5, Inf)
  y <- c(2, -2, 1, -1, 1.5, 0)
  eps <- .Machine$double.eps
  expect_identical(as.vector(both(nv_next_after, f64(x), f64(y))), c(1 + eps, -1 - eps, 2^-1074, -2^-1074, 1.5, .Machine$double.xmax))
  expect_identical(flat(nv_next_after(f64(c(1, 1)), 0)), c(1, 1) - eps / 2)
  x <- c(1 / 3, 65504, 65520, -1e-8, NaN, 2049)
  half <- function(x) nv_reduce_precision(x, 5, 10)
  expect_identical(as.vector(both(half, f64(x))), c(1365 / 4096, 65504, Inf, 0, NaN, 2048))
  expect_identical(flat(nv_reduce_precision(nv_tensor(c(1 / 3, 3e38)), 8, 7)), c(171 / 512, 226 * 2^120))
  expect_identical(flat(gradient(function(x) sum(half(x)))(f64(x))[[1L]]), rep(1, 6))
})

test_that("golden values", {
  expect_equal(flat(nv_round(nv_tensor(c(1.4, 2.5, 3.6)))), c(1, 2, 4))
  expect_equal(flat(nv_round(f64(c(0.5, 1.5, -2.5)), method = "afz")), c(1, 2, -3))
  expect_equal(flat(nv_trunc(f64(c(1.2, 2.7, -1.5)))), c(1, 2, -1))
  expect_close(nv_sin(f64(c(0, pi / 2, pi, 3 * pi / 2))), c(0, 1, 0, -1), absolute = 2e-16)
  expect_close(nv_polygamma(1, f64(c(.5, 1, 2, 5))), c(4.9348, 1.6449, 0.6449, 0.2213), absolute = 5e-5)
})

test_that("log() takes a base, round() no digits", {
  expect_equal(as.vector(both(function(x) log(x, 2), f64(c(8, 10)))), log2(c(8, 10)))
  expect_equal(flat(log(f64(8), base = f64(2))), 3)
  expect_equal(flat(round(f64(1.6), 0)), 2)
})

test_that("mistakes are explained", {
  expect_snapshot(error = TRUE, {
    nv_sqrt(nv_tensor(4L))
    nv_round(f64(1), method = "up")
    nv_reduce_precision(f64(1), 0, 3)
    round(f64(1.234), 2)
    gamma(f64(1))
    signif(f64(1), 2)
  })
})
