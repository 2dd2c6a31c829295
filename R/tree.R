#' Trees: nested lists of arguments and results
#'
#' Functions take and return nested lists of tensors. `tree_leaves()` gives their leaves
#' in order, `build_tree()` their structure with numbered leaves, and `unflatten()`
#' puts leaves into a structure. `tree_diff()` says where two structures differ first. Lists without a class, data frames and
#' sparse tensors ([nv_sparse()]) are containers; `NULL` is an empty container; everything else is a leaf.
#'
#' `flatten()` is another name of `tree_leaves()`, which other packages, such as purrr, have for something else.
#' Where both are attached, it is `tree_leaves()` for lists with tensors in them if anvil was attached last.
#'
#' @param x A nested list, or a tree for `tree_size()`, `reindex_tree()` and
#'   `tree_diff()`.
#' @param tree,y A tree.
#' @param flat A list of leaves.
#' @param names Names of top-level elements.
#' @param i The number of a leaf.
#' @param .f A function of a leaf.
#' @param .x A nested list.
#' @param ... Passed to `.f`. For `flatten()`: what functions of other packages with this name take, where a call is for one.
#' @param root The name that a path starts with.
#' @return `tree_leaves()`: a list. `build_tree()`, `reindex_tree()`,
#'   `filter_list_node()`: a tree. `tree_size()`: a number. `tree_path()`: a string.
#'   `tree_diff()`: the path of the first place where the structures or their names differ, `NULL` where they are the same.
#'   `map_tree()`: a nested list.
#' @family graphs
#' @export
#' @examples
#' x <- list(a = 1, b = list(2, 3))
#' tree <- build_tree(x)
#' tree
#' identical(unflatten(tree, tree_leaves(x)), x)
#' tree_path(tree, 3)
#' tree_diff(tree, build_tree(list(a = 1, b = 2)))
build_tree <- function(x) {
  n <- 0L
  build <- function(x) {
    if (is.null(x)) {
      NullNode()
    } else if (is_container(x)) {
      node <- ListNode(lapply(unname(unclass(x)), build), names(x))
      if (is_sparse(x)) SparseNode(node, sparse_pattern(x)) else node
    } else {
      n <<- n + 1L
      LeafNode(n)
    }
  }
  build(x)
}

is_container <- function(x) is.list(x) && (!is.object(x) || is.data.frame(x) || is_sparse(x))

LeafNode <- function(i) structure(list(i = i), class = c("LeafNode", "TreeNode"))
NullNode <- function() structure(list(), class = c("NullNode", "TreeNode"))
ListNode <- function(nodes, names) {
  attributes(nodes) <- NULL
  structure(list(nodes = nodes, names = names), class = c("ListNode", "TreeNode"))
}
SparseNode <- function(node, pattern) {
  node$pattern <- pattern
  structure(node, class = c("SparseNode", class(node)))
}

#' @rdname build_tree
#' @export
tree_leaves <- function(x) {
  if (is.null(x)) {
    list()
  } else if (is_container(x)) {
    leaves <- lapply(unname(unclass(x)), tree_leaves)
    attributes(leaves) <- NULL
    unlist(leaves, recursive = FALSE, use.names = FALSE) %||% list()
  } else {
    list(x)
  }
}

#' @rdname build_tree
#' @usage flatten(x, ...)
#' @export
flatten <- tree_leaves

#' @rdname build_tree
#' @export
unflatten <- function(tree, flat) {
  check_class(tree, "TreeNode", make_tree)
  if (!is.list(flat)) wrong_argument("flat", "a list of leaves", flat)
  if (length(flat) < max_leaf(tree)) {
    abort_anvil("argument", "`flat` must have an element for every leaf of `tree`.", sprintf("x Got %d for %d leaves.", length(flat), max_leaf(tree)))
  }
  fill_tree(tree, flat)
}

make_tree <- "i `build_tree()` makes one."

fill_tree <- function(tree, flat) {
  if (inherits(tree, "LeafNode")) {
    flat[[tree$i]]
  } else if (inherits(tree, "NullNode")) {
    NULL
  } else {
    x <- lapply(tree$nodes, fill_tree, flat)
    names(x) <- tree$names
    if (inherits(tree, "SparseNode")) new_sparse(x, tree$pattern) else x
  }
}

#' @rdname build_tree
#' @export
tree_size <- function(x) {
  check_class(x, "TreeNode", make_tree)
  if (inherits(x, "LeafNode")) 1L else sum(0L, vapply(x$nodes, tree_size, 1L))
}

#' @rdname build_tree
#' @export
reindex_tree <- function(x) {
  check_class(x, "TreeNode", make_tree)
  build_tree(fill_tree(x, as.list(rep(NA, max_leaf(x)))))
}

max_leaf <- function(x) if (inherits(x, "LeafNode")) x$i else max(0L, vapply(x$nodes, max_leaf, 1L))

#' @rdname build_tree
#' @export
filter_list_node <- function(tree, names) {
  check_class(tree, "ListNode", make_tree)
  if (!is.character(names)) wrong_argument("names", "a character vector", names)
  keep <- tree$names %in% names
  reindex_tree(ListNode(tree$nodes[keep], tree$names[keep]))
}

# Which leaves belong to the top-level elements of these names.
flat_mask <- function(tree, names) {
  unlist(Map(function(node, name) rep(name %in% names, tree_size(node)), tree$nodes, tree$names %||% rep("", length(tree$nodes)))) %||% logical()
}

#' @rdname build_tree
#' @export
tree_path <- function(tree, i, root = "x") {
  check_class(tree, "TreeNode", make_tree)
  path_of_leaf(tree, check_whole_number(i, lower = 1L), check_string(root))
}

path_of_leaf <- function(tree, i, root) {
  if (inherits(tree, "LeafNode")) {
    return(if (tree$i == i) root)
  }
  for (k in seq_along(tree$nodes)) {
    path <- path_of_leaf(tree$nodes[[k]], i, path_of_node(tree, k, root))
    if (!is.null(path)) {
      return(path)
    }
  }
  NULL
}

path_of_node <- function(tree, k, root) {
  name <- tree$names[k] %||% ""
  paste0(root, if (is.na(name) || !nzchar(name)) paste0("[[", k, "]]") else paste0("$", name))
}

#' @rdname build_tree
#' @export
tree_diff <- function(x, y, root = "x") {
  check_class(x, "TreeNode", make_tree)
  check_class(y, "TreeNode", make_tree)
  first_difference(x, y, check_string(root))
}

# Leaves are alike whatever their numbers.
first_difference <- function(x, y, root) {
  if (!identical(class(x), class(y)) || !identical(x$pattern, y$pattern)) {
    return(root)
  }
  count <- max(length(x$nodes), length(y$nodes))
  for (k in seq_len(count)) {
    longer <- if (k <= length(x$nodes)) x else y
    path <- path_of_node(longer, k, root)
    if (k > min(length(x$nodes), length(y$nodes)) || !identical(x$names[k] %||% "", y$names[k] %||% "")) {
      return(path)
    }
    path <- first_difference(x$nodes[[k]], y$nodes[[k]], path)
    if (!is.null(path)) {
      return(path)
    }
  }
  NULL
}

#' @rdname build_tree
#' @export
map_tree <- function(.f, .x, ...) {
  check_function(.f)
  unflatten(build_tree(.x), lapply(flatten(.x), .f, ...))
}

#' @export
format.TreeNode <- function(x, ...) {
  if (inherits(x, "LeafNode")) {
    "*"
  } else if (inherits(x, "NullNode")) {
    "NULL"
  } else {
    labels <- x$names %||% rep("", length(x$nodes))
    parts <- paste0(ifelse(nzchar(labels), paste0(labels, " = "), ""), vapply(x$nodes, format, ""))
    paste0("list(", paste(parts[seq_along(x$nodes)], collapse = ", "), ")")
  }
}

#' @export
print.TreeNode <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  invisible(x)
}
