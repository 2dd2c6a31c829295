# Base R as the oracle, see helper-oracle.R: ANVIL_ORACLE=5000 tries as many parts and assignments, and three calls of
# verbs for five of them; ANVIL_SEED says where the seeds begin.

count <- as.integer(Sys.getenv("ANVIL_ORACLE", "250"))
first <- as.integer(Sys.getenv("ANVIL_SEED", "1"))

test_that("parts and assignments are R's", {
  skip_on_cran()
  withr::local_options(rlib_warning_verbosity = "quiet") # a tensor as the only index takes rows, and says so
  expect_identical(as.character(in_pieces_of(25L, first + seq_len(count) - 1L, check_subsets)), character())
})

test_that("calls of the verbs are R's", {
  skip_on_cran()
  expect_identical(as.character(in_pieces_of(15L, first + seq_len(count * 3L / 5L) - 1L, check_verbs)), character())
})
