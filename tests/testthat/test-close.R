# The suite's own comparison of numbers: it must fail where it should.

test_that("each element must be close, whatever the others are", {
  expect_true(all(close_elements(c(1, 1e-20, NaN, Inf, -Inf, NA), c(1 + 1e-9, 1e-20, NaN, Inf, -Inf, NaN), 1e-8)))
  wrong <- list(c(1, 2), c(0, 1e-30), c(NaN, 1), c(1, NaN), c(Inf, 1e308), c(Inf, -Inf), c(1, NA), c(0, 1e-9))
  for (pair in wrong) expect_false(close_elements(pair[1L], pair[2L], 1e-8), label = deparse(pair))
  expect_true(close_elements(0, 1e-9, 1e-8, absolute = 1e-8))
  # one wrong element among many, and beside a large one
  expect_failure(expect_close(c(rep(1, 1e6), 1.001), rep(1, 1e6 + 1)), "1 of 1000001 elements")
  expect_failure(expect_close(c(1e12, 1), c(1e12, 2)), "1 instead of 2")
  expect_failure(expect_close(1:2, 1:3), "has 2 elements, not 3")
  expect_success(expect_close(nv_tensor(c(1, 2)), 1:2))
})

test_that("expect_equal() of this suite looks at each element, of lists and tensors too", {
  expect_failure(expect_equal(list(a = c(1e12, 1)), list(a = c(1e12, 2))))
  expect_failure(expect_equal(nv_tensor(c(1e9, 1), "f64"), nv_tensor(c(1e9, 2), "f64")))
  expect_equal(list(a = nv_tensor(1)), list(a = nv_tensor(1)))
})
