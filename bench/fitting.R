# Fits against base R on the same data in one run, one thread:
#   Rscript --vanilla fitting.R
# A row for each way: milliseconds of the processor for a fit (the first one, with compilation, and the mean of those of a second
# or more after it), evaluations, and how far its value is above the best of all ways. Writes results/fitting.csv.
suppressPackageStartupMessages(library(anvil))
invisible(anvil_threads(1))
set.seed(1)

now <- function() 1000 * sum(proc.time()[1:2])
timed <- function(problem, way, fit) {
  start <- now()
  found <- fit()
  first <- now() - start
  runs <- 0L
  start <- now()
  while (now() < start + 1000) {
    fit()
    runs <- runs + 1L
  }
  ms <- (now() - start) / runs
  data.frame(problem = problem, way = way, first_ms = round(first), ms = ms, evaluations = found$evaluations, value = found$value)
}
by_optim <- function(par, fn, gr, ...) {
  r <- stats::optim(par, fn, gr, ..., control = list(maxit = 1000, reltol = 1e-12))
  list(evaluations = r$counts[[1L]], value = r$value)
}
by_nlminb <- function(par, fn, gr) {
  r <- stats::nlminb(par, fn, gr)
  list(evaluations = r$evaluations[[1L]], value = r$objective)
}
by_anvil <- function(objective, method) {
  r <- nv_minimize(objective, method = method)
  list(evaluations = r$counts[[1L]], value = r$value)
}

# ---- logistic regression ------------------------------------------------------------------------
logistic <- function(n, p) {
  x <- cbind(1, matrix(stats::rnorm(n * (p - 1)), n))
  y <- as.double(stats::runif(n) < stats::plogis(drop(x %*% stats::rnorm(p, sd = 0.5))))
  list(x = x, y = y)
}
nll <- function(beta, x, y) {
  eta <- nv_flatten(x %*% beta)
  sum(nv_log1p(nv_exp(eta)) - y * eta)
}
rows <- list()
for (size in list(c(1000, 5), c(1e5, 10))) {
  d <- logistic(size[1L], size[2L])
  start <- rep(0, size[2L])
  fn <- function(b) {
    eta <- drop(d$x %*% b)
    sum(log1p(exp(eta)) - d$y * eta)
  }
  gr <- function(b) drop(crossprod(d$x, stats::plogis(drop(d$x %*% b)) - d$y))
  o <- as_objective(nll, start, x = d$x, y = d$y)
  name <- sprintf("logistic %g x %g", size[1L], size[2L])
  rows <- c(rows, list(
    timed(name, "optim BFGS with gradient in R", function() by_optim(start, fn, gr, method = "BFGS")),
    timed(name, "optim BFGS with compiled gradient", function() by_optim(start, o$fn, o$gr, method = "BFGS")),
    timed(name, "nlminb with gradient in R", function() by_nlminb(start, fn, gr)),
    timed(name, "nlminb with compiled gradient", function() by_nlminb(start, o$fn, o$gr)),
    timed(name, "glm.fit", function() {
      r <- stats::glm.fit(d$x, d$y, family = stats::binomial())
      list(evaluations = r$iter, value = r$deviance / 2)
    })
  ), lapply(c("L-BFGS", "newton", "trust"), function(m) timed(name, paste("nv_minimize", m), function() by_anvil(o, m))))
}

# ---- least squares --------------------------------------------------------------------------------
n <- 1e4
time <- stats::runif(n, 0, 10)
d <- data.frame(time, y = 5 * exp(-0.4 * time) + 1 + stats::rnorm(n, sd = 0.2))
residuals <- function(par, time, y) y - (par$a * nv_exp(-par$rate * time) + par$c)
start <- list(a = 1, rate = 1, c = 0)
o <- as_objective(residuals, start, time = d$time, y = d$y)
rows <- c(rows, list(timed("decay 10000 x 3", "nls", function() {
  r <- stats::nls(y ~ a * exp(-rate * time) + c, d, start)
  list(evaluations = r$convInfo$finIter, value = stats::deviance(r))
})), lapply(c("gauss-newton", "levenberg-marquardt"), function(m) timed("decay 10000 x 3", paste("nv_minimize", m), function() by_anvil(o, m))))

table <- do.call(rbind, rows)
table$above <- stats::ave(table$value, table$problem, FUN = function(v) v - min(v))
table$value <- NULL
print(format(table, digits = 3), row.names = FALSE)
dir.create("results", showWarnings = FALSE)
utils::write.csv(transform(table, ms = signif(ms, 3), above = signif(above, 2)), "results/fitting.csv", row.names = FALSE, quote = FALSE)
