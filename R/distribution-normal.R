#' Normal and lognormal distributions
#'
#' Densities, distribution functions and quantiles, with the arguments of R's functions `dnorm()`, `dlnorm()` and
#' so on. [nv_rnorm()] and [nv_rlnorm()] draw from them, [nv_dmvnorm()] is the multivariate normal density.
#'
#' Operands are promoted to their common float dtype, integers and numbers to the default one ([default_dtypes()]), and
#' scalars are spread as in [arithmetic][nv_arithmetic]; nothing else is recycled. All functions of distributions are
#' elementwise, differentiable by all of their float operands (quantiles by the implicit function theorem), and work
#' in compiled functions and batches. Where a parameter is out of its range, or an operand is NaN, the result is NaN,
#' without a warning. They agree with R's to about 1e-12 times the condition number of the problem
#' in `f64`, tails and logarithms of probabilities below the smallest number included.
#'
#' @param x,q Values, for `lnorm` positive where the density is.
#' @param p Probabilities, or their logarithms.
#' @param mean,sd,meanlog,sdlog Mean and standard deviation of the values, or of their logarithms. `sd = 0` is a point
#'   mass, as in R.
#' @param log,log.p Whether densities and probabilities are logarithms.
#' @param lower.tail Whether probabilities are those of values of at most `q`, else of larger ones.
#' @return A float tensor of the common shape.
#' @section Errors:
#' `anvil_error_argument` where an operand is no tensor, array or number, or a flag is not `TRUE` or `FALSE`;
#' `anvil_error_shape` where shapes differ.
#' @references Wichura, M. J. (1988). Algorithm AS 241: The percentage points of the normal distribution. Applied
#'   Statistics 37, 477-484.
#' @family distributions
#' @name nv_dnorm
#' @examples
#' x <- nv_tensor(c(-1, 0, 2), dtype = "f64")
#' nv_dnorm(x)
#' nv_pnorm(x, mean = 1, sd = 2, lower.tail = FALSE)
#' nv_qnorm(nv_pnorm(x))
#' nv_dlnorm(exp(x), log = TRUE)
#'
#' # the log-likelihood of a sample, and its slope by the mean
#' likelihood <- function(mean) sum(nv_dnorm(x, mean, log = TRUE))
#' jit(value_and_gradient(likelihood))(nv_scalar(0, "f64"))
NULL

#' @rdname nv_dnorm
#' @export
nv_dnorm <- function(x, mean = 0, sd = 1, log = FALSE) {
  given <- as_floats(x = x, mean = mean, sd = sd)
  away <- given$x - given$mean
  log_density <- log_normal_density(away / given$sd) - nv_log(given$sd)
  point <- nv_ifelse(away == 0, Inf, nv_abs(away) * -Inf)
  density_of(nv_ifelse(given$sd == 0, point, log_density), nv_abs(away) == Inf, given$sd >= 0, log)
}

#' @rdname nv_dnorm
#' @export
nv_pnorm <- function(q, mean = 0, sd = 1, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(q = q, mean = mean, sd = sd)
  away <- given$q - given$mean
  z <- nv_ifelse(nv_abs(away) == Inf, away, nv_ifelse(given$sd == 0 & away == 0, Inf, away / given$sd))
  if (!check_flag(lower.tail)) z <- -z
  nv_ifelse(given$sd >= 0, if (check_flag(log.p)) log_normal_tail(z) else normal_tail(z), NaN)
}

#' @rdname nv_dnorm
#' @export
nv_qnorm <- function(p, mean = 0, sd = 1, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(p = p, mean = mean, sd = sd)
  z <- normal_root(standard_quantile(tails_of(given$p, lower.tail, log.p)), given$p, lower.tail, log.p)
  nv_ifelse(given$sd >= 0, nv_ifelse(nv_abs(z) == Inf, given$mean + z, given$mean + given$sd * z), NaN)
}

#' @rdname nv_dnorm
#' @export
nv_dlnorm <- function(x, meanlog = 0, sdlog = 1, log = FALSE) {
  given <- as_floats(x = x, meanlog = meanlog, sdlog = sdlog)
  y <- nv_log(given$x)
  outside <- given$x <= 0 | given$x == Inf
  density_of(nv_dnorm(y, given$meanlog, given$sdlog, log = TRUE) - y, outside, given$sdlog >= 0 & given$meanlog == given$meanlog, log)
}

#' @rdname nv_dnorm
#' @export
nv_plnorm <- function(q, meanlog = 0, sdlog = 1, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(q = q, meanlog = meanlog, sdlog = sdlog)
  y <- nv_ifelse(given$q <= 0, -Inf, nv_log(given$q))
  nv_pnorm(y, given$meanlog, given$sdlog, lower.tail, log.p)
}

#' @rdname nv_dnorm
#' @export
nv_qlnorm <- function(p, meanlog = 0, sdlog = 1, lower.tail = TRUE, log.p = FALSE) {
  given <- as_floats(p = p, meanlog = meanlog, sdlog = sdlog)
  nv_exp(nv_qnorm(given$p, given$meanlog, given$sdlog, lower.tail, log.p))
}

# --- the standard normal distribution ---------------------------------------------------------

normal_tail <- function(z) 0.5 * nv_erfc(z * -sqrt(0.5))

# The logarithm of the lower tail. Far out by the asymptotic series of Mills' ratio (DLMF 7.12.1).
log_normal_tail <- function(z) {
  middle <- nv_log(normal_tail(z))
  above <- nv_log1p(-normal_tail(-z))
  nv_ifelse(z > 0, above, nv_ifelse(z < normal_far(z), log_normal_density(z) + log_mills(z), middle))
}

log_normal_density <- function(z) -0.5 * z * z - log(2 * pi) / 2

# The logarithm of tail / density.
log_mills <- function(z) {
  w <- 1 / (z * z)
  # 1 - w + 3 w^2 - 15 w^3 + ...
  series <- 0
  for (k in 8:1) series <- -(2 * k - 1) * w * (1 + series)
  nv_log1p(series) - nv_log(-z)
}

# From where on the series is used: the tail is still a normal number of the dtype.
normal_far <- function(z) switch(as.character(dtype(z)), f64 = -20, f16 = -3.5, -11)

# The quantile is that of the smaller tail r = sqrt(-log(tail)) with its sign, near the middle that of p - 1/2. Small
# floats become f32: some coefficients are beyond the largest of them.
standard_quantile <- function(tails) {
  given <- tails$lower
  tails <- lapply(tails, function(x) if (is_value(x)) at_least_f32(x) else x)
  off <- nv_ifelse(tails$lower < 0.5, tails$lower - 0.5, 0.5 - tails$upper)
  middle <- off * rational(0.180625 - off * off, wichura$middle)
  tail <- smaller_tail(tails)
  r <- nv_sqrt(-tail$log)
  size <- nv_ifelse(r <= 5, rational(r - 1.6, wichura$tail), rational(r - 5, wichura$far))
  if (tails$deep) size <- nv_ifelse(r > 27, normal_quantile_beyond(r), size)
  z <- nv_ifelse(nv_abs(off) <= 0.425, middle, nv_ifelse(tail$lower, -size, size))
  z <- with_ends(z, tail, -Inf, Inf)
  if (is_small_float(given)) convert_to(z, type_tag(given)[1L]) else z
}

# Below the smallest number the equation z^2 / 2 = r^2 + log(Mills' ratio) - log(2 pi) / 2 says z, the better the
# larger it is.
normal_quantile_beyond <- function(r) {
  z <- sqrt(2) * r
  for (k in 1:5) z <- nv_sqrt(2 * (r * r + log_mills(-z)) - log(2 * pi))
  z
}

# A quantile with its derivative, 1 / density in terms of the probability.
normal_root <- function(z, p, lower.tail, log.p) {
  sign <- if (check_flag(lower.tail)) 1 else -1
  log.p <- check_flag(log.p)
  tail <- function(z) if (log.p) log_normal_tail(sign * z) else normal_tail(sign * z)
  implicitly(z, list(p), list(), function(z, given, constants) tail(z) - given[[1L]])
}

# A quotient of polynomials with these coefficients, the lowest first.
rational <- function(x, coefficients) horner(x, coefficients[[1L]]) / horner(x, coefficients[[2L]])
horner <- function(x, coefficients) Reduce(function(c, sum) sum * x + c, coefficients, right = TRUE)

wichura <- list(
  middle = list(
    c(3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125, 45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727),
    c(1, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077, 21213.794301586595867, 39307.895800092710610, 28729.085735721942674, 5226.4952788528545610)
  ),
  tail = list(
    c(1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504, 1.27045825245236838258, 0.241780725177450611770, 0.0227238449892691845833, 7.74545014278341407640e-4),
    c(1, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550, 0.148103976427480074590, 0.0151986665636164571966, 5.47593808499534494600e-4, 1.05075007164441684324e-9)
  ),
  far = list(
    c(6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 0.296560571828504891230, 0.0265321895265761230930, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7),
    c(1, 0.599832206555887937690, 0.136929880922735805310, 0.0148753612908506148525, 7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15)
  )
)
