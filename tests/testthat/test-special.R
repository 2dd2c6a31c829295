values <- function(f, ...) as.vector(both(f, ...))

test_that("incomplete functions agree with R", {
  a <- c(0.01, 0.5, 1, 2.5, 10, 60, 1000)
  grid <- expand.grid(a = a, x = c(0.001, 0.3, 1, 3, 12, 55, 900, 1100))
  expect_equal(values(nv_igamma, f64(grid$a), f64(grid$x)), pgamma(grid$x, grid$a), tolerance = 1e-13)
  expect_equal(values(nv_igammac, f64(grid$a), f64(grid$x)), pgamma(grid$x, grid$a, lower.tail = FALSE), tolerance = 1e-13)
  grid <- expand.grid(a = a, b = a, x = c(0, 1e-4, 0.1, 0.5, 0.9, 1))
  expect_equal(values(nv_betainc, f64(grid$a), f64(grid$b), f64(grid$x)), pbeta(grid$x, grid$a, grid$b), tolerance = 1e-12)
  expect_equal(values(nv_igamma, nv_tensor(c(0.5, 4)), nv_tensor(c(0.5, 3))), pgamma(c(0.5, 3), c(0.5, 4)), tolerance = 1e-6)
  expect_equal(flat(nv_igammac(2, f64(c(0, Inf, -1, NaN)))), c(1, 0, NaN, NaN))
  expect_equal(flat(nv_betainc(2, 3, f64(c(0, 1, 1.5)))), c(0, 1, NaN))
})

test_that("small results of incomplete functions keep their digits", {
  relative <- function(got, wanted) max(abs(got / wanted - 1))
  x <- c(20, 100, 400)
  expect_lt(relative(values(nv_igammac, f64(rep(3, 3)), f64(x)), pgamma(x, 3, lower.tail = FALSE)), 1e-12)
  expect_lt(relative(values(nv_igamma, f64(rep(30, 2)), f64(c(1e-3, 1))), pgamma(c(1e-3, 1), 30)), 1e-12)
  expect_lt(relative(values(nv_betainc, f64(rep(20, 2)), f64(rep(2, 2)), f64(c(1e-8, 0.01))), pbeta(c(1e-8, 0.01), 20, 2)), 1e-12)
})

test_that("Bessel functions agree with R", {
  x <- c(1e-4, 0.1, 0.9, 2, 5.5, 13, 24, 26, 80, 300)
  relative <- function(got, wanted) max(abs(got - wanted) / pmax(abs(wanted), 1e-3))
  for (nu in c(0, 1, 2, 7, 0.5, 1.5, 0.3, 3.75, 12.2)) {
    f <- function(g, ...) values(function(x) g(x, nu, ...), f64(x))
    expect_lt(relative(f(nv_bessel_j), besselJ(x, nu)), 1e-11)
    expect_lt(relative(f(nv_bessel_y), besselY(x, nu)), 1e-11)
    expect_lt(max(abs(f(nv_bessel_i, scaled = TRUE) / besselI(x, nu, TRUE) - 1)), 1e-12)
    expect_lt(max(abs(f(nv_bessel_k, scaled = TRUE) / besselK(x, nu, TRUE) - 1)), 1e-12)
    expect_lt(max(abs(f(nv_bessel_i) / besselI(x, nu) - 1)), 1e-12)
    expect_lt(max(abs(f(nv_bessel_k) / besselK(x, nu) - 1)), 1e-12)
  }
  expect_equal(flat(nv_bessel_j(f64(c(-2, 2)), 1)), besselJ(2, 1) * c(-1, 1))
  expect_equal(flat(nv_bessel_i(f64(2), -0.75)), besselI(2, -0.75))
  expect_equal(flat(nv_bessel_j(f64(c(0, Inf, NaN)), 0)), c(1, 0, NaN))
  expect_equal(flat(nv_bessel_y(f64(c(0, -1)), 0.5)), c(-Inf, NaN))
  expect_identical(flat(nv_bessel_y(f64(c(1e-10, 0.1, 1, 3)), 200)), rep(-Inf, 4))
  expect_identical(flat(nv_bessel_y(nv_tensor(c(1e-5, 0.1)), 50)), c(-Inf, -Inf))
  slope <- function(f, x) flat(gradient(function(x) nv_sum(f(x)))(x)$x)
  expect_identical(slope(function(x) nv_bessel_y(x, 100), f64(1e-5)), Inf)
  expect_identical(slope(function(x) nv_bessel_k(x, 100, TRUE), f64(1e-5)), -Inf)
  expect_equal(flat(nv_bessel_j(nv_tensor(c(0.5, 7)), 2.25)), besselJ(c(0.5, 7), 2.25), tolerance = 1e-6)
})

difference <- function(f, x, h = 1e-5) (f(x + h) - f(x - h)) / (2 * h)

test_that("derivatives by x are the densities, and those of Bessel functions of neighbouring orders", {
  x <- c(0.3, 0.7, 0.9)
  slope <- function(f) flat(jit(gradient(function(x) sum(f(x))))(f64(x))[[1L]])
  curvature <- function(f) flat(jit(gradient(function(x) sum(gradient(function(x) sum(f(x)))(x)[[1L]])))(f64(x))[[1L]])
  expect_equal(slope(function(x) nv_igamma(2.5, x)), dgamma(x, 2.5))
  expect_equal(slope(function(x) nv_igammac(1e4, x * 1e4)), -1e4 * dgamma(x * 1e4, 1e4))
  expect_equal(slope(function(x) nv_betainc(2.5, 4, x)), dbeta(x, 2.5, 4))
  expect_equal(curvature(function(x) nv_igamma(2.5, x)), difference(function(x) dgamma(x, 2.5), x), tolerance = 1e-8)
  expect_equal(curvature(function(x) nv_betainc(2.5, 4, x)), difference(function(x) dbeta(x, 2.5, 4), x), tolerance = 1e-8)
  for (nu in c(0, 1, 2.5)) {
    expect_equal(slope(function(x) nv_bessel_j(x, nu)), difference(function(x) besselJ(x, nu), x), tolerance = 1e-8)
    expect_equal(slope(function(x) nv_bessel_k(x, nu, TRUE)), difference(function(x) besselK(x, nu, TRUE), x), tolerance = 1e-8)
    # x^2 y'' + x y' + (x^2 - nu^2) y = 0
    y <- curvature(function(x) nv_bessel_y(x, nu)) * x^2 + slope(function(x) nv_bessel_y(x, nu)) * x
    expect_equal(y, (nu^2 - x^2) * besselY(x, nu))
  }
  expect_equal(flat(jvp(function(x) nv_bessel_i(x, 1))(list(f64(2)), list(f64(1)))$tangent), difference(function(x) besselI(x, 1), 2), tolerance = 1e-8)
})

test_that("derivatives by parameters", {
  at <- function(a) nv_scalar(a, "f64")
  by <- function(f, a) flat(jit(gradient(f))(at(a))[[1L]])
  expect_equal(by(function(a) nv_igamma(a, 1.3), 2.5), difference(function(a) pgamma(1.3, a), 2.5), tolerance = 1e-8)
  expect_equal(by(function(a) nv_igammac(a, 50), 60), -difference(function(a) pgamma(50, a), 60), tolerance = 1e-8)
  expect_equal(by(function(a) nv_betainc(a, 2, 0.3), 1.5), difference(function(a) pbeta(0.3, a, 2), 1.5), tolerance = 1e-8)
  expect_equal(by(function(b) nv_betainc(3, b, 0.3), 8), difference(function(b) pbeta(0.3, 3, b), 8), tolerance = 1e-8)
  forward <- jvp(function(a) nv_igamma(a, 1.3))(list(at(2.5)), list(at(1)))$tangent
  expect_equal(flat(forward), difference(function(a) pgamma(1.3, a), 2.5), tolerance = 1e-8)
  # once by a, once by x
  mixed <- by(function(x) gradient(function(a) nv_igamma(a, x))(at(2.5))[[1L]], 1.3)
  expect_equal(mixed, difference(function(a) dgamma(1.3, a), 2.5), tolerance = 1e-8)
  expect_snapshot(error = TRUE, {
    hessian(function(a) nv_igamma(a, 1.3))(at(2.5))
    hessian(function(b) nv_betainc(2, b, 0.3))(at(2.5))
  })
})

test_that("orders of Bessel functions are checked", {
  expect_snapshot(error = TRUE, {
    nv_bessel_j(1, 1e6)
    nv_bessel_k(1, NaN)
    nv_bessel_i(1, c(1, 2))
    nv_bessel_i(1, 1, scaled = NA)
    nv_bessel_y(nv_scalar(1L), 1)
  })
})

test_that("special functions are written as custom calls and read again", {
  f <- function(x) nv_igamma(2, x) + nv_betainc(2, 3, x) + nv_bessel_k(x, 1.5, TRUE)
  text <- write_stablehlo(trace_fn(f, list(x = f64(c(0.2, 0.7)))))
  expect_match(text, "custom_call", fixed = TRUE)
  expect_match(text, "nu = 1.5", fixed = TRUE)
  expect_equal(flat(read_stablehlo(text)(f64(c(0.2, 0.7)))), flat(f(f64(c(0.2, 0.7)))))
})
