#' Losses
#'
#' How far predictions are from what was observed: numbers to be made small. All are elementwise, or line by line, and then reduced.
#'
#' * `nv_cross_entropy()`: of classes, from logits, whose softmax are the probabilities: `-log(p[class])`, or where `target` is a
#'   float tensor of probabilities, `-sum(target * log(p))`.
#' * `nv_binary_cross_entropy()`: of two classes, from the logit of the second: `-(y * log(p) + (1 - y) * log(1 - p))`
#'   with `p = nv_logistic(logits)` and `y = target`, a class 0 or 1 or a probability.
#' * `nv_mse()`: \eqn{(x - y)^2}{(x - y)^2}; `nv_mae()`: \eqn{|x - y|}{|x - y|}; `nv_huber()`: \eqn{(x - y)^2 / 2}{(x - y)^2 / 2} up
#'   to a distance of `delta`, beyond it `delta` times the distance minus a constant, so that it is smooth.
#' * `nv_hinge()`: `nv_relu(1 - x * y)`, for classes `y` of -1 and 1.
#' * `nv_kl_divergence()`: of distributions `p` from `q` along a dimension, `sum(p * log(p / q))`, where `p` is 0 counted as 0.
#'
#' Both cross entropies are computed from logits, as their probabilities may round to 0 or 1. Likelihoods of other models are sums
#' of log densities: `-sum(nv_dpois(y, lambda, log = TRUE))`.
#'
#' @param logits A float tensor. For `nv_cross_entropy()` the classes lie along `dims`.
#' @param prediction A tensor.
#' @param target For `nv_cross_entropy()` an integer tensor of classes, which count from 1, or a factor, with the shape of `logits` without
#'   `dim`, or a float tensor of probabilities with the shape of `logits`. For the others, a tensor of the shape of the
#'   predictions, or a scalar.
#' @param p,q Tensors of probabilities of one shape, or with `log = TRUE` of their logarithms.
#' @param dims The dimension of the classes, by default the last one.
#' @param log Whether `p` and `q` are logarithms.
#' @param delta A positive number.
#' @param reduction `"mean"` or `"sum"` of all losses, or `"none"` for all of them.
#' @return A float tensor: a scalar, or without reduction of the shape of `prediction`, or of `logits` or `p` without `dims`.
#' @section Errors:
#' `anvil_error_shape` where shapes do not fit: nothing is stretched, as a row minus a column would be a matrix.
#' `anvil_error_index` where in debug mode a class is not there; compiled, its loss is NaN. `anvil_error_dtype` where `logits` are
#' no floats, `anvil_error_argument` for other arguments.
#' @family functions of models
#' @name nv_cross_entropy
#' @examples
#' logits <- nv_tensor(rbind(c(2, 0, -1), c(0, 1, 5)))
#' nv_cross_entropy(logits, nv_tensor(c(1L, 3L)))
#' nv_cross_entropy(logits, nv_tensor(rbind(c(0.9, 0.1, 0), c(0, 0, 1))), reduction = "none")
#' nv_binary_cross_entropy(nv_tensor(c(-1, 100)), nv_tensor(c(0, 1)))
#' nv_huber(nv_tensor(c(1, 5)), 0, delta = 2, reduction = "none")
#'
#' # the gradient is the softmax minus the class
#' gradient(nv_cross_entropy, "logits")(logits, nv_tensor(c(1L, 3L)), reduction = "sum")
NULL

#' @rdname nv_cross_entropy
#' @export
nv_cross_entropy <- function(logits, target, dims = NULL, reduction = "mean") {
  check_reduction(reduction)
  logits <- check_dtype(as_operand(logits, "logits"), is_float_code, "a float dtype", "logits")
  dim <- one_dim(logits, dims)
  sizes <- sizes_of(logits)
  target <- as_vector(if (is.factor(target)) level_numbers(target, "target") else target, "target")
  # of the logits below the largest one, whose logarithm of the sum of powers is `log_total`
  x <- below_largest(logits, dim)$x
  log_total <- nv_log(not_zero(nv_reduce_sum(nv_exp(x), dim)))
  if (is_float_code(type_tag(target)[1L])) {
    check_same_sizes(target, sizes, "`target` of probabilities must have the shape of `logits`.", "i Classes are an integer tensor.")
    own <- nv_reduce_sum(nv_mul(target, nv_ifelse(nv_eq(target, 0) & nv_eq(x, -Inf), 0, x)), dim)
    return(reduced_loss(nv_sub(nv_mul(log_total, nv_reduce_sum(target, dim)), own), reduction))
  }
  check_same_sizes(target, sizes[-dim], "`target` of classes must have the shape of `logits` without the dimension of the classes.")
  check_counted(target, sizes[dim])
  own <- is_number_of(target, sizes[dim], dim)
  loss <- nv_sub(log_total, nv_reduce_sum(nv_ifelse(own, x, 0), dim))
  reduced_loss(nv_mul(loss, nv_ifelse(nv_reduce_any(own, dim), 1, NaN)), reduction)
}

#' @rdname nv_cross_entropy
#' @export
nv_binary_cross_entropy <- function(logits, target, reduction = "mean") {
  check_reduction(reduction)
  pair <- same_shape(logits = logits, target = target)
  x <- pair$logits
  positive <- nv_gt(x, 0)
  # softplus(x) - x * y, without the difference of large numbers
  reduced_loss(nv_add(times_weight(x, nv_sub(nv_ifelse(positive, 1, 0), pair$target)), softplus_below(x, positive)), reduction)
}

#' @rdname nv_cross_entropy
#' @export
nv_mse <- function(prediction, target, reduction = "mean") {
  check_reduction(reduction)
  in_f32(residual_of(prediction, target), function(r) reduced_loss(nv_square(r), reduction))
}

#' @rdname nv_cross_entropy
#' @export
nv_mae <- function(prediction, target, reduction = "mean") {
  check_reduction(reduction)
  reduced_loss(nv_abs(residual_of(prediction, target)), reduction)
}

#' @rdname nv_cross_entropy
#' @export
nv_huber <- function(prediction, target, delta = 1, reduction = "mean") {
  check_reduction(reduction)
  if (check_number(delta) <= 0) wrong_argument("delta", "a positive number", delta)
  r <- residual_of(prediction, target)
  size <- nv_abs(r)
  reduced_loss(nv_ifelse(nv_le(size, delta), nv_mul(nv_square(r), 0.5), nv_mul(nv_sub(size, delta / 2), delta)), reduction)
}

#' @rdname nv_cross_entropy
#' @export
nv_hinge <- function(prediction, target, reduction = "mean") {
  check_reduction(reduction)
  pair <- same_shape(prediction = prediction, target = target)
  reduced_loss(nv_relu(nv_sub(1, nv_mul(pair$prediction, pair$target))), reduction)
}

#' @rdname nv_cross_entropy
#' @export
nv_kl_divergence <- function(p, q, dims = NULL, log = FALSE, reduction = "mean") {
  check_reduction(reduction)
  check_flag(log)
  pair <- same_shape(p = p, q = q)
  dim <- one_dim(pair$p, dims, "p")
  logs <- if (log) pair else lapply(pair, nv_log)
  weight <- if (log) nv_exp(pair$p) else pair$p
  terms <- nv_ifelse(nv_eq(weight, 0), 0, nv_mul(weight, nv_sub(logs$p, logs$q)))
  reduced_loss(nv_reduce_sum(terms, dim), reduction)
}

check_reduction <- function(reduction) check_choice(reduction, c("mean", "sum", "none"))

reduced_loss <- function(loss, reduction) switch(reduction, mean = nv_mean(loss), sum = nv_reduce_sum(loss), none = loss)

residual_of <- function(prediction, target) {
  pair <- same_shape(prediction = prediction, target = target)
  nv_sub(pair$prediction, pair$target)
}

# Two operands of one shape, or the second one a scalar, as floats with their names.
same_shape <- function(...) {
  labels <- names(list(...))
  pair <- do.call(as_floats, Map(as_vector, list(...), labels))
  if (rank_of(pair[[2L]]) > 0L) {
    check_same_sizes(pair[[2L]], sizes_of(pair[[1L]]), sprintf("`%s` must have the shape of `%s`, or be a scalar.", labels[2L], labels[1L]))
  }
  pair
}
