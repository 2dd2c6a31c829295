# Programs that move data, compiled, against base R on one thread, in the least time of many, f64: group norms, tiles, pixels that
# are shuffled, means of blocks that are taken away, and a layer of a graph network, whose rows are looked up, weighted and added
# up along its edges.
#
#   Rscript bench/data_movement.R
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
anvil_threads(1L)
set.seed(1)
draw <- function(...) array(rnorm(prod(...)), c(...))

measure <- function(name, f, by_r, ...) {
  compiled <- jit(f)
  tensors <- lapply(list(...), function(x) if (is.integer(x)) nv_tensor(x, "i32") else nv_tensor(x, "f64"))
  call <- function() do.call(compiled, tensors)
  stopifnot(all.equal(as.numeric(as_array(call())), as.numeric(by_r(...)), tolerance = 1e-10))
  ours <- least_ms(call, 300L)
  cat(sprintf("%-18s %7.3f ms, base R %8.3f ms\n", name, ours, least_ms(function() by_r(...), 5L)))
}

# x[n, h, w, c] in groups of 8 channels
measure(
  "group norm",
  function(x, scale, shift) {
    y <- nv_reshape(x, c(4L, 32L, 32L, 8L, 8L))
    centred <- y - mean(y, dims = c(2L, 3L, 4L), drop = FALSE)
    y <- centred / sqrt(mean(centred^2, dims = c(2L, 3L, 4L), drop = FALSE) + 1e-5)
    sweep(sweep(nv_reshape(y, c(4L, 32L, 32L, 64L)), 4, scale, "*"), 4, shift, "+")
  },
  function(x, scale, shift) {
    y <- array(x, c(4, 32, 32, 8, 8))
    centred <- sweep(y, c(1, 5), apply(y, c(1, 5), mean))
    y <- sweep(centred, c(1, 5), sqrt(apply(centred^2, c(1, 5), mean) + 1e-5), "/")
    sweep(sweep(array(y, dim(x)), 4, scale, "*"), 4, shift, "+")
  },
  draw(c(4, 32, 32, 64)), rnorm(64), rnorm(64)
)

tiled <- function(x, by) nv_reshape(nv_broadcast_to(nv_reshape(x, c(200L, 1L, 200L, 1L)), c(200L, by, 200L, by)), c(200L, 200L) * by)
measure(
  "tiles",
  function(a, b) tiled(a, 4L) * exp(-tiled(b, 4L)),
  function(a, b) (matrix(1, 4, 4) %x% a) * exp(-(matrix(1, 4, 4) %x% b)),
  draw(c(200, 200)), draw(c(200, 200))
)

measure(
  "pixel shuffle",
  function(x) {
    y <- nv_reshape(tanh(x), c(8L, 64L, 64L, 2L, 2L, 4L))
    nv_reshape(nv_transpose(y, c(1L, 4L, 2L, 5L, 3L, 6L)), c(8L, 128L, 128L, 4L)) + 1
  },
  function(x) array(aperm(array(tanh(x), c(8, 64, 64, 2, 2, 4)), c(1, 4, 2, 5, 3, 6)), c(8, 128, 128, 4)) + 1,
  draw(c(8, 64, 64, 16))
)

measure(
  "block means",
  function(x) {
    y <- nv_reshape(x, c(10L, 100L, 10L, 100L))
    nv_reshape((y - mean(y, dims = c(1L, 3L), drop = FALSE))^2, c(1000L, 1000L))
  },
  function(x) {
    y <- array(x, c(10, 100, 10, 100))
    array(sweep(y, c(2, 4), apply(y, c(2, 4), mean))^2, c(1000, 1000))
  },
  draw(c(1000, 1000))
)

# from each of 2000 nodes with 32 features, along 10000 edges
nodes <- 2000L
measure(
  "graph layer",
  function(h, w, from, to) {
    z <- h %*% w
    weight <- exp(0.1 * rowSums(z[from, ] * z[to, ]))
    z + nv_rowsum(sweep(z[from, ], 1, weight, "*"), to, nodes)
  },
  function(h, w, from, to) {
    z <- h %*% w
    weight <- exp(0.1 * rowSums(z[from, ] * z[to, ]))
    sums <- rowsum(z[from, ] * weight, to)
    z[as.integer(rownames(sums)), ] <- z[as.integer(rownames(sums)), ] + sums
    z
  },
  draw(c(nodes, 32)), draw(c(32, 32)) / 6, sample(nodes, 10000, TRUE), sample(nodes, 10000, TRUE)
)
