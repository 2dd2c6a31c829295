# Compiled programs on one thread and on several: Rscript bench/threads.R [threads]
# The least of 60 runs each, so that what other processes do counts as little as possible; milliseconds.
suppressMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))

arguments <- commandArgs(TRUE)
threads <- if (length(arguments) > 0) as.integer(arguments[1]) else anvil_threads()
local_default_dtypes("f64")

set.seed(1)
long <- nv_tensor(runif(4e6))
square <- nv_tensor(matrix(runif(1e6), 1000))
batch <- nv_tensor(array(runif(64 * 128 * 128), c(64, 128, 128)), "f32")
softmax <- function(m) {
  e <- exp(m - nv_broadcast_to(nv_reduce_max(m, 2L, drop = FALSE), shape(m)))
  e / nv_broadcast_to(nv_reduce_sum(e, 2L, drop = FALSE), shape(m))
}
work <- list(
  `exp of 4e6` = list(function(x) exp(x), long),
  `2 x + 1 of 4e6` = list(function(x) x * 2 + 1, long),
  `sum of 4e6` = list(function(x) sum(x), long),
  `sum of x log x` = list(function(x) sum(log(x) * x), long),
  `tanh of 20000` = list(function(x) tanh(x), nv_tensor(runif(20000))),
  `x + 1 of 1000` = list(function(x) x + 1, nv_tensor(runif(1000))),
  `sums of rows` = list(function(m) nv_reduce_sum(exp(m), 2L), square),
  `softmax of rows` = list(softmax, square),
  transpose = list(function(m) t(m) + 1, square),
  `product of 1000 x 1000` = list(function(m) m %*% m, square),
  `64 products of 128 x 128` = list(function(b) nv_matmul(b, b), batch),
  `Cholesky of 1000 x 1000` = list(function(m) nv_chol(m %*% t(m) + 100 * nv_eye(1000L)), square),
  `solving by LU of 1000 x 1000` = list(function(m) nv_solve(m, m), square),
  `1000 sorts of 1000` = list(function(m) nv_sort(m, 1L), square),
  `1e6 normal numbers` = list(function(s) nv_rnorm(1000000L, s)[[2L]], nv_rng_state(1L))
)

cat(sprintf("%-26s %10s %10s %6s\n", "", "1 thread", paste(threads, "threads"), "ratio"))
for (name in names(work)) {
  f <- jit(work[[name]][[1L]])
  one <- with_threads(1, least_ms(function() f(work[[name]][[2L]]), 60L))
  several <- with_threads(threads, least_ms(function() f(work[[name]][[2L]]), 60L))
  cat(sprintf("%-26s %10.3f %10.3f %6.2f\n", name, one, several, one / several))
}
