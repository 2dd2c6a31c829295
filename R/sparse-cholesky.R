#' Systems and determinants of sparse positive definite matrices
#'
#' * `nv_sparse_solve()` solves `a %*% x == b`.
#' * `nv_sparse_logdet()` is the logarithm of the determinant of `a`.
#' * `nv_sparse_inverse()` gives those elements of the inverse of `a` that are stored in `a`: the variances among them, where `a` is
#'   the precision of a normal distribution.
#'
#' `a` is symmetric and positive definite; only its lower triangle is read, so that the derivatives are those by its elements, as for
#' [nv_chol()]. Of `a` from `nv_sparse(symmetric = TRUE)` they are those by what was given.
#'
#' Which elements the Cholesky factor has, and in which order rows are eliminated so that these are few, is found
#' once for each pattern, when a program is traced, by CHOLMOD (Chen et al. 2008), which package Matrix brings. The factor
#' of the values is made when the program runs, by columns, for all functions of the same `a` together. The derivative of the
#' logarithm of the determinant are the elements of the inverse, which follow from the factor without the rest of
#' the inverse (Takahashi et al. 1973); that of a solution is another one with the same factor.
#'
#' Where the matrix is not positive definite all results are NaN, not an error. All are computed in double precision.
#'
#' @param a A sparse tensor ([nv_sparse()]) of floats, or a sparse matrix of package Matrix.
#' @param b A vector or matrix, or a sparse tensor, which becomes dense.
#' @return `nv_sparse_solve()`: a tensor of the shape of `b`. `nv_sparse_logdet()`: a scalar. `nv_sparse_inverse()`: a sparse tensor with the
#'   lower triangle of `a` and its mirror image. All have the dtype of `a`, `nv_sparse_solve()` that of `a` and `b` together.
#' @section Errors:
#' Of class `anvil_error_shape` where `a` is not square or `b` does not fit; of class `anvil_error_argument` where package
#' Matrix is not installed; of class `anvil_error_gradient` where a
#' program takes more than four derivatives of `nv_sparse_logdet()`, or three of `nv_sparse_inverse()`.
#' @references
#' Chen, Y., Davis, T. A., Hager, W. W., Rajamanickam, S. (2008). Algorithm 887: CHOLMOD, supernodal sparse Cholesky factorization and
#' update/downdate. ACM Transactions on Mathematical Software 35(3).
#'
#' Takahashi, K., Fagan, J., Chin, M. S. (1973). Formation of a sparse bus impedance matrix and its application to short circuit
#' study. 8th PICA Conference Proceedings.
#' @family sparse tensors
#' @export
#' @examplesIf requireNamespace("Matrix", quietly = TRUE)
#' # the precision of a random walk that starts near 0
#' n <- 5
#' values <- c(rep(2, n - 1), 1, rep(-1, n - 1))
#' a <- nv_sparse(values, i = c(1:n, 2:n), j = c(1:n, 1:(n - 1)), symmetric = TRUE, dtype = "f64")
#' nv_sparse_solve(a, nv_tensor(c(0, 0, 1, 0, 0), "f64"))
#' nv_sparse_logdet(a)
#' diag(nv_sparse_inverse(a))
#' gradient(function(scale) nv_sparse_logdet(a * scale))(nv_scalar(2, "f64"))
nv_sparse_solve <- function(a, b) {
  lower <- lower_triangle(a)
  if (is_sparse(b)) b <- nv_dense(b)
  operands <- .Call(C_anvil_promote, list(a = lower$values, b = as_vector(b)), FALSE)
  sizes <- sizes_of(operands[[2L]])
  if (!(length(sizes) %in% 1:2) || sizes[1L] != lower$size) {
    abort_anvil("shape", "`b` must have as many rows as `a`.", sprintf("x Got shapes %s.", ordinal_shapes(list(c(lower$size, lower$size), sizes))))
  }
  type <- type_tag(operands[[2L]])[1L]
  operands <- lapply(operands, nv_convert, "f64")
  convert_to(solution(lower$analysis, operands[[1L]], operands[[2L]]), type)
}

#' @rdname nv_sparse_solve
#' @export
nv_sparse_logdet <- function(a) {
  lower <- lower_triangle(a)
  convert_to(log_determinant(lower$analysis, nv_convert(lower$values, "f64")), type_tag(lower$values)[1L])
}

#' @rdname nv_sparse_solve
#' @export
nv_sparse_inverse <- function(a) {
  lower <- lower_triangle(a)
  s <- lower$analysis
  values <- nv_div(inverse_elements(s, nv_convert(lower$values, "f64")), nv_tensor(s$count, "f64"))
  mirrored(convert_to(values, type_tag(lower$values)[1L]), s$i, s$j, c(s$size, s$size))
}

lower_triangle <- function(a) {
  a <- as_sparse(a, "a")
  if (dim(a)[1L] != dim(a)[2L]) abort_anvil("shape", "`a` must be a square matrix.", sprintf("x Got shape %s.", shape2string(dim(a))))
  at <- which(a$i >= a$j)
  values <- as_float(a$values)
  list(size = dim(a)[1L], values = entries_at(values, at), analysis = analysed(list(size = dim(a)[1L], i = a$i[at], j = a$j[at])))
}

# --- the pattern of the factor -----------------------------------------------------------------------------

# The last ones are kept: the same matrix has many functions and derivatives.
known_analyses <- new.env(parent = emptyenv())

analysed <- function(pattern) {
  for (known in known_analyses$list) if (identical(known$pattern, pattern)) {
    return(known$analysis)
  }
  analysis <- analyse(pattern)
  known_analyses$list <- utils::head(c(list(list(pattern = pattern, analysis = analysis)), known_analyses$list), 8L)
  analysis
}

# Of a lower triangle: the order of elimination, the pattern of the factor by columns, and the place in it of each element.
# CHOLMOD factorises a matrix of this pattern with a heavy diagonal, in which nothing cancels.
analyse <- function(pattern) {
  if (!rlang::is_installed("Matrix")) abort_anvil("argument", "The pattern of a sparse Cholesky factor is found by package Matrix, which is not installed.")
  n <- pattern$size
  off <- pattern$i > pattern$j
  weight <- 1 + tabulate(pattern$i[off], n) + tabulate(pattern$j[off], n)
  a <- Matrix::sparseMatrix(c(pattern$i[off], seq_len(n)), c(pattern$j[off], seq_len(n)), x = c(rep(-1, sum(off)), weight), dims = c(n, n), symmetric = TRUE)
  factor <- Matrix::Cholesky(a, perm = TRUE, LDL = FALSE, super = FALSE)
  l <- methods::as(factor, "CsparseMatrix")
  rank <- order(factor@perm) # when each row is eliminated
  row <- pmax(rank[pattern$i], rank[pattern$j])
  column <- pmin(rank[pattern$i], rank[pattern$j])
  place <- match((column - 1) * n + row, (rep(seq_len(n), diff(l@p)) - 1) * n + l@i + 1)
  list(
    size = n, i = pattern$i, j = pattern$j, count = ifelse(off, 2, 1), stored = length(l@i),
    order = factor@perm + 1L, rank = rank, place = place - 1L, columns = l@p, rows = l@i
  )
}

# --- functions of the values of a lower triangle, in double precision ------------------------------------------

sparse_handles <- new.env(parent = emptyenv())

sparse_call <- function(name, type, ..., analysis) {
  if (is.null(sparse_handles[[name]])) sparse_handles[[name]] <- .Call(C_anvil_sparse, name)
  custom_call(sparse_handles[[name]], type, list(..., nv_tensor(analysis$columns, "i32"), nv_tensor(analysis$rows, "i32")))
}

factor_of <- function(s, values) {
  sparse_call("factor", nv_aten("f64", s$stored), values, nv_tensor(s$place, "i32"), analysis = s)
}

log_determinant <- function(s, values) {
  diagonal <- s$columns[seq_len(s$size)] + 1L
  nv_custom_gradient(
    function(values) nv_mul(2, nv_reduce_sum(nv_log(entries_at(factor_of(s, values), diagonal)))),
    function(inputs, grads) list(nv_mul(grads, inverse_elements(s, inputs$values)))
  )(values)
}

# The gradient of the logarithm of the determinant: elements of the inverse, those off the diagonal twice. With directions, its
# derivative in all of them, which is symmetric in the directions and in that of a further derivative.
inverse_elements <- function(s, values, directions = list()) {
  count <- nv_tensor(s$count, "f64")
  nv_custom_gradient(
    function(values, directions) {
      place <- nv_tensor(s$place, "i32")
      type <- nv_aten("f64", length(s$place))
      elements <- if (length(directions)) {
        do.call(sparse_call, c(list("inverse_derivative", type, values), directions, list(place, analysis = s)))
      } else {
        sparse_call("inverse", type, factor_of(s, values), place, analysis = s)
      }
      nv_mul(count, elements)
    },
    function(inputs, grads) {
      others <- lapply(seq_along(inputs$directions), function(k) inverse_elements(s, inputs$values, c(inputs$directions[-k], list(grads))))
      list(inverse_elements(s, inputs$values, c(inputs$directions, list(grads))), others)
    }
  )(values, directions)
}

# x = a^-1 b: of b the gradient is a^-1 g, of a minus its product with x, symmetrically.
solution <- function(s, values, b) {
  nv_custom_gradient(
    function(values, b) {
      eliminated <- sparse_call("solve", nv_aten("f64", shape(b)), factor_of(s, values), entries_at(b, s$order), analysis = s)
      entries_at(eliminated, s$rank)
    },
    function(inputs, outputs, grads) {
      g <- solution(s, inputs$values, grads)
      products <- nv_add(nv_mul(entries_at(g, s$i), entries_at(outputs, s$j)), nv_mul(entries_at(g, s$j), entries_at(outputs, s$i)))
      if (rank_of(products) == 2L) products <- nv_reduce_sum(products, 2L)
      list(nv_mul(nv_tensor(-s$count / 2, "f64"), products), g)
    }
  )(values, b)
}
