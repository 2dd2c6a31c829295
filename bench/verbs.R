# R's verbs on large tensors against what R, that is C or LAPACK, takes for the same: seconds, the least of some runs.
#
#   R_LIBS=build/library Rscript bench/verbs.R [threads]

suppressMessages(library(anvil))
`%||%` <- function(a, b) if (is.null(a)) b else a
threads <- as.integer(commandArgs(trailingOnly = TRUE)[1])
if (!is.na(threads)) anvil_threads(threads)
options(anvil.default_dtypes = "f64")
set.seed(1)

least <- function(f, runs = 7L, clock = Sys.time) {
  min(vapply(seq_len(runs), function(i) {
    start <- clock()
    f()
    as.numeric(clock() - start, units = "secs")
  }, 0))
}
cpu_time <- function() as.difftime(sum(proc.time()[1:2]), units = "secs")
compare <- function(what, f, tensors, base) {
  compiled <- jit(f)
  do.call(compiled, tensors)
  ours <- least(function() do.call(compiled, tensors))
  theirs <- least(base)
  cat(sprintf("%-28s %8.5f s, R %8.5f s: %5.2f\n", what, ours, theirs, ours / theirs))
}

n <- 1e6
v <- rnorm(n)
m <- matrix(rnorm(4 * n), n)
i <- sample.int(n)
g <- sample.int(1000L, n, replace = TRUE)
s <- crossprod(matrix(rnorm(1e6), 1000L)) + diag(1000)
b <- rnorm(1000L)
compare("x[idx, ]", function(m, i) m[i, ], list(nv_tensor(m), nv_tensor(i)), function() m[i, ])
compare("v[idx]", function(v, i) v[i], list(nv_tensor(v), nv_tensor(i)), function() v[i])
compare("x[idx, ] <- y", function(m, i) {
  m[i, ] <- 2 * m
  m
}, list(nv_tensor(m), nv_tensor(i)), function() {
  m[i, ] <- 2 * m
  m
})
compare("rowsum(v, g), 1000 groups", function(v, g) nv_rowsum(v, g, 1000L), list(nv_tensor(v), nv_tensor(g)), function() rowsum(v, g))
compare("rowsum(m, g), 1000 groups", function(m, g) nv_rowsum(m, g, 1000L), list(nv_tensor(m), nv_tensor(g)), function() rowsum(m, g))
compare("tabulate(g)", function(g) nv_tabulate(g, 1000L), list(nv_tensor(g)), function() tabulate(g))
compare("solve(s, b), 1000", function(s, b) nv_solve(s, b), list(nv_tensor(s), nv_tensor(b)), function() solve(s, b))
compare("quantile(v)", function(v) quantile(v), list(nv_tensor(v)), function() quantile(v, names = FALSE))
compare("median(v)", function(v) median(v), list(nv_tensor(v)), function() median(v))
compare("order(v)", function(v) nv_order(v), list(nv_tensor(v)), function() order(v))
compare("rank(v)", function(v) nv_rank(v), list(nv_tensor(v)), function() rank(v))
compare("rowSums(m)", function(m) nv_row_sums(m), list(nv_tensor(m)), function() rowSums(m))
compare("cov(m)", function(m) nv_cov(m), list(nv_tensor(m)), function() cov(m))

# Masks, where no tensor is: microseconds a call, R's own and the one attached.
microseconds <- function(call, calls = 2e5) {
  f <- compiler::cmpfun(eval(bquote(function(x, v) for (i in seq_len(.(calls))) .(call))))
  least(function() f(matrix(1, 2, 2), c(2, 1)), 5L, cpu_time) / calls * 1e6
}
verbs <- expression(
  rowSums(x), c(1, 2), max(1, 2), sum(v), order(v), var(v), diag(x), x %o% v, v %in% 1, drop(x), ifelse(TRUE, 1, 2),
  dnorm(1), pnorm(1, 0, 2), pgamma(1, 2), dhyper(1, 5, 5, 3), qbeta(0.5, 2, 3)
)
for (call in verbs) {
  own <- call
  own[[1L]] <- get0(call[[1L]], baseenv()) %||% get(call[[1L]], "package:stats") # `::` would be timed as well
  times <- c(microseconds(own), microseconds(call))
  cat(sprintf("%-28s R %5.2f us, attached %5.2f us, its mask %5.2f us\n", deparse(call), times[1L], times[2L], diff(times)))
}
