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
  expect_error(base::which.max(x))
})

test_that("every operator and function works in a trace as outside", {
  v <- f64(c(0.5, 0.25))
  expect_equal(as.vector(both(function(x) -x + (+x) * 2 - x / 3 + x^2 + x %% 0.3 + x %/% 0.3, v)),
    with(list(x = c(0.5, 0.25)), -x + x * 2 - x / 3 + x^2 + x %% 0.3 + x %/% 0.3))
  expect_equal(as.vector(both(function(x) rev(cumsum(round(exp(x) * 10))), v)), rev(cumsum(round(exp(c(0.5, 0.25)) * 10))))
})

test_that("sort() is R's but for NaN, which stays", {
  v <- c(3, -1, 2, 2)
  for (decreasing in c(FALSE, TRUE)) {
    expect_equal(as.vector(both(function(x) sort(x, decreasing), f64(v))), sort(v, decreasing))
    expect_equal(as.vector(both(function(x) sort(x, decreasing), f64(matrix(v, 2)))), sort(v, decreasing))
  }
  expect_equal(as.vector(as_array(sort(f64(c(NaN, 1, 0))))), c(0, 1, NaN))
  expect_equal(as_array(sort(nv_scalar(2))), as_array(nv_scalar(2)))
  expect_error(sort(f64(v), na.last = TRUE), "takes `decreasing` only", class = "anvil_error_argument")
  expect_error(order(f64(v)), "nv_order", class = "anvil_error_argument")
})

test_that("generic functions without a meaning for tensors say what to use", {
  x <- nv_tensor(matrix(c(2, 1, 1, 2), 2))
  v <- nv_tensor(c(3, 1, 2))
  for (f in list(order, unique, duplicated, split)) {
    expect_error(f(v), "not defined for tensors", class = "anvil_error_argument")
    expect_error(f(v + 1), "not defined for tensors", class = "anvil_error_argument")
    expect_error(jit(function(x) f(x))(v), "not defined for tensors", class = "anvil_error_argument")
  }
  expect_error(ifelse(v > 1, 1, 0), "nv_ifelse", class = "anvil_error_argument")
  expect_error(ifelse(sum(v) > 1, 1, 0), "nv_ifelse", class = "anvil_error_argument")
  expect_error(ifelse(nv_tensor(TRUE), v, 0), "nv_ifelse", class = "anvil_error_argument")
  expect_error(ifelse(TRUE, v, 0), "nv_ifelse", class = "anvil_error_argument")
  expect_identical(ifelse(as.logical(v > 1), 1, 0), c(1, 0, 1))
  expect_error(names(v) <- c("a", "b", "c"), "no names", class = "anvil_error_argument")
  expect_error(length(v) <- 2, "length", class = "anvil_error_argument")
  expect_error(v$a <- 2, class = "anvil_error_argument")
})

test_that("products of matrices are R's where no tensor is", {
  m <- matrix(c(1, 2, 3, 4), 2)
  expect_identical(m %*% m, base::`%*%`(m, m))
  expect_identical(crossprod(m), base::crossprod(m))
  expect_identical(tcrossprod(m, 2 * m), base::tcrossprod(m, 2 * m))
  expect_equal(value(m %*% f64(m)), m %*% m)
  expect_equal(value(f64(m) %*% m), m %*% m)
  expect_equal(value(crossprod(m, f64(m))), crossprod(m))
})

test_that("R's deparse() leaves tensors as they are", {
  x <- nv_tensor(c(1, 2))
  box <- x + 1
  deparse(as.call(list(quote(f), x, box)))
  failing <- function(x, y) stop("no")
  try(do.call(failing, list(x, box)), silent = TRUE)
  expect_s3_class(x, "AnvilTensor")
  expect_s3_class(box, "AnvilTensor")
  e <- tryCatch(sum(x, dims = 3), error = identity)
  expect_identical(conditionCall(e)[1:3], quote(sum(x, dims = 3)))
})

test_that("a number counts as a vector of one element", {
  s <- nv_scalar(2, "f64")
  for (f in list(cumsum, cumprod, cummax, cummin, function(x) head(x, 1), function(x) tail(x, 3), rev, sort)) {
    expect_identical(as.double(f(s)), 2)
  }
  expect_identical(as.double(diff(s)), double())
})

test_that("[[<- assigns one element", {
  v <- f64(c(1, 2, 3))
  v[[2]] <- 5
  expect_identical(as.double(v), c(1, 5, 3))
  m <- nv_tensor(matrix(1:6, 2))
  m[[2, 3]] <- nv_tensor(9L)
  expect_identical(as_array(m), matrix(c(1:5, 9L), 2))
  slope <- gradient(function(x) {
    x[[nv_scalar(1L)]] <- 0
    sum(x * x)
  })
  expect_identical(as.double(slope(f64(c(1, 2, 3)))[[1L]]), c(0, 4, 6))
  expect_snapshot(error = TRUE, {
    v[[1:2]] <- 1
    m[[1]] <- 1L
    v[[-1]] <- 1
    v[[1]] <- c(1, 2)
  })
})
