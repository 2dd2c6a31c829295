# The transformations that the vignette of that name shows, on branches, loops and functions in functions.

example_file <- function(name) system.file("examples", name, package = "anvil", mustWork = TRUE)
transformation <- function(name) {
  around <- new.env(parent = globalenv())
  sys.source(example_file(name), around)
  around
}
f64 <- function(x) nv_scalar(x, "f64")
square <- function(x) x * x
program <- function(x, n) {
  y <- nv_if(x > 0, exp(x) - 1, square(x))
  step <- function(y) 0.5 * y + tanh(y)
  nv_while(list(i = 0L, y = y), function(i, y) i < n, function(i, y) list(i = i + 1L, y = nv_if(y > 1, step(y), y - 0.1)))$y
}

test_that("each transformation has less than 60 lines", {
  for (name in c("interval.R", "operations.R", "stable.R")) expect_lt(length(readLines(example_file(name))), 60L)
})

test_that("intervals hold every value that a program takes", {
  t <- transformation("interval.R")
  found <- t$bounds(program, t$interval(f64(-1), f64(2)), t$interval(nv_scalar(1L), nv_scalar(4L)))
  inside <- function(x, n) {
    value <- as_array(program(f64(x), nv_scalar(n)))
    value >= as_array(found$lo) - 1e-12 && value <= as_array(found$hi) + 1e-12
  }
  for (n in 1:4) for (x in seq(-1, 2, by = 0.05)) expect_true(inside(x, n))
  point <- t$bounds(program, t$interval(f64(0.7)), t$interval(nv_scalar(3L)))
  expect_equal(as_array(point$lo), as_array(program(f64(0.7), nv_scalar(3L))))
  expect_equal(as_array(point$hi), as_array(point$lo))
  compiled <- jit(function(lo, hi, n) t$bounds(program, t$interval(lo, hi), t$interval(n)))
  at_once <- t$bounds(program, t$interval(f64(-1), f64(2)), t$interval(nv_scalar(3L)))
  expect_equal(lapply(compiled(f64(-1), f64(2), nv_scalar(3L)), as_array), lapply(at_once, as_array))
  expect_error(t$bounds(function(x) sin(x), t$interval(f64(0), f64(1))), "no rule \"interval\" for `sine`")
})

test_that("operations and bytes are counted", {
  t <- transformation("operations.R")
  count <- function(...) t$count_operations(...)
  m <- function(...) nv_aten("f32", c(...))
  expect_identical(count(function(x, w) nvl_dot_general(x, w, list(2L, 1L)), m(3, 4), m(4, 5)), c(calls = 1, operations = 120, bytes = 4 * (12 + 20 + 15)))
  expect_identical(count(function(x) exp(x) + x, m(10)), c(calls = 2, operations = 20, bytes = 200))
  branch <- function(x) nv_if(TRUE, exp(exp(x)), x)
  expect_identical(count(branch, m(10)), count(function(x) exp(exp(x)), m(10)))
  loop <- function(x) nv_while(list(x = x), function(x) TRUE, function(x) list(x = exp(nv_if(FALSE, x, -x))))$x
  expect_identical(count(loop, m(10), steps = 7), 7 * count(function(x) exp(-x), m(10)))
})

test_that("log(sum(exp(x))) is made stable", {
  t <- transformation("stable.R")
  naive <- function(x) {
    total <- function(x) log(sum(exp(x)))
    nv_if(x[1] > 0, total(x), nv_while(list(i = 0L, s = x[1] * 0), \(i, s) i < 3L, \(i, s) list(i = i + 1L, s = s + total(x)))$s)
  }
  at <- function(f, x) as_array(jit(f)(nv_tensor(x, "f64")))
  expect_equal(at(t$stable(naive), c(1, 2, 3)), at(naive, c(1, 2, 3)))
  expect_identical(at(t$stable(naive), c(1000, 1, 2)), 1000)
  expect_equal(at(t$stable(naive), c(-1000, -999, -1001)), 3 * (-999 + log(1 + exp(-1) + exp(-2))))
  expect_identical(at(naive, c(1000, 1, 2)), Inf)
  expect_equal(as_array(gradient(t$stable(naive))(nv_tensor(c(1000, 1, 2), "f64"))[[1L]]), array(c(1, 0, 0)))
  expect_identical(at(t$stable(function(x) log(sum(exp(x)))), c(-Inf, -Inf)), -Inf)
  rows <- t$stable(function(x) log(nv_reduce_sum(exp(x), 2, drop = FALSE)) * 2)
  x <- matrix(c(1000, 0, 0, 1), 2)
  expect_equal(as_array(rows(nv_tensor(x, "f64"))), 2 * cbind(c(1000, 1 + log1p(exp(-1)))))
})
