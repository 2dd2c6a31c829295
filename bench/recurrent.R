# A recurrent cell tanh(x W + h U) of 128 inputs and 256 units over 200 steps, for batches of several sizes: its value and its
# gradient by both weights, in milliseconds, beside the value in base R. Small batches wait for memory unless the products of all
# steps are made as one (src/transform/step_products.cpp).
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
steps <- 200L
inputs <- 128L
units <- 256L

value <- function(xs, w, u) {
  h <- nv_fill(0, c(dim(xs)[2L], units), "f32")
  cell <- function(h, x) {
    h <- tanh(x %*% w + h %*% u)
    list(carry = h, out = h)
  }
  sum(nv_scan(h, xs, cell)$out^2)
}
by_hand <- function(xs, w, u) {
  h <- matrix(0, dim(xs)[2L], units)
  total <- 0
  for (i in seq_len(steps)) {
    h <- tanh(matrix(xs[i, , ], ncol = inputs) %*% w + h %*% u)
    total <- total + sum(h^2)
  }
  total
}

set.seed(1)
w <- matrix(rnorm(inputs * units) / sqrt(inputs), inputs)
u <- matrix(rnorm(units * units) / sqrt(units), units)
compiled <- jit(value)
slope <- jit(gradient(value, wrt = c("w", "u")))
for (rows in c(1L, 8L, 32L)) {
  xs <- array(rnorm(steps * rows * inputs), c(steps, rows, inputs))
  x <- lapply(list(xs, w, u), nv_tensor, "f32")
  error <- abs(as_array(do.call(compiled, x)) / by_hand(xs, w, u) - 1)
  times <- median_ms(list(
    function() do.call(compiled, x), function() do.call(slope, x), function() by_hand(xs, w, u)
  ))
  cat(sprintf("%2d rows: value %6.2f ms, gradient %6.2f ms; base R's value %7.2f ms, relative difference %.1g\n", rows, times[1L], times[2L], times[3L], error))
}
