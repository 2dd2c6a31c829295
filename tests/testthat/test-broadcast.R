test_that("operands are promoted to a common dtype", {
  types <- function(...) vapply(nv_promote_to_common(...), type_of, "")
  expect_equal(types(nv_tensor(1:2), nv_tensor(1:2, "f32")), c("f32[2]", "f32[2]"))
  expect_equal(types(nv_tensor(1:2, "i16"), 1L), c("i16[2]", "i16[]"))
  expect_equal(types(nv_tensor(1:2, "i16"), 1.5), c("f32?[2]", "f32?[]"))
  expect_equal(types(nv_tensor(TRUE), nv_tensor(1L, "ui8"), nv_tensor(1L, "i8")), rep("i16[1]", 3))
  expect_equal(names(nv_promote_to_common(a = f64(1), b = 2)), c("a", "b"))
  expect_error(nv_promote_to_common(), "must hold at least one tensor", class = "anvil_error_argument")
})

test_that("the common dtype is that of the tables for all pairs", {
  for (a in all_dtypes) {
    for (b in all_dtypes) {
      expected <- as.character(common_dtype(a, b)$dtype)
      expect_equal(as.character(dtype(nv_promote_to_common(nv_tensor(1L, a), nv_tensor(0L, b))[[1L]])), expected, label = paste(a, b))
      extreme <- nv_max(nv_tensor(1L, a), nv_tensor(0L, b)) # logicals count
      expect_equal(as.character(dtype(extreme)), if (expected == "bool") "i32" else expected, label = paste(a, b))
    }
  }
})

test_that("scalars are spread, and nothing else", {
  out <- nv_broadcast_scalars(nv_scalar(1), f64(matrix(1:4, 2)), 2)
  expect_equal(lapply(out, shape), rep(list(c(2L, 2L)), 3))
  expect_equal(flat(out[[3]]), rep(2, 4))
  expect_error(nv_broadcast_scalars(f64(1), f64(1:2)), class = "anvil_error_shape")
})

test_that("shapes come together by NumPy's rule", {
  out <- nv_broadcast_tensors(f64(matrix(1:2, 2, 1)), f64(c(10, 20, 30)))
  expect_equal(lapply(out, shape), rep(list(2:3), 2))
  expect_equal(value(out[[1]] + out[[2]]), outer(1:2, c(10, 20, 30), `+`))
  expect_equal(lapply(nv_broadcast_tensors(1, 2), shape), list(integer(), integer()))
  expect_equal(shape(nv_broadcast_tensors(f64(numeric()), 1)[[2]]), 0L)
})

test_that("nv_broadcast_to() repeats", {
  expect_equal(both(function(x) nv_broadcast_to(x, c(2, 3)), f64(1:3)), matrix(1:3 + 0, 2, 3, byrow = TRUE))
  expect_equal(both(function(x) nv_broadcast_to(x, c(2, 3)), f64(matrix(1:2, 2))), matrix(1:2 + 0, 2, 3))
  expect_equal(flat(nv_broadcast_to(5, 3)), rep(5, 3))
  x <- nv_tensor(1:2) + 1L
  expect_identical(nv_broadcast_to(x, 2L), x)
  graph <- trace_fn(function(x) nv_broadcast_to(x, 2L), list(x = nv_aten("f32", 2)))
  expect_length(graph$calls, 0)
  g <- gradient(function(x) sum(nv_broadcast_to(x, c(4, 3)) * 2))(f64(1:3))
  expect_equal(flat(g$x), rep(8, 3))
})

test_that("mistakes are explained", {
  expect_snapshot(error = TRUE, {
    nv_broadcast_tensors(f64(1:2), f64(1:3))
    nv_broadcast_to(f64(1:2), 3)
    nv_broadcast_to(f64(matrix(1:4, 2)), 2)
    nv_promote_to_common(1, "a")
  })
})
