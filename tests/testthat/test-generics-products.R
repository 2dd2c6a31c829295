# Packages that have S4 methods of the same functions, attached before and after this one: each order
# in a session of its own.
in_session <- function(packages) {
  code <- c(
    sprintf("suppressMessages(library(%s))", packages),
    "m <- matrix(c(1, 2, 3, 4, 5, 6), 2)",
    "x <- anvil::nv_tensor(m, 'f64')",
    "b <- x + 0",
    "same <- function(actual, expected) stopifnot(identical(anvil::as_array(actual), expected))",
    "for (left in list(x, b)) for (right in list(x, b, m)) {",
    "  same(crossprod(left, right), base::crossprod(m))",
    "  same(crossprod(right, left), base::crossprod(m))",
    "  same(tcrossprod(left, right), base::tcrossprod(m))",
    "  same(tcrossprod(right, left), base::tcrossprod(m))",
    "  same(left %*% t(right), base::tcrossprod(m))",
    "  same(right %*% t(left), base::tcrossprod(m))",
    "}",
    "same(crossprod(x), base::crossprod(m))",
    "same(anvil::jit(function(x) tcrossprod(x))(x), base::tcrossprod(m))",
    "stopifnot(identical(crossprod(m), base::crossprod(m)), identical(tcrossprod(m, m), base::tcrossprod(m)), identical(m %*% t(m), base::tcrossprod(m)))",
    "if (isNamespaceLoaded('Matrix')) {",
    "  s <- Matrix::sparseMatrix(i = c(1, 2), j = c(2, 3), x = c(3, 4))",
    "  d <- as.matrix(s)",
    "  stopifnot(inherits(s, 'dgCMatrix'), is(crossprod(s), 'sparseMatrix'), all(as.matrix(crossprod(s)) == base::crossprod(d)))",
    "  stopifnot(all(as.matrix(tcrossprod(s, s)) == base::tcrossprod(d)), all(as.matrix(s %*% t(s)) == base::tcrossprod(d)))",
    "  for (y in list(x, b, anvil::nv_sparse(m, dtype = 'f64'))) {",
    "    same(crossprod(s, y), base::crossprod(d, m))",
    "    same(crossprod(y, s), base::crossprod(m, d))",
    "    same(tcrossprod(s, y), base::tcrossprod(d, m))",
    "    same(s %*% t(y), base::tcrossprod(d, m))",
    "    same(t(y) %*% s, base::crossprod(m, d))",
    "  }",
    "  stopifnot(all(as.matrix(crossprod(s, d)) == base::crossprod(d)), all(as.matrix(crossprod(d, s)) == base::crossprod(d)))",
    "}",
    "if ('package:lme4' %in% search()) {",
    "  fit <- lmer(Reaction ~ Days + (Days | Subject), sleepstudy)",
    "  stopifnot(abs(fixef(fit)[['Days']] - 10.467) < 1e-3)",
    "}",
    "invisible(deparse(as.call(list(quote(f), x, b))))",
    "stopifnot(inherits(x, 'AnvilTensor'), inherits(b, 'AnvilTensor'), !isS4(x), !isS4(b))",
    "cat('all right')"
  )
  file <- withr::local_tempfile(fileext = ".R", lines = code)
  libraries <- paste(.libPaths(), collapse = .Platform$path.sep)
  output <- withr::with_envvar(c(R_LIBS = libraries), suppressWarnings(
    system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(file)), stdout = TRUE, stderr = TRUE)
  ))
  paste(output, collapse = "\n")
}

test_that("products of tensors and of sparse matrices work in any order of library()", {
  skip_on_cran()
  expect_identical(in_session("anvil"), "all right")
  skip_if_not_installed("Matrix")
  expect_identical(in_session(c("Matrix", "anvil")), "all right")
  expect_identical(in_session(c("anvil", "Matrix")), "all right")
})

test_that("nor does lme4, which attaches Matrix, mind", {
  skip_on_cran()
  skip_if_not_installed("lme4")
  expect_identical(in_session(c("lme4", "anvil")), "all right")
  expect_identical(in_session(c("anvil", "lme4")), "all right")
})

test_that("the classes are there for S4", {
  where <- new.env(parent = globalenv())
  local(
    {
      methods::setClassUnion("NumberOrTensor", c("numeric", "AnvilTensor"), where = environment())
      holder <- methods::setClass("Holder", representation(x = "NumberOrTensor", f = "function"), where = environment())
      methods::setGeneric("twice", function(x) standardGeneric("twice"), where = environment())
      methods::setMethod("twice", "AnvilValue", function(x) x * 2, where = environment())
      methods::setMethod("twice", "function", function(x) "function", where = environment())
    },
    where
  )
  held <- expect_silent(where$holder(x = nv_tensor(c(1, 2)), f = jit(sin)))
  expect_equal(value(where$twice(held@x)), array(c(2, 4)))
  expect_equal(value(jit(function(x) where$twice(x))(held@x)), array(c(2, 4)))
  expect_identical(where$twice(held@f), "function")
})
