test_that("each version says what made it necessary", {
  f <- jit(function(x, state, op) if (op == "add") list(x + state$mean) else list(x * state$mean), static = "op")
  x <- function(n, dtype = "f32") nv_tensor(seq_len(n) + 0, dtype = dtype)
  f(x(3), list(mean = x(3)), "add")
  f(x(3), list(mean = x(3)), "add")
  f(x(3), list(mean = x(3)), "mul")
  f(x(4), list(mean = x(4)), "mul")
  f(x(4), list(mean = x(4)), op = "mul")
  report <- jit_report(f)
  expect_s3_class(report, "anvil_jit_report")
  expect_identical(report$versions$version, 1:3)
  expect_identical(report$versions$runs + 0, c(2, 1, 2))
  expect_identical(report$versions$cause, c(
    "the first call", "`op` is \"mul\", not \"add\"", "`x` is f32[4], not f32[3]; `state$mean` is f32[4], not f32[3]"
  ))
  expect_identical(report$arguments$argument[1:3], c("x", "state$mean", "op"))
  expect_identical(report$arguments$type[1:3], c("f32[3]", "f32[3]", "\"add\""))
})

test_that("the nearest version is what a version is compared with", {
  f <- jit(function(x, y) sum(x) + sum(y))
  a <- nv_tensor(1:3)
  b <- nv_tensor(1:4)
  f(a, a)
  f(b, b)
  f(b, a)
  expect_identical(jit_report(f)$versions$cause[3L], "`x` is i32[4], not i32[3]")
  g <- jit(function(...) sum(...elt(1L)))
  g(a)
  g(a, a)
  expect_match(jit_report(g)$versions$cause[2L], "in another structure")
})

test_that("stages, memory and nests are told", {
  f <- jit(function(x) sum(exp(x) * 2))
  f(nv_tensor(runif(1000), dtype = "f32"))
  report <- jit_report(f)
  expect_true(all(c("trace", "transform") %in% report$stages$stage))
  expect_true(all(report$stages$seconds >= 0))
  expect_equal(report$versions$seconds, sum(report$stages$seconds))
  expect_identical(report$versions$results, 4)
  skip_if(built_without_llvm(), "built without LLVM")
  expect_true(all(c("lower", "merge", "generate", "link") %in% report$stages$stage))
  expect_gt(report$versions$code, 0)
  expect_identical(nrow(report$nests), 1L)
  expect_identical(report$nests$what, "loop")
  expect_identical(report$nests$steps, "1000")
  expect_identical(report$nests$flops, 1000 * 16)
  expect_identical(report$nests$bytes, 4000)
  expect_match(report$nests$from, "exp(x) * 2", fixed = TRUE)
})

test_that("what has no versions, and versions that are gone", {
  f <- jit(function(x) x + 1, cache_size = 1)
  expect_identical(nrow(jit_report(f)$versions), 0L)
  expect_output(print(jit_report(f)), "0 versions")
  f(nv_tensor(1))
  f(nv_tensor(c(1, 2)))
  expect_output(print(jit_report(f)), "1 version, and 1 that the cache has dropped")
  g <- jit(function(x) x)
  g(nv_tensor(1))
  expect_identical(nrow(jit_report(g)$nests), 0L)
  expect_output(print(jit_report(g)), "x = f32[1]", fixed = TRUE)
})

test_that("a report prints in units that people read", {
  nests <- data.frame(
    version = 1L, nest = 1:2, from = c("x %*% w at model.R#3", "exp(z) + 1 at model.R#4; sum(z) at model.R#5"),
    what = c("contraction", "loop"), steps = c("128 x 512 x 64", "65536"), schedule = c("packed", "vector 16 x 4"),
    flops = c(8388608, 1048576), bytes = c(425984, NA)
  )
  stages <- data.frame(version = 1L, stage = c("trace", "transform", "load", "lower", "merge", "emit", "generate", "link"), seconds = c(2e-3, 3e-4, 1e-2, 1e-4, 5e-5, 1e-3, 8e-3, 2e-4))
  arguments <- data.frame(version = 1L, argument = c("x", "op"), type = c("f32[512, 64]", "\"add\""))
  versions <- data.frame(version = 1L, cause = "the first call", runs = 3, seconds = sum(stages$seconds), arena = 262144, results = 4, constants = 0, code = 1234)
  withr::local_options(width = 80, cli.width = 80)
  expect_snapshot(print(structure(list(versions = versions, arguments = arguments, stages = stages, nests = nests, made = 1), class = "anvil_jit_report")))
})

test_that("only jitted functions have reports", {
  expect_snapshot(jit_report(function(x) x), error = TRUE)
  expect_error(jit_report(sum), class = "anvil_error_argument")
})
