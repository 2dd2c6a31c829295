# The R code of CONTRIBUTING.md runs. The document is not part of the built package, so the
# test needs the sources beside it.
test_that("the primitive of CONTRIBUTING.md works as written", {
  root <- Sys.getenv("ANVIL_SOURCE_DIR", test_path("..", ".."))
  path <- file.path(root, "CONTRIBUTING.md")
  skip_if_not(file.exists(path), "CONTRIBUTING.md is not part of the built package")
  lines <- readLines(path)
  lines <- lines[seq(grep("^## Adding a primitive from R", lines), length(lines))]
  fences <- grep("^```", lines)
  code <- lines[seq(fences[1] + 1L, fences[2] - 1L)]
  expect_gt(length(code), 10L)
  environment <- new.env(parent = asNamespace("anvil"))
  expect_no_error(eval(parse(text = code), environment))
  expect_s3_class(prim("repeat_along"), "AnvilPrimitive")
})

test_that("no function of the package is defined twice", {
  root <- Sys.getenv("ANVIL_SOURCE_DIR", test_path("..", ".."))
  files <- list.files(file.path(root, "R"), "[.]R$", full.names = TRUE)
  skip_if(!length(files), "the sources are not beside the tests")
  defined <- unlist(lapply(files, function(file) {
    assigned <- Filter(function(e) is.call(e) && identical(e[[1L]], quote(`<-`)) && is.name(e[[2L]]), parse(file, keep.source = FALSE))
    vapply(assigned, function(e) as.character(e[[2L]]), "")
  }))
  expect_gt(length(defined), 500L)
  expect_identical(unique(defined[duplicated(defined)]), character())
})
