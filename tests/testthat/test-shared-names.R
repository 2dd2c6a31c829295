# Names that other packages have for something else, with these attached before and after: the real packages where they are
# installed, and one made here with functions like those of repr, keras3 and numDeriv.

# What code gives with a package attached before and after anvil.
with_before <- function(package, code) {
  in_child(c("detach('package:anvil')", attaching(package), "suppressMessages(library(anvil))", code))
}
with_after <- function(package, code) in_child(c(attaching(package), code))
attaching <- function(package) sprintf("suppressWarnings(suppressMessages(library(%s)))", package)

lookalikes <- function() {
  library <- withr::local_tempdir(.local_envir = parent.frame())
  source <- file.path(withr::local_tempdir(), "lookalikes")
  dir.create(file.path(source, "R"), recursive = TRUE)
  writeLines(c("Package: lookalikes", "Version: 1.0", "Title: Others", "Description: Others.", "License: MIT", "Author: A", "Maintainer: A <a@b.c>"), file.path(source, "DESCRIPTION"))
  writeLines("exportPattern('^[a-z]')", file.path(source, "NAMESPACE"))
  writeLines(c(
    "repr <- function(obj, format = 'text', ...) repr_text(obj, ...)",
    "repr_text <- function(obj, ...) UseMethod('repr_text')",
    "repr_text.default <- function(obj, ...) paste(utils::capture.output(print(obj)), collapse = '\\n')",
    "shape <- function(..., dims = list(...)) list('theirs', dims)",
    "jacobian <- hessian <- function(func, x, method = 'Richardson', ...) list('theirs', func(x), method)",
    "gradient <- function(F, h1 = 1) list('theirs', F)"
  ), file.path(source, "R", "all.R"))
  utils::install.packages(source, library, repos = NULL, type = "source", quiet = TRUE)
  library
}

test_that("flatten() is that of purrr, rlang and jsonlite for their data, whichever was attached first", {
  for (package in c("purrr", "rlang", "jsonlite")) {
    skip_if_not_installed(package)
    data <- if (package == "jsonlite") quote(data.frame(a = 1:2)) else quote(list(1, list(2, list(3))))
    expected <- suppressWarnings(getExportedValue(package, "flatten")(eval(data)))
    call <- deparse(bquote(flatten(.(data))))
    expect_identical(with_before(package, call), expected, label = package)
    expect_identical(with_after(package, call), expected, label = package)
    tree <- c("x <- nv_scalar(1)", "tree <- list(x, list(a = x, list(x)))")
    expect_length(with_before(package, c(tree, "flatten(tree)")), 3L)
    expect_length(with_after(package, c(tree, "tree_leaves(tree)")), 3L)
  }
})

test_that("flatten() takes its argument by the name that the other package has for it", {
  skip_if_not_installed("purrr")
  expect_identical(with_before("purrr", "flatten(.x = list(1, list(2)))"), list(1, 2))
})

test_that("repr(), shape() and jacobian() are ours for what is ours, and others' for all else", {
  skip_on_cran()
  lookalikes <- sprintf("lookalikes, lib.loc = %s", deparse(lookalikes()))
  theirs <- c(
    "f <- stablehlo(trace_fn(function(x) x + x, list(x = nv_aten('f32', 2))))[[1]]",
    "doubled <- nv_execute(nv_compile(nv_program(repr(f))), nv_tensor(c(1, 2)))",
    "list(trimws(repr(f)), as_array(nv_tensor(doubled)), repr(1:2), jacobian(sum, c(1, 2)), hessian(func = sum, x = 3, 'simple'),",
    "  shape(NULL, 2), gradient(matrix(1)))"
  )
  before <- with_before(lookalikes, theirs)
  expect_identical(with_after(lookalikes, theirs), before)
  expect_match(before[[1L]], "^func.func @main .*}$")
  expect_identical(before[-(1:2)], list(
    "[1] 1 2", list("theirs", 3, "Richardson"), list("theirs", 3, "simple"), list("theirs", list(NULL, 2)), list("theirs", matrix(1))
  ))
  ours <- c(
    "x <- nv_tensor(c(2, 3), 'f64')",
    "f <- function(x) sum(x^2)",
    "list(c(as_array(jacobian(f)(x)$x)), as_array(hessian(f, 'x')(x)$x$x), shape(x), as_array(gradient(f, wrt = 1)(x)$x))"
  )
  expect_equal(with_before(lookalikes, ours), list(c(4, 6), diag(2, 2), 2L, array(c(4, 6))))
})

test_that("what only others know is an error where there is no other", {
  expect_error(in_session(quote(flatten(list(1), 2)), list()), "unused argument")
  expect_error(in_session(quote(jacobian(func = sum)), list()), "unused argument")
  expect_error(in_session(quote(shape()), list()), "`x` is missing", class = "anvil_error_argument")
  expect_identical(setdiff(names(shared_names()), names(as.environment("package:anvil"))), character())
})

test_that("what posterior makes generic functions of knows tensors, whichever was loaded first", {
  skip_if_not_installed("posterior")
  code <- c(
    "x <- nv_tensor(matrix(c(1, 2, 4)), 'f64')",
    "f <- function(x) list(drop(x), sd(x), var(drop(x)))",
    "list(lapply(f(x), as_array), lapply(jit(f)(x), as_array), dim(jit(function(x) drop(x))(x)), sd(c(1, 2)), drop(matrix(1:2)))"
  )
  numbers <- list(array(c(1, 2, 4)), stats::sd(c(1, 2, 4)), stats::var(c(1, 2, 4)))
  expected <- list(numbers, numbers, 3L, stats::sd(c(1, 2)), 1:2)
  expect_equal(with_after("posterior", code), expected)
  expect_equal(with_before("posterior", code), expected)
  expect_equal(in_child(c("loadNamespace('posterior')", code)), expected)
})
