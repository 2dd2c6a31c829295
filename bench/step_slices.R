# A loop whose steps read a slice each of what is known before it: along the last dimension, where a slice lies together,
# along the first one, as scans of other tools go, and along the first one of what base R has turned before. And a
# neighbourhood that goes around the edges, step by step. One thread, compiled: medians in milliseconds.
#
#   Rscript bench/step_slices.R
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
anvil_threads(1L)
set.seed(1)

scan_along <- function(dim, size, steps) {
  function(h, x) {
    nv_while(list(h = h, i = nv_scalar(1L, "i32")), function(h, i) i <= steps, function(h, i) {
      slice <- if (dim == 1L) x[i, ] else x[, i]
      list(h = h * 0.5 + slice * slice, i = i + 1L)
    })$h
  }
}
for (steps in c(50L, 400L)) {
  for (size in c(512L, 4096L, 16384L)) {
    first <- jit(scan_along(1L, size, steps))
    last <- jit(scan_along(2L, size, steps))
    h <- nv_tensor(rnorm(size), "f32")
    x <- matrix(rnorm(steps * size), steps)
    a <- nv_tensor(x, "f32")
    b <- nv_tensor(t(x), "f32")
    stopifnot(identical(as_array(first(h, a)), as_array(last(h, b))))
    times <- median_ms(list(function() first(h, a), function() last(h, b), function() t(x)), 15L)
    cat(sprintf(
      "%3d steps of %5d: first dimension %6.3f ms, last one %6.3f ms, base R's t() alone %6.3f ms\n",
      steps, size, times[1L], times[2L], times[3L]
    ))
  }
}

around <- function(x) {
  n <- shape(x)
  rows <- seq_len(n[1L])
  columns <- seq_len(n[2L])
  x[c(rows[-1L], 1L), ] + x[c(n[1L], rows[-n[1L]]), ] + x[, c(columns[-1L], 1L)] + x[, c(n[2L], columns[-n[2L]])]
}
ising <- function(s, u) {
  checkers <- nv_tensor((row(diag(128)) + col(diag(128))) %% 2, "f32")
  nv_while(list(s = s, i = nv_scalar(1L, "i32")), function(s, i) i <= 50L, function(s, i) {
    for (colour in 0:1) {
      flips <- (u[i, colour + 1L, , ] < exp(-0.8 * s * around(s))) & (checkers == colour)
      s <- nv_ifelse(flips, -s, s)
    }
    list(s = s, i = i + 1L)
  })$s
}
s <- nv_tensor(matrix(sample(c(-1, 1), 128^2, TRUE), 128), "f32")
u <- nv_tensor(array(runif(50 * 2 * 128^2), c(50L, 2L, 128L, 128L)), "f32")
sweeps <- jit(ising)
cat(sprintf("50 sweeps of 128 x 128 spins: %6.3f ms\n", median_ms(list(function() sweeps(s, u), function() NULL), 15L)[1L]))
