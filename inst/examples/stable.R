# log(sum(exp(x))) overflows where a number of x is large; m + log(sum(exp(x - m))), with the largest m, does not. This finds
# the former in a function, in its branches and loops as well, and records the latter in its place.
stable <- function(f) {
  function(...) {
    arguments <- list(...)
    graph <- trace_fn(f, arguments)
    made <- new.env() # the call that made a value, by the label of the value, with the values that it read
    made_by <- function(node, name) {
      maker <- made[[node$label]]
      if (!is.null(maker) && maker$call$primitive$name == name) maker
    }
    rule <- function(call, inputs) {
      for (node in call$outputs) assign(node$label, list(call = call, inputs = inputs), envir = made)
      total <- if (call$primitive$name == "log") made_by(call$inputs[[1]], "reduce_sum")
      exps <- if (!is.null(total)) made_by(total$call$inputs[[1]], "exp")
      if (is.null(exps)) {
        return(do.call(call$primitive, c(inputs, call$params)))
      }
      log_sum_exp(exps$inputs[[1]], total$call$params$dims, total$call$params$drop)
    }
    inputs <- Filter(is_tensorish, flatten(arguments))
    unflatten(graph$out_tree, walk_graph(graph, inputs, rule))
  }
}

log_sum_exp <- function(x, dims, drop) {
  largest <- nv_stop_gradient(nv_reduce_max(x, dims, drop = FALSE))
  largest <- nv_ifelse(abs(largest) < Inf, largest, 0)
  rest <- log(nv_reduce_sum(exp(x - nv_broadcast_to(largest, shape(x))), dims, drop = drop))
  rest + nv_reshape(largest, shape(rest))
}
