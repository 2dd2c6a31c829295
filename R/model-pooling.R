#' Pooling
#'
#' The largest element, or the mean, of every window over the spatial dimensions: those behind batch and channel, in the layout of
#' [nv_conv2d()]. The mean of all is `mean(x, dims = 3:4)`.
#'
#' A spatial size `n` becomes `floor((n + 2 * padding - dilation * (window - 1) - 1) / stride) + 1`. Equal extremes share the
#' derivative, see [nv_max()].
#'
#' @param x A tensor with at least three dimensions: batch, channel, and the spatial ones. Integers become floats.
#' @param window,stride,padding,dilation The size of a window; how far windows are apart, by default their size; how far they may
#'   stand over on each side, less than their size; how far the elements of a window are apart. A number for all spatial dimensions, or
#'   one for each.
#' @param count_padding Whether what lies outside counts as zero in means. Otherwise a mean is that of the elements that there are.
#' @return A float tensor.
#' @inheritSection nv_conv2d Errors
#' @family functions of models
#' @export
#' @examples
#' x <- nv_tensor(array(1:16, c(1, 1, 4, 4)), dtype = "f32")
#' nv_max_pool(x, 2)
#' nv_avg_pool(x, 3, stride = 1, padding = 1, count_padding = FALSE)
nv_max_pool <- function(x, window, stride = window, padding = 0L, dilation = 1L) {
  x <- float_tensor(x)
  slide <- pool_windows(x, window, stride, padding, dilation)
  over_windows(nv_reduce_max, x, slide, -Inf)
}

#' @rdname nv_max_pool
#' @export
nv_avg_pool <- function(x, window, stride = window, padding = 0L, count_padding = TRUE) {
  check_flag(count_padding)
  x <- float_tensor(x)
  slide <- pool_windows(x, window, stride, padding, 1L)
  total <- over_windows(nv_reduce_sum, x, slide, 0)
  counts <- if (count_padding) as.double(prod(slide$window)) else nv_tensor(elements_inside(slide), dtype = dtype(x))
  nv_div(total, counts)
}

pool_windows <- function(x, window, stride, padding, dilation) {
  sizes <- sizes_of(x)
  n <- length(sizes) - 2L
  if (n < 1L) wrong_shape("`x` must have at least 3 dimensions: batch, channel and spatial ones.", sizes)
  window <- per_dimension(window, n, 1L)
  stride <- per_dimension(stride, n, 1L)
  padding <- per_dimension(padding, n)
  dilation <- per_dimension(dilation, n, 1L)
  if (any(padding > dilation * (window - 1L))) wrong_argument("padding", "less than what a window covers", padding)
  check_windows_fit(sizes[-(1:2)] + 2L * padding, window, dilation, "window")
  list(sizes = sizes[-(1:2)], window = window, stride = stride, padding = padding, dilation = dilation)
}

over_windows <- function(reduction, x, slide, outside) {
  n <- length(slide$window)
  around <- c(0L, 0L, slide$padding)
  if (any(around > 0L)) x <- nv_pad(x, outside, around, around)
  reduction(nvl_windows(x, 2L + seq_len(n), slide$window, slide$stride, slide$dilation), 2L + n + seq_len(n))
}

# How many elements of each window are not padding, as an array with two dimensions of size 1 before the spatial ones.
elements_inside <- function(slide) {
  along <- Map(function(size, window, stride, padding) {
    first <- seq(1L - padding, size + padding - window + 1L, by = stride)
    pmin(first + window - 1L, size) - pmax(first, 1L) + 1L
  }, slide$sizes, slide$window, slide$stride, slide$padding)
  array(as.double(Reduce(outer, along)), c(1L, 1L, lengths(along)))
}
