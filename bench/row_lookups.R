# Rows of tables looked up at random places, and sums added to them: embeddings and their gradients, bootstrap, messages
# between the nodes of a graph. Beside R's own.
#
#   Rscript bench/row_lookups.R
suppressMessages(library(anvil))
anvil_threads(1)

seconds <- function(f, ..., least = 0.5) {
  f(...)
  times <- numeric()
  until <- as.numeric(Sys.time()) + least
  while (length(times) < 5 || as.numeric(Sys.time()) < until) {
    start <- as.numeric(Sys.time())
    f(...)
    times <- c(times, as.numeric(Sys.time()) - start)
  }
  min(times)
}

set.seed(1)
gather <- jit(function(table, i) table[, i])
scatter <- jit(function(table, i, g) gradient(function(t) nv_sum(t[, i] * g), wrt = "t")(table)$t)
cat("numbers of a row, rows of the table, lookups: ns for a lookup by anvil, by R; added to\n")
for (case in list(c(16, 400000), c(32, 200000), c(64, 100000), c(64, 1000), c(256, 25000), c(1000, 20000))) {
  width <- case[[1]]
  rows <- case[[2]]
  lookups <- min(2e5, 2e7 / width)
  numbers <- matrix(runif(width * rows), width)
  places <- sample.int(rows, lookups, TRUE)
  table <- nv_tensor(numbers, "f32")
  i <- nv_tensor(places, "i32")
  g <- nv_tensor(matrix(runif(width * lookups), width), "f32")
  ns <- 1e9 / lookups
  cat(sprintf("%5.0f %7.0f %7.0f: %6.1f %6.1f; %6.1f\n", width, rows, lookups, ns * seconds(gather, table, i),
    ns * seconds(function() numbers[, places]), ns * seconds(scatter, table, i, g)))
}
