# A value is one thing, whoever made it: nv_tensor(), a jitted function, debug mode, readRDS().

restored <- function(x) unserialize(serialize(x, NULL))

test_that("what debug mode and jitted functions compute are tensors, the same ones", {
  x <- nv_tensor(matrix(c(1, 2, 3, 4), 2), "f64")
  programs <- list(
    function(x) x + 1, function(x) sum(x), function(x) sum(x) > 1, function(x) x > 2, function(x) x,
    function(x) nv_convert(x, "i32"), function(x) list(a = x * 2, b = list(nv_scalar(TRUE), mean(x) < 0))
  )
  for (f in programs) {
    debug <- f(x)
    jitted <- jit(f)(x)
    expect_true(identical(debug, jitted))
    expect_true(identical(restored(debug), jitted))
    for (value in c(flatten(debug), flatten(jitted))) expect_true(inherits(value, "AnvilTensor"))
  }
  expect_prints(x[1, ] + 1, "DebugBox(ConcreteTensor)\n 2\n 4\n[ CPUf64{2} ]")
  expect_prints(jit(function(x) x[1, ] + 1)(x), "AnvilTensor\n 2\n 4\n[ CPUf64{2} ]")
  expect_identical(printed(restored(x > 1)), printed(x > 1))
})

test_that("all values have one parent class, and one set of methods", {
  traced <- NULL
  trace_fn(function(x) {
    traced <<- class(x)
    x
  }, list(nv_scalar(1)))
  for (own in list(class(nv_scalar(1)), class(nv_scalar(TRUE)), class(nv_scalar(1) + 1), class(debug_box("f32", 2)), traced)) {
    expect_length(own, 2)
    expect_identical(own[2], "AnvilValue")
  }
  methods <- getNamespaceInfo("anvil", "S3methods")
  expect_identical(unique(methods[methods[, 2] %in% c("AnvilTensor", "DebugBox", "GraphBox"), 1]), character())
})

test_that("a single bool is an R logical, whoever made it", {
  x <- nv_scalar(2)
  above <- function(limit) function(x) x > limit
  makers <- list(nv_scalar, function(value) above(if (value) 1 else 3)(x), function(value) jit(above(if (value) 1 else 3))(x), function(value) restored(nv_scalar(value)))
  one <- nv_tensor(matrix(2))
  expect_identical(if (one > 1) "yes", "yes")
  expect_true(one[1, ] > 1 && isTRUE(one > 1))
  expect_identical(shape(one > 1), c(1L, 1L))
  expect_identical(as_array(!(one > 1)), matrix(FALSE))
  for (make in makers) {
    yes <- make(TRUE)
    no <- make(FALSE)
    expect_true(isTRUE(yes))
    expect_true(isFALSE(no))
    expect_identical(if (yes) "yes" else "no", "yes")
    expect_identical(if (no) "yes" else "no", "no")
    expect_identical(yes && no, FALSE)
    expect_identical(yes || no, TRUE)
    expect_identical(as_array(!yes), FALSE)
    expect_identical(as_array(yes & no), FALSE)
    expect_true(isTRUE(xor(yes, no)))
    expect_silent(stopifnot(yes))
    expect_identical(vapply(list(yes, no), identity, NA), c(TRUE, FALSE))
    expect_identical(shape(yes), integer())
    expect_identical(as_array(yes), TRUE)
    expect_identical(as_array(jit(function(p) nv_ifelse(p, 1L, 2L))(no)), 2L)
    expect_identical(as_raw(yes), as.raw(1))
    expect_prints(yes$tensor, "PJRTBuffer\n 1\n[ CPUbool{} ]")
    expect_true(identical(nv_tensor(yes$tensor), yes))
    expect_false(identical(yes, no))
    expect_false(identical(yes, TRUE))
    expect_identical(printed(yes)[-1], c(" 1", "[ CPUbool{} ]"))
  }
  n <- nv_scalar(0L)
  below <- jit(function(n) n < 3L)
  while (below(n)) n <- n + 1L
  expect_identical(as_array(n), 3L)
  expect_true(is.logical(nv_scalar(TRUE)))
  expect_false(is.logical(nv_tensor(c(TRUE, FALSE))))
})

test_that("a donated bool scalar is no truth value any more", {
  flag <- nv_scalar(TRUE)
  alias <- flag
  kept <- flag & TRUE
  f <- jit(function(p) !p, donate = "p")
  expect_identical(as_array(f(flag)), FALSE)
  expect_error(if (alias) 1)
  expect_error(as_array(alias), class = "anvil_error_donated")
  expect_error(f(flag), class = "anvil_error_donated")
  expect_true(isTRUE(kept))
})

test_that("a logical that lost its tensor, or is not of it, is no tensor", {
  other <- nv_scalar(TRUE)
  attr(other, "handle") <- attr(nv_scalar(FALSE), "handle")
  expect_error(as_array(other), class = "anvil_error_argument")
  expect_error(other + 1, class = "anvil_error_argument")
  bare <- nv_scalar(TRUE)
  attr(bare, "handle") <- NULL
  expect_error(print(bare), class = "anvil_error_argument")
})

test_that("static values are known by their data, whoever made them", {
  x <- nv_tensor(c(1, 2), "f64")
  f <- jit(function(x, k) if (ndims(k) == 0L && k) x else x * sum(k), static = "k")
  size <- function() environment(f)$cache$size
  for (k in list(x, x + 0, jit(function(x) x + 0)(x), restored(x))) expect_identical(as.double(f(x, k)), c(3, 6))
  expect_identical(size(), 1L)
  for (k in list(nv_scalar(TRUE), sum(x) > 1, jit(function(x) sum(x) > 1)(x))) expect_identical(as.double(f(x, k)), c(1, 2))
  expect_identical(size(), 2L)
  f(x, nv_scalar(FALSE))
  expect_identical(size(), 3L)
})

test_that("all.equal() compares types and data, and says what differs", {
  x <- nv_tensor(c(1, 2, 3))
  expect_true(all.equal(x, x + 0))
  expect_true(all.equal(nv_scalar(TRUE), jit(function(x) sum(x) > 1)(x)))
  expect_true(all.equal(nv_tensor(c(1, 2), "f64"), nv_tensor(c(1, 2 + 1e-10), "f64")))
  expect_identical(all.equal(x, x + 1), "Mean relative difference: 0.5")
  expect_identical(all.equal(x, nv_tensor(matrix(1:4, 2))), c("dtypes differ: f32, i32", "shapes differ: (3), (2,2)"))
  expect_identical(all.equal(nv_scalar(1), nv_scalar(1, "f32")), "ambiguities differ: TRUE, FALSE")
  expect_identical(all.equal(x, c(1, 2, 3)), "`current` is no tensor, but <numeric>")
  expect_true(all.equal(debug_box("f32", 2L), debug_box("f32", 2L)))
  expect_identical(all.equal(debug_box("f32", 2L), debug_box("f32", 3L)), "shapes differ: (2), (3)")
  large <- nv_from_raw(rep(as.raw(c(0, 255)), c(7, 1)), "ui64", 1L)
  expect_true(all.equal(large, large))
  expect_match(all.equal(large, nv_tensor(1L, "ui64")), "relative difference")
  expect_true(all.equal(nv_from_raw(as.raw(c(0, 0, 0, 0, 0, 0, 32, 0)), "i64", 1L), nv_from_raw(as.raw(c(1, 0, 0, 0, 0, 0, 32, 0)), "i64", 1L)))
  expect_error(all.equal(debug_box("f32", 2), nv_tensor(c(1, 2))), "without data", class = "anvil_error_argument")
  expect_error(jit(function(x) if (isTRUE(all.equal(x, x))) x else -x)(x), "no data yet", class = "anvil_error_trace")
})

test_that("values survive forks and workers", {
  skip_on_os("windows")
  x <- nv_tensor(c(1, 2), "f64")
  results <- parallel::mclapply(1:2, function(i) list(x * i, sum(x) > i), mc.cores = 2)
  expect_true(identical(results, lapply(1:2, function(i) list(x * i, sum(x) > i))))
})
