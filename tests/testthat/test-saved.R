# What saveRDS() writes is what it was when it is read, in another session, too.

restored <- function(x) unserialize(serialize(x, NULL))
type <- nv_aten("f32", 3L)
traced <- list(
  arithmetic = trace_fn(function(x, p) list(sum(x * p$w) + 1L, p$b), list(x = type, p = list(w = type, b = nv_aten("f64", c())))),
  captured = local({
    big <- nv_tensor(as.double(1:30), "f64")
    small <- nv_scalar(2)
    trace_fn(function(x) x * big + small, list(nv_aten("f64", 30L)))
  }),
  control = trace_fn(
    function(x) list(a = nv_if(sum(x) > 0, exp(x), -x), nv_while(list(i = 0L, y = x), function(i, y) i < 3L, function(i, y) list(i = i + 1L, y = y * y))),
    list(x = type)
  ),
  rules = trace_fn(nv_custom_gradient(function(x) x * x, function(inputs, grads) list(grads * 7 * inputs$x)), list(x = type)),
  residuals = trace_fn(
    nv_custom_gradient(function(x, n) list(outputs = exp(x) * n, residuals = list(exp(x))), function(residuals, grads) list(grads * residuals[[1]], NULL)), list(x = type, n = 2)
  ),
  static = trace_fn(function(x, n) x * n, list(x = type, n = 3)),
  scan = trace_fn(function(x) nv_scan(init = nv_scalar(0), xs = x, body = function(carry, x) list(carry = carry + x, out = carry)), list(x = type)),
  random = trace_fn(function(s) nv_rnorm(2L, s), list(s = nv_rng_state(1L))),
  gradient = trace_fn(gradient(function(x) sum(nv_sort(x) * x)), list(x = type)),
  nothing = trace_fn(function() list(), list()),
  literal = trace_fn(function(x) list(1, TRUE), list(x = type))
)

test_that("graphs come back with all that they are made of", {
  for (name in names(traced)) {
    graph <- traced[[name]]
    for (again in list(restored(graph), restored(restored(graph)), restored(list(graph, graph))[[2L]])) {
      expect_identical(format(again, nested = TRUE), format(graph, nested = TRUE), info = name)
      expect_identical(again$in_tree, graph$in_tree, info = name)
      expect_identical(again$out_tree, graph$out_tree, info = name)
      expect_identical(again$is_static, graph$is_static, info = name)
    }
  }
  x <- nv_tensor(c(1, 2, 3))
  expect_identical(evaluate_graph(restored(traced$scan), list(x)), evaluate_graph(traced$scan, list(x)))
  expect_equal(as_array(gradient(function(x) sum(jit(restored(traced$rules))(x)))(x)$x), array(c(7, 14, 21)))
  expect_equal(gradient(function(x) sum(jit(restored(traced$residuals))(x)))(x)$x, exp(x))
})

test_that("a restored graph is transformed and saved again", {
  graph <- trace_fn(function(x) sum(x * x), list(x = type))
  again <- restored(graph)
  expect_identical(format(transform_gradient(again)), format(transform_gradient(graph)))
  expect_identical(format(restored(transform_gradient(again))), format(transform_gradient(graph)))
  expect_identical(format(restored(simplify_graph(again, "optimize"))), format(simplify_graph(graph, "optimize")))
  expect_identical(format(restored(as_graph(graph))), format(graph))
})

test_that("default dtypes of the other session do not matter", {
  bytes <- serialize(trace_fn(function(x) x + nv_convert(2, "f32"), list(x = type)), NULL)
  expected <- format(unserialize(bytes))
  local_default_dtypes("f64", "i64")
  expect_identical(format(unserialize(bytes)), expected)
})

test_that("all else that the package makes comes back, or says what to do", {
  skip_on_cran()
  path <- withr::local_tempfile()
  saved <- sprintf("path <- %s", deparse(path))
  expected <- in_child(paste(saved, '
    f <- jit(function(x, op, y) list(if (op == "add") x + y else x * y, nv_rnorm(2L, nv_rng_state(1L))[[2L]]), static = "op", donate = "y")
    x <- nv_tensor(c(1, 2, 3))
    f(x, "add", nv_tensor(c(1, 1, 1)))
    graph <- trace_fn(function(x) exp(x) * 2, list(x = nv_aten("f32", 3L)))
    box <- descriptor <- NULL
    trace_fn(function(x) { box <<- x; descriptor <<- .current_descriptor(); x }, list(x))
    all <- list(
      tensors = list(x = x, list(nv_scalar(1L, "i64"), nv_tensor(c(TRUE, FALSE)), x > 1)), type = nv_aten("f32", 3L), debug = debug_box("f32", 3L),
      state = nv_rng_state(3L), draws = nv_rnorm(2L, nv_rng_state(3L)), probability = nv_pnorm(x),
      f = f, of_graph = jit(graph), gradient = gradient(function(x) sum(x * x)), vectorized = vectorize(function(x) sum(x)),
      imported = read_stablehlo(write_stablehlo(graph)), program = nv_program(write_stablehlo(graph)), written = as.function(graph),
      graph = graph, executable = nv_compile(graph), text = stablehlo(graph), report = jit_report(f), checked = nv_check(function(x) sum(x), x, n = 2L),
      summary = summary(graph), primitive = prim("mul"), dtype = dtype(x), tree = build_tree(list(1)), memory = anvil_memory(),
      node = graph$outputs[[1L]], call = graph$calls[[1L]], box = box, descriptor = descriptor, buffer = x$tensor
    )
    saveRDS(all, path)
    list(f = f(x, "mul", x + 1), x = x)
  '))
  result <- in_child(paste(saved, '
    all <- readRDS(path)
    x <- nv_tensor(c(1, 2, 3))
    lost <- c("node", "call", "box", "descriptor")
    prints <- vapply(all[setdiff(names(all), lost)], function(x) tryCatch({ utils::capture.output(print(x)); "prints" }, error = conditionMessage), "")
    says <- lapply(all[lost], function(x) tryCatch(print(x), anvil_error = conditionMessage, error = function(e) class(e)))
    executed <- nv_tensor(nv_execute(all$executable, x))
    twice <- function(f) list(f(x), f(x))
    list(
      prints = prints, says = says, f = all$f(x, "mul", x + 1), graph = format(all$graph), executed = as_array(executed), of_graph = twice(all$of_graph),
      imported = all$imported(x), gradient = all$gradient(x)$x, tensors = all$tensors, size = environment(all$f)$cache$size, draws = nv_rnorm(2L, all$state),
      vectorized = all$vectorized(nv_tensor(matrix(1:6, 2), "f32")), buffer = nv_tensor(all$buffer), program = nv_compile(all$program)
    )
  '))
  x <- nv_tensor(c(1, 2, 3))
  expect_identical(unique(result$prints), "prints")
  expect_match(unlist(result$says), "another session")
  expect_length(unlist(result$says), 4L)
  expect_identical(result$f, expected$f)
  expect_equal(result$size, 1)
  expect_identical(result$graph, format(trace_fn(function(x) exp(x) * 2, list(x = type))))
  expect_equal(result$of_graph[[2L]], exp(x) * 2)
  expect_equal(result$imported, exp(x) * 2)
  expect_equal(result$executed, as_array(exp(x) * 2), tolerance = 1e-6)
  expect_equal(result$gradient, x * 2)
  expect_identical(result$tensors$x, x)
  expect_identical(result$draws, nv_rnorm(2L, nv_rng_state(3L)))
  expect_identical(result$buffer, x)
})

test_that("what cannot be restored says why", {
  inner <- subgraphs(traced$control$calls[[3L]])[[1L]]
  old <- traced$arithmetic
  expect_snapshot(error = TRUE, {
    print(restored(inner))
    print(unserialize(serialize(old, NULL, version = 2)))
    print(restored(old$outputs[[1]]))
  })
})
