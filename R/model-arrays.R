#' Grids, tables and interpolation
#'
#' * `nv_linspace()`: evenly spaced numbers, [nv_seq()] with `steps`.
#' * `nv_meshgrid()`: for vectors of lengths `n`, `m`, ... tensors of shape `(n, m, ...)`, the first of which holds the first vector
#'   along the first dimension, and so on: the columns of [expand.grid()] as arrays.
#' * `nv_triu_indices()`, `nv_tril_indices()`: the places of the upper or lower triangle of a matrix, in R's order, as rows of an
#'   index: `x[nv_triu_indices(3)]`.
#' * `nv_searchsorted()`: in which interval between the sorted numbers `vec` each number lies, R's [findInterval()], which works on tensors
#'   where anvil is attached. It is found by bisection.
#' * `nv_interp()`: the straight lines through points, at other places: `approx(x, y, xout, rule = rule)$y`.
#'
#' @param start,end,steps,dtype See [nv_seq()].
#' @param ... Vectors: tensors.
#' @param n,m The numbers of rows and columns.
#' @param diagonal The last diagonal that belongs to the triangle: 0 is the main one, positive ones lie above it.
#' @param x For `nv_searchsorted()` a tensor of any shape. For `nv_interp()` a vector of at least two increasing numbers.
#' @param vec A vector of numbers that do not decrease, without NaN.
#' @param rightmost.closed Whether the last interval holds its right end too, or with `left.open` the first one its left end.
#' @param all.inside Whether numbers outside count to the first and the last interval.
#' @param left.open Whether intervals hold their right ends and not their left ones.
#' @param y A vector as long as `x`.
#' @param xout A tensor of any shape.
#' @param rule What values outside of `x` are: `1` for NaN, `2` for the value at the nearest end; or one number for each side.
#' @return `nv_meshgrid()`: a list of tensors. `nv_triu_indices()`, `nv_tril_indices()`: an `i32` tensor with two columns.
#'   `nv_searchsorted()`: an `i32` tensor of the shape of `x`: how many of `vec` are not above each number, all of them for NaN.
#'   `nv_interp()`: floats of the shape of `xout`, with derivatives by `x`, `y` and `xout`.
#' @section Errors:
#' `anvil_error_argument` and `anvil_error_shape` where an argument is not as said. That vectors are sorted is not checked.
#' @family functions of models
#' @aliases findInterval
#' @name nv_meshgrid
#' @examples
#' nv_linspace(0, 1, 5)
#' nv_meshgrid(nv_tensor(1:2), nv_tensor(3:5))
#' m <- nv_tensor(matrix(1:9, 3))
#' m[nv_triu_indices(3)]
#' nv_searchsorted(nv_tensor(c(0, 2.5, 9)), c(1, 2, 3))
#' nv_interp(c(0, 1, 2), c(0, 10, 40), nv_tensor(c(0.5, 1.5, 3)), rule = 2)
NULL

#' @rdname nv_meshgrid
#' @export
nv_linspace <- function(start, end, steps, dtype = NULL) nv_seq(start, end, check_whole_number(steps, "steps", 1L), dtype)

#' @rdname nv_meshgrid
#' @export
nv_meshgrid <- function(...) {
  axes <- lapply(list(...), as_vector, name = "...")
  sizes <- vapply(axes, vector_size, 1L, name = "...")
  sizes_of_any(axes)
  Map(function(x, d) record("broadcast_in_dim", list(x), list(shape = unname(sizes), broadcast_dimensions = d)), axes, seq_along(axes))
}

#' @rdname nv_meshgrid
#' @export
nv_triu_indices <- function(n, m = n, diagonal = 0L) triangle_places(n, m, diagonal, `>=`)

#' @rdname nv_meshgrid
#' @export
nv_tril_indices <- function(n, m = n, diagonal = 0L) triangle_places(n, m, diagonal, `<=`)

triangle_places <- function(n, m, diagonal, compare) {
  n <- check_whole_number(n, "n", 0L)
  m <- check_whole_number(m, "m", 0L)
  inside <- compare(outer(-seq_len(n), seq_len(m), `+`), check_whole_number(diagonal, "diagonal"))
  nv_tensor(unname(which(inside, arr.ind = TRUE)), dtype = "i32")
}

#' @rdname nv_meshgrid
#' @export
nv_searchsorted <- function(x, vec, rightmost.closed = FALSE, all.inside = FALSE, left.open = FALSE) {
  for (name in c("rightmost.closed", "all.inside", "left.open")) check_flag(get(name), name)
  if (is_r_data(vec) && is.unsorted(vec, na.rm = TRUE)) abort_anvil("argument", "`vec` must be sorted.")
  if (is_literal(vec)) vec <- nv_reshape(vec, 1L)
  operands <- .Call(C_anvil_promote, list(x = as_vector(x), vec = as_vector(vec)), FALSE)
  x <- operands[[1L]]
  vec <- operands[[2L]]
  n <- vector_size(vec, "vec")
  place <- how_many_below(x, vec, n, if (left.open) nv_gt else nv_ge)
  if (rightmost.closed && n > 0L) {
    end <- nv_static_slice(vec, if (left.open) 1L else n, if (left.open) 1L else n)
    at_end <- nv_eq(x, nv_reshape(end, integer()))
    place <- nv_ifelse(at_end, if (left.open) 1L else n - 1L, place)
  }
  if (all.inside) nv_clamp(min(1L, n - 1L), place, n - 1L) else place
}

# How many of the sorted numbers `vec` are below x, by bisection: each step adds a power of two, if there are so many.
how_many_below <- function(x, vec, n, is_above) {
  place <- nv_fill(0L, sizes_of(x), "i32")
  for (step in 2L^(rev(seq_len(ceiling(log2(n + 1)))) - 1)) {
    further <- nv_add(place, as.integer(step))
    below <- is_above(x, slices_at(vec, nv_min(further, n))) | nv_ne(x, x) # NaN is above all
    place <- nv_ifelse(nv_le(place, n - as.integer(step)) & below, further, place)
  }
  place
}

#' @rdname nv_meshgrid
#' @export
nv_interp <- function(x, y, xout, rule = 1L) {
  if (!is_whole(rule) || !(length(rule) %in% 1:2) || !all(rule %in% 1:2)) {
    wrong_argument("rule", "1 or 2, or one of them for each side", rule)
  }
  given <- as_floats(x = as_vector(x), y = as_vector(y), xout = as_vector(xout))
  n <- vector_size(given$x, "x")
  if (n < 2L || vector_size(given$y, "y") != n) {
    wrong_shape("`x` and `y` must be vectors of one length, at least 2.", lapply(given[1:2], sizes_of))
  }
  end <- function(k) nv_reshape(nv_static_slice(given$x, k, k), integer())
  at <- nv_clamp(end(1L), given$xout, end(n))
  place <- nv_searchsorted(at, given$x, all.inside = TRUE)
  from <- slices_at(given$x, place)
  share <- nv_div(nv_sub(at, from), nv_sub(slices_at(given$x, nv_add(place, 1L)), from))
  value <- nv_add(times_weight(slices_at(given$y, place), nv_sub(1, share)), times_weight(slices_at(given$y, nv_add(place, 1L)), share))
  rule <- rep_len(rule, 2L)
  if (rule[1L] == 1) value <- nv_ifelse(nv_lt(given$xout, end(1L)), NaN, value)
  if (rule[2L] == 1) value <- nv_ifelse(nv_gt(given$xout, end(n)), NaN, value)
  value
}

# Without weight nothing of y is left, be it infinite.
times_weight <- function(y, weight) nv_mul(nv_ifelse(nv_or(nv_is_finite(y), nv_ne(weight, 0)), y, 0), weight)
