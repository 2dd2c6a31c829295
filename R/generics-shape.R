# Methods of R's generic functions about parts and shapes; see generics.R.

#' @rawNamespace
#' S3method("[", AnvilTensor, nv_subset)
#' S3method("[", AnvilBox, nv_subset)
#' S3method("[<-", AnvilTensor, nv_subset_assign)
#' S3method("[<-", AnvilBox, nv_subset_assign)
NULL

#' @rawNamespace
#' S3method("dim<-", AnvilTensor, set_dim_tensor)
#' S3method("dim<-", AnvilBox, set_dim_tensor)
set_dim_tensor <- function(x, value) nv_reshape(x, check_sizes(value, lower = -1L))

#' @rawNamespace
#' S3method(t, AnvilTensor, t_tensor)
#' S3method(t, AnvilBox, t_tensor)
t_tensor <- function(x) {
  if (rank_of(x) != 2L) {
    abort_anvil("shape", "`t()` requires a matrix.", c(sprintf("x Got shape %s.", shape2string(sizes_of(x))), "i Use `nv_transpose()`."))
  }
  nv_transpose(x)
}

#' @rawNamespace
#' S3method(aperm, AnvilTensor, aperm_tensor)
#' S3method(aperm, AnvilBox, aperm_tensor)
aperm_tensor <- function(a, perm = NULL, ...) {
  no_others("aperm", "perm", ...)
  nv_transpose(a, perm)
}

#' @rawNamespace
#' S3method(rev, AnvilTensor, rev_tensor)
#' S3method(rev, AnvilBox, rev_tensor)
rev_tensor <- function(x) {
  switch(min(rank_of(x), 2L) + 1L, x, nv_reverse(x, 1L), nv_reverse(nv_flatten(x), 1L))
}

#' @rawNamespace
#' S3method(sort, AnvilTensor, sort_tensor)
#' S3method(sort, AnvilBox, sort_tensor)
sort_tensor <- function(x, decreasing = FALSE, ...) {
  if (...length() > 0L) {
    abort_anvil("argument", "`sort()` of a tensor takes `decreasing` only.", "i NaN is kept, as the largest element.")
  }
  if (rank_of(x) == 0L) x else nv_sort(if (rank_of(x) > 1L) nv_flatten(x) else x, decreasing = decreasing)
}

#' @rawNamespace
#' S3method(rbind, AnvilTensor, rbind_tensor)
#' S3method(rbind, AnvilBox, rbind_tensor)
#' S3method(cbind, AnvilTensor, cbind_tensor)
#' S3method(cbind, AnvilBox, cbind_tensor)
rbind_tensor <- function(..., deparse.level = 1) nv_rbind(...)
cbind_tensor <- function(..., deparse.level = 1) nv_cbind(...)

#' @rawNamespace
#' S3method(c, AnvilTensor, c_tensor)
#' S3method(c, AnvilBox, c_tensor)
c_tensor <- function(...) {
  parts <- list(...)
  if (any(vapply(parts, is.list, NA))) {
    as_elements <- function(x, name) if (is.list(x)) x else stats::setNames(list(x), if (nzchar(name)) name)
    return(do.call(c, Map(as_elements, unname(parts), names(parts) %||% rep("", length(parts)))))
  }
  flat <- lapply(unname(parts), function(x) if (rank_of(x, "...") > 1L) nv_flatten(x) else x)
  do.call(nv_concatenate, flat)
}

#' @rawNamespace
#' S3method(chol, AnvilTensor, chol_tensor)
#' S3method(chol, AnvilBox, chol_tensor)
chol_tensor <- function(x, lower = FALSE, ...) {
  no_others("chol", "lower", ...)
  nv_chol(x, lower)
}
