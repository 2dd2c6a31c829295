#' Data types
#'
#' The element types of tensors are `bool`, `i8`, `i16`, `i32`, `i64`, `ui8`,
#' `ui16`, `ui32`, `ui64`, `f16`, `bf16`, `f32` and `f64`. As input, `"i1"` and `"pred"` are
#' understood as `bool`. A dtype compares with `==` to a dtype or a string.
#'
#' Tensors of `f16` and `bf16` take half the memory of `f32`. They are stored only: every
#' function computes with `f32` and rounds its result once, to the nearest number
#' of the dtype; sums and products add up in `f32`.
#'
#' @param x For `as_dtype()` a name or a dtype, otherwise any object.
#' @return `as_dtype()`: a dtype. `is_dtype()`: a flag.
#' @family dtypes
#' @export
#' @examples
#' as_dtype("f32")
#' as_dtype("f32") == "f32"
#' as.character(as_dtype("pred"))
as_dtype <- function(x) as_dtype_argument(x, "x")

# As the argument of another function that is called `name`.
as_dtype_argument <- function(x, name = "dtype") {
  if (is_dtype(x)) {
    return(x)
  }
  code <- dtype_code(x)
  if (is.na(code)) {
    meant <- c(double = "f64", float = "f32", half = "f16", float16 = "f16", bfloat16 = "bf16", float32 = "f32", float64 = "f64", numeric = "f64", integer = "i32", int = "i32", logical = "bool")
    abort_anvil("dtype", sprintf("`%s` is not a dtype.", name), c(
      sprintf("x Got %s.", describe_value(x)),
      if (is.character(x) && length(x) == 1L && x %in% names(meant)) sprintf("i Did you mean \"%s\"?", meant[[x]]),
      if (is.numeric(x) && name == "dtype") "i An argument without a name stands in its place: write the names, as in `nv_rnorm(3, mean = 0, sd = 1)`.",
      dtype_list()
    ))
  }
  dtype_from_code(code)
}

# By kind and size.
dtype_list <- function() {
  kinds <- vapply(dtype_objects, function(x) class(x)[1L], "")
  bytes <- vapply(dtype_sizes, function(x) x$bytes, 1L)
  known <- names(dtype_codes)[order(match(kinds, unique(kinds)), bytes)]
  sprintf("i The dtypes are %s and %s.", paste(known[-length(known)], collapse = ", "), known[length(known)])
}

#' @rdname as_dtype
#' @export
is_dtype <- function(x) inherits(x, "AnvilDtype")

dtype_code <- function(x) {
  if (is.character(x) && length(x) == 1L) .Call(C_anvil_dtype_code, as.character(x)) else NA_integer_
}

# The core's dtypes, read when the package is loaded: their numbers, as type_tag() has them, the
# objects that stand for them, and their sizes: bytes, and the bits of floats.
dtype_codes <- NULL
dtype_objects <- NULL
dtype_is_float <- NULL
dtype_sizes <- NULL
read_dtypes <- function() {
  known <- .Call(C_anvil_dtypes)
  here <- topenv()
  assign("dtype_codes", stats::setNames(seq_along(known$name) - 1L, known$name), here)
  assign("dtype_objects", Map(function(name, kind) structure(name, class = c(kind, "AnvilDtype")), known$name, known$kind, USE.NAMES = FALSE), here)
  assign("dtype_is_float", vapply(dtype_objects, is_float_dtype, NA), here)
  sizes <- Map(function(bytes, exponent, mantissa) list(bytes = bytes, exponent = exponent, mantissa = mantissa), known$bytes, known$exponent, known$mantissa)
  assign("dtype_sizes", stats::setNames(sizes, known$name), here)
}

dtype_from_code <- function(code) dtype_objects[[code + 1L]]

is_float_dtype <- function(x) inherits(x, "FloatType")
is_integer_dtype <- function(x) inherits(x, c("IntegerType", "UnsignedType"))

#' @export
print.AnvilDtype <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  invisible(x)
}

#' @export
format.AnvilDtype <- function(x, ...) paste0("<", unclass(x), ">")

#' @export
as.character.AnvilDtype <- function(x, ...) as.character(unclass(x))

#' @export
Ops.AnvilDtype <- function(e1, e2) {
  name <- function(x) if (is_dtype(x)) as.character(x) else if (is.na(dtype_code(x))) x else as.character(as_dtype(x))
  switch(.Generic,
    `==` = name(e1) == name(e2),
    `!=` = name(e1) != name(e2),
    abort_anvil("dtype", sprintf("`%s` is not defined for dtypes.", .Generic))
  )
}

#' The dtype that an R value gets by default
#'
#' @param x A logical, integer or double vector.
#' @return A dtype: `bool`, `i32` or `f32`, unless [local_default_dtypes()] says
#'   otherwise.
#' @family dtypes
#' @export
#' @examples
#' default_dtype(1L)
default_dtype <- function(x) {
  if (inherits(x, "integer64")) {
    return(as_dtype("i64"))
  }
  switch(if (is.object(x)) "object" else typeof(x),
    logical = as_dtype("bool"),
    integer = as_dtype(default_dtypes()[["int"]]),
    double = as_dtype(default_dtypes()[["float"]]),
    abort_anvil("dtype", "`x` has no dtype.", c(
      paste0("x Got <", described_class(x), ">."),
      "i Tensors hold logical, integer or double values."
    ))
  )
}

#' The common dtype of two dtypes
#'
#' What `nv_*` functions convert operands of different dtypes to. An ambiguous
#' dtype, one that an R value got by default, yields to a known one of its kind.
#'
#' @param lhs,rhs Dtypes or their names.
#' @param lhs_ambiguous,rhs_ambiguous Flags.
#' @return A list with `dtype` and `ambiguous`.
#' @family dtypes
#' @export
#' @examples
#' common_dtype("i32", "f32")
#' common_dtype("i64", "f32", rhs_ambiguous = TRUE)
common_dtype <- function(lhs, rhs, lhs_ambiguous = FALSE, rhs_ambiguous = FALSE) {
  code <- function(x, name) dtype_code(as.character(as_dtype_argument(x, name)))
  common <- .Call(C_anvil_common_dtype, code(lhs, "lhs"), code(rhs, "rhs"), check_flag(lhs_ambiguous), check_flag(rhs_ambiguous))
  list(dtype = dtype_from_code(common[1L]), ambiguous = common[2L] != 0L)
}
