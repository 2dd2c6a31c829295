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
  expect_equal(f(3), nv_scalar(6))
  expect_equal(f(c(1, 2)), nv_tensor(c(2, 4), ambiguous = TRUE))
  expect_equal(f(matrix(1:4, 2)), nv_tensor(matrix(c(2, 4, 6, 8), 2), ambiguous = TRUE))
  expect_snapshot(error = TRUE, {
    jit(function(x) x)(1)
    jit(function(x) x)(list(a = list(1:3)))
    jit(function(...) ..1)(1)
    jit(function(x) x)("a")
    jit(function(x) x)(nv_aten("f32", 1))
    f("a")
  })
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
