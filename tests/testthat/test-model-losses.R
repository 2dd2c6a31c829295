logits <- rbind(c(2, 0, -1), c(0, 1, 5), c(-3, 40, 2), c(1, 1, 1))
classes <- c(1L, 3L, 1L, 2L)
log_p <- logits - log(rowSums(exp(logits)))

test_that("cross entropies are sums of logarithms of probabilities", {
  by_class <- -log_p[cbind(1:4, classes)]
  expect_close(both(function(x, i) nv_cross_entropy(x, i, reduction = "none"), f64(logits), nv_tensor(classes)), by_class, 1e-13)
  expect_equal(c(both(nv_cross_entropy, f64(logits), nv_tensor(classes, dtype = "ui8"))), mean(by_class))
  expect_equal(flat(nv_cross_entropy(f64(logits), classes, reduction = "sum")), sum(by_class))
  expect_equal(flat(nv_cross_entropy(f64(t(logits)), nv_tensor(classes), dims = 1)), mean(by_class))
  share <- rbind(c(0.5, 0.5, 0), c(0, 0, 1), c(0.2, 0.3, 0.5), c(1, 0, 0))
  expect_equal(c(both(nv_cross_entropy, f64(logits), f64(share))), -mean(rowSums(share * log_p)))
  expect_equal(c(both(nv_cross_entropy, rows_of(c(-Inf, 0)), rows_of(c(0, 1)))), 0)
  expect_equal(flat(nv_cross_entropy(f64(c(0, -Inf)), nv_scalar(2L))), Inf)
  hot <- as_array(nv_one_hot(nv_tensor(classes), 3, dtype = "f64"))
  expect_close(gradient_of(function(x) nv_cross_entropy(x, nv_tensor(classes), reduction = "sum"), f64(logits)), exp(log_p) - hot, 1e-12, absolute = 1e-15)
  images <- array(rnorm(24), c(2, 3, 2, 2))
  labels <- array(c(1L, 3L, 2L, 1L), c(2, 2, 2))
  expected <- -mean(mapply(function(n, i, j) images[n, labels[n, i, j], i, j] - log(sum(exp(images[n, , i, j]))), slice.index(labels, 1), slice.index(labels, 2), slice.index(labels, 3)))
  expect_equal(flat(nv_cross_entropy(f64(images), nv_tensor(labels), dims = 2)), expected)
})

test_that("a class that is not there is an error, compiled NaN", {
  expect_error(nv_cross_entropy(f64(logits), nv_tensor(c(1L, 3L, 1L, 4L))), "`target` must hold numbers from 1 to 3", class = "anvil_error_index")
  loss <- jit(function(x, i) nv_cross_entropy(x, i, reduction = "none"))
  expect_equal(is.nan(flat(loss(f64(logits), nv_tensor(c(1L, 0L, -1L, 4L))))), c(FALSE, TRUE, TRUE, TRUE))
  withr::local_options(anvil.check_index = TRUE)
  expect_error(jit(function(x, i) nv_cross_entropy(x, i))(f64(logits), nv_tensor(c(1L, 3L, 1L, 4L))), class = "anvil_error_index")
})

test_that("two classes from one logit", {
  x <- c(-800, -2, 0, 1, 40, 800)
  y <- c(0, 1, 0.3, 1, 1, 0)
  expected <- -(ifelse(y == 0, 0, y * plogis(x, log.p = TRUE)) + ifelse(y == 1, 0, (1 - y) * plogis(-x, log.p = TRUE)))
  expect_close(both(function(x, y) nv_binary_cross_entropy(x, y, "none"), f64(x), f64(y)), expected, 1e-14)
  expect_close(gradient_of(function(x) nv_binary_cross_entropy(x, f64(y), "sum"), f64(x)), plogis(x) - y, 1e-12, absolute = 1e-15)
  expect_equal(flat(nv_binary_cross_entropy(f64(x), 1)), mean(-plogis(x, log.p = TRUE)))
})

test_that("losses of numbers", {
  x <- c(1, -2, 0.5, 3)
  y <- c(1, 1, 0, -1)
  r <- x - y
  none <- function(f) c(both(function(x, y) f(x, y, reduction = "none"), f64(x), f64(y)))
  expect_equal(none(nv_mse), r^2)
  expect_equal(none(nv_mae), abs(r))
  expect_equal(none(nv_huber), ifelse(abs(r) <= 1, r^2 / 2, abs(r) - 0.5))
  expect_equal(flat(nv_huber(f64(x), f64(y), delta = 2)), mean(ifelse(abs(r) <= 2, r^2 / 2, 2 * (abs(r) - 1))))
  expect_equal(none(nv_hinge), pmax(0, 1 - x * y))
  expect_equal(flat(nv_mse(nv_tensor(1:3), 2L)), 2 / 3, tolerance = 1e-6)
  p <- rbind(c(0.5, 0.5, 0), c(0.2, 0.2, 0.6))
  q <- rbind(c(0.2, 0.3, 0.5), c(0.1, 0.1, 0.8))
  kl <- c(sum(p[1, 1:2] * log(p[1, 1:2] / q[1, 1:2])), sum(p[2, ] * log(p[2, ] / q[2, ])))
  expect_equal(c(both(nv_kl_divergence, f64(p), f64(q))), mean(kl))
  expect_equal(c(both(function(p, q) nv_kl_divergence(log(p), log(q), log = TRUE, reduction = "none"), f64(p), f64(q))), kl)
  expect_equal(flat(nv_kl_divergence(f64(q), f64(p), reduction = "none"))[1], Inf)
})

test_that("losses are checked", {
  i <- nv_tensor(c(1L, 3L))
  expect_checked(nv_cross_entropy, of_f64(2, 3), i)
  expect_checked(function(x, y) nv_cross_entropy(x, nv_softmax(y)), of_f64(2, 3), of_f64(2, 3))
  expect_checked(function(x, y) nv_kl_divergence(nv_softmax(x), nv_softmax(y)), of_f64(2, 3), of_f64(2, 3))
  for (f in list(nv_binary_cross_entropy, nv_mse, nv_mae, nv_huber, nv_hinge)) expect_checked(f, of_f64(4), of_f64(4))
})

test_that("a class that is certain and right costs nothing", {
  logits <- f64(c(Inf, -Inf, Inf, -Inf))
  of <- function(x) nv_binary_cross_entropy(x, f64(c(1, 0, 0, 1)), reduction = "none")
  expect_identical(flat(of(logits)), c(0, 0, Inf, Inf))
  expect_identical(flat(gradient(function(x) sum(of(x)))(logits)$x), c(0, 0, 1, -1))
  by_target <- gradient(function(y) nv_binary_cross_entropy(f64(c(1, 2)), y, reduction = "sum"))(f64(c(1, 0)))$y
  expect_equal(flat(by_target), c(-1, -2))
})

test_that("classes may be a factor", {
  classes <- factor(c("b", "a", "a", "c"), levels = c("a", "b", "c"))
  x <- f64(matrix(sin(1:12), 4))
  expect_identical(flat(nv_cross_entropy(x, classes)), flat(nv_cross_entropy(x, nv_tensor(c(2L, 1L, 1L, 3L)))))
  expect_error(nv_cross_entropy(x, replace(classes, 1, NA)), "`target` has missing values", class = "anvil_error_missing")
})

test_that("errors name what is wrong", {
  expect_snapshot(error = TRUE, {
    nv_mse(f64(1:3), rows_of(1, 2, 3))
    nv_mse(f64(1:3), f64(1:3), reduction = "max")
    nv_cross_entropy(f64(logits), nv_tensor(1:3))
    nv_cross_entropy(f64(logits), f64(c(1, 2, 3, 1)))
    nv_cross_entropy(nv_tensor(1:3), nv_scalar(1L))
    nv_cross_entropy(f64(logits), nv_tensor(c(1L, 3L, 1L, 4L)))
    nv_huber(f64(1), f64(1), delta = 0)
    nv_kl_divergence(nv_scalar(1), nv_scalar(1))
  })
})
