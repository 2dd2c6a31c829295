test_that("every level has a text", {
  f <- function(x) sum(x * 2)
  x <- nv_aten("f32", 8)
  expect_output(nv_inspect(f, "graph", x), "<AnvilGraph>")
  expect_output(nv_inspect(jit(f), "graph", x), "reduce_sum")
  expect_output(nv_inspect(f, "stablehlo", x), "func.func @main")
  expect_output(nv_inspect(f, "loops", x), "program")
  expect_output(nv_inspect(f, "stages", x), "== lower ==")
  skip_if(built_without_llvm(), "built without LLVM")
  expect_output(nv_inspect(f, "llvm", x), "define ")
  expect_output(nv_inspect(f, "asm", x), "ret")
})

test_that("the installation reports on itself", {
  out <- capture.output(report <- anvil_sitrep())
  capture.output(of_three <- with_threads(3, anvil_sitrep()))
  expect_match(of_three$threads, "^3 ")
  expect_true(any(grepl("^llvm:", out)))
  # the code generator is there, and found, unless the package was built without it
  expect_identical(report$jit, !built_without_llvm(), label = report$llvm)
})

test_that("a jitted function that is inspected without its arguments says what R says", {
  expect_error(nv_inspect(jit(function(x) x + 1), "loops"), "`x` is missing", class = "anvil_error_argument")
})
