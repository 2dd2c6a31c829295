#' Convolutions
#'
#' Layers of convolutions over one, two or three spatial dimensions, as in torch: the kernel is moved over the input as it is, not
#' reversed, so that they are cross-correlations. Dimensions stand in this order, as in torch as well:
#'
#' | | dimensions |
#' |---|---|
#' | `x` | batch, channel, then the spatial ones |
#' | `weight` | channel of the output, channel of the input (of one group), spatial |
#' | `weight`, transposed | channel of the input, channel of the output (of one group), spatial |
#' | result | batch, channel, spatial |
#'
#' A spatial size `n` becomes `floor((n + 2 * padding - dilation * (k - 1) - 1) / stride) + 1` for a kernel of size `k`. The transposed
#' convolution is the adjoint of that with the same arguments, the way back from its result to its input: `n` becomes
#' `(n - 1) * stride - 2 * padding + dilation * (k - 1) + output_padding + 1`. The convolution of vectors is [nv_convolve()].
#'
#' `stride`, `padding`, `dilation` and `output_padding` are a number for all spatial dimensions, or one for each.
#'
#' @param x A tensor with three, four or five dimensions. Integers become floats.
#' @param weight The kernels: a tensor with as many dimensions.
#' @param stride How far the kernel is moved at a time.
#' @param padding How many zeros stand on each side of `x`; or `"same"`, as many as make the size `ceiling(n / stride)`, with
#'   the odd one at the end.
#' @param dilation How far the elements of the kernel are apart.
#' @param groups How many groups the channels are in: those of one group are made of those of the same group alone. With as many groups as
#'   channels each is for itself ("depthwise").
#' @param bias A vector with a number for each channel of the result, or `NULL`.
#' @param output_padding By how much the result is larger at the end.
#' @return A float tensor of the common dtype.
#' @section Errors:
#' `anvil_error_shape` where shapes do not fit, `anvil_error_argument` where another argument is not as said.
#' @family functions of models
#' @name nv_conv2d
#' @examples
#' x <- nv_tensor(array(1:16, c(1, 1, 4, 4)), dtype = "f32")
#' weight <- nv_tensor(array(c(1, 0, 0, -1), c(1, 1, 2, 2)))
#' nv_conv2d(x, weight)
#' shape(nv_conv2d(x, weight, stride = 2, padding = c(1, 0)))
#' shape(nv_conv_transpose2d(nv_conv2d(x, weight, stride = 2), weight, stride = 2))
NULL

#' @rdname nv_conv2d
#' @export
nv_conv1d <- function(x, weight, stride = 1L, padding = 0L, dilation = 1L, groups = 1L, bias = NULL) {
  spatial_convolution(1L, x, weight, stride, padding, dilation, groups, bias)
}

#' @rdname nv_conv2d
#' @export
nv_conv2d <- function(x, weight, stride = 1L, padding = 0L, dilation = 1L, groups = 1L, bias = NULL) {
  spatial_convolution(2L, x, weight, stride, padding, dilation, groups, bias)
}

#' @rdname nv_conv2d
#' @export
nv_conv3d <- function(x, weight, stride = 1L, padding = 0L, dilation = 1L, groups = 1L, bias = NULL) {
  spatial_convolution(3L, x, weight, stride, padding, dilation, groups, bias)
}

#' @rdname nv_conv2d
#' @export
nv_conv_transpose1d <- function(x, weight, stride = 1L, padding = 0L, output_padding = 0L, dilation = 1L, groups = 1L, bias = NULL) {
  transposed_convolution(1L, x, weight, stride, padding, output_padding, dilation, groups, bias)
}

#' @rdname nv_conv2d
#' @export
nv_conv_transpose2d <- function(x, weight, stride = 1L, padding = 0L, output_padding = 0L, dilation = 1L, groups = 1L, bias = NULL) {
  transposed_convolution(2L, x, weight, stride, padding, output_padding, dilation, groups, bias)
}

#' @rdname nv_conv2d
#' @export
nv_conv_transpose3d <- function(x, weight, stride = 1L, padding = 0L, output_padding = 0L, dilation = 1L, groups = 1L, bias = NULL) {
  transposed_convolution(3L, x, weight, stride, padding, output_padding, dilation, groups, bias)
}

spatial_convolution <- function(n, x, weight, stride, padding, dilation, groups, bias) {
  given <- conv_operands(n, x, weight, bias)
  sizes <- sizes_of(given$x)
  window <- sizes_of(given$weight)
  stride <- per_dimension(stride, n, 1L)
  dilation <- per_dimension(dilation, n, 1L)
  groups <- check_whole_number(groups, "groups", 1L)
  around <- padding_of(padding, sizes[-(1:2)], window[-(1:2)], stride, dilation)
  check_channels(sizes[2L], window[2L] * groups, window[1L], groups, given)
  check_windows_fit(sizes[-(1:2)] + around$low + around$high, window[-(1:2)], dilation, "weight")
  with_bias(given, window[1L], nvl_convolution(given$x, given$weight,
    window_strides = stride, padding_low = around$low, padding_high = around$high, lhs_dilation = rep(1L, n), rhs_dilation = dilation,
    input_dims = seq_len(n + 2L), kernel_dims = seq_len(n + 2L), output_dims = seq_len(n + 2L), feature_group_count = groups
  ))
}

# The elements of x, `stride` apart, are met by the reversed kernel.
transposed_convolution <- function(n, x, weight, stride, padding, output_padding, dilation, groups, bias) {
  given <- conv_operands(n, x, weight, bias)
  window <- sizes_of(given$weight)
  stride <- per_dimension(stride, n, 1L)
  dilation <- per_dimension(dilation, n, 1L)
  padding <- per_dimension(padding, n)
  output_padding <- per_dimension(output_padding, n)
  groups <- check_whole_number(groups, "groups", 1L)
  check_channels(sizes_of(given$x)[2L], window[1L], window[1L], groups, given)
  low <- dilation * (window[-(1:2)] - 1L) - padding
  left <- (sizes_of(given$x)[-(1:2)] - 1L) * stride + 1L + low - padding + output_padding
  if (all(window[-(1:2)] > 0L) && any(left < 1L)) {
    cut <- sprintf("x The result has the sizes %s, of which it takes %s.", shape2string(left + 2L * padding), shape2string(2L * padding))
    abort_anvil("shape", "`padding` must leave something of the result.", cut)
  }
  check_windows_fit((sizes_of(given$x)[-(1:2)] - 1L) * stride + 1L + 2L * low + output_padding, window[-(1:2)], dilation, "weight")
  out <- window[2L] * groups
  with_bias(given, out, nvl_convolution(given$x, outputs_of_groups(given$weight, groups),
    window_strides = rep(1L, n), padding_low = low, padding_high = low + output_padding, lhs_dilation = stride, rhs_dilation = dilation,
    reversed = seq_len(n), input_dims = seq_len(n + 2L), kernel_dims = c(2L, 1L, 2L + seq_len(n)), output_dims = seq_len(n + 2L),
    feature_group_count = groups
  ))
}

# A kernel of input channels by output channels of one group as one of the input channels of one group by all outputs.
outputs_of_groups <- function(weight, groups) {
  if (groups == 1L) {
    return(weight)
  }
  sizes <- sizes_of(weight)
  split <- nv_reshape(weight, c(sizes[1L] / groups, groups, sizes[-1L]))
  rank <- length(sizes) + 1L
  nv_reshape(nv_transpose(split, c(1L, 3L, 2L, seq_len(rank)[-(1:3)])), c(sizes[1L] / groups, sizes[2L] * groups, sizes[-(1:2)]))
}

# --- what convolutions and pooling share ----------------------------------------------------------

conv_operands <- function(n, x, weight, bias) {
  operands <- list(x = as_operand(x, "x"), weight = as_operand(weight, "weight"), bias = if (!is.null(bias)) at_least_vector(bias))
  given <- do.call(as_floats, Filter(Negate(is.null), operands))
  for (name in c("x", "weight")) {
    if (rank_of(given[[name]]) != n + 2L) {
      what <- sprintf("`%s` must have %d dimensions: two of channels or the batch, then %d spatial.", name, n + 2L, n)
      wrong_shape(what, sizes_of(given[[name]]))
    }
  }
  given
}

with_bias <- function(given, channels, result) {
  if (is.null(given$bias)) {
    return(result)
  }
  check_same_sizes(given$bias, channels, "`bias` must have a number for each channel of the result.")
  nv_add(result, nv_reshape(given$bias, replace(rep(1L, rank_of(result)), 2L, channels)))
}

check_channels <- function(channels, expected, divided, groups, given) {
  if (channels != expected || divided %% groups != 0L) {
    abort_anvil("shape", "The channels of `x`, `weight` and `groups` do not fit.", c(
      sprintf("x Got shapes %s; `groups` is %d.", ordinal_shapes(lapply(given[c("x", "weight")], sizes_of)), groups),
      "i `x` has the channels in its second dimension; see the table in `?nv_conv2d` for those of `weight`."
    ))
  }
}

# A number for each of n dimensions.
per_dimension <- function(x, n, lower = 0L, name = rlang::caller_arg(x)) {
  force(name)
  x <- check_sizes(x, name, lower)
  if (!(length(x) %in% c(1L, n))) wrong_argument(name, sprintf("a whole number, or one for each of %d spatial dimensions", n), x)
  rep_len(x, n)
}

padding_of <- function(padding, sizes, window, stride, dilation) {
  if (is.character(padding)) {
    if (!identical(padding, "same")) wrong_argument("padding", "whole numbers, or \"same\"", padding)
    missing <- pmax((ceiling(sizes / stride) - 1) * stride + dilation * (window - 1L) + 1 - sizes, 0)
    return(list(low = as.integer(missing %/% 2), high = as.integer(ceiling(missing / 2))))
  }
  padding <- per_dimension(padding, length(sizes))
  list(low = padding, high = padding)
}

check_windows_fit <- function(sizes, window, dilation, name) {
  covered <- dilation * (window - 1L) + 1L
  if (any(covered > sizes | window == 0L)) {
    abort_anvil(
      "shape", sprintf("`%s` must not be empty or larger than `x` with its padding.", name),
      sprintf("x It covers %s of %s.", shape2string(covered), shape2string(sizes))
    )
  }
}
