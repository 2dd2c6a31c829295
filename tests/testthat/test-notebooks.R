test_that("knitr shows what print() writes", {
  skip_if_not_installed("knitr")
  f <- jit(function(x) x + 1)
  x <- nv_tensor(matrix(1:4, 2))
  graph <- trace_fn(function(x) x, list(x = nv_aten("f32", 2L)))
  checked <- nv_check(function(x) sum(x * x), x = nv_aten("f64", 2L), n = 2L)
  for (object in list(x, x > 1, x + 1, debug_box("f32", 2L), graph, summary(graph), f, jit_report(f), checked)) {
    expect_identical(utils::capture.output(knitr::knit_print(object)), utils::capture.output(print(object)))
  }
})

test_that("a document is rendered with printed objects", {
  skip_if_not_installed("knitr")
  source <- c("```{r}", "library(anvil)", "nv_tensor(matrix(1:4, 2))", "nv_check(function(x) sum(x), x = nv_aten('f64', 2L), n = 2L)", "```")
  out <- knitr::knit(text = source, quiet = TRUE, envir = new.env())
  expect_match(out, "## AnvilTensor\n##  1 3\n##  2 4", fixed = TRUE)
  expect_no_match(out, "|check", fixed = TRUE)
})

test_that("notebooks show tables of small matrices, and text of all else", {
  expect_snapshot(cat(anvil:::tensor_html(nv_tensor(matrix(c(1.5, NaN, -Inf, 0), 2)))))
  text <- function(x) cat(anvil:::tensor_html(x), sep = "\n")
  expect_snapshot({
    text(nv_tensor(matrix(c(TRUE, FALSE), 1)))
    text(nv_scalar(1))
    text(debug_box("f32", c(2L, 2L)))
    text(nv_empty("f32", c(0L, 2L)))
    cat(anvil:::printed_html(jit(function(x) x < 1 & x > 0)))
  })
  expect_match(anvil:::tensor_html(nv_tensor(matrix(1, 31, 2))), "^<pre>")
  expect_match(anvil:::tensor_html(nv_tensor(matrix(c(1e-20, 1e20, 3, 4), 2))), "1.0000e+20", fixed = TRUE)
})

test_that("methods are there when package repr is", {
  skip_if_not_installed("repr")
  x <- nv_tensor(matrix(1:4, 2))
  shown <- function(x, how) getExportedValue("repr", how)(x)
  expect_match(shown(x, "repr_html"), "<table>")
  expect_identical(shown(x, "repr_text"), paste(utils::capture.output(print(x)), collapse = "\n"))
  expect_match(shown(jit(function(x) x), "repr_html"), "<pre>&lt;jitted")
})
