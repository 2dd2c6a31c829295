# Densities, distribution functions, quantiles and samplers of a million values, and Bessel functions, against R's own C:
# Rscript bench/distributions.R. Times in ms, the best of some, by one thread.
library(anvil)
anvil_threads(1L)
size <- 1e6
best <- function(f) {
  f()
  once <- function() system.time(for (k in 1:10) f(), gcFirst = FALSE)[["elapsed"]] * 100
  if (system.time(f())[["elapsed"]] > 0.1) min(replicate(3, system.time(f())[["elapsed"]])) * 1000 else min(replicate(5, once()))
}
row <- function(name, compiled, own, ...) {
  f <- jit(compiled)
  operands <- lapply(list(...), nv_tensor, dtype = "f64")
  times <- c(anvil = best(function() do.call(f, operands)), R = best(function() own(...)))
  cat(sprintf("%-12s %8.1f %8.1f %6.2f\n", name, times[["anvil"]], times[["R"]], times[["anvil"]] / times[["R"]]))
}
set.seed(1)
cat(sprintf("%-12s %8s %8s %6s\n", "", "anvil", "R", "ratio"))
z <- rnorm(size)
g <- rgamma(size, 3)
b <- rbeta(size, 2, 3)
k <- as.double(rpois(size, 20))
u <- runif(size)
row("dnorm", function(x) nv_dnorm(x, 1, 2), function(x) dnorm(x, 1, 2), z)
row("dlnorm", function(x) nv_dlnorm(x), dlnorm, g)
row("dexp", function(x) nv_dexp(x, 2), function(x) dexp(x, 2), g)
row("dweibull", function(x) nv_dweibull(x, 2, 3), function(x) dweibull(x, 2, 3), g)
row("dlogis", function(x) nv_dlogis(x), dlogis, z)
row("dcauchy", function(x) nv_dcauchy(x), dcauchy, z)
row("dgamma", function(x) nv_dgamma(x, 3), function(x) dgamma(x, 3), g)
row("dbeta", function(x) nv_dbeta(x, 2, 3), function(x) dbeta(x, 2, 3), b)
row("dt", function(x) nv_dt(x, 5), function(x) dt(x, 5), z)
row("df", function(x) nv_df(x, 5, 7), function(x) df(x, 5, 7), g)
row("dpois", function(x) nv_dpois(x, 20), function(x) dpois(x, 20), k)
row("dbinom", function(x) nv_dbinom(x, 100, 0.2), function(x) dbinom(x, 100, 0.2), k)
row("dnbinom", function(x) nv_dnbinom(x, 5, mu = 20), function(x) dnbinom(x, 5, mu = 20), k)
row("pnorm", function(x) nv_pnorm(x), pnorm, z)
row("pnorm log", function(x) nv_pnorm(x, log.p = TRUE), function(x) pnorm(x, log.p = TRUE), z)
row("pgamma", function(x) nv_pgamma(x, 3), function(x) pgamma(x, 3), g)
row("pbeta", function(x) nv_pbeta(x, 2, 3), function(x) pbeta(x, 2, 3), b)
row("pt", function(x) nv_pt(x, 7.5), function(x) pt(x, 7.5), z)
row("pf", function(x) nv_pf(x, 7.5, 3), function(x) pf(x, 7.5, 3), g)
row("ppois", function(x) nv_ppois(x, 20), function(x) ppois(x, 20), k)
row("qnorm", function(p) nv_qnorm(p), qnorm, u)
row("qgamma", function(p) nv_qgamma(p, 3), function(p) qgamma(p, 3), u)
row("qt", function(p) nv_qt(p, 7.5), function(p) qt(p, 7.5), u[1:1e5])
row("qpois", function(p) nv_qpois(p, 20), function(p) qpois(p, 20), u)
row("qbeta", function(p) nv_qbeta(p, 2, 3), function(p) qbeta(p, 2, 3), u[1:1e5])
state <- nv_rng_state(1L)
draws <- function(name, draw, own) {
  f <- jit(function(state) draw(state)[[2]])
  times <- c(anvil = best(function() f(state)), R = best(own))
  cat(sprintf("%-12s %8.1f %8.1f %6.2f\n", name, times[["anvil"]], times[["R"]], times[["anvil"]] / times[["R"]]))
}
draws("rnorm", function(s) nv_rnorm(size, s, "f64"), function() rnorm(size))
draws("rgamma", function(s) nv_rgamma(size, s, "f64", alpha = 3), function() rgamma(size, 3))
draws("rbeta", function(s) nv_rbeta(size, s, "f64", 2, 3), function() rbeta(size, 2, 3))
draws("rpois 4", function(s) nv_rpois(size, s, 4), function() rpois(size, 4))
draws("rpois 50", function(s) nv_rpois(size, s, 50), function() rpois(size, 50))
for (nu in c(0, 0.3, 2)) {
  for (kind in c("i", "k", "j", "y")) {
    ours <- get(paste0("nv_bessel_", kind))
    own <- get(paste0("bessel", toupper(kind)), baseenv())
    row(sprintf("bessel%s, %g", toupper(kind), nu), function(x) ours(x, nu), function(x) own(x, nu), g[1:100000])
  }
}
