test_that("StableHLO text is read, compiled and run", {
  graph <- trace_fn(function(x, y) list(x + y, x * 2), list(nv_aten("f32", 2), nv_aten("f32", 2)))
  program <- nv_program(repr(stablehlo(graph)[[1]]))
  expect_output(print(program), "stablehlo.add")
  exec <- nv_compile(program)
  expect_output(print(exec), "<AnvilExecutable>")
  out <- nv_execute(exec, nv_tensor(c(1, 2)), nv_tensor(c(3, 4))$tensor)
  expect_equal(lapply(out, nv_tensor), list(nv_tensor(c(4, 6)), nv_tensor(c(2, 4))))
  expect_equal(nv_tensor(nv_execute(nv_compile(trace_fn(function(x) x, list(nv_aten("f32", 1)))), nv_tensor(1))), nv_tensor(1))
})

test_that("bad programs and inputs are refused", {
  exec <- nv_compile(trace_fn(function(x) x + 1, list(nv_aten("f32", 2))))
  expect_snapshot(error = TRUE, {
    nv_program("func.func @main (")
    nv_program(1)
    nv_program("", format = "hlo")
    nv_execute(1)
    nv_execute(exec)
    nv_execute(exec, 1)
    nv_execute(exec, nv_tensor(1))
  })
})
