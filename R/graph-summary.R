#' What a graph consists of
#'
#' Counts the calls of a graph and of the inner graphs of its calls, and estimates what they take when they are evaluated
#' one by one, as in debug mode. A compiled program does what it can to move less: [jit_report()] says what it does.
#'
#' @param object An [AnvilGraph].
#' @param ... Not used.
#' @return A list of class `anvil_graph_summary`:
#'
#'   * `inputs`, `constants`, `outputs`: their types;
#'   * `calls`: a data frame with a row for each primitive, the most frequent ones first: `primitive`, `calls`, `operations` and
#'     `bytes`. An operation is one for each element of the largest operand or result of a call, and for a product two for each pair of
#'     elements that is multiplied; bytes are those of operands and results. Calls with inner graphs count for the calls in
#'     these, and bodies of loops once;
#'   * `graphs`: how many inner graphs there are, and `nesting`: how many lie in each other;
#'   * `depth`: the most calls that need each other's results, inner graphs apart.
#' @seealso [as_dot()]
#' @export
#' @examples
#' graph <- trace_fn(function(x, w) nv_if(sum(x) > 0, x %*% w, exp(x)),
#'   list(x = nv_aten("f32", c(2, 2)), w = nv_aten("f32", c(2, 2))))
#' summary(graph)
#' summary(graph)$calls
summary.AnvilGraph <- function(object, ...) {
  counted <- counted_calls(object, 0L)
  rows <- counted$rows
  by <- rows$primitive
  total <- function(x) as.vector(tapply(x, by, sum))
  calls <- data.frame(
    primitive = sort(unique(by)), calls = total(rep(1L, length(by))), operations = total(rows$operations), bytes = total(rows$bytes)
  )
  calls <- calls[order(-calls$calls, calls$primitive), ]
  rownames(calls) <- NULL
  types <- function(values) vapply(values, type_text, "")
  structure(list(
    inputs = types(object$inputs), constants = types(object$constants), outputs = types(object$outputs),
    calls = calls, graphs = counted$graphs, nesting = counted$nesting, depth = depth_of(object)
  ), class = "anvil_graph_summary")
}

# The calls of a graph and of those in it: a row each; how many graphs those are, and how many lie in each other.
counted_calls <- function(graph, level) {
  calls <- graph$calls
  rows <- data.frame(
    primitive = vapply(calls, function(call) call$primitive$name, ""), operations = vapply(calls, operations_of, 1),
    bytes = vapply(calls, function(call) sum(0, bytes_of_values(c(if (!length(subgraphs(call))) c(call$inputs, call$outputs)))), 1)
  )
  inner <- lapply(unlist(lapply(calls, subgraphs), recursive = FALSE), counted_calls, level + 1L)
  list(
    rows = do.call(rbind, c(list(rows), lapply(unname(inner), `[[`, "rows"))),
    graphs = length(inner) + sum(0, vapply(inner, `[[`, 1, "graphs")),
    nesting = max(level, vapply(inner, `[[`, 1, "nesting"))
  )
}

bytes_of_values <- function(values) vapply(values, function(value) bytes_of_type(type_tag(value)), 1)

operations_of <- function(call) {
  elements <- function(values) vapply(values, function(value) prod(shape(value)), 1)
  if (length(subgraphs(call))) {
    return(0)
  }
  joined <- call$params$contracting_dims
  if (is.null(joined)) {
    return(max(0, elements(c(call$inputs, call$outputs))))
  }
  2 * prod(shape(call$inputs[[1L]])[joined[[1L]]]) * sum(elements(call$outputs))
}

depth_of <- function(graph) {
  depth <- new.env()
  deepest <- 0
  for (call in graph$calls) {
    own <- 1 + max(0, unlist(mget(labels_of(call$inputs), depth, ifnotfound = 0)))
    for (label in labels_of(call$outputs)) assign(label, own, envir = depth)
    deepest <- max(deepest, own)
  }
  deepest
}

#' @export
format.anvil_graph_summary <- function(x, ...) {
  n <- sum(x$calls$calls)
  listed <- function(types) {
    counts <- table(factor(types, unique(types)))
    paste0(names(counts), ifelse(counts > 1L, paste0(" x ", counts), ""), collapse = ", ")
  }
  line <- function(what, types) if (length(types)) sprintf("%s %s", format(paste0(what, ":"), width = 10L), listed(types))
  amounts <- function(x) format(vapply(x, format_amount, ""), justify = "right")
  c(
    paste0(
      cli::pluralize("{n} call{?s}"), sprintf(", the longest chain %.0f", x$depth),
      if (x$graphs > 0) cli::pluralize("; {x$graphs} inner graph{?s}, nested {x$nesting} deep")
    ),
    line("inputs", x$inputs), line("constants", x$constants), line("outputs", x$outputs),
    if (n > 0) {
      total <- rbind(x$calls, data.frame(primitive = "all", calls = n, operations = sum(x$calls$operations), bytes = sum(x$calls$bytes)))
      column <- function(name, text) format(c(name, text), justify = "right")
      c("", paste(
        format(c("primitive", total$primitive)), column("calls", sprintf("%.0f", total$calls)),
        column("operations", amounts(total$operations)), column("bytes", amounts(total$bytes)), sep = "  "
      ))
    }
  )
}

#' @export
print.anvil_graph_summary <- function(x, ...) {
  cat(format(x), sep = "\n")
  invisible(x)
}
