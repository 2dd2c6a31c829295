# Whole models against base R on the same numbers in one run, one thread, and against what was measured before:
#   Rscript --vanilla models.R [name of this measurement]
# A model's results agree before it is timed. Writes results/models.csv, to which a measurement is added, and
# results/models.png: times of each measurement relative to base R's.
suppressPackageStartupMessages(library(anvil))
label <- c(commandArgs(trailingOnly = TRUE), tryCatch(system("git log -1 --format=%h", intern = TRUE), error = function(e) "here"))[1L]
options(anvil.default_dtypes = "f64")
set.seed(1)

now <- function() as.numeric(Sys.time())
median_of <- function(f, seconds = 1) {
  for (i in 1:3) f()
  times <- numeric()
  until <- now() + seconds
  while (now() < until || length(times) < 5L) {
    start <- now()
    f()
    times <- c(times, now() - start)
  }
  stats::median(times)
}
normal <- function(...) array(rnorm(prod(...)), c(...))

# ---- a transformer block: attention with heads, layer norm, two dense layers --------------------
tokens <- 128L; width <- 64L; heads <- 4L; each <- width %/% heads
weights <- c(lapply(1:4, function(i) normal(width, width) / 8), list(normal(width, 4L * width) / 8, normal(4L * width, width) / 16))
normalised <- function(x) {
  d <- sweep(x, 1L, rowMeans(x))
  sweep(d, 1L, sqrt(rowMeans(d * d) + 1e-5), "/")
}
transformer_base <- function(x, w) {
  h <- normalised(x)
  parts <- lapply(seq_len(heads), function(k) {
    on <- (k - 1L) * each + seq_len(each)
    e <- exp(tcrossprod(h %*% w[[1L]][, on], h %*% w[[2L]][, on]) / sqrt(each))
    (e / rowSums(e)) %*% (h %*% w[[3L]][, on])
  })
  x <- x + do.call(cbind, parts) %*% w[[4L]]
  x + tanh(normalised(x) %*% w[[5L]]) %*% w[[6L]]
}
row_means <- function(x) nv_mean(x, dims = 2L, drop = FALSE)
normalised_tensor <- function(x) {
  d <- nv_sub(x, nv_broadcast_to(row_means(x), dim(x)))
  nv_div(d, nv_broadcast_to(sqrt(row_means(d * d) + 1e-5), dim(x)))
}
transformer <- jit(function(x, w) {
  split <- function(y) nv_transpose(nv_reshape(y, c(tokens, each, heads)), c(1L, 2L, 3L))
  h <- normalised_tensor(x)
  q <- split(h %*% w[[1L]])
  k <- split(h %*% w[[2L]])
  v <- split(h %*% w[[3L]])
  attend <- vectorize(function(q, k, v) {
    e <- exp(q %*% t(k) / sqrt(each))
    (e / nv_broadcast_to(nv_reduce_sum(e, dims = 2L, drop = FALSE), dim(e))) %*% v
  }, in_axes = 3L, out_axes = 3L)
  x <- x + nv_reshape(attend(q, k, v), c(tokens, width)) %*% w[[4L]]
  x + tanh(normalised_tensor(x) %*% w[[5L]]) %*% w[[6L]]
})
