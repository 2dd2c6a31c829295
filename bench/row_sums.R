# Sums, maxima, variances and softmaxes of rows, which lie across memory, and a product with a vector, in milliseconds beside
# base R: what a cache does not hold is read in the order of memory (src/compiler/streams.cpp). Then sums of both the rows and the
# columns, of squares, of what nearly is one and of what is made (src/compiler/sums_along_memory.cpp), and variances and correlations of vectors, which are read once
# (src/transform/centred_sums.cpp).
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
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
for (columns in c(512L, 500L)) {
  m <- matrix(rnorm(512 * columns), 512L)
  both <- jit(function(x) list(rowSums(x), colSums(x)))
  for (dtype in c("f64", "f32")) {
    x <- nv_tensor(m, dtype)
    times <- median_ms(list(function() for (i in 1:100) both(x), function() for (i in 1:100) list(rowSums(m), colSums(m))), 11L)
    cat(sprintf("   512 x %4d %s rows and columns %5.1f us, base R %5.1f us\n", columns, dtype, 10 * times[1L], 10 * times[2L]))
  }
}
m <- matrix(rnorm(4e6), 2000L)
pairs <- list(
  "rows and columns" = list(function(x) list(rowSums(x), colSums(x)), function(m) list(rowSums(m), colSums(m))),
  "of exp()" = list(function(x) {
    e <- exp(x)
    list(rowSums(e), colSums(e))
  }, function(m) {
    e <- exp(m)
    list(rowSums(e), colSums(e))
  }),
  "values and rows" = list(function(x) list(2 * x, rowSums(2 * x)), function(m) list(2 * m, rowSums(2 * m)))
)
for (name in names(pairs)) {
  f <- jit(pairs[[name]][[1L]])
  g <- pairs[[name]][[2L]]
  for (dtype in c("f64", "f32")) {
    x <- nv_tensor(m, dtype)
    times <- median_ms(list(function() f(x), function() g(m)), 11L)
    cat(sprintf("  2000 x 2000 %s %-16s %6.2f ms, base R %6.2f ms\n", dtype, name, times[1L], times[2L]))
  }
}
centred <- function(x) x - nv_mean(x)
correlation <- function(x, y) sum(centred(x) * centred(y)) / sqrt(sum(centred(x)^2) * sum(centred(y)^2))
v <- rnorm(1e7)
w <- v + rnorm(length(v))
for (dtype in c("f64", "f32")) {
  x <- nv_tensor(v, dtype)
  y <- nv_tensor(w, dtype)
  of_one <- jit(nv_var)
  of_two <- jit(correlation)
  times <- median_ms(list(function() of_one(x), function() var(v), function() of_two(x, y), function() cor(v, w)), 11L)
  cat(sprintf(
    "%d %s variance %.2f ms, base R %.2f ms, difference %.1g; correlation %.2f ms, base R %.2f ms, difference %.1g\n", length(v), dtype,
    times[1L], times[2L], abs(as_array(of_one(x)) - var(v)), times[3L], times[4L], abs(as_array(of_two(x, y)) - cor(v, w))
  ))
}
