#' Tensors
#'
#' `nv_tensor()` makes an `AnvilTensor` of an R vector or array, `nv_scalar()` one
#' without dimensions, `nv_empty()` one filled with zeros, and `nv_matrix()` a
#' matrix.
#'
#' Elements are stored in R's column-major order. A double vector becomes an `f64`
#' tensor and an integer vector an `i32` tensor without being copied; other dtypes
#' are converted: to integers towards zero, to `bool` by `!= 0`.
#'
#' Tensors are immutable, belong to R's garbage collector, and can be saved with
#' [saveRDS()]. `x$tensor` gives the raw buffer.
#'
#' # Missing values
#'
#' Tensors know `NaN`, but no `NA`. `NA_real_` is a NaN, `NA_integer_` the smallest
#' `i32` (which [as_array()] gives back as `NA`), or a NaN in a float tensor, and a
#' logical `NA` is `TRUE`. `check = TRUE` makes missing values an error.
#'
#' @param data A logical, integer, double or `integer64` vector or array; for
#'   `nv_tensor()` also a raw buffer or, unchanged, an `AnvilTensor`.
#' @param dtype A dtype or its name; `NULL` for the default of the R type:
#'   `f32`, `i32` or `bool`, see [local_default_dtypes()].
#' @param device The device; `"cpu"` is the only one.
#' @param shape Sizes of the dimensions. By default those of `data`; a vector
#'   has one dimension.
#' @param ambiguous Whether the dtype counts as chosen by nobody, so that it yields
#'   to other dtypes. By default `FALSE`, but `TRUE` for `nv_scalar()` of a number
#'   without `dtype`.
#' @param byrow Whether `data` fill the tensor with the last dimension fastest.
#' @param check Whether missing values are an error.
#' @param nrow,ncol Numbers of rows and columns.
#' @return An `AnvilTensor`.
#' @export
#' @examples
#' nv_tensor(c(1.5, 2, 3))
#' nv_tensor(1:6, shape = c(2, 3))
#' nv_scalar(1, "f64")
#' x <- nv_tensor(matrix(1:4, 2), "f32")
#' as_array(x)
#' shape(x)
nv_tensor <- function(data, dtype = NULL, device = NULL, shape = NULL, ambiguous = NULL, byrow = FALSE, check = FALSE) {
  check_device(device)
  if (inherits(data, "AnvilBuffer")) {
    data <- .Call(C_anvil_rewrap, data, "AnvilTensor")
  }
  if (is_concrete(data)) {
    return(unchanged_tensor(.Call(C_anvil_concrete, data), dtype, shape, ambiguous, byrow))
  }
  if (byrow && (length(shape) > 1L || length(dim(data)) > 1L)) {
    data <- fill_by_row(data, if (is.null(shape)) dim(data) else shape)
    shape <- NULL
  }
  new_tensor(data, dtype, shape, isTRUE(ambiguous), check)
}

new_tensor <- function(data, dtype, shape, ambiguous, check = FALSE) {
  .Call(C_anvil_tensor, data, if (!is.null(dtype)) dtype_code(as_dtype(dtype)), shape, ambiguous, check)
}

#' @rdname nv_tensor
#' @export
nv_scalar <- function(data, dtype = NULL, device = NULL, ambiguous = NULL) {
  check_device(device)
  if (is_concrete(data)) {
    return(unchanged_tensor(.Call(C_anvil_concrete, data), dtype, integer(), ambiguous))
  }
  if (!is.atomic(data) || length(data) != 1L) {
    abort_anvil("shape", "`data` must have length 1.", c(sprintf("x Got length %d.", length(data)), "i Use `nv_tensor()`."))
  }
  new_tensor(data, dtype, integer(), if (is.null(ambiguous)) is.null(dtype) && !is.logical(data) else isTRUE(ambiguous))
}

#' @rdname nv_tensor
#' @export
nv_empty <- function(dtype, shape, device = NULL, ambiguous = FALSE) {
  check_device(device)
  .Call(C_anvil_empty, make_tag(dtype, shape, ambiguous), NULL)
}

#' @rdname nv_tensor
#' @export
nv_matrix <- function(data, nrow = NULL, ncol = NULL, dtype = NULL, device = NULL, ambiguous = NULL, byrow = FALSE) {
  n <- length(data)
  if (is.null(nrow) && is.null(ncol) && n != 1L) {
    abort_anvil("argument", "One of `nrow` and `ncol` must be given.")
  }
  infer <- function(given) {
    if (n == 1L) {
      return(1L)
    }
    if (given > 0L && n %% given != 0L) {
      abort_anvil("shape", sprintf("The length of `data` (%d) is not a multiple of %d.", n, given))
    }
    if (given > 0L) n %/% given else 0L
  }
  if (is.null(nrow)) nrow <- if (is.null(ncol)) 1L else infer(ncol)
  if (is.null(ncol)) ncol <- infer(nrow)
  nv_tensor(as.vector(data), dtype = dtype, device = device, shape = c(nrow, ncol), ambiguous = ambiguous, byrow = byrow)
}

# A tensor stays what it is: asking for something else is a mistake.
unchanged_tensor <- function(x, dtype, shape, ambiguous, byrow = FALSE) {
  refuse <- function(what, from, to) {
    abort_anvil("argument", sprintf("Cannot change the %s of an existing AnvilTensor.", what), sprintf("x It is %s, not %s.", from, to))
  }
  if (!is.null(dtype) && as_dtype(dtype) != dtype(x)) {
    refuse("dtype", format(dtype(x)), format(as_dtype(dtype)))
  }
  if (!is.null(shape) && !identical(as.integer(shape), shape(x))) {
    refuse("shape", shape2string(shape(x)), shape2string(shape))
  }
  if (!is.null(ambiguous) && isTRUE(ambiguous) != ambiguous(x)) {
    refuse("ambiguity", ambiguous(x), isTRUE(ambiguous))
  }
  if (byrow) {
    abort_anvil("argument", "`byrow` must be FALSE for an existing AnvilTensor.")
  }
  x
}

fill_by_row <- function(data, shape) {
  data <- as.vector(data)
  if (length(data) == 1L || length(data) != prod(shape)) {
    return(if (length(data) == 1L) array(data, shape) else data)
  }
  aperm(array(data, rev(shape)))
}

check_device <- function(device) {
  if (!is.null(device) && !(is.character(device) && device[1L] %in% c("cpu", "cpu:0")) && !inherits(device, "AnvilDevice")) {
    abort_anvil("argument", "`device` must be \"cpu\", the only device there is.")
  }
}

is_tensor <- function(x) inherits(x, "AnvilTensor")
is_box <- function(x) inherits(x, "AnvilBox")
# A tensor, or a debug box with data.
is_concrete <- function(x) !is.null(.Call(C_anvil_concrete, x))

# --- what a tensor is -----------------------------------------------------------

#' What a tensor is
#'
#' @param x A tensor or box; the `*_abstract()` functions also take bare R values.
#' @return `dtype()`: a dtype. `shape()`: an integer vector, of length 0 for a
#'   scalar. `ndims()`: its length. `ambiguous()`: whether the dtype came from an R
#'   value and yields to others. `device()` and `platform()`: where the data are.
#' @export
#' @examples
#' x <- nv_tensor(matrix(1:6, 2))
#' dtype(x)
#' shape(x)
#' ndims(x)
#' shape_abstract(1L)
dtype <- function(x) dtype_from_code(type_tag(x)[1L])

#' @rdname dtype
#' @export
shape <- function(x) type_tag(x)[-(1:2)]

#' @rdname dtype
#' @export
ndims <- function(x) length(type_tag(x)) - 2L

#' @rdname dtype
#' @export
ambiguous <- function(x) type_tag(x)[2L] != 0L

#' @rdname dtype
#' @export
device <- function(x) {
  no_device(x)
  structure("CpuDevice(id=0)", class = "AnvilDevice")
}

#' @rdname dtype
#' @export
platform <- function(x) {
  no_device(x)
  "cpu"
}

no_device <- function(x) {
  if (is.null(.Call(C_anvil_concrete, x)) && !inherits(x, "AnvilBuffer")) {
    abort_anvil("argument", "The device is not accessible during tracing.", "i Types have no device, only data have.")
  }
}

#' @export
print.AnvilDevice <- function(x, ...) {
  cat("<", unclass(x), ">\n", sep = "")
  invisible(x)
}

#' @export
as.character.AnvilDevice <- function(x, ...) as.character(unclass(x))

# c(dtype, ambiguous, sizes...) of anything that has a type.
type_tag <- function(x) {
  tag <- .Call(C_anvil_tag, x)
  if (is.null(tag)) tag <- abstract_tag(x)
  tag
}

make_tag <- function(dtype, shape, ambiguous = FALSE) {
  if (length(shape) > 0L && !(is.numeric(shape) && all(is.finite(shape)) && all(shape == trunc(shape)) && all(shape >= 0))) {
    abort_anvil("shape", "`shape` must hold sizes of at least 0.", paste0("x Got ", paste(format(shape), collapse = ", "), "."))
  }
  c(dtype_code(as_dtype(dtype)), as.integer(isTRUE(ambiguous)), as.integer(shape))
}

shape2string <- function(shape, parenthesize = TRUE) {
  text <- paste(shape, collapse = ",")
  if (parenthesize) paste0("(", text, ")") else text
}

#' @export
dim.AnvilTensor <- function(x) shape(x)

#' @export
length.AnvilTensor <- function(x) {
  n <- prod(shape(x))
  if (n <= .Machine$integer.max) as.integer(n) else n
}

# --- back to R ------------------------------------------------------------------

#' Tensors back to R
#'
#' `as_array()` gives an R array, or a vector of length 1 for a scalar: doubles for
#' floats, integers for integers, logicals for `bool`. Tensors of `i64`, `ui64` and
#' `ui32` come back as doubles as long as all values are exact (at most 2^53), and
#' as `bit64::integer64` otherwise. `as_raw()` gives the bytes. `as.double()`,
#' `as.integer()`, `as.logical()` and `as.vector()` give plain vectors.
#'
#' @param x A tensor, or a debug box with data.
#' @param row_major Whether the bytes are ordered with the last dimension fastest.
#' @param ... Not used.
#' @return An R array or vector.
#' @export
#' @examples
#' as_array(nv_tensor(1:6, shape = c(2, 3)))
#' as.double(nv_scalar(1.5))
#' as_raw(nv_scalar(1L, "i16"))
as_array <- function(x) .Call(C_anvil_as_array, concrete(x))

#' @rdname as_array
#' @export
as_raw <- function(x, row_major = FALSE) .Call(C_anvil_as_raw, concrete(x), row_major)

#' A tensor from its bytes
#'
#' @param data A raw vector.
#' @inheritParams nv_tensor
#' @inheritParams as_array
#' @return An `AnvilTensor`.
#' @export
#' @examples
#' nv_from_raw(as.raw(c(1, 0, 2, 0)), "i16", 2)
nv_from_raw <- function(data, dtype, shape, row_major = FALSE, ambiguous = FALSE) {
  .Call(C_anvil_from_raw, data, make_tag(dtype, shape, ambiguous), row_major, "AnvilTensor")
}

# The AnvilTensor behind x, or an error that says what to do.
concrete <- function(x) {
  data <- .Call(C_anvil_concrete, x)
  if (!is.null(data)) {
    return(data)
  }
  if (inherits(x, "AnvilBuffer")) {
    return(x)
  }
  if (inherits(x, "GraphBox")) {
    abort_anvil("trace", "A traced value has no data yet.", c(
      "x R asked for them while the function was being traced.",
      "i Use `nv_*` functions on it, or make the argument static so that R sees its value."
    ))
  }
  if (inherits(x, "DebugBox")) {
    abort_anvil("argument", "This debug box has a type, but no data.")
  }
  abort_anvil("argument", "`x` must be an AnvilTensor.", sprintf("x Got <%s>.", described_class(x)))
}

vector_as <- function(x, convert, allowed, what) {
  data <- concrete(x)
  if (!allowed(dtype(data))) {
    abort_anvil("dtype", sprintf("`%s` is not defined for dtype %s.", what, as.character(dtype(data))), "i Convert it with `nv_convert()` before.")
  }
  convert(as_array(data))
}

#' @export
as.double.AnvilTensor <- function(x, ...) {
  vector_as(x, as.double, function(t) is_float_dtype(t) || is_integer_dtype(t), "as.double()")
}
#' @export
as.double.AnvilBox <- as.double.AnvilTensor

#' @export
as.integer.AnvilTensor <- function(x, ...) vector_as(x, as.integer, is_integer_dtype, "as.integer()")
#' @export
as.integer.AnvilBox <- as.integer.AnvilTensor

#' @export
as.logical.AnvilTensor <- function(x, ...) {
  vector_as(x, as.logical, function(t) inherits(t, "BooleanType"), "as.logical()")
}
#' @export
as.logical.AnvilBox <- as.logical.AnvilTensor

#' @export
as.vector.AnvilTensor <- function(x, mode = "any") as.vector(as_array(x), mode)
#' @export
as.vector.AnvilBox <- as.vector.AnvilTensor

#' @export
as.array.AnvilTensor <- function(x, ...) as.array(as_array(x))
#' @export
as.array.AnvilBox <- as.array.AnvilTensor

#' @export
as.matrix.AnvilTensor <- function(x, ...) as.matrix(as_array(x))
#' @export
as.matrix.AnvilBox <- as.matrix.AnvilTensor

#' @export
as.character.AnvilTensor <- function(x, ...) as.character(as_array(x))

#' @export
`$.AnvilTensor` <- function(x, name) {
  if (name != "tensor") {
    abort_anvil("argument", sprintf("An AnvilTensor has no field `%s`.", name), "i `x$tensor` is its raw buffer.")
  }
  .Call(C_anvil_rewrap, x, "AnvilBuffer")
}

#' @export
`[[.AnvilTensor` <- function(x, i, ...) {
  if (is.character(i)) `$.AnvilTensor`(x, i) else abort_anvil("argument", "`[[` is not defined for tensors.", "i Use `[`.")
}

#' @export
all.equal.AnvilTensor <- function(target, current, ...) {
  if (!is_tensor(current)) {
    return("current is not an AnvilTensor")
  }
  if (!identical(type_tag(target), type_tag(current))) {
    return(sprintf("types differ: %s, %s", type_text(target), type_text(current)))
  }
  all.equal(as_array(target), as_array(current), ...)
}

# For waldo and testthat: tensors compare by their data and types.
compare_proxy_tensor <- function(x, path = "x") {
  data <- as_array(x)
  if (ndims(x) == 1L) data <- as.vector(data)
  list(object = list(data = data, shape = shape(x), dtype = as.character(dtype(x)), ambiguous = ambiguous(x)), path = path)
}
#' @exportS3Method waldo::compare_proxy
compare_proxy.AnvilTensor <- compare_proxy_tensor
#' @exportS3Method waldo::compare_proxy
compare_proxy.DebugBox <- function(x, path = "x") {
  if (is_concrete(x)) compare_proxy_tensor(.Call(C_anvil_concrete, x), path) else list(object = type_text(x), path = path)
}

# --- printing -------------------------------------------------------------------

type_text <- function(x, open = "[", sep = ", ", close = "]") {
  paste0(as.character(dtype(x)), if (ambiguous(x)) "?", open, paste(shape(x), collapse = sep), close)
}

data_lines <- function(x, max_rows = getOption("anvil.print_max_rows", 30L), max_width = getOption("anvil.print_max_width", 85L),
                       max_rows_slice = getOption("anvil.print_max_rows_slice", max_rows)) {
  .Call(C_anvil_format_data, x, max_rows, max_width, max_rows_slice)
}

tensor_footer <- function(x, sep = ",") paste0("[ CPU", type_text(x, "{", sep, "}"), " ] ")

print_lines <- function(...) cat(paste0(c(...), "\n"), sep = "")

#' Print a tensor
#'
#' @param x A tensor.
#' @param header Whether to print the first line.
#' @param max_rows,max_width,max_rows_slice How many rows of numbers and how wide;
#'   -1 for no limit. By default the options `anvil.print_max_rows` (30),
#'   `anvil.print_max_width` (85) and `anvil.print_max_rows_slice`.
#' @param ... Not used.
#' @return `x`, invisibly.
#' @export
#' @examples
#' print(nv_tensor(1:100), max_rows = 3)
print.AnvilTensor <- function(x, header = TRUE, max_rows = getOption("anvil.print_max_rows", 30L), max_width = getOption("anvil.print_max_width", 85L),
                              max_rows_slice = getOption("anvil.print_max_rows_slice", max_rows), ...) {
  print_lines(if (header) "AnvilTensor", data_lines(x, max_rows, max_width, max_rows_slice), tensor_footer(x))
  invisible(x)
}

#' @export
format.AnvilTensor <- function(x, ...) {
  sprintf("AnvilTensor(dtype=%s%s, shape=%s)", as.character(dtype(x)), if (ambiguous(x)) "?" else "", paste(shape(x), collapse = "x"))
}

#' @export
print.AnvilBuffer <- function(x, ...) {
  print_lines("PJRTBuffer ", data_lines(x), tensor_footer(x, sep = "x"))
  invisible(x)
}

#' @export
str.AnvilTensor <- function(object, ...) cat(" ", format(object), "\n", sep = "")

methods::setOldClass("AnvilTensor")
methods::setMethod("show", "AnvilTensor", function(object) print(object))
