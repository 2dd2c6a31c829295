#' Look at a function on any level
#'
#' @param f A function, jitted or not.
#' @param level `"graph"`: the traced graph, with the inner graphs of its calls; `"stablehlo"`: its StableHLO text;
#'   `"loops"`: the loop program that is compiled; `"stages"`: the loop program after
#'   each pass of the compiler; `"llvm"`: LLVM IR; `"asm"`: machine code. In `"loops"` and `"llvm"`, comments say which R calls a
#'   nest of loops comes from, with file and line where R keeps these (`options(keep.source = TRUE)`).
#' @param ... Arguments of `f`: tensors, their types ([nv_aten()]), or R values. What
#'   [read_stablehlo()] returns needs none.
#' @return The text, invisibly.
#' @seealso [jit_report()] for what was compiled, [anvil_profile()] for where the time goes.
#' @family debugging
#' @export
#' @examples
#' f <- function(x, y) sum(x * y)
#' nv_inspect(f, "graph", nv_aten("f32", 8), nv_aten("f32", 8))
#' nv_inspect(f, "loops", nv_aten("f32", 8), nv_aten("f32", 8))
nv_inspect <- function(f, level = c("graph", "stablehlo", "loops", "stages", "llvm", "asm"), ...) {
  level <- if (missing(level)) "graph" else check_choice(level, eval(formals()$level))
  check_function(f)
  graph <- if (inherits(f, "AnvilImported") && ...length() == 0L) {
    as_graph(f)
  } else {
    trace_arguments(f, list(...), if (level %in% c("graph", "stablehlo")) "record" else "program")
  }
  text <- switch(level,
    graph = format(graph, nested = TRUE),
    stablehlo = repr(stablehlo(graph)[[1L]]),
    stages = {
      stages <- .Call(C_anvil_stages, graph)
      paste0("== ", names(stages), " ==\n", stages, collapse = "\n")
    },
    .Call(C_anvil_inspect, graph, level)
  )
  cat(sub("\n*$", "\n", text))
  invisible(text)
}

#' What this installation of anvil can do
#'
#' @return A list with versions, the LLVM in use, CPU features, BLAS and threads,
#'   invisibly; printed as text.
#' @family settings of a session
#' @export
#' @examples
#' anvil_sitrep()
anvil_sitrep <- function() {
  llvm <- .Call(C_anvil_llvm, NULL)
  libraries <- utils::sessionInfo()
  report <- list(
    anvil = as.character(utils::packageVersion("anvil")),
    R = paste(R.version$major, R.version$minor, sep = "."),
    platform = R.version$platform,
    jit = llvm$available,
    llvm = if (llvm$available) llvm$version else paste0("not available: ", llvm$reason),
    cpu = llvm$cpu,
    vectors = if (llvm$available) sprintf("%d bits", 8L * llvm$vector_bytes) else "not used",
    blas = libraries$BLAS %||% "unknown",
    lapack = libraries$LAPACK %||% "unknown",
    threads = paste(anvil_threads(), "(BLAS and LAPACK as they are set up)"),
    default_dtypes = paste(default_dtypes(), collapse = ", ")
  )
  cat(sprintf("%-15s %s\n", paste0(names(report), ":"), vapply(report, as.character, "")), sep = "")
  invisible(report)
}
