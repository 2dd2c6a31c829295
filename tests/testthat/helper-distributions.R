# The univariate distributions for tests: parameters, values, and R's functions.

distribution_families <- function() {
  line <- c(-1e300, -1000, -50, -3, -1, -1e-10, 0, 1e-10, 0.1, 0.5, 1, 2, 3, 10, 50, 800, 1e5)
  half <- c(-1, 0, 1e-300, 1e-100, 1e-10, 0.1, 0.5, 1, 1.5, 2, 3, 10, 50, 100, 800, 1e3, 5000, 1e5, 1e7)
  unit <- c(-1, 0, 1e-300, 1e-100, 1e-10, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1 - 1e-10, 1, 1.5)
  counts <- c(-1, 0, 1, 2, 3, 5, 10, 17, 40, 99, 100, 101, 500, 1e3, 1e4, 99e3, 1e5, 101e3, 0.5)
  list(
    norm = list(x = line, parameters = list(mean = c(-1, 0, 10), sd = c(0.5, 1, 30))),
    lnorm = list(x = half, parameters = list(meanlog = c(-1, 2), sdlog = c(0.5, 3))),
    exp = list(x = half, parameters = list(rate = c(0.1, 1, 30))),
    weibull = list(x = half[half == 0 | half > 1e-20], parameters = list(shape = c(0.3, 1, 5), scale = c(0.5, 2))),
    logis = list(x = line, parameters = list(location = c(-1, 0, 30), scale = c(0.5, 2))),
    cauchy = list(x = line[-1], parameters = list(location = c(-1, 0, 30), scale = c(0.5, 2))),
    unif = list(x = unit[unit != 1e-300], parameters = list(min = c(-1, 0), max = c(0.5, 2))),
    gamma = list(x = half, parameters = list(shape = c(1e-3, 0.1, 0.5, 1, 1.5, 10, 100, 1e4, 1e6), scale = c(1, 2.5))),
    chisq = list(x = half, parameters = list(df = c(0.3, 1, 7, 100))),
    beta = list(x = unit, parameters = list(shape1 = c(0.1, 0.5, 1, 3, 100, 1e4), shape2 = c(0.1, 0.5, 1, 3, 100, 1e4))),
    t = list(x = line[-1], parameters = list(df = c(0.1, 0.5, 1, 3, 100, 1e4, 1e6, 1e10, Inf))),
    f = list(x = half, parameters = list(df1 = c(0.5, 1, 3, 100, 1e4), df2 = c(0.5, 1, 3, 100, 1e4))),
    pois = list(x = counts, parameters = list(lambda = c(0, 1e-10, 0.1, 1, 10, 1e3, 1e5, 1e8))),
    binom = list(x = counts, parameters = list(size = c(0, 1, 10, 100, 1e5), prob = c(0, 1e-10, 0.01, 0.3, 0.5, 0.9, 1))),
    nbinom = list(x = counts, parameters = list(size = c(0, 0.1, 1, 10, 1e5), prob = c(0.01, 0.3, 0.5, 0.9, 1))),
    `nbinom by mu` = list(x = counts, parameters = list(size = c(0, 0.1, 1, 10, 1e4), mu = c(1e-6, 0.01, 3, 500))),
    geom = list(x = counts, parameters = list(prob = c(1e-6, 0.01, 0.3, 0.5, 0.9, 1)))
  )
}
discrete <- c("pois", "binom", "nbinom", "nbinom by mu", "geom")

# R's function and the one of the package: kind is d, p or q.
r_function <- function(kind, family) get(paste0(kind, sub(" .*", "", family)), asNamespace("stats"))
nv_function <- function(kind, family) get(paste0("nv_", kind, sub(" .*", "", family)), asNamespace("anvil"))

# All combinations of parameters with all values: a list of columns, named as arguments.
distribution_grid <- function(family, x = family$x) as.list(expand.grid(c(list(x), family$parameters), KEEP.OUT.ATTRS = FALSE))

# The relative condition number of R's function, by the change of its values with each argument.
condition <- function(f, columns) {
  value <- do.call(f, unname_first(columns))
  total <- 0
  for (k in seq_along(columns)) {
    moved <- function(by) do.call(f, unname_first(replace(columns, k, list(columns[[k]] * by))))
    part <- abs((moved(1 + 1e-6) - moved(1 - 1e-6)) / (2e-6 * value))
    total <- total + ifelse(is.finite(part), part, 0)
  }
  pmax(1, total)
}
unname_first <- function(columns) {
  names(columns)[1L] <- ""
  columns
}

# Relative errors, 0 where both are the same number or NaN, and of what is below the normal numbers.
relative_errors <- function(got, wanted) {
  same <- (is.nan(got) & is.nan(wanted)) | (!is.nan(got) & !is.nan(wanted) & got == wanted)
  error <- ifelse(same, 0, abs(got - wanted) / abs(wanted))
  ifelse(abs(got) < 1e-300 & abs(wanted) < 1e-300 & !is.nan(got) & !is.nan(wanted), 0, ifelse(is.nan(error), Inf, error))
}

# What of the cases is wrong, as text.
wrong_cases <- function(label, columns, got, wanted, error, tolerance) {
  bad <- which(error > tolerance)
  if (!length(bad)) {
    return(character())
  }
  k <- bad[which.max(error[bad])]
  at <- paste(vapply(columns, function(x) format(x[k], digits = 17), ""), collapse = ", ")
  sprintf("%s(%s): %s, not %s; %d cases", label, at, format(got[k], digits = 17), format(wanted[k], digits = 17), length(bad))
}
