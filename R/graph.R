#' Graphs
#'
#' An `AnvilGraph` is what [trace_fn()] makes of a function. Its fields are
#'
#' * `inputs`, `outputs`: lists of `GraphValue`s (or `GraphLiteral`s); of each, `$aval` is the type,
#'   `$label` what it is called in the printed form, and, of literals and captured tensors, `$value` the number or tensor,
#' * `constants`: the captured tensors, and in an inner graph captured values,
#' * `calls`: a list of `PrimitiveCall`s with the fields `primitive`, `inputs`,
#'   `params` and `outputs`,
#' * `in_tree`, `out_tree`: the structure of arguments and results, see
#'   [build_tree()].
#'
#' In the printed form `%x1` is an input, `%c1` a constant and `%1` the result of a call. Values of the inner graphs of the call that
#' makes `%2` are called `%2.x1` and `%2.1`, so that no two values of a program share a label.
#'
#' A graph can be saved with [saveRDS()] and sent to parallel workers, as can what [jit()] and [nv_compile()] return: its code is
#' saved, or the text that it was read from, and the first use makes the graph again. Its values and calls by themselves cannot, nor can
#' inner graphs that read values of the graph around them.
#'
#' @param graph,x A graph.
#' @param nested Whether to print the inner graphs of each call, such as the branches of [nv_if()], below it.
#' @param ... Not used.
#' @param call A `PrimitiveCall`.
#' @param passes Names of passes, which run in this order: `"inline_scalars"` makes captured tensors with one
#'   element literals, `"unused_constants"` drops constants that no call and no output reads (what only a dead call reads
#'   goes where `"dead_calls"` comes before), `"dead_calls"` drops calls that nothing reads, `"equal_calls"` merges equal
#'   calls, `"simplify"` does all of these and exact algebra, `"optimize"` what [jit()] does before it compiles.
#' @param inputs A list of tensors, one for each input.
#' @return `simplify_graph()`: a graph. `evaluate_graph()`: a list of tensors, the
#'   outputs, evaluated call by call by Eigen. `subgraphs()`: a named list of graphs.
#' @seealso [as.function.AnvilGraph()], [summary.AnvilGraph()], [as_dot()]
#' @family graphs
#' @name AnvilGraph
#' @examples
#' graph <- trace_fn(function(x) x + nv_scalar(1), list(x = nv_aten("f32", 2)))
#' graph$inputs
#' graph$calls[[1]]
#' simplify_graph(graph, "inline_scalars")
#' evaluate_graph(graph, list(nv_tensor(c(1, 2))))
NULL

#' @export
`$.AnvilGraph` <- function(x, name) graph_field(x, name)

#' @export
`[[.AnvilGraph` <- function(x, i, ...) graph_field(x, i)

graph_field <- function(x, name) {
  if (name %in% c("inputs", "outputs", "constants", "calls")) {
    .Call(C_anvil_graph_field, x, name)
  } else if (name %in% c("in_tree", "out_tree", "is_static")) {
    .Call(C_anvil_graph_fields, x)[[name]]
  } else {
    abort_anvil("argument", sprintf("A graph has no field `%s`.", name), "i It has inputs, outputs, constants, calls, in_tree and out_tree.")
  }
}

#' @export
names.AnvilGraph <- function(x) c("inputs", "outputs", "constants", "calls", "in_tree", "out_tree")

#' @export
format.AnvilGraph <- function(x, nested = FALSE, ...) .Call(C_anvil_graph_text, x, "AnvilGraph", nested)

#' @rdname AnvilGraph
#' @export
print.AnvilGraph <- function(x, nested = FALSE, ...) {
  check_flag(nested)
  cat(format(x, nested = nested), "\n")
  invisible(x)
}

#' @export
`$.GraphNode` <- function(x, name) switch(name, aval = .Call(C_anvil_value_abstract, x), label = labels_of(list(x)), value = node_value(x), NULL)

#' @export
names.GraphNode <- function(x) c("aval", "label", "value")

#' @export
format.GraphNode <- function(x, ...) format_node(x$aval)

#' @export
print.GraphNode <- function(x, ...) {
  cat(format(x), "\n")
  invisible(x)
}

# Called by the core: the primitive of a call, which may be its alone.
primitive_of_call <- function(name, kept) {
  primitive <- if (is.null(kept)) known_primitive(name)
  if (is.null(primitive)) {
    primitive <- AnvilPrimitive(name, "definition")
    assign("kept", kept, envir = environment(primitive))
  }
  primitive
}

#' @export
format.PrimitiveCall <- function(x, ...) {
  types <- function(nodes) paste(vapply(nodes, function(v) type_text(v), ""), collapse = ", ")
  n <- length(x$params)
  sprintf(
    "%s(%s)%s -> %s", x$primitive$name, types(x$inputs),
    if (n > 0L) sprintf(" {%d param%s}", n, if (n == 1L) "" else "s") else "", types(x$outputs)
  )
}

#' @export
print.PrimitiveCall <- function(x, ...) {
  cat("<PrimitiveCall>\n  ", format(x), "\n", sep = "")
  if (!is.null(x$location)) cat("  made by ", location_text(x$location), "\n", sep = "")
  invisible(x)
}

#' @rdname AnvilGraph
#' @export
subgraphs <- function(call) {
  check_class(call, "PrimitiveCall", "i The field `calls` of a graph is a list of them.")
  found <- vapply(call$params, inherits, NA, c("AnvilGraph", "AnvilInnerGraph"))
  if (any(found)) lapply(call$params[found], function(x) if (is.function(x)) attr(x, "graph") else x) else list()
}

#' @rdname AnvilGraph
#' @export
simplify_graph <- function(graph, passes = c("inline_scalars", "unused_constants")) {
  known <- c("inline_scalars", "unused_constants", "dead_calls", "equal_calls", "simplify", "optimize")
  if (!is.null(passes) && !(is.character(passes) && all(passes %in% known))) {
    wrong_argument("passes", sprintf("some of %s", paste0("\"", known, "\"", collapse = ", ")), passes)
  }
  .Call(C_anvil_simplify, graph, passes)
}

#' @rdname AnvilGraph
#' @export
evaluate_graph <- function(graph, inputs = list()) {
  check_class(graph, "AnvilGraph")
  n <- length(graph$inputs)
  if (!is_container(inputs) || length(inputs) != n) {
    wrong_argument("inputs", sprintf("a list of %d tensor%s", n, if (n == 1L) "" else "s"), inputs)
  }
  .Call(C_anvil_evaluate, graph, lapply(inputs, concrete, name = "inputs"))
}
