x3 <- nv_tensor(c(1, 2, 3))
# What `f` gives, and what is warned of.
told <- function(expr) {
  said <- character()
  value <- withCallingHandlers(expr, anvil_warning_captured = function(w) {
    said <<- c(said, conditionMessage(w))
    invokeRestart("muffleWarning")
  })
  list(value = as.double(value), said = said)
}

test_that("a captured value that changed is a warning at a hit of the cache", {
  withr::local_options(anvil.check_captured = TRUE)
  k <- 2
  f <- jit(function(x) x * k)
  expect_identical(told(f(x3)), list(value = c(2, 4, 6), said = character()))
  expect_identical(told(f(x3))$said, character())
  k <- 5
  again <- told(f(x3))
  expect_identical(again$value, c(2, 4, 6))
  expect_match(again$said, "`k` was 2, and is 5 now", fixed = TRUE)
  k <- 2
  expect_identical(told(f(x3))$said, character())
  rm(k)
  expect_match(told(f(x3))$said, "`k` was 2, and is NULL now", fixed = TRUE)
  k <- 5
  expect_identical(told(f(nv_tensor(1)))$value, 5) # compiled anew
})

test_that("what functions read that are called counts, through those that the package makes", {
  withr::local_options(anvil.check_captured = TRUE)
  k <- 2
  w <- nv_tensor(c(1, 1, 1))
  inner <- function(x) sum(x * k * w)
  outer <- function(x) inner(x)
  m3 <- nv_tensor(matrix(1, 2L, 3L))
  made <- list(
    list(jit(outer), x3), list(jit(gradient(outer)), x3), list(jit(value_and_gradient(outer)), x3),
    list(jit(function(x) jvp(outer)(list(x), list(x))), x3), list(jit(nv_checkpoint(outer)), x3), list(jit(vectorize(outer)), m3),
    list(jit(function(x) jit(outer)(x)), x3), list(jit(nv_custom_gradient(function(x) x, function(grads) list(grads * inner(w)))), x3)
  )
  for (one in made) {
    run <- function() told({
      one[[1L]](one[[2L]])
      0
    })$said
    before <- run()
    expect_identical(before, character())
    k <- 3
    expect_match(run(), "`k` was 2, and is 3 now", fixed = TRUE)
    k <- 2
    w <- nv_tensor(c(2, 1, 1))
    expect_match(run(), "`w` was f32[3], and is another f32[3] now", fixed = TRUE)
    w <- nv_tensor(c(1, 1, 1))
    old <- inner
    inner <- function(x) sum(x)
    expect_match(run(), "`inner` was a function, and is another function now", fixed = TRUE)
    inner <- old
  }
})

test_that("what is no reading of a variable does not count", {
  withr::local_options(anvil.check_captured = TRUE)
  k <- 2
  state <- new.env()
  unforced <- 1
  f <- function(x, k = 3) {
    i <- 1
    for (name in 1:2) i <- i + name
    g <- function(unforced) unforced + i
    state$count <- 1
    quote(nobody)
    list(name = g(x))$name * k
  }
  i <- name <- nobody <- count <- 1
  expect_setequal(free_names(f)$variables, "state")
  h <- jit(f)
  expect_identical(told(h(x3))$said, character())
  k <- i <- name <- nobody <- unforced <- count <- 7
  state$count <- 3
  expect_identical(told(h(x3))$said, character())
  expect_identical(free_names(function(x) { y[1] <- x; z <- z + 1; a <<- b; m[, 2]; x$w; stats::v })$variables, c("y", "z", "b", "m"))
  expect_identical(free_names(function(x = d) (\(u, v = e) u + v + x)(1))$variables, c("d", "e"))
})

test_that("without the option nothing is noted", {
  k <- 2
  f <- jit(function(x) x * k)
  f(x3)
  k <- 5
  withr::local_options(anvil.check_captured = TRUE)
  expect_identical(told(f(x3))$said, character())
  g <- jit(function(x) x * k)
  g(x3)
  k <- 6
  withr::local_options(anvil.check_captured = NULL)
  expect_identical(told(g(x3))$said, character())
})

test_that("a jitted function prints what it compiles, and what it captured", {
  k <- 2
  scale <- function(x) x * k
  f <- jit(function(x, op) if (op == "add") x + k else scale(x), static = "op")
  expect_s3_class(f, c("JitFunction", "function"))
  expect_snapshot(f)
  f(x3, "add")
  f(x3, "add")
  f(nv_tensor(1), "mul")
  expect_snapshot(f)
  withr::local_options(anvil.check_captured = TRUE)
  g <- jit(scale)
  g(x3)
  k <- 5
  expect_snapshot(g)
  expect_snapshot(told(g(x3))$said |> cat())
})
