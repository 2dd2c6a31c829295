# Functions of models, compiled, beside the same written out with plain operators (without the precautions for large numbers and
# empty lines), also compiled, and beside R: milliseconds, the least of some runs; and how much memory a call takes besides
# arguments and results.
#
#   R_LIBS=build/library Rscript bench/model_functions.R [threads]

suppressMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
threads <- as.integer(commandArgs(trailingOnly = TRUE)[1])
if (!is.na(threads)) anvil_threads(threads)
set.seed(1)

stored <- function(f, tensors) {
  utils::capture.output(text <- do.call(nv_inspect, c(list(f, "loops"), tensors)))
  lines <- grep(" temporary at ", strsplit(text, "\n")[[1]], value = TRUE)
  shapes <- regmatches(lines, regexpr("\\[[0-9, ]+\\]", lines))
  4 * sum(vapply(strsplit(gsub("[][ ]", "", shapes), ","), function(s) prod(as.numeric(s)), 0))
}
compare <- function(what, f, plain, base, ..., runs = 15L) {
  arrays <- list(...)
  tensors <- lapply(arrays, function(x) if (is.integer(x)) nv_tensor(x) else nv_tensor(x, dtype = "f32"))
  compiled <- list(jit(f), jit(plain))
  for (g in compiled) do.call(g, tensors)
  # in turns, as the machine may be busy
  run <- function(i) vapply(compiled, function(g) run_ms(function() do.call(g, tensors)), 0)
  ms <- apply(vapply(seq_len(runs), run, numeric(2L)), 1L, min)
  r <- if (is.null(base)) NA else min(replicate(2L, run_ms(function() do.call(base, arrays))))
  mb <- c(stored(f, tensors), stored(plain, tensors)) / 1e6
  cat(sprintf("%-34s %9.3f ms, plain %9.3f ms, R %9.1f ms; stored %8.2f MB, plain %8.2f MB\n", what, ms[1], ms[2], r, mb[1], mb[2]))
}
gradients <- function(f) function(...) gradient(function(...) sum(f(...)^2))(...)
normal <- function(...) array(rnorm(prod(...)), c(...))

x <- normal(c(4096, 1024))
softmax <- function(x) {
  e <- exp(x)
  e / nv_reduce_sum(e, 2, drop = FALSE)
}
compare("softmax 4096 x 1024", nv_softmax, softmax, function(x) exp(x) / rowSums(exp(x)), x)
compare("  gradient", gradients(nv_softmax), gradients(softmax), NULL, x)
log_sum <- function(x) log(nv_reduce_sum(exp(x), 2))
compare("logsumexp 4096 x 1024", function(x) nv_logsumexp(x, 2), log_sum, function(x) log(rowSums(exp(x))), x)
labels <- sample.int(1024L, 4096L, replace = TRUE)
entropy <- function(x, i) mean(log_sum(x) - x[nv_cbind(nv_seq(1L, 4096L), i)])
compare("cross entropy 4096 x 1024", nv_cross_entropy, entropy, function(x, i) mean(log(rowSums(exp(x))) - x[cbind(1:4096, i)]), x, labels)
compare("  gradient", gradient(nv_cross_entropy, "logits"), gradient(entropy, "x"), NULL, x, labels)
layer_norm <- function(x, w, b) {
  m <- nv_reduce_mean(x, 2, drop = FALSE)
  v <- nv_reduce_mean((x - m)^2, 2, drop = FALSE)
  (x - m) / sqrt(v + 1e-5) * nv_reshape(w, c(1, 1024)) + nv_reshape(b, c(1, 1024))
}
layer_norm_r <- function(x, w, b) {
  m <- rowMeans(x)
  v <- rowMeans((x - m)^2)
  t(t((x - m) / sqrt(v + 1e-5)) * w + b)
}
compare("layer norm 4096 x 1024", nv_layer_norm, layer_norm, layer_norm_r, x, rnorm(1024), rnorm(1024))
compare("  gradient", gradients(nv_layer_norm), gradients(layer_norm), NULL, x, rnorm(1024), rnorm(1024))

q <- normal(c(4, 8, 256, 64))
attention <- function(q, k, v) nv_matmul(softmax4(nv_tcrossprod(q, k) / 8), v)
softmax4 <- function(x) {
  e <- exp(x)
  e / nv_reduce_sum(e, 4, drop = FALSE)
}
attention_r <- function(q, k, v) {
  for (i in 1:4) for (j in 1:8) {
    e <- exp(tcrossprod(q[i, j, , ], k[i, j, , ]) / 8)
    q[i, j, , ] <- (e / rowSums(e)) %*% v[i, j, , ]
  }
  q
}
compare("attention 4 x 8 x 256 x 64", nv_attention, attention, attention_r, q, normal(dim(q)), normal(dim(q)))
compare("  gradient", gradients(nv_attention), gradients(attention), NULL, q, normal(dim(q)), normal(dim(q)))
compare("  causal", function(q, k, v) nv_attention(q, k, v, causal = TRUE), attention, NULL, q, normal(dim(q)), normal(dim(q)))

image <- normal(c(32, 16, 28, 28))
kernel <- normal(c(32, 16, 3, 3)) / 12
by_products <- function(x, k, b) { # a product of matrices for each element of the kernel
  x <- nv_pad(x, 0, c(0L, 0L, 1L, 1L), c(0L, 0L, 1L, 1L))
  parts <- lapply(0:8, function(e) {
    i <- e %% 3
    j <- e %/% 3
    part <- nv_static_slice(x, c(1, 1, i + 1, j + 1), c(32, 16, i + 28, j + 28))
    rows <- nv_reshape(nv_transpose(part, c(1L, 3L, 4L, 2L)), c(32 * 784, 16))
    nv_tcrossprod(rows, k[, , i + 1, j + 1])
  })
  y <- Reduce(`+`, parts) + nv_reshape(b, c(1, 32))
  nv_transpose(nv_reshape(nv_max(y, 0), c(32, 28, 28, 32)), c(1L, 4L, 2L, 3L))
}
convolution_r <- function(x, k, b) {
  padded <- array(0, c(32, 16, 30, 30))
  padded[, , 2:29, 2:29] <- x
  y <- matrix(b, 32 * 784, 32, byrow = TRUE)
  for (i in 1:3) for (j in 1:3) y <- y + tcrossprod(matrix(aperm(padded[, , i + 0:27, j + 0:27], c(1, 3, 4, 2)), ncol = 16), k[, , i, j])
  aperm(array(pmax(y, 0), c(32, 28, 28, 32)), c(1, 4, 2, 3))
}
layer <- function(x, k, b) nv_relu(nv_conv2d(x, k, padding = 1, bias = b))
compare("conv + bias + relu, 32 x 16 x 28^2", layer, by_products, convolution_r, image, kernel, rnorm(32))
compare("  gradient", gradients(layer), gradients(by_products), NULL, image, kernel, rnorm(32))
of_four <- function(x, f) {
  at <- function(i, j) nv_static_slice(x, c(1, 1, i, j), c(32, 16, 26 + i, 26 + j), c(1, 1, 2, 2))
  f(f(at(1, 1), at(2, 1)), f(at(1, 2), at(2, 2)))
}
of_four_r <- function(x, f) {
  o <- seq(1, 27, 2)
  f(x[, , o, o], x[, , o + 1, o], x[, , o, o + 1], x[, , o + 1, o + 1])
}
compare("max pool 2 x 2", function(x) nv_max_pool(x, 2), function(x) of_four(x, nv_max), function(x) of_four_r(x, pmax), image)
compare("  gradient", gradients(function(x) nv_max_pool(x, 2)), gradients(function(x) of_four(x, nv_max)), NULL, image)
mean_r <- function(x) of_four_r(x, function(...) Reduce(`+`, list(...))) / 4
compare("average pool 2 x 2", function(x) nv_avg_pool(x, 2), function(x) of_four(x, `+`) / 4, mean_r, image)

n <- normal(c(1000, 16))
compare("distances 1000 x 1000 x 16", function(x, y) nv_cdist(x, y), function(x, y) {
  sqrt(nv_max(nv_reshape(nv_reduce_sum(x^2, 2), c(1000, 1)) + nv_reshape(nv_reduce_sum(y^2, 2), c(1, 1000)) - 2 * nv_tcrossprod(x, y), 0))
}, function(x, y) sqrt(pmax(outer(rowSums(x^2), rowSums(y^2), `+`) - 2 * tcrossprod(x, y), 0)), n, normal(dim(n)))
breaks <- sort(rnorm(1e5))
compare("searchsorted 1e6 in 1e5", nv_searchsorted, nv_searchsorted, findInterval, rnorm(1e6), breaks)
a <- normal(c(100, 100)) / 10
compare("expm 100 x 100", nv_expm, function(a) {
  y <- a / 64
  s <- nv_eye(100) + y
  term <- y
  for (k in 2:10) {
    term <- term %*% y / k
    s <- s + term
  }
  for (k in 1:6) s <- s %*% s
  s
}, NULL, a)
