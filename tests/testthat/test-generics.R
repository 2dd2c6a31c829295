test_that("tensors and boxes mix in operators", {
  x <- nv_tensor(1:2)
  box <- x + 1L
  expect_equal(flat(x + box), c(3L, 5L))
  expect_equal(flat(box * x), c(2L, 6L))
  expect_equal(flat(2L - x), c(1L, 0L))
  expect_equal(flat(jit(function(y) x + y)(x)), c(2L, 4L))
  expect_equal(value(rbind(x, box)), rbind(1:2, 2:3))
  expect_equal(flat(c(x, box)), c(1L, 2L, 2L, 3L))
})

test_that("bool scalars of debug mode are operands like others", {
  yes <- nv_scalar(2) > 1
  expect_true(is.logical(unclass(yes)))
  expect_identical(flat(!yes), FALSE)
  expect_identical(flat(yes & FALSE), FALSE)
  expect_identical(flat(yes == TRUE), TRUE)
  expect_equal(flat(sum(yes)), 1L)
  expect_equal(flat(nv_ifelse(yes, 1, 2)), 1)
  expect_equal(shape(yes), integer())
})

test_that("sizes are R's", {
  x <- nv_tensor(matrix(1:6, 2))
  expect_equal(dim(x), 2:3)
  expect_equal(nrow(x), 2L)
  expect_equal(ncol(x + 1L), 3L)
  expect_equal(length(x), 6L)
})

test_that("functions of R that are not generic fail loudly", {
  x <- nv_tensor(c(1, 2, 3))
  expect_error(ifelse(x, 1, 2))
  expect_error(which.max(x))
  expect_error(median(x))
})

test_that("every operator and function works in a trace as outside", {
  v <- f64(c(0.5, 0.25))
  expect_equal(as.vector(both(function(x) -x + (+x) * 2 - x / 3 + x^2 + x %% 0.3 + x %/% 0.3, v)),
    with(list(x = c(0.5, 0.25)), -x + x * 2 - x / 3 + x^2 + x %% 0.3 + x %/% 0.3))
  expect_equal(as.vector(both(function(x) rev(cumsum(round(exp(x) * 10))), v)), rev(cumsum(round(exp(c(0.5, 0.25)) * 10))))
})
