# Analyses of R's own data sets, written as a user would, against what base R or another package gives for them. The
# vignettes tell some of them at length.

test_that("a Gaussian process: likelihood, its derivatives by hand, and forecast", {
  local_default_dtypes("f64")
  year <- as.numeric(time(LakeHuron)) - 1920
  y <- as.numeric(LakeHuron) - 579
  train <- year < 40
  d <- abs(outer(year[train], year[train], "-"))
  kernel <- function(par, d) exp(2 * par$sd - d / exp(par$years))
  covariance <- function(par, d) kernel(par, d) + exp(2 * par$noise) * nv_eye(nrow(d))
  nll <- function(par, d, y) -nv_dmvnorm(y, 0, covariance(par, d), log = TRUE)
  objective <- as_objective(nll, list(sd = 0, years = 1, noise = -1), d = d, y = y[train])

  smooth <- exp(-d / exp(1))
  noise <- diag(exp(-2), nrow(d))
  inverse <- solve(smooth + noise)
  alpha <- drop(inverse %*% y[train])
  slopes <- list(2 * smooth, smooth * d / exp(1), 2 * noise)
  by_hand <- vapply(slopes, function(s) (sum(inverse * s) - sum(alpha * (s %*% alpha))) / 2, 0)
  value <- sum(alpha * y[train]) / 2 - determinant(inverse)$modulus / 2 + length(alpha) / 2 * log(2 * pi)
  expect_equal(objective$fn(objective$par), c(value))
  expect_equal(unname(objective$gr(objective$par)), by_hand)

  fit <- nv_minimize(objective)
  expect_lt(abs(fit$value - nlminb(objective$par, objective$fn, objective$gr)$objective), 1e-6)
  forecast <- jit(function(par, d, y, across) nv_crossprod(kernel(par, across), nv_solve(covariance(par, d), y)), convert = TRUE)
  across <- abs(outer(year[train], year[!train], "-"))
  p <- lapply(fit$par, as.numeric)
  known <- crossprod(exp(2 * p$sd - across / exp(p$years)), solve(exp(2 * p$sd - d / exp(p$years)) + diag(exp(2 * p$noise), nrow(d)), y[train]))
  expect_equal(c(as_array(forecast(fit$par, d, y[train], across))), c(known))
})

test_that("eight schools have the posterior means that an integral over one parameter gives", {
  local_default_dtypes("f64")
  y <- c(28, 8, -3, 7, -1, 1, 18, 12)
  se <- c(15, 10, 16, 11, 9, 11, 10, 18)
  log_density <- function(par, y, se) {
    tau <- exp(par$log_tau)
    sum(dnorm(y, par$mu + tau * par$eta, se, log = TRUE)) + sum(dnorm(par$eta, log = TRUE)) +
      dnorm(par$mu, 0, 5, log = TRUE) + dcauchy(tau, 0, 5, log = TRUE) + par$log_tau
  }
  given_tau <- function(tau) {
    weight <- 1 / (se^2 + tau^2)
    variance <- 1 / (sum(weight) + 1 / 25)
    mu <- variance * sum(weight * y)
    evidence <- exp(sum(dnorm(y, 0, 1 / sqrt(weight), log = TRUE)) + mu^2 / (2 * variance) + log(variance) / 2) * dcauchy(tau, 0, 5)
    evidence * c(1, mu + tau^2 * weight * (y - mu))
  }
  integrals <- vapply(1:9, function(k) integrate(Vectorize(function(tau) given_tau(tau)[k]), 0, Inf, rel.tol = 1e-8)$value, 0)
  number <- nv_aten("f64", integer())
  for (sampler in list(nv_nuts, nv_hmc)) {
    draws <- sampler(log_density, list(mu = number, log_tau = number, eta = nv_aten("f64", 8L)), y = y, se = se, target = 0.95, seed = 1)
    table <- summary(draws)
    expect_lt(max(table$rhat), 1.01)
    d <- as.data.frame(draws)
    theta <- d$mu + exp(d$log_tau) * as.matrix(d[sprintf("eta[%d]", 1:8)])
    expect_true(all(abs(colMeans(theta) - integrals[-1] / integrals[1]) < 4 * apply(theta, 2, sd) / sqrt(min(table$ess_bulk))))
  }
})

test_that("the posterior of a logistic regression is near the estimates of glm()", {
  local_default_dtypes("f64")
  frame <- nv_model_frame(case ~ spontaneous + induced, infert)
  draws <- nv_nuts(function(beta, x, y) {
    eta <- nv_flatten(x %*% beta)
    sum(y * eta - nv_softplus(eta))
  }, numeric(3), x = frame$x, y = frame$y, metric = "dense", seed = 1)
  known <- coef(summary(glm(case ~ spontaneous + induced, binomial, infert)))
  table <- summary(draws)
  expect_true(all(abs(table$mean - known[, 1]) < 0.25 * known[, 2]))
  expect_true(all(abs(table$sd / known[, 2] - 1) < 0.1))
})

test_that("two compartments, solved by Runge and Kutta, are fitted as nls() does it in closed form", {
  local_default_dtypes("f64")
  hours <- c(0, sort(unique(Indometh$time)))
  index <- match(Indometh$time, hours) - 1L
  blood <- function(par, hours) {
    slope <- function(c) {
      between <- par$there * c[1] - par$back * c[2]
      nv_concatenate(-par$out * c[1] - between, between)
    }
    nv_scan(nv_concatenate(par$start, 0), diff(hours) / 10, function(c, h) {
      c <- nv_fori(1, 10, c, function(i, c) {
        k1 <- slope(c)
        k2 <- slope(c + h / 2 * k1)
        k3 <- slope(c + h / 2 * k2)
        c + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(c + h * k3))
      })
      list(carry = c, out = c[1])
    })$out
  }
  fit <- nv_minimize(
    function(par, hours, index, conc) conc - blood(par, hours)[index], list(start = 2, out = 1, there = 0.5, back = 0.5),
    "levenberg-marquardt", hours = hours, index = index, conc = Indometh$conc, model = blood
  )
  closed_form <- function(time, start, out, there, back) {
    root <- sqrt((out + there + back)^2 - 4 * out * back)
    fast <- (out + there + back + root) / 2
    slow <- fast - root
    start * ((fast - back) * exp(-fast * time) + (back - slow) * exp(-slow * time)) / root
  }
  known <- nls(conc ~ closed_form(time, start, out, there, back), Indometh, list(start = 3, out = 1, there = 1, back = 0.7))
  expect_equal(coef(summary(fit)), coef(summary(known)), tolerance = 1e-3)
  expect_equal(c(predict(fit))[index], as.vector(fitted(known)), tolerance = 1e-4)
})

test_that("the Kalman filter of the Nile gives the likelihood, and by derivatives the level, of StructTS()", {
  local_default_dtypes("f64")
  known <- StructTS(Nile, "level")
  filter <- function(y, var) {
    sum(nv_scan(list(mean = Nile[1], var = 1e4 * var(Nile)), y, function(level, y) {
      gain <- level$var / (level$var + var[2])
      list(
        carry = list(mean = level$mean + gain * (y - level$mean), var = level$var * (1 - gain) + var[1]),
        out = dnorm(y, level$mean, sqrt(level$var + var[2]), log = TRUE)
      )
    })$out)
  }
  y <- as.numeric(Nile)
  expect_equal(as.numeric(jit(filter, convert = TRUE)(y, unname(known$coef))), known$loglik)
  fit <- nv_minimize(function(par, y) -filter(y, exp(par)), log(c(1000, 10000)), y = y)
  expect_equal(unname(exp(coef(fit))), unname(known$coef), tolerance = 1e-3)
  smooth <- jit(function(y, var) y + var[2] * gradient(filter, "y")(y, var)$y, convert = TRUE)
  expect_equal(as.numeric(smooth(y, unname(known$coef))), as.numeric(tsSmooth(known)), tolerance = 1e-6)
})

test_that("the likelihood of an autoregression, filtered with matrices, is that of arima()", {
  local_default_dtypes("f64")
  autoregression <- function(par, y) {
    move <- nv_cbind(par$phi, nv_concatenate(1, 0))
    shock <- nv_diag(nv_concatenate(exp(par$log_var), 0))
    start <- nv_solve(nv_eye(4) - nv_kronecker(move, move), nv_flatten(shock))
    -nv_scan(list(mean = nv_fill(0, 2), var = nv_reshape(start, c(2, 2))), y - par$level, function(state, y) {
      gain <- state$var[, 1] / state$var[1, 1]
      surprise <- y - state$mean[1]
      list(
        carry = list(
          mean = nv_flatten(move %*% (state$mean + gain * surprise)),
          var = move %*% (state$var - nv_outer(gain, state$var[1, ])) %*% t(move) + shock
        ), out = dnorm(surprise, 0, sqrt(state$var[1, 1]), log = TRUE)
      )
    })$out
  }
  fit <- nv_minimize(autoregression, list(phi = c(0.5, 0), level = 2, log_var = 0), y = as.numeric(lh))
  known <- arima(lh, order = c(2, 0, 0))
  expect_equal(fit$nobs, 48L)
  expect_equal(c(logLik(fit)), c(logLik(known)), tolerance = 1e-7)
  expect_equal(unname(summary(fit)$coefficients[1:3, 1:2]), unname(cbind(coef(known), sqrt(diag(vcov(known))))), tolerance = 2e-3)
})

test_that("Greeks of an option are derivatives of its price, and a simulation gives the price", {
  local_default_dtypes("f64")
  black_scholes <- function(spot, vol, rate, years, strike) {
    d <- (log(spot / strike) + (rate + vol^2 / 2) * years) / (vol * sqrt(years))
    spot * pnorm(d) - strike * exp(-rate * years) * pnorm(d - vol * sqrt(years))
  }
  simulated <- function(spot, vol, rate, years, strike) {
    z <- nv_rnorm(1e5, nv_rng_state(1))[[2]]
    mean(nv_relu(spot * exp((rate - vol^2 / 2) * years + vol * sqrt(years) * z) - strike)) * exp(-rate * years)
  }
  market <- lapply(list(100, 0.2, 0.03, 0.5, 105), nv_scalar)
  greeks <- function(price) unlist(lapply(do.call(jit(gradient(price)), market), as_array))
  d <- (log(100 / 105) + 0.05 * 0.5) / (0.2 * sqrt(0.5))
  discount <- exp(-0.03 * 0.5)
  d2 <- pnorm(d - 0.2 * sqrt(0.5))
  known <- c(pnorm(d), 100 * dnorm(d) * sqrt(0.5), 52.5 * discount * d2, 100 * dnorm(d) * 0.1 / sqrt(0.5) + 3.15 * discount * d2, -discount * d2)
  expect_equal(unname(greeks(black_scholes)), known)
  expect_equal(as_array(do.call(jit(hessian(black_scholes, "spot")), market)$spot$spot), dnorm(d) / (100 * 0.2 * sqrt(0.5)))
  expect_equal(do.call(black_scholes, lapply(market, as_array)), as_array(do.call(jit(black_scholes), market)))
  expect_equal(as_array(do.call(jit(simulated), market)), as_array(do.call(jit(black_scholes), market)), tolerance = 0.02)
  expect_equal(unname(greeks(simulated)), known, tolerance = 0.02)
})

test_that("a blur and the edges of an image are sums over neighbours", {
  local_default_dtypes("f64")
  blur <- outer(dnorm(-2:2), dnorm(-2:2))
  sobel <- matrix(c(-1, 0, 1, -2, 0, 2, -1, 0, 1), 3)
  filters <- jit(function(image, blur, sobel) {
    smooth <- nv_conv2d(nv_reshape(image, c(1, 1, dim(image))), nv_reshape(blur, c(1, 1, dim(blur))))
    across <- nv_conv2d(smooth, nv_reshape(sobel, c(1, 1, 3, 3)))
    down <- nv_conv2d(smooth, nv_reshape(t(sobel), c(1, 1, 3, 3)))
    list(smooth = smooth, edges = sqrt(across^2 + down^2))
  }, convert = TRUE)
  found <- lapply(filters(volcano * 1, blur, sobel), function(x) drop(as_array(x)))
  by_hand <- function(x, kernel) {
    k <- nrow(kernel) - 1
    at <- function(i, j) sum(kernel * x[i + 0:k, j + 0:k])
    outer(seq_len(nrow(x) - k), seq_len(ncol(x) - k), Vectorize(at))
  }
  smooth <- by_hand(volcano, blur)
  expect_equal(found$smooth, smooth)
  expect_close(found$edges, sqrt(by_hand(smooth, sobel)^2 + by_hand(smooth, t(sobel))^2), absolute = 1e-10)
})

test_that("principal components are those of prcomp()", {
  local_default_dtypes("f64")
  pca <- jit(function(x) {
    x <- scale(x)
    parts <- nv_svd(x)
    list(sdev = parts$d / sqrt(nrow(x) - 1), rotation = t(parts$vt), scores = x %*% t(parts$vt))
  }, convert = TRUE)
  found <- lapply(pca(as.matrix(USArrests)), as_array)
  known <- prcomp(USArrests, scale. = TRUE)
  expect_equal(c(found$sdev), known$sdev)
  signs <- sign(colSums(found$rotation * known$rotation))
  expect_equal(found$rotation %*% diag(signs), unname(known$rotation))
  expect_equal(found$scores %*% diag(signs), unname(known$x))
})
