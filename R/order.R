#' Orders, ranks and groups
#'
#' * `nv_order()` gives the positions of the elements from the smallest to the largest, as [order()] does, also by several keys: ties in
#'   the first are resolved by the second. What is left keeps its order. NaN comes last in either direction.
#' * `nv_rank()` gives the rank of each element; equal elements share their mean rank, or take the first, the least
#'   or the largest one. The ranks of NaN are NaN, unless they shall come last.
#' * `nv_rowsum()` adds up the rows of each group, [rowsum()] of a tensor, whose groups are numbered.
#' * `nv_tabulate()` counts how often each of the numbers 1, 2, ..., `nbins` occurs, as [tabulate()] does; others do not count.
#' * `nv_in()` says which elements of `x` are among those of `table`, as `%in%` does.
#'
#' @param ... Vectors of one length: tensors.
#' @param decreasing Whether the largest comes first; for `nv_order()` also one flag for each key.
#' @param x A vector; for `nv_rowsum()` also a matrix; for `nv_in()` any tensor.
#' @param ties What becomes of ties: `"average"`, `"first"`, `"min"` or `"max"`.
#' @param nan_last Whether NaN has the last ranks.
#' @param group The group of each row: an integer tensor of numbers from 1 to `n`, or an R vector of anything, of which the
#'   groups are the different elements in their order. Rows of groups that there are not do not count.
#' @param n How many groups there are; for groups in an R vector what it says.
#' @param na.rm Whether NaN is left out.
#' @param reorder Whether the groups of an R vector are sorted; else they are in the order of appearance.
#' @param bin An integer tensor.
#' @param nbins How many numbers to count. In a trace it must be given; else it is the largest one that occurs.
#' @param table A tensor or R vector.
#' @return `nv_order()` and `nv_tabulate()`: `i32`. `nv_rank()`: `i32`; mean ranks, and all of floats of which NaN does not
#'   come last, `f64` where `x` or its number of elements needs that, else `f32`.
#'   `nv_rowsum()`: a tensor of the dtype of `x` with `n` rows. `nv_in()`: `bool`, in the shape of `x`.
#' @aliases order rank rowsum tabulate %in%
#' @family reductions and orders
#' @export
#' @examples
#' x <- nv_tensor(c(3, 1, 4, 1, 5))
#' nv_order(x, decreasing = TRUE)
#' rank(x)
#' nv_rowsum(x, nv_tensor(c(1L, 2L, 2L, 1L, 2L)), n = 2)
#' rowsum(x, c("b", "a", "a", "b", "a"))
#' nv_tabulate(nv_tensor(c(1L, 3L, 3L)), nbins = 4)
#' x %in% c(1, 5)
nv_order <- function(..., decreasing = FALSE) {
  keys <- lapply(unname(list(...)), as_vector, name = "...")
  shapes <- sizes_of_any(keys)
  size <- shapes[[1L]]
  if (length(size) != 1L || !all(vapply(shapes, identical, NA, size))) {
    abort_anvil("shape", "`...` must be vectors of one length.", sprintf("x Got shapes %s.", ordinal_shapes(shapes)))
  }
  if (!is.logical(decreasing) || anyNA(decreasing) || !(length(decreasing) %in% c(1L, length(keys)))) {
    wrong_argument("decreasing", "`TRUE` or `FALSE`, or one for each key", decreasing)
  }
  keys <- Map(function(key, down) if (down) turned_around(key) else key, keys, decreasing)
  sorted <- nvl_sort(c(keys, list(nvl_iota(1L, "i32", size))), num_keys = length(keys))
  sorted[[length(sorted)]]
}

# Keys whose order is the reverse; NaN stays the largest of all.
turned_around <- function(key) if (is_float_code(type_tag(key)[1L])) nv_negate(key) else nv_not(key)

#' @rdname nv_order
#' @export
nv_rank <- function(x, ties = "average", nan_last = FALSE) {
  check_flag(nan_last)
  check_choice(ties, c("average", "first", "min", "max"))
  x <- as_vector(x)
  n <- vector_size(x, "x")
  if (n == 0L) {
    return(nv_convert(x, if (ties == "average") rank_dtype(x, n) else "i32"))
  }
  order <- nv_order(x)
  place <- nvl_iota(1L, "i32", n)
  sorted <- take_gathered(x, 1L, order)
  differs <- if (n > 1L) nv_ne(nv_static_slice(sorted, 2L, n), nv_static_slice(sorted, 1L, n - 1L)) # from the one before
  first <- nv_cummax(nv_ifelse(c_bool(TRUE, differs, n), place, 1L))
  last <- nv_reverse(nv_cummin(nv_reverse(nv_ifelse(c_bool(differs, TRUE, n), place, n), 1L)), 1L)
  rank <- switch(ties,
    first = place, min = first, max = last, average = nv_mul(nv_convert(nv_add(first, last), rank_dtype(x, n)), 0.5)
  )
  rank <- put_gathered(rank, 1L, order, rank)
  if (nan_last || !is_float_code(type_tag(x)[1L])) rank else nv_ifelse(nv_is_nan(x), NaN, nv_convert(rank, rank_dtype(x, n)))
}

# Of `x` where it holds n + 0.5.
rank_dtype <- function(x, n) {
  own <- as_dtype(if (is_float_code(type_tag(x)[1L])) dtype(x) else default_dtypes()[["float"]])
  if (own == "f64" || n > 2^23) "f64" else "f32"
}

c_bool <- function(first, second, n) {
  parts <- Filter(Negate(is.null), list(first, second))
  nv_reshape(do.call(nv_concatenate, parts[seq_len(min(n, length(parts)))]), n)
}

#' @rdname nv_order
#' @export
nv_rowsum <- function(x, group, n = NULL, na.rm = FALSE, reorder = TRUE) {
  check_flag(reorder)
  x <- as_number(without_nan(as_vector(x), 0, na.rm))
  sizes <- sizes_of(x)
  if (!is_value(group)) {
    if (!(is.character(group) || is.numeric(group) || is.logical(group) || is.factor(group))) wrong_argument("group", "an integer tensor or an R vector", group)
    if (anyNA(group)) abort_anvil("missing", "`group` must have no missing values.")
    levels <- unique(group)
    if (reorder) levels <- sort(levels)
    group <- nv_tensor(match(group, levels))
    n <- length(levels)
  } else if (!reorder) {
    abort_anvil("argument", "Groups in a tensor are numbered: their sums cannot be in the order of appearance.", "i Leave `reorder` out.")
  }
  if (is.null(n)) {
    abort_anvil("argument", "`n` must say how many groups there are.", "i Only groups in an R vector say it themselves.")
  }
  n <- check_whole_number(n, "n", 0L)
  if (length(sizes) == 0L || !identical(sizes_of(group), sizes[1L])) {
    abort_anvil("shape", "`group` must have an element for each row of `x`.", sprintf("x Got shapes %s.", ordinal_shapes(list(sizes, sizes_of(group)))))
  }
  zeros <- nv_fill(0L, replace(sizes, 1L, n), dtype(x))
  put_gathered(zeros, 1L, group, x, function(old, new) nv_add(old, new))
}

#' @export
rowsum.AnvilValue <- function(x, group, reorder = TRUE, na.rm = FALSE, n = NULL, ...) {
  no_others("rowsum", c("group", "reorder", "na.rm", "n"), ...)
  sums <- nv_rowsum(x, group, n, na.rm, reorder)
  if (rank_of(x) == 1L) nv_unsqueeze(sums, 2L) else sums
}

#' @rdname nv_order
#' @export
nv_tabulate <- function(bin, nbins = NULL) {
  bin <- as_line(as_vector(bin))
  if (!is_integer_code(type_tag(bin)[1L])) {
    abort_anvil("dtype", "`bin` must hold integers.", c(sprintf("x Got %s.", type_text(bin)), "i `nv_convert(bin, \"i32\")` makes integers of it."))
  }
  if (is.null(nbins) && !is_tensor(bin)) {
    abort_anvil("argument", "`nbins` must be given where the numbers in `bin` are not known yet.")
  }
  if (is.null(nbins)) nbins <- max(1L, as_array(bin))
  nbins <- check_whole_number(nbins, "nbins", 0L)
  put_gathered(nv_fill(0L, nbins, "i32"), 1L, bin, nv_fill(1L, sizes_of(bin), "i32"), function(old, new) nv_add(old, new))
}

#' @rdname nv_order
#' @export
nv_in <- function(x, table) {
  operands <- .Call(C_anvil_promote, list(x = vector_as_array(x), table = vector_as_array(table)), FALSE)
  x <- operands[[1L]]
  table <- as_line(operands[[2L]])
  is_bool <- dtype_from_code(type_tag(x)[1L]) == "bool"
  found <- if (is_bool || sizes_of(table) <= 256L) equals_any(x, table) else equals_neighbour(x, table)
  if (is_float_code(type_tag(x)[1L])) nv_or(found, nv_and(nv_is_nan(x), nv_reduce_any(nv_is_nan(table)))) else found
}

equals_any <- function(x, table) {
  beside <- nv_reshape(table, c(rep(1L, rank_of(x)), sizes_of(table)))
  nv_reduce_any(nv_eq(nv_unsqueeze(x, rank_of(x) + 1L), beside), rank_of(x) + 1L)
}

# The same by bisection of the sorted table.
equals_neighbour <- function(x, table) {
  sorted <- nv_sort(table, 1L)
  place <- how_many_below(x, sorted, sizes_of(table), nv_ge)
  nv_eq(x, slices_at(sorted, nv_max(place, 1L)))
}
