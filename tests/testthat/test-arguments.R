# Every exported function, called with wrong things in every argument, says which argument is
# wrong, by an error of the package. Driven by the exports: a new one is tested by existing.
# ANVIL_ARGUMENTS=all tries every wrong value in every argument, which takes some minutes.

exports <- sort(grep("^[.]__", getNamespaceExports("anvil"), value = TRUE, invert = TRUE))

# Functions that are not called, and why.
not_called <- c(
  local_descriptor = "opens a trace until its frame ends: test-descriptor.R",
  .current_descriptor = "fails outside of a trace, as it should",
  crossprod = "R's own function, where no tensor is",
  tcrossprod = "R's own function, where no tensor is",
  `%*%` = "R's own function, where no tensor is",
  rowSums = "R's own function, where no tensor is", colSums = "R's own", rowMeans = "R's own", colMeans = "R's own",
  diag = "R's own", `diag<-` = "R's own",
  repr = "a generic, of other packages too"
)
# Arguments that take anything, and why.
take_anything <- c(
  "is_dtype x", "is_tensorish x", # that is the question
  "as_tensor_data x", # others are as they are
  "build_tree x", "flatten x", "tree_leaves x", "map_tree .x", "unflatten flat", # leaves may be anything
  "nv_if true", "nv_if false", "nvl_if true", "nvl_if false", "jit_eval expr", "with_threads expr", # expressions
  "nv_scan init", # depends on the body
  "nv_nuts step_size", "nv_hmc step_size", "nv_hmc time", # a warning where it is far too large
  "as_objective start", "nv_minimize start", "nv_fit params", # the function gets a list where it is one
  "trace_fn args", "nv_inspect x", "write_stablehlo args", # passed on to the function
  "gradient f", "value_and_gradient f", "jvp f", "vjp f", "jacobian f", "hessian f", "hvp f", "map_tree .f", # fails when it is called
  "tree_path root", "prim name"
)
# Errors that are about several arguments together, or about what a function given does.
about_several <- paste(
  "All non-scalar tensors must have the same shape", "These shapes can't be broadcast", "must have the same tensor type", "^The function ",
  "^Input [0-9]+ must be", "^There is no function",
  sep = "|"
)

# What is wrong with the outcome of a call, or "".
complaint <- function(name, arguments, argument = NULL, may_succeed = TRUE) {
  withr::local_options(anvil.default_dtypes = NULL) # local_default_dtypes() is called, too
  outcome <- tryCatch(
    {
      utils::capture.output(result <- do.call(getExportedValue("anvil", name), arguments, quote = TRUE))
      if (may_succeed) "" else "succeeds"
    },
    anvil_error_internal = function(e) conditionMessage(e),
    anvil_error = function(e) {
      text <- paste(conditionMessage(e), collapse = " ")
      named <- grepl(paste0("`", argument %||% ".", "`"), text, fixed = TRUE)
      if (is.null(argument)) text else if (named || grepl(about_several, text)) "" else paste("does not name it:", text)
    },
    warning = function(e) paste("warning:", conditionMessage(e)),
    error = function(e) paste0("<", class(e)[1L], ">: ", conditionMessage(e))
  )
  if (nzchar(outcome)) gsub("\n", " ", paste0(name, "(", argument, "): ", outcome)) else ""
}
complaints <- function(...) Filter(nzchar, c(...))

test_that("the right arguments of this test are right", {
  expect_setequal(setdiff(names(not_called), exports), character())
  expect_identical(complaints(vapply(setdiff(exports, names(not_called)), function(name) complaint(name, good_arguments(name)), "", USE.NAMES = FALSE)), character())
})

test_that("every function says which argument is missing", {
  found <- lapply(setdiff(exports, names(not_called)), function(name) {
    good <- good_arguments(name)
    vapply(required_arguments(getExportedValue("anvil", name)), function(argument) complaint(name, good[names(good) != argument], argument, may_succeed = FALSE), "")
  })
  expect_identical(complaints(unname(unlist(found))), character())
})

test_that("every function says which argument is wrong", {
  skip_on_cran()
  withr::local_dir(withr::local_tempdir()) # "a" is a file to write to
  wrong <- wrong_values()
  few <- !identical(Sys.getenv("ANVIL_ARGUMENTS"), "all")
  found <- character()
  for (name in setdiff(exports, names(not_called))) {
    good <- good_arguments(name)
    for (argument in setdiff(names(formals(args(getExportedValue("anvil", name)))), "...")) {
      # another few for each argument, by its name, so that all together try everything
      start <- sum(utf8ToInt(paste(name, argument)))
      labels <- if (few) names(wrong)[(start + seq(0L, by = 5L, length.out = 4L)) %% length(wrong) + 1L] else names(wrong)
      anything <- paste(name, argument) %in% take_anything
      for (label in labels) {
        arguments <- good
        arguments[argument] <- wrong[label]
        may_succeed <- anything || !(label %in% never_right) || label == "environment" && argument == "envir"
        text <- complaint(name, arguments, argument, may_succeed)
        if (nzchar(text) && !(anything && !grepl("internal", text))) found <- c(found, sub("):", sprintf(" = %s):", label), text, fixed = TRUE))
      }
    }
  }
  expect_identical(found, character())
})

test_that("dimensions are `dims` in every function, and `dim` is understood", {
  formals <- lapply(grep("^nv_", getNamespaceExports("anvil"), value = TRUE), function(name) names(formals(getExportedValue("anvil", name))))
  expect_false("dim" %in% unlist(formals))
  m <- nv_tensor(matrix(1:6, 2))
  expect_identical(nv_cumsum(m, dim = 2), nv_cumsum(m, dims = 2))
  expect_identical(nv_sum(m, dim = 2), nv_sum(m, dims = 2))
})
