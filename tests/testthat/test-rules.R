test_that("rules of the core print the formula that they record", {
  expect_snapshot({
    prim("mul")$rules[["backward"]]
    prim("tanh")$rules[["backward"]]
    prim("mul")$rules[["jvp"]]
    prim("reduce_sum")$rules[["backward"]]
    prim("gather")$rules[["backward"]]
  })
  graph <- trace_fn(function(x, n) x[n], list(nv_aten("f32", 3), nv_aten("i32", c())))
  call <- Find(function(call) call$primitive$name == "dynamic_slice", graph$calls)
  expect_match(paste(format(call$primitive$rules$backward, call = call), collapse = "\n"), "prim(\"dynamic_update_slice\")(", fixed = TRUE)
  expect_error(print(prim("mul")$rules$backward, call = 1), class = "anvil_error_argument")
})

test_that("the formula that is shown is the derivative", {
  value <- function(rule, inputs, outputs, grads, ...) lapply(rule(inputs, outputs, grads, ...), function(x) if (!is.null(x)) as_array(x))
  for (key in c("mul", "div", "pow", "tanh", "max", "log1p")) {
    rule <- prim(key)$rules$backward
    shown <- eval(parse(text = format(rule)))
    inputs <- list(nv_scalar(0.4), nv_scalar(1.7))[seq_along(formals(prim(key)$rules$stablehlo))]
    outputs <- list(do.call(prim(key), inputs))
    required <- rep(TRUE, length(inputs))
    expect_equal(value(shown, inputs, outputs, list(nv_scalar(2)), required), value(rule, inputs, outputs, list(nv_scalar(2)), required))
    expect_identical(lengths(value(shown, inputs, outputs, list(nv_scalar(2)), !required)), rep(0L, length(inputs)))
  }
})

test_that("every rule prints", {
  for (p in prim()) {
    for (rule in p$rules[intersect(names(p$rules), c("backward", "jvp"))]) {
      if (inherits(rule, "AnvilRule")) expect_match(format(rule)[1L], "^(#|function)", label = p$name)
    }
  }
})

test_that("a rule of the core cannot be set, others can", {
  p <- prim("mul")
  expect_snapshot(error = TRUE, {
    p[["backward"]] <- function(inputs, outputs, grads, .required) grads
    p$rules[["backward"]] <- function(inputs, outputs, grads, .required) grads
    p$rules[["stablehlo"]] <- NULL
    p$name <- "mult"
    p[["cost"]] <- 1
  })
  withr::defer(p[["cost"]] <- NULL)
  p$rules[["cost"]] <- function(call) 7
  expect_identical(prim("mul")[["cost"]](), 7)
  expect_identical(prim("mul")$rules$cost(), 7)
  p[["cost"]] <- function(call) 8
  expect_identical(prim("mul")$rules[["cost"]](), 8)
  expect_null(prim("add")$rules[["cost"]])
  p[["cost"]] <- NULL
  expect_null(prim("mul")$rules[["cost"]])
})

test_that("a local rule holds until its function ends, in debug mode and in compiled code", {
  x <- nv_tensor(c(2, 3))
  loss <- function(x) sum(x * x)
  compiled <- jit(gradient(loss))
  slope <- function(g) c(as_array(g(x)$x))
  expect_identical(slope(compiled), c(4, 6))
  with_rule <- function() {
    local_rule(prim("mul"), "backward", function(inputs, outputs, grads, .required) list(grads[[1L]] * 10, NULL))
    expect_identical(slope(gradient(loss)), c(10, 10))
    expect_identical(slope(compiled), c(10, 10))
    inner <- function() {
      local_rule(prim("mul"), "backward", function(inputs, outputs, grads, .required) list(grads[[1L]], NULL))
      slope(compiled)
    }
    expect_identical(inner(), c(1, 1))
    expect_false(inherits(prim("mul")$rules$backward, "AnvilRule"))
    slope(compiled)
  }
  expect_identical(with_rule(), c(10, 10))
  expect_identical(slope(compiled), c(4, 6))
  expect_identical(slope(gradient(loss)), c(4, 6))
  expect_s3_class(prim("mul")$rules$backward, "AnvilRule")
  fails <- function() {
    local_rule(prim("mul"), "backward", function(...) stop("not today"))
    gradient(loss)(x)
  }
  expect_error(fails(), "not today")
  expect_identical(slope(compiled), c(4, 6))
})

test_that("a local rule gets the parameters and can call the package's own", {
  x <- nv_tensor(matrix(1:6, 2), "f32")
  own <- prim("reduce_sum")$rules$backward
  doubled <- function() {
    local_rule(prim("reduce_sum"), "backward", function(inputs, outputs, grads, dims, drop, .required) {
      expect_identical(dims, c(1L, 2L))
      lapply(own(inputs, outputs, grads, dims, drop, .required), function(g) g * 2)
    })
    as_array(gradient(function(x) sum(x))(x)$x)
  }
  expect_identical(doubled(), matrix(2, 2, 3))
  through <- function() {
    local_rule(prim("round"), "backward", function(inputs, outputs, grads, method, .required) grads)
    as_array(jit(gradient(function(x) sum(round(x)^2)))(nv_tensor(c(0.6, 1.4)))$x)
  }
  expect_equal(through(), array(c(2, 2)))
})

test_that("forward mode and batches have local rules", {
  x <- nv_tensor(c(1, 2))
  tangents <- function() {
    local_rule(prim("exp"), "jvp", function(inputs, outputs, tangents) list(tangents[[1L]] * 5))
    as_array(jvp(function(x) exp(x))(list(x), list(x))$tangent)
  }
  expect_equal(tangents(), array(c(5, 10)))
  batched <- function() {
    local_rule(prim("exp"), "batch", function(inputs, batched, size) list(inputs[[1L]] * 3))
    as_array(vectorize(function(x) exp(x))(x))
  }
  expect_equal(batched(), array(c(3, 6)))
  expect_equal(as_array(vectorize(function(x) exp(x))(x)), array(exp(1:2)), tolerance = 1e-6)
})

test_that("wrong local rules are refused", {
  p <- AnvilPrimitive("test_local")
  expect_snapshot(error = TRUE, {
    local_rule(prim("while"), "backward", function(...) NULL)
    local_rule(prim("mul"), "stablehlo", function(...) NULL)
    local_rule(p, "backward", function(...) NULL)
    local_rule(prim("mul"), "backward", function(...) NULL, envir = globalenv())
  })
})
