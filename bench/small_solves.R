# 10,000 systems of 6 equations, f64: nv_solve() against a loop in C over matrices that lie one after the other
# (small_solves.c, compiled with R's compiler and -O3 -march=native). Ours lie side by side, as batches do.
#
#   Rscript bench/small_solves.R

suppressPackageStartupMessages(library(anvil))
bench <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(bench, "timing.R"))
folder <- tempfile()
dir.create(folder)
invisible(file.copy(file.path(bench, "small_solves.c"), folder))
writeLines("PKG_CFLAGS = -O3 -march=native", file.path(folder, "Makevars"))
old <- setwd(folder)
stopifnot(system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "small_solves.c"), stdout = FALSE) == 0L)
dyn.load(paste0("small_solves", .Platform$dynlib.ext))
setwd(old)

set.seed(1)
count <- 10000L
n <- 6L
a <- array(rnorm(n * n * count), c(n, n, count))
b <- matrix(rnorm(n * count), n)
first <- function(x) nv_tensor(aperm(x, c(length(dim(x)), seq_len(length(dim(x)) - 1L))), "f64")
a_first <- first(a)
b_first <- first(b)
in_c <- function() .C("small_solves", a, b, x = numeric(n * count), n, count)$x
ours <- jit(function(a, b) nv_solve(a, b))
stopifnot(max(abs(t(as_array(ours(a_first, b_first))) - matrix(in_c(), n))) < 1e-6)

# .C() copies its arguments: that is taken off by a call that solves nothing.
calls <- list(in_c, function() .C("small_solves", a, b, x = numeric(n * count), n, 0L), function() ours(a_first, b_first))
times <- apply(replicate(51L, vapply(calls, run_ms, 0)), 1L, stats::median)
cat(sprintf("C %.2f ms, anvil %.2f ms, ratio %.2f\n", times[1L] - times[2L], times[3L], times[3L] / (times[1L] - times[2L])))
