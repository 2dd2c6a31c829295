#' Gradients
#'
#' `gradient()` returns a function with the formals of `f` that gives the gradient of
#' the scalar that `f` returns: a named list with one entry per argument in `wrt`,
#' each nested like the argument. `value_and_gradient()` gives `list(value, grad)`.
#' Both are lazy and compose with each other and with [jit()]. Inside of a trace the
#' calls are recorded; outside, the gradient is computed at once, as in debug mode.
#'
#' `transform_gradient()` does the same to a graph. Functions with other results than one scalar have
#' [vjp()], [jvp()] and [jacobian()].
#'
#' @section Kinks:
#' Where several elements are the result at once, as in a maximum of equal elements, they share the
#' derivative equally, and where the result is `NaN` since an operand is, nobody gets any: in [nv_max()] and [nv_min()], in
#' reductions and windows by them, [nv_clamp()], [nv_sort()], [nv_top_k()] and scatters. [nv_abs()] has
#' derivative 0 at 0 and at `NaN`. Of a running maximum or minimum the last of equal elements so far has it all. What
#' [nv_ifelse()] did not choose gets zero, whatever its own derivative is. `vignette("internals")` says
#' more.
#'
#' @param f A function that returns one float scalar.
#' @param wrt Names of arguments, or their positions; `NULL` for all. These arguments
#'   must be float tensors or nested lists of them.
#' @param graph An [AnvilGraph].
#' @param ... What functions of other packages with this name take, where a call is for one.
#' @param aux Whether `f` returns `list(<the scalar>, <more>)`: tensors, or nested lists of them, that are computed on the way and
#'   have no part in the gradient. Then the functions give them as `aux`: `list(value, grad, aux)` and `list(grad, aux)`.
#' @return A function; for `transform_gradient()` a graph.
#' @family derivatives
#' @usage gradient(f, wrt = NULL, aux = FALSE, ...)
#' @export
#' @examples
#' f <- function(x, y) sum(x * y)
#' gradient(f)(nv_tensor(c(1, 2)), nv_tensor(c(3, 4)))
#' with_product <- function(x, y) list(sum(x * y), x * y)
#' value_and_gradient(with_product, aux = TRUE)(nv_tensor(c(1, 2)), nv_tensor(c(3, 4)))$aux
#' jit(value_and_gradient(f, wrt = "x"))(nv_tensor(c(1, 2)), nv_tensor(c(3, 4)))
#' transform_gradient(trace_fn(f, list(x = nv_aten("f32", 2), y = nv_aten("f32", 2))), "x")
gradient <- function(f, wrt = NULL, aux = FALSE) gradient_function(f, wrt, with_value = FALSE, aux)

#' @rdname gradient
#' @export
value_and_gradient <- function(f, wrt = NULL, aux = FALSE) gradient_function(f, wrt, with_value = TRUE, aux)

gradient_function <- function(f, wrt, with_value, aux) {
  spec <- derivative_spec(f, wrt)
  spec$with_value <- with_value
  with_formals(formals(args(spec$f)), if (check_flag(aux, "aux")) "gradient_with_aux" else "gradient_call", spec)
}

gradient_call <- function(spec, args) {
  given <- differentiated_arguments(spec, args)
  graph <- trace_differentiated(spec, given)
  out_tree <- if (spec$with_value) value_tree(graph$out_tree, given$wrt_tree) else given$wrt_tree
  fields <- list(in_tree = given$in_tree, out_tree = out_tree, is_static = !given$as_input)
  graph <- .Call(C_anvil_gradient, graph, given$wrt[given$as_input], spec$with_value, fields)
  unflatten(out_tree, .Call(C_anvil_inline, graph, given$leaves[given$as_input]))
}

# The first result moves, the others do not.
gradient_with_aux <- function(spec, args) {
  given <- differentiated_arguments(spec, args)
  graph <- trace_differentiated(spec, given)
  outputs <- lapply(graph$outputs, function(v) .Call(C_anvil_value_abstract, v))
  nodes <- graph$out_tree$nodes
  is_pair <- length(nodes) == 2L && inherits(nodes[[1L]], "LeafNode")
  if (!is_pair || !is_float_output(graph)[1L] || ndims(outputs[[1L]]) != 0L) {
    got <- sprintf("x Got %s.", if (inherits(graph$out_tree, "LeafNode")) type_text(outputs[[1L]]) else format(graph$out_tree))
    abort_anvil("gradient", "With `aux = TRUE`, `f` must return a list of a float scalar and of further tensors.", got)
  }
  moves <- seq_along(outputs) == 1L
  pulled <- .Call(C_anvil_vjp, graph, given$wrt[given$as_input], moves, list())
  flat <- .Call(C_anvil_inline, pulled, c(given$leaves[given$as_input], nv_fill(1, integer(), dtype = dtype(outputs[[1L]]))))
  found <- unflatten(graph$out_tree, flat[seq_along(outputs)])
  c(if (spec$with_value) list(value = found[[1L]]), list(grad = unflatten(given$wrt_tree, flat[-seq_along(outputs)]), aux = found[[2L]]))
}

# --- what all derivatives of functions begin with ------------------------------------------

# A function and the names of the arguments to differentiate by, or NULL for all.
derivative_spec <- function(f, wrt) {
  check_wrapped_function(f, hint = if (is_value(f)) "i What this makes of a function is called with the tensors: `gradient(f)(x)`.")
  list(f = f, wrt = if (!is.null(wrt)) check_names(wrt, formals(args(f)), "wrt"))
}
# The arguments' tree and leaves: which of them are inputs, which to differentiate by, and their tree.
differentiated_arguments <- function(spec, args) {
  in_tree <- build_tree(args)
  leaves <- flatten(args)
  wrt <- if (is.null(spec$wrt)) rep(TRUE, length(leaves)) else flat_mask(in_tree, spec$wrt)
  check_wrt(in_tree, leaves, wrt)
  list(
    args = args, in_tree = in_tree, leaves = leaves, wrt = wrt, as_input = vapply(leaves, is_input, NA),
    wrt_tree = if (is.null(spec$wrt)) in_tree else filter_list_node(in_tree, spec$wrt)
  )
}

trace_differentiated <- function(spec, given) {
  graph <- trace_graph(spec$f, given$args, mode = "debug", as_input = given$as_input)
  if (keeps_record()) graph else .Call(C_anvil_simplify, graph, "simplify")
}

# The tree of list(value = , grad = ) from the trees of both.
value_tree <- function(value, grad) {
  blank <- function(tree) unflatten(tree, as.list(rep(NA, max_leaf(tree))))
  build_tree(list(value = blank(value), grad = blank(grad)))
}

check_wrt <- function(in_tree, leaves, wrt) {
  type <- function(x) if (is_input(x)) dtype(x)
  if (!any(wrt)) {
    abort_anvil("gradient", "There is no argument to differentiate by.", "i Give the function its arguments: float tensors, or lists of them.")
  }
  wrong <- which(wrt & !vapply(leaves, function(x) is_input(x) && is_float_dtype(dtype(x)), NA))
  if (!length(wrong)) {
    return(invisible())
  }
  leaf <- leaves[[wrong[1L]]]
  path <- sub("^x[$]", "", tree_path(in_tree, wrong[1L]))
  if (is_input(leaf)) {
    abort_anvil("gradient", "Can only compute gradient with respect to float tensors.", sprintf("x `%s` has dtype <%s>.", path, as.character(dtype(leaf))))
  }
  literals <- which(wrt & vapply(leaves, is_r_data, NA))
  if (length(literals)) {
    names <- vapply(literals, function(i) paste0("`", sub("^x[$]", "", tree_path(in_tree, i)), "`"), "")
    abort_anvil("gradient", sprintf("Cannot compute gradient with respect to %s.", paste(names, collapse = " and ")), c(
      if (length(names) == 1L) "x It was passed as a plain R value." else "x They were passed as plain R values.",
      "i Pass an AnvilTensor, or name the arguments to differentiate by in `wrt`."
    ))
  }
  abort_anvil("gradient", "Cannot compute gradient with respect to non-tensor argument.", c(
    sprintf("x Got <%s> for `%s`.", described_class(leaf), path),
    "i Name the arguments to differentiate by in `wrt`."
  ))
}

#' @rdname gradient
#' @export
transform_gradient <- function(graph, wrt = NULL) {
  if (!inherits(graph, "AnvilGraph")) {
    abort_anvil("argument", "`graph` must be an AnvilGraph.", c(sprintf("x Got <%s>.", described_class(graph)), "i `trace_fn()` makes one."))
  }
  in_tree <- graph$in_tree
  is_static <- graph$is_static
  if (is.null(in_tree)) {
    mask <- rep(TRUE, length(graph$inputs))
    return(.Call(C_anvil_gradient, graph, mask, FALSE, list(out_tree = NULL)))
  }
  if (!is.null(wrt)) wrt <- check_names(wrt, stats::setNames(vector("list", length(in_tree$names)), in_tree$names), "wrt")
  mask <- if (is.null(wrt)) !is_static else flat_mask(in_tree, wrt)
  if (any(mask & is_static)) {
    path <- sub("^x[$]", "", tree_path(in_tree, which(mask & is_static)[1L]))
    abort_anvil("gradient", "Cannot compute gradient with respect to non-tensor argument.", sprintf("x `%s` was not a tensor when the graph was traced.", path))
  }
  wrt_tree <- if (is.null(wrt)) in_tree else filter_list_node(in_tree, wrt)
  .Call(C_anvil_gradient, graph, mask[!is_static], FALSE, list(in_tree = in_tree, out_tree = wrt_tree, is_static = is_static))
}
