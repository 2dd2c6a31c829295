test_that("types are compared with and without ambiguity", {
  a <- nv_aten("f32", c(2, 3))
  expect_true(eq_type(a, nv_aten("f32", c(2, 3)), ambiguity = TRUE))
  expect_false(eq_type(a, nv_aten("f32", c(2, 3), TRUE), ambiguity = TRUE))
  expect_true(eq_type(a, nv_aten("f32", c(2, 3), TRUE), ambiguity = FALSE))
  expect_true(neq_type(a, nv_aten("f32", 2), ambiguity = FALSE))
  expect_true(neq_type(a, nv_aten("f64", c(2, 3)), ambiguity = FALSE))
  expect_error(a == a, "eq_type")
})

test_that("everything tensorish has a type", {
  expect_identical(format(to_abstract(1L)), "LiteralTensor(1, i32?, ())")
  expect_false(to_abstract(TRUE)$ambiguous)
  expect_s3_class(to_abstract(nv_tensor(1)), "ConcreteTensor")
  expect_identical(format(to_abstract(nv_tensor(1), pure = TRUE)), "AbstractTensor(dtype=f32, shape=1)")
  expect_identical(format(to_abstract(debug_box("f32", 2))), "AbstractTensor(dtype=f32, shape=2)")
  expect_error(to_abstract(list(1, 2)), "must be a tensor, an R array or a number")
  expect_true(dtype_abstract(1L) == "i32")
  expect_identical(ndims_abstract(1L), 0L)
  expect_identical(shape_abstract(1L), integer())
  expect_identical(shape_abstract(array(1, c(2, 2))), c(2L, 2L))
  expect_true(ambiguous_abstract(1))
  expect_true(is_tensorish(1) && is_tensorish(array(1:2)) && is_tensorish(nv_tensor(1)))
  expect_false(is_tensorish(1:2) || is_tensorish("a"))
})

test_that("literals of a type stand for operands", {
  x <- nv_tensor(c(1, 2), "i64")
  expect_identical(as_array(nvl_add(x, LiteralTensor(3, 2, "i64"))), as_array(x + 3L))
  expect_equal(jit(function(x) x * LiteralTensor(2, c(), "f64", ambiguous = FALSE))(nv_scalar(1)), nv_scalar(2, "f64"))
  loop <- function(x) nv_while(list(i = LiteralTensor(0, c(), "i64"), x = x), \(i, x) i < LiteralTensor(3, c(), "i64"), \(i, x) list(i = i + 1L, x = x * 2))$x
  expect_equal(as_array(loop(nv_scalar(1))), 8)
  expect_equal(as_array(jit(loop)(nv_scalar(1))), 8)
  graph <- trace_fn(function(x) nvl_max(x, LiteralTensor("-9223372036854775807", 2, "i64")), list(x = x))
  expect_identical(graph$calls[[1L]]$inputs[[2L]]$label, "-9223372036854775807:i64?[(2)]")
  expect_identical(graph$calls[[1L]]$inputs[[2L]]$aval$data, "-9223372036854775807")
  expect_error(LiteralTensor("1.5", c(), "i64"), class = "anvil_error_argument")
  expect_error(LiteralTensor("1", c(), "f32"), class = "anvil_error_argument")
  expect_error(LiteralTensor("a", c(), "i64"), class = "anvil_error_argument")
})

test_that("an IotaTensor is the type of a range of numbers", {
  range <- IotaTensor(c(2, 3), "i32", 2, start = 0L)
  expect_s3_class(range, "AbstractTensor")
  expect_identical(shape(range), c(2L, 3L))
  expect_error(IotaTensor(4, "i32", 2), class = "anvil_error_argument")
})

test_that("what can stand for a tensor, with and without R's values", {
  expect_true(is_tensorish(1))
  expect_false(is_tensorish(1, literal = FALSE))
  expect_true(is_tensorish(nv_scalar(1), literal = FALSE))
})

test_that("bools are never ambiguous, reduced ones neither", {
  x <- nv_tensor(c(TRUE, FALSE), ambiguous = TRUE)
  expect_false(ambiguous(jit(function(x) nvl_reduce_any(x, dims = 1L))(x)))
  expect_false(ambiguous(nvl_reduce_all(x, dims = 1L)))
})
