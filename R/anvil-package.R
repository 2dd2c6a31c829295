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
#' * `anvil.check_index`: `TRUE` makes what is traced check its indices when it runs, see [nv_subset()].
#' * `anvil.check_nan`: `TRUE` stops debug mode and compiled code at the first call that produces a NaN although none
#'   of its operands has one, `"inf"` at a NaN or an Inf: in loops, branches and derivatives too, with an error of class
#'   `anvil_error_nan` that names the primitive and the R call. What is computed is checked, whether or not it is selected, as by
#'   [nv_ifelse()]; in a batch that goes for both sides of an [nv_if()], and for examples that are done. [jit()] compiles
#'   a program with checks beside the one without, which is as fast as ever.
#' * `anvil.unrolled_calls` (10,000): how many calls one line may make while a function is traced before a warning of class
#'   `anvil_warning_unrolled` says that a loop is being unrolled; `Inf` for no warning.
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
