# Fourteen analyses, as somebody would write them from the help pages, beside base R or the package that does the same:
#   Rscript --vanilla analyses.R [row ...]
# A row has two functions that give the same numbers. That for anvil sets up and gives a function: `first_s` is the time of both with
# all that is compiled, `anvil_s` that of the function again, and `peer_s` that of the peer's. Seconds of the processor, one thread,
# the least of several measurements. `lines` are those of either code, without `rk4()` and `in_r()`. Writes results/analyses.csv.
suppressPackageStartupMessages(library(anvil))
for (peer in c("lme4", "survival")) loadNamespace(peer)
options(anvil.default_dtypes = "f64")
invisible(anvil_threads(1L))
set.seed(1)

analyses <- list()

# ---- regression -------------------------------------------------------------------------------------
d <- data.frame(x = matrix(rnorm(1e5), 2e4))
d$y <- rbinom(2e4, 1, plogis(0.5 * d$x.1 - d$x.2))
analyses[["GLM with standard errors"]] <- list(
  peer = "glm(), summary()",
  anvil = function() {
    frame <- nv_model_frame(y ~ ., d)
    family <- nv_family(binomial)
    model <- as_objective(function(beta, y, x) -family$log_likelihood(y, drop(x %*% beta)), numeric(6), y = frame$y, x = frame$x)
    function() summary(nv_minimize(model, method = "newton"))$coefficients[, 1:2]
  },
  r = function() summary(glm(y ~ ., binomial, d, epsilon = 1e-12))$coefficients[, 1:2]
)

analyses[["mixed model"]] <- list(
  peer = "lme4::lmer()",
  anvil = function() {
    frame <- nv_model_frame(Reaction ~ Days + (Days | Subject), lme4::sleepstudy)
    joint <- function(par, y, x, z, subject) {
      root <- rbind(c(exp(par$root[1]), 0), c(par$root[2], exp(par$root[3])))
      mean <- drop(x %*% par$beta) + rowSums(z * (par$u %*% t(root))[subject, ])
      -sum(dnorm(y, mean, exp(par$log_sd), log = TRUE)) - sum(dnorm(par$u, log = TRUE))
    }
    start <- list(beta = c(250, 10), root = c(3, 0, 1), log_sd = 3, u = matrix(0, 18, 2))
    data <- list(y = frame$y, x = frame$x, z = frame$random$Subject$z, subject = frame$random$Subject$index)
    model <- do.call(nv_laplace, c(list(joint, start, "u"), data))
    function() {
      fit <- nv_minimize(model)
      c(logLik(fit), coef(fit)[1:2], sqrt(diag(vcov(fit)))[1:2])
    }
  },
  r = function() {
    fit <- lme4::lmer(Reaction ~ Days + (Days | Subject), lme4::sleepstudy, REML = FALSE)
    c(logLik(fit), lme4::fixef(fit), sqrt(diag(as.matrix(vcov(fit)))))
  }
)

analyses[["survival"]] <- list(
  peer = "survival::coxph()",
  anvil = function() {
    d <- survival::colon[order(-survival::colon$time), ]
    frame <- nv_model_frame(status ~ rx + sex + age + obstruct + extent, d)
    cox <- function(beta, x, seen, last) {
      eta <- drop(x %*% beta)
      sum(seen * (log(cumsum(exp(eta)))[last] - eta))
    }
    last <- nrow(d) + 1L - match(d$time, rev(d$time))
    model <- as_objective(cox, numeric(6), x = frame$x[, -1], seen = frame$y, last = last)
    function() {
      fit <- nv_minimize(model, method = "newton")
      cbind(coef(fit), sqrt(diag(vcov(fit))))
    }
  },
  r = function() {
    library(survival, include.only = c("coxph", "Surv"))
    fit <- coxph(Surv(time, status) ~ rx + sex + age + obstruct + extent, survival::colon, ties = "breslow")
    cbind(coef(fit), sqrt(diag(vcov(fit))))
  }
)

rows <- matrix(sample.int(30, 2000 * 30, replace = TRUE), 2000)
analyses[["bootstrap"]] <- list(
  peer = "a loop over lm.fit()",
  anvil = function() {
    frame <- nv_model_frame(rating ~ complaints + learning + raises, attitude)
    refit <- jit(vectorize(function(rows, x, y) qr.solve(x[rows, ], y[rows]), "rows"), convert = TRUE)
    function() as_array(refit(rows, frame$x, frame$y))
  },
  r = function() {
    x <- model.matrix(rating ~ complaints + learning + raises, attitude)
    t(apply(rows, 1, function(rows) lm.fit(x[rows, ], attitude$rating[rows])$coefficients))
  }
)

# ---- processes ------------------------------------------------------------------------------------------
analyses[["Gaussian process"]] <- list(
  peer = "optim(), gradient by hand",
  anvil = function() {
    nll <- function(par, time, y) {
      away <- outer(time, time, "-") / exp(par$log_scale)
      root <- chol(exp(par$log_variance) * exp(-away^2 / 2) + exp(par$log_noise) * nv_eye(98))
      sum(backsolve(root, y, transpose = TRUE)^2) / 2 + sum(log(diag(root))) + 49 * log(2 * pi)
    }
    start <- list(log_variance = 0, log_scale = 1, log_noise = -1)
    model <- as_objective(nll, start, time = 1:98, y = LakeHuron - mean(LakeHuron))
    function() {
      fit <- nv_minimize(model)
      c(fit$value, coef(fit))
    }
  },
  r = function() {
    y <- c(LakeHuron - mean(LakeHuron))
    squares <- outer(1:98, 1:98, "-")^2
    parts <- function(p) {
      signal <- exp(p[1]) * exp(-squares / exp(2 * p[2]) / 2)
      root <- chol(signal + exp(p[3]) * diag(98))
      list(signal = signal, root = root, inverse = chol2inv(root))
    }
    value <- function(p) {
      k <- parts(p)
      sum(y * (k$inverse %*% y)) / 2 + sum(log(diag(k$root))) + 49 * log(2 * pi)
    }
    slope <- function(p) {
      k <- parts(p)
      by <- (k$inverse - tcrossprod(k$inverse %*% y)) / 2
      c(sum(by * k$signal), sum(by * k$signal * squares / exp(2 * p[2])), exp(p[3]) * sum(diag(by)))
    }
    fit <- optim(c(0, 1, -1), value, slope, method = "BFGS", control = list(reltol = 1e-12))
    c(fit$value, fit$par)
  }
)

analyses[["Kalman filter"]] <- list(
  peer = "StructTS()",
  anvil = function() {
    y <- c(Nile)
    nll <- function(log_variance, y) {
      q <- exp(log_variance)
      step <- function(state, y) {
        f <- state$p + q[2]
        e <- y - state$m
        gain <- state$p / f
        list(carry = list(m = state$m + gain * e, p = state$p * (1 - gain) + q[1]), out = (log(f) + e^2 / f) / 2)
      }
      sum(nv_scan(list(m = y1, p = 1e6 * var(Nile)), y, step)$out)
    }
    y1 <- y[1]
    model <- as_objective(nll, log(rep(var(y) / 2, 2)), y = y)
    function() exp(coef(nv_minimize(model)))
  },
  r = function() StructTS(Nile, "level", optim.control = list(factr = 10))$coef
)

truth <- c(0.6, 0.025, 0.8, 0.025)
rk4 <- function(f, state, h) {
  k1 <- f(state)
  k2 <- f(state + h / 2 * k1)
  k3 <- f(state + h / 2 * k2)
  k4 <- f(state + h * k3)
  state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
}
in_r <- function(p) {
  state <- log(c(30, 4))
  t(sapply(1:400, function(i) state <<- rk4(function(s) c(p[1] - p[2] * exp(s[2]), -p[3] + p[4] * exp(s[1])), state, 0.05)))[20 * (1:20), ]
}
noisy <- in_r(truth) + rnorm(40, sd = 0.1)
analyses[["ODE fit"]] <- list(
  peer = "nls(), Runge-Kutta in R",
  anvil = function() {
    residuals <- function(rate, y) {
      slope <- function(s) c(rate[1] - rate[2] * exp(s[2]), rate[4] * exp(s[1]) - rate[3])
      path <- nv_scan(log(array(c(30, 4))), NULL, function(state, x) {
        new <- nv_fori(1, 20, state, function(i, state) rk4(slope, state, 0.05))
        list(carry = new, out = new)
      }, steps = 20)$out
      nv_flatten(y - path)
    }
    model <- as_objective(residuals, 0.9 * truth, y = noisy)
    function() summary(nv_minimize(model, method = "levenberg-marquardt"))$coefficients[, 1:2]
  },
  r = function() {
    fit <- nls(~ c(noisy - in_r(p)), start = list(p = 0.9 * truth), control = nls.control(tol = 1e-7, scaleOffset = 0))
    summary(fit)$coefficients[, 1:2]
  }
)

y <- c(28, 8, -3, 7, -1, 1, 18, 12)
se <- c(15, 10, 16, 11, 9, 11, 10, 18)
analyses[["HMC"]] <- list(
  peer = "a loop in R, gradient by hand", random = TRUE,
  anvil = function() {
    schools <- function(par, y, se) {
      theta <- par$mu + exp(par$log_tau) * par$eta
      sum(dnorm(y, theta, se, log = TRUE)) + sum(dnorm(par$eta, log = TRUE)) + dnorm(par$mu, 0, 5, log = TRUE) +
        dcauchy(exp(par$log_tau), 0, 5, log = TRUE) + par$log_tau
    }
    draws <- nv_hmc(schools, list(mu = 0, log_tau = 0, eta = numeric(8)), y = y, se = se, draws = 10, warmup = 10, seed = 1)
    function() {
      draws <<- nv_hmc(draws, draws = 3000, warmup = 1000, seed = 1, y = y, se = se)
      mean(as.data.frame(draws)$mu)
    }
  },
  r = function() {
    both <- function(q) {
      tau <- exp(q[2])
      z <- (y - q[1] - tau * q[-(1:2)]) / se
      list(
        value = -sum(z^2) / 2 - sum(q[-(1:2)]^2) / 2 - q[1]^2 / 50 - log1p(tau^2 / 25) + q[2],
        slope = c(sum(z / se) - q[1] / 25, sum(z / se * q[-(1:2)]) * tau - 2 * tau^2 / (25 + tau^2) + 1, tau * z / se - q[-(1:2)])
      )
    }
    scale <- c(3, 1, rep(1, 8))
    mean(replicate(4, {
      q <- numeric(10)
      at <- both(q)
      mu <- numeric(4000)
      for (i in 1:4000) {
        r <- start <- rnorm(10) / scale
        x <- q
        new <- at
        for (k in 1:8) {
          r <- r + 0.15 * new$slope
          x <- x + 0.3 * scale^2 * r
          new <- both(x)
          r <- r + 0.15 * new$slope
        }
        if (log(runif(1)) < new$value - at$value + sum(scale^2 * (start^2 - r^2)) / 2) {
          q <- x
          at <- new
        }
        mu[i] <- q[1]
      }
      mean(mu[-(1:1000)])
    }))
  }
)

# ---- networks: of base R the loss alone, of anvil with its gradient ------------------------------------------
images <- array(rnorm(64 * 28 * 28), c(64, 1, 28, 28))
classes <- rep(1:10, length.out = 64)
kernels <- list(
  first = array(rnorm(72, sd = 0.3), c(8, 1, 3, 3)), second = array(rnorm(1152, sd = 0.1), c(16, 8, 3, 3)),
  dense = matrix(rnorm(16 * 25 * 10, sd = 0.05), 400)
)
analyses[["convolution network"]] <- list(
  peer = "arrays, without gradient",
  anvil = function() {
    loss <- function(w, x, class) {
      x <- nv_max_pool(nv_relu(nv_conv2d(x, w$first)), 2)
      x <- nv_max_pool(nv_relu(nv_conv2d(x, w$second)), 2)
      nv_cross_entropy(nv_reshape(x, c(64, 400)) %*% w$dense, class)
    }
    step <- jit(value_and_gradient(loss, "w"), convert = TRUE)
    w <- lapply(kernels, nv_tensor)
    x <- nv_tensor(images)
    function() as.numeric(step(w, x, classes)$value)
  },
  r = function() {
    convolve <- function(x, w) {
      size <- dim(x)[3:4] - 2L
      out <- matrix(0, dim(x)[1] * prod(size), dim(w)[1])
      for (i in 1:3) for (j in 1:3) {
        part <- aperm(x[, , i - 1 + seq_len(size[1]), j - 1 + seq_len(size[2]), drop = FALSE], c(1, 3, 4, 2))
        out <- out + tcrossprod(matrix(part, nrow(out)), matrix(w[, , i, j], dim(w)[1]))
      }
      aperm(array(out, c(dim(x)[1], size, dim(w)[1])), c(1, 4, 2, 3))
    }
    pool <- function(x) {
      a <- 2 * seq_len(dim(x)[3] %/% 2)
      b <- 2 * seq_len(dim(x)[4] %/% 2)
      pmax(x[, , a - 1, b - 1], x[, , a, b - 1], x[, , a - 1, b], x[, , a, b])
    }
    x <- pool(pmax(convolve(images, kernels$first), 0))
    x <- pool(pmax(convolve(x, kernels$second), 0))
    logits <- matrix(x, 64) %*% kernels$dense
    mean(log(rowSums(exp(logits))) - logits[cbind(1:64, classes)])
  }
)

tokens <- matrix(rnorm(128 * 64), 128)
weights <- lapply(c(q = 64, k = 64, v = 64, o = 64, inner = 256, outer = 64), function(n) matrix(rnorm(if (n == 64) 4096 else 16384, sd = 0.1), 64))
weights$outer <- matrix(rnorm(16384, sd = 0.06), 256)
analyses[["transformer"]] <- list(
  peer = "matrices, without gradient",
  anvil = function() {
    block <- function(w, x) {
      heads <- function(y) nv_transpose(nv_reshape(y, c(128, 16, 4)), c(3, 1, 2))
      h <- nv_layer_norm(x)
      mixed <- nv_attention(heads(h %*% w$q), heads(h %*% w$k), heads(h %*% w$v), causal = TRUE)
      x <- x + nv_reshape(nv_transpose(mixed, c(2, 3, 1)), c(128, 64)) %*% w$o
      mean((x + nv_relu(nv_layer_norm(x) %*% w$inner) %*% w$outer)^2)
    }
    step <- jit(value_and_gradient(block, "w"))
    w <- lapply(weights, nv_tensor)
    x <- nv_tensor(tokens)
    function() as.numeric(step(w, x)$value)
  },
  r = function() {
    normalised <- function(x) {
      x <- x - rowMeans(x)
      x / sqrt(rowMeans(x^2) + 1e-5)
    }
    h <- normalised(tokens)
    heads <- lapply(1:4, function(k) {
      on <- 16 * (k - 1) + 1:16
      e <- exp(tcrossprod(h %*% weights$q[, on], h %*% weights$k[, on]) / 4)
      e[upper.tri(e)] <- 0
      (e / rowSums(e)) %*% (h %*% weights$v[, on])
    })
    x <- tokens + do.call(cbind, heads) %*% weights$o
    mean((x + pmax(normalised(x) %*% weights$inner, 0) %*% weights$outer)^2)
  }
)

# ---- matrices, images, prices --------------------------------------------------------------------------------
table <- matrix(rnorm(2000 * 50), 2000) %*% matrix(rnorm(2500), 50)
analyses[["PCA"]] <- list(
  peer = "prcomp()",
  anvil = function() {
    components <- jit(function(x) {
      s <- svd(sweep(x, 2, colMeans(x)))
      list(sdev = s$d / sqrt(nrow(x) - 1), rotation = s$v)
    }, convert = TRUE)
    function() {
      found <- components(table)
      c(as_array(found$sdev), abs(as_array(found$rotation)))
    }
  },
  r = function() {
    found <- prcomp(table)
    c(found$sdev, abs(found$rotation))
  }
)

analyses[["images"]] <- list(
  peer = "sums of shifted matrices",
  anvil = function() {
    edges <- jit(function(x) {
      blur <- outer(dnorm(-3:3), dnorm(-3:3))
      sobel <- outer(c(1, 2, 1), c(-1, 0, 1))
      smooth <- nv_conv2d(nv_reshape(x, c(1, 1, dim(x))), array(blur / sum(blur), c(1, 1, 7, 7)))
      slopes <- nv_conv2d(smooth, nv_tensor(aperm(array(c(sobel, t(sobel)), c(3, 3, 1, 2)), c(4, 3, 1, 2))))
      drop(sqrt(sum(slopes^2, dims = 2)))
    }, convert = TRUE)
    function() as_array(edges(volcano))
  },
  r = function() {
    filtered <- function(x, k) {
      n <- dim(x) - dim(k) + 1
      Reduce(`+`, lapply(seq_along(k), function(i) {
        at <- arrayInd(i, dim(k))
        k[i] * x[at[1] - 1 + seq_len(n[1]), at[2] - 1 + seq_len(n[2])]
      }))
    }
    blur <- outer(dnorm(-3:3), dnorm(-3:3))
    sobel <- outer(c(1, 2, 1), c(-1, 0, 1))
    smooth <- filtered(volcano, blur / sum(blur))
    sqrt(filtered(smooth, sobel)^2 + filtered(smooth, t(sobel))^2)
  }
)

normals <- matrix(rnorm(64 * 20000), 20000)
analyses[["option pricing"]] <- list(
  peer = "R, derivatives by differences",
  anvil = function() {
    price <- function(spot, rate, sd, z) {
      growth <- (rate - sd^2 / 2) / 64 + sd / 8 * z
      path <- spot * exp(nv_cumsum(growth, 2))
      exp(-rate) * mean(pmax(rowMeans(path) - 100, 0))
    }
    greeks <- jit(value_and_gradient(price, c("spot", "rate", "sd")), convert = TRUE)
    z <- nv_tensor(normals)
    function() unlist(map_tree(as.numeric, greeks(100, 0.03, 0.2, z)))
  },
  r = function() {
    price <- function(p) {
      path <- (p[2] - p[3]^2 / 2) / 64 + p[3] / 8 * normals
      for (k in 2:64) path[, k] <- path[, k - 1] + path[, k]
      exp(-p[2]) * mean(pmax(rowMeans(p[1] * exp(path)) - 100, 0))
    }
    at <- c(100, 0.03, 0.2)
    c(price(at), sapply(1:3, function(i) (price(replace(at, i, at[i] * (1 + 1e-5))) - price(replace(at, i, at[i] * (1 - 1e-5)))) / (2e-5 * at[i])))
  }
)

analyses[["a function of a package, 1000 calls"]] <- list(
  peer = "the same in R",
  anvil = function() {
    density <- jit(function(x, mean, sd) sum(dnorm(x, mean, sd, log = TRUE)), convert = TRUE)
    x <- nv_tensor(seq(-1, 1, length.out = 100))
    function() vapply(1:1000, function(i) as.numeric(density(x, i / 1000, 1)), 0)
  },
  r = function() {
    x <- seq(-1, 1, length.out = 100)
    vapply(1:1000, function(i) sum(dnorm(x, i / 1000, 1, log = TRUE)), 0)
  }
)

# ---- the table --------------------------------------------------------------------------------------------------
now <- function() sum(proc.time()[1:2])
seconds <- function(f) {
  start <- now()
  f()
  now() - start
}
# Of one call, measured for a tenth of a second or longer at a time.
least <- function(f, first) {
  times <- max(1, ceiling(0.1 / max(first, 1e-4)))
  min(replicate(if (first > 1) 2 else 7, seconds(function() for (i in seq_len(times)) f()) / times))
}
code_lines <- function(f) length(deparse(body(f))) - 2L * identical(body(f)[[1L]], quote(`{`))

chosen <- commandArgs(trailingOnly = TRUE)
rows <- lapply(if (length(chosen)) chosen else names(analyses), function(name) {
  row <- analyses[[name]]
  first <- seconds(function() {
    run <<- row$anvil()
    mine <<- run()
  })
  peer <- seconds(function() theirs <<- row$r())
  difference <- max(abs(unname(c(mine)) - unname(c(theirs)))) / max(abs(theirs))
  if (difference > if (isTRUE(row$random)) 0.1 else 1e-3) stop(name, ": results are apart by ", format(difference))
  found <- data.frame(
    analysis = name, anvil_s = least(run, seconds(run)), first_s = first, peer = row$peer, peer_s = least(row$r, peer),
    difference = difference, anvil_lines = code_lines(row$anvil), peer_lines = code_lines(row$r)
  )
  cat(sprintf("%-36s anvil %9.5f s (first %6.2f), %-30s %9.5f s, apart by %.1g\n", name, found$anvil_s, first, row$peer, found$peer_s, difference))
  found
})
dir.create("results", showWarnings = FALSE)
table <- do.call(rbind, rows)
for (column in c("anvil_s", "first_s", "peer_s", "difference")) table[[column]] <- signif(table[[column]], 3)
if (!length(chosen)) utils::write.csv(table, "results/analyses.csv", row.names = FALSE)
