test_that("a checkpoint gives the values and the gradients of its function", {
  layer <- function(x, w, scale = 1) list(y = tanh(x %*% w) * scale, half = x / 2)
  again <- nv_checkpoint(layer)
  expect_identical(formals(again), formals(layer))
  f <- function(layer) function(x, w) sum(layer(layer(x, w)$y, w, scale = 3)$y) + sum(layer(x, w)$half)
  x <- nv_tensor(matrix(1:4 / 10, 2), "f64")
  w <- nv_tensor(matrix(c(0.3, -0.2, 0.5, 1), 2), "f64")
  expect_equal(as_array(f(again)(x, w)), as_array(f(layer)(x, w)))
  expect_identical(lapply(jit(gradient(f(again)))(x, w), as_array), lapply(jit(gradient(f(layer)))(x, w), as_array))
  second <- function(layer) jit(gradient(function(x, w) sum(gradient(f(layer))(x, w)$w^2)))
  expect_equal(lapply(second(again)(x, w), as_array), lapply(second(layer)(x, w), as_array))
})

test_that("what is inside is computed again and not kept", {
  f <- function(x) {
    block <- nv_checkpoint(function(x) exp(sin(x)))
    sum(block(block(x)))
  }
  g <- transform_gradient(trace_fn(f, list(x = nv_aten("f64", 5))), "x")
  names <- vapply(g$calls, function(call) call$primitive$name, "")
  expect_identical(sum(names == "checkpoint"), 4L)
  expect_false(any(c("sine", "exponential") %in% names))
})

test_that("arguments of a checkpoint are computed before it", {
  g <- trace_fn(function(x) nv_checkpoint(function(y) sin(y))(cos(x)), list(x = nv_aten("f64", c())))
  expect_identical(vapply(g$calls, function(call) call$primitive$name, ""), c("cosine", "checkpoint"))
})

test_that("checkpoints work in loops and branches, and on R data", {
  step <- nv_checkpoint(function(x, k) nv_if(x > 0, sin(x) * k, x * x))
  f <- function(x) nv_while(list(i = 0L, x = x), \(i, x) i < 5L, \(i, x) list(i = i + 1L, x = step(x, 0.9)))$x
  h <- 1e-5
  at <- function(x) as_array(jit(f)(nv_scalar(x, "f64")))
  slope <- as_array(jit(gradient(f))(nv_scalar(0.6, "f64"))$x)
  expect_equal(slope, (at(0.6 + h) - at(0.6 - h)) / (2 * h), tolerance = 1e-8)
})

test_that("mistakes with checkpoints are explained", {
  expect_error(nv_checkpoint(1), "must be a function", class = "anvil_error_argument")
  expect_error(jit(nv_checkpoint(function(x) "a"))(nv_scalar(1)), "must return tensors", class = "anvil_error_argument")
  for (k in list(0, -1, 1.5, NA, "a", c(1, 2), TRUE)) {
    expect_error(nv_while(list(i = 0L), \(i) i < 3L, \(i) list(i = i + 1L), checkpoint = k), "checkpoint", class = "anvil_error_argument")
  }
})

test_that("no derivative goes through nv_stop_gradient()", {
  x <- nv_tensor(c(1, 2, 3), "f64")
  f <- function(x) sum(x * nv_stop_gradient(x)^2)
  for (run in list(identity, jit)) {
    expect_equal(as_array(run(f)(x)), 36)
    expect_equal(c(as_array(run(gradient(f))(x)$x)), c(1, 4, 9))
    expect_equal(as_array(run(function(x) jvp(f)(list(x), list(x))$tangent)(x)), 36)
    expect_equal(c(as_array(run(gradient(function(x) sum(gradient(f)(x)$x)))(x)$x)), c(0, 0, 0))
    both <- run(function(x) nv_stop_gradient(list(a = x, b = list(2))))(x)
    expect_equal(lapply(flatten(both), function(leaf) c(as_array(leaf))), list(c(1, 2, 3), 2))
    expect_equal(c(as_array(run(vectorize(gradient(f)))(nv_tensor(matrix(1:6, 2), "f64"))$x[2, ])), c(4, 16, 36))
  }
  expect_snapshot(error = TRUE, nv_stop_gradient("a"))
})
