#' Default dtypes of R values
#'
#' A double becomes an `f32` and an integer an `i32` unless something else is
#' asked for. The option `anvil.default_dtypes` or, for a scope,
#' `local_default_dtypes()` changes that.
#'
#' @param float A float dtype, or `NULL` to leave it.
#' @param int An integer dtype, or `NULL` to leave it.
#' @param envir The frame whose end restores the former defaults.
#' @return `default_dtypes()`: a character vector with the elements `float` and
#'   `int`. `local_default_dtypes()`: the former value, invisibly.
#' @export
#' @examples
#' f <- function() {
#'   local_default_dtypes("f64")
#'   nv_tensor(c(1, 2))
#' }
#' f()
#' default_dtypes()
default_dtypes <- function() {
  defaults <- c(float = "f32", int = "i32")
  set <- getOption("anvil.default_dtypes")
  defaults[names(set)] <- set
  defaults
}

#' @rdname default_dtypes
#' @export
local_default_dtypes <- function(float = NULL, int = NULL, envir = parent.frame()) {
  check <- function(x, is, what) {
    if (!is.null(x) && !is(as_dtype(x))) {
      abort_anvil("dtype", sprintf("`%s` must be %s dtype.", what, if (what == "float") "a float" else "an integer"), sprintf("x Got <%s>.", as.character(x)))
    }
  }
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
