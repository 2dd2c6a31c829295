# What nv_index() costs, compiled: the matrix product, a 5 x 5 convolution with its gradient, distances of all pairs and
# attention, each beside the same composed by hand. Medians in milliseconds of runs in turns.
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
compare <- function(what, by_index, by_hand, ...) {
  by_index <- jit(by_index)
  by_hand <- jit(by_hand)
  error <- max(abs(c(as_array(by_index(...))) - c(as_array(by_hand(...)))))
  times <- median_ms(list(function() by_index(...), function() by_hand(...)))
  cat(sprintf("%-24s nv_index() %7.3f ms, by hand %7.3f ms, ratio %.2f, difference %.1g\n", what, times[1L], times[2L], times[1L] / times[2L], error))
}
set.seed(1)
normal <- function(...) nv_tensor(array(rnorm(prod(...)), c(...)), "f32")

product <- function(a, b) nv_index(c[i, j] ~ sum(a[i, k] * b[k, j]))
for (n in c(64L, 512L)) compare(sprintf("matrix product, %d", n), product, function(a, b) a %*% b, normal(n, n), normal(n, n))
compare("product with a vector", function(a, x) nv_index(y[i] ~ sum(a[i, k] * x[k])), function(a, x) a %*% x, normal(2000L, 2000L), normal(2000L))

convolution <- function(x, w) nv_index(y[i, j, o, b] ~ sum(x[i + d - 1, j + e - 1, c, b] * w[d, e, c, o]))
by_primitive <- function(x, w) {
  nvl_convolution(x, w, c(1, 1), c(0, 0), c(0, 0), c(1, 1), c(1, 1), input_dims = c(4, 3, 1, 2), kernel_dims = c(4, 3, 1, 2), output_dims = c(4, 3, 1, 2))
}
slope_of <- function(f) function(x, w) gradient(function(x, w) sum(tanh(f(x, w))), "w")(x, w)$w
for (channels in list(c(16L, 32L), c(1L, 1L))) {
  x <- normal(if (channels[1L] == 1L) 256L else 32L, 32L, channels[1L], 8L)
  w <- normal(5L, 5L, channels)
  compare(sprintf("5 x 5, %d to %d channels", channels[1L], channels[2L]), convolution, by_primitive, x, w)
  compare("  its gradient", slope_of(convolution), slope_of(by_primitive), x, w)
}

distances <- function(x, y) nv_index(d[i, j] ~ sqrt(sum((x[i, k] - y[j, k])^2)))
distances_by_hand <- function(x, y) {
  sizes <- c(shape(x)[1L], shape(y))
  sqrt(sum((nvl_broadcast_in_dim(x, sizes, c(1L, 3L)) - nvl_broadcast_in_dim(y, sizes, c(2L, 3L)))^2, dims = 3))
}
compare("distances of all pairs", distances, distances_by_hand, normal(500L, 16L), normal(500L, 16L))

attention <- function(q, k, v) {
  p <- nv_index(p[h, i, j] ~ sum(q[i, d, h] * k[j, d, h]))
  e <- nv_index(e[h, i, j] ~ exp(p[h, i, j] - max(p[h, i, l])))
  nv_index(y[i, d, h] ~ sum(e[h, i, j] * v[j, d, h]) / sum(e[h, i, j]))
}
attention_by_hand <- function(q, k, v) {
  p <- nvl_dot_general(q, k, list(2L, 2L), list(3L, 3L)) # h, i, j
  e <- exp(p - max(p, dims = 3, drop = FALSE))
  y <- nvl_dot_general(e, v, list(3L, 1L), list(1L, 3L)) # h, i, d
  nv_transpose(y / sum(e, dims = 3, drop = FALSE), c(2, 3, 1))
}
compare("attention of 4 heads", attention, attention_by_hand, normal(256L, 32L, 4L), normal(256L, 32L, 4L), normal(256L, 32L, 4L))

# nothing between the operands and the result is stored
nv_inspect(distances, "loops", nv_aten("f32", c(500L, 16L)), nv_aten("f32", c(500L, 16L)))
