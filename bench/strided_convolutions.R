# Convolutions with strides: forwards, their derivative by the input, and transposed ones, beside the convolution
# without strides that has as many products. One thread, compiled, 32-bit floats: medians in milliseconds.
#
#   Rscript bench/strided_convolutions.R
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
anvil_threads(1L)
set.seed(1)
normal <- function(...) nv_tensor(array(rnorm(prod(...)), c(...)), "f32")

measure <- function(batch, features, size, results, window, stride) {
  x <- normal(batch, features, size, size)
  w <- normal(results, features, window, window)
  small <- size %/% stride
  y <- normal(batch, results, small, small)
  around <- (window - 1L) %/% 2L
  strided <- jit(function(x, w) nv_conv2d(x, w, stride = stride, padding = around))
  by_input <- jit(gradient(function(x, w) sum(nv_conv2d(x, w, stride = stride, padding = around)^2), wrt = "x"))
  transposed <- jit(function(y, w) nv_conv_transpose2d(y, w, stride = stride, padding = around))
  as_many <- jit(function(y, w) nv_conv2d(y, nv_transpose(w, c(2L, 1L, 3L, 4L)), padding = around))
  times <- median_ms(list(
    function() strided(x, w), function() by_input(x, w), function() transposed(y, w), function() as_many(y, w)
  ), 15L)
  cat(sprintf(
    "%2d x %3d features of %2d^2, %3d results, window %d, stride %d: %7.3f ms, with derivative by input %7.3f, transposed %7.3f, without strides %7.3f\n",
    batch, features, size, results, window, stride, times[1L], times[2L], times[3L], times[4L]
  ))
}
measure(8L, 16L, 32L, 32L, 3L, 2L)
measure(8L, 32L, 16L, 64L, 3L, 2L)
measure(2L, 3L, 64L, 64L, 7L, 2L)
measure(16L, 32L, 8L, 64L, 4L, 2L)
measure(8L, 64L, 28L, 128L, 1L, 2L)
