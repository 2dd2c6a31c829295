# What R's functions that ask for values say of tensors, in debug mode and in a trace.

in_trace <- function(code) jit(function(v) in_session(code, list(v = v)))(f64(c(1, 2, 3)))
at_once <- function(code) in_session(code, list(v = f64(c(1, 2, 3)), one = nv_tensor(2)))

test_that("isTRUE() and isFALSE() know tensors, and are errors where their values are not known", {
  expect_true(at_once(quote(isTRUE(all(v > 0)))))
  expect_true(at_once(quote(isTRUE(one > 1))))
  expect_true(at_once(quote(isFALSE(any(v > 5)))))
  expect_false(at_once(quote(isTRUE(v > 0))))
  expect_false(at_once(quote(isTRUE(one))))
  expect_error(in_trace(quote(if (isTRUE(all(v > 0))) v else -v)), "`isTRUE` cannot depend on the value", class = "anvil_error_trace")
  expect_error(in_trace(quote(if (isFALSE(all(v > 0))) v else -v)), "`isFALSE` cannot depend", class = "anvil_error_trace")
  expect_identical(conditionCall(tryCatch(in_trace(quote(isTRUE(all(v > 0)))), error = identity)), quote(isTRUE(all(v > 0))))
  # the type says it
  expect_equal(flat(in_trace(quote(if (isTRUE(v)) 1 else v))), c(1, 2, 3))
  expect_true(in_session(quote(isTRUE(c(a = TRUE)) && !isTRUE(NA) && isFALSE(FALSE)), list()))
})

test_that("is.logical() goes by the dtype", {
  expect_true(at_once(quote(is.logical(v > 0) && is.logical(all(v > 0)) && !is.logical(v))))
  expect_equal(flat(in_trace(quote(if (is.logical(v > 0)) v else -v))), c(1, 2, 3))
  expect_true(in_session(quote(is.logical(NA) && !is.logical(1)), list()))
})

test_that("identical() is an error where it depends on values that are not known", {
  expect_true(at_once(quote(identical(v, v + 0) && !identical(v, v + 1) && !identical(v, NULL))))
  expect_error(in_trace(quote(identical(v, v + 0))), "`identical` cannot depend", class = "anvil_error_trace")
  expect_error(in_trace(quote(identical(nv_tensor(c(1, 2, 3), "f64"), v))), "`identical` cannot depend", class = "anvil_error_trace")
  expect_equal(flat(in_trace(quote(if (!identical(v, NULL) && !identical(v, v[1:2]) && identical(v, v)) v))), c(1, 2, 3))
})

test_that("stopifnot() sees what tensors hold, and is R's otherwise", {
  expect_silent(at_once(quote(stopifnot(v > 0, all(v > 0), "all" = one > 1))))
  expect_error(at_once(quote(stopifnot(v > 1))), "v > 1 are not all TRUE", fixed = TRUE)
  expect_error(at_once(quote(stopifnot("too small" = v > 1))), "too small", fixed = TRUE)
  expect_error(at_once(quote(stopifnot(v))), "v are not all TRUE", fixed = TRUE)
  expect_error(at_once(quote(stopifnot(exprs = { v > 0; v > 1 }))), "v > 1 are not all TRUE", fixed = TRUE)
  expect_error(in_trace(quote(stopifnot(v > 0))), "`stopifnot` cannot depend", class = "anvil_error_trace")
  e <- tryCatch(in_session(quote((function(x) stopifnot(is.character(x)))(1)), list()), error = identity)
  expect_identical(conditionMessage(e), "is.character(x) is not TRUE")
  expect_identical(as.list(conditionCall(e))[[2]], 1) # the call of the function that asks
  # one after another
  expect_error(at_once(quote(stopifnot(FALSE, stop("too far")))), "FALSE is not TRUE", fixed = TRUE)
  expect_error(in_session(quote(stopifnot(all.equal(1, 2))), list()), "1 and 2 are not equal", fixed = TRUE)
  expect_null(in_session(quote(stopifnot()), list()))
})

test_that("sprintf() takes all elements", {
  expect_identical(at_once(quote(sprintf("%.1f", v))), c("1.0", "2.0", "3.0"))
  expect_identical(at_once(quote(sprintf("%d of %s", nv_tensor(1:2), "a"))), c("1 of a", "2 of a"))
  expect_error(in_trace(quote(sprintf("%f", v))), "nv_print", class = "anvil_error_trace")
  expect_identical(in_session(quote(sprintf("%d%%", 5L)), list()), "5%")
})
