#' Tensors
#'
#' `nv_tensor()` makes an `AnvilTensor` of an R vector or array, `nv_scalar()` one
#' without dimensions, `nv_empty()` one filled with zeros, and `nv_matrix()` a
#' matrix.
#'
#' Elements are stored in R's column-major order. A double vector becomes an `f64`
#' tensor and an integer vector an `i32` tensor without being copied; other dtypes
#' are converted: to integers towards zero, to `bool` by `!= 0`. A number that an integer dtype does not have is an
#' error.
#'
#' Tensors are immutable, belong to R's garbage collector, and can be saved with
#' [saveRDS()]. [identical()] and [all.equal()] compare their types and data, whether
#' `nv_tensor()`, a jitted function or debug mode made them. A scalar of dtype `bool` is an R
#' logical at the same time, for `if`, `while` and [isTRUE()]. `x$tensor` gives the raw
#' buffer. [anvil_memory()] shows the memory in use. A tensor is a reference: what changes its class or attributes, as
#' `I(x)` and `attr(y, "note") <- ` do, is seen by all its names.
#'
#' # Missing values
#'
#' Tensors know `NaN`, but no `NA`. In a float tensor, missing values are NaN. In one of integers or `bool`, `NA` and NaN
#' are an error, unless `na` says what stands in their place. `check = TRUE` makes all missing values an error.
#'
#' @param data A logical, integer, double or `integer64` vector or array; for
#'   `nv_tensor()` also a raw buffer or, unchanged, an `AnvilTensor`, a data frame of numbers, a dense matrix of package
#'   Matrix and others that [as_tensor_data()] has methods for.
#' @param dtype A dtype or its name; `NULL` for the default of the R type:
#'   `f32`, `i32` or `bool`, see [local_default_dtypes()].
#' @param shape Sizes of the dimensions. By default those of `data`; a vector
#'   has one dimension.
#' @param device The device, by its name; `"cpu"` is the only one.
#' @param ambiguous Whether the dtype counts as chosen by nobody, so that it yields
#'   to other dtypes. By default `FALSE`, but `TRUE` for `nv_scalar()` of a number
#'   without `dtype`.
#' @param byrow Whether `data` fill the tensor with the last dimension fastest.
#' @param check Whether missing values are an error.
#' @param na A number or flag for the missing values.
#' @param nrow,ncol Numbers of rows and columns.
#' @return An `AnvilTensor`.
#' @aliases AnvilTensor-class AnvilValue-class DebugBox-class GraphBox-class AnvilSparse-class
#' @family tensors
#' @export
#' @examples
#' nv_tensor(c(1.5, 2, 3))
#' nv_tensor(1:6, "f64", c(2, 3))
#' nv_scalar(1, "f64")
#' x <- nv_tensor(matrix(1:4, 2), "f32")
#' as_array(x)
#' shape(x)
nv_tensor <- function(data, dtype = NULL, shape = NULL, device = NULL, ambiguous = NULL, byrow = FALSE, check = FALSE, na = NULL) {
  check_device(device)
  if (is.character(shape) || inherits(shape, "AnvilDevice")) {
    wrong_argument("shape", "sizes of dimensions", shape, "i The device has its name: `device = \"cpu\"`.")
  }
  check_flag(byrow)
  check_flag(check)
  if (!is.null(ambiguous)) check_flag(ambiguous)
  if (inherits(data, "AnvilBuffer")) {
    data <- .Call(C_anvil_rewrap, data, "AnvilTensor")
  }
  if (is_tensor(data)) {
    return(unchanged_tensor(data, dtype, shape, ambiguous, byrow))
  }
  if (is.object(data) && !is_value(data) && !is_r_data(data)) {
    source <- tensor_source(data, dtype, shape)
    data <- source$data
    dtype <- source$dtype
    shape <- source$shape
  }
  if (!is.null(na)) {
    if (!is_literal(na) || is_missing_literal(na)) wrong_argument("na", "a number or flag", na)
    if (is_r_data(data)) data[is.na(data)] <- of_type(na, typeof(data))
  }
  if (byrow && is_r_data(data) && (length(shape) > 1L || length(dim(data)) > 1L)) {
    data <- fill_by_row(data, if (is.null(shape)) dim(data) else check_sizes(shape))
    shape <- NULL
  }
  new_tensor(data, dtype, shape, isTRUE(ambiguous), check)
}

# A number in the type of the data it goes into, where that holds it: the data keep theirs.
of_type <- function(x, type) if (identical(as.double(as.vector(x, type)), as.double(x))) as.vector(x, type) else x

new_tensor <- function(data, dtype, shape, ambiguous, check = FALSE) {
  if (is_value(data)) {
    hint <- "i Leave the call out, or use `nv_convert()` or `nv_reshape()`."
    abort_anvil("argument", "`data` is a tensor already, whose data are not known yet.", hint)
  }
  if (!is.null(shape)) check_elements(shape)
  .Call(C_anvil_tensor, data, if (!is.null(dtype)) dtype_code(as_dtype_argument(dtype)), shape, ambiguous, check)
}

#' @rdname nv_tensor
#' @export
nv_scalar <- function(data, dtype = NULL, device = NULL, ambiguous = NULL) {
  check_device(device)
  if (!is.null(ambiguous)) check_flag(ambiguous)
  if (is_tensor(data)) {
    if (ndims(data) > 0L) {
      abort_anvil("shape", "`data` must be a scalar.", c(
        sprintf("x Got shape %s.", shape2string(shape(data))),
        if (length(data) == 1L) "i Use `nv_reshape(x, integer())`."
      ))
    }
    return(unchanged_tensor(data, dtype, NULL, ambiguous))
  }
  if (is_r_data(data) && length(data) != 1L) {
    got <- sprintf("x Got length %d.", length(data))
    abort_anvil("shape", "`data` must have length 1.", c(got, "i Use `nv_tensor()`."))
  }
  new_tensor(data, dtype, integer(), if (is.null(ambiguous)) is.null(dtype) && !is.logical(data) else isTRUE(ambiguous))
}

#' @rdname nv_tensor
#' @export
nv_empty <- function(dtype, shape, device = NULL, ambiguous = FALSE) {
  check_device(device)
  .Call(C_anvil_empty, make_tag(dtype, shape, ambiguous))
}

#' @rdname nv_tensor
#' @export
nv_matrix <- function(data, nrow = NULL, ncol = NULL, dtype = NULL, device = NULL, ambiguous = NULL, byrow = FALSE) {
  if (!is.null(nrow)) nrow <- check_whole_number(nrow, "nrow", 0L)
  if (!is.null(ncol)) ncol <- check_whole_number(ncol, "ncol", 0L)
  if (!is_r_data(data)) {
    if (is_tensor(data)) check_unchanged(matrix_sizes(data, "data"), nrow, ncol)
    return(nv_tensor(data, dtype, NULL, device, ambiguous, byrow))
  }
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
  if (n != 1L && n != as.double(nrow) * ncol) {
    abort_anvil("shape", sprintf("`nrow` (%d) and `ncol` (%d) do not hold the %d elements of `data`.", nrow, ncol, n))
  }
  nv_tensor(as.vector(data), dtype = dtype, device = device, shape = c(nrow, ncol), ambiguous = ambiguous, byrow = byrow)
}

check_unchanged <- function(sizes, nrow, ncol) {
  asked <- c(nrow %||% sizes[1L], ncol %||% sizes[2L])
  if (!identical(asked, sizes)) {
    abort_anvil("argument", "Cannot change the shape of an existing AnvilTensor.", c(
      sprintf("x `data` is %s, not %s.", shape2string(sizes), shape2string(asked)),
      "i Leave `nrow` and `ncol` out, or use `nv_reshape()`."
    ))
  }
}

# A tensor stays what it is: asking for something else is a mistake.
unchanged_tensor <- function(x, dtype, shape, ambiguous, byrow = FALSE) {
  refuse <- function(what, from, to) {
    abort_anvil("argument", sprintf("Cannot change the %s of an existing AnvilTensor.", if (what == "ambiguous") "ambiguity" else what), c(
      sprintf("x `data` is %s, not %s.", from, to),
      sprintf("i Leave `%s` out%s.", what, switch(what, dtype = ", or use `nv_convert()`", shape = ", or use `nv_reshape()`", ""))
    ))
  }
  if (!is.null(dtype) && as_dtype_argument(dtype) != dtype(x)) {
    refuse("dtype", format(dtype(x)), format(as_dtype(dtype)))
  }
  if (!is.null(shape) && !(length(shape) == ndims(x) && all(shape == shape(x)))) {
    refuse("shape", shape2string(shape(x)), shape2string(check_sizes(shape)))
  }
  if (!is.null(ambiguous) && isTRUE(ambiguous) != ambiguous(x)) {
    refuse("ambiguous", ambiguous(x), isTRUE(ambiguous))
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

# --- what a tensor is -----------------------------------------------------------

#' What a tensor is
#'
#' @param x A tensor or box; the `*_abstract()` functions also take bare R values.
#' @param ... What functions of other packages with this name take, where a call is for one.
#' @return `dtype()`: a dtype. `shape()`: an integer vector, of length 0 for a
#'   scalar. `ndims()`: its length. `ambiguous()`: whether the dtype came from an R
#'   value and yields to others. `device()` and `platform()`: where the data are.
#' @family tensors
#' @usage dtype(x, ...)
#' @export
#' @examples
#' x <- nv_tensor(matrix(1:6, 2))
#' dtype(x)
#' shape(x)
#' ndims(x)
#' shape_abstract(1L)
dtype <- function(x) dtype_from_code(type_tag(x)[1L])

#' @rdname dtype
#' @usage shape(x, ...)
#' @export
shape <- function(x) type_tag(x)[-(1:2)]

#' @rdname dtype
#' @export
ndims <- function(x) length(type_tag(x)) - 2L

#' @rdname dtype
#' @export
ambiguous <- function(x) type_tag(x)[2L] != 0L

#' @rdname dtype
#' @usage device(x, ...)
#' @export
device <- function(x) {
  no_device(x)
  structure("CpuDevice(id=0)", class = "AnvilDevice")
}

#' @rdname dtype
#' @usage platform(x, ...)
#' @export
platform <- function(x) {
  no_device(x)
  "cpu"
}

no_device <- function(x) {
  if (!is_tensorish(x) && !inherits(x, c("AbstractTensor", "AnvilBuffer"))) wrong_argument("x", "a tensor", x)
  if (!is_tensor(x) && !inherits(x, "AnvilBuffer")) {
    abort_anvil("argument", "The device of `x` is not accessible during tracing.", "i Types have no device, only data have.")
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
type_tag <- function(x, name = rlang::caller_arg(x)) {
  tag <- .Call(C_anvil_tag, x)
  if (is.null(tag)) abstract_tag(x, name) else tag
}

make_tag <- function(dtype, shape, ambiguous = FALSE) {
  if (!is.null(shape) && (!is_whole(shape) || any(shape < 0))) {
    abort_anvil("shape", "`shape` must hold sizes of at least 0.", got_value(shape))
  }
  check_elements(shape)
  check_flag(ambiguous)
  sizes <- if (all(shape <= .Machine$integer.max)) as.integer(shape) else as.double(shape)
  c(dtype_code(as_dtype_argument(dtype)), as.integer(ambiguous), sizes)
}

shape2string <- function(shape, parenthesize = TRUE) {
  text <- paste(shape, collapse = ",")
  if (parenthesize) paste0("(", text, ")") else text
}
