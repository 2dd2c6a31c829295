#' StableHLO text
#'
#' `stablehlo()` writes a graph as a StableHLO function, the form in which tensor
#' compilers exchange programs. `write_stablehlo()` writes a module for other tools:
#' the same function with everything that it needs, to a file.
#'
#' By default `stablehlo()` writes captured tensors with one element into the text, and
#' makes larger ones the first inputs of the function. `write_stablehlo()` writes all
#' into the text, in full precision. It also writes the names of arguments and results,
#' as JAX does, so that [read_stablehlo()] finds them again.
#'
#' The reverse mode of [nv_while()] records every iteration, for which StableHLO has no
#' value, since its sizes are fixed. In the text, a loop that counts up to a known number
#' writes its records into a tensor; another one is run again for each record, which takes
#' time quadratic in the number of its iterations.
#'
#' StableHLO has no operation for LU, QR, eigenvalue and singular value decompositions, and so none for [solve()] and [det()]:
#' they are calls of `anvil.lu` and the like, which [read_stablehlo()] knows and other tools do not.
#'
#' The text says what a function computes, and nothing of its derivatives: when it is
#' read again, they are those of its operators, and [nv_stop_gradient()] and derivative
#' rules of one's own are lost. Differentiate first, then write.
#'
#' @param graph An [AnvilGraph].
#' @param constants_as_inputs `FALSE` writes all captured tensors into the text, `TRUE`
#'   makes inputs of those with several elements.
#' @param donate Names of arguments whose memory results may take: each of their tensors has the attribute
#'   `tf.aliasing_output` if there is a result of its type.
#' @param func The first element of what `stablehlo()` returns.
#' @param ... What functions of other packages with this name take, where a call is for one.
#' @param f A graph, a function that [read_stablehlo()] returned, or any other function
#'   on tensors, jitted or not.
#' @param path A file, or `NULL` to write none.
#' @param args For a function that is to be traced, the list of its arguments: tensors,
#'   their types ([nv_aten()]), or R values, see [trace_fn()].
#' @return `stablehlo()`: a list of the function, which prints as text, and a list of
#'   the constants that became inputs. `repr()`: the text. `write_stablehlo()`: the
#'   text, invisibly if it went to a file.
#' @seealso [read_stablehlo()] for the other direction.
#' @family exchange
#' @export
#' @examples
#' graph <- trace_fn(function(x, y) x * y, list(x = nv_aten("f32", 2), y = nv_aten("f32", 2)))
#' out <- stablehlo(graph)
#' out[[1]]
#' cat(repr(out[[1]]))
#'
#' # a program for other tools, and back
#' file <- tempfile(fileext = ".mlir")
#' f <- function(x, p) list(sum = sum(p$w * x), max = max(x))
#' write_stablehlo(f, file, list(x = nv_aten("f64", 3), p = list(w = nv_aten("f64", 3))))
#' read_stablehlo(file)
stablehlo <- function(graph, constants_as_inputs = TRUE, donate = character()) {
  out <- .Call(C_anvil_stablehlo, graph, constants_as_inputs, list(NULL, NULL, donated_inputs(graph, donate)))
  list(structure(list(text = out[[1L]]), class = "AnvilFunc"), out[[2L]])
}

# Which inputs belong to these arguments.
donated_inputs <- function(graph, names) {
  if (!length(names)) {
    return(logical())
  }
  tree <- input_tree(graph)
  formals <- stats::setNames(vector("list", length(tree$nodes)), tree$names %||% rep("", length(tree$nodes)))
  flat_mask(tree, check_names(names, formals, "donate"))
}

#' @rdname stablehlo
#' @export
write_stablehlo <- function(f, path = NULL, args = list(), constants_as_inputs = FALSE) {
  check_flag(constants_as_inputs, "constants_as_inputs")
  if (!is.null(path) && (!is.character(path) || length(path) != 1L || is.na(path))) {
    abort_anvil("argument", "`path` must be the name of a file, or NULL.", sprintf("x Got %s.", describe_value(path)))
  }
  graph <- if (is.function(f) && !inherits(f, "AnvilImported")) trace_fn(f, args) else graph_behind(f)
  text <- module_text(.Call(C_anvil_stablehlo, graph, constants_as_inputs, graph_labels(graph))[[1L]])
  if (is.null(path)) {
    return(text)
  }
  file <- file(path, "wb")
  on.exit(close(file))
  writeBin(charToRaw(text), file)
  invisible(text)
}

module_text <- function(func) paste0("module {\n", gsub("(?m)^(?=.)", "  ", func, perl = TRUE), "}\n")

# What the inputs and outputs of a graph are called, NULL where nobody knows.
graph_labels <- function(graph) {
  fields <- fields_of(graph)
  in_tree <- fields$in_tree
  out_tree <- fields$out_tree
  arguments <- if (!is.null(in_tree)) {
    top <- in_tree$names %||% rep("", length(in_tree$nodes))
    plain <- grepl("^[A-Za-z_][A-Za-z0-9_]*$", top)
    top <- ifelse(plain, top, ifelse(grepl("^[A-Za-z_.][A-Za-z0-9_.]*$", top), sprintf("['%s']", top), NA))
    unlist(Map(leaf_labels, in_tree$nodes, top))[!fields$is_static]
  }
  results <- if (inherits(out_tree, "ListNode")) leaf_labels(out_tree, "result")
  list(complete(arguments), complete(results), logical())
}

# Labels make sense together only.
complete <- function(labels) if (!anyNA(labels)) labels

#' @rdname stablehlo
#' @usage repr(func, ...)
#' @export
repr <- function(func) UseMethod("repr")

#' @export
repr.default <- function(func) check_class(func, "AnvilFunc", "i `stablehlo()` makes one, of a graph.")

#' @export
repr.AnvilFunc <- function(func) func$text

#' @export
repr.AbstractTensor <- function(func) {
  paste0(as.character(func$dtype), if (func$ambiguous) "?", "[", paste(func$shape, collapse = "x"), "]")
}

#' @export
format.AnvilFunc <- function(x, ...) x$text

#' @export
print.AnvilFunc <- function(x, ...) {
  cat(sub("\n*$", "\n", x$text))
  invisible(x)
}
