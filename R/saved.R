# Graphs that outlive their session: saveRDS(), serialize(), save(), parallel workers. A graph that was traced is saved
# as its code (graph-code.R), with the tensors and rules that the code names; one that was read, as its text.
# The core calls the first function when a graph is written, the second one when a graph that was saved is used.

saved_graph <- function(graph) {
  tree <- input_tree(graph)
  types <- lapply(graph$inputs, function(value) value$aval)
  tryCatch(
    c(function_text(graph, tree), list(arguments = unflatten(tree, types), dtypes = default_dtypes())),
    anvil_error_argument = function(e) list(reason = conditionMessage(e)) # an inner graph
  )
}

restored_graph <- function(saved) {
  if (!is.null(saved$source)) {
    return(.Call(C_anvil_read_stablehlo, saved$source, saved$entry))
  }
  if (is.null(saved$text)) {
    abort_anvil("argument", "This graph was saved in another session, and cannot be restored.", c(
      if (!is.null(saved$reason)) paste("x", strsplit(saved$reason, "\n")[[1L]][1L]), "i Trace the function again."
    ))
  }
  old <- options(anvil.default_dtypes = saved$dtypes)
  on.exit(options(old))
  trace_graph(function_of(saved), saved$arguments, mode = "record")
}
