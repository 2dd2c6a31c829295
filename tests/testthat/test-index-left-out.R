# x[-i] of a tensor, and what else is known of indices while a function is traced.

test_that("-i of a scalar leaves its place out, compiled as well", {
  x <- nv_tensor(c(10, 20, 30, 40))
  jackknife <- function(x) vapply(seq_along(x), function(i) sum(x[-i]^2), 0)
  expected <- jackknife(c(10, 20, 30, 40))
  one <- function(x, i) sum(x[-i]^2)
  for (i in 1:4) {
    expect_equal(as.numeric(one(x, nv_scalar(i))), expected[i])
    expect_equal(as.numeric(jit(one)(x, nv_scalar(i))), expected[i])
    expect_equal(as.numeric(jit(one)(x, nv_tensor(i))), expected[i])
    expect_equal(as.numeric(gradient(one, "x")(x, nv_scalar(i))$x), 2 * c(10, 20, 30, 40) * (1:4 != i))
    expect_equal(as.numeric(jit(gradient(one, "x"))(x, nv_scalar(i))$x), 2 * c(10, 20, 30, 40) * (1:4 != i))
  }
  expect_equal(as.numeric(vectorize(function(i) one(x, i))(nv_tensor(1:4))), expected)
  expect_equal(as.numeric(jit(function(k) nv_map(k, function(i) one(x, i)))(nv_tensor(1:4))), expected)
  expect_equal(as.numeric(jit(function(x) nv_fori(1, 4, 0, function(i, s) s + one(x, i)))(x)), sum(expected))
  expect_equal(as.numeric(nv_fori(1, 4, 0, function(i, s) s + one(x, i))), sum(expected))
  # by how it was made, elsewhere
  expect_equal(as.numeric(jit(function(x, i) (function(x, k) x[k])(x, -i))(x, nv_scalar(2L))), c(10, 30, 40))

  m <- matrix(1:6 + 0, 3)
  others <- function(m, i) m[-i, i - 1L]
  expect_equal(as.numeric(others(nv_tensor(m), nv_scalar(2L))), m[-2, 1])
  expect_equal(as.numeric(jit(others)(nv_tensor(m), nv_scalar(3L))), m[-3, 2])
  put <- function(x, i) {
    x[-i] <- c(1, 2, 3)
    x
  }
  expect_equal(as.numeric(put(x, nv_scalar(2L))), c(1, 20, 2, 3))
  expect_equal(as.numeric(jit(put)(x, nv_scalar(2L))), c(1, 20, 2, 3))
  long <- nv_tensor(as.numeric(1:200))
  expect_equal(as.numeric(jit(function(x, i) x[-i])(long, nv_scalar(2L, "i8"))), c(1, 3:200))
  expect_equal(shape(jit(function(x, i) x[-i])(nv_tensor(1), nv_scalar(1L))), 0L)

  expect_error(x[-nv_scalar(5L)], "Index 5 is out of bounds", class = "anvil_error_index")
  expect_snapshot(error = TRUE, {
    x[-nv_tensor(1:2)]
    jit(function(x, i) x[-i])(x, nv_tensor(1:2))
  })
})

test_that("debug mode checks indices in transformed functions, too", {
  x <- nv_tensor(c(10, 20, 30))
  wrong <- nv_tensor(c(1L, 9L))
  picked <- function(x, i) sum(x[i])
  put <- function(x, i) {
    x[i] <- 0
    sum(x)
  }
  beyond <- function(expr) expect_error(expr, "Index 9 is out of bounds for dimension of size 3", class = "anvil_error_index")
  beyond(gradient(function(x, i) sum(vectorize(function(k) x[k])(i)), "x")(x, wrong))
  for (f in list(picked, put, jit(picked))) {
    beyond(gradient(f, "x")(x, wrong))
    beyond(hessian(f, "x")(x, wrong))
    beyond(vectorize(f, axis = c(i = 1L))(x, wrong))
    beyond(jvp(f, "x")(list(x, wrong), list(x = x)))
  }
  expect_equal(as.numeric(gradient(picked, "x")(x, nv_tensor(c(1L, 3L)))$x), c(1, 0, 1))
  expect_equal(as.numeric(jit(gradient(picked, "x"))(x, wrong)$x), c(1, 0, 1)) # the nearest end, as documented
})

test_that("a float as an index says where it comes from", {
  expect_snapshot(error = TRUE, jit(function(x) nv_fori(1, 3, 0, function(i, s) s + x[i + 1]))(nv_tensor(1:4)))
})
