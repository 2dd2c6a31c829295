#' Optimisers of networks
#'
#' Steps along gradients, for parameters in nested lists of tensors. The rules are those of torch's optimisers of these
#' names.
#'
#' An optimiser is a list of two functions. `init(params)` gives the state before the first step, and `update(grads, state,
#' params)` gives `list(params = , state = )` after one, where `grads` is nested like `params`. Nothing else is kept
#' anywhere, so that both work inside of [jit()], in loops, and in [nv_fit()].
#'
#' With the gradient \eqn{g} of a parameter \eqn{p} and the number \eqn{t} of the step, from 1 on:
#'
#' * `nv_sgd()`: \eqn{b = \mu b + g}, \eqn{p = p - lr \cdot b}{p = p - lr * b}; with `nesterov` \eqn{g + \mu b} in the place
#'   of \eqn{b};
#' * `nv_adam()`: \eqn{m = \beta_1 m + (1 - \beta_1) g}{m = beta1 m + (1 - beta1) g}, \eqn{v = \beta_2 v + (1 - \beta_2) g^2}{v =
#'   beta2 v + (1 - beta2) g^2}, \eqn{p = p - lr \cdot \hat m / (\sqrt{\hat v} + \epsilon)}{p = p - lr * m' / (sqrt(v') + eps)}
#'   with \eqn{\hat m = m / (1 - \beta_1^t)}{m' = m / (1 - beta1^t)} and \eqn{\hat v = v / (1 - \beta_2^t)}{v' = v / (1 - beta2^t)};
#' * `nv_adamw()`: the same, after \eqn{p = p - lr \cdot w p}{p = p - lr * w p} with the weight decay \eqn{w};
#' * `nv_rmsprop()`: \eqn{v = \alpha v + (1 - \alpha) g^2}{v = alpha v + (1 - alpha) g^2}, \eqn{b = \mu b + g / (\sqrt v +
#'   \epsilon)}{b = mu b + g / (sqrt(v) + eps)}, \eqn{p = p - lr \cdot b}{p = p - lr * b}.
#'
#' In the others weight decay adds \eqn{w p} to the gradient. Before all that gradients are clipped: each element to
#' \[`-clip_value`, `clip_value`\], then all of them together to a Euclidean norm of at most `clip_norm`.
#'
#' @param lr The learning rate: a number, or a function of the number of steps taken before, an `f64` scalar, such as [nv_lr_cosine()].
#' @param momentum The factor \eqn{\mu}{mu}, from 0 to below 1.
#' @param nesterov Whether momentum is Nesterov's.
#' @param beta1,beta2,alpha Factors of running means, from 0 to below 1.
#' @param eps A small number that keeps denominators from zero.
#' @param weight_decay The factor \eqn{w}, at least 0.
#' @param clip_value,clip_norm Positive numbers, or `NULL` for no clipping.
#' @return A list of class `anvil_optimiser` with the functions `init` and `update`. State and parameters keep the dtypes of
#'   the parameters; errors of class `anvil_error_argument` where `grads` is nested otherwise.
#' @references Kingma, D. P. and Ba, J. (2015). Adam: a method for stochastic optimization. ICLR.
#'
#'   Loshchilov, I. and Hutter, F. (2019). Decoupled weight decay regularization. ICLR.
#' @export
#' @examples
#' adam <- nv_adam(lr = 0.1)
#' params <- list(w = nv_tensor(c(1, 2)), b = nv_scalar(0))
#' step <- jit(function(params, state) {
#'   grads <- gradient(function(params) sum((params$w - params$b)^2))(params)$params
#'   adam$update(grads, state, params)
#' })
#' step(params, adam$init(params))$params
nv_sgd <- function(lr = 0.01, momentum = 0, nesterov = FALSE, weight_decay = 0, clip_value = NULL, clip_norm = NULL) {
  check_factor(momentum)
  check_flag(nesterov)
  rule <- function(g, p, moments, t, lr) {
    if (momentum == 0) {
      return(list(p - lr * g, list()))
    }
    b <- momentum * moments[[1L]] + g
    list(p - lr * (if (nesterov) g + momentum * b else b), list(b))
  }
  optimiser("sgd", lr, rule, as.integer(momentum > 0), weight_decay, clip_value, clip_norm)
}

#' @rdname nv_sgd
#' @export
nv_adam <- function(lr = 0.001, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0, clip_value = NULL, clip_norm = NULL) {
  optimiser("adam", lr, adam_rule(beta1, beta2, eps), 2L, weight_decay, clip_value, clip_norm)
}

#' @rdname nv_sgd
#' @export
nv_adamw <- function(lr = 0.001, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0.01, clip_value = NULL, clip_norm = NULL) {
  check_positive(weight_decay, zero = TRUE)
  adam <- adam_rule(beta1, beta2, eps)
  rule <- function(g, p, moments, t, lr) adam(g, p - lr * weight_decay * p, moments, t, lr)
  optimiser("adamw", lr, rule, 2L, 0, clip_value, clip_norm)
}

adam_rule <- function(beta1, beta2, eps) {
  check_factor(beta1)
  check_factor(beta2)
  check_positive(eps)
  function(g, p, moments, t, lr) {
    m <- beta1 * moments[[1L]] + (1 - beta1) * g
    v <- beta2 * moments[[2L]] + (1 - beta2) * g * g
    size <- nv_sqrt(v) / nv_sqrt(1 - nv_pow(beta2, t)) + eps
    list(p - lr / (1 - nv_pow(beta1, t)) * m / size, list(m, v))
  }
}

#' @rdname nv_sgd
#' @export
nv_rmsprop <- function(lr = 0.01, alpha = 0.99, eps = 1e-8, momentum = 0, weight_decay = 0, clip_value = NULL, clip_norm = NULL) {
  check_factor(alpha)
  check_factor(momentum)
  check_positive(eps)
  rule <- function(g, p, moments, t, lr) {
    v <- alpha * moments[[1L]] + (1 - alpha) * g * g
    step <- g / (nv_sqrt(v) + eps)
    if (momentum > 0) step <- momentum * moments[[2L]] + step
    list(p - lr * step, c(list(v), if (momentum > 0) list(step)))
  }
  optimiser("rmsprop", lr, rule, 1L + (momentum > 0), weight_decay, clip_value, clip_norm)
}

# rule: a function (g, p, moments, t, lr) of one parameter that gives list(p, moments). moments: how many tensors the
# state has for each parameter.
optimiser <- function(name, lr, rule, moments, weight_decay, clip_value, clip_norm) {
  force(rule)
  lr <- as_schedule(lr, "lr")
  check_positive(weight_decay, zero = TRUE)
  if (!is.null(clip_value)) check_positive(clip_value)
  if (!is.null(clip_norm)) check_positive(clip_norm)
  init <- function(params) {
    zeros <- map_tree(function(p) nv_fill(0, sizes_of(p), dtype = dtype(p)), params)
    list(step = nv_scalar(0L, "i32"), moments = rep(list(zeros), moments))
  }
  update <- function(grads, state, params) {
    tree <- build_tree(params)
    differs <- first_difference(tree, build_tree(grads), "params")
    if (!is.null(differs)) {
      abort_anvil("argument", "`grads` must be nested like `params`.", sprintf("x They differ at `%s`.", differs))
    }
    rate <- lr(nv_convert(state$step, "f64"))
    leaves <- clipped(flatten(grads), clip_value, clip_norm)
    one <- function(g, p, ...) {
      of_type <- function(x) if (is_value(x)) nv_convert(x, dtype(p)) else x
      if (weight_decay > 0) g <- g + weight_decay * p
      rule(g, p, list(...), of_type(state$step + 1L), of_type(rate))
    }
    stepped <- do.call(Map, c(list(one, leaves, flatten(params)), lapply(state$moments, flatten)))
    moment <- function(k) unflatten(tree, lapply(stepped, function(x) x[[2L]][[k]]))
    list(
      params = unflatten(tree, lapply(stepped, `[[`, 1L)),
      state = list(step = state$step + 1L, moments = lapply(seq_len(moments), moment))
    )
  }
  structure(list(init = init, update = update, name = name, lr = lr), class = "anvil_optimiser")
}

clipped <- function(grads, value, norm) {
  if (!is.null(value)) grads <- lapply(grads, function(g) nv_clamp(-value, g, value))
  if (is.null(norm)) {
    return(grads)
  }
  length <- nv_sqrt(Reduce(nv_add, lapply(grads, function(g) inner(g, g))))
  factor <- nv_min(norm / (length + 1e-6), 1)
  lapply(grads, function(g) g * nv_convert(factor, dtype(g)))
}

check_factor <- function(x, name = rlang::caller_arg(x)) {
  is_number <- !is.object(x) && is.numeric(x) && length(x) == 1L && !is.na(x)
  if (!is_number || x < 0 || x >= 1) wrong_argument(name, "a number from 0 to below 1", x)
  x
}

#' @export
print.anvil_optimiser <- function(x, ...) {
  cli::cat_line("<optimiser ", x$name, ", rate ", format(x$lr(0)), " at first>")
  invisible(x)
}
