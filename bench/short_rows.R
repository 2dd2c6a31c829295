# Sums that wait for other sums of the same columns: logarithms of sums of exponentials, variances, and the variance of
# all. Least times in microseconds, compiled, on one thread.
#
#   Rscript bench/short_rows.R
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
anvil_threads(1L)
set.seed(1)
of_columns <- function(sums, x) nv_broadcast_to(sums, dim(x))
sum_of <- function(x) nv_reduce_sum(x, dims = 1L, drop = FALSE)
log_sums <- function(x) {
  top <- nv_reduce_max(x, dims = 1L, drop = FALSE)
  top + log(sum_of(exp(x - of_columns(top, x))))
}
squares <- function(x) {
  from_mean <- x - of_columns(sum_of(x) / dim(x)[1], x)
  sum_of(from_mean^2)
}
for (dtype in c("f32", "f64")) {
  for (rows in c(64L, 256L, 1024L, 4096L)) {
    x <- nv_tensor(matrix(rnorm(2^22), rows), dtype)
    f <- jit(log_sums)
    g <- jit(squares)
    cat(sprintf("%s, columns of %4d: log sums %6.0f, squares from the mean %6.0f\n",
      dtype, rows, 1000 * least_ms(function() f(x), 40L), 1000 * least_ms(function() g(x), 40L)))
  }
  x <- nv_tensor(rnorm(1e7), dtype)
  f <- jit(var)
  cat(sprintf("%s, var() of 10^7: %6.0f\n", dtype, 1000 * least_ms(function() f(x), 40L)))
}
