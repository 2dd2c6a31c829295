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

test_that("an error of an argument that is evaluated late names its own call", {
  shown <- function(expr) conditionCall(tryCatch(expr, error = identity))
  expect_identical(shown(sum(nv_dpois("a", 1))), quote(nv_dpois("a", 1)))
  expect_identical(shown(nv_exp(nv_log("a"))), quote(nv_log("a")))
  expect_identical(shown(jit(function(x) drop(nv_reshape(x, 5L)))(nv_scalar(1))), quote(nv_reshape(x, 5L)))
  late <- function(x, y) nv_add(x, eval(quote(y)))
  expect_identical(shown(late(nv_scalar(1), nv_sqrt("a"))), quote(nv_sqrt("a")))
  ring <- function(f) eval(quote(f("a")), environment())
  expect_identical(shown(ring(nv_sqrt)), quote(f("a")))
  expect_identical(shown(do.call(nv_sqrt, list("a")))[[2L]], "a")
  expect_identical(shown(lapply("a", nv_sqrt)), quote(FUN(X[[i]], ...)))
})

test_that("a vector beside a matrix of one column or row is explained", {
  v <- nv_tensor(1:3, "f64")
  expect_snapshot(error = TRUE, {
    v - nv_tensor(matrix(1:3, 3), "f64")
    nv_tensor(array(1, c(1, 3, 1)), "f64") + v
    v - nv_tensor(matrix(1:9, 3), "f64")
  })
})

test_that("a loop that is unrolled is told, once, by its line", {
  withr::local_options(anvil.unrolled_calls = 50)
  long <- function(x, n = 60L) {
    for (i in seq_len(n)) {
      x <- sin(x)
      x <- x + 1
    }
    x
  }
  messages <- character()
  withCallingHandlers(trace_fn(long, list(x = nv_aten("f32", 2L))), anvil_warning_unrolled = function(w) {
    messages <<- c(messages, conditionMessage(w))
    tryInvokeRestart("muffleWarning")
  })
  expect_length(messages, 1L)
  expect_match(messages, "more than 50 calls.*`sin\\(x\\)` at test-conditions.R#[0-9]+.*nv_while")
  expect_warning(jit(function(x) long(x, 20L))(nv_scalar(1)), NA)
  # without lines, by the call
  bare <- utils::removeSource(long)
  expect_warning(trace_fn(bare, list(x = nv_aten("f32", 2L))), "It is `sin\\(x\\)`", class = "anvil_warning_unrolled")
  options(anvil.unrolled_calls = Inf)
  expect_warning(trace_fn(long, list(x = nv_aten("f32", 2L))), NA)
  options(anvil.unrolled_calls = "many")
  expect_error(trace_fn(long, list(x = nv_aten("f32", 2L))), class = "anvil_error_argument")
})

test_that("an operand that is NULL is explained", {
  x <- nv_tensor(1)
  expect_error(x * list(a = 1)$b, "where the list has no element of that name", class = "anvil_error_argument")
})
