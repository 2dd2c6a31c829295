test_that("primitives are found by either name", {
  expect_prints(prim("div"), "<AnvilPrimitive:divide>")
  expect_identical(prim("div"), prim("divide"))
  expect_error(prim("nothing"), "no primitive named `nothing`", class = "anvil_error_argument")
  expect_true(all(c("add", "mul", "while") %in% names(prim())))
  expect_identical(prim("while")$subgraphs, c("cond_graph", "body_graph"))
  expect_error(prim(1), class = "anvil_error_argument")
  expect_error(prim("mul")[["colour"]], "no rule", class = "anvil_error_argument")
})

test_that("backward rules are functions of boxes", {
  rule <- prim("mul")[["backward"]]
  grads <- rule(list(nv_scalar(2), nv_scalar(3)), list(nv_scalar(6)), list(nv_scalar(10)), .required = c(TRUE, FALSE))
  expect_equal(as_array(grads[[1]]), 30)
  expect_null(grads[[2]])
  graph <- trace_fn(function(x, y, g) rule(list(x, y), list(x * y), list(g), c(TRUE, TRUE)), rep(list(nv_aten("f32", 2)), 3))
  expect_length(graph$outputs, 2)
  sum_rule <- prim("reduce_sum")[["backward"]]
  expect_identical(names(formals(sum_rule)), c("inputs", "outputs", "grads", "dims", "drop", ".required"))
  x <- nv_tensor(1:6, "f32", shape = c(2, 3))
  expect_equal(as_array(sum_rule(list(x), list(nv_tensor(c(3, 7, 11))), list(nv_tensor(c(1, 2, 3))), 1L, TRUE, TRUE)[[1]]), matrix(c(1, 1, 2, 2, 3, 3), 2))
})

test_that("StableHLO rules show an operation", {
  expect_output(print(prim("mul")[["stablehlo"]](nv_scalar(1), nv_scalar(2))), '"stablehlo.multiply" (%0, %1)', fixed = TRUE)
})

test_that("a primitive can be made of others", {
  p <- AnvilPrimitive("test_repeat")
  p[["forward"]] <- function(operand, times, dim) do.call(nv_concatenate, c(rep(list(operand), times), dimension = dim))
  repeat_along <- register_primitive("test_repeat", p, overwrite = TRUE)
  x <- nv_tensor(c(1, 2))
  f <- function(x) repeat_along(x, times = 2L, dim = 1L)
  expect_equal(as_array(f(x)), array(c(1, 2, 1, 2)))
  expect_equal(jit(f)(x), nv_tensor(c(1, 2, 1, 2)))
  graph <- trace_fn(f, list(x))
  expect_match(format(graph), "test_repeat [times = 2, dim = 1, definition = graph[1 -> 1]] (%x1)", fixed = TRUE)
  expect_match(repr(stablehlo(graph)[[1]]), "stablehlo.concatenate", fixed = TRUE)
  expect_equal(jit(gradient(function(x) sum(f(x))))(x), list(x = nv_tensor(c(2, 2))))
  expect_identical(prim("test_repeat"), p)
})

test_that("such a primitive can bring its own derivative", {
  p <- AnvilPrimitive("test_clip")
  p[["forward"]] <- function(operand, limit) operand
  p[["backward"]] <- function(inputs, outputs, grads, limit, .required) list(nv_clamp(-limit, grads[[1L]], limit))
  clip <- register_primitive("test_clip", p, overwrite = TRUE)
  f <- function(x) clip(x, limit = 0.5) * 3
  expect_equal(as_array(jit(gradient(f))(nv_scalar(1))$x), 0.5)
  expect_equal(as_array(gradient(f)(nv_scalar(1))$x), 0.5)
  expect_equal(as_array(jit(function(n) nv_while(list(i = 0L, g = 0), function(i, g) i < n, function(i, g) {
    list(i = i + 1L, g = g + gradient(f)(nv_scalar(1))$x)
  }))(nv_scalar(3L))$g), 1.5)
})

test_that("bad rules and names are refused", {
  p <- AnvilPrimitive("test_bad")
  expect_snapshot(error = TRUE, {
    register_primitive("test_bad", p)
    register_primitive("test_other", p)
    register_primitive("test_bad", 1)
    p[["forward"]] <- 1
    p[["forwards"]]
    p(nv_scalar(1))
  })
  p[["forward"]] <- function(operand) operand
  p[["backward"]] <- function(inputs, outputs, grads, .required) grads[[1]]
  bad <- register_primitive("test_bad", p, overwrite = TRUE)
  expect_snapshot(error = TRUE, {
    register_primitive("test_bad", p)
    jit(gradient(function(x) bad(x)))(nv_scalar(1))
  })
  p[["backward"]] <- function(inputs, outputs, grads, .required) stop("not today")
  expect_error(gradient(function(x) bad(x))(nv_scalar(1)), "not today")
  expect_null(.current_descriptor(silent = TRUE))
  q <- AnvilPrimitive("mul")
  q[["forward"]] <- function(a, b) a
  expect_error(register_primitive("mul", q, overwrite = TRUE), class = "anvil_error_argument")
})

test_that("a rule keeps what the backward rule reads", {
  p <- AnvilPrimitive("test_swish")
  p[["forward"]] <- function(operand, scale) operand * nv_logistic(operand * scale)
  p[["augment"]] <- function(inputs, scale) {
    gate <- nv_logistic(inputs[[1L]] * scale)
    list(outputs = inputs[[1L]] * gate, residuals = list(gate = gate))
  }
  p[["backward"]] <- function(inputs, outputs, grads, residuals, scale, .required) {
    expect_length(residuals, 1L)
    gate <- residuals[[1L]]
    list(grads[[1L]] * (gate + outputs[[1L]] * (1 - gate) * scale))
  }
  swish <- register_primitive("test_swish", p, overwrite = TRUE)
  f <- function(x) sum(swish(x, scale = 2) * nv_tensor(c(1, 3), dtype = "f64"))
  g <- function(x) sum(x * nv_logistic(x * 2) * nv_tensor(c(1, 3), dtype = "f64"))
  x <- nv_tensor(c(-0.5, 1.5), dtype = "f64")
  expect_equal(jit(gradient(f))(x), jit(gradient(g))(x))
  expect_equal(gradient(f)(x), gradient(g)(x))
  second <- function(f) gradient(function(x) sum(gradient(f)(x)$x^2))
  expect_equal(jit(second(f))(x), jit(second(g))(x))
  in_loop <- function(f) {
    function(x) sum(nv_while(list(i = 0L, x = x), function(i, x) i < 3L, function(i, x) list(i = i + 1L, x = f(x)))$x)
  }
  expect_equal(
    jit(gradient(in_loop(function(x) swish(x, scale = 2))))(x), jit(gradient(in_loop(function(x) x * nv_logistic(x * 2))))(x)
  )
  # the gate is computed once
  graph <- trace_fn(gradient(f), list(x = x))
  names <- vapply(graph$calls, function(call) call$primitive$name, "")
  expect_identical(sum(names == "test_swish"), 1L)
  expect_false("logistic" %in% names)
  expect_length(gregexpr("stablehlo.logistic", repr(stablehlo(graph)[[1L]]), fixed = TRUE)[[1L]], 1L)

  # residuals that are outputs, read in inner graphs
  r <- AnvilPrimitive("test_root")
  r[["forward"]] <- function(operand) nv_sqrt(operand)
  r[["augment"]] <- function(inputs) {
    y <- nv_sqrt(inputs[[1L]])
    list(outputs = y, residuals = list(y, nv_if(sum(y) > 0, y + y, y)))
  }
  r[["backward"]] <- function(inputs, outputs, grads, residuals, .required) {
    list(grads[[1L]] * residuals[[1L]] / (residuals[[2L]] * outputs[[1L]]))
  }
  root <- register_primitive("test_root", r, overwrite = TRUE)
  x2 <- nv_tensor(c(4, 9), dtype = "f64")
  expect_equal(as_array(jit(value_and_gradient(function(x) sum(root(x))))(x2)$value), 5)
  expect_equal(as_array(jit(gradient(function(x) sum(root(x))))(x2)$x), array(c(1 / 4, 1 / 6)))

  # outputs that are inputs, and each other
  q <- AnvilPrimitive("test_twice")
  q[["forward"]] <- function(operand) list(operand, operand)
  q[["augment"]] <- function(inputs) list(outputs = list(inputs[[1L]], inputs[[1L]]), residuals = list())
  q[["backward"]] <- function(inputs, outputs, grads, residuals, .required) list(grads[[1L]] + 2 * grads[[2L]])
  twice <- register_primitive("test_twice", q, overwrite = TRUE)
  h <- function(x) {
    y <- twice(x)
    sum(y[[1L]] * 3 + y[[2L]] * y[[2L]])
  }
  expect_equal(as_array(jit(gradient(h))(x)$x), array(3 + 4 * c(-0.5, 1.5)))
})

test_that("bad augment rules are refused", {
  p <- AnvilPrimitive("test_augment")
  p[["forward"]] <- function(operand) operand * 2
  p[["augment"]] <- function(inputs) inputs[[1L]] * 2
  expect_snapshot(error = TRUE, register_primitive("test_augment", p))
  p[["backward"]] <- function(inputs, outputs, grads, residuals, .required) list(grads[[1L]] * 2)
  double <- register_primitive("test_augment", p, overwrite = TRUE)
  expect_snapshot(error = TRUE, jit(gradient(function(x) double(x)))(nv_scalar(1)))
  p[["augment"]] <- function(inputs) list(outputs = sum(inputs[[1L]]), residuals = list())
  double <- register_primitive("test_augment", p, overwrite = TRUE)
  expect_snapshot(error = TRUE, jit(gradient(function(x) sum(double(x))))(nv_tensor(c(1, 2))))
})

test_that("text holds what the stablehlo rule records", {
  p <- AnvilPrimitive("test_text")
  p[["forward"]] <- function(operand, power) nv_while(list(i = 1L, y = operand), \(i, y) i < power, \(i, y) list(i = i + 1L, y = y * operand))$y
  p[["stablehlo"]] <- function(operand, power) exp(log(operand) * power)
  p[["backward"]] <- function(inputs, outputs, grads, power, .required) list(grads[[1L]] * outputs[[1L]] / inputs[[1L]] * power)
  f <- register_primitive("test_text", p, overwrite = TRUE)
  x <- nv_tensor(c(1, 2, 3), dtype = "f64")
  g <- function(x) f(x, power = 3L)
  text_of <- function(f) repr(stablehlo(trace_fn(f, list(x = x)))[[1L]])
  text <- text_of(g)
  expect_match(text, "stablehlo.exponential", fixed = TRUE)
  expect_no_match(text, "while", fixed = TRUE)
  expect_match(text_of(gradient(function(x) sum(g(x)))), "stablehlo.exponential", fixed = TRUE)
  expect_match(text_of(function(x) nv_if(sum(x) > 0, g(x), x)), "stablehlo.exponential", fixed = TRUE)
  expect_equal(as_array(read_stablehlo(text)(x)), as_array(g(x)))
  # what runs is the forward rule
  expect_output(nv_inspect(function(x) f(x, power = 3L), "loops", x), "while", fixed = TRUE)
  expect_equal(c(as_array(jit(g)(x))), c(1, 8, 27))

  p[["stablehlo"]] <- function(operand, power) sum(operand)
  f <- register_primitive("test_text", p, overwrite = TRUE)
  expect_snapshot(error = TRUE, text_of(g))
  p[["stablehlo"]] <- function(operand, power) list(operand, operand)
  f <- register_primitive("test_text", p, overwrite = TRUE)
  expect_snapshot(error = TRUE, text_of(g))
  expect_error(register_primitive("test_text", p), class = "anvil_error_argument")
})
