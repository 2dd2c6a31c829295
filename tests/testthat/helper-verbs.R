# Calls of R's functions by name, on R data and on tensors, as a session has them: attached, not as the package's
# own code sees them.

in_session <- function(code, data) eval(code, list2env(data, parent = globalenv()))
as_f64 <- function(data) lapply(data, function(x) if (is.integer(x)) nv_tensor(x) else if (is.logical(x)) nv_tensor(x) else nv_tensor(x, "f64"))

# What an expression gives: the values, or what the error says.
outcome <- function(code) tryCatch(bare_data(code), error = function(e) structure(conditionMessage(e), class = "failure"))
bare_data <- function(x) {
  if (inherits(x, "AnvilValue")) x <- as_array(x)
  sizes <- if (length(x) == 1L) integer() else if (is.null(dim(x))) length(x) else dim(x) # R has no scalars
  array(as.double(x), c(sizes, 1L))
}

# What differs from R where `code` runs at once and compiled; character() where nothing does. `data`: R data by
# name; as tensors they are f64, i32 and bool.
differences_from_r <- function(code, data, tolerance = 1e-8) {
  expected <- outcome(in_session(code, data))
  tensors <- as_f64(data)
  compiled <- eval(call("function", as.pairlist(lapply(data, function(x) quote(expr = ))), code), globalenv())
  results <- list(`at once` = outcome(in_session(code, tensors)), compiled = outcome(do.call(jit(compiled), tensors)))
  found <- vapply(names(results), function(how) {
    actual <- results[[how]]
    wrong <- if (inherits(expected, "failure")) {
      if (!inherits(actual, "failure")) "an error in R"
    } else if (inherits(actual, "failure")) {
      actual
    } else if (!identical(dim(actual), dim(expected))) {
      sprintf("shape %s, in R %s", deparse(dim(actual)), deparse(dim(expected)))
    } else if (!isTRUE(same <- all.equal(c(actual), c(expected), tolerance = tolerance))) {
      same[1L]
    }
    if (is.null(wrong)) "" else sprintf("%s, %s: %s", paste(deparse(code), collapse = " "), how, wrong)
  }, "")
  unname(found[nzchar(found)])
}
