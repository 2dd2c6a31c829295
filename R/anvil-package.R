#' anvil: tensor programs with gradients and a just-in-time compiler
#'
#' Ordinary R functions over tensors are traced into graphs ([trace_fn()]),
#' differentiated ([gradient()]), and compiled into native code ([jit()]).
#' Outside of compiled functions every operation is evaluated at once, so that
#' programs can be written and debugged like any other R code.
#'
#' # Options
#'
#' * `anvil.default_dtypes`: `c(float = "f32", int = "i32")`, the dtypes of R
#'   doubles and integers; see [local_default_dtypes()].
#' * `anvil.check_index`: `TRUE` makes what is traced check its indices when it runs, see [nv_subset()];
#' * `anvil.check_nan`: `TRUE` makes debug mode stop at the first call that
#'   produces a NaN.
#' * `anvil.cache_dir`: a folder where machine code is kept from session to session, see [jit()].
#' * `anvil.check_captured`: `TRUE` when a function is compiled and when it is called makes it a warning that
#'   a variable that it captured has changed; see [jit()].
#' * `anvil.print_max_rows` (30), `anvil.print_max_width` (85) and
#'   `anvil.print_max_rows_slice`: how much of a tensor is printed; -1 for all.
#'
#' @keywords internal
#' @useDynLib anvil, .registration = TRUE
#' @importFrom Rcpp evalCpp
"_PACKAGE"
