# The library of custom-calls.cpp, compiled once.
custom_library <- local({
  library <- NULL
  function() {
    skip_on_cran()
    if (is.null(library)) {
      folder <- tempfile("custom")
      dir.create(folder)
      source <- file.path(folder, "custom-calls.cpp")
      file.copy(test_path("custom-calls.cpp"), source)
      path <- file.path(folder, paste0("custom-calls", .Platform$dynlib.ext))
      include <- system.file("include", package = "anvil")
      if (!nzchar(include)) include <- test_path("../../inst/include") # an install without it
      flags <- paste0("PKG_CPPFLAGS=-I", shQuote(normalizePath(include)))
      said <- system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "-o", path, source), env = flags, stdout = TRUE, stderr = TRUE)
      if (!file.exists(path)) skip(paste("There is no C++ compiler:", utils::tail(said, 1L)))
      library <<- dyn.load(path)
    }
    library
  }
})
c_function <- function(symbol) getNativeSymbolInfo(symbol, custom_library())
calls_made <- function(expr) {
  .Call(c_function("clear_calls"))
  force(expr)
  .Call(c_function("count_calls"))
}
twice_with <- function(...) nv_custom_call("twice", c_function("twice"), function(x) x, ...)
x3 <- nv_tensor(c(-1, 0.5, 2), "f64")

test_that("a compiled function is called at once, by programs, and everywhere in them", {
  twice <- twice_with()
  expect_equal(c(as_array(twice(x3))), c(-2, 1, 4))
  expect_equal(c(as_array(jit(twice)(x3))), c(-2, 1, 4))
  expect_equal(c(as_array(jit(function(x) twice(x + 1) * 3)(x3))), (c(-1, 0.5, 2) + 1) * 6)
  expect_equal(c(as_array(twice(array(4, 1L)))), 8)
  expect_equal(c(as_array(jit(function(x) twice(x + twice(array(4, 1L))))(x3[1]))), 14)
  expect_equal(c(as_array(evaluate_graph(trace_fn(twice, list(x3)), list(x3))[[1L]])), c(-2, 1, 4))
  m <- nv_tensor(matrix(1:6, 2), "f32")
  types <- function(m) list(rows = nv_aten("f32", shape(m)[1L]), columns = nv_aten("f32", shape(m)[2L]))
  sums <- nv_custom_call("sums", c_function("sums"), types)
  for (f in list(sums, jit(sums), function(m) jit(function(m) sums(nv_transpose(nv_transpose(m))))(m))) {
    out <- f(m)
    expect_equal(c(as_array(out$rows)), rowSums(matrix(1:6, 2)))
    expect_equal(c(as_array(out$columns)), colSums(matrix(1:6, 2)))
  }
  loop <- function(x) nv_while(list(i = 0L, x = x), \(i, x) i < 5L, \(i, x) list(i = i + 1L, x = twice(x)))$x
  expect_equal(c(as_array(jit(loop)(x3))), 32 * c(-1, 0.5, 2))
  branch <- function(x) nv_if(sum(x) > 0, twice(x), x)
  expect_equal(c(as_array(jit(branch)(x3))), c(-2, 1, 4))
  expect_equal(c(as_array(jit(branch)(-x3))), -c(-1, 0.5, 2))
  expect_equal(shape(jit(twice)(nv_tensor(numeric(), "f64", shape = c(0L, 3L)))), c(0L, 3L))
  expect_prints(twice(debug_box("f64", 2L)), "f64{2}")
})

test_that("buffers have the codes of the header, the element's alignment and the tensor's bits", {
  dtypes <- names(anvil:::dtype_codes)
  header <- readLines(system.file("include", "anvil", "custom_call.h", package = "anvil"))
  named <- regmatches(header, regexec("^ *ANVIL_([A-Z0-9]+) = ([0-9]+)", header))
  named <- do.call(rbind, named[lengths(named) > 0L])
  expect_identical(tolower(named[, 2L]), dtypes)
  expect_identical(as.integer(named[, 3L]), seq_along(dtypes) - 1L)
  tensors <- lapply(dtypes, function(d) nv_fill(1, c(2L, 3L), d))
  describe <- nv_custom_call("describe", c_function("describe"), nv_aten("i32", c(3L, length(dtypes))))
  for (f in list(describe, jit(describe))) {
    out <- as_array(do.call(f, tensors))
    expect_identical(out[1L, ], seq_along(dtypes) - 1L)
    expect_identical(out[2L, ], rep(2L, length(dtypes)))
    expect_identical(out[3L, ], rep(1L, length(dtypes)))
  }
})

test_that("derivatives and batches are those of the rules", {
  rules <- list(
    backward = twice_with(backward = function(grads) list(grads * 20)),
    jvp = twice_with(jvp = function(tangents) tangents[[1L]] * 20),
    both = twice_with(backward = function(grads) list(grads * 20), jvp = function(tangents) tangents[[1L]] * 20),
    batch = twice_with(
      backward = function(grads) list(grads * 20),
      batch = function(inputs, batched, size) {
        expect_identical(batched, list(TRUE))
        twice_with(backward = function(grads) list(grads * 20))(inputs[[1L]])
      }
    )
  )
  for (f in rules) {
    g <- function(x) sum(f(x) * x)
    expected <- 2 * c(-1, 0.5, 2) + 20 * c(-1, 0.5, 2)
    expect_equal(c(as_array(gradient(g)(x3)$x)), expected)
    expect_equal(c(as_array(jit(gradient(g))(x3)$x)), expected)
    expect_equal(c(as_array(jit(jvp(f))(list(x3), list(x3))$tangent)), 20 * c(-1, 0.5, 2))
    expect_equal(c(as_array(jit(vectorize(gradient(function(x) f(x) * x)))(x3)$x)), expected)
    expect_equal(c(as_array(jit(vectorize(f))(x3))), 2 * c(-1, 0.5, 2))
    expect_equal(c(as_array(jit(gradient(function(x) sum(vectorize(f)(x) * x)))(x3)$x)), expected)
  }
  expect_equal(calls_made(jit(vectorize(rules$backward))(x3)), 3)
  expect_equal(calls_made(jit(vectorize(rules$batch))(x3)), 1)
  plain <- twice_with()
  expect_equal(c(as_array(jit(vectorize(plain))(x3))), 2 * c(-1, 0.5, 2))
  expect_equal(as_array(jit(gradient(function(x) sum(x) + sum(nv_stop_gradient(plain(x)))))(x3)$x), array(1, 3L))
})

test_that("pure calls are made as often as needed, those with an effect as recorded", {
  pure <- twice_with()
  two <- function(f) function(x) {
    f(x + 1)
    f(x) + f(x)
  }
  expect_equal(calls_made(jit(two(pure))(x3)), 1)
  marked <- twice_with(effect = TRUE)
  expect_equal(calls_made(jit(two(marked))(x3)), 3)
  note <- nv_custom_call("note", c_function("note"), list(), effect = TRUE)
  quiet <- nv_custom_call("note", c_function("note"), list())
  noted <- function(f, ...) {
    calls_made(f(...))
    .Call(c_function("noted_numbers"))
  }
  one <- nv_scalar(1, "f64")
  f <- jit(function(x) {
    note(x)
    quiet(x + 100)
    note(x + 1)
    x
  })
  expect_identical(noted(f, one), c(1, 2))
  expect_identical(noted(f, one), c(1, 2))
  loop <- jit(function(x) {
    nv_while(list(i = 0L, x = x), \(i, x) i < 3L, function(i, x) {
      note(x)
      list(i = i + 1L, x = x * 2)
    })
    x
  })
  expect_identical(noted(loop, one), c(1, 2, 4))
  expect_identical(noted(jit(vectorize(function(x) {
    note(x)
    nv_if(x > 0, {
      note(x * 10)
      x
    }, x)
  })), x3), c(-1, 0.5, 2, 5, 20))
  ruled <- nv_custom_call("note", c_function("note"), list(), backward = function(...) NULL, effect = TRUE)
  expect_identical(noted(jit(function(x) {
    ruled(x)
    x
  }), one), 1)
  expect_identical(noted(jit(gradient(function(x) {
    note(x)
    x * 3
  })), one), 1)
})

test_that("what goes wrong in the function is an R error", {
  broken <- function(symbol) nv_custom_call(symbol, c_function(symbol), function(x) x)
  flat <- function(x) sum(twice_with()(x))
  expect_snapshot(error = TRUE, transform = function(text) sub(" at test-custom-call.R#[0-9]+", "", text), {
    broken("fail_silently")(x3)
    jit(broken("fail_silently"))(x3)
    jit(broken("throws"))(x3)
    jit(broken("throws_int"))(x3)
    nv_custom_call("sums", c_function("sums"), list(nv_aten("f32", 1L), nv_aten("f32", 1L)))(x3)
    gradient(flat)(x3)
    jvp(twice_with())(list(x3), list(x3))
  })
  for (f in list(broken("raise"), jit(broken("raise")), jit(vectorize(broken("raise"))))) {
    expect_error(f(x3), "raised in C", fixed = TRUE)
    expect_error(f(x3), "raised in C", fixed = TRUE)
  }
  expect_error(jit(broken("fail_aloud"))(x3), "xxxx", class = "anvil_error_call")
  expect_null(.current_descriptor(silent = TRUE))
  expect_equal(c(as_array(jit(twice_with())(x3))), c(-2, 1, 4))
})

test_that("wrong arguments are refused, and pointers of other sessions", {
  pointer <- c_function("twice")$address
  registered <- getNativeSymbolInfo("C_anvil_tag", getLoadedDLLs()$anvil, withRegistrationInfo = TRUE)
  saved <- unserialize(serialize(pointer, NULL))
  expect_snapshot(error = TRUE, {
    nv_custom_call("a b", pointer, nv_aten("f64", 1L))
    nv_custom_call("twice", "twice", nv_aten("f64", 1L))
    nv_custom_call("twice", saved, nv_aten("f64", 1L))
    nv_custom_call("twice", registered$address, nv_aten("f64", 1L))
    nv_custom_call("twice", pointer, 1)
    nv_custom_call("twice", pointer, function(x) 1)(x3)
    nv_custom_call("twice", pointer, function(x) x, backward = function(g) g)
    twice_with()("a")
  })
  f <- jit(twice_with())
  f(x3)
  again <- unserialize(serialize(f, NULL))
  expect_error(again(x3), "another session", class = "anvil_error_argument")
  expect_error(unserialize(serialize(twice_with(), NULL))(x3), "another session", class = "anvil_error_argument")
})

test_that("text has the call by its name", {
  m <- nv_tensor(matrix(1:6, 2), "f64")
  f <- twice_with(backward = function(grads) list(grads * 2))
  expect_snapshot(cat(repr(stablehlo(trace_fn(f, list(m)))[[1L]])))
  text <- write_stablehlo(twice_with(effect = TRUE), args = list(m))
  expect_match(paste(text, collapse = "\n"), "has_side_effect = true", fixed = TRUE)
  expect_error(read_stablehlo(text), "twice", class = "anvil_error_stablehlo")
})

test_that("what a program reads stays, though a function that it calls donates it", {
  step <- jit(function(x) x * 2, donate = "x")
  one <- nv_custom_call("calls_back", c_function("calls_back"), function(x) x)
  f <- jit(function(first, x) x + one(first))
  x <- nv_fill(1, 30000L, "f64") * 1
  x <- step(x)
  numbers <- new.env()
  numbers$x <- x
  call <- bquote(.(function() {
    for (i in 1:3) numbers$x <- step(numbers$x)
    gc()
    for (i in 1:3) nv_fill(7, 30000L, "f64") + 1
  })())
  .Call(c_function("set_call_back"), call)
  expect_identical(as_array(f(nv_tensor(0, "f64"), x)), array(3, 30000L))
  expect_identical(as_array(numbers$x), array(16, 30000L))
  .Call(c_function("set_call_back"), NULL)
})

test_that("workers made by fork() call it, too", {
  skip_on_os("windows")
  f <- jit(twice_with())
  f(x3)
  got <- parallel::mclapply(1:2, function(i) c(as_array(f(x3 * i))), mc.cores = 2)
  expect_equal(got, list(c(-2, 1, 4), c(-4, 2, 8)))
})

test_that("nv_check() finds the rules that are wrong", {
  x <- nv_aten("f64", 3L)
  right <- twice_with(backward = function(grads) list(2 * grads))
  expect_nv_check(function(x) sum(right(exp(x))), x, n = 5L)
  wrong <- twice_with(backward = function(grads) list(3 * grads))
  found <- nv_check(function(x) sum(wrong(exp(x))), x, n = 5L)
  expect_match(found$call[found$check == "vjp = differences"], "wrong(exp(x))", fixed = TRUE)
  batched <- twice_with(batch = function(inputs, batched, size) inputs[[1L]] * 3)
  found <- nv_check(function(x) batched(exp(x)), x, n = 5L)
  expect_match(found$call[found$check == "batched = looped"], "batched(exp(x))", fixed = TRUE)
  expect_identical(found$status[found$check == "vjp = differences"], "not supported")
  expect_match(found$reason[found$check == "vjp = differences"], "has no derivative")
})
