v <- c(3, 1, 2)
m <- matrix(c(1, 2, 3, 4, 5, 7), 2)
s <- matrix(c(4, 1, 1, 3), 2)
data <- list(v = v, m = m, s = s, w = c(NaN, 1, 2), k = c(1L, 3L, 3L))

expect_as_in_r <- function(code) {
  for (one in as.list(code)) expect_identical(differences_from_r(one, data), character())
}

test_that("reductions, statistics and margins are R's", {
  expect_as_in_r(expression(
    rowSums(m), colSums(m), rowMeans(m), colMeans(m), rowSums(m > 2), sweep(m, 1, c(1, 2)), sweep(m, 2, v), marginSums(m), marginSums(m, 2), proportions(m), proportions(m, 1), margin.table(m, c(2, 1)), marginSums(outer(m, v), c(3, 1)), prop.table(outer(m, v), c(1, 3)), sweep(m, 2, colMeans(m), "/"),
    scale(s), scale(s, scale = FALSE), scale(s, center = c(1, 2), scale = FALSE), range(v), range(0, v), max(1, v), sum(1, v), prod(2, v), min(c(0, 9), v),
    any(FALSE, v > 1), all(TRUE, v > 1), median(v), median(m), quantile(v), quantile(v, 0.3), var(v), sd(v), var(m), cov(m), cov(v, rev(v)), cor(s), cor(t(m), v),
    sum(w, na.rm = TRUE), mean(w, na.rm = TRUE), max(w, na.rm = TRUE), min(0, w, na.rm = TRUE), range(w, na.rm = TRUE), var(w, na.rm = TRUE), sd(w, na.rm = TRUE),
    median(w, na.rm = TRUE), quantile(w, c(0.1, 0.9), na.rm = TRUE), rowSums(rbind(w, v), na.rm = TRUE), colMeans(rbind(w, v), na.rm = TRUE),
    scale(cbind(w, v)), scale(cbind(w, v), TRUE, c(2, 3)), scale(cbind(w, v), FALSE), var(cbind(w, v), na.rm = TRUE), cov(cbind(w, v), v, use = "complete.obs"), cor(cbind(w, v), use = "complete.obs"),
    var(head(v, 0)), sd(head(v, 0)), cov(head(v, 0), head(v, 0)), var(c(1, Inf, v), na.rm = TRUE), median(c(-Inf, -Inf, v)), quantile(c(-Inf, v), c(0, 0.1, 0.5)), quantile(c(v, Inf), 0.9), median(c(-Inf, Inf, -Inf, Inf)),
    anyNA(w), is.na(w), pmin(w, v, na.rm = TRUE), pmax(w, 1.5), sum(v, NULL), scale(v),
    weighted.mean(v), weighted.mean(v, k), weighted.mean(c(1, 2, 3), v), weighted.mean(w, v, na.rm = TRUE)
  ))
})

test_that("medians, quantiles and covariances go along dimensions", {
  a <- array(c(3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8), c(2, 3, 2))
  expect_equal(both(function(a) median(a, dims = 1), f64(a)), apply(a, 2:3, median))
  expect_equal(both(function(a) median(a, dims = c(3, 1)), f64(a)), array(apply(a, 2, median)))
  expect_equal(both(function(a) quantile(a, c(0.2, 0.7), dims = 2), f64(a)), apply(a, c(1, 3), quantile, c(0.2, 0.7)), ignore_attr = TRUE)
  expect_equal(both(nv_cor, f64(cbind(v, 1))), matrix(c(1, NaN, NaN, 1), 2))
  expect_equal(both(function(m) nv_cov(m, dims = 2), f64(m)), cov(t(m)))
  expect_equal(both(function(m) nv_cor(m, m + 1, dims = 2), f64(m)), cor(t(m)))
  expect_equal(both(function(m) nv_cor(m, na.rm = TRUE), f64(cbind(c(NaN, v), c(1, v)))), cor(cbind(v, v)), ignore_attr = TRUE)
})

test_that("what would drop NaN or reorder by data says what to do", {
  for (how in list(identity, jit)) expect_error(how(function(x) na.omit(x))(f64(c(1, NaN))), "na.rm = TRUE", class = "anvil_error_argument")
  expect_error(rowsum(f64(v), nv_tensor(data$k), reorder = FALSE, n = 3), "numbered", class = "anvil_error_argument")
})

test_that("orders, ranks and groups are R's", {
  expect_as_in_r(expression(
    order(v), order(v, decreasing = TRUE), order(w), order(w, decreasing = TRUE), order(k, v), order(k, v, decreasing = c(TRUE, FALSE), method = "radix"), order(k, decreasing = TRUE),
    rank(v), rank(k), rank(k, ties.method = "min"), rank(k, ties.method = "max"), rank(k, ties.method = "first"), rank(w), order(m), order(m, -m), rank(v[numeric()]), tabulate(v, 3), tabulate(c(2.7, 1, 1) * v, 9), rank(w, na.last = "keep"),
    which.max(v), which.min(m), which.max(w), tabulate(k, 4), tabulate(k, 2), rowsum(m, c(2, 1)), rowsum(v, c("b", "a", "b")), rowsum(v, c("b", "a", "b"), reorder = FALSE), rowsum(m, c(2, 1), FALSE), 2 %in% v, v %in% 2, m %in% c(1, 7), w %in% w
  ))
  expect_equal(both(function(x, group) nv_rowsum(x, group, n = 3), f64(v), nv_tensor(c(1L, 3L, 9L))), array(c(3, 0, 1)))
  expect_equal(flat(nv_tabulate(nv_tensor(c(2L, 2L, 3L)))), c(0L, 2L, 1L))
  expect_equal(value(gradient(function(x) sum(nv_rowsum(x, data$k, 2)^2))(f64(v))$x), array(c(6, 6, 6)))
})

test_that("special functions are R's", {
  expect_as_in_r(expression(
    psigamma(v), psigamma(v, 2), psigamma(m, deriv = 1L), besselI(v, 0.5), besselI(v, 1, TRUE), besselJ(m, 2), besselK(v, nu = 1.5), besselK(v, 1, expon.scaled = TRUE), besselY(v, 0)
  ))
})

test_that("parts, repetitions and outer products are R's", {
  expect_as_in_r(expression(
    nrow(m), ncol(m), v[[2]], m[[2, 3]], cbind(v, c(1, 2, 3)), cbind(c(1, 2, 3), v, 0), rbind(c(1, 2, 3), m, NULL), ifelse(c(TRUE, FALSE, TRUE), v, 0),
    ifelse(c(FALSE, TRUE, TRUE), c(7, 8, 9), v), ifelse(matrix(c(TRUE, FALSE, TRUE), 2, 3), m, -m), c(1, v), c(v, c(1, 2)), c(m, v), head(v, 2), head(v, -1), head(m, 1), head(m, c(1, 2)), tail(v, 2), tail(v, -1), tail(m, 1), rev(m), drop(m[1, , drop = FALSE]),
    rep(v, 2), rep(v, each = 2), rep(v, times = c(1, 0, 2)), rep(v, length.out = 5), diff(v), diff(m), diff(v, lag = 2), diff(v, differences = 2),
    outer(v, v), v %o% k, toeplitz(v), toeplitz(v[1]), outer(v, v, "-"), outer(m, v, function(x, y) x + 2 * y), kronecker(m, s), s %x% v, kronecker(m, s, "+"),
    diag(s), diag(v), diag(m), diag(v, 3), { diag(s) <- 0; s }, { diag(m) <- c(8, 9); m }, ifelse(v > 1, v, 0), ifelse(v > 1, c(7, 8, 9), v), atan2(v, 2), pmin(2, v), pmax(v, c(1, 2, 3))
  ))
})

test_that("linear algebra is R's", {
  expect_as_in_r(expression(
    m %*% v, v %*% t(m), v %*% v, s %*% c(1, 2), c(1, 2) %*% s, v %*% matrix(1:2, 1), crossprod(v), tcrossprod(v), crossprod(m, c(1, 2)), tcrossprod(v, c(1, 2)), m %*% m, v %*% c(1, 2),
    solve(s), solve(s, c(1, 2)), solve(diag(3), v), solve(matrix(c(4, 1, 1, 3), 2), s), svd(v)$d, det(s), determinant(s)$modulus, svd(s)$d, svd(m, 0, 0)$d, eigen(s, symmetric = TRUE)$values, chol2inv(s), backsolve(s, c(1, 2)), backsolve(s, s, transpose = TRUE),
    backsolve(s, 1, k = 1), forwardsolve(s, s), forwardsolve(s, c(1, 2), upper.tri = TRUE), qr.coef(qr(t(m)), v), qr.fitted(qr(t(m)), v), qr.resid(qr(t(m)), v), qr.solve(s, c(1, 2)), abs(qr.R(qr(s))), abs(qr.Q(qr(s))), qr.X(qr(s)), qr.Q(qr(t(m)), complete = TRUE)[, 3]^2,
    qr.qy(qr(s), qr.qty(qr(s), c(1, 2))), abs(qr.qty(qr(t(m)), v)), qr.coef(qr(diag(c(1, 2, 4))), v), qr.resid(qr(cbind(c(1, 2, 4))), v),
    convolve(v, v), convolve(v, c(1, 2, 4), type = "o"), convolve(v, c(1, 2), type = "f"), convolve(m[1, ], v)
  ))
  g <- gradient(function(a) sum(nv_qr_solve(qr(a), v)))(f64(t(m)))$a
  at <- function(step) sum(qr.coef(qr(t(m) + step * c(1, 0, 0, 0, 0, 0)), v))
  expect_equal(flat(g)[1], (at(1e-5) - at(-1e-5)) / 2e-5, tolerance = 1e-6)
})

test_that("shapes stretch where they are one, and vectors of R go with their like", {
  expect_as_in_r(expression(v + c(1, 2, 3), c(1, 2, 3) > v, v * array(c(1, 2, 3)), k == c(1L, 2L, 3L)))
  x <- f64(m)
  expect_equal(both(function(x) x - mean(x, dims = 1, drop = FALSE), x), sweep(m, 2, colMeans(m)))
  expect_equal(both(function(x) x[, 1, drop = FALSE] * x[1, , drop = FALSE], x), m[, 1] %o% m[1, ])
  expect_equal(value(gradient(function(x, r) sum(x * r))(x, f64(matrix(v, 1)))$r), matrix(colSums(m), 1))
  expect_snapshot(error = TRUE, {
    x - nv_col_means(x)
    x + c(1, 2)
    nv_tensor(1:3) + c(1, 2)
    nv_tensor(1) + c(1, 2)
    nv_add(c(1, 2), c(1, 2))
  })
})

test_that("shares and weighted means of integers and flags are floats", {
  i <- matrix(c(5L, 1L, 2L, 9L), 2)
  data <- list(i = i, j = c(1L, 2L), k = c(1L, 3L, 3L), l = c(TRUE, FALSE, TRUE))
  for (code in expression(weighted.mean(k, k), weighted.mean(l, k), weighted.mean(k, l), weighted.mean(j, c(1L, 1L)), prop.table(i, 1), proportions(i))) {
    expect_identical(differences_from_r(code, data, 1e-6), character())
  }
  large <- nv_tensor(c(100L, 120L), "i8")
  expect_equal(as.double(in_session(quote(weighted.mean(x, x)), list(x = large))), stats::weighted.mean(c(100, 120), c(100, 120)), tolerance = 1e-6)
})

test_that("ranks of NaN are NaN or last, whatever becomes of ties", {
  v <- c(2, NaN, 1, NaN, 3, 3, -1)
  numbers <- !is.nan(v)
  for (ties in c("average", "min", "max")) {
    kept <- c(both(function(x) nv_rank(x, ties), f64(v)))
    expect_identical(is.nan(kept), is.nan(v))
    expect_equal(kept[numbers], rank(v[numbers], ties.method = ties))
    expect_equal(c(both(function(x) nv_rank(x, ties, nan_last = TRUE), f64(v)))[numbers], kept[numbers])
    found <- in_session(bquote(rank(x, na.last = "keep", ties.method = .(ties))), list(x = f64(v)))
    expect_identical(c(as_array(found)), kept)
  }
  expect_identical(dtype(nv_rank(nv_tensor(c(3L, 1L)), "min")), as_dtype("i32"))
})

test_that("breaks are sorted, and one of them is enough", {
  x <- nv_tensor(c(0.2, 0.7))
  expect_identical(c(as_array(in_session(quote(findInterval(x, 0.5)), list(x = x)))), 0:1)
  expect_snapshot(error = TRUE, nv_searchsorted(x, c(3, 1)))
  expect_snapshot(error = TRUE, seq(nv_scalar(5L)))
})

test_that("counts leave out what is no number", {
  counts <- in_session(quote(tabulate(x)), list(x = nv_tensor(c(3, Inf, NaN, -Inf))))
  expect_identical(c(as_array(counts)), c(0L, 0L, 1L))
})

test_that("membership is the same in short and in long tables", {
  set.seed(5)
  for (type in c("i32", "i64", "f64", "f32", "bf16")) {
    long <- sample(-900:900, 600)
    x <- matrix(sample(-1000:1000, 300), 20)
    for (table in list(long, long[1:200], rev(seq_len(257)))) {
      found <- nv_in(nv_tensor(x, type), nv_tensor(table, type))
      rounded <- as_array(nv_convert(nv_convert(nv_tensor(x, "f64"), type), "f64"))
      among <- as_array(nv_convert(nv_convert(nv_tensor(table, "f64"), type), "f64"))
      expect_identical(as_array(found), array(rounded %in% among, dim(x)), label = type)
      expect_identical(as_array(jit(nv_in)(nv_tensor(x, type), nv_tensor(table, type))), as_array(found))
    }
  }
  odd <- c(NaN, 0, -0, Inf, -Inf, 7)
  for (more in c(0, 300)) {
    table <- c(-0, Inf, NaN, 100 + seq_len(more))
    expect_identical(as.vector(as_array(nv_in(f64(odd), f64(table)))), odd %in% table)
    expect_identical(as.vector(as_array(nv_in(f64(odd), f64(table[-3])))), odd %in% table[-3])
  }
  expect_identical(as.vector(as_array(nv_in(nv_tensor(c(TRUE, FALSE)), nv_tensor(rep(TRUE, 300))))), c(TRUE, FALSE))
  expect_identical(as.vector(as_array(nv_in(nv_tensor(1:3), f64(c(2.5, seq(3, 303)))))), c(FALSE, FALSE, TRUE))
})

test_that("a column of a data frame is called as it was", {
  x <- f64(c(1, 2, 3))
  expect_identical(as.data.frame(x), data.frame(x = c(1, 2, 3)))
  expect_named(data.frame(x, y = x), c("x", "y"))
  expect_named(as.data.frame(nv_tensor(matrix(1:4, 2))), c("V1", "V2"))
  expect_named(aggregate(x, list(g = c(1, 1, 2)), base::sum), c("g", "x"))
})

test_that("mean ranks are of a dtype that holds them", {
  x <- nv_tensor(rep(sin(1:450), 2), "bf16")
  expect_identical(as_array(nv_rank(x)), array(rank(as_array(x))))
  expect_identical(as_array(jit(nv_rank)(x)), array(rank(as_array(x))))
  n <- 2^23 + 1
  last <- jit(function() {
    x <- nvl_iota(1L, "f32", n)
    nv_rank(nv_min(x, x[n - 1]))[n]
  })
  expect_identical(as.double(as_array(last())), n - 0.5)
})

test_that("what stands in the table says what to do, by the function that was called", {
  v <- list(v = f64(v))
  expect_null(in_session(quote(c(nrow(v), ncol(v))), v))
  for (code in expression(match(1, v), rle(v), cut(v, 2), nchar(v), factor(v), factorial(v), tapply(v, 1:3, sum), phyper(v, 5, 5, 3), ptukey(v, 3, 3), dwilcox(v, 3, 3))) {
    expect_error(in_session(code, v), sprintf("`%s()` is not defined for tensors", as.character(code[[1L]])), fixed = TRUE, class = "anvil_error_argument", label = deparse(code))
  }
  expect_error(in_session(quote(table(v)), v), "`table\\(\\)` of R calls it.*nv_tabulate", class = "anvil_error_argument")
  expect_error(jit(function(v) sapply(v, sum))(v$v), "`sapply()` of R", fixed = TRUE, class = "anvil_error_trace")
  expect_error(jit(function(v) as.vector(v))(v$v), "`nv_reshape()`", fixed = TRUE, class = "anvil_error_trace")
  expect_error(in_session(quote(rank(v, na.last = FALSE)), v), "`na.last = TRUE` or `\"keep\"`", fixed = TRUE, class = "anvil_error_argument")
  expect_error(rep(v$v[integer()], length.out = 3), "no elements that could be repeated", class = "anvil_error_argument")
})

test_that("what has no meaning for tensors names what has", {
  x <- f64(m)
  expect_snapshot(error = TRUE, {
    in_session(quote(which(x > 1)), list(x = x))
    unique(x)
    gamma(x)
    jit(function(x) apply(x, 1, sum))(x)
    in_session(quote(cor(x, method = "kendall")), list(x = x))
    in_session(quote(cov(x, use = "pairwise")), list(x = x))
    in_session(quote(eigen(x)), list(x = x))
    in_session(quote(qr.R(qr(x), complete = TRUE)), list(x = x))
    quantile(x, type = 6)
    jit(function(k) in_session(quote(tabulate(k)), list(k = k)))(nv_tensor(1:3))
    nv_quantile(x, 2)
    nv_rowsum(x, nv_tensor(1:2))
  })
})

test_that("values describe themselves", {
  x <- f64(m)
  expect_true(is.matrix(x) && is.array(x) && is.numeric(x) && !is.numeric(x > 1) && !is.matrix(x[1, ]))
  expect_output(str(x), "f64[2, 3] 1 2 3 4 5 7", fixed = TRUE)
  expect_equal(summary(f64(v)), summary(v))
})

test_that("values of every dtype, and none, describe themselves", {
  for (dtype in all_dtypes) {
    for (sizes in list(integer(), 0L, 3L, c(2L, 0L), c(1L, 2L))) {
      values <- rep(1, prod(sizes))
      x <- nv_reshape(nv_tensor(values, dtype), sizes)
      shown <- if (dtype == "bool") values > 0 else values
      start <- sprintf(" %s[%s]", dtype, paste(sizes, collapse = ", "))
      expect_identical(capture.output(str(x)), paste(c(start, if (length(x) == 0) "" else shown), collapse = " "))
      expect_equal(summary(x), summary(shown))
    }
  }
})

test_that("integers that no double is describe themselves as they print", {
  beyond <- nv_from_raw(as.raw(c(rep(0, 7), 192, 1, rep(0, 7))), "ui64", 2L)
  expect_output(str(beyond), "ui64[2] 1.38e+19 1.00e+00", fixed = TRUE)
  expect_equal(summary(beyond), summary(c(0.75 * 2^64, 1)))
  expect_output(str(list(a = beyond, b = list(nv_rng_split(nv_rng_state(7L), 2L)))), "ui64[2] 1.36e+19 0.00e+00", fixed = TRUE)
  wide <- nv_from_raw(as.raw(c(1, 0, 0, 0, 0, 0, 32, 0, rep(0, 7), 128)), "i64", 2L)
  expect_output(str(wide), "i64[2] 9.01e+15 -9.22e+18", fixed = TRUE)
  expect_equal(summary(wide), summary(c(2^53, -2^63)))
  jit(function(x) {
    expect_output(str(f64(m)), "f64[2, 3] 1 2 3 4 5 7", fixed = TRUE)
    expect_output(str(beyond), "ui64[2] 1.38e+19 1.00e+00", fixed = TRUE)
    expect_equal(summary(beyond), summary(c(0.75 * 2^64, 1)))
    x
  })(nv_scalar(1))
})

test_that("least squares need as many rows as columns", {
  wide <- f64(m)
  expect_snapshot(error = TRUE, {
    nv_qr_solve(wide, f64(c(1, 2)))
    nv_qr_solve(nv_qr(wide), f64(c(1, 2)))
    nv_qr_solve(t(wide), f64(c(1, 2)))
  })
})

test_that("nothing is convolved to nothing in a circle, and else refused by name", {
  none <- nv_empty("f64", 0L)
  expect_identical(shape(nv_convolve(none, none)), 0L)
  expect_error(nv_convolve(none, f64(c(1, 2)), type = "open"), "`x` must not be empty", class = "anvil_error_shape")
  expect_error(nv_convolve(f64(c(1, 2)), none, type = "filter"), "`y` must not be empty", class = "anvil_error_shape")
})

test_that("numbers take the dtype of what they meet, also where they are joined, compared or put on a diagonal", {
  data <- list(x = c(1 / 3, 2 / 3, 5), e = diag(2))
  code <- expression(
    c(x, 0.1), c(0.1, x), rbind(x, 0.1), cbind(0.1, x), max(x, 5.1), min(0.1, x), sum(0.1, x, 0.2), prod(x, 0.3), range(x, 0.1, 5.1), x %in% (1 / 3),
    0.1 %in% c(x, 0.1), `diag<-`(e, 0.1), append(x, 0.1), do.call(c, list(0.1, x)), max(x, NaN, na.rm = TRUE), sum(x, NaN, na.rm = TRUE)
  )
  for (one in as.list(code)) expect_identical(differences_from_r(one, data, 1e-15), character())
  x <- f64(data$x)
  for (joined in list(nv_concatenate(x, 0.1), jit(function(x) nv_concatenate(x, 0.1))(x))) expect_identical(c(as_array(joined))[4L], 0.1)
  expect_identical(as.character(dtype(in_session(quote(sum(k, 2L)), list(k = nv_tensor(1:3))))), "i32")
})
