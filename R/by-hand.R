#' Graphs by hand
#'
#' What [trace_fn()] does by itself: `GraphDescriptor()` makes an empty graph under construction, which does not become the current one, `GraphValue()` and
#' `GraphLiteral()` make values that belong to no graph yet, `GraphBox()` puts one into a graph and gives the box that
#' stands for it, and `graph_desc_add()` records one call of a primitive. [as_graph()] with the outputs finishes the graph.
#'
#' A `GraphValue()` of an [AbstractTensor()] becomes an input of the graph, one of a [ConcreteTensor()] a constant, one of an
#' [IotaTensor()] the call that makes the numbers.
#'
#' @param inputs,constants Values, whose boxes [GraphBox()] gives.
#' @param aval The type of a value; for `GraphLiteral()` a [LiteralTensor()].
#' @param gnode A value.
#' @param desc A descriptor; by default the current one.
#' @param prim A primitive, [prim()].
#' @param args A list of boxes, tensors and numbers: the operands. Positions count from 0, as in the printed form.
#' @param params A named list of parameters. Inner graphs are graphs, or functions without arguments.
#' @param infer_fn `NULL`, or a function of the types of the operands and the parameters, by their names, that gives the list of the types of
#'   the outputs. The package infers them itself; that they differ is an error.
#' @param debug_mode `TRUE`: compute at once, which only works where no graph is built. `FALSE`: record, which only works where one is. `NULL`: what works.
#' @return `graph_desc_add()`: a list of boxes, one for each output. The others: an object of the class that they are called by.
#' @section Errors:
#' `anvil_error_trace` where values of other graphs are used, and of `infer_fn` `anvil_error_shape`.
#' @family graphs
#' @export
#' @examples
#' desc <- GraphDescriptor()
#' x <- GraphBox(GraphValue(nv_aten("f32", 3)), desc)
#' y <- graph_desc_add(prim("mul"), list(x, x), desc = desc)[[1]]
#' total <- graph_desc_add(prim("reduce_sum"), list(y), list(dims = 1, drop = TRUE), desc = desc)
#' desc$calls
#' graph <- as_graph(desc, total)
#' graph
#' jit(graph)(nv_tensor(c(1, 2, 3)))
GraphDescriptor <- function(inputs = list(), constants = list()) {
  check_nodes(inputs)
  check_nodes(constants)
  desc <- .Call(C_anvil_descriptor)
  for (node in c(inputs, constants)) GraphBox(node, desc)
  desc
}

check_nodes <- function(x, name = rlang::caller_arg(x)) {
  if (!is_container(x) || !all(vapply(x, inherits, NA, "GraphNode"))) wrong_argument(name, "a list of values of `GraphValue()`", x)
}

#' @rdname GraphDescriptor
#' @export
GraphValue <- function(aval) {
  check_class(aval, "AbstractTensor", "i `nv_aten()` makes one.")
  if (inherits(aval, "LiteralTensor")) abort_anvil("argument", "`aval` is a LiteralTensor.", "i `GraphLiteral()` makes a value of it.")
  range <- if (inherits(aval, "IotaTensor")) {
    list(dim = aval$dimension, dtype = aval$dtype, shape = aval$shape, start = aval$start, ambiguous = aval$ambiguous)
  }
  .Call(C_anvil_new_node, abstract_tag(aval), aval$data, range)
}

#' @rdname GraphDescriptor
#' @export
GraphLiteral <- function(aval) {
  check_class(aval, "LiteralTensor", "i `LiteralTensor()` makes one.")
  .Call(C_anvil_new_node, abstract_tag(aval), aval$data, NULL)
}

#' @rdname GraphDescriptor
#' @export
GraphBox <- function(gnode, desc = .current_descriptor()) {
  check_class(gnode, "GraphNode", "i `GraphValue()` makes one.")
  .Call(C_anvil_box, gnode, desc)
}

#' @rdname GraphDescriptor
#' @export
graph_desc_add <- function(prim, args, params = list(), infer_fn = NULL, desc = NULL, debug_mode = NULL) {
  check_class(prim, "AnvilPrimitive", "i `prim()` finds one.")
  if (!is_container(args)) wrong_argument("args", "a list of tensors", args)
  if (!is_container(params) || (length(params) && is.null(names(params))) || is.data.frame(params)) wrong_argument("params", "a list of parameters with names", params)
  if (!is.null(infer_fn)) check_function(infer_fn, "infer_fn")
  if (!is.null(desc)) {
    if (.Call(C_anvil_enter, desc)) on.exit(.Call(C_anvil_leave, desc))
  }
  if (!is.null(debug_mode) && check_flag(debug_mode) == is_tracing()) {
    abort_anvil("trace", if (debug_mode) "`debug_mode` is TRUE, but a graph is being built." else "`debug_mode` is FALSE, but no graph is being built.")
  }
  out <- as_leaves(do.call(prim, c(unname(args), params), quote = TRUE))
  if (!is.null(infer_fn)) check_inferred(prim, infer_fn(lapply(args, to_abstract, pure = TRUE), params), out)
  out
}

check_inferred <- function(prim, types, out) {
  if (!is.list(types) || length(types) != length(out) || !all(mapply(eq_type, types, out, ambiguity = FALSE))) {
    texts <- function(x) paste(vapply(x, type_text, ""), collapse = ", ")
    abort_anvil("shape", sprintf("`infer_fn` must give the types of the outputs of `%s`.", prim$name), sprintf("x They are %s.", texts(out)))
  }
}
