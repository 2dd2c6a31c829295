# Products of many small matrices, whose first dimension counts them, as vectorize() has them: operations a second, one
# thread, compiled, in the least time of many; and base R's, matrix by matrix.
#
#   Rscript bench/small_products.R
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
anvil_threads(1L)
set.seed(1)
for (type in c("f64", "f32")) {
  for (count in c(1000L, 1024L, 10000L)) {
    for (size in list(c(3L, 3L, 3L), c(8L, 8L, 8L), c(8L, 40L, 8L), c(12L, 12L, 12L), c(4L, 64L, 100L))) {
      a <- array(rnorm(count * size[1] * size[2]), c(count, size[1], size[2]))
      b <- array(rnorm(count * size[2] * size[3]), c(count, size[2], size[3]))
      by_r <- function() {
        result <- array(0, c(count, size[1], size[3]))
        for (i in seq_len(count)) result[i, , ] <- a[i, , ] %*% b[i, , ]
        result
      }
      multiply <- jit(vectorize(function(a, b) a %*% b))
      x <- nv_tensor(a, type)
      y <- nv_tensor(b, type)
      stopifnot(all.equal(as_array(multiply(x, y)), by_r(), tolerance = if (type == "f32") 1e-5 else 1e-12))
      megaflops <- 2 * count * prod(size) / 1e6
      cat(sprintf(
        "%s %5d of %2d x %2d times %2d x %3d: %5.1f GFlop/s, base R %5.2f\n", type, count, size[1], size[2], size[2],
        size[3], megaflops / least_ms(function() multiply(x, y), 500L), megaflops / least_ms(by_r, 3L)
      ))
    }
  }
}
