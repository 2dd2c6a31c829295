# Medians in milliseconds of functions that are run in turns, so that what else the machine does meets all of them. The memory
# of results is collected before each run.
median_ms <- function(fs, times = 31L) {
  once <- function(f) {
    gc()
    start <- Sys.time()
    f()
    1000 * as.double(Sys.time() - start, units = "secs")
  }
  for (f in fs) f()
  apply(replicate(times, vapply(fs, once, 0)), 1L, stats::median)
}
