#' Print from inside a program
#'
#' `nv_print()` prints when the program runs, not when it is traced: in compiled code at each call, in a loop at
#' each step, in the branch that is taken, in the order of the calls. In debug mode it prints at once. Where
#' the data are still unknown, as in a box of a trace, `print()` shows the type.
#'
#' Without a format the operand is printed as a tensor is, with the options of [print.AnvilValue()]. With one, a
#' line of text is printed, in which each operand stands for one conversion of `sprintf()`: `%d` and `%i` for
#' integers and bools, `%e`, `%f` and `%g` for all numbers, `%s` for anything, each with flags and width, and but for `%d`, `%i` and `%s` a precision,
#' if need be, and `%%` for a percent sign. The elements of a tensor are separated by blanks, in R's order.
#'
#' A derivative runs the function once, so it prints once; what is computed again for it ([nv_checkpoint()], segments of
#' [nv_while()]) prints nothing again, but for what the condition of a loop in segments prints, which is asked once more at
#' the beginning of each. To see a cotangent, print in the backward rule. In [vectorize()] each example prints,
#' one after the other. In StableHLO it is a custom call of `print_tensor`.
#'
#' @param operand A tensor of any shape and dtype; R's numbers and arrays become tensors.
#' @param ... With a format: more tensors.
#' @param format `NULL`, or a string with a conversion for `operand` and for each of `...`.
#' @return `operand`, invisibly. The program prints whether or not this is used.
#' @family debugging
#' @export
#' @examples
#' f <- jit(function(x) {
#'   nv_while(list(i = 1L, x = x), \(i, x) i <= 3L, function(i, x) {
#'     nv_print(i, x, format = "step %d: x = %.4f")
#'     list(i = i + 1L, x = sqrt(x))
#'   })$x
#' })
#' f(nv_scalar(16))
#'
#' g <- jit(function(x) sum(nv_print(x) * 2))
#' g(nv_tensor(c(1, 2, 3)))
nv_print <- function(operand, ..., format = NULL) {
  operands <- lapply(unname(list(operand, ...)), as_operand, name = "operand")
  if (!is.null(format)) {
    check_format(format, operands)
  } else if (length(operands) > 1L) {
    abort_anvil("argument", "Several tensors are printed with a `format`.", 'i Use for example `format = "%g and %g"`.')
  }
  do.call(nvl_print, c(operands, format = format))
  invisible(operand)
}

#' @rdname nv_print
#' @export
nvl_print <- function(operand, ..., format = "") {
  record("print", list(operand, ...), list(format = format))
  invisible(operand)
}

# The tokens of a format: text, conversions, and percent signs.
format_tokens <- function(format) {
  tokens <- regmatches(format, gregexpr("%%|%[-+ #0]*[0-9]*(([.][0-9]+)?[eEfgG]|[dis])|[^%]+|%", format))[[1L]]
  is_conversion <- nchar(tokens) > 1L & startsWith(tokens, "%") & tokens != "%%"
  list(text = tokens, is_conversion = is_conversion)
}

check_format <- function(format, operands) {
  check_string(format)
  tokens <- format_tokens(format)
  conversions <- tokens$text[tokens$is_conversion]
  if (!nzchar(format) || "%" %in% tokens$text) {
    abort_anvil("argument", '`format` must be text with conversions such as "%d", "%.3f", "%g" or "%s".', sprintf("x Got \"%s\".", format))
  }
  if (length(conversions) != length(operands)) {
    details <- cli::pluralize("x Got {length(conversions)} for {length(operands)} tensor{?s}.")
    abort_anvil("argument", "`format` must have one conversion for each tensor.", details)
  }
  for (k in grep("[di]$", conversions)) {
    if (is_float_code(type_tag(operands[[k]])[1L])) {
      details <- c(sprintf("x Got \"%s\" for <%s>.", conversions[k], as.character(dtype(operands[[k]]))), 'i Use "%g" or "%.0f".')
      abort_anvil("argument", "A float has no form of a whole number.", details)
    }
  }
}

# Called when a program prints.
print_now <- function(format, tensors) {
  if (!nzchar(format)) {
    x <- tensors[[1L]]
    return(print_lines("AnvilTensor", data_lines(x), sprintf("[ %s ]", type_text(x, "{", ",", "}"))))
  }
  check_format(format, tensors) # text of others may have any
  tokens <- format_tokens(format)
  tokens$text[tokens$text == "%%"] <- "%"
  elements <- function(tensor, conversion) paste(.Call(C_anvil_format_elements, tensor, conversion), collapse = " ")
  tokens$text[tokens$is_conversion] <- mapply(elements, tensors, tokens$text[tokens$is_conversion])
  cat(tokens$text, "\n", sep = "")
}
