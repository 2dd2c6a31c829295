rosenbrock <- function(p) 100 * (p[2] - p[1]^2)^2 + (1 - p[1])^2
rosenbrock_gradient <- function(p) c(-400 * p[1] * (p[2] - p[1]^2) - 2 * (1 - p[1]), 200 * (p[2] - p[1]^2))
rosenbrock_hessian <- function(p) matrix(c(1200 * p[1]^2 - 400 * p[2] + 2, -400 * p[1], -400 * p[1], 200), 2)
start <- c(-1.2, 1)

test_that("an objective gives value, gradient and Hessian matrix as R numbers", {
  o <- as_objective(rosenbrock, start)
  expect_identical(o$par, c(par1 = -1.2, par2 = 1))
  expect_equal(o$fn(start), 24.2)
  expect_equal(unname(o$gr(start)), rosenbrock_gradient(start))
  expect_equal(unname(o$he(start)), rosenbrock_hessian(start))
  expect_identical(dimnames(o$he(start)), list(c("par1", "par2"), c("par1", "par2")))
  expect_snapshot(print(o))
})

test_that("R's optimisers take it", {
  o <- as_objective(rosenbrock, start)
  for (method in c("BFGS", "CG", "L-BFGS-B")) {
    fit <- optim(o$par, o$fn, o$gr, method = method, control = list(maxit = 5000))
    expect_equal(fit$par, c(par1 = 1, par2 = 1), tolerance = 2e-3)
  }
  fit <- optim(o$par, o$fn, o$gr, method = "BFGS", hessian = TRUE)
  expect_equal(unname(fit$hessian), rosenbrock_hessian(c(1, 1)), tolerance = 1e-4)
  expect_equal(optim(o$par, o$fn, control = list(maxit = 5000))$par, c(par1 = 1, par2 = 1), tolerance = 1e-2)
  expect_equal(nlminb(o$par, o$fn, o$gr, o$he)$par, c(par1 = 1, par2 = 1))
  expect_equal(nlm(o$nlm, o$par)$estimate, c(1, 1), tolerance = 1e-5)
})

test_that("value and gradient at the same parameters are one run", {
  o <- as_objective(rosenbrock, start)
  runs <- function() sum(jit_report(environment(environment(environment(o$fn)$at)$both)$run)$versions$runs)
  o$fn(start)
  before <- runs()
  o$gr(start)
  expect_identical(runs(), before)
  o$gr(start + 1)
  o$fn(start + 1)
  expect_equal(runs(), before + 1)
})

test_that("parameters are named as by unlist(), and are put back", {
  start <- list(mu = 0, beta = c(1, 2), Sigma = matrix(c(1, 2, 3, 4), 2), deep = list(5, named = c(u = 6, 7)), t = nv_tensor(c(8, 9), "f32"))
  o <- as_objective(function(p) p$mu + sum(p$beta) + sum(p$Sigma) + p$deep[[1]] + sum(p$deep$named) + sum(p$t), start)
  expect_named(o$par, c("mu", "beta1", "beta2", "Sigma[1,1]", "Sigma[2,1]", "Sigma[1,2]", "Sigma[2,2]", "deep", "deep.named.u", "deep.named2", "t[1]", "t[2]"))
  expect_equal(o$fn(o$par), sum(o$par))
  back <- utils::relist(o$par, o)
  expect_identical(back[1:4], start[1:4])
  expect_equal(c(back$t), c(8, 9))
  expect_named(as_objective(rosenbrock, c(a = 1, b = 2))$par, c("a", "b"))
  seen <- NULL
  o <- as_objective(function(p) {
    seen <<- lapply(p, shape)
    p$one + sum(p$m) + sum(p$v)
  }, list(one = 1, m = matrix(1, 1, 1), v = c(1, 2)))
  o$fn(o$par)
  expect_identical(seen, list(one = integer(), m = c(1L, 1L), v = 2L))
})

test_that("objects of numbers are data without being rounded", {
  withr::local_options(anvil.default_dtypes = "f32")
  x <- c(0.1, 0.2)
  squares <- function(p, x) sum((x - p[1])^2)
  data <- list(stats::ts(x), if (requireNamespace("Matrix", quietly = TRUE)) Matrix::Matrix(x, sparse = FALSE))
  for (object in Filter(Negate(is.null), data)) expect_identical(as_objective(squares, 0, x = object)$fn(0), as_objective(squares, 0, x = x)$fn(0))
})

test_that("data are f64 tensors whatever the default is, and may be anything else", {
  withr::local_options(anvil.default_dtypes = "f32")
  seen <- NULL
  f <- function(p, x, k, flags, table, scale, transform) {
    seen <<- list(x = dtype(x), k = dtype(k), flags = dtype(flags), column = dtype(table$a), own = dtype(nv_fill(1, 2L)), scale = scale)
    sum(transform(p * x[1:2])) * scale
  }
  o <- as_objective(f, c(1 / 3, 2), x = c(1.5, 2, 3), k = 1:2, flags = c(TRUE, FALSE), table = data.frame(a = c(0.5, 1)), scale = 2, transform = sqrt)
  expect_equal(o$fn(o$par), 2 * (sqrt(0.5) + 2), tolerance = 1e-14)
  expect_identical(lapply(seen[1:5], as.character), list(x = "f64", k = "i32", flags = "bool", column = "f64", own = "f64"))
  expect_identical(seen$scale, 2)
  expect_identical(as.character(dtype(nv_fill(1, 1L))), "f32")
  expect_equal(as_objective(f, c(1 / 3, 2), x = c(1.5, 2, 3), k = 1:2, flags = TRUE, table = data.frame(a = 1), scale = 2, transform = sqrt, dtype = "f32")$fn(c(1 / 3, 2)), 2 * (sqrt(0.5) + 2), tolerance = 1e-6)
})

test_that("the values of observations are summed up", {
  x <- c(1.2, 0.4, 2.2)
  o <- as_objective(function(p, x) (x - p)^2, 1, x = x)
  expect_equal(o$fn(1), sum((x - 1)^2))
})

test_that("parameters without names are called by their places", {
  squares <- function(p) sum(p[[1]]^2) + p[[2]]^2
  expect_identical(as_objective(squares, list(1, 3))$par, c(par1 = 1, par2 = 3))
  expect_named(as_objective(squares, list(c(1, 2), 3))$par, c("par1", "par2", "par3"))
  expect_named(as_objective(squares, list(matrix(1:2, 1), 3))$par, c("par[1,1]", "par[1,2]", "par3"))
})

test_that("functions of an objective take lists like the start", {
  o <- as_objective(function(p) (p$a - 1)^2 + p$b^2, list(a = 0, b = 0))
  expect_equal(o$fn(list(b = 0, a = 3)), 4)
  expect_equal(o$gr(list(b = 1, a = 1)), c(a = 0, b = 2))
  expect_equal(o$he(list(a = 1, b = 1)), diag(2) * 2, ignore_attr = TRUE)
  expect_error(o$fn(list(a = 1)), "lacks the parameter `b`", class = "anvil_error_argument")
})

test_that("errors say what is wrong", {
  expect_snapshot(error = TRUE, {
    as_objective(rosenbrock, "a")
    as_objective(rosenbrock, c(1, NA))
    as_objective(rosenbrock, list())
    as_objective(rosenbrock, start, dtype = "i32")
    as_objective(rosenbrock, start)$fn(1)
    as_objective(function(p) list(p), start)$fn(start)
    as_objective(function(p) p > 0, start)$fn(start)
    as_objective(function(p) sum((p$mean - 1)^2), list(mu = 1))$fn(1)
    as_objective(function(p) nv_scalar(1) - p$mean, list(mu = 1))$fn(1)
    utils::relist(1, as_objective(rosenbrock, start))
  })
})

test_that("a vector with the names of the parameters goes by these", {
  o <- as_objective(function(p) sum((p$a - 1)^2) + (p$b - 3)^2, list(a = c(0, 0), b = 0))
  expect_equal(o$fn(c(b = 0, a1 = 1, a2 = 1)), 9)
  expect_equal(o$gr(c(b = 0, a1 = 1, a2 = 1)), c(a1 = 0, a2 = 0, b = -6))
  expect_equal(o$fn(c(1, 1, 0)), 9)
  expect_equal(o$fn(c(x = 1, y = 1, z = 0)), 9)
  expect_identical(utils::relist(c(b = 0, a1 = 1, a2 = 1), o), list(a = c(1, 1), b = 0))
})
