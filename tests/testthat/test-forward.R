x <- nv_tensor(c(1, 2, 3), "f64")
y <- nv_tensor(c(4, 5, 7), "f64")
value <- function(x) as.vector(as_array(x))

# Central differences of the results of f, a function of an R vector, as the columns of a matrix.
differences <- function(f, at, h = 1e-5) {
  columns <- lapply(seq_along(at), function(k) {
    step <- replace(numeric(length(at)), k, h)
    (as.vector(f(at + step)) - as.vector(f(at - step))) / (2 * h)
  })
  matrix(unlist(columns), ncol = length(at))
}
as_function <- function(f, shape = NULL) {
  compiled <- jit(f)
  function(v) as_array(compiled(nv_tensor(if (is.null(shape)) v else array(v, shape), "f64")))
}
as_matrix <- function(x, ncol) matrix(as_array(x), ncol = ncol)

test_that("the tangent is the derivative along a direction, with the structure of the result", {
  f <- function(p, k, scale = 2) list(a = p$a * p$b[[1]] * scale, b = list(sum(p$a), k))
  args <- list(list(a = x, b = list(y)), nv_scalar(3L))
  out <- jvp(f, wrt = "p")(args, list(p = list(a = x)))
  expect_equal(out$value, f(args[[1L]], args[[2L]]))
  expect_equal(value(out$tangent$a), value(x) * value(y) * 2)
  expect_equal(value(out$tangent$b[[1L]]), 6)
  expect_null(out$tangent$b[[2L]])
  expect_identical(build_tree(out$value), build_tree(list(a = 1, b = list(2, 3))))
  both <- jvp(f, wrt = 1)(args, list(list(a = x, b = list(y))))
  expect_equal(value(both$tangent$a), 2 * (value(x) * value(y) + value(x) * value(y)))
})

test_that("what has no direction stays where it is", {
  f <- function(x, y) x * y
  expect_equal(value(jvp(f)(list(x, y), list(y = y))$tangent), value(x * y))
  expect_equal(value(jvp(f)(list(x, y), list(NULL, y))$tangent), value(x * y))
  expect_equal(value(jvp(f)(list(x, y), NULL)$tangent), c(0, 0, 0))
  expect_equal(value(jvp(f)(list(y = y, x = x), list(x = x))$tangent), value(x * y))
  expect_null(jvp(function(x) x > 1)(list(x), list(x))$tangent)
  expect_equal(value(jvp(function(x) nv_scalar(1))(list(x), list(x))$tangent), 0)
})

test_that("cotangents of any results are pulled back", {
  f <- function(x, y) list(product = x * y, sums = list(sum(x), sum(y)), count = nv_scalar(2L))
  out <- vjp(f)(list(x, y), list(product = x, sums = list(nv_scalar(10, "f64"))))
  expect_equal(out$value, f(x, y))
  expect_named(out$cotangents, c("x", "y"))
  expect_equal(value(out$cotangents$x), value(x * y) + 10)
  expect_equal(value(out$cotangents$y), value(x * x))
  expect_equal(value(vjp(f, wrt = "y")(list(x, y), list(sums = list(NULL, nv_scalar(3, "f64"))))$cotangents$y), c(3, 3, 3))
  expect_equal(value(vjp(function(x) x * x)(list(x), y)$cotangents$x), 2 * value(x * y))
  expect_equal(value(vjp(function(x) x * x)(list(x), NULL)$cotangents$x), c(0, 0, 0))
  expect_equal(value(vjp(function(x) list())(list(x), list())$cotangents$x), c(0, 0, 0))
  expect_identical(jvp(function(x) list())(list(x), list(x)), list(value = list(), tangent = list()))
})

test_that("functions of different shapes have their Jacobians, nested by result and argument", {
  u <- nv_tensor(matrix(1:6 / 7, 2), "f64")
  v <- nv_tensor(matrix(1:3 / 7, 3), "f64")
  f <- function(p) list(a = p$u %*% p$v, b = sum(p$u))
  jacobians <- jacobian(f)(list(u = u, v = v))
  expect_identical(build_tree(jacobians), build_tree(list(a = list(p = list(u = 1, v = 2)), b = list(p = list(u = 3, v = 4)))))
  expect_equal(as_array(jacobians$a$p$v), array(value(u), c(2, 1, 3, 1)))
  expect_equal(as_array(jacobians$a$p$u), array(outer(diag(2), value(v)), c(2, 1, 2, 3)))
  expect_equal(as_array(jacobians$b$p$u), array(1, c(2, 3)))
  expect_equal(as_array(jacobians$b$p$v), array(0, c(3, 1)))
  expect_equal(jit(jacobian(f))(list(u = u, v = v)), jacobians)
  expect_equal(as_array(jacobian(function(x) sin(x))(nv_scalar(0, "f64"))$x), 1)
  empty <- nv_tensor(numeric(), "f64")
  expect_equal(shape(jit(jacobian(function(x) x * 2))(empty)$x), c(0L, 0L))
  expect_equal(shape(jacobian(function(x, e) x * sum(e))(x, empty)$e), c(3L, 0L))
})

test_that("both modes give the Jacobian that differences give", {
  wide <- function(x) x[1L:2L] * sum(x^2)
  long <- function(x) nv_concatenate(x^2, exp(x), x * sum(x), dimension = 1L)
  for (f in list(wide, long)) {
    expected <- differences(as_function(f), value(x))
    expect_equal(as_matrix(jit(jacobian(f))(x)$x, 3L), expected, tolerance = 1e-8)
    expect_equal(as_matrix(jacobian(f)(x)$x, 3L), expected, tolerance = 1e-8)
  }
})

test_that("logistic regression has the gradient and the Hessian that one derives by hand", {
  set.seed(1)
  z <- cbind(1, rnorm(20), rnorm(20))
  response <- rbinom(20, 1, 0.5)
  beta <- c(0.2, -0.4, 0.3)
  loss <- function(beta, z, y) {
    eta <- z %*% beta
    sum(nv_log1p(exp(eta)) - y * eta)
  }
  args <- list(nv_tensor(matrix(beta), "f64"), nv_tensor(z, "f64"), nv_tensor(matrix(response), "f64"))
  p <- as.vector(plogis(z %*% beta))
  expected <- t(z) %*% (z * p * (1 - p))
  h <- jit(hessian(loss, wrt = "beta"))
  expect_equal(matrix(as_array(do.call(h, args)$beta$beta), 3L), expected)
  expect_equal(matrix(as_array(do.call(hessian(loss, wrt = 1), args)$beta$beta), 3L), expected)
  t <- c(1, -2, 0.5)
  along <- jit(hvp(loss, wrt = "beta"))
  expect_equal(value(along(args, list(beta = nv_tensor(matrix(t), "f64")))$beta), as.vector(expected %*% t))
})

test_that("a recursion in a loop has closed derivatives", {
  recursion <- function(a, e) {
    nv_while(list(i = nv_scalar(2L), y = e), \(i, y) i <= 20L, \(i, y) {
      y[i] <- a * y[i - 1L] + y[i]
      list(i = i + 1L, y = y)
    })$y
  }
  a <- nv_scalar(0.9, "f64")
  e <- nv_tensor(cos(1:20), "f64")
  powers <- outer(1:20, 1:20, function(i, j) ifelse(i >= j, 0.9^(i - j), 0))
  derivatives <- jit(jacobian(recursion))(a, e)
  expect_equal(as_array(derivatives$e), powers)
  slopes <- outer(1:20, 1:20, function(i, j) ifelse(i > j, (i - j) * 0.9^(i - j - 1), 0)) %*% cos(1:20)
  expect_equal(value(derivatives$a), as.vector(slopes))
  moved <- jit(jvp(recursion))(list(a, e), list(a = nv_scalar(1, "f64")))
  expect_equal(value(moved$tangent), as.vector(slopes))
  expect_equal(value(moved$value), as.vector(powers %*% cos(1:20)))
  loss <- function(a, e) sum(recursion(a, e)^2)
  bends <- outer(1:20, 1:20, function(i, j) ifelse(i > j + 1, (i - j) * (i - j - 1) * 0.9^(i - j - 2), 0)) %*% cos(1:20)
  second <- jit(hessian(loss, wrt = "a"))(a, e)$a$a
  expect_equal(value(second), 2 * sum(slopes^2 + (powers %*% cos(1:20)) * bends))
})

test_that("a loop of unknown length, branches and checkpoints have forward derivatives", {
  heron <- function(x) nv_while(list(r = x), \(r) abs(r * r - x) > 1e-12, \(r) list(r = (r + x / r) / 2))$r
  for (at in list(nv_scalar(2, "f64"))) {
    expect_equal(value(jit(jvp(heron))(list(at), list(nv_scalar(1, "f64")))$tangent), 0.5 / sqrt(2), tolerance = 1e-6)
  }
  f <- function(x) nv_if(x > 0, x * x, list(-x)[[1L]])
  moved <- function(at) value(jit(jvp(f))(list(nv_scalar(at)), list(nv_scalar(1)))$tangent)
  expect_equal(c(moved(3), moved(-3)), c(6, -1))
  kept <- nv_checkpoint(function(x) tanh(x) * x)
  expect_equal(jit(hessian(function(x) sum(kept(x))))(x), jit(hessian(function(x) sum(tanh(x) * x)))(x))
})

test_that("sorting, factorisations and solutions agree with differences", {
  z <- crossprod(matrix(c(2, 1, 0, -1, 3, 1, 0.5, 1, 2), 3))
  expect_near <- function(f, at) {
    found <- as_matrix(jit(jacobian(f))(nv_tensor(at, "f64"))[[1L]], length(at))
    expect_lt(max(abs(found - differences(as_function(f, dim(at)), at))), 1e-6)
  }
  expect_near(function(x) nv_sort(x), array(c(4, 7, 5)))
  expect_near(function(x) nv_cumsum(x, 1L), array(c(4, 7, 5)))
  expect_near(function(x) nv_top_k(x, 2L)[[1L]], array(c(4, 7, 5)))
  expect_near(function(x) nv_reduce_prod(x, 1L), array(c(4, 7, 5)))
  expect_near(function(m) nv_chol((m + t(m)) / 2), z)
  expect_near(function(m) nv_triangular_solve(m, nv_tensor(matrix(c(1, 2, 3)), "f64"), lower = TRUE), z)
})

test_that("derivatives compose in any order", {
  cube <- function(y) sum(y^3)
  expect_equal(as_array(jit(hessian(cube))(x)$y$y), diag(6 * value(x)))
  by_columns <- jacobian(function(y) jvp(function(y) y^3)(list(y), list(nv_fill_like(y, 1)))$tangent)
  expect_equal(as_array(jit(by_columns)(x)$y), diag(6 * value(x)))
  reversed <- gradient(function(y) sum(jvp(cube)(list(y), list(y))$tangent))
  expect_equal(value(jit(reversed)(x)$y), 9 * value(x)^2)
  expect_equal(value(reversed(x)$y), 9 * value(x)^2)
  third <- jacobian(hessian(cube))
  expect_equal(sum(as_array(jit(third)(x)$y$y$y)), 18)
  inner <- jit(jvp(jit(cube)))
  expect_equal(value(jit(gradient(function(y) inner(list(y), list(y))$tangent))(x)$y), 9 * value(x)^2)
  summed <- gradient(function(y) sum(jacobian(function(y) y^2)(y)$y))
  expect_equal(value(jit(summed)(x)$y), c(2, 2, 2))
  expect_equal(value(hvp(cube)(list(x), list(y))$y), 6 * value(x * y))
})

test_that("kinks are those of reverse mode, and what was not chosen moves nothing", {
  tied <- nv_tensor(c(2, 1, 2), "f64")
  expect_equal(value(jvp(function(x) max(x))(list(tied), list(nv_tensor(c(1, 9, 3), "f64")))$tangent), 2)
  rooted <- function(x) nv_ifelse(x > 0, sqrt(x), 0)
  expect_equal(value(jit(jvp(rooted))(list(nv_tensor(c(-1, 0, 4))), list(nv_tensor(c(1, 1, 1))))$tangent), c(0, 0, 0.25))
})

test_that("types of tensors are known where values are not", {
  out <- jvp(function(x) x * 2)(list(debug_box("f32", 2L)), list(debug_box("f32", 2L)))
  expect_equal(shape(out$tangent), 2L)
  expect_equal(shape(jacobian(function(x) x * 2)(debug_box("f32", 2L))$x), c(2L, 2L))
})

test_that("a primitive from R has the transpose of its backward rule, or a rule of its own", {
  p <- AnvilPrimitive("test_forward_scaled")
  p[["forward"]] <- function(operand, scale) operand * scale
  p[["backward"]] <- function(inputs, outputs, grads, scale, .required) list(grads[[1L]] * scale)
  scaled <- register_primitive("test_forward_scaled", p, overwrite = TRUE)
  moved <- function(f) value(jit(jvp(f))(list(x), list(y))$tangent)
  expect_equal(moved(function(x) scaled(x, scale = 3)), 3 * value(y))

  p <- AnvilPrimitive("test_forward_clipped")
  p[["forward"]] <- function(operand) operand
  p[["backward"]] <- function(inputs, outputs, grads, .required) list(nv_clamp(-1, grads[[1L]], 1))
  clipped <- register_primitive("test_forward_clipped", p, overwrite = TRUE)
  expect_error(moved(function(x) clipped(x)), "no forward derivative", class = "anvil_error_gradient")
  p[["jvp"]] <- function(inputs, outputs, tangents) list(tangents[[1L]] * 2)
  clipped <- register_primitive("test_forward_clipped", p, overwrite = TRUE)
  expect_equal(moved(function(x) clipped(x)), 2 * value(y))
  expect_equal(value(jit(gradient(function(x) sum(clipped(x) * 5)))(x)$x), c(1, 1, 1))
  expect_equal(value(jvp(function(x) clipped(x))(list(x), list(y))$tangent), 2 * value(y))

  p[["backward"]] <- NULL
  clipped <- register_primitive("test_forward_clipped", p, overwrite = TRUE)
  expect_equal(moved(function(x) clipped(x)), 2 * value(y))
  expect_equal(value(jit(gradient(function(x) sum(clipped(x))))(x)$x), c(2, 2, 2)) # its transpose

  p[["jvp"]] <- function(inputs, outputs, tangents) list(sum(tangents[[1L]]))
  clipped <- register_primitive("test_forward_clipped", p, overwrite = TRUE)
  expect_snapshot(error = TRUE, moved(function(x) clipped(x)))
  p[["jvp"]] <- function(inputs, outputs, tangents) list()
  clipped <- register_primitive("test_forward_clipped", p, overwrite = TRUE)
  expect_snapshot(error = TRUE, moved(function(x) clipped(x)))
})

test_that("the rules of primitives are functions", {
  rule <- prim("mul")$rules[["jvp"]]
  expect_identical(names(formals(rule)), c("inputs", "outputs", "tangents"))
  expect_equal(value(rule(list(x, y), list(x * y), list(x, y))[[1L]]), 2 * value(x * y))
  expect_equal(value(rule(list(x, x), list(x * x), list(y, NULL))[[1L]]), value(x * y))
  expect_null(prim("floor")$rules[["jvp"]](list(x), list(x), list(y))[[1L]])
  sorted <- prim("sort")$rules[["jvp"]](list(y), list(nv_sort(y)), list(x), dim = 1L, descending = TRUE, is_stable = TRUE, num_keys = 1L)
  expect_equal(value(sorted[[1L]]), c(3, 2, 1))
  expect_error(rule(list(x, y), list(x), list(x, nv_scalar(1))), class = "anvil_error_argument")
})

test_that("mistakes are explained", {
  f <- function(x, y) x * y
  whole <- nv_tensor(1:3)
  expect_snapshot(error = TRUE, {
    jvp(1)
    jvp(f, wrt = "z")
    jvp(f)(list(x, y))
    vjp(f)(cotangents = x)
    jvp(f)(x, list(x))
    jvp(f)(list(x, y, x), list(x))
    jvp(f)(list(x, y), x)
    jvp(f)(list(x, y), list(z = x))
    jvp(f, wrt = "x")(list(x, y), list(x, y))
    jvp(f)(list(x, y), list(x = 1))
    jvp(f)(list(x, y), list(x = nv_tensor(c(1, 2), "f64")))
    jvp(f)(list(x, y), list(x = nv_tensor(c(1, 2, 3), "f32")))
    jvp(f)(list(x, whole), list(x = x))
    jvp(f)(list(x, 1), list(x = x))
    jvp(function(p) p$a)(list(list(a = x)), list(p = x))
    vjp(f)(list(x, y), list(x))
    vjp(function(x) list(a = x))(list(x), x)
    vjp(function(x) list(a = x))(list(x), list(b = x))
    vjp(function(x) list(x, x > 1))(list(x), list(NULL, x))
    jacobian(function(x) x > 1)(x)
    jacobian(f)(x, whole)
    hessian(f)(x, y)
    hvp(f)(list(x, y), list(x))
  })
})
