in_f64 <- function(x) nv_tensor(x, "f64")
same <- function(actual, expected) {
  actual <- as_array(actual)
  expect_equal(as.vector(actual), as.vector(as.matrix(expected)))
  if (length(dim(expected)) == 2L) expect_identical(dim(actual), dim(expected))
}

test_that("products, sums and margins are those of the dense matrix, whatever the pattern", {
  withr::local_seed(2)
  for (size in list(c(6, 5, 12), c(5, 6, 1), c(1, 1, 1), c(3, 4, 0), c(1, 6, 3), c(6, 1, 3), c(40, 30, 200))) {
    dense <- matrix(0, size[1L], size[2L])
    dense[sample.int(length(dense), size[3L])] <- stats::rnorm(size[3L])
    a <- nv_sparse(dense, dtype = "f64")
    x <- stats::rnorm(ncol(dense))
    y <- stats::rnorm(nrow(dense))
    wide <- matrix(stats::rnorm(3 * length(x)), length(x))
    tall <- matrix(stats::rnorm(3 * length(y)), length(y))
    for (given in list(in_f64, identity)) {
      if (nrow(dense) > 1L || identical(given, in_f64)) {
        same(a %*% given(x), dense %*% x)
        same(given(y) %*% a, y %*% dense)
        same(crossprod(a, given(y)), crossprod(dense, y))
      }
      same(a %*% given(wide), dense %*% wide)
      same(given(t(tall)) %*% a, t(tall) %*% dense)
      same(crossprod(a, given(tall)), crossprod(dense, tall))
      same(crossprod(given(tall), a), crossprod(tall, dense))
      same(tcrossprod(a, given(t(wide))), dense %*% wide)
      same(tcrossprod(given(t(wide)), a), t(wide) %*% t(dense))
    }
    same(jit(function(a, x) a %*% x)(a, in_f64(x)), dense %*% x)
    same(crossprod(a), crossprod(dense))
    same(a %*% t(a), dense %*% t(dense))
    expect_s3_class(nv_tcrossprod(a), "AnvilSparse")
    same(rowSums(a), rowSums(dense))
    same(nv_col_sums(a), colSums(dense))
    same(diag(a), dense[cbind(seq_len(min(dim(dense))), seq_len(min(dim(dense))))])
    other <- dense * (dense > 0) + (matrix(stats::runif(length(dense)), nrow(dense)) < 0.3)
    b <- nv_sparse(other, dtype = "f64")
    same(a + b, dense + other)
    same(a - b, dense - other)
    same(a * b, dense * other)
    same(-a, -dense)
    same(2 * a / nv_scalar(4, "f64"), dense / 2)
    same(a * in_f64(matrix(y)), dense * y)
    same(matrix(x, 1) * a, t(t(dense) * x))
    same(a * matrix(3, nrow(dense), ncol(dense)), dense * 3)
  }
})

test_that("matrices of package Matrix are operands as they are", {
  skip_if_not_installed("Matrix")
  dense <- matrix(c(0, 2, 0, 3, 0, 1), 2)
  m <- methods::as(dense, "CsparseMatrix")
  x <- c(1, 10, 100)
  y <- c(1, 10)
  for (given in list(in_f64, function(x) in_f64(x) + 0)) {
    same(nv_matmul(m, given(x)), dense %*% x)
    same(nv_matmul(given(y), m), y %*% dense)
    same(m %*% given(x), dense %*% x)
    same(given(y) %*% m, y %*% dense)
    same(crossprod(m, given(y)), crossprod(dense, y))
    same(crossprod(given(y), m), crossprod(y, dense))
    same(tcrossprod(m, given(matrix(x, 1))), dense %*% x)
    same(nv_matmul(Matrix::Diagonal(x = x), given(x)), x^2)
    same(nv_matmul(Matrix::Matrix(dense, sparse = FALSE), given(x)), dense %*% x)
  }
  same(jit(function(x) m %*% x)(in_f64(x)), dense %*% x)
  same(nv_sparse(m, dtype = "f64") %*% Matrix::t(m), dense %*% t(dense))
})

test_that("operators take matrices of package Matrix in both orders", {
  skip_if_not_installed("Matrix")
  dense <- matrix(c(0, 2, 0, 3, 0, 1), 2)
  m <- methods::as(dense, "CsparseMatrix")
  full <- Matrix::Matrix(dense + 1, sparse = FALSE)
  a <- nv_sparse(m * 2, dtype = "f64")
  t <- in_f64(dense + 2)
  for (of in list(list(a * m, m * a, 2 * dense^2), list(a + m, m + a, 3 * dense), list(t * m, m * t, dense * (dense + 2)))) {
    expect_s3_class(of[[1L]], "AnvilSparse")
    same(nv_dense(of[[1L]]), of[[3L]])
    same(nv_dense(of[[2L]]), of[[3L]])
  }
  same(nv_dense(a - m), dense)
  same(nv_dense(m - a), -dense)
  same(t - full, matrix(1, 2, 3))
  same(full - t, matrix(-1, 2, 3))
  expect_identical(as_array(full < t), dense + 1 < dense + 2)
  same(nv_dense(jit(function(x) m * x)(t)), dense * (dense + 2))
  expect_s4_class(m * m, "dgCMatrix")
  expect_error(m / a, "not defined for these operands", class = "anvil_error_argument")
  expect_error(t + m, "not defined for these operands", class = "anvil_error_argument")
})

test_that("quadratic forms are those of the dense matrix", {
  dense <- matrix(c(2, 0, 1, 0, 3, 0, 0, -1, 4), 3)
  a <- nv_sparse(dense, dtype = "f64")
  x <- c(1, -2, 0.5)
  wide <- cbind(x, 2 * x, 1)
  for (given in list(a, in_f64(dense), dense)) {
    same(nv_quadratic_form(given, in_f64(x)), sum(x * dense %*% x))
    same(nv_quadratic_form(given, wide), diag(t(wide) %*% dense %*% wide))
  }
  same(hessian(function(x) nv_quadratic_form(a, x))(in_f64(x))$x$x, dense + t(dense))
})

test_that("derivatives of products are those of differences, in all modes and for batches", {
  withr::local_seed(3)
  i <- c(1, 4, 2, 4, 3)
  j <- c(1, 1, 2, 3, 3)
  values <- nv_tensor(stats::rnorm(5), "f64")
  x <- nv_tensor(matrix(stats::rnorm(6), 3), "f64")
  products <- function(values, x) {
    a <- nv_sparse(values, i = i, j = j, dims = c(4, 3))
    sum(sin(a %*% x)) + sum((crossprod(a) %*% x)^2) + sum((a * 2 + nv_sparse(values, i = j, j = j, dims = c(4, 3)))$values^3)
  }
  expect_nv_check(products, values, x)
  expect_nv_check(function(values, x) sum(exp(nv_quadratic_form(nv_sparse(values[1:3], 1:3, c(2, 1, 3)), x))), values, x)
})

test_that("a product is loops over the stored elements", {
  a <- nv_sparse(c(1, 2, 3), i = c(1, 90, 7), j = c(1, 50, 80), dims = c(90, 80))
  text <- paste(utils::capture.output(nv_inspect(function(values, x) nv_sparse(values, a) %*% x, "loops", a$values, nv_fill(1, 80L))), collapse = "\n")
  expect_no_match(text, "7200|90, 80")
})

test_that("mistakes are explained", {
  a <- nv_sparse(c(1, 2), i = 1:2, j = 1:2, dims = c(2, 3))
  expect_snapshot(error = TRUE, {
    a %*% c(1, 2)
    nv_tensor(matrix(1, 2, 3)) %*% a
    nv_matmul(a, nv_fill(1, c(3L, 2L, 2L)))
    a %*% a
    a + t(a)
    a + 1
    a * c(1, 2)
    a^2
    !a
    exp(a)
    nv_quadratic_form(a, c(1, 2))
    nv_quadratic_form(nv_eye(3), c(1, 2))
  })
})
