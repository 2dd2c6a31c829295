#' Norms, distances and the exponential of matrices
#'
#' * `nv_norm()`: norms of matrices and vectors, for matrices those of R's [norm()], which works on tensors where anvil is attached.
#' * `nv_cdist()`: the distance of each row of `x` from each row of `y`, with the methods of [dist()].
#' * `nv_expm()`: the exponential of a square matrix, \eqn{\sum_k A^k / k!}{sum(A^k / k!)}.
#'
#' | `type` | of a matrix | of a vector |
#' |---|---|---|
#' | `"O"` | largest sum of absolute values in a column | sum of absolute values |
#' | `"I"` | largest sum of absolute values in a row | largest absolute value |
#' | `"F"` | root of the sum of squares | the same |
#' | `"M"` | largest absolute value | the same |
#' | `"2"` | largest singular value | root of the sum of squares |
#' | a number p >= 1 | | `sum(abs(x)^p)^(1 / p)` |
#'
#' Where a root or distance is 0, its derivative is taken as 0, one of its subgradients. No square overflows in `nv_norm()`.
#'
#' `nv_expm()` scales the matrix by a power of two, takes a diagonal Pade approximation, of degree 13 in double and 7 in
#' single precision, and squares the result (Higham 2005). The number of squarings follows
#' from the data. Derivatives go through all of that.
#'
#' @param x,y A vector or matrix, for `nv_norm()` with `dims` a tensor of any shape; for `nv_cdist()` matrices with the same number of columns. Integers become floats.
#' @param type One of the table, also `"1"` for `"O"` and `"E"` for `"F"`. By default `"O"` for matrices, as in R, and `"2"` for vectors.
#' @param dims Which dimension of `x` holds vectors, or which two the rows and columns of matrices, of each of which there is a norm;
#'   by default all of `x` is one.
#' @param drop Whether the dimensions `dims` disappear; otherwise their size is 1.
#' @param method `"euclidean"`, `"squared"` (euclidean), `"manhattan"`, `"maximum"` or `"minkowski"`, with the exponent `p`.
#' @param p A number of at least 1.
#' @param operand A tensor with square matrices as its last two dimensions; the ones before count matrices.
#' @return A float tensor: `nv_norm()`: a scalar, or with `dims` one of the other dimensions; `nv_cdist()`: a matrix with a row for each row of `x` and a column for each of `y`; `nv_expm()`: of the
#'   shape of `operand`.
#' @section Errors:
#' `anvil_error_shape` where shapes do not fit, `anvil_error_argument` where another argument is not as said.
#' @references Higham, N. J. (2005). The scaling and squaring method for the matrix exponential revisited. SIAM Journal on Matrix
#'   Analysis and Applications 26, 1179-1193.
#' @family functions of models
#' @export
#' @examples
#' m <- nv_tensor(matrix(c(1, -2, 3, 4), 2))
#' nv_norm(m)
#' norm(m, "2")
#' nv_norm(nv_tensor(c(3, 4)))
#' nv_norm(m, dims = 2) # of each row
#' nv_cdist(m, nv_tensor(rbind(c(0, 0))), "manhattan")
#' nv_expm(nv_tensor(matrix(c(0, -pi, pi, 0), 2), dtype = "f64"))
nv_norm <- function(x, type = NULL, dims = NULL, drop = TRUE) {
  check_flag(drop)
  x <- as_float(as_vector(x))
  dims <- normed_dims(dims, sizes_of(x))
  of_matrix <- length(dims) == 2L
  type <- norm_type(type, length(dims))
  size <- nv_abs(x)
  norm <- switch(type,
    O = if (of_matrix) largest_of(nv_reduce_sum(size, dims[1L], FALSE), dims) else nv_reduce_sum(size, dims, FALSE),
    I = largest_of(if (of_matrix) nv_reduce_sum(size, dims[2L], FALSE) else size, dims),
    M = largest_of(size, dims),
    F = root_of_powers(size, 2, dims),
    `2` = if (of_matrix) largest_singular(x, dims) else root_of_powers(size, 2, dims),
    root_of_powers(size, as.double(type), dims)
  )
  if (drop) nv_reshape(norm, sizes_of(x)[-dims]) else norm
}

normed_dims <- function(dims, sizes) {
  if (is.null(dims)) {
    if (!(length(sizes) %in% 1:2)) {
      wrong_shape("`x` must be a vector or a matrix.", sizes, if (length(sizes)) "i With more dimensions, `dims` says which one or two of them are.")
    }
    return(seq_along(sizes))
  }
  dims <- check_dims(dims, length(sizes), of = "x")
  if (!(length(dims) %in% 1:2)) wrong_argument("dims", "one dimension, of vectors, or two, the rows and columns of matrices", dims)
  dims
}

largest_singular <- function(x, dims) {
  d <- nv_svd(nv_transpose(x, c(setdiff(seq_len(rank_of(x)), dims), dims)), vectors = FALSE)$d
  nv_reshape(largest_of(d, rank_of(d)), replace(sizes_of(x), dims, 1L))
}

norm_type <- function(type, rank) {
  what <- "one of \"O\", \"I\", \"F\", \"M\", \"2\", or for vectors a number of at least 1"
  if (is.null(type)) {
    return(if (rank == 2L) "O" else "2")
  }
  if (is.numeric(type) && !is.object(type) && length(type) == 1L && rank == 1L && isTRUE(type >= 1)) {
    return(if (type == Inf) "M" else format(type, digits = 17L))
  }
  known <- c("O", "1", "I", "F", "E", "M", "2")
  if (!is.character(type) || length(type) != 1L || !(toupper(type) %in% known)) wrong_argument("type", what, type)
  type <- toupper(type)
  if (type == "1") "O" else if (type == "E") "F" else type
}

# 0 of nothing.
largest_of <- function(x, dims) (if (any(sizes_of(x)[dims] == 0L)) nv_reduce_sum else nv_reduce_max)(x, dims, drop = FALSE)

# sum(x^p)^(1 / p) for x >= 0, in units of the largest.
root_of_powers <- function(x, p, dims) {
  unit <- nv_stop_gradient(largest_of(x, dims))
  unit <- nv_ifelse(nv_is_finite(unit) & nv_gt(unit, 0), unit, 1)
  total <- nv_reduce_sum(power_of(nv_div(x, unit), p), dims, drop = FALSE)
  nv_mul(root_of(total, p), unit)
}

power_of <- function(x, p) if (p == 1) x else if (p == 2) nv_square(x) else nv_pow(x, p)

# 0 has the derivative 0.
root_of <- function(x, p) {
  if (p == 1) {
    return(x)
  }
  nv_ifelse(nv_eq(x, 0), 0, if (p == 2) nv_sqrt(x) else nv_pow(x, 1 / p))
}

#' @rdname nv_norm
#' @export
nv_cdist <- function(x, y = x, method = "euclidean", p = 2) {
  check_choice(method, c("euclidean", "squared", "manhattan", "maximum", "minkowski"))
  if (check_number(p) < 1) wrong_argument("p", "a number of at least 1", p)
  given <- as_floats(x = as_operand(x, "x"), y = as_operand(y, "y"))
  sizes <- list(matrix_sizes(given$x, "x"), matrix_sizes(given$y, "y"))
  if (sizes[[1L]][2L] != sizes[[2L]][2L]) {
    wrong_shape("`x` and `y` must have the same number of columns.", sizes)
  }
  apart <- nv_sub(nv_unsqueeze(given$x, 2L), nv_unsqueeze(given$y, 1L))
  if (method == "maximum") {
    return(if (sizes[[1L]][2L] == 0L) nv_reduce_sum(apart, 3L) else nv_reduce_max(nv_abs(apart), 3L))
  }
  p <- switch(method, manhattan = 1, minkowski = p, 2)
  total <- nv_reduce_sum(power_of(if (p == 2) apart else nv_abs(apart), p), 3L)
  if (method == "squared") total else root_of(total, p)
}

#' @rdname nv_norm
#' @export
nv_expm <- function(operand) {
  operand <- float_tensor(operand)
  sizes <- check_square_matrices(operand, "operand")
  if (prod(sizes) == 0) {
    return(operand)
  }
  double <- as.character(dtype(operand)) == "f64"
  rank <- length(sizes)
  size <- nv_reduce_max(nv_reduce_sum(nv_abs(nv_stop_gradient(operand)), rank - 1L, drop = FALSE), rank, drop = FALSE)
  # up to which norm the approximation is right to the last digit (Higham 2005, tables 2.3 and 3.1)
  halvings <- nv_max(nv_ceiling(nv_log2(nv_div(size, if (double) 5.371920351148152 else 3.925724783138660))), 0)
  halvings <- nv_ifelse(nv_is_finite(halvings), halvings, 0)
  result <- pade_exponential(nv_mul(operand, nv_pow(2, nv_negate(halvings))), if (double) 13L else 7L)
  most <- nv_reduce_max(halvings)
  nv_while(
    list(x = result, k = nv_fill_like(most, 0)),
    function(x, k) nv_lt(k, most),
    function(x, k) list(x = nv_ifelse(nv_lt(k, halvings), nv_matmul(x, x), x), k = nv_add(k, 1))
  )$x
}

# (V - U)^-1 (V + U), where U and V are the odd and even powers of the numerator of the diagonal approximation.
pade_exponential <- function(a, degree) {
  j <- seq_len(degree)
  b <- cumprod(c(1, (degree - j + 1) / ((2 * degree - j + 1) * j)))
  eye <- as_dtype_of(in_matrices(sizes_of(a), nv_eq), a)
  square <- nv_matmul(a, a)
  powers <- list(eye, square)
  while (length(powers) <= degree %/% 2L) powers <- c(powers, list(nv_matmul(powers[[length(powers)]], square)))
  weighted <- function(b) Reduce(nv_add, Map(nv_mul, powers, b))
  odd <- nv_matmul(a, weighted(b[seq(2L, degree + 1L, by = 2L)]))
  even <- weighted(b[seq(1L, degree + 1L, by = 2L)])
  nv_solve(nv_sub(even, odd), nv_add(even, odd))
}
