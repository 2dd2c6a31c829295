test_that("sorting agrees with R's sort() and order()", {
  x <- c(3, -1, 4, 1, -5, 9, 2, 6)
  for (decreasing in c(FALSE, TRUE)) {
    expect_equal(as.vector(both(function(x) nv_sort(x, decreasing = decreasing), f64(x))), sort(x, decreasing = decreasing))
    expect_equal(as.vector(both(function(x) nv_argsort(x, decreasing = decreasing), f64(x))), order(x, decreasing = decreasing))
  }
  i <- c(2L, 1L, 2L, 1L, 3L)
  expect_equal(flat(nv_argsort(nv_tensor(i))), order(i))
  expect_equal(flat(nv_argsort(nv_tensor(i), decreasing = TRUE)), order(-i))
})

test_that("sorting goes along one dimension", {
  set.seed(1)
  m <- matrix(rnorm(12), 3)
  expect_equal(both(function(x) nv_sort(x, dims = 1), f64(m)), apply(m, 2, sort))
  expect_equal(both(nv_sort, f64(m)), t(apply(m, 1, sort)))
  expect_equal(both(nv_argsort, f64(m)), t(apply(m, 1, order)))
})

test_that("long vectors are sorted as R does", {
  set.seed(2)
  x <- c(rnorm(5000), NaN, 0, -0, Inf, -Inf)
  sorted <- flat(jit(function(x) nv_sort(x))(f64(x)))
  expect_equal(sorted, sort(x, na.last = TRUE))
  i <- sample(-100000:100000, 5000)
  expect_equal(flat(jit(nv_argsort)(nv_tensor(i))), order(i))
})

test_that("several operands are sorted by several keys", {
  a <- c(2L, 1L, 2L, 1L)
  b <- c(1, 5, 0, 5)
  sorted <- nvl_sort(list(a = nv_tensor(a), b = f64(b), at = nv_tensor(1:4)), num_keys = 2L)
  expect_named(sorted, c("a", "b", "at"))
  expect_equal(flat(sorted$at), order(a, b))
  expect_error(nvl_sort(nv_tensor(1:3)), class = "anvil_error_argument")
  expect_error(nvl_sort(list(nv_tensor(1:3), nv_tensor(1:2))), class = "anvil_error_shape")
  expect_error(nv_sort(nv_tensor(1:3), dims = 2), class = "anvil_error_argument")
})

test_that("the largest elements and their indices", {
  x <- matrix(c(1, 5, 3, 2, 3, 8), 2)
  top <- nv_top_k(f64(x), 2)
  expect_equal(as_array(top$values), matrix(c(3, 8, 3, 5), 2))
  expect_equal(as_array(top$indices), matrix(c(2L, 3L, 3L, 1L), 2))
  expect_error(nv_top_k(f64(x), 4), class = "anvil_error_argument")
})

test_that("sorted values have derivatives", {
  weights <- c(1, 10, 100)
  g <- jit(gradient(function(x) sum(nv_sort(x) * f64(weights))))
  expect_equal(flat(g(f64(c(3, 1, 2)))[[1L]]), c(100, 1, 10))
  top <- jit(gradient(function(x) sum(nv_top_k(x, 2)$values * f64(c(5, 7)))))
  expect_equal(flat(top(f64(c(3, 1, 2)))[[1L]]), c(5, 0, 7))
})
