# What documents and notebooks show: what print() writes, as text. knitr does that by itself, but takes reports
# that are data frames for tables; Jupyter (package repr) takes jitted functions for R code, and shows HTML where there is some: of
# a small matrix a table.

#' @rawNamespace
#' S3method(knitr::knit_print, anvil_check, shown_by_print)
#' S3method(knitr::knit_print, anvil_profile, shown_by_print)
#' S3method(repr::repr_text, AnvilValue, printed_text)
#' S3method(repr::repr_text, JitFunction, printed_text)
#' S3method(repr::repr_text, AnvilFunction, printed_text)
#' S3method(repr::repr_text, AnvilImported, printed_text)
#' S3method(repr::repr_text, AnvilPrimitive, printed_text)
#' S3method(repr::repr_text, anvil_check, printed_text)
#' S3method(repr::repr_text, anvil_profile, printed_text)
#' S3method(repr::repr_html, AnvilValue, tensor_html)
#' S3method(repr::repr_html, AnvilGraph, printed_html)
#' S3method(repr::repr_html, JitFunction, printed_html)
#' S3method(repr::repr_html, AnvilFunction, printed_html)
#' S3method(repr::repr_html, AnvilImported, printed_html)
#' S3method(repr::repr_html, AnvilPrimitive, printed_html)
#' S3method(repr::repr_html, anvil_jit_report, printed_html)
#' S3method(repr::repr_html, anvil_graph_summary, printed_html)
#' S3method(repr::repr_html, anvil_check, printed_html)
#' S3method(repr::repr_html, anvil_profile, printed_html)
NULL

shown_by_print <- function(x, ...) peer("knitr", "normal_print")(x)

printed_text <- function(obj, ...) paste(utils::capture.output(print(obj)), collapse = "\n")

escaped_html <- function(x) gsub(">", "&gt;", gsub("<", "&lt;", gsub("&", "&amp;", x, fixed = TRUE), fixed = TRUE), fixed = TRUE)

printed_html <- function(obj, ...) paste0("<pre>", escaped_html(printed_text(obj)), "</pre>")

tensor_html <- function(obj, ...) {
  small <- is_tensor(obj) && ndims(obj) == 2L && all(shape(obj) <= c(30L, 15L))
  rows <- if (small) strsplit(trimws(data_lines(obj, -1, -1)), " +")
  if (!small || length(rows) != nrow(obj) || any(lengths(rows) != ncol(obj))) { # also where there is a common factor
    return(printed_html(obj))
  }
  cells <- vapply(rows, function(row) paste0("<tr>", paste0("<td>", row, "</td>", collapse = ""), "</tr>"), "")
  paste0("<table><caption>", escaped_html(type_text(obj)), "</caption>", paste(cells, collapse = ""), "</table>")
}
