#' Random samples and permutations
#'
#' `nv_sample_int()` draws whole numbers from 1 to `n`, `nv_sample()` elements of a vector, rows of a matrix, or slices of the
#' first dimension, as R's `sample.int()` and `sample()` do, with or without replacement and with or
#' without weights. Without further arguments they give a random permutation.
#'
#' Without replacement and with weights, one after the other is drawn in proportion to the weights of those that are left, as
#' in R. A single number as `x` is no shorthand for `1:x`.
#'
#' @inheritParams nv_random
#' @param n How many numbers there are to draw from.
#' @param x A tensor with at least one dimension.
#' @param size How many are drawn; with replacement also several sizes, the shape of the result. By default `n`, or the size of
#'   the first dimension of `x`.
#' @param replace Whether what was drawn can be drawn again.
#' @param prob Weights, a vector with an element for each number or element of `x`, or `NULL` for equal ones.
#' @return A list of the new state and the values; without a state the values. The values of `nv_sample()` have the dtype of
#'   `x`.
#' @inheritSection nv_random Errors
#' @references Efraimidis, P. S. and Spirakis, P. G. (2006). Weighted random sampling with a reservoir. Information Processing
#'   Letters 97, 181-185.
#' @family random numbers
#' @export
#' @examples
#' state <- nv_rng_state(1L)
#' nv_sample_int(5, initial_state = state)[[2]]
#' nv_sample_int(3, size = c(2, 4), initial_state = state, replace = TRUE)[[2]]
#' nv_sample(nv_tensor(c(10, 20, 30)), 2, state, prob = nv_tensor(c(1, 1, 8)))[[2]]
nv_sample <- function(x, size = NULL, initial_state = NULL, replace = FALSE, prob = NULL) {
  x <- as_vector(x)
  sizes <- shape(x)
  if (length(sizes) == 0L) abort_anvil("shape", "`x` must have at least one dimension.", "i `nv_sample_int(n)` draws from the numbers 1 to `n`.")
  drawn <- nv_sample_int(sizes[1L], size %||% sizes[1L], initial_state, replace, prob, "i32")
  if (is.null(initial_state)) slices_at(x, drawn) else list(drawn[[1L]], slices_at(x, drawn[[2L]]))
}

#' @rdname nv_sample
#' @export
nv_sample_int <- function(n, size = n, initial_state = NULL, replace = FALSE, prob = NULL, dtype = NULL) {
  n <- check_whole_number(n, "n", 1L)
  size <- check_sizes(size)
  dtype <- count_dtype(dtype, n)
  if (!is.null(prob)) prob <- as_weights(prob, n, if (isTRUE(replace) || length(size) != 1L) 1L else min(size, n))
  if (check_flag(replace)) {
    return(if (is.null(prob)) nv_rdunif(size, initial_state, n, dtype) else nv_rcategorical(size, initial_state, prob, dtype))
  }
  if (length(size) != 1L || size > n) {
    abort_anvil("argument", "Without replacement, `size` must be a number of at most `n`.", sprintf("x Got %s of %d.", describe_value(size), n))
  }
  with_state(initial_state, function(state) {
    drawn <- open_uniform(n, state, "f64")
    # the order of exponential variables with the weights as rates
    keys <- if (is.null(prob)) drawn[[2L]] else -nv_log(drawn[[2L]]) / prob
    list(drawn[[1L]], nv_convert(nv_static_slice(nv_argsort(keys), 1L, size), dtype))
  })
}
