test_that("programs print when they run, in the order of their calls", {
  f <- jit(function(x) {
    nv_while(list(i = 1L, x = x), \(i, x) i <= 3L, function(i, x) {
      nv_print(i, x, format = "step %d: x = %.4f (100%%)")
      list(i = i + 1L, x = sqrt(x))
    })$x
  })
  lines <- sprintf("step %d: x = %.4f (100%%)", 1:3, c(16, 4, 2))
  expect_identical(capture.output(f(nv_scalar(16)) -> y), lines)
  expect_identical(capture.output(f(nv_scalar(16)) -> y), lines) # not only when it is compiled
  expect_equal(as_array(y), sqrt(2), tolerance = 1e-6)
  g <- jit(function(x, y) {
    nv_if(sum(x) > 0, nv_print(x, format = "positive %g"), nv_print(-x, format = "other %g"))
    nv_print(y)
  })
  expect_snapshot(invisible(g(nv_tensor(c(1, 2)), nv_tensor(matrix(1:4, 2)))))
  expect_snapshot(invisible(g(nv_tensor(c(-1, -2)), nv_scalar(2.5))))
})

test_that("debug mode prints at once, and gives the operand", {
  expect_identical(capture.output(x <- nv_print(nv_scalar(2, "f64"), format = "%g")), "2")
  expect_identical(x, nv_scalar(2, "f64"))
  expect_identical(capture.output(invisible(nv_print(array(1:2)))), c("AnvilTensor", " 1", " 2", "[ i32?{2} ]"))
  expect_identical(capture.output(h <- gradient(function(x) nv_print(x)^2)(nv_scalar(3, "f32"))$x), c("AnvilTensor", " 3", "[ f32{} ]"))
  expect_equal(as_array(h), 6)
  expect_identical(capture.output(invisible(nvl_print(nv_scalar(2), nv_scalar(3L), format = "%g, %d"))), "2, 3")
})

test_that("each dtype has its forms", {
  line <- function(x, format) capture.output(invisible(nv_print(x, format = format)))
  for (dtype in names(anvil:::dtype_codes)) {
    x <- nv_tensor(c(1, 0, 1), dtype)
    expect_identical(line(x, "%s"), if (dtype == "bool") "TRUE FALSE TRUE" else "1 0 1")
    expect_identical(line(x, "%.1f|"), "1.0 0.0 1.0|")
    if (!(dtype %in% c("f16", "bf16", float_dtypes))) expect_identical(line(x, "%+03d"), if (startsWith(dtype, "ui")) "001 000 001" else sprintf("%s", "+01 +00 +01"))
  }
  expect_identical(line(nv_tensor(c(NaN, Inf, -Inf)), "%+06.1f"), "   NaN    Inf   -Inf")
  expect_identical(line(nv_tensor(NaN), "%-5g|"), "NaN  |")
  expect_identical(line(nv_scalar(1 / 3, "f64"), "%s"), "0.333333333333333")
  expect_identical(line(nv_scalar(0.1, "f32"), "%s"), "0.1")
  big <- nv_concatenate(nv_tensor(2^53, "i64", shape = 1L), nv_tensor(1, "i64", shape = 1L), dimension = 1L)
  expect_identical(line(sum(big), "%d"), "9007199254740993")
  expect_identical(line(nv_empty("f32", 0L), "[%g]"), "[]")
})

test_that("transformed functions print once, each example of a batch by itself", {
  f <- function(x) {
    nv_print(x, format = "%g")
    nv_if(x > 2, nv_checkpoint(function(z) nv_print(z * z, format = "square %g"))(x), -x)
  }
  expect_identical(capture.output(jit(gradient(f))(nv_scalar(3)) -> g), c("3", "square 9"))
  expect_identical(capture.output(jvp(f)(list(nv_scalar(3)), list(nv_scalar(1))) -> g), c("3", "square 9"))
  expect_identical(capture.output(jit(vectorize(f))(nv_tensor(c(1, 2, 3))) -> g), c("1", "2", "3", "square 9"))
  expect_equal(as_array(g), c(-1, -2, 9), ignore_attr = TRUE)
})

test_that("what only prints is kept, and text has it", {
  count <- jit(function(n) {
    nv_while(list(i = 0L), \(i) i < n, function(i) {
      nv_print(i, format = "%03d")
      list(i = i + 1L)
    })
    n
  })
  expect_identical(capture.output(count(nv_scalar(3L)) -> n), c("000", "001", "002"))
  f <- function(x) {
    nv_print(x, format = "a \"%g\"\\\n")
    x
  }
  text <- repr(stablehlo(trace_fn(f, list(x = nv_aten("f64", 2L))))[[1L]])
  expect_match(text, "print_tensor", fixed = TRUE)
  expect_identical(capture.output(read_stablehlo(text)(nv_tensor(c(1, 2), "f64")) -> y), c("a \"1 2\"\\", ""))
})

test_that("mistakes with formats are explained", {
  x <- nv_scalar(1)
  expect_snapshot(error = TRUE, {
    nv_print(x, format = "%d")
    nv_print(x, format = "%d %d")
    nv_print(x, format = "%z")
    nv_print(x, format = "5%")
    nv_print(x, format = "")
    nv_print(x, format = 1)
    nv_print(x, x)
    nv_print("a")
  })
})
