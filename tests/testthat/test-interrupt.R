# Ctrl-C ends what takes long: R processes of their own get SIGINT in the middle of a call.

# The code must end with a call that takes seconds; `then` must be TRUE after it was stopped.
# Gives how long it went on, by the clock or by the processor's time, of which a busy machine gives less.
interrupted <- function(prepare, long, then = "identical(as_array(nv_scalar(1) + 1), 2)", after = 0.7) {
  results <- tempfile("results", fileext = ".rds")
  started <- tempfile("started")
  script <- child_script(sprintf('
    %s
    ended <- NULL
    file.create(%s)
    begin <- Sys.time()
    tryCatch({ %s; ended <- "by itself" }, interrupt = function(i) ended <<- "interrupted", error = function(e) ended <<- conditionMessage(e))
    list(ended = ended, at = as.numeric(Sys.time()), worked = sum(proc.time()[1:2]), took = as.numeric(difftime(Sys.time(), begin, units = "secs")), works = tryCatch(isTRUE(%s), error = conditionMessage))
  ', prepare, deparse(started), long, then), results)
  log <- tempfile("log")
  pid <- tempfile("pid")
  system(sprintf("%s --vanilla %s > %s 2>&1 & echo $! > %s", shQuote(file.path(R.home("bin"), "Rscript")), shQuote(script), log, pid))
  process <- as.integer(readLines(pid))
  wait <- function(ready, seconds) {
    until <- Sys.time() + seconds
    while (!ready() && Sys.time() < until) Sys.sleep(0.01)
    ready()
  }
  on.exit(tools::pskill(process, tools::SIGKILL))
  if (!wait(function() file.exists(started), 100)) stop("the child did not start: ", paste(readLines(log, warn = FALSE), collapse = "\n"))
  Sys.sleep(after)
  sent <- as.numeric(Sys.time())
  worked <- processor_seconds(process)
  tools::pskill(process, tools::SIGINT)
  if (!wait(function() file.exists(results), 60)) {
    return(list(ended = "never", seconds = Inf, works = FALSE)) # the child has died, or goes on
  }
  Sys.sleep(0.1)
  result <- readRDS(results)
  list(ended = result$ended, seconds = min(result$at - sent, result$worked - worked), works = result$works)
}

# What a process has worked, in seconds, where the system tells (Linux).
processor_seconds <- function(process) {
  status <- sprintf("/proc/%d/stat", process)
  if (!file.exists(status)) {
    return(-Inf)
  }
  fields <- strsplit(sub(".*\\) ", "", readLines(status)), " ")[[1L]] # what follows the name; times are in hundredths
  sum(as.numeric(fields[12:13])) / 100
}

# Half a second is promised. A busy machine may give the process its turn later than that, but not
# three times: what is too slow by itself is too slow each time.
expect_interrupted <- function(prepare, long, then = "identical(as_array(nv_scalar(1) + 1), 2)", after = 0.7) {
  for (trial in 1:3) {
    result <- interrupted(prepare, long, then, after)
    if (!identical(result$ended, "interrupted") || !isTRUE(result$works) || result$seconds < 0.5) break
  }
  expect_identical(result$ended, "interrupted")
  expect_lt(result$seconds, 0.5)
  expect_true(result$works)
}

test_that("sorting in debug mode stops", {
  skip_on_cran()
  expect_interrupted('x <- nv_tensor(rep(runif(1e6), 40), "f64")', "nv_sort(x)", "identical(as_array(nv_sort(nv_tensor(3:1))), array(1:3))")
})

test_that("differentiating a long program stops", {
  skip_on_cran()
  expect_interrupted(
    'graph <- trace_fn(function(x) { for (i in 1:20000) x <- x * 1.0001 + 0.1; sum(x) }, list(x = nv_aten("f64", 2)))',
    "repeat transform_gradient(graph, \"x\")", "as_array(gradient(function(x) sum(x * x))(nv_scalar(3, \"f64\"))$x) == 6"
  )
})

test_that("elementwise functions in debug mode stop", {
  skip_on_cran()
  expect_interrupted('x <- nv_tensor(rep(runif(1e6), 30), "f64")', "nv_igamma(x, x)", "abs(as_array(nv_lgamma(nv_scalar(5, \"f64\"))) - log(24)) < 1e-12")
})

test_that("compiled top_k stops", {
  skip_on_cran()
  expect_interrupted(
    'x <- nv_tensor(rep(runif(1e6), 20), "f64"); f <- jit(function(x) nv_top_k(x, 1000000L)); f(nv_tensor(runif(1000001), "f64"))',
    "repeat f(x)", "as_array(jit(function(x) nv_top_k(x, 1L)[[1L]])(nv_tensor(c(1, 3, 2)))) == 3"
  )
})

test_that("reading long text stops", {
  skip_on_cran()
  expect_interrupted('
    lines <- sprintf("%%v%d = stablehlo.add %%v%d, %%v%d : tensor<4xf32>", 1:300000, 0:299999, 0:299999)
    text <- paste(c("func.func @main(%v0: tensor<4xf32>) -> tensor<4xf32> {", lines, "return %v300000 : tensor<4xf32>", "}"), collapse = "\n")',
    "repeat read_stablehlo(text)", "is.function(read_stablehlo(\"func.func @main(%x: tensor<f32>) -> tensor<f32> {\\n return %x : tensor<f32>\\n}\"))"
  )
})

test_that("compiling a big program stops, and so does its inspection", {
  skip_on_cran()
  big <- 'f <- function(x) { for (i in 1:6000) x <- if (i %% 5 == 0) nv_transpose(x) %*% x else sin(x) * i; x }
    x <- nv_tensor(diag(3), "f64"); graph <- trace_fn(f, list(x = x))'
  then <- "as_array(jit(function(x) x + 1)(nv_scalar(1))) == 2"
  # in the passes, and in the generation of code, which takes most of the time
  expect_interrupted(big, "repeat nv_compile(graph)", then, after = 0.4)
  expect_interrupted(big, "repeat nv_compile(graph)", then, after = 0.7)
  expect_interrupted(big, "repeat utils::capture.output(nv_inspect(f, x, level = \"asm\"))", then, after = 2)
  expect_interrupted(big, "repeat utils::capture.output(nv_inspect(f, x, level = \"llvm\"))", then, after = 2)
})

test_that("factorisations stop", {
  skip_on_cran()
  expect_interrupted('x <- crossprod(matrix(runif(2500 * 2500), 2500)) + diag(2500); a <- nv_tensor(x, "f64")', "repeat nv_chol(a)", "as_array(nv_chol(nv_tensor(matrix(4), \"f64\"))) == 2")
})

test_that("triangular solves stop", {
  skip_on_cran()
  expect_interrupted(
    'n <- 2000; a <- nv_tensor(diag(n) + 1, "f64"); b <- nv_tensor(matrix(1, n, n), "f64")',
    "repeat nv_triangular_solve(a, b, left_side = TRUE, lower = TRUE)", "TRUE"
  )
})

test_that("products stop", {
  skip_on_cran()
  expect_interrupted('a <- nv_tensor(matrix(1, 6000, 6000), "f64"); f <- jit(function(a) a %*% a)', "repeat f(a)", "as_array(jit(function(a) a %*% a)(nv_tensor(matrix(2), \"f64\"))) == 4", after = 2)
})

test_that("loops stop, compiled and in debug mode", {
  skip_on_cran()
  loop <- 'f <- function(n) nv_while(list(i = nv_scalar(0, "f64"), n = n), function(i, n) i < n, function(i, n) list(i = i + 1, n = n))$i'
  expect_interrupted(loop, 'f(nv_scalar(1e12, "f64"))', 'as_array(f(nv_scalar(3, "f64"))) == 3')
  expect_interrupted(paste(loop, "; g <- jit(f)"), 'g(nv_scalar(1e12, "f64"))', 'as_array(g(nv_scalar(3, "f64"))) == 3', after = 1.5)
})

test_that("conversions of large data stop", {
  skip_on_cran()
  expect_interrupted("x <- runif(3e7)", 'repeat { y <- nv_tensor(x, "f32"); as_array(y); as_raw(y, row_major = TRUE); nv_tensor(x, "i64", check = TRUE) }')
})

test_that("tracing and the cache of a jitted function stop", {
  skip_on_cran()
  expect_interrupted("", 'trace_fn(function(x) { repeat x <- x + 1; x }, list(x = nv_aten("f64", 2)))', "is.null(.current_descriptor(silent = TRUE))")
  expect_interrupted(
    "k <- as.list(runif(1e6)); f <- jit(function(x, k) x, static = 'k'); x <- nv_scalar(1); f(x, k)",
    "repeat f(x, k)", "as_array(f(x, k)) == 1"
  )
})

test_that("printing stops", {
  skip_on_cran()
  expect_interrupted("x <- nv_tensor(rep(runif(1e6), 30), \"f64\")", "repeat capture.output(print(x))")
})

test_that("several threads stop, in loops and in products", {
  skip_on_cran()
  prepare <- 'anvil_threads(2); x <- nv_tensor(stats::runif(1e6), "f64"); m <- nv_tensor(matrix(0.5, 1500, 1500), "f64")
    f <- jit(function(x) nv_while(list(x = x, i = 0L), function(x, i) i < 1000000L, function(x, i) list(x = sin(x), i = i + 1L))$x)
    g <- jit(function(m) m %*% m %*% m)'
  then <- 'identical(as_array(g(nv_tensor(diag(2), "f64"))), diag(2))'
  expect_interrupted(prepare, "f(x)", then)
  expect_interrupted(prepare, "repeat g(m)", then)
})

test_that("a limit of R's that is reached in compiled code is R's own error", {
  skip_on_cran()
  long <- list(
    function() jit(function(x) nv_while(list(s = x, i = 0L), function(s, i) i < 2000000000L, function(s, i) list(s = sin(s) + 1, i = i + 1L))$s)(nv_tensor(c(1, 2, 3))),
    function() {
      f <- jit(function(x) sum(nv_igamma(x, x)))
      x <- nv_tensor(rep(c(0.5, 30), 5e5), "f64")
      repeat with_threads(2, f(x)) # helpers are waited for, and the caller asked meanwhile
    },
    function() repeat nv_sort(nv_tensor(rep(c(3, 1, 2), 1e6), "f64")),
    function() repeat trace_fn(function(x) { for (i in 1:2000) x <- x + 1; x }, list(x = nv_aten("f32", 2)))
  )
  for (work in long) {
    seen <- character()
    error <- tryCatch(
      withCallingHandlers(
        {
          setTimeLimit(elapsed = 0.3)
          work()
        },
        error = function(e) seen <<- c(seen, conditionMessage(e))
      ),
      error = identity,
      finally = setTimeLimit()
    )
    expect_s3_class(error, "simpleError")
    expect_identical(conditionMessage(error), gettext("reached elapsed time limit", domain = "R"))
    expect_identical(seen, conditionMessage(error))
    expect_equal(value(jit(function(x) x + 1)(nv_scalar(1))), 2)
  }
})
