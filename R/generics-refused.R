# Generic functions of R that have no meaning for tensors here. Their default methods would take
# the data out, or fail deep inside of R: say at once what to do.

refused <- function(generic) {
  force(generic)
  function(...) {
    verb <- outer_verb() %||% generic
    unsupported(generic, c(if (verb != generic) sprintf("x `%s()` of R calls it.", verb), verb_hint(verb)))
  }
}

#' @export
xtfrm.AnvilValue <- refused("xtfrm")
#' @export
unique.AnvilValue <- refused("unique")
#' @export
seq.AnvilValue <- refused("seq")
#' @export
duplicated.AnvilValue <- refused("duplicated")
#' @export
split.AnvilValue <- refused("split")
#' @importFrom stats na.omit
#' @export
na.omit.AnvilValue <- refused("na.omit")

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
