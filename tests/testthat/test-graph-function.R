x3 <- list(x = nv_aten("f32", 3))

# What is lost when a function of these types is traced, written as code, read from its text and traced again, or recorded
# again call by call: "" where that is nothing.
lost <- function(f, types) {
  graph <- trace_fn(f, types)
  text <- format(graph, nested = TRUE)
  g <- as.function(graph)
  types <- types[!vapply(types, function(x) is.numeric(x) || is.character(x), NA)]
  same <- function(f) identical(format(trace_fn(f, types), nested = TRUE), text)
  read <- eval(parse(text = capture.output(print(g)), keep.source = FALSE), environment(g))
  walked <- function(...) walk_graph(graph, flatten(list(...)), function(call, inputs) do.call(call$primitive, c(inputs, call$params)))
  paste(c("as.function", "text", "walk")[!c(same(g), same(read), same(walked))], collapse = ", ")
}

test_that("a graph is written as nvl_* calls", {
  graph <- trace_fn(function(x, n) {
    y <- nv_while(list(i = 0L, y = x), function(i, y) i < n, function(i, y) list(i = i + 1L, y = nv_if(sum(y) > 0, y * nv_tensor(c(1, 0.1, 3)), x)))
    list(last = y$y, steps = y$i)
  }, list(x = nv_aten("f32", 3), n = nv_aten("i32", c())))
  expect_snapshot(print(as.function(graph)))
})

test_that("what control flow, derivatives and other functions record is written and read back", {
  clip <- AnvilPrimitive("test_clip_code")
  clip[["forward"]] <- function(operand, limit) operand * 1
  clip[["backward"]] <- function(inputs, outputs, grads, limit, .required) list(nv_clamp(-limit, grads[[1L]], limit))
  clip <- register_primitive("test_clip_code", clip, overwrite = TRUE)
  triple <- nv_custom_gradient(function(x) x * 2, function(grads) list(grads * 3))
  large <- nv_tensor(cos(1:100))
  scalar <- nv_aten("i32", c())
  square <- list(x = nv_aten("f32", c(3, 3)))
  loop <- function(x, n = 3L, ...) nv_while(list(i = 0L, x = x), function(i, x) i < n, function(i, x) list(i = i + 1L, x = sin(x)), ...)$x
  expect_lost <- function(f, types) expect_identical(lost(f, types), "")
  expect_lost(function(x) nv_scan(nv_scalar(0), x, function(m, x) list(carry = 0.9 * m + 0.1 * x, out = m))$out, x3)
  expect_lost(function(k, x) nv_case(k, x, x^2, nv_if(sum(x) > 0, x, -x)), c(k = list(scalar), x3))
  expect_lost(function(x) nv_fori(1, 10, x, function(i, x) x + i), list(x = scalar))
  expect_lost(function(x) loop(x, checkpoint = 2), x3)
  expect_lost(function(x) nv_while(list(x = x), function(x) sum(x) < 100, function(x) list(x = x + 1))$x, x3)
  expect_lost(function(x) nv_checkpoint(function(y) tanh(y) * x)(x), x3)
  expect_lost(gradient(function(x) sum(nv_if(sum(x) > 0, exp(x), x))), x3)
  expect_lost(gradient(function(x) sum(loop(x))), x3)
  expect_lost(gradient(function(n, x) sum(loop(x, n)), wrt = "x"), c(n = list(scalar), x3))
  expect_lost(function(x) jvp(function(x) loop(x))(list(x), list(x)), x3)
  expect_lost(vectorize(function(x) nv_if(sum(x) > 0, exp(x), x)), square)
  expect_lost(function(x) triple(x) + clip(x, limit = 0.5), x3)
  expect_lost(function(x) {
    nv_print(x)
    nv_if(sum(x) > 0, {
      nv_print(x, format = "it is \"%g\"\n")
      list()
    }, list())
    x
  }, list(x = nv_aten("f32", c())))
  expect_lost(function(x) x[array(c(3L, 1L)), ], square)
  expect_lost(function(x) {
    x[2, ] <- 0.7
    list(x, nv_argmax(x, 1), nv_sort(x))
  }, square)
  expect_lost(function(x) list(nv_qr(x), nv_svd(x), nv_eigh(x), nv_solve(x, x)), square)
  expect_lost(function(x) nvl_reduce(list(x), list(nv_scalar(0)), 1, function(a, b) a + b), square)
  expect_lost(function(state) nv_rnorm(state, shape = 5), list(state = nv_aten("ui64", 2)))
  expect_lost(function(x) sum(large) + x * nv_tensor(c(TRUE, FALSE, TRUE)) + nv_scalar(0.1, "f64"), x3)
  expect_lost(function(p, n) list(w = p$w * n, rest = list(p[[2]], NULL, 3, TRUE, 1L, NaN, -Inf)), list(p = list(w = x3$x, x3$x), n = 2))
  expect_lost(function(`a b`, v1, c1) `a b` + v1 * nv_tensor(c(1, 2, 3)) + c1, unname(rep(x3, 3)))
})

test_that("the function has the arguments and the results of what was traced", {
  graph <- trace_fn(function(p, op, y) list(a = p$w + y, b = list(p[[2]])), list(p = list(w = x3$x, x3$x), op = "add", y = x3$x))
  f <- as.function(graph)
  expect_named(formals(f), c("p", "y"))
  v <- nv_tensor(c(1, 2, 3))
  out <- f(list(w = v, v), v)
  expect_named(out, c("a", "b"))
  expect_equal(as_array(out$a), array(c(2, 4, 6)))
  expect_equal(jit(graph)(list(w = v, v), y = v)$a, jit(f)(list(w = v, v), v)$a)
  expect_s3_class(f, "AnvilFunction")
  expect_equal(as_array(jit(gradient(function(p, y) sum(f(p, y)$a), wrt = "y"))(list(w = v, v), v)$y), array(c(1, 1, 1)))
})

test_that("jit() runs a graph", {
  graph <- trace_fn(function(x, y = 2) nv_if(sum(x) > 0, x * y, -x), x3)
  run <- jit(graph)
  expect_equal(run(nv_tensor(c(1, 2, 3))), nv_tensor(c(2, 4, 6)))
  expect_equal(run(x = nv_tensor(c(1, 2, -9))), nv_tensor(c(-1, -2, 9)))
  expect_error(run(nv_tensor(c(1, 2))), "must have shape", class = "anvil_error_shape")
  expect_equal(jit(transform_gradient(trace_fn(function(x) sum(x^2), x3)))(nv_tensor(c(1, 2, 3)))$x, nv_tensor(c(2, 4, 6)))
})

# ANVIL_PROGRAMS: how many random programs, each with control flow around what it computes.
test_that("200 random programs with control flow are what their code is", {
  skip_on_cran()
  count <- as.integer(Sys.getenv("ANVIL_PROGRAMS", "200"))
  wrong <- Filter(nzchar, vapply(seq_len(count), function(seed) {
    program <- with_control(random_program(seed))
    f <- program_function(program)
    types <- lapply(program$shapes[c("x", "v", "a")], function(sizes) nv_aten(program$dtype, sizes))
    found <- lost(f, types)
    inputs <- program_tensors(program)
    g <- as.function(trace_fn(f, types))
    numbers <- function(f) as_numbers(do.call(f, inputs))
    if (!identical(numbers(g), numbers(f))) found <- paste(found, "values")
    if (seed <= 20L && !identical(numbers(jit(g)), numbers(jit(f)))) found <- paste(found, "compiled values")
    if (nzchar(found)) sprintf("seed %d: %s\n%s", seed, found, program_text(program)) else ""
  }, ""))
  expect_identical(wrong, character())
})
