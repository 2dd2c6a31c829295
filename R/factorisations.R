#' Factorisations
#'
#' * `nv_lu()`: `L` and `U` with `L %*% U == A[permutation, ]`, where `L` is lower triangular with ones on its
#'   diagonal and `U` is upper triangular. Rows are exchanged for the pivot of largest magnitude: row `i` with
#'   row `pivots[i]`, in order.
#' * `nv_qr()`: `Q` with orthonormal columns and an upper triangular `R` with `Q %*% R == A`, without exchanges.
#' * `nv_eigh()`: `values`, ascending, and orthonormal `vectors` of a symmetric matrix, of which the lower
#'   triangle is read, as [eigen()] does it.
#' * `nv_svd()`: `d`, descending, and `u` and `vt` with `u %*% diag(d) %*% vt == A`, where the columns of `u` and
#'   the rows of `vt` are orthonormal.
#'
#' Of an `m` by `n` matrix, `k = min(m, n)`: `L`, `Q` and `u` are `m` by `k`; `U`, `R` and `vt` are `k` by `n`. The
#' last two dimensions are the matrices; the ones before count matrices that are treated side by side.
#' The results have the dtype of `operand`; `pivots` and `permutation` are `i32`.
#'
#' # Signs
#'
#' Vectors are determined up to a sign. An element of the diagonal of `R` has the sign opposite to what is
#' reflected on it, as with LAPACK; of each eigenvector and of each column of `u` the element of largest magnitude
#' is positive. `vt` follows. Base R's [qr()], [eigen()] and [svd()] may differ by signs, and `eigen()` by
#' the order.
#'
#' # Special matrices
#'
#' A matrix with an element that is NaN or infinite has NaN for all results, and a `permutation` that keeps the
#' rows. Of an empty one the results are empty. A singular matrix has factors; an element on the diagonal of
#' `U` or `R` is then 0, or nearly so.
#'
#' # Derivatives
#'
#' All results but `pivots` and `permutation` have derivatives, of any order, in both modes:
#'
#' * where eigenvalues, or singular values, are equal but for rounding, their vectors have no derivative: it is NaN
#'   wherever one of these vectors is used. Other vectors have theirs, and the values in any case.
#' * of an `L`, a `U` or an `R` with a 0 on the diagonal, and of `u` and `vt` where the singular value is 0 and the
#'   matrix is not square, or where several are 0, the derivative does not exist and is NaN or infinite. Singular
#'   values alone always have one.
#' * `nv_eigh()` reads one triangle, so the derivative is that by the elements of this triangle, as for [nv_chol()].
#'
#' @references
#' Giles, M. (2008). Collected matrix derivative results for forward and reverse mode algorithmic differentiation.
#'
#' Seeger, M., Hetzel, A., Dai, Z., Meissner, E., Lawrence, N. D. (2017). Auto-differentiating linear algebra.
#'
#' Townsend, J. (2016). Differentiating the singular value decomposition.
#'
#' Walter, S. F., Lehmann, L. (2018). Algorithmic differentiation of linear algebra functions.
#'
#' @param operand A float tensor of matrices; square for `nv_eigh()`.
#' @param vectors Whether vectors are wanted. Values alone take a third of the time, and may differ from those with
#'   vectors by rounding; their derivatives find the vectors.
#' @return A list of tensors: `L`, `U`, `pivots` and `permutation`; `Q` and `R`; `values` and, if wanted, `vectors`; `d` and, if
#'   wanted, `u` and `vt`.
#' @family linear algebra
#' @export
#' @examples
#' a <- nv_tensor(matrix(c(4, 2, 2, 3), 2), dtype = "f64")
#' nv_lu(a)
#' nv_qr(a)
#' nv_eigh(a)
#' nv_svd(a)$d
nv_lu <- function(operand) {
  found <- record("lu", list(operand), list())
  packed <- found[[1L]]
  sizes <- sizes_of(packed)
  rank <- length(sizes)
  k <- min(sizes[rank - 1:0])
  first <- function(dim) {
    limits <- sizes
    limits[dim] <- k
    record("static_slice", list(packed), list(start_indices = rep(1L, rank), limit_indices = limits, strides = rep(1L, rank)))
  }
  left <- first(rank)
  right <- first(rank - 1L)
  below <- in_matrices(sizes_of(left), nv_gt)
  ones <- as_dtype_of(in_matrices(sizes_of(left), nv_eq), packed)
  list(
    L = nv_ifelse(below, left, ones),
    U = nv_ifelse(in_matrices(sizes_of(right), nv_le), right, zero_like(right)),
    pivots = found[[2L]],
    permutation = found[[3L]]
  )
}

# Where row compares to column, in stacks of matrices of these sizes.
in_matrices <- function(sizes, compare) {
  position <- function(dim) record("iota", list(), list(dim = dim, dtype = "i32", shape = sizes, start = 0L, ambiguous = FALSE))
  compare(position(length(sizes) - 1L), position(length(sizes)))
}

as_dtype_of <- function(x, like) record("convert", list(x), list(dtype = as_dtype_argument(dtype(like)), ambiguous = FALSE))

#' @rdname nv_lu
#' @export
nv_qr <- function(operand) stats::setNames(record("qr", list(operand), list()), c("Q", "R"))

#' @rdname nv_lu
#' @export
nv_eigh <- function(operand, vectors = TRUE) {
  check_flag(vectors)
  if (!vectors) {
    return(list(values = record("eigh_values", list(operand), list())))
  }
  stats::setNames(record("eigh", list(operand), list()), c("values", "vectors"))
}

#' @rdname nv_lu
#' @export
nv_svd <- function(operand, vectors = TRUE) {
  check_flag(vectors)
  if (!vectors) {
    return(list(d = record("svd_values", list(operand), list())))
  }
  stats::setNames(record("svd", list(operand), list())[c(2L, 1L, 3L)], c("d", "u", "vt"))
}

#' Systems of equations, inverses and determinants
#'
#' `nv_solve()` solves `a %*% x == b`, and without `b` gives the inverse of `a`, as `nv_inv()`. `nv_det()` is the
#' determinant, `nv_slogdet()` its sign and the logarithm of its magnitude, which does not over- or underflow, and
#' `nv_determinant()` the same in the form of R's [determinant()]. All are made of the LU factors, see [nv_lu()].
#'
#' The last two dimensions are the matrices; the ones before count matrices that are treated side by side. With
#' one dimension less than `a`, `b` is a vector for each of them. `a` and `b` are promoted to a common dtype.
#' R's `solve()`, `det()` and `determinant()` work on tensors. Package Matrix has a `det()` of its own, which stands first
#' where it was attached later, and gives a tensor of shape `(1)`, of which there is no gradient: use `nv_det()` there.
#'
#' # Special matrices
#'
#' A singular `a` gives `Inf`, NaN or, where rounding leaves a pivot that is not quite 0, huge numbers, not an error;
#' its determinant is 0, with sign 0 and logarithm `-Inf`, or what rounding leaves of that. There, the derivatives are
#' NaN, infinite or as huge. The determinant of an empty matrix is 1. NaN and `Inf` in a matrix make its results NaN.
#'
#' @param a,operand A float tensor of square matrices.
#' @param b The right-hand side: matrices, or with one dimension less vectors.
#' @param logarithm Whether `modulus` is the logarithm of the magnitude.
#' @return A tensor; `nv_slogdet()`: a list of `sign` and `logabsdet`; `nv_determinant()`: a list of `modulus` and
#'   `sign`.
#' @aliases solve determinant det
#' @family linear algebra
#' @export
#' @examples
#' a <- nv_tensor(matrix(c(4, 2, 2, 3), 2), dtype = "f64")
#' nv_solve(a, nv_tensor(c(1, 2), dtype = "f64"))
#' nv_inv(a)
#' nv_det(a)
#' nv_slogdet(a)
#' gradient(nv_det)(a)$operand
nv_solve <- function(a, b = NULL) {
  if (is.null(b)) {
    return(inverse(a, "a"))
  }
  operands <- .Call(C_anvil_promote, list(a = as_float(dense_matrix(a), "a"), b = as_float(as_vector(b), "b")), FALSE)
  check_square_matrices(operands[[1L]], "a")
  sizes <- sizes_of(operands[[2L]])
  is_vector <- length(sizes) > 0L && length(sizes) == rank_of(operands[[1L]]) - 1L
  if (is_vector) {
    operands[[2L]] <- nv_unsqueeze(operands[[2L]], length(sizes) + 1L)
  }
  x <- record("solve", operands, list())
  if (is_vector) record("reshape", list(x), list(shape = sizes)) else x
}

check_square_matrices <- function(x, name) {
  sizes <- sizes_of(x)
  rank <- length(sizes)
  if (rank < 2L || sizes[rank] != sizes[rank - 1L]) {
    abort_anvil(
      "shape", sprintf(if (rank < 2L) "`%s` must have at least 2 dimensions." else "`%s` must be a square matrix.", name),
      sprintf("x Got shape %s.", shape2string(sizes))
    )
  }
  sizes
}

#' @rdname nv_solve
#' @export
nv_inv <- function(operand) inverse(operand, "operand")

inverse <- function(x, name) {
  x <- as_float(as_operand(x, name), name)
  eye <- in_matrices(check_square_matrices(x, name), nv_eq)
  record("solve", list(x, as_dtype_of(eye, x)), list())
}

# The diagonal of U, and 1 or -1 for each matrix, as the number of exchanged rows is even or odd.
triangular_form <- function(operand) {
  operand <- as_float(as_operand(operand, "operand"))
  sizes <- check_square_matrices(operand, "operand")
  rank <- length(sizes)
  found <- record("lu", list(operand), list())
  packed <- found[[1L]]
  places <- record("iota", list(), list(dim = rank - 1L, dtype = "i32", shape = sizes[-rank], start = 1L, ambiguous = FALSE))
  exchanged <- as_dtype_of(nv_reduce_sum(record("convert", list(nv_ne(found[[2L]], places)), list(dtype = "i32", ambiguous = FALSE)), dims = rank - 1L) %% 2L, packed)
  list(
    diagonal = nv_reduce_sum(nv_ifelse(in_matrices(sizes, nv_eq), packed, zero_like(packed)), dims = rank),
    parity = 1 - 2 * exchanged,
    dim = rank - 1L
  )
}

#' @rdname nv_solve
#' @export
nv_det <- function(operand) {
  form <- triangular_form(operand)
  nv_reduce_prod(form$diagonal, dims = form$dim) * form$parity
}

#' @rdname nv_solve
#' @export
nv_slogdet <- function(operand) {
  form <- triangular_form(operand)
  list(
    sign = nv_reduce_prod(nv_sign(form$diagonal), dims = form$dim) * form$parity,
    logabsdet = nv_reduce_sum(nv_log(nv_abs(form$diagonal)), dims = form$dim)
  )
}

#' @rdname nv_solve
#' @export
nv_determinant <- function(operand, logarithm = TRUE) {
  check_flag(logarithm, "logarithm")
  found <- nv_slogdet(operand)
  list(modulus = if (logarithm) found$logabsdet else nv_exp(found$logabsdet), sign = found$sign)
}

#' @export
solve.AnvilValue <- function(a, b = NULL, ...) {
  no_others("solve", "b", ...)
  nv_solve(a, b)
}

# R's solve() asks the first argument only.
solve_by <- function(a, b, ...) {
  no_others("solve", "b", ...)
  if (is_qr(a) || inherits(a, "qr")) {
    return(nv_qr_solve(tensor_qr(a), b))
  }
  nv_solve(a, b)
}

#' @export
determinant.AnvilValue <- function(x, logarithm = TRUE, ...) {
  no_others("determinant", "logarithm", ...)
  nv_determinant(x, logarithm)
}

#' Primitives that factorise matrices
#'
#' `nvl_lu()` gives `L` and `U` packed in one matrix, `pivots` and `permutation`; `nvl_qr()` `Q` and `R`; `nvl_eigh()`
#' values and vectors; `nvl_svd()` `u`, the singular values and `vt`; `nvl_eigh_values()` and `nvl_svd_values()` the values
#' alone; `nvl_solve()` the solution of a system. See [nv_lu()] and [nv_solve()].
#'
#' `nvl_geqrf()` gives the reflections that `Q` is the product of, as LAPACK's `geqrf` packs them: `R` on and above the
#' diagonal, and below it, column by column, vectors `v` without their first element, which is 1; and the numbers `tau`
#' of `H = 1 - tau v v'`. `nvl_householder_product()` gives the first columns of the product of the first reflections,
#' as many columns as `packed` has, which are at most as many as rows.
#'
#' @param operand,a,b Float tensors of matrices; `a` and `b` have the same dtype and number of dimensions.
#' @param packed,taus What `nvl_geqrf()` gives; of `taus` perhaps the first ones.
#' @return A list of tensors; `nvl_solve()` and `nvl_householder_product()`: a tensor.
#' @keywords internal
#' @name nvl_lu
#' @examples
#' nvl_lu(nv_tensor(matrix(c(4, 2, 2, 3), 2)))
#' reflections <- nvl_geqrf(nv_tensor(matrix(c(3, 4, 1, 2), 2)))
#' nvl_householder_product(reflections[[1L]], reflections[[2L]])
NULL

#' @rdname nvl_lu
#' @export
nvl_lu <- function(operand) record("lu", list(operand), list())

#' @rdname nvl_lu
#' @export
nvl_qr <- function(operand) record("qr", list(operand), list())

#' @rdname nvl_lu
#' @export
nvl_geqrf <- function(operand) record("geqrf", list(operand), list())

#' @rdname nvl_lu
#' @export
nvl_householder_product <- function(packed, taus) record("householder_product", list(packed, taus), list())

#' @rdname nvl_lu
#' @export
nvl_eigh <- function(operand) record("eigh", list(operand), list())

#' @rdname nvl_lu
#' @export
nvl_svd <- function(operand) record("svd", list(operand), list())

#' @rdname nvl_lu
#' @export
nvl_eigh_values <- function(operand) record("eigh_values", list(operand), list())

#' @rdname nvl_lu
#' @export
nvl_svd_values <- function(operand) record("svd_values", list(operand), list())

#' @rdname nvl_lu
#' @export
nvl_solve <- function(a, b) record("solve", list(a, b), list())
