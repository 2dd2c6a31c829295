# The printed forms of tensors and raw buffers.

type_text <- function(x, open = "[", sep = ", ", close = "]") {
  paste0(as.character(dtype(x)), if (ambiguous(x)) "?", open, paste(shape(x), collapse = sep), close)
}

data_lines <- function(x, max_rows = getOption("anvil.print_max_rows", 30L), max_width = getOption("anvil.print_max_width", 85L),
                       max_rows_slice = getOption("anvil.print_max_rows_slice", max_rows)) {
  .Call(C_anvil_format_data, x, max_rows, max_width, max_rows_slice)
}

tensor_footer <- function(x, sep = ",") paste0("[ CPU", type_text(x, "{", sep, "}"), " ] ")

print_lines <- function(...) {
  lines <- c(...)
  cli::cat_line(lines)
}

#' Print a tensor
#'
#' What debug mode computed prints as a debug box, and a value of a trace as a graph box;
#' `format()` and `str()` give the type in one line.
#'
#' @param x A tensor or box.
#' @param header Whether to print the first line.
#' @param max_rows,max_width,max_rows_slice How many rows of numbers and how wide;
#'   -1 for no limit. By default the options `anvil.print_max_rows` (30),
#'   `anvil.print_max_width` (85) and `anvil.print_max_rows_slice`.
#' @param ... Not used.
#' @return `x`, invisibly.
#' @family tensors
#' @export
#' @examples
#' print(nv_tensor(1:100), max_rows = 3)
print.AnvilValue <- function(x, header = TRUE, max_rows = getOption("anvil.print_max_rows", 30L), max_width = getOption("anvil.print_max_width", 85L),
                             max_rows_slice = getOption("anvil.print_max_rows_slice", max_rows), ...) {
  check_flag(header)
  if (is_tensor(x)) {
    title <- if (.Call(C_anvil_in_debug, x)) "DebugBox(ConcreteTensor)" else "AnvilTensor"
    print_lines(if (header) title, data_lines(x, max_rows, max_width, max_rows_slice), tensor_footer(x))
  } else {
    print_lines(format(x))
  }
  invisible(x)
}

#' @export
format.AnvilValue <- function(x, ...) {
  if (is_tensor(x)) {
    sprintf("AnvilTensor(dtype=%s%s, shape=%s)", as.character(dtype(x)), if (ambiguous(x)) "?" else "", paste(shape(x), collapse = "x"))
  } else if (inherits(x, "GraphBox")) {
    paste0("GraphBox(", .Call(C_anvil_box_text, x), ")")
  } else {
    paste0(if (!is.null(literal <- attr(x, "literal"))) paste0(literal, ":"), type_text(x, "{", ",", "}"))
  }
}

#' @export
print.AnvilBuffer <- function(x, ...) {
  print_lines("PJRTBuffer ", data_lines(x), tensor_footer(x, sep = "x"))
  invisible(x)
}
