# What vectorize() costs: the gradients of each of 512 examples of a network of three layers, by
# vectorize(gradient(loss)) and by the formulas written for the whole batch; the same for the predictions.
# Medians in milliseconds, with the memory of results collected before each run, as it is in a loop that
# keeps none of them.
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
set.seed(1)
n <- 512L
sizes <- c(64L, 128L, 128L, 10L)
normal <- function(...) nv_tensor(array(rnorm(prod(...)), c(...)), "f32")
w <- list(a = normal(sizes[2:1]) * 0.1, b = normal(sizes[3:2]) * 0.1, c = normal(sizes[4:3]) * 0.1)
x <- normal(c(sizes[1L], n))
y <- normal(c(sizes[4L], n))

column <- function(x) nv_reshape(x, c(shape(x), 1L))
predict_one <- function(w, x) w$c %*% tanh(w$b %*% tanh(w$a %*% column(x)))
loss <- function(w, x, y) sum((predict_one(w, x) - column(y))^2)
vectorized <- jit(vectorize(gradient(loss, "w"), c("x", "y"), axis = -1L, out_axis = -1L))

# d loss / d W of a layer is, for each example, the outer product of the slopes behind it and its inputs.
outer <- function(slopes, inputs) {
  spread <- function(x, dims, shape) nvl_broadcast_in_dim(x, shape, dims)
  sizes <- c(shape(slopes)[1L], shape(inputs)[1L], n)
  spread(slopes, c(1L, 3L), sizes) * spread(inputs, c(2L, 3L), sizes)
}
by_hand <- jit(function(w, x, y) {
  h1 <- tanh(w$a %*% x)
  h2 <- tanh(w$b %*% h1)
  d3 <- 2 * (w$c %*% h2 - y)
  d2 <- nv_crossprod(w$c, d3) * (1 - h2 * h2)
  d1 <- nv_crossprod(w$b, d2) * (1 - h1 * h1)
  list(a = outer(d1, x), b = outer(d2, h1), c = outer(d3, h2))
})
a <- vectorized(w, x, y)$w
b <- by_hand(w, x, y)
stopifnot(all(mapply(function(a, b) max(abs(as_array(a) - as_array(b))) < 1e-3, a, b)))
report <- function(what, times) cat(sprintf("%s: vectorized %.2f ms, by hand %.2f ms, ratio %.2f\n", what, times[1L], times[2L], times[1L] / times[2L]))
report("gradients of 512 examples", median_ms(list(function() vectorized(w, x, y), function() by_hand(w, x, y))))

predictions <- jit(vectorize(predict_one, "x", axis = -1L))
predictions_by_hand <- jit(function(w, x) w$c %*% tanh(w$b %*% tanh(w$a %*% x)))
report("predictions of 512 examples", median_ms(list(function() predictions(w, x), function() predictions_by_hand(w, x))))

# examples first, as rows
rows <- jit(vectorize(gradient(loss, "w"), c("x", "y")))
rows_by_hand <- jit(function(w, x, y) {
  h1 <- tanh(nv_tcrossprod(x, w$a))
  h2 <- tanh(nv_tcrossprod(h1, w$b))
  d3 <- 2 * (nv_tcrossprod(h2, w$c) - y)
  d2 <- (d3 %*% w$c) * (1 - h2 * h2)
  d1 <- (d2 %*% w$b) * (1 - h1 * h1)
  outer <- function(slopes, inputs) {
    sizes <- c(n, shape(slopes)[2L], shape(inputs)[2L])
    nvl_broadcast_in_dim(slopes, sizes, c(1L, 2L)) * nvl_broadcast_in_dim(inputs, sizes, c(1L, 3L))
  }
  list(a = outer(d1, x), b = outer(d2, h1), c = outer(d3, h2))
})
xt <- t(x)
yt <- t(y)
report("gradients, examples first", median_ms(list(function() rows(w, xt, yt), function() rows_by_hand(w, xt, yt))))
