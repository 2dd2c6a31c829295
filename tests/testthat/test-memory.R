MB <- 1e6

test_that("the memory of tensors is seen and given back", {
  before <- anvil_memory(release = TRUE)
  expect_named(before, c("used", "kept", "limit", "available"))
  expect_lt(before$kept, 5 * MB)
  x <- nv_empty("f64", c(2000, 1000))
  during <- anvil_memory()
  expect_gt(during$used - before$used, 15.9 * MB)
  rm(x)
  gc()
  after <- anvil_memory()
  expect_lt(after$used - before$used, MB)
  expect_gt(after$kept, 15.9 * MB)
  expect_lt(anvil_memory(release = TRUE)$kept, 5 * MB)
  expect_gt(after$available, MB)
  expect_gt(after$limit, MB)
  expect_error(anvil_memory(NA), "release", class = "anvil_error_argument")
})

test_that("the last result is given back like any other", {
  f <- jit(function(x) x + 1)
  x <- nv_fill(1, 2e6, "f64")
  y <- f(x)
  before <- anvil_memory(release = TRUE)$used
  rm(y)
  expect_lt(anvil_memory(release = TRUE)$used, before - 15.9 * MB)
})

test_that("results that nobody needs make room for the next ones, whatever the program takes besides", {
  x <- nv_fill(1, c(1000, 1000), "f64")
  f <- jit(function(x) { # with a temporary of the size of the result
    e <- exp(x - nv_broadcast_to(nv_reduce_max(x, 2L, drop = FALSE), c(1000L, 1000L)))
    e / nv_broadcast_to(nv_reduce_sum(e, 2L, drop = FALSE), c(1000L, 1000L))
  })
  anvil_memory(release = TRUE)
  most <- 0
  for (i in 1:200) {
    y <- f(x)
    most <- max(most, anvil_memory()$used)
  }
  expect_lt(most, 1000 * MB) # of 1600
})

test_that("what is kept is given up before memory is said to be short", {
  skip_on_cran()
  skip_if_not(identical(Sys.info()[["sysname"]], "Linux"))
  left <- in_child(c(
    'x <- nv_fill(1, 5e7, "f64")', # 400 MB
    "for (i in 1:12) y <- x + 1",
    "rm(y)",
    "dim(x + 1)"
  ), limit = 3e6)
  expect_identical(left, 50000000L)
})

test_that("memory prints in units that people read", {
  memory <- structure(list(used = 1.5e9, kept = 0, limit = 6.28e9, available = 20e9), class = "anvil_memory")
  expect_snapshot(print(memory))
})

test_that("what does not fit is an error of ours, and the session goes on", {
  sizes <- c(1e6, 1e6)
  expect_error(nv_empty("f64", sizes), "not enough memory", class = "anvil_error_memory")
  expect_error(nv_tensor(1, "f64", shape = sizes), class = "anvil_error_memory")
  expect_error(nv_fill(1, sizes, dtype = "f64"), class = "anvil_error_memory")
  expect_error(nv_fill(1L, c(2^31 - 1, 2^31 - 1), dtype = "i32"), class = "anvil_error_memory")
  spread <- jit(function(x) nv_broadcast_to(x, c(400000L, 400000L)))
  expect_error(spread(nv_scalar(1, "f64")), class = "anvil_error_memory")
  expect_error(nv_from_raw(raw(1), "i8", c(2^40, 2^40)), class = "anvil_error")
  expect_equal(as_array(nv_scalar(1) + 1), 2)
  expect_equal(as_array(jit(function(x) x + 1)(nv_scalar(1))), 2)
})

# In a process of its own, where nothing else allocates: by how many bytes the memory in use
# grows at each call. The least of four periods: what is kept once is no leak, nor are the pages
# that R adds to its own heap now and then. They are of different lengths, so that R does not add some in each of them.
grown_bytes <- function(programs, n) {
  in_child(c('
    growth <- function(f, n) {
      in_use <- function() {
        for (k in 1:8) gc() # R gives pages of its heap back over several collections
        c(R = sum(gc()[, 1] * c(56, 8)), heap = .Call(anvil:::C_anvil_memory, FALSE)[5L], pool = anvil_memory()$used)
      }
      period <- function(n) {
        before <- in_use()
        for (i in seq_len(n)) f()
        (in_use() - before) / n
      }
      for (i in 1:20) f()
      pmin(period(n), period(3 * n), period(2 * n), period(7 * n))
    }
    x <- nv_tensor(c(1, 2, 3), "f64")
    y <- nv_tensor(runif(1e5), "f64")',
    sprintf("sapply(list(%s), growth, %d)", paste(names(programs), "= function()", programs, collapse = ",\n"), n)
  ), timeout = 300)
}

test_that("tracing and differentiating keep nothing", {
  skip_on_cran()
  grown <- grown_bytes(n = 80, c(
    sums = "trace_fn(function(x) sum(x), list(x))",
    operators = "trace_fn(function(x) sum(sin(x) * x), list(x))",
    values_in_calls = "do.call(trace_fn, list(function(x) do.call(nv_mul, list(x, nv_reduce_sum(y))), list(x)))",
    gradients = "gradient(function(x) sum(sin(x) * x))(x)",
    errors = "tryCatch(trace_fn(function(x) stop(sin(x)), list(x)), error = function(e) NULL)",
    loops = "trace_fn(function(x) nv_while(list(v = x), function(v) sum(v) < 1, function(v) list(v = v + 1)), list(x))",
    text = "read_stablehlo(\"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\\n return %x : tensor<4xf32>\\n}\")"
  ))
  expect_lt(max(grown, na.rm = TRUE), 1000, label = paste(rownames(grown)[row(grown)], colnames(grown)[col(grown)], round(grown), collapse = ", "))
})

test_that("compiled programs that are dropped are freed", {
  skip_on_cran()
  grown <- grown_bytes(n = 20, c(programs = "jit(function(x) sum(exp(x) * x))(x)"))
  expect_lt(max(grown, na.rm = TRUE), 20000)
})

test_that("large numbers come from R and become R arrays without a copy", {
  address <- rlang::obj_address
  m <- matrix(as.double(1:20000), 100)
  x <- nv_tensor(m, "f64")
  expect_identical(address(as_array(x)), address(m))
  whole <- nv_tensor(matrix(1:20000, 100))
  for (r in list(jit(function(x) x * 2)(x), x * 2, jit(function(x) x * 2L)(whole), jit(function(x) nv_reshape(x, 20000L) * 2)(x))) {
    a <- as_array(r)
    expect_identical(address(as_array(r)), address(a))
    expect_identical(as.vector(a), as.vector(m * 2, typeof(a)))
    expect_identical(dim(a), shape(r))
    expect_identical(names(attributes(a)), "dim")
    a[2L] <- a[2L] + a[2L]
    expect_equal(as.vector(as_array(r))[2L], a[2L] / 2)
  }
  least <- jit(function(x) nv_ifelse(x == 7L, -2147483647L, x + 1L) - 1L)(whole) # R's NA
  expect_identical(as.vector(as_array(least))[6:8], c(6, -2^31, 8))
})

test_that("what R does to its own data reaches no tensor, whatever attributes they have", {
  n <- 20000
  v <- as.double(seq_len(n))
  labelled <- matrix(v, 100, dimnames = list(NULL, letters[rep(1, n / 100)]))
  data <- list(v, labelled, structure(v, unit = "m"), structure(seq_len(n), names = v), array(v, n))
  for (d in data) {
    given <- d
    x <- nv_tensor(d, if (is.double(d)) "f64" else "i32")
    again <- nv_tensor(as.vector(d), dtype(x), shape = shape(x))
    expect_identical(x, again)
    expect_identical(unserialize(serialize(x, NULL)), again)
    d[3L] <- d[1L]
    expect_identical(x, again)
    a <- as_array(x)
    expect_identical(as.vector(a), as.vector(unname(given)))
    a[4L] <- a[1L]
    expect_identical(x, again)
    expect_identical(as.vector(as_array(jit(function(x) x + x)(x))), as.vector(unname(given)) * (if (is.double(d)) 2 else 2L))
  }
  sorted <- function(x, ...) sort(as.vector(as_array(x)), ...)
  expect_identical(sorted(nv_tensor(v, "f64"), decreasing = TRUE)[1L], v[n])
})

test_that("a loop of steps whose states are donated takes no more memory than two states", {
  step <- function(x, y) list(x = x * 0.5 + y, y = y - 1, same = nv_fill(3, 20000, "f32"))
  given <- jit(step, donate = c("x", "y"))
  kept <- jit(step)
  a <- b <- list(x = nv_tensor(runif(1e6), "f64"), y = nv_tensor(runif(1e6), "f32"))
  a <- lapply(a, function(x) x + 0)
  a <- given(a$x, a$y)
  gc()
  most <- 0
  before <- anvil_memory()$used
  for (i in 1:40) {
    a <- given(a$x, a$y)
    most <- max(most, anvil_memory()$used - before)
  }
  expect_lt(most, 13 * MB)
  for (i in 1:41) b <- kept(b$x, b$y)
  expect_identical(a, b)
})

# Collections of young objects, some of which R extends to all of them, which takes forty times as long.
test_that("results that are dropped are collected soon", {
  skip_on_cran()
  held <- in_child('
    x <- nv_tensor(runif(640000), "f32")
    f <- jit(function(x) x + 1)
    max(vapply(1:2000, function(i) {
      f(x)
      anvil_memory()$used
    }, 1)) / (4 * 640000)', timeout = 300)
  expect_lt(held, 150)
})
