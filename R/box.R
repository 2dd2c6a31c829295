#' Boxes: what stands for a tensor in R code
#'
#' While a function is traced, its arguments are `GraphBox`es: each stands for a
#' value of the graph under construction. Outside of a trace, in debug mode, `nv_*` functions
#' compute at once and return tensors, which print as debug boxes. Where an operand
#' has a type but no data, the result is a `DebugBox` of the type that it would have.
#'
#' @param dtype,shape,ambiguous The type, see [nv_aten()].
#' @param aval For `DebugBox()`: an abstract or concrete tensor.
#' @return `debug_box()`: a `DebugBox`. `DebugBox()`: one, too, or of a concrete tensor the
#'   tensor as debug mode would give it.
#' @family graphs
#' @export
#' @examples
#' nv_tensor(1:3) + 1L
#' debug_box("f32", c(2, 2)) * 2
debug_box <- function(dtype, shape, ambiguous = FALSE) .Call(C_anvil_debug_box, make_tag(dtype, shape, ambiguous))

#' @rdname debug_box
#' @export
DebugBox <- function(aval) {
  if (inherits(aval, "DebugBox")) {
    return(aval)
  }
  if (!is_tensor(aval) && !inherits(aval, "AbstractTensor")) {
    abort_anvil("argument", "`aval` must be a tensor or the type of one.", c(sprintf("x Got <%s>.", described_class(aval)), "i `nv_aten()` makes a type, `nv_tensor()` a tensor."))
  }
  data <- if (inherits(aval, "ConcreteTensor")) aval$data else if (is_tensor(aval)) aval
  box <- .Call(C_anvil_debug_box, data %||% abstract_tag(aval))
  if (inherits(aval, "LiteralTensor")) structure(box, literal = format(aval$data)) else box
}

format_node <- function(aval) {
  if (inherits(aval, "LiteralTensor")) {
    sprintf("GraphLiteral(%s, %s%s, %s)", format(aval$data), as.character(aval$dtype), if (aval$ambiguous) "?" else "", shape2string(aval$shape))
  } else {
    paste0("GraphValue(", format(aval), ")")
  }
}
