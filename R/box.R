#' Boxes: what stands for a tensor in R code
#'
#' While a function is traced, its arguments are `GraphBox`es: each stands for a
#' value of the graph under construction. Outside of a trace, `nv_*` functions
#' return `DebugBox`es. A debug box is concrete, with a tensor that was computed at
#' once, when all operands were; otherwise it has only a type. A concrete scalar of
#' dtype `bool` works in `if` and `while`.
#'
#' @param dtype,shape,ambiguous The type, see [nv_aten()].
#' @param aval For `DebugBox()`: an abstract or concrete tensor.
#' @return A `DebugBox`.
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
  .Call(C_anvil_debug_box, data %||% abstract_tag(aval))
}

#' @export
dim.AnvilBox <- function(x) shape(x)

#' @export
length.AnvilBox <- function(x) length.AnvilTensor(x)

#' @export
format.GraphBox <- function(x, ...) paste0("GraphBox(", format_node(to_abstract(x)), ")")

format_node <- function(aval) {
  if (inherits(aval, "LiteralTensor")) {
    sprintf("GraphLiteral(%s, %s%s, %s)", format(aval$data), as.character(aval$dtype), if (aval$ambiguous) "?" else "", shape2string(aval$shape))
  } else {
    paste0("GraphValue(", format(aval), ")")
  }
}

#' @export
print.GraphBox <- function(x, ...) {
  cat(format(x), "\n")
  invisible(x)
}

#' @export
format.DebugBox <- function(x, ...) {
  if (is_concrete(x)) "DebugBox(ConcreteTensor)" else type_text(x, "{", ",", "}")
}

#' @export
print.DebugBox <- function(x, ...) {
  if (is_concrete(x)) {
    data <- .Call(C_anvil_concrete, x)
    print_lines(format(x), data_lines(data), tensor_footer(data))
  } else {
    print_lines(format(x))
  }
  invisible(x)
}

#' @export
`$.AnvilBox` <- function(x, name) {
  if (name == "tensor") {
    return(concrete(x)$tensor)
  }
  abort_anvil("argument", sprintf("A tensor has no field `%s`.", name), field_hint(name))
}

#' @export
`[[.AnvilBox` <- function(x, i, ...) {
  abort_anvil("argument", "`[[` is not defined for tensors.", "i Use `[`.")
}

#' @export
str.AnvilBox <- function(object, ...) cat(" ", format(object), "\n", sep = "")
