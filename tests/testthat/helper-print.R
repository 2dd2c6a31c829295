# What `print()` shows, without spaces at the ends of lines and an empty line at the end.
printed <- function(x) {
  lines <- sub("[ ]+$", "", utils::capture.output(print(x)))
  if (length(lines) && !nzchar(lines[length(lines)])) lines[-length(lines)] else lines
}

expect_prints <- function(x, text) {
  expected <- strsplit(sub("\n$", "", sub("^\n", "", text)), "\n", fixed = TRUE)[[1L]]
  testthat::expect_identical(printed(x), expected)
}
