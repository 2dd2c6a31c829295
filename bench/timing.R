# How the benchmarks take times, in milliseconds: of one run of a function, the least of several, and medians of functions
# that run in turns, so that what else the machine does meets all of them.
run_ms <- function(f) {
  start <- Sys.time()
  f()
  1000 * as.double(Sys.time() - start, units = "secs")
}
least_ms <- function(f, times = 30L) {
  f()
  min(replicate(times, run_ms(f)))
}
# The memory of results is collected before each run.
median_ms <- function(fs, times = 31L) {
  once <- function(f) {
    gc()
    run_ms(f)
  }
  for (f in fs) f()
  apply(replicate(times, vapply(fs, once, 0), simplify = "matrix"), 1L, stats::median)
}
