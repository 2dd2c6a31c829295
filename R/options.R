#' Default dtypes of R values
#'
#' A double becomes an `f32` and an integer an `i32` unless something else is
#' asked for. The option `anvil.default_dtypes` or, for a scope, `local_default_dtypes()`
#' changes that, for tensors, numbers written in R and random numbers alike:
#' `options(anvil.default_dtypes = "f64")`, or with both kinds `c(float = "f64", int = "i64")`.
#'
#' R arrays among the operands of a function, and what [jit()] converts on request, are doubles
#' that should not lose digits: they become `f64` unless a default was set.
#'
#' @param float A float dtype, or `NULL` to leave it.
#' @param int An integer dtype, or `NULL` to leave it.
#' @param envir The frame whose end restores the former defaults.
#' @return `default_dtypes()`: a character vector with the elements `float` and
#'   `int`. `local_default_dtypes()`: the former value, invisibly.
#' @family dtypes
#' @export
#' @examples
#' f <- function() {
#'   local_default_dtypes("f64")
#'   nv_tensor(c(1, 2))
#' }
#' f()
#' default_dtypes()
default_dtypes <- function() .Call(C_anvil_default_dtypes)

#' @rdname default_dtypes
#' @export
local_default_dtypes <- function(float = NULL, int = NULL, envir = parent.frame()) {
  check <- function(x, is, what) {
    if (!is.null(x) && !is(as_dtype_argument(x, what))) {
      abort_anvil("dtype", sprintf("`%s` must be %s dtype.", what, if (what == "float") "a float" else "an integer"), sprintf("x Got <%s>.", as.character(x)))
    }
  }
  if (!is.environment(envir)) wrong_argument("envir", "an environment", envir)
  check(float, is_float_dtype, "float")
  check(int, is_integer_dtype, "int")
  new <- default_dtypes()
  if (!is.null(float)) new[["float"]] <- as.character(float)
  if (!is.null(int)) new[["int"]] <- as.character(int)
  old <- options(anvil.default_dtypes = new)
  defer(options(old), envir)
  invisible(old[[1L]])
}

# Evaluates the expression when the frame `envir` ends.
defer <- function(expr, envir) {
  thunk <- as.call(list(function() expr))
  do.call(base::on.exit, list(thunk, TRUE, FALSE), envir = envir)
}

# The folder of machine code, "" for none.
cache_folder <- function() {
  folder <- getOption("anvil.cache_dir", "")
  if (!is.character(folder) || length(folder) != 1L || is.na(folder)) {
    wrong_argument("options(anvil.cache_dir = )", "the path of a folder", folder)
  }
  path.expand(folder)
}
