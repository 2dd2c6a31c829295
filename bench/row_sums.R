# Sums, maxima, variances and softmaxes of rows, which lie across memory, and a product with a vector, in milliseconds beside
# base R: what a cache does not hold is read in the order of memory (src/compiler/streams.cpp).
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "turns.R"))
along <- function(v, x) nv_broadcast_to(v, shape(x))
spread <- function(x) {
  apart <- x - along(nv_reduce_mean(x, 2L, drop = FALSE), x)
  nv_reduce_sum(apart * apart, 2L) / (dim(x)[2L] - 1)
}
softmax <- function(x) {
  e <- exp(x - along(nv_reduce_max(x, 2L, drop = FALSE), x))
  e / along(nv_reduce_sum(e, 2L, drop = FALSE), x)
}
base_spread <- function(m) rowSums((m - rowMeans(m))^2) / (ncol(m) - 1)
base_max <- function(m) m[cbind(seq_len(nrow(m)), max.col(m, "first"))]
base_softmax <- function(m) {
  e <- exp(m - base_max(m))
  e / rowSums(e)
}
set.seed(1)
for (size in list(c(1024L, 4096L), c(100000L, 100L), c(500L, 2000L))) {
  m <- matrix(rnorm(prod(size)), size[1L])
  w <- rnorm(size[2L])
  for (dtype in c("f64", "f32")) {
    x <- nv_tensor(m, dtype = dtype)
    weights <- nv_tensor(w, dtype = dtype)
    pairs <- list(
      sum = list(jit(function(x) nv_reduce_sum(x, 2L)), rowSums),
      max = list(jit(function(x) nv_reduce_max(x, 2L)), base_max),
      var = list(jit(spread), base_spread),
      softmax = list(jit(softmax), base_softmax),
      product = list(jit(function(x) x %*% weights), function(m) m %*% w)
    )
    for (name in names(pairs)) {
      f <- pairs[[name]][[1L]]
      g <- pairs[[name]][[2L]]
      error <- max(abs(as.vector(as_array(f(x))) - as.vector(g(m))))
      times <- median_ms(list(function() f(x), function() g(m)), 11L)
      cat(sprintf("%6d x %4d %s %-8s %8.2f ms, base R %8.2f ms, difference %.1g\n", size[1L], size[2L], dtype, name, times[1L], times[2L], error))
    }
  }
}
