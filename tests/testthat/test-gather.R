# Gather and scatter against R's own indexing.

rows <- function(x, i, width) {
  nvl_gather(x, i, c(1L, width), offset_dims = 2L, collapsed_slice_dims = 1L, operand_batching_dims = integer(), start_indices_batching_dims = integer(), start_index_map = 1L, index_vector_dim = 2L)
}
changed <- function(x, i, u, f = NULL) {
  nvl_scatter(x, i, u, update_window_dims = integer(), inserted_window_dims = 1L, input_batching_dims = integer(), scatter_indices_batching_dims = integer(), scatter_dims_to_operand_dims = 1L, index_vector_dim = 2L, update_computation = f)
}

test_that("nvl_gather() takes rows and moves what is outside to the edge", {
  x <- matrix(c(3, 9, 4, 1, 5, 2), 3)
  f <- function(x, i) rows(x, i, 2L)
  expect_equal(both(f, f64(x), nv_tensor(c(3L, 1L, 3L))), x[c(3, 1, 3), ], ignore_attr = TRUE)
  expect_equal(both(f, f64(x), nv_tensor(c(0L, 9L))), x[c(1, 3), ], ignore_attr = TRUE)
})

test_that("nvl_scatter() replaces, or combines by a function, in order", {
  x <- c(1, 2, 3, 4)
  i <- nv_tensor(c(2L, 4L, 2L, 7L))
  u <- c(10, 20, 30, 40)
  expect_equal(both(function(x, i, u) changed(x, i, u), f64(x), i, f64(u)), c(1, 30, 3, 20), ignore_attr = TRUE)
  expect_equal(both(function(x, i, u) changed(x, i, u, function(a, b) a + b), f64(x), i, f64(u)), c(1, 42, 3, 24), ignore_attr = TRUE)
  expect_equal(both(function(x, i, u) changed(x, i, u, function(a, b) a * 2 - b), f64(x), i, f64(u)), c(1, -42, 3, -12), ignore_attr = TRUE)
})

test_that("nvl_scatter() takes lists of inputs and updates", {
  largest <- function(best, at, value, label) {
    keep <- best >= value
    list(nv_ifelse(keep, best, value), nv_ifelse(keep, at, label))
  }
  f <- function(best, label, i, u, names) changed(list(best, label), i, list(u, names), largest)
  args <- list(f64(c(0, 0)), nv_tensor(c(0L, 0L)), nv_tensor(c(1L, 2L, 1L)), f64(c(5, 1, 4)), nv_tensor(1:3))
  expect_equal(do.call(both, c(list(function(...) f(...)[[1L]]), args)), c(5, 1), ignore_attr = TRUE)
  expect_equal(do.call(both, c(list(function(...) f(...)[[2L]]), args)), c(1, 2), ignore_attr = TRUE)
})

test_that("gradients of gather and scatter", {
  x <- matrix(c(3, 9, 4, 1, 5, 2), 3)
  expect_equal(as_array(gradient(function(x) sum(rows(x, nv_tensor(c(3L, 3L)), 2L)^2))(f64(x))[[1L]]), 2 * x * c(0, 0, 2), ignore_attr = TRUE)
  u <- jit(gradient(function(u) sum(changed(f64(c(1, 2, 3)), nv_tensor(c(1L, 1L, 9L)), u)^2)))(f64(c(4, 5, 6)))[[1L]]
  expect_equal(as_array(u), c(0, 10, 0), ignore_attr = TRUE)
})

test_that("what does not fit is an error with numbers counted from 1", {
  x <- f64(matrix(1, 3, 2))
  expect_error(rows(x, nv_tensor(1L), 3L), "must not be larger than")
  expect_error(rows(x, f64(1), 2L), "must have dtype")
  expect_error(changed(f64(1:3), nv_tensor(1L), f64(1:2)), "sizes of")
  expect_error(changed(f64(1:3), nv_tensor(1L), f64(1), function(a, b) nvl_reshape(a, 1L)), "update_computation|scatter")
})
