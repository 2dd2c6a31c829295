#' StableHLO text
#'
#' Writes a graph as a StableHLO function, the form in which tensor compilers
#' exchange programs.
#'
#' Captured tensors with one element are written into the text; larger ones become
#' the first inputs of the function.
#'
#' @param graph An [AnvilGraph].
#' @param constants_as_inputs `FALSE` writes all captured tensors into the text.
#' @param func The first element of what `stablehlo()` returns.
#' @return `stablehlo()`: a list of the function, which prints as text, and a list of
#'   the constants that became inputs. `repr()`: the text.
#' @export
#' @examples
#' graph <- trace_fn(function(x, y) x * y, list(x = nv_aten("f32", 2), y = nv_aten("f32", 2)))
#' out <- stablehlo(graph)
#' out[[1]]
#' cat(repr(out[[1]]))
stablehlo <- function(graph, constants_as_inputs = TRUE) {
  out <- .Call(C_anvil_stablehlo, graph, constants_as_inputs)
  list(structure(list(text = out[[1L]]), class = "AnvilFunc"), out[[2L]])
}

#' @rdname stablehlo
#' @export
repr <- function(func) UseMethod("repr")

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
