# Written out: every element of the result is a sum over the kernel.
convolution_of <- function(x, k, stride, padding, dilation, groups) {
  n <- dim(x)
  w <- dim(k)
  at <- function(b, c, i, j) if (i < 1 || j < 1 || i > n[3] || j > n[4]) 0 else x[b, c, i, j]
  out <- floor((n[3:4] + 2 * padding - dilation * (w[3:4] - 1) - 1) / stride) + 1
  y <- array(0, c(n[1], w[1], out))
  places <- arrayInd(seq_along(y), dim(y))
  terms <- arrayInd(seq_len(prod(w[-1])), w[-1])
  for (r in seq_len(nrow(places))) {
    p <- places[r, ]
    group <- (p[2] - 1) %/% (w[1] / groups)
    y[r] <- sum(apply(terms, 1, function(t) {
      k[p[2], t[1], t[2], t[3]] * at(p[1], group * w[2] + t[1], (p[3] - 1) * stride[1] + (t[2] - 1) * dilation[1] + 1 - padding[1], (p[4] - 1) * stride[2] + (t[3] - 1) * dilation[2] + 1 - padding[2])
    }))
  }
  y
}
set.seed(1)
normal <- function(...) array(rnorm(prod(...)), c(...))
cases <- list(
  list(stride = c(1, 1), padding = c(0, 0), dilation = c(1, 1), groups = 1), list(stride = c(2, 1), padding = c(1, 2), dilation = c(1, 2), groups = 1),
  list(stride = c(1, 2), padding = c(0, 1), dilation = c(2, 1), groups = 2), list(stride = c(3, 2), padding = c(2, 0), dilation = c(1, 1), groups = 4)
)

test_that("convolutions are sums over the kernel", {
  x <- normal(2, 4, 6, 5)
  for (a in cases) {
    k <- normal(4, 4 / a$groups, 2, 3)
    f <- function(x, k) nv_conv2d(x, k, a$stride, a$padding, a$dilation, a$groups)
    expect_equal(both(f, f64(x), f64(k), absolute = 1e-14), convolution_of(x, k, a$stride, a$padding, a$dilation, a$groups))
  }
  k <- normal(3, 4, 6, 5)
  one <- function(v) array(v, c(dim(v)[1:2], 1, dim(v)[-(1:2)]))
  expect_equal(as_array(nv_conv3d(f64(one(x)), f64(one(k)), padding = c(0, 1, 1))), one(as_array(nv_conv2d(f64(x), f64(k), padding = 1))))
  expect_equal(c(as_array(nv_conv1d(f64(array(1:5, c(1, 1, 5))), f64(array(c(1, 10), c(1, 1, 2)))))), c(21, 32, 43, 54))
  expect_equal(as_array(nv_conv2d(f64(x), f64(k), bias = c(1, 2, 3))), as_array(nv_conv2d(f64(x), f64(k))) + rep(1:3, each = 2))
})

test_that("tensors without elements", {
  none <- function(...) nv_empty("f32", c(...))
  expect_equal(shape(jit(nv_conv2d)(none(0L, 2L, 4L, 4L), none(3L, 2L, 2L, 2L))), c(0L, 3L, 3L, 3L))
  expect_equal(as_array(nv_conv2d(none(1L, 0L, 3L, 2L), none(2L, 0L, 2L, 2L))), array(0, c(1, 2, 2, 1)))
  expect_equal(shape(nv_conv_transpose1d(none(1L, 2L, 3L), none(2L, 0L, 2L))), c(1L, 0L, 4L))
})

test_that("padding to the same size", {
  x <- f64(normal(1, 1, 5, 6))
  for (stride in 1:3) {
    y <- nv_conv2d(x, f64(normal(1, 1, 3, 2)), stride, padding = "same")
    expect_equal(shape(y), c(1L, 1L, as.integer(ceiling(c(5, 6) / stride))))
  }
  k <- array(c(1, 10), c(1, 1, 2))
  expect_equal(flat(nv_conv1d(f64(array(1:3, c(1, 1, 3))), f64(k), padding = "same")), c(21, 32, 3))
})

test_that("transposed convolutions are the adjoints of convolutions", {
  for (a in cases) {
    x <- f64(normal(2, 4, 6, 5))
    k <- f64(normal(4, 4 / a$groups, 2, 3))
    y <- nv_conv2d(x, k, a$stride, a$padding, a$dilation, a$groups)
    g <- f64(array(rnorm(length(y)), dim(y)))
    back <- gradient(function(x) sum(nv_conv2d(x, k, a$stride, a$padding, a$dilation, a$groups) * g))(x)$x
    covered <- (shape(y)[3:4] - 1) * a$stride - 2 * a$padding + a$dilation * c(1, 2) + 1
    f <- function(g, k) nv_conv_transpose2d(g, k, a$stride, a$padding, c(6, 5) - covered, a$dilation, a$groups)
    expect_close(both(f, g, k, absolute = 1e-13), as_array(back), 1e-12, absolute = 1e-13)
  }
  spread <- nv_conv_transpose1d(f64(array(1:3, c(1, 1, 3))), f64(array(c(1, 10), c(1, 1, 2))), stride = 3, bias = 5)
  expect_equal(flat(spread), c(1, 10, 0, 2, 20, 0, 3, 30) + 5)
  expect_equal(dim(nv_conv_transpose3d(f64(normal(1, 2, 2, 2, 2)), f64(normal(2, 3, 2, 2, 2)), 2)), c(1L, 3L, 4L, 4L, 4L))
})

test_that("convolutions are checked", {
  expect_checked(function(x, k, b) nv_conv2d(x, k, 2, 1, bias = b), of_f64(1, 2, 4, 5), of_f64(3, 2, 2, 3), of_f64(3), n = 3L)
  expect_checked(function(x, k) nv_conv1d(x, k, dilation = 2, groups = 2, padding = "same"), of_f64(2, 4, 5), of_f64(2, 2, 2), n = 3L)
  expect_checked(function(x, k) nv_conv3d(x, k), of_f64(1, 2, 3, 2, 3), of_f64(2, 2, 2, 2, 2), n = 3L)
  expect_checked(function(x, k) nv_conv_transpose2d(x, k, 2, 1, 1, 2, 2), of_f64(1, 4, 3, 3), of_f64(4, 3, 2, 3), n = 3L)
})

test_that("a layer stores no intermediate tensor but the padded input", {
  layer <- function(x, k, b) nv_relu(nv_conv2d(x, k, padding = 1, bias = b))
  text <- capture.output(nv_inspect(layer, "loops", nv_aten("f32", c(8, 4, 9, 9)), nv_aten("f32", c(6, 4, 3, 3)), nv_aten("f32", 6)))
  expect_match(grep("temporary", text, value = TRUE), "\\[8, 4, 11, 11\\]")
})

test_that("errors name what is wrong", {
  x <- f64(normal(1, 2, 4, 4))
  k <- f64(normal(3, 2, 2, 2))
  expect_snapshot(error = TRUE, {
    nv_conv2d(f64(matrix(1, 2, 2)), k)
    nv_conv1d(x, k)
    nv_conv2d(x, f64(normal(3, 3, 2, 2)))
    nv_conv2d(x, k, groups = 2)
    nv_conv2d(x, f64(normal(1, 2, 5, 2)))
    nv_conv2d(x, k, stride = 0)
    nv_conv2d(x, k, padding = c(1, 2, 3))
    nv_conv2d(x, k, padding = "full")
    nv_conv2d(x, k, bias = c(1, 2))
    nv_conv_transpose2d(x, k)
    nv_conv_transpose2d(x, f64(normal(2, 2, 1, 1)), padding = 3)
  })
})
