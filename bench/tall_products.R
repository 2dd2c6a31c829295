# Products of tall matrices with what makes their operands and what is made of them, in milliseconds, one thread and two, beside
# base R: blocks of rows go through all of it while the cache holds them (src/compiler/steps.cpp). `alone` is the product x W.
#
#   Rscript bench/tall_products.R
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
programs <- list(
  alone = function(x, W, b) x %*% W,
  layer = function(x, W, b) tanh(x %*% W + b),
  scaled = function(x, W, b) (x * b) %*% W,
  both = function(x, W, b) tanh((x * b) %*% W - b),
  quadratic = function(x, W, b) rowSums((x %*% W) * x),
  centred = function(x, W, b) crossprod(x - b),
  exponentials = function(x, W, b) crossprod(exp(x)),
  chain = function(x, W, b) crossprod(tanh(x %*% W), x)
)
in_r <- programs
along <- function(b, x) rep(b, each = nrow(x))
in_r$layer <- function(x, W, b) tanh(x %*% W + along(b, x))
in_r$scaled <- function(x, W, b) (x * along(b, x)) %*% W
in_r$both <- function(x, W, b) tanh((x * along(b, x)) %*% W - along(b, x))
in_r$centred <- function(x, W, b) crossprod(x - along(b, x))
set.seed(1)
for (size in list(c(1000000L, 10L), c(100003L, 20L), c(100000L, 50L))) {
  x <- matrix(rnorm(prod(size)), size[1L])
  W <- matrix(rnorm(size[2L]^2), size[2L])
  b <- matrix(rnorm(size[2L]), 1L)
  for (dtype in c("f64", "f32")) {
    given <- lapply(list(x, W, b), nv_tensor, dtype = dtype)
    for (name in names(programs)) {
      f <- jit(programs[[name]])
      error <- max(abs(as_array(do.call(f, given)) - in_r[[name]](x, W, b)) / (1 + abs(in_r[[name]](x, W, b))))
      times <- vapply(1:2, function(n) with_threads(n, least_ms(function() do.call(f, given), 15L)), 0)
      theirs <- if (dtype == "f64") least_ms(function() in_r[[name]](x, W, b), 2L) else NA
      cat(sprintf(
        "%s %7d x %2d %-12s %7.2f ms, two threads %7.2f, R %8.2f, differs by %.1g\n",
        dtype, size[1L], size[2L], name, times[1L], times[2L], theirs, error
      ))
    }
  }
}
