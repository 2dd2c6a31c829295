# Values: tensors, and the boxes that stand for one without data, which a trace does not have yet and
# a debug box never has. Their class is all that R's generics know of them; here are the methods about
# parts and equality. identical() needs none: a tensor has its type and data as attributes.

is_value <- function(x) is.object(x) && inherits(x, "AnvilValue")
is_tensor <- function(x) is.object(x) && inherits(x, "AnvilTensor")
is_box <- function(x) is_value(x) && !is_tensor(x)

#' @export
dim.AnvilValue <- function(x) shape(x)

#' @export
length.AnvilValue <- function(x) {
  n <- prod(shape(x))
  if (n <= .Machine$integer.max) as.integer(n) else n
}

#' @export
is.matrix.AnvilValue <- function(x) length(shape(x)) == 2L
#' @export
is.array.AnvilValue <- function(x) length(shape(x)) > 0L
#' @export
is.numeric.AnvilValue <- function(x) type_tag(x)[1L] != 0L

#' @importFrom utils str
#' @export
str.AnvilValue <- function(object, ...) {
  cat(" ", type_text(object), sep = "")
  if (is_tensor(object)) {
    part <- if (is_tracing()) object else head(as_line(object), 10L) # which a trace would record
    first <- head(as.vector(numbers_of(part)), 10L)
    cat("", format(first, digits = 3L, trim = TRUE), if (length(object) > 10L) "...")
  }
  cat("\n")
}

#' @export
`$.AnvilValue` <- function(x, name) {
  if (name != "tensor") {
    abort_anvil("argument", sprintf("A tensor has no field `%s`.", name), field_hint(name))
  }
  .Call(C_anvil_rewrap, concrete(x), "AnvilBuffer")
}

field_hint <- function(name) {
  if (name %in% c("shape", "dtype", "ndims", "device", "dim", "length")) sprintf("i Use `%s(x)`.", name) else "i `x$tensor` is its raw buffer."
}

#' @export
`[[.AnvilValue` <- function(x, i, ...) {
  if (is.character(i)) {
    return(`$.AnvilValue`(x, i))
  }
  element <- nv_subset(x, i, ...)
  if (length(element) != 1L || ...length() + 1L != rank_of(x)) takes_one_element(x)
  nv_reshape(element, integer())
}

#' @export
`[[<-.AnvilValue` <- function(x, ..., value) {
  is_place <- function(i) if (is_value(i)) rank_of(i) == 0L else is.numeric(i) && length(i) == 1L && isTRUE(i >= 1)
  if (...length() != rank_of(x) || !all(vapply(list(...), is_place, NA))) takes_one_element(x)
  if (length(value) != 1L) abort_anvil("index", "`value` must be one element.", got_value(value))
  nv_subset_assign(x, ..., value = if (is_value(value)) nv_reshape(value, integer()) else value)
}

takes_one_element <- function(x) {
  abort_anvil("index", "`[[` takes one element: one number for each dimension.", c(sprintf("x `x` has shape %s.", shape2string(sizes_of(x))), "i Use `[`."))
}

# Types first: numbers are compared where they can be equal.
#' @exportS3Method all.equal AnvilValue
all.equal.AnvilValue <- function(target, current, ...) {
  if (!is_value(current)) {
    return(sprintf("`current` is no tensor, but <%s>", described_class(current)))
  }
  differ <- function(what, of) if (!identical(of(target), of(current))) sprintf("%s differ: %s, %s", what, format(of(target)), format(of(current)))
  types <- c(
    differ("dtypes", function(x) as.character(dtype(x))),
    differ("shapes", function(x) shape2string(shape(x))),
    differ("ambiguities", ambiguous)
  )
  if (!is.null(types)) {
    return(types)
  }
  if (inherits(target, "DebugBox") && inherits(current, "DebugBox")) {
    return(TRUE) # their types are all there is
  }
  all.equal(numbers_of(target), numbers_of(current), ...)
}

# Of integers beyond 2^53 the nearest doubles, as they are printed: all.equal(), str() and summary() are about nearly
# equal numbers.
numbers_of <- function(x) {
  dtype <- as.character(dtype(x))
  if (!(dtype %in% c("i64", "ui64"))) {
    return(as_array(x))
  }
  # of the bytes, since a conversion would be recorded in a trace
  parts <- matrix(readBin(as_raw(x), "integer", 4 * length(x), size = 2L, signed = FALSE), 4L)
  high <- parts[4L, ] - if (dtype == "i64") 2^16 * (parts[4L, ] >= 2^15) else 0
  (high * 2^16 + parts[3L, ]) * 2^32 + (parts[2L, ] * 2^16 + parts[1L, ])
}

# For waldo and testthat: tensors compare by their data and types, boxes by their types.
#' @exportS3Method waldo::compare_proxy
compare_proxy.AnvilValue <- function(x, path = "x") {
  if (!is_tensor(x)) {
    return(list(object = type_text(x), path = path))
  }
  data <- as_array(x)
  if (ndims(x) == 1L) data <- as.vector(data)
  list(object = list(data = data, shape = shape(x), dtype = as.character(dtype(x)), ambiguous = ambiguous(x)), path = path)
}
