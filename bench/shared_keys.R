# A step of decoding: queries of 16 heads of 4 examples meet 512 keys and values, which four heads have in common. The
# examples and groups lie side by side, so that products go over many small matrices at once. One thread, compiled:
# the least time in milliseconds, and base R's, matrix by matrix.
#
#   Rscript bench/shared_keys.R
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
anvil_threads(1L)
set.seed(1)
examples <- 4L
groups <- 4L
heads <- 4L
keys <- 512L
size <- 64L
q <- array(rnorm(examples * heads * groups * size), c(examples, heads * groups, size))
k <- array(rnorm(examples * groups * keys * size), c(examples, groups, keys, size))
v <- array(rnorm(length(k)), dim(k))

# Head h of group g is the (heads * (g - 1) + h)-th.
decode <- function(q, k, v) {
  q <- nv_reshape(q, c(examples, heads, groups, size))
  scores <- nvl_dot_general(q, k, list(4L, 4L), list(c(1L, 3L), c(1L, 2L))) * size^-0.5
  e <- exp(scores - nv_broadcast_to(nv_reduce_max(scores, 4L, drop = FALSE), shape(scores)))
  shares <- e / nv_broadcast_to(nv_reduce_sum(e, 4L, drop = FALSE), shape(scores))
  nvl_dot_general(shares, v, list(4L, 3L), list(c(1L, 2L), c(1L, 2L)))
}
by_r <- function() {
  result <- array(0, c(examples, groups, heads, size))
  for (i in seq_len(examples)) {
    for (g in seq_len(groups)) {
      scores <- q[i, heads * (g - 1L) + seq_len(heads), ] %*% t(k[i, g, , ]) / sqrt(size)
      e <- exp(scores - apply(scores, 1L, max))
      result[i, g, , ] <- (e / rowSums(e)) %*% v[i, g, , ]
    }
  }
  result
}
for (type in c("f32", "f64")) {
  tensors <- lapply(list(q, k, v), nv_tensor, dtype = type)
  run <- jit(decode)
  call <- function() do.call(run, tensors)
  stopifnot(all.equal(as_array(call()), by_r(), tolerance = if (type == "f32") 1e-4 else 1e-10, check.attributes = FALSE))
  cat(sprintf("%s: %.2f ms; base R, in double precision: %.1f ms\n", type, least_ms(call, 100L), least_ms(by_r)))
}
