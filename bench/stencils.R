# Stencils: 10^7 points of steps of the heat equation, and a sum over the 3 x 3 neighbours. Least times in microseconds,
# compiled, on one thread.
#
#   Rscript bench/stencils.R
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
anvil_threads(1L)
set.seed(1)
for (dtype in c("f64", "f32")) {
  for (n in c(40L, 100L, 300L, 1000L)) {
    inner <- 2:(n - 1)
    steps <- as.integer(1e7 / n^2)
    heat <- jit(function(u) {
      nv_while(list(u = u, i = nv_scalar(0L, "i32")), function(u, i) i < steps, function(u, i) {
        around <- u[inner - 1L, inner] + u[inner + 1L, inner] + u[inner, inner - 1L] + u[inner, inner + 1L]
        u[inner, inner] <- u[inner, inner] + 0.1 * (around - 4 * u[inner, inner])
        list(u = u, i = i + 1L)
      })
    })
    blur <- jit(function(u) {
      sum <- 0
      for (i in -1:1) for (j in -1:1) sum <- sum + (i + 2 * j + 4) * u[inner + i, inner + j]
      sum
    })
    u <- nv_tensor(matrix(runif(n^2), n), dtype)
    cat(sprintf("%s, %4d x %4d: heat %6.0f, 3 x 3 %7.1f\n", dtype, n, n,
      1000 * least_ms(function() heat(u), 30L), 1000 * least_ms(function() blur(u), 100L)))
  }
}
