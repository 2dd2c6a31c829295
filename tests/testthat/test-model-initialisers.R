state <- nv_rng_state(3L)
weights <- function(draw) as_array(draw[[2L]])
spread <- function(draw) sqrt(mean(weights(draw)^2))

test_that("standard deviations and bounds are those of the papers", {
  shape <- c(300L, 200L)
  wanted <- list(
    list(nv_glorot_uniform, nv_glorot_normal, 2 / 500), list(nv_he_uniform, nv_he_normal, 2 / 300), list(nv_lecun_uniform, nv_lecun_normal, 1 / 300)
  )
  for (w in wanted) {
    bound <- sqrt(3 * w[[3L]])
    expect_equal(spread(w[[1L]](shape, state, "f64")), sqrt(w[[3L]]), tolerance = 0.01)
    expect_equal(max(abs(weights(w[[1L]](shape, state, "f64")))), bound, tolerance = 1e-3)
    expect_equal(spread(w[[2L]](shape, state, "f64")), sqrt(w[[3L]]), tolerance = 0.01)
    expect_gt(max(abs(weights(w[[2L]](shape, state, "f64")))), bound)
  }
  expect_equal(spread(nv_he_normal(shape, state, slope = 0.2)), sqrt(2 / 1.04 / 300), tolerance = 0.01)
  expect_equal(weights(nv_glorot_normal(shape, state, gain = 3)), 3 * weights(nv_glorot_normal(shape, state)), tolerance = 1e-6)
})

test_that("fans of kernels are those of convolutions", {
  shape <- c(64L, 32L, 3L, 5L)
  # what one output is made of, counted
  ones <- nv_conv2d(nv_fill(1, c(1L, 32L, 3L, 5L)), nv_fill(1, shape))
  fan_in <- flat(ones)[1L]
  fan_out <- flat(nv_conv_transpose2d(nv_fill(1, c(1L, 64L, 1L, 1L)), nv_fill(1, shape)))
  expect_equal(spread(nv_lecun_normal(shape, state)), 1 / sqrt(fan_in), tolerance = 0.01)
  expect_equal(spread(nv_glorot_uniform(shape, state)), sqrt(2 / (fan_in + sum(fan_out) / 32)), tolerance = 0.01)
  expect_equal(spread(nv_he_normal(5000L, state, fans = c(50, 1))), 0.2, tolerance = 0.02)
})

test_that("values keep their size through deep networks", {
  x <- nv_rnorm(c(64L, 200L), state)[[2L]]
  for (key in nv_rng_split(state, 10L)) x <- nv_relu(x %*% nv_he_normal(c(200L, 200L), key)[[2L]])
  size <- mean(as_array(x)^2)
  expect_gt(size, 0.25)
  expect_lt(size, 4)
})

test_that("orthogonal weights", {
  q <- matrix(weights(nv_orthogonal(c(8L, 2L, 3L), state, "f64")), 8L)
  expect_close(crossprod(q), diag(6), absolute = 1e-14)
  q <- matrix(weights(nv_orthogonal(c(3L, 2L, 4L), state, "f64", gain = 2)), 3L)
  expect_close(tcrossprod(q), 4 * diag(3), absolute = 1e-14)
  # none is likelier than others: elements of a 2 x 2 one are sines of uniform angles
  angles <- vapply(nv_rng_split(state, 200L), function(key) {
    q <- weights(nv_orthogonal(c(2L, 2L), key, "f64"))
    atan2(q[2L, 1L], q[1L, 1L])
  }, 1)
  expect_gt(ks.test(angles, "punif", -pi, pi)$p.value, 1e-3)
})

test_that("compiled, in other dtypes, without elements, and by R's generator", {
  for (f in list(nv_glorot_uniform, nv_he_normal, nv_orthogonal)) {
    expect_equal(as_array(jit(function(state) f(c(4L, 3L), state)[[2L]])(state)), weights(f(c(4L, 3L), state)), tolerance = 1e-5)
    expect_identical(as.character(dtype(f(c(4L, 3L), state, "bf16")[[2L]])), "bf16")
    expect_identical(shape(f(c(0L, 3L), state)[[2L]]), c(0L, 3L))
    set.seed(1)
    first <- f(c(2L, 2L))
    set.seed(1)
    expect_identical(as_array(f(c(2L, 2L))), as_array(first))
  }
})

test_that("mistakes", {
  expect_snapshot(error = TRUE, {
    nv_he_normal(3, state)
    nv_he_normal(c(2, 2), state, fans = 3)
    nv_he_uniform(c(2, 2), state, slope = NA)
    nv_glorot_normal(c(2, 2), state, gain = 0)
    nv_glorot_normal(c(2, 2), state, "i32")
    nv_orthogonal(3, state)
    jit(function() nv_orthogonal(c(2, 2)))()
  })
})
