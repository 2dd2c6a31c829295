#' Random numbers of continuous and discrete distributions
#'
#' Samplers of the distributions that R has them for, with R's names of the parameters, but one: what R calls `shape` is
#' `alpha` here, since `shape` are the sizes of the result. They take and return states as [nv_rnorm()] does.
#'
#' Values of continuous distributions are differentiable by the parameters, for a fixed state: what has a location and a scale
#' by the formula, gamma, beta, t, F and chi-squared variables by the implicit function theorem. Counts have no derivatives.
#' Where a parameter is out of its range, values are NaN. So are counts of a float dtype; those of an integer dtype are then 0 where the
#' parameter is a tensor, and an error where it is a number of R.
#'
#' `nv_rtruncnorm()` draws from a normal distribution between two bounds, in the tails as well, by inversion of its distribution
#' function. The bounds may be infinite.
#'
#' @inheritParams nv_random
#' @param rate,scale,location,meanlog,sdlog,df,df1,df2,shape1,shape2 Parameters as in [nv_dexp()], [nv_dlogis()], [nv_dnorm()] and
#'   [nv_dbeta()]: numbers, or tensors that are scalar or have the shape `shape`.
#' @param alpha The parameter that R calls `shape`, of gamma and Weibull distributions.
#' @param mean,sd,min,max Mean and standard deviation of the normal distribution, and the bounds, of the same kinds.
#' @param lambda,mu The mean of a Poisson or a negative binomial distribution.
#' @param size,prob Parameters of the negative binomial and the geometric distribution, see [nv_dnbinom()].
#' @return A list of the new state and the values; without a state the values.
#' @inheritSection nv_random Errors
#' @references Marsaglia, G. and Tsang, W. W. (2000). A simple method for generating gamma variables. ACM Transactions on
#'   Mathematical Software 26, 363-372.
#'
#'   Hormann, W. (1993). The transformed rejection method for generating Poisson random variables. Insurance: Mathematics
#'   and Economics 12, 39-45: algorithm PTRS.
#' @family random numbers
#' @name nv_rgamma
#' @examples
#' state <- nv_rng_state(1L)
#' nv_rgamma(3, state, alpha = 2, rate = 3)[[2]]
#' nv_rpois(c(2, 2), state, lambda = 4)[[2]]
#' nv_rt(3, state, df = nv_tensor(c(1, 5, 100)))[[2]]
#'
#' # how values depend on a parameter
#' draw <- function(alpha) sum(nv_rgamma(3, state, alpha = alpha)[[2]])
#' jit(gradient(draw))(nv_scalar(2))
NULL

#' @rdname nv_rgamma
#' @export
nv_rexp <- function(shape, initial_state = NULL, dtype = NULL, rate = 1) {
  by_inversion(shape, initial_state, dtype, list(rate = rate), function(u, rate) -nv_log(u) / positive(rate))
}

#' @rdname nv_rgamma
#' @export
nv_rweibull <- function(shape, initial_state = NULL, dtype = NULL, alpha, scale = 1) {
  by_inversion(shape, initial_state, dtype, list(alpha = alpha, scale = scale), function(u, alpha, scale) {
    positive(scale) * nv_pow(-nv_log(u), 1 / positive(alpha))
  })
}

#' @rdname nv_rgamma
#' @export
nv_rlogis <- function(shape, initial_state = NULL, dtype = NULL, location = 0, scale = 1) {
  by_inversion(shape, initial_state, dtype, list(location = location, scale = scale), function(u, location, scale) {
    location + positive(scale) * (nv_log(u) - nv_log1p(-u))
  })
}

#' @rdname nv_rgamma
#' @export
nv_rcauchy <- function(shape, initial_state = NULL, dtype = NULL, location = 0, scale = 1) {
  by_inversion(shape, initial_state, dtype, list(location = location, scale = scale), function(u, location, scale) {
    location + positive(scale) * nv_tan(pi * (u - 0.5))
  })
}

#' @rdname nv_rgamma
#' @export
nv_rlaplace <- function(shape, initial_state = NULL, dtype = NULL, location = 0, scale = 1) {
  by_inversion(shape, initial_state, dtype, list(location = location, scale = scale), function(u, location, scale) {
    location + positive(scale) * nv_ifelse(u < 0.5, nv_log(2 * u), -nv_log(2 - 2 * u))
  })
}

#' @rdname nv_rgamma
#' @export
nv_rlnorm <- function(shape, initial_state = NULL, dtype = NULL, meanlog = 0, sdlog = 1) {
  dtype <- float_dtype(dtype)
  drawn <- nv_rnorm(shape, initial_state, dtype, as_parameter(meanlog, dtype), as_parameter(sdlog, dtype))
  if (is.null(initial_state)) nv_exp(drawn) else list(drawn[[1L]], nv_exp(drawn[[2L]]))
}

#' @rdname nv_rgamma
#' @export
nv_rgamma <- function(shape, initial_state = NULL, dtype = NULL, alpha, rate = 1, scale = 1 / rate) {
  scale <- scale_of(rate, scale, missing(rate), missing(scale))
  parameter <- stats::setNames(list(scale), if (missing(rate)) "scale" else "rate")
  by_gammas(shape, initial_state, dtype, list(alpha = alpha), parameter, function(log_x, scale) positive(scale) * nv_exp(log_x))
}

#' @rdname nv_rgamma
#' @export
nv_rchisq <- function(shape, initial_state = NULL, dtype = NULL, df) {
  by_gammas(shape, initial_state, dtype, list(df = halved(df)), list(), function(log_x) 2 * nv_exp(log_x))
}

#' @rdname nv_rgamma
#' @export
nv_rbeta <- function(shape, initial_state = NULL, dtype = NULL, shape1, shape2) {
  by_gammas(shape, initial_state, dtype, list(shape1 = shape1, shape2 = shape2), list(), function(log_x, log_y) nv_logistic(log_x - log_y))
}

#' @rdname nv_rgamma
#' @export
nv_rf <- function(shape, initial_state = NULL, dtype = NULL, df1, df2) {
  by_gammas(shape, initial_state, dtype, list(df1 = halved(df1), df2 = halved(df2)), list(df1 = df1, df2 = df2), function(log_x, log_y, df1, df2) {
    nv_exp(log_over(log_x, df1) - log_over(log_y, df2))
  })
}

#' @rdname nv_rgamma
#' @export
nv_rt <- function(shape, initial_state = NULL, dtype = NULL, df) {
  dtype <- float_dtype(dtype)
  shape <- check_sizes(shape)
  df <- as_f64(df, shape)
  with_state(initial_state, function(state) {
    normal <- standard_normal(shape, state, "f64")
    gamma <- log_gamma_draw(shape, normal[[1L]], df / 2)
    list(gamma[[1L]], nv_convert(normal[[2L]] * nv_exp(-0.5 * log_over(gamma[[2L]], df)), dtype))
  })
}

# A gamma variable with shape df / 2 over its mean is 1 where df is infinite; in logarithms.
log_over <- function(log_x, df) nv_ifelse(df == Inf, 0, log_x - nv_log(df / 2))

#' @rdname nv_rgamma
#' @export
nv_rtruncnorm <- function(shape, initial_state = NULL, dtype = NULL, mean = 0, sd = 1, min = mean - 2 * sd, max = mean + 2 * sd) {
  dtype <- float_dtype(dtype)
  shape <- check_sizes(shape)
  mean <- as_f64(mean, shape)
  sd <- positive(as_f64(sd, shape))
  bounds <- list(as_f64(min, shape), as_f64(max, shape))
  with_state(initial_state, function(state) {
    drawn <- open_uniform(shape, state, "f64")
    # the last operand keeps NaN of the parameters
    standard <- lapply(bounds, function(bound) at_finite(bound, function(b) (b - mean) / sd, bound + 0 * nv_stop_gradient(mean + sd)))
    z <- truncated_quantile(drawn[[2L]], standard[[1L]], standard[[2L]])
    values <- nv_clamp(bounds[[1L]], mean + sd * z, bounds[[2L]])
    list(drawn[[1L]], nv_convert(values, dtype))
  })
}

# --- continuous distributions -----------------------------------------------------------------

# A parameter with all of its digits, which is scalar or has the shape of the result.
as_f64 <- function(x, shape = NULL, name = rlang::caller_arg(x)) {
  force(name)
  x <- if (is_number(x)) nv_scalar(x, "f64") else nv_convert(as_vector(x, name), "f64")
  own <- shape(x)
  if (!is.null(shape) && length(own) > 0L && !identical(own, shape)) {
    abort_anvil("shape", sprintf("`%s` must be scalar, or have the shape of the result.", name), sprintf("x Got shapes %s.", ordinal_shapes(list(own, shape))))
  }
  x
}

positive <- function(x) nv_ifelse(x > 0, x, NaN)

# The quantile of uniform numbers, in `dtype`.
by_inversion <- function(shape, initial_state, dtype, parameters, quantile) {
  dtype <- float_dtype(dtype)
  shape <- check_sizes(shape)
  parameters <- Map(function(x, name) nv_convert(as_f64(x, shape, name), dtype), parameters, names(parameters))
  with_state(initial_state, function(state) {
    drawn <- open_uniform(shape, state, dtype)
    list(drawn[[1L]], do.call(quantile, c(list(drawn[[2L]]), parameters)))
  })
}

# f(x), and `otherwise` where x is infinite, where derivatives of f would be NaN.
at_finite <- function(x, f, otherwise) {
  finite <- nv_is_finite(x)
  nv_ifelse(finite, f(nv_ifelse(finite, x, 0)), otherwise)
}

# The quantile of u of the standard normal distribution between two bounds, by logarithms in the lower tail: where most of the
# interval lies above 0 it is turned around, since there probabilities are 1 less something small.
truncated_quantile <- function(u, low, high) {
  sign <- nv_ifelse(low + high > 0, -1, 1)
  from <- nv_ifelse(sign < 0, -high, low)
  to <- nv_ifelse(sign < 0, -low, high)
  log_to <- at_finite(to, function(x) nv_pnorm(x, log.p = TRUE), 0)
  share <- at_finite(from, function(x) nv_exp(nv_pnorm(x, log.p = TRUE) - log_to), 0)
  z <- sign * nv_qnorm(log_to + nv_log(u + (1 - u) * share), log.p = TRUE)
  nv_ifelse(low < high, z, NaN)
}

# A function of the logarithms of gamma variables of these shapes, and of further parameters.
by_gammas <- function(shape, initial_state, dtype, alphas, parameters, value) {
  dtype <- float_dtype(dtype)
  shape <- check_sizes(shape)
  as_given <- function(x, name) as_f64(x, shape, name)
  alphas <- Map(as_given, alphas, names(alphas))
  parameters <- Map(as_given, parameters, names(parameters))
  with_state(initial_state, function(state) {
    logs <- list()
    for (alpha in alphas) {
      drawn <- log_gamma_draw(shape, state, alpha)
      state <- drawn[[1L]]
      logs <- c(logs, drawn[2L])
    }
    list(state, nv_convert(do.call(value, c(logs, unname(parameters))), dtype))
  })
}

# The logarithm of a gamma variable, also where that itself would be 0: the one of a + 1, by the rejection of Marsaglia
# and Tsang, times a uniform variable to the power 1 / a, where a is small.
log_gamma_draw <- function(shape, state, a) {
  a <- nv_broadcast_to(a, shape)
  valid <- a > 0 & a < Inf
  small <- a < 1
  d <- nv_ifelse(valid, a + nv_ifelse(small, 1, 0), 1) - 1 / 3
  c <- 1 / nv_sqrt(9 * d)
  attempt <- function(state, log_v, open) {
    normal <- standard_normal(shape, state, "f64")
    uniform <- open_uniform(shape, normal[[1L]], "f64")
    z <- normal[[2L]]
    # v = (1 + t)^3, and d (1 - v + log(v)) without cancellation
    t <- nv_max(c * z, -1)
    log_root <- nv_log1p(t)
    fits <- open & nv_log(uniform[[2L]]) < 0.5 * z * z + d * (3 * (log_root - t) - t * t * (3 + t))
    list(state = uniform[[1L]], log_v = nv_ifelse(fits, 3 * log_root, log_v), open = open & nv_not(fits))
  }
  start <- list(state = state, log_v = nv_fill(0, shape, "f64"), open = nv_fill(TRUE, shape, "bool"))
  end <- nv_while(start, function(state, log_v, open) nv_reduce_any(open), attempt)
  power <- open_uniform(shape, end$state, "f64")
  log_x <- nv_log(d) + end$log_v + nv_ifelse(small, nv_log(power[[2L]]) / a, 0)
  log_x <- implicitly(log_x, list(a), list(nv_exp(log_x) < a), function(u, given, constants) {
    log_gamma_tail(given[[1L]], nv_exp(u), constants[[1L]])
  })
  list(power[[1L]], nv_ifelse(valid, log_x, NaN))
}
