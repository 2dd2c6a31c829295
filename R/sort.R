#' Sorting and selection
#'
#' `nv_sort()` sorts along a dimension, `nv_argsort()` gives the indices that sort (R's
#' `order()`), `nv_top_k()` the `k` largest elements along the last dimension and their
#' indices. Ties keep their order. The values carry derivatives.
#'
#' # Differences from R
#'
#' * NaN is not dropped: it is larger than every number, so it comes last, or first when
#'   `decreasing`.
#' * A tensor with several dimensions is sorted along one of them, each line for itself.
#' * `nv_top_k()` takes floats in their total order, in which -0 is below 0 and NaN is above
#'   Inf, or below -Inf when it has a sign.
#'
#' @param operand A tensor, R array or vector.
#' @param dims The dimension to sort along; by default the last one.
#' @param decreasing Whether the largest comes first.
#' @param stable Ties always keep their order; whether that is asked for.
#' @param k How many elements, at most the size of the last dimension.
#' @return A tensor; for `nv_top_k()` a list of `values` and `indices`.
#' @family reductions and orders
#' @name nv_sort
#' @examples
#' x <- nv_tensor(c(3, 1, 4, 1, 5))
#' nv_sort(x)
#' nv_argsort(x, decreasing = TRUE)
#' nv_top_k(x, 2)
NULL

#' @rdname nv_sort
#' @export
nv_sort <- function(operand, dims = NULL, decreasing = FALSE) {
  check_flag(decreasing, "decreasing")
  operand <- as_operand(operand, "operand")
  dim <- one_dim(operand, dims)
  record("sort", list(operand), list(dim = dim, descending = decreasing, is_stable = FALSE, num_keys = 1L))
}

#' @rdname nv_sort
#' @export
nv_argsort <- function(operand, dims = NULL, decreasing = FALSE, stable = FALSE) {
  check_flag(decreasing, "decreasing")
  check_flag(stable, "stable")
  operand <- as_operand(operand, "operand")
  dim <- one_dim(operand, dims)
  indices <- nvl_iota(dim, "i32", sizes_of(operand))
  nvl_sort(list(operand, indices), dim, decreasing, stable)[[2L]]
}

#' @rdname nv_sort
#' @export
nv_top_k <- function(operand, k) {
  found <- nvl_top_k(operand, check_whole_number(k, "k", lower = 0L))
  list(values = found[[1L]], indices = found[[2L]])
}

#' Primitives that sort
#'
#' `nvl_sort()` sorts all its operands along a dimension by the first `num_keys` of them, the
#' first one first. `nvl_top_k()` gives the largest elements along the last dimension and
#' their indices.
#'
#' @param operands A list of tensors of one shape.
#' @param operand A tensor.
#' @param dim The dimension.
#' @param descending Whether the largest comes first.
#' @param is_stable Whether ties must keep their order; they do in any case.
#' @param num_keys How many of the operands are keys.
#' @param k How many elements.
#' @return `nvl_sort()`: a list of sorted tensors, in the order of `operands`; `nvl_top_k()`:
#'   a list of values and indices.
#' @keywords internal
#' @name nvl_sort
#' @examples
#' nvl_sort(list(nv_tensor(c(2, 1, 3)), nv_tensor(1:3)))
NULL

#' @rdname nvl_sort
#' @export
nvl_sort <- function(operands, dim = 1L, descending = FALSE, is_stable = FALSE, num_keys = 1L) {
  if (!is.list(operands)) {
    abort_anvil("argument", "`operands` must be a list of tensors.", sprintf("x Got %s.", describe_value(operands)))
  }
  check_tensors(operands)
  parameters <- list(dim = dim, descending = descending, is_stable = is_stable, num_keys = num_keys)
  sorted <- record("sort", unname(operands), parameters)
  if (length(operands) == 1L) sorted <- list(sorted)
  names(sorted) <- names(operands)
  sorted
}

#' @rdname nvl_sort
#' @export
nvl_top_k <- function(operand, k) record("top_k", list(operand), list(k = k))
