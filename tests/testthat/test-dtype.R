test_that("dtypes have names, classes and comparisons", {
  expect_prints(as_dtype("f32"), "<f32>")
  expect_identical(as_dtype(as_dtype("i8")), as_dtype("i8"))
  expect_true(is_dtype(as_dtype("bool")))
  expect_false(is_dtype("bool"))
  expect_true(as_dtype("pred") == "i1")
  expect_true(as_dtype("f32") != as_dtype("f64"))
  expect_identical(as.character(as_dtype("i1")), "bool")
  expect_s3_class(as_dtype("f32"), "FloatType")
  expect_s3_class(as_dtype("ui8"), "UnsignedType")
  expect_snapshot(error = TRUE, {
    as_dtype("f33")
    as_dtype(1)
    default_dtype("a")
  })
})

test_that("common dtypes follow the tables", {
  common <- function(a, b, ...) {
    x <- common_dtype(a, b, ...)
    paste0(as.character(x$dtype), if (x$ambiguous) "?")
  }
  expect_identical(common("bool", "i8"), "i8")
  expect_identical(common("i32", "f32"), "f32")
  expect_identical(common("ui32", "i32"), "i64")
  expect_identical(common("f32", "i32", TRUE, TRUE), "f32?")
  expect_identical(common("i32", "f64", TRUE, FALSE), "f64")
  expect_identical(common("f32", "i64", TRUE, FALSE), "f32?")
  expect_identical(common("f64", "f32", TRUE, FALSE), "f32")
  expect_identical(common("i32", "bool", TRUE, FALSE), "i32?")
})

test_that("default dtypes can be changed for a scope", {
  f <- function() {
    local_default_dtypes("f64", "i64")
    list(nv_tensor(1), nv_tensor(1L), nv_scalar(1) + 1, jit(function(x) x * 0.1)(nv_scalar(1)))
  }
  expect_identical(vapply(f(), function(x) as.character(dtype(x)), ""), c("f64", "i64", "f64", "f64"))
  expect_equal(as_array(f()[[4]]), 0.1, tolerance = 1e-15)
  expect_identical(default_dtypes(), c(float = "f32", int = "i32"))
  expect_true(default_dtype(1) == "f32")
  expect_error(local_default_dtypes("i32"), class = "anvil_error_dtype")
})
