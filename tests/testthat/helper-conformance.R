# Programs that others wrote, in the folder conformance/: see its README.
conformance_file <- function(...) testthat::test_path("conformance", ...)
read_text <- function(...) paste(readLines(conformance_file(...), warn = FALSE, encoding = "UTF-8"), collapse = "\n")

# A program that checks itself, as one that returns what it would compare: actual, expected,
# actual, expected, ... The calls of checks are no part of StableHLO.
return_checked <- function(text) {
  value <- "(%[A-Za-z0-9_#.]+)"
  type <- "(tensor<[^>]*>)"
  gap <- "\\s+"
  forms <- list(
    paste0("stablehlo\\.custom_call @check\\.(\\w+)\\(", value, ", ", value, "\\)[^:]*: \\(", type, ", ", type, "\\) -> \\(\\)"),
    paste0("check\\.(expect_close) ", value, ", ", value, "[^:]*: ", type, ", ", type),
    paste0("check\\.(\\w+)_const ", value, ",", gap, "(dense<[^>]*>) :", gap, type, "()(?: \\{[^}]*\\})?")
  )
  found <- lapply(forms, function(form) regmatches(text, gregexec(form, text, perl = TRUE))[[1L]])
  checks <- do.call(cbind, Filter(length, found))
  is_literal <- startsWith(checks[4L, ], "dense")
  constants <- sprintf("%%expected.%d", seq_len(ncol(checks)))
  mark <- "// returned below"
  for (k in seq_len(ncol(checks))) {
    constant <- if (is_literal[k]) sprintf("%s = stablehlo.constant %s : %s ", constants[k], checks[4L, k], checks[5L, k])
    text <- sub(checks[1L, k], paste0(constant, mark), text, fixed = TRUE)
  }
  expected <- ifelse(is_literal, constants, checks[4L, ])
  values <- paste(rbind(checks[3L, ], expected), collapse = ", ")
  types <- paste(rbind(checks[5L, ], ifelse(is_literal, checks[5L, ], checks[6L, ])), collapse = ", ")

  # the function around the checks: from its name to its return
  head <- sub(paste0(mark, ".*"), "", text)
  tail <- substring(text, nchar(head) + 1L)
  start <- max(gregexpr("func\\.func", head)[[1L]])
  name <- sub("(@\\w+\\(\\))(?: -> \\([^()]*\\)| -> tensor<[^>]*>)?", sprintf("\\1 -> (%s)", types), substring(head, start), perl = TRUE)
  tail <- sub("\n\\s*(?:func\\.)?return[^\n]*", sprintf("\n    return %s : %s", values, types), tail, perl = TRUE)
  list(text = paste0(substring(head, 1L, start - 1L), name, tail), exact = startsWith(checks[2L, ], "expect_eq"))
}

# Elementwise: equal, or for floats within one of three distances.
is_close <- function(actual, expected, atol = 0, rtol = 0, ulp = 0, digits = 0) {
  if (!identical(length(actual), length(expected))) {
    return(FALSE)
  }
  same <- (is.na(actual) & is.na(expected)) | (!is.na(actual) & !is.na(expected) & actual == expected)
  distance <- abs(as.double(actual) - as.double(expected))
  unit <- 2^(pmax(floor(log2(abs(as.double(expected)))), if (digits == 23) -126 else -1022) - digits)
  near <- is.finite(distance) & (distance <= atol | distance <= rtol * abs(as.double(expected)) | distance <= ulp * unit)
  all(same | (near & !is.na(near)))
}
tensors_close <- function(actual, expected, atol = 0, rtol = 0, ulp = 0) {
  if (as.character(dtype(actual)) != as.character(dtype(expected)) || !identical(shape(actual), shape(expected))) {
    return(FALSE)
  }
  type <- as.character(dtype(expected))
  if (type %in% c("i64", "ui64")) { # in words that R numbers hold
    actual <- nv_bitcast_convert(actual, "i32")
    expected <- nv_bitcast_convert(expected, "i32")
  }
  if (!type %in% c("f32", "f64")) {
    return(identical(as_array(actual), as_array(expected)))
  }
  is_close(c(as_array(actual)), c(as_array(expected)), atol, rtol, ulp, if (type == "f32") 23 else 52)
}

# The tensors of a result in order.
leaves <- function(x) if (is.list(x) && !is.object(x)) do.call(c, lapply(unname(x), leaves)) else list(x)
# A tensor of row-major data.
row_major <- function(x) {
  values <- if (length(x$shape) > 1L) aperm(array(x$data, rev(x$shape))) else x$data
  nv_tensor(c(values), x$dtype, shape = as.integer(x$shape))
}
