test_that("a graph is built by hand", {
  desc <- GraphDescriptor()
  x <- GraphBox(GraphValue(nv_aten("f32", 3)), desc)
  y <- graph_desc_add(prim("mul"), list(x, x), desc = desc)[[1L]]
  total <- graph_desc_add(prim("reduce_sum"), list(y), list(dims = 1, drop = TRUE), desc = desc)
  expect_null(.current_descriptor(silent = TRUE))
  expect_length(desc$calls, 2L)
  expect_identical(desc$calls[[2L]]$outputs[[1L]]$label, "%2")
  graph <- as_graph(desc, total)
  expect_identical(format(graph), format(trace_fn(function(x) list(sum(x * x)), list(nv_aten("f32", 3)))))
  expect_equal(jit(graph)(nv_tensor(c(1, 2, 3))), list(nv_scalar(14, ambiguous = FALSE)), ignore_attr = TRUE)
  expect_prints(x, "GraphBox(%x1: f32[3])")
  expect_prints(y, "GraphBox(%1: f32[3] = mul(%x1, %x1))")
})

test_that("values of all kinds enter a graph", {
  desc <- GraphDescriptor(inputs = list(GraphValue(nv_aten("i32", 4))), constants = list(GraphValue(ConcreteTensor(nv_tensor(1:4)))))
  range <- IotaTensor(4, "i32", 1, start = 3L)
  numbers <- GraphBox(GraphValue(range), desc)
  two <- GraphBox(GraphLiteral(LiteralTensor(2L, 4)), desc)
  out <- graph_desc_add(prim("mul"), list(numbers, two), desc = desc)
  graph <- as_graph(desc, out[[1L]])
  expect_prints(graph, "
<AnvilGraph>
  Inputs:
    %x1: i32[4]
  Constants:
    %c1: i32[4]
  Body:
    %1: i32[4] = iota [dim = 1, dtype = i32, shape = 4, start = 3, ambiguous = FALSE] ()
    %2: i32[4] = mul(%1, 2:i32?[(4)])
  Outputs:
    %2: i32[4]")
  expect_identical(as_array(evaluate_graph(graph, list(nv_tensor(1:4)))[[1L]]), array(c(6L, 8L, 10L, 12L)))
  expect_identical(graph$calls[[1L]]$outputs[[1L]]$aval, range)
  expect_prints(range, "IotaTensor(shape=(4), dtype=i32, dimension=1, start=3)")
  expect_identical(as_array(graph$calls[[2L]]$inputs[[2L]]$value), array(rep(2L, 4)))
})

test_that("the descriptor of a trace can be read and finished", {
  f <- function() {
    desc <- local_descriptor()
    x <- GraphBox(GraphValue(nv_aten("f32", 2)))
    y <- nv_exp(x)
    expect_identical(desc$calls[[1L]]$primitive$name, "exp")
    expect_identical(desc$inputs[[1L]]$label, "%x1")
    graph <- as_graph(desc, list(y = y))
    nv_log(y)
    expect_length(desc$calls, 2L)
    graph
  }
  graph <- f()
  expect_length(graph$calls, 1L)
  expect_equal(as_array(jit(graph)(nv_tensor(c(0, 1)))$y), array(exp(0:1)), tolerance = 1e-6)
})

test_that("a box prints its label, type and call, in inner graphs as well", {
  out <- capture.output(trace_fn(function(x) {
    y <- sum(x)
    print(y)
    nv_if(y > 0, {
      z <- x * y
      print(z)
      z
    }, x)
  }, list(nv_aten("f32", 2))))
  expect_identical(trimws(out[1L]), "GraphBox(%1: f32[] = reduce_sum [dims = 1, drop = TRUE] (%x1))")
  expect_match(out[2L], "^GraphBox\\(%3[.]2: f32\\[2\\] = mul\\(%x1, %3[.]1\\)\\)")
})

test_that("graph_desc_add() computes at once outside of a trace, and checks types", {
  expect_identical(as_array(graph_desc_add(prim("add"), list(nv_scalar(1), 2))[[1L]]), 3)
  same <- function(types, params) types[1L]
  expect_length(graph_desc_add(prim("add"), list(nv_scalar(1), 2), infer_fn = same), 1L)
  desc <- GraphDescriptor()
  other <- GraphDescriptor()
  x <- GraphBox(GraphValue(nv_aten("f32", 2)), other)
  expect_snapshot(error = TRUE, {
    graph_desc_add(prim("lt"), list(nv_scalar(1), 2), infer_fn = same)
    graph_desc_add(prim("add"), list(nv_scalar(1), 2), debug_mode = FALSE)
    graph_desc_add(prim("add"), list(x, x), desc = desc)
    GraphBox(trace_fn(function(x) exp(x), list(nv_aten("f32", 2)))$outputs[[1L]], desc)
    GraphBox(GraphValue(nv_aten("f32", 2)), 1)
    GraphValue(LiteralTensor(1))
    desc$outputs
  })
  expect_null(.current_descriptor(silent = TRUE))
})
