#' The graph under construction
#'
#' A `GraphDescriptor` collects the calls of a trace. [trace_fn()] makes one by
#' itself; `local_descriptor()` makes one for the rest of a frame. Descriptors nest:
#' the innermost one is the current one. Its fields `inputs`, `constants` and `calls` are those of the graph so far, [as_graph()] makes a
#' graph of it and of the outputs; [graph_desc_add()] records into it call by call.
#'
#' @param envir The frame whose end restores the descriptor before; not the global
#'   environment.
#' @param silent Whether to return `NULL` instead of failing when there is none.
#' @return A `GraphDescriptor`.
#' @family graphs
#' @export
#' @examples
#' f <- function() {
#'   local_descriptor()
#'   nvl_add(1, 2)
#'   print(.current_descriptor())
#' }
#' f()
local_descriptor <- function(envir = parent.frame()) {
  check_running_frame(envir, "It would stay current for the rest of the session.", "local_descriptor", "trace")
  descriptor <- .Call(C_anvil_push, "program")
  defer(.Call(C_anvil_pop, descriptor), envir)
  invisible(descriptor)
}

# A frame whose end can be waited for.
check_running_frame <- function(envir, why, what = "local_rule", kind = "argument") {
  if (!is.environment(envir)) {
    abort_anvil("argument", "`envir` must be an environment.", sprintf("x Got <%s>.", described_class(envir)))
  }
  if (identical(envir, globalenv())) {
    abort_anvil(kind, sprintf("Don't run %s in the global environment.", what), paste("i", why))
  }
  if (!any(vapply(sys.frames(), identical, NA, envir))) {
    abort_anvil("argument", "`envir` must be the frame of a function that is running.", "i What it is for ends with that function.")
  }
}

#' @rdname local_descriptor
#' @export
.current_descriptor <- function(silent = FALSE) {
  descriptor <- .Call(C_anvil_current)
  if (is.null(descriptor) && !silent) {
    abort_anvil("trace", "No graph is currently being built.", "i Did you forget to use `jit()`?")
  }
  descriptor
}

is_tracing <- function() !is.null(.Call(C_anvil_current))
keeps_record <- function() identical(.Call(C_anvil_purpose), "record")

#' @export
format.GraphDescriptor <- function(x, nested = FALSE, ...) .Call(C_anvil_graph_text, x, "GraphDescriptor", nested)

#' @export
`$.GraphDescriptor` <- function(x, name) {
  if (!(name %in% names(x))) {
    abort_anvil("argument", sprintf("A descriptor has no field `%s`.", name), "i It has inputs, constants and calls.")
  }
  graph_field(.Call(C_anvil_graph_of, x, list(), NULL), name)
}

#' @export
names.GraphDescriptor <- function(x) c("inputs", "constants", "calls")

#' @export
print.GraphDescriptor <- function(x, nested = FALSE, ...) {
  check_flag(nested)
  cat(format(x, nested = nested), "\n")
  invisible(x)
}
