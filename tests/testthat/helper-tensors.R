f64 <- function(x, ...) nv_tensor(x, dtype = "f64", ...)
value <- function(x) as_array(x)
# The shape of an R value as tensors have it, for comparisons with as_array().
flat <- function(x) as.vector(as_array(x))

# What f gives at once and compiled, which must be the same in value and type. absolute: see
# close_elements().
both <- function(f, ..., absolute = 0) {
  at_once <- f(...)
  compiled <- jit(f)(...)
  testthat::expect_identical(as.character(dtype(at_once)), as.character(dtype(compiled)))
  testthat::expect_identical(shape(at_once), shape(compiled))
  expect_close(compiled, at_once, ulps(dtype(at_once), 8), absolute)
  as_array(compiled)
}

all_dtypes <- names(anvil:::dtype_codes)
number_dtypes <- setdiff(all_dtypes, "bool")
float_dtypes <- Filter(function(name) anvil:::is_float_code(anvil:::dtype_codes[[name]]), all_dtypes)
type_of <- function(x) paste0(as.character(dtype(x)), if (ambiguous(x)) "?", "[", paste(shape(x), collapse = ","), "]")
