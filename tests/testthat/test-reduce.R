test_that("reductions agree with apply()", {
  set.seed(3)
  a <- array(rnorm(24), 2:4)
  cases <- list(sum = nv_reduce_sum, prod = nv_reduce_prod, max = nv_reduce_max, min = nv_reduce_min, mean = nv_mean)
  for (name in names(cases)) {
    reduce <- cases[[name]]
    expect_equal(both(reduce, f64(a)), match.fun(name)(a), label = name)
    for (dims in list(1, 2, 3, c(1, 3), c(3, 1), 2:3)) {
      expected <- apply(a, setdiff(1:3, dims), name)
      expect_equal(both(function(x) reduce(x, dims), f64(a)), if (is.matrix(expected)) expected else array(expected), label = name)
      kept <- both(function(x) reduce(x, dims, drop = FALSE), f64(a))
      expect_equal(dim(kept), replace(2:4, dims, 1L))
      expect_equal(as.vector(kept), as.vector(expected))
    }
  }
})

test_that("R's functions call them", {
  v <- c(3, 1, 2)
  x <- f64(v)
  for (f in list(sum, prod, max, min, mean)) {
    expect_equal(both(f, x), f(v))
  }
  expect_equal(flat(range(x)), range(v))
  m <- matrix(1:6, 2)
  expect_equal(flat(sum(nv_tensor(m), dims = 1)), colSums(m))
  expect_equal(shape(max(nv_tensor(m), dims = 2, drop = FALSE)), c(2L, 1L))
  expect_equal(flat(mean(nv_tensor(m), dims = 1)), colMeans(m))
  expect_equal(flat(sum(x, 1, f64(c(10, 20)))), 37)
  expect_equal(flat(max(x, 7)), 7)
  flags <- c(TRUE, FALSE, TRUE)
  expect_identical(both(any, nv_tensor(flags)), TRUE)
  expect_identical(both(all, nv_tensor(flags)), FALSE)
  expect_identical(flat(all(nv_tensor(TRUE), nv_tensor(TRUE))), TRUE)
})

test_that("golden values and dtypes", {
  m <- nv_tensor(matrix(1:6, 2))
  expect_equal(type_of(mean(m)), "f32?[]")
  expect_equal(flat(mean(m)), 3.5)
  expect_equal(type_of(sum(m)), "i32[]")
  expect_equal(flat(nv_reduce_any(nv_tensor(matrix(c(TRUE, FALSE, TRUE, TRUE), 2)), 1)), c(TRUE, TRUE))
  for (dtype in number_dtypes) {
    expect_equal(type_of(sum(nv_tensor(1:3, dtype))), paste0(dtype, "[]"))
    expect_equal(as.numeric(flat(sum(nv_tensor(1:3, dtype)))), 6)
    expect_equal(as.numeric(flat(mean(nv_tensor(c(2L, 4L), dtype)))), 3)
  }
})

test_that("bools are counted", {
  flags <- nv_tensor(c(TRUE, TRUE, FALSE))
  expect_equal(type_of(sum(flags)), "i32[]")
  expect_equal(both(sum, flags), 2L)
  expect_equal(flat(mean(flags)), 2 / 3, tolerance = 1e-6)
  expect_equal(flat(cumsum(flags)), c(1L, 2L, 2L))
})

test_that("a mean does not overflow", {
  expect_equal(both(mean, nv_tensor(rep(100L, 10), "i8")), 100)
})

test_that("empty reductions give the neutral element", {
  x <- nv_empty("f64", c(0, 2))
  expect_equal(flat(sum(x)), 0)
  expect_equal(flat(prod(x)), 1)
  expect_equal(flat(nv_reduce_max(x, 1)), c(-Inf, -Inf))
  expect_equal(flat(nv_reduce_min(nv_empty("i32", 0))), .Machine$integer.max)
  expect_equal(flat(all(nv_empty("bool", 0))), TRUE)
})

test_that("no dimensions means no reduction", {
  m <- matrix(1:4, 2)
  expect_equal(both(function(x) nv_reduce_sum(x, integer()), nv_tensor(m)), m)
  expect_equal(flat(sum(nv_scalar(5))), 5)
})

test_that("variances agree with R", {
  v <- c(1, 4, 2, 8)
  expect_equal(both(nv_var, f64(v)), var(v))
  expect_equal(both(nv_sd, f64(v)), sd(v))
  expect_equal(flat(nv_var(f64(v), correction = 0)), mean((v - mean(v))^2))
  m <- matrix(rnorm(12), 4)
  expect_equal(both(function(x) nv_var(x, 1), f64(m)), array(apply(m, 2, var)))
  expect_equal(shape(nv_sd(f64(m), 1, drop = FALSE)), c(1L, 3L))
  expect_equal(flat(nv_var(nv_tensor(1:5))), 2.5)
  expect_true(is.nan(flat(nv_var(f64(1)))))
})

test_that("cumulative sums agree with R", {
  m <- matrix(1:6, 2)
  expect_equal(both(function(x) nv_cumsum(x), nv_tensor(m)), array(cumsum(m)))
  expect_equal(both(function(x) nv_cumsum(x, 1), nv_tensor(m)), apply(m, 2, cumsum))
  expect_equal(both(function(x) nv_cumsum(x, 2), f64(m)), t(apply(m, 1, cumsum)))
  expect_equal(flat(cumsum(f64(c(1.5, 2)))), c(1.5, 3.5))
})

test_that("derivatives are right", {
  v <- c(3, 1, 3)
  slope <- function(f) flat(gradient(f)(f64(v))$x)
  expect_equal(slope(function(x) max(x)), c(0.5, 0, 0.5))
  expect_equal(slope(function(x) prod(x)), prod(v) / v)
  expect_equal(slope(function(x) mean(x)), rep(1 / 3, 3))
  expect_equal(slope(function(x) nv_var(x)), 2 * (v - mean(v)) / 2)
  expect_equal(slope(function(x) sum(cumsum(x))), 3:1)
})

test_that("mistakes are explained", {
  x <- f64(1:3)
  expect_snapshot(error = TRUE, {
    sum(x, na.rm = TRUE)
    mean(x, trim = 0.1)
    nv_reduce_sum(x, 2)
    nv_reduce_sum(x, c(1, 1))
    nv_reduce_sum(x, 1, drop = NA)
    nv_mean(x, 3)
    any(x)
    nv_cumsum(nv_scalar(1))
    nv_cumsum(x, 2)
  })
})

test_that("a range is that of all operands", {
  expect_equal(flat(range(f64(c(3, 1)), 7)), c(1, 7))
})

test_that("positions of extremes are those of base R", {
  m <- rbind(c(3, 1, 4, 4), c(1, 9, 9, -2))
  for (dim in 1:2) {
    expect_identical(c(as_array(nv_argmax(nv_tensor(m), dim))), apply(m, 3 - dim, which.max))
    expect_identical(c(as_array(jit(function(x) nv_argmin(x, dim))(nv_tensor(m)))), apply(m, 3 - dim, which.min))
  }
  expect_identical(shape(nv_argmax(nv_tensor(m), 1, drop = FALSE)), c(1L, 4L))
  found <- jit(function(x) nv_argmax(x, with_values = TRUE))(nv_tensor(m))
  expect_identical(lapply(found, function(x) c(as_array(x))), list(values = c(4, 9), indices = c(3L, 2L)))
  expect_identical(c(as_array(nv_argmax(nv_tensor(c(1, NaN, 3, NaN))))), 2L)
  expect_identical(c(as_array(nv_argmax(nv_tensor(rep(-Inf, 3))))), 1L)
  expect_identical(c(as_array(nv_argmin(nv_tensor(c(TRUE, FALSE))))), 2L)
  expect_snapshot(error = TRUE, nv_argmax(nv_scalar(1)))
  expect_snapshot(error = TRUE, nv_argmax(nv_tensor(matrix(0, 0, 2)), 1))
})

test_that("an extreme's value carries its derivative, its position none", {
  f <- function(x) {
    found <- nv_argmax(x, with_values = TRUE)
    sum(found$values * nv_convert(found$indices, "f64"))
  }
  x <- nv_tensor(rbind(c(3, 1, 4), c(1, 9, 2)), dtype = "f64")
  expect_identical(as_array(jit(gradient(f))(x)$x), rbind(c(0, 0, 3), c(0, 2, 0)))
})

test_that("running products and extremes are base R's, along any dimension", {
  x <- c(3, 1, 4, 4, NaN, 2)
  for (name in c("cumprod", "cummax", "cummin")) {
    f <- get(name)
    expect_equal(c(as_array(f(nv_tensor(x, "f64")))), f(x))
    expect_equal(c(as_array(jit(function(x) f(x))(nv_tensor(matrix(1:6, 2))))), f(matrix(1:6, 2)))
    m <- matrix(c(2, -1, 3, 5, 0.5, 1), 2)
    g <- get(paste0("nv_", name))
    expect_equal(as_array(g(nv_tensor(m, "f64"), 1)), apply(m, 2, f))
    expect_equal(as_array(g(nv_tensor(m, "f64"), 2)), t(apply(m, 1, f)))
  }
  found <- nv_cummax(nv_tensor(c(3, 1, 4, 4, 2)), with_indices = TRUE)
  expect_identical(lapply(found, function(x) c(as_array(x))), list(values = c(3, 3, 4, 4, 4), indices = c(1L, 1L, 3L, 4L, 4L)))
  found <- jit(function(x) nv_cummin(x, 1, with_indices = TRUE))(nv_tensor(c(3, 1, NaN, 0)))
  expect_identical(c(as_array(found$indices)), c(1L, 2L, 3L, 3L))
  y <- c(-Inf, 1000, 1000, 990)
  expect_equal(c(as_array(nv_cumlogsumexp(nv_tensor(y, "f64")))), c(-Inf, 1000, 1000 + log(2), 1000 + log(2 + exp(-10))))
})

test_that("gradients of running reductions are the finite differences", {
  x <- c(0.5, -1.2, 0, 2, 1.5, 0.3)
  w <- c(1, -2, 0.5, 3, -1, 2)
  for (f in list(nv_cumprod, nv_cummax, nv_cummin, nv_cumlogsumexp)) {
    loss <- function(x) sum(f(x) * nv_tensor(w, "f64"))
    at <- function(x) as_array(jit(loss)(nv_tensor(x, "f64")))
    slope <- c(as_array(jit(gradient(loss))(nv_tensor(x, "f64"))$x))
    differences <- vapply(seq_along(x), function(i) (at(x + 1e-6 * (seq_along(x) == i)) - at(x - 1e-6 * (seq_along(x) == i))) / 2e-6, 0)
    expect_equal(slope, differences, tolerance = 1e-6)
    one <- nv_tensor(c(1, -1, 2, 0.5, 3, -2), "f64")
    expect_equal(as_array(jvp(loss)(list(nv_tensor(x, "f64")), list(one))$tangent), sum(slope * as_array(one)))
  }
  expect_identical(c(as_array(gradient(function(x) sum(nv_cummax(x)))(nv_tensor(c(1, 1, 0)))$x)), c(1, 2, 0))
})

test_that("short names of reductions, and the two meanings of an extreme", {
  m <- nv_tensor(matrix(c(1, 5, 3, 2), 2), "f64")
  expect_equal(as_array(nv_sum(m, dims = 1, drop = FALSE)), matrix(c(6, 5), 1))
  expect_equal(as_array(nv_prod(m, 2)), array(c(3, 10)))
  expect_identical(nv_pmax(m, 2), nv_max(m, 2))
  expect_identical(nv_pmin(m, 2), nv_min(m, 2))
  expect_error(nv_max(m), "largest element of one is `nv_reduce_max()`", fixed = TRUE, class = "anvil_error_argument")
  expect_error(nv_min(m), "smallest element of one is `nv_reduce_min()`", fixed = TRUE)
})

test_that("variances and covariances of more than a cache holds are those of R", {
  set.seed(7)
  v <- rnorm(300003, 40)
  w <- v + rnorm(length(v))
  m <- matrix(v[seq_len(300000)], 100000)
  centred <- function(x) x - nv_mean(x)
  correlation <- function(x, y) sum(centred(x) * centred(y)) / sqrt(sum(centred(x)^2) * sum(centred(y)^2))
  expect_equal(flat(jit(nv_var)(f64(v))), var(v), tolerance = 1e-13)
  expect_equal(flat(jit(correlation)(f64(v), f64(w))), cor(v, w), tolerance = 1e-13)
  expect_equal(flat(jit(function(x) nv_var(x, 1))(f64(m))), apply(m, 2, var), tolerance = 1e-13)
  expect_equal(flat(jit(function(x) nv_var(x, c(1, 2)))(f64(m))), var(as.vector(m)), tolerance = 1e-13)
  x <- nv_tensor(c(v, w), "f32")
  expect_equal(flat(jit(nv_var)(x)), var(flat(x)), tolerance = 1e-6)
  slope <- function(x) gradient(function(x) nv_var(x * x))(x)[[1]]
  expect_equal(flat(jit(slope)(f64(v)))[1:5], (4 * v * (v^2 - mean(v^2)) / (length(v) - 1))[1:5], tolerance = 1e-12)
  v[200000] <- Inf
  expect_equal(flat(jit(nv_var)(f64(v))), var(v))
})
