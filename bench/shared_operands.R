# Products of one matrix with several others in one program, which reads or packs that matrix once (src/compiler/beside.cpp),
# beside as many programs of one product each. Milliseconds, one thread, and their ratio.
#
#   Rscript bench/shared_operands.R
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
anvil_threads(1L)
set.seed(1)
compare <- function(what, product, x, others) {
  x <- nv_tensor(matrix(rnorm(prod(x)), x[1L]), "f64")
  others <- lapply(others, function(size) nv_tensor(matrix(rnorm(prod(size)), size[1L]), "f64"))
  f <- jit(product)
  together <- jit(function(x, others) lapply(others, function(y) product(x, y)))
  all <- function() for (y in others) f(x, y)
  first <- if (identical(what, "X'X and X'y")) jit(function(x) crossprod(x)) else NULL
  if (!is.null(first)) {
    together <- jit(function(x, others) list(crossprod(x), product(x, others[[1L]])))
    all <- function() {
      first(x)
      f(x, others[[1L]])
    }
  }
  times <- c(least_ms(all, 40L), least_ms(function() together(x, others), 40L))
  cat(sprintf(
    "%-24s %8d x %3d %8.3f ms apart, %8.3f together: %.2f\n",
    what, nrow(x), ncol(x), times[1L], times[2L], times[2L] / times[1L]
  ))
}
for (size in list(c(1e6, 4), c(1e6, 8), c(2e5, 20), c(1e5, 8), c(1e4, 8), c(1e4, 64))) {
  compare("X'X and X'y", function(x, y) crossprod(x, y), size, list(c(size[1L], 1)))
}
for (d in c(64, 256)) compare("queries, keys, values", function(x, y) x %*% y, c(512, d), rep(list(c(d, d)), 3L))
for (rows in c(16, 64)) compare("four gates", function(x, y) x %*% y, c(rows, 128), rep(list(c(128, 128)), 4L))
