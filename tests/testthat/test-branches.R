# What branches may not do in a trace, where all of them run.

scalar <- function(x) nv_scalar(x, "f64")
both <- function(f, ...) list(f(...), jit(f)(...))

test_that("a branch that leaves its function is an error in a trace, wherever it stands", {
  early <- function(x, low) {
    nv_if(x < low, return(low), x)
    x^2
  }
  expect_identical(as_array(early(scalar(4), scalar(1))), 16)
  expect_snapshot(error = TRUE, {
    jit(early)(scalar(4), scalar(1))
    jit(function(x) {
      for (i in 1:5) {
        nv_if(x > 10, break, x)
        x <- 2 * x
      }
      x
    })(scalar(3))
    jit(function(k) nv_case(k, 1, return(2), 3))(nv_scalar(2L))
  })
  left <- function(code) expect_error(eval(bquote(jit(function(x) .(code))(scalar(3)))), class = "anvil_error_trace", regexp = "must not leave")
  left(quote(for (i in 1:3) nv_if(x > 10, x, next)))
  left(quote(nv_fori(1L, 3L, x, function(i, s) nv_if(s > 4, return(s), s + 1))))
  left(quote(nv_if(x > 1, nv_if(x > 2, return(x), x), x)))
  expect_error(gradient(early, "x")(scalar(4), scalar(1)), "must not leave", class = "anvil_error_trace")
  expect_error(vectorize(early, "x")(f64(c(4, 5)), scalar(1)), "must not leave", class = "anvil_error_trace")
})

test_that("errors in branches, also caught ones, and functions that return are what they are", {
  expect_error(jit(function(x) nv_if(x > 0, stop("mine"), x))(scalar(3)), "^mine$")
  caught <- function(x) nv_if(x > 0, tryCatch(stop("mine"), error = function(e) x + 1), x)
  returned <- function(x) nv_if(x > 0, function() return(x + 1), function() return(x))
  inside <- function(x) nv_if(x > 0, (function() return(x + 1))(), x)
  for (f in list(caught, returned, inside)) for (r in both(f, scalar(3))) expect_identical(as_array(r), 4)
})

test_that("what a branch assigns is its own, and nobody reads it by mistake", {
  own <- function(x) nv_if(x > 0, { n <- 5; x + n }, { n <- 6; x - n })
  for (r in both(own, scalar(3))) expect_identical(as_array(r), 8)
  again <- function(x) {
    n <- 1
    y <- nv_if(x > 0, { n <- 5; x + n }, { m <- n; x + m })
    z <- nv_if(x > 0, { n <- 7; y + n }, y)
    n <- 2
    z + n
  }
  for (k in c(3, -3)) expect_identical(as_array(jit(again)(scalar(k))), as_array(again(scalar(k))))
  optional <- function(x, n) nv_if(x > 0, { n <- 5; x + n }, x)
  for (r in both(optional, scalar(3))) expect_identical(as_array(r), 8)
  kept <- function(x) {
    n <- 1
    y <- nv_if(x > 0, { n <- 1; x }, x)
    y + n
  }
  for (r in both(kept, scalar(3))) expect_identical(as_array(r), 4)
  expect_snapshot(error = TRUE, {
    jit(function(x) {
      y <- 0
      nv_if(x > 0, y <- 1, y <- 2)
      x + y
    })(scalar(3))
    jit(function(k, x) {
      nv_case(k, z <- 1, { w <- c(1, 2); w[2] <- 4; 2 })
      x + w
    })(nv_scalar(1L), scalar(3))
  })
})
