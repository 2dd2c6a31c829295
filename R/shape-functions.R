#' New shapes
#'
#' `nv_reshape()` gives the elements another shape, in R's order: the first dimension
#' changes fastest, as with `dim<-`. `order = "C"` reads and fills with the last dimension
#' fastest, as row-major languages do. `nv_flatten()` makes one dimension of all.
#' `nv_squeeze()` drops dimensions of size 1, `nv_unsqueeze()` inserts one.
#'
#' @param operand A tensor, R array or, where it makes sense, single number.
#' @param shape Sizes; one of them may be -1 for what is left.
#' @param order `"F"`, R's order, or `"C"`.
#' @param dims For `nv_squeeze()` dimensions of size 1 to drop, by default all of them. For `nv_unsqueeze()` where the new
#'   dimension goes, from 1 to one more than there are.
#' @return A tensor of the same dtype.
#' @family shapes and parts
#' @export
#' @examples
#' x <- nv_tensor(1:6)
#' nv_reshape(x, c(2, 3))
#' nv_reshape(x, c(2, -1), order = "C")
#' nv_flatten(nv_tensor(matrix(1:4, 2)))
#' shape(nv_unsqueeze(x, 1))
nv_reshape <- function(operand, shape, order = "F") {
  check_choice(order, c("F", "C"))
  shape <- completed_shape(operand, shape)
  from <- if (order == "C") sizes_of(operand)
  if (length(from) < 2L && length(shape) < 2L || order == "F") {
    return(record("reshape", list(operand), list(shape = shape)))
  }
  reversed <- record("reshape", list(reverse_dims(operand, length(from))), list(shape = rev(shape)))
  reverse_dims(reversed, length(shape))
}

reverse_dims <- function(x, rank) if (rank < 2L) x else record("transpose", list(x), list(permutation = rank:1))

completed_shape <- function(operand, shape) {
  shape <- check_sizes(shape, lower = -1L)
  open <- which(shape == -1L)
  if (length(open) == 0L) {
    return(shape)
  }
  n <- prod(sizes_of(operand))
  rest <- prod(shape[-open])
  if (length(open) > 1L || rest == 0 || n %% rest != 0) {
    abort_anvil("shape", "The -1 in `shape` can't be replaced by a size.", c(
      sprintf("x `operand` has shape %s (%.0f elements), `shape` is %s.", shape2string(sizes_of(operand)), n, shape2string(shape)),
      if (length(open) > 1L) "i Only one size may be -1."
    ))
  }
  shape[open] <- n / rest
  check_sizes(shape)
}

#' @rdname nv_reshape
#' @export
nv_flatten <- function(operand, order = "F") {
  if (rank_of(operand) == 0L) {
    abort_anvil("shape", "`operand` is a scalar, which can't be flattened.", "i `nv_reshape(x, 1)` gives it a dimension.")
  }
  nv_reshape(operand, -1L, order)
}

#' @rdname nv_reshape
#' @export
nv_squeeze <- function(operand, dims = NULL) {
  operand <- as_operand(operand, "operand")
  sizes <- sizes_of(operand)
  if (is.null(dims)) {
    dims <- which(sizes == 1L)
  } else {
    dims <- check_dims(dims, length(sizes), of = "operand")
    wrong <- dims[sizes[dims] != 1L]
    if (length(wrong) > 0L) {
      abort_anvil("shape", sprintf("`dims` names dimension %d of `operand`, whose size is %d and not 1.", wrong[1L], sizes[wrong[1L]]))
    }
  }
  record("reshape", list(operand), list(shape = sizes[setdiff(seq_along(sizes), dims)]))
}

#' @rdname nv_reshape
#' @export
nv_unsqueeze <- function(operand, dims) {
  sizes <- sizes_of(operand)
  dim <- check_whole_number(dims, "dims", 1L, length(sizes) + 1L)
  record("reshape", list(operand), list(shape = append(sizes, 1L, dim - 1L)))
}

#' Move elements
#'
#' * `nv_transpose()` permutes dimensions as `aperm()` does: dimension `i` of the result is
#'   dimension `permutation[i]` of the operand. By default their order is reversed. `t()` is for
#'   matrices only.
#' * `nv_reverse()` turns the order of the elements along some dimensions around. R's
#'   `rev()` works on the flattened tensor.
#' * `nv_static_slice()` takes elements from `start_indices` to `limit_indices`, both
#'   included, in steps of `strides`. Mostly `x[a:b, ]` is more convenient, see [nv_subset()].
#' * `nv_pad()` puts `padding_value` before, after and between the elements. Negative widths
#'   cut elements off.
#'
#' @param x,operand A tensor.
#' @param permutation The dimensions in their new order.
#' @param dims Dimensions.
#' @param start_indices,limit_indices,strides One number per dimension.
#' @param padding_value A number or scalar tensor, converted to the dtype of `operand` if
#'   promotion leads there.
#' @param edge_padding_low,edge_padding_high,interior_padding How many elements to add
#'   before the first, after the last, and between two elements: one number per
#'   dimension.
#' @return A tensor of the same dtype.
#' @family shapes and parts
#' @name nv_movement
#' @examples
#' m <- nv_tensor(matrix(1:6, 2))
#' nv_transpose(m)
#' nv_reverse(m, 2)
#' nv_static_slice(nv_tensor(1:10), 1, 10, 3)
#' nv_pad(nv_tensor(1:3), 0L, 2, 1)
NULL

#' @rdname nv_movement
#' @export
nv_transpose <- function(x, permutation = NULL) {
  x <- as_operand(x, "x")
  record("transpose", list(x), list(permutation = if (is.null(permutation)) rev(seq_len(rank_of(x))) else permutation))
}

#' @rdname nv_movement
#' @export
nv_reverse <- function(operand, dims) record("reverse", list(operand), list(dims = dims))

#' @rdname nv_movement
#' @export
nv_static_slice <- function(operand, start_indices, limit_indices, strides = NULL) {
  record("static_slice", list(operand), list(
    start_indices = start_indices,
    limit_indices = limit_indices,
    strides = if (is.null(strides)) rep(1L, length(start_indices)) else strides
  ))
}

#' @rdname nv_movement
#' @export
nv_pad <- function(operand, padding_value, edge_padding_low, edge_padding_high, interior_padding = NULL) {
  record_promoted("pad", list(operand, padding_value), list(
    edge_padding_low = edge_padding_low,
    edge_padding_high = edge_padding_high,
    interior_padding = if (is.null(interior_padding)) integer(length(edge_padding_low)) else interior_padding
  ), broadcast = FALSE)
}

#' Join tensors
#'
#' `nv_concatenate()` puts tensors one after another along a dimension. `nv_rbind()` and
#' `nv_cbind()` put them below and beside each other; vectors, of R as well, count as one row or
#' column. R's `rbind()`, `cbind()` and `c()` call them.
#'
#' Operands are promoted to a common dtype. Their sizes must agree in all other
#' dimensions. A scalar takes the shape of the others, with size 1 along `dimension`.
#' `c()` flattens its arguments in R's order; with a list among them it makes a list.
#'
#' @param ... Tensors, R arrays or single numbers.
#' @param dimension The dimension; not needed for vectors and scalars.
#' @return A tensor.
#' @family shapes and parts
#' @export
#' @examples
#' x <- nv_tensor(1:3)
#' nv_concatenate(x, 4L)
#' nv_rbind(x, x)
#' cbind(x, 0L)
nv_concatenate <- function(..., dimension = NULL) {
  operands <- list(...)
  if (length(meant <- intersect(names(operands), c("dim", "dims", "axis")))) {
    message <- sprintf("`nv_concatenate()` has no argument `%s`.", meant[1L])
    abort_anvil("argument", message, "i The dimension is `dimension`.")
  }
  operands <- unname(operands)
  shapes <- sizes_of_any(operands)
  ranks <- lengths(shapes)
  if (is.null(dimension)) {
    if (any(ranks > 1L)) {
      abort_anvil("argument", "`dimension` must be given unless all operands are vectors or scalars.", sprintf("x Got shapes %s.", ordinal_shapes(shapes)))
    }
    dimension <- 1L
  }
  if (any(ranks == 0L)) {
    operands <- .Call(C_anvil_promote, operands, FALSE) # before numbers become tensors
    dimension <- check_whole_number(dimension, "dimension", 1L, max(1L, ranks))
    like <- if (any(ranks > 0L)) shapes[[which(ranks > 0L)[1L]]] else 1L
    like[dimension] <- 1L
    operands[ranks == 0L] <- lapply(operands[ranks == 0L], nv_broadcast_to, shape = like)
  }
  record_promoted("concatenate", operands, list(dimension = dimension), broadcast = FALSE)
}

#' @rdname nv_concatenate
#' @export
nv_rbind <- function(...) stack_along(1L, unname(list(...)))

#' @rdname nv_concatenate
#' @export
nv_cbind <- function(...) stack_along(2L, unname(list(...)))

# Rows (along = 1) or columns (2): vectors become one, scalars fill one.
stack_along <- function(along, operands) {
  operands <- lapply(Filter(Negate(is.null), operands), vector_as_array)
  shapes <- sizes_of_any(operands)
  ranks <- lengths(shapes)
  rank <- max(2L, ranks)
  sizes <- lapply(shapes, function(s) if (length(s) == 1L) append(s, 1L, along - 1L) else s)
  full <- sizes[ranks > 0L]
  fits <- function(s) length(s) == rank && identical(s[-along], full[[1L]][-along])
  if (!all(vapply(full, fits, NA))) {
    abort_anvil("shape", sprintf("All operands must have the same sizes, except in dimension %d.", along), c(
      sprintf("x Got shapes %s.", ordinal_shapes(shapes)),
      sprintf("i Vectors count as one %s.", if (along == 1L) "row" else "column")
    ))
  }
  single <- if (length(full) > 0L) full[[1L]] else c(1L, 1L)
  single[along] <- 1L
  if (any(ranks == 0L)) operands <- .Call(C_anvil_promote, operands, FALSE)
  operands <- Map(function(x, rank, size) {
    switch(min(rank, 2L) + 1L, nv_broadcast_to(x, single), record("reshape", list(x), list(shape = size)), x)
  }, operands, ranks, sizes)
  record_promoted("concatenate", operands, list(dimension = along), broadcast = FALSE)
}

#' Change the dtype
#'
#' `nv_convert()` converts values: floats to integers towards zero, values out of range to
#' the nearest one that the dtype has, NaN to 0; to `bool` by `!= 0`. A derivative goes
#' through conversions between floats only.
#'
#' `nv_bitcast_convert()` keeps the bits. A narrower dtype adds a last dimension for the
#' pieces, lowest bits first; a wider one takes it up again. A `bool` is one bit.
#'
#' @param operand A tensor, R array or single number.
#' @param dtype A dtype or its name.
#' @return A tensor of that dtype, never ambiguous.
#' @family dtypes
#' @export
#' @examples
#' nv_convert(nv_tensor(c(1.7, -1.7)), "i32")
#' nv_bitcast_convert(nv_tensor(1L), "i8")
nv_convert <- function(operand, dtype) record("convert", list(operand), list(dtype = dtype_text(dtype), ambiguous = FALSE))

#' @rdname nv_convert
#' @export
nv_bitcast_convert <- function(operand, dtype) record("bitcast_convert", list(operand), list(dtype = dtype_text(dtype)))
