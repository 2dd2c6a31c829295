#' Least squares, inverses from a factor, convolutions
#'
#' * `nv_qr_solve(a, b)` is the `x` with the least squares `sum((a %*% x - b)^2)`, [qr.solve()] of tensors; `a` is a
#'   matrix with at least as many rows as columns, or what [nv_qr()] gave for one.
#' * `nv_chol2inv(x)` is the inverse of the matrix whose upper Cholesky factor is `x`, as [chol2inv()] gives it.
#' * `nv_convolve()` is [convolve()]: sums of products of `x` with shifted `y`.
#'
#' With a tensor, R's [qr()], [svd()] and [eigen()] give lists of tensors: `Q` and `R`; `d`, `u` and `v`; `values`, from the largest
#' to the smallest, and `vectors`. Such a list of `qr()` is what [qr.Q()], [qr.R()], [qr.X()], [qr.coef()], [qr.fitted()],
#' [qr.resid()], [qr.qy()], [qr.qty()] and [qr.solve()] take. Columns may have other signs than R's, and there are no pivots and no rank: of a matrix
#' whose columns depend on each other the coefficients are infinite, NaN or, as rounding mostly has it, huge numbers
#' without a meaning, and [qr.fitted()] and [qr.resid()] go by columns of `Q` that are rounding, too. [qr.qy()] and [qr.qty()] make all
#' columns of `Q`, as many as there are rows. [svd()], [eigen()], [chol2inv()], [backsolve()] and [forwardsolve()] take stacks of
#' matrices, as `nv_*` functions do.
#'
#' @param a,b A matrix; a vector or matrix with the same number of rows.
#' @param x An upper triangular matrix; for `nv_convolve()` a vector.
#' @param y A vector.
#' @param type `"circular"`, for vectors of one length, `"open"`, as if there were zeros around `x`, or
#'   `"filter"`, where `y` lies within `x` only.
#' @return A tensor of floats.
#' @aliases qr.Q qr.R qr.X qr.coef qr.fitted qr.resid qr.qy qr.qty qr.solve svd eigen chol2inv backsolve forwardsolve convolve
#' @family linear algebra
#' @export
#' @examples
#' a <- nv_tensor(cbind(1, c(1, 2, 3, 4)))
#' b <- nv_tensor(c(2.1, 3.9, 6.2, 7.8))
#' nv_qr_solve(a, b)
#' qr.coef(qr(a), b)
#' nv_chol2inv(chol(crossprod(a)))
#' nv_convolve(nv_tensor(c(1, 2, 3)), c(0, 1, 0.5), type = "open")
nv_qr_solve <- function(a, b) {
  b <- as_vector(b)
  sizes <- if (is_qr(a)) c(matrix_sizes(a$Q, "a")[1L], matrix_sizes(a$R, "a")[2L]) else matrix_sizes(a, "a")
  if (sizes[1L] < sizes[2L]) {
    abort_anvil("shape", "`a` must have at least as many rows as columns.", sprintf("x Got shape %s.", shape2string(sizes)))
  }
  if (!(rank_of(b) %in% 1:2) || sizes_of(b)[1L] != sizes[1L]) {
    abort_anvil("shape", "`b` must be a vector or matrix with as many rows as `a`.", sprintf("x Got shapes %s.", ordinal_shapes(list(sizes, sizes_of(b)))))
  }
  factors <- if (is_qr(a)) a else nv_qr(as_float(a))
  nv_triangular_solve(factors$R, nv_crossprod_columns(factors$Q, b), lower = FALSE)
}

is_qr <- function(x) is.list(x) && identical(names(x), c("Q", "R")) && is_value(x$Q)

# t(x) %*% y, where a vector y gives a vector.
nv_crossprod_columns <- function(x, y) keep_vector(nv_crossprod(x, y), y)

keep_vector <- function(product, like) if (rank_of(like) == 1L) nv_flatten(product) else product

#' @rdname nv_qr_solve
#' @export
nv_chol2inv <- function(x) {
  x <- as_float(as_operand(x, "x"))
  eye <- as_dtype_of(in_matrices(check_square_matrices(x, "x"), nv_eq), x)
  nv_tcrossprod(nv_triangular_solve(x, eye, lower = FALSE))
}

#' @rdname nv_qr_solve
#' @export
nv_convolve <- function(x, y, type = "circular") {
  check_choice(type, c("circular", "open", "filter"))
  operands <- .Call(C_anvil_promote, list(x = as_float(as_vector(x), "x"), y = as_float(as_vector(y), "y")), FALSE)
  x <- operands[[1L]]
  y <- operands[[2L]]
  n <- vector_size(x, "x")
  m <- vector_size(y, "y")
  if (n == 0L && m == 0L) {
    return(x)
  }
  if (n == 0L || m == 0L) abort_anvil("shape", sprintf("`%s` must not be empty.", if (n == 0L) "x" else "y"))
  if (type == "circular") {
    if (n != m) {
      abort_anvil("shape", "`x` and `y` must have the same length.", sprintf("x Got shapes %s.", ordinal_shapes(list(n, m))))
    }
    x <- nv_concatenate(x, nv_static_slice(x, 1L, m - 1L))
  }
  if (type == "open" && m > n) { # the shorter one is moved along the longer one
    return(nv_reverse(nv_convolve(y, x, type), 1L))
  }
  around <- if (type == "open") m - 1L else 0L
  found <- nvl_convolution(nv_reshape(x, c(1L, 1L, sizes_of(x))), nv_reshape(y, c(1L, 1L, m)),
    window_strides = 1L, padding_low = around, padding_high = around, lhs_dilation = 1L, rhs_dilation = 1L,
    input_dims = 1:3, kernel_dims = 1:3, output_dims = 1:3
  )
  nv_flatten(found)
}

# --- R's generic functions and helpers -----------------------------------------------------

#' @export
qr.AnvilValue <- function(x, ...) {
  no_others("qr", character(), ...)
  nv_qr(as_float(x, "x"))
}

svd_tensor <- function(x, nu = NULL, nv = NULL) {
  if (rank_of(x) == 1L) x <- nv_unsqueeze(x, 2L) # as R's does
  wanted <- !c(identical(as.double(nu), 0), identical(as.double(nv), 0))
  if (!any(wanted)) {
    return(nv_svd(as_float(x), vectors = FALSE))
  }
  found <- nv_svd(as_float(x))
  sizes <- sizes_of(x)
  columns <- function(m, n, name) {
    if (is.null(n)) {
      return(m)
    }
    n <- check_whole_number(n, name, 0L, min(utils::tail(sizes, 2L)))
    nv_static_slice(m, rep(1L, rank_of(m)), c(utils::head(sizes_of(m), -1L), n))
  }
  rank <- rank_of(x)
  v <- nv_transpose(found$vt, replace(seq_len(rank), rank - 1:0, rank - 0:1))
  parts <- list(d = found$d, u = columns(found$u, nu, "nu"), v = columns(v, nv, "nv"))
  parts[c(TRUE, wanted)]
}

eigen_tensor <- function(x, symmetric, only.values = FALSE) {
  if (!isTRUE(symmetric)) {
    abort_anvil("argument", "`eigen()` of a tensor is that of a symmetric matrix.", "i Say `symmetric = TRUE`; one triangle is read.")
  }
  found <- nv_eigh(as_float(x), vectors = !only.values)
  rank <- rank_of(x)
  list(values = nv_reverse(found$values, rank - 1L), vectors = if (!only.values) nv_reverse(found$vectors, rank))
}
