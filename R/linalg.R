#' Products of matrices
#'
#' `nv_matmul()` is R's `%*%`, `nv_crossprod(x, y)` is `t(x) %*% y` and `nv_tcrossprod(x, y)` is
#' `x %*% t(y)`, without a transposed copy; `y` defaults to `x`. The last two dimensions are the
#' matrices; the ones before, which must be the same for both operands, count matrices that
#' are multiplied side by side. A single matrix goes with each matrix of a stack: `x %*% w` is a layer of a network, where
#' `x` has the dimensions (example, position, feature). `nv_outer()` joins every element of a tensor with every element of another, and
#' `nv_kronecker()` puts what that gives at the place of each element of the first, as [outer()] and [kronecker()] do.
#'
#' Operands are promoted to a common dtype. A vector, of R as well, is a row or a column, whichever fits, as in R: left of a
#' matrix a row, right of it a column, a product of two vectors of one length is their inner product. Of the functions with a
#' transpose, only that with a vector on the right differs: `crossprod(x, v)` is `t(x) %*% v`. R's `toeplitz(v)` is the symmetric matrix with
#' the first column `v`.
#'
#' @param lhs,rhs Tensors or R matrices and vectors; also sparse tensors, and sparse matrices of package Matrix ([nv_sparse()]).
#' @param f A function of two tensors of one shape, or its name.
#' @param ... Further arguments of `f`.
#' @return A tensor.
#' @aliases %*% crossprod tcrossprod outer %o% toeplitz kronecker %x%
#' @aliases kronecker,AnvilValue,AnvilValue-method kronecker,AnvilValue,ANY-method kronecker,ANY,AnvilValue-method
#' @eval paste("@aliases", paste(product_method_aliases(), collapse = " "))
#' @family linear algebra
#' @export
#' @examples
#' a <- nv_tensor(matrix(1:6, 2))
#' b <- nv_tensor(matrix(1:6, 3))
#' a %*% b
#' nv_crossprod(a)
#' a %*% c(1L, 0L, 2L)
#' nv_outer(nv_tensor(1:3), nv_tensor(4:5))
nv_matmul <- function(lhs, rhs) matrix_product(list(lhs = lhs, rhs = rhs), 0L, 1L)

#' @rdname nv_matmul
#' @export
nv_crossprod <- function(lhs, rhs = NULL) matrix_product(list(lhs = lhs, rhs = rhs %||% lhs), 1L, 1L)

#' @rdname nv_matmul
#' @export
nv_tcrossprod <- function(lhs, rhs = NULL) matrix_product(list(lhs = lhs, rhs = rhs %||% lhs), 0L, 0L)

# Summed over the dimension that stands `left` before the last one of the first operand, `right`
# before the last one of the second. They are named as the arguments that they came from.
matrix_product <- function(operands, left, right) {
  labels <- names(operands)
  operands <- lapply(operands, matrix_operand)
  if (is_sparse(operands[[1L]]) || is_sparse(operands[[2L]])) {
    return(sparse_product(operands, left, right))
  }
  operands <- lapply(operands, function(x) if (is_r_data(x) && is.null(dim(x)) && !is_missing_literal(x)) array(x) else x)
  operands <- lapply(.Call(C_anvil_promote, operands, FALSE), as_number)
  rank <- c(rank_of(operands[[1L]]), rank_of(operands[[2L]]))
  vectors <- rank == 1L
  if (any(vectors) && all(rank %in% 1:2)) {
    matrices <- vectors_as_matrices(operands, vectors, left, right)
    check_conformable(operands, lapply(matrices, sizes_of), c(2L - left, 2L - right), labels)
    return(record("dot_general", matrices, list(contracting_dims = list(2L - left, 2L - right), batching_dims = list(integer(), integer()))))
  }
  if (any(rank < 2L) || rank[1L] != rank[2L] && all(rank != 2L)) {
    few <- which(rank < 2L)[1L]
    abort_anvil(
      "shape",
      if (is.na(few)) sprintf("`%s` and `%s` must have the same number of dimensions, or one of them 2.", labels[1L], labels[2L]) else sprintf("`%s` of a matrix product must have at least 2 dimensions.", labels[few]),
      c(
        sprintf("x Got shapes %s.", ordinal_shapes(lapply(operands, sizes_of))),
        if (any(rank == 0L)) "i To multiply with a number use `*`." else if (any(vectors)) "i A vector goes with a matrix; for a stack of them it becomes columns with `nv_unsqueeze()`."
      )
    )
  }
  check_conformable(operands, lapply(operands, sizes_of), rank - c(left, right), labels)
  batch <- if (rank[1L] == rank[2L]) seq_len(rank[1L] - 2L) else integer()
  product <- record("dot_general", operands, list(contracting_dims = list(rank[1L] - left, rank[2L] - right), batching_dims = list(batch, batch)))
  # a matrix on the left of a stack: its rows are the first dimension, before those that count matrices
  if (rank[1L] < rank[2L]) nv_transpose(product, c(seq_len(rank[2L] - 2L) + 1L, 1L, rank[2L])) else product
}

# As R says it: what lies along the dimension that is summed over has one size.
check_conformable <- function(operands, sizes, summed, labels) {
  if (sizes[[1L]][summed[1L]] != sizes[[2L]][summed[2L]]) {
    abort_anvil("shape", sprintf("`%s` and `%s` are non-conformable in a matrix product.", labels[1L], labels[2L]), c(
      sprintf("x Got shapes %s.", ordinal_shapes(lapply(operands, sizes_of))),
      sprintf("x It sums over sizes %d and %d.", sizes[[1L]][summed[1L]], sizes[[2L]][summed[2L]])
    ))
  }
}

# A vector lies along the dimension that is summed over, or, where the other operand has only size 1 to be summed
# over, across. Two vectors in tcrossprod() are columns.
vectors_as_matrices <- function(operands, vectors, left, right) {
  along <- 2L - c(left, right)
  sizes <- lapply(operands, sizes_of)
  summed <- c(sizes[[1L]][if (vectors[1L]) 1L else along[1L]], sizes[[2L]][if (vectors[2L]) 1L else along[2L]])
  across <- summed[1L] != summed[2L] & rev(summed) == 1L
  if (all(vectors)) across <- rep(any(across) || left + right == 0L, 2L)
  across_of <- function(k) if (across[k]) along[k] else 3L - along[k]
  lapply(1:2, function(k) if (vectors[k]) nv_unsqueeze(operands[[k]], across_of(k)) else operands[[k]])
}

#' @rdname nv_matmul
#' @export
nv_outer <- function(lhs, rhs, f = "*", ...) {
  operands <- .Call(C_anvil_promote, list(lhs = as_vector(lhs), rhs = as_vector(rhs)), FALSE)
  sizes <- lapply(operands, sizes_of)
  all <- c(sizes[[1L]], sizes[[2L]])
  spread <- function(k, dims) record("broadcast_in_dim", operands[k], list(shape = all, broadcast_dimensions = dims))
  first <- seq_along(sizes[[1L]])
  as_function(f)(spread(1L, first), spread(2L, length(first) + seq_along(sizes[[2L]])), ...)
}

#' @rdname nv_matmul
#' @export
nv_kronecker <- function(lhs, rhs, f = "*", ...) {
  operands <- .Call(C_anvil_promote, list(lhs = as_vector(lhs), rhs = as_vector(rhs)), FALSE)
  sizes <- lapply(operands, sizes_of)
  rank <- max(lengths(sizes))
  sizes <- lapply(sizes, function(s) c(s, rep(1L, rank - length(s))))
  all <- c(rbind(sizes[[2L]], sizes[[1L]])) # those of rhs change faster
  spread <- function(k, dims) record("broadcast_in_dim", list(nv_reshape(operands[[k]], sizes[[k]])), list(shape = all, broadcast_dimensions = dims))
  joined <- as_function(f)(spread(1L, 2L * seq_len(rank)), spread(2L, 2L * seq_len(rank) - 1L), ...)
  if (!identical(sizes_of(joined, "f"), all)) {
    abort_anvil("shape", "`f` must give a tensor of the shape of its operands.", sprintf("x Got shapes %s.", ordinal_shapes(list(sizes_of(joined), all))))
  }
  nv_reshape(joined, sizes[[1L]] * sizes[[2L]])
}

vector_size <- function(x, name) {
  sizes <- sizes_of(x, name)
  if (length(sizes) != 1L) {
    abort_anvil("shape", sprintf("`%s` must be a vector.", name), sprintf("x Got shape %s.", shape2string(sizes)))
  }
  sizes
}

matrix_sizes <- function(x, name = "operand") {
  sizes <- sizes_of(x, name)
  if (length(sizes) != 2L) {
    abort_anvil("shape", sprintf("`%s` must be a matrix.", name), sprintf("x Got shape %s.", shape2string(sizes)))
  }
  sizes
}

#' Diagonals and triangles
#'
#' `nv_eye()` is the identity matrix and `nv_diag()` the matrix with a given diagonal.
#' `nv_extract_diag()` takes the diagonal out of a matrix, square or not; `nv_trace()` is its
#' sum, and `nv_set_diag()` puts another one there. Unlike R's `diag()`, which works on tensors where anvil is attached, each
#' of them does one thing only. `nv_tril()` and `nv_triu()` keep the lower or upper triangle and put zeros elsewhere.
#'
#' @param n The number of rows and columns.
#' @param dtype A dtype; by default that of R doubles.
#' @param device The device; `"cpu"` is the only one.
#' @param operand A vector for `nv_diag()`, otherwise a matrix.
#' @param value A scalar, or a vector as long as the diagonal.
#' @param diagonal The last diagonal to keep: 0 is the main one, positive ones lie above
#'   it.
#' @return A tensor.
#' @aliases diag diag<- diag,AnvilSparse-method diag,AnvilValue-method diag<-,AnvilValue-method
#' @family shapes and parts
#' @export
#' @examples
#' nv_eye(2)
#' nv_diag(nv_tensor(1:3))
#' m <- nv_tensor(matrix(1:9, 3))
#' nv_extract_diag(m)
#' nv_set_diag(m, 0L)
#' nv_trace(m)
#' nv_tril(m)
#' nv_triu(m, 1)
nv_eye <- function(n, dtype = NULL, device = NULL) {
  check_device(device)
  n <- check_whole_number(n, "n", 0L)
  dtype <- if (is.null(dtype)) default_dtypes()[["float"]] else dtype_text(dtype)
  record("convert", list(beside_diagonal(c(n, n), 0L, nv_eq)), list(dtype = dtype, ambiguous = FALSE))
}

# Where column - row compares to `diagonal`.
beside_diagonal <- function(sizes, diagonal, compare) {
  position <- function(dim, start) record("iota", list(), list(dim = dim, dtype = "i32", shape = sizes, start = start, ambiguous = FALSE))
  compare(position(2L, 0L), position(1L, diagonal))
}

#' @rdname nv_eye
#' @export
nv_diag <- function(operand) {
  n <- vector_size(operand, "operand")
  rows <- record("broadcast_in_dim", list(operand), list(shape = c(n, n), broadcast_dimensions = 1L))
  nv_ifelse(beside_diagonal(c(n, n), 0L, nv_eq), rows, zero_like(operand))
}

#' @rdname nv_eye
#' @export
nv_set_diag <- function(operand, value) {
  operand <- as_operand(operand, "operand")
  sizes <- matrix_sizes(operand)
  value <- value_as(if (is_literal(value)) value else as_vector(value), type_tag(operand))
  if (rank_of(value) > 0L) {
    n <- vector_size(value, "value")
    if (n != min(sizes)) {
      abort_anvil("shape", sprintf("`value` must have length %d, that of the diagonal.", min(sizes)), sprintf("x Got shape %s.", shape2string(sizes_of(value))))
    }
    if (sizes[1L] > n) value <- nv_pad(value, zero_like(value), 0L, sizes[1L] - n)
    value <- record("broadcast_in_dim", list(value), list(shape = sizes, broadcast_dimensions = 1L))
  }
  nv_ifelse(beside_diagonal(sizes, 0L, nv_eq), value, operand)
}

# The number zero in the dtype of x.
zero_like <- function(x) if (type_tag(x)[1L] == 0L) FALSE else 0L

#' @rdname nv_eye
#' @export
nv_extract_diag <- function(operand) {
  if (is_sparse(operand)) {
    return(sparse_diagonal(operand))
  }
  sizes <- matrix_sizes(operand)
  n <- min(sizes)
  # in R's order the elements of the diagonal are one row and one column apart
  step <- sizes[1L] + 1L
  elements <- record("reshape", list(operand), list(shape = prod(sizes)))
  record("static_slice", list(elements), list(start_indices = 1L, limit_indices = if (n > 0L) 1 + (n - 1) * step else 0, strides = step))
}

#' @rdname nv_eye
#' @export
nv_trace <- function(operand) nv_reduce_sum(nv_extract_diag(operand))

#' @rdname nv_eye
#' @export
nv_tril <- function(operand, diagonal = 0L) triangle(operand, diagonal, nv_le)

#' @rdname nv_eye
#' @export
nv_triu <- function(operand, diagonal = 0L) triangle(operand, diagonal, nv_ge)

triangle <- function(operand, diagonal, compare) {
  inside <- beside_diagonal(matrix_sizes(operand), check_whole_number(diagonal, "diagonal"), compare)
  nv_ifelse(inside, operand, zero_like(operand))
}

#' Factorisation and triangular systems
#'
#' `nv_chol()` is the Cholesky factor of a symmetric positive definite matrix `a`: the upper one, `u`
#' with `t(u) %*% u == a`, as R's `chol()`, or with `lower = TRUE` its transpose. Only one triangle of
#' the matrix is read. Where the matrix is not positive definite the result is NaN, not an
#' error.
#'
#' `nv_triangular_solve()` solves `a %*% x == b`, or `x %*% a == b` if not `left_side`, for a
#' triangular `a`. The other triangle is not read. A singular `a` gives `Inf` or NaN.
#'
#' The last two dimensions are the matrices; the ones before count matrices that are treated
#' side by side.
#'
#' @param operand,a A tensor with square matrices. Integers become floats.
#' @param lower Whether the factor is lower triangular; whether `a` is.
#' @param b The right-hand side: matrices, or with one dimension less vectors.
#' @param left_side Whether `a` stands left of `x`.
#' @param unit_diagonal Whether the diagonal of `a` counts as 1 and is not read.
#' @param transpose_a Whether to solve with the transpose of `a`.
#' @return A tensor.
#' @family linear algebra
#' @export
#' @examples
#' a <- nv_tensor(matrix(c(4, 2, 2, 3), 2), dtype = "f64")
#' l <- nv_chol(a, lower = TRUE)
#' l
#' nv_triangular_solve(l, nv_tensor(c(1, 2), dtype = "f64"))
nv_chol <- function(operand, lower = FALSE) record("cholesky", list(as_float(operand)), list(lower = lower))

#' @rdname nv_chol
#' @export
nv_triangular_solve <- function(a, b, left_side = TRUE, lower = TRUE, unit_diagonal = FALSE, transpose_a = FALSE) {
  check_flag(left_side, "left_side")
  operands <- .Call(C_anvil_promote, list(a = as_float(a), b = as_float(as_vector(b), "b")), FALSE)
  sizes <- sizes_of(operands[[2L]])
  is_vector <- length(sizes) > 0L && length(sizes) == rank_of(operands[[1L]]) - 1L
  if (is_vector) {
    operands[[2L]] <- nv_unsqueeze(operands[[2L]], length(sizes) + left_side)
  }
  x <- record("triangular_solve", operands, list(left_side = left_side, lower = lower, unit_diagonal = unit_diagonal, transpose_a = transpose_a))
  if (is_vector) record("reshape", list(x), list(shape = sizes)) else x
}
