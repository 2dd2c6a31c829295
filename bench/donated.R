# A loop of steps from R, whose state is donated to each step or not, beside the same steps in a loop of the program:
# least milliseconds a step of several hundred, and the memory that is held at the end. One thread.
#
#   Rscript bench/donated.R
suppressPackageStartupMessages(library(anvil))
anvil_threads(1L)

step <- function(x) x * 1.0001 + 0.5
program <- jit(function(x) nv_fori(1L, 100L, x, function(i, x) step(x)))
loops <- list(donated = jit(step, donate = "x"), kept = jit(step))

steps_ms <- function(f, x, times = 6L) {
  once <- function() {
    for (i in 1:100) x <<- f(x)
  }
  once()
  10 * min(replicate(times, system.time(once())[["elapsed"]]))
}
for (elements in c(1e4, 1e5, 1e6, 4e6)) {
  held <- double()
  times <- c(
    vapply(names(loops), function(name) {
      anvil_memory(release = TRUE)
      time <- steps_ms(loops[[name]], nv_tensor(runif(elements), "f64"))
      held[[name]] <<- with(anvil_memory(), used + kept)
      gc()
      time
    }, 0),
    `in the program` = 10 * min(replicate(4L, system.time(program(nv_tensor(runif(elements), "f64")))[["elapsed"]]))
  )
  cat(sprintf("%5.1f MB: %s; held %.0f and %.0f MB\n", 8e-6 * elements, toString(sprintf("%s %.3f ms", names(times), times)),
    held[["donated"]] / 1e6, held[["kept"]] / 1e6))
}
