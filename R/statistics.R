#' Quantiles, covariances and correlations
#'
#' `nv_quantile()` and `nv_median()` go along a dimension. [quantile()] and [median()] call them for all elements of a
#' tensor, or of the dimensions `dims`: `median(x, dims = 1)`. `nv_cov()` and `nv_cor()` are [cov()] and [cor()] of vectors, or of the columns of matrices; with [var()] and
#' [sd()] they work on tensors where anvil is attached. The variance of some dimensions is [nv_var()].
#'
#' With \eqn{h = (n - 1) p}{h = (n - 1) * p}, the quantile lies between the sorted elements at \eqn{\lfloor h \rfloor}{floor(h)} and
#' \eqn{\lceil h \rceil}{ceiling(h)}, counted from 0: this is type 7 of [quantile()], the default there. `interpolation`
#' says where in between: by the fraction of `h` (`"linear"`), at one of both (`"lower"`, `"higher"`, `"nearest"`), or in the
#' middle (`"midpoint"`). Where there is a NaN that is not left out, the result is NaN.
#'
#' @param operand A tensor with at least one dimension. Integers become floats.
#' @param probs Probabilities: a number, with which the dimension disappears, or several, which become the first
#'   dimension of the result.
#' @param dims The dimension, by default the last one.
#' @param interpolation How to get a value between two elements.
#' @param na.rm Whether NaN is left out; of matrices, each observation that has one.
#' @param x,y Vectors of one length, or matrices with the same number of observations.
#' @param dims The dimension of matrices along which the observations are: 1, rows, or 2, columns.
#' @return A tensor of floats. Of vectors, `nv_cov()` and `nv_cor()` give a scalar; of matrices a matrix with a row for each column
#'   of `x` and a column for each one of `y`.
#' @aliases median quantile var sd cov cor
#' @family reductions and orders
#' @export
#' @examples
#' x <- nv_tensor(c(3, 1, 4, 1, 5))
#' nv_quantile(x, c(0.25, 0.75))
#' median(x)
#' m <- nv_tensor(matrix(c(1, 2, 4, 3, 1, 0), 3))
#' nv_quantile(m, 0.5, dims = 1)
#' nv_cov(m)
#' cor(m)
nv_quantile <- function(operand, probs, dims = NULL, interpolation = "linear", na.rm = FALSE) {
  check_choice(interpolation, c("linear", "lower", "higher", "nearest", "midpoint"))
  check_flag(na.rm, "na.rm")
  if (is.object(probs) || !is.numeric(probs) || length(probs) == 0L || anyNA(probs) || any(probs < 0 | probs > 1)) {
    wrong_argument("probs", "numbers from 0 to 1", probs)
  }
  operand <- as_float(operand)
  dim <- one_dim(operand, dims)
  if (sizes_of(operand)[dim] == 0L) {
    abort_anvil("shape", "There is no quantile of no elements.", sprintf("x Got shape %s.", shape2string(sizes_of(operand))))
  }
  sorted <- nv_sort(operand, dim)
  at <- if (na.rm) at_counted_place(sorted, dim) else at_fixed_place(sorted, dim)
  one <- function(p) interpolated(at, as.double(p), interpolation)
  if (length(probs) == 1L && is.null(base::dim(probs))) {
    return(one(probs))
  }
  do.call(nv_concatenate, c(lapply(probs, function(p) nv_unsqueeze(one(p), 1L)), dimension = 1L))
}

# How far to go from the lower to the higher of two neighbours.
interpolated <- function(at, p, interpolation) {
  found <- at(p)
  switch(interpolation,
    lower = found$low,
    higher = found$high,
    midpoint = nv_ifelse(nv_eq(found$low, found$high), found$low, found$low * 0.5 + found$high * 0.5),
    nearest = nv_ifelse(nv_lt(found$fraction, 0.5), found$low, found$high),
    linear = part_way(found$low, found$high, found$fraction)
  )
}

# As quantile() does it: of infinities, too.
part_way <- function(low, high, fraction) {
  nv_ifelse(nv_or(nv_eq(low, high), nv_eq(fraction, 0)), low, low * (1 - fraction) + high * fraction)
}

# The neighbours and the fraction for a probability; the last element is NaN where one is.
at_fixed_place <- function(sorted, dim) {
  n <- sizes_of(sorted)[dim]
  element <- function(k) take_part(sorted, one_place(sorted, dim, k), drop = TRUE)
  broken <- nv_is_nan(element(n))
  function(p) {
    h <- near_whole((n - 1) * p)
    whole <- function(k) nv_ifelse(broken, NaN, element(as.integer(k) + 1L))
    fraction <- nv_fill(h - floor(h), integer(), dtype(sorted))
    list(low = whole(floor(h)), high = whole(ceiling(h)), fraction = fraction)
  }
}

# As quantile() does, so that 0.1 * 10 is a place.
near_whole <- function(h) {
  fuzz <- 4 * .Machine$double.eps
  lower <- floor(h + fuzz)
  if (abs(h - lower) < fuzz * max(1, lower)) lower else h
}

# The same where NaN, which is sorted to the end, does not count: the number of elements depends on data.
at_counted_place <- function(sorted, dim) {
  n <- count_of_numbers(sorted, dim, drop = FALSE)
  sizes <- sizes_of(sorted)
  place <- nvl_iota(dim, as.character(dtype(sorted)), sizes, start = 0L)
  function(p) {
    h <- nv_max(nv_sub(n, 1) * p, 0)
    element <- function(k) {
      value <- nv_reduce_sum(nv_ifelse(nv_eq(place, nv_broadcast_to(k, sizes)), sorted, 0), dim)
      nv_ifelse(nv_eq(nv_squeeze(n, dim), 0), NaN, value)
    }
    low <- nv_floor(h)
    list(low = element(low), high = element(nv_ceiling(h)), fraction = nv_squeeze(nv_sub(h, low), dim))
  }
}

one_place <- function(x, dim, k) {
  s <- index_specs(sizes_of(x), list(), NULL, NULL)
  set_spec(s, dim, list(start = k, size = 1L, keep = FALSE))
}

#' @rdname nv_quantile
#' @export
nv_median <- function(operand, dims = NULL, interpolation = "linear", na.rm = FALSE) {
  nv_quantile(operand, 0.5, dims, interpolation, na.rm)
}

#' @rdname nv_quantile
#' @export
nv_cov <- function(x, y = NULL, dims = 1L, na.rm = FALSE) {
  pair <- observations(x, y, dims, na.rm)
  products <- nv_crossprod(pair$x, pair$y)
  found <- nv_div(products, if (check_flag(na.rm)) nv_max(nv_sub(pair$n, 1), 0) else max(pair$n - 1, 0)) # NaN of no rows
  if (pair$vectors) nv_reshape(found, integer()) else found
}

#' @rdname nv_quantile
#' @export
nv_cor <- function(x, y = NULL, dims = 1L, na.rm = FALSE) {
  pair <- observations(x, y, dims, na.rm)
  spread <- function(z) nv_sqrt(nv_reduce_sum(nv_mul(z, z), 1L))
  found <- nv_clamp(-1, nv_div(nv_crossprod(pair$x, pair$y), nv_outer(spread(pair$x), spread(pair$y))), 1)
  if (pair$vectors) {
    return(nv_reshape(found, integer()))
  }
  # a column goes with itself, also where it is constant
  if (is.null(y)) nv_set_diag(found, if (is_value(pair$n)) nv_ifelse(pair$n >= 2, 1, NaN) else if (pair$n >= 2) 1 else NaN) else found
}

# Matrices whose columns have mean 0, and how many rows count; rows that do not count are 0.
observations <- function(x, y, dims, na.rm) {
  alone <- is.null(y)
  x <- as_float(as_vector(x))
  y <- if (alone) x else as_float(as_vector(y))
  vectors <- c(rank_of(x), rank_of(y)) == 1L
  x <- in_columns(x, dims)
  y <- in_columns(y, dims)
  rows <- sizes_of(x)[1L]
  if (!all(c(rank_of(x), rank_of(y)) == 2L) || sizes_of(y)[1L] != rows) {
    abort_anvil("shape", "`x` and `y` must be vectors or matrices with the same number of observations.", sprintf("x Got shapes %s.", ordinal_shapes(list(sizes_of(x), sizes_of(y)))))
  }
  if (!check_flag(na.rm)) {
    centred <- function(z) nv_sub(z, nv_reduce_mean(z, 1L, drop = FALSE))
    x <- centred(x)
    return(list(x = x, y = if (alone) x else centred(y), n = rows, vectors = all(vectors)))
  }
  broken <- nv_reduce_any(nv_is_nan(if (alone) x else nv_concatenate(x, y, dimension = 2L)), 2L, drop = FALSE)
  n <- nv_reduce_sum(nv_convert(nv_not(broken), dtype(x)))
  complete <- function(z) nv_ifelse(nv_broadcast_to(broken, sizes_of(z)), 0, z)
  centred <- function(z) complete(nv_sub(z, nv_div(nv_reduce_sum(complete(z), 1L, drop = FALSE), n)))
  x <- centred(x)
  list(x = x, y = if (alone) x else centred(y), n = n, vectors = all(vectors))
}

# The observations along the first dimension, variables along the second.
in_columns <- function(x, dims) {
  dims <- check_whole_number(dims, "dims", 1L, 2L)
  if (rank_of(x) == 1L) nv_unsqueeze(x, 2L) else if (dims == 2L && rank_of(x) == 2L) nv_transpose(x) else x
}

# --- R's generic functions -------------------------------------------------------------

#' @importFrom stats median
#' @export
median.AnvilValue <- function(x, na.rm = FALSE, dims = NULL, ...) {
  no_others("median", c("na.rm", "dims"), ...)
  nv_median(as_line(x, dims), 1L, na.rm = na.rm)
}

#' @importFrom stats quantile
#' @export
quantile.AnvilValue <- function(x, probs = seq(0, 1, 0.25), na.rm = FALSE, names = TRUE, type = 7, dims = NULL, ...) {
  no_others("quantile", c("probs", "na.rm", "dims"), ...)
  if (!identical(as.double(type), 7)) {
    abort_anvil("argument", "Quantiles of tensors are of `type` 7.", got_value(type))
  }
  nv_quantile(as_line(x, dims), probs, 1L, na.rm = na.rm)
}

# All elements along one dimension, in R's order, or those of some dimensions along the first one.
as_line <- function(x, dims = NULL) {
  if (is.null(dims)) {
    return(switch(min(rank_of(x), 2L) + 1L, nv_reshape(x, 1L), x, nv_flatten(x)))
  }
  sizes <- sizes_of(x)
  dims <- check_dims(dims, length(sizes), of = "x")
  others <- setdiff(seq_along(sizes), dims)
  nv_reshape(nv_transpose(x, c(dims, others)), c(prod(sizes[dims]), sizes[others]))
}

#' @export
scale.AnvilValue <- function(x, center = TRUE, scale = TRUE) {
  if (rank_of(x) == 1L) x <- nv_unsqueeze(x, 2L) # as R's does
  matrix_sizes(x, "x")
  x <- as_float(x)
  by_columns <- function(x, given, value, f) {
    if (is.logical(given) && !is_value(given)) {
      if (check_flag(given, "center and scale")) f(x, value(x)) else x
    } else {
      nv_sweep(x, 2L, given, f)
    }
  }
  x <- by_columns(x, center, function(x) mean_without_nan(x, 1L, drop = FALSE, na.rm = TRUE), nv_sub)
  by_columns(x, scale, root_mean_square, nv_div)
}

# Of the columns, without NaN.
root_mean_square <- function(x) {
  n <- nv_max(nv_sub(count_of_numbers(x, 1L, drop = FALSE), 1), 1)
  nv_sqrt(nv_div(nv_reduce_sum(nv_square(without_nan(x, 0, TRUE)), 1L, drop = FALSE), n))
}

#' @export
summary.AnvilValue <- function(object, ...) summary(as.vector(numbers_of(object)), ...)
