# Recurrent cells, compiled and with their gradients, against debug mode.

cells <- list(
  simple = function(p, h, x) tanh(x %*% p$w + h %*% p$u),
  gated = function(p, h, x) {
    z <- nv_logistic(x %*% p$w + h %*% p$u)
    z * h + (1 - z) * tanh(x %*% p$v + h %*% p$u)
  },
  attending = function(p, h, x) h + 0.1 * sin(x %*% p$w) %*% p$u,
  left = function(p, h, x) tanh(t(t(p$w) %*% t(x)) + t(t(p$u) %*% t(h)))
)

loops <- list(
  scan = function(p, xs, h, cell) {
    r <- nv_scan(h, xs, function(h, x) {
      h <- cell(p, h, x)
      list(carry = h, out = h)
    })
    sum(r$out^2) + sum(r$carry)
  },
  backwards = function(p, xs, h, cell) {
    r <- nv_scan(h, xs, function(h, x) {
      h <- cell(p, h, x)
      list(carry = h, out = NULL)
    }, reverse = TRUE)
    sum(r$carry^2)
  },
  fori = function(p, xs, h, cell) {
    h <- nv_fori(2, dim(xs)[1], h, function(i, h) cell(p, h, xs[i, , ]))
    sum(h^2)
  }
)

sizes <- list(
  list(steps = 4, rows = 8, inputs = 16, units = 32),
  list(steps = 9, rows = 1, inputs = 40, units = 70),
  list(steps = 5, rows = 17, inputs = 1, units = 32)
)

# Of all elements together: single ones may be small differences of large numbers.
expect_near <- function(got, expected, info) {
  got <- unlist(rapply(got, as_array, how = "list"))
  expected <- unlist(rapply(expected, as_array, how = "list"))
  expect_identical(length(got), length(expected), info = info)
  expect_lt(max(abs(got - expected)), 1e-11 * max(abs(expected)), label = info)
}

test_that("recurrent cells give what debug mode gives", {
  for (s in sizes) {
    set.seed(s$steps)
    weights <- function(n, m) nv_tensor(matrix(rnorm(n * m) / sqrt(n), n), "f64")
    p <- list(w = weights(s$inputs, s$units), v = weights(s$inputs, s$units), u = weights(s$units, s$units))
    xs <- nv_tensor(array(rnorm(s$steps * s$rows * s$inputs), c(s$steps, s$rows, s$inputs)), "f64")
    h <- nv_tensor(matrix(rnorm(s$rows * s$units), s$rows), "f64")
    for (loop in names(loops)) {
      for (cell in names(cells)) {
        f <- function(p, xs, h) loops[[loop]](p, xs, h, cells[[cell]])
        g <- gradient(f, wrt = c("p", "xs", "h"))
        what <- paste(loop, cell, paste(unlist(s), collapse = " x "))
        expect_near(list(jit(f)(p, xs, h)), list(f(p, xs, h)), what)
        expect_near(jit(g)(p, xs, h), g(p, xs, h), what)
      }
    }
  }
})
