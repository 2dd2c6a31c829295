# A matrix of given numbers of rows, columns and elements, dense and sparse; the first row and the last column are empty.
random_places <- function(m, n, count, seed = 1) {
  withr::local_seed(seed)
  at <- cbind(1L + sample.int(m - 1L, count, TRUE), sample.int(n - 1L, count, TRUE))
  at <- unique(at)
  dense <- matrix(0, m, n)
  dense[at] <- stats::rnorm(nrow(at))
  dense
}
plain <- function(x) unname(as.matrix(x))

test_that("a sparse tensor has the elements that it was given", {
  a <- nv_sparse(c(2, -1, 3), i = c(3, 1, 2), j = c(2, 1, 1), dims = c(3, 4), dtype = "f64")
  expect_identical(as.matrix(a), matrix(c(-1, 3, 0, 0, 0, 2, rep(0, 6)), 3))
  expect_identical(list(a$i, a$j, c(as_array(a$values))), list(c(1L, 2L, 3L), c(1L, 1L, 2L), c(-1, 3, 2)))
  expect_identical(dim(a), c(3L, 4L))
  expect_identical(as_array(t(a)), t(as.matrix(a)))
  expect_identical(as_array(nv_dense(a)), as.matrix(a))
  expect_identical(dim(nv_sparse(c(1, 2), i = c(2, 5), j = c(3, 1))), c(5L, 3L))
  # several times at one place
  twice <- nv_sparse(c(1, 10, 100, 5), i = c(2, 1, 2, 2), j = c(1, 2, 1, 2), dtype = "f64")
  expect_identical(as.matrix(twice), matrix(c(0, 101, 10, 5), 2))
  expect_length(twice$i, 3L)
  lower <- nv_sparse(c(1, 2, 3), i = c(1, 2, 2), j = c(1, 1, 2), symmetric = TRUE, dtype = "f64")
  expect_identical(as.matrix(lower), matrix(c(1, 2, 2, 3), 2))
  expect_identical(nv_sparse(lower), lower)
  for (dense in list(random_places(5, 4, 9), matrix(0, 2, 3), matrix(4, 1, 1), matrix(0, 0, 3))) {
    expect_identical(as.matrix(nv_sparse(dense, dtype = "f64")), dense)
  }
  expect_identical(as.character(dtype(nv_sparse(1:2, i = 1:2, j = 1:2)$values)), "i32")
})

test_that("matrices of package Matrix are the same matrices", {
  skip_if_not_installed("Matrix")
  m <- methods::as(random_places(6, 4, 8), "CsparseMatrix")
  square <- Matrix::crossprod(m)
  for (x in list(
    m, methods::as(m, "RsparseMatrix"), methods::as(m, "TsparseMatrix"), square, Matrix::tril(square), Matrix::Diagonal(3),
    Matrix::Diagonal(x = c(2, 0, 3)), methods::as(m, "nMatrix"), methods::as(m != 0, "lMatrix"), methods::as(c(2L, 3L, 1L), "pMatrix"), m[, 0L], m[0L, ]
  )) {
    expect_identical(as.matrix(nv_sparse(x, dtype = "f64")), plain(x) + 0)
  }
  expect_s4_class(square, "dsCMatrix")
  expect_identical(as.matrix(nv_sparse(Matrix::Matrix(diag(2), sparse = FALSE), dtype = "f64")), diag(2))
})

test_that("sparse tensors are arguments and results of compiled functions, and of derivatives", {
  dense <- random_places(6, 4, 8)
  a <- nv_sparse(dense, dtype = "f64")
  twice <- jit(function(a, by) list(a = a * by, sums = rowSums(a)))
  found <- twice(a, nv_scalar(2, "f64"))
  expect_identical(as.matrix(found$a), 2 * dense)
  expect_equal(c(as_array(found$sums)), rowSums(dense))
  # compiled for the places
  other <- nv_sparse(a$values, i = a$i, j = a$j, dims = c(6, 5))
  expect_equal(as.matrix(twice(other, nv_scalar(2, "f64"))$a), 2 * as.matrix(other))
  expect_equal(environment(twice)$cache$size, 2)
  twice(a + a, nv_scalar(2, "f64"))
  expect_equal(environment(twice)$cache$size, 2)
  squares <- gradient(function(a) sum(a$values^2))
  expect_identical(as.matrix(squares(a)$a), 2 * dense)
  expect_identical(jit(squares)(a)$a, squares(a)$a, ignore_attr = TRUE)
  loop <- nv_while(list(a = a, k = 0L), function(a, k) k < 3L, function(a, k) list(a = a + a, k = k + 1L))
  expect_equal(as.matrix(loop$a), 8 * dense)
  expect_identical(unflatten(build_tree(list(a, 1)), flatten(list(a, 1))), list(a, 1))
  expect_identical(as.matrix(unserialize(serialize(a, NULL))), dense)
})

test_that("sparse tensors print their elements", {
  expect_snapshot({
    nv_sparse(c(2, -1.25, 3), i = c(1, 12, 3), j = c(1, 1, 2), dims = c(12, 3))
    print(nv_sparse(1:4, i = 1:4, j = 1:4), max_rows = 2)
    nv_sparse(matrix(0, 2, 2))
    format(jit(function(x) {
      print(nv_sparse(x, i = 1:2, j = 1:2))
      x
    })(nv_tensor(c(1, 2), "f32")))
  })
})

test_that("mistakes are explained", {
  a <- nv_sparse(c(1, 2), i = 1:2, j = 1:2)
  expect_snapshot(error = TRUE, {
    nv_sparse(1:3)
    nv_sparse("a")
    nv_sparse(1, j = 1)
    nv_sparse(1:2, i = 1:2, j = 1:3)
    nv_sparse(1:2, i = 1:3, j = 1:3)
    nv_sparse(1:2, i = c(0, 1), j = 1:2)
    nv_sparse(1:2, i = 1:2, j = c(1, 4), dims = c(2, 3))
    nv_sparse(1:2, i = 1:2, j = 2:1, symmetric = TRUE)
    nv_sparse(1:2, i = 1:2, j = 1:2, dims = 2)
    nv_sparse(1, i = 1, j = 1, dims = c(1, 2), symmetric = TRUE)
    a$x
  })
})

test_that("factors of a sparse tensor are refused, not computed by R", {
  skip_if_not_installed("Matrix")
  s <- nv_sparse(Matrix::Diagonal(3), dtype = "f64")
  for (run in list(identity, jit)) {
    expect_error(run(function(s) chol(s))(s), "`chol` is not defined", class = "anvil_error_argument")
    expect_error(run(function(s) qr(s))(s), "`qr` is not defined", class = "anvil_error_argument")
  }
})
