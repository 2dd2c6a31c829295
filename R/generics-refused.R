# Generic functions of R that have no meaning for tensors here. Their default methods would take
# the data out, or fail deep inside of R: say at once what to do.

refused <- function(generic, hint = character()) {
  force(generic)
  function(...) unsupported(generic, hint)
}

take_out <- "i Take the data out as an R array with `as_array()`; inside of `jit()` there is no such function."

#' @export
xtfrm.AnvilValue <- refused("order", c("i Use `nv_argsort()`.", take_out))
#' @importFrom stats median
#' @export
median.AnvilValue <- refused("median", take_out)
#' @importFrom stats quantile
#' @export
quantile.AnvilValue <- refused("quantile", take_out)
#' @export
unique.AnvilValue <- refused("unique", take_out)
#' @export
duplicated.AnvilValue <- refused("duplicated", take_out)

#' @export
qr.AnvilValue <- refused("qr", c("i Use `nv_qr()`, which gives the factors.", take_out))

#' @export
rep.AnvilValue <- refused("rep", "i Use `nv_broadcast_to()` or `nv_concatenate()`, and `nv_ifelse()` instead of `ifelse()`.")
#' @export
diff.AnvilValue <- refused("diff", "i Subtract parts: `n <- length(x); x[2:n] - x[1:(n - 1)]`.")
#' @export
scale.AnvilValue <- refused("scale", "i Use `nv_mean()` and `nv_sd()` with `dims` and `drop = FALSE`, and `nv_broadcast_tensors()`.")
#' @importFrom utils head
#' @export
head.AnvilValue <- refused("head", "i Take parts with `[`: `x[1:6]`, or `x[1:6, ]` of a matrix.")
#' @importFrom utils tail
#' @export
tail.AnvilValue <- refused("tail", "i Take parts with `[`: `n <- length(x); x[(n - 5):n]`.")
#' @export
split.AnvilValue <- refused("split", "i Take parts with `[`.")
#' @export
summary.AnvilValue <- refused("summary", c("i Use `mean()`, `range()` or `nv_sd()`.", take_out))

#' @export
`[[<-.AnvilValue` <- function(x, ..., value) abort_anvil("argument", "`[[<-` is not defined for tensors.", "i Use `x[i] <- value`.")
#' @export
`$<-.AnvilValue` <- function(x, name, value) abort_anvil("argument", "A tensor has no fields to assign to.", "i Use `x[i] <- value` for its elements.")
#' @export
`length<-.AnvilValue` <- function(x, value) abort_anvil("argument", "The length of a tensor cannot change.", "i Use `x[1:n]` or `nv_pad()`.")
#' @export
`names<-.AnvilValue` <- function(x, value) {
  if (is.null(value)) {
    return(x)
  }
  abort_anvil("argument", "Tensors have no names.", "i Keep them in a list of tensors, or beside the tensor.")
}
#' @export
`dimnames<-.AnvilValue` <- `names<-.AnvilValue`

# R's ifelse() takes its test as an R array and fills that with values; a bool scalar is one.
refuse_ifelse <- function(frame = sys.parent(2L)) {
  if (frame > 0L && identical(sys.function(frame), base::ifelse)) {
    abort_anvil("argument", "`ifelse()` is not defined for tensors.", "i Use `nv_ifelse()`.", call = sys.call(frame))
  }
}
