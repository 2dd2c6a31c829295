# Precisions of several kinds: a chain, a grid, a star, blocks, none but a diagonal, one element, a full matrix.
precisions <- function() {
  skip_if_not_installed("Matrix")
  chain <- function(n) {
    a <- diag(2.5, n)
    a[abs(row(a) - col(a)) == 1] <- -1
    a
  }
  star <- diag(c(20, rep(1.5, 11)))
  star[1L, -1L] <- star[-1L, 1L] <- 0.7
  withr::local_seed(4)
  full <- crossprod(matrix(stats::rnorm(36), 6)) + diag(6)
  list(
    chain = chain(9), grid = kronecker(chain(4), diag(3)) + kronecker(diag(4), chain(3)), star = star, star_last = star[12:1, 12:1],
    blocks = kronecker(diag(3), crossprod(matrix(c(2, 1, 0.5, -1), 2))), diagonal = diag(c(1, 2, 3)), one = matrix(4, 1, 1), full = full
  )
}

test_that("solutions, determinants and inverses are those of the dense matrix", {
  for (dense in precisions()) {
    a <- nv_sparse(dense, dtype = "f64")
    n <- nrow(dense)
    b <- cos(matrix(seq_len(2 * n), n))
    for (run in list(identity, jit)) {
      expect_equal(as_array(run(nv_sparse_solve)(a, nv_tensor(b, "f64"))), solve(dense, b))
      expect_equal(c(as_array(run(nv_sparse_solve)(a, nv_tensor(b[, 1L], "f64")))), solve(dense, b[, 1L]))
      expect_equal(as_array(run(nv_sparse_logdet)(a)), c(determinant(dense)$modulus))
      expect_equal(as.matrix(run(nv_sparse_inverse)(a)), solve(dense) * (dense != 0))
    }
    single <- nv_sparse_logdet(nv_sparse(dense, dtype = "f32"))
    expect_identical(as.character(dtype(single)), "f32")
    expect_equal(as_array(single), c(determinant(dense)$modulus), tolerance = 1e-5)
  }
  expect_equal(as_array(nv_sparse_solve(methods::as(dense, "CsparseMatrix"), diag(6))), solve(dense))
  # elements of the lower triangle count, and an empty matrix has the determinant 1
  expect_equal(as_array(nv_sparse_logdet(nv_sparse(dense * lower.tri(dense, TRUE), dtype = "f64"))), c(determinant(dense)$modulus))
  expect_identical(as_array(nv_sparse_logdet(nv_sparse(matrix(0, 0, 0), dtype = "f64"))), 0)
})

test_that("derivatives are those of differences, in all modes and for batches", {
  for (dense in precisions()[c("grid", "star", "full")]) {
    at <- which(dense != 0 & lower.tri(dense, TRUE), arr.ind = TRUE)
    matrix_of <- function(values) nv_sparse(values, i = at[, 1L], j = at[, 2L], symmetric = TRUE)
    values <- nv_tensor(dense[at], "f64")
    b <- nv_tensor(cos(seq_len(nrow(dense))), "f64")
    expect_nv_check(function(v) nv_sparse_logdet(matrix_of(v)), values, n = 2L)
    expect_nv_check(function(v, b) sum(sin(nv_sparse_solve(matrix_of(v), b))), values, b, n = 2L)
    expect_nv_check(function(v) sum(sin(nv_sparse_inverse(matrix_of(v))$values)), values, n = 2L)
  }
  # of second and third order, along a line
  line <- function(t) {
    a <- matrix_of(values * exp(t))
    nv_sparse_logdet(a + a * a * 0.1) + nv_quadratic_form(nv_sparse_inverse(a), b)
  }
  in_dense <- function(t) {
    a <- nv_tensor(dense, "f64") * exp(t)
    part <- nv_tensor((dense != 0) + 0, "f64")
    nv_slogdet(a + a * a * 0.1)$logabsdet + sum(nv_inv(a) * part * nv_outer(b, b))
  }
  derivative <- function(f) {
    force(f)
    function(t) gradient(f)(t)[[1L]]
  }
  for (order in 1:3) {
    line <- derivative(line)
    in_dense <- derivative(in_dense)
    expect_equal(as_array(jit(line)(nv_scalar(0.1, "f64"))), as_array(in_dense(nv_scalar(0.1, "f64"))), tolerance = 1e-9)
  }
})

test_that("the same matrix is factorised once", {
  a <- nv_sparse(precisions()$grid, dtype = "f64")
  both <- function(a, b) {
    f <- function(a) nv_sparse_logdet(a) + sum(nv_sparse_solve(a, b))
    value_and_gradient(f)(a)
  }
  graph <- simplify_graph(trace_fn(both, list(a, nv_tensor(cos(1:12), "f64"))), "optimize")
  text <- paste(format(graph), collapse = "\n")
  expect_length(gregexpr("sparse_factor", text)[[1L]], 1L)
})

test_that("what is not positive definite gives NaN", {
  skip_if_not_installed("Matrix")
  for (dense in list(matrix(c(1, 2, 2, 1), 2), matrix(c(0, 1, 1, 0), 2), -diag(3), diag(c(1, NaN)))) {
    a <- nv_sparse(dense, dtype = "f64")
    expect_identical(as_array(nv_sparse_logdet(a)), NaN)
    expect_true(all(is.nan(as_array(nv_sparse_solve(a, nv_fill(1, nrow(dense), "f64"))))))
    expect_true(all(is.nan(as_array(nv_sparse_inverse(a)$values))))
    expect_true(all(is.nan(as_array(jit(gradient(nv_sparse_logdet))(a)$a$values)[a$i >= a$j])))
  }
})

test_that("mistakes are explained", {
  skip_if_not_installed("Matrix")
  a <- nv_sparse(c(2, 2), i = 1:2, j = 1:2)
  fifth <- function(x) nv_sparse_logdet(a * x)
  for (k in 1:5) fifth <- local({
    f <- fifth
    function(x) gradient(f)(x)[[1L]]
  })
  expect_snapshot(error = TRUE, {
    nv_sparse_solve(nv_sparse(1, i = 1, j = 1, dims = c(1, 2)), 1)
    nv_sparse_solve(a, c(1, 2, 3))
    nv_sparse_logdet("a")
    fifth(nv_scalar(1, "f64"))
  })
})
