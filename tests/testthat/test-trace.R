test_that("arguments become inputs, everything else is passed on", {
  seen <- NULL
  graph <- trace_fn(function(x, y, flag, fun) {
    seen <<- list(flag, fun)
    fun(x, y$a)
  }, list(nv_tensor(1:2), y = list(a = nv_aten("i32", 2), b = "text"), flag = TRUE, fun = nv_add))
  expect_identical(seen, list(TRUE, nv_add))
  expect_length(graph$inputs, 2)
  expect_identical(graph$in_tree$names, c("x", "y", "flag", "fun"))
  expect_length(graph$calls, 1)
})

test_that("structure and names of arguments and results are kept", {
  x <- nv_tensor(c(1, 2))
  graph <- trace_fn(function(a, ...) list(p = a, q = list(...)), list(x, b = x, x))
  expect_identical(format(graph$in_tree), "list(a = *, b = *, *)")
  expect_identical(format(graph$out_tree), "list(p = *, q = list(b = *, *))")
  expect_length(trace_fn(function() x)$inputs, 0)
})

test_that("captured tensors are constants, known by identity", {
  x <- nv_tensor(c(1, 2))
  y <- nv_tensor(c(1, 2))
  graph <- trace_fn(function() x + x + y)
  expect_length(graph$constants, 2)
  expect_identical(graph$constants[[1]]$aval$data, x)
  expect_prints(trace_fn(function() x), "
<AnvilGraph>
  Inputs: (none)
  Constants:
    %c1: f32[2]
  Body: (empty)
  Outputs:
    %c1: f32[2]")
  expect_prints(trace_fn(function() 1), "
<AnvilGraph>
  Inputs: (none)
  Body: (empty)
  Outputs:
    1:f32?")
})

test_that("literals and arrays adopt the dtype that they meet, with all digits", {
  exact <- function(f) as_array(jit(f)(nv_scalar(1, "f64")))
  expect_identical(exact(function(x) x * 0.1), 0.1)
  expect_identical(as.vector(exact(function(x) x * array(0.1, 1))), 0.1)
  expect_identical(format(trace_fn(function(x) x * 2L, list(nv_aten("i16", c())))$outputs[[1]]), "GraphValue(AbstractTensor(dtype=i16, shape=))")
})

test_that("descriptors nest and end with their frame", {
  expect_null(.current_descriptor(silent = TRUE))
  outer <- function() {
    a <- local_descriptor()
    inner <- function() {
      b <- local_descriptor()
      expect_identical(.current_descriptor(), b)
    }
    inner()
    expect_identical(.current_descriptor(), a)
    nvl_add(1, 2)
    expect_output(print(a), "<GraphDescriptor>.*%1: f32\\?\\[\\] = add\\(1:f32\\?, 2:f32\\?\\)")
  }
  outer()
  expect_null(.current_descriptor(silent = TRUE))
  expect_error(.current_descriptor(), "No graph is currently being built", class = "anvil_error_trace")
  expect_error(local_descriptor(new.env()), "`envir`", class = "anvil_error_argument")
  expect_error(local_descriptor(globalenv()), "global environment", class = "anvil_error_trace")
  try(trace_fn(function(x) stop("no"), list(nv_scalar(1))), silent = TRUE)
  expect_null(.current_descriptor(silent = TRUE))
})

test_that("calls know who made them", {
  graph <- trace_fn(function(x) exp(x + 1), list(nv_aten("f32", 2)))
  expect_identical(lapply(graph$calls, function(call) as.character(call$location[[1]])), list("+", "+", "exp"))
  expect_output(print(graph$calls[[3]]), "exp(f32[2]) -> f32[2]", fixed = TRUE)
})

test_that("mistakes while tracing are explained", {
  x <- nv_scalar(1)
  leaked <- NULL
  jit(function(x) leaked <<- x)(x)
  expect_snapshot(error = TRUE, {
    jit(function(x) if (x > 0) x else -x)(x)
    jit(function(x) while (x > 0) x <- x - 1)(x)
    jit(function(x) x > 0 && x < 1)(x)
    jit(function(x) for (i in x) i)(x)
    jit(function(x) as.numeric(x))(x)
    jit(function(n) rep(1, n))(nv_scalar(3L))
    jit(function(x) base::sum(1, x))(x)
    jit(function(x) log(2, x))(x)
    jit(function(x) {
      r <- matrix(0, 2, 2)
      r[1, 1] <- x
      r
    })(x)
    jit(function(x) "text")(x)
    jit(function(x) x + 1:3)(x)
    jit(function(x) x + nv_aten("f32", 1))(x)
    jit(function(y) y + leaked)(x)
    leaked + 1
    trace_fn("f", list())
    trace_fn(nv_add, nv_scalar(1))
  })
})

test_that("an argument that an inner function reads first is computed there, and errors say how to compute it before", {
  late <- function(y) nv_if(nv_scalar(TRUE), function() y * 2, function() y)
  expect_error(jit(function(x) late(sqrt(x)))(nv_scalar(4)), "force(y)", fixed = TRUE, class = "anvil_error_trace")
  early <- function(y) {
    force(y)
    nv_if(nv_scalar(TRUE), function() y * 2, function() y)
  }
  expect_identical(as_array(jit(function(x) early(sqrt(x)))(nv_scalar(4))), as_array(nv_scalar(4)))
})

# Functions made by their text belong to the session, as those of a user: not to the tests, which see the package's inside.
test_that("generics find the methods that the caller of a transformed function sees", {
  session <- new.env(parent = globalenv())
  local(
    {
      area <- function(x, ...) UseMethod("area")
      area.default <- function(x, ...) sum(x^2)
      median.AnvilValue <- function(x, na.rm = FALSE, ...) 100 * sum(x)
      x <- anvil::nv_tensor(c(1, 2, 3), "f64")
      found <- list(
        jit = anvil::jit(area)(x), gradient = anvil::gradient(area)(x)$x, both = anvil::jit(anvil::gradient(area))(x)$x,
        each = anvil::vectorize(area)(x), median = anvil::jit(median)(x), slope = anvil::gradient(median)(x)$x,
        inner = (function() {
          area.default <- function(x, ...) 7 * x
          anvil::jit(area)(x)
        })(),
        frame = (function() {
          z <- 5
          anvil::jit(function(x) x * get("z", envir = parent.frame()))(x)
        })()
      )
    },
    session
  )
  expect_equal(lapply(session$found, as.numeric), list(
    jit = 14, gradient = c(2, 4, 6), both = c(2, 4, 6), each = c(1, 4, 9), median = 600, slope = c(100, 100, 100),
    inner = c(7, 14, 21), frame = c(5, 10, 15)
  ))
})
