#' Functions of one example for many
#'
#' `vectorize(f)` is `f` for a batch of examples: arguments have one more dimension, the axis along which the
#' examples lie, and so have the results. `f` itself is written for one example, and computes each example as if
#' it were alone; but all of them are computed together, one call for the whole batch: a product with a vector
#' becomes a product of matrices, a solution for one right side that for many.
#'
#' `f` is traced once, with examples. What does not depend on mapped arguments is computed once. Of
#' an [nv_if()] whose condition differs by example both sides are computed and selected from; an [nv_while()]
#' whose condition differs runs until no example goes on, and examples that are done stay as they are. Functions with
#' derivatives of their own ([nv_custom_gradient()], [AnvilPrimitive()]) are batched with these.
#'
#' Vectorized functions can be nested, compiled ([jit()]), and differentiated ([gradient()]);
#' `vectorize(gradient(f))` gives the gradients of each example. Outside of a trace the batch is computed
#' at once, as in debug mode.
#'
#' @section Random numbers:
#' All examples share a random state that is not mapped, and so draw the same numbers. For numbers of
#' their own give each example a seed, `nv_tensor(1:8)` for eight of them, of which `f` makes its state ([nv_rng_state()]),
#' or a state of its own, one a row.
#'
#' @param f A function of any arguments that returns tensors, or nested lists of them.
#' @param args Names of the arguments that are mapped, or their positions; the others are shared by all
#'   examples. `NULL` for every argument that is a tensor or an array, or a list of them, and has a dimension at all;
#'   where `axis` has names, for those that it names.
#' @param axis The axis of the mapped arguments along which the examples lie. Negative ones count from the
#'   end, -1 is the last one. A list or vector with names has an axis for each argument.
#' @param out_axis The axis of the results along which the examples lie, likewise; with names, one for each
#'   element of the list that `f` returns. Where `axis` has names, the default is 1.
#' @return A function with the formals of `f`. Arguments are tensors (or R arrays) of any dtype and
#'   shape that have the axis, and the same size along it, which may be 0. Its results have the dtypes and
#'   shapes of those of `f`, with the axis added; a result that does not depend on the
#'   mapped arguments is repeated for each example.
#' @section Errors:
#' `anvil_error_argument` where there is nothing to map over or `args`, `axis` or `out_axis` name what is not there;
#' `anvil_error_shape` where an argument does not have the axis, or sizes disagree.
#' @family compilation
#' @export
#' @examples
#' # a dot product for each row, and for all pairs of rows
#' x <- nv_tensor(matrix(1:6, 3), "f32")
#' y <- nv_tensor(matrix(6:1, 3), "f32")
#' dot <- function(a, b) sum(a * b)
#' vectorize(dot)(x, y)
#' vectorize(vectorize(dot, "b"), "a")(x, y)
#'
#' # distances between all pairs of points
#' distance <- function(a, b) sqrt(sum((a - b)^2))
#' pairwise <- vectorize(vectorize(distance, "b"), "a")
#' jit(pairwise)(x, x)
#'
#' # the gradient of a network's loss for each example
#' loss <- function(w, x, y) (sum(tanh(x %*% w$hidden) * w$out) - y)^2
#' w <- list(
#'   hidden = nv_tensor(matrix(c(0.1, -0.2, 0.3, 0.4), 2)),
#'   out = nv_tensor(matrix(c(1, -1), 1))
#' )
#' rows <- nv_tensor(array(c(1, 2, 3, 4, 5, 6), c(3, 1, 2)))
#' each <- jit(vectorize(gradient(loss, "w"), c("x", "y")))
#' lapply(each(w, rows, nv_tensor(c(1, 0, 1)))$w, shape)
#'
#' # many small regressions: 4 of them, each with a design matrix and a response of its own
#' ols <- function(X, y) {
#'   root <- nv_chol(nv_crossprod(X), lower = TRUE)
#'   nv_triangular_solve(root, nv_triangular_solve(root, nv_crossprod(X, y)), transpose_a = TRUE)
#' }
#' X <- nv_tensor(array(sin(1:48), c(6, 2, 4)))
#' y <- nv_tensor(array(cos(1:24), c(6, 1, 4)))
#' vectorize(ols, axis = 3)(X, y)
#'
#' # a Bayesian bootstrap of a mean: weights of their own for each seed
#' data <- nv_tensor(c(2, 4, 4, 5, 7))
#' weighted <- function(seed) {
#'   weights <- -log(nv_runif(5, nv_rng_state(seed))[[2]])
#'   sum(weights * data) / sum(weights)
#' }
#' vectorize(weighted)(nv_tensor(1:4))
vectorize <- function(f, args = NULL, axis = 1L, out_axis = axis) {
  check_wrapped_function(f)
  formals <- formals(base::args(f))
  check_axis(axis, "axis")
  if (missing(out_axis) && !is.null(names(axis))) out_axis <- 1L
  check_axis(out_axis, "out_axis")
  if (!is.null(args)) args <- check_names(args, formals, "args")
  if (!is.null(names(axis))) args <- check_named_axis(axis, args, formals)
  with_formals(formals, "vectorize_call", list(f = f, args = args, axis = axis, out_axis = out_axis))
}

# --- where the examples lie -----------------------------------------------------------

check_axis <- function(axis, name) {
  axes <- if (!is_value(axis) && (is.numeric(axis) || is_container(axis))) unname(as.list(axis)) else list()
  is_axis <- function(x) is_whole(x) && length(x) == 1L && x != 0
  labels <- names(axis)
  named <- is.null(labels) && length(axes) == 1L || !is.null(labels) && all(nzchar(labels)) && !anyDuplicated(labels)
  if (!length(axes) || !named || !all(vapply(axes, is_axis, NA))) {
    wrong_argument(name, "a whole number other than 0, or hold one for each name", axis, "i 1 is the first axis, -1 the last one.")
  }
}

# The arguments that are mapped.
check_named_axis <- function(axis, args, formals) {
  labels <- check_names(names(axis), formals, "names(axis)")
  if (length(lacking <- setdiff(args, labels))) {
    abort_anvil("argument", "`axis` must have an entry for each of `args`.", sprintf("x There is none for `%s`.", lacking[1L]))
  }
  args %||% labels
}

# What `axis` says of the leaves that are mapped.
axis_list <- function(axis, tree, mapped) {
  if (is.null(names(axis))) {
    return(rep(list(as.integer(axis)), sum(mapped)))
  }
  labels <- rep(tree$names, vapply(tree$nodes, tree_size, 1L))
  lapply(unname(as.list(axis)[labels[mapped]]), as.integer)
}

from_start <- function(axis, rank) if (axis < 0L) rank + 1L + axis else axis

move_axis <- function(x, from, to) {
  rank <- rank_of(x)
  if (from == to) x else nv_transpose(x, append(setdiff(seq_len(rank), from), from, after = to - 1L))
}

# --- a call ------------------------------------------------------------------------------

vectorize_call <- function(spec, args) {
  in_tree <- build_tree(args)
  leaves <- flatten(args)
  mapped <- mapped_leaves(spec, in_tree, leaves)
  leaves[mapped] <- lapply(leaves[mapped], nv_value)
  axes <- mapped_axes(in_tree, leaves, mapped, axis_list(spec$axis, in_tree, mapped))
  leaves[mapped] <- Map(function(x, axis) move_axis(x, axis, rank_of(x)), leaves[mapped], axes)
  out <- batched_call(spec$f, in_tree, leaves, mapped)
  unflatten(out$tree, place_results(out, spec$out_axis))
}

mapped_leaves <- function(spec, tree, leaves) {
  is_mappable <- function(x) is_value(x) || is_r_array(x)
  if (is.null(spec$args)) {
    mapped <- vapply(leaves, function(x) is_mappable(x) && length(dim(x)) > 0L, NA)
  } else {
    mapped <- flat_mask(tree, spec$args)
  }
  if (!any(mapped)) {
    none <- if (is.null(spec$args)) "There is no argument with a dimension." else sprintf("There is none in %s.", paste0("`", spec$args, "`", collapse = ", "))
    abort_anvil("argument", "Can only map over arrays.", c(paste("x", none), "i Arguments that are mapped are tensors with a dimension for the examples."))
  }
  wrong <- which(mapped & !vapply(leaves, is_mappable, NA))
  if (length(wrong)) {
    abort_anvil("argument", "Can only map over arrays.", c(
      sprintf("x Got %s for `%s`.", describe_value(leaves[[wrong[1L]]]), argument_path(tree, wrong[1L])),
      "i Name the arguments to map over in `args`; the others are shared by all examples."
    ))
  }
  mapped
}

argument_path <- function(tree, i) sub("^x[$]", "", tree_path(tree, i))

# The axes of the leaves that are mapped, counted from the start; all have one size there.
mapped_axes <- function(tree, leaves, mapped, axes) {
  places <- which(mapped)
  sizes <- integer(length(places))
  for (k in seq_along(places)) {
    x <- leaves[[places[k]]]
    axis <- from_start(axes[[k]], rank_of(x))
    if (axis < 1L || axis > rank_of(x)) {
      path <- argument_path(tree, places[k])
      abort_anvil("shape", sprintf("`%s` has no axis %d to map over.", path, axes[[k]]), sprintf("x It has shape %s.", shape2string(shape(x))))
    }
    axes[[k]] <- axis
    sizes[k] <- shape(x)[axis]
    if (sizes[k] != sizes[1L]) {
      said <- function(j) sprintf("`%s` has size %.0f along axis %d", argument_path(tree, places[j]), sizes[j], axes[[j]])
      abort_anvil("shape", "Arguments that are mapped must have the same size along their axes.", sprintf("x %s, %s.", said(1L), said(k)))
    }
  }
  unlist(axes)
}

# What `f` gives for a batch whose dimension is the last one of each mapped leaf: the tree and the leaves, likewise.
batched_call <- function(f, in_tree, leaves, mapped) {
  as_input <- vapply(leaves, is_input, NA)
  size <- rev(shape(leaves[[which(mapped)[1L]]]))[1L]
  examples <- leaves
  examples[mapped] <- lapply(leaves[mapped], function(x) nv_aten(dtype(x), shape(x)[-rank_of(x)], ambiguous(x)))
  graph <- trace_graph(f, unflatten(in_tree, examples), mode = "debug", as_input = as_input)
  if (!keeps_record()) graph <- .Call(C_anvil_simplify, graph, "simplify")
  tree <- graph$out_tree
  graph <- .Call(C_anvil_batch, graph, mapped[as_input], size, list(in_tree = in_tree, out_tree = tree, is_static = !as_input))
  list(tree = tree, leaves = .Call(C_anvil_inline, graph, leaves[as_input]))
}

# The results with the examples along the axes that are wanted.
place_results <- function(out, out_axis) {
  labels <- out$tree$names
  if (!is.null(names(out_axis)) && !(length(labels) && setequal(labels, names(out_axis)))) {
    abort_anvil("argument", "`out_axis` must have an entry for each element of the result.", c(
      sprintf("x It has names %s.", paste0("`", names(out_axis), "`", collapse = ", ")),
      if (length(labels)) sprintf("i Those of the result are %s.", paste0("`", labels, "`", collapse = ", ")) else "i The result is no list with names."
    ))
  }
  axes <- axis_list(out_axis, out$tree, rep(TRUE, length(out$leaves)))
  Map(function(x, axis) {
    rank <- rank_of(x)
    to <- from_start(axis, rank)
    if (to < 1L || to > rank) {
      abort_anvil("shape", sprintf("A result has no axis %d.", axis), cli::pluralize("x With that of the examples it has {rank} dimension{?s}."))
    }
    move_axis(x, rank, to)
  }, out$leaves, axes)
}
