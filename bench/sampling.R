# Sampling from posteriors: Rscript sampling.R. Eight schools (10 parameters, non-centred) and a logistic regression of
# 10,000 observations and 10 coefficients, four chains of 1000 draws to warm up and 3000 (250 and 250 for the regression), by one thread.
# A row for each sampler: seconds of the processor for the first call and for one whose program is compiled, the best of five; steps of
# a trajectory; effective draws a second of the worst parameter; and the seconds that a loop in R, with the gradient by hand, takes for as
# many trajectories of as many steps. Where PYSTAN names a Python with package pystan, Stan's own NUTS beside it (sampling_stan.py), by
# what its chains say they took: first_s is its compiling. Writes results/sampling.csv.
suppressPackageStartupMessages(library(anvil))
anvil_threads(1L)
seconds <- function(f) base::sum(system.time(f(), gcFirst = FALSE)[1:2])

# Trajectories of Hamiltonian Monte Carlo in R, for a function that gives the logarithm of a density and its gradient.
hmc_in_r <- function(both, q, scale, size, steps, n) {
  at <- both(q)
  for (i in seq_len(n)) {
    start <- r <- stats::rnorm(length(q)) / scale
    x <- q
    new <- at
    for (k in seq_len(steps)) {
      r <- r + size / 2 * new$gradient
      x <- x + size * scale^2 * r
      new <- both(x)
      r <- r + size / 2 * new$gradient
    }
    if (log(stats::runif(1)) < new$value - at$value + (base::sum(start^2 * scale^2) - base::sum(r^2 * scale^2)) / 2) {
      q <- x
      at <- new
    }
  }
  q
}

measure <- function(model, density, start, data, both, draws, warmup) {
  of <- function(method) {
    x <- NULL
    sampler <- getExportedValue("anvil", method)
    first <- seconds(function() x <<- suppressWarnings(do.call(sampler, c(list(density, start, draws = draws, warmup = warmup, seed = 1), data))))
    best <- base::min(replicate(5, seconds(function() suppressWarnings(sampler(x, seed = 1)))))
    steps <- mean(attr(x, "statistics")$steps)
    # of R a hundredth of the trajectories
    n <- ceiling(4 * (draws + warmup) / 100)
    by_hand <- seconds(function() {
      hmc_in_r(both, colMeans(as.data.frame(x)[-(1:2)]), sqrt(attr(x, "metric")[[1L]]), mean(attr(x, "step_size")), round(steps), n)
    })
    data.frame(
      model = model, sampler = method, first_s = round(first, 2), s = signif(best, 3), steps = round(steps, 1),
      effective_per_s = round(base::min(summary(x)$ess_bulk) / best), r_s = signif(by_hand * 4 * (draws + warmup) / n, 3)
    )
  }
  rbind(of("nv_hmc"), of("nv_nuts"))
}

y <- c(28, 8, -3, 7, -1, 1, 18, 12)
se <- c(15, 10, 16, 11, 9, 11, 10, 18)
schools <- function(par, y, se) {
  tau <- exp(par$log_tau)
  z <- (y - par$mu - tau * par$eta) / se
  -0.5 * (sum(z * z) + sum(par$eta^2) + (par$mu / 5)^2) - log1p((tau / 5)^2) + par$log_tau
}
schools_in_r <- function(q) {
  tau <- exp(q[2L])
  eta <- q[-(1:2)]
  z <- (y - q[1L] - tau * eta) / se
  value <- -0.5 * (base::sum(z * z) + base::sum(eta^2) + (q[1L] / 5)^2) - log1p((tau / 5)^2) + q[2L]
  slope <- z / se
  list(value = value, gradient = c(base::sum(slope) - q[1L] / 25, base::sum(slope * tau * eta) - 2 * (tau / 5)^2 / (1 + (tau / 5)^2) + 1, slope * tau - eta))
}
scalar <- nv_aten("f64", integer())
rows <- measure("schools", schools, list(mu = scalar, log_tau = scalar, eta = nv_aten("f64", 8L)), list(y = y, se = se), schools_in_r, 3000L, 1000L)

set.seed(1)
x <- matrix(stats::rnorm(1e5), 1e4)
flags <- as.double(stats::runif(1e4) < stats::plogis(drop(x %*% seq(-1, 1, length.out = 10))))
regression <- function(beta, x, flags) {
  z <- drop(x %*% beta)
  sum(flags * z - nv_max(z, 0) - log1p(exp(-abs(z)))) - sum(beta^2) / 50
}
regression_in_r <- function(beta) {
  z <- base::drop(X %*% beta)
  value <- base::sum(flags * z - base::pmax(z, 0) - log1p(exp(-abs(z)))) - base::sum(beta^2) / 50
  list(value = value, gradient = base::drop(crossprod(X, flags - stats::plogis(z))) - beta / 25)
}
X <- x
rows <- rbind(rows, measure("regression", regression, nv_aten("f64", 10L), list(x = x, flags = flags), regression_in_r, 250L, 250L))

# The draws are four chains, one draw of each in turn.
stan_rows <- function(python) {
  folder <- tempfile("stan")
  dir.create(folder)
  data <- list(
    schools = list(J = 8L, y = y, se = se),
    regression = list(N = nrow(X), K = ncol(X), x = X, flags = as.integer(flags))
  )
  jsonlite::write_json(data, file.path(folder, "data.json"), auto_unbox = TRUE, digits = NA)
  said <- system2(python, c("sampling_stan.py", folder), stdout = TRUE, stderr = file.path(folder, "log"))
  said <- strsplit(grep("^result ", said, value = TRUE), " ")
  do.call(rbind, lapply(said, function(line) {
    draws <- utils::read.csv(file.path(folder, paste0(line[2L], "_draws.csv")), header = FALSE)
    effective <- vapply(draws, function(d) posterior::ess_bulk(matrix(d, ncol = 4L, byrow = TRUE)), 0)
    numbers <- as.double(line[3:5])
    data.frame(
      model = line[2L], sampler = "Stan", first_s = round(numbers[1L], 2), s = signif(numbers[2L], 3), steps = round(numbers[3L], 1),
      effective_per_s = round(base::min(effective) / numbers[2L]), r_s = NA
    )
  }))
}
if (nzchar(Sys.getenv("PYSTAN"))) rows <- rbind(rows, stan_rows(Sys.getenv("PYSTAN")))
print(rows, row.names = FALSE)
dir.create("results", showWarnings = FALSE)
utils::write.csv(rows, "results/sampling.csv", row.names = FALSE, quote = FALSE)
