set.seed(1)
scores <- function(v, epsilon = 1e-5) (v - mean(v)) / sqrt(mean((v - mean(v))^2) + epsilon)

test_that("layers are normalised for each example", {
  x <- matrix(rnorm(12, 3, 2), 3)
  w <- c(1, 2, -1, 0.5)
  b <- c(0, 1, 2, 3)
  expect_close(both(nv_layer_norm, f64(x)), t(apply(x, 1, scores)), 1e-12)
  expect_close(both(nv_layer_norm, f64(x), f64(w), f64(b)), t(apply(x, 1, scores) * w + b), 1e-12)
  expect_close(nv_layer_norm(f64(x), dims = 1:2, epsilon = 0.1), scores(x, 0.1), 1e-12)
  expect_close(both(nv_rms_norm, f64(x), f64(w)), t(apply(x, 1, function(v) v / sqrt(mean(v^2) + 1e-5)) * w), 1e-12)
  y <- array(rnorm(24), 2:4)
  weight <- matrix(rnorm(8), 4)
  expect_close(nv_layer_norm(f64(y), f64(weight), dims = c(3, 1)), aperm(apply(y, 2, scores, simplify = FALSE) |> simplify2array(), c(1, 3, 2)) * aperm(array(t(weight), c(2, 4, 3)), c(1, 3, 2)), 1e-12)
  expect_equal(flat(nv_layer_norm(f64(c(5, 5, 5)))), c(0, 0, 0))
})

test_that("groups and batches of channels", {
  x <- array(rnorm(2 * 6 * 5, 1, 3), c(2, 6, 5))
  w <- rnorm(6)
  b <- rnorm(6)
  expected <- x
  for (n in 1:2) for (g in 1:3) expected[n, 2 * g - 1:0, ] <- scores(x[n, 2 * g - 1:0, ])
  for (c in 1:6) expected[, c, ] <- expected[, c, ] * w[c] + b[c]
  expect_close(both(function(x, w, b) nv_group_norm(x, 3, w, b), f64(x), f64(w), f64(b)), expected, 1e-11)

  trained <- jit(function(x, w, b) nv_batch_norm(x, w, b))(f64(x), f64(w), f64(b))
  for (c in 1:6) expected[, c, ] <- scores(x[, c, ]) * w[c] + b[c]
  expect_close(trained$values, expected, 1e-11)
  expect_equal(flat(trained$state$mean), 0.1 * apply(x, 2, mean))
  expect_equal(flat(trained$state$var), 0.9 + 0.1 * apply(x, 2, function(v) var(c(v))))
  second <- nv_batch_norm(f64(x), state = trained$state, momentum = 0.5)$state
  expect_equal(flat(second$mean), 0.55 * apply(x, 2, mean))
  used <- nv_batch_norm(f64(x), state = second, training = FALSE)
  expect_identical(used$state, second)
  m <- flat(second$mean)
  expect_close(used$values, sweep(sweep(x, 2, m), 2, sqrt(flat(second$var) + 1e-5), `/`), 1e-12)
  expect_equal(as_array(nv_batch_norm(f64(x), training = FALSE)$values), x / sqrt(1 + 1e-5))
})

test_that("a state can be carried by a loop, and has no derivative", {
  xs <- f64(array(rnorm(4 * 5 * 3), c(4, 5, 3)))
  start <- list(mean = f64(numeric(3)), var = f64(rep(1, 3)))
  run <- function(xs) {
    nv_scan(start, xs, function(carry, x) {
      step <- nv_batch_norm(x, state = carry)
      list(carry = step$state, out = sum(step$values))
    })$carry
  }
  by_hand <- start
  for (k in 1:4) by_hand <- nv_batch_norm(xs[k, , ], state = by_hand)$state
  expect_equal(flat(jit(run)(xs)$var), flat(by_hand$var))
  expect_equal(gradient_of(function(x) sum(nv_batch_norm(x)$state$mean), xs[1, , ]), matrix(0, 5, 3))
})

test_that("normalisation is checked", {
  expect_checked(nv_layer_norm, of_f64(3, 4), of_f64(4), of_f64(4))
  expect_checked(nv_rms_norm, of_f64(3, 4), of_f64(4))
  expect_checked(function(x, w, b) nv_group_norm(x, 2, w, b), of_f64(2, 4, 3), of_f64(4), of_f64(4), n = 3L)
  expect_checked(function(x, w, b) nv_batch_norm(x, w, b)$values, of_f64(5, 3), of_f64(3), of_f64(3))
})

test_that("dropout keeps a share and the mean", {
  x <- nv_fill(1, c(200L, 100L), "f32")
  state <- nv_rng_state(3L)
  drop <- jit(function(x, state) nv_dropout(x, 0.25, state))
  found <- drop(x, state)
  expect_equal(as_array(found[[2]]), as_array(nv_dropout(x, 0.25, state)[[2]]))
  y <- flat(found[[2]])
  expect_close(sort(unique(y)), c(0, 4 / 3), 1e-6)
  expect_close(mean(y == 0), 0.25, 0.05)
  expect_false(identical(flat(drop(x, found[[1]])[[2]]), y))
  expect_equal(flat(gradient(function(x) sum(nv_dropout(x, 0.25, state)[[2]]))(x)$x), y)
  expect_equal(flat(nv_dropout(f64(c(1, NaN, 3)), 0)), c(1, NaN, 3))
  set.seed(1)
  first <- flat(nv_dropout(x, 0.5))
  set.seed(1)
  expect_identical(flat(nv_dropout(x, 0.5)), first)
})

test_that("errors name what is wrong", {
  x <- f64(array(1:12, c(2, 3, 2)))
  expect_snapshot(error = TRUE, {
    nv_layer_norm(nv_scalar(1))
    nv_layer_norm(x, f64(1:3))
    nv_layer_norm(x, dims = 4)
    nv_rms_norm(x, epsilon = -1)
    nv_group_norm(x, 2)
    nv_batch_norm(f64(1:3))
    nv_batch_norm(f64(matrix(1, 1, 3)))
    nv_batch_norm(x, state = list(mean = 1))
    nv_batch_norm(x, state = list(mean = f64(1:2), var = f64(1:2)))
    nv_batch_norm(x, momentum = 2)
    nv_dropout(x, 1)
    jit(function(x) nv_dropout(x, 0.5))(x)
  })
})
