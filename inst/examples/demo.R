# Three models on data that ships with R: a logistic regression, a small neural network
# and a Gaussian process. Each is an ordinary R function, compiled as a whole, and is
# compared with the same work in base R.
#
#   Rscript inst/examples/demo.R          # needs the packages anvil and MASS
suppressPackageStartupMessages(library(anvil))
output <- Sys.getenv("ANVIL_DEMO_OUTPUT", "demo-output")
dir.create(output, showWarnings = FALSE, recursive = TRUE)

milliseconds <- function(expr) {
  start <- as.numeric(Sys.time())
  force(expr)
  1000 * (as.numeric(Sys.time()) - start)
}
readable <- function(ms) if (ms < 1) sprintf("%.0f us", 1000 * ms) else sprintf("%.1f ms", ms)
report_times <- function(first, later, base, what) {
  cli::cli_ul(c(
    paste("first call (trace, differentiate, compile, run):", readable(first)),
    paste("later calls:", readable(later)),
    sprintf("the same work in base R: %s (%s)", readable(base), what)
  ))
}
f64 <- function(x) nv_tensor(x, dtype = "f64")

# ---- logistic regression ---------------------------------------------------------
cli::cli_h1("Logistic regression: diabetes in Pima women (MASS::Pima.tr)")
train <- MASS::Pima.tr
test <- MASS::Pima.te
predictors <- setdiff(names(train), "type")
center <- colMeans(train[predictors])
spread <- apply(train[predictors], 2, sd)
design <- function(data) cbind(1, scale(as.matrix(data[predictors]), center, spread))
x <- design(train)
y <- matrix(as.numeric(train$type == "Yes"))
steps <- 4000L
rate <- 1

fit_logistic <- function(x, y) {
  n <- shape(x)[1L]
  negative_log_likelihood <- function(beta) {
    z <- x %*% beta
    sum(nv_max(z, 0) + nv_log1p(exp(-abs(z))) - y * z) / n
  }
  state <- nv_while(
    list(beta = nv_fill(0, c(ncol(x), 1L), dtype = "f64"), i = nv_scalar(0L, "i32")),
    function(beta, i) i < steps,
    function(beta, i) {
      slope <- gradient(negative_log_likelihood, wrt = "beta")(beta)$beta
      list(beta = beta - rate * slope, i = i + 1L)
    }
  )
  state$beta
}
fit_jit <- jit(fit_logistic)
tx <- f64(x)
ty <- f64(y)
first <- milliseconds(beta <- as_array(fit_jit(tx, ty)))
later <- milliseconds(for (k in 1:5) fit_jit(tx, ty)) / 5
base <- milliseconds({
  b <- matrix(0, ncol(x), 1)
  for (i in seq_len(steps)) b <- b - rate * crossprod(x, plogis(x %*% b) - y) / nrow(x)
})
reference <- coef(glm(y ~ x - 1, family = binomial()))
difference <- max(abs(beta - reference))
accuracy <- mean((plogis(design(test) %*% beta) > 0.5) == (test$type == "Yes"))
print(data.frame(term = c("(Intercept)", predictors), anvil = round(drop(beta), 5), glm = round(unname(reference), 5)), row.names = FALSE)
cli::cli_alert_info("largest difference to {.fn glm}: {signif(difference, 2)}")
cli::cli_alert_info("accuracy on the {nrow(test)} held-out women: {round(100 * accuracy, 1)} %")
report_times(first, later, base, sprintf("%d steps of gradient descent", steps))
stopifnot(difference < 1e-4)

# ---- neural network -----------------------------------------------------------------
cli::cli_h1("A neural network with relu layers: iris species")
set.seed(42)
held_out <- sample(nrow(iris), 50)
features <- scale(as.matrix(iris[1:4]))
labels <- model.matrix(~ Species - 1, iris)
sizes <- c(4L, 32L, 32L, 3L)
batch <- 20L
epochs <- 60L
learning_rate <- 0.05

initial <- Map(function(from, to) {
  list(W = matrix(rnorm(from * to) * sqrt(2 / from), from), b = matrix(0, 1, to))
}, sizes[-length(sizes)], sizes[-1])
names(initial) <- paste0("layer", seq_along(initial))

network <- function(parameters, x) {
  last <- length(parameters)
  for (k in seq_len(last)) {
    p <- parameters[[k]]
    z <- x %*% p$W
    z <- z + nv_broadcast_to(p$b, shape(z))
    x <- if (k < last) nv_max(z, 0) else z
  }
  x
}
cross_entropy <- function(parameters, x, y) {
  z <- network(parameters, x)
  top <- nv_reduce_max(z, dims = 2L, drop = FALSE)
  z <- z - nv_broadcast_to(top, shape(z))
  normaliser <- log(nv_reduce_sum(exp(z), dims = 2L, drop = FALSE))
  -sum(y * (z - nv_broadcast_to(normaliser, shape(z)))) / shape(x)[1L]
}
# One epoch of minibatch steps as one loop; rows come shuffled.
train_epoch <- function(parameters, x, y) {
  batches <- shape(x)[1L] %/% batch
  one <- nv_scalar(1L, "i32")
  state <- nv_while(
    list(parameters = parameters, loss = nv_scalar(0, "f32"), i = nv_scalar(0L, "i32")),
    function(parameters, loss, i) i < batches,
    function(parameters, loss, i) {
      start <- i * batch + 1L
      xb <- nvl_dynamic_slice(x, start, one, slice_sizes = c(batch, shape(x)[2L]))
      yb <- nvl_dynamic_slice(y, start, one, slice_sizes = c(batch, shape(y)[2L]))
      step <- value_and_gradient(function(parameters) cross_entropy(parameters, xb, yb), wrt = "parameters")(parameters)
      parameters <- Map(
        function(p, g) list(W = p$W - learning_rate * g$W, b = p$b - learning_rate * g$b),
        parameters, step$grad$parameters
      )
      list(parameters = parameters, loss = loss + step$value / batches, i = i + 1L)
    }
  )
  list(parameters = state$parameters, loss = state$loss)
}
epoch_jit <- jit(train_epoch)
predict_jit <- jit(network)
as_tensors <- function(p) lapply(p, function(l) lapply(l, nv_tensor, dtype = "f32"))

parameters <- as_tensors(initial)
losses <- numeric(epochs)
train_rows <- setdiff(seq_len(nrow(iris)), held_out)
times <- numeric(epochs)
bar <- cli::cli_progress_bar("training", total = epochs)
for (epoch in seq_len(epochs)) {
  order <- sample(train_rows)
  xs <- nv_tensor(features[order, ], dtype = "f32")
  ys <- nv_tensor(labels[order, ], dtype = "f32")
  times[epoch] <- milliseconds({
    result <- epoch_jit(parameters, xs, ys)
    losses[epoch] <- as_array(result$loss)
  })
  parameters <- result$parameters
  cli::cli_progress_update(id = bar)
}
cli::cli_progress_done(id = bar)
scores <- as_array(predict_jit(parameters, nv_tensor(features[held_out, ], dtype = "f32")))
accuracy <- mean(max.col(scores) == as.integer(iris$Species[held_out]))

base_epoch <- function(p, x, y) {
  for (k in seq_len(nrow(x) %/% batch)) {
    rows <- (k - 1L) * batch + seq_len(batch)
    inputs <- list(x[rows, ])
    for (l in seq_along(p)) {
      z <- inputs[[l]] %*% p[[l]]$W + rep(p[[l]]$b, each = batch)
      inputs[[l + 1L]] <- if (l < length(p)) pmax(z, 0) else z
    }
    z <- inputs[[length(p) + 1L]]
    e <- exp(z - apply(z, 1, max))
    delta <- (e / rowSums(e) - y[rows, ]) / batch
    for (l in rev(seq_along(p))) {
      gradient_w <- crossprod(inputs[[l]], delta)
      gradient_b <- colSums(delta)
      if (l > 1L) delta <- (delta %*% t(p[[l]]$W)) * (inputs[[l]] > 0)
      p[[l]]$W <- p[[l]]$W - learning_rate * gradient_w
      p[[l]]$b <- p[[l]]$b - learning_rate * gradient_b
    }
  }
  p
}
base <- milliseconds(for (k in 1:20) base_epoch(initial, features[train_rows, ], labels[train_rows, ])) / 20

curve <- file.path(output, "iris-loss.png")
grDevices::png(curve, width = 900, height = 600, res = 120)
plot(losses, type = "l", log = "y", lwd = 2, col = "#2c6fbb", xlab = "epoch", ylab = "mean cross-entropy", main = "Training on 100 irises", bty = "l")
grid(col = "grey85")
invisible(grDevices::dev.off())
cli::cli_alert_info("loss {signif(losses[1], 3)} after the first epoch, {signif(losses[epochs], 3)} after {epochs}; curve in {.file {curve}}")
cli::cli_alert_info("accuracy on the 50 held-out irises: {round(100 * accuracy, 1)} %")
report_times(times[1], median(times[-1]), base, "one epoch, derivatives by hand, f64")
stopifnot(accuracy > 0.9, losses[epochs] < losses[1] / 4)

# ---- Gaussian process -----------------------------------------------------------------
cli::cli_h1("A Gaussian process: acceleration of a helmet (MASS::mcycle)")
time <- as.numeric(scale(MASS::mcycle$times))
force <- as.numeric(scale(MASS::mcycle$accel))
n <- length(time)
squared_distance <- outer(time, time, function(a, b) (a - b)^2)
iterations <- 300L

# theta: logarithms of length scale, signal sd and noise sd
covariance <- function(theta, d2) {
  exp(2 * theta[2L]) * exp(-0.5 * d2 * exp(-2 * theta[1L]))
}
negative_log_marginal <- function(theta, d2, y) {
  k <- covariance(theta, d2) + exp(2 * theta[3L]) * nv_eye(shape(d2)[1L], dtype = "f64")
  l <- nv_chol(k, lower = TRUE)
  alpha <- nv_triangular_solve(l, y, lower = TRUE)
  0.5 * sum(alpha * alpha) + sum(log(nv_extract_diag(l)))
}
fit_gp <- function(theta, d2, y) {
  nv_while(
    list(theta = theta, value = nv_scalar(0, "f64"), i = nv_scalar(0L, "i32")),
    function(theta, value, i) i < iterations,
    function(theta, value, i) {
      r <- value_and_gradient(negative_log_marginal, wrt = "theta")(theta, d2, y)
      list(theta = theta - 0.005 * r$grad$theta, value = r$value, i = i + 1L)
    }
  )
}
gp_jit <- jit(fit_gp)
start <- f64(log(c(0.5, 1, 0.5)))
d2 <- f64(squared_distance)
ty <- f64(matrix(force))
first <- milliseconds(fitted <- gp_jit(start, d2, ty))
later <- milliseconds(gp_jit(start, d2, ty))
theta <- as_array(fitted$theta)

base_gradient <- function(theta) {
  signal <- exp(2 * theta[2]) * exp(-0.5 * squared_distance * exp(-2 * theta[1]))
  k <- signal + exp(2 * theta[3]) * diag(n)
  inverse <- chol2inv(chol(k))
  alpha <- inverse %*% force
  weight <- 0.5 * (inverse - tcrossprod(alpha))
  c(sum(weight * signal * squared_distance * exp(-2 * theta[1])), 2 * sum(weight * signal), 2 * exp(2 * theta[3]) * sum(diag(weight)))
}
base <- milliseconds({
  by_hand <- log(c(0.5, 1, 0.5))
  for (i in seq_len(iterations)) by_hand <- by_hand - 0.005 * base_gradient(by_hand)
})
cli::cli_alert_info("length scale {signif(exp(theta[1]), 4)}, signal sd {signif(exp(theta[2]), 4)}, noise sd {signif(exp(theta[3]), 4)}")
cli::cli_alert_info("largest difference to derivatives written by hand: {signif(max(abs(theta - by_hand)), 2)}")
report_times(first, later, base, sprintf("%d steps", iterations))
stopifnot(max(abs(theta - by_hand)) < 1e-6)

new <- seq(min(time), max(time), length.out = 200)
predict_gp <- jit(function(theta, d2, cross, y) {
  k <- covariance(theta, d2) + exp(2 * theta[3L]) * nv_eye(shape(d2)[1L], dtype = "f64")
  l <- nv_chol(k, lower = TRUE)
  half <- nv_triangular_solve(l, t(covariance(theta, cross)), lower = TRUE)
  mean <- t(half) %*% nv_triangular_solve(l, y, lower = TRUE)
  list(mean = mean, variance = exp(2 * theta[2L]) - nv_reduce_sum(half * half, dims = 1L))
})
cross <- f64(outer(new, time, function(a, b) (a - b)^2))
p <- predict_gp(fitted$theta, d2, cross, ty)
centre <- drop(as_array(p$mean))
band <- 2 * sqrt(as_array(p$variance))
picture <- file.path(output, "mcycle-gp.png")
grDevices::png(picture, width = 900, height = 600, res = 120)
plot(time, force, pch = 16, cex = 0.6, col = "grey40", xlab = "time (standardised)", ylab = "acceleration (standardised)", main = "Posterior mean and two standard deviations", bty = "l")
polygon(c(new, rev(new)), c(centre - band, rev(centre + band)), col = "#2c6fbb33", border = NA)
lines(new, centre, lwd = 2, col = "#2c6fbb")
invisible(grDevices::dev.off())
cli::cli_alert_success("done; pictures in {.path {normalizePath(output)}}")
