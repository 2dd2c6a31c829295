x <- nv_tensor(c(1, 2, 3))

test_that("gradients are named lists with the structure of the arguments", {
  f <- function(p, k, scale = 2) sum(p$a * p$b[[1]]) * scale
  g <- gradient(f, wrt = "p")
  expect_identical(formals(g), formals(f))
  out <- jit(g)(list(a = x, b = list(x)))
  expect_equal(out, list(p = list(a = nv_tensor(c(2, 4, 6)), b = list(nv_tensor(c(2, 4, 6))))))
  out <- jit(value_and_gradient(f, wrt = 1))(list(a = x, b = list(x)))
  expect_named(out, c("value", "grad"))
  expect_equal(as_array(out$value), 28)
  expect_named(out$grad, "p")
})

test_that("arguments without influence have a zero gradient of their type", {
  out <- gradient(function(x, y) sum(x))(x, nv_tensor(c(1, 2), "f64"))
  expect_equal(as_array(out$y), array(c(0, 0)))
  expect_true(dtype(out$y) == "f64")
})

test_that("gradients compose with each other, jit and control flow", {
  cube <- function(y) y * y * y
  second <- function(x) gradient(function(y) gradient(cube)(y)$y)(x)
  expect_equal(as_array(jit(second)(nv_scalar(2))$y), 12)
  expect_equal(as_array(second(nv_scalar(2))$y), 12)
  expect_equal(as_array(jit(gradient(jit(cube)))(nv_scalar(2))$y), 12)
  h <- jit(gradient(function(x) nv_if(x > 0, x * x, -x)))
  expect_equal(as_array(h(nv_scalar(3))$x), 6)
  expect_equal(as_array(h(nv_scalar(-3))$x), -1)
})

test_that("a captured tensor may be an argument of an inner gradient", {
  y <- nv_tensor(c(4, 5, 6))
  f <- function(x) gradient(function(a, b) sum(a * b), wrt = "a")(y, x)$a + y
  expect_equal(jit(f)(x), nv_tensor(c(5, 7, 9)))
  expect_equal(jit(function(x) gradient(function(a) sum(a * x))(x)$a)(x), x)
})

test_that("outside of jit the gradient is computed at once, or typed", {
  out <- value_and_gradient(function(v) sum(v * v))(x)
  expect_equal(as_array(out$value), 14)
  expect_equal(as_array(out$grad$v), array(c(2, 4, 6)))
  expect_prints(gradient(function(v) sum(v))(debug_box("f32", c(2, 2))), "$v\nf32{2,2}")
})

test_that("a graph is transformed", {
  graph <- trace_fn(function(x, flag, y) sum(x * y), list(x = nv_aten("f32", 2), flag = TRUE, y = nv_aten("f32", 2)))
  expect_length(transform_gradient(graph)$outputs, 2)
  backward <- transform_gradient(graph, "y")
  expect_identical(format(backward$out_tree), "list(y = *)")
  expect_equal(evaluate_graph(backward, list(nv_tensor(c(1, 2)), nv_tensor(c(3, 4)))), list(nv_tensor(c(1, 2))))
})

test_that("a rule that fails names the call that needed it", {
  p <- AnvilPrimitive("test_no_rule")
  p[["forward"]] <- function(operand) operand
  p[["backward"]] <- function(inputs, outputs, grads, .required) list()
  no_rule <- register_primitive("test_no_rule", p, overwrite = TRUE)
  expect_error(jit(gradient(function(a) no_rule(a * 2)))(nv_scalar(1)), "no_rule(a * 2)", fixed = TRUE, class = "anvil_error_argument")
})

test_that("mistakes are explained", {
  expect_snapshot(error = TRUE, {
    gradient(function(x) x, wrt = "y")
    value_and_gradient(function(x) x, wrt = "y")
    gradient(function(x) x)(x)
    gradient(function(x) list(sum(x), sum(x)))(x)
    gradient(function(x) sum(x > 1))(x)
    gradient(function(x) sum(x))(nv_tensor(1:3))
    gradient(function(x, s) sum(x))(x, "a")
    gradient(function(x) x)(1)
    gradient(function(x, y) x + y)(1, 2)
    gradient(function(p) p$a)(list(a = nv_scalar(1), b = 2))
    transform_gradient(1, "x")
    transform_gradient(trace_fn(function(x, s) sum(x), list(x = x, s = "a")), "s")
    transform_gradient(trace_fn(function(x) sum(x), list(x = x)), "z")
  })
})

test_that("a gradient does not depend on how a constant was spelt", {
  x <- nv_tensor(c(-Inf, 1, 1, 0, -Inf), dtype = "f64")
  captured <- nv_scalar(-Inf, dtype = "f64")
  spellings <- list(
    function() nv_scalar(-Inf, dtype = "f64"), function() captured, function() -nv_scalar(Inf, dtype = "f64"),
    function() nv_convert(nv_scalar(-Inf, dtype = "f32"), "f64"), function() nv_reshape(nv_tensor(-Inf, dtype = "f64"), integer())
  )
  larger <- function(a, b) nv_max(a, b)
  functions <- list(
    function(start) function(x) nvl_reduce(x, start(), dims = 1L, larger),
    function(start) function(x) nvl_reduce(nv_min(x, -1), start(), dims = 1L, larger),
    function(start) function(x) sum(nvl_cumulative(x, start(), dim = 1L, larger)),
    function(start) function(x) sum(nvl_reduce_window(x, start(), 2L, 1L, 1L, 1L, 0L, 0L, larger)),
    function(start) function(x) sum(nv_max(x, start()))
  )
  for (f in functions) {
    gradients <- lapply(spellings, function(start) {
      list(as_array(jit(gradient(f(start)))(x)$x), as_array(gradient(f(start))(x)$x))
    })
    expect_length(unique(unlist(gradients, recursive = FALSE)), 1L)
  }
})

test_that("programs are simplified before they are differentiated, records are kept as made", {
  f <- function(x) sum((x * x) * (x * x) + nv_transpose(nv_transpose(x)))
  args <- list(x = nv_aten("f32", c(2L, 3L)))
  calls <- function(graph) length(graph$calls)
  expect_identical(calls(trace_fn(gradient(f), args)), calls(transform_gradient(trace_fn(f, args))))
  expect_lt(calls(trace_arguments(gradient(f), args, "program")), calls(trace_fn(gradient(f), args)))
  m <- nv_tensor(matrix(c(1, 2, 3, 4, 5, 6), 2L))
  expect_equal(jit(gradient(f))(m)$x, jit(function(m) 4 * m^3 + 1)(m))
  # results that need no computation
  constant <- function(x) nv_scalar(2) * 1
  expect_equal(as_array(jit(value_and_gradient(constant))(nv_scalar(1))$value), 2)
  expect_equal(as_array(value_and_gradient(constant)(nv_scalar(1))$grad$x), 0)
  expect_equal(as_array(value_and_gradient(function(x) x * 1)(nv_scalar(3))$grad$x), 1)
})

test_that("with `aux`, what comes along has no part in the gradient", {
  f <- function(p, k) {
    y <- p$a * k
    list(sum(y^2), list(y = y, n = nv_scalar(3L)))
  }
  p <- list(a = x)
  for (run in list(identity, jit)) {
    out <- run(value_and_gradient(f, "p", aux = TRUE))(p, nv_scalar(2))
    expect_named(out, c("value", "grad", "aux"))
    expect_equal(out[c("value", "grad")], value_and_gradient(function(p, k) f(p, k)[[1]], "p")(p, nv_scalar(2)))
    expect_equal(lapply(out$aux, as_array), list(y = array(c(2, 4, 6)), n = 3L))
    expect_identical(names(run(gradient(f, "p", aux = TRUE))(p, nv_scalar(2))), c("grad", "aux"))
  }
  # of any order, and without data on the way
  second <- gradient(function(x) gradient(function(x) list(x^3, x), aux = TRUE)(x)$grad$x)
  expect_equal(as_array(second(nv_scalar(2))$x), 12)
  expect_snapshot(error = TRUE, {
    value_and_gradient(function(x) sum(x), aux = TRUE)(x)
    value_and_gradient(function(x) list(x, x), aux = TRUE)(x)
    gradient(f, aux = NA)
  })
})
