# Inputs for nv_check(): drawn anew for each comparison, near the examples that were given, and directions to
# differentiate along.

# What is known of an input: its type, and an example as an R vector, or NULL.
input_template <- function(x) {
  x <- if (is_tensorish(x)) nv_value(x) else x
  list(type = nv_aten(dtype(x), shape(x), ambiguous(x)), example = if (is_tensor(x)) as.vector(as_array(x)))
}

# These data in the type of a tensor, or a type.
tensor_like <- function(x, data, sizes = shape(x)) nv_tensor(data, dtype(x), shape = sizes, ambiguous = ambiguous(x))

# Draws with equal elements and zeros; an example may have these, too.
has_ties <- function(k) k %% 5L == 2L
may_have_kinks <- function(k) k == 1L || has_ties(k)

# Draw number k: first the example itself, then near it, or elements of it.
draw_input <- function(template, k) {
  sizes <- shape(template$type)
  n <- prod(sizes)
  example <- template$example
  float <- is_float_dtype(dtype(template$type))
  data <- if (dtype(template$type) == "bool") {
    if (is.null(example)) stats::runif(n) < 0.5 else example[sample.int(n, n, replace = k > 1L)]
  } else if (is.null(example)) {
    if (!float) sample.int(3L, n, replace = TRUE) else if (has_ties(k)) sample.int(3L, n, replace = TRUE) - 2 else stats::rnorm(n)
  } else if (k == 1L || n == 0) {
    example
  } else if (!float || has_ties(k) && !is_symmetric(example, sizes)) {
    example[sample.int(n, n, replace = TRUE)]
  } else {
    near_example(example, sizes)
  }
  tensor_like(template$type, data)
}

# Signs, zeros, symmetry, numbers from 0 to 1, and what is positive definite stay what they are.
near_example <- function(x, shape) {
  n <- length(x)
  if (all(x == 0, na.rm = TRUE)) {
    stats::rnorm(n)
  } else if (is_symmetric(x, shape)) {
    scaled_symmetric(x, shape)
  } else if (all(x >= 0 & x <= 1, na.rm = TRUE)) {
    stats::plogis(stats::qlogis(x) + 0.2 * stats::rnorm(n))
  } else {
    x * exp(0.2 * stats::rnorm(n))
  }
}

# Matrices lie in the last two dimensions.
matrix_sizes_of <- function(shape) {
  rank <- length(shape)
  if (rank >= 2L && shape[rank] == shape[rank - 1L]) c(prod(shape[seq_len(rank - 2L)]), shape[rank - 1:0])
}

# Also up to what is lost where one is computed.
is_symmetric <- function(x, shape) {
  sizes <- matrix_sizes_of(shape)
  !is.null(sizes) && sizes[2L] > 1 && isTRUE(all(abs(x - aperm(array(x, sizes), c(1L, 3L, 2L))) <= 1e-5 * max(abs(x))))
}

# D x D with a diagonal matrix D.
scaled_symmetric <- function(x, shape) {
  sizes <- matrix_sizes_of(shape)
  rows <- array(exp(0.2 * stats::rnorm(sizes[1L] * sizes[2L])), sizes)
  x * c(rows * aperm(rows, c(1L, 3L, 2L)))
}

# A direction to move an input along: steps are relative to its elements. Of symmetric matrices, a symmetric one.
# `single`: one element alone.
draw_direction <- function(x, single = FALSE) {
  at <- as.double(as_array(x))
  n <- length(at)
  scale <- abs(at)
  typical <- if (any(is.finite(scale) & scale > 0)) mean(scale[is.finite(scale) & scale > 0]) else 1
  scale[!(is.finite(scale) & scale > 0)] <- typical
  along <- stats::rnorm(n)
  if (single && n > 0L) along <- replace(numeric(n), sample.int(n, 1L), 1)
  along <- along * scale
  if (is_symmetric(at, shape(x))) {
    sizes <- matrix_sizes_of(shape(x))
    along <- c(along + aperm(array(along, sizes), c(1L, 3L, 2L))) / 2
  }
  along
}

# Evaluates with random numbers that follow from `seed`, and puts R's generator back.
with_draws <- function(seed, expr) {
  old <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit(if (is.null(old)) rm(".Random.seed", envir = globalenv()) else assign(".Random.seed", old, envir = globalenv()))
  set.seed(seed)
  expr
}
