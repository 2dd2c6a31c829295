# The package against C on the same data, and base R beside them where it has the operation:
# medians of interleaved samples, ratios within one run. See run.
suppressPackageStartupMessages(library(anvil))
invisible(dyn.load(file.path("build", "peers.so")))
peer <- function(name, ...) .Call(paste0("peer_", name), ...)
only <- commandArgs(trailingOnly = TRUE)
seconds <- as.numeric(Sys.getenv("BENCH_SECONDS", "0.4"))
now <- function() as.numeric(Sys.time())
rows <- list()
set.seed(1)

tensor <- function(x, dtype = "f32") nv_tensor(x, dtype = dtype)
floats <- function(n) raw(4 * n)
bytes <- function(x) if (identical(as.character(dtype(x)), "f64")) as.vector(as_array(x)) else as_raw(x)

# Medians of alternating samples; short functions are repeated within a sample. The first
# calls compile and touch memory that nobody has used yet; they are not measured. R collects
# garbage between samples: the C programs write into the same memory again and again.
alternate <- function(functions) {
  repeats <- vapply(functions, function(f) {
    for (k in 1:12) f()
    n <- 1
    repeat {
      t <- now()
      for (i in seq_len(n)) f()
      if (now() - t > 2e-3 || n > 1e6) break
      n <- n * 2
    }
    n
  }, 0)
  samples <- lapply(functions, function(f) numeric())
  stop_at <- now() + seconds * length(functions)
  while (now() < stop_at || length(samples[[1]]) < 5) {
    for (k in seq_along(functions)) {
      gc()
      t <- now()
      for (i in seq_len(repeats[k])) functions[[k]]()
      samples[[k]] <- c(samples[[k]], (now() - t) / repeats[k])
    }
  }
  vapply(samples, stats::median, 0)
}
compare <- function(workload, size, dtype, anvil, c, base = NULL) {
  if (length(only) && !any(vapply(only, grepl, NA, x = workload, fixed = TRUE))) return(invisible())
  t <- alternate(Filter(Negate(is.null), list(anvil = anvil, c = c, base = base)))
  rows[[length(rows) + 1L]] <<- data.frame(
    workload = workload, size = size, dtype = dtype, anvil_ms = 1e3 * t[["anvil"]], c_ms = 1e3 * t[["c"]],
    base_ms = if (is.null(base)) NA else 1e3 * t[["base"]], over_c = t[["anvil"]] / t[["c"]]
  )
  cat(sprintf("%-18s %-14s %-4s %10.4f ms  %6.2f x C\n", workload, size, dtype, 1e3 * t[["anvil"]], t[["anvil"]] / t[["c"]]))
}

# ---- elementwise and reductions ----------------------------------------------------
phi <- function(x) 0.5 * (1 + nv_erf(x * 0.7071067811865476))
black_scholes <- jit(function(s, k, t) {
  vst <- 0.30 * sqrt(t)
  d1 <- (log(s / k) + 0.065 * t) / vst
  d2 <- d1 - vst
  df <- k * exp(-0.02 * t)
  call <- s * phi(d1) - df * phi(d2)
  list(call, call - s + df)
})
for (n in c(1e4, 1e6)) for (d in c("f32", "f64")) local({
  s <- tensor(runif(n, 5, 30), d); k <- tensor(runif(n, 1, 100), d); t <- tensor(runif(n, .25, 10), d)
  in_c <- lapply(list(s, k, t), bytes)
  out <- if (d == "f64") list(numeric(n), numeric(n)) else list(floats(n), floats(n))
  compare("black_scholes", format(n), d, function() black_scholes(s, k, t),
    function() peer(paste0("black_scholes_", d), in_c[[1]], in_c[[2]], in_c[[3]], out[[1]], out[[2]]))
})
n <- 1e7
x <- runif(n)
v <- tensor(x); vd <- tensor(x, "f64"); vb <- as_raw(v); out <- floats(n); outd <- numeric(n)
chain20 <- jit(function(v) { for (i in 1:4) v <- sqrt(nv_max(v * .9 + .1, 0) + 1); v })
compare("chain20", "1e7", "f32", function() chain20(v), function() peer("chain20", vb, out),
  function() { y <- x; for (i in 1:4) y <- sqrt(pmax(y * .9 + .1, 0) + 1); y })
total <- jit(function(v) sum(v))
compare("sum", "1e7", "f32", function() total(v), function() peer("sum_f32", vb))
compare("sum", "1e7", "f64", function() total(vd), function() peer("sum_f64", x), function() sum(x))
meanvar <- jit(function(v) { m <- sum(v) / n; d <- v - m; list(m, sum(d * d) / (n - 1)) })
compare("meanvar", "1e7", "f32", function() meanvar(v), function() peer("meanvar", vb), function() var(x))
running <- jit(function(v) nv_cumsum(v))
compare("cumsum", "1e7", "f32", function() running(v), function() peer("cumsum_f32", vb, out))
compare("cumsum", "1e7", "f64", function() running(vd), function() peer("cumsum_f64", x, outd), function() cumsum(x))
rm(x, v, vd, vb, out, outd)

# rows are contiguous: dimension 1
xm <- matrix(runif(4096 * 1024), 1024)
m <- tensor(xm); gain <- tensor(rep(1, 1024)); mb <- as_raw(m); gb <- as_raw(gain); out <- floats(length(xm))
spread <- function(x, like) nv_broadcast_to(x, shape(like))
logsumexp <- jit(function(m) { k <- nv_reduce_max(m, dims = 1L, drop = FALSE); k + log(nv_reduce_sum(exp(m - spread(k, m)), dims = 1L, drop = FALSE)) })
compare("logsumexp", "4096x1024", "f32", function() logsumexp(m), function() peer("logsumexp", mb, 1024L, out))
softmax <- jit(function(m) { k <- nv_reduce_max(m, dims = 1L, drop = FALSE); e <- exp(m - spread(k, m)); e / spread(nv_reduce_sum(e, dims = 1L, drop = FALSE), m) })
compare("softmax", "4096x1024", "f32", function() softmax(m), function() peer("softmax", mb, 1024L, out))
layernorm <- jit(function(m, g) {
  mu <- nv_reduce_sum(m, dims = 1L, drop = FALSE) / 1024
  d <- m - spread(mu, m)
  variance <- nv_reduce_sum(d * d, dims = 1L, drop = FALSE) / 1024
  gm <- spread(nv_reshape(g, c(1024L, 1L)), m)
  d * spread(1 / sqrt(variance + 1e-5), m) * gm + gm
})
compare("layernorm", "4096x1024", "f32", function() layernorm(m, gain), function() peer("layernorm", mb, gb, 1024L, out))
strided <- jit(function(m) nv_reduce_sum(m, dims = 2L))
compare("sum_strided", "4096x1024", "f32", function() strided(m), function() peer("sum_strided", mb, 1024L, out), function() rowSums(xm))
rm(xm, m, mb, out)

# ---- models ---------------------------------------------------------------------------
logreg <- function(steps) jit(function(X, y) nv_while(
  list(beta = nv_fill(0, c(shape(X)[2L], 1L), dtype = "f32"), alpha = nv_scalar(0, "f32"), i = nv_scalar(0L, "i32")),
  function(beta, alpha, i) i < steps,
  function(beta, alpha, i) {
    loss <- function(beta, alpha) { z <- X %*% beta; z <- z + alpha; sum(nv_max(z, 0) + nv_log1p(exp(-abs(z))) - y * z) / shape(X)[1L] }
    g <- gradient(loss, wrt = c("beta", "alpha"))(beta, alpha)
    list(beta = beta - 0.1 * g$beta, alpha = alpha - 0.1 * g$alpha, i = i + 1L)
  }))
for (k in list(list(2201L, 5L, 1000L), list(100000L, 20L, 20L))) local({
  X <- tensor(matrix(runif(k[[1]] * k[[2]], -1, 1), k[[1]])); y <- tensor(matrix(as.double(runif(k[[1]]) < .3)))
  f <- logreg(k[[3]]); xb <- as_raw(X); yb <- as_raw(y); out <- floats(k[[2]])
  compare("logreg", sprintf("%dx%d %dit", k[[1]], k[[2]], k[[3]]), "f32", function() f(X, y), function() peer("logreg", xb, yb, k[[3]], out))
})
mlp_loss <- function(P, x, y) {
  for (l in P[-length(P)]) { z <- x %*% l$W; x <- nv_max(z + spread(l$b, z), 0) }
  l <- P[[length(P)]]; z <- x %*% l$W; d <- z + spread(l$b, z) - y
  sum(d * d) / shape(y)[1L]
}
for (k in list(c(32, 1, 0), c(32, 40, 4), c(128, 40, 4), c(32, 80, 4))) local({
  batch <- as.integer(k[1]); width <- as.integer(k[2]); depth <- as.integer(k[3]); batches <- 1024L %/% batch
  sizes <- c(10L, rep(width, depth), 1L)
  P <- unname(Map(function(a, b) list(W = tensor(matrix(.05, a, b)), b = tensor(matrix(0, 1, b))), sizes[-length(sizes)], sizes[-1]))
  X <- tensor(array(rnorm(1024 * 10), c(batch, 10L, batches))); Y <- tensor(array(rnorm(1024), c(batch, 1L, batches)))
  train <- jit(function(P, X, Y) nv_while(list(P = P, l = nv_scalar(0, "f32"), i = nv_scalar(0L, "i32")),
    function(P, l, i) i < batches,
    function(P, l, i) {
      one <- nv_scalar(1L, "i32")
      x <- nv_reshape(nvl_dynamic_slice(X, one, one, i + 1L, slice_sizes = c(batch, 10L, 1L)), c(batch, 10L))
      y <- nv_reshape(nvl_dynamic_slice(Y, one, one, i + 1L, slice_sizes = c(batch, 1L, 1L)), c(batch, 1L))
      r <- value_and_gradient(function(P) mlp_loss(P, x, y), wrt = "P")(P)
      list(P = Map(function(p, g) list(W = p$W - 1e-4 * g$W, b = p$b - 1e-4 * g$b), P, r$grad$P), l = r$value, i = i + 1L)
    }))
  xb <- as_raw(X); yb <- as_raw(Y)
  compare("mlp epoch", sprintf("B%d L%d x%d", batch, width, depth), "f32", function() train(P, X, Y), function() peer("mlp", xb, yb, batch, width, depth, 1L))
})

# ---- indices ------------------------------------------------------------------------------
take_rows <- jit(function(x, i) nvl_gather(x, i, c(1L, shape(x)[2L]), offset_dims = 2L, collapsed_slice_dims = 1L, operand_batching_dims = integer(), start_indices_batching_dims = integer(), start_index_map = 1L, index_vector_dim = 2L))
for (d in c("f32", "f64")) local({
  x <- tensor(matrix(runif(1e5), 1e4), d); i <- sample(1e4L, 1e5L, TRUE); ti <- nv_tensor(i); xb <- bytes(x)
  out <- if (d == "f64") numeric(1e6) else floats(1e6)
  m <- if (d == "f64") as_array(x) else NULL
  compare("rows x[i, ]", "1e5 of 1e4x10", d, function() take_rows(x, ti), function() peer(paste0("rows_", d), xb, i, 10000L, out), if (!is.null(m)) function() m[i, ])
})
bins <- sample(1000L, 1e6L, TRUE); weights <- runif(1e6); t_bins <- nv_tensor(bins); t_weights <- tensor(weights, "f64"); out <- numeric(1000)
histogram <- jit(function(i, w) nvl_scatter(nv_fill(0, 1000L, dtype = "f64"), i, w, update_window_dims = integer(), inserted_window_dims = 1L, input_batching_dims = integer(), scatter_indices_batching_dims = integer(), scatter_dims_to_operand_dims = 1L, index_vector_dim = 2L, update_computation = function(old, new) old + new))
compare("histogram", "1e6, 1000 bins", "f64", function() histogram(t_bins, t_weights), function() peer("histogram", bins, weights, out))

# ---- loops ------------------------------------------------------------------------------
counter <- jit(function(v) nv_while(list(v = v, i = nv_scalar(0L, "i32")), function(v, i) i < 1000000L, function(v, i) list(v = v * .999 + .001, i = i + 1L)))
one <- nv_scalar(1, "f64")
compare("counter", "1e6 steps", "f64", function() counter(one), function() peer("counter", 1, 1000000L))
T0 <- matrix(0, 100, 100); T0[50, 50] <- 100
heat <- jit(function(T) nv_while(list(T = T, i = nv_scalar(0L, "i32")), function(T, i) i < 1000L, function(T, i) {
  T[2:99, 2:99] <- T[2:99, 2:99] + .1 * (T[1:98, 2:99] + T[3:100, 2:99] + T[2:99, 1:98] + T[2:99, 3:100] - 4 * T[2:99, 2:99])
  list(T = T, i = i + 1L)
}))
tt <- tensor(T0, "f64")
compare("heat2d", "100x100 1000st", "f64", function() heat(tt), function() peer("heat", T0, 100L, 1000L))
M <- matrix(c(.9, -.1, 0, .1, .9, 0, 0, 0, .99), 3)
scan3 <- jit(function(A, M) nv_while(list(A = A, i = nv_scalar(0L, "i32")), function(A, i) i < 10000L, function(A, i) list(A = A %*% M, i = i + 1L)))
ta <- tensor(diag(3), "f64"); tm <- tensor(M, "f64")
compare("scan_3x3", "10000 steps", "f64", function() scan3(ta, tm), function() peer("scan3", M, 10000L))
chain_gradient <- jit(gradient(function(v, a) { for (i in 1:500) v <- nv_sin(v * a); v }, wrt = "v"))
a <- nv_scalar(1.1, "f64"); b <- nv_scalar(.7, "f64")
compare("chain_gradient", "1000 ops", "f64", function() chain_gradient(b, a), function() peer("chain_gradient", .7, 1.1))
add <- jit(function(a, b) a + b)
compare("call", "scalar add", "f64", function() add(a, b), function() peer("add", .7, 1.1))

# ---- first calls: trace, differentiate, compile, run ---------------------------------------
first_call <- function(name, make, ...) {
  if (length(only) && !any(vapply(only, grepl, NA, x = "first call", fixed = TRUE))) return(invisible())
  t <- vapply(1:7, function(k) { f <- make(); t <- now(); f(...); now() - t }, 0)
  cat(sprintf("%-18s %-28s %8.2f ms\n", "first call", name, 1e3 * stats::median(t)))
  rows[[length(rows) + 1L]] <<- data.frame(workload = "first call", size = name, dtype = "", anvil_ms = 1e3 * stats::median(t), c_ms = NA, base_ms = NA, over_c = NA)
}
z <- nv_scalar(1, "f32")
first_call("2 operations", function() jit(function(a, b) a * 2 + nv_sin(b)), z, z)
first_call("1000 operations", function() jit(function(v) { for (i in 1:500) v <- v * 1.01 + .5; v }), tensor(rep(1, 1000)))

# ---- results ----------------------------------------------------------------------------
results <- do.call(rbind, rows)
write.csv(results, file.path("results", "table.csv"), row.names = FALSE)
number <- function(x, digits = 3) ifelse(is.na(x), "", format(signif(x, digits), trim = TRUE, scientific = FALSE, drop0trailing = TRUE))
lines <- c("| workload | size | dtype | anvil, ms | C, ms | base R, ms | anvil / C |", "|---|---|---|---|---|---|---|",
  sprintf("| %s | %s | %s | %s | %s | %s | %s |", results$workload, results$size, results$dtype, vapply(results$anvil_ms, number, ""),
    vapply(results$c_ms, number, ""), vapply(results$base_ms, number, ""), vapply(results$over_c, number, "", digits = 2)))
writeLines(lines, file.path("results", "table.md"))
rated <- results[!is.na(results$over_c) & results$workload != "call", ]
if (nrow(rated)) {
  png(file.path("results", "ratios.png"), width = 1000, height = 200 + 26 * nrow(rated), res = 110)
  par(mar = c(4, 2, 2, 2))
  rated <- rated[rev(seq_len(nrow(rated))), ]
  dotchart(log2(rated$over_c), labels = paste(rated$workload, rated$size, rated$dtype), xaxt = "n", pch = 16, cex = .8,
    color = ifelse(rated$over_c <= 2, "#2c6fbb", "#c86432"), xlab = "time over C (same machine, same run)")
  marks <- seq(floor(min(log2(rated$over_c), -1)), ceiling(max(log2(rated$over_c), 1)))
  axis(1, at = marks, labels = ifelse(marks < 0, paste0("1/", 2^-marks), 2^marks))
  abline(v = c(0, 1), lty = 2, col = "grey40")
  invisible(dev.off())
}
