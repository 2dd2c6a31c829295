# Attention of 8 heads of 2 examples over 512 positions, where each position sees those before it, beside attention that
# sees all: of the products of queries and keys a half is hidden, and not made. The same for a triangle of a product of
# two matrices. One thread, compiled: the least time in milliseconds, and of what is made in full.
#
#   Rscript bench/triangles.R
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
anvil_threads(1L)
set.seed(1)
attend <- function(q, k, v, causal) nv_attention(q, k, v, causal = causal)
multiply <- function(x, y, lower) {
  product <- x %*% y
  if (!lower) {
    return(sum(abs(product)))
  }
  sum(abs(nv_tril(product)))
}
compare <- function(name, f, inputs, type) {
  tensors <- lapply(inputs, nv_tensor, dtype = type)
  run <- jit(f, static = names(formals(f))[length(inputs) + 1L])
  times <- vapply(c(TRUE, FALSE), function(part) least_ms(function() do.call(run, c(tensors, list(part))), 100L), 0)
  cat(sprintf("%s, %s: %.2f ms of %.2f\n", name, type, times[1L], times[2L]))
}
heads <- replicate(3L, array(rnorm(2 * 8 * 512 * 64), c(2L, 8L, 512L, 64L)), simplify = FALSE)
matrices <- list(matrix(rnorm(600 * 400), 600L), matrix(rnorm(400 * 600), 400L))
for (type in c("f32", "f64")) {
  compare("attention", attend, heads, type)
  compare("product", multiply, matrices, type)
}
