test_that("a check that fails ends the program with the call that recorded it", {
  f <- jit(function(x) {
    nvl_check(x > 0, x, nv_tensor(1:3), error = "argument", message = "%s is not positive.\ni It is number %s.")
    sqrt(x)
  })
  expect_equal(as_array(f(nv_tensor(c(1, 4, 9), "f64"))), c(1, 2, 3), ignore_attr = TRUE)
  e <- tryCatch(f(nv_tensor(c(1, -4, 9), "f64")), error = identity)
  expect_s3_class(e, c("anvil_error_argument", "anvil_error"))
  expect_identical(conditionCall(e)[[1L]], quote(nvl_check))
  expect_match(conditionMessage(e), "-4 is not positive.\n.*It is number 2.\n.*It was called by `nvl_check\\(x > 0, x.*` at test-nvl-check.R#3")
  expect_error(nvl_check(nv_scalar(FALSE)), "A check failed.", class = "anvil_error_check")
  expect_true(as_array(nvl_check(nv_scalar(TRUE))))
  expect_error(nvl_check(nv_scalar(1)), "must have dtype bool", class = "anvil_error_dtype")
})

test_that("each example is checked by itself, a derivative once, and text has checks", {
  f <- function(x) {
    nvl_check(x < 4, x, error = "argument", message = "%s is large.")
    nv_if(x > 0, x * x, x)
  }
  expect_error(jit(vectorize(f))(nv_tensor(c(1, 5, 7))), "5 is large", class = "anvil_error_argument")
  expect_error(jit(gradient(f))(nv_scalar(5)), "5 is large", class = "anvil_error_argument")
  expect_error(jvp(f)(list(nv_scalar(5)), list(nv_scalar(1))), "5 is large", class = "anvil_error_argument")
  text <- repr(stablehlo(trace_fn(f, list(x = nv_aten("f64", integer()))))[[1L]])
  expect_match(text, 'call_target_name = "anvil.check"', fixed = TRUE)
  expect_error(read_stablehlo(text)(nv_scalar(5, "f64")), "5 is large", class = "anvil_error_argument")
  expect_equal(as_array(read_stablehlo(text)(nv_scalar(3, "f64"))), 9)
})

# ---- values ----------------------------------------------------------------------------------------

fault <- function(expr) {
  e <- tryCatch(expr, anvil_error_nan = identity)
  if (inherits(e, "condition")) c(conditionMessage(e), deparse(conditionCall(e))) else "none"
}
expect_fault <- function(expr, primitive, call) {
  found <- fault(expr)
  expect_match(found[1L], sprintf("`%s` produced NaN", primitive), fixed = TRUE)
  expect_identical(found[2L], call)
}

test_that("compiled code stops at the first NaN", {
  withr::local_options(anvil.check_nan = TRUE)
  f <- jit(function(x) {
    y <- log(x)
    sum(y) + 1
  })
  expect_fault(f(nv_tensor(c(1, -1))), "log", "log(x)")
  expect_identical(fault(f(nv_tensor(c(1, 0)))), "none")
  expect_identical(fault(f(nv_tensor(c(1, NaN)))), "none")
  expect_snapshot(error = TRUE, f(nv_tensor(c(1, -1))))
})

test_that("loops, branches, scans, batches and backward passes are checked", {
  withr::local_options(anvil.check_nan = TRUE)
  loop <- function(x) nv_while(list(i = 0L, x = x), \(i, x) i < 5L, \(i, x) list(i = i + 1L, x = sqrt(x - 1)))$x
  expect_fault(jit(loop)(nv_scalar(5)), "sqrt", "sqrt(x - 1)")
  branches <- jit(function(x) nv_if(x > 0, sqrt(x), log(x)))
  expect_identical(fault(branches(nv_scalar(5))), "none")
  expect_fault(branches(nv_scalar(-5)), "log", "log(x)")
  expect_fault(jit(function(x) nv_scan(x, nv_tensor(1:4), \(carry, x) list(carry = log(carry), out = x)))(nv_scalar(5)), "log", "log(carry)")
  expect_fault(jit(vectorize(loop))(nv_tensor(c(1e9, 5))), "sqrt", "sqrt(x - 1)")
  root <- function(x) sum(sqrt(x) * 0)
  expect_fault(jit(gradient(root))(nv_tensor(c(1, 0))), "divide", "sqrt(x)")
  expect_fault(gradient(root)(nv_tensor(c(1, 0))), "divide", "sqrt(x)")
  expect_fault(jit(nv_checkpoint(function(x) log(x)))(nv_scalar(-1)), "log", "log(x)")
  expect_fault(nv_execute(nv_compile(trace_fn(function(x) log(x), list(x = nv_aten("f32", 2L)))), nv_tensor(c(-1, 1), "f32")), "log", "log(x)")
})

test_that("what a derivative makes is said to be of the derivative", {
  withr::local_options(anvil.check_nan = TRUE)
  says <- function(code) grepl("belongs to the derivative of the call", conditionMessage(tryCatch(code, anvil_error_nan = identity)))
  root <- function(x) sum(sqrt(x) * 0)
  at <- nv_tensor(c(1, 0))
  loop <- function(x) nv_fori(1L, 3L, x, function(i, x) sqrt(x) * 0)
  along <- function(f, x) jvp(f)(list(x), list(nv_fill(0, shape(x))))
  for (run in list(identity, jit)) {
    expect_true(says(run(gradient(root))(at)))
    expect_true(says(run(function(x) along(root, x)$tangent)(at)))
    expect_true(says(run(function(x) jacobian(gradient(root))(x))(at)))
    expect_true(says(run(gradient(loop))(nv_scalar(1))))
    expect_true(says(run(gradient(function(x) sum(vectorize(root)(x))))(nv_tensor(matrix(c(1, 0), 1)))))
    # the function itself
    expect_false(says(run(root)(nv_tensor(c(1, -1)))))
    expect_false(says(run(gradient(root))(nv_tensor(c(1, -1)))))
    expect_false(says(run(function(x) along(root, x)$tangent)(nv_tensor(c(1, -1)))))
  }
})

test_that("infinities are found if the option says so, and other values are refused", {
  f <- jit(function(x) exp(x))
  withr::local_options(anvil.check_nan = "inf")
  expect_error(f(nv_scalar(1000)), "`exp` produced NaN or Inf", class = "anvil_error_nan")
  expect_error(exp(nv_scalar(1000)), "`exp` produced NaN or Inf", class = "anvil_error_nan")
  expect_error(exp(nv_scalar(Inf)), NA)
  for (wrong in list("Inf", NA, 1, c(TRUE, TRUE))) {
    options(anvil.check_nan = wrong)
    expect_error(f(nv_scalar(1000)), "must be TRUE, FALSE or \"inf\"", class = "anvil_error_argument")
    expect_error(exp(nv_scalar(1000)), "must be TRUE, FALSE or \"inf\"", class = "anvil_error_argument")
  }
  options(anvil.check_nan = FALSE)
  expect_equal(as_array(f(nv_scalar(1000))), Inf)
})

test_that("programs with checks and those without are kept beside each other", {
  x <- nv_tensor(c(1, -1))
  f <- jit(function(x) log(x))
  g <- jit(function(x, i) x[i])
  for (again in 1:2) {
    expect_true(is.nan(as_array(f(x))[2L]))
    expect_equal(as_array(g(x, nv_scalar(7L))), -1)
    withr::with_options(list(anvil.check_nan = TRUE, anvil.check_index = TRUE), {
      expect_error(f(x), class = "anvil_error_nan")
      expect_error(g(x, nv_scalar(7L)), "Index 7 is out of bounds for dimension of size 2", class = "anvil_error_index")
    })
  }
  expect_equal(environment(f)$cache$size, 2)
  expect_equal(environment(g)$cache$size, 2)
})

test_that("after a check has failed, donated tensors are still there", {
  withr::local_options(anvil.check_nan = TRUE)
  f <- jit(function(x) log(x) + 1, donate = "x")
  x <- nv_tensor(c(1, -1), "f64")
  expect_error(f(x), class = "anvil_error_nan")
  expect_equal(as_array(x), c(1, -1), ignore_attr = TRUE)
  y <- nv_tensor(c(1, 1), "f64")
  f(y)
  expect_error(as_array(y), class = "anvil_error_donated")
})

test_that("an option that is no flag is an error, not off", {
  x <- nv_tensor(c(1, 2))
  for (wrong in list("x", NA, 1, c(TRUE, TRUE))) {
    withr::local_options(anvil.check_index = wrong)
    expect_error(jit(function(x, i) x[i])(x, nv_scalar(1L)), "anvil.check_index", class = "anvil_error_argument")
    withr::local_options(anvil.check_index = NULL, anvil.check_captured = wrong)
    expect_error(jit(function(x) x + 1)(x), "anvil.check_captured", class = "anvil_error_argument")
    withr::local_options(anvil.check_captured = NULL)
  }
})
