# What the arguments and results of a program are called: from the text to nested lists, and back.

# Called by the core: the trees that the names of a program's arguments and the notes on
# its results make.
imported_fields <- function(arguments, results) {
  numbers <- grepl("^[0-9]+$", arguments)
  arguments[numbers] <- paste0("x", which(numbers))
  paths <- lapply(arguments, label_path)
  named <- vapply(paths, function(path) path[[1L]] == argument_name(path[[1L]]), NA)
  flat <- ListNode(lapply(seq_along(arguments), LeafNode), make.unique(argument_name(arguments), "_"))
  list(
    in_tree = (if (all(named)) tree_of_paths(paths)) %||% flat,
    out_tree = result_tree(results),
    is_static = logical(length(arguments))
  )
}

# Names that can be typed, and are no dots.
argument_name <- function(x) sub("^[.][.]", "x..", gsub("[^A-Za-z0-9._]+", "_", make.names(x)))

result_tree <- function(results) {
  n <- length(results)
  if (n == 1L && results %in% c("", "result")) {
    return(LeafNode(1L))
  }
  paths <- lapply(sub("^(?!result)", "result", results, perl = TRUE), label_path)
  understood <- all(nzchar(results)) && all(vapply(paths, function(path) path[[1L]] == "result", NA))
  tree <- if (n > 0L && understood) tree_of_paths(paths)
  if (is.null(tree)) ListNode(lapply(seq_len(n), LeafNode), NULL) else tree$nodes[[1L]]
}

# "params['w'][0].b" is list("params", "w", 1L, "b"); "['a.b'][0]" is list("a.b", 1L).
label_path <- function(label) {
  part <- "\\['[^']*'\\]|\\[[0-9]{1,6}\\]|\\.[A-Za-z_][A-Za-z0-9_]*"
  head <- regmatches(label, regexpr("^([A-Za-z_][A-Za-z0-9_]*|\\['[^']*'\\])", label))
  rest <- if (length(head)) substring(label, nchar(head) + 1L) else label
  if (!length(head) || !grepl(sprintf("^(%s)*$", part), rest)) {
    return(list(label))
  }
  head <- gsub("^\\['|'\\]$", "", head)
  parts <- regmatches(rest, gregexpr(part, rest))[[1L]]
  c(list(head), lapply(parts, function(p) {
    if (grepl("^\\[[0-9]", p)) as.integer(gsub("[][]", "", p)) + 1L else gsub("^\\['|'\\]$|^\\.", "", p)
  }))
}

# The list in which leaf i stands at paths[[i]], or NULL if there is none, with its leaves in order.
tree_of_paths <- function(paths) {
  node <- function(leaves, depth) {
    keys <- lapply(paths[leaves], function(path) if (length(path) >= depth) path[[depth]])
    if (length(leaves) == 1L && is.null(keys[[1L]])) {
      return(LeafNode(leaves))
    }
    labels <- vapply(keys, function(key) if (is.null(key)) NA_character_ else as.character(key), "")
    groups <- split(leaves, factor(labels, unique(labels)))
    numbered <- all(vapply(keys, is.integer, NA))
    if (anyNA(labels) || !(numbered || all(vapply(keys, is.character, NA))) || numbered && !identical(names(groups), as.character(seq_along(groups)))) {
      return(NULL)
    }
    nodes <- lapply(unname(groups), node, depth + 1L)
    if (any(vapply(nodes, is.null, NA))) NULL else ListNode(nodes, if (!numbered) names(groups))
  }
  tree <- node(seq_along(paths), 1L)
  if (!is.null(tree) && identical(leaf_numbers(tree), seq_along(paths))) tree
}

leaf_numbers <- function(tree) {
  if (inherits(tree, "LeafNode")) tree$i else as.integer(unlist(lapply(tree$nodes, leaf_numbers)))
}

# The other way: the paths of the leaves of a tree, NA where a name does not go into the text.
leaf_labels <- function(tree, root) {
  if (inherits(tree, "LeafNode")) {
    return(root)
  }
  below <- function(k) {
    name <- tree$names[k] %||% ""
    part <- if (nzchar(name)) sprintf("['%s']", name) else sprintf("[%d]", k - 1L)
    leaf_labels(tree$nodes[[k]], if (is.na(root) || grepl("[^A-Za-z0-9_. -]", name)) NA else paste0(root, part))
  }
  as.character(unlist(lapply(seq_along(tree$nodes), below)))
}
