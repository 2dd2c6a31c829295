#' Families of generalised linear models on tensors
#'
#' `nv_family()` takes a family as [glm()] does and gives its functions for tensors, and its log-likelihood by the linear predictor.
#'
#' The functions are the family's own R code on tensors, so that links and families of one's own work as well, where they call R's functions
#' by their plain names (`plogis(eta)`, not `stats::plogis(eta)`). Functions of package stats that are C code, or that cut
#' probabilities off at 2e-16, have others in their place that do not: log-likelihoods of binomial models are computed from
#' the logarithms of both probabilities, which no link rounds to 0 or 1.
#'
#' `log_likelihood(y, eta, weights = 1, dispersion = 1)` gives the contribution of each observation. With the mean
#' \eqn{\mu}{mu} of the linear predictor `eta`, weights \eqn{w} and dispersion \eqn{\phi}{phi} it is, as the one from which [logLik()] of a [glm()] comes,
#'
#' | family | log-likelihood |
#' |---|---|
#' | `gaussian` | `dnorm(y, mu, sqrt(phi / w), log = TRUE)` |
#' | `binomial` | `dbinom(w * y, w, mu, log = TRUE)`, or with successes and failures in the columns of `y`, `dbinom(y[, 1], y[, 1] + y[, 2], mu, log = TRUE)` times `w` |
#' | `poisson` | `w * dpois(y, mu, log = TRUE)` |
#' | `Gamma` | `w * dgamma(y, 1 / phi, scale = mu * phi, log = TRUE)` |
#' | `inverse.gaussian` | `-w * ((y - mu)^2 / (phi * mu^2 * y) + log(2 * pi * phi * y^3)) / 2` |
#' | `MASS::negative.binomial(theta)` | `w * dnbinom(y, theta, mu = mu, log = TRUE)` |
#'
#' The value is `-Inf` where the family does not have such a `y`, and NaN where there is no such mean. For `binomial`, counts that are not
#' whole have the gamma function in the place of factorials.
#'
#' `dispersion` may be a parameter of the model. [glm()] takes that of Pearson's statistic for standard errors. Its log-likelihood is that at the
#' deviance over the sum of the weights, for `gaussian` over the number of observations.
#'
#' @param family A family, a function that makes one, or the name of one: `binomial("probit")`, `poisson`, `"Gamma"`.
#' @return A list of class `anvil_family`: `family` and `link`, their names, and functions that take and give tensors:
#'   `linkfun(mu)`, `linkinv(eta)`, `variance(mu)` and `dev.resids(y, mu, wt)`, as in [family], of the shape of `mu`; and `log_likelihood()`.
#' @section Errors:
#' Of class `anvil_error_argument`: where `family` is none; in its functions, where R code of the family cannot be
#' run on tensors; and in `log_likelihood()`, for quasi-families, which have none, for families that are not in the table, and for a
#' `dispersion` where the family has none.
#' @seealso `vignette("glm")`, `vignette("mixed-models")`
#' @family fitting
#' @export
#' @examples
#' frame <- nv_model_frame(am ~ wt, mtcars)
#' family <- nv_family(binomial("probit"))
#' nll <- function(beta, y, x) -family$log_likelihood(y, drop(x %*% beta))
#' fit <- nv_minimize(nll, c(0, 0), "newton", y = frame$y, x = frame$x)
#' summary(fit)
#' coef(glm(am ~ wt, binomial("probit"), mtcars))
#'
#' eta <- nv_tensor(c(-40, 0, 40), "f64")
#' family$linkinv(eta)
#' gradient(function(eta) sum(family$log_likelihood(c(1, 1, 1), eta)))(eta)
nv_family <- function(family) {
  family <- family_of(family, parent.frame())
  distribution <- distribution_of(family)
  code <- lapply(stats::setNames(nm = family_functions), tensor_function, family)
  structure(list(
    family = family$family, link = family$link,
    linkfun = function(mu) code$linkfun(mu), linkinv = function(eta) code$linkinv(eta), variance = function(mu) code$variance(mu),
    dev.resids = function(y, mu, wt = 1) code$dev.resids(y, mu, wt),
    log_likelihood = function(y, eta, weights = 1, dispersion = 1) {
      if (is.null(distribution)) no_likelihood(family)
      if (!distribution$dispersed && !identical(dispersion, 1)) {
        abort_anvil("argument", sprintf("Family %s has no dispersion.", family$family), got_value(dispersion))
      }
      distribution$log_density(y, code$linkinv(eta), log_probabilities(family, eta), weights, dispersion)
    }
  ), class = "anvil_family")
}

#' @export
print.anvil_family <- function(x, ...) {
  cli::cat_line(sprintf("<family %s, link %s>", x$family, x$link))
  invisible(x)
}

family_functions <- c("linkfun", "linkinv", "variance", "dev.resids")

# As glm() takes it.
family_of <- function(family, where) {
  found <- if (is.character(family) && length(family) == 1L) get0(family, where, mode = "function") else family
  if (is.function(found)) found <- found()
  if (!inherits(found, "family") || !all(vapply(unclass(found)[family_functions], is.function, NA))) {
    wrong_argument("family", "a family as for `glm()`, a function that makes one, or the name of one", family)
  }
  found
}

no_likelihood <- function(family) {
  why <- if (startsWith(family$family, "quasi")) "is no distribution, and has no likelihood" else "has no likelihood that is known here"
  abort_anvil("argument", sprintf("Family %s %s.", family$family, why), c(
    "i Half the sum of `dev.resids()`, over the dispersion, is minus a quasi-likelihood, which has its maximum at the same coefficients."
  ))
}

# ---- a family's own code on tensors ---------------------------------------------------------------

# Families are told by their code, as anybody can make one with the name of another.
same_code <- function(f, g) identical(f, g, ignore.bytecode = TRUE, ignore.environment = TRUE, ignore.srcref = TRUE)

tensor_function <- function(name, family) {
  f <- function_instead(name, family)
  if (is.null(f)) {
    # it sees the functions that take tensors (masks.R) before those of base and stats
    f <- family[[name]]
    seen <- intersect(all.names(body(f), unique = TRUE), names(verb_masks))
    environment(f) <- list2env(mget(seen, verb_masks), parent = environment(f))
  }
  function(...) {
    given <- unname(as_floats(...))
    value <- tryCatch(do.call(f, given, quote = TRUE), error = identity)
    if (inherits(value, "anvil_error")) rlang::cnd_signal(value)
    if (inherits(value, "condition")) {
      abort_anvil("argument", sprintf("`%s()` of family %s cannot be run on tensors.", name, family$family), paste("x", conditionMessage(value)))
    }
    # a constant variance is R's
    if (is_value(value)) value else nv_tensor(value, dtype(given[[1L]]), shape(given[[1L]]))
  }
}

# In the place of a function of stats that is C code, cuts off, or chooses elements; or NULL.
function_instead <- function(name, family) {
  is <- function(g) same_code(family[[name]], g)
  if (name == "linkinv") {
    link_distribution(family)
  } else if (name == "linkfun" && is(stats::make.link("logit")$linkfun)) {
    nv_qlogis
  } else if (name == "dev.resids" && is(stats::binomial()$dev.resids)) {
    function(y, mu, wt) 2 * wt * (poisson_deviance(y, mu) + poisson_deviance(1 - y, 1 - mu))
  } else if (name == "dev.resids" && is(stats::poisson()$dev.resids)) {
    function(y, mu, wt) 2 * wt * poisson_deviance(y, mu)
  }
}

# ---- links that are distribution functions --------------------------------------------------------

# Of links that give probabilities, both of which have their logarithm.
link_distribution <- function(family) {
  f <- link_distributions[[family$link]]
  if (!is.null(f) && same_code(family$linkinv, stats::make.link(family$link)$linkinv)) f
}

tails_of_cloglog <- function(q, lower.tail = TRUE, log.p = FALSE) {
  log_upper <- -nv_exp(q)
  if (lower.tail) {
    # 1 - exp(-t) is t - t^2 / 2 + ...
    small <- q < -20
    if (log.p) nv_ifelse(small, q + log_upper / 2, log1mexp(nv_ifelse(small, -1, log_upper))) else -nv_expm1(log_upper)
  } else {
    if (log.p) log_upper else nv_exp(log_upper)
  }
}

tails_of_log <- function(q, lower.tail = TRUE, log.p = FALSE) {
  if (lower.tail) {
    if (log.p) q else nv_exp(q)
  } else {
    if (log.p) log1mexp(q) else -nv_expm1(q)
  }
}

link_distributions <- list(logit = nv_plogis, probit = nv_pnorm, cauchit = nv_pcauchy, cloglog = tails_of_cloglog, log = tails_of_log)

# The logarithms of p and 1 - p.
log_probabilities <- function(family, eta) {
  f <- link_distribution(family)
  if (is.null(f)) {
    p <- tensor_function("linkinv", family)(eta)
    return(list(p = nv_log(p), q = nv_log1p(-p)))
  }
  eta <- as_floats(eta)[[1L]]
  list(p = f(eta, log.p = TRUE), q = f(eta, lower.tail = FALSE, log.p = TRUE))
}

# ---- log-likelihoods ---------------------------------------------------------------------------------

# log_density: of the mean, the logarithms of the probabilities, weights and dispersion, of which it takes what it needs.
distribution_of <- function(family) {
  theta <- get0(".Theta", environment(family$variance), mode = "numeric", inherits = FALSE)
  if (startsWith(family$family, "Negative Binomial") && length(theta) == 1L) {
    return(list(dispersed = FALSE, log_density = function(y, mu, logs, w, phi) w * nv_dnbinom(y, theta, mu = mu, log = TRUE)))
  }
  Find(function(known) same_code(family$aic, known$aic), list(
    list(aic = stats::gaussian()$aic, dispersed = TRUE, log_density = log_density_gaussian),
    list(aic = stats::binomial()$aic, dispersed = FALSE, log_density = log_density_binomial),
    list(aic = stats::poisson()$aic, dispersed = FALSE, log_density = function(y, mu, logs, w, phi) w * nv_dpois(y, mu, log = TRUE)),
    list(aic = stats::Gamma()$aic, dispersed = TRUE, log_density = function(y, mu, logs, w, phi) {
      w * nv_dgamma(y, 1 / phi, scale = mu * phi, log = TRUE)
    }),
    list(aic = stats::inverse.gaussian()$aic, dispersed = TRUE, log_density = log_density_inverse_gaussian)
  ))
}

log_density_gaussian <- function(y, mu, logs, w, phi) {
  given <- as_floats(y = y, mu = mu, w = w, phi = phi)
  nv_ifelse(given$w == 0, 0, nv_dnorm(given$y, given$mu, nv_sqrt(given$phi / given$w), log = TRUE))
}

log_density_binomial <- function(y, mu, logs, w, phi) {
  given <- as_floats(y = y, w = w, p = logs$p, q = logs$q)
  y <- given$y
  counted <- rank_of(y) == 2L
  if (counted && sizes_of(y)[2L] != 2L) {
    abort_anvil("shape", "`y` must be a vector of shares, or a matrix of successes and failures.", sprintf("x Got shape %s.", shape2string(sizes_of(y))))
  }
  k <- if (counted) y[, 1L] else given$w * y
  rest <- if (counted) y[, 2L] else given$w * (1 - y)
  weighted_log <- function(k, log) nv_ifelse(k == 0, 0, k * log)
  log_density <- nv_lgamma(k + rest + 1) - nv_lgamma(k + 1) - nv_lgamma(rest + 1) + weighted_log(k, given$p) + weighted_log(rest, given$q)
  log_density <- density_of(log_density, k < 0 | rest < 0, given$p <= 0 & given$q <= 0, log = TRUE)
  if (counted) given$w * log_density else log_density
}

log_density_inverse_gaussian <- function(y, mu, logs, w, phi) {
  given <- as_floats(y = y, mu = mu, w = w, phi = phi)
  away <- (given$y - given$mu) / given$mu
  log_density <- -0.5 * (away * away / (given$phi * given$y) + nv_log(2 * pi * given$phi) + 3 * nv_log(given$y))
  given$w * density_of(log_density, given$y <= 0, given$mu > 0, log = TRUE)
}
