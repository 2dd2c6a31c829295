# Written out: f of the elements of each window that lie inside.
pooled <- function(x, window, stride, padding, dilation, f) {
  n <- dim(x)
  out <- floor((n[3:4] + 2 * padding - dilation * (window - 1) - 1) / stride) + 1
  along <- function(d, o) {
    i <- (o - 1) * stride + 1 - padding + (seq_len(window) - 1) * dilation
    i[i >= 1 & i <= n[d]]
  }
  y <- array(0, c(n[1:2], out))
  for (b in seq_len(n[1])) for (c in seq_len(n[2])) for (i in seq_len(out[1])) for (j in seq_len(out[2])) y[b, c, i, j] <- f(x[b, c, along(3, i), along(4, j)])
  y
}
set.seed(1)
x <- array(rnorm(2 * 2 * 7 * 6), c(2, 2, 7, 6))

test_that("pooling takes the largest or the mean of windows", {
  for (a in list(c(2, 2, 0, 1), c(3, 1, 1, 1), c(3, 2, 1, 2), c(2, 3, 0, 1))) {
    max_pool <- function(x) nv_max_pool(x, a[1], a[2], a[3], a[4])
    expect_equal(both(max_pool, f64(x)), pooled(x, a[1], a[2], a[3], a[4], max))
    if (a[4] == 1) {
      expect_equal(both(function(x) nv_avg_pool(x, a[1], a[2], a[3]), f64(x)), pooled(x, a[1], a[2], a[3], 1, function(v) sum(v) / a[1]^2))
      expect_equal(both(function(x) nv_avg_pool(x, a[1], a[2], a[3], count_padding = FALSE), f64(x)), pooled(x, a[1], a[2], a[3], 1, mean))
    }
  }
  expect_equal(as_array(nv_max_pool(f64(x), c(7, 6))), array(apply(x, 1:2, max), c(2, 2, 1, 1)))
  expect_equal(flat(nv_avg_pool(nv_tensor(array(1:6, c(1, 1, 6))), 2)), c(1.5, 3.5, 5.5))
  expect_equal(flat(nv_max_pool(f64(array(c(1, NaN, 2, 3), c(1, 1, 4))), 2)), c(NaN, 3))
  expect_equal(shape(nv_max_pool(nv_empty("f32", c(1L, 1L, 4L, 4L, 4L)), 2)), c(1L, 1L, 2L, 2L, 2L))
})

test_that("equal elements share the derivative", {
  expect_equal(c(gradient_of(function(x) sum(nv_max_pool(x, 2)), f64(array(c(1, 1, 3, 2), c(1, 1, 4))))), c(0.5, 0.5, 1, 0))
})

test_that("pooling is checked", {
  expect_checked(function(x) nv_max_pool(x, 2), of_f64(1, 2, 4, 5))
  expect_checked(function(x) nv_max_pool(x, 3, 1, 1), of_f64(1, 2, 4, 3))
  expect_checked(function(x) nv_avg_pool(x, 2, 1, 1, FALSE), of_f64(1, 2, 4, 3))
})

test_that("pooling stores no windows", {
  text <- capture.output(nv_inspect(function(x) nv_max_pool(x, 2), "loops", nv_aten("f32", c(8, 4, 8, 8))))
  expect_identical(grep("temporary", text, value = TRUE), character())
})

test_that("errors name what is wrong", {
  expect_snapshot(error = TRUE, {
    nv_max_pool(f64(matrix(1, 2, 2)), 2)
    nv_max_pool(f64(x), 8)
    nv_max_pool(f64(x), 2, padding = 2)
    nv_avg_pool(f64(x), c(1, 2, 3))
    nv_avg_pool(f64(x), 2, count_padding = 1)
  })
})
