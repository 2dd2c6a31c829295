cache_size <- function(f) environment(f)$cache$size
x <- nv_tensor(c(1, 2, 3))

test_that("formals are kept, defaults are evaluated in the trace", {
  f <- jit(function(x, y = x * 2, ...) {
    for (d in list(...)) y <- y + d
    x + y
  })
  expect_identical(names(formals(f)), c("x", "y", "..."))
  expect_equal(f(x), nv_tensor(c(3, 6, 9)))
  expect_equal(f(x, x), nv_tensor(c(2, 4, 6)))
  expect_equal(f(x, x, x, x), nv_tensor(c(4, 8, 12)))
  expect_equal(f(y = x, x = x), nv_tensor(c(2, 4, 6)))
  expect_equal(jit(`+`)(x, x), nv_tensor(c(2, 4, 6)))
  expect_error(f(), "missing")
  z <- nv_tensor(c(1, 1, 1))
  expect_equal(jit(function(x, cache = z, list = z, f = z) x + cache + list + f)(x), nv_tensor(c(4, 5, 6)))
})

test_that("results have the structure that the function returned", {
  f <- jit(function(x) list(a = x, b = list(nv_scalar(2), NULL, 1), c = x + x, TRUE))
  out <- f(x)
  expect_named(out, c("a", "b", "c", ""))
  expect_equal(out$a, x)
  expect_null(out$b[[2]])
  expect_equal(out$b[[3]], nv_scalar(1))
  expect_equal(out[[4]], nv_scalar(TRUE))
  expect_identical(jit(function() list())(), list())
  expect_equal(jit(function(x) list(x, x + 1, x + 1))(x), list(x, nv_tensor(c(2, 3, 4)), nv_tensor(c(2, 3, 4))))
})

test_that("the key is made of structure, types and static values", {
  f <- jit(function(x, n) if (is.list(x)) x[[1]] else x, static = "n")
  f(x, 1)
  f(x, 1)
  expect_equal(cache_size(f), 1)
  f(x, 1L)
  f(x, 2)
  f(x, "a")
  f(x, c("a", "b"))
  expect_equal(cache_size(f), 5)
  f(list(x), 1)
  f(list(x, x), 1)
  f(list(list(x), x), 1)
  f(list(list(x, x)), 1)
  f(list(a = x), 1)
  f(list(b = x), 1)
  expect_equal(cache_size(f), 11)
  f(nv_tensor(c(1, 2, 3), ambiguous = TRUE), 1)
  f(nv_tensor(1:3), 1)
  f(nv_tensor(c(1, 2, 3, 4)), 1)
  f(nv_tensor(matrix(c(1, 2, 3), 1)), 1)
  expect_equal(cache_size(f), 15)
  f(x, 1)
  expect_equal(cache_size(f), 15)
})

test_that("static arguments keep their values, functions included", {
  f <- jit(function(x, k) k(x), static = "k")
  expect_equal(f(x, sqrt), nv_tensor(sqrt(c(1, 2, 3)), "f32"))
  expect_equal(f(x, function(v) v * 2), nv_tensor(c(2, 4, 6)))
  fib <- jit(function(n, x) if (n < 2) x else fib(n - 1, x) + fib(n - 2, x), static = "n")
  expect_equal(as_array(fib(6, nv_scalar(1))), 13)
  expect_equal(jit(function(m, x) m$scale * x, static = 1)(structure(list(scale = 2), class = "model"), x), nv_tensor(c(2, 4, 6)))
})

test_that("the least recently used program is dropped", {
  f <- jit(function(x, n) x * n, static = "n", cache_size = 2)
  for (n in 1:3) f(x, n)
  expect_equal(cache_size(f), 2)
  expect_equal(f(x, 1), x)
  expect_equal(cache_size(f), 2)
})

test_that("closed-over values are captured once", {
  y <- nv_tensor(c(1, 1, 1))
  f <- jit(function(x) x + y)
  expect_equal(f(x), nv_tensor(c(2, 3, 4)))
  y <- nv_tensor(c(5, 5, 5))
  expect_equal(f(x), nv_tensor(c(2, 3, 4)))
})

test_that("jit inside of jit and debug boxes as arguments work", {
  inner <- jit(function(a) a * 2)
  expect_equal(jit(function(x) inner(x) + 1)(x), nv_tensor(c(3, 5, 7)))
  expect_equal(cache_size(inner), 0)
  expect_equal(inner(x + 0), nv_tensor(c(2, 4, 6)))
  expect_prints(inner(debug_box("f32", 2)), "f32{2}")
})

test_that("R values are converted on request only", {
  f <- jit(function(x) x * 2, convert = TRUE)
  expect_equal(f(3), nv_scalar(6, "f64"))
  expect_equal(f(c(1, 2) / 3), nv_tensor(c(2, 4) / 3, "f64"))
  expect_equal(f(matrix(1:4, 2)), nv_tensor(matrix(c(2, 4, 6, 8), 2), ambiguous = TRUE))
  expect_identical(as_array(f(ts(c(1, 2) / 3, start = 1990))), array(c(2, 4) / 3))
  expect_identical(as_array(jit(function(x) x, convert = TRUE)(ts(c(1, 2)))), array(c(1, 2)))
  expect_identical(as_array(f(list(ts(matrix(1:4, 2)))[[1L]])), as_array(f(matrix(1:4, 2))))
  expect_equal(cache_size(f), 3) # a number, a vector, a matrix
  local({
    local_default_dtypes("f32")
    expect_equal(type_of(f(3)), "f32[]")
  })
  expect_snapshot(error = TRUE, {
    jit(function(x) x)(1)
    jit(function(x) x)(list(a = list(1:3)))
    jit(function(...) ..1)(1)
    jit(function(x) x)("a")
    jit(function(x) x)(nv_aten("f32", 1))
    f("a")
  })
})

test_that("other default dtypes are another program", {
  withr::local_options(anvil.default_dtypes = NULL)
  f <- jit(function(n) nv_fill(n, 2L), static = "n")
  expect_equal(type_of(f(1)), "f32[2]")
  local({
    local_default_dtypes("f64")
    expect_equal(type_of(f(1)), "f64[2]")
    expect_equal(type_of(f(1L)), "i32[2]")
    local_default_dtypes(int = "i64")
    expect_equal(type_of(f(1L)), "i64[2]")
  })
  expect_equal(type_of(f(1)), "f32[2]")
  expect_equal(cache_size(f), 4)
})

test_that("arguments of jit() are checked", {
  expect_snapshot(error = TRUE, {
    jit(1)
    jit(function(x) x, static = "y")
    jit(function(x) x, static = 2)
    jit(function(...) 1, static = "...")
    jit(function(x) x, static = "x", donate = "x")
    jit(function(x) x, cache_size = 0)
    jit(function(x) x, device = "cuda")
    environment(jit(function(x) x))$cache$hits
  })
})

test_that("donated tensors are gone, their neighbours are not", {
  f <- jit(function(p, q) list(p$a + q, p$b), donate = "p")
  v <- c(1, 2, 3)
  a <- nv_tensor(v, "f64")
  b <- nv_tensor(c(1, 1), "f64")
  keep <- a$tensor
  out <- f(list(a = a, b = b), nv_scalar(1, "f64"))
  expect_equal(out, list(nv_tensor(c(2, 3, 4), "f64"), nv_tensor(c(1, 1), "f64")))
  expect_error(print(a), class = "anvil_error_donated")
  expect_error(b + 1, "was donated", class = "anvil_error_donated")
  expect_error(f(list(a = a, b = a), nv_scalar(1, "f64")), class = "anvil_error_donated")
  expect_identical(shape(a), 3L)
  expect_identical(v, c(1, 2, 3))
})

test_that("nobody but a donated tensor loses its data", {
  step <- jit(function(x) x * 2, donate = "x")
  first <- function() jit(function(n) nv_iota(1L, "f64", n) * 1, static = "n")(30000L)
  from_two <- function(x) {
    for (i in 1:3) x <- step(x)
    as_array(x)
  }
  expected <- as_array(first())
  others <- list(
    an_array = function(x) as_array(x),
    a_result = function(x) jit(function(x) list(x, x + 1))(x)[[1L]],
    a_constant = function(x) {
      f <- jit(function(y) y + x)
      f(nv_scalar(0, "f64"))
      f
    },
    a_graph = function(x) trace_fn(function(y) y * x, list(y = nv_scalar(1, "f64"))),
    a_saved = function(x) unserialize(serialize(x, NULL))
  )
  for (name in names(others)) {
    x <- first()
    other <- others[[name]](x)
    expect_identical(from_two(x), expected * 8, label = name)
    held <- if (is.function(other)) other(nv_scalar(0, "f64")) else if (inherits(other, "AnvilGraph")) jit(other)(nv_scalar(1, "f64")) else other
    expect_identical(if (is_tensor(held)) as_array(held) else held, expected, label = name)
  }
  pair <- jit(function(n) {
    x <- nv_iota(1L, "f64", n) * 1
    list(x, x)
  }, static = "n")(30000L)
  from_two(pair[[1L]])
  expect_identical(as_array(pair[[2L]]), expected)
  x <- first()
  expect_identical(as_array(jit(function(x, y) x + y, donate = c("x", "y"))(x, x)), expected * 2)
})

test_that("errors of the function come through", {
  expect_error(jit(function(x) stop("mine"))(x), "mine")
  expect_error(jit(function(x) x + nv_tensor(c(1, 2)))(x), class = "anvil_error_shape")
  f <- jit(function(x, bad) if (bad) stop("mine") else x, static = "bad")
  expect_error(f(x, TRUE), "mine")
  expect_equal(f(x, FALSE), x)
})

test_that("jitted functions survive saveRDS", {
  f <- jit(function(x) x * 2)
  f(x)
  file <- withr::local_tempfile()
  saveRDS(f, file)
  g <- readRDS(file)
  expect_equal(cache_size(g), 0)
  expect_equal(g(x), nv_tensor(c(2, 4, 6)))
  expect_equal(cache_size(g), 1)
})

test_that("forked workers call jitted functions", {
  skip_on_os("windows")
  f <- jit(function(x) sum(x * x))
  f(x)
  out <- parallel::mclapply(1:2, function(i) as_array(f(nv_tensor(c(i, 0, 0)))), mc.cores = 2)
  expect_equal(out, list(1, 4))
})

test_that("memory of large results is given back", {
  big <- nv_tensor(rep(1, 1e5), "f64")
  f <- jit(function(x) x + 1)
  for (i in 1:50) big <- f(big)
  expect_equal(as.double(big)[c(1, 1e5)], c(51, 51))
  gc()
})

test_that("results do not change when their inputs are reused", {
  f <- jit(function(x) list(x, x + 1))
  a <- nv_tensor(c(1, 2), "f64")
  out <- f(a)
  for (i in 1:10) f(nv_tensor(c(9, 9), "f64"))
  gc()
  expect_equal(out, list(a, nv_tensor(c(2, 3), "f64")))
})

test_that("an expression can be compiled", {
  expect_equal(jit_eval({
    z <- x * 2
    sum(z)
  }), nv_scalar(12, "f32"))
  expect_false(exists("z", inherits = FALSE))
})

test_that("Ctrl-C stops a compiled loop", {
  skip_on_cran()
  skip_on_os("windows")
  script <- withr::local_tempfile(fileext = ".R")
  writeLines(c(
    sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")),
    "library(anvil)",
    "f <- jit(function(n) nv_while(list(i = 0), function(i) i < n, function(i) list(i = i * 0.5 + 0.5)))",
    "f(nv_scalar(0))",
    "system(sprintf('(sleep 1; kill -INT %d) &', Sys.getpid()))",
    "how <- tryCatch(f(nv_scalar(2)), interrupt = function(e) 'interrupted')",
    "cat(how, as_array(f(nv_scalar(0))$i), '\\n')"
  ), script)
  out <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", script), stdout = TRUE, stderr = TRUE, timeout = 60)
  expect_true(any(grepl("interrupted 0", out)))
})

test_that("static values are known by their content", {
  x <- c(1, 2, 3, 4)
  f <- jit(function(s, k) s * ndims(k) + sum(k), static = "k")
  s <- nv_scalar(1, "f64")
  expect_equal(as_array(f(s, nv_tensor(x, "f64"))), 11)
  expect_equal(as_array(f(s, nv_tensor(x, "f64", shape = c(2, 2)))), 12)
  expect_equal(as_array(f(s, nv_tensor(x + 1, "f64"))), 15)
  expect_equal(as_array(f(s, nv_tensor(x, "f64"))), 11)
  expect_equal(cache_size(f), 3)

  restored <- function(x) unserialize(serialize(x, NULL))
  expect_equal(as_array(f(s, restored(nv_tensor(x * 2, "f64")))), 21)
  expect_equal(as_array(f(s, restored(nv_tensor(x * 3, "f64")))), 31)
  expect_equal(as_array(f(s, restored(list(nv_tensor(x, "f64")))[[1]])), 11)

  g <- jit(function(s, k) s / k, static = "k")
  expect_identical(as_array(g(s, 0)), Inf)
  expect_identical(as_array(g(s, -0)), -Inf)
  expect_identical(as_array(jit(function(s, k) s * k$v[[1]], static = "k")(s, list(v = list(nv_scalar(3, "f64"))))), 3)
})

test_that("what can change under its name is no static value", {
  f <- jit(function(s, k) s, static = "k")
  s <- nv_scalar(1)
  env <- new.env()
  expect_error(f(s, env), "`k` cannot be an environment", class = "anvil_error_argument")
  expect_error(f(s, list(1, list(e = env))), "environment", class = "anvil_error_argument")
  for (k in list(structure(1, e = env), structure(list(), e = env), pairlist(env), as.call(list(quote(g), env)), as.expression(list(env)))) {
    expect_error(f(s, k), "`k` cannot be an environment", class = "anvil_error_argument")
  }
  for (k in list(y ~ x, quote({
    a
  }), function(x) x, factor("a"), c(a = 1), as.Date("2020-01-01"))) {
    expect_no_error(f(s, k))
  }
  expect_error(f(s, environment(f)$cache), "external pointer", class = "anvil_error_argument")
  Account <- methods::setRefClass("Account", fields = list(v = "numeric"), where = environment())
  expect_error(f(s, Account$new(v = 1)), class = "anvil_error_argument")
  expect_equal(f(s, y ~ x), s)
  expect_equal(f(s, function(v) v), s)
  expect_snapshot(f(s, env), error = TRUE)

  donated <- nv_tensor(c(1, 2))
  jit(function(x) x + 1, donate = "x")(donated)
  expect_error(f(s, donated), class = "anvil_error_donated")
})

test_that("R's random numbers in a trace are reported", {
  expect_warning(jit(function(x) x + rnorm(1))(nv_scalar(1)), "nv_rnorm", class = "anvil_warning_frozen_random")
  expect_warning(trace_fn(function(x) x + runif(1), list(x = nv_scalar(1))), class = "anvil_warning_frozen_random")
  outer <- jit(function(x) jit(function(x) x + rnorm(1))(x))
  expect_warning(outer(nv_scalar(1)), class = "anvil_warning_frozen_random")
  # an argument is drawn before
  expect_no_warning(trace_fn(function(x) x + 1, list(x = nv_scalar(rnorm(1)))))
  expect_no_warning(utils::capture.output(nv_inspect(function(x) x + 1, "graph", nv_scalar(rnorm(1)))))
  expect_no_warning(outer(nv_scalar(2)))
  expect_no_warning(gradient(function(x) x * rnorm(1))(nv_scalar(1)))
  expect_no_warning(jit(function(x) nv_rnorm(3, nv_rng_state(1L))[[2]] + x)(nv_scalar(1)))
  expect_no_warning(jit(function(x, w) x + w, convert = TRUE)(1, rnorm(1)))
})

test_that("deeply nested arguments are refused", {
  deep <- nv_scalar(1)
  for (i in 1:100000) deep <- list(deep)
  expect_error(jit(function(x) 1)(deep), "nested", class = "anvil_error_argument")
})

test_that("missing arguments are named", {
  expect_error(jit(function(x, y) x + y)(nv_scalar(1)), "`y` is missing", class = "anvil_error_argument")
  expect_error(gradient(function(x, y) x + y)(nv_scalar(1)), "`y` is missing", class = "anvil_error_argument")
  expect_error(gradient(function(x) x)(), "no argument to differentiate by", class = "anvil_error_gradient")
})

test_that("equal programs share their code", {
  skip_if(built_without_llvm(), "built without LLVM")
  generated <- function(f) with(jit_report(f)$stages, seconds[stage == "generate"])
  x <- nv_tensor(1:5 + 0)
  first <- jit(function(x) sum(exp(x) * 17))
  again <- jit(function(y) sum(exp(y) * 17))
  expect_equal(first(x), again(x))
  expect_gt(generated(first), 0)
  expect_identical(generated(again), 0)
})

test_that("a folder keeps code from session to session", {
  skip_if(built_without_llvm(), "built without LLVM")
  folder <- withr::local_tempdir()
  Sys.chmod(folder, "700")
  session <- function() {
    in_child(c(
      sprintf("options(anvil.cache_dir = %s)", deparse(folder)),
      "f <- jit(function(x) { for (i in 1:20) x <- sin(x) + 1; gradient(function(x) sum(x * x))(x)[[1]] })",
      "value <- as_array(f(nv_tensor(matrix(1:6, 2) / 7)))",
      "list(value, with(jit_report(f)$stages, seconds[stage == 'generate']))"
    ))
  }
  first <- session()
  second <- session()
  expect_identical(first[[1L]], second[[1L]])
  expect_gt(first[[2L]], 0)
  expect_identical(second[[2L]], 0)
})

test_that("what is wrong with the folder of code is said, and stops nobody", {
  skip_if(built_without_llvm(), "built without LLVM")
  file <- withr::local_tempfile(lines = "")
  withr::local_options(anvil.cache_dir = file)
  f <- jit(function(x) x * 12345)
  expect_warning(value <- f(nv_tensor(2)), class = "anvil_warning_cache")
  expect_equal(as_array(value), array(24690, 1L))
  withr::local_options(anvil.cache_dir = 3)
  expect_snapshot(jit(function(x) x * 12346)(nv_tensor(2)), error = TRUE)
})

test_that("xla() is for arguments of given types", {
  f <- xla(function(x, y) x + y, list(x = nv_aten("f32", c()), y = nv_aten("f32", c())))
  expect_identical(f(nv_scalar(1, "f32"), nv_scalar(2, "f32")), nv_scalar(3, "f32"))
  expect_error(f(nv_scalar(1, "f64"), nv_scalar(2, "f32")), "must have dtype <f32>")
  expect_error(xla(function(x) x, list(x = nv_aten("f32", 2)), donate = "y"), "subset")
})

test_that("the tenth combination of shapes is told once, with the argument that changes", {
  f <- jit(function(x, scale, k) sum(x) * scale * k, static = "k")
  call <- function(n, k = 1) f(nv_tensor(rep(1, n)), nv_scalar(2), k)
  expect_message(for (n in 1:9) call(n), NA)
  expect_message(for (k in 2:12) call(9, k), NA)
  expect_snapshot(call(10))
  expect_message(for (n in 11:13) call(n), NA)
})

test_that("parts of R's language are no functions to wrap", {
  for (wrap in list(jit, gradient, vectorize)) {
    expect_error(wrap(`[`), "is a part of R's language", class = "anvil_error_argument")
    expect_error(wrap(`if`), "is a part of R's language", class = "anvil_error_argument")
  }
  expect_equal(as.numeric(jit(sum)(nv_tensor(1:3))), 6)
  expect_equal(as.numeric(gradient(exp)(nv_scalar(0))[[1]]), 1)
})
