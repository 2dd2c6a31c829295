# Products of one matrix with several others in one program, which reads or packs that matrix once (src/compiler/beside.cpp),
# beside as many programs of one product each. Milliseconds, one thread, and their ratio.
#
#   Rscript bench/shared_operands.R
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
anvil_threads(1L)
set.seed(1)
drawn <- function(size) nv_tensor(matrix(rnorm(prod(size)), size[1L]), "f64")
# products: functions of x and one of the others each
compare <- function(what, x, others, products) {
  x <- drawn(x)
  others <- lapply(others, drawn)
  apart <- lapply(products, jit)
  together <- jit(function(x, others) Map(function(product, y) product(x, y), products, others))
  times <- c(
    least_ms(function() Map(function(product, y) product(x, y), apart, others), 40L),
    least_ms(function() together(x, others), 40L)
  )
  cat(sprintf(
    "%-24s %8d x %3d %8.3f ms apart, %8.3f together: %.2f\n",
    what, nrow(x), ncol(x), times[1L], times[2L], times[2L] / times[1L]
  ))
}
equations <- list(function(x, y) crossprod(x), function(x, y) crossprod(x, y))
for (size in list(c(1e6, 4), c(1e6, 8), c(2e5, 20), c(1e5, 8), c(1e4, 8), c(1e4, 64))) {
  compare("X'X and X'y", size, rep(list(c(size[1L], 1)), 2L), equations)
}
product <- function(x, y) x %*% y
for (d in c(64, 256)) compare("queries, keys, values", c(512, d), rep(list(c(d, d)), 3L), rep(list(product), 3L))
for (rows in c(16, 64)) compare("four gates", c(rows, 128), rep(list(c(128, 128)), 4L), rep(list(product), 4L))
