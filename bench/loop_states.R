# Loops whose whole state changes in each step, element by element: a decay of n numbers, and gradient steps with momentum of a
# quadratic function. Nanoseconds a step and element, ten million elements in all, one thread (src/compiler/states.cpp).
#
#   Rscript bench/loop_states.R
suppressPackageStartupMessages(library(anvil))
anvil_threads(1L)
loops <- list(
  decay = function(x, steps) nv_fori(1L, steps, x, function(i, x) 0.9 * x + 1),
  momentum = function(x, steps) {
    nv_fori(1L, steps, list(x = x, v = x), function(i, s) {
      v <- 0.9 * s$v + s$x
      list(x = s$x - 0.1 * v, v = v)
    })$x
  }
)
element_ns <- function(loop, n) {
  steps <- as.integer(max(10, 1e7 / n))
  run <- jit(function(x) loop(x, steps))
  x <- nv_tensor(array(runif(n)), "f64")
  run(x)
  seconds <- replicate(15L, {
    start <- Sys.time()
    run(x)
    as.double(Sys.time() - start, units = "secs")
  })
  1e9 * min(seconds) / steps / n
}
for (n in c(20, 100, 255, 1000, 1e4, 1e5, 1e6, 5e6)) {
  cat(sprintf("%8.0f: %s\n", n, paste(sprintf("%s %5.2f", names(loops), vapply(loops, element_ns, 0, n)), collapse = "  ")))
}
