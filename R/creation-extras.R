#' Constants and sequences
#'
#' * `nv_fill()` repeats one number.
#' * `nv_iota()` counts along a dimension: every element is its index there, plus
#'   `start - 1`.
#' * `nv_seq()` counts from `start` to `end`, or with `steps` gives so many evenly spaced numbers
#'   of a float dtype.
#'
#' They take R values, so nothing but the shape and the numbers is stored in a compiled
#' program.
#'
#' @param value A number or flag.
#' @param shape Sizes; `integer()` for a scalar.
#' @param dtype A dtype. By default that of `value` or, for sequences, `i32`, with `steps` that of
#'   R doubles.
#' @param ambiguous Whether the dtype yields to others in promotion.
#' @param device The device; `"cpu"` is the only one.
#' @param dims The dimension along which to count.
#' @param start,end The first and last number.
#' @param steps How many numbers.
#' @return A tensor.
#' @family tensors
#' @export
#' @examples
#' nv_fill(0, c(2, 3))
#' nv_iota(1, "i32", c(2, 3))
#' nv_seq(3, 7)
#' nv_seq(0, 1, steps = 5)
nv_fill <- function(value, shape, dtype = NULL, ambiguous = FALSE, device = NULL) {
  check_device(device)
  if (!is_r_data(value) || length(value) != 1L) {
    abort_anvil("argument", "`value` must be an R vector of length 1.", c(
      sprintf("x Got %s.", describe_value(value)),
      if (is_value(value)) "i `nv_broadcast_to()` repeats a tensor."
    ))
  }
  if (is.na(value) && !is.nan(value) && !is.double(value)) {
    floats <- is.null(dtype) || is_float_code(dtype_codes[[dtype_text(dtype)]])
    abort_anvil("missing", "`value` is NA: tensors know NaN, but no NA.", if (floats) "i Use `NaN` or `NA_real_`." else "i Only floats have NaN: convert the tensor, or keep a mask beside it.")
  }
  dtype <- if (is.null(dtype)) as.character(default_dtype(value)) else dtype_text(dtype)
  if (!is.object(value) && is_integer_code(dtype_codes[[dtype]])) check_in_range(value, dtype)
  record("fill", list(), list(value = value, dtype = dtype, shape = check_sizes(shape), ambiguous = check_flag(ambiguous)))
}

#' @rdname nv_fill
#' @export
nv_iota <- function(dims, dtype, shape, start = 1L, ambiguous = FALSE, device = NULL) {
  check_device(device)
  shape <- check_sizes(shape)
  record("iota", list(), list(dim = check_whole_number(dims, "dims", 1L, length(shape)), dtype = dtype_text(dtype), shape = shape, start = start, ambiguous = ambiguous))
}

#' @rdname nv_fill
#' @export
nv_seq <- function(start, end, steps = NULL, dtype = NULL, ambiguous = FALSE, device = NULL) {
  check_device(device)
  if (is_dtype(steps) || is.character(steps) && length(steps) == 1L && steps %in% names(dtype_codes)) {
    dtype <- steps
    steps <- NULL
  }
  if (!is.null(steps)) {
    return(spaced(start, end, check_whole_number(steps, "steps", 1L), dtype, ambiguous))
  }
  start <- check_whole_number(start, "start")
  end <- check_whole_number(end, "end")
  if (start > end) {
    abort_anvil("argument", "`start` must not be greater than `end`.", sprintf("x Got %d and %d.", start, end))
  }
  nv_iota(1L, if (is.null(dtype)) default_dtypes()[["int"]] else dtype, end - start + 1L, start = start, ambiguous = ambiguous)
}

spaced <- function(start, end, steps, dtype, ambiguous) {
  for (bound in list(start = start, end = end)) {
    if (is.object(bound) || !is.numeric(bound) || length(bound) != 1L || !is.finite(bound)) {
      abort_anvil("argument", "`start` and `end` must be finite numbers.", got_value(bound))
    }
  }
  dtype <- if (is.null(dtype)) default_dtypes()[["float"]] else dtype_text(dtype)
  index <- record("iota", list(), list(dim = 1L, dtype = dtype, shape = steps, start = 0L, ambiguous = ambiguous))
  values <- nv_add(nv_mul(index, (end - start) / max(1, steps - 1)), start)
  if (steps == 1L) values else nv_ifelse(nv_eq(index, steps - 1), end, values) # exactly, whatever rounding makes of a product
}

#' Tensors like another one
#'
#' The same as the functions without `_like`; what is not given is taken from `like`: dtype, ambiguity
#' and shape.
#'
#' @param like A tensor or box.
#' @param data,value,shape,dtype,ambiguous,device,dims,start,end,steps,n See [nv_tensor()], [nv_fill()]
#'   and [nv_eye()].
#' @return What the functions without `_like` return.
#' @family tensors
#' @name nv_like
#' @examples
#' x <- nv_tensor(matrix(1:6, 2), dtype = "f64")
#' nv_fill_like(x, 0)
#' nv_scalar_like(x, 3)
#' nv_eye_like(x, 2)
NULL

# A function of these with what it takes from `like`: its errors say where that is from.
like_another <- function(like, made) {
  tryCatch(made, anvil_error = function(e) {
    e$body <- c(e$body, i = sprintf("What is not given comes from `like`, which is %s.", type_text(like)))
    rlang::cnd_signal(e)
  })
}

#' @rdname nv_like
#' @export
nv_tensor_like <- function(like, data, dtype = NULL, shape = NULL, device = NULL, ambiguous = NULL) {
  like <- type_like(like)
  like_another(like, nv_tensor(
    data,
    dtype = dtype %||% like$dtype, device = device, shape = shape, ambiguous = ambiguous %||% like$ambiguous
  ))
}

#' @rdname nv_like
#' @export
nv_scalar_like <- function(like, data, dtype = NULL, device = NULL, ambiguous = NULL) {
  like <- type_like(like)
  like_another(like, nv_scalar(data, dtype = dtype %||% like$dtype, device = device, ambiguous = ambiguous %||% like$ambiguous))
}

#' @rdname nv_like
#' @export
nv_empty_like <- function(like, dtype = NULL, shape = NULL, device = NULL, ambiguous = NULL) {
  like <- type_like(like)
  like_another(like, nv_empty(dtype %||% like$dtype, shape %||% like$shape, device = device, ambiguous = ambiguous %||% like$ambiguous))
}

#' @rdname nv_like
#' @export
nv_fill_like <- function(like, value, shape = NULL, dtype = NULL, ambiguous = NULL, device = NULL) {
  like <- type_like(like)
  like_another(like, nv_fill(
    value, shape %||% like$shape,
    dtype = dtype %||% like$dtype, ambiguous = ambiguous %||% like$ambiguous, device = device
  ))
}

#' @rdname nv_like
#' @export
nv_iota_like <- function(like, dims, shape = NULL, start = 1L, dtype = NULL, ambiguous = NULL, device = NULL) {
  like <- type_like(like)
  like_another(like, nv_iota(
    dims, dtype %||% like$dtype, shape %||% like$shape,
    start = start, ambiguous = ambiguous %||% like$ambiguous, device = device
  ))
}

#' @rdname nv_like
#' @export
nv_seq_like <- function(like, start, end, steps = NULL, dtype = NULL, ambiguous = NULL, device = NULL) {
  like <- type_like(like)
  like_another(like, nv_seq(
    start, end,
    steps = steps, dtype = dtype %||% like$dtype, ambiguous = ambiguous %||% like$ambiguous, device = device
  ))
}

#' @rdname nv_like
#' @export
nv_eye_like <- function(like, n, dtype = NULL, device = NULL) {
  like <- type_like(like)
  like_another(like, nv_eye(n, dtype = dtype %||% like$dtype, device = device))
}

type_like <- function(like) abstract_from_tag(type_tag(like))
