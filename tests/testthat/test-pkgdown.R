# _pkgdown.yml and the help pages are not part of the installed package: the test needs the sources beside it.
sources <- Sys.getenv("ANVIL_SOURCE_DIR", test_path("..", ".."))
skip_if_not(file.exists(file.path(sources, "_pkgdown.yml")), "the sources are not beside the tests")
lines <- sub("#.*", "", readLines(file.path(sources, "_pkgdown.yml")))

test_that("the reference index of the website lists every export", {
  contents <- regmatches(text <- paste(lines, collapse = " "), gregexpr("contents: \\[[^]]*\\]", text))[[1L]]
  listed <- trimws(unlist(strsplit(gsub("contents: \\[|\\]", "", contents), ",")))
  listed <- gsub("[\"`]", "", listed)
  methods <- sub("^[.]__T__(.*):.*", "\\1", grep("^[.]__T__", getNamespaceExports("anvil"), value = TRUE))
  exports <- union(grep("^([.]__|nvl_)", getNamespaceExports("anvil"), value = TRUE, invert = TRUE), methods)
  expect_identical(setdiff(exports, listed), character(), label = "exports that _pkgdown.yml does not list")
  expect_identical(setdiff(listed, c(exports, "anvil_generics")), character(), label = "what _pkgdown.yml lists and nobody exports")
  expect_identical(listed[duplicated(listed)], character())
})

test_that("strict functions are internal: they fill neither completion nor index", {
  pages <- list.files(file.path(sources, "man"), "^nvl_.*[.]Rd$", full.names = TRUE)
  expect_gt(length(pages), 5L)
  for (page in pages) expect_true(any(readLines(page) == "\\keyword{internal}"), label = basename(page))
})
