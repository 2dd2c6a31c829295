x3 <- nv_tensor(c(-1, 0.5, 2), "f64")
swish_plain <- function(x) x * nv_logistic(x)
# the same function with rules of its own, in each form
swishes <- function() {
  list(
    gradient = nv_custom_gradient(swish_plain, function(inputs, outputs, grads) {
      gate <- nv_logistic(inputs$x)
      list(x = grads * (gate + outputs * (1 - gate)))
    }),
    kept = nv_custom_gradient(
      function(x) {
        gate <- nv_logistic(x)
        list(outputs = x * gate, residuals = list(gate = gate))
      },
      function(inputs, outputs, grads, residuals) list(grads * (residuals$gate + outputs * (1 - residuals$gate)))
    ),
    jvp = nv_custom_jvp(swish_plain, function(inputs, outputs, tangents) {
      gate <- nv_logistic(inputs$x)
      tangents$x * (gate + outputs * (1 - gate))
    })
  )
}
without_lines <- function(text) sub(" at test-custom.R#[0-9]+", "", text)
step_by <- function(f) function(i, x) list(i = i + 1L, x = f(x))

test_that("rules of one's own serve every mode, order and place", {
  uses <- list(
    value = function(f) f(x3),
    reverse = function(f) gradient(function(x) sum(f(x)))(x3),
    forward = function(f) jvp(f)(list(x3), list(x3)),
    jacobian = function(f) jacobian(f)(x3),
    second = function(f) gradient(function(x) sum(gradient(function(x) sum(f(x)))(x)$x^2))(x3),
    third = function(f) {
      second <- gradient(function(x) sum(gradient(function(x) sum(f(x)))(x)$x^2))
      gradient(function(x) sum(second(x)$x))(x3)
    },
    hessian = function(f) hessian(function(x) sum(f(x)^2))(x3),
    hvp = function(f) hvp(function(x) sum(f(x)^2))(list(x3), list(x3)),
    jvp_of_jvp = function(f) jvp(function(x) jvp(f)(list(x), list(x))$tangent)(list(x3), list(x3)),
    reverse_of_forward = function(f) gradient(function(x) sum(jvp(f)(list(x), list(x))$tangent))(x3),
    vectorized = function(f) vectorize(f)(x3),
    gradients = function(f) vectorize(gradient(f))(x3),
    gradient_of_batch = function(f) gradient(function(x) sum(vectorize(f)(x)^2))(x3),
    nested_batch = function(f) gradient(function(x) sum(vectorize(vectorize(f))(x)^2))(nv_tensor(matrix(1:6 / 3, 2), "f64")),
    batch_of_forward = function(f) vectorize(function(x, t) jvp(f)(list(x), list(t))$tangent)(x3, x3 + 1),
    hessians = function(f) vectorize(hessian(function(x) sum(f(x)^2)))(nv_tensor(matrix(1:6 / 3, 2), "f64")),
    branch = function(f) gradient(function(x) nv_if(sum(x) > 0, sum(f(x)), sum(x)))(x3),
    loop = function(f) gradient(function(x) sum(nv_while(list(i = 0L, x = x), \(i, x) i < 3L, step_by(f))$x))(x3),
    open_loop = function(f) gradient(function(x) sum(nv_while(list(i = 0L, x = x), \(i, x) sum(x) > 0.1, step_by(f))$x))(x3),
    loop_twice = function(f) {
      loop <- function(x) sum(nv_while(list(i = 0L, x = x), \(i, x) i < 3L, step_by(f))$x)
      gradient(function(x) sum(gradient(loop)(x)$x^2))(x3)
    },
    segments = function(f) {
      gradient(function(x) sum(nv_while(list(i = 0L, x = x), \(i, x) i < 7L, step_by(f), checkpoint = 3)$x))(x3)
    },
    checkpoint = function(f) gradient(function(x) sum(nv_checkpoint(function(x) f(f(x)))(x)))(x3),
    loop_by_example = function(f) {
      one <- function(x, n) nv_while(list(i = 0L, x = x), \(i, x) i < n, step_by(f))$x
      vectorize(gradient(one, "x"))(x3, nv_tensor(c(2L, 0L, 5L)))
    },
    branch_by_example = function(f) vectorize(gradient(function(x) nv_if(x > 0, f(x), x)))(x3)
  )
  for (use in names(uses)) {
    expected <- uses[[use]](swish_plain)
    for (form in names(swishes())) {
      f <- swishes()[[form]]
      expect_equal(uses[[use]](f), expected, label = paste(use, "by", form, "in debug mode"))
      compiled <- jit(function() uses[[use]](f))()
      expect_equal(lapply(flatten(compiled), as_array), lapply(flatten(expected), as_array), label = paste(use, "by", form))
    }
  }
})

test_that("the rule is what is used, in each mode and order", {
  ten <- nv_custom_gradient(function(x) x^2, function(inputs, grads) list(grads * 10 * inputs$x))
  seven <- nv_custom_jvp(function(x) x^2, function(inputs, tangents) 7 * inputs$x * tangents$x)
  kept <- nv_custom_gradient(
    function(x) list(outputs = x^2, residuals = x * 10), function(grads, residuals) list(grads * residuals)
  )
  x <- nv_scalar(3, "f64")
  for (case in list(list(ten, 10), list(seven, 7), list(kept, 10))) {
    f <- case[[1L]]
    factor <- case[[2L]]
    expect_equal(as_array(f(x)), 9)
    expect_equal(as_array(jit(gradient(f))(x)$x), 3 * factor)
    expect_equal(as_array(jit(jvp(f))(list(x), list(x))$tangent), 9 * factor)
    expect_equal(as_array(jit(gradient(function(x) gradient(f)(x)$x))(x)$x), factor)
    expect_equal(as_array(jit(gradient(function(x) value_and_gradient(f)(x)$value))(x)$x), 3 * factor)
    expect_equal(as_array(jit(hessian(f))(x)$x$x), factor)
    expect_equal(c(as_array(jit(vectorize(gradient(f)))(x3)$x)), c(-1, 0.5, 2) * factor)
    expect_equal(as_array(jit(gradient(function(x) sum(vectorize(function(k, x) k * f(x), "k")(x3, x))))(x)$x), 4.5 * factor)
  }
})

test_that("arguments and results are nested, of any dtype, or no tensors", {
  seen <- NULL
  f <- nv_custom_gradient(
    function(p, n, ..., scale = 2) {
      list(sums = list(p$a * scale + p$b, n + 1L), last = sum(p$a))
    },
    function(inputs, outputs, grads) {
      seen <<- list(inputs = inputs, outputs = outputs, grads = grads)
      list(p = list(a = grads$sums[[1]] * inputs$scale + nv_broadcast_to(grads$last, 2L), b = grads$sums[[1]] * 100))
    }
  )
  a <- nv_tensor(c(1, 2), "f64")
  n <- nv_scalar(3L)
  g <- function(a, b) {
    y <- f(list(a = a, b = b), n, scale = 5)
    sum(y$sums[[1]] * nv_tensor(c(1, 10), "f64")) + 7 * y$last
  }
  got <- jit(gradient(g))(a, a)
  expect_equal(c(as_array(got$a)), c(12, 57))
  expect_equal(c(as_array(got$b)), c(100, 1000))
  expect_identical(names(seen$inputs), c("p", "n", "scale"))
  expect_identical(seen$inputs$scale, 5)
  expect_identical(names(seen$outputs), c("sums", "last"))
  expect_null(seen$grads$sums[[2]])
  expect_identical(names(formals(f)), c("p", "n", "...", "scale"))
  h <- nv_custom_jvp(function(p, n) list(y = p$a * 2, n = n), function(inputs, tangents) {
    expect_null(tangents$n)
    list(y = tangents$p$a * 3)
  })
  expect_equal(c(as_array(jit(gradient(function(a) sum(h(list(a = a), n)$y)))(a)$a)), c(3, 3))
  moved <- jvp(function(a) h(list(a = a), n))(list(a), list(a))
  expect_equal(c(as_array(moved$tangent$y)), c(3, 6))
  # nothing, or NULL, is zero
  none <- nv_custom_gradient(function(x, y) x * y, function(grads) list(y = grads))
  expect_equal(c(as_array(gradient(function(x, y) sum(none(x, y)))(a, a)$x)), c(0, 0))
  expect_equal(c(as_array(jit(gradient(function(x) sum(nv_custom_jvp(function(x) x, function(...) NULL)(x))))(a)$x)), c(0, 0))
})

test_that("a batch shares what is not mapped", {
  f <- nv_custom_gradient(function(w, x) w * x, function(inputs, grads) list(grads * inputs$x * 10, grads * inputs$w * 100))
  w <- nv_scalar(2, "f64")
  got <- jit(gradient(function(w, x) sum(vectorize(f, "x")(w, x))))(w, x3)
  expect_equal(as_array(got$w), 15)
  expect_equal(c(as_array(got$x)), c(200, 200, 200))
  names <- vapply(trace_fn(vectorize(f, "x"), list(w = w, x = x3))$calls, function(call) call$primitive$name, "")
  expect_identical(names, "custom_gradient")
})

test_that("values around it keep their derivatives, or it is an error", {
  lost <- function(x) {
    f <- nv_custom_gradient(function(y) y * x, function(inputs, grads) list(grads))
    sum(f(x))
  }
  late <- function(x) {
    f <- nv_custom_gradient(function(y) y, function(inputs, grads) list(grads * x))
    sum(f(x))
  }
  expect_equal(as_array(lost(x3)), sum(c(-1, 0.5, 2)^2))
  expect_snapshot(error = TRUE, {
    gradient(lost)(x3)
    jvp(lost)(list(x3), list(x3))
    gradient(late)(x3)
  }, transform = without_lines)
  # of a trace that goes on it may read what it likes
  outer <- function(s) sum(gradient(function(x) sum(nv_custom_gradient(function(y) y, function(grads) list(grads * s))(x)))(x3)$x)
  expect_equal(as_array(jit(outer)(nv_scalar(3, "f64"))), 9)
  expect_equal(as_array(jit(gradient(outer))(nv_scalar(3, "f64"))$s), 3)
  stopped <- function(x) sum(nv_custom_gradient(function(y) y * nv_stop_gradient(x), function(inputs, grads) list(grads))(x))
  expect_equal(c(as_array(jit(gradient(stopped))(x3)$x)), c(1, 1, 1))
})

test_that("wrong functions and rules are refused", {
  ruled <- function(backward) gradient(function(x) sum(nv_custom_gradient(function(y, k = 1) y * k, backward)(x, k = 2)))(x3)
  moved <- function(rule) jvp(nv_custom_jvp(function(y) y, rule))(list(x3), list(x3))
  bent <- function(x) sum(nv_custom_jvp(function(x) x, function(tangents) tangents$x^2)(x))
  late <- function(x) nv_custom_gradient(function(x) list(outputs = x, kept = x), function(grads, residuals) list(grads))(x)
  expect_snapshot(error = TRUE, {
    nv_custom_gradient(1, function(grads) grads)
    nv_custom_gradient(sum, 1)
    nv_custom_gradient(sum, function(g) list(g))
    nv_custom_jvp(sum, function() list(1))
    ruled(function(grads) grads)
    ruled(function(grads) list(sum(grads)))
    ruled(function(grads) list(z = grads))
    ruled(function(grads) list(1))
    ruled(function(grads) list(y = grads, k = grads))
    ruled(function(grads) list(nv_convert(grads, "f32")))
    jvp(nv_custom_gradient(function(x) x, function(grads) list(grads^2)))(list(x3), list(x3))
    gradient(bent)(x3)
    moved(function(tangents) list(tangents$y))
    moved(function(tangents) sum(tangents$y))
    nv_custom_gradient(function(x) x, function(grads, residuals) list(grads))(x3)
    jit(late)(x3)
    ruled(function(grads) if (sum(grads) > 0) list(grads))
  }, transform = without_lines)
  expect_error(ruled(function(grads) stop("not today")), "not today")
  expect_null(.current_descriptor(silent = TRUE))
})

test_that("programs and text hold the calls, graphs the function", {
  graph <- trace_fn(function(x) swishes()$kept(x), list(x = x3))
  expect_snapshot(print(graph))
  call <- graph$calls[[1L]]
  expect_identical(call$primitive$name, "custom_gradient")
  expect_named(subgraphs(call), "definition")
  slope <- trace_fn(gradient(function(x) sum(swishes()$kept(x))), list(x = x3))
  text <- repr(stablehlo(slope)[[1L]])
  expect_length(gregexpr("stablehlo.logistic", text, fixed = TRUE)[[1L]], 1L) # kept, not computed again
  again <- as_graph(read_stablehlo(text))
  expect_equal(as_array(evaluate_graph(again, list(x3))[[1L]]), as_array(gradient(function(x) sum(swish_plain(x)))(x3)$x))
})

test_that("rules go with the calls that own them", {
  gone <- 0
  for (use in list(jit, identity, vectorize)) {
    local({
      seen <- new.env()
      reg.finalizer(seen, function(e) gone <<- gone + 1)
      f <- function(x) {
        inner <- nv_custom_gradient(function(y) y * 2, function(inputs, grads) {
          seen$grads <- grads # a box in the environment of the rule, and the box around it
          list(grads * 3)
        })
        seen$x <- x
        sum(inner(x))
      }
      use(gradient(f))(nv_tensor(matrix(1:4, 2), "f64"))
    })
    for (i in 1:3) gc()
  }
  expect_identical(gone, 3)
})

test_that("workers made by fork() take derivatives by the rules of the parent", {
  skip_on_cran()
  skip_on_os("windows")
  result <- in_child('
    f <- nv_custom_gradient(function(x) x^2, function(inputs, grads) list(grads * 10 * inputs$x))
    graph <- trace_fn(function(x) sum(f(x)), list(x = nv_aten("f64", 2L)))
    slope <- function(i) as_array(evaluate_graph(transform_gradient(graph), list(nv_tensor(c(i, 2 * i), "f64")))[[1]])
    list(parent = slope(1), workers = parallel::mclapply(1:2, slope, mc.cores = 2))
  ')
  expect_equal(c(result$parent), c(10, 20))
  expect_equal(lapply(result$workers, c), list(c(10, 20), c(20, 40)))
})

test_that("rules of registered primitives follow the same mechanism", {
  p <- AnvilPrimitive("test_ruled")
  p[["forward"]] <- function(operand, factor) operand^2
  p[["jvp"]] <- function(inputs, outputs, tangents, factor) list(inputs[[1L]] * tangents[[1L]] * factor)
  f <- register_primitive("test_ruled", p, overwrite = TRUE)
  g <- function(x) sum(f(x, factor = 7))
  # reverse mode transposes a forward rule
  expect_equal(c(as_array(jit(gradient(g))(x3)$x)), c(-7, 3.5, 14))
  expect_equal(c(as_array(jit(vectorize(gradient(g)))(x3)$x)), c(-7, 3.5, 14))
  # what is kept has the derivative of the code that makes it, the outputs that of the rule
  p <- AnvilPrimitive("test_ruled")
  p[["forward"]] <- function(operand, factor) operand^2
  p[["augment"]] <- function(inputs, factor) list(outputs = inputs[[1L]]^2, residuals = inputs[[1L]] * factor)
  p[["backward"]] <- function(inputs, outputs, grads, residuals, factor, .required) list(grads[[1L]] * residuals[[1L]])
  f <- register_primitive("test_ruled", p, overwrite = TRUE)
  g <- function(x) sum(f(x, factor = 7))
  expect_equal(c(as_array(jit(gradient(g))(x3)$x)), c(-7, 3.5, 14))
  expect_equal(c(as_array(jit(gradient(function(x) value_and_gradient(g)(x)$value))(x3)$x)), c(-7, 3.5, 14))
  expect_equal(c(as_array(jit(gradient(function(x) sum(gradient(g)(x)$x)))(x3)$x)), c(7, 7, 7))
  expect_equal(c(as_array(jit(gradient(function(x) sum(vectorize(f)(x, factor = 7))))(x3)$x)), c(-7, 3.5, 14))
  expect_equal(c(as_array(jit(jvp(gradient(g)))(list(x3), list(x3))$tangent$x)), 7 * c(-1, 0.5, 2))
  lost <- function(x) {
    q <- AnvilPrimitive("test_lost")
    q[["forward"]] <- function(operand) operand * x
    q[["backward"]] <- function(inputs, outputs, grads, .required) list(grads[[1L]])
    sum(register_primitive("test_lost", q, overwrite = TRUE)(x))
  }
  expect_error(jit(gradient(lost))(x3), "derivative would be lost", class = "anvil_error_gradient")
})

test_that("Jacobians take the mode that a rule has", {
  # a fixed point, whose rule goes on until nothing changes: not linear in the gradients
  g <- function(a, x) 0.5 * tanh(a * x) + a
  fixed_point <- nv_custom_gradient(
    function(a) nv_fori(1L, 60L, a, function(i, x) g(a, x)),
    function(inputs, outputs, grads) {
      back <- vjp(g)
      u <- nv_while(list(u = grads, change = nv_scalar(1, "f64")), function(u, change) change > 1e-14, function(u, change) {
        new <- grads + back(list(inputs$a, outputs), u)$cotangents$x
        list(u = new, change = nv_reduce_max(abs(new - u)))
      })$u
      list(back(list(inputs$a, outputs), u)$cotangents$a)
    }
  )
  f <- function(a) sum(fixed_point(a)^2)
  plain <- function(a) sum(nv_fori(1L, 60L, a, function(i, x) g(a, x))^2)
  a <- f64(c(0.3, 0.6))
  expected <- as_array(hessian(plain)(a)$a$a)
  expect_equal(as_array(hessian(f)(a)$a$a), expected, tolerance = 1e-10)
  expect_equal(as_array(jit(hessian(f))(a)$a$a), expected, tolerance = 1e-10)
  expect_error(hvp(f)(list(a), list(a)), "no forward derivative", class = "anvil_error_gradient")
})
