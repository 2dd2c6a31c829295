#' Promotion and broadcasting
#'
#' What the other functions do by themselves, and what they leave to the caller.
#'
#' * `nv_promote_to_common()` converts all operands to their common dtype. It is found by
#'   [common_dtype()] of the first two, of that and the third, and so on. Operands that have it
#'   stay as they are.
#' * `nv_broadcast_scalars()` spreads operands without dimensions over the shape of the
#'   others, which must be the same for all of them. Elementwise functions do both.
#' * `nv_broadcast_tensors()` brings shapes together by NumPy's rule: shapes are lined up at their
#'   last dimensions, missing ones count as 1, and sizes must agree or be 1.
#' * `nv_broadcast_to()` repeats one operand up to a given shape. With as many dimensions as
#'   the operand, each dimension of size 1 is repeated. Otherwise the operand's dimensions are
#'   the last ones of `shape`.
#'
#' R's recycling does not exist: to add a vector to every column of a matrix, make it a
#' column with [nv_reshape()] and repeat it with `nv_broadcast_to()`.
#'
#' @param ... Tensors, R arrays or single numbers.
#' @param operand A tensor, R array or single number.
#' @param shape Sizes of the result.
#' @return `nv_broadcast_to()`: a tensor. The others: a list of them.
#' @family shapes and parts
#' @name nv_broadcast
#' @examples
#' nv_promote_to_common(nv_tensor(1:2), 0.5)
#' m <- nv_tensor(matrix(1:6, 2), dtype = "f32")
#' row <- nv_reduce_sum(m, dims = 1L, drop = FALSE)
#' m / nv_broadcast_to(row, shape(m))
#' nv_broadcast_tensors(m, row)[[2]]
NULL

#' @rdname nv_broadcast
#' @export
nv_promote_to_common <- function(...) {
  operands <- list(...)
  sizes_of_any(operands)
  keep_names(.Call(C_anvil_promote, operands, FALSE), operands)
}

#' @rdname nv_broadcast
#' @export
nv_broadcast_scalars <- function(...) {
  operands <- list(...)
  if (length(operands) == 0L) operands else keep_names(.Call(C_anvil_broadcast, operands, FALSE), operands)
}

#' @rdname nv_broadcast
#' @export
nv_broadcast_tensors <- function(...) {
  operands <- list(...)
  shapes <- sizes_of_any(operands)
  rank <- max(0L, lengths(shapes))
  aligned <- vapply(shapes, function(s) c(rep(1L, rank - length(s)), s), integer(rank))
  aligned <- matrix(aligned, nrow = rank)
  common <- apply(aligned, 1L, function(sizes) if (any(sizes != 1L)) sizes[sizes != 1L][1L] else 1L)
  if (any(aligned != 1L & aligned != common)) {
    abort_anvil("shape", "These shapes can't be broadcast to a common one.", c(
      sprintf("x Got shapes %s.", ordinal_shapes(shapes)),
      "i Lined up at the last dimension, sizes must be equal or 1."
    ))
  }
  lapply(operands, nv_broadcast_to, shape = as.integer(common))
}

#' @rdname nv_broadcast
#' @export
nv_broadcast_to <- function(operand, shape) {
  from <- sizes_of(operand)
  shape <- check_sizes(shape)
  if (identical(from, shape) && is_value(operand)) {
    return(operand)
  }
  extra <- length(shape) - length(from)
  if (extra < 0L) {
    abort_anvil("shape", "`shape` must have at least as many dimensions as `operand`.", sprintf("x Got shapes %s.", ordinal_shapes(list(from, shape))))
  }
  record("broadcast_in_dim", list(operand), list(shape = shape, broadcast_dimensions = extra + seq_along(from)))
}

keep_names <- function(to, from) {
  names(to) <- names(from)
  to
}
