test_that("operators agree with R", {
  set.seed(1)
  a <- matrix(rnorm(6), 2)
  b <- matrix(runif(6, 0.5, 2), 2)
  for (op in c("+", "-", "*", "/", "%%", "%/%")) {
    f <- match.fun(op)
    expect_equal(both(f, f64(a), f64(b)), f(a, b), label = op)
    expect_equal(both(function(x) f(x, 0.75), f64(a)), f(a, 0.75), label = op)
    expect_equal(both(function(x) f(2, x), f64(b)), f(2, b), label = op)
  }
  expect_equal(both(`^`, f64(b), f64(a)), b^a)
  expect_equal(both(`-`, f64(a)), -a)
  expect_equal(value(+f64(a)), a)
  expect_equal(both(nv_abs, f64(a)), abs(a))
  expect_equal(both(nv_sign, f64(a)), sign(a))
  expect_equal(both(nv_max, f64(a), f64(b)), pmax(a, b))
  expect_equal(both(nv_min, f64(a), f64(b)), pmin(a, b))
})

test_that("every dtype adds, subtracts and multiplies in itself", {
  for (dtype in number_dtypes) {
    x <- nv_tensor(c(3L, 5L, 7L), dtype = dtype)
    y <- nv_tensor(c(2L, 5L, 3L), dtype = dtype)
    expect_equal(both(nv_add, x, y), array(c(5, 10, 10)), ignore_attr = FALSE, label = dtype)
    expect_equal(both(nv_mul, x, y), array(c(6, 25, 21)), label = dtype)
    expect_equal(both(nv_max, x, y), array(c(3, 5, 7)), label = dtype)
    expect_equal(both(nv_mod, x, y), array(c(1, 0, 1)), label = dtype)
    expect_equal(both(nv_floor_div, x, y), array(c(1, 1, 2)), label = dtype)
    expect_equal(as.character(dtype(x + y)), dtype)
  }
})

test_that("logicals count as integers", {
  a <- c(TRUE, TRUE, FALSE)
  b <- c(FALSE, TRUE, TRUE)
  x <- nv_tensor(a)
  y <- nv_tensor(b)
  for (op in c("+", "-", "*", "^")) {
    f <- match.fun(op)
    expect_equal(as.vector(both(f, x, nv_tensor(!logical(3)))), f(a, !logical(3)), label = op)
    expect_equal(as.vector(both(function(x) f(TRUE, x), y)), f(TRUE, b), label = op)
  }
  for (f in list(`-`, `+`, abs, sign, diff, cumsum, sqrt, range, max, min)) expect_equal(as.vector(both(f, x)), f(a) + 0L)
  expect_equal(as.vector(both(function(x, y) sum(x + y), x, y)), sum(a + b))
  expect_equal(as.vector(both(nv_pmax, x, y)), pmax(a, b))
  expect_equal(as.vector(both(nv_square, x)), a^2)
  expect_equal(as.vector(both(crossprod, x)), c(crossprod(a)))
  expect_equal(both(tcrossprod, x), tcrossprod(a))
  expect_equal(both(nv_outer, x, y), outer(a, b))
  expect_equal(as.vector(both(`%*%`, x, y)), c(a %*% b))
  expect_equal(type_of(x + y), "i32[3]")
  expect_equal(flat(nvl_add(x, y)), a | b)
})

test_that("%% and %/% follow R for all signs", {
  grid <- expand.grid(a = c(-7, -3, -1, 0, 1, 5, 8), b = c(-3, -1, 1, 2, 5))
  expect_equal(as.vector(both(`%%`, f64(grid$a), f64(grid$b))), grid$a %% grid$b)
  expect_equal(as.vector(both(`%/%`, f64(grid$a), f64(grid$b))), grid$a %/% grid$b)
  a <- as.integer(grid$a)
  b <- as.integer(grid$b)
  expect_identical(as.vector(both(`%%`, nv_tensor(a), nv_tensor(b))), a %% b)
  expect_identical(as.vector(both(`%/%`, nv_tensor(a), nv_tensor(b))), a %/% b)
  # golden
  expect_equal(flat(nv_mod(nv_tensor(c(1L, -1L)), nv_tensor(c(-3L, 3L)))), c(-2L, 2L))
  expect_equal(flat(jit(function() nv_remainder(1, -3))()), 1)
})

test_that("%% and %/% follow R at the edges of floats", {
  a <- c(5, -5, 5, -5, Inf, NaN, 0.3, -0.1, 5, 0)
  b <- c(Inf, Inf, -Inf, -Inf, 5, 1, 0.1, 3, 0, 0)
  expect_equal(as.vector(both(`%%`, f64(a), f64(b))), a %% b)
  expect_equal(as.vector(both(`%/%`, f64(a[-7]), f64(b[-7]))), a[-7] %/% b[-7])
  x <- f64(c(1e15 + 0.5, -7.25, 1))
  y <- f64(c(0.1, 0.3, 0.1))
  expect_equal(flat(y * (x %/% y) + x %% y), flat(x))
})

test_that("%% does not overflow", {
  top <- .Machine$integer.max
  expect_identical(as.vector(both(`%%`, nv_tensor(c(top, -top)), nv_tensor(c(top - 1L, top)))), c(top, -top) %% c(top - 1L, top))
})

test_that("unsigned integers are their own size", {
  for (type in c("ui8", "ui16", "ui32", "ui64")) {
    x <- nv_tensor(c(0L, 200L), type)
    expect_identical(as.double(both(abs, x)), c(0, 200))
    expect_identical(as.double(both(sign, x)), c(0, 1))
    expect_identical(dtype(sign(x)), as_dtype(type))
  }
})

test_that("integer division by zero and of the smallest integer does not trap", {
  lowest <- nv_tensor(c(5, -2147483648, -2147483648), "i32")
  by <- nv_tensor(c(0L, -1L, 0L))
  expect_equal(as.vector(both(nv_div, lowest, by)), c(-1L, -2^31, -1L))
  expect_equal(as.vector(both(nv_remainder, lowest, by)), c(5L, 0L, -2^31))
  expect_equal(as.vector(both(nv_mod, lowest, by)), c(5L, 0L, -2^31))
  expect_equal(as.vector(both(nv_floor_div, lowest, by)), c(-1L, -2^31, -1L))
})

test_that("`/` and `^` of integers and bools are R's", {
  a <- c(7L, -7L, 0L, 12L)
  b <- c(2L, 3L, -4L, -12L)
  yes <- c(TRUE, FALSE, TRUE, TRUE)
  local_default_dtypes("f64")
  for (dtype in c("i8", "i32", "i64", "f32")) {
    x <- nv_tensor(a, dtype)
    y <- nv_tensor(b, dtype)
    tolerance <- ulps(dtype, 1)
    expect_equal(as.vector(both(`/`, x, y)), a / b, tolerance = tolerance, label = dtype)
    expect_equal(as.vector(both(function(x) x / 2L, x)), a / 2, tolerance = tolerance, label = dtype)
    expect_equal(as.vector(both(function(y) 2L / y, y)), 2 / b, tolerance = tolerance, label = dtype)
    expect_equal(as.vector(both(function(y) TRUE / y, y)), 1 / b, tolerance = tolerance, label = dtype)
    expect_equal(as.vector(both(`/`, x, nv_tensor(yes))), a / yes, tolerance = tolerance, label = dtype)
    expect_equal(as.vector(both(function(y) y^-2L, y)), b^-2, tolerance = 1e-6, label = dtype)
    expect_equal(as.vector(both(`^`, y, nv_tensor(c(-1L, 2L, -2L, 0L), dtype))), b^c(-1, 2, -2, 0), tolerance = 1e-6, label = dtype)
    expect_equal(as.vector(both(function(y) 2L^y, y)), 2^b, tolerance = 1e-6, label = dtype)
  }
  expect_equal(as.vector(both(`/`, nv_tensor(yes), nv_scalar(TRUE))), yes / TRUE)
  expect_equal(as.vector(both(`%/%`, nv_tensor(yes), nv_tensor(!logical(4)))), yes %/% !logical(4))
  expect_equal(as.vector(both(`%%`, nv_tensor(yes), nv_tensor(!logical(4)))), yes %% !logical(4))
  expect_equal(as.vector(both(function(x) x / array(b), nv_tensor(a))), a / b)
})

test_that("the dtype of a quotient or power is the default float, but a known whole exponent keeps all digits", {
  x <- nv_tensor(c(5001L, -3L))
  expect_equal(type_of(x / x), "f32?[2]")
  expect_equal(type_of(x / nv_scalar(2, "f64")), "f64[2]")
  expect_equal(type_of(nv_tensor(TRUE) / 2L), "f32?[1]")
  expect_equal(type_of(x^-1L), "f32?[2]")
  expect_equal(type_of(x^nv_scalar(2L)), "f32?[2]")
  expect_identical(as.vector(both(function(x) x^2L, x)), c(25010001L, 9L))
  expect_identical(as.vector(both(function(x) x^0L, nv_tensor(5L, "i8"))), 1L)
  expect_identical(as.vector(both(nv_div, nv_tensor(c(7L, -7L)), nv_tensor(2:3))), c(3L, -2L))
  expect_identical(as.vector(both(nv_pow, nv_tensor(2:3), nv_tensor(c(-1L, 2L)))), c(0L, 9L))
  local_default_dtypes("f64")
  expect_equal(type_of(x / x), "f64?[2]")
})

test_that("a share of integers is a fraction, and carries derivatives", {
  y <- nv_tensor(c(1L, 2L, 3L, 3L))
  p <- nv_tensor(c(1L, 2L, 1L, 3L))
  expect_equal(as.vector(both(function(p, y) sum(p == y) / length(y), p, y)), 0.75)
  loss <- function(x, k) sum(x * (k / 4L))
  expect_equal(value(gradient(loss, "x")(f64(1:4), y)$x), array(c(1, 2, 3, 3) / 4))
  expect_equal(value(jit(gradient(loss, "x"))(f64(1:4), y)$x), array(c(1, 2, 3, 3) / 4))
})

test_that("literals adapt, and keep their digits", {
  expect_equal(type_of(nv_tensor(1L, "i16") * 2L), "i16[1]")
  expect_equal(type_of(nv_tensor(1:4) + 1), "f32?[4]")
  expect_equal(type_of(nv_tensor(1:2) + f64(1:2)), "f64[2]")
  expect_equal(flat(f64(0) + 0.1), 0.1)
  expect_equal(flat(jit(function(x) x + 0.1)(f64(0))), 0.1)
  expect_equal(flat(f64(c(0, 0)) + array(c(0.1, 0.2))), c(0.1, 0.2))
  expect_equal(type_of(nv_mul(2, 3L)), "f32?[]")
})

test_that("ties share the derivative of extremes, and %% has that of R's formula", {
  g <- gradient(function(x, y) sum(nv_max(x, y)))(f64(c(1, 2, 3)), f64(c(2, 2, 2)))
  expect_equal(flat(g$x), c(0, 0.5, 1))
  expect_equal(flat(g$y), c(1, 0.5, 0))
  g <- gradient(function(x, y) sum(x %% y))(f64(c(7, -7)), f64(c(3, 3)))
  expect_equal(flat(g$x), c(1, 1))
  expect_equal(flat(g$y), -(c(7, -7) %/% 3))
})

test_that("mistakes are explained", {
  expect_snapshot(error = TRUE, {
    nv_tensor(1:4) + nv_tensor(1:2)
    nv_add(nv_tensor(1:4), 1:4)
    nv_add(nv_tensor(1:4), "a")
    nvl_sub(nv_tensor(TRUE), nv_tensor(FALSE))
    nv_tensor(1L, "ui8") + -2L
    nvl_negate(nv_tensor(TRUE))
  })
  expect_error(nv_tensor(1:4) + nv_tensor(1:2), class = "anvil_error_shape")
})
