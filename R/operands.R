# Small tools for composite nv_* functions: what an operand is. Checks of tensors are the core's,
# those of R values in checks.R.

is_float_code <- function(code) dtype_is_float[[code + 1L]]
is_integer_code <- function(code) is_integer_dtype(dtype_from_code(code))

sizes_of <- function(x, name = rlang::caller_arg(x)) type_tag(x, name)[-(1:2)]
rank_of <- function(x, name = rlang::caller_arg(x)) length(type_tag(x, name)) - 2L

# A tensor or box of one operand, for functions that hand it on under another name.
as_operand <- function(x, name) {
  if (is_value(x)) {
    return(x)
  }
  operand <- list(x)
  names(operand) <- name
  .Call(C_anvil_promote, operand, FALSE)[[1L]]
}

# The name of a dtype that came as argument `dtype`.
dtype_text <- function(dtype) as.character(as_dtype_argument(dtype))

convert_to <- function(x, code) record("convert", list(x), list(dtype = names(dtype_codes)[code + 1L], ambiguous = FALSE))

# The operand in a float dtype: integers and bools take the default one and stay ambiguous.
as_float <- function(x, name = rlang::caller_arg(x)) {
  if (is_float_code(type_tag(x, name)[1L])) {
    return(x)
  }
  .Call(C_anvil_promote, stats::setNames(list(x, 1), c(name, "")), FALSE)[[1L]]
}

# What several primitives make of a float of two bytes: in f32, since the sums and squares between them may lie beyond
# its range, and rounded once.
in_f32 <- function(x, f) if (is_small_float(x)) convert_to(f(at_least_f32(x)), type_tag(x)[1L]) else f(x)
at_least_f32 <- function(x) if (is_small_float(x)) convert_to(x, dtype_codes[["f32"]]) else x
is_small_float <- function(x) type_tag(x)[1L] %in% dtype_codes[c("f16", "bf16")]

# Counts are not logical: bools are added up as i32.
as_number <- function(x, name = rlang::caller_arg(x)) if (type_tag(x, name)[1L] == 0L) convert_to(x, dtype_codes[["i32"]]) else x

# A tensor, or a list of tensors, as a list.
check_tensors <- function(x, name = rlang::caller_arg(x)) {
  list <- if (is_container(x)) unname(as.list(x)) else list(x)
  for (one in list) type_tag(one, name)
  if (length(list) == 0L) wrong_argument(name, "a tensor or a list of tensors", x)
  list
}

ordinal_shapes <- function(list) paste(vapply(list, shape2string, ""), collapse = ", ")
