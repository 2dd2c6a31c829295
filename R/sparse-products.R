# Sums and products of sparse tensors, as compositions of gathers, products of elements and sums into places: so that
# derivatives, batches and every backend have them.

#' Quadratic forms
#'
#' `nv_quadratic_form(a, x)` is \eqn{x^\top A x}{t(x) A x}, for a matrix `x` of each of its columns.
#'
#' @param a A square matrix: a sparse tensor ([nv_sparse()]), a sparse matrix of package Matrix, or a tensor. It need not be symmetric.
#' @param x A vector with an element for each row of `a`, or a matrix with such columns.
#' @return A scalar, or for a matrix `x` a vector.
#' @section Errors:
#' Of class `anvil_error_shape` where shapes do not fit.
#' @family sparse tensors
#' @export
#' @examples
#' a <- nv_sparse(c(2, 2, -1), i = c(1, 2, 2), j = c(1, 2, 1), symmetric = TRUE)
#' x <- nv_tensor(c(1, 3))
#' nv_quadratic_form(a, x)
#' gradient(function(x) nv_quadratic_form(a, x))(x)
nv_quadratic_form <- function(a, x) {
  a <- matrix_operand(a)
  x <- as_vector(x)
  sizes <- if (is_sparse(a)) dim(a) else matrix_sizes(a, "a")
  if (sizes[1L] != sizes[2L] || !(rank_of(x) %in% 1:2) || sizes_of(x)[1L] != sizes[1L]) {
    abort_anvil("shape", "`a` must be a square matrix, with a row for each row of `x`.", sprintf("x Got shapes %s.", ordinal_shapes(list(sizes, sizes_of(x)))))
  }
  if (!is_sparse(a)) {
    return(nv_reduce_sum(nv_mul(x, keep_vector(nv_matmul(a, x), x)), 1L))
  }
  pairs <- nv_mul(entries_at(x, a$i), entries_at(x, a$j))
  nv_reduce_sum(nv_mul(along_first(a$values, rank_of(x)), pairs), 1L)
}

# The vector as the first dimension of so many.
along_first <- function(v, rank) if (rank == 1L) v else nv_unsqueeze(v, 2L)

# --- products of matrices ------------------------------------------------------------------------------

# matrix_product() where an operand is sparse.
sparse_product <- function(operands, left, right) {
  sparse <- vapply(operands, is_sparse, NA)
  if (all(sparse)) {
    return(sparse_by_sparse(if (left) t(operands[[1L]]) else operands[[1L]], if (right) operands[[2L]] else t(operands[[2L]])))
  }
  # the sparse matrix, as (a) times columns: of x %*% a those of the transposed product
  a <- operands[[which(sparse)]]
  over <- if (sparse[1L]) 2L - left else 2L - right # the dimension of `a` that is summed over
  dense <- operands[[which(!sparse)]]
  dense <- as_operand(if (is_r_data(dense) && is.null(dim(dense))) array(dense) else dense, names(operands)[!sparse])
  along <- if (sparse[1L]) 2L - right else 2L - left # that of the dense operand
  dense <- as_columns(dense, along, dim(a)[over], operands)
  product <- sparse_times(a, dense, transposed = over == 1L)
  if (sparse[1L]) product else nv_transpose(product)
}

# A dense operand as a matrix that is summed over its first dimension. A vector lies along that, or across it.
as_columns <- function(x, along, size, operands) {
  sizes <- sizes_of(x)
  if (length(sizes) == 1L) {
    x <- if (sizes == size || size != 1L) nv_unsqueeze(x, 2L) else nv_unsqueeze(x, 1L)
  } else if (length(sizes) == 2L && along == 2L) {
    x <- nv_transpose(x)
  }
  if (!(length(sizes) %in% 1:2) || sizes_of(x)[1L] != size) {
    shapes <- lapply(operands, function(x) if (is_sparse(x)) dim(x) else sizes_of(as_vector(x)))
    abort_anvil("shape", "The operands of a product must have the same size where it is summed.", sprintf("x Got shapes %s.", ordinal_shapes(shapes)))
  }
  x
}

sparse_times <- function(a, x, transposed = FALSE) {
  from <- if (transposed) a$i else a$j
  into <- if (transposed) a$j else a$i
  terms <- nv_mul(nv_unsqueeze(a$values, 2L), entries_at(x, from))
  nv_rowsum(terms, nv_tensor(into), dim(a)[1L + transposed])
}

# Each element of a with those of b in the row that is its column.
sparse_by_sparse <- function(a, b) {
  if (dim(a)[2L] != dim(b)[1L]) {
    abort_anvil("shape", "The operands of a product must have the same size where it is summed.", sprintf("x Got shapes %s.", ordinal_shapes(list(dim(a), dim(b)))))
  }
  by_row <- order(b$i)
  many <- tabulate(b$i, dim(b)[1L])
  each <- many[a$j]
  before <- cumsum(many) - many
  of_a <- rep(seq_along(each), each)
  of_b <- by_row[sequence(each, before[a$j] + 1L)]
  terms <- nv_mul(entries_at(a$values, of_a), entries_at(b$values, of_b))
  at_places(terms, a$i[of_a], b$j[of_b], c(dim(a)[1L], dim(b)[2L]))
}

# --- operators -------------------------------------------------------------------------------------------

# Called by Ops.AnvilValue().
sparse_operator <- function(operator, e1, e2) {
  if (missing(e2)) {
    if (operator == "-") e1 <- nv_sparse(nv_negate(e1$values), e1)
    return(if (operator %in% c("+", "-")) e1 else refuse_sparse(operator))
  }
  e1 <- matrix_operand(e1)
  e2 <- matrix_operand(e2)
  both <- is_sparse(e1) && is_sparse(e2)
  if (both && !identical(dim(e1), dim(e2))) {
    abort_anvil("shape", sprintf("The operands of `%s` must have the same shape.", operator), sprintf("x Got shapes %s.", ordinal_shapes(list(dim(e1), dim(e2)))))
  }
  if (both && operator %in% c("+", "-")) {
    sparse_sum(e1, if (operator == "-") sparse_operator("-", e2) else e2)
  } else if (both && operator == "*") {
    sparse_by_places(e1, e2)
  } else if (operator == "*") {
    a <- if (is_sparse(e1)) e1 else e2
    nv_sparse(nv_mul(a$values, at_places_of(a, if (is_sparse(e1)) e2 else e1)), a)
  } else if (operator == "/" && is_sparse(e1) && !is_sparse(e2) && rank_of(e2) == 0L) {
    nv_sparse(nv_div(e1$values, e2), e1)
  } else {
    refuse_sparse(operator)
  }
}

refuse_sparse <- function(operator, hint = character()) {
  abort_anvil("argument", sprintf("`%s` is not defined for these operands, of which one is a sparse tensor.", operator), c(
    hint,
    "i Its values have all operators: `nv_sparse(exp(a$values), a)`.", "i `nv_dense(a)` has all elements."
  ))
}

sparse_sum <- function(a, b) {
  if (identical(sparse_pattern(a), sparse_pattern(b))) {
    return(nv_sparse(nv_add(a$values, b$values), a))
  }
  at_places(nv_concatenate(a$values, b$values, dimension = 1L), c(a$i, b$i), c(a$j, b$j), dim(a))
}

sparse_by_places <- function(a, b) {
  key <- function(x) (x$j - 1) * dim(x)[1L] + x$i
  at <- match(key(a), key(b))
  shared <- which(!is.na(at))
  values <- nv_mul(entries_at(a$values, shared), entries_at(b$values, at[shared]))
  at_places(values, a$i[shared], a$j[shared], dim(a))
}

# What a dense operand has at the places of `a`; it may have one row or column for all.
at_places_of <- function(a, x) {
  sizes <- sizes_of(x)
  if (length(sizes) == 0L) {
    return(x)
  }
  if (length(sizes) != 2L || any(sizes != dim(a) & sizes != 1L)) {
    abort_anvil("shape", "The other operand must be a scalar or a matrix that fits.", sprintf("x Got shapes %s.", ordinal_shapes(list(dim(a), sizes))))
  }
  take_points(as_operand(x, "x"), nv_tensor(cbind(if (sizes[1L] == 1L) a$i^0L else a$i, if (sizes[2L] == 1L) a$j^0L else a$j), "i32"))
}

# --- rows, columns and the diagonal ------------------------------------------------------------------------

sparse_margin <- function(a, dimension, na.rm, dims) {
  check_whole_number(dims, "dims", 1L, 1L)
  nv_rowsum(a$values, nv_tensor(if (dimension == 1L) a$i else a$j), dim(a)[dimension], na.rm)
}

sparse_diagonal <- function(a) {
  at <- which(a$i == a$j)
  nv_rowsum(entries_at(a$values, at), nv_tensor(a$i[at]), min(dim(a)))
}
