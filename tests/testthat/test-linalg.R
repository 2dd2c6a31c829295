set.seed(4)
a <- matrix(rnorm(6), 2)
b <- matrix(rnorm(12), 3)
s <- crossprod(matrix(rnorm(16), 4)) + diag(4)

test_that("products agree with R, with the tensor in any place", {
  expect_equal(both(nv_matmul, f64(a), f64(b)), a %*% b)
  expect_equal(value(f64(a) %*% b), a %*% b)
  expect_equal(value(a %*% f64(b)), a %*% b)
  expect_equal(value((f64(a) + 0) %*% f64(b)), a %*% b)
  expect_equal(value(f64(a) %*% (f64(b) + 0)), a %*% b)
  expect_equal(value(jit(function(x, y) x %*% y)(f64(a), f64(b))), a %*% b)
  expect_equal(both(function(x, y) nv_crossprod(x, y), f64(t(a)), f64(b)), a %*% b)
  expect_equal(both(function(x, y) nv_tcrossprod(x, y), f64(a), f64(t(b))), a %*% b)
  expect_equal(value(crossprod(f64(a))), crossprod(a))
  expect_equal(value(tcrossprod(f64(a))), tcrossprod(a))
  expect_equal(crossprod(a), t(a) %*% a)
  expect_equal(both(nv_outer, f64(1:3), f64(4:5)), outer(1:3, c(4, 5)))
  expect_equal(value(nv_tensor(matrix(1:6, 2)) %*% nv_tensor(matrix(1:6, 3))), matrix(c(22L, 28L, 49L, 64L), 2))
})

test_that("products go side by side over leading dimensions", {
  x <- array(rnorm(24), c(2, 3, 4))
  y <- array(rnorm(40), c(2, 4, 5))
  out <- both(nv_matmul, f64(x), f64(y), absolute = 1e-15)
  for (k in 1:2) expect_equal(out[k, , ], x[k, , ] %*% y[k, , ])
  out <- both(nv_crossprod, f64(x))
  for (k in 1:2) expect_equal(out[k, , ], crossprod(x[k, , ]))
})

test_that("a matrix goes with each matrix of a stack", {
  stack <- array(rnorm(120), c(2, 5, 3, 4))
  right <- matrix(rnorm(8), 4)
  left <- matrix(rnorm(6), 2)
  products <- list(
    list(nv_matmul, `%*%`, stack, right), list(nv_matmul, `%*%`, left, stack), list(nv_crossprod, crossprod, stack, t(left)),
    list(nv_crossprod, crossprod, t(left), stack), list(nv_tcrossprod, tcrossprod, stack, t(right)), list(nv_tcrossprod, tcrossprod, t(right), stack)
  )
  one <- function(x, i, j) if (length(dim(x)) == 2L) x else x[i, j, , ]
  for (p in products) {
    out <- both(p[[1L]], f64(p[[3L]]), f64(p[[4L]]), absolute = 1e-14)
    for (i in 1:2) for (j in 1:5) expect_equal(out[i, j, , ], p[[2L]](one(p[[3L]], i, j), one(p[[4L]], i, j)))
    expect_nv_check(p[[1L]], f64(p[[3L]]), f64(p[[4L]]), n = 3)
  }
})

test_that("diagonals and triangles agree with R", {
  expect_equal(value(nv_eye(3)), diag(3))
  expect_equal(type_of(nv_eye(2, "i8")), "i8[2,2]")
  expect_equal(type_of(nv_eye(2)), "f32[2,2]")
  expect_equal(shape(nv_eye(0)), c(0L, 0L))
  expect_equal(both(nv_diag, f64(1:3)), diag(1:3 + 0))
  expect_equal(flat(nv_diag(nv_tensor(c(TRUE, TRUE)))), as.vector(diag(2) == 1))
  for (m in list(matrix(1:9, 3), matrix(1:6, 2), matrix(1:6, 3), matrix(0, 0, 2))) {
    expect_equal(as.vector(both(nv_extract_diag, f64(m))), as.vector(diag(m)) + 0)
    for (k in -2:2) {
      offset <- col(m) - row(m)
      expect_equal(both(function(x) nv_tril(x, k), f64(m)), ifelse(offset <= k, m, 0) + 0)
      expect_equal(both(function(x) nv_triu(x, k), f64(m)), ifelse(offset >= k, m, 0) + 0)
    }
  }
  expect_equal(flat(nv_trace(f64(matrix(1:9, 3)))), 15)
  g <- gradient(function(x) sum(nv_extract_diag(x) * 1:3 |> array()))(f64(matrix(1:9, 3)))
  expect_equal(value(g$x), diag(1:3 + 0))
})

test_that("Cholesky factors agree with R", {
  expect_equal(both(nv_chol, f64(s)), chol(s))
  expect_equal(both(function(x) nv_chol(x, lower = TRUE), f64(s)), t(chol(s)))
  expect_equal(value(chol(f64(s))), chol(s))
  golden <- nv_chol(f64(matrix(c(4, 2, 2, 3), 2)), lower = TRUE)
  expect_equal(value(golden), matrix(c(2, 1, 0, sqrt(2)), 2))
  expect_true(all(is.nan(diag(value(nv_chol(f64(-diag(2))))))))
})

test_that("triangular systems agree with R in every orientation", {
  l <- t(chol(s))
  y <- matrix(rnorm(8), 4)
  solve_with <- function(...) function(a, b) nv_triangular_solve(a, b, ...)
  expect_equal(both(solve_with(), f64(l), f64(y)), forwardsolve(l, y))
  expect_equal(both(solve_with(transpose_a = TRUE), f64(l), f64(y)), backsolve(t(l), y))
  expect_equal(both(solve_with(lower = FALSE), f64(t(l)), f64(y)), backsolve(t(l), y))
  expect_equal(both(solve_with(left_side = FALSE), f64(l), f64(t(y))), t(backsolve(t(l), y)))
  expect_equal(both(solve_with(unit_diagonal = TRUE), f64(l), f64(y)), forwardsolve(l - diag(diag(l)) + diag(4), y))
  expect_equal(as.vector(both(solve_with(), f64(l), f64(y[, 1]))), forwardsolve(l, y[, 1]))
  expect_equal(as.vector(both(solve_with(left_side = FALSE), f64(l), f64(y[, 1]))), backsolve(t(l), y[, 1]))
  tiny <- 1e-310 * l # of which the reciprocals overflow
  expect_equal(both(solve_with(), f64(tiny), f64(1e-310 * l %*% y), absolute = 1e-10), y)
  golden <- nv_triangular_solve(nv_tensor(matrix(c(2, 1, 0, 3), 2)), nv_tensor(c(4, 3)))
  expect_equal(flat(golden), c(2, 1 / 3), tolerance = 1e-6)
})

test_that("mistakes are explained", {
  expect_snapshot(error = TRUE, {
    f64(a) %*% f64(a)
    nv_matmul(f64(1:3), f64(a))
    nv_matmul(2, f64(a))
    nv_matmul(nv_tensor(array(0, c(1, 2, 3))), nv_tensor(array(0, c(1, 1, 3, 2))))
    nv_set_diag(f64(a), f64(1:3))
    nv_extract_diag(f64(1:3))
    nv_diag(f64(a))
    nv_eye(-1)
    nv_tril(f64(a), 0.5)
    nv_chol(f64(a))
    nvl_chol(nv_tensor(matrix(1L)), FALSE)
    nv_triangular_solve(f64(s), f64(1:3))
  })
})
