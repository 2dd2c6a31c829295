test_that("a profile times each nest of a function", {
  skip_if(built_without_llvm(), "built without LLVM")
  f <- jit(function(x, w) sum(tanh(x %*% w)))
  x <- nv_tensor(matrix(runif(128^2), 128), dtype = "f32")
  p <- anvil_profile(f, x, w = x, seconds = 0.05)
  expect_s3_class(p, c("anvil_profile", "data.frame"), exact = TRUE)
  expect_identical(p$what, c("contraction", "loop", "rest"))
  expect_equal(sum(p$share), 1)
  expect_gte(attr(p, "seconds"), 0.04)
  expect_true(all(p$runs == attr(p, "runs")))
  nests <- p[!is.na(p$nest), ]
  expect_true(all(nests$seconds > 0 & nests$gflops > 0 & nests$gbytes > 0 & nests$of_peak > 0))
  expect_match(nests$from, "x %*% w", fixed = TRUE, all = FALSE)
  expect_true(all(attr(p, "peak") > 1e8))
  expect_identical(environment(f)$cache$size, 0L)
})

test_that("nests in loops count their steps", {
  skip_if(built_without_llvm(), "built without LLVM")
  f <- jit(function(x) nv_fori(1L, 10L, x, function(i, x) exp(-x)))
  p <- anvil_profile(f, nv_tensor(runif(1000)), seconds = 0)
  expect_identical(attr(p, "runs"), 1)
  expect_true(10 %in% p$runs)
})

test_that("static, converted and donated arguments are as in a call", {
  skip_if(built_without_llvm(), "built without LLVM")
  f <- jit(function(x, op) if (op == "exp") exp(x) else sin(x), static = "op", convert = TRUE, donate = "x")
  expect_match(anvil_profile(f, c(1, 2), "exp", seconds = 0)$from[1L], "exp(x)", fixed = TRUE)
  x <- nv_tensor(c(1, 2))
  expect_match(anvil_profile(f, x, op = "sin", seconds = 0)$from[1L], "sin(x)", fixed = TRUE)
  expect_equal(as_array(x), array(c(1, 2)))
})

test_that("what computes nothing has no nests", {
  skip_if(built_without_llvm(), "built without LLVM")
  p <- anvil_profile(jit(function(x) x), nv_tensor(1), seconds = 0)
  expect_identical(p$what, "rest")
  expect_output(print(p), "rest")
})

test_profile <- function() {
  profile_table(list(
    nests = list(
      kind = c("contraction", "loop", "call", "numbers"), name = c("", "", "cholesky_f64", ""), steps = c("128 x 128 x 128", "16384", "", ""),
      schedule = c("packed", "vector 16 x 4", "", ""), calls = list(list(quote(x %*% w)), list(quote(tanh(z)), quote(sum(z))), list(quote(nv_cholesky(z))), list(NULL)),
      flops = c(4194304, 245760, NA, NA), wide_flops = c(0, 0, NA, NA), bytes = c(196608, 65540, 2048, NA)
    ),
    runs = c(100, 100, 100, 1000), seconds = c(5e-3, 2e-3, 1e-3, 1e-4), times = 100, total = 1e-2
  ), c(f32 = 2e11, f64 = 1e11, bytes = 2e10))
}

test_that("a profile prints its nests by their time", {
  withr::local_options(width = 80, cli.width = 80)
  expect_snapshot(print(test_profile()))
  expect_snapshot(print(test_profile(), rows = 2))
  expect_output(print(test_profile()[1:2, ]), "contraction")
})

test_that("shares of the peak are those of memory where it is that which is busy", {
  p <- test_profile()
  expect_equal(p$of_peak[1L], 4194304 * 100 / 5e-3 / 2e11)
  expect_equal(p$of_peak[2L], 65540 * 100 / 2e-3 / 2e10)
  expect_true(is.na(p$of_peak[4L]))
})

test_that("a profile is plotted", {
  file <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  withr::defer(grDevices::dev.off())
  p <- test_profile()
  expect_identical(plot(p), p)
  expect_identical(plot(p, type = "roofline"), p)
  expect_error(plot(p, type = "pie"), "`type`", class = "anvil_error_argument")
})

test_that("wrong arguments are refused", {
  f <- jit(function(x) x + 1)
  expect_snapshot(error = TRUE, {
    anvil_profile(function(x) x, nv_tensor(1))
    anvil_profile(f, nv_tensor(1), seconds = -1)
    anvil_profile(f, 1)
    anvil_profile(f)
  })
})
