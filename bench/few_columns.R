# A large matrix times a few columns, or a few rows times it, in the four layouts; layers of a few rows with their
# activation; and elements of an image at pairs of places, as when it is sampled anew. One thread, compiled, beside base
# R: medians in microseconds, and for the products how fast the matrix is read.
#
#   Rscript bench/few_columns.R [SIZE]
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
anvil_threads(1L)
set.seed(1)
size <- as.integer(c(commandArgs(TRUE), 1000L)[1L])
normal <- function(...) array(rnorm(prod(...)), c(...))
# Ten runs each, for a clock of microseconds.
microseconds <- function(...) 100 * median_ms(lapply(list(...), function(f) function() for (i in 1:10) f()), 15L)

products <- list(
  "A %*% t" = list(function(a, t) a %*% t, columns = TRUE),
  "t(A) %*% t" = list(function(a, t) t(a) %*% t, columns = TRUE),
  "t %*% A" = list(function(a, t) t %*% a, columns = FALSE),
  "t %*% t(A)" = list(function(a, t) t %*% t(a), columns = FALSE)
)
for (dtype in c("f64", "f32")) {
  for (name in names(products)) {
    for (few in c(1L, 2L, 4L, 8L)) {
      a <- normal(size, size)
      few_lines <- if (products[[name]]$columns) normal(size, few) else normal(few, size)
      f <- products[[name]][[1L]]
      g <- jit(f)
      x <- nv_tensor(a, dtype)
      y <- nv_tensor(few_lines, dtype)
      error <- max(abs(as_array(g(x, y)) - f(a, few_lines)))
      times <- microseconds(function() g(x, y), function() f(a, few_lines))
      bytes <- size^2 * if (dtype == "f64") 8 else 4
      cat(sprintf("%s %-10s %d: %7.1f us (%4.1f GB/s), base R %8.1f us, difference %.1g\n", dtype, name, few, times[1L], bytes / times[1L] / 1e3, times[2L], error))
    }
  }
}

layer <- function(x, w, b) tanh(x %*% w + b)
for (dtype in c("f64", "f32")) {
  for (rows in c(1L, 4L)) {
    x <- normal(rows, 256L)
    w <- normal(256L, 512L) / 16
    b <- normal(1L, 512L)
    g <- jit(layer)
    ours <- lapply(list(x, w, b), nv_tensor, dtype = dtype)
    error <- max(abs(as_array(do.call(g, ours)) - layer(x, w, b[rep(1L, rows), ])))
    times <- microseconds(function() do.call(g, ours), function() layer(x, w, b[rep(1L, rows), ]))
    cat(sprintf("%s layer of 256 to 512, %d rows: %7.1f us, base R %8.1f us, difference %.1g\n", dtype, rows, times[1L], times[2L], error))
  }
}

sampled <- function(image, at, index = identity) {
  i <- floor(at[, 1L])
  j <- floor(at[, 2L])
  u <- at[, 1L] - i
  v <- at[, 2L] - j
  place <- function(di, dj) index(cbind(i + di, j + dj))
  (1 - u) * ((1 - v) * image[place(0, 0)] + v * image[place(0, 1)]) + u * ((1 - v) * image[place(1, 0)] + v * image[place(1, 1)])
}
image <- normal(256L, 256L)
at <- matrix(runif(80000L, 1, 255), ncol = 2L)
g <- jit(function(image, at) sampled(image, at, function(pairs) nv_convert(pairs, "i32")))
x <- nv_tensor(image, "f32")
y <- nv_tensor(at, "f32")
error <- stats::median(abs(as_array(g(x, y)) - sampled(image, at)))
times <- microseconds(function() g(x, y), function() sampled(image, at))
cat(sprintf("f32 image at 40,000 places: %7.1f us, base R %8.1f us, median difference %.1g\n", times[1L], times[2L], error))
