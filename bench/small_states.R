# A step of a loop whose state is a few numbers that go through a function, in nanoseconds: up to where they are numbers of
# the program, and beyond, where they are vectors in memory (src/compiler/unroll.cpp, short_loops.cpp). `path`: of a loop
# that keeps the states of all steps. One thread.
#
#   Rscript bench/small_states.R
suppressPackageStartupMessages(library(anvil))
anvil_threads(1L)
steps <- 100000L
functions <- list(tanh = tanh, exp = function(x) exp(-x), sin = sin, log = function(x) log(2 + x * x))
step_ns <- function(f, x) {
  run <- jit(function(x, a) nv_fori(1L, steps, x, function(i, x) f(a * x + 0.1)))
  run(x, x)
  1e9 * min(replicate(7L, system.time(run(x, x))[["elapsed"]])) / steps
}
path_ns <- function(x) {
  run <- jit(function(x) {
    nv_scan(x, steps = 10000L, body = function(x, i) {
      x <- 3.7 * x * (1 - x)
      list(carry = x, out = x)
    })
  })
  run(x)
  1e9 * min(replicate(40L, system.time(for (k in 1:10) run(x))[["elapsed"]])) / 1e5
}
for (dtype in c("f64", "f32")) {
  for (n in c(1L, 2L, 4L, 6L, 7L, 8L, 9L, 10L, 12L, 15L, 16L, 17L, 24L, 32L, 64L)) {
    x <- nv_tensor(array(runif(n)), dtype)
    times <- c(vapply(functions, step_ns, 0, x), path = path_ns(x))
    cat(sprintf("%s %3d: %s\n", dtype, n, paste(sprintf("%s %3.0f", names(times), times), collapse = "  ")))
  }
}
