# Compiled code, derivatives in both modes, and batches of a function of a model: all compared, and all right.
expect_checked <- function(f, ..., n = 6L) {
  found <- expect_nv_check(f, ..., n = n)
  testthat::expect_identical(found$status, rep("passed", 4L), label = paste(format(found), collapse = "\n"))
}
of_f64 <- function(...) nv_aten("f64", c(...))
rows_of <- function(...) f64(rbind(...))
gradient_of <- function(f, x) as_array(jit(gradient(f))(x)[[1L]])
