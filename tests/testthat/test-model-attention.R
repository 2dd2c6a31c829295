set.seed(1)
normal <- function(...) array(rnorm(prod(...)), c(...))
# Written out for one head; `see` is a matrix of flags, `added` one of numbers.
attention_of <- function(q, k, v, see = TRUE, added = 0, scale = 1 / sqrt(ncol(q))) {
  s <- q %*% t(k) * scale + added
  e <- exp(s - max(s)) * see
  (e / rowSums(e)) %*% v
}

test_that("attention weighs values, for each example and head", {
  q <- normal(2, 3, 5, 4)
  k <- normal(2, 3, 6, 4)
  v <- normal(2, 3, 6, 2)
  expected <- function(...) {
    out <- array(0, c(2, 3, 5, 2))
    for (b in 1:2) for (h in 1:3) out[b, h, , ] <- attention_of(q[b, h, , ], k[b, h, , ], v[b, h, , ], ...)
    out
  }
  expect_close(both(nv_attention, f64(q), f64(k), f64(v), absolute = 1e-15), expected(), 1e-12)
  expect_close(nv_attention(f64(q), f64(k), f64(v), scale = 2), expected(scale = 2), 1e-12)
  lower <- outer(1:5, 1:6, `>=`)
  expect_close(both(function(q, k, v) nv_attention(q, k, v, causal = TRUE), f64(q), f64(k), f64(v), absolute = 1e-15), expected(see = lower), 1e-12)
  some <- matrix(runif(30) > 0.4, 5)
  expect_close(nv_attention(f64(q), f64(k), f64(v), mask = nv_tensor(some)), expected(see = some), 1e-12)
  expect_close(nv_attention(f64(q), f64(k), f64(v), mask = nv_tensor(some), causal = TRUE), expected(see = some & lower), 1e-12)
  expect_close(nv_attention(f64(q), f64(k), f64(v), mask = f64(array(1:6, c(1, 1, 1, 6)))), expected(added = rep(1:6, each = 5)), 1e-12)
  expect_close(nv_attention(f64(q[1, 1, , ]), f64(k[1, 1, , ]), f64(v[1, 1, , ])), attention_of(q[1, 1, , ], k[1, 1, , ], v[1, 1, , ]), 1e-12)
  expect_close(nv_attention(f64(q[1, , , ]), f64(k[1, , , ]), f64(v[1, , , ])), expected()[1, , , ], 1e-12)
})

test_that("heads of keys are shared by neighbouring heads of queries", {
  q <- f64(normal(2, 6, 3, 4))
  k <- normal(2, 2, 5, 4)
  v <- normal(2, 2, 5, 3)
  each <- c(1, 1, 1, 2, 2, 2)
  mask <- nv_tensor(array(runif(2 * 6 * 3 * 5) > 0.3, c(2, 6, 3, 5)))
  grouped <- function(q, k, v) nv_attention(q, k, v, mask = mask)
  expect_close(both(grouped, q, f64(k), f64(v), absolute = 1e-15), as_array(nv_attention(q, f64(k[, each, , ]), f64(v[, each, , ]), mask = mask)), 1e-12)
})

test_that("a query that sees nothing gives zeros, with derivative zero", {
  q <- f64(normal(3, 2))
  mask <- rbind(c(TRUE, FALSE), FALSE, TRUE)
  f <- function(q, k, v) nv_attention(q, k, v, mask = nv_tensor(mask))
  k <- f64(normal(2, 2))
  found <- both(f, q, k, k)
  expect_equal(found[2, ], c(0, 0))
  expect_equal(found[1, ], as_array(k)[1, ])
  slopes <- jit(gradient(function(q, k, v) sum(f(q, k, v)^2)))(q, k, k)
  expect_true(all(vapply(slopes, function(g) all(is.finite(as_array(g))), NA)))
  expect_equal(as_array(slopes$q)[1:2, ], matrix(0, 2, 2))
})

test_that("tensors without elements", {
  none <- function(...) nv_empty("f64", c(...))
  expect_equal(both(nv_attention, none(3L, 2L), none(0L, 2L), none(0L, 1L)), matrix(0, 3, 1))
  expect_equal(shape(nv_attention(none(2L, 0L, 3L, 2L), none(2L, 0L, 4L, 2L), none(2L, 0L, 4L, 5L))), c(2L, 0L, 3L, 5L))
  expect_equal(shape(nv_embedding(nv_tensor(integer()), f64(normal(3, 2)))), c(0L, 2L))
})

test_that("embeddings and classes as vectors", {
  w <- normal(4, 3)
  i <- matrix(c(2L, 4L, 1L, 2L), 2)
  expect_equal(both(nv_embedding, nv_tensor(i), f64(w)), array(w[i, ], c(2, 2, 3)))
  expect_equal(flat(nv_embedding(nv_scalar(3L), f64(w))), w[3, ])
  expect_equal(dim(nv_embedding(nv_tensor(i), f64(normal(4, 3, 2)))), c(2L, 2L, 3L, 2L))
  expect_equal(gradient_of(function(w) sum(nv_embedding(nv_tensor(i), w)), f64(w)), matrix(c(1, 2, 0, 1), 4, 3))
  expect_equal(both(function(i) nv_one_hot(i, 3, dtype = "i32"), nv_tensor(c(3L, 1L, 0L))), rbind(c(0L, 0L, 1L), c(1L, 0L, 0L), 0L))
  expect_equal(as_array(nv_one_hot(nv_tensor(c(3L, 1L)), 3, dims = 1)), cbind(c(0, 0, 1), c(1, 0, 0)))
  expect_equal(as.character(dtype(nv_one_hot(2L, 3, dtype = "bool"))), "bool")
  classes <- factor(c("b", "a", "c", "b"), levels = c("a", "b", "c", "d"))
  expect_equal(as_array(nv_one_hot(classes)), unname(model.matrix(~ classes - 1)), ignore_attr = TRUE)
  expect_equal(shape(nv_one_hot(classes, 6)), c(4L, 6L))
})

test_that("attention and embeddings are checked", {
  expect_checked(nv_attention, of_f64(4, 3), of_f64(5, 3), of_f64(5, 2))
  expect_checked(function(q, k, v) nv_attention(q, k, v, causal = TRUE), of_f64(2, 4, 3, 2), of_f64(2, 2, 3, 2), of_f64(2, 2, 3, 2), n = 3L)
  expect_checked(nv_embedding, nv_tensor(c(1L, 3L, 3L)), of_f64(3, 2))
})

test_that("errors name what is wrong", {
  x <- f64(normal(2, 3, 4))
  expect_snapshot(error = TRUE, {
    nv_attention(x, x, f64(matrix(1, 2, 2)))
    nv_attention(x, f64(normal(2, 3, 5)), x)
    nv_attention(x, x, f64(normal(2, 2, 4)))
    nv_attention(f64(normal(3, 3, 4)), x, x)
    nv_attention(x, x, x, mask = nv_tensor(matrix(TRUE, 2, 3)))
    nv_attention(x, x, x, mask = nv_tensor(matrix(1L, 3, 3)))
    nv_embedding(nv_tensor(c(1, 2)), x)
    nv_embedding(nv_tensor(5L), x)
    nv_embedding(1L, nv_empty("f32", c(0L, 2L)))
    nv_attention(x, nv_empty("f64", c(0L, 3L, 4L)), nv_empty("f64", c(0L, 3L, 4L)))
    nv_one_hot(nv_tensor(1L), -1)
    nv_one_hot(nv_tensor(1L))
    nv_one_hot(factor(c("a", NA)))
    nv_one_hot(c(1, 2), 2)
    nv_one_hot(nv_tensor(c(TRUE, FALSE)), 2)
  })
})
