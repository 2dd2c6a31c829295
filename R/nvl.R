# The strict functions, one per primitive: no promotion, no broadcasting. Dimensions
# and indices are 1-based, limits are inclusive.

#' Elementwise primitives
#'
#' Each records one call of the primitive of its name. Operands must have the same
#' dtype and shape; the `nv_*` functions promote and broadcast scalars.
#'
#' @param operand,lhs,rhs Tensors.
#' @return A tensor (a box in a trace or in debug mode).
#' @name nvl_elementwise
#' @examples
#' nvl_add(nv_tensor(c(1, 2)), nv_tensor(c(3, 4)))
#' nvl_exp(nv_scalar(0))
NULL

#' @rdname nvl_elementwise
#' @export
nvl_add <- function(lhs, rhs) record("add", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_sub <- function(lhs, rhs) record("sub", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_mul <- function(lhs, rhs) record("mul", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_div <- function(lhs, rhs) record("div", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_pow <- function(lhs, rhs) record("pow", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_remainder <- function(lhs, rhs) record("remainder", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_max <- function(lhs, rhs) record("max", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_min <- function(lhs, rhs) record("min", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_atan2 <- function(lhs, rhs) record("atan2", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_and <- function(lhs, rhs) record("and", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_or <- function(lhs, rhs) record("or", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_xor <- function(lhs, rhs) record("xor", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_shift_left <- function(lhs, rhs) record("shift_left", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_shift_right_logical <- function(lhs, rhs) record("shift_right_logical", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_shift_right_arithmetic <- function(lhs, rhs) record("shift_right_arithmetic", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_eq <- function(lhs, rhs) record("eq", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_ne <- function(lhs, rhs) record("ne", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_gt <- function(lhs, rhs) record("gt", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_ge <- function(lhs, rhs) record("ge", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_lt <- function(lhs, rhs) record("lt", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_le <- function(lhs, rhs) record("le", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_negate <- function(operand) record("negate", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_not <- function(operand) record("not", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_abs <- function(operand) record("abs", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_sign <- function(operand) record("sign", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_sqrt <- function(operand) record("sqrt", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_rsqrt <- function(operand) record("rsqrt", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_cbrt <- function(operand) record("cbrt", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_exp <- function(operand) record("exp", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_expm1 <- function(operand) record("expm1", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_log <- function(operand) record("log", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_log1p <- function(operand) record("log1p", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_logistic <- function(operand) record("logistic", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_tanh <- function(operand) record("tanh", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_tan <- function(operand) record("tan", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_sine <- function(operand) record("sine", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_cosine <- function(operand) record("cosine", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_asin <- function(operand) record("asin", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_acos <- function(operand) record("acos", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_atan <- function(operand) record("atan", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_sinh <- function(operand) record("sinh", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_cosh <- function(operand) record("cosh", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_asinh <- function(operand) record("asinh", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_acosh <- function(operand) record("acosh", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_atanh <- function(operand) record("atanh", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_floor <- function(operand) record("floor", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_ceil <- function(operand) record("ceil", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_is_finite <- function(operand) record("is_finite", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_popcnt <- function(operand) record("popcnt", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_digamma <- function(operand) record("digamma", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_lgamma <- function(operand) record("lgamma", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_erf <- function(operand) record("erf", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_erfc <- function(operand) record("erfc", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_erf_inv <- function(operand) record("erf_inv", list(operand))

#' @rdname nvl_elementwise
#' @param method `"nearest_even"` or `"afz"` (halves away from zero).
#' @export
nvl_round <- function(operand, method = "nearest_even") record("round", list(operand), list(method = method))

#' @rdname nvl_elementwise
#' @param n,x Tensors: order and argument.
#' @export
nvl_polygamma <- function(n, x) record("polygamma", list(n, x))

#' @rdname nvl_elementwise
#' @param pred A `bool` tensor, or a scalar one.
#' @param true_value,false_value Tensors.
#' @export
nvl_ifelse <- function(pred, true_value, false_value) record("select", list(pred, true_value, false_value))

#' @rdname nvl_elementwise
#' @export
nvl_select <- nvl_ifelse

#' @rdname nvl_elementwise
#' @param min_val,max_val Bounds: tensors of the operand's shape, or scalars.
#' @export
nvl_clamp <- function(min_val, operand, max_val) record("clamp", list(min_val, operand, max_val))

#' @rdname nvl_elementwise
#' @param dtype A dtype.
#' @param ambiguous Whether the new dtype yields to others.
#' @export
nvl_convert <- function(operand, dtype, ambiguous = FALSE) {
  record("convert", list(operand), list(dtype = as_dtype(dtype), ambiguous = ambiguous))
}

#' @rdname nvl_elementwise
#' @export
nvl_bitcast_convert <- function(operand, dtype) record("bitcast_convert", list(operand), list(dtype = as_dtype(dtype)))

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
  record("fill", list(), list(value = value, dtype = as_dtype(dtype), shape = shape, ambiguous = ambiguous))
}

#' @rdname nvl_structure
#' @export
nvl_iota <- function(dim, dtype, shape, start = 1L, ambiguous = FALSE) {
  record("iota", list(), list(dim = dim, dtype = as_dtype(dtype), shape = shape, start = start, ambiguous = ambiguous))
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
  record("rng_bit_generator", list(initial_state), list(rng_algorithm = rng_algorithm, dtype = as_dtype(dtype), shape = shape))
}

#' @rdname nv_if
#' @export
nvl_if <- nv_if

#' @rdname nv_if
#' @export
nvl_while <- nv_while
