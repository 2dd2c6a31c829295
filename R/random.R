#' Random numbers
#'
#' Samplers take a state, and return a list of the next state and the values. The same state
#' always gives the same values, in debug mode and in compiled code, whatever the number
#' of threads.
#'
#' A state is a `ui64` tensor with two elements: a key and a counter. The bits are those of
#' XLA's generator `THREE_FRY` (Threefry-2x32 with 20 rounds).
#' `nv_rng_state(seed)` is the key `seed` with the counter 0. `nv_rng_split(state, n)` is a list of `n` states with random
#' keys, for parts of a program that shall not depend on each other; `state` itself is then used up.
#'
#' In debug mode the state may be left out. Then the numbers follow R's own generator, that is, `set.seed()`, and the
#' values alone are returned. In a trace that is an error: the numbers of a compiled function
#' would always be the same.
#'
#' * `nv_runif()`: uniform on the open interval from `min` to `max`.
#' * `nv_rnorm()`: normal, by the method of Box and Muller.
#' * `nv_rbinom()`: the number of successes in `size` trials, at a cost that does not grow with `size`.
#' * `nv_rdunif()`: whole numbers from 1 to `n`.
#'
#' Others are at [nv_rgamma()], [nv_rmvnorm()] and [nv_sample()].
#'
#' @param seed A whole number, or a scalar `i32` tensor.
#' @param shape Sizes; `integer()` for a scalar.
#' @param initial_state A state, or in debug mode `NULL` for the generator of R.
#' @param state A state.
#' @param dtype The dtype of the values: a float for continuous ones. By default that
#'   of R doubles or, for whole numbers, of R integers, see [default_dtypes()].
#' @param min,max,mean,sd Bounds, mean and standard deviation: numbers, or tensors that
#'   are scalar or have the shape `shape`. They are converted to `dtype`. Values of a negative `sd` are NaN.
#' @param lower,upper,mu,sigma Other names of `min`, `max`, `mean` and `sd`.
#' @param size,prob The number of trials and the probability of a success: numbers, or tensors that are scalar or have the
#'   shape `shape`. Where tensors are no such numbers, the values are NaN, or 0 of an integer dtype.
#' @param n The largest number, the number of states, or another name of `size`.
#' @return `nv_rng_state()`: a state, `nv_rng_split()` a list of them. The others: a list of the new state and the values;
#'   without a state the values.
#' @section Errors:
#' `anvil_error_argument` where an argument is not as said, also where in a trace there is no state; `anvil_error_dtype`
#' where the values cannot have the dtype.
#' @references Hormann, W. (1993). The generation of binomial random variates. Journal of
#'   Statistical Computation and Simulation 46, 101-110: algorithm BTRS, for many trials.
#' @family random numbers
#' @name nv_random
#' @examples
#' state <- nv_rng_state(42L)
#' draw <- nv_runif(c(2, 3), state)
#' draw[[2]]
#' nv_rnorm(3, draw[[1]], mean = 10)[[2]]
#' nv_rdunif(5, state, n = 6L)[[2]]
#'
#' set.seed(1)
#' nv_rnorm(3)
NULL

#' @rdname nv_random
#' @export
nv_rng_state <- function(seed) {
  if (is_r_data(seed)) {
    seed <- check_whole_number(seed, "seed", -2^31, 2^32 - 1)
    return(nv_tensor(c(seed %% 2^32, 0), dtype = "ui64"))
  }
  tag <- if (is_value(seed)) type_tag(seed)
  if (length(tag) != 2L || !(tag[1L] %in% dtype_codes[c("i32", "ui32")])) {
    got <- if (is.null(tag)) describe_value(seed) else type_text(seed)
    abort_anvil("argument", "`seed` must be a whole number, or a scalar i32 tensor.", sprintf("x Got %s.", got))
  }
  bits <- record("bitcast_convert", list(seed), list(dtype = "ui32"))
  nv_concatenate(nv_convert(bits, "ui64"), nv_fill(0L, 1L, dtype = "ui64"))
}

# Uniform on [0, 1) without the zero check, as a list of the new state and the values: random
# mantissas for the exponent of numbers from 1 to 2, minus 1. The shift of the 64 bits by 11
# is XLA's; bit 52 then falls on a bit of the exponent that is set anyway.
unit_uniform <- function(shape, state, dtype) {
  size <- dtype_sizes[[dtype]]
  bits <- paste0("ui", 8L * size$bytes)
  drawn <- record("rng_bit_generator", list(state), list(rng_algorithm = "THREE_FRY", dtype = bits, shape = shape))
  mantissa <- nv_shift_right_logical(drawn[[2L]], if (dtype == "f64") 11L else 8L * size$bytes - size$mantissa)
  one <- nv_fill((2^(size$exponent - 1) - 1) * 2^size$mantissa, shape, dtype = bits)
  values <- record("bitcast_convert", list(nv_or(mantissa, one)), list(dtype = dtype))
  list(drawn[[1L]], nv_sub(values, 1))
}

# The same on (0, 1): half of the smallest step instead of zero.
open_uniform <- function(shape, state, dtype) {
  drawn <- unit_uniform(shape, state, dtype)
  list(drawn[[1L]], nv_max(drawn[[2L]], 2^-(dtype_sizes[[dtype]]$mantissa + 1)))
}

float_dtype <- function(dtype) {
  if (is.null(dtype)) {
    return(default_dtypes()[["float"]])
  }
  dtype <- dtype_text(dtype)
  if (!is_float_code(dtype_codes[[dtype]])) {
    abort_anvil("dtype", "`dtype` must be a float dtype.", sprintf("x Got <%s>.", dtype))
  }
  dtype
}

# Of whole numbers up to n, which the dtype must have.
count_dtype <- function(dtype, n, name = "n") {
  if (is.null(dtype)) {
    return(default_dtypes()[["int"]])
  }
  dtype <- dtype_text(dtype)
  if (dtype == "bool" && n > 1L || is_integer_code(dtype_codes[[dtype]]) && n >= 2^(integer_bits(dtype) - 1L)) {
    abort_anvil("dtype", sprintf("`%s` must be a number of dtype %s.", name, dtype), c(sprintf("x Got %s.", format(n)), "i Choose a wider `dtype`."))
  }
  dtype
}

check_state <- function(state, name = "initial_state") {
  wrong <- if (!is_tensorish(state)) describe_value(state) else if (!identical(type_tag(state)[-2L], c(dtype_codes[["ui64"]], 2L))) type_text(state)
  if (!is.null(wrong)) {
    abort_anvil("argument", sprintf("`%s` must be a state of the generator.", name), c(
      sprintf("x Got %s.", wrong),
      "i `nv_rng_state(seed)` makes one, and every sampler returns the next one.",
      if (name == "initial_state" && is_literal(state)) "i A number before it is the shape; names say what the others are: `nv_rnorm(3, mean = 0, sd = 1)`."
    ))
  }
  state
}

# A parameter of a distribution: numbers stay literals.
as_parameter <- function(x, dtype, name = rlang::caller_arg(x)) {
  if (is_literal(x)) {
    return(as.double(x))
  }
  nv_convert(as_vector(x, name), dtype)
}

# What `draw(state)` gives: the next state and the values. Without a state one of R's generator, and the values.
with_state <- function(initial_state, draw) {
  if (!is.null(initial_state)) {
    return(draw(check_state(initial_state)))
  }
  if (is_tracing()) {
    abort_anvil("argument", "In a trace, a sampler needs a state.", c(
      "x `initial_state` is missing: the numbers would be the same in every call.",
      "i Pass a state as argument; `nv_rng_state(seed)` makes one, and every sampler returns the next one."
    ))
  }
  draw(state_of_r())[[2L]]
}

# A state with a random key of R's generator.
state_of_r <- function() {
  halves <- floor(stats::runif(2) * 2^26)
  nv_tensor(c(halves[1L] * 2^26 + halves[2L], 0), dtype = "ui64")
}

#' @rdname nv_random
#' @export
nv_rng_split <- function(state, n = 2L) {
  n <- check_whole_number(n, "n", 1L)
  drawn <- record("rng_bit_generator", list(check_state(state, "state")), list(rng_algorithm = "THREE_FRY", dtype = "ui64", shape = n))
  counter <- nv_fill(0L, 1L, dtype = "ui64")
  lapply(seq_len(n), function(i) nv_concatenate(nv_static_slice(drawn[[2L]], i, i), counter))
}

#' @rdname nv_random
#' @export
nv_runif <- function(shape, initial_state = NULL, dtype = NULL, min = 0, max = 1, lower = NULL, upper = NULL) {
  dtype <- float_dtype(dtype)
  shape <- check_sizes(shape)
  min <- given_as(min, lower)
  max <- given_as(max, upper)
  with_state(initial_state, function(state) {
    drawn <- open_uniform(shape, state, dtype)
    list(drawn[[1L]], between(drawn[[2L]], min, max, dtype))
  })
}

# A parameter that has two names: its value, and the name that it came by.
given_as <- function(x, alias) {
  if (!is.null(alias) && !eval.parent(call("missing", substitute(x)))) {
    abort_anvil("argument", sprintf("Only one of `%s` and `%s` can be given.", rlang::caller_arg(x), rlang::caller_arg(alias)))
  }
  if (is.null(alias)) list(value = x, name = rlang::caller_arg(x)) else list(value = alias, name = rlang::caller_arg(alias))
}

# From (0, 1) to the interval between two parameters.
between <- function(values, lower, upper, dtype) {
  min <- lower$value
  max <- upper$value
  if (identical(min, 0) && identical(max, 1)) {
    return(values)
  }
  if (is_literal(min)) check_number(min, lower$name)
  if (is_literal(max)) check_number(max, upper$name)
  if (is_literal(min) && is_literal(max) && min > max) {
    abort_anvil("argument", sprintf("`%s` must not be greater than `%s`.", lower$name, upper$name), sprintf("x Got %s and %s.", format(min), format(max)))
  }
  if (!is_literal(min) || !is_literal(max)) {
    min <- as_parameter(min, dtype, lower$name)
    return(nv_add(nv_mul(values, not_negative(nv_sub(as_parameter(max, dtype, upper$name), min))), min))
  }
  values <- nv_add(nv_mul(values, max - min), min)
  if (max - min > 2 * (spacing(min, dtype) + spacing(max, dtype))) {
    # rounding may have led to a bound
    values <- nv_max(nv_min(values, max - spacing(max, dtype)), min + spacing(min, dtype))
  }
  values
}

# From a number to the next one of a float dtype.
spacing <- function(x, dtype) {
  size <- dtype_sizes[[dtype]]
  if (x == 0) 2^(2 - 2^(size$exponent - 1)) else 2^(floor(log2(abs(x))) - size$mantissa)
}

#' @rdname nv_random
#' @export
nv_rnorm <- function(shape, initial_state = NULL, dtype = NULL, mean = 0, sd = 1, mu = NULL, sigma = NULL) {
  dtype <- float_dtype(dtype)
  shape <- check_sizes(shape)
  mean <- given_as(mean, mu)
  sd <- given_as(sd, sigma)
  with_state(initial_state, function(state) {
    drawn <- standard_normal(shape, state, dtype)
    values <- drawn[[2L]]
    if (!identical(sd$value, 1)) values <- nv_mul(values, not_negative(as_parameter(sd$value, dtype, sd$name)))
    if (!identical(mean$value, 0)) values <- nv_add(values, as_parameter(mean$value, dtype, mean$name))
    list(drawn[[1L]], values)
  })
}

not_negative <- function(x) if (is_literal(x)) (if (isTRUE(x >= 0)) x else NaN) else nv_ifelse(x >= 0, x, NaN)

standard_normal <- function(shape, state, dtype) {
  n <- prod(shape)
  half <- ceiling(n / 2)
  first <- open_uniform(half, state, dtype)
  second <- unit_uniform(half, first[[1L]], dtype)
  radius <- nv_sqrt(nv_mul(nv_log(first[[2L]]), -2))
  angle <- nv_mul(second[[2L]], 2 * pi)
  cosines <- nv_mul(radius, nv_cos(angle))
  if (n < 2 * half) cosines <- nv_static_slice(cosines, 1L, half - 1L)
  values <- nv_concatenate(nv_mul(radius, nv_sin(angle)), cosines)
  if (length(shape) != 1L) values <- nv_reshape(values, shape, order = "C")
  list(second[[1L]], values)
}

#' @rdname nv_random
#' @export
nv_rdunif <- function(shape, initial_state = NULL, n, dtype = NULL) {
  n <- check_whole_number(n, "n", 1L)
  dtype <- count_dtype(dtype, n)
  shape <- check_sizes(shape)
  with_state(initial_state, function(state) {
    drawn <- open_uniform(shape, state, "f64")
    # of the bounds 1/n, 2/n, ... those below u
    values <- nv_min(nv_ceiling(nv_mul(drawn[[2L]], n)), n)
    list(drawn[[1L]], nv_convert(values, dtype))
  })
}
