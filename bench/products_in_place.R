# Products whose operands are read where they lie: few rows with a large matrix, large matrices with some columns, batches
# of small ones, X'Y of tall matrices. GFlop/s of the fastest run, compiled on one thread.
#
#   Rscript bench/products_in_place.R
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
anvil_threads(1L)
set.seed(1)
product <- jit(function(a, b) a %*% b)
of_tall <- jit(function(x, y) crossprod(x, y))
of_batch <- jit(function(a, b) nv_einsum("mkb,knb->mnb", a, b))
speed <- function(f, a, b, operations, dtype) {
  a <- nv_tensor(array(rnorm(prod(a)), a), dtype)
  b <- nv_tensor(array(rnorm(prod(b)), b), dtype)
  operations / least_ms(function() f(a, b), 60L) / 1e6
}
for (dtype in c("f32", "f64")) {
  line <- function(what, speeds) cat(sprintf("%s %-42s %s\n", dtype, what, paste(sprintf("%4.0f", speeds), collapse = " ")))
  depths <- c(128, 500, 1000, 1024, 2048)
  line("depth", depths)
  for (rows in c(16, 32, 64, 128)) line(sprintf("%d rows, 512 columns", rows), sapply(depths, function(k) speed(product, c(rows, k), c(k, 512), 2 * rows * k * 512, dtype)))
  depths <- c(64, 256, 1024)
  line("depth", depths)
  for (columns in c(24, 60, 96)) line(sprintf("2000 rows, %d columns", columns), sapply(depths, function(k) speed(product, c(2000, k), c(k, columns), 4000 * k * columns, dtype)))
  depths <- c(16, 32, 64, 128)
  line("depth", depths)
  line("16 of 128 rows, 128 columns", sapply(depths, function(k) speed(of_batch, c(128, k, 16), c(k, 128, 16), 16 * 2 * 128 * 128 * k, dtype)))
  rows <- c(500, 2000, 5000)
  line("rows", rows)
  for (columns in c(4, 10, 50)) line(sprintf("X'Y, 150 and %d columns", columns), sapply(rows, function(n) speed(of_tall, c(n, 150), c(n, columns), 300 * n * columns, dtype)))
}
