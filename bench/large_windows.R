# Derivatives of pooling whose windows do not meet, up to one window over the whole image, and of convolutions whose kernel
# is as large as the image or nearly, and transposed convolutions that start from one pixel: the least time in
# milliseconds, f32, compiled, one thread.
#
#   Rscript bench/large_windows.R
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
anvil_threads(1L)
set.seed(1)
normal <- function(...) nv_tensor(array(rnorm(prod(...)), c(...)), "f32")
report <- function(what, f, ...) {
  compiled <- jit(f)
  cat(sprintf("%-52s %8.3f ms\n", what, least_ms(function() compiled(...), 15L)))
}

for (size in c(2L, 4L, 8L)) {
  images <- normal(4, 16, 128, 128)
  report(sprintf("mean over %d x %d, gradient", size, size), gradient(function(x) sum(nv_avg_pool(x, size)^2)), images)
  report(sprintf("maximum over %d x %d, gradient", size, size), gradient(function(x) sum(nv_max_pool(x, size)^2)), images)
}
for (size in c(7L, 33L)) {
  report(
    sprintf("mean over all of %d x %d, gradient", size, size), gradient(function(x) sum(nv_avg_pool(x, size)^2)),
    normal(4, 64, size, size)
  )
}
report("maximum over 3 x 3 with stride 2, gradient", gradient(function(x) sum(nv_max_pool(x, 3L, 2L, 1L)^2)), images)

by_input <- function(groups) gradient(function(x, w) sum(nv_conv2d(x, w, groups = groups)^2), "x")
report("32 kernels of 16 x 16 over 16 x 16, gradient by x", by_input(1L), normal(8, 16, 16, 16), normal(32, 16, 16, 16))
report("kernels of 31 x 31 over 32 x 32, gradient by x", by_input(1L), normal(8, 16, 32, 32), normal(16, 16, 31, 31))
report("of each of 512 features, 7 x 7, gradient by x", by_input(512L), normal(8, 512, 7, 7), normal(512, 1, 7, 7))
report("one pixel to 4 x 4, 100 to 512 features", function(x, w) nv_conv_transpose2d(x, w), normal(8, 100, 1, 1), normal(100, 512, 4, 4))
report("one pixel to 16 x 16", function(x, w) nv_conv_transpose2d(x, w), normal(8, 16, 1, 1), normal(16, 16, 16, 16))
report(
  "a series of 1024 filtered by 1001 weights, gradient by x", gradient(function(x, w) sum(nv_conv1d(x, w)^2), "x"),
  normal(8, 1, 1024), normal(1, 1, 1001)
)
