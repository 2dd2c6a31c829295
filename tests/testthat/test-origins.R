# Texts for the R calls that nests of compiled programs come from. Sources are parsed here, with places, whatever
# the session keeps.
sourced <- function(text) eval(parse(text = text, keep.source = TRUE)[[1L]], parent.frame())

test_that("what is part of another call of the same place is left out", {
  calls <- list(quote(exp(x)), quote(exp(x) + 1), quote(sum(y)), quote(exp(x) + 1), NULL)
  expect_identical(origin_lines(calls), "exp(x) + 1, sum(y)")
  expect_identical(origin_text(list(NULL)), "")
  expect_identical(origin_text(list()), "")
})

test_that("many calls are cut short", {
  calls <- lapply(1:7, function(k) call("f", k))
  expect_identical(origin_lines(calls), "f(1L), f(2L), f(3L), f(4L), and 3 more")
})

test_that("loops say the calls and the lines that they come from", {
  f <- sourced("function(x, w) {\n  y <- exp(x) + 1\n  sum(y * w)\n}")
  x <- nv_aten("f64", c(10, 10))
  text <- capture.output(nv_inspect(f, "loops", x, x))
  expect_match(text, "# exp(x) + 1 at <text>#2", fixed = TRUE, all = FALSE)
  expect_false(any(grepl("# exp(x) at", text, fixed = TRUE)))
  expect_false(any(grepl("#", capture.output(nv_inspect(f, "stages", x, x)), fixed = TRUE)))
})

test_that("so does LLVM IR", {
  skip_if(built_without_llvm(), "built without LLVM")
  f <- sourced("function(x, w) {\n  y <- exp(x) + 1\n  y %*% w\n}")
  x <- nv_aten("f32", c(128, 128))
  text <- capture.output(nv_inspect(f, "llvm", x, x))
  expect_match(text, "^; exp\\(x\\) \\+ 1 at <text>#2$", all = FALSE)
  expect_match(text, "^; y %\\*% w at <text>#3$", all = FALSE)
  expect_false(any(grepl("^; calls", text)))
})

test_that("gradients come from the calls that they differentiate, in jitted functions and loops too", {
  f <- sourced("function(x) {\n  y <- sin(x)\n  sum(y * y)\n}")
  text <- capture.output(nv_inspect(gradient(jit(f)), "loops", nv_aten("f64", 100L)))
  expect_match(text, "# sin(x) at <text>#2", fixed = TRUE, all = FALSE)
  expect_match(text, "# y * y at <text>#3", fixed = TRUE, all = FALSE)

  g <- sourced("function(x) {\n  sum(nv_fori(1L, 3L, x, function(i, x) {\n    cos(x) * 2\n  }))\n}")
  text <- capture.output(nv_inspect(gradient(g), "loops", nv_aten("f64", 100L)))
  expect_match(text, "# cos(x) * 2 at <text>#3", fixed = TRUE, all = FALSE)
})

test_that("a rule in R belongs to the call that it is for, also where nothing is traced", {
  f <- sourced("function(x) {\n  sum(nv_custom_gradient(function(x) sin(x), function(inputs, grads) list(grads * nv_cos(inputs[[1L]])))(x))\n}")
  graph <- trace_fn(f, list(x = nv_aten("f64", 10L)))
  backward <- transform_gradient(graph, "x")
  places <- vapply(backward$calls, function(call) if (is.null(call$location)) "" else call_place(call$location), "")
  expect_true(all(places[nzchar(places)] == "<text>#2"))
})

test_that("a graph that was traced before keeps its calls when it is used in another trace", {
  inner <- trace_fn(sourced("function(x) {\n\n\n  tanh(x)\n}"), list(x = nv_aten("f64", 3L)))
  inlined <- function(x) .Call(C_anvil_inline, inner, list(x))[[1L]]
  environment(inlined) <- list2env(list(inner = inner), parent = asNamespace("anvil"))
  outer <- function(x) exp(inlined(x))
  environment(outer) <- list2env(list(inlined = inlined), parent = globalenv())
  graph <- trace_fn(outer, list(x = nv_aten("f64", 3L)))
  expect_identical(vapply(graph$calls, function(call) call_text(call$location), ""), c("tanh(x)", "exp(inlined(x))"))
  expect_identical(call_place(graph$calls[[1L]]$location), "<text>#4")
})

test_that("a recorded call with a function in it can be printed", {
  graph <- trace_fn(function(x) nv_while(list(x = x), function(x) x < 3, function(x) list(x = x + 1)), list(nv_aten("f64", c())))
  expect_output(print(graph$calls[[1L]]), "nv_while(list(x = x), function(x) x < 3, function(x) list(x = x + 1))", fixed = TRUE)
})

test_that("functions that stand before R's are called by their names", {
  text <- "function(x) {\n  top <- max(x)\n  sum(x - top, dims = 1L)\n}"
  f <- eval(parse(text = text, keep.source = TRUE)[[1L]], new.env(parent = as.environment("package:anvil")))
  text <- capture.output(nv_inspect(f, "loops", nv_aten("f64", c(10, 10))))
  expect_match(text, "# max(x) at <text>#2", fixed = TRUE, all = FALSE)
  expect_match(text, "sum(x - top, dims = 1L) at <text>#3", fixed = TRUE, all = FALSE)
  expect_false(any(grepl("tensor_", text, fixed = TRUE)))
})
