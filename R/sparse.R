#' Sparse tensors
#'
#' `nv_sparse()` makes a sparse matrix: places of elements, which are known when a program is traced, and a tensor of their values,
#' which may be computed. All other elements are zero. It has the products, sums and other functions below; each of them takes time
#' in proportion to the number of stored elements, and has derivatives of any order by the values and by what else is a tensor.
#'
#' Sparse tensors are arguments and results of [jit()], of derivatives and of loops as lists of one tensor are: in a gradient by one
#' its values are those of the derivatives, at the same places. The places belong to the type: a jitted function is compiled for them.
#'
#' @section What there is for sparse tensors:
#' * `a %*% b`, [crossprod()] and [tcrossprod()], also as [nv_matmul()], [nv_crossprod()] and [nv_tcrossprod()], with a tensor, an R
#'   matrix or vector, or another sparse matrix. The result is dense, or sparse where both are.
#' * `a + b`, `a - b` and `a * b` of sparse matrices; `a * x` with a scalar, or with a matrix, of which a dimension may be 1, as
#'   in `a * nv_unsqueeze(weights, 2)`, which scales rows; `a / x` with a scalar; `-a`.
#' * [t()], [dim()], [diag()], [rowSums()], [colSums()] and their `nv_*` functions, `as.matrix()`, [as_array()].
#' * [nv_quadratic_form()]; [nv_sparse_solve()], [nv_sparse_logdet()] and [nv_sparse_inverse()] of positive definite ones.
#'
#' Where one operand of a product or operator is a tensor, the other one may be a matrix of package Matrix itself.
#'
#' Elements that are stored and happen to be zero are stored all the same. Elements that are not stored count as exact zeros, also
#' where the other factor of a product is NaN or infinite.
#'
#' @param x A matrix of package Matrix (`dgCMatrix`, `dsCMatrix`, `ddiMatrix` and all other sparse ones) or of R, whose elements other than zero
#'   are stored; or the values of the elements at `i` and `j`, a tensor or R vector.
#' @param i,j Rows and columns of the values, vectors of whole numbers. What is given for one place several times is added up. Instead
#'   of `i`, a sparse tensor: then the values are those at its places.
#' @param dims The numbers of rows and columns, by default the largest of `i` and of `j`.
#' @param symmetric Whether what is given is one triangle of a symmetric matrix, each pair of elements once.
#' @param dtype The dtype of values that are no tensor, as for [nv_tensor()].
#' @return A sparse tensor, of class `AnvilSparse`: `a$values` are its values, `a$i` and `a$j` their rows and columns, ordered by
#'   column and in it by row. `nv_dense()`: the same matrix as a tensor.
#' @section Errors:
#' Of class `anvil_error_argument` where places are no whole numbers, not within `dims`, or on both sides of the diagonal with
#' `symmetric`, and of class `anvil_error_shape` where numbers of values and places differ.
#' @family sparse tensors
#' @export
#' @examples
#' a <- nv_sparse(c(2, -1, 3), i = c(1, 2, 3), j = c(1, 1, 2), dims = c(3, 3))
#' a
#' a %*% c(1, 10, 100)
#' nv_dense(t(a))
#'
#' # a gradient by the values
#' norm <- function(values) sum((nv_sparse(values, a) %*% c(1, 10, 100))^2)
#' jit(gradient(norm))(a$values)
#'
#' # a matrix of package Matrix as an operand
#' if (requireNamespace("Matrix", quietly = TRUE)) {
#'   m <- Matrix::sparseMatrix(i = 1:3, j = c(2, 3, 1), x = c(1, 2, 3))
#'   nv_crossprod(m, nv_tensor(c(1, 2, 3), "f64"))
#' }
nv_sparse <- function(x, i = NULL, j = NULL, dims = NULL, symmetric = FALSE, dtype = NULL) {
  check_flag(symmetric)
  if (is.null(i)) {
    if (!is.null(j) || !is.null(dims) || symmetric) abort_anvil("argument", "`i` must say which rows the values are in.")
    if (is_sparse(x)) {
      return(x)
    }
    given <- matrix_places(x, "x")
    return(at_places(nv_tensor(given$values, dtype), given$i, given$j, given$dim))
  }
  if (!is_value(x) && !is_r_data(x)) wrong_argument("x", "a tensor or an R vector of values", x)
  values <- if (is_value(x)) x else nv_tensor(x, dtype)
  if (is_sparse(i)) {
    return(at_places(check_values(values, length(i$i)), i$i, i$j, dim(i)))
  }
  dim <- if (is.null(dims)) c(max(0, check_sparse_places(i, "i")), max(0, check_sparse_places(j, "j"))) else check_sizes(dims)
  if (length(dim) != 2L) wrong_argument("dims", "the numbers of rows and columns", dims)
  i <- check_sparse_places(i, "i", dim[1L])
  j <- check_sparse_places(j, "j", dim[2L])
  if (length(i) != length(j)) abort_anvil("shape", "`i` and `j` must have the same length.", sprintf("x Got lengths %d and %d.", length(i), length(j)))
  values <- check_values(values, length(i))
  if (symmetric) mirrored(values, i, j, as.integer(dim)) else at_places(values, i, j, as.integer(dim))
}

#' @rdname nv_sparse
#' @export
nv_dense <- function(x) {
  x <- as_sparse(x, "x")
  zeros <- nv_fill(0L, dim(x), dtype(x$values))
  put_points(zeros, nv_tensor(cbind(x$i, x$j)), x$values)
}

check_sparse_places <- function(x, name, size = .Machine$integer.max) {
  if (!is_whole(x) || any(x < 1 | x > size)) {
    wrong_argument(name, if (size == .Machine$integer.max) "whole numbers of at least 1" else sprintf("whole numbers from 1 to %d", size), x)
  }
  as.integer(x)
}

check_values <- function(values, n) {
  if (!identical(sizes_of(values), n)) {
    abort_anvil("shape", "`x` must hold a value for each place.", sprintf("x Got shape %s for %d places.", shape2string(sizes_of(values)), n))
  }
  values
}

# --- what a sparse tensor is: a list of the values, with the places as an attribute --------------------

is_sparse <- function(x) is.list(x) && inherits(x, "AnvilSparse")
sparse_pattern <- function(x) attr(x, "pattern")
new_sparse <- function(x, pattern) structure(x, pattern = pattern, class = "AnvilSparse")

# By column and row; of places that come up several times the sum.
at_places <- function(values, i, j, dim) {
  key <- (j - 1) * dim[1L] + i
  if (is.unsorted(key, strictly = TRUE)) {
    order <- order(key)
    sorted <- key[order]
    first <- !duplicated(sorted)
    if (all(first)) {
      values <- entries_at(values, order)
    } else {
      group <- replace(integer(length(key)), order, cumsum(first))
      values <- nv_rowsum(values, nv_tensor(group), sum(first))
    }
    i <- i[order][first]
    j <- j[order][first]
  }
  new_sparse(list(values = values), list(dim = dim, i = i, j = j))
}

# Elements, or rows, at known places; there need be none at all.
entries_at <- function(x, places) {
  if (length(places)) slices_at(x, nv_tensor(as.integer(places), "i32")) else nv_fill(0L, replace(sizes_of(x), 1L, 0L), dtype(x))
}

mirrored <- function(values, i, j, dim) {
  if (dim[1L] != dim[2L]) abort_anvil("shape", "A symmetric matrix must be square.", sprintf("x Got shape %s.", shape2string(dim)))
  if (any(i > j) && any(i < j)) abort_anvil("argument", "Of a symmetric matrix `i` and `j` must be places of one triangle.")
  off <- which(i != j)
  at_places(entries_at(values, c(seq_along(i), off)), c(i, j[off]), c(j, i[off]), dim)
}

is_sparse_matrix <- function(x) isS4(x) && inherits(x, c("sparseMatrix", "diagonalMatrix", "indMatrix"))

# The elements of a matrix of R or of package Matrix: list(values, i, j, dim).
matrix_places <- function(x, name) {
  if (is_sparse_matrix(x)) {
    x <- methods::as(methods::as(methods::as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
    return(list(values = x@x, i = x@i + 1L, j = rep(seq_len(ncol(x)), diff(x@p)), dim = dim(x)))
  }
  data <- if (isS4(x)) as_tensor_data(x) else x
  if (!is_r_array(data) || length(dim(data)) != 2L) {
    wrong_argument(name, if (name == "x") "a matrix, or values with their places `i` and `j`" else "a sparse tensor, or a matrix of R or of package Matrix", x)
  }
  at <- which(is.na(data) | data != 0, arr.ind = TRUE)
  list(values = data[at], i = unname(at[, 1L]), j = unname(at[, 2L]), dim = dim(data))
}

# A sparse operand; doubles stay what they are, as in all that takes R's data as operands.
as_sparse <- function(x, name) {
  if (is_sparse(x)) {
    return(x)
  }
  given <- matrix_places(x, name)
  at_places(as_operand(array(given$values), name), given$i, given$j, given$dim)
}

# An operand of a product: a matrix of package Matrix as what it is here.
matrix_operand <- function(x) {
  if (is_sparse_matrix(x)) as_sparse(x, "x") else dense_matrix(x)
}

# A matrix of package Matrix where a dense one is wanted; of a sparse one, an error that says what to do.
dense_matrix <- function(x) if (isS4(x) && inherits(x, "Matrix")) as_tensor_data(x) else x

# --- methods --------------------------------------------------------------------------------------------

#' @export
dim.AnvilSparse <- function(x) sparse_pattern(x)$dim

#' @export
`$.AnvilSparse` <- function(x, name) {
  switch(name, values = unclass(x)$values, i = sparse_pattern(x)$i, j = sparse_pattern(x)$j, abort_anvil(
    "argument", sprintf("A sparse tensor has no field `%s`.", name), "i It has `values`, and their rows `i` and columns `j`."
  ))
}

#' @rawNamespace S3method(Ops, AnvilSparse, Ops.AnvilValue)
NULL

#' @export
t.AnvilSparse <- function(x) at_places(x$values, x$j, x$i, rev(dim(x)))

#' @export
Math.AnvilSparse <- function(x, ...) refuse_sparse(.Generic)

#' @export
mean.AnvilSparse <- function(x, ...) refuse_sparse("mean")

#' @export
determinant.AnvilSparse <- function(x, logarithm = TRUE, ...) refuse_sparse("determinant", "i Of a positive definite matrix, `nv_sparse_logdet(a)` is the logarithm.")

#' @export
solve.AnvilSparse <- function(a, b, ...) refuse_sparse("solve", "i With a positive definite matrix, `nv_sparse_solve(a, b)` solves.")

# R's own would go on with R's numbers.
#' @export
chol.AnvilSparse <- function(x, ...) {
  refuse_sparse("chol", "i `nv_sparse_solve()` and `nv_sparse_logdet()` are made of the Cholesky factor of a positive definite matrix.")
}

#' @export
qr.AnvilSparse <- function(x, ...) refuse_sparse("qr")

#' @export
`[.AnvilSparse` <- function(x, ...) refuse_sparse("[")

#' @export
`[<-.AnvilSparse` <- function(x, ..., value) refuse_sparse("[")

#' @export
Summary.AnvilSparse <- function(..., na.rm = FALSE) refuse_sparse(.Generic)

#' @export
as.matrix.AnvilSparse <- function(x, ...) as_array(x)

#' @export
format.AnvilSparse <- function(x, ...) {
  sprintf("AnvilSparse(dtype=%s, shape=%s, stored=%d)", as.character(dtype(x$values)), paste(dim(x), collapse = "x"), length(x$i))
}

#' @export
print.AnvilSparse <- function(x, max_rows = getOption("anvil.print_max_rows", 30L), ...) {
  print_lines(format(x))
  shown <- seq_len(min(length(x$i), max_rows))
  if (is_tensor(x$values) && length(shown)) {
    values <- format(as.vector(as_array(x$values))[shown], digits = 5L)
    print_lines(sprintf(" [%s,%s] %s", format(x$i[shown]), format(x$j[shown]), values))
    if (length(x$i) > length(shown)) print_lines(sprintf(" ... and %d more", length(x$i) - length(shown)))
  }
  invisible(x)
}
