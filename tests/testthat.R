library(testthat)
library(anvil)

results <- test_check("anvil")

# Seconds and names, for the table that ./run test ends with.
times <- Sys.getenv("ANVIL_TEST_TIMES")
if (nzchar(times)) {
  results <- as.data.frame(results)
  cat(sprintf("%.1f\t%s: %s\n", results$real, results$file, results$test), file = times, append = TRUE, sep = "")
}
