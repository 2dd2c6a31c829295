# Each rule written out in R for a vector, as torch documents it, after 5 steps along gradients that are given.
gradients <- lapply(1:5, function(k) sin(k * 1:3) * c(1, 10, 0.1))
start <- c(1, -2, 3)
after <- function(optimiser, transform = identity) {
  step <- jit(function(params, state, g) optimiser$update(g, state, params))
  params <- list(a = nv_tensor(start[1:2], "f64"), b = list(nv_scalar(start[3], "f64")))
  state <- optimiser$init(params)
  for (g in gradients) {
    out <- step(params, state, list(a = nv_tensor(g[1:2], "f64"), b = list(nv_scalar(g[3], "f64"))))
    params <- out$params
    state <- out$state
  }
  expect_identical(as.integer(state$step), 5L)
  c(as_array(params$a), as_array(params$b[[1L]]))
}
by_rule <- function(rule, gradients. = gradients) {
  state <- list(p = start, a = 0, b = 0)
  for (t in seq_along(gradients.)) state <- rule(gradients.[[t]], state, t)
  state$p
}

test_that("sgd follows its formulas", {
  expect_equal(after(nv_sgd(0.1)), by_rule(function(g, s, t) list(p = s$p - 0.1 * g)))
  expect_equal(after(nv_sgd(0.1, weight_decay = 0.2)), by_rule(function(g, s, t) list(p = s$p - 0.1 * (g + 0.2 * s$p))))
  momentum <- function(nesterov) {
    function(g, s, t) {
      b <- 0.9 * s$a + g
      list(p = s$p - 0.1 * (if (nesterov) g + 0.9 * b else b), a = b)
    }
  }
  expect_equal(after(nv_sgd(0.1, momentum = 0.9)), by_rule(momentum(FALSE)))
  expect_equal(after(nv_sgd(0.1, momentum = 0.9, nesterov = TRUE)), by_rule(momentum(TRUE)))
})

adam <- function(decay, decoupled, lr = function(t) 0.1) {
  function(g, s, t) {
    p <- s$p
    if (decoupled) p <- p - lr(t) * decay * p else g <- g + decay * p
    m <- 0.8 * s$a + 0.2 * g
    v <- 0.95 * s$b + 0.05 * g^2
    list(p = p - lr(t) * (m / (1 - 0.8^t)) / (sqrt(v / (1 - 0.95^t)) + 1e-6), a = m, b = v)
  }
}

test_that("adam and adamw follow their formulas", {
  expect_equal(after(nv_adam(0.1, 0.8, 0.95, 1e-6)), by_rule(adam(0, FALSE)))
  expect_equal(after(nv_adam(0.1, 0.8, 0.95, 1e-6, weight_decay = 0.3)), by_rule(adam(0.3, FALSE)))
  expect_equal(after(nv_adamw(0.1, 0.8, 0.95, 1e-6, weight_decay = 0.3)), by_rule(adam(0.3, TRUE)))
})

test_that("rmsprop follows its formulas", {
  rule <- function(momentum) {
    function(g, s, t) {
      v <- 0.9 * s$a + 0.1 * g^2
      b <- momentum * s$b + g / (sqrt(v) + 1e-6)
      list(p = s$p - 0.1 * b, a = v, b = b)
    }
  }
  expect_equal(after(nv_rmsprop(0.1, 0.9, 1e-6)), by_rule(rule(0)))
  expect_equal(after(nv_rmsprop(0.1, 0.9, 1e-6, momentum = 0.7)), by_rule(rule(0.7)))
})

test_that("gradients are clipped by value, then all together", {
  plain <- function(g, s, t) list(p = s$p - 0.1 * g)
  by_value <- lapply(gradients, function(g) pmin(pmax(g, -0.5), 0.5))
  by_norm <- function(gradients) lapply(gradients, function(g) g * min(1, 0.6 / (sqrt(sum(g^2)) + 1e-6)))
  expect_equal(after(nv_sgd(0.1, clip_value = 0.5)), by_rule(plain, by_value))
  expect_equal(after(nv_sgd(0.1, clip_norm = 0.6)), by_rule(plain, by_norm(gradients)))
  expect_equal(after(nv_sgd(0.1, clip_value = 0.5, clip_norm = 0.6)), by_rule(plain, by_norm(by_value)))
})

test_that("rates follow schedules, from the first step on", {
  expect_equal(after(nv_adam(nv_lr_exponential(0.1, 0.5), 0.8, 0.95, 1e-6)), by_rule(adam(0, FALSE, function(t) 0.1 * 0.5^(t - 1))))
  expect_equal(after(nv_sgd(function(step) 1 / (step + 1))), by_rule(function(g, s, t) list(p = s$p - g / t)))
})

test_that("the dtypes of the parameters stay", {
  params <- list(nv_tensor(1, "f32"), nv_tensor(1, "bf16"), nv_tensor(1, "f64"))
  for (o in list(nv_sgd(0.1, momentum = 0.9, clip_norm = 1), nv_adam(), nv_adamw(), nv_rmsprop(momentum = 0.5))) {
    out <- o$update(params, o$init(params), params)
    expect_identical(vapply(out$params, function(x) as.character(dtype(x)), ""), c("f32", "bf16", "f64"))
    expect_identical(build_tree(out$state), build_tree(o$init(params)))
  }
})

test_that("schedules are those that their names say", {
  expect_equal(nv_lr_constant(0.1)(0:2), rep(0.1, 3))
  expect_equal(nv_lr_step(1, 3, 0.1)(0:6), c(1, 1, 1, 0.1, 0.1, 0.1, 0.01))
  expect_equal(nv_lr_exponential(2, 0.5)(0:2), c(2, 1, 0.5))
  expect_equal(nv_lr_cosine(1, 10, 0.2)(c(0, 5, 10, 20)), c(1, 0.6, 0.2, 0.2))
  expect_equal(nv_lr_warmup(nv_lr_step(1, 2, 0.5), 4)(0:8), c(0.25, 0.5, 0.75, 1, 1, 1, 0.5, 0.5, 0.25))
  expect_equal(as.double(jit(nv_lr_cosine(1, 10))(nv_scalar(5L))), 0.5)
})

test_that("errors say what is wrong", {
  expect_snapshot({
    nv_adam(0.01)
    nv_sgd(nv_lr_warmup(0.1, 10))
  })
  expect_snapshot(error = TRUE, {
    nv_sgd(-1)
    nv_sgd(momentum = 1)
    nv_adam(clip_norm = 0)
    nv_sgd()$update(list(1, 2), nv_sgd()$init(list(nv_scalar(1))), list(nv_scalar(1)))
    nv_lr_step(1, 0)
    nv_lr_warmup("a", 2)
    nv_lr_constant(1)(-1)
  })
})
