test_that("nv_ifelse() agrees with ifelse()", {
  x <- matrix(c(-1, 2, -3, 4), 2)
  expect_equal(both(function(x) nv_ifelse(x > 0, x, 0), f64(x)), ifelse(x > 0, x, 0))
  expect_equal(both(function(x) nv_ifelse(x > 0, 1L, 0.5), f64(x)), ifelse(x > 0, 1, 0.5))
  expect_equal(both(function(x) nv_ifelse(TRUE, x, 0), f64(x)), x)
  expect_equal(both(function(p, x) nv_ifelse(p, x, -x), nv_scalar(FALSE), f64(x)), -x)
  expect_identical(nv_select, nv_ifelse)
})

test_that("branches are promoted", {
  expect_equal(type_of(nv_ifelse(nv_tensor(TRUE), nv_tensor(1L), f64(2))), "f64[1]")
  expect_equal(type_of(nv_ifelse(TRUE, 1L, 2)), "f32?[]")
})

test_that("the derivative goes to the chosen side", {
  f <- function(x) sum(nv_ifelse(x > 0, log(nv_ifelse(x > 0, x, 1)), 3 * x))
  expect_equal(flat(gradient(f)(f64(c(2, -1)))$x), c(0.5, 3))
})

test_that("nv_clamp() limits", {
  x <- c(-1, 0.5, 2, NaN)
  expect_equal(as.vector(both(function(x) nv_clamp(0, x, 1), f64(x))), pmin(pmax(x, 0), 1))
  expect_equal(as.vector(both(nv_clamp, f64(c(0, 1)), f64(c(-1, 5)), f64(c(1, 3)))), c(0, 3))
  expect_equal(type_of(nv_clamp(0L, nv_tensor(1:2), 1L)), "i32[2]")
  expect_equal(flat(nv_clamp(0, nv_tensor(-1:1), 0.5)), c(0, 0, 0.5))
  g <- gradient(function(x) sum(nv_clamp(0, x, 1)))(f64(c(-1, 0, 0.5, 1, 2)))
  expect_equal(flat(g$x), c(0, 0.5, 1, 0.5, 0))
})

test_that("mistakes are explained", {
  expect_snapshot(error = TRUE, {
    nv_ifelse(f64(1), f64(1), f64(2))
    nv_ifelse(nv_tensor(c(TRUE, FALSE)), f64(1:3), 0)
    nv_clamp(f64(1:2), f64(1:3), 1)
  })
})

test_that("a condition of one element leaves dtypes as they are", {
  for (pred in list(nv_tensor(TRUE), nv_tensor(c(TRUE, FALSE)), nv_scalar(TRUE))) {
    chosen <- nv_ifelse(pred, 1, 2)
    expect_identical(as.character(dtype(chosen)), "f32")
    expect_true(ambiguous(chosen))
  }
})

test_that("a branch that was not taken makes no NaN, whatever lies between", {
  slope <- function(f, x) {
    x <- nv_tensor(x, "f64")
    found <- as.vector(as_array(gradient(f)(x)[[1L]]))
    expect_identical(as.vector(as_array(jit(gradient(f))(x)[[1L]])), found)
    found
  }
  norm <- function(x) {
    n <- sqrt(sum(x^2))
    nv_if(n > 0, function() n, function() sum(x))
  }
  expect_identical(slope(norm, c(0, 0)), c(1, 1))
  expect_equal(slope(norm, c(3, 4)), c(0.6, 0.8))
  case <- function(x) {
    y <- sqrt(x)
    nv_case(nv_scalar(1L), function() x[1], function() sum(y))
  }
  expect_identical(slope(case, c(0, 4)), c(1, 0))
  never <- function(x) {
    y <- sqrt(x)
    sum(nv_while(list(i = nv_scalar(0L), s = x), function(i, s) i < 0L, function(i, s) list(i = i + 1L, s = s + y))$s)
  }
  expect_identical(slope(never, c(0, 4)), c(1, 1))
  expect_identical(slope(function(x) sum(nv_ifelse(x > 0, nv_checkpoint(function(y) 2 * y)(sqrt(x)), 0)), c(0, 4)), c(0, 0.5))
  rows <- function(x) sum(nv_ifelse(x > 0, rowSums(nv_reshape(sqrt(x), c(2L, 1L)) %*% nv_fill(1, c(1L, 3L), "f64")), 0))
  expect_identical(slope(rows, c(0, 4)), c(0, 0.75))
  expect_identical(slope(function(x) sum(nv_ifelse(x > 0, nv_sort(sqrt(x)), 0)), c(0, 4)), c(0, 0.25))
  replaced <- function(x) {
    y <- sqrt(x)
    y[1] <- 1
    sum(y)
  }
  expect_identical(slope(replaced, c(0, 4)), c(0, 0.25))
  larger <- list(
    function(a, b) nv_max(a, b), function(a, b) nv_ifelse(a > b, a, b), function(a, b) nv_clamp(a, b, 1e9)
  )
  for (body in larger) {
    start <- list(nv_scalar(0.5, dtype = "f64"))
    expect_equal(slope(function(x) nvl_reduce(list(sqrt(x)), start, 1L, body), c(0, 0, 4, 9)), c(0, 0, 0, 1 / 6))
    running <- function(x) sum(nvl_cumulative(list(sqrt(x)), start, 1L, body))
    expect_equal(slope(running, c(0, 0, 4, 9)), c(0, 0, 1 / 4, 1 / 6))
  }
})
