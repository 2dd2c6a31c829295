#' Computing again instead of keeping
#'
#' What a function computes on the way to its results is kept in memory when it is differentiated, for the way
#' back. `nv_checkpoint(f)` gives the same values and gradients as `f`, but of what `f` computes only its results
#' are kept: when the derivatives get there, everything inside is computed again from what `f` reads. That takes
#' at most the time of one more call of `f`, and less memory where `f` has many large intermediate values.
#'
#' Checkpoints nest, work in loops and branches, and are differentiated any number of times. Without a derivative
#' they change nothing: outside of a trace `f` is just called. For loops see the argument `checkpoint` of
#' [nv_while()]. StableHLO has no word for it: its text has the calls of `f` themselves.
#'
#' @param f A function of any arguments that returns a tensor of any shape and dtype, or nested lists of them.
#' @return A function with the formals of `f`.
#' @family control flow
#' @export
#' @examples
#' layer <- nv_checkpoint(function(x, w) tanh(x %*% w))
#' f <- function(x, w) sum(layer(layer(x, w), w))
#' x <- nv_tensor(matrix(1:4 / 10, 2))
#' gradient(f)(x, x)
nv_checkpoint <- function(f) {
  check_function(f)
  with_formals(formals(args(f)), "checkpoint_call", f)
}

checkpoint_call <- function(f, args) {
  force(args) # what the arguments compute is not computed again
  if (!is_tracing()) {
    return(call_with(f, args))
  }
  graph <- trace_graph(function() call_with(f, args), list(), mode = "state", what = "`f`")
  unflatten(graph$out_tree, as_leaves(record("checkpoint", list(), list(body_graph = graph))))
}

#' What derivatives do not go through
#'
#' `nv_stop_gradient(x)` is `x`, taken for a constant by derivatives of every mode and order.
#'
#' @param x A tensor of any shape and dtype, or a nested list of them; R's numbers and arrays become tensors.
#' @return `x`, with tensors in it.
#' @family derivatives
#' @export
#' @examples
#' f <- function(x) sum(x * nv_stop_gradient(x))
#' gradient(f)(nv_tensor(c(1, 2, 3)))
nv_stop_gradient <- function(x) {
  check_outputs(flatten(x), "`x`", "hold")
  map_tree(function(leaf) nvl_stop_gradient(nv_value(leaf)), x)
}
