# Small floats: stored in 16 bits, computed in f32, rounded once.

# The nearest number with so many bits after the first, in the range of f16 or bf16: by R alone.
rounded <- function(x, dtype) {
  bits <- if (dtype == "f16") 10 else 7
  least <- if (dtype == "f16") -14 else -126
  exponent <- pmax(floor(log2(abs(x))), least)
  step <- 2^(exponent - bits)
  y <- ifelse(x == 0 | !is.finite(x), x, round(x / step) * step) # round() takes ties to the even one
  largest <- (2 - 2^-bits) * 2^(if (dtype == "f16") 15 else 127)
  ifelse(is.finite(x) & abs(y) > largest, sign(y) * Inf, y)
}
small <- c("f16", "bf16")

test_that("what R has is rounded to the nearest number, and comes back as that", {
  set.seed(1)
  x <- c(0, 1 / 3, -2.5, 65504, 65519, 65520, 6e-8, 2^-24, 2^-25, 1e-30, 1e39, Inf, -Inf, rnorm(500), rnorm(500) * 2^runif(500, -30, 30))
  for (dtype in small) {
    tensor <- nv_tensor(x, dtype)
    expect_identical(as.character(dtype(tensor)), dtype)
    expect_identical(as.vector(as_array(tensor)), rounded(x, dtype))
    expect_identical(as_array(nv_tensor(as_array(tensor), dtype)), as_array(tensor))
    expect_identical(as_array(nv_convert(nv_tensor(x, "f64"), dtype)), as_array(tensor))
    expect_identical(as_array(jit(nv_convert, static = "dtype")(nv_tensor(x, "f64"), dtype)), as_array(tensor))
    expect_true(is.nan(as_array(nv_tensor(NaN, dtype))))
    expect_identical(unserialize(serialize(tensor, NULL)), tensor)
  }
})

test_that("every function computes in f32 and rounds once", {
  set.seed(2)
  for (dtype in small) {
    x <- nv_tensor(matrix(runif(60, 0.1, 2), 6), dtype)
    y <- nv_tensor(matrix(runif(60, 0.1, 2), 6), dtype)
    wide <- function(t) nv_convert(t, "f32")
    functions <- list(
      add = function(x, y) x + y, mul = function(x, y) x * y, div = function(x, y) x / y, pow = function(x, y) x^y,
      exp = function(x, y) exp(x), lgamma = function(x, y) lgamma(x), tanh = function(x, y) tanh(x), sqrt = function(x, y) sqrt(x),
      max = function(x, y) nv_max(x, y), sum = function(x, y) nv_reduce_sum(x, 1L), mean = function(x, y) mean(x),
      prod = function(x, y) nv_reduce_prod(x, 2L), cumsum = function(x, y) nv_cumsum(x, 1L), matmul = function(x, y) x %*% t(y)
    )
    for (name in setdiff(names(functions), "mean")) {
      f <- functions[[name]]
      exact <- as_array(nv_convert(f(wide(x), wide(y)), dtype))
      expect_identical(as_array(f(x, y)), exact, label = paste(name, dtype))
      expect_equal(as_array(jit(f)(x, y)), exact, tolerance = 2^-7, label = paste("jitted", name, dtype))
    }
    for (name in c("add", "mul", "div", "pow", "exp", "tanh", "sqrt", "max")) {
      expect_identical(as_array(jit(functions[[name]])(x, y)), as_array(functions[[name]](x, y)), label = paste(name, dtype))
    }
    # in a fused loop each call rounds
    chain <- function(x, y) (x * y + x) / y - exp(x)
    expect_identical(as_array(jit(chain)(x, y)), as_array(chain(x, y)))
  }
})

test_that("sums add up in f32", {
  for (dtype in small) {
    x <- nv_tensor(rep(1, 4096), dtype) # one by one f16 stops at 2048, bf16 at 256
    expect_identical(as.vector(as_array(sum(x))), 4096)
    expect_identical(as.vector(as_array(jit(sum)(x))), 4096)
    expect_identical(as.vector(as_array(jit(function(x) nv_cumsum(x, 1L))(x)))[4096], 4096)
    expect_identical(as.vector(as_array(jit(function(x) nv_matmul(nv_reshape(x, c(1L, 4096L)), nv_reshape(x, c(4096L, 1L))))(x))), 4096)
  }
})

test_that("gradients have the dtype of what they are taken by", {
  for (dtype in small) {
    w <- nv_tensor(c(0.5, -1, 2), dtype)
    g <- jit(gradient(function(w) sum(tanh(w)^2)))(w)$w
    expect_identical(as.character(dtype(g)), dtype)
    expect_identical(as_array(g), as_array(gradient(function(w) sum(tanh(w)^2))(w)$w))
    exact <- 2 * tanh(c(0.5, -1, 2)) / cosh(c(0.5, -1, 2))^2
    expect_equal(as.vector(as_array(g)), exact, tolerance = 2^-6)
  }
})

test_that("operands of two dtypes have the smallest common one that holds both", {
  promoted <- function(a, b) as.character(common_dtype(a, b)$dtype)
  expect_identical(promoted("f16", "bf16"), "f32")
  expect_identical(promoted("bf16", "f16"), "f32")
  expect_identical(promoted("f16", "f32"), "f32")
  expect_identical(promoted("bf16", "f64"), "f64")
  expect_identical(promoted("i64", "f16"), "f16")
  expect_identical(promoted("bool", "bf16"), "bf16")
  expect_identical(as.character(dtype(nv_tensor(1:3, "f16") * 2.5)), "f16")
  expect_identical(as.character(dtype(nv_tensor(1:3, "bf16") + 1L)), "bf16")
})

test_that("they go through text, order, random numbers and factorisations", {
  set.seed(3)
  for (dtype in small) {
    x <- nv_tensor(c(2, NaN, -Inf, 0.5, -0, 1), dtype)
    graph <- trace_fn(function(x) nv_sort(x) * 1.5, list(x = x))
    text <- write_stablehlo(graph)
    expect_match(text, paste0("tensor<6x", dtype, ">"), fixed = TRUE)
    expect_identical(as_array(read_stablehlo(text)(x)), as_array(nv_sort(x) * 1.5))
    expect_identical(as_array(jit(nv_sort)(x)), as_array(nv_sort(x)))
    expect_identical(as.vector(as_array(jit(nv_argsort)(x))), as.vector(as_array(nv_argsort(x))))
    drawn <- as_array(nv_runif(2000L, nv_rng_state(1L), dtype = dtype)[[2L]])
    expect_true(all(drawn > 0 & drawn < 1))
    expect_equal(mean(drawn), 0.5, tolerance = 0.05)
    expect_equal(sd(as_array(nv_rnorm(2000L, nv_rng_state(2L), dtype = dtype)[[2L]])), 1, tolerance = 0.1)
    s <- nv_tensor(crossprod(matrix(rnorm(16), 4)) + 4 * diag(4), dtype)
    expect_equal(as_array(jit(nv_chol)(s)), chol(as_array(s)), tolerance = 2^-6)
    expect_identical(as_array(jit(nv_chol)(s)), as_array(nv_chol(s)))
  }
})

test_that("what is averaged over many small floats lies in their range", {
  for (dtype in small) {
    many <- nv_tensor(rep(c(1, -1), 5e4), dtype) # more than f16 can count
    for (wrap in list(identity, jit)) {
      value <- function(f, x) as.vector(as_array(wrap(f)(x)))
      expect_identical(value(function(x) mean(x * x), many), 1)
      expect_identical(value(function(x) nv_var(x), many), 1)
      expect_identical(value(function(x) nv_mse(x, nv_scalar(0, dtype)), many), 1)
      expect_identical(value(function(x) rowMeans(x), nv_tensor(matrix(1, 2, 7e4), dtype)), c(1, 1))
      expect_identical(value(mean, nv_tensor(rep(57344, 100), dtype)), 57344)
      large <- nv_tensor(c(300, -300), dtype) # squares are beyond f16
      expect_equal(value(function(x) nv_sd(x, correction = 0), large), 300)
      for (norm in list(nv_layer_norm, nv_rms_norm)) expect_equal(value(norm, large), c(1, -1))
      batch <- value(function(x) nv_batch_norm(x)$values, nv_reshape(large, c(2L, 1L)))
      expect_equal(batch, c(1, -1))
      expect_identical(as.character(dtype(wrap(nv_layer_norm)(large))), dtype)
    }
  }
})
