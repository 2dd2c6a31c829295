set.seed(6)
a <- matrix(rnorm(16), 4)
tall <- matrix(rnorm(15), 5)
s <- crossprod(a) + diag(4)
stack <- array(rnorm(5 * 3 * 3), c(5, 3, 3))
diagonal <- function(x) diag(x, length(x))
signless <- function(x) abs(x)

test_that("LU factors multiply to the rows in order", {
  for (x in list(a, tall, t(tall), matrix(2))) {
    found <- lapply(jit(nv_lu)(f64(x)), value)
    expect_equal(found$L %*% found$U, x[found$permutation, , drop = FALSE])
    expect_true(all(found$L[upper.tri(found$L)] == 0) && all(diag(found$L) == 1) && all(abs(found$L) <= 1))
    expect_true(all(found$U[lower.tri(found$U)] == 0))
    order <- seq_len(nrow(x))
    for (i in seq_along(found$pivots)) order[c(i, found$pivots[i])] <- order[c(found$pivots[i], i)]
    expect_equal(as.vector(found$permutation), order)
    expect_equal(lapply(nv_lu(f64(x)), value), found)
  }
})

test_that("QR factors, eigenvalues and singular values agree with R up to signs", {
  for (x in list(a, tall, t(tall), matrix(2))) {
    qr <- lapply(jit(nv_qr)(f64(x)), value)
    expect_equal(qr$Q %*% qr$R, x)
    expect_equal(crossprod(qr$Q) + 1, diagonal(rep(1, ncol(qr$Q))) + 1)
    expect_equal(signless(qr$R), signless(qr.R(qr(x))))
    svd <- lapply(jit(nv_svd)(f64(x)), value)
    expect_equal(as.vector(svd$d), svd(x)$d)
    expect_equal(signless(svd$u), signless(svd(x)$u))
    expect_equal(signless(svd$vt), signless(t(svd(x)$v)))
    expect_equal(svd$u %*% diagonal(as.vector(svd$d)) %*% svd$vt, x)
    expect_true(all(apply(svd$u, 2, function(v) v[which.max(abs(v))]) > 0))
  }
  found <- lapply(jit(nv_eigh)(f64(s)), value)
  expect_equal(rev(as.vector(found$values)), eigen(s)$values)
  expect_equal(signless(found$vectors[, 4:1]), signless(eigen(s)$vectors))
  upper_is_not_read <- s
  upper_is_not_read[upper.tri(s)] <- NaN
  expect_equal(value(nv_eigh(f64(upper_is_not_read))$values), value(nv_eigh(f64(s))$values))
})

test_that("values without vectors are those with them, and so are their derivatives", {
  for (x in list(a, tall, t(tall), matrix(2))) {
    expect_equal(as.vector(both(function(x) nv_svd(x, vectors = FALSE)$d, f64(x))), svd(x)$d)
    slope <- function(vectors) gradient(function(x) sum(nv_svd(x, vectors = vectors)$d^2 * 1:2)[1])(f64(x))[[1L]]
    if (min(dim(x)) == 2L) expect_equal(value(slope(FALSE)), value(slope(TRUE)))
  }
  expect_named(nv_svd(f64(a), vectors = FALSE), "d")
  expect_named(nv_eigh(f64(s), vectors = FALSE), "values")
  expect_equal(rev(as.vector(both(function(x) nv_eigh(x, vectors = FALSE)$values, f64(s)))), eigen(s)$values)
  slope <- function(vectors) jit(gradient(function(x) sum(nv_eigh(x, vectors = vectors)$values^3)))(f64(s))[[1L]]
  expect_equal(value(slope(FALSE)), value(slope(TRUE)))
  text <- write_stablehlo(trace_fn(function(x) nv_svd(x, vectors = FALSE)$d, list(x = f64(tall))))
  expect_match(paste(text, collapse = "\n"), "anvil.svd_values", fixed = TRUE)
})

test_that("systems, inverses and determinants agree with R", {
  b <- matrix(rnorm(8), 4)
  expect_equal(both(nv_solve, f64(a), f64(b), absolute = 1e-12), solve(a, b))
  expect_equal(as.vector(value(jit(nv_solve)(f64(a), f64(b[, 1])))), solve(a, b[, 1]))
  expect_equal(value(solve(f64(a), b)), solve(a, b))
  expect_equal(value(solve(f64(a))), solve(a))
  expect_equal(value(nv_inv(f64(a))), solve(a))
  expect_equal(as.vector(value(nv_det(f64(a)))), det(a))
  expect_equal(as.vector(value(det(f64(a)))), det(a))
  expect_equal(as.vector(value(determinant(f64(a), logarithm = FALSE)$modulus)), abs(det(a)))
  expect_equal(vapply(nv_slogdet(f64(-a[c(2, 1, 3, 4), ])), flat, 0), c(sign = -sign(det(a)), logabsdet = log(abs(det(a)))))
  expect_equal(flat(nv_det(f64(matrix(0, 0, 0)))), 1)
  expect_equal(shape(nv_inv(f64(matrix(0, 0, 0)))), c(0L, 0L))
  singular <- f64(matrix(c(1, 2, 2, 4), 2))
  expect_equal(flat(nv_det(singular)), 0)
  expect_equal(vapply(nv_slogdet(singular), flat, 0), c(sign = 0, logabsdet = -Inf))
  expect_false(any(is.finite(value(nv_solve(singular, f64(1:2))))))
})

test_that("stacks of matrices are worked on side by side, as batches are", {
  expect_equal(as.vector(value(jit(nv_det)(f64(stack)))), apply(stack, 1, det))
  expect_equal(value(vectorize(nv_det)(f64(stack))), value(nv_det(f64(stack))))
  inverse <- value(jit(nv_inv)(f64(stack)))
  for (k in 1:5) expect_equal(inverse[k, , ], solve(stack[k, , ]))
  y <- matrix(rnorm(15), 5)
  x <- value(nv_solve(f64(stack), f64(y)))
  for (k in 1:5) expect_equal(x[k, ], solve(stack[k, , ], y[k, ]))
  one_matrix <- value(vectorize(function(b) nv_solve(f64(stack[1, , ]), b))(f64(y)))
  for (k in 1:5) expect_equal(one_matrix[k, ], solve(stack[1, , ], y[k, ]))
  for (f in list(nv_lu, nv_qr, nv_svd)) {
    found <- lapply(f(f64(stack)), value)
    for (name in names(found)) {
      alone <- value(f(f64(stack[3, , ]))[[name]])
      expect_equal(as.vector(if (length(dim(found[[name]])) == 3L) found[[name]][3, , ] else found[[name]][3, ]), as.vector(alone))
    }
  }
})

test_that("derivatives agree with their formulas, in both modes", {
  for (mode in list(identity, jit)) {
    expect_equal(value(mode(gradient(nv_det))(f64(a))[[1L]]), det(a) * t(solve(a)))
    expect_equal(value(mode(gradient(function(x) nv_slogdet(x)$logabsdet))(f64(a))[[1L]]), t(solve(a)))
    expect_equal(value(mode(gradient(function(x) sum(nv_svd(x)$d)))(f64(tall))[[1L]]), with(svd(tall), u %*% t(v)))
    expect_equal(value(mode(gradient(function(x) sum(nv_inv(x))))(f64(a))[[1L]]), -t(solve(a)) %*% matrix(1, 4, 4) %*% t(solve(a)))
  }
  t <- matrix(rnorm(16), 4)
  inverse <- solve(a)
  expect_equal(value(jvp(nv_inv)(list(f64(a)), list(f64(t)))[[2L]]), -inverse %*% t %*% inverse)
})

test_that("matrices with NaN, and small floats", {
  bad <- a
  bad[2, 3] <- NaN
  for (f in list(nv_qr, nv_svd, nv_eigh)) expect_true(all(is.nan(value(f(f64(crossprod(bad)))[[1L]]))))
  expect_true(all(is.nan(diag(value(nv_lu(f64(bad))$U)))))
  expect_equal(value(nv_lu(f64(bad))$permutation), value(nv_tensor(1:4)))
  for (dtype in c("f16", "bf16", "f32")) {
    x <- nv_tensor(s, dtype)
    expect_equal(value(jit(nv_inv)(x)), solve(value(x)), tolerance = 0.05)
    expect_equal(value(jit(nv_svd)(x)$d), value(nv_svd(x)$d))
    expect_equal(as.character(dtype(nv_qr(x)$Q)), dtype)
  }
})

test_that("text reads back", {
  for (f in list(nv_lu, nv_qr, nv_svd, nv_eigh, nv_solve)) {
    arguments <- if (identical(f, nv_solve)) list(f64(s), f64(a)) else list(f64(s)) # of s it would be rounding around zeros
    again <- read_stablehlo(write_stablehlo(f, args = arguments))
    values_of <- function(x) lapply(if (is.list(x)) x else list(x), value)
    expect_equal(values_of(do.call(jit(again), arguments)), values_of(do.call(f, arguments)), ignore_attr = TRUE)
  }
})

test_that("mistakes are explained", {
  expect_snapshot(error = TRUE, {
    nv_solve(f64(tall), f64(1:5))
    nv_solve(f64(a), f64(1:3))
    nv_inv(f64(1:3))
    nv_det(f64(tall))
    nvl_lu(nv_tensor(matrix(1:4, 2)))
    nv_lu(f64(1:3))
    nv_eigh(f64(tall))
    nv_svd(nv_tensor(matrix(1:4, 2)))
    solve(f64(a), f64(a), tol = 1)
  })
})
