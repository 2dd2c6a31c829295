# Derivatives of linear predictors on data that the program has captured and on data that are its arguments, and first
# calls of programs whose steps are written out, as a loop of R does. The least time in milliseconds, one thread.
#
#   Rscript bench/captured_data.R
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
anvil_threads(1L)
set.seed(1)
for (n in c(500, 5000, 50000)) {
  x <- nv_tensor(matrix(rnorm(5 * n), n), "f32")
  y <- nv_tensor(matrix(rbinom(n, 1, 0.5)), "f32")
  b <- nv_tensor(matrix(0, 5, 1), "f32")
  loss <- function(b, x, y) nv_mean(nv_log1p(nv_exp(x %*% b)) - y * (x %*% b))
  captured <- jit(gradient(function(b) loss(b, x, y)))
  given <- jit(gradient(loss, "b"))
  cat(sprintf(
    "logistic regression, %5d x 5: captured %8.4f ms, given %8.4f\n", n,
    least_ms(function() for (i in 1:20) captured(b)) / 20, least_ms(function() for (i in 1:20) given(b, x, y)) / 20
  ))
}

normal <- function(...) nv_tensor(array(rnorm(prod(...)), c(...)), "f32")
x <- normal(2000, 20)
y <- normal(2000, 3)
weights <- list(normal(20, 64), normal(64, 3))
loss <- function(v, w, x, y) nv_mean((nv_relu(x %*% v) %*% w - y)^2)
captured <- jit(gradient(function(v, w) loss(v, w, x, y)))
given <- jit(gradient(loss, c("v", "w")))
cat(sprintf(
  "two layers, 2000 x 20:          captured %8.4f ms, given %8.4f\n",
  least_ms(function() for (i in 1:20) captured(weights[[1L]], weights[[2L]])) / 20,
  least_ms(function() for (i in 1:20) given(weights[[1L]], weights[[2L]], x, y)) / 20
))

x <- nv_tensor(rnorm(1000), "f64")
step <- function(x) x / (1 + nv_sqrt(nv_sum(x * x))) + nv_tanh(x)
for (steps in c(10, 100, 400)) {
  unrolled <- function(k) {
    f <- function(x) {
      for (i in seq_len(steps)) x <- step(x)
      x + k # another program each time
    }
    run_ms(function() jit(f)(x))
  }
  cat(sprintf("%3d steps with a sum, first call: %7.1f ms\n", steps, min(vapply(1:5, unrolled, 0))))
}
