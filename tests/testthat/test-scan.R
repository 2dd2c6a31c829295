# Loops over steps: against R's own loops, in debug mode and compiled, with derivatives and batches.

f64 <- function(x) nv_tensor(x, dtype = "f64")
s64 <- function(x) nv_scalar(x, dtype = "f64")
values <- function(x) map_tree(function(leaf) unclass(as_array(leaf)), x)
both <- function(f, ...) {
  debug <- values(f(...))
  expect_equal(values(jit(f)(...)), debug)
  debug
}

rnn <- function(x, w, reverse = FALSE) {
  nv_scan(list(h = nv_fill(0, 2L, "f64")), list(u = x), function(carry, x) {
    h <- tanh(carry$h * w + x$u)
    list(carry = list(h = h), out = list(h, sum(h)))
  }, reverse = reverse)
}

test_that("loops take R's vectors, matrices and time series as the data they are", {
  m <- matrix(c(1, 2, 3, 4) / 3, 2)
  double <- function(i, x) x + x
  typed <- function(x) list(as.character(dtype(x)), as_array(x))
  for (run in list(function(f) f(), function(f) jit(f)())) {
    expect_identical(typed(run(function() nv_fori(1L, 2L, c(1, 2) / 3, double))), list("f64", array(c(4, 8) / 3)))
    expect_identical(typed(run(function() nv_fori(1L, 2L, m, double))), list("f64", m * 4))
    expect_identical(typed(run(function() nv_fori(1L, 2L, ts(1:3), double))), list("i32", array(c(4L, 8L, 12L))))
    expect_identical(typed(run(function() nv_while(list(i = 0L, x = c(1, 2)), \(i, x) i < 2L, \(i, x) list(i = i + 1L, x = x * 2))$x)), list("f64", array(c(4, 8))))
    scan <- run(function() nv_scan(c(0, 0), ts(m, start = 1990), function(s, x) list(carry = s + x, out = s)))
    expect_identical(typed(scan$carry), list("f64", array(colSums(m))))
    expect_identical(typed(scan$out), list("f64", rbind(0, m[1L, ])))
    expect_identical(typed(run(function() nv_map(c(1, 2) / 3, function(x) x * 3))), list("f64", array(c(1, 2))))
    expect_identical(typed(run(function() nv_map(c(TRUE, FALSE), function(x) !x))), list("bool", array(c(FALSE, TRUE))))
    expect_identical(typed(run(function() nv_associative_scan(1:4, `+`))), list("i32", array(cumsum(1:4))))
  }
  local_default_dtypes("f32")
  expect_identical(as.character(dtype(nv_fori(1L, 2L, c(1, 2), double))), "f32")
})

test_that("nv_scan() is a loop that carries and stacks", {
  x <- matrix(sin(1:8), 4)
  for (reverse in c(FALSE, TRUE)) {
    h <- c(0, 0)
    states <- matrix(0, 4, 2)
    for (i in if (reverse) 4:1 else 1:4) states[i, ] <- h <- tanh(h * 0.5 + x[i, ])
    found <- both(function(x) rnn(x, 0.5, reverse), f64(x))
    expect_equal(found, list(carry = list(h = array(h)), out = list(states, array(rowSums(states)))))
  }
  expect_equal(both(function(x) nv_scan(x, NULL, function(c, x) list(carry = c * 2, out = NULL), steps = 3), nv_scalar(1)), list(carry = 8, out = NULL))
  expect_equal(both(function(x) nv_scan(s64(0), x, function(c, x) list(carry = c + x))$carry, f64(numeric())), 0)
  empty <- jit(function(x) rnn(x, 0.5))(f64(matrix(0, 0, 2)))
  expect_identical(lapply(empty$out, shape), list(c(0L, 2L), 0L))
})

test_that("nv_scan() has derivatives in both modes, of both orders, and in batches", {
  x <- matrix(sin(1:8), 4)
  loss <- function(x, w) {
    made <- rnn(x, w)
    sum(made$out[[1L]]^2) + sum(made$carry$h)
  }
  at <- function(x, w) as_array(jit(loss)(f64(x), s64(w)))
  slopes <- values(jit(gradient(loss))(f64(x), s64(0.5)))
  step <- 1e-6
  expect_equal(c(slopes$w), (at(x, 0.5 + step) - at(x, 0.5 - step)) / (2 * step), tolerance = 1e-6)
  for (k in c(1, 6)) {
    e <- replace(x * 0, k, step)
    expect_equal(slopes$x[k], (at(x + e, 0.5) - at(x - e, 0.5)) / (2 * step), tolerance = 1e-6)
  }
  moved <- jit(function(x, w, dx, dw) jvp(loss)(list(x, w), list(dx, dw))$tangent)(f64(x), s64(0.5), f64(x), s64(2))
  expect_equal(as_array(moved), sum(slopes$x * x) + 2 * c(slopes$w))
  second <- as_array(jit(hessian(loss, "w"))(f64(x), s64(0.5))$w$w)
  slope <- function(w) c(values(jit(gradient(loss, "w"))(f64(x), s64(w)))$w)
  expect_equal(c(second), (slope(0.5 + step) - slope(0.5 - step)) / (2 * step), tolerance = 1e-5)
  many <- array(sin(1:24), c(3, 4, 2))
  each <- as_array(jit(vectorize(function(x) rnn(x, 0.5)$out[[1L]]))(f64(many)))
  for (i in 1:3) expect_equal(each[i, , ], values(rnn(f64(many[i, , ]), 0.5))$out[[1L]])
})

test_that("nv_scan() goes through StableHLO", {
  f <- function(x) rnn(x, 0.5)$out[[2L]]
  file <- withr::local_tempfile(fileext = ".mlir")
  write_stablehlo(trace_fn(f, list(x = nv_aten("f64", c(4, 2)))), file)
  x <- f64(matrix(sin(1:8), 4))
  expect_equal(as_array(jit(read_stablehlo(file))(x)), as_array(f(x)))
})

test_that("nv_fori() counts from the first to the last number", {
  factorial_of <- function(n) nv_fori(1L, n, nv_scalar(1, "f64"), function(i, x) x * nv_convert(i, "f64"))
  for (n in c(0L, 1L, 5L)) expect_equal(both(factorial_of, nv_scalar(n)), factorial(n))
  expect_equal(both(function(x) nv_fori(-2, 2, x, function(i, x) x + i * i), nv_scalar(0L)), 10L)
  power <- function(x) nv_fori(1, 3, nv_scalar(1, "f64"), function(i, y) y * x)
  expect_equal(as_array(jit(gradient(power))(nv_scalar(2, "f64"))$x), 12)
  # behind the largest number comes the least one
  count <- function(from, to) nv_fori(from, to, 0L, function(i, x) x + 1L)
  top <- .Machine$integer.max
  expect_equal(both(function(n) count(n - 1L, n), nv_scalar(top)), 2L)
  expect_equal(both(function(n) count(top - 2L, top) + n, nv_scalar(0L)), 3L)
})

test_that("nv_map() is one element after the other", {
  m <- matrix(1:6, 3)
  expect_equal(c(both(function(x) nv_map(x, function(row) sum(row)), nv_tensor(m))), rowSums(m))
  expect_equal(both(function(x, y) nv_map(list(x, y), function(e) list(p = e[[1L]] * e[[2L]])), f64(c(1, 2)), f64(c(3, 4))), list(p = array(c(3, 8))))
})

test_that("nv_associative_scan() combines the first 1, 2, ... elements", {
  after <- function(l, r) list(a = l$a * r$a, b = r$a * l$b + r$b)
  recurrence <- function(a, b) nv_associative_scan(list(a = a, b = b), after)$b
  for (n in c(1, 2, 3, 7, 16)) {
    a <- cos(seq_len(n))
    b <- sin(seq_len(n))
    y <- Reduce(function(y, i) a[i] * y + b[i], seq_len(n), 0, accumulate = TRUE)[-1L]
    expect_equal(c(both(recurrence, f64(a), f64(b))), y)
    expect_equal(c(both(function(x) nv_associative_scan(x, function(a, b) a + b, reverse = TRUE), f64(a))), rev(cumsum(rev(a))))
  }
  # backwards, where the order matters
  a <- f64(c(0.5, 2, 3))
  b <- f64(c(1, 10, 100))
  backwards <- nv_scan(nv_scalar(0, "f64"), list(a = a, b = b), function(y, x) {
    y <- x$a * y + x$b
    list(carry = y, out = y)
  }, reverse = TRUE)$out
  found <- both(function(a, b) nv_associative_scan(list(a = a, b = b), after, reverse = TRUE)$b, a, b)
  expect_identical(c(found), c(106, 210, 100))
  expect_identical(c(as_array(backwards)), c(found))
  # products of matrices, which lie along the last dimension
  m <- array(sin(1:12), c(2, 2, 3))
  products <- both(function(m) nv_associative_scan(m, function(a, b) a %*% b, dims = 3), f64(m))
  expect_equal(products[, , 3], m[, , 1] %*% m[, , 2] %*% m[, , 3])
  x <- f64(c(2, 3, 5))
  expect_equal(c(as_array(jit(gradient(function(x) sum(nv_associative_scan(x, function(a, b) a * b))))(x)$x)), c(1 + 3 + 15, 2 + 10, 6))
})

test_that("boxes without data give types", {
  expect_output(print(nv_map(debug_box("f32", c(3, 2)), function(x) sum(x))), "f32{3}", fixed = TRUE)
  made <- nv_scan(nv_scalar(0), debug_box("f32", 3), function(carry, x) list(carry = carry + x, out = carry))
  expect_identical(c(shape(made$out), length(shape(made$carry))), c(3L, 0L))
})

test_that("mistakes are explained", {
  x <- f64(c(1, 2, 3))
  expect_snapshot(error = TRUE, {
    nv_scan(1, NULL, function(carry, x) carry)
    nv_scan(1, x, function(carry, x) carry)
    nv_scan(nv_scalar(1, "f64"), x, function(carry, x) list(carry = nv_tensor(c(1, 2)), out = x))
    jit(function(x) nv_scan(list(h = x[1]), x, function(carry, x) list(carry = list(h = x > 2))))(x)
    nv_scan(nv_scalar(1), list(x, nv_tensor(1:2)), function(carry, x) carry)
    nv_scan(nv_scalar(1), x, function(carry, x) carry, steps = 2)
    nv_scan("a", x, function(carry, x) carry)
    nv_scan(nv_scalar(1), nv_scalar(1), function(carry, x) carry)
    nv_fori(1.5, 2, 0, function(i, x) x)
    nv_map(x, 3)
    nv_associative_scan(x, function(a, b) a, dims = 2)
    nv_associative_scan(list(x), function(a, b) a[[1]])
  })
})

# What does not belong to the recurrence leaves the loop, in each of the ways in which a series is written.
test_that("likelihoods of recurrences and their gradients are those of R's loops", {
  set.seed(1)
  n <- 60
  y <- rnorm(n)
  after <- function(p, h, x) exp(p[1]) + 0.1 * x * x + p[2] * h
  term <- function(h, x) -0.5 * log(h) - 0.5 * x * x / h
  by_r <- function(p) {
    h <- 1
    total <- 0
    for (x in y) {
      h <- after(p, h, x)
      total <- total + term(h, x)
    }
    total
  }
  forms <- list(
    function(p, y) {
      step <- function(i, h, total) {
        h <- after(p, h, y[i])
        list(i = i + 1L, h = h, total = total + term(h, y[i]))
      }
      nv_while(list(i = nv_scalar(1L), h = s64(1), total = s64(0)), function(i, h, total) i <= n, step)$total
    },
    function(p, y) {
      step <- function(i, h, total) {
        h <- after(p, h, y[61L - i])
        list(i = i - 1L, h = h, total = total + term(h, y[61L - i]))
      }
      nv_while(list(i = nv_scalar(60L), h = s64(1), total = s64(0)), function(i, h, total) i > 0, step)$total
    },
    function(p, y) {
      sum(nv_scan(s64(1), y, function(h, x) {
        h <- after(p, h, x)
        list(carry = h, out = term(h, x))
      })$out)
    },
    function(p, y) {
      h <- nv_fori(1, n, nv_fill(1, n + 1, "f64"), function(i, h) {
        h[i + 1L] <- after(p, h[i], y[i])
        h
      })
      sum(term(h[2:(n + 1)], y))
    }
  )
  p <- c(-2, 0.7)
  slopes <- vapply(1:2, function(k) {
    e <- 1e-5 * (1:2 == k)
    (by_r(p + e) - by_r(p - e)) / 2e-5
  }, 0)
  for (f in forms) {
    expect_equal(both(f, f64(p), f64(y)), by_r(p), ignore_attr = TRUE)
    expect_equal(as.vector(both(gradient(f, "p"), f64(p), f64(y))$p), slopes, tolerance = 1e-7)
  }
})
