# The exact rules of the printed form.

test_that("numbers are formatted per slice", {
  expect_prints(nv_scalar(1L), "AnvilTensor\n 1\n[ CPUi32?{} ]")
  expect_prints(nv_tensor(c(1.5, -2.25, 1000.125)), "AnvilTensor\n    1.5000\n   -2.2500\n 1000.1250\n[ CPUf32{3} ]")
  expect_prints(nv_tensor(c(0, -7, 12)), "AnvilTensor\n  0\n -7\n 12\n[ CPUf32{3} ]")
  expect_prints(nv_tensor(c(TRUE, FALSE)), "AnvilTensor\n 1\n 0\n[ CPUbool{2} ]")
  expect_prints(nv_tensor(c(NaN, Inf, -Inf, 1)), "AnvilTensor\n  nan\n  inf\n -inf\n    1\n[ CPUf32{4} ]")
  expect_prints(nv_tensor(c(NaN, Inf, 1.25)), "AnvilTensor\n    nan\n    inf\n 1.2500\n[ CPUf32{3} ]")
  expect_prints(nv_tensor(c(1e10, 1e-10), "f64"), "AnvilTensor\n 1.0000e+10\n 1.0000e-10\n[ CPUf64{2} ]")
  expect_prints(nv_scalar(1e-10, "f64"), "AnvilTensor\n 1.0000e-10\n[ CPUf64{} ]")
  expect_prints(nv_tensor(c(1234567L, 5L)), "AnvilTensor\n 1.2346e+06\n          5\n[ CPUi32{2} ]")
  expect_prints(nv_tensor(c(1.5e-5, 2.25e-5)), "AnvilTensor\n1e-05 *\n 1.5000\n 2.2500\n[ CPUf32{2} ]")
  expect_prints(nv_tensor(c(1e-4, 0.5), "f64"), "AnvilTensor\n 1.0000e-04\n 5.0000e-01\n[ CPUf64{2} ]")
  expect_prints(nv_tensor(c(123456.789, 0.001), "f64"), "AnvilTensor\n 123456.7890\n      0.0010\n[ CPUf64{2} ]")
  expect_prints(nv_tensor(c(1234567.5, 2.5), "f64"), "AnvilTensor\n 1.2346e+06\n 2.5000e+00\n[ CPUf64{2} ]")
})

test_that("matrices, slices and blocks of columns are laid out", {
  expect_prints(nv_tensor(1:6, shape = c(2, 3)), "AnvilTensor\n 1 3 5\n 2 4 6\n[ CPUi32{2,3} ]")
  expect_prints(nv_tensor(1:24, shape = c(2, 3, 4)), "
AnvilTensor
(1,.,.) =
  1  7 13 19
  3  9 15 21
  5 11 17 23

(2,.,.) =
  2  8 14 20
  4 10 16 22
  6 12 18 24
[ CPUi32{2,3,4} ]")
  expect_prints(nv_tensor(1:8, shape = c(2, 1, 2, 2)), "
AnvilTensor
(1,1,.,.) =
 1 5
 3 7

(2,1,.,.) =
 2 6
 4 8
[ CPUi32{2,1,2,2} ]")
  expect_prints(nv_tensor(1:100, "f32", shape = c(2, 50)), "
AnvilTensor
Columns 1 to 28
  1  3  5  7  9 11 13 15 17 19 21 23 25 27 29 31 33 35 37 39 41 43 45 47 49 51 53 55
  2  4  6  8 10 12 14 16 18 20 22 24 26 28 30 32 34 36 38 40 42 44 46 48 50 52 54 56
Columns 29 to 49
 57 59 61 63 65 67 69 71 73 75 77 79 81 83 85 87 89 91 93 95 97
 58 60 62 64 66 68 70 72 74 76 78 80 82 84 86 88 90 92 94 96 98
Columns 50 to 50
  99
 100
[ CPUf32{2,50} ]")
  expect_prints(nv_empty("f32", c(0L, 3L)), "AnvilTensor\n[ CPUf32{0,3} ]")
})

test_that("long tensors are cut after a number of rows", {
  lines <- printed(nv_tensor(1:32))
  expect_length(lines, 33)
  expect_identical(lines[32], " ... [output was truncated, set max_rows = -1 to see all]")
  lines <- printed(nv_tensor(1:120, shape = c(2, 20, 3)))
  expect_length(lines, 1 + 1 + 20 + 1 + 1 + 10 + 1 + 1)
  expect_length(capture.output(print(nv_tensor(1:100), max_rows = -1)), 102)
  expect_length(capture.output(print(nv_tensor(1:100), max_rows = 3, header = FALSE)), 5)
  withr::local_options(anvil.print_max_rows = 2)
  expect_length(printed(nv_tensor(1:100)), 5)
})

test_that("buffers and types print", {
  expect_prints(nv_tensor(1:4, shape = c(2, 2))$tensor, "PJRTBuffer\n 1 3\n 2 4\n[ CPUi32{2x2} ]")
  expect_prints(nv_aten("f32", c(2, 3)), "AbstractTensor(dtype=f32, shape=2x3)")
  expect_prints(nv_aten("f32", c(2, 2), TRUE), "AbstractTensor(dtype=f32?, shape=2x2)")
  expect_prints(ConcreteTensor(nv_tensor(1:2)), "ConcreteTensor\n 1\n 2\n[ CPUi32{2} ]")
  expect_identical(format(ConcreteTensor(nv_scalar(1, "f32"))), "ConcreteTensor(f32, ())")
  expect_identical(format(LiteralTensor(1L)), "LiteralTensor(1, i32?, ())")
  expect_identical(format(nv_tensor(1:4, shape = c(4, 1))), "AnvilTensor(dtype=i32, shape=4x1)")
  expect_identical(format(nv_scalar(1)), "AnvilTensor(dtype=f32?, shape=)")
  expect_identical(repr(nv_aten("f32", c(2, 3), TRUE)), "f32?[2x3]")
})
