#' Other packages' arrays as tensors
#'
#' [nv_tensor()] takes what is no R vector or array by `as_tensor_data()`, a generic: it says in R's terms what the data are.
#' There are methods for
#'
#' * data frames whose columns are numbers or flags: a matrix;
#' * time series, [ts()]: their values, without the times;
#' * the dense classes of package Matrix, whatever part of them is stored. Sparse ones are refused, as a tensor has all
#'   elements: `as.matrix(x)` makes them dense, [nv_sparse()] keeps them sparse;
#' * tensors of package torch, from whatever device;
#' * arrays and scalars of NumPy that package reticulate holds (those that it has converted are R arrays).
#'
#' Elements lie as their package counts them, `x[i, j]` there is `x[i, j]` here. Names of rows and columns are left behind, as those of R
#' arrays are. The dtypes of torch and NumPy stay what they were unless [nv_tensor()] is asked for another one;
#' all else has the default one of its type.
#'
#' Packages register methods of their own: `S3method(anvil::as_tensor_data, their_class)` in `NAMESPACE`.
#'
#' @param x An object of any class.
#' @param ... For methods.
#' @return An R vector or array: logical, integer, double or `integer64`. Where it does not say everything, a list of it as
#'   `data`, with the name of a dtype as `dtype`, the sizes as `shape` (`integer()` for a scalar), or both. The default method gives `x`.
#' @section Errors:
#' Of class `anvil_error_argument` where a column of a data frame is no number, or a matrix is sparse; of class
#' `anvil_error_dtype` where there is no such dtype, or a whole number is beyond 2^53.
#' @family tensors
#' @export
#' @examples
#' nv_tensor(data.frame(a = 1:2, b = c(0.5, 1)))
#'
#' # a class of one's own
#' as_tensor_data.celsius <- function(x, ...) list(data = unclass(x) + 273.15, dtype = "f64")
#' registerS3method("as_tensor_data", "celsius", as_tensor_data.celsius)
#' nv_tensor(structure(c(0, 20), class = "celsius"))
as_tensor_data <- function(x, ...) UseMethod("as_tensor_data")

#' @export
as_tensor_data.default <- function(x, ...) x

#' @export
as_tensor_data.data.frame <- function(x, ...) {
  wrong <- which(!vapply(x, function(column) is_r_data(column) && !is.object(column) && is.null(dim(column)), NA))
  if (length(wrong)) {
    abort_anvil("argument", "The columns of a data frame must be numbers to become a tensor.", c(
      sprintf("x `%s` is <%s>.", names(x)[wrong[1L]], described_class(x[[wrong[1L]]])),
      "i `model.matrix()` makes numbers of factors."
    ))
  }
  unname(as.matrix(x))
}

#' @export
as_tensor_data.ts <- function(x, ...) bare_array(structure(unclass(x), tsp = NULL))

#' @export
as_tensor_data.denseMatrix <- function(x, ...) unname(methods::as(x, "matrix"))

#' @export
as_tensor_data.sparseMatrix <- function(x, ...) {
  abort_anvil("argument", "A sparse matrix does not become a tensor by itself: tensors are dense.", c(
    sprintf("x Got <%s> with %d rows and %d columns.", class(x)[1L], nrow(x), ncol(x)), "i `nv_sparse(x)` is a sparse tensor, `as.matrix(x)` has all elements."
  ))
}

# A function of a package that need not be installed; its objects are there only if it is.
peer <- function(package, name) getExportedValue(package, name)

#' @export
as_tensor_data.torch_tensor <- function(x, ...) {
  is <- function(name) isTRUE(tryCatch(x$dtype == peer("torch", paste0("torch_", name))(), error = function(e) FALSE)) # it lacks some
  dtype <- names(Filter(is, full_dtype_names()))[1L]
  if (is.na(dtype)) unknown_dtype("torch", format(x$dtype))
  x <- x$detach()$cpu()
  if (is_float_dtype(as_dtype(dtype)) && dtype_sizes[[dtype]]$bytes < 4L) x <- x$to(dtype = peer("torch", "torch_float32")())
  list(data = bare_array(peer("torch", "as_array")(x)), dtype = dtype, shape = as.integer(x$shape))
}

#' @export
as_tensor_data.numpy.ndarray <- function(x, ...) {
  name <- from_python(x$dtype$name)
  dtype <- names(dtype_codes)[match(name, full_dtype_names())]
  if (is.na(dtype)) unknown_dtype("NumPy", name)
  data <- from_python(if (name == "bool") x else x$astype("float64"))
  if (grepl("int64$", name) && any(abs(data) > 2^53)) {
    abort_anvil("dtype", sprintf("R does not have all digits of whole numbers beyond 2^53 in an array of dtype %s.", name), "i Convert it to float64 before.")
  }
  list(data = bare_array(data), dtype = dtype, shape = as.integer(unlist(from_python(x$shape))))
}

# NumPy's scalars, which its reductions give.
#' @export
as_tensor_data.numpy.generic <- as_tensor_data.numpy.ndarray

# Objects of Python convert their parts by themselves, or not.
from_python <- function(x) if (inherits(x, "python.builtin.object")) peer("reticulate", "py_to_r")(x) else x

# As other languages write them: float32, bfloat16, uint8.
full_dtype_names <- function() {
  names <- names(dtype_codes)
  stats::setNames(sub("i([0-9])", "int\\1", sub("f([0-9])", "float\\1", names)), names)
}

unknown_dtype <- function(of, name) {
  abort_anvil("dtype", sprintf("There is no dtype for this array of %s.", of), sprintf("x Got %s.", name))
}

bare_array <- function(x) if (is.null(dim(x))) as.vector(x) else unname(x)

# What nv_tensor() makes a tensor of: list(data, dtype, shape), the latter as asked for.
tensor_source <- function(x, dtype, shape) {
  data <- as_tensor_data(x)
  if (is.list(data) && !is.object(data)) {
    if (!is_r_data(data$data) || length(setdiff(names(data), c("data", "dtype", "shape")))) {
      abort_anvil("argument", sprintf("The method of `as_tensor_data()` for <%s> must give data as R has them, or a list of `data`, `dtype` and `shape`.", class(x)[1L]))
    }
    return(list(data = data$data, dtype = dtype %||% data$dtype, shape = shape %||% data$shape))
  }
  list(data = data, dtype = dtype, shape = shape)
}
