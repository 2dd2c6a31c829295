# The strict functions, one per primitive: no promotion, no broadcasting. Dimensions
# and indices are 1-based, limits are inclusive. Those of elementwise primitives without parameters
# are generated: nvl-generated.R.

#' Elementwise primitives
#'
#' Each records one call of the primitive of its name. Operands must have the same
#' dtype and shape; the `nv_*` functions promote and broadcast scalars.
#'
#' @param operand,lhs,rhs Tensors.
#' @return A tensor (in a trace a box).
#' @keywords internal
#' @name nvl_elementwise
#' @examples
#' nvl_add(nv_tensor(c(1, 2)), nv_tensor(c(3, 4)))
#' nvl_exp(nv_scalar(0))
NULL

#' @rdname nvl_elementwise
#' @param method `"nearest_even"` or `"afz"` (halves away from zero).
#' @export
nvl_round <- function(operand, method = "nearest_even") record("round", list(operand), list(method = method))

#' @rdname nvl_elementwise
#' @param exponent_bits,mantissa_bits The format that the numbers are rounded to.
#' @export
nvl_reduce_precision <- function(operand, exponent_bits, mantissa_bits) {
  record("reduce_precision", list(operand), list(exponent_bits = exponent_bits, mantissa_bits = mantissa_bits))
}

#' @rdname nvl_elementwise
#' @param n,x Tensors: order and argument.
#' @export
nvl_polygamma <- function(n, x) record("polygamma", list(n, x))

#' @rdname nvl_elementwise
#' @param s,a Tensors: exponent and first term.
#' @export
nvl_zeta <- function(s, a) record("zeta", list(s, a))

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
  record("convert", list(operand), list(dtype = as_dtype_argument(dtype), ambiguous = ambiguous))
}

#' @rdname nvl_elementwise
#' @export
nvl_bitcast_convert <- function(operand, dtype) record("bitcast_convert", list(operand), list(dtype = as_dtype_argument(dtype)))
