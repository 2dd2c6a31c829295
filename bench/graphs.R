# How long it takes to read a graph of 10,000 calls in R: walk_graph() with a rule that records each call again, and
# as.function(), with the times of tracing beside them.  Rscript bench/graphs.R [CALLS]
suppressMessages(library(anvil))
calls <- as.integer(c(commandArgs(TRUE), "10000")[1L])

program <- function(x) {
  for (i in seq_len(calls / 4L)) x <- nvl_add(nvl_mul(nvl_sine(x), x), nvl_negate(x))
  x
}
types <- list(x = nv_aten("f32", 8))
graph <- trace_fn(program, types)
again <- function(x) walk_graph(graph, list(x), function(call, inputs) do.call(call$primitive, c(inputs, call$params)))[[1L]]

seconds <- function(expr) {
  expr <- substitute(expr)
  frame <- parent.frame()
  min(vapply(1:3, function(i) system.time(eval(expr, frame))[["elapsed"]], 0))
}
times <- c(
  trace_fn = seconds(trace_fn(program, types)),
  calls = seconds(graph$calls),
  walk_graph = seconds(walk_graph(graph, list(NULL), function(call, inputs) NULL)),
  `walk_graph, recorded again` = seconds(trace_fn(again, types)),
  as.function = seconds(as.function(graph)),
  `jit(graph)` = seconds(jit(graph)(nv_tensor(1:8, "f32")))
)
cat(sprintf("%-28s %7.3f s\n", names(times), times), sep = "")
