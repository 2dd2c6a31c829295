#' Normalisation and dropout
#'
#' Each subtracts a mean and divides by a standard deviation, `(x - mean) / sqrt(var + epsilon)`, then multiplies with `weight` and adds
#' `bias` where they are given. They differ in what the mean is taken of; the variance is that around it, divided by the number of elements.
#'
#' * `nv_layer_norm()`: of the dimensions `dims`, for each example.
#' * `nv_rms_norm()`: likewise, but nothing is subtracted: `x / sqrt(mean(x^2) + epsilon)`.
#' * `nv_group_norm()`: of the channels of a group and all spatial dimensions, for each example. With as many groups as channels it is
#'   known as instance normalisation.
#' * `nv_batch_norm()`: of batch and spatial dimensions, for each channel. In training, running means of both are carried in `state`:
#'   they become `(1 - momentum) * old + momentum * new`, where the new variance divides by the number of elements minus 1.
#'   Otherwise those of `state` are taken.
#' * `nv_dropout()` replaces a random share `rate` of the elements by zero, and divides the others by `1 - rate`. It is for training only.
#'
#' Statistics carry derivatives, running ones do not.
#'
#' @param x A tensor. For `nv_group_norm()` and `nv_batch_norm()` the first two dimensions are batch and channel, as in
#'   [nv_conv2d()]. Integers become floats.
#' @param weight,bias Tensors with the sizes of the dimensions `dims`, or with an element for each channel; or `NULL`.
#' @param dims Dimensions, by default the last one.
#' @param groups How many groups the channels are in.
#' @param state A list of `mean` and `var`, vectors with an element for each channel; `NULL` for zeros and ones.
#' @param training Whether `x` gives mean and variance.
#' @param momentum A number from 0 to 1.
#' @param epsilon A number of at least 0.
#' @param rate A number from 0 to 1, less than 1.
#' @param initial_state A state of the generator of random numbers, see [nv_random].
#' @return A float tensor of the shape of `x`. `nv_batch_norm()`: a list of `state`, the next one, and `values`. `nv_dropout()`: a list
#'   of the next state and the values, or in debug mode without a state the values.
#' @section Errors:
#' `anvil_error_shape` where shapes do not fit, or where in training a channel has less than 2 elements; `anvil_error_argument` where
#' another argument is not as said.
#' @references Ioffe and Szegedy (2015), arXiv 1502.03167; Ba et al. (2016), arXiv 1607.06450; Wu and He (2018), arXiv 1803.08494;
#'   Zhang and Sennrich (2019), arXiv 1910.07467.
#' @family functions of models
#' @name nv_layer_norm
#' @examples
#' x <- nv_tensor(rbind(c(1, 2, 3), c(10, 0, -10)))
#' nv_layer_norm(x)
#' nv_rms_norm(x, weight = nv_tensor(c(1, 2, 1)))
#' step <- nv_batch_norm(x)
#' step$state
#' nv_batch_norm(x, state = step$state, training = FALSE)$values
#' nv_dropout(x, 0.5, nv_rng_state(1L))[[2]]
NULL

#' @rdname nv_layer_norm
#' @export
nv_layer_norm <- function(x, weight = NULL, bias = NULL, dims = NULL, epsilon = 1e-5) {
  given <- norm_operands(x, weight, bias)
  dims <- norm_dims(given$x, dims)
  check_epsilon(epsilon)
  affine(in_f32(given$x, function(x) standard_scores(x, statistics_of(x, dims), epsilon)), given, dims)
}

#' @rdname nv_layer_norm
#' @export
nv_rms_norm <- function(x, weight = NULL, dims = NULL, epsilon = 1e-5) {
  given <- norm_operands(x, weight)
  dims <- norm_dims(given$x, dims)
  check_epsilon(epsilon)
  affine(in_f32(given$x, function(x) nv_mul(x, one_over_root(mean_square(x, dims), epsilon))), given, dims)
}

#' @rdname nv_layer_norm
#' @export
nv_group_norm <- function(x, groups, weight = NULL, bias = NULL, epsilon = 1e-5) {
  given <- norm_operands(x, weight, bias)
  check_epsilon(epsilon)
  sizes <- check_channels_of(given$x)
  groups <- check_whole_number(groups, "groups", 1L)
  if (sizes[2L] %% groups != 0L) {
    what <- "`groups` must divide the number of channels of `x`."
    abort_anvil("shape", what, sprintf("x Got %d channels and %d groups.", sizes[2L], groups))
  }
  ones <- rep(1L, length(sizes) - 2L)
  of_channels <- function(v) nv_reshape(nv_broadcast_to(v, c(sizes[1L], sizes[2L] / groups, groups, ones)), c(sizes[1:2], ones))
  scores <- in_f32(given$x, function(x) {
    split <- nv_reshape(x, c(sizes[1L], sizes[2L] / groups, groups, sizes[-(1:2)]))
    statistics <- statistics_of(split, setdiff(seq_len(length(sizes) + 1L), c(1L, 3L)))
    standard_scores(x, lapply(statistics, of_channels), epsilon)
  })
  affine(scores, given, 2L)
}

#' @rdname nv_layer_norm
#' @export
nv_batch_norm <- function(x, weight = NULL, bias = NULL, state = NULL, training = TRUE, momentum = 0.1, epsilon = 1e-5) {
  given <- norm_operands(x, weight, bias)
  check_epsilon(epsilon)
  if (check_number(momentum) < 0 || momentum > 1) wrong_argument("momentum", "a number from 0 to 1", momentum)
  sizes <- check_channels_of(given$x)
  state <- running_statistics(state, sizes[2L], given$x)
  along <- function(v) nv_reshape(v, replace(rep(1L, length(sizes)), 2L, sizes[2L]))
  if (!check_flag(training)) {
    scores <- in_f32(given$x, function(x) standard_scores(x, lapply(state, along), epsilon))
    return(list(state = state, values = affine(scores, given, 2L)))
  }
  n <- prod(sizes[-2L])
  if (n < 2) wrong_shape("In training, `x` must have at least 2 elements in each channel.", sizes)
  found <- statistics_of(at_least_f32(given$x), seq_along(sizes)[-2L])
  scores <- in_f32(given$x, function(x) standard_scores(x, found, epsilon))
  moved <- function(old, new, by) {
    in_f32(old, function(old) nv_add(nv_mul(old, 1 - momentum), nv_mul(nv_reshape(nv_stop_gradient(new), sizes[2L]), by)))
  }
  state <- list(mean = moved(state$mean, found$mean, momentum), var = moved(state$var, found$var, momentum * n / (n - 1)))
  list(state = state, values = affine(scores, given, 2L))
}

#' @rdname nv_layer_norm
#' @export
nv_dropout <- function(x, rate, initial_state = NULL) {
  x <- float_tensor(x)
  if (check_number(rate) < 0 || rate >= 1) wrong_argument("rate", "a number of at least 0 and less than 1", rate)
  with_state(initial_state, function(state) {
    drawn <- unit_uniform(sizes_of(x), state, as.character(dtype(x)))
    list(drawn[[1L]], nv_ifelse(nv_lt(drawn[[2L]], rate), 0, nv_mul(x, 1 / (1 - rate))))
  })
}

# --- what they share -------------------------------------------------------------------------------

norm_operands <- function(x, weight = NULL, bias = NULL) {
  given <- list(x = as_operand(x, "x"), weight = if (!is.null(weight)) as_vector(weight), bias = if (!is.null(bias)) as_vector(bias))
  do.call(as_floats, Filter(Negate(is.null), given))
}

norm_dims <- function(x, dims) if (is.null(dims)) one_dim(x, NULL) else check_dims(dims, rank_of(x), of = "x")

check_epsilon <- function(epsilon) {
  if (check_number(epsilon) < 0) wrong_argument("epsilon", "a number of at least 0", epsilon)
  epsilon
}

check_channels_of <- function(x) {
  sizes <- sizes_of(x)
  if (length(sizes) < 2L) wrong_shape("`x` must have at least 2 dimensions: batch and channel.", sizes)
  sizes
}

statistics_of <- function(x, dims) {
  mean <- nv_reduce_mean(x, dims, drop = FALSE)
  list(mean = mean, var = mean_square(nv_sub(x, mean), dims))
}

mean_square <- function(x, dims) nv_reduce_mean(nv_square(x), dims, drop = FALSE)

standard_scores <- function(x, statistics, epsilon) nv_mul(nv_sub(x, statistics$mean), one_over_root(statistics$var, epsilon))

one_over_root <- function(var, epsilon) nv_div(1, nv_sqrt(nv_add(var, epsilon)))

# Times `weight`, plus `bias`, which lie along `dims`.
affine <- function(x, given, dims) {
  sizes <- sizes_of(x)
  for (name in intersect(c("weight", "bias"), names(given))) {
    check_same_sizes(given[[name]], sizes[dims], sprintf("`%s` must have the sizes of the normalised dimensions of `x`.", name))
    along <- nv_reshape(nv_transpose(given[[name]], order(dims)), replace(rep(1L, length(sizes)), dims, sizes[dims]))
    x <- if (name == "weight") nv_mul(x, along) else nv_add(x, along)
  }
  x
}

running_statistics <- function(state, channels, x) {
  if (is.null(state)) {
    return(list(mean = nv_fill_like(x, 0, shape = channels), var = nv_fill_like(x, 1, shape = channels)))
  }
  if (!is.list(state) || is.object(state) || !setequal(names(state), c("mean", "var"))) {
    wrong_argument("state", "a list of `mean` and `var`", state)
  }
  state <- lapply(state[c("mean", "var")], function(v) as_float(as_vector(v, "state"), "state"))
  for (v in state) check_same_sizes(v, channels, "`state` must have an element for each channel of `x`.")
  state
}
