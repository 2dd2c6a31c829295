# Whole models, each one R function that base R runs and that anvil compiles, on the same numbers in one run, one
# thread; where base R has no derivative, its side computes the value alone.
#   Rscript --vanilla models.R [name of this measurement]
# Results agree before they are timed. Adds a measurement to results/models.csv and draws all of them, results/models.png:
# by what factor anvil was faster, each time.
suppressPackageStartupMessages(library(anvil))
local_default_dtypes("f64")
anvil_threads(1L)
label <- c(commandArgs(trailingOnly = TRUE), tryCatch(system("git log -1 --format=%h", intern = TRUE), error = function(e) "here"))[1L]
set.seed(1)

now <- function() as.numeric(Sys.time())
median_ms <- function(f, seconds = 1) {
  for (i in 1:3) f()
  times <- numeric()
  until <- now() + seconds
  while (now() < until || length(times) < 5L) {
    start <- now()
    f()
    times <- c(times, now() - start)
  }
  1000 * stats::median(times)
}
normal <- function(..., scale = 1) array(rnorm(prod(...), sd = scale), c(...))
apart <- function(x, y) max(abs(as.numeric(x) - as.numeric(y))) / max(1, abs(as.numeric(y)))

rows <- list()
# base(), compiled(): the results, which agree.
compare <- function(model, base, compiled) {
  difference <- max(unlist(Map(apart, compiled(), base())))
  if (difference > 1e-9) stop(model, ": results are apart by ", format(difference))
  times <- c(base = median_ms(base), anvil = median_ms(compiled))
  rows[[length(rows) + 1L]] <<- data.frame(
    measurement = label, model = model, base_ms = signif(times[["base"]], 4), anvil_ms = signif(times[["anvil"]], 4)
  )
  cat(sprintf("%-24s base R %9.3f ms, anvil %9.3f ms: %6.1f times\n", model, times[["base"]], times[["anvil"]], times[["base"]] / times[["anvil"]]))
}

# ---- a transformer block: attention with heads, layer norm, two dense layers --------------------
transformer <- function(x, w, heads = 4L) {
  normalised <- function(x) {
    d <- sweep(x, 1L, rowMeans(x))
    sweep(d, 1L, sqrt(rowMeans(d * d) + 1e-5), "/")
  }
  width <- ncol(x) %/% heads
  attend <- function(h) {
    parts <- lapply(seq_len(heads), function(k) {
      on <- (k - 1L) * width + seq_len(width)
      e <- exp(tcrossprod(h %*% w$q[, on], h %*% w$k[, on]) / sqrt(width))
      sweep(e, 1L, rowSums(e), "/") %*% (h %*% w$v[, on])
    })
    do.call(cbind, parts) %*% w$o
  }
  x <- x + attend(normalised(x))
  x + tanh(normalised(x) %*% w$inner) %*% w$outer
}
local({
  x <- normal(128L, 64L)
  w <- c(lapply(c(q = 1, k = 1, v = 1, o = 1), function(s) normal(64L, 64L, scale = s / 8)),
    list(inner = normal(64L, 256L, scale = 1 / 8), outer = normal(256L, 64L, scale = 1 / 16)))
  compiled <- jit(transformer, static = "heads")
  tensors <- list(nv_tensor(x), lapply(w, nv_tensor))
  compare("transformer block", \() list(transformer(x, w)), \() list(compiled(tensors[[1L]], tensors[[2L]])))
})

# ---- a convolution network: two layers of 3 x 3 kernels, each halved by its largest values -----------------
# In base R a convolution is a product for each place of the kernel.
network <- function(convolve, halve, x, w) {
  x <- halve(pmax(convolve(x, w$first), 0))
  x <- halve(pmax(convolve(x, w$second), 0))
  matrix_of(x) %*% w$dense
}
matrix_of <- function(x) if (is.object(x)) nv_reshape(x, c(dim(x)[1L], prod(dim(x)[-1L]))) else matrix(x, dim(x)[1L])
convolve_r <- function(x, w) {
  size <- dim(x) - c(0L, 0L, 2L, 2L)
  out <- matrix(0, size[1L] * size[3L] * size[4L], dim(w)[1L])
  for (i in 1:3) for (j in 1:3) {
    part <- aperm(x[, , i - 1L + seq_len(size[3L]), j - 1L + seq_len(size[4L]), drop = FALSE], c(1L, 3L, 4L, 2L))
    out <- out + tcrossprod(matrix(part, nrow(out)), w[, , i, j])
  }
  aperm(array(out, c(size[c(1L, 3L, 4L)], dim(w)[1L])), c(1L, 4L, 2L, 3L))
}
halve_r <- function(x) {
  odd <- function(n) seq(1L, n - 1L, by = 2L)
  a <- odd(dim(x)[3L])
  b <- odd(dim(x)[4L])
  pmax(x[, , a, b, drop = FALSE], x[, , a + 1L, b, drop = FALSE], x[, , a, b + 1L, drop = FALSE], x[, , a + 1L, b + 1L, drop = FALSE])
}
local({
  x <- normal(16L, 1L, 30L, 30L)
  w <- list(first = normal(16L, 1L, 3L, 3L, scale = 0.3), second = normal(32L, 16L, 3L, 3L, scale = 0.1), dense = normal(32L * 36L, 10L, scale = 0.03))
  compiled <- jit(\(x, w) network(nv_conv2d, \(x) nv_max_pool(x, c(2L, 2L)), x, w))
  tensors <- list(nv_tensor(x), lapply(w, nv_tensor))
  compare("convolution network", \() list(network(convolve_r, halve_r, x, w)), \() list(do.call(compiled, tensors)))
})

# ---- recurrences: what a step does is one function; R loops over it, anvil scans ------------------
in_r <- function(init, f, xs, steps) {
  for (t in seq_len(steps)) init <- f(init, xs(t))
  init
}
in_anvil <- function(init, f, xs, steps) {
  nv_while(list(t = 1L, state = init), \(t, state) t <= steps, \(t, state) list(t = t + 1L, state = f(state, xs(t))))$state
}

gated_unit <- function(over, x, h, w) {
  width <- ncol(h)
  part <- function(y, k) y[, (k - 1L) * width + seq_len(width)]
  sigmoid <- function(y) 1 / (1 + exp(-y))
  step <- function(h, x) {
    a <- x %*% w$input
    b <- h %*% w$hidden
    r <- sigmoid(part(a, 1L) + part(b, 1L))
    z <- sigmoid(part(a, 2L) + part(b, 2L))
    (1 - z) * tanh(part(a, 3L) + r * part(b, 3L)) + z * h
  }
  sum(over(h, step, \(t) x[, , t], dim(x)[3L])^2)
}
local({
  x <- normal(32L, 64L, 50L)
  h <- normal(32L, 128L)
  w <- list(input = normal(64L, 384L, scale = 0.1), hidden = normal(128L, 384L, scale = 0.1))
  compiled <- jit(\(x, h, w) gated_unit(in_anvil, x, h, w))
  slopes <- jit(value_and_gradient(\(x, h, w) gated_unit(in_anvil, x, h, w), wrt = "w"))
  tensors <- list(nv_tensor(x), nv_tensor(h), lapply(w, nv_tensor))
  base <- \() list(gated_unit(in_r, x, h, w))
  compare("GRU", base, \() list(do.call(compiled, tensors)))
  compare("GRU, with gradient", base, \() do.call(slopes, tensors)[1L])
})

# Local level with a slope: minus the log likelihood of a series, without its constant.
kalman <- function(over, theta, y) {
  drift <- matrix(c(1, 0, 1, 1), 2L)
  noise <- exp(theta)
  step <- function(s, y) {
    m <- drift %*% s$m
    p <- drift %*% s$p %*% t(drift) + diag(noise[1:2])
    f <- p[1L, 1L] + noise[3L]
    k <- p[, 1L, drop = FALSE] / f
    e <- y - m[1L, 1L]
    list(m = m + k * e, p = p - k %*% p[1L, , drop = FALSE], nll = s$nll + 0.5 * (log(f) + e * e / f))
  }
  start <- list(m = 0 * drift[, 1L, drop = FALSE], p = 10 * diag(2L), nll = 0)
  over(start, step, \(t) y[t], length(y))$nll
}

# ---- a Gaussian process: marginal likelihood with three length scales --------------------------------
process <- function(theta, x, y) {
  x <- sweep(x, 2L, exp(-theta[1:3]), "*")
  squares <- rowSums(x * x)
  distances <- outer(squares, squares, "+") - 2 * tcrossprod(x)
  covariance <- exp(2 * theta[4L] - 0.5 * distances) + exp(2 * theta[5L]) * diag(length(y))
  upper <- chol(covariance)
  0.5 * sum(backsolve(upper, y, transpose = TRUE)^2) + sum(log(diag(upper)))
}
local({
  x <- normal(400L, 3L)
  y <- rnorm(400L)
  theta <- c(0, 0.1, -0.1, 0, -1)
  compiled <- jit(process)
  slopes <- jit(value_and_gradient(process, wrt = "theta"))
  tensors <- lapply(list(theta, x, y), nv_tensor)
  base <- \() list(process(theta, x, y))
  compare("Gaussian process", base, \() list(do.call(compiled, tensors)))
  compare("GP, with gradient", base, \() do.call(slopes, tensors)[1L])
})
local({
  y <- cumsum(rnorm(2000L))
  theta <- c(-1, -2, 0)
  compiled <- jit(\(theta, y) kalman(in_anvil, theta, y))
  slopes <- jit(value_and_gradient(\(theta, y) kalman(in_anvil, theta, y), wrt = "theta"))
  tensors <- lapply(list(theta, y), nv_tensor)
  base <- \() list(kalman(in_r, theta, y))
  compare("Kalman filter", base, \() list(do.call(compiled, tensors)))
  compare("Kalman, with gradient", base, \() do.call(slopes, tensors)[1L])
})

# ---- results, and those of before -------------------------------------------------------------------
rows <- do.call(rbind, rows)
file <- file.path("results", "models.csv")
before <- if (file.exists(file)) utils::read.csv(file, colClasses = c(measurement = "character"))
all <- rbind(before[before$measurement != label, ], rows)
utils::write.csv(all, file, row.names = FALSE)

png(file.path("results", "models.png"), 900, 90 + 42 * nrow(rows), res = 110)
par(mar = c(4, 11, 2, 1), las = 1)
models <- rev(rows$model)
measurements <- unique(all$measurement)
factors <- all$base_ms / all$anvil_ms
plot(factors, match(all$model, models), log = "x", pch = 19, axes = FALSE, xlab = "times as fast as base R", ylab = "",
  xlim = range(1, factors), ylim = c(0.5, length(models) + 0.5),
  col = grDevices::hcl.colors(length(measurements) + 1L, "Blues", rev = TRUE)[-1L][match(all$measurement, measurements)],
  main = sprintf("Whole models, one thread; darkest: %s", label), cex.main = 0.9)
abline(v = 1, col = "grey60")
axis(1)
axis(2, seq_along(models), models, tick = FALSE)
grDevices::dev.off()
