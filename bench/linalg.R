# Factorisations and systems of equations against base R, in f64: 10,000 matrices of 6 x 6 side by side, one of
# 50 and one of 500. For the small ones R calls LAPACK once for each, by its routine for one matrix. Prints
# milliseconds and how many times as long R takes.
#
#   Rscript bench/linalg.R [SIZE...]

library(anvil)
set.seed(1)

f64 <- function(x) nv_tensor(x, dtype = "f64")
milliseconds <- function(f, least = 0.5) {
  f()
  times <- numeric()
  while (sum(times) < least || length(times) < 3L) times <- c(times, system.time(f())[["elapsed"]])
  1000 * min(times)
}
# Short ones are repeated, for a clock of milliseconds.
repeated <- function(f, times) milliseconds(function() for (i in seq_len(times)) f()) / times

symmetric <- function(a) crossprod(a) / nrow(a)
tasks <- list(
  solve = list(ours = function(a) nv_solve(a, a), base = function(a) solve.default(a, a)),
  det = list(ours = nv_det, base = det),
  lu = list(ours = nv_lu, base = function(a) determinant(a)),
  qr = list(ours = nv_qr, base = function(a) {
    found <- qr(a, LAPACK = TRUE)
    list(qr.Q(found), qr.R(found))
  }),
  eigh = list(ours = nv_eigh, base = function(a) eigen(a, symmetric = TRUE)),
  svd = list(ours = nv_svd, base = svd)
)

measure <- function(name, n) {
  count <- if (n == 6L) 10000L else 1L
  a <- array(rnorm(count * n * n), c(if (count > 1L) count, n, n))
  matrices <- if (count > 1L) lapply(seq_len(count), function(k) symmetric(a[k, , ])) else list(symmetric(a))
  if (count > 1L) for (k in seq_len(count)) a[k, , ] <- matrices[[k]] else a <- matrices[[1L]]
  ours <- jit(tasks[[name]]$ours)
  x <- f64(a)
  times <- if (n == 50L) 200L else 1L
  mine <- repeated(function() ours(x), times)
  base <- repeated(function() for (m in matrices) tasks[[name]]$base(m), times)
  cat(sprintf("%-6s n = %3d x %5d  anvil %9.3f ms  R %9.3f ms  R / anvil %6.2f\n", name, n, count, mine, base, base / mine))
}

sizes <- as.integer(commandArgs(TRUE))
for (n in if (length(sizes)) sizes else c(6L, 50L, 500L)) for (name in names(tasks)) measure(name, n)
