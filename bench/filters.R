# A line filtered by weights: nv_convolve() of 100000 numbers, and images by large kernels. One thread, compiled: the
# least time in milliseconds.
#
#   Rscript bench/filters.R
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
anvil_threads(1L)
set.seed(1)
for (dtype in c("f64", "f32")) {
  line <- nv_tensor(rnorm(1e5), dtype)
  open <- jit(function(x, w) nv_convolve(x, w, type = "open"))
  for (size in c(9L, 16L, 32L, 64L, 100L, 400L, 2000L)) {
    weights <- nv_tensor(rnorm(size), dtype)
    cat(sprintf("%s, a line by %4d weights %20.3f ms\n", dtype, size, least_ms(function() open(line, weights), 50L)))
  }
  image <- nv_tensor(array(rnorm(512 * 512), c(1, 1, 512, 512)), dtype)
  blurred <- jit(function(x, w) nv_conv2d(x, w))
  for (size in c(5L, 15L, 31L, 63L)) {
    kernel <- nv_tensor(array(rnorm(size^2), c(1, 1, size, size)), dtype)
    cat(sprintf("%s, an image by %2d x %2d weights %15.3f ms\n", dtype, size, size, least_ms(function() blurred(image, kernel), 15L)))
  }
}
