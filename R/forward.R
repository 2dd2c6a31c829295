#' Derivatives along directions, Jacobians and Hessians
#'
#' Of a function \eqn{f} with the Jacobian \eqn{J}, the matrix of the derivatives of all results by all
#' arguments:
#'
#' * `jvp(f)` gives the derivative along a direction, \eqn{J t}, beside the value (forward mode);
#' * `vjp(f)` gives \eqn{J' g}, the gradient of the results weighted by \eqn{g}, beside the value (reverse mode);
#' * `jacobian(f)` gives \eqn{J} itself;
#' * `hessian(f)`, of a function with a scalar result, gives the matrix of its second derivatives \eqn{H};
#' * `hvp(f)` gives \eqn{H t} without making \eqn{H}.
#'
#' Forward mode takes the time of a few calls of `f` for one direction, whatever the number of results, and
#' keeps nothing: memory does not grow with the steps of an [nv_while()]. Reverse mode takes the time of a few
#' calls for one result, whatever the number of arguments. `jacobian()` takes the mode that needs fewer of
#' them, or the one that there is. All of them work through [nv_if()] and [nv_while()], outside and inside of [jit()], and compose with
#' each other and with [gradient()] to any order. Both modes take the same derivative at kinks, see
#' [gradient()].
#'
#' @param ... What functions of other packages with this name take, where a call is for one.
#' @param f A function that returns tensors of any shape, or nested lists of them; for `hessian()` and `hvp()`
#'   one float scalar, for `jacobian()` floats.
#' @param wrt Names of arguments, or their positions; `NULL` for all. These arguments
#'   must be float tensors or nested lists of them.
#' @return
#' `jvp()`, `hvp()`: a function `(args, tangents)`. `args` is a list of the arguments of `f`, with names or in
#' order. `tangents` is a list of the directions: an element for each argument in `wrt`, nested like it, with
#' tensors of its dtypes and shapes. What is missing or `NULL` is zero. For `jvp()` it gives
#' `list(value = , tangent = )`, both nested like the result of `f`, with `NULL` as the tangent of what is no
#' float; for `hvp()` a list with one entry per argument in `wrt`.
#'
#' `vjp()`: a function `(args, cotangents)`. `cotangents` is nested like the result of `f`; what is missing or
#' `NULL` is zero. It gives `list(value = , cotangents = )`, the latter with one entry per argument in `wrt`.
#'
#' `jacobian()`: a function with the formals of `f`. In the place of each tensor that `f` returns it gives a
#' list with one entry per argument in `wrt`, nested like it: a tensor of shape
#' `c(<shape of the result>, <shape of the argument>)`, of the argument's dtype. `hessian()` likewise gives, for each argument in `wrt`,
#' a list with one entry per argument in `wrt`.
#' @family derivatives
#' @export
#' @examples
#' f <- function(x, y) x^2 * y
#' x <- nv_tensor(c(1, 2, 3))
#' y <- nv_tensor(c(4, 5, 6))
#' one <- nv_tensor(c(1, 0, 0))
#' jvp(f)(list(x, y), list(x = one))
#' vjp(f, wrt = "y")(list(x, y), one)
#' jacobian(f, wrt = "x")(x, y)
#'
#' g <- function(x) sum(x^3)
#' jit(hessian(g))(x)
#' jit(hvp(g))(list(x), list(one))
jvp <- function(f, wrt = NULL) {
  spec <- derivative_spec(f, wrt)
  checked_for_missing(function(args, tangents) jvp_call(spec, args, tangents))
}

jvp_call <- function(spec, args, tangents) {
  given <- differentiated_arguments(spec, arguments_of(spec$f, args))
  tangents <- leaves_like(given$wrt_tree, tangents, given$leaves[given$wrt], "tangents", "argument")
  moves <- !vapply(tangents, is.null, NA)
  wrt <- replace(given$wrt, given$wrt, moves)
  graph <- trace_differentiated(spec, given)
  is_float <- is_float_output(graph)
  moved <- .Call(C_anvil_jvp, graph, wrt[given$as_input], list())
  flat <- .Call(C_anvil_inline, moved, c(given$leaves[given$as_input], tangents[moves]))
  values <- seq_along(flat) <= length(is_float)
  tangent <- vector("list", length(is_float))
  tangent[is_float] <- flat[!values]
  list(value = unflatten(graph$out_tree, flat[values]), tangent = unflatten(graph$out_tree, tangent))
}

#' @rdname jvp
#' @export
vjp <- function(f, wrt = NULL) {
  spec <- derivative_spec(f, wrt)
  checked_for_missing(function(args, cotangents) vjp_call(spec, args, cotangents))
}

vjp_call <- function(spec, args, cotangents) {
  given <- differentiated_arguments(spec, arguments_of(spec$f, args))
  graph <- trace_differentiated(spec, given)
  outputs <- lapply(graph$outputs, function(v) .Call(C_anvil_value_abstract, v))
  cotangents <- leaves_like(graph$out_tree, cotangents, outputs, "cotangents", "result")
  flows <- !vapply(cotangents, is.null, NA)
  pulled <- .Call(C_anvil_vjp, graph, given$wrt[given$as_input], flows, list())
  flat <- .Call(C_anvil_inline, pulled, c(given$leaves[given$as_input], cotangents[flows]))
  values <- seq_along(flat) <= length(outputs)
  list(value = unflatten(graph$out_tree, flat[values]), cotangents = unflatten(given$wrt_tree, flat[!values]))
}

#' @rdname jvp
#' @usage jacobian(f, wrt = NULL, ...)
#' @export
jacobian <- function(f, wrt = NULL) {
  spec <- derivative_spec(f, wrt)
  with_formals(formals(args(f)), "jacobian_call", spec)
}

jacobian_call <- function(spec, args) {
  given <- differentiated_arguments(spec, args)
  graph <- trace_differentiated(spec, given)
  flat <- .Call(C_anvil_inline, .Call(C_anvil_jacobian, graph, given$wrt[given$as_input], list()), given$leaves[given$as_input])
  by_output <- split(flat, rep(seq_along(graph$outputs), each = sum(given$wrt)))
  unflatten(graph$out_tree, lapply(unname(by_output), unflatten, tree = given$wrt_tree))
}

#' @rdname jvp
#' @usage hessian(f, wrt = NULL, ...)
#' @export
hessian <- function(f, wrt = NULL) jacobian(gradient(f, wrt), wrt) # forward over reverse: as many results as arguments

#' @rdname jvp
#' @export
hvp <- function(f, wrt = NULL) {
  along <- jvp(gradient(f, wrt), wrt)
  checked_for_missing(function(args, tangents) along(args, tangents)$tangent)
}

is_float_output <- function(graph) {
  vapply(graph$outputs, function(v) is_float_dtype(dtype(.Call(C_anvil_value_abstract, v))), NA)
}

# The leaves of `x`, which is nested like a tree, with tensors of the types of `types`; NULL where it has none.
# `of` names what it belongs to: "argument" or "result".
leaves_like <- function(tree, x, types, path, of) {
  collect <- function(node, x, path) {
    if (is.null(x)) {
      return(rep(list(NULL), tree_size(node)))
    }
    if (inherits(node, "LeafNode")) {
      return(list(check_type_like(x, types[[node$i]], path, of)))
    }
    parts <- elements_like(node, x, path, of)
    leaves <- lapply(seq_along(parts), function(k) collect(node$nodes[[k]], parts[[k]], path_of_node(node, k, path)))
    do.call(c, c(list(list()), leaves))
  }
  collect(tree, x, path)
}

# The elements of a list for the nodes of a tree, by name or in order, NULL for those that are missing.
elements_like <- function(tree, x, path, of) {
  refuse <- function(got) {
    abort_anvil("argument", sprintf("`%s` must be nested like the %s that it belongs to.", path, of), c(paste("x", got), sprintf("i That is %s.", format(tree))))
  }
  n <- length(tree$nodes)
  if (!is_container(x)) {
    refuse(sprintf("Got <%s>.", described_class(x)))
  }
  if (is.null(names(x))) {
    if (length(x) > n) refuse(cli::pluralize("It has {length(x)} element{?s}."))
    return(c(unname(unclass(x)), rep(list(NULL), n - length(x))))
  }
  unknown <- setdiff(names(x), tree$names)
  if (length(unknown)) refuse(sprintf("It has an element `%s`.", unknown[1L]))
  lapply(tree$names, function(name) x[[name]])
}

check_type_like <- function(x, type, path, of) {
  if (!is_input(x)) {
    abort_anvil("argument", sprintf("`%s` must be a tensor.", path), c(
      sprintf("x Got <%s>.", described_class(x)), "i `NULL` stands for zero; `nv_tensor()` makes a tensor."
    ))
  }
  if (!is_input(type)) {
    abort_anvil("argument", sprintf("`%s` must be `NULL`: that %s is no tensor.", path, of))
  }
  if (!is_float_dtype(dtype(type))) {
    abort_anvil("dtype", sprintf("`%s` must be `NULL`: only floats have derivatives.", path), sprintf("x That %s has dtype <%s>.", of, as.character(dtype(type))))
  }
  if (dtype(x) != dtype(type)) {
    abort_anvil("dtype", sprintf("`%s` must have dtype <%s>, as that %s has.", path, as.character(dtype(type)), of), sprintf("x Got <%s>.", as.character(dtype(x))))
  }
  if (!identical(as.double(shape(x)), as.double(shape(type)))) {
    abort_anvil("shape", sprintf("`%s` must have shape %s, as that %s has.", path, shape2string(shape(type)), of), sprintf("x Got shape %s.", shape2string(shape(x))))
  }
  x
}
