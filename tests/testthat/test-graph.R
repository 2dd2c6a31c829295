test_that("a graph has the fields of the document", {
  graph <- trace_fn(function(x) nv_reduce_sum(x, 1) * 2, list(nv_aten("f32", c(2, 3))))
  expect_identical(names(graph), c("inputs", "outputs", "constants", "calls", "in_tree", "out_tree"))
  call <- graph$calls[[1]]
  expect_prints(call$primitive, "<AnvilPrimitive:reduce_sum>")
  expect_identical(call$params, list(dims = 1L, drop = TRUE))
  expect_identical(format(call), "reduce_sum(f32[2, 3]) {2 params} -> f32[3]")
  expect_identical(graph[["outputs"]], graph$outputs)
  expect_snapshot(graph$nothing, error = TRUE)
})

test_that("inner graphs are parameters", {
  graph <- trace_fn(function(x) nv_if(x > 0, x, -x), list(nv_aten("f32", c())))
  inner <- subgraphs(graph$calls[[length(graph$calls)]])
  expect_named(inner, c("true_graph", "false_graph"))
  expect_length(inner$false_graph$calls, 1)
  expect_identical(subgraphs(graph$calls[[1]]), list())
})

test_that("passes keep what a graph computes", {
  one <- nv_tensor(5)
  two <- nv_tensor(c(1, 2))
  graph <- trace_fn(function(x) {
    dead <- two + two
    nv_if(sum(x) > 0, x * one[1], x + two[2])
  }, list(x = nv_aten("f32", 3)))
  x <- nv_tensor(c(1, 2, 3))
  for (passes in list("inline_scalars", "unused_constants", "dead_calls", "equal_calls", "optimize")) {
    simple <- simplify_graph(graph, passes)
    expect_equal(evaluate_graph(simple, list(x)), evaluate_graph(graph, list(x)))
    expect_identical(simple$out_tree, graph$out_tree)
  }
  constant <- trace_fn(function(x) list(x + nv_scalar(1), nv_tensor(2)), list(nv_aten("f32", 1)))
  expect_length(constant$constants, 2)
  expect_length(simplify_graph(constant)$constants, 0)
  expect_error(simplify_graph(graph, "magic"), class = "anvil_error_argument")
})

test_that("graphs are evaluated by Eigen on request", {
  graph <- trace_fn(function(x, y) list(x + y, y), list(nv_aten("f32", 2), nv_aten("f32", 2)))
  expect_equal(evaluate_graph(graph, list(nv_tensor(c(1, 2)), nv_tensor(c(3, 4)))), list(nv_tensor(c(4, 6)), nv_tensor(c(3, 4))))
  expect_snapshot(error = TRUE, {
    evaluate_graph(graph, list(nv_tensor(c(1, 2))))
    evaluate_graph(graph, list(nv_tensor(1), nv_tensor(2)))
    evaluate_graph(1, list())
  })
})
