# What derivatives cost: of the recursion y[i] = a y[i - 1] + e[i] in a carried array, by number of
# steps, with the largest memory of the process; of sort, cumulative products and sums of a million
# numbers. Medians in milliseconds, with the gradient's and the value's time apart. Forward mode: of loops, of
# one scalar and of the recursion, the time of value and tangent as a multiple of the value's. A Hessian.
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
recursion <- function(n) {
  function(a, e) {
    last <- nv_while(list(i = nv_scalar(2L), y = e), \(i, y) i <= n, \(i, y) {
      y[i] <- a * y[i - 1L] + y[i]
      list(i = i + 1L, y = y)
    })
    sum(last$y^2)
  }
}
peak_mb <- function() {
  status <- if (file.exists("/proc/self/status")) readLines("/proc/self/status")
  as.numeric(gsub("[^0-9]", "", grep("^VmHWM", status, value = TRUE))) / 1024
}
set.seed(1)
for (n in c(1e4L, 1e5L, 1e6L)) {
  a <- nv_scalar(0.9, "f64")
  e <- nv_tensor(rnorm(n), "f64")
  value <- jit(recursion(n))
  slope <- jit(gradient(recursion(n)))
  t <- median_ms(list(\() value(a, e), \() slope(a, e)), 5L)
  cat(sprintf("recursion, %7d steps: value %6.1f ms, gradient %6.1f ms, largest memory %.0f MB\n", n, t[1L], t[2L], peak_mb()))
}
x <- nv_tensor(runif(1e6, 0.9, 1.1), "f64")
w <- nv_tensor(rnorm(1e6), "f64")
of <- list(
  sort = function(x) sum(nv_sort(x) * w), cumsum = function(x) sum(nv_cumsum(x, 1L) * w),
  product = function(x) nv_reduce_prod(x, 1L), small = function(x) sum(tanh(nv_convert(x, "bf16")))
)
for (name in names(of)) {
  value <- jit(of[[name]])
  slope <- jit(gradient(of[[name]]))
  t <- median_ms(list(\() value(x), \() slope(x)), 5L)
  cat(sprintf("%-8s of 1e6: value %6.1f ms, gradient %6.1f ms\n", name, t[1L], t[2L]))
}

# Forward mode keeps nothing: the largest memory is that of two runs of different length.
scalars <- function(n) {
  function(x) nv_while(list(i = nv_scalar(0L), x = x), \(i, x) i < n, \(i, x) list(i = i + 1L, x = sin(x) * 1.1))$x
}
forward <- function(name, f, args, tangents, calls = 1L) {
  value <- jit(f)
  both <- jit(jvp(f))
  repeated <- function(f, ...) function() for (k in seq_len(calls)) f(...)
  t <- median_ms(list(repeated(do.call, value, args), repeated(both, args, tangents)), 5L) / calls
  cat(sprintf("forward, %-22s value %8.3f ms, with tangent %8.3f ms (%.2f), largest memory %.0f MB\n", name, t[1L], t[2L], t[2L] / t[1L], peak_mb()))
}
at <- nv_scalar(0.5, "f64")
forward("1e4 scalar steps:", scalars(1e4L), list(at), list(at), 1000L)
forward("1e7 scalar steps:", scalars(1e7L), list(at), list(at))
e <- nv_tensor(rnorm(1e4), "f64")
forward("recursion of 1e4:", recursion(1e4L), list(at, e), list(at, e), 1000L)
e <- nv_tensor(rnorm(1e6), "f64")
forward("recursion of 1e6:", recursion(1e6L), list(at, e), list(at, e), 10L)

# The Hessian of a logistic regression's likelihood, 20 parameters and 1e5 rows, as a multiple of its gradient.
n <- 1e5L
p <- 20L
design <- nv_tensor(matrix(rnorm(n * p), n), "f64")
response <- nv_tensor(matrix(rbinom(n, 1, 0.5), n), "f64")
at <- nv_tensor(matrix(rnorm(p) / 4, p), "f64")
loss <- function(b, x, y) {
  eta <- x %*% b
  sum(log1p(exp(-abs(eta))) + nv_max(eta, 0) - y * eta)
}
slopes <- jit(gradient(loss, "b"))
curvature <- jit(hessian(loss, "b"))
times <- median_ms(list(\() slopes(at, design, response), \() curvature(at, design, response)))
cat(sprintf("hessian of 20 parameters: gradient %.2f ms, hessian %.2f ms, ratio %.1f\n", times[1L], times[2L], times[2L] / times[1L]))
