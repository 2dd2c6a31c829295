test_that("operations on data are computed at once, on types they are typed", {
  expect_prints(nv_tensor(1:3) + 1L, "DebugBox(ConcreteTensor)\n 2\n 3\n 4\n[ CPUi32{3} ]")
  expect_prints(debug_box("f32", c(2, 2)) + nv_scalar(1), "f32{2,2}")
  expect_prints(debug_box("f32", c(), TRUE), "f32?{}")
  expect_prints(debug_box("f32", c(2, 3)) %*% debug_box("f32", c(3, 1)), "f32{2,1}")
  expect_identical(as_array(nv_tensor(c(1, 4)) * 2), array(c(2, 8)))
  expect_true(dtype(nv_tensor(1L) + 1.5) == "f32")
  expect_prints(DebugBox(nv_aten("i32", 3)), "i32{3}")
  expect_prints(DebugBox(ConcreteTensor(nv_scalar(1, "f32"))), "DebugBox(ConcreteTensor)\n 1\n[ CPUf32{} ]")
})

test_that("concrete truth values work in if and while", {
  x <- nv_scalar(2)
  expect_identical(if (x + 1 > 2) "yes" else "no", "yes")
  expect_identical(if (x + 1 > 2 && x < 1) "yes" else "no", "no")
  n <- 0
  while (x < 10) {
    x <- x * 2
    n <- n + 1
  }
  expect_identical(n, 3)
  expect_prints(x > 1, "DebugBox(ConcreteTensor)\n 1\n[ CPUbool{} ]")
  expect_identical(as_array(!(x > 1)), FALSE)
  expect_identical(shape(x > 1), integer())
})

test_that("the first NaN is found on request", {
  withr::local_options(anvil.check_nan = TRUE)
  expect_error(log(nv_scalar(-1)), "`log` produced NaN", class = "anvil_error_nan")
  expect_error(log(nv_scalar(NaN)), NA)
  expect_error(nv_scalar(0) / nv_scalar(0), class = "anvil_error_nan")
})

test_that("boxes print in a trace", {
  out <- capture.output(jit(function(x) {
    print(x)
    x
  })(nv_scalar(1)))
  expect_identical(trimws(out[1]), "GraphBox(%x1: f32?[])")
})

test_that("debug boxes without data say so", {
  box <- debug_box("f32", 2)
  expect_error(as_array(box), "without data", class = "anvil_error_argument")
  expect_error(jit(function(x) x + box)(nv_tensor(c(1, 2))), class = "anvil_error_trace")
  expect_error(debug_box("f32", -1), class = "anvil_error_shape")
})

test_that("boxes are made of tensors and types", {
  expect_error(DebugBox(1), "`aval` must be a tensor", class = "anvil_error_argument")
  expect_true(identical(nv_tensor(1:2) + 1L, nv_tensor(1:2) + 1L))
  expect_false(identical(nv_tensor(1:2) + 1L, nv_tensor(1:2) + 2L))
  expect_error(local_descriptor(1), "envir", class = "anvil_error_argument")
  expect_null(.current_descriptor(silent = TRUE))
})

test_that("the box of a literal shows its number", {
  expect_prints(DebugBox(LiteralTensor(1, shape = c(2, 3), ambiguous = FALSE)), "1:f32{2,3}")
  expect_prints(DebugBox(LiteralTensor(1)), "1:f32?{}")
  expect_prints(DebugBox(LiteralTensor(1)) + 1, "f32?{}")
})
