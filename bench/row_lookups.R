# Rows of tables looked up at random places, and sums added to them: embeddings and their gradients, bootstrap, messages
# between the nodes of a graph. Beside R's own.
#
#   Rscript bench/row_lookups.R
suppressMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
anvil_threads(1)

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
  ns <- 1e6 / lookups
  cat(sprintf("%5.0f %7.0f %7.0f: %6.1f %6.1f; %6.1f\n", width, rows, lookups, ns * least_ms(function() gather(table, i)),
    ns * least_ms(function() numbers[, places]), ns * least_ms(function() scatter(table, i, g))))
}

# Sums at a table of places: they go through it as it lies in memory.
sums <- jit(function(x, places, u) {
  nvl_scatter(x, places, u, integer(), 1L, integer(), integer(), 1L, 3L, update_computation = function(a, b) a + b)
})
side <- 1000L
places <- matrix(sample.int(side, side^2, TRUE), side)
u <- matrix(runif(side^2), side)
x <- nv_fill(0, side, dtype = "f64")
at <- nv_tensor(places, "i32")
tensor <- nv_tensor(u, "f64")
stopifnot(all.equal(as.numeric(as_array(sums(x, at, tensor))), as.numeric(tapply(u, factor(places, seq_len(side)), sum))))
by_r <- function() rowsum(as.numeric(u), as.integer(places), reorder = FALSE)
cat(sprintf(
  "a matrix of 1000 x 1000 places in 1000 sums: ns for one by anvil %.2f, by R's rowsum() %.2f\n",
  1e6 / side^2 * least_ms(function() sums(x, at, tensor)), 1e6 / side^2 * least_ms(by_r)
))
