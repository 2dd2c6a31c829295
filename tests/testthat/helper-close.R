# Comparisons of numbers, element by element. testthat's own expect_equal() takes the mean of the
# differences: one wrong element among many right ones, or beside a large one, goes unseen.

# Whether each element is close to what is expected: the same (NaN as NaN, infinities as
# themselves), or no further than `tolerance` times the expected number, or than `absolute`.
# `absolute` is for sums, whose terms may cancel: it is what rounding their terms amounts to.
close_elements <- function(actual, expected, tolerance, absolute = 0) {
  actual <- as.double(actual)
  expected <- as.double(expected)
  near <- is.finite(actual) & is.finite(expected) & abs(actual - expected) <= pmax(tolerance * abs(expected), absolute)
  ifelse(is.na(actual) | is.na(expected), is.na(actual) & is.na(expected), actual == expected | near)
}

# The tolerance that is usual for a dtype: some units in its last place.
ulps <- function(dtype, n) n * (if (as.character(dtype) == "f32") 2^-23 else 2^-52)

expect_close <- function(object, expected, tolerance = 1.5e-8, absolute = 0, label = NULL) {
  act <- testthat::quasi_label(rlang::enquo(object), label, arg = "object")
  actual <- as_numbers(act$val)
  wanted <- as_numbers(expected)
  if (length(actual) != length(wanted)) {
    testthat::fail(sprintf("%s has %d elements, not %d.", act$lab, length(actual), length(wanted)))
    return(invisible(act$val))
  }
  wrong <- which(!close_elements(actual, wanted, tolerance, absolute))
  shown <- utils::head(wrong, 3L)
  testthat::expect(length(wrong) == 0L, sprintf(
    "%d of %d elements of %s are not close (tolerance %.2g): %s", length(wrong), length(actual), act$lab, tolerance,
    paste(sprintf("[%d] %.17g instead of %.17g", shown, actual[shown], wanted[shown]), collapse = ", ")
  ))
  invisible(act$val)
}

# The numbers of an R value, a tensor, or nested lists of them, in order.
as_numbers <- function(x) {
  if (is.list(x) && !is.object(x)) {
    return(as.double(unlist(lapply(x, as_numbers))))
  }
  if (inherits(x, "AnvilTensor")) x <- as_array(x)
  as.double(x)
}
has_numbers <- function(x) {
  if (is.list(x) && !is.object(x)) any(vapply(x, has_numbers, NA)) else is.numeric(x) || inherits(x, "AnvilTensor")
}

# In this suite, expect_equal() is testthat's for types, shapes and names, and expect_close() for
# every number.
expect_equal <- function(object, expected, ..., tolerance = 1.5e-8, label = NULL) {
  act <- testthat::quasi_label(rlang::enquo(object), label, arg = "object")
  testthat::expect_equal(act$val, expected, ..., tolerance = tolerance, label = act$lab)
  if (has_numbers(act$val) && has_numbers(expected)) expect_close(act$val, expected, tolerance, label = act$lab)
  invisible(act$val)
}
