#' Reductions
#'
#' Sums, products, extremes and so on over some or all dimensions. R's `sum()`, `prod()`,
#' `max()`, `min()`, `any()`, `all()` and `mean()` call them for tensors, over all dimensions, or
#' over those given as `dims`; `range()` over all.
#'
#' `nv_sum()`, `nv_prod()` and `nv_mean()` are short names. The extremes have none: [nv_max()] and [nv_min()] compare two
#' tensors.
#'
#' `nv_mean()` of integers is a float. `nv_var()` and `nv_sd()` divide by the number of
#' elements minus `correction`.
#'
#' # Differences from R
#'
#' * `dims` picks the dimensions that disappear; `nv_reduce_sum(m, 2)` is R's
#'   `rowSums(m)`. `dims = integer()` reduces nothing.
#' * Integers wrap around. `bool` tensors count as 0 and 1 of dtype `i32`.
#' * There is no `NA`: `na.rm = TRUE` of R's functions leaves out NaN, which else spreads.
#' * The largest of no elements is `-Inf`, or the smallest number of an integer dtype, without
#'   a warning.
#' * In derivatives, equal extremes share it.
#'
#' @param operand A tensor, R array or single number. `nv_reduce_any()` and
#'   `nv_reduce_all()` want `bool`.
#' @param dims Dimensions to reduce; by default all.
#' @param drop Whether reduced dimensions disappear or stay with size 1.
#' @param correction What is subtracted from the number of elements.
#' @param na.rm Whether NaN is left out.
#' @return A tensor.
#' @family reductions and orders
#' @name nv_reduce
#' @examples
#' m <- nv_tensor(matrix(1:6, 2))
#' nv_sum(m)
#' nv_sum(m, dims = 1)
#' nv_reduce_max(m, dims = 2, drop = FALSE)
#' nv_mean(m)
#' sum(m > 2L)
#' nv_sd(nv_tensor(1:5))
NULL

reduce <- function(name, operand, dims, drop) {
  record(name, list(operand), list(dims = if (is.null(dims)) seq_len(rank_of(operand)) else dims, drop = drop))
}

#' @rdname nv_reduce
#' @export
nv_reduce_sum <- function(operand, dims = NULL, drop = TRUE) reduce("reduce_sum", as_number(operand), dims, drop)

#' @rdname nv_reduce
#' @export
nv_reduce_prod <- function(operand, dims = NULL, drop = TRUE) reduce("reduce_prod", as_number(operand), dims, drop)

#' @rdname nv_reduce
#' @export
nv_sum <- nv_reduce_sum

#' @rdname nv_reduce
#' @export
nv_prod <- nv_reduce_prod

#' @rdname nv_reduce
#' @export
nv_reduce_max <- function(operand, dims = NULL, drop = TRUE) reduce("reduce_max", as_number(operand), dims, drop)

#' @rdname nv_reduce
#' @export
nv_reduce_min <- function(operand, dims = NULL, drop = TRUE) reduce("reduce_min", as_number(operand), dims, drop)

#' @rdname nv_reduce
#' @export
nv_reduce_any <- function(operand, dims = NULL, drop = TRUE) reduce("reduce_any", operand, dims, drop)

#' @rdname nv_reduce
#' @export
nv_reduce_all <- function(operand, dims = NULL, drop = TRUE) reduce("reduce_all", operand, dims, drop)

# How many elements each result is made of, as a double: it divides without losing digits.
reduced_count <- function(operand, dims) {
  sizes <- sizes_of(operand)
  as.double(prod(if (is.null(dims)) sizes else sizes[check_dims(dims, length(sizes), of = "operand")]))
}

#' @rdname nv_reduce
#' @export
nv_reduce_mean <- function(operand, dims = NULL, drop = TRUE) {
  in_f32(as_float(operand), function(x) nv_div(nv_reduce_sum(x, dims, drop), reduced_count(x, dims)))
}

#' @rdname nv_reduce
#' @export
nv_mean <- nv_reduce_mean

#' @rdname nv_reduce
#' @export
nv_var <- function(operand, dims = NULL, drop = TRUE, correction = 1L, na.rm = FALSE) {
  in_f32(as_float(operand), function(x) variance(x, dims, drop, correction, na.rm))
}

#' @rdname nv_reduce
#' @export
nv_sd <- function(operand, dims = NULL, drop = TRUE, correction = 1L, na.rm = FALSE) {
  in_f32(as_float(operand), function(x) nv_sqrt(variance(x, dims, drop, correction, na.rm)))
}

variance <- function(operand, dims, drop, correction, na.rm) {
  check_number(correction)
  sizes <- sizes_of(operand)
  if (is.null(dims)) dims <- seq_along(sizes)
  n <- if (check_flag(na.rm)) count_of_numbers(operand, dims, drop) else reduced_count(operand, dims)
  centre <- mean_without_nan(operand, dims, FALSE, na.rm)
  deviation <- nv_sub(operand, nv_broadcast_to(centre, sizes))
  if (na.rm) deviation <- nv_ifelse(nv_is_nan(operand), 0, deviation)
  n <- if (na.rm) nv_max(nv_sub(n, correction), 0) else max(n - correction, 0) # NaN of no elements
  nv_div(nv_reduce_sum(nv_mul(deviation, deviation), dims, drop), n)
}

# --- NaN left out ----------------------------------------------------------------------

# The operand with `value` in the place of NaN, if that is asked for.
without_nan <- function(x, value, na.rm) {
  check_flag(na.rm, "na.rm")
  if (!na.rm || !is_float_code(type_tag(x, "x")[1L])) x else nv_ifelse(nv_is_nan(x), value, x)
}

count_of_numbers <- function(x, dims, drop) nv_reduce_sum(nv_convert(nv_not(nv_is_nan(x)), dtype(x)), dims, drop)

mean_without_nan <- function(x, dims, drop, na.rm) {
  check_flag(na.rm, "na.rm")
  x <- as_float(x, "x")
  if (!na.rm) {
    return(nv_reduce_mean(x, dims, drop))
  }
  in_f32(x, function(x) nv_div(nv_reduce_sum(without_nan(x, 0, TRUE), dims, drop), count_of_numbers(x, dims, drop)))
}

#' Positions of extremes
#'
#' The position of the first of the largest or smallest elements along a dimension. With `with_values` also the
#' elements themselves, which carry derivatives. Where there is a `NaN`, it is the extreme, as it is for
#' [nv_max()]; base R's [which.max()] leaves it out.
#'
#' @param operand A tensor with at least one dimension, which is not empty along `dims`.
#' @param dims The dimension, by default the last one.
#' @param drop Whether the result has no dimension `dims` any more; otherwise its size is 1.
#' @param with_values Whether to give the elements, too.
#' @return An `i32` tensor of positions, which count from 1; `with_values` a list of `values` and `indices`.
#' @family reductions and orders
#' @export
#' @examples
#' m <- nv_tensor(rbind(c(3, 1, 4), c(1, 5, 9)))
#' nv_argmax(m)
#' nv_argmin(m, dims = 1)
#' nv_argmax(m, with_values = TRUE)
nv_argmax <- function(operand, dims = NULL, drop = TRUE, with_values = FALSE) {
  extreme("argmax", nv_reduce_max, operand, dims, drop, with_values)
}

#' @rdname nv_argmax
#' @export
nv_argmin <- function(operand, dims = NULL, drop = TRUE, with_values = FALSE) {
  extreme("argmin", nv_reduce_min, operand, dims, drop, with_values)
}

extreme <- function(primitive, reduction, operand, dims, drop, with_values) {
  check_flag(drop, "drop")
  check_flag(with_values, "with_values")
  operand <- as_number(operand)
  dim <- one_dim(operand, dims)
  indices <- record(primitive, list(operand), list(dim = dim, drop = drop))
  if (with_values) list(values = reduction(operand, dim, drop), indices = indices) else indices
}

#' Running sums, products and extremes
#'
#' What R's `cumsum()`, `cumprod()`, `cummax()` and `cummin()` call for tensors, and the logarithm of the running sum of
#' exponentials, \eqn{\log \sum_{j \le i} \exp x_j}{log(sum(exp(x[1:i])))}, in which no exponential overflows. Integers wrap
#' around; `bool` is counted in `i32`. After a `NaN` everything is `NaN`. Running sums of
#' what is not negative never fall, rounded as they are. Numbers are added one after the other, in compiled code after those of some
#' neighbours have been added up; each addition rounds: after a million equal `f32` numbers a running sum can be 1 percent off, where
#' `sum()` is not. Convert to `f64`, or use [nv_associative_scan()].
#'
#' @param operand A tensor with at least one dimension; of floats for `nv_cumlogsumexp()`.
#' @param dims The dimension along which to go. By default the tensor is flattened in R's order,
#'   as by `cumsum()`.
#' @param with_indices Whether to give the positions, too: of equal elements the last one so far, which has
#'   the derivative.
#' @return A tensor of the shape of `operand`; without `dims` one with a single dimension. `with_indices` a list of
#'   `values` and `indices`, `i32` positions along `dims` that count from 1.
#' @family reductions and orders
#' @name nv_cumsum
#' @examples
#' m <- nv_tensor(matrix(1:6, 2))
#' nv_cumsum(m)
#' nv_cumsum(m, dims = 2)
#' nv_cumprod(m, dims = 2)
#' nv_cummax(nv_tensor(c(3, 1, 4, 4, 2)), with_indices = TRUE)
#' nv_cumlogsumexp(nv_tensor(c(1000, 1000, 999)))
NULL

#' @rdname nv_cumsum
#' @export
nv_cumsum <- function(operand, dims = NULL) along("cumsum", as_number(operand), dims)

#' @rdname nv_cumsum
#' @export
nv_cumprod <- function(operand, dims = NULL) along("cumprod", as_number(operand), dims)

#' @rdname nv_cumsum
#' @export
nv_cummax <- function(operand, dims = NULL, with_indices = FALSE) running_extreme("cummax", operand, dims, with_indices)

#' @rdname nv_cumsum
#' @export
nv_cummin <- function(operand, dims = NULL, with_indices = FALSE) running_extreme("cummin", operand, dims, with_indices)

#' @rdname nv_cumsum
#' @export
nv_cumlogsumexp <- function(operand, dims = NULL) along("cumlogsumexp", as_float(operand), dims)

running_extreme <- function(primitive, operand, dims, with_indices) {
  check_flag(with_indices, "with_indices")
  found <- along(primitive, as_number(operand), dims)
  if (with_indices) list(values = found[[1L]], indices = found[[2L]]) else found[[1L]]
}

# A primitive with the parameter `dim`; without one, of all elements in R's order.
along <- function(primitive, operand, dims) {
  if (is.null(dims) && rank_of(operand) != 1L) operand <- nv_flatten(operand)
  record(primitive, list(operand), list(dim = one_dim(operand, dims)))
}
