families <- distribution_families()
as_tensors <- function(columns) lapply(unname_first(columns), f64)
call_nv <- function(kind, name, columns, ...) flat(do.call(nv_function(kind, name), c(as_tensors(columns), list(...))))

# R 4.2 itself is wrong, or has -Inf, where the logarithm of a tail is below that of the smallest number.
r_is_right <- function(name, wanted, log) if (log && name %in% c("binom", "nbinom", "nbinom by mu")) wanted > -700 else TRUE

test_that("densities agree with R's over the whole range", {
  found <- character()
  for (name in names(families)) {
    columns <- distribution_grid(families[[name]])
    for (log in c(FALSE, TRUE)) {
      f <- function(...) suppressWarnings(r_function("d", name)(..., log = log))
      got <- call_nv("d", name, columns, log = log)
      wanted <- do.call(f, unname_first(columns))
      error <- relative_errors(got, wanted) / condition(f, columns)
      # the logarithm of a density of 1 is the difference of large numbers
      if (log) error <- pmin(error, abs(got - wanted))
      found <- c(found, wrong_cases(paste0("d", name, if (log) " log"), columns, got, wanted, error, 2e-12))
    }
  }
  expect_identical(found, character())
})

test_that("distribution functions agree with R's in both tails", {
  found <- character()
  for (name in names(families)) {
    columns <- distribution_grid(families[[name]])
    for (log in c(FALSE, TRUE)) {
      for (lower in c(TRUE, FALSE)) {
        # R 4.2 loses digits of the upper tail of this one next to its end
        if (name == "unif" && log && !lower) next
        f <- function(...) suppressWarnings(r_function("p", name)(..., lower.tail = lower, log.p = log))
        got <- call_nv("p", name, columns, lower.tail = lower, log.p = log)
        wanted <- do.call(f, unname_first(columns))
        error <- relative_errors(got, wanted) / condition(f, columns)
        error[!r_is_right(name, wanted, log)] <- 0
        found <- c(found, wrong_cases(paste0("p", name, if (!lower) " upper", if (log) " log"), columns, got, wanted, error, 1e-12))
      }
    }
  }
  expect_identical(found, character())
})

test_that("quantiles are inverse to distribution functions", {
  p <- c(1e-300, 1e-30, 1e-5, 0.3, 0.5, 0.9, 1 - 1e-9)
  found <- character()
  for (name in setdiff(names(families), discrete)) {
    columns <- distribution_grid(families[[name]], p)
    parameters <- as_tensors(columns)[-1L]
    for (lower in c(TRUE, FALSE)) {
      x <- do.call(nv_function("q", name), c(list(f64(columns[[1L]])), parameters, list(lower.tail = lower)))
      back <- flat(do.call(nv_function("p", name), c(list(x), parameters, list(lower.tail = lower))))
      # what a change of x by one part in 1e15 makes of p, and quantiles out of range or next to a shift
      moved <- flat(do.call(nv_function("p", name), c(list(x * (1 + 1e-12)), parameters, list(lower.tail = lower))))
      reach <- 1e-13 + 1e-2 * abs(moved / back - 1)
      error <- relative_errors(back, columns[[1L]]) / reach
      x <- abs(flat(x))
      error[x < 1e-290 | x > 1e290 | back %in% c(0, 1)] <- 0
      found <- c(found, wrong_cases(paste0("q", name, if (!lower) " upper"), columns, back, columns[[1L]], error, 20))
    }
  }
  expect_identical(found, character())
})

test_that("logarithms of probabilities far below the smallest number have quantiles", {
  for (log_p in c(-800, -5000, -1e5)) {
    for (lower in c(TRUE, FALSE)) {
      back <- function(name, ...) {
        x <- nv_function("q", name)(f64(log_p), ..., lower.tail = lower, log.p = TRUE)
        flat(nv_function("p", name)(x, ..., lower.tail = lower, log.p = TRUE))
      }
      expect_equal(back("norm", 1, 2), log_p, tolerance = 1e-13)
      expect_equal(back("gamma", 1e5), log_p, tolerance = 1e-12)
      expect_equal(back("logis"), log_p, tolerance = 1e-13)
      expect_equal(back("t", 1e5), log_p, tolerance = 1e-11)
    }
  }
})

test_that("quantiles are right however far from them the search starts", {
  # R's pgamma() has fewer digits for larger shapes
  grid <- expand.grid(p = c(1e-200, 1e-8, 0.1, 0.5, 0.95, 1 - 1e-12), a = c(1e-3, 0.05, 0.6, 4, 1e3, 1e5), b = c(1e-2, 0.7, 30, 1e5))
  low <- grid$p < 0.5
  expect_tails <- function(of, x, ...) {
    tail <- function(x) ifelse(low, of(x, ..., lower.tail = TRUE, log.p = TRUE), of(x, ..., lower.tail = FALSE, log.p = TRUE))
    wanted <- ifelse(low, log(grid$p), log1p(-grid$p))
    reach <- 1e-13 * (1 + abs(wanted)) + 1e-6 * abs(tail(x * (1 + 1e-9)) - tail(x))
    inside <- x > 1e-290 & x != 1
    expect_lt(max((abs(tail(x) - wanted) / reach)[inside]), 1)
  }
  expect_tails(pbeta, flat(nv_qbeta(f64(grid$p), f64(grid$a), f64(grid$b))), grid$a, grid$b)
  expect_tails(pgamma, flat(nv_qgamma(f64(grid$p), f64(grid$a))), grid$a)
})

test_that("quantiles of counts are R's", {
  p <- c(0, 1e-20, 1e-5, 0.01, 0.2, 0.5, 0.7, 0.99, 1)
  for (name in discrete) {
    columns <- distribution_grid(families[[name]], p)
    for (lower in c(TRUE, FALSE)) {
      got <- call_nv("q", name, columns, lower.tail = lower)
      wanted <- suppressWarnings(do.call(r_function("q", name), c(unname_first(columns), lower.tail = lower)))
      differ <- got != wanted
      # both are right where p is a value of the distribution function, up to rounding
      at <- lapply(columns, function(x) x[differ])
      edge <- do.call(r_function("p", name), c(list(pmin(got, wanted)[differ]), at[-1L], lower.tail = lower))
      expect_lt(max(0, relative_errors(edge, at[[1L]])), 1e-12, label = paste(name, lower))
    }
  }
})

# Counts with a probability of its own, up to rounding, and parameters.
round_trips <- list(
  pois = list(0:8, 0.5), pois = list(0:60, 10), pois = list(0:300, 100), pois = list(seq(9e4, 11e4, 250), 1e5),
  binom = list(0:10, 10, 0.2), binom = list(0:30, 30, 0.3), binom = list(0:100, 100, 0.01), binom = list(0:100, 100, 0.9),
  binom = list(seq(29e3, 31e3, 31), 1e5, 0.3), nbinom = list(0:200, 0.1, 0.3), nbinom = list(0:300, 5, 0.3),
  nbinom = list(seq(0, 3000, 7), 2.5, 0.01), geom = list(0:100, 0.3), geom = list(seq(0, 3000, 7), 0.01), geom = list(0:20, 0.9)
)

test_that("quantiles of counts are inverse to distribution functions, in both tails, as logarithms and compiled", {
  found <- character()
  for (k in seq_along(round_trips)) {
    name <- names(round_trips)[k]
    counts <- round_trips[[k]][[1L]]
    for (type in c("f64", "f32")) {
      parameters <- lapply(round_trips[[k]][-1L], nv_scalar, dtype = type)
      for (flags in list(c(TRUE, FALSE), c(FALSE, FALSE), c(TRUE, TRUE), c(FALSE, TRUE))) {
        arguments <- c(parameters, list(lower.tail = flags[1L], log.p = flags[2L]))
        p_of <- function(x) do.call(nv_function("p", name), c(list(x), arguments))
        q_of <- function(p) do.call(nv_function("q", name), c(list(p), arguments))
        x <- nv_tensor(as.double(counts), type)
        p <- flat(p_of(x))
        unit <- if (type == "f64") 2^-52 else 2^-23
        # where the next smaller count has another one, for the smaller tail as well, and not next to the smallest number
        size <- if (flags[2L]) pmax(-p, 1, (1 - expm1(p)) / -expm1(p) * -p * abs(log(-p))) else p
        clear <- abs(p - flat(p_of(x - 1))) > 4 * unit * size & abs(p) > 1e-36
        got <- list(eager = q_of(p_of(x)), compiled = jit(q_of)(p_of(x)))
        if (type == "f64") {
          of_r <- do.call(r_function("p", name), c(list(counts), round_trips[[k]][-1L], list(lower.tail = flags[1L], log.p = flags[2L])))
          if (!flags[2L]) got$`of R's probabilities` <- q_of(f64(of_r))
        }
        for (how in names(got)) {
          wrong <- which(clear & flat(got[[how]]) != counts)
          if (length(wrong)) found <- c(found, paste(name, k, type, how, deparse(flags), length(wrong), "wrong, first", counts[wrong[1L]]))
        }
      }
    }
  }
  expect_identical(found, character())
})

test_that("quantiles of counts of logarithms far below the smallest number are right", {
  for (type in c("f64", "f32")) {
    q <- function(f, log_p, ...) flat(f(nv_scalar(log_p, type), ..., log.p = TRUE))
    expect_identical(q(nv_qpois, -1000, 1000), 0)
    expect_identical(q(nv_qpois, -990, 1000), 2)
    expect_identical(q(nv_qpois, -1e30, 0.5), 0)
    expect_identical(q(nv_qnbinom, -1e30, 5, 0.3), 0)
    expect_identical(q(nv_qbinom, -1e30, 5, 0.3), 0)
    expect_identical(q(nv_qgeom, -1e30, 0.3), 0)
    # there the logarithm of the tail is about -k log(k)
    k <- q(nv_qpois, -1e30, 0.5, lower.tail = FALSE)
    expect_equal(-k * (log(2 * k) - 1), -1e30, tolerance = 1e-4)
  }
  expect_identical(flat(nv_qpois(f64(-1e50), 0.5, log.p = TRUE)), 0)
  k <- flat(nv_qpois(f64(-1e300), 0.5, lower.tail = FALSE, log.p = TRUE))
  expect_equal(-k * (log(2 * k) - 1), -1e300, tolerance = 1e-12)
})

test_that("quantiles of many probabilities of counts are R's", {
  p <- c((1:999) / 1000, 10^-(3:300 + 0.3), 1 - 10^-(3:9 + 0.3))
  for (case in list(
    list("pois", 0.5), list("pois", 10), list("pois", 1e4), list("binom", 30, 0.3), list("binom", 1e5, 0.01),
    list("nbinom", 0.1, 0.3), list("nbinom", 50, 0.01), list("geom", 0.3), list("geom", 1e-4)
  )) {
    for (lower in c(TRUE, FALSE)) {
      q <- function(f, p) do.call(f, c(list(p), case[-1L], list(lower.tail = lower)))
      expect_identical(flat(q(nv_function("q", case[[1L]]), f64(p))), q(r_function("q", case[[1L]]), p), label = paste(unlist(case), collapse = " "))
    }
  }
})

test_that("logarithms of lower tails below the smallest number are right", {
  x <- c(1e-300, 1e-200, 1e-110, 1e-100, 1e-3)
  expect_equal(flat(nv_pweibull(f64(x), 3, log.p = TRUE)), ifelse(x < 1e-10, 3 * log(x), log(-expm1(-x^3))), tolerance = 1e-15)
  expect_equal(flat(nv_pweibull(f64(1e-300), 2, 1e200, log.p = TRUE)), -1000 * log(10), tolerance = 1e-15)
  expect_equal(flat(nv_pexp(f64(1e-200), 1e-200, log.p = TRUE)), -400 * log(10), tolerance = 1e-15)
  expect_equal(flat(nv_pweibull(nv_scalar(1e-30, "f32"), 3, log.p = TRUE)), -90 * log(10), tolerance = 1e-6)
  expect_identical(flat(nv_pweibull(f64(c(-1, 0)), 3, log.p = TRUE)), c(-Inf, -Inf))
  small <- c(1e-200, 1e-300)
  expect_equal(flat(nv_pgamma(f64(small), 3, log.p = TRUE)), 3 * log(small) - log(6), tolerance = 1e-13)
  expect_equal(flat(nv_pbeta(f64(small), 3, 2, log.p = TRUE)), 3 * log(small) + log(4), tolerance = 1e-13)
  expect_equal(flat(nv_pf(f64(small), 6, 2, log.p = TRUE)), pf(small, 6, 2, log.p = TRUE), tolerance = 1e-13)
  expect_equal(flat(nv_pt(f64(-1 / small), 5, log.p = TRUE)), pt(-1 / small, 5, log.p = TRUE), tolerance = 1e-13)
  expect_equal(flat(nv_plnorm(f64(small), 0, 0.1, log.p = TRUE)), plnorm(small, 0, 0.1, log.p = TRUE), tolerance = 1e-13)
  slopes <- gradient(function(q, shape, scale) nv_pweibull(q, shape, scale, log.p = TRUE))
  got <- slopes(nv_scalar(1e-200, "f64"), nv_scalar(3, "f64"), nv_scalar(2, "f64"))
  expect_equal(vapply(got, flat, 1), c(q = 3e200, shape = log(0.5e-200), scale = -1.5), tolerance = 1e-14)
})

test_that("parameters out of their range, at their borders and NaN give what R gives", {
  expect_same <- function(kind, name, ...) {
    columns <- as.list(expand.grid(..., KEEP.OUT.ATTRS = FALSE))
    wanted <- suppressWarnings(do.call(r_function(kind, name), unname_first(columns)))
    expect_equal(call_nv(kind, name, columns), wanted, tolerance = 1e-12, label = paste0(kind, name))
  }
  x <- c(-Inf, -1, 0, 0.5, 1, 2, Inf, NaN)
  for (kind in c("d", "p")) {
    expect_same(kind, "norm", x = x, mean = c(0, 1, NaN), sd = c(-1, 0, 2, NaN))
    expect_same(kind, "exp", x = x, rate = c(-1, 0, 2, NaN))
    expect_same(kind, "weibull", x = x, shape = c(-1, 0, 2, NaN), scale = c(-1, 2))
    expect_same(kind, "gamma", x = x, shape = c(-1, 0, 2, NaN), scale = c(-1, 2))
    expect_same(kind, "beta", x = x, shape1 = c(-1, 0, 2, NaN), shape2 = c(-1, 2))
    expect_same(kind, "t", x = x, df = c(-1, 0, 2, Inf, NaN))
    expect_same(kind, "logis", x = x, location = c(0, NaN), scale = c(-1, 2))
    expect_same(kind, "unif", x = x, min = c(0, NaN), max = c(-1, 2))
    expect_same(kind, "pois", x = c(-1, 0, 2, Inf, NaN), lambda = c(-1, 0, 2, NaN))
    expect_same(kind, "binom", x = c(-1, 0, 2, Inf, NaN), size = c(-1, 0, 2.5, 5, NaN), prob = c(-1, 0, 0.5, 1, 2, NaN))
    expect_same(kind, "nbinom", x = c(-1, 0, 2, Inf, NaN), size = c(-1, 0, 2.5, NaN), prob = c(-1, 0.5, 1, 2, NaN))
    expect_same(kind, "geom", x = c(-1, 0, 2, Inf, NaN), prob = c(-1, 0.5, 1, 2, NaN))
  }
  p <- c(-1, 0, 0.3, 1, 2, NaN)
  expect_same("q", "norm", p = p, mean = c(0, NaN), sd = c(0, 2, NaN))
  expect_same("q", "gamma", p = p, shape = c(0, 2, NaN), scale = 2)
  expect_same("q", "beta", p = p, shape1 = c(2, NaN), shape2 = 3)
  expect_same("q", "t", p = p, df = c(2, Inf, NaN))
  expect_same("q", "pois", p = p, lambda = c(0, 2, NaN))
  expect_same("q", "cauchy", p = p, location = c(0, NaN), scale = c(-1, 2))
})

test_that("F with infinite degrees of freedom, and other infinite parameters, are R's limits", {
  x <- c(0, 1e-10, 0.1, 0.5, 1, 2, 10, 100)
  df <- c(0.5, 1, 3, 100)
  grid <- expand.grid(x = x, df = df)
  for (flags in list(c(TRUE, FALSE), c(FALSE, FALSE), c(TRUE, TRUE), c(FALSE, TRUE))) {
    lower <- flags[1]
    log <- flags[2]
    expect_equal(flat(nv_pf(f64(grid$x), f64(grid$df), Inf, lower, log)), pf(grid$x, grid$df, Inf, lower.tail = lower, log.p = log), tolerance = 1e-12)
    expect_equal(flat(nv_pf(f64(grid$x), Inf, f64(grid$df), lower, log)), pf(grid$x, Inf, grid$df, lower.tail = lower, log.p = log), tolerance = 1e-12)
  }
  # R's own densities have no limit at 0, and a value beyond it
  inner <- grid[grid$x > 0, ]
  expect_equal(flat(nv_df(f64(inner$x), f64(inner$df), Inf)), dgamma(inner$x, inner$df / 2, inner$df / 2), tolerance = 1e-12)
  expect_equal(flat(nv_df(f64(inner$x), Inf, f64(inner$df), log = TRUE)), dgamma(1 / inner$x, inner$df / 2, inner$df / 2, log = TRUE) - 2 * log(inner$x), tolerance = 1e-12)
  p <- c(0.01, 0.3, 0.9)
  expect_equal(flat(nv_qf(f64(p), 3, Inf)), qf(p, 3, Inf), tolerance = 1e-12)
  expect_equal(flat(nv_qf(f64(p), Inf, 3)), 3 / qchisq(p, 3, lower.tail = FALSE), tolerance = 1e-12)
  expect_equal(flat(nv_pf(f64(c(0.5, 1, 2)), Inf, Inf)), c(0, 0.5, 1))
  g <- jit(gradient(function(q, df1, df2) nv_pf(q, df1, df2)))(nv_scalar(2, "f64"), nv_scalar(3, "f64"), nv_scalar(Inf, "f64"))
  expect_equal(vapply(g, flat, 1), c(q = 3 * dchisq(6, 3), df1 = (pf(2, 3 + 1e-5, Inf) - pf(2, 3 - 1e-5, Inf)) / 2e-5, df2 = 0), tolerance = 1e-7)
  counts <- f64(0:4)
  expect_equal(flat(nv_dnbinom(counts, Inf, mu = 2)), dpois(0:4, 2), tolerance = 1e-14)
  expect_equal(flat(nv_pnbinom(counts, Inf, mu = 2)), ppois(0:4, 2), tolerance = 1e-14)
  expect_equal(flat(nv_dpois(counts, Inf)), numeric(5))
  expect_equal(flat(nv_dgamma(f64(x), Inf)), numeric(length(x)))
  for (shapes in list(c(Inf, Inf), c(Inf, 1), c(1, Inf))) {
    expect_equal(flat(nv_dbeta(f64(c(0, 0.2, 0.5, 1)), shapes[1], shapes[2])), dbeta(c(0, 0.2, 0.5, 1), shapes[1], shapes[2]))
  }
})

test_that("counts are whole up to rounding, as in R", {
  x <- c((0.1 + 0.2) * 10, 3 - 1e-9, 3 + 1e-5)
  expect_equal(flat(nv_dpois(f64(x), 2)), suppressWarnings(dpois(x, 2)))
  expect_equal(flat(nv_dbinom(f64(x), 5, 0.3)), suppressWarnings(dbinom(x, 5, 0.3)))
  expect_equal(flat(nv_dbinom(3, f64((0.1 + 0.2) * 20), 0.3)), dbinom(3, (0.1 + 0.2) * 20, 0.3))
  expect_equal(flat(nv_dnbinom(f64(x), 5, 0.3)), suppressWarnings(dnbinom(x, 5, 0.3)))
  expect_equal(flat(nv_dgeom(f64(x), 0.3)), suppressWarnings(dgeom(x, 0.3)))
  expect_equal(flat(nv_dhyper(f64(x), 5, 5, 5)), suppressWarnings(dhyper(x, 5, 5, 5)))
  expect_equal(flat(nv_dmultinom(f64(c(x[1], 1)), prob = f64(c(0.5, 0.5)))), dmultinom(c(3, 1), prob = c(0.5, 0.5)))
})

test_that("logarithms of densities near 1 keep their digits", {
  x <- c(1e-100, 1e-10, 1e-5, 0.1, 1)
  expect_equal(flat(nv_dgamma(f64(x), 1, log = TRUE)) / -x, rep(1, 5), tolerance = 1e-15)
  expect_equal(flat(nv_dgamma(f64(x), 1.5, log = TRUE)), dgamma(x, 1.5, log = TRUE), tolerance = 1e-14)
  g <- gradient(function(x, shape, rate) nv_dgamma(x, shape, rate, log = TRUE))(nv_scalar(0.3, "f64"), nv_scalar(1, "f64"), nv_scalar(2, "f64"))
  expect_equal(vapply(g, flat, 1), c(x = -2, shape = log(0.6) - digamma(1), rate = 0.5 - 0.3), tolerance = 1e-14)
})

test_that("derivatives at the borders of parameters and values are one-sided limits", {
  slope <- function(f, at) flat(gradient(f)(nv_scalar(at, "f64"))[[1L]])
  expect_equal(vapply(0:2, function(k) slope(function(lambda) nv_dpois(k, lambda), 0), 1), c(-1, 1, 0))
  expect_equal(slope(function(lambda) nv_dpois(0, lambda, log = TRUE), 0), -1)
  expect_equal(slope(function(lambda) nv_dpois(1, lambda, log = TRUE), 0), Inf)
  expect_equal(vapply(c(0, 1, 2, 5), function(k) slope(function(p) nv_dbinom(k, 5, p), 0), 1), c(-5, 5, 0, 0))
  expect_equal(vapply(c(0, 3, 4, 5), function(k) slope(function(p) nv_dbinom(k, 5, p), 1), 1), c(0, 0, -5, 5))
  expect_equal(slope(function(p) nv_dbinom(5, 5, p, log = TRUE), 1), 5)
  for (q in c(-Inf, Inf)) {
    expect_equal(slope(function(df) nv_pt(q, df), 3), 0)
    expect_equal(slope(function(q) nv_pt(q, 3), q), 0)
  }
  expect_equal(slope(function(q) nv_pt(q, Inf), 0.3), dnorm(0.3))
  expect_equal(slope(function(df) nv_pt(0.3, df), Inf), 0)
  expect_equal(slope(function(x) nv_dgamma(x, 1), 0), -1)
})

slopes <- function(f, at, which) {
  vapply(which, function(k) {
    h <- 1e-5 * max(1, abs(at[[k]]))
    moved <- function(by) do.call(f, replace(at, k, at[[k]] + by))
    # of fourth order
    (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h)
  }, 0)
}

# Ends of distributions, where values are 0 or 1 for all parameters, and places so far out that they are.
ends <- list(
  norm = list(c(-Inf, -100, Inf), mean = 0.3, sd = 1.7), lnorm = list(c(-1, 0, Inf), meanlog = 0.3, sdlog = 1.7), exp = list(c(-1, Inf), rate = 1.3),
  weibull = list(c(-1, 0, 1e200, Inf), shape = 1.7, scale = 2.1), weibull = list(c(-1, 0, Inf), shape = 0.7, scale = 2.1),
  logis = list(c(-Inf, Inf), location = 0.2, scale = 1.7), cauchy = list(c(-Inf, Inf), location = 0.2, scale = 1.7),
  laplace = list(c(-Inf, Inf), location = 0.2, scale = 1.7), unif = list(c(-Inf, -1, 2, Inf), min = 0.2, max = 1.7),
  geom = list(c(-Inf, -1, 1e9, Inf), prob = 0.3), gamma = list(c(-1, 0, Inf), shape = 1.7, scale = 1.3), chisq = list(c(-1, 0, Inf), df = 3.3),
  beta = list(c(-Inf, 0, 1, Inf), shape1 = 1.7, shape2 = 2.3), t = list(c(-Inf, Inf), df = 3.3), f = list(c(0, Inf), df1 = 3.3, df2 = 5.1),
  pois = list(c(-Inf, -1, Inf), lambda = 4.1), binom = list(c(-1, 7, Inf), size = 7, prob = 0.3), nbinom = list(c(-1, Inf), size = 2.5, prob = 0.4)
)
only_once <- c("gamma", "chisq", "beta", "t", "f", "pois", "binom", "nbinom")

test_that("derivatives are zero at the ends of distributions", {
  found <- character()
  for (k in seq_along(ends)) {
    name <- names(ends)[k]
    parameters <- lapply(ends[[k]][-1L], nv_scalar, dtype = "f64")
    for (q in ends[[k]][[1L]]) {
      for (flags in list(c(TRUE, FALSE), c(FALSE, FALSE), c(TRUE, TRUE), c(FALSE, TRUE))) {
        f <- function(first, given) do.call(nv_function("p", name), c(list(first), given, list(lower.tail = flags[1L], log.p = flags[2L])))
        at <- list(nv_scalar(q, "f64"), parameters)
        if (!flat(do.call(f, at)) %in% (if (flags[2L]) 0 else c(0, 1))) next
        along <- rapply(at, function(x) nv_scalar(1, "f64"), classes = class(at[[1L]]), how = "replace")
        derivatives <- list(
          gradient = do.call(gradient(f), at), jit = do.call(jit(gradient(f)), at), jvp = jvp(f)(at, along)$tangent,
          second = if (!name %in% only_once) do.call(hessian(f), at)
        )
        for (kind in names(derivatives)) {
          values <- unlist(rapply(list(derivatives[[kind]]), flat, classes = class(at[[1L]]), how = "unlist"))
          if (anyNA(values) || any(values != 0)) found <- c(found, paste(name, q, deparse(flags), kind))
        }
      }
    }
  }
  expect_identical(found, character())
})

test_that("interval-censored and ordinal likelihoods have derivatives", {
  left <- c(0, 0.5, 1, 2)
  right <- c(1, 2, Inf, Inf)
  censored <- function(shape, scale) -sum(log(nv_pweibull(f64(right), shape, scale) - nv_pweibull(f64(left), shape, scale)))
  got <- jit(gradient(censored))(nv_scalar(1.3, "f64"), nv_scalar(2, "f64"))
  wanted <- slopes(function(shape, scale) -sum(log(pweibull(right, shape, scale) - pweibull(left, shape, scale))), list(1.3, 2), 1:2)
  expect_equal(unname(vapply(got, flat, 1)), wanted, tolerance = 1e-8)

  y <- c(1L, 2L, 3L, 2L)
  x <- c(0.1, 0.5, -0.3, 1)
  ordinal <- function(p, x, cuts, slope, scale) {
    -sum(log(p(cuts[y + 1L], x * slope, scale) - p(cuts[y], x * slope, scale)))
  }
  for (name in c("norm", "logis", "cauchy", "laplace")) {
    likelihood <- function(theta) {
      ordinal(nv_function("p", name), f64(x), nv_concatenate(f64(-Inf), theta[1:2], f64(Inf)), theta[3L], theta[4L])
    }
    r_p <- if (name == "laplace") function(q, location, scale) flat(nv_plaplace(f64(q), f64(location), scale)) else r_function("p", name)
    of_r <- function(a, b, slope, scale) ordinal(r_p, x, c(-Inf, a, b, Inf), slope, scale)
    theta <- f64(c(-0.5, 0.7, 0.3, 1.2))
    expect_equal(flat(gradient(likelihood)(theta)$theta), slopes(of_r, list(-0.5, 0.7, 0.3, 1.2), 1:4), tolerance = 1e-8, label = name)
    expect_true(all(is.finite(flat(hessian(likelihood)(theta)$theta$theta))), label = name)
  }
  probit <- function(theta) ordinal(nv_pnorm, f64(x), nv_concatenate(f64(-Inf), theta[1:2], f64(Inf)), theta[3L], 1)
  second <- as_array(hessian(probit)(f64(c(-0.5, 0.7, 0.3)))$theta$theta)
  expect_equal(second[3L, ], c(-0.6973, -0.4728, 1.1844), tolerance = 1e-4)
  fit <- nv_minimize(probit, f64(c(-0.5, 0.7, 0.3)), method = "newton")
  expect_lt(max(abs(flat(gradient(probit)(f64(fit$par))$theta))), 1e-6)
})

test_that("what R has no function for", {
  x <- c(-3, 0, 0.5, 40)
  expect_equal(flat(nv_dlaplace(f64(x), 0.5, 2)), exp(-abs(x - 0.5) / 2) / 4)
  expect_equal(flat(nv_plaplace(f64(x), 0.5, 2)), ifelse(x < 0.5, exp((x - 0.5) / 2) / 2, 1 - exp((0.5 - x) / 2) / 2))
  expect_equal(flat(nv_qlaplace(nv_plaplace(f64(x), 0.5, 2, log.p = TRUE), 0.5, 2, log.p = TRUE)), x)
  grid <- expand.grid(x = c(-1, 0:5, 10, 50, 1.5), m = c(0, 3, 100, 1e5), n = c(0, 10, 1e4), k = c(0, 3, 50))
  wanted <- suppressWarnings(dhyper(grid$x, grid$m, grid$n, grid$k))
  expect_equal(flat(nv_dhyper(f64(grid$x), f64(grid$m), f64(grid$n), f64(grid$k))), wanted, tolerance = 1e-12)
})

# --- derivatives -------------------------------------------------------------------------------

# Values inside of each family, and parameters, where R's functions are smooth.
inner_points <- list(
  norm = list(0.7, mean = 0.3, sd = 1.7), lnorm = list(0.7, meanlog = 0.3, sdlog = 1.7), exp = list(0.7, rate = 1.3),
  weibull = list(0.7, shape = 1.7, scale = 2.1), logis = list(0.7, location = 0.2, scale = 1.7), cauchy = list(3.3, location = 0.2, scale = 1.7),
  unif = list(0.7, min = -0.5, max = 1.7), gamma = list(2.7, shape = 1.7, scale = 1.3), chisq = list(2.7, df = 3.3),
  beta = list(0.7, shape1 = 1.7, shape2 = 2.3), t = list(-1.7, df = 3.3), f = list(1.7, df1 = 3.3, df2 = 5.1)
)
inner_counts <- list(pois = list(3, lambda = 4.1), binom = list(3, size = 7, prob = 0.3), nbinom = list(3, size = 2.5, prob = 0.4), `nbinom by mu` = list(3, size = 2.5, mu = 4), geom = list(3, prob = 0.3))

test_that("gradients are those of R's functions", {
  check <- function(kind, name, at, which, ...) {
    f <- function(...) nv_function(kind, name)(...)
    tensors <- lapply(at, nv_scalar, dtype = "f64")
    names(tensors)[1L] <- "first"
    # a function with these arguments by name
    wrapped <- function() NULL
    formals(wrapped) <- rep(alist(x = ), length(tensors)) |> stats::setNames(names(tensors))
    body(wrapped) <- as.call(c(quote(f), as.name("first"), lapply(stats::setNames(nm = names(tensors)[-1L]), as.name), list(...)))
    got <- unlist(lapply(do.call(jit(gradient(wrapped, wrt = names(tensors)[which])), unname(tensors)), flat))
    wanted <- slopes(function(...) r_function(kind, name)(...), c(at, list(...)), which)
    expect_equal(unname(got), unname(wanted), tolerance = 1e-6, label = paste(kind, name))
  }
  for (name in names(inner_points)) {
    at <- inner_points[[name]]
    every <- seq_along(at)
    check("d", name, at, every, log = TRUE)
    check("p", name, at, every)
    check("p", name, at, every, lower.tail = FALSE, log.p = TRUE)
    check("q", name, replace(at, 1L, 0.3), every)
  }
  for (name in names(inner_counts)) {
    at <- inner_counts[[name]]
    check("d", name, at, setdiff(seq_along(at)[-1L], if (name == "binom") 2L), log = TRUE)
    check("p", name, at, length(at))
  }
})

test_that("gradients are right on both sides of the middle, also where the density at 0 is infinite", {
  at <- list(q = c(1e-3, 0.2, 3, 500), df1 = 0.7, df2 = 1.3)
  slope <- function(f) as.vector(as_array(gradient(f)(nv_tensor(at$q, dtype = "f64"))$q))
  for (lower in c(TRUE, FALSE)) {
    sign <- if (lower) 1 else -1
    p <- function(log) pf(at$q, at$df1, at$df2, lower.tail = lower, log.p = log)
    got <- function(log) slope(function(q) sum(nv_pf(q, at$df1, at$df2, lower, log)))
    expect_equal(got(FALSE), sign * df(at$q, at$df1, at$df2), tolerance = 1e-12)
    expect_equal(got(TRUE), sign * df(at$q, at$df1, at$df2) / p(FALSE), tolerance = 1e-12)
  }
  by_df <- flat(gradient(function(df1) sum(nv_pf(f64(at$q), df1, at$df2)))(nv_scalar(at$df1, "f64"))$df1)
  expect_equal(by_df, slopes(function(df1) sum(pf(at$q, df1, at$df2)), list(at$df1), 1L), tolerance = 1e-8)
  u <- c(1e-10, 0.2, 0.7, 1 - 1e-10)
  q <- qgamma(u, 0.3)
  by_p <- as.vector(as_array(gradient(function(p) sum(nv_qgamma(p, 0.3)))(f64(u))$p))
  expect_equal(by_p, 1 / dgamma(q, 0.3), tolerance = 1e-7)
})

test_that("derivatives far out, beyond the range of the density, and of second order are right", {
  slope <- function(f, x) flat(gradient(f)(nv_scalar(x, "f64"))[[1L]])
  # the hazard of the normal distribution tends to x + 1 / x
  expect_equal(slope(function(x) nv_pnorm(x, lower.tail = FALSE, log.p = TRUE), 1e4), -(1e4 + 1e-4), tolerance = 1e-14)
  expect_equal(slope(function(x) nv_dgamma(x, 2, log = TRUE), 1e5), 1 / 1e5 - 1, tolerance = 1e-14)
  expect_equal(slope(function(x) nv_dnorm(x, log = TRUE), -1), 1)
  # outside there is no slope, and no NaN
  expect_identical(slope(function(x) nv_dgamma(x, 2), -1), 0)
  expect_identical(slope(function(x) nv_dexp(x), -1), 0)
  expect_identical(slope(function(x) nv_dbeta(x, 2, 3), 2), 0)
  expect_identical(slope(function(lambda) nv_dpois(0, lambda, log = TRUE), 2), -1)
  curvature <- hessian(function(p) nv_qnorm(p))(nv_scalar(0.3, "f64"))$p$p
  expect_equal(flat(curvature), qnorm(0.3) / dnorm(qnorm(0.3))^2)
  # t and logistic variables are smooth in the middle
  expect_equal(slope(function(x) nv_pt(x, 3), 0), dt(0, 3))
  expect_equal(slope(function(x) nv_pt(x, 3, lower.tail = FALSE), 0), -dt(0, 3))
  expect_equal(slope(function(p) nv_qt(p, 3), 0.5), 1 / dt(0, 3))
  expect_equal(flat(hessian(function(x) nv_dlogis(x, log = TRUE))(nv_scalar(0, "f64"))$x$x), -0.5)
})

# --- how they are called ------------------------------------------------------------------------

test_that("compiled values are those of debug mode, also in f32 and in batches", {
  for (name in c(names(inner_points), names(inner_counts))) {
    at <- c(inner_points, inner_counts)[[name]]
    for (kind in c("d", "p", "q")) {
      f <- nv_function(kind, name)
      first <- if (kind == "q") 0.3 else at[[1L]]
      wanted <- do.call(r_function(kind, name), replace(at, 1L, first))
      for (dtype in c("f64", "f32")) {
        x <- nv_tensor(rep(first, 3), dtype = dtype)
        parameters <- lapply(at[-1L], nv_scalar, dtype = dtype)
        compiled <- do.call(jit(function(x, ...) f(x, ...)), c(list(x), parameters))
        expect_close(compiled, do.call(f, c(list(x), parameters)), ulps(dtype, 64))
        expect_equal(flat(compiled), rep(wanted, 3), tolerance = if (dtype == "f64") 1e-12 else 2e-5, label = paste(kind, name, dtype))
        expect_equal(type_of(compiled), paste0(dtype, "[3]"))
      }
      one <- do.call(vectorize(function(x) do.call(f, c(list(x), at[-1L]))), list(f64(rep(first, 3))))
      expect_equal(flat(one), rep(wanted, 3), tolerance = 1e-12, label = paste(kind, name))
    }
  }
})

test_that("small floats have as many right digits as they hold", {
  parameters <- list(
    norm = list(0.5, 2), lnorm = list(0, 0.5), t = list(5), gamma = list(2.5), beta = list(2, 3), chisq = list(3), f = list(3, 5),
    exp = list(2), weibull = list(2, 1.5), logis = list(0.5, 2), cauchy = list(0, 1), unif = list(0, 2)
  )
  worst <- 0
  for (type in c("f16", "bf16")) {
    for (name in names(parameters)) {
      given <- function(x) as.double(nv_tensor(x, type))
      p <- given(c(0.1, 0.3, 0.6, 0.9))
      x <- given(do.call(paste0("q", name), c(list(p), parameters[[name]])))
      for (kind in c("d", "p", "q")) {
        at <- if (kind == "q") p else x
        got <- do.call(nv_function(kind, name), c(list(nv_tensor(at, type)), parameters[[name]]))
        expect_identical(as.character(dtype(got)), type)
        wanted <- do.call(paste0(kind, name), c(list(at), parameters[[name]]))
        step <- if (type == "f16") 2^-10 else 2^-7
        worst <- max(worst, abs(as.double(got) - wanted) / (abs(wanted) + 0.1) / step)
      }
    }
  }
  expect_lt(worst, 16)
})

test_that("integers are counts, and numbers take the dtype of the tensors", {
  expect_equal(type_of(nv_dpois(nv_tensor(0:3), 1.5)), "f32?[4]")
  expect_equal(flat(nv_dbinom(nv_tensor(0:3), 3L, 0.2)), dbinom(0:3, 3, 0.2), tolerance = 1e-6)
  expect_equal(flat(nv_dchisq(f64(1), 0.3)), dchisq(1, 0.3), tolerance = 1e-15)
  expect_equal(flat(nv_dgamma(f64(1), 0.3, rate = 3)), dgamma(1, 0.3, 3), tolerance = 1e-15)
  expect_equal(flat(nv_dgamma(f64(1), 0.3, rate = nv_scalar(3, "f64"))), dgamma(1, 0.3, 3), tolerance = 1e-15)
  local_default_dtypes("f64")
  expect_equal(type_of(nv_dnorm(nv_tensor(1:3), 0L)), "f64?[3]")
})

test_that("mistakes in distributions are explained", {
  x <- f64(c(0.1, 0.2))
  expect_snapshot(error = TRUE, {
    nv_dnorm("a")
    nv_dnorm(x, sd = f64(c(1, 2, 3)))
    nv_pnorm(x, log.p = NA)
    nv_dgamma(x, 2, rate = 1, scale = 2)
    nv_dnbinom(x, 2)
    nv_dnbinom(x, 2, prob = 0.5, mu = 1)
  })
})

test_that("NaN among the operands is NaN, whatever the others are", {
  operands <- c(
    norm = 3, lnorm = 3, t = 2, gamma = 3, chisq = 2, f = 3, exp = 2, weibull = 3, logis = 3, beta = 3, cauchy = 3, unif = 3, binom = 3, nbinom = 3,
    pois = 2, geom = 2, laplace = 3
  )
  edges <- c(0, 1, Inf, -Inf, 0.5, 2, -1)
  for (family in names(operands)) {
    m <- operands[[family]]
    others <- as.matrix(do.call(expand.grid, rep(list(edges), m)))
    for (kind in c("d", "p", "q")) {
      f <- get(paste0("nv_", kind, family))
      for (at in seq_len(m)) {
        given <- others
        given[, at] <- NaN
        given <- unique(given)
        args <- lapply(seq_len(m), function(j) f64(unname(given[, j])))
        logs <- if (kind == "d") list(log = TRUE) else list(log.p = TRUE)
        for (more in list(list(), logs)) {
          found <- as.double(do.call(f, c(args, more)))
          expect_true(all(is.nan(found)), label = sprintf("%s%s(%s)", kind, family, paste(given[which(!is.nan(found))[1L], ], collapse = ", ")))
        }
      }
    }
  }
  expect_identical(as.double(nv_dcategorical(f64(NaN), f64(c(0.5, 0.5)))), NaN)
})

test_that("logarithms of probabilities of 0 are -Inf also where a parameter is infinite", {
  for (p in list(
    nv_ppois(3, Inf, log.p = TRUE), nv_pgamma(1, Inf, log.p = TRUE), nv_pbeta(0.5, Inf, 1, log.p = TRUE),
    nv_pbeta(0.5, 0, 1, lower.tail = FALSE, log.p = TRUE), nv_pgamma(1, 0, lower.tail = FALSE, log.p = TRUE)
  )) {
    expect_identical(as.double(p), -Inf)
  }
})

test_that("slopes by a mean of no events are those from its side", {
  slope <- function(f) as.double(gradient(f)(f64_scalar(0))[[1L]])
  f64_scalar <- function(x) nv_scalar(x, "f64")
  expect_identical(slope(function(m) nv_ppois(0, m)), -1)
  expect_identical(slope(function(m) nv_ppois(0, m, log.p = TRUE)), -1)
  expect_identical(slope(function(m) nv_ppois(0, m, lower.tail = FALSE)), 1)
  expect_identical(slope(function(m) nv_ppois(2, m)), 0)
  expect_identical(slope(function(m) nv_pnbinom(0, 2.5, mu = m)), -1)
  expect_identical(as.double(jit(gradient(function(m) nv_ppois(0, m)))(f64_scalar(0))[[1L]]), -1)
})

test_that("quantiles of F with infinite degrees of freedom are those of chi-squared, however far out", {
  p <- c(0.3, 1e-3, 1e-12, 1e-100, 1e-300)
  for (df in c(0.1, 0.5, 1, 3)) {
    x <- qchisq(p, df, lower.tail = FALSE) / df
    for (infinite in c(1e20, Inf)) {
      expect_equal(as.double(nv_qf(f64(p), df, infinite, lower.tail = FALSE)), x, tolerance = 1e-11)
      expect_equal(as.double(nv_qf(f64(p), infinite, df)), 1 / x, tolerance = 1e-11)
    }
  }
  expect_equal(as.double(nv_qf(f64(-1e5), Inf, 3, log.p = TRUE)), qf(-1e5, Inf, 3, log.p = TRUE), tolerance = 1e-12)
})

test_that("derivatives next to the ends are those of powers", {
  second <- function(f, x, dtype = "f64") as.double(hessian(f)(nv_scalar(x, dtype))[[1L]][[1L]])
  for (x in c(1e-300, 1e-9, 1e-4, 0.2)) {
    expect_equal(second(function(x) nv_dbeta(x, 1, 3, log = TRUE), x), -2 / (1 - x)^2, tolerance = 1e-12)
    expect_equal(second(function(x) nv_dbeta(1 - x, 3, 1, log = TRUE), x), -2 / (1 - x)^2, tolerance = 1e-12)
    expect_equal(second(function(x) nv_df(x, 2, 5, log = TRUE), x), 3.5 * 0.16 / (1 + 0.4 * x)^2, tolerance = 1e-12)
  }
  expect_equal(second(function(x) nv_dbeta(x, 1, 3, log = TRUE), 1e-4, "f32"), -2.0004, tolerance = 1e-6)
})

test_that("slopes at the ends are those from inside", {
  slope <- function(f, x) as.double(gradient(f)(nv_scalar(x, "f64"))[[1L]])
  expect_identical(slope(function(x) nv_dweibull(x, 1, 2, log = TRUE), 0), -0.5)
  expect_identical(slope(function(x) nv_dweibull(x, 2, 1), 0), 0) # not NaN
  expect_equal(slope(function(x) nv_dbeta(x, 1, 3), 0), -6, tolerance = 1e-14)
  expect_identical(slope(function(x) nv_dbeta(x, 3, 1, log = TRUE), 1), 2)
  expect_equal(slope(function(x) nv_df(x, 2, 5, log = TRUE), 0), -1.4, tolerance = 1e-15)
  expect_identical(slope(function(m) nv_dnbinom(1, 2.5, mu = m), 0), 1)
  expect_identical(slope(function(m) nv_dnbinom(3, 2.5, mu = m), 0), 0)
  expect_identical(slope(function(m) nv_dnbinom(0, 2.5, mu = m, log = TRUE), 0), -1)
  expect_identical(slope(function(p) nv_dnbinom(1, 2.5, prob = p), 1), -2.5)
})

test_that("quantiles with a scale of 0 are the location", {
  for (f in list(nv_qnorm, nv_qlogis, nv_qcauchy, nv_qlaplace)) {
    expect_identical(as.double(f(f64(c(0, 0.3, 1)), 1, 0))[2L], 1)
    expect_identical(as.double(f(f64(NaN), 1, 0)), NaN)
    expect_identical(as.double(f(f64(0.3), 1, -1)), NaN)
  }
})
