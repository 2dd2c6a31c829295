# Sums across memory of more than a cache holds go along it: against base R.

test_that("long sums of rows are those of base R", {
  set.seed(7)
  for (size in list(c(300, 500), c(1030, 129), c(5000, 64), c(129, 1100))) {
    m <- matrix(rnorm(prod(size)), size[1])
    x <- nv_tensor(m, dtype = "f64")
    sums <- jit(function(x) nv_reduce_sum(x, 2L))(x)
    expect_equal(as.vector(as_array(sums)), rowSums(m), tolerance = 1e-12)
    expect_equal(
      as.vector(as_array(jit(function(x) nv_reduce_max(x, 2L))(x))),
      apply(m, 1, max)
    )
  }
})

test_that("what rows have in common is made and used between their sums", {
  set.seed(8)
  m <- matrix(rnorm(700 * 300), 700)
  weights <- rnorm(300)
  f <- function(x, w) {
    mean <- nv_reduce_mean(x, 2L, drop = FALSE)
    apart <- x - nv_broadcast_to(mean, shape(x))
    most <- nv_reduce_max(x, 2L, drop = FALSE)
    e <- exp(x - nv_broadcast_to(most, shape(x)))
    total <- nv_reduce_sum(e, 2L, drop = FALSE)
    list(
      sd = sqrt(nv_reduce_sum(apart * apart, 2L) / (dim(x)[2] - 1)),
      softmax = e / nv_broadcast_to(total, shape(x)),
      product = x %*% w
    )
  }
  got <- lapply(
    jit(f)(nv_tensor(m, dtype = "f64"), nv_tensor(weights, dtype = "f64")),
    as_array
  )
  e <- exp(m - apply(m, 1, max))
  expect_equal(as.vector(got$sd), apply(m, 1, stats::sd), tolerance = 1e-12)
  expect_equal(got$softmax, e / rowSums(e), tolerance = 1e-12)
  expect_equal(as.vector(got$product), as.vector(m %*% weights), tolerance = 1e-12)
})

test_that("their gradients are right, and the bits are the same on any number of threads", {
  set.seed(9)
  m <- matrix(rnorm(600 * 200), 600)
  x <- nv_tensor(m, dtype = "f64")
  f <- function(x) sum(log(nv_reduce_sum(exp(x), 2L)))
  got <- as_array(jit(gradient(f))(x)[[1]])
  expect_equal(got, exp(m) / rowSums(exp(m)), tolerance = 1e-12)
  sums <- jit(function(x) nv_reduce_sum(exp(x), 2L))
  results <- lapply(1:3, function(n) with_threads(n, as_array(sums(x))))
  expect_identical(results[[1]], results[[2]])
  expect_identical(results[[1]], results[[3]])
})
