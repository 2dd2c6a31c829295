#' The graph under construction
#'
#' A `GraphDescriptor` collects the calls of a trace. [trace_fn()] makes one by
#' itself; `local_descriptor()` makes one for the rest of a frame. Descriptors nest:
#' the innermost one is the current one.
#'
#' @param envir The frame whose end restores the descriptor before; not the global
#'   environment.
#' @param silent Whether to return `NULL` instead of failing when there is none.
#' @return A `GraphDescriptor`.
#' @export
#' @examples
#' f <- function() {
#'   local_descriptor()
#'   nvl_add(1, 2)
#'   print(.current_descriptor())
#' }
#' f()
local_descriptor <- function(envir = parent.frame()) {
  if (!is.environment(envir)) {
    abort_anvil("argument", "`envir` must be an environment.", sprintf("x Got <%s>.", described_class(envir)))
  }
  if (identical(envir, globalenv())) {
    abort_anvil("trace", "Don't run local_descriptor in the global environment.", "i It would stay current for the rest of the session.")
  }
  if (!any(vapply(sys.frames(), identical, NA, envir))) {
    abort_anvil("argument", "`envir` must be the frame of a function that is running.", "i The descriptor is current until that function ends.")
  }
  descriptor <- .Call(C_anvil_push, "program")
  defer(.Call(C_anvil_pop, descriptor), envir)
  invisible(descriptor)
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

#' @export
format.GraphDescriptor <- function(x, ...) .Call(C_anvil_graph_text, x, "GraphDescriptor")

#' @export
print.GraphDescriptor <- function(x, ...) {
  cat(format(x), "\n")
  invisible(x)
}
