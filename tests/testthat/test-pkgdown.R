# _pkgdown.yml and the help pages are not part of the installed package: the test needs the sources beside it.
sources <- Sys.getenv("ANVIL_SOURCE_DIR", test_path("..", ".."))
skip_if_not(file.exists(file.path(sources, "_pkgdown.yml")), "the sources are not beside the tests")
lines <- sub("#.*", "", readLines(file.path(sources, "_pkgdown.yml")))

# What the help pages of a family are about.
exports_of_family <- function(family) {
  pages <- lapply(list.files(file.path(sources, "man"), "[.]Rd$", full.names = TRUE), readLines)
  pages <- Filter(function(page) sprintf("\\concept{%s}", family) %in% page && !("\\keyword{internal}" %in% page), pages)
  expect_gt(length(pages), 0L, label = sprintf("pages of family \"%s\"", family))
  aliases <- unlist(lapply(pages, function(page) sub("^.alias\\{(.*)\\}", "\\1", grep("^.alias\\{", page, value = TRUE))))
  intersect(aliases, getNamespaceExports("anvil"))
}

test_that("the reference index of the website lists every export", {
  contents <- regmatches(text <- paste(lines, collapse = " "), gregexpr("contents: \\[[^]]*\\]", text))[[1L]]
  listed <- trimws(unlist(strsplit(gsub("contents: \\[|\\]", "", contents), ",")))
  families <- grepl("^has_concept", listed)
  of_families <- unlist(lapply(sub('.*"(.*)".*', "\\1", listed[families]), exports_of_family))
  listed <- gsub("[\"`]", "", listed[!families])
  listed <- c(listed, setdiff(of_families, listed)) # masks of R's functions stand in a section of their own
  methods <- sub("^[.]__T__(.*):.*", "\\1", grep("^[.]__T__", getNamespaceExports("anvil"), value = TRUE))
  exports <- union(grep("^([.]__|nvl_)", getNamespaceExports("anvil"), value = TRUE, invert = TRUE), methods)
  expect_identical(setdiff(exports, listed), character(), label = "exports that _pkgdown.yml does not list")
  expect_identical(setdiff(listed, c(exports, "anvil_generics")), character(), label = "what _pkgdown.yml lists and nobody exports")
  expect_identical(c(listed[duplicated(listed)], of_families[duplicated(of_families)]), character())
})

test_that("strict functions are internal: they fill neither completion nor index", {
  pages <- list.files(file.path(sources, "man"), "^nvl_.*[.]Rd$", full.names = TRUE)
  expect_gt(length(pages), 5L)
  for (page in pages) expect_true(any(readLines(page) == "\\keyword{internal}"), label = basename(page))
})
