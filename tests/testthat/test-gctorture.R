test_that("nothing is lost when R collects garbage often", {
  skip_on_cran()
  code <- c('commandArgs <- function(trailingOnly) c("400", "0")', "quit <- function(status) status", readLines(test_path("gctorture.R")), "quit(length(wrong) > 0L)", "wrong")
  expect_identical(in_child(code, timeout = 300), character())
})
