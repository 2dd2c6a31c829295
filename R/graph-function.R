#' Graphs as R functions
#'
#' `as.function()` writes a graph as an R function: one `nvl_*` call a line, in which `v3` is the value `%3` of the graph, control flow as
#' [nv_if()] and [nv_while()] with functions of their own, captured tensors as `c1`, `c2` and so on. It prints as the
#' text that it is made of; it can be called, jitted, traced, differentiated, and changed.
#'
#' `trace_fn()` of it gives the same graph again, as does the function that is read from its text:
#' captured tensors of up to 16 elements are written into it, larger ones are in its environment, as are the rules that
#' calls of [nv_custom_gradient()] and the like own.
#' Where there is no strict function that records just the call of the graph, such as of a primitive
#' with operands that are positions, which count from 0 in graphs, the code calls the primitive itself, [prim()].
#' Numbers stand for literals of the default dtype ([default_dtypes()]) of when it was written.
#'
#' @param x An [AnvilGraph].
#' @param ... Not used.
#' @aliases AnvilFunction-class
#' @return A function of class `AnvilFunction`. Its arguments are those that were tensors, or lists of them,
#'   when the graph was traced; what was no tensor is not among them. It returns what the traced function returned.
#' @seealso [jit()] runs a graph as it is; [walk_graph()] for other transformations.
#' @family graphs
#' @export
#' @examples
#' type <- nv_aten("f32", 3)
#' graph <- trace_fn(function(x, y) nv_if(sum(x) > 0, x * y, exp(x)), list(x = type, y = type))
#' f <- as.function(graph)
#' f
#' x <- nv_tensor(c(1, 2, 3))
#' f(x, x)
#' gradient(function(x) sum(f(x, x)))(x)
as.function.AnvilGraph <- function(x, ...) function_of(function_text(x))

# The text of that function, and what it finds in its environment.
function_text <- function(x, tree = input_tree(x)) {
  formals <- tree$names
  taken <- any(grepl("^([vcp][0-9]+([.][0-9]+)*|x[0-9.]+[.][0-9]+)$", formals))
  code <- graph_code(x, flatten_code(tree), dot = if (taken) "." else "")
  written <- lapply(code$kept, function(value) if (is_tensor(value)) tensor_code(value))
  written <- written[!vapply(written, is.null, NA)]
  constants <- if (length(written)) paste(names(written), "<-", unlist(written))
  lines <- c(constants, code$lines, tree_code(output_tree(x), code$outputs))
  text <- sprintf("function(%s) {\n%s\n}", paste(vapply(formals, symbol_code, ""), collapse = ", "), paste(indented(lines), collapse = "\n"))
  list(text = text, kept = code$kept[setdiff(names(code$kept), names(written))])
}

function_of <- function(code) {
  f <- eval(parse(text = code$text, keep.source = TRUE)[[1L]], list2env(code$kept, parent = topenv()))
  structure(f, class = c("AnvilFunction", "function"))
}

#' @export
format.AnvilFunction <- function(x, ...) paste(as.character(attr(x, "srcref")), collapse = "\n")

#' @export
print.AnvilFunction <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  invisible(x)
}

# --- arguments and results --------------------------------------------------------------------

# The tree of the inputs, without what was no tensor; the arguments have names.
input_tree <- function(graph) {
  fields <- fields_of(graph)
  n <- length(graph$inputs)
  tree <- fields$in_tree
  if (is.null(tree)) {
    return(ListNode(lapply(seq_len(n), LeafNode), if (n) paste0("x", seq_len(n))))
  }
  if (any(fields$is_static)) tree <- reindex_tree(without_leaves(tree, fields$is_static))
  some <- vapply(tree$nodes, function(node) max_leaf(node) > 0L, NA)
  names <- (tree$names %||% rep("", length(tree$nodes)))[some]
  names[!nzchar(names)] <- paste0("x", seq_along(names))[!nzchar(names)]
  ListNode(tree$nodes[some], make.unique(names, "_"))
}

without_leaves <- function(tree, drop) {
  if (inherits(tree, "LeafNode")) {
    return(if (!drop[tree$i]) tree)
  }
  if (inherits(tree, "NullNode")) {
    return(tree)
  }
  nodes <- lapply(tree$nodes, without_leaves, drop)
  gone <- vapply(nodes, is.null, NA)
  ListNode(nodes[!gone], tree$names[!gone])
}

output_tree <- function(graph) {
  n <- length(graph$outputs)
  fields_of(graph)$out_tree %||% if (n == 1L) LeafNode(1L) else ListNode(lapply(seq_len(n), LeafNode), NULL)
}

# The code that reads each leaf of the arguments: x, params$w, params[[2]].
flatten_code <- function(tree) {
  read <- function(node, path) {
    if (inherits(node, "LeafNode")) {
      return(path)
    }
    names <- node$names %||% rep("", length(node$nodes))
    unlist(Map(function(part, name, k) {
      read(part, paste0(path, if (nzchar(name)) paste0("$", symbol_code(name)) else sprintf("[[%dL]]", k)))
    }, node$nodes, names, seq_along(node$nodes)), use.names = FALSE)
  }
  unlist(Map(read, tree$nodes, vapply(tree$names, symbol_code, "")), use.names = FALSE)
}

# A nested list of the code of its leaves.
tree_code <- function(tree, leaves) {
  if (inherits(tree, "LeafNode")) {
    return(leaves[[tree$i]])
  }
  if (inherits(tree, "NullNode")) {
    return("NULL")
  }
  parts <- vapply(tree$nodes, tree_code, "", leaves = leaves)
  names <- tree$names %||% rep("", length(parts))
  paste0("list(", paste0(ifelse(nzchar(names), paste(vapply(names, symbol_code, ""), "= "), ""), parts, collapse = ", "), ")")
}

# Called by jit(graph): the calls of the graph, on these arguments.
graph_call <- function(graph, args) {
  tree <- input_tree(graph)
  types <- lapply(graph$inputs, function(value) value$aval)
  leaves <- checked_leaves(tree, types, args, convert = FALSE)
  unflatten(output_tree(graph), .Call(C_anvil_inline, graph, leaves))
}
