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
