# Methods of R's generic functions about parts and shapes; see generics.R.

#' @rawNamespace
#' S3method("[", AnvilValue, nv_subset)
#' S3method("[<-", AnvilValue, nv_subset_assign)
NULL

#' @export
`dim<-.AnvilValue` <- function(x, value) nv_reshape(x, check_sizes(value, lower = -1L))

#' @export
t.AnvilValue <- function(x) {
  if (rank_of(x) != 2L) {
    abort_anvil("shape", "`t()` requires a matrix.", c(sprintf("x Got shape %s.", shape2string(sizes_of(x))), "i Use `nv_transpose()`."))
  }
  nv_transpose(x)
}

#' @export
aperm.AnvilValue <- function(a, perm = NULL, ...) {
  no_others("aperm", "perm", ...)
  nv_transpose(a, perm)
}

#' @export
rev.AnvilValue <- function(x) {
  switch(min(rank_of(x), 2L) + 1L, x, nv_reverse(x, 1L), nv_reverse(nv_flatten(x), 1L))
}

#' @export
sort.AnvilValue <- function(x, decreasing = FALSE, ...) {
  if (...length() > 0L) {
    abort_anvil("argument", "`sort()` of a tensor takes `decreasing` only.", "i NaN is kept, as the largest element.")
  }
  if (rank_of(x) == 0L) x else nv_sort(if (rank_of(x) > 1L) nv_flatten(x) else x, decreasing = decreasing)
}

#' @export
rbind.AnvilValue <- function(..., deparse.level = 1) nv_rbind(...)
#' @export
cbind.AnvilValue <- function(..., deparse.level = 1) nv_cbind(...)

#' @export
c.AnvilValue <- function(...) {
  parts <- list(...)
  if (any(vapply(parts, is.list, NA))) {
    as_elements <- function(x, name) if (is.list(x)) x else stats::setNames(list(x), if (nzchar(name)) name)
    return(do.call(c, Map(as_elements, unname(parts), names(parts) %||% rep("", length(parts)))))
  }
  flat <- lapply(unname(parts), function(x) if (rank_of(x, "...") > 1L) nv_flatten(x) else x)
  do.call(nv_concatenate, flat)
}

#' @export
chol.AnvilValue <- function(x, lower = FALSE, ...) {
  no_others("chol", "lower", ...)
  nv_chol(x, lower)
}
