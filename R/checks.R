# Checks of arguments that are R values, and how a wrong one is described. Each check names the
# argument: `name` is how the caller calls it, unless another function passed it on.

is_whole <- function(x) !is.object(x) && is.numeric(x) && all(is.finite(x)) && all(x == trunc(x))

wrong_argument <- function(name, what, x, hint = character()) {
  abort_anvil("argument", sprintf("`%s` must be %s.", name, what), c(got_value(x), hint))
}

option_is_on <- function(name) check_flag(getOption(name, FALSE), sprintf("options(%s = )", name))

check_flag <- function(x, name = rlang::caller_arg(x)) {
  if (!is.logical(x) || is.object(x) || length(x) != 1L || is.na(x)) wrong_argument(name, "`TRUE` or `FALSE`", x)
  x
}

check_string <- function(x, name = rlang::caller_arg(x)) {
  if (!is.character(x) || is.object(x) || length(x) != 1L || is.na(x)) wrong_argument(name, "a string", x)
  x
}

check_choice <- function(x, choices, name = rlang::caller_arg(x)) {
  if (!is.character(x) || length(x) != 1L || !(x %in% choices)) {
    wrong_argument(name, sprintf("one of %s", paste0("\"", choices, "\"", collapse = ", ")), x)
  }
  x
}

check_number <- function(x, name = rlang::caller_arg(x)) {
  if (is.object(x) || !is.numeric(x) || length(x) != 1L || !is.finite(x)) wrong_argument(name, "a finite number", x)
  x
}

# As an integer, or where the range is wider than R's integers as a double.
check_whole_number <- function(x, name = rlang::caller_arg(x), lower = -.Machine$integer.max, upper = .Machine$integer.max) {
  if (!is_whole(x) || length(x) != 1L || x < lower || x > upper) {
    range <- if (upper != .Machine$integer.max || lower != -upper && is_whole(x) && any(x > upper)) {
      sprintf(" from %.0f to %.0f", lower, upper)
    } else if (lower != -.Machine$integer.max) {
      sprintf(" of at least %.0f", lower)
    }
    wrong_argument(name, paste0("a whole number", range), x)
  }
  if (upper > .Machine$integer.max) as.double(x) else as.integer(x)
}

check_sizes <- function(shape, name = rlang::caller_arg(shape), lower = 0L) {
  if (!is.null(shape) && (!is_whole(shape) || any(shape < lower | shape > .Machine$integer.max))) {
    abort_anvil("argument", sprintf("`%s` must hold whole numbers of at least %d.", name, lower), c(
      got_value(shape),
      if (is_whole(shape) && any(shape > .Machine$integer.max)) "i A dimension has at most 2^31 - 1 elements."
    ))
  }
  check_elements(shape, name)
  as.integer(shape)
}

# The core counts elements in 64 bits. What are no sizes is checked elsewhere.
check_elements <- function(shape, name = rlang::caller_arg(shape)) {
  if (is_whole(shape) && prod(abs(shape)) > 2^62) {
    abort_anvil("shape", sprintf("A tensor of this `%s` has too many elements.", name), c(
      got_value(shape), "i There may be 2^62 of them."
    ))
  }
  shape
}

check_dims <- function(dims, rank, of, name = rlang::caller_arg(dims)) {
  if (!is_whole(dims) || any(dims < 1 | dims > rank) || anyDuplicated(dims)) {
    must <- if (rank == 0L) sprintf("be empty: `%s` has no dimensions", of) else sprintf("hold different dimensions of `%s`, from 1 to %d", of, rank)
    abort_anvil("argument", sprintf("`%s` must %s.", name, must), got_value(dims))
  }
  as.integer(dims)
}

# One dimension of x, by default the last one.
one_dim <- function(x, dims, name = rlang::caller_arg(x)) {
  rank <- rank_of(x)
  if (rank == 0L) abort_anvil("shape", sprintf("`%s` must have at least 1 dimension.", name))
  if (is.null(dims)) {
    return(rank)
  }
  if (length(dims) != 1L || !is_whole(dims) || dims < 1 || dims > rank) {
    range <- if (rank == 1L) "which has only dimension 1" else sprintf("from 1 to %d", rank)
    abort_anvil("argument", sprintf("`dims` must be one dimension of `%s`, %s.", name, range), got_value(dims))
  }
  as.integer(dims)
}

# The sizes of tensors that came as `...`: at least one.
sizes_of_any <- function(operands) {
  if (length(operands) == 0L) abort_anvil("argument", "`...` must hold at least one tensor.")
  lapply(operands, sizes_of, name = "...")
}

check_function <- function(f, name = rlang::caller_arg(f), hint = character()) {
  if (!is.function(f)) wrong_argument(name, "a function", f, hint)
  f
}

# One whose arguments are known, which those of R's language (`[`, `if`) do not show.
check_wrapped_function <- function(f, name = rlang::caller_arg(f), hint = character()) {
  check_function(f, name, hint)
  if (is.null(args(f))) {
    abort_anvil("argument", sprintf("`%s` is a part of R's language, whose arguments have no names.", name), "i Write a function that uses it: `function(x, i) x[i]`.")
  }
  f
}

# That f can be called with n arguments.
check_arity <- function(f, n, name) {
  own <- names(formals(args(f)))
  if (!is.primitive(f) && !("..." %in% own) && (length(own) < n || length(required_arguments(f)) > n)) {
    abort_anvil("argument", sprintf("`%s` must be a function of %d arguments.", name, n), sprintf("x It has %d.", length(own)))
  }
}

check_class <- function(x, class, hint = character(), name = rlang::caller_arg(x)) {
  if (!inherits(x, class)) wrong_argument(name, paste(if (grepl("^[AEIOUaeiou]", class)) "an" else "a", class), x, hint)
  x
}

# --- what is said of a wrong argument ---------------------------------------------------------

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
  size <- if ((is.atomic(x) || is.list(x)) && !is.object(x)) sprintf(" of length %d", length(x))
  paste0("<", described_class(x), ">", size)
}

# --- missing arguments ------------------------------------------------------------------------

# R takes data with the name `s` for `start`, unless that is written out.
check_full_names <- function(call, formals) {
  given <- names(call) %||% ""
  for (formal in setdiff(formals, given)) {
    short <- given[nzchar(given) & startsWith(formal, given)]
    if (length(short)) {
      hint <- sprintf("i Write out `%s = `: then `%s` is one of the data.", formal, short[1L])
      abort_anvil("argument", sprintf("`%s` was taken for `%s`.", short[1L], formal), hint)
    }
  }
}

required_arguments <- function(f) {
  formals <- formals(f)
  setdiff(names(formals)[vapply(formals, function(x) is.name(x) && !nzchar(as.character(x)), NA)], "...")
}

# The same function, which first says what is missing: R's own error comes from deep inside.
checked_for_missing <- function(f, hint = NULL) {
  required <- required_arguments(f)
  if (!length(required)) {
    return(f)
  }
  missing_one <- Reduce(function(a, b) call("||", a, b), lapply(required, function(name) call("missing", as.name(name))))
  body(f) <- bquote({
    if (.(missing_one)) missing_argument(.(hint))
    .(body(f))
  })
  f
}

missing_argument <- function(hint = NULL, frame = parent.frame()) {
  f <- sys.function(sys.parent())
  for (name in required_arguments(f)) {
    if (eval(call("missing", as.name(name)), frame)) {
      # of samplers, whose arguments R's users know in another order
      if (identical(names(formals(f))[2L], "initial_state")) hint <- sprintf("i Write `%s = `: what stands second without a name is the state.", name)
      abort_anvil("argument", sprintf("`%s` is missing, and has no default.", name), hint)
    }
  }
}
