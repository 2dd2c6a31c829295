test_that("grids", {
  expect_equal(flat(nv_linspace(-1, 1, 5)), seq(-1, 1, length.out = 5))
  grid <- nv_meshgrid(a = nv_tensor(1:2), b = 3:5)
  expect_equal(lapply(grid, flat), as.list(expand.grid(a = 1:2, b = 3:5, KEEP.OUT.ATTRS = FALSE)))
  expect_equal(lapply(grid, shape), list(a = c(2L, 3L), b = c(2L, 3L)))
  m <- matrix(1:12, 3)
  for (k in -3:4) {
    expect_equal(flat(nv_tensor(m)[nv_triu_indices(3, 4, k)]), m[col(m) - row(m) >= k])
    expect_equal(flat(nv_tensor(m)[nv_tril_indices(3, 4, k)]), m[col(m) - row(m) <= k])
  }
  expect_equal(as_array(nv_tril_indices(2)), cbind(c(1L, 2L, 2L), c(1L, 1L, 2L)))
})

test_that("intervals are those of findInterval()", {
  set.seed(1)
  for (n in c(0:9, 31:33, 1000)) {
    vec <- sort(round(rnorm(n), 1))
    x <- c(-9, 9, -Inf, Inf, vec, rnorm(20))
    for (flags in split(expand.grid(c(TRUE, FALSE), c(TRUE, FALSE), c(TRUE, FALSE)), 1:8)) {
      if (n < 2 && (flags[[1]] || flags[[2]])) next
      f <- function(x, vec) nv_searchsorted(x, vec, flags[[1]], flags[[2]], flags[[3]])
      expect_identical(c(both(f, f64(array(x)), f64(array(vec)))), findInterval(x, vec, flags[[1]], flags[[2]], flags[[3]]))
    }
  }
  expect_identical(flat(nv_searchsorted(nv_tensor(c(1L, 5L)), c(2L, 4L))), c(0L, 2L))
  expect_identical(flat(nv_searchsorted(f64(NaN), f64(1:3))), 3L)
  expect_identical(as_array(nv_searchsorted(f64(matrix(1:4, 2)), c(2, 3))), matrix(c(0L, 1L, 2L, 2L), 2))
  expect_identical(flat(in_session(quote(findInterval(x, 1:3, left.open = TRUE)), list(x = f64(c(0, 2, 2.5))))), findInterval(c(0, 2, 2.5), 1:3, left.open = TRUE))
})

test_that("interpolation is that of approx()", {
  x <- c(-1, 0.5, 2, 7)
  y <- c(3, -1, 10, 4)
  at <- c(-2, -1, -0.3, 0.5, 1, 6.9, 7, 8, NaN)
  for (rule in list(1, 2, c(1, 2), c(2, 1))) {
    f <- function(x, y, at) nv_interp(x, y, at, rule)
    expected <- approx(x, y, at, rule = rule)$y
    expect_equal(c(both(f, f64(x), f64(y), f64(at))), ifelse(is.na(expected), NaN, expected))
  }
  expect_equal(shape(nv_interp(x, y, f64(matrix(0, 2, 3)))), c(2L, 3L))
  expect_checked(function(x, y, at) nv_interp(cumsum(exp(x)), y, at * 3, rule = 2), of_f64(5), of_f64(5), of_f64(4))
})

test_that("grids end where they should", {
  for (n in 2:200) expect_identical(c(flat(nv_linspace(0.1, -0.7, n, "f64")))[n], -0.7)
  expect_identical(flat(jit(function() nv_linspace(0, 1, 50, "f64"))())[50], 1)
})

test_that("a point beside an infinite one keeps its value", {
  x <- c(0, 1, 2)
  at <- c(0, 0.5, 1, 1.5, 2)
  expect_equal(flat(nv_interp(x, c(0, 1, Inf), f64(at))), approx(x, c(0, 1, Inf), at)$y)
  expect_equal(flat(nv_interp(x, c(-Inf, 1, 3), f64(c(1, 1.5)))), c(1, 2))
  slope <- gradient(function(at) sum(nv_interp(x, c(0, 1, 5), at)))(f64(c(0.5, 1, 1.5)))$at
  expect_equal(flat(slope), c(1, 4, 4))
})

test_that("errors name what is wrong", {
  expect_snapshot(error = TRUE, {
    nv_linspace(0, 1, 0)
    nv_meshgrid(f64(matrix(1, 2, 2)))
    nv_meshgrid()
    nv_triu_indices(-1)
    nv_searchsorted(f64(1:3), f64(matrix(1, 2, 2)))
    nv_searchsorted(f64(1:3), f64(1:3), all.inside = 1)
    nv_interp(1:2, 1:3, f64(1))
    nv_interp(1:2, 1:2, f64(1), rule = 3)
  })
})
