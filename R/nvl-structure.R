# The strict functions of primitives that make, move or reduce data.

#' Primitives that make, move or reduce data
#'
#' Each records one call of the primitive of its name.
#'
#' @param operand,update,padding_value,initial_state,lhs,rhs,a,b Tensors.
#' @param ... Tensors: operands of `nvl_concatenate()`, otherwise one scalar start
#'   index per dimension.
#' @param value A number or flag.
#' @param shape Sizes.
#' @param dtype A dtype.
#' @param ambiguous Whether the dtype yields to others.
#' @param dim,dimension,dims,broadcast_dimensions,permutation Dimensions.
#' @param start The first number.
#' @param start_indices,limit_indices,strides Per dimension: first and last index, and
#'   step.
#' @param slice_sizes Sizes of the slice.
#' @param edge_padding_low,edge_padding_high,interior_padding Per dimension: how many
#'   elements to add before, after and between.
#' @param drop Whether to drop the reduced dimensions, or to keep them with size 1.
#' @param contracting_dims,batching_dims Lists of two vectors of dimensions: of `lhs`
#'   and of `rhs`.
#' @param lower,left_side,unit_diagonal,transpose_a Flags.
#' @param rng_algorithm `"THREE_FRY"`.
#' @return A tensor (a box in a trace or in debug mode); for
#'   `nvl_rng_bit_generator()` a list of the new state and the bits.
#' @name nvl_structure
#' @examples
#' nvl_fill(1, c(2, 2), "f32")
#' nvl_reduce_sum(nv_tensor(1:6, shape = c(2, 3)), dims = 1)
NULL

#' @rdname nvl_structure
#' @export
nvl_fill <- function(value, shape, dtype, ambiguous = FALSE) {
  record("fill", list(), list(value = value, dtype = as_dtype_argument(dtype), shape = shape, ambiguous = ambiguous))
}

#' @rdname nvl_structure
#' @export
nvl_iota <- function(dim, dtype, shape, start = 1L, ambiguous = FALSE) {
  record("iota", list(), list(dim = dim, dtype = as_dtype_argument(dtype), shape = shape, start = start, ambiguous = ambiguous))
}

#' @rdname nvl_structure
#' @export
nvl_broadcast_in_dim <- function(operand, shape, broadcast_dimensions) {
  record("broadcast_in_dim", list(operand), list(shape = shape, broadcast_dimensions = broadcast_dimensions))
}

#' @rdname nvl_structure
#' @export
nvl_reshape <- function(operand, shape) record("reshape", list(operand), list(shape = shape))

#' @rdname nvl_structure
#' @export
nvl_transpose <- function(operand, permutation) record("transpose", list(operand), list(permutation = permutation))

#' @rdname nvl_structure
#' @export
nvl_reverse <- function(operand, dims) record("reverse", list(operand), list(dims = dims))

#' @rdname nvl_structure
#' @export
nvl_concatenate <- function(..., dimension) record("concatenate", list(...), list(dimension = dimension))

#' @rdname nvl_structure
#' @export
nvl_pad <- function(operand, padding_value, edge_padding_low, edge_padding_high, interior_padding) {
  record("pad", list(operand, padding_value), list(
    edge_padding_low = edge_padding_low, edge_padding_high = edge_padding_high, interior_padding = interior_padding
  ))
}

#' @rdname nvl_structure
#' @export
nvl_static_slice <- function(operand, start_indices, limit_indices, strides) {
  record("static_slice", list(operand), list(start_indices = start_indices, limit_indices = limit_indices, strides = strides))
}

#' @rdname nvl_structure
#' @export
nvl_dynamic_slice <- function(operand, ..., slice_sizes) record("dynamic_slice", list(operand, ...), list(slice_sizes = slice_sizes))

#' @rdname nvl_structure
#' @export
nvl_dynamic_update_slice <- function(operand, update, ...) record("dynamic_update_slice", list(operand, update, ...))

#' @rdname nvl_structure
#' @export
nvl_reduce_sum <- function(operand, dims, drop = TRUE) record("reduce_sum", list(operand), list(dims = dims, drop = drop))

#' @rdname nvl_structure
#' @export
nvl_reduce_prod <- function(operand, dims, drop = TRUE) record("reduce_prod", list(operand), list(dims = dims, drop = drop))

#' @rdname nvl_structure
#' @export
nvl_reduce_max <- function(operand, dims, drop = TRUE) record("reduce_max", list(operand), list(dims = dims, drop = drop))

#' @rdname nvl_structure
#' @export
nvl_reduce_min <- function(operand, dims, drop = TRUE) record("reduce_min", list(operand), list(dims = dims, drop = drop))

#' @rdname nvl_structure
#' @export
nvl_reduce_any <- function(operand, dims, drop = TRUE) record("reduce_any", list(operand), list(dims = dims, drop = drop))

#' @rdname nvl_structure
#' @export
nvl_reduce_all <- function(operand, dims, drop = TRUE) record("reduce_all", list(operand), list(dims = dims, drop = drop))

#' @rdname nvl_structure
#' @export
nvl_cumsum <- function(operand, dim) record("cumsum", list(operand), list(dim = dim))

#' @rdname nvl_structure
#' @export
nvl_dot_general <- function(lhs, rhs, contracting_dims, batching_dims = list(integer(), integer())) {
  record("dot_general", list(lhs, rhs), list(contracting_dims = contracting_dims, batching_dims = batching_dims))
}

#' @rdname nvl_structure
#' @export
nvl_chol <- function(operand, lower = FALSE) record("chol", list(operand), list(lower = lower))

#' @rdname nvl_structure
#' @export
nvl_triangular_solve <- function(a, b, left_side, lower, unit_diagonal, transpose_a) {
  record("triangular_solve", list(a, b), list(left_side = left_side, lower = lower, unit_diagonal = unit_diagonal, transpose_a = transpose_a))
}

#' @rdname nvl_structure
#' @export
nvl_rng_bit_generator <- function(initial_state, rng_algorithm = "THREE_FRY", dtype, shape) {
  record("rng_bit_generator", list(initial_state), list(rng_algorithm = rng_algorithm, dtype = as_dtype_argument(dtype), shape = shape))
}

#' @rdname nv_if
#' @export
nvl_if <- nv_if

#' @rdname nv_if
#' @export
nvl_while <- nv_while
