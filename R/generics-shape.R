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
  parts <- Filter(Negate(is.null), unname(parts))
  do.call(nv_concatenate, lapply(parts, function(x) {
    if (is_literal(x)) {
      return(x)
    }
    x <- as_vector(x, "...")
    if (length(dim(x)) > 1L) nv_flatten(x) else x
  }))
}

#' @importFrom utils head
#' @export
head.AnvilValue <- function(x, n = 6L, ...) x_end(x, n, function(size, k) seq_len(k))

#' @importFrom utils tail
#' @export
tail.AnvilValue <- function(x, n = 6L, ...) x_end(x, n, function(size, k) size - k + seq_len(k))

# The part of the places that `which(size, count)` gives along the first dimensions, one for each element of `n`.
x_end <- function(x, n, which) {
  x <- at_least_vector(x)
  sizes <- sizes_of(x)
  if (!(is.numeric(n) || is.logical(n)) || length(n) == 0L || length(n) > length(sizes) || any(n != trunc(n), na.rm = TRUE)) {
    wrong_argument("n", "whole numbers, at most one for each dimension", n)
  }
  s <- index_specs(sizes, list(), NULL, NULL)
  for (d in seq_along(n)[!is.na(n)]) {
    k <- if (n[d] < 0) max(sizes[d] + n[d], 0) else min(n[d], sizes[d])
    s <- set_spec(s, d, index_by_range(which(sizes[d], as.integer(k)), sizes[d]))
  }
  take_part(x, s)
}

#' @export
rep.AnvilValue <- function(x, times = 1L, length.out = NULL, each = 1L, ...) {
  refuse_ifelse()
  no_others("rep", c("times", "length.out", "each"), ...)
  for (count in list(times, length.out, each)) {
    if (is_value(count)) abort_anvil("argument", "How often `rep()` repeats must be known: the size of the result depends on it.", got_value(count))
  }
  x <- as_line(x)
  n <- sizes_of(x)
  if (is.null(length.out) && length(times) == 1L) { # without a vector of indices
    each <- check_whole_number(each, "each", 0L)
    times <- check_whole_number(times, "times", 0L)
    repeated <- record("broadcast_in_dim", list(x), list(shape = c(each, n, times), broadcast_dimensions = 2L))
    return(nv_flatten(repeated))
  }
  places <- do.call(rep, c(list(seq_len(n), times = times, each = each), length.out = length.out))
  if (n == 0L && length(places) > 0L) abort_anvil("argument", "`x` has no elements that could be repeated.", got_value(length.out))
  take_gathered(x, 1L, nv_tensor(as.integer(places)))
}

#' @export
diff.AnvilValue <- function(x, lag = 1L, differences = 1L, ...) {
  no_others("diff", c("lag", "differences"), ...)
  lag <- check_whole_number(lag, "lag", 1L)
  x <- at_least_vector(x)
  for (i in seq_len(check_whole_number(differences, "differences", 1L))) {
    n <- sizes_of(x)[1L]
    k <- max(n - lag, 0L)
    s <- index_specs(sizes_of(x), list(), NULL, NULL)
    part <- function(places) take_part(x, set_spec(s, 1L, index_by_range(places, n)))
    x <- nv_sub(part(lag + seq_len(k)), part(seq_len(k)))
  }
  x
}

#' @export
chol.AnvilValue <- function(x, lower = FALSE, ...) {
  no_others("chol", "lower", ...)
  nv_chol(x, lower)
}
