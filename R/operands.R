# Small tools for composite nv_* functions: what an operand is, and checks of arguments that
# are R values. Checks of tensors are the core's.

is_float_code <- function(code) code >= dtype_codes[["f32"]]
is_integer_code <- function(code) code > dtype_codes[["bool"]] && code < dtype_codes[["f32"]]

sizes_of <- function(x) type_tag(x)[-(1:2)]
rank_of <- function(x) length(type_tag(x)) - 2L

# The name of a dtype that came as argument `dtype`.
dtype_text <- function(dtype) as.character(as_dtype_argument(dtype))

convert_to <- function(x, code) record("convert", list(x), list(dtype = names(dtype_codes)[code + 1L], ambiguous = FALSE))

# The operand in a float dtype: integers and bools take the default one and stay ambiguous.
as_float <- function(x) if (is_float_code(type_tag(x)[1L])) x else .Call(C_anvil_promote, list(x, 1), FALSE)[[1L]]

# Counts are not logical: bools are added up as i32.
as_number <- function(x) if (type_tag(x)[1L] == 0L) convert_to(x, dtype_codes[["i32"]]) else x

# --- R values ---------------------------------------------------------------------

is_whole <- function(x) is.numeric(x) && !is.object(x) && all(is.finite(x)) && all(x == trunc(x))

check_flag <- function(x, name) {
  if (!is.logical(x) || length(x) != 1L || is.na(x)) {
    abort_anvil("argument", sprintf("`%s` must be `TRUE` or `FALSE`.", name), sprintf("x Got %s.", describe_value(x)))
  }
}

# As an integer, or where the range is wider than R's integers as a double.
check_whole_number <- function(x, name, lower = -.Machine$integer.max, upper = .Machine$integer.max) {
  if (!is_whole(x) || length(x) != 1L || x < lower || x > upper) {
    range <- if (upper != .Machine$integer.max) {
      sprintf(" from %.0f to %.0f", lower, upper)
    } else if (lower != -.Machine$integer.max) {
      sprintf(" of at least %.0f", lower)
    }
    abort_anvil("argument", sprintf("`%s` must be a whole number%s.", name, range %||% ""), got_value(x))
  }
  if (upper > .Machine$integer.max) as.double(x) else as.integer(x)
}

check_sizes <- function(shape, name = "shape", lower = 0L) {
  if (!is.null(shape) && (!is_whole(shape) || any(shape < lower))) {
    abort_anvil("argument", sprintf("`%s` must hold whole numbers of at least %d.", name, lower), got_value(shape))
  }
  as.integer(shape)
}

got_value <- function(x) {
  c(
    sprintf("x Got %s.", describe_value(x)),
    if (inherits(x, "GraphBox")) "i It must be known when the program is traced: name the argument that it comes from in `static`."
  )
}

# A value as it would be typed when it is short, else its class and length.
describe_value <- function(x) {
  if (is.atomic(x) && !is.object(x) && length(x) <= 6L) {
    return(paste(deparse(as.vector(x)), collapse = ""))
  }
  size <- if (is.atomic(x) && !is.object(x)) sprintf(" of length %d", length(x)) else ""
  paste0("<", described_class(x), ">", size)
}

ordinal_shapes <- function(list) paste(vapply(list, shape2string, ""), collapse = ", ")
