test_that("errors have classes and the user's own call", {
  x <- nv_tensor(c(1, 2, 3))
  y <- nv_tensor(1:2)
  caught <- function(expr) tryCatch(expr, error = identity)
  e <- caught(nv_add(x, y))
  expect_s3_class(e, c("anvil_error_shape", "anvil_error", "rlang_error"))
  expect_identical(conditionCall(e), quote(nv_add(x, y)))
  expect_identical(conditionCall(caught(x + y)), quote(x + y))
  f <- function(a, b) nvl_mul(a, b)
  expect_identical(conditionCall(caught(f(x, y))), quote(nvl_mul(a, b)))
  expect_identical(conditionCall(caught(jit(function(a) a * y)(x))), quote(a * y))
  expect_snapshot(error = TRUE, {
    nv_add(x, y)
    x + y
    nvl_add(x, y)
    nv_add(x, "a")
    nvl_exp(y)
    nvl_reduce_sum(x, 2)
    nvl_reduce_sum(x, 1.5)
    nvl_reduce_sum(x, 1, drop = NA)
    nvl_fill(1:2, 2, "f32")
    nvl_convert(x, "f8")
  })
})

test_that("internal errors say so", {
  e <- tryCatch(raise_condition("internal", "something broke", character()), error = identity)
  expect_s3_class(e, "anvil_error_internal")
  expect_match(conditionMessage(e), "Internal error in anvil: something broke")
})

test_that("no error leaves a trace open", {
  expect_error(jit(function(x) nv_if(x > 0, stop("a"), x))(nv_scalar(1)), "a")
  expect_error(jit(function(x) gradient(function(y) stop("b"))(x))(nv_scalar(1)), "b")
  expect_null(.current_descriptor(silent = TRUE))
})
