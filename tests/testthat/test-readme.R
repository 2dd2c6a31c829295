# The R code of README.md runs, and prints what the document says. The document and the figure are not
# part of the installed package, so the test needs the sources beside it. ANVIL_UPDATE=readme writes the results anew.
test_that("README.md shows what its code prints", {
  path <- file.path(Sys.getenv("ANVIL_SOURCE_DIR", test_path("..", "..")), "README.md")
  skip_if_not(file.exists(path), "README.md is not beside the tests")
  path <- normalizePath(path)
  lines <- readLines(path)
  withr::local_options(anvil.default_dtypes = NULL, width = 80, digits = 7)
  withr::local_dir(withr::local_tempdir())
  shown <- suppressMessages(with_results(lines))
  if (identical(Sys.getenv("ANVIL_UPDATE"), "readme")) writeLines(shown, path)
  expect_gt(length(grep("^#>", shown)), 20L)
  expect_identical(shown, lines)
  pictures <- sub(".*\\]\\((man/[^)]*)\\).*", "\\1", grep("^!\\[.*\\]\\(man/", lines, value = TRUE))
  expect_true(length(pictures) > 0L)
  sizes <- file.size(file.path(dirname(path), pictures))
  expect_true(all(sizes < 60000), label = "pictures of less than 60 kB")
})
