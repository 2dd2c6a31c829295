#' Check flags when a program runs
#'
#' Records one call of the primitive `check`: where a flag is `FALSE` when the program runs, it stops there with an error, in
#' the order of its calls, in loops and in the branch that is taken. In debug mode this happens at once. It is what
#' `options(anvil.check_index = TRUE)` and `options(anvil.check_nan = TRUE)` put into programs. No data have been
#' changed then: also tensors that were to be given away (see [jit()]) are still there.
#'
#' @param holds A bool tensor of any shape.
#' @param ... Tensors of its shape.
#' @param error The class of the error is `anvil_error_<error>`.
#' @param message The text of the error. Each `%s` stands for the element of the next of `...` in the place of the first flag that is
#'   `FALSE`; further lines are details, which begin with `"x "` or `"i "`. The error names the R call that recorded this.
#' @return `holds`, invisibly. The program checks whether or not this is used.
#' @keywords internal
#' @export
#' @examples
#' f <- jit(function(x) {
#'   nvl_check(x > 0, x, error = "argument", message = "%s is not positive.")
#'   sqrt(x)
#' })
#' f(nv_tensor(c(1, 4)))
#' try(f(nv_tensor(c(1, -4))))
nvl_check <- function(holds, ..., error = "check", message = "A check failed.") {
  check_string(error)
  check_string(message)
  record("check", list(holds, ...), list(error = error, message = message))
  invisible(holds)
}
