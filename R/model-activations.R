#' Activations and softmax
#'
#' Elementwise functions between the layers of a model, and functions that make probabilities of a line of numbers.
#' The logistic function (sigmoid) is [nv_logistic()], `tanh()` is there as well.
#'
#' With \eqn{\sigma}{s} for the logistic function and \eqn{\Phi}{P} for the normal distribution function:
#'
#' | function | value |
#' |---|---|
#' | `nv_relu(x)` | `x` where positive, else 0 |
#' | `nv_leaky_relu(x, slope)` | `x` where positive, else `slope * x` |
#' | `nv_elu(x, alpha)` | `x` where positive, else `alpha * (exp(x) - 1)` |
#' | `nv_softplus(x)` | `log(1 + exp(x))` |
#' | `nv_silu(x)` | \eqn{x \sigma(x)}{x * s(x)} (also called swish) |
#' | `nv_gelu(x)` | \eqn{x \Phi(x)}{x * P(x)} |
#' | `nv_logsumexp(x)` | `log(sum(exp(x)))` |
#' | `nv_softmax(x)` | `exp(x) / sum(exp(x))` |
#' | `nv_log_softmax(x)` | `x - log(sum(exp(x)))` |
#'
#' No exponential overflows, and nothing is lost in the tails. At their kinks, `nv_relu()`, `nv_leaky_relu()` and `nv_elu()`
#' have the derivative from below. A line that is -Inf throughout, as where everything is masked, has the sum 0: its
#' softmax is 0, with derivative 0, and its `nv_log_softmax()` and `nv_logsumexp()` are -Inf.
#'
#' @param operand A tensor, R array or number, of any shape. Integers become floats, except in `nv_relu()`.
#' @param slope,alpha Numbers.
#' @param approximate Whether to take `nv_logistic(sqrt(8 / pi) * (x + 0.044715 * x^3))` for \eqn{\Phi(x)}{P(x)} (Hendrycks and Gimpel 2016,
#'   arXiv 1606.08415), as some models do.
#' @param dims The dimension along which lines lie, by default the last one; for `nv_logsumexp()` the dimensions to
#'   reduce, by default all.
#' @param drop Whether reduced dimensions disappear or stay with size 1.
#' @return A tensor of floats of the shape of `operand`; `nv_logsumexp()`: without the dimensions `dims`.
#' @section Errors:
#' `anvil_error_argument` where an argument is not as said, `anvil_error_shape` where a scalar has no lines.
#' @family functions of models
#' @name nv_softmax
#' @examples
#' x <- nv_tensor(rbind(c(-1, 0, 2), c(1000, 1001, -Inf)))
#' nv_relu(x)
#' nv_softmax(x)
#' nv_logsumexp(x, dims = 2)
#' gradient(function(x) sum(nv_gelu(x)))(nv_tensor(c(-1, 0, 1)))
NULL

#' @rdname nv_softmax
#' @export
nv_relu <- function(operand) {
  operand <- as_number(as_operand(operand, "operand"))
  nv_ifelse(nv_le(operand, 0L), 0L, operand) # keeps NaN
}

#' @rdname nv_softmax
#' @export
nv_leaky_relu <- function(operand, slope = 0.01) {
  operand <- float_tensor(operand)
  nv_ifelse(nv_gt(operand, 0), operand, nv_mul(operand, check_number(slope)))
}

#' @rdname nv_softmax
#' @export
nv_elu <- function(operand, alpha = 1) {
  operand <- float_tensor(operand)
  nv_ifelse(nv_gt(operand, 0), operand, nv_mul(nv_expm1(operand), check_number(alpha)))
}

#' @rdname nv_softmax
#' @export
nv_softplus <- function(operand) {
  operand <- float_tensor(operand)
  positive <- nv_gt(operand, 0)
  nv_add(nv_ifelse(positive, operand, 0), softplus_below(operand, positive))
}

# softplus(-|x|). The sign is chosen and not that of nv_abs(), so that derivatives of any order are right at 0.
softplus_below <- function(x, positive) nv_log1p(nv_exp(nv_ifelse(positive, nv_negate(x), x)))

#' @rdname nv_softmax
#' @export
nv_silu <- function(operand) {
  operand <- float_tensor(operand)
  gated(operand, nv_logistic)
}

#' @rdname nv_softmax
#' @export
nv_gelu <- function(operand, approximate = FALSE) {
  operand <- float_tensor(operand)
  if (!check_flag(approximate)) {
    return(gated(operand, function(x) nv_mul(nv_erfc(nv_mul(x, -sqrt(0.5))), 0.5)))
  }
  gated(operand, function(x) {
    x <- nv_clamp(-30, x, 30) # where the gate is 0 or 1, and the power does not overflow
    nv_logistic(nv_mul(nv_mul(x, nv_add(nv_mul(nv_mul(x, x), 0.044715), 1)), sqrt(8 / pi)))
  })
}

# x times a gate, which is open at Inf and shut at -Inf; so are the derivatives there.
gated <- function(x, gate) {
  finite <- nv_is_finite(x)
  inside <- nv_ifelse(finite, x, 0)
  share <- gate(inside)
  beyond <- nv_ifelse(nv_ne(x, x), nv_mul(x, x), nv_relu(x)) # of NaN the derivative is NaN
  nv_ifelse(finite, nv_ifelse(nv_eq(share, 0), 0, nv_mul(inside, share)), beyond)
}

# --- lines of numbers ----------------------------------------------------------------------------

#' @rdname nv_softmax
#' @export
nv_softmax <- function(operand, dims = NULL) {
  operand <- float_tensor(operand)
  dim <- one_dim(operand, dims)
  powers <- nv_exp(below_largest(operand, dim)$x)
  nv_div(powers, not_zero(nv_reduce_sum(powers, dim, drop = FALSE)))
}

#' @rdname nv_softmax
#' @export
nv_log_softmax <- function(operand, dims = NULL) {
  operand <- float_tensor(operand)
  dim <- one_dim(operand, dims)
  x <- below_largest(operand, dim)$x
  nv_sub(x, nv_log(not_zero(nv_reduce_sum(nv_exp(x), dim, drop = FALSE))))
}

# The sum of the powers of a line, 1 where all are 0: else the largest one is 1. What is added is a constant, since a derivative
# through a choice has to be shielded from the other side.
not_zero <- function(total) nv_add(total, nv_ifelse(nv_eq(total, 0), 1, 0))

#' @rdname nv_softmax
#' @export
nv_logsumexp <- function(operand, dims = NULL, drop = TRUE) {
  operand <- float_tensor(operand)
  dims <- if (is.null(dims)) seq_len(rank_of(operand)) else check_dims(dims, rank_of(operand), of = "operand")
  below <- below_largest(operand, dims)
  total <- nv_reduce_sum(nv_exp(below$x), dims, drop)
  largest <- nv_ifelse(nv_eq(total, 0), -Inf, nv_reshape(below$largest, sizes_of(total)))
  nv_add(nv_log(not_zero(total)), largest)
}

# x minus the largest of each line, if that is finite. The largest one cancels in what is made of it, so it counts as a constant.
below_largest <- function(x, dims) {
  largest <- nv_stop_gradient(nv_reduce_max(x, dims, drop = FALSE))
  largest <- nv_ifelse(nv_is_finite(largest), largest, 0)
  list(x = nv_sub(x, largest), largest = largest)
}
