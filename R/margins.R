#' Sums and means of rows and columns
#'
#' What [rowSums()], [colSums()], [rowMeans()] and [colMeans()] do, which work on tensors where anvil is attached; packages call
#' these functions. `nv_sweep()` is [sweep()]: it lines `stats` up with some dimensions of `x` and joins them, as in
#' `sweep(x, 2, colMeans(x))`, which R would recycle along the wrong dimension in `x - colMeans(x)`.
#'
#' @param x A tensor of numbers or `bool`, with at least two dimensions for the sums and means; for the sums also a sparse tensor ([nv_sparse()]).
#' @param na.rm Whether NaN is left out.
#' @param dims How many of the first dimensions count as rows.
#' @param margin The dimensions of `x` that `stats` has.
#' @param stats A tensor or R vector with the sizes of these dimensions, or a scalar.
#' @param f A function of two tensors of one shape, or its name.
#' @param ... Further arguments of `f`.
#' @return A tensor; means are floats. `nv_sweep()`: what `f` gives.
#' @aliases rowSums colSums rowMeans colMeans sweep
#' @aliases rowSums,AnvilSparse-method colSums,AnvilSparse-method
#' @aliases rowSums,AnvilValue-method colSums,AnvilValue-method rowMeans,AnvilValue-method colMeans,AnvilValue-method
#' @family reductions and orders
#' @export
#' @examples
#' x <- nv_tensor(matrix(1:6, 2))
#' rowSums(x)
#' nv_col_means(x)
#' sweep(x, 2, colMeans(x))
nv_row_sums <- function(x, na.rm = FALSE, dims = 1L) if (is_sparse(x)) sparse_margin(x, 1L, na.rm, dims) else sum_over(behind_rows(x, dims), x, na.rm)

#' @rdname nv_row_sums
#' @export
nv_col_sums <- function(x, na.rm = FALSE, dims = 1L) if (is_sparse(x)) sparse_margin(x, 2L, na.rm, dims) else sum_over(of_rows(x, dims), x, na.rm)

#' @rdname nv_row_sums
#' @export
nv_row_means <- function(x, na.rm = FALSE, dims = 1L) mean_over(behind_rows(x, dims), x, na.rm)

#' @rdname nv_row_sums
#' @export
nv_col_means <- function(x, na.rm = FALSE, dims = 1L) mean_over(of_rows(x, dims), x, na.rm)

sum_over <- function(dims, x, na.rm) {
  force(dims) # checks x
  nv_reduce_sum(without_nan(x, 0, na.rm), dims)
}

mean_over <- function(dims, x, na.rm) {
  force(dims)
  mean_without_nan(x, dims, TRUE, na.rm)
}

of_rows <- function(x, dims) {
  rank <- rank_of(as_operand(x, "x"))
  if (rank < 2L) {
    abort_anvil("shape", "`x` must have at least 2 dimensions.", sprintf("x Got shape %s.", shape2string(sizes_of(x))))
  }
  seq_len(check_whole_number(dims, "dims", 1L, rank - 1L))
}

behind_rows <- function(x, dims) {
  rows <- of_rows(x, dims)
  setdiff(seq_len(rank_of(x)), rows)
}

#' @rdname nv_row_sums
#' @export
nv_sweep <- function(x, margin, stats, f = "-", ...) {
  x <- as_operand(x, "x")
  sizes <- sizes_of(x)
  margin <- check_dims(margin, length(sizes), of = "x")
  stats <- as_vector(stats, "stats")
  given <- sizes_of(stats)
  if (length(given) > 0L && !identical(given, sizes[margin]) && prod(given) != prod(sizes[margin])) {
    abort_anvil("shape", "`stats` must have the sizes of the dimensions of `x` in `margin`.", sprintf("x Got shapes %s, expected %s.", shape2string(given), shape2string(sizes[margin])))
  }
  if (length(given) > 0L) {
    increasing <- nv_transpose(nv_reshape(stats, sizes[margin]), order(margin))
    stats <- record("broadcast_in_dim", list(increasing), list(shape = sizes, broadcast_dimensions = sort(margin)))
  }
  as_function(f)(x, stats, ...)
}

# A vector of R as an array, a matrix of package Matrix as R's; anything else as it is.
vector_as_array <- function(x) if (is_r_data(x) && length(x) != 1L && is.null(dim(x))) array(x) else dense_matrix(x)
as_vector <- function(x, name = rlang::caller_arg(x)) as_operand(vector_as_array(x), name)

# A number counts as a vector.
at_least_vector <- function(x, name = rlang::caller_arg(x)) {
  x <- as_vector(x, name)
  if (rank_of(x) == 0L) nv_reshape(x, 1L) else x
}

# A function or its name, as match.fun() takes it, but whoever calls.
as_function <- function(f, name = rlang::caller_arg(f)) {
  found <- if (is.character(f) && length(f) == 1L && !is.na(f)) get0(f, envir = globalenv(), mode = "function") else f
  if (!is.function(found)) wrong_argument(name, "a function or the name of one", f)
  found
}
