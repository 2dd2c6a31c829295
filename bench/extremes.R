# Places of extremes, running sums and running extremes: of one line, and of the columns and rows of a matrix. The least
# time in milliseconds, f32, compiled on one thread, and in eager mode.
#
#   Rscript bench/extremes.R
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
anvil_threads(1L)
set.seed(1)
normal <- function(...) nv_tensor(array(rnorm(prod(...)), c(...)), "f32")
inputs <- list(
  `100,000` = list(normal(1e5), 1L), `columns of 1000 x 1000` = list(normal(1000, 1000), 1L), `rows of 1000 x 1000` = list(normal(1000, 1000), 2L),
  `rows of 100,000 x 10` = list(normal(1e5, 10), 2L), `columns of 10 x 100,000` = list(normal(10, 1e5), 1L)
)
for (name in c("nv_argmax", "nv_cumsum", "nv_cumprod", "nv_cummax")) {
  f <- get(name)
  for (what in names(inputs)) {
    x <- inputs[[what]][[1L]]
    along <- inputs[[what]][[2L]]
    compiled <- jit(function(x) f(x, along))
    cat(sprintf("%-12s %-24s %8.3f ms, eager %9.3f\n", name, what, least_ms(function() compiled(x), 15L), least_ms(function() f(x, along), 3L)))
  }
}
