# The strict functions of primitives that make, move or reduce data.

#' Primitives that make, move or reduce data
#'
#' Each records one call of the primitive of its name.
#'
#' @param operand,update,padding_value,initial_state,lhs,rhs,a,b,factor,cotangent Tensors.
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
#' @return A tensor (in a trace a box); for
#'   `nvl_rng_bit_generator()` a list of the new state and the bits.
#' @keywords internal
#' @name nvl_structure
#' @examples
#' nvl_fill(1, c(2, 2), "f32")
#' nvl_reduce_sum(nv_tensor(1:6, shape = c(2, 3)), dims = 1)
NULL

#' @rdname nvl_structure
#' @export
nvl_fill <- function(value, shape, dtype, ambiguous = FALSE) {
  record("fill", list(), list(value = value, dtype = as_dtype_argument(dtype), shape = check_elements(shape), ambiguous = ambiguous))
}

#' @rdname nvl_structure
#' @export
nvl_iota <- function(dim, dtype, shape, start = 1L, ambiguous = FALSE) {
  record("iota", list(), list(dim = dim, dtype = as_dtype_argument(dtype), shape = check_elements(shape), start = start, ambiguous = ambiguous))
}

#' @rdname nvl_structure
#' @export
nvl_broadcast_in_dim <- function(operand, shape, broadcast_dimensions) {
  record("broadcast_in_dim", list(operand), list(shape = shape, broadcast_dimensions = broadcast_dimensions))
}

#' @rdname nvl_structure
#' @export
nvl_reshape <- function(operand, shape) record("reshape", list(operand), list(shape = check_elements(shape)))

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
nvl_argmax <- function(operand, dim, drop = TRUE) record("argmax", list(operand), list(dim = dim, drop = drop))

#' @rdname nvl_structure
#' @export
nvl_argmin <- function(operand, dim, drop = TRUE) record("argmin", list(operand), list(dim = dim, drop = drop))

#' @rdname nvl_structure
#' @export
nvl_cumprod <- function(operand, dim) record("cumprod", list(operand), list(dim = dim))

#' @rdname nvl_structure
#' @export
nvl_cumlogsumexp <- function(operand, dim) record("cumlogsumexp", list(operand), list(dim = dim))

#' @rdname nvl_structure
#' @export
nvl_cummax <- function(operand, dim) record("cummax", list(operand), list(dim = dim))

#' @rdname nvl_structure
#' @export
nvl_cummin <- function(operand, dim) record("cummin", list(operand), list(dim = dim))

#' @rdname nvl_structure
#' @export
nvl_stop_gradient <- function(operand) record("stop_gradient", list(operand), list())

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
nvl_chol_reverse <- function(factor, cotangent, lower = FALSE) record("chol_reverse", list(factor, cotangent), list(lower = lower))

#' @rdname nvl_structure
#' @export
nvl_triangular_solve <- function(a, b, left_side, lower, unit_diagonal, transpose_a) {
  record("triangular_solve", list(a, b), list(left_side = left_side, lower = lower, unit_diagonal = unit_diagonal, transpose_a = transpose_a))
}

#' @rdname nvl_structure
#' @export
nvl_rng_bit_generator <- function(initial_state, rng_algorithm = "THREE_FRY", dtype, shape) {
  record("rng_bit_generator", list(initial_state), list(rng_algorithm = rng_algorithm, dtype = as_dtype_argument(dtype), shape = check_elements(shape)))
}

#' @rdname nv_if
#' @export
nvl_if <- nv_if

#' @rdname nv_if
#' @export
nvl_case <- nv_case

#' @rdname nv_if
#' @export
nvl_while <- nv_while

#' @rdname nv_checkpoint
#' @export
nvl_checkpoint <- nv_checkpoint

#' Gather and scatter
#'
#' `nvl_gather()` takes slices of a tensor from places that another tensor lists;
#' `nvl_scatter()` changes a tensor at such places. They are StableHLO's operators with
#' indices and dimensions counted from 1. A slice that would leave `operand` is moved to its
#' edge; elements of an update that fall outside of `input` are left out.
#'
#' An index is a vector along `index_vector_dim` of the tensor of indices (one number each
#' when that is one more than its number of dimensions); its components are positions in the
#' dimensions `start_index_map` or `scatter_dims_to_operand_dims` of the operand. The result
#' of a gather, and the update of a scatter, have the other dimensions of the indices, and
#' among them those of a slice, at `offset_dims` or `update_window_dims`: all but the
#' `collapsed_slice_dims` or `inserted_window_dims`, in which a slice has size 1, and but the
#' batching dimensions of the operand, which are walked together with those of the indices.
#'
#' `update_computation` is a function of two scalars, the old element and the update; it is
#' traced. Updates of one place follow each other in row-major order of the indices: without
#' a function the last one stays. Derivatives are fast for the sum, the difference, the product,
#' the maximum and the minimum of the two, and for either of them; those of other functions take one
#' pass for each update of the place that has most.
#'
#' @param operand,input,update A tensor; `nvl_scatter()` also takes lists of inputs and of as
#'   many updates, and then a function of the old elements and the updates that returns a list.
#' @param start_indices,scatter_indices Integers.
#' @param slice_sizes Sizes of a slice, one per dimension of `operand`.
#' @param offset_dims,update_window_dims Dimensions of the result, or of `update`.
#' @param collapsed_slice_dims,operand_batching_dims,start_index_map,inserted_window_dims,input_batching_dims,scatter_dims_to_operand_dims
#'   Dimensions of the operand.
#' @param start_indices_batching_dims,scatter_indices_batching_dims,index_vector_dim
#'   Dimensions of the indices.
#' @param indices_are_sorted,unique_indices What is known of the indices.
#' @param update_computation A function of scalars, or `NULL`: the update replaces the element.
#' @return A tensor (in a trace a box), or a list of them.
#' @keywords internal
#' @name nvl_gather
#' @export
#' @examples
#' x <- nv_tensor(matrix(1:6, 3))
#' # rows 3 and 1
#' nvl_gather(x, nv_tensor(c(3L, 1L)), c(1, 2), offset_dims = 2, collapsed_slice_dims = 1,
#'   operand_batching_dims = integer(), start_indices_batching_dims = integer(),
#'   start_index_map = 1, index_vector_dim = 2)
#' # how often each of 1, 2, 3 occurs
#' nvl_scatter(nv_fill(0L, 3), nv_tensor(c(3L, 1L, 3L)), nv_fill(1L, 3),
#'   update_window_dims = integer(), inserted_window_dims = 1,
#'   input_batching_dims = integer(), scatter_indices_batching_dims = integer(),
#'   scatter_dims_to_operand_dims = 1, index_vector_dim = 2,
#'   update_computation = function(old, new) old + new)
nvl_gather <- function(operand, start_indices, slice_sizes, offset_dims, collapsed_slice_dims, operand_batching_dims, start_indices_batching_dims, start_index_map, index_vector_dim, indices_are_sorted = FALSE, unique_indices = FALSE) {
  record("gather", list(operand, start_indices), list(
    slice_sizes = slice_sizes, offset_dims = offset_dims, collapsed_slice_dims = collapsed_slice_dims,
    operand_batching_dims = operand_batching_dims, start_indices_batching_dims = start_indices_batching_dims,
    start_index_map = start_index_map, index_vector_dim = index_vector_dim,
    indices_are_sorted = indices_are_sorted, unique_indices = unique_indices
  ))
}

#' @rdname nvl_gather
#' @export
nvl_scatter <- function(input, scatter_indices, update, update_window_dims, inserted_window_dims, input_batching_dims, scatter_indices_batching_dims, scatter_dims_to_operand_dims, index_vector_dim, indices_are_sorted = FALSE, unique_indices = FALSE, update_computation = NULL) {
  inputs <- check_tensors(input)
  updates <- check_tensors(update)
  type_tag(scatter_indices)
  if (is.null(update_computation)) {
    count <- length(inputs)
    update_computation <- function(...) list(...)[count + seq_len(count)]
  }
  record("scatter", c(inputs, list(scatter_indices), updates), list(
    update_window_dims = update_window_dims, inserted_window_dims = inserted_window_dims,
    input_batching_dims = input_batching_dims, scatter_indices_batching_dims = scatter_indices_batching_dims,
    scatter_dims_to_operand_dims = scatter_dims_to_operand_dims, index_vector_dim = index_vector_dim,
    indices_are_sorted = indices_are_sorted, unique_indices = unique_indices,
    update_computation = scalar_graph(update_computation, c(inputs, inputs), "update_computation")
  ))
}
