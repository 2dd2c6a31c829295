test_that("every level has a text", {
  f <- function(x) sum(x * 2)
  x <- nv_aten("f32", 8)
  expect_output(nv_inspect(f, "graph", x), "<AnvilGraph>")
  expect_output(nv_inspect(jit(f), "graph", x), "reduce_sum")
  expect_output(nv_inspect(f, "stablehlo", x), "func.func @main")
  expect_output(nv_inspect(f, "loops", x), "program")
  expect_output(nv_inspect(f, "stages", x), "== lower ==")
  skip_if_not(.Call(C_anvil_llvm, NULL)$available)
  expect_output(nv_inspect(f, "llvm", x), "define ")
  expect_output(nv_inspect(f, "asm", x), "ret")
})

test_that("the installation reports on itself", {
  out <- capture.output(report <- anvil_sitrep())
  expect_true(any(grepl("^llvm:", out)))
  expect_type(report$jit, "logical")
})
