# Reductions by a function, windows, convolutions, against base R.

test_that("nvl_reduce() takes several tensors and any function", {
  x <- matrix(c(3, 9, 4, 1, 5, 2), 3)
  largest <- function(x) {
    nvl_reduce(list(x, nvl_iota(1, "i32", c(3, 2))), list(nv_scalar(-Inf, "f64"), nv_scalar(0L)), dims = 1, function(best, at, value, row) {
      keep <- best >= value
      list(nv_ifelse(keep, best, value), nv_ifelse(keep, at, row))
    })
  }
  expect_equal(both(function(x) largest(x)[[1L]], f64(x)), apply(x, 2, max), ignore_attr = TRUE)
  expect_equal(both(function(x) largest(x)[[2L]], f64(x)), apply(x, 2, which.max), ignore_attr = TRUE)
})

test_that("running products are those of all so far, however large or small neighbours are together", {
  for (x in list(c(rep(10, 32), rep(1e-3, 32)), as.numeric(0:300), c(1e30, 1e30, rep(1e-3, 62)), c(rep(1e-30, 3), rep(1e5, 61)))) {
    f32 <- nv_tensor(x, dtype = "f32")
    expect_identical(as_array(jit(function(x) nv_cumprod(x))(f32)), as_array(nv_cumprod(f32)))
    expect_equal(as_array(jit(function(x) nv_cumprod(x))(f64(x))), cumprod(x), ignore_attr = TRUE)
  }
})

test_that("nvl_cumulative() is R's cumprod() and cummax()", {
  x <- c(2, -1, 3, 0.5, 4)
  expect_equal(both(function(x) nvl_cumulative(x, nv_scalar(1, "f64"), 1, function(a, b) a * b), f64(x)), cumprod(x), ignore_attr = TRUE)
  expect_equal(both(function(x) nvl_cumulative(x, nv_scalar(-Inf, "f64"), 1, nv_max), f64(x)), cummax(x), ignore_attr = TRUE)
})

test_that("bodies read values around them", {
  f <- function(x, k) nvl_reduce(x, nv_scalar(0, "f64"), 1, function(a, b) a + b * k)
  expect_equal(both(f, f64(1:4), nv_scalar(10, "f64")), 100, ignore_attr = TRUE)
})

test_that("nvl_reduce_window() and its derivative", {
  pool <- function(x) nvl_reduce_window(x, nv_scalar(-Inf, "f64"), 2, 2, 1, 1, 0, 1, nv_max)
  x <- c(1, 5, 2, 3, 9)
  expect_equal(both(pool, f64(x)), c(5, 3, 9), ignore_attr = TRUE)
  expect_equal(flat(jit(gradient(function(x) sum(pool(x))))(f64(x))[[1L]]), c(0, 1, 0, 1, 1))
})

test_that("nvl_convolution() is stats::convolve() and its gradient the other way round", {
  x <- c(1, 4, 2, 8, 5, 7)
  w <- c(2, -1, 3)
  slide <- function(x, w) {
    y <- nvl_convolution(
      nvl_reshape(x, c(1, 1, 6)), nvl_reshape(w, c(1, 1, 3)), 1, 0, 0, 1, 1,
      input_dims = 1:3, kernel_dims = 1:3, output_dims = 1:3
    )
    nvl_reshape(y, 4)
  }
  expect_equal(both(slide, f64(x), f64(w)), convolve(x, w, type = "filter"), ignore_attr = TRUE)
  g <- jit(gradient(function(x, w) sum(slide(x, w))))(f64(x), f64(w))
  expect_equal(flat(g$x), convolve(rep(1, 4), rev(w), type = "open"))
  expect_equal(flat(g$w), c(sum(x[1:4]), sum(x[2:5]), sum(x[3:6])))
})

test_that("mistakes are explained", {
  expect_error(nvl_reduce(f64(1:3), nv_scalar(0, "f64"), 1, 2), class = "anvil_error_argument")
  expect_error(nvl_reduce(f64(1:3), nv_scalar(0L), 1, function(a, b) a + b), class = "anvil_error_dtype")
  expect_error(nvl_windows(f64(1:3), 2, 1, 1, 1), class = "anvil_error_argument")
})

test_that("what a region reads from around it has its derivative", {
  x <- f64(c(2, 3, 4))
  reduced <- function(s) nvl_reduce(x, nv_scalar(1, "f64"), 1L, function(a, b) s * a * b)
  cumulated <- function(s) sum(nvl_cumulative(x, nv_scalar(1, "f64"), 1L, function(a, b) s * a * b))
  for (f in list(reduced, cumulated)) {
    at <- function(s) as_array(f(nv_scalar(s, "f64")))
    slope <- (at(1.5 + 1e-6) - at(1.5 - 1e-6)) / 2e-6
    for (run in list(identity, jit)) {
      expect_equal(as_array(run(gradient(f))(nv_scalar(1.5, "f64"))$s), slope, tolerance = 1e-8)
      expect_equal(as_array(run(function(s, t) jvp(f)(list(s), list(t))$tangent)(nv_scalar(1.5, "f64"), nv_scalar(2, "f64"))), 2 * slope, tolerance = 1e-8)
    }
  }
})
