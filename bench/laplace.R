# Laplace's approximation of random effects against TMB and lme4 on the same data in one run, one thread:
#   Rscript --vanilla laplace.R
# A row for each model and program: seconds to get ready (ours: finding the pattern and compiling value and gradient; TMB: MakeADFun() and
# the first evaluation, without its C++ compiler), milliseconds for a value with its gradient, the seconds of a fit by nlminb() (lmer()
# and glmer(): their own), and the minimum found. Writes results/laplace.csv, and what the tests compare with.
suppressPackageStartupMessages({
  library(anvil)
  library(Matrix)
})
invisible(anvil_threads(1))

# ---- models ---------------------------------------------------------------------------------------
# Random effects u are standard normal, or a random walk; in TMB's language and in ours the same function.

walk <- list(
  name = "counts on a random walk", random = "u",
  tmb = '
#include <TMB.hpp>
template<class Type> Type objective_function<Type>::operator()() {
  DATA_VECTOR(y); PARAMETER(log_sd); PARAMETER(mu); PARAMETER_VECTOR(u);
  Type nll = -dnorm(u(0), Type(0), Type(1), true);
  for (int i = 1; i < u.size(); i++) nll -= dnorm(u(i), u(i - 1), exp(log_sd), true);
  for (int i = 0; i < u.size(); i++) nll -= dpois(y(i), exp(mu + u(i)), true);
  return nll;
}',
  nll = function(par, y) {
    n <- length(par$u)
    -sum(nv_dpois(y, exp(par$mu + par$u), log = TRUE)) - sum(nv_dnorm(par$u[1:1], 0, 1, log = TRUE)) -
      sum(nv_dnorm(par$u[2:n] - par$u[1:(n - 1L)], 0, exp(par$log_sd), log = TRUE))
  },
  make = function(n) {
    y <- stats::rpois(n, exp(1 + cumsum(stats::rnorm(n, sd = 0.1))))
    list(data = list(y = as.numeric(y)), start = list(log_sd = -2, mu = 1, u = numeric(n)))
  }
)

crossed <- list(
  name = "crossed factors", random = c("a", "b"),
  tmb = '
#include <TMB.hpp>
template<class Type> Type objective_function<Type>::operator()() {
  DATA_VECTOR(y); DATA_IVECTOR(first); DATA_IVECTOR(second); PARAMETER(mu); PARAMETER_VECTOR(log_sd);
  PARAMETER_VECTOR(a); PARAMETER_VECTOR(b);
  Type nll = -dnorm(a, Type(0), Type(1), true).sum() - dnorm(b, Type(0), Type(1), true).sum();
  for (int i = 0; i < y.size(); i++)
    nll -= dnorm(y(i), mu + exp(log_sd(0)) * a(first(i) - 1) + exp(log_sd(1)) * b(second(i) - 1), exp(log_sd(2)), true);
  return nll;
}',
  nll = function(par, y, first, second) {
    mean <- par$mu + exp(par$log_sd[1]) * par$a[first] + exp(par$log_sd[2]) * par$b[second]
    -sum(nv_dnorm(y, mean, exp(par$log_sd[3]), log = TRUE)) - sum(nv_dnorm(par$a, log = TRUE)) - sum(nv_dnorm(par$b, log = TRUE))
  },
  make = function(n) {
    first <- sample.int(n, 10 * n, TRUE)
    second <- sample.int(n %/% 2L, 10 * n, TRUE)
    y <- 1 + stats::rnorm(n)[first] + 0.5 * stats::rnorm(n %/% 2L)[second] + stats::rnorm(10 * n, sd = 0.7)
    list(data = list(y = y, first = first, second = second), start = list(mu = 0, log_sd = c(0, 0, 0), a = numeric(n), b = numeric(n %/% 2L)))
  },
  lme4 = function(data) lme4::lmer(y ~ 1 + (1 | first) + (1 | second), data, REML = FALSE)
)

grouped <- list(
  name = "binary data by level", random = "u",
  tmb = '
#include <TMB.hpp>
template<class Type> Type objective_function<Type>::operator()() {
  DATA_VECTOR(y); DATA_VECTOR(x); DATA_IVECTOR(group); PARAMETER_VECTOR(beta); PARAMETER(log_sd); PARAMETER_VECTOR(u);
  Type nll = -dnorm(u, Type(0), Type(1), true).sum();
  for (int i = 0; i < y.size(); i++)
    nll -= dbinom_robust(y(i), Type(1), beta(0) + beta(1) * x(i) + exp(log_sd) * u(group(i) - 1), true);
  return nll;
}',
  nll = function(par, y, x, group) {
    eta <- par$beta[1] + par$beta[2] * x + exp(par$log_sd) * par$u[group]
    sum(nv_softplus(eta) - y * eta) - sum(nv_dnorm(par$u, log = TRUE))
  },
  make = function(n) {
    group <- rep(seq_len(n), each = 20L)
    x <- stats::rnorm(20 * n)
    y <- stats::runif(20 * n) < stats::plogis(0.5 - x + stats::rnorm(n)[group])
    list(data = list(y = as.numeric(y), x = x, group = group), start = list(beta = c(0, 0), log_sd = 0, u = numeric(n)))
  },
  lme4 = function(data) lme4::glmer(y ~ x + (1 | group), data, stats::binomial())
)

# ---- measuring --------------------------------------------------------------------------------------

now <- function() sum(proc.time()[1:2])
seconds <- function(expr) {
  start <- now()
  force(expr)
  now() - start
}
# The fastest mean of some series of evaluations, each at other parameters.
evaluation <- function(fn, gr, par) {
  once <- function(k) {
    at <- par + 1e-4 * k
    fn(at)
    gr(at)
  }
  many <- max(5, min(100, round(0.1 / (1e-4 + seconds(once(0))))))
  1000 * min(vapply(1:5, function(series) seconds(for (k in seq_len(many)) once(many * series + k)) / many, 0))
}
row_of <- function(model, n, way, ready, ms, fit, value) {
  data.frame(model = model$name, effects = n, way = way, ready_s = signif(ready, 3), evaluation_ms = signif(ms, 3), fit_s = signif(fit, 3), value = format(value, digits = 10))
}

by_anvil <- function(model, n, given) {
  ready <- seconds({
    o <- do.call(nv_laplace, c(list(model$nll, given$start, model$random), given$data))
    o$gr(o$par)
  })
  ms <- evaluation(o$fn, o$gr, o$par)
  fit <- seconds(r <- stats::nlminb(o$par, o$fn, o$gr))
  row_of(model, n, "nv_laplace", ready, ms, fit, r$objective)
}
by_tmb <- function(model, n, given, dll) {
  ready <- seconds({
    o <- TMB::MakeADFun(given$data, given$start, random = model$random, DLL = dll, silent = TRUE)
    o$gr(o$par)
  })
  ms <- evaluation(o$fn, o$gr, o$par)
  fit <- seconds(r <- stats::nlminb(o$par, o$fn, o$gr))
  row_of(model, n, "TMB", ready, ms, fit, r$objective)
}
by_lme4 <- function(model, n, given) {
  fit <- seconds(r <- model$lme4(given$data))
  row_of(model, n, "lme4", NA, NA, fit, -as.numeric(stats::logLik(r)))
}
compiled_model <- function(model, name) {
  folder <- tempfile()
  dir.create(folder)
  old <- setwd(folder)
  on.exit(setwd(old))
  writeLines(model$tmb, paste0(name, ".cpp"))
  stopifnot(TMB::compile(paste0(name, ".cpp"), flags = "-O2 -w") == 0)
  dyn.load(file.path(folder, TMB::dynlib(name)))
  name
}

rows <- list()
for (task in list(list("walk", walk, c(300L, 1000L, 10000L)), list("crossed", crossed, c(200L, 1000L)), list("grouped", grouped, c(100L, 2000L)))) {
  model <- task[[2L]]
  dll <- if (requireNamespace("TMB", quietly = TRUE)) compiled_model(model, task[[1L]])
  for (n in task[[3L]]) {
    set.seed(n)
    given <- model$make(n)
    count <- sum(lengths(given$start[model$random]))
    rows <- c(rows, list(
      by_anvil(model, count, given), if (!is.null(dll)) by_tmb(model, count, given, dll),
      if (!is.null(model$lme4) && requireNamespace("lme4", quietly = TRUE)) by_lme4(model, count, given)
    ))
    print(do.call(rbind, rows), row.names = FALSE)
  }
}
dir.create("results", showWarnings = FALSE)
utils::write.csv(do.call(rbind, rows), "results/laplace.csv", row.names = FALSE, quote = FALSE)
