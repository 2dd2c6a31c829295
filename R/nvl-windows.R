# The strict functions of reductions by a function of scalars, of windows, and of convolutions.

#' Reductions by any function, windows and convolutions
#'
#' Each records one call of the primitive of its name. `body`, `select` and `scatter` are
#' functions of scalars; they are traced, and consist of elementwise operations and of
#' `nv_if()`.
#'
#' `nvl_reduce()` and `nvl_cumulative()` combine tensors of one shape, all at once: `body` gets
#' the values so far, then those of one more element, and returns the new values. It is
#' associative. Elements come in row-major order (the last dimension fastest), after the
#' initial value, which should be neutral. `nvl_reduce_window()` does so in every window.
#' `nvl_select_and_scatter()` selects one element of each window, as `select` prefers its first
#' argument or not, and combines the window's element of `source` with others at that place by
#' `scatter`.
#'
#' @param operands,initial A tensor and a scalar of its dtype, or lists of them.
#' @param operand,source,input,kernel Tensors.
#' @param dim,dims Dimensions.
#' @param body,select,scatter Functions of scalars.
#' @param window_dimensions,window_strides,base_dilations,window_dilations,padding_low,padding_high
#'   Per dimension: the size of a window; how far windows are apart; how far the elements of the
#'   operand and those of a window are apart; how many initial values there are before and after
#'   the operand (elements are dropped where that is negative).
#' @param sizes,strides,dilations Of windows, for each of `dims`.
#' @param lhs_dilation,rhs_dilation How far the elements of `input` and of `kernel` are apart.
#' @param reversed Spatial dimensions, counted among themselves, in which the kernel runs backwards.
#' @param input_dims,kernel_dims,output_dims Which dimensions are what: batch, feature and then the
#'   spatial ones of the input and of the output; output feature, input feature and the spatial
#'   ones of the kernel.
#' @param feature_group_count,batch_group_count How many groups of features, or of the batch, go
#'   with a part of the kernel each.
#' @return A tensor (in a trace a box), or a list of as many as there are `operands`.
#' @keywords internal
#' @name nvl_windows
#' @examples
#' # the largest element of each column, and where it is
#' x <- nv_tensor(matrix(c(3, 9, 4, 1, 5, 2), 3))
#' nvl_reduce(
#'   list(x, nvl_iota(1, "i32", c(3, 2))), list(nv_scalar(-Inf), nv_scalar(0L)), dims = 1,
#'   function(best, at, value, row) {
#'     keep <- best >= value
#'     list(nv_ifelse(keep, best, value), nv_ifelse(keep, at, row))
#'   }
#' )
#' nvl_cumulative(nv_tensor(1:5), nv_scalar(1L), dim = 1, function(a, b) a * b)
NULL

# A function of scalars of these tensors' dtypes as a graph.
scalar_graph <- function(f, tensors, name) {
  check_function(f, name)
  check_arity(f, length(tensors), name)
  trace_graph(f, lapply(tensors, function(x) nv_aten(dtype(x), integer())), mode = "state")
}

fold_call <- function(name, operands, initial, body, params) {
  operands <- check_tensors(operands)
  initial <- check_tensors(initial)
  if (length(operands) != length(initial)) {
    abort_anvil("argument", "`initial` must hold one tensor for each of `operands`.", sprintf("x Got %d for %d.", length(initial), length(operands)))
  }
  for (i in seq_along(operands)) {
    codes <- c(type_tag(operands[[i]])[1L], type_tag(initial[[i]])[1L])
    if (codes[1L] != codes[2L]) {
      abort_anvil("dtype", "`operands` and `initial` must have the same dtypes.", sprintf("x Got <%s> and <%s>.", names(dtype_codes)[codes[1L] + 1L], names(dtype_codes)[codes[2L] + 1L]))
    }
  }
  record(name, c(operands, initial), c(params, list(body = scalar_graph(body, c(operands, operands), "body"))))
}

#' @rdname nvl_windows
#' @export
nvl_reduce <- function(operands, initial, dims, body) fold_call("reduce", operands, initial, body, list(dims = dims))

#' @rdname nvl_windows
#' @export
nvl_cumulative <- function(operands, initial, dim, body) fold_call("cumulative", operands, initial, body, list(dim = dim))

#' @rdname nvl_windows
#' @export
nvl_reduce_window <- function(operands, initial, window_dimensions, window_strides, base_dilations, window_dilations, padding_low, padding_high, body) {
  fold_call("reduce_window", operands, initial, body, list(
    window_dimensions = window_dimensions, window_strides = window_strides, base_dilations = base_dilations,
    window_dilations = window_dilations, padding_low = padding_low, padding_high = padding_high
  ))
}

#' @rdname nvl_windows
#' @export
nvl_select_and_scatter <- function(operand, source, initial, window_dimensions, window_strides, padding_low, padding_high, select, scatter) {
  type_tag(operand)
  record("select_and_scatter", list(operand, source, initial), list(
    window_dimensions = window_dimensions, window_strides = window_strides,
    padding_low = padding_low, padding_high = padding_high,
    select = scalar_graph(select, list(operand, operand), "select"), scatter = scalar_graph(scatter, list(operand, operand), "scatter")
  ))
}

#' @rdname nvl_windows
#' @export
nvl_windows <- function(operand, dims, sizes, strides, dilations) {
  record("windows", list(operand), list(dims = dims, sizes = sizes, strides = strides, dilations = dilations))
}

#' @rdname nvl_windows
#' @export
nvl_sum_windows <- function(operand, dims, dilations) record("sum_windows", list(operand), list(dims = dims, dilations = dilations))

#' @rdname nvl_windows
#' @export
nvl_convolution <- function(input, kernel, window_strides, padding_low, padding_high, lhs_dilation, rhs_dilation, reversed = integer(), input_dims, kernel_dims, output_dims, feature_group_count = 1L, batch_group_count = 1L) {
  record("convolution", list(input, kernel), list(
    window_strides = window_strides, padding_low = padding_low, padding_high = padding_high,
    lhs_dilation = lhs_dilation, rhs_dilation = rhs_dilation, reversed = reversed,
    input_dims = input_dims, kernel_dims = kernel_dims, output_dims = output_dims,
    feature_group_count = feature_group_count, batch_group_count = batch_group_count
  ))
}
