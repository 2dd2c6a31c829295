state <- nv_rng_state(42L)
counter <- function(draw) flat(draw[[1]])[2]

test_that("a state is a key and a counter", {
  expect_equal(flat(state), c(42, 0))
  expect_equal(type_of(state), "ui64[2]")
  expect_equal(flat(nv_rng_state(-1L)), c(2^32 - 1, 0))
  expect_equal(flat(nv_rng_state(nv_scalar(7L))), c(7, 0))
  expect_equal(flat(jit(function(seed) nv_rng_state(seed))(nv_scalar(-1L))), c(2^32 - 1, 0))
})

test_that("bits are those of XLA", {
  bits <- function(shape, dtype = "ui32", from = state) {
    drawn <- nvl_rng_bit_generator(from, dtype = dtype, shape = shape)
    compiled <- jit(function(s) nvl_rng_bit_generator(s, dtype = dtype, shape = shape))(nv_tensor(flat(from), "ui64"))
    expect_identical(as_raw(drawn[[2]]), as_raw(compiled[[2]]))
    expect_equal(as_array(drawn[[1]]), as_array(compiled[[1]]))
    drawn
  }
  word <- function(hex) as.numeric(paste0("0x", hex))
  six <- word(c("de79f4b9", "4f6cc618", "268fd86c", "fe251627", "8533bc2a", "1b41c6e8"))
  expect_equal(flat(bits(3)[[2]]), six[1:3])
  expect_equal(counter(bits(3)), 2)
  expect_equal(flat(bits(5)[[2]]), six[1:5])
  expect_equal(flat(bits(integer())[[2]]), six[1])
  expect_equal(value(bits(c(2, 3))[[2]]), matrix(six, 2))
  expect_equal(value(bits(c(3, 2))[[2]]), matrix(six, 3, byrow = TRUE))
  expect_equal(value(bits(c(3, 3))[[2]])[1:2, ], matrix(six, 2))
  expect_equal(counter(bits(c(3, 3))), 6)
  expect_equal(counter(bits(c(3, 5))), 9)
  expect_equal(counter(bits(3, "ui64")), 3)
  # B251
  low <- nv_bitcast_convert(bits(c(2, 2), "i64", nv_tensor(1:2, "ui64"))[[2]], "i32")
  expect_equal(as.vector(value(low)[, , 1]), c(43444564L, 1672743891L, -315321645L, 2109414752L))
})

test_that("uniform numbers have their golden values", {
  draw <- nv_runif(6, state)
  expect_close(draw[[2]], c(0.869048, 0.310254, 0.150632, 0.992753, 0.520321, 0.106472), absolute = 5e-7)
  expect_equal(counter(draw), 3)
  rows <- rbind(c(0.8690, 0.1506, 0.5203), c(0.3103, 0.9928, 0.1065))
  expect_close(nv_runif(c(2, 3), state)[[2]], rows, absolute = 5e-5)
  first <- nv_runif(3, state)
  second <- nv_runif(3, first[[1]])
  expect_close(first[[2]], c(.8690, .3103, .1506), absolute = 5e-5)
  expect_close(second[[2]], c(.5203, .1065, .2499), absolute = 5e-5)
  expect_equal(counter(second), 4)
  expect_equal(flat(nv_runif(3, state, "f64")[[2]]), c(0.6205070135, 0.9855067912, 0.2129448543), tolerance = 1e-9)
})

test_that("normal numbers have their golden values", {
  draw <- nv_rnorm(c(2, 3), state)
  golden <- rbind(c(-0.0675, 0.9489, 1.9457), c(-0.5255, 1.2002, 0.0008))
  expect_close(draw[[2]], golden, absolute = 5e-5)
  expect_equal(counter(draw), 4)
  expect_close(nv_rnorm(5, state)[[2]], as.vector(t(golden))[1:5], absolute = 5e-5)
  expect_equal(shape(nv_rnorm(integer(), state)[[2]]), integer())
})

test_that("discrete numbers have their golden values", {
  expect_equal(flat(nv_rbinom(8, state)[[2]]), c(0, 0, 1, 0, 1, 1, 1, 0))
  expect_equal(value(nv_rbinom(c(2, 3), state)[[2]]), rbind(c(0, 0, 1), c(0, 1, 1)))
  draw <- nv_rbinom(5, state, n = 10, prob = 0.3)
  expect_equal(flat(draw[[2]]), c(0, 3, 4, 1, 3))
  expect_equal(counter(draw), 50)
  expect_equal(flat(nv_rdunif(8, state, n = 6)[[2]]), c(4, 6, 2, 5, 1, 2, 2, 4))
  expect_equal(type_of(nv_rdunif(c(2, 2), state, 6)[[2]]), "i32[2,2]")
  expect_true(all(flat(nv_rdunif(100, state, n = 1)[[2]]) == 1))
})

test_that("compiled draws are the same", {
  for (dtype in float_dtypes) {
    at_once <- nv_rnorm(101, state, dtype, mu = 1, sigma = 2)
    compiled <- jit(function(s) nv_rnorm(101, s, dtype, mu = 1, sigma = 2))(state)
    expect_close(compiled[[2]], at_once[[2]], ulps(dtype, 8), absolute = ulps(dtype, 2))
    at_once <- nv_runif(c(3, 7), state, dtype, lower = -1, upper = 3)
    compiled <- jit(function(s) nv_runif(c(3, 7), s, dtype, lower = -1, upper = 3))(state)
    expect_close(compiled[[2]], at_once[[2]], ulps(dtype, 8))
    expect_equal(type_of(at_once[[2]]), paste0(dtype, "[3,7]"))
  }
})

test_that("parameters may be tensors", {
  draw <- function(...) flat(nv_rnorm(3, state, "f64", ...)[[2]])
  expect_equal(draw(mu = nv_scalar(5), sigma = f64(1:3)), 5 + 1:3 * draw())
  uniform <- function(...) flat(nv_runif(3, state, "f64", ...)[[2]])
  expect_equal(uniform(lower = nv_scalar(-1), upper = 1), 2 * uniform() - 1)
  expect_equal(uniform(lower = 2, upper = 2), rep(2, 3))
})

test_that("samples have the moments of their distributions", {
  n <- 2e5
  u <- flat(jit(function(s) nv_runif(n, s)[[2]])(state))
  expect_true(all(u > 0 & u < 1))
  expect_lt(abs(mean(u) - 0.5), 3e-3)
  expect_lt(abs(var(u) - 1 / 12), 1e-3)
  z <- flat(jit(function(s) nv_rnorm(n, s, "f64")[[2]])(state))
  expect_lt(abs(mean(z)), 0.01)
  expect_lt(abs(var(z) - 1), 0.02)
  expect_gt(ks.test(z[1:5000], "pnorm")$p.value, 1e-3)
  b <- flat(nv_rbinom(20000, state, n = 20L)[[2]])
  expect_lt(abs(mean(b) - 10), 0.1)
  expect_lt(abs(var(b) - 5), 0.2)
})

# P values of chi-square tests of counts against the binomial distribution, in up to 40 cells.
binomial_p <- function(x, n, prob) {
  breaks <- unique(c(-1, stats::qbinom(seq(0.025, 0.975, 0.025), n, prob), n))
  expected <- diff(stats::pbinom(breaks, n, prob))
  suppressWarnings(stats::chisq.test(table(cut(x, breaks)), p = expected, rescale.p = TRUE)$p.value)
}

test_that("binomial numbers have their distribution, with few trials and with many", {
  size <- 20000
  cases <- list(c(2, 0.4), c(16, 0.3), c(17, 0.5), c(100, 0.01), c(100, 0.29), c(100, 0.31), c(40, 0.97), c(200, 0.8), c(1e4, 0.5), c(1e9, 1e-9), c(1e9, 0.3), c(2^31 - 1, 0.5))
  for (case in cases) {
    n <- case[1]
    prob <- case[2]
    label <- sprintf("n = %.0f, prob = %g", n, prob)
    draw <- jit(function(s) nv_rbinom(size, s, n = n, prob = prob))(state)
    x <- flat(draw[[2]])
    expect_true(all(x >= 0 & x <= n), label = label)
    expect_lt(abs(mean(x) - n * prob), 4 * sqrt(n * prob * (1 - prob) / size), label = label)
    expect_lt(abs(var(x) / (n * prob * (1 - prob)) - 1), 0.05, label = label)
    expect_gt(binomial_p(x, n, prob), 1e-3, label = label)
    at_once <- nv_rbinom(100, state, n = n, prob = prob)
    compiled <- jit(function(s) nv_rbinom(100, s, n = n, prob = prob))(state)
    expect_identical(lapply(at_once, as_array), lapply(compiled, as_array), label = label)
  }
})

test_that("the cost of binomial numbers does not grow with the trials", {
  for (n in c(1e3, 1e9)) {
    expect_lt(counter(nv_rbinom(100, state, n = n, prob = 0.4)), 5000)
  }
})

test_that("binomial numbers of any shape, dtype and probability", {
  expect_identical(flat(nv_rbinom(3, state, n = 100, prob = 0)[[2]]), rep(0L, 3))
  expect_identical(flat(nv_rbinom(3, state, n = 0)[[2]]), rep(0L, 3))
  expect_identical(flat(nv_rbinom(3, state, n = 100, prob = 1)[[2]]), rep(100L, 3))
  expect_equal(type_of(nv_rbinom(integer(), state, n = 1000)[[2]]), "i32[]")
  expect_equal(type_of(nv_rbinom(c(2, 0), state, n = 1000)[[2]]), "i32[2,0]")
  draw <- nv_rbinom(c(2, 3), state, n = 1000)[[2]]
  for (dtype in c("i16", "i64", "ui32", "f32", "f64")) {
    expect_equal(value(nv_rbinom(c(2, 3), state, n = 1000, dtype = dtype)[[2]]), value(draw), label = dtype)
  }
})

test_that("samplers follow the default dtypes", {
  dtypes <- function() vapply(list(nv_runif(1, state), nv_rnorm(1, state), nv_rbinom(1, state), nv_rdunif(1, state, n = 6L)), function(draw) as.character(dtype(draw[[2]])), "")
  expect_equal(dtypes(), c("f32", "f32", "i32", "i32"))
  local_default_dtypes("f64", "i64")
  expect_equal(dtypes(), c("f64", "f64", "i64", "i64"))
})

test_that("mistakes are explained", {
  expect_snapshot(error = TRUE, {
    nv_runif("a", state)
    nv_runif(-1, state)
    nv_runif(3, state, "i32")
    nv_runif(3, state, lower = 1, upper = 0)
    nv_rnorm(3, nv_tensor(1:2))
    nv_rnorm(3, 42L)
    nv_rdunif(3, "a", n = 6)
    nv_rbinom(3, state, n = 1000, dtype = "i8")
    nv_rng_state(1.5)
    nv_rbinom(3, state, prob = 2)
    nv_rbinom(3, state, n = -1)
    nv_rdunif(3, state, n = 0)
  })
})

test_that("uniform numbers never reach their bounds", {
  u <- flat(nv_runif(20000, state, lower = 1000, upper = 1000.01)[[2]])
  expect_true(all(u > 1000 & u < 1000.01))
  expect_gt(length(unique(u)), 100)
})

test_that("infinite degrees of freedom are those of the limits", {
  state <- nv_rng_state(4L)
  draw <- function(f, ...) as.double(f(20000L, state, "f64", ...)[[2L]])
  expect_gt(ks.test(draw(nv_rt, df = Inf), pnorm)$p.value, 1e-3)
  expect_gt(ks.test(3 * draw(nv_rf, df1 = 3, df2 = Inf), pchisq, 3)$p.value, 1e-3)
  expect_gt(ks.test(5 / draw(nv_rf, df1 = Inf, df2 = 5), pchisq, 5)$p.value, 1e-3)
  expect_gt(ks.test(draw(nv_rf, df1 = 3, df2 = 7), pf, 3, 7)$p.value, 1e-3)
  expect_gt(ks.test(draw(nv_rt, df = 4), pt, 4)$p.value, 1e-3)
  df <- f64(c(Inf, 5, -1))
  expect_identical(is.nan(as.double(nv_rt(3L, state, "f64", df = df)[[2L]])), c(FALSE, FALSE, TRUE))
  expect_identical(draw(nv_rf, df1 = Inf, df2 = Inf)[1:2], c(1, 1))
})

test_that("weights that are none, and two names of one parameter, are errors", {
  state <- nv_rng_state(1L)
  expect_snapshot(error = TRUE, {
    nv_sample_int(3, 3, state, prob = c(-1, 1, 1))
    nv_sample_int(3, 2, state, prob = nv_tensor(c(0, 0, 1)))
    nv_rcategorical(3, state, prob = c(NaN, 1))
    nv_rmultinom(2, state, size = 5, prob = c(0, 0))
    nv_rnorm(2, state, mean = 100, mu = 0)
    nv_runif(2, state, max = 1, upper = 6)
    nv_rbinom(2, state, size = 100, n = 2L)
  })
  drawn <- as_array(nv_sample_int(3, 2, state, prob = c(1, 0, 1))[[2L]])
  expect_setequal(drawn, c(1L, 3L))
})
