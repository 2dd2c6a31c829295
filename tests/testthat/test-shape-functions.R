test_that("nv_reshape() follows R's order, or rows on request", {
  x <- 1:24
  expect_equal(both(function(x) nv_reshape(x, c(2, 3, 4)), nv_tensor(x)), array(x, 2:4))
  expect_equal(both(function(x) nv_reshape(x, c(6, 4)), nv_tensor(array(x, 2:4))), array(x, c(6, 4)))
  expect_equal(both(function(x) nv_reshape(x, c(2, 3), order = "C"), nv_tensor(1:6)), matrix(1:6, 2, byrow = TRUE))
  # B179: row-major of a 3 x 2 matrix
  expect_equal(flat(nv_reshape(nv_tensor(array(1:6, c(3, 2))), 6, order = "C")), c(1L, 4L, 2L, 5L, 3L, 6L))
  expect_equal(both(function(x) nv_reshape(x, c(4, 3, 2), order = "C"), nv_tensor(array(x, 2:4))), aperm(array(aperm(array(x, 2:4)), 2:4)))
  expect_equal(shape(nv_reshape(nv_tensor(x), c(2, -1, 4))), 2:4)
  expect_equal(shape(nv_reshape(nv_scalar(1), 1)), 1L)
  expect_equal(shape(nv_reshape(nv_tensor(1), integer())), integer())
  expect_equal(shape(nv_reshape(nv_empty("f32", c(0, 3)), c(-1, 6))), c(0L, 6L))
  y <- nv_tensor(1:6)
  dim(y) <- c(2, 3)
  expect_equal(value(y), matrix(1:6, 2))
})

test_that("nv_flatten(), nv_squeeze() and nv_unsqueeze() change dimensions", {
  m <- matrix(1:4, 2)
  expect_equal(flat(nv_flatten(nv_tensor(m))), 1:4)
  expect_equal(flat(nv_flatten(nv_tensor(m), order = "C")), c(1L, 3L, 2L, 4L))
  expect_equal(shape(nv_flatten(nv_empty("f32", c(0, 2)))), 0L)
  x <- nv_tensor(1:6, shape = c(1, 6, 1))
  expect_equal(shape(nv_squeeze(x)), 6L)
  expect_equal(shape(nv_squeeze(x, 3)), c(1L, 6L))
  expect_equal(shape(nv_unsqueeze(nv_tensor(1:3), 1)), c(1L, 3L))
  expect_equal(shape(nv_unsqueeze(nv_tensor(1:3), 2)), c(3L, 1L))
  expect_equal(shape(nv_unsqueeze(nv_scalar(1), 1)), 1L)
})

test_that("transposes agree with aperm()", {
  a <- array(1:24, 2:4)
  for (p in list(3:1, c(2, 1, 3), c(3, 1, 2), 1:3)) {
    expect_equal(both(function(x) nv_transpose(x, p), nv_tensor(a)), aperm(a, p))
    expect_equal(value(aperm(nv_tensor(a), p)), aperm(a, p))
  }
  expect_equal(value(nv_transpose(nv_tensor(a))), aperm(a))
  expect_equal(value(t(nv_tensor(a[, , 1]))), t(a[, , 1]))
})

test_that("nv_reverse() and rev() turn around", {
  m <- matrix(1:6, 2)
  expect_equal(both(function(x) nv_reverse(x, 2), nv_tensor(m)), m[, 3:1])
  expect_equal(both(function(x) nv_reverse(x, 1:2), nv_tensor(m)), m[2:1, 3:1])
  expect_equal(flat(rev(nv_tensor(1:3))), 3:1)
  expect_equal(flat(rev(nv_tensor(m))), rev(m))
})

test_that("slices and padding have their golden values", {
  x <- nv_tensor(1:10)
  expect_equal(flat(nv_static_slice(x, 2, 5)), 2:5)
  expect_equal(flat(nv_static_slice(x, 1, 10, 2)), c(1L, 3L, 5L, 7L, 9L))
  expect_equal(as.vector(both(function(x) nv_pad(x, 0, 2, 1), f64(1:3))), c(0, 0, 1, 2, 3, 0))
  expect_equal(as.vector(both(function(x) nv_pad(x, 9, 0, 0, 1), f64(1:3))), c(1, 9, 2, 9, 3))
  expect_equal(as.vector(both(function(x) nv_pad(x, 0, -1, 1), f64(1:3))), c(2, 3, 0))
})

test_that("nv_concatenate() joins", {
  m <- matrix(1:6, 2)
  n <- matrix(7:10, 2)
  expect_equal(both(function(x, y) nv_concatenate(x, y, dimension = 2), nv_tensor(m), nv_tensor(n)), cbind(m, n))
  expect_equal(both(function(x) nv_concatenate(x, x, dimension = 1), nv_tensor(m)), rbind(m, m))
  expect_equal(both(function(x) nv_concatenate(x, 4L), nv_tensor(1:3)), array(1:4))
  expect_equal(flat(nv_concatenate(1, 2, 3)), c(1, 2, 3))
  expect_equal(value(nv_concatenate(nv_tensor(m), 0L, dimension = 2)), cbind(m, 0L))
  expect_equal(type_of(nv_concatenate(nv_tensor(1L), f64(2))), "f64[2]")
  expect_equal(flat(nv_concatenate(nv_tensor(1:2))), 1:2)
})

test_that("rbind(), cbind() and c() agree with R", {
  m <- matrix(1:6, 2)
  x <- nv_tensor(m)
  expect_equal(both(function(x) rbind(x, 7L), x), unname(rbind(m, 7L)))
  expect_equal(value(rbind(nv_tensor(1:3), x)), rbind(1:3, m))
  expect_equal(value(cbind(nv_tensor(1:2), x, 0L)), unname(cbind(1:2, m, 0L)))
  expect_equal(value(cbind(array(1:2), x)), cbind(1:2, m))
  expect_equal(shape(nv_rbind(1, 2)), c(2L, 1L))
  expect_equal(shape(nv_cbind(1, 2)), c(1L, 2L))
  expect_equal(flat(c(x, 7L)), c(m, 7L))
  parts <- c(x, list(a = 1), x)
  expect_type(parts, "list")
  expect_equal(names(parts), c("", "a", ""))
  expect_equal(value(nv_rbind(nv_tensor(array(1:8, c(2, 2, 2))), nv_tensor(array(9:12, c(1, 2, 2)))))[3, , ], matrix(9:12, 2))
})

test_that("conversions truncate, saturate and agree with R", {
  v <- c(1.7, -1.7, 0, 300, NaN)
  expect_equal(as.vector(both(function(x) nv_convert(x, "i32"), f64(v))), c(1L, -1L, 0L, 300L, 0L))
  expect_equal(as.vector(both(function(x) nv_convert(x, "i8"), f64(c(300, -300)))), c(127L, -128L))
  expect_equal(as.vector(both(function(x) nv_convert(x, "bool"), f64(c(0, 0.5)))), c(FALSE, TRUE))
  for (from in all_dtypes) {
    for (to in all_dtypes) {
      expect_equal(type_of(nv_convert(nv_tensor(0:1, from), to)), paste0(to, "[2]"))
      expect_equal(as.numeric(flat(nv_convert(nv_tensor(0:1, from), to))), c(0, 1))
    }
  }
  expect_false(ambiguous(nv_convert(1, "f32")))
  expect_equal(type_of(nv_convert(1, as_dtype("f64"))), "f64[]")
})

test_that("bits are kept by nv_bitcast_convert()", {
  expect_equal(value(nv_bitcast_convert(nv_tensor(1L), "i8")), matrix(c(1L, 0L, 0L, 0L), 1))
  expect_equal(flat(nv_bitcast_convert(nv_tensor(rep(1L, 4), "i8"), "i32")), 16843009L)
  expect_equal(shape(nv_bitcast_convert(f64(1:3), "i32")), c(3L, 2L))
  expect_equal(as.vector(both(function(x) nv_bitcast_convert(nv_bitcast_convert(x, "ui16"), "f64"), f64(c(pi, -1)))), c(pi, -1))
  expect_equal(flat(nv_bitcast_convert(nv_tensor(1, "f32"), "i32")), 1065353216L)
  bits <- both(function(x) nv_bitcast_convert(x, "bool"), nv_tensor(c(5L, -1L)))
  expect_equal(bits, t(cbind(intToBits(5L), intToBits(-1L)) == 1L))
  expect_equal(as.vector(both(function(x) nv_bitcast_convert(x, "i32"), nv_tensor(bits))), c(5L, -1L))
})

test_that("mistakes are explained", {
  m <- nv_tensor(matrix(1:6, 2))
  expect_snapshot(error = TRUE, {
    nv_reshape(m, c(4, 2))
    nv_reshape(m, c(-1, -1))
    nv_reshape(m, c(4, -1))
    nv_reshape(m, 6, order = "R")
    nv_flatten(1)
    nv_squeeze(m, 2)
    nv_unsqueeze(m, 4)
    nv_transpose(m, c(2, 2))
    t(nv_tensor(1:3))
    nv_reverse(m, 3)
    nv_static_slice(nv_tensor(1:3), 2, 4)
    nv_concatenate(m, m)
    nv_concatenate(m, nv_tensor(matrix(1:3, 3)), dimension = 2)
    nv_rbind(m, nv_tensor(1:2))
    nv_convert(m, "f23")
    nv_bitcast_convert(m, "f64")
  })
})
