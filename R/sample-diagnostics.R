# How far draws, iterations x chains, can be trusted: R-hat and effective numbers of draws as Vehtari and others (2021) define them.

split_chains <- function(x) {
  half <- nrow(x) %/% 2L
  cbind(x[seq_len(half), , drop = FALSE], x[nrow(x) - half + seq_len(half), , drop = FALSE])
}

# Normal scores of ranks: diagnostics of them exist where means and variances do not.
normal_scores <- function(x) {
  x[] <- stats::qnorm((rank(x) - 3 / 8) / (length(x) + 1 / 4))
  x
}

is_constant <- function(x) !all(is.finite(x)) || max(x) == min(x) || nrow(x) < 4L

rhat <- function(x) {
  if (is_constant(x)) {
    return(NA_real_)
  }
  of <- function(x) {
    x <- normal_scores(split_chains(x))
    within <- mean(apply(x, 2L, stats::var))
    sqrt((nrow(x) - 1) / nrow(x) + stats::var(colMeans(x)) / within)
  }
  max(of(x), of(abs(x - stats::median(x))))
}

ess_bulk <- function(x) if (is_constant(x)) NA_real_ else ess(normal_scores(split_chains(x)))

ess_tail <- function(x) {
  of <- function(p) ess(split_chains((x <= stats::quantile(x, p)) + 0))
  if (is_constant(x)) NA_real_ else min(of(0.05), of(0.95))
}

# By Geyer's initial monotone sequence: sums of pairs of autocorrelations, as long as they are positive.
ess <- function(x) {
  n <- nrow(x)
  if (is_constant(x)) {
    return(NA_real_)
  }
  covariances <- autocovariances(x)
  within <- mean(covariances[1L, ]) * n / (n - 1)
  total <- within * (n - 1) / n + if (ncol(x) > 1L) stats::var(colMeans(x)) else 0
  rho <- 1 - (within - rowMeans(covariances)) / total
  rho[1L] <- 1
  pairs <- rho[seq(1L, n - 1L, 2L)] + rho[seq(2L, n, 2L)]
  end <- match(TRUE, pairs <= 0, nomatch = length(pairs) + 1L)
  next_one <- if (end <= length(pairs)) max(rho[2L * end - 1L], 0) else 0
  tau <- -1 + 2 * sum(cummin(pairs[seq_len(end - 1L)])) + next_one
  length(x) / max(tau, 1 / log10(length(x)))
}

# Of each chain, at lags from 0, by the Fourier transform.
autocovariances <- function(x) {
  n <- nrow(x)
  padded <- rbind(sweep(x, 2L, colMeans(x)), matrix(0, stats::nextn(2L * n) - n, ncol(x)))
  Re(stats::mvfft(abs(stats::mvfft(padded))^2, inverse = TRUE))[seq_len(n), , drop = FALSE] / nrow(padded) / n
}
