#' Initial weights of networks
#'
#' Random weights whose scale keeps values, or their gradients, of about one size from layer to layer. They are
#' samplers, which take and return states as [nv_rnorm()] does. Biases begin with zeros, see [nv_fill()].
#'
#' The scale follows from the fans of a weight: the number of values that one output is made of, and the number of outputs
#' that one input goes to. They are read from the shape:
#'
#' | | `shape` | `in` | `out` |
#' |---|---|---|---|
#' | dense layer, `x %*% w` | `c(inputs, outputs)` | `inputs` | `outputs` |
#' | convolution, [nv_conv2d()] | `c(outputs, inputs, k, ...)` | `inputs * k * ...` | `outputs * k * ...` |
#'
#' For other layouts (transposed convolutions, several heads in one tensor) they are given as `fans`, which also has
#' the fan `out` of a grouped convolution: that of one group.
#'
#' | | distribution | for |
#' |---|---|---|
#' | `nv_glorot_uniform()` | uniform, bound `gain * sqrt(6 / (in + out))` | `tanh()` and the like |
#' | `nv_glorot_normal()` | normal, sd `gain * sqrt(2 / (in + out))` | |
#' | `nv_he_uniform()` | uniform, bound `sqrt(6 / ((1 + slope^2) * in))` | [nv_relu()], [nv_leaky_relu()], [nv_gelu()] |
#' | `nv_he_normal()` | normal, sd `sqrt(2 / ((1 + slope^2) * in))` | |
#' | `nv_lecun_uniform()` | uniform, bound `sqrt(3 / in)` | layers without an activation, attention |
#' | `nv_lecun_normal()` | normal, sd `sqrt(1 / in)` | |
#' | `nv_orthogonal()` | uniform among orthogonal matrices, times `gain` | deep and recurrent networks |
#'
#' The first six have the same standard deviations by two. With `fans` in the other order those of He keep the size of gradients
#' instead of that of values. Normal weights without far ones are drawn by [nv_rtruncnorm()].
#'
#' `nv_orthogonal()` makes the matrix of the first dimension by all others: its columns are orthonormal, or its rows where it has
#' fewer of them. It is the factor `Q` of a normal matrix, with the signs that make all orthogonal matrices equally likely.
#'
#' @inheritParams nv_random
#' @param shape Sizes, at least two of them, but where `fans` are given.
#' @param dtype The dtype of the weights, a float; by default that of R doubles, see [default_dtypes()].
#' @param gain A positive number that all weights are multiplied by.
#' @param slope The slope of the activation below zero: 0 for [nv_relu()], the argument of that name for [nv_leaky_relu()].
#' @param fans `NULL`, or two positive numbers, `in` and `out`.
#' @return A list of the new state and the weights, a float tensor of shape `shape`; without a state the weights.
#' @section Errors:
#' `anvil_error_argument` where an argument is not as said, also where in a trace there is no state; `anvil_error_shape` where
#' the fans do not follow from `shape`; `anvil_error_dtype` where `dtype` is no float.
#' @references Glorot, X. and Bengio, Y. (2010). Understanding the difficulty of training deep feedforward neural networks. AISTATS.
#'
#'   He, K., Zhang, X., Ren, S. and Sun, J. (2015). Delving deep into rectifiers. ICCV, arXiv 1502.01852.
#'
#'   LeCun, Y., Bottou, L., Orr, G. B. and Muller, K.-R. (1998). Efficient BackProp. In: Neural Networks: Tricks of the Trade.
#'
#'   Saxe, A. M., McClelland, J. L. and Ganguli, S. (2014). Exact solutions to the nonlinear dynamics of learning in deep linear
#'   neural networks. ICLR, arXiv 1312.6120.
#'
#'   Mezzadri, F. (2007). How to generate random matrices from the classical compact groups. Notices of the AMS 54, 592-604: the signs.
#' @family functions of models
#' @family random numbers
#' @name nv_glorot_uniform
#' @examples
#' state <- nv_rng_state(1L)
#' nv_glorot_uniform(c(4, 3), state)[[2]]
#' nv_orthogonal(c(2, 2), state, "f64")[[2]]
#'
#' # the parameters of a network with layers of these sizes, a state for each layer
#' dense_layers <- function(sizes, state) {
#'   n <- length(sizes)
#'   Map(function(inputs, outputs, state) {
#'     list(w = nv_he_normal(c(inputs, outputs), state)[[2]], b = nv_fill(0, c(1, outputs)))
#'   }, sizes[-n], sizes[-1], nv_rng_split(state, n - 1))
#' }
#' params <- dense_layers(c(4, 16, 3), state)
#' network <- function(params, x) {
#'   hidden <- nv_relu(x %*% params[[1]]$w + params[[1]]$b)
#'   hidden %*% params[[2]]$w + params[[2]]$b
#' }
#' x <- nv_tensor(as.matrix(iris[1:4]), "f32")
#' shape(jit(network)(params, x))
NULL

#' @rdname nv_glorot_uniform
#' @export
nv_glorot_uniform <- function(shape, initial_state = NULL, dtype = NULL, gain = 1, fans = NULL) {
  uniform_weights(shape, initial_state, dtype, glorot_scale(shape, gain, fans))
}

#' @rdname nv_glorot_uniform
#' @export
nv_glorot_normal <- function(shape, initial_state = NULL, dtype = NULL, gain = 1, fans = NULL) {
  nv_rnorm(shape, initial_state, dtype, sd = glorot_scale(shape, gain, fans))
}

#' @rdname nv_glorot_uniform
#' @export
nv_he_uniform <- function(shape, initial_state = NULL, dtype = NULL, slope = 0, fans = NULL) {
  uniform_weights(shape, initial_state, dtype, he_scale(shape, slope, fans))
}

#' @rdname nv_glorot_uniform
#' @export
nv_he_normal <- function(shape, initial_state = NULL, dtype = NULL, slope = 0, fans = NULL) {
  nv_rnorm(shape, initial_state, dtype, sd = he_scale(shape, slope, fans))
}

#' @rdname nv_glorot_uniform
#' @export
nv_lecun_uniform <- function(shape, initial_state = NULL, dtype = NULL, fans = NULL) {
  uniform_weights(shape, initial_state, dtype, 1 / sqrt(weight_fans(shape, fans)[1L]))
}

#' @rdname nv_glorot_uniform
#' @export
nv_lecun_normal <- function(shape, initial_state = NULL, dtype = NULL, fans = NULL) {
  nv_rnorm(shape, initial_state, dtype, sd = 1 / sqrt(weight_fans(shape, fans)[1L]))
}

#' @rdname nv_glorot_uniform
#' @export
nv_orthogonal <- function(shape, initial_state = NULL, dtype = NULL, gain = 1) {
  dtype <- float_dtype(dtype)
  shape <- check_sizes(shape)
  check_positive(gain)
  if (length(shape) < 2L) wrong_shape("`shape` must have at least 2 dimensions.", shape)
  sizes <- c(shape[1L], as.integer(prod(shape[-1L])))
  computed <- if (dtype_sizes[[dtype]]$bytes < 4L) "f32" else dtype
  with_state(initial_state, function(state) {
    drawn <- standard_normal(sort(sizes, decreasing = TRUE), state, computed)
    factors <- nv_qr(drawn[[2L]])
    signs <- nv_ifelse(nv_lt(nv_extract_diag(factors$R), 0), -gain, gain)
    basis <- nv_mul(factors$Q, nv_unsqueeze(signs, 1L))
    if (sizes[1L] < sizes[2L]) basis <- nv_transpose(basis)
    list(drawn[[1L]], nv_convert(nv_reshape(basis, shape), dtype))
  })
}

# The standard deviations of weights.
glorot_scale <- function(shape, gain, fans) check_positive(gain) * sqrt(2 / sum(weight_fans(shape, fans)))

he_scale <- function(shape, slope, fans) sqrt(2 / ((1 + check_number(slope)^2) * weight_fans(shape, fans)[1L]))

# Uniform numbers up to b have the standard deviation b / sqrt(3).
uniform_weights <- function(shape, initial_state, dtype, scale) {
  nv_runif(shape, initial_state, dtype, min = -sqrt(3) * scale, max = sqrt(3) * scale)
}

weight_fans <- function(shape, fans) {
  if (!is.null(fans)) {
    is_pair <- !is.object(fans) && is.numeric(fans) && length(fans) == 2L && all(is.finite(fans)) && all(fans > 0)
    if (!is_pair) wrong_argument("fans", "two positive numbers", fans)
    return(as.double(fans))
  }
  sizes <- check_sizes(shape)
  if (length(sizes) < 2L) {
    abort_anvil("shape", "`shape` must have at least 2 dimensions.", c(
      sprintf("x Got shape %s.", shape2string(sizes)), "i `fans` says the fans of other weights; biases begin with zeros."
    ))
  }
  fans <- if (length(sizes) == 2L) sizes else sizes[2:1] * prod(sizes[-(1:2)])
  pmax(fans, 1) # no elements, no scale
}
