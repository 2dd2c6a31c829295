test_that("comparisons agree with R for every dtype", {
  for (dtype in all_dtypes) {
    a <- c(0L, 1L, 1L)
    b <- c(1L, 1L, 0L)
    for (op in c("==", "!=", "<", "<=", ">", ">=")) {
      f <- match.fun(op)
      expect_identical(as.vector(both(f, nv_tensor(a, dtype), nv_tensor(b, dtype))), f(a, b), label = paste(dtype, op))
    }
  }
  expect_identical(as.vector(both(function(x) 1 < x, f64(c(0, 2)))), c(FALSE, TRUE))
  expect_equal(type_of(nv_tensor(1:2) == 1L), "bool[2]")
})

test_that("NaN is different from everything", {
  x <- f64(c(NaN, 1))
  expect_identical(flat(x == x), c(FALSE, TRUE))
  expect_identical(flat(x != x), c(TRUE, FALSE))
  expect_identical(flat(x <= x), c(FALSE, TRUE))
})

test_that("a concrete comparison works in R's if", {
  expect_identical(if (nv_scalar(3) > 2) "yes" else "no", "yes")
  expect_true(isTRUE(as.logical(nv_scalar(3) > 2)))
})

test_that("finite, infinite and missing numbers are found", {
  v <- c(1, NaN, Inf, -Inf, 0)
  expect_identical(as.vector(both(is.nan, f64(v))), is.nan(v))
  expect_identical(as.vector(both(is.finite, f64(v))), is.finite(v))
  expect_identical(as.vector(both(is.infinite, f64(v))), is.infinite(v))
  expect_identical(flat(is.na(f64(v))), is.na(v))
  expect_identical(flat(is.finite(nv_tensor(1:2))), c(TRUE, TRUE))
  expect_identical(flat(is.infinite(nv_tensor(1:2))), c(FALSE, FALSE))
  expect_identical(flat(is.nan(nv_tensor(TRUE))), FALSE)
})

test_that("logic agrees with R, bits with their definitions", {
  a <- c(TRUE, TRUE, FALSE, FALSE)
  b <- c(TRUE, FALSE, TRUE, FALSE)
  expect_identical(as.vector(both(`&`, nv_tensor(a), nv_tensor(b))), a & b)
  expect_identical(as.vector(both(`|`, nv_tensor(a), nv_tensor(b))), a | b)
  expect_identical(as.vector(both(nv_xor, nv_tensor(a), nv_tensor(b))), xor(a, b))
  expect_identical(as.vector(both(`!`, nv_tensor(a))), !a)
  expect_identical(flat(nv_tensor(a) & TRUE), a)
  for (dtype in c("i8", "i16", "i32", "ui8", "ui16", "ui32")) {
    x <- nv_tensor(c(12L, 7L), dtype)
    expect_equal(as.vector(both(function(x) nv_and(x, 10L), x)), bitwAnd(c(12L, 7L), 10L), label = dtype)
    expect_equal(as.vector(both(function(x) nv_or(x, 10L), x)), bitwOr(c(12L, 7L), 10L), label = dtype)
    expect_equal(as.vector(both(function(x) nv_xor(x, 10L), x)), bitwXor(c(12L, 7L), 10L), label = dtype)
    expect_equal(as.vector(both(function(x) nv_shift_left(x, 1L), x)), c(24, 14), label = dtype)
  }
  expect_equal(flat(nv_not(nv_tensor(5L))), bitwNot(5L))
})

test_that("shifts and bit counts have their golden values", {
  expect_equal(flat(nv_shift_left(nv_tensor(c(1L, 2L, 4L)), nv_tensor(c(1L, 2L, 1L)))), c(2L, 8L, 8L))
  expect_equal(flat(nv_shift_right_logical(nv_tensor(c(8L, 16L, 32L)), nv_tensor(1:3))), c(4L, 4L, 4L))
  expect_equal(as.vector(both(function(x) nv_shift_right_arithmetic(x, 40L), nv_tensor(c(-8L, 8L)))), c(-1L, 0L))
  expect_equal(as.vector(both(function(x) nv_shift_left(x, 32L), nv_tensor(c(-8L, 8L)))), c(0L, 0L))
  expect_equal(as.vector(both(nv_popcnt, nv_tensor(c(0L, 1L, 2L, 3L, 7L, 255L)))), c(0L, 1L, 1L, 2L, 3L, 8L))
})

test_that("mistakes are explained", {
  expect_snapshot(error = TRUE, {
    nv_tensor(1:2) & nv_tensor(1:2)
    !nv_tensor(1)
    nv_popcnt(nv_tensor(TRUE))
  })
})

test_that("anyNA() finds NaN", {
  expect_true(flat(anyNA(f64(c(1, NaN)))))
  expect_false(flat(anyNA(nv_tensor(1:2))))
})
