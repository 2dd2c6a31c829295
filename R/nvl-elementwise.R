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
nvl_next_after <- function(lhs, rhs) record("next_after", list(lhs, rhs))

#' @rdname nvl_elementwise
#' @export
nvl_mulhi <- function(lhs, rhs) record("mulhi", list(lhs, rhs))

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
nvl_count_leading_zeros <- function(operand) record("count_leading_zeros", list(operand))

#' @rdname nvl_elementwise
#' @export
nvl_bessel_i1e <- function(operand) record("bessel_i1e", list(operand))

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
