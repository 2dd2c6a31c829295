test_that("nv_if takes expressions and functions", {
  f <- jit(function(x) nv_if(x > 0, sqrt(x), function() -x))
  expect_equal(as_array(f(nv_scalar(9))), 3)
  expect_equal(as_array(f(nv_scalar(-9))), 9)
  expect_equal(as_array(jit(function(x) nv_if(TRUE, x, x + 1))(nv_scalar(1))), 1)
  k <- nv_tensor(c(1, 2))
  g <- jit(function(x) nv_if(x > 0, list(a = k, b = list(x)), list(a = k * x, b = list(k[1]))))
  expect_equal(as_array(g(nv_scalar(2, "f32"))$a), array(c(1, 2)))
  expect_equal(as_array(g(nv_scalar(-2, "f32"))$a), array(c(-2, -4)))
})

test_that("nv_while runs until its condition fails", {
  count <- function(n) nv_while(list(i = 0L, total = 0L), function(i, total) i < n, function(i, total) list(i = i + 1L, total = total + i))
  out <- jit(count)(nv_scalar(5L))
  expect_equal(lapply(out, as_array), list(i = 5, total = 10))
  expect_equal(lapply(count(nv_scalar(5L)), as_array), list(i = 5, total = 10))
  expect_equal(as_array(jit(count)(nv_scalar(0L))$i), 0)
  nested <- jit(function(x) nv_while(list(s = list(a = x, b = array(c(1, 2)))), function(s) sum(s$a) < 10, function(s) list(s = list(a = s$a + s$b, b = s$b))))
  expect_equal(as_array(nested(nv_tensor(c(0, 0)))$s$a), array(c(4, 8)))
  swap <- jit(function(a, b) nv_while(list(a = a, b = b, i = 0L), function(a, b, i) i < 3L, function(a, b, i) list(a = b, b = a, i = i + 1L)))
  expect_equal(as_array(swap(nv_scalar(1), nv_scalar(2))$a), 2)
  expect_prints(trace_fn(function(n) nv_while(list(i = 0L), \(i) i < n, \(i) list(i = i + 1L)), list(n = nv_aten("i32", c()))), "
<AnvilGraph>
  Inputs:
    %x1: i32[]
  Body:
    %1: i32?[] = while [cond_graph = graph[1 -> 1], body_graph = graph[1 -> 1]] (0:i32?)
  Outputs:
    %1: i32?[]")
})

test_that("a training loop has its gradient inside", {
  X <- nv_tensor(matrix(c(1, 1, 1, 1, 0, 1, 2, 3), 4), "f64")
  y <- nv_tensor(matrix(c(1, 3, 5, 7)), "f64")
  fit <- jit(function(X, y) nv_while(list(beta = nv_fill(0, c(2L, 1L), "f64"), i = 0L), function(beta, i) i < 2000L, function(beta, i) {
    g <- gradient(function(b) sum((X %*% b - y)^2), wrt = "b")(beta)
    list(beta = beta - 0.02 * g$b, i = i + 1L)
  }))
  expect_equal(as_array(fit(X, y)$beta), matrix(c(1, 2)), tolerance = 1e-6)
})

test_that("in debug mode control flow is R's own", {
  seen <- 0
  out <- nv_while(list(i = nv_scalar(0L)), function(i) {
    seen <<- seen + 1
    i < 3L
  }, function(i) list(i = i + 1L))
  expect_equal(seen, 4)
  expect_equal(as_array(out$i), 3)
  expect_equal(as_array(nv_if(nv_scalar(1) > 0, nv_scalar(5), stop("not taken"))), 5)
  box <- debug_box("f32", c())
  expect_prints(nv_if(box > 0, box, box + 1), "f32{}")
  expect_prints(nv_while(list(x = box), function(x) x < 1, function(x) list(x = x + 1)), "$x\nf32{}")
})

test_that("mistakes are explained", {
  n <- nv_scalar(3L)
  expect_snapshot(error = TRUE, {
    nv_while(list(1), function(i) i < 1, function(i) list(i))
    nv_while(list(i = 0L), 1, function(i) list(i = i))
    nv_while(list(i = 0L), function(i) i < 1L, 1)
    nv_while(list(i = "a"), function(i) i < 1L, function(i) list(i = i))
    jit(function(n) nv_while(list(i = 0L), function(i) i < n, function(i) list(i = i + 1.5)))(n)
    nv_while(list(i = 0L), function(i) i < n, function(i) list(i = i + 1.5))
    jit(function(n) nv_while(list(i = 0L), function(i) i < n, function(i) list(j = i + 1L)))(n)
    jit(function(n) nv_while(list(i = 0L), function(i) i + 1L, function(i) list(i = i + 1L)))(n)
    jit(function(n) nv_while(list(v = array(c(1, 2))), function(v) v < 1, function(v) list(v = v)))(n)
    jit(function(n) nv_if(n > 0, list(n), n))(n)
    jit(function(n) nv_if(n > 0, n, nv_convert(n, "f32")))(n)
    jit(function(n) nv_if(n, n, n))(n)
    nv_if(n, 1, 2)
    nv_if("a", 1, 2)
  })
})

test_that("a condition without a value is an error, not an endless loop", {
  endless <- function(cond) nv_while(list(i = 0L), cond, function(i) list(i = i + 1L))
  expect_snapshot(error = TRUE, {
    endless(function(i) NA)
    endless(function(i) i < NA)
    endless(function(i) NULL)
    endless(function(i) i)
    endless(function(i) c(TRUE, TRUE))
    nv_if(NA, 1, 2)
    jit(function(x) nv_if(NA, x, -x))(nv_scalar(1))
    jit(function(x) endless(function(i) NA))(nv_scalar(1))
  })
})

# y[i] = a y[i - 1] + e[i], in an array
autoregression <- function(n, checkpoint = NULL) {
  function(a, e) {
    out <- nv_while(list(i = 1L, y = nv_fill(0, n, "f64")), \(i, y) i < n, function(i, y) {
      j <- i + 1L
      y[j] <- a * y[i] + e[j]
      list(i = j, y = y)
    }, checkpoint = checkpoint)
    sum(out$y^2)
  }
}

test_that("a recursion in an array has its gradient in time and memory of its length", {
  n <- 200000L # whole arrays at each step would be 320 GB
  set.seed(1)
  e <- rnorm(n)
  a <- 0.9
  slopes <- jit(gradient(autoregression(n)))(nv_scalar(a, "f64"), nv_tensor(e, "f64"))
  y <- as.vector(stats::filter(c(0, e[-1L]), a, method = "recursive"))
  adjoint <- rev(as.vector(stats::filter(rev(2 * y), a, method = "recursive")))
  expect_equal(as_array(slopes$a), sum(adjoint[-1L] * y[-n]), tolerance = 1e-10)
  expect_equal(as.vector(as_array(slopes$e)), c(0, adjoint[-1L]), tolerance = 1e-10)
})

test_that("checkpoints change no gradient", {
  e <- nv_tensor(sin(1:12), "f64")
  a <- nv_scalar(0.7, "f64")
  plain <- jit(gradient(autoregression(12L)))(a, e)
  for (k in list(1, 3L, 5, 100, Inf)) {
    expect_identical(lapply(jit(gradient(autoregression(12L, k)))(a, e), as_array), lapply(plain, as_array))
  }
  expect_equal(as_array(autoregression(12L, 4)(a, e)), as_array(autoregression(12L)(a, e)))
  # nested, in a branch, and the slope of a slope
  f <- function(checkpoint) {
    function(x) {
      nv_if(x > 0, nv_while(list(i = 0L, x = x), \(i, x) i < 6L, function(i, x) {
        inner <- nv_while(list(j = 0L, z = x), \(j, z) j < 4L, \(j, z) list(j = j + 1L, z = sin(z) + x), checkpoint = checkpoint)
        list(i = i + 1L, x = 0.5 * inner$z)
      }, checkpoint = checkpoint)$x, x)
    }
  }
  second <- function(f) jit(gradient(function(x) gradient(f)(x)$x))
  x <- nv_scalar(0.4, "f64")
  expect_equal(as_array(second(f(3))(x)$x), as_array(second(f(Inf))(x)$x), tolerance = 1e-12)
  h <- 1e-4
  at <- function(d) as_array(jit(gradient(f(2)))(nv_scalar(0.4 + d, "f64"))$x)
  expect_equal(as_array(second(f(2))(x)$x), (at(h) - at(-h)) / (2 * h), tolerance = 1e-6)
})

test_that("a loop that is known to record much is cut by itself", {
  skip_on_cran()
  n <- 150000L # of 1000 doubles: 1.2 GB of records
  f <- function(x) sum(nv_while(list(i = 0L, x = x), \(i, x) i < n, \(i, x) list(i = i + 1L, x = x * (1 - 1e-6 * x)))$x)
  x <- nv_tensor(seq(0.1, 1, length.out = 1000), "f64")
  left <- in_child(c(
    sprintf("n <- %dL", n), paste("f <-", paste(deparse(f), collapse = "\n")),
    'x <- nv_tensor(seq(0.1, 1, length.out = 1000), "f64")',
    "range(as_array(jit(gradient(f))(x)$x))"
  ), limit = 1.5e6)
  # dy/dt = -1e-6 y^2: y = x / (1 + 1e-6 n x)
  expect_equal(left, range(1 / (1 + 1e-6 * n * c(0.1, 1))^2), tolerance = 1e-4)
})

test_that("nv_case() takes the branch of a number, and the last one of any other", {
  f <- function(k, x) nv_case(k, x, x^2, sin(x), function() -x)
  x <- nv_scalar(0.5, "f64")
  wanted <- c(-0.5, 0.5, 0.25, sin(0.5), -0.5, -0.5)
  for (k in 0:5) {
    expect_equal(flat(f(nv_scalar(k), x)), wanted[k + 1L])
    expect_equal(flat(jit(f)(nv_scalar(k), x)), wanted[k + 1L])
  }
  expect_equal(flat(jit(f)(nv_scalar(-.Machine$integer.max), x)), -0.5)
  slopes <- c(-1, 1, 1, cos(0.5), -1, -1)
  for (k in 0:5) {
    expect_equal(flat(jit(gradient(f, wrt = "x"))(nv_scalar(k), x)$x), slopes[k + 1L])
    tangent <- jit(function(k, x) jvp(function(x) f(k, x))(list(x), list(nv_scalar(1, "f64")))$tangent)(nv_scalar(k), x)
    expect_equal(flat(tangent), slopes[k + 1L])
  }
  expect_equal(flat(jit(vectorize(f))(nv_tensor(0:5), f64(rep(0.5, 6)))), wanted)
  expect_equal(flat(jit(function(x) nv_case(2, x, 2 * x))(x)), 1)
  expect_equal(flat(jit(function(k, x) nv_case(k, x))(nv_scalar(7L), x)), 0.5)
})

test_that("nv_case() runs in loops and as StableHLO", {
  f <- function(x) nv_while(list(i = 1L, x = x), \(i, x) i < 5L, \(i, x) list(i = i + 1L, x = nv_case(i, x + 1, x * 3, x - 0.5)))$x
  expect_equal(flat(jit(f)(nv_scalar(1))), 5)
  expect_equal(flat(jit(gradient(f))(nv_scalar(1))[[1L]]), 3)
  g <- function(k, x) nv_case(k, x, x^2, -x)
  text <- write_stablehlo(trace_fn(g, list(k = nv_scalar(1L), x = nv_scalar(3))))
  expect_match(text, "stablehlo.case", fixed = TRUE)
  for (k in 0:4) expect_equal(flat(read_stablehlo(text)(nv_scalar(k), nv_scalar(3))), flat(g(nv_scalar(k), nv_scalar(3))))
})

test_that("branches of nv_case() are checked", {
  x <- nv_scalar(1)
  expect_snapshot(error = TRUE, {
    nv_case(1)
    nv_case(1.5, x, x)
    nv_case(x, x, x)
    jit(function(k, x) nv_case(k, x, x))(x, x)
    jit(function(k, x) nv_case(k, x, x > 0))(nv_scalar(1L), x)
    jit(function(k, x) nv_case(k, x, list(x, x)))(nv_scalar(1L), x)
  })
})
