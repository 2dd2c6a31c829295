# Sums of groups (rowsum()) and random numbers, in milliseconds beside base R: sums go row by row, some
# columns at once (src/compiler/rows.cpp), and blocks of random bits fill vector registers (src/compiler/schedule.cpp).
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
set.seed(1)
rows <- 100000L
for (columns in c(16L, 64L)) {
  m <- matrix(rnorm(rows * columns), rows)
  for (groups in c(50L, 1000L, 5000L)) {
    of <- c(seq_len(groups), sample.int(groups, rows - groups, TRUE))
    x <- nv_tensor(m, dtype = "f64")
    group <- nv_tensor(of)
    f <- jit(function(x, group) nv_rowsum(x, group, groups))
    error <- max(abs(as_array(f(x, group)) - rowsum(m, of)))
    times <- median_ms(list(function() f(x, group), function() rowsum(m, of)), 11L)
    cat(sprintf("%6d x %2d in %4d groups %8.2f ms, base R %8.2f ms, difference %.1g\n", rows, columns, groups, times[1L], times[2L], error))
  }
}
n <- 5e6
state <- nv_rng_state(1L)
draws <- list(runif = list(nv_runif, runif), rnorm = list(nv_rnorm, rnorm))
for (name in names(draws)) {
  for (dtype in c("f32", "f64")) {
    f <- jit(function(state) draws[[name]][[1L]](n, state, dtype = dtype))
    times <- median_ms(list(function() f(state), function() draws[[name]][[2L]](n)), 11L)
    cat(sprintf("%.0e %s %s %8.2f ms, base R %8.2f ms\n", n, name, dtype, times[1L], times[2L]))
  }
}
