test_that("a summary counts calls, operations, bytes and inner graphs", {
  matrices <- list(x = nv_aten("f64", c(4L, 3L)), w = nv_aten("f64", c(3L, 2L)))
  found <- summary(trace_fn(function(x, w) nv_if(sum(x) > 0, nv_if(sum(x) > 1, exp(x %*% w), x %*% w), x %*% w), matrices))
  expect_identical(found$inputs, c("f64[4, 3]", "f64[3, 2]"))
  expect_identical(found$outputs, "f64[4, 2]")
  expect_identical(found$calls$calls[found$calls$primitive == "dot_general"], 3L)
  expect_identical(found$calls$operations[found$calls$primitive == "dot_general"], 3 * 2 * 4 * 3 * 2)
  expect_identical(found$calls$bytes[found$calls$primitive == "dot_general"], 3 * 8 * (12 + 6 + 8))
  expect_identical(found$calls$operations[found$calls$primitive == "exp"], 8)
  expect_identical(found$graphs, 4)
  expect_identical(found$nesting, 2)
  expect_snapshot(found)
})

test_that("a summary of little is one", {
  expect_snapshot({
    summary(trace_fn(function() list(), list()))
    summary(trace_fn(function(x, y) x + y, list(nv_aten("f32", 2L), nv_aten("f32", 2L))))
  })
})
