#' Estimates, standard errors and predictions of a fit
#'
#' Methods for what [nv_minimize()] returns. Estimates are flat vectors, named as [as_objective()] names them.
#'
#' `vcov()` is the inverse of the Hessian matrix \eqn{H}{H} at the minimum: right where the function is a negative log-likelihood, or
#' where it is a log-likelihood that was maximised (`fnscale`), with \eqn{-H}. For
#' least squares it is \eqn{s^2 (J'J)^{-1}}{s^2 (J'J)^-1} with the derivatives \eqn{J} of the residuals and their variance
#' \eqn{s^2}, as [nls()] has it. `type = "sandwich"` is \eqn{H^{-1} G'G H^{-1}}{H^-1 G'G H^-1} with the gradients \eqn{G} of
#' each observation, which is consistent where the model's variance is wrong (for least squares \eqn{H = 2 J'J}); for that `f` must
#' return a value for each observation. For
#' a parameter at a bound variances are `NA`, and the others are those with it fixed. Where the matrix is not positive definite, as at a
#' saddle, or where it is singular, all are `NA`, with a warning of class `anvil_warning_singular`. Intervals of [confint()] are
#' the normal ones.
#'
#' `logLik()` is minus the value, that itself of a maximum, for least squares that of normal residuals with the variance estimated, as for
#' [nls()]. It knows the number of observations, so that [AIC()] and [BIC()] work.
#'
#' @param object,x What [nv_minimize()] returned.
#' @param type `"hessian"` or `"sandwich"`.
#' @param ... For `predict()` the arguments of `model`, as for [as_objective()]; by default those of the data that it takes.
#'   For `summary()` those of `vcov()`. Otherwise unused.
#' @param digits How many digits to print.
#' @return `coef()`: a named vector. `vcov()`: a matrix. `summary()`: a list with the matrix `coefficients`, which has the
#'   columns of R's summaries. `predict()`: R arrays; `fitted()` is that without further arguments. `residuals()`, what `f` returns,
#'   and `deviance()`, the sum of their squares, are of least squares.
#'
#'   Errors: of class `anvil_error_argument` where the fit does not know what is needed: a `model`, or values for each
#'   observation.
#' @name anvil_fit
#' @examples
#' nll <- function(par, x) -nv_dnorm(x, par$mu, exp(par$log_sigma), log = TRUE)
#' fit <- nv_minimize(nll, list(mu = 0, log_sigma = 0), x = c(1.2, 0.4, 2.2, 1.9))
#' summary(fit)
#' vcov(fit, type = "sandwich")
#' confint(fit)
#' BIC(fit)
NULL

# found: the state at the end of the search. about: model, nobs, and whether it is a maximum.
fit_of <- function(problem, method, found, box, about) {
  par <- named_par(problem, found$from$par)
  end <- search_ends[[as.integer(found$status)]]
  evaluations <- as.integer(found$evaluations)
  structure(list(
    par = structured(problem, par), value = as.double(found$from$value), counts = c(`function` = evaluations, gradient = evaluations),
    iterations = as.integer(found$iterations), convergence = end[[2L]], message = end[[1L]],
    method = method,
    coefficients = par, free = if (is.null(box)) rep(TRUE, length(par)) else unname(par > box$lower & par < box$upper),
    nobs = about$nobs, model = about$model, maximum = about$maximum, problem = problem
  ), class = "anvil_fit")
}

is_least_squares <- function(fit) fit$method %in% least_squares_methods

#' @importFrom stats nobs
#' @rdname anvil_fit
#' @export
print.anvil_fit <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cli::cat_line(fit_header(x))
  print(x$coefficients, digits = digits)
  invisible(x)
}

fit_header <- function(fit) {
  what <- if (is_least_squares(fit)) "Least squares" else if (fit$maximum) "Maximum" else "Minimum"
  c(
    sprintf("%s by %s: %s", what, fit$method, if (fit$convergence == 0L) "converged" else "not converged"),
    cli::pluralize("{fit$message}, after {fit$iterations} step{?s} and {fit$counts[[1L]]} evaluation{?s}"),
    paste("value", format(fit$value)), ""
  )
}

#' @rdname anvil_fit
#' @export
coef.anvil_fit <- function(object, ...) object$coefficients

#' @rdname anvil_fit
#' @export
vcov.anvil_fit <- function(object, type = c("hessian", "sandwich"), ...) {
  if (missing(type)) type <- "hessian"
  check_choice(type, c("hessian", "sandwich"), "type")
  h <- fit_curvature(object)
  labels <- names(object$coefficients)
  free <- object$free
  bread <- matrix(NA_real_, length(labels), length(labels), dimnames = list(labels, labels))
  if (object$maximum) h <- -h
  inverse <- inverse_curvature(h[free, free, drop = FALSE])
  if (is.null(inverse)) {
    return(bread)
  }
  bread[free, free] <- if (type == "sandwich") {
    rows <- contribution_gradients(object)[, free, drop = FALSE]
    inverse %*% crossprod(rows) %*% inverse
  } else if (is_least_squares(object)) {
    2 * object$value / residual_df(object) * inverse
  } else {
    inverse
  }
  bread
}

# NULL, with a warning, where there is no inverse that could be a matrix of variances.
inverse_curvature <- function(h) {
  if (nrow(h) == 0L) {
    return(h)
  }
  inverse <- tryCatch({
    chol(h)
    solve(h)
  }, error = function(e) NULL)
  if (is.null(inverse)) {
    what <- if (!all(is.finite(h))) {
      "The Hessian matrix at the minimum is not finite"
    } else if (is_indefinite(h)) {
      "The Hessian matrix is not positive definite where the search ended, so that is no minimum"
    } else {
      "The Hessian matrix at the minimum is singular"
    }
    rlang::warn(paste0(what, ": there are no variances."), class = c("anvil_warning_singular", "anvil_warning"))
  }
  inverse
}

is_indefinite <- function(h) {
  values <- eigen(h, symmetric = TRUE, only.values = TRUE)$values
  min(values) < -sqrt(.Machine$double.eps) * max(abs(values))
}

residual_df <- function(fit) residual_count(fit) - sum(fit$free)
residual_count <- function(fit) {
  if (is.null(fit$nobs)) {
    abort_anvil("argument", "Residuals have no variance where `f` returned one number.", "i For least squares it returns the residuals, one for each observation, not their squares or the sum of these.")
  }
  fit$nobs
}

fit_curvature <- function(fit) {
  squares <- is_least_squares(fit)
  program <- program_of(fit$problem, if (squares) "curvature of squares" else "curvature", {
    compiled(fit$problem, if (squares) squares_curvature else exact_curvature, total = identity)
  })
  as_array(program(fit$coefficients))
}

# A row for each observation.
contribution_gradients <- function(fit) {
  value <- if (is_least_squares(fit)) function(x) x * x else identity
  rows <- as_array(compiled(fit$problem, jacobian_of_rows, total = value)(fit$coefficients))
  if (nrow(rows) == 1L) {
    abort_anvil("argument", "`type` can be \"sandwich\" only where `f` returns a value for each observation.", "x It returned one number.")
  }
  rows
}

#' @rdname anvil_fit
#' @export
summary.anvil_fit <- function(object, ...) {
  estimate <- object$coefficients
  error <- sqrt(diag(stats::vcov(object, ...)))
  ratio <- estimate / error
  table <- if (is_least_squares(object)) {
    cbind(Estimate = estimate, `Std. Error` = error, `t value` = ratio, `Pr(>|t|)` = 2 * stats::pt(-abs(ratio), residual_df(object)))
  } else {
    cbind(Estimate = estimate, `Std. Error` = error, `z value` = ratio, `Pr(>|z|)` = 2 * stats::pnorm(-abs(ratio)))
  }
  structure(c(list(coefficients = table), list(fit = object)), class = "summary.anvil_fit")
}

#' @export
print.summary.anvil_fit <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cli::cat_line(fit_header(x$fit))
  stats::printCoefmat(x$coefficients, digits = digits, ...)
  invisible(x)
}

#' @rdname anvil_fit
#' @export
logLik.anvil_fit <- function(object, ...) {
  n <- if (is_least_squares(object)) residual_count(object) else object$nobs
  value <- if (is_least_squares(object)) -n / 2 * (log(2 * pi * object$value / n) + 1) else if (object$maximum) object$value else -object$value
  structure(value, df = sum(object$free) + is_least_squares(object), nobs = n, class = "logLik")
}

#' @rdname anvil_fit
#' @export
nobs.anvil_fit <- function(object, ...) object$nobs %||% NA_integer_

#' @rdname anvil_fit
#' @export
residuals.anvil_fit <- function(object, ...) {
  check_squares(object, "residuals()")
  as_array(compiled(object$problem, function(f, par) f(par), total = identity)(object$coefficients))
}

#' @rdname anvil_fit
#' @export
deviance.anvil_fit <- function(object, ...) {
  check_squares(object, "deviance()")
  object$value
}

check_squares <- function(fit, what) {
  if (is_least_squares(fit)) {
    return(invisible())
  }
  abort_anvil("argument", sprintf("`%s` is for fits by least squares.", what), c(
    sprintf("x This one is by \"%s\": of a function that is minimised no observations are known.", fit$method),
    "i `predict()`, for a fit with a `model`, gives what is subtracted from them; `logLik()` the likelihood."
  ))
}

#' @rdname anvil_fit
#' @export
fitted.anvil_fit <- function(object, ...) predict.anvil_fit(object)

#' @rdname anvil_fit
#' @export
predict.anvil_fit <- function(object, ...) {
  if (is.null(object$model)) {
    abort_anvil("argument", "`predict()` needs a fit with a `model`.", "i Give `nv_minimize()` the function as `model`.")
  }
  data <- list(...)
  if (!length(data)) {
    known <- object$problem$data
    data <- data_with(known, known$tensors)
    data <- data[intersect(names(data), names(formals(args(object$model))))]
  }
  check_taken(object$model, data, "There is an argument", "`model` does not take")
  problem <- object$problem
  problem$f <- object$model
  problem$data <- data_of(data, problem$dtype)
  map_tree(as_array, compiled(problem, function(f, par) f(par), total = identity)(object$coefficients))
}
