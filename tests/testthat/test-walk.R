types <- list(x = nv_aten("f32", 3), n = nv_aten("i32", c()))
branches_and_loops <- function(x, n) {
  y <- nv_if(sum(x) > 0, exp(x), x * nv_tensor(c(1, 2, 3)))
  nv_while(list(i = 0L, y = y), function(i, y) i < n, function(i, y) list(i = i + 1L, y = sin(y) + nv_case(i + 1L, x, y)))$y
}
again <- function(call, inputs) do.call(call$primitive, c(inputs, call$params))

test_that("a walk visits calls in order, inner graphs where the rule calls them", {
  graph <- trace_fn(branches_and_loops, types)
  seen <- character()
  rule <- function(call, inputs) {
    seen <<- c(seen, call$primitive$name)
    for (inner in Filter(is.function, call$params)) do.call(inner, lapply(attr(inner, "graph")$inputs, function(v) NULL))
    if (length(call$outputs) != 1L) vector("list", length(call$outputs))
  }
  walk_graph(graph, list(NULL, NULL), rule)
  expect_identical(seen[1:6], c("reduce_sum", "greater", "if", "exp", "mul", "while"))
  expect_identical(seen[7:8], c("less", "add"))
  expect_true(all(c("sine", "case") %in% seen))
})

test_that("a rule that records each call gives the same graph and the same values", {
  graph <- trace_fn(branches_and_loops, types)
  f <- function(x, n) walk_graph(graph, list(x, n), again)[[1L]]
  expect_identical(format(trace_fn(f, types), nested = TRUE), format(graph, nested = TRUE))
  x <- nv_tensor(c(1, -2, 3), "f32")
  n <- nv_scalar(4L)
  expect_equal(as_array(f(x, n)), as_array(branches_and_loops(x, n)), tolerance = 1e-6)
  expect_equal(as_array(jit(f)(x, n)), as_array(branches_and_loops(x, n)), tolerance = 1e-6)
})

test_that("inner graphs are functions that know what they capture", {
  graph <- trace_fn(function(x) nv_if(x > 0, x * 2, x), list(nv_aten("f32", c())))
  found <- walk_graph(graph, list(5), function(call, inputs) {
    switch(call$primitive$name,
      greater = inputs[[1L]] > inputs[[2L]],
      mul = inputs[[1L]] * inputs[[2L]],
      `if` = {
        expect_prints(call$params$true_graph, "<AnvilInnerGraph: 0 -> 1>")
        expect_named(subgraphs(call), c("true_graph", "false_graph"))
        expect_s3_class(subgraphs(call)$true_graph, "AnvilGraph")
        (if (inputs[[1L]]) call$params$true_graph() else call$params$false_graph())[[1L]]
      }
    )
  })
  expect_identical(found, list(10))
})

test_that("constants stand for what `constant` says, values of an outer trace for themselves", {
  big <- nv_tensor(c(1, 2, 3))
  graph <- trace_fn(function(x) x + big * 2, types["x"])
  names <- character()
  walk_graph(graph, list(NULL), function(call, inputs) inputs, constant = function(node) {
    names <<- c(names, node$label)
    node$value
  })
  expect_setequal(names, c("2:f32?", "%c1"))
  outer <- function(x) {
    y <- exp(x)
    inner <- trace_fn(function(z) z * y, list(z = x))
    walk_graph(inner, list(x), again)[[1L]]
  }
  expect_equal(as_array(jit(outer)(nv_tensor(c(1, 2)))), array(exp(1:2) * 1:2), tolerance = 1e-6)
})

test_that("calls that own rules or functions are recorded with them", {
  triple <- nv_custom_gradient(function(x) x * 2, function(grads) list(grads * 3))
  graph <- trace_fn(function(x) sum(triple(x)), types["x"])
  f <- function(x) walk_graph(graph, list(x), again)[[1L]]
  expect_equal(as_array(gradient(f)(nv_tensor(c(1, 2, 3)))$x), array(c(3, 3, 3)))
  expect_equal(as_array(gradient(as.function(graph))(nv_tensor(c(1, 2, 3)))$x), array(c(3, 3, 3)))
})

test_that("do.call() works for graphs that capture nothing, and says what to do for others", {
  graph <- trace_fn(function(n) nv_while(list(i = n), function(i) i < 5L, function(i) list(i = i + 1L))$i, types["n"])
  call <- graph$calls[[1L]]
  expect_equal(as_array(do.call(call$primitive, c(list(nv_scalar(1L)), call$params))), 5L)
  expect_equal(as_array(jit(function(n) do.call(call$primitive, c(list(n), call$params)))(nv_scalar(1L))), 5L)
  capturing <- trace_fn(function(x) nv_if(sum(x) > 0, x, -x), types["x"])$calls[[3L]]
  expect_snapshot(error = TRUE, {
    do.call(capturing$primitive, c(list(TRUE), capturing$params))
    walk_graph(capturing$params$true_graph, list(), again)
    prim("while")(1L, cond_graph = function(i) i < 2L, body_graph = function(i) i)
  })
})

test_that("positions are those of the graph", {
  graph <- trace_fn(function(x, n) list(x[n], nv_argmax(x, 1)), types)
  f <- function(x, n) walk_graph(graph, list(x, n), again)
  x <- nv_tensor(c(5, 9, 7))
  expect_equal(lapply(f(x, nv_scalar(3L)), as_array), list(7, 2L))
  expect_identical(format(trace_fn(f, types)), format(graph))
})

test_that("wrong walks are refused", {
  graph <- trace_fn(function(x) list(nv_qr(x), x), list(nv_aten("f32", c(2, 2))))
  expect_snapshot(error = TRUE, {
    walk_graph(graph, list(), again)
    walk_graph(graph, list(1), function(call, inputs) NULL)
    walk_graph(1, list(), again)
  })
})
