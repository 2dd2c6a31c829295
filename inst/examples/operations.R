# How many operations on numbers a function makes, and how many bytes its calls read and write, each call for itself. What a
# primitive costs, it says in a rule "cost"; those without one make an operation for each element of the result.
elements <- function(node) prod(shape(node$aval))
bytes <- function(nodes) {
  size <- function(node) if (dtype(node) == "bool") 1 else as.integer(gsub("[a-z]", "", as.character(dtype(node)))) / 8
  sum(vapply(nodes, function(node) elements(node) * size(node), 0))
}

moves <- c("reshape", "transpose", "broadcast_in_dim", "convert", "static_slice", "concatenate", "fill", "iota")
for (p in prim()[moves]) p[["cost"]] <- function(call) 0
for (p in prim()[c("reduce_sum", "reduce_max", "reduce_min", "cumsum")]) p[["cost"]] <- function(call) elements(call$inputs[[1]])
p <- prim("dot_general")
p[["cost"]] <- function(call) {
  summed <- shape(call$inputs[[1]]$aval)[call$params$contracting_dims[[1]]]
  2 * elements(call$outputs[[1]]) * prod(summed)
}

# `steps`: how often loops are taken to run, since a graph does not say it. Of branches the most expensive counts.
count_operations <- function(f, ..., steps = 1) {
  graph <- trace_fn(f, list(...))
  total <- c(calls = 0, operations = 0, bytes = 0)
  inside <- function(walk) {
    outer <- total
    total[] <<- 0
    do.call(walk, rep(list(NULL), length(attr(walk, "graph")$inputs)))
    made <- total
    total <<- outer
    made
  }
  rule <- function(call, inputs) {
    graphs <- Filter(is.function, call$params)
    cost <- call$primitive$rules[["cost"]]
    total <<- total + if (call$primitive$name == "while") {
      steps * (inside(graphs$cond_graph) + inside(graphs$body_graph))
    } else if (length(graphs)) {
      Reduce(pmax, lapply(graphs, inside))
    } else {
      operations <- if (is.null(cost)) sum(vapply(call$outputs, elements, 0)) else cost(call)
      c(1, operations, bytes(c(call$inputs, call$outputs)))
    }
    if (length(call$outputs) != 1L) vector("list", length(call$outputs))
  }
  walk_graph(graph, vector("list", length(graph$inputs)), rule, constant = function(node) NULL)
  total
}
