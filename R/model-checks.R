# What the functions of models ask of their arguments, and how they say that it is not so.

# A tensor or box with a float dtype.
float_tensor <- function(x, name = rlang::caller_arg(x)) as_float(as_operand(x, name), name)

check_same_sizes <- function(x, sizes, message, hint = character()) {
  if (!identical(as.integer(sizes_of(x)), as.integer(sizes))) {
    abort_anvil("shape", message, c(sprintf("x Got shape %s, expected %s.", shape2string(sizes_of(x)), shape2string(sizes)), hint))
  }
}

# sizes: a shape, or a list of them.
wrong_shape <- function(message, sizes, hint = character()) {
  sizes <- if (is.list(sizes)) sizes else list(sizes)
  abort_anvil("shape", message, c(sprintf("x Got shape%s %s.", if (length(sizes) > 1L) "s" else "", ordinal_shapes(sizes)), hint))
}

check_dtype <- function(x, is_right, what, name = rlang::caller_arg(x), hint = character()) {
  code <- type_tag(x, name)[1L]
  if (!is_right(code)) {
    abort_anvil("dtype", sprintf("`%s` must have %s.", name, what), c(sprintf("x Got <%s>.", names(dtype_codes)[code + 1L]), hint))
  }
  x
}

# Integers from 1 to n, as far as they are known.
check_counted <- function(x, n, name = rlang::caller_arg(x)) {
  force(name)
  tryCatch(check_places(nv_reshape(check_integers(x, name), -1L), n), anvil_error_index = function(e) {
    abort_anvil("index", sprintf("`%s` must hold numbers from 1 to %d.", name, n), paste("x", conditionMessage(e)))
  })
  x
}

check_integers <- function(x, name = rlang::caller_arg(x)) {
  check_dtype(x, is_integer_code, "an integer dtype", name, "i `nv_convert(x, \"i32\")` makes one of whole numbers, as `as.integer()` does of R data.")
}
