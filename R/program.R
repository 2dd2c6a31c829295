#' Programs: compile and run StableHLO text
#'
#' `nv_program()` reads a program, `nv_compile()` makes native code of it, and
#' `nv_execute()` runs the code on tensors or raw buffers. [read_stablehlo()] makes an R
#' function of a program instead.
#'
#' @param src StableHLO text, a module or a single function, or the name of its file.
#' @param format The format of `src`; `"mlir"` is the only one.
#' @param program What `nv_program()` or [read_stablehlo()] returns, or an [AnvilGraph].
#' @param executable What `nv_compile()` returns.
#' @param ... The inputs: tensors or raw buffers (`x$tensor`).
#' @return `nv_program()`: a program. `nv_compile()`: an executable. `nv_execute()`: a
#'   raw buffer, or a list of them; [nv_tensor()] makes tensors of them.
#' @family exchange
#' @export
#' @examples
#' graph <- trace_fn(function(x, y) x + y, list(x = nv_aten("f32", 2), y = nv_aten("f32", 2)))
#' program <- nv_program(repr(stablehlo(graph)[[1]]))
#' executable <- nv_compile(program)
#' out <- nv_execute(executable, nv_tensor(c(1, 2)), nv_tensor(c(3, 4)))
#' nv_tensor(out)
nv_program <- function(src, format = "mlir") {
  if (!identical(format, "mlir")) {
    abort_anvil("argument", "`format` must be \"mlir\".")
  }
  src <- program_text(src, "src")
  structure(list(src = src, graph = .Call(C_anvil_read_stablehlo, src, "")), class = "AnvilProgram")
}

#' @export
print.AnvilProgram <- function(x, ...) {
  cat("<AnvilProgram>\n", x$src, "\n", sep = "")
  invisible(x)
}

#' @rdname nv_program
#' @export
nv_compile <- function(program) .Call(C_anvil_compile, graph_behind(program))

#' @export
print.AnvilExecutable <- function(x, ...) {
  cat("<AnvilExecutable>\n")
  invisible(x)
}

#' @rdname nv_program
#' @export
nv_execute <- function(executable, ...) {
  if (!inherits(executable, "AnvilExecutable")) {
    abort_anvil("argument", "`executable` must be an AnvilExecutable.", c(sprintf("x Got <%s>.", described_class(executable)), "i `nv_compile()` makes one."))
  }
  out <- .Call(C_anvil_execute, executable, list(...))
  if (length(out) == 1L) out[[1L]] else out
}
