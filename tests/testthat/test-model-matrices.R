set.seed(1)
m <- matrix(rnorm(12, sd = 3), 3)

test_that("norms are those of R", {
  for (type in c("O", "1", "i", "F", "E", "M", "2")) {
    expect_equal(c(both(function(x) nv_norm(x, type), f64(m))), norm(m, type))
    expect_equal(flat(in_session(quote(norm(x, type)), list(x = f64(m), type = type))), norm(m, type))
  }
  expect_equal(flat(in_session(quote(norm(x)), list(x = f64(m)))), norm(m))
  expect_identical(in_session(quote(norm(x)), list(x = m)), norm(m))
  v <- c(3, -4, 1)
  column <- as.matrix(v)
  for (type in c("O", "I", "F", "M", "2")) expect_equal(c(both(function(x) nv_norm(x, type), f64(v))), norm(column, type))
  for (p in c(1, 1.5, 3)) expect_equal(c(both(function(x) nv_norm(x, p), f64(v))), sum(abs(v)^p)^(1 / p))
  expect_equal(flat(nv_norm(f64(v), Inf)), 4)
  expect_equal(flat(nv_norm(f64(v))), sqrt(26))
  expect_equal(flat(nv_norm(f64(c(3e200, 4e200)))), 5e200)
  expect_equal(flat(nv_norm(f64(c(3e-200, 4e-200)))), 5e-200)
  expect_equal(flat(nv_norm(f64(c(1, -Inf)))), Inf)
  expect_true(is.nan(as_array(nv_norm(f64(c(1, NaN))))))
  expect_equal(flat(nv_norm(nv_tensor(c(3L, 4L)))), 5)
  for (type in c("O", "I", "F", "M")) expect_equal(flat(nv_norm(nv_empty("f64", c(0L, 2L)), type)), 0)
})

test_that("norms along dimensions are those of each vector and matrix", {
  a <- array(rnorm(24), c(3, 4, 2))
  by_vector <- list(O = \(v) sum(abs(v)), I = \(v) max(abs(v)), `F` = \(v) sqrt(sum(v^2)), M = \(v) max(abs(v)), `2` = \(v) sqrt(sum(v^2)))
  for (type in names(by_vector)) {
    for (d in 1:3) {
      known <- apply(a, setdiff(1:3, d), by_vector[[type]])
      expect_equal(both(function(x) nv_norm(x, type, dims = d), f64(a)), known)
      expect_equal(dim(nv_norm(f64(a), type, dims = d, drop = FALSE)), replace(dim(a), d, 1L))
      expect_equal(flat(nv_norm(f64(a), type, dims = d, drop = FALSE)), c(known))
    }
    for (dims in list(1:2, 2:1, c(3, 1))) {
      other <- setdiff(1:3, dims)
      known <- apply(a, other, function(m) norm(if (dims[1L] > dims[2L]) t(m) else m, type))
      expect_equal(c(both(function(x) nv_norm(x, type, dims), f64(a))), known)
      expect_equal(dim(nv_norm(f64(a), type, dims, drop = FALSE)), replace(dim(a), dims, 1L))
    }
    expect_checked(function(x) nv_norm(x, type, dims = 2), of_f64(3, 2))
  }
  expect_equal(flat(nv_norm(f64(a), 3, dims = 2)), c(apply(abs(a), c(1, 3), \(v) sum(v^3)^(1 / 3))))
  expect_equal(flat(nv_norm(nv_empty("f64", c(2L, 0L)), dims = 2)), c(0, 0))
  expect_equal(flat(nv_norm(f64(rbind(c(3e200, 4e200), c(3e-200, 4e-200))), dims = 2)), c(5e200, 5e-200))
})

test_that("norms and distances of zero have derivative zero", {
  for (type in list("O", "F", "2", 3)) expect_equal(c(gradient_of(function(x) nv_norm(x, type), f64(c(0, 0)))), c(0, 0))
  x <- rows_of(c(1, 2), c(1, 2))
  for (method in c("euclidean", "minkowski")) {
    expect_equal(gradient_of(function(x) sum(nv_cdist(x, x, method, p = 3)), x), matrix(0, 2, 2))
  }
})

test_that("distances are those of dist()", {
  x <- m[, 1:2]
  y <- matrix(rnorm(8), 4)
  for (method in c("euclidean", "manhattan", "maximum", "minkowski")) {
    expected <- as.matrix(dist(rbind(x, y), method, p = 3))[1:3, 4:7]
    expect_equal(both(function(x, y) nv_cdist(x, y, method, p = 3), f64(x), f64(y)), unname(expected))
  }
  expect_equal(as_array(nv_cdist(f64(x), f64(y), "squared")), unname(as.matrix(dist(rbind(x, y)))[1:3, 4:7]^2))
  expect_equal(as_array(nv_cdist(f64(x))), unname(as.matrix(dist(x))), ignore_attr = TRUE)
  expect_equal(dim(nv_cdist(nv_empty("f32", c(2L, 0L)), nv_empty("f32", c(3L, 0L)), "maximum")), 2:3)
})

test_that("the exponential of a matrix", {
  by_eigen <- function(s) {
    e <- eigen(s, symmetric = TRUE)
    e$vectors %*% (exp(e$values) * t(e$vectors))
  }
  s <- crossprod(m[, 1:3])
  for (size in c(1e-3, 0.1, 1, 3)) expect_close(both(nv_expm, f64(size * s / norm(s)), absolute = 1e-14), by_eigen(size * s / norm(s)), 1e-12, absolute = 1e-13)
  expect_close(nv_expm(f64(-20 * s / norm(s))), by_eigen(-20 * s / norm(s)), 1e-10)
  expect_close(nv_expm(nv_tensor(s / norm(s), dtype = "f32")), by_eigen(s / norm(s)), 1e-5)
  turn <- 30 * matrix(c(0, -1, 1, 0), 2)
  expect_close(both(nv_expm, f64(turn)), matrix(c(cos(30), -sin(30), sin(30), cos(30)), 2), 1e-12)
  expect_equal(as_array(nv_expm(f64(matrix(0, 2, 2)))), diag(2))
  expect_equal(as_array(nv_expm(f64(matrix(c(0, 0, 1e6, 0), 2)))), matrix(c(1, 0, 1e6, 1), 2))
  both_at_once <- aperm(array(c(turn, turn / 1000), c(2, 2, 2)), c(3, 1, 2))
  expect_close(nv_expm(f64(both_at_once))[1, , ], as_array(nv_expm(f64(turn))), 1e-13)
  expect_close(nv_expm(f64(both_at_once))[2, , ], as_array(nv_expm(f64(turn / 1000))), 1e-13)
  expect_true(all(is.nan(flat(nv_expm(f64(matrix(c(1, Inf, 0, 1), 2)))))))
  expect_equal(shape(nv_expm(nv_empty("f64", c(0L, 0L)))), c(0L, 0L))
})

test_that("norms, distances and exponentials are checked", {
  for (type in c("O", "I", "F", "M", "2")) expect_checked(function(x) nv_norm(x, type), of_f64(3, 2))
  for (type in list(1, 1.5, 2, 3)) expect_checked(function(x) nv_norm(x, type), of_f64(4))
  for (method in c("euclidean", "squared", "manhattan", "maximum", "minkowski")) expect_checked(function(x, y) nv_cdist(x, y, method, 3), of_f64(3, 2), of_f64(4, 2), n = 3L)
  expect_checked(nv_expm, of_f64(3, 3))
  expect_checked(function(x) nv_expm(20 * x), f64(matrix(c(-1, 0.5, 0.2, -2), 2)), n = 3L)
})

test_that("errors name what is wrong", {
  expect_snapshot(error = TRUE, {
    nv_norm(nv_scalar(1))
    nv_norm(f64(m), "x")
    nv_norm(f64(m), 3)
    nv_norm(f64(array(1, c(1, 2, 3))))
    nv_norm(f64(m), dims = 3)
    nv_norm(f64(array(1, c(1, 2, 3))), dims = 1:3)
    nv_norm(f64(m), 3, dims = 1:2)
    nv_norm(f64(1:2), 0.5)
    nv_cdist(f64(m), f64(t(m)))
    nv_cdist(f64(1:3))
    nv_cdist(f64(m), method = "canberra")
    nv_cdist(f64(m), p = 0)
    nv_expm(f64(m))
  })
})
