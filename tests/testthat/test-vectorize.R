# The results of f for each example, stacked along `along`: what vectorize() promises.
one_by_one <- function(f, n, along = 1L) {
  results <- lapply(seq_len(n), function(i) as_array(f(i)))
  sizes <- dim(results[[1L]])
  stacked <- array(unlist(results), c(sizes, n))
  if (along == length(sizes) + 1L) stacked else aperm(stacked, append(seq_along(sizes), length(sizes) + 1L, along - 1L))
}
x <- nv_tensor(matrix(c(1, -2, 3, 4, 0.5, -6), 3), "f64")
y <- nv_tensor(matrix(c(0.3, 1, -1, 2, 4, 0.1), 3), "f64")
dot <- function(a, b) sum(a * b)

test_that("a vectorized function has the formals of its function and gives each example's result", {
  f <- function(a, b = 2, ...) sum(a) * b
  expect_identical(formals(vectorize(f)), formals(f))
  expect_equal(c(as_array(vectorize(f)(x))), 2 * rowSums(as_array(x)))
  expect_equal(c(as_array(vectorize(dot)(x, y))), rowSums(as_array(x) * as_array(y)))
  expect_equal(c(as_array(jit(vectorize(dot))(x, y))), rowSums(as_array(x) * as_array(y)))
  expect_equal(c(as_array(vectorize(jit(dot))(x, y))), rowSums(as_array(x) * as_array(y)))
})

test_that("arguments are mapped or shared", {
  row <- nv_tensor(c(1, 2), "f64")
  expect_equal(c(as_array(vectorize(dot, "a")(x, row))), c(as_array(x) %*% c(1, 2)))
  expect_equal(c(as_array(vectorize(dot, 2)(row, x))), c(as_array(x) %*% c(1, 2)))
  expect_equal(c(as_array(vectorize(function(a, k) sum(a) * k)(x, nv_scalar(3, "f64")))), 3 * rowSums(as_array(x)))
  out <- vectorize(function(p, k) list(s = p$a + p$b, k = k), "p")(list(a = x, b = y), row)
  expect_equal(as_array(out$s), as_array(x) + as_array(y))
  expect_equal(as_array(out$k), rbind(c(1, 2), c(1, 2), c(1, 2)))
  expect_equal(c(as_array(vectorize(dot)(as_array(x), y))), rowSums(as_array(x) * as_array(y)))
})

test_that("axes count from both ends, and may be given by name", {
  z <- nv_tensor(array(sin(1:24), 2:4), "f64")
  for (axis in c(1:3, -1:-3)) {
    place <- if (axis < 0) 4L + axis else axis
    example <- function(i) nv_tensor(array(asplit(as_array(z), place)[[i]], (2:4)[-place]), "f64")
    for (out in 1:3) {
      expect_equal(as_array(vectorize(cos, axis = axis, out_axis = out)(z)), one_by_one(function(i) cos(example(i)), (2:4)[place], out))
    }
  }
  expect_equal(c(as_array(vectorize(dot, axis = c(a = 1, b = 2))(x, t(y)))), rowSums(as_array(x) * as_array(y)))
  expect_equal(c(as_array(vectorize(dot, axis = list(a = -2))(x, nv_tensor(c(1, 2), "f64")))), c(as_array(x) %*% c(1, 2)))
  out <- vectorize(function(a) list(u = a, v = -a), out_axis = c(u = 1, v = -1))(x)
  expect_equal(as_array(out$u), as_array(x))
  expect_equal(as_array(out$v), -t(as_array(x)))
})

test_that("vectorized functions nest and are differentiated", {
  distance <- function(a, b) sqrt(sum((a - b)^2))
  pairs <- vectorize(vectorize(distance, "b"), "a")
  expect_equal(as_array(jit(pairs)(x, y)), outer(1:3, 1:3, Vectorize(function(i, j) sqrt(sum((as_array(x)[i, ] - as_array(y)[j, ])^2)))))
  cube <- function(a) sum(a * a * a)
  each <- jit(vectorize(gradient(cube)))(x)$a
  expect_equal(as_array(each), 3 * as_array(x)^2)
  whole <- function(a) sum(vectorize(cube)(a))
  expect_equal(jit(gradient(whole))(x)$a, each)
  expect_equal(as_array(gradient(whole)(x)$a), as_array(each))
  hessian <- vectorize(function(a) vectorize(function(e, a) gradient(function(a) sum(gradient(cube)(a)$a * e))(a)$a, "e")(nv_eye(2, "f64"), a))
  expect_equal(as_array(hessian(x))[2, , ], diag(6 * as_array(x)[2, ]))
})

test_that("what a function captures is shared", {
  w <- nv_tensor(c(2, 3), "f64")
  expect_equal(c(as_array(vectorize(function(a) sum(a * w))(x))), c(as_array(x) %*% c(2, 3)))
  outer_value <- jit(function(x, w) vectorize(function(a) sum(a * w))(x) + sum(w))
  expect_equal(c(as_array(outer_value(x, w))), c(as_array(x) %*% c(2, 3)) + 5)
})

test_that("decisions and loops are those of each example", {
  values <- nv_tensor(c(1, 3, 20, -1), "f64")
  grow <- function(x) {
    out <- nv_while(list(x = x, n = 0L), function(x, n) (x < 10) & (x > 0), function(x, n) list(x = x * 2, n = n + 1L))
    nv_if(out$n > 2L, out$x * out$x, x * 2)
  }
  alone <- vapply(as_array(values), function(v) as_array(grow(nv_scalar(v, "f64"))), 0)
  expect_equal(c(as_array(vectorize(grow)(values))), alone)
  expect_equal(c(as_array(jit(vectorize(grow))(values))), alone)
  slopes <- vapply(as_array(values), function(v) as_array(gradient(grow)(nv_scalar(v, "f64"))$x), 0)
  expect_equal(c(as_array(jit(vectorize(gradient(grow)))(values)$x)), slopes)
  expect_equal(c(as_array(jit(gradient(function(v) sum(vectorize(grow)(v))))(values)$v)), slopes)
})

test_that("no examples give no results", {
  none <- nv_tensor(numeric(), "f64", shape = c(0L, 2L))
  expect_identical(shape(vectorize(dot)(none, none)), 0L)
  expect_identical(shape(jit(vectorize(function(a) exp(a)))(none)), c(0L, 2L))
})

test_that("types alone are enough", {
  expect_prints(vectorize(dot)(debug_box("f32", c(3, 2)), debug_box("f32", c(3, 2))), "f32{3}")
})

test_that("each example draws with its own state", {
  draw <- function(seed) nv_rnorm(3L, nv_rng_state(seed))[[2L]]
  expect_equal(as_array(jit(vectorize(draw))(nv_tensor(1:4))), one_by_one(function(i) draw(nv_scalar(i)), 4L), tolerance = 1e-6)
})

test_that("primitives made in R are batched by their rule, or as what they and their rules are made of", {
  p <- AnvilPrimitive("test_batched")
  p[["forward"]] <- function(operand, times) operand * times
  plain <- register_primitive("test_batched", p, overwrite = TRUE)
  f <- vectorize(function(a) plain(a, times = 3))
  names_of <- function(f) vapply(trace_fn(f, list(x))$calls, function(call) call$primitive$name, "")
  expect_equal(as_array(f(x)), 3 * as_array(x))
  expect_false("while" %in% names_of(f))
  p[["backward"]] <- function(inputs, outputs, grads, times, .required) list(grads[[1L]] * 100)
  register_primitive("test_batched", p, overwrite = TRUE)
  expect_identical(setdiff(names_of(f), "transpose"), "test_batched")
  expect_equal(as_array(jit(f)(x)), 3 * as_array(x))
  expect_equal(as_array(jit(gradient(function(a) sum(f(a))))(x)$a), array(100, 3:2))
  p[["batch"]] <- function(inputs, batched, size, times) plain(inputs[[1L]], times = times)
  register_primitive("test_batched", p, overwrite = TRUE)
  expect_false("while" %in% names_of(f))
  expect_equal(as_array(jit(f)(x)), 3 * as_array(x))
  expect_equal(as_array(jit(gradient(function(a) sum(f(a))))(x)$a), array(100, 3:2))
  p[["batch"]] <- function(inputs, batched, size, times) nv_reduce_sum(inputs[[1L]], 1L)
  register_primitive("test_batched", p, overwrite = TRUE)
  expect_error(f(x), "must return the outputs of all examples", class = "anvil_error_argument")
})

test_that("batch rules of primitives are functions", {
  rule <- prim("reduce_sum")[["batch"]]
  expect_identical(names(formals(rule)), c("inputs", "batched", "size", "dims", "drop"))
  expect_equal(c(as_array(rule(list(x), TRUE, 2L, 1L, TRUE)[[1L]])), colSums(as_array(x)))
  expect_error(rule(list(x), TRUE, 5L, 1L, TRUE), class = "anvil_error_argument")
  both <- prim("add")[["batch"]](list(x, nv_tensor(1:3, "f64")), c(TRUE, FALSE), 2L)
  expect_equal(as_array(both[[1L]]), as_array(x) + 1:3)
})

test_that("mistakes are explained", {
  expect_snapshot(error = TRUE, {
    vectorize(1)
    vectorize(dot, "c")
    vectorize(dot, args = sum)
    vectorize(dot)(nv_scalar(1), nv_scalar(2))
    vectorize(dot, "a")(2, x)
    vectorize(dot, "a")(list(), x)
    vectorize(dot, axis = 3)(x, y)
    vectorize(function(p) p$a)(list(a = x, b = nv_tensor(1:4)))
    vectorize(dot)(x, t(y))
    vectorize(dot, axis = 0)
    vectorize(dot, axis = c(1, 2))
    vectorize(dot, axis = c(a = 1, c = 1))
    vectorize(dot, c("a", "b"), axis = c(a = 1))
    vectorize(dot, out_axis = 2)(x, y)
    vectorize(dot, out_axis = c(u = 1))(x, y)
    vectorize(function(a) "no")(x)
  })
})
