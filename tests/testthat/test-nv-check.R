# Rules that are wrong, one row each: what nv_check() is given, the comparison that must fail, and how the call at fault
# reads.
of <- function(f, ...) nv_custom_gradient(f, ...)
x3 <- nv_aten("f64", 3L)
m3 <- nv_aten("f64", c(3L, 3L))
primitive_of <- function(name, ...) {
  p <- AnvilPrimitive(name)
  rules <- list(...)
  for (rule in names(rules)) p[[rule]] <- rules[[rule]]
  register_primitive(name, p, overwrite = TRUE)
}
vjp_fails <- "vjp = differences"
jvp_fails <- "jvp = vjp"
batch_fails <- "batched = looped"
compiled_fails <- "compiled = debug mode"

wrong_rules <- function() {
  flipped <- of(function(x) exp(-x), function(outputs, grads) list(grads * outputs))
  halved <- of(function(x) x * x, function(inputs, grads) list(grads * inputs$x))
  along <- of(function(x) nv_reduce_sum(x, dims = 1L), function(grads) list(nv_transpose(nv_broadcast_to(grads, c(3L, 3L)))))
  product <- of(function(a, b) a %*% b, function(inputs, grads) list(grads %*% inputs$b, nv_transpose(inputs$a) %*% grads))
  shifted <- of(function(x, b) x + b, function(grads) list(grads, nv_mean(grads)))
  absolute <- of(function(x) abs(x), function(inputs, grads) list(grads * inputs$x / abs(inputs$x)))
  ramp <- of(function(x) nv_max(x, 0), function(inputs, grads) list(grads * nv_ifelse(inputs$x == 0, 3, nv_convert(inputs$x > 0, "f64"))))
  times <- of(function(x, y) x * y, function(inputs, grads) list(grads * inputs$y))
  swapped <- of(function(x, y) x / y, function(inputs, grads) list(-grads * inputs$x / inputs$y^2, grads / inputs$y))
  sine <- nv_custom_jvp(function(x) sin(x), function(inputs, tangents) -tangents$x * cos(inputs$x))
  tangent <- of(function(x) tanh(x), function(inputs, grads) list(grads * (1 - inputs$x^2)))
  cumulated <- of(function(x) nv_cumsum(x, 1L), function(grads) list(nv_cumsum(grads, 1L)))
  weights <- of(
    function(x) exp(x) / sum(exp(x)),
    function(outputs, grads) list(grads * outputs)
  )
  kept <- of(
    function(x) list(outputs = x * nv_logistic(x), residuals = x),
    function(grads, residuals) list(grads * residuals)
  )
  power <- of(function(x) abs(x)^3, function(inputs, grads) list(3 * grads * inputs$x^2))
  logdet <- of(function(a) sum(log(nv_extract_diag(nv_chol(a)))), function(inputs, grads) list(grads * nv_inv(inputs$a)))
  modal <- of(function(x) if (inherits(x, "GraphBox")) x * 2 else x * 3, function(grads) list(2 * grads))
  cube <- primitive_of("check_cube",
    forward = function(x) x^3, backward = function(inputs, outputs, grads, .required) list(3 * grads[[1L]] * inputs[[1L]]^2),
    jvp = function(inputs, outputs, tangents) list(2 * tangents[[1L]] * inputs[[1L]]^2)
  )
  centred <- primitive_of("check_centred",
    forward = function(x) x - nv_mean(x), batch = function(inputs, batched, size) list(inputs[[1L]] - nv_mean(inputs[[1L]]))
  )
  joined <- primitive_of("check_joined",
    forward = function(x, y) x * y,
    batch = function(inputs, batched, size) list(nv_broadcast_to(nv_reshape(inputs[[1L]], c(3L, 1L)), c(3L, size)) * inputs[[2L]])
  )
  augmented <- primitive_of("check_augmented",
    forward = function(x) exp(x), augment = function(inputs) list(outputs = exp(inputs[[1L]]) + 1, residuals = list(exp(inputs[[1L]]))),
    backward = function(inputs, outputs, grads, residuals, .required) list(grads[[1L]] * residuals[[1L]])
  )
  sized <- primitive_of("check_sized", forward = function(x) sum(x), backward = function(inputs, outputs, grads, .required) list(grads[[1L]]))
  list(
    `wrong sign` = list(\(x) sum(flipped(x + 1)), list(x3), vjp_fails, "flipped(x + 1)"),
    `missing factor` = list(\(x) sum(exp(halved(x))), list(x3), vjp_fails, "halved(x)"),
    `wrong axis` = list(\(x) along(sin(x)), list(m3), vjp_fails, "along(sin(x))"),
    transposed = list(\(a, b) product(a, tanh(b)), list(m3, m3), vjp_fails, "product(a, tanh(b))"),
    `forgotten sum` = list(\(x, b) shifted(x, b), list(x3, nv_aten("f64", c())), vjp_fails, "shifted(x, b)"),
    `not finite at a kink` = list(\(x) absolute(x) * 2, list(x3), vjp_fails, "absolute(x)"),
    `wrong at a kink` = list(\(x) sum(ramp(x)), list(x3), vjp_fails, "ramp(x)"),
    `missing term` = list(\(x, y) times(x, y + 1), list(x3, x3), vjp_fails, "times(x, y + 1)"),
    `operands swapped` = list(\(x, y) swapped(x, y), list(x3, x3), vjp_fails, "swapped(x, y)"),
    `wrong in forward mode` = list(\(x) sine(x), list(x3), vjp_fails, "sine(x)"),
    `input for output` = list(\(x) tangent(x), list(x3), vjp_fails, "tangent(x)"),
    `not reversed` = list(\(x) cumulated(x), list(x3), vjp_fails, "cumulated(x)"),
    `term of the sum` = list(\(x) weights(x), list(x3), vjp_fails, "weights(x)"),
    residuals = list(\(x) kept(x), list(x3), vjp_fails, "kept(x)"),
    `wrong for some inputs` = list(\(x) power(x), list(x3), vjp_fails, "power(x)"),
    `a matrix function` = list(\(a) logdet(a), list(nv_tensor(diag(3) + 1, dtype = "f64")), vjp_fails, "logdet(a)"),
    `other code in debug mode` = list(\(x) modal(x) + 1, list(x3), compiled_fails, "x * 3"),
    `jvp of a primitive` = list(\(x) cube(x), list(x3), jvp_fails, "cube(x)"),
    `batch over all examples` = list(\(x) centred(x), list(x3), batch_fails, "centred(x)"),
    `batch of the second operand alone` = list(\(x, y) joined(x, y), list(x3, x3), batch_fails, "joined(x, y)"),
    `value in a gradient` = list(\(x) augmented(x), list(x3), vjp_fails, "augmented(x)"),
    `another shape` = list(\(x) sized(x), list(x3), vjp_fails, "sized(x)"),
    `in a loop` = list(\(x) nv_while(list(x = x, i = 0L), \(x, i) i < 3L, \(x, i) list(x = halved(x) / 2, i = i + 1L))$x, list(x3), vjp_fails, "halved(x)"),
    `in a branch` = list(\(x) nv_if(sum(x) > -100, halved(x), x), list(x3), vjp_fails, "halved(x)"),
    `in a function with a rule` = list(\(x) nv_checkpoint(\(x) halved(x) * 3)(x), list(x3), vjp_fails, "halved(x)"),
    `in single precision` = list(\(x) sum(exp(halved(x))), list(nv_aten("f32", 3L)), vjp_fails, "halved(x)"),
    `in half precision` = list(\(x) flipped(x), list(nv_aten("f16", 3L)), vjp_fails, "flipped(x)")
  )
}

test_that("each wrong rule is found, and its call", {
  for (name in names(rules <- wrong_rules())) {
    rule <- rules[[name]]
    found <- do.call(nv_check, c(list(rule[[1L]]), rule[[2L]]))
    failed <- found[found$status == "failed", ]
    expect_true(rule[[3L]] %in% failed$check, label = paste0(name, ": ", rule[[3L]], " fails"))
    expect_match(failed$call[failed$check == rule[[3L]]], paste0("`", rule[[4L]], "`"), fixed = TRUE, label = name)
  }
})

# Functions that are right, and what they are checked on.
right_functions <- function() {
  m <- nv_tensor(matrix(c(2, 0.5, 0.3, 0.5, 1.5, -0.2, 0.3, -0.2, 1), 3L), "f64")
  v <- nv_tensor(c(0.5, 1, 2), "f64")
  x <- nv_tensor(matrix(c(1, 1, 1, 1, -0.4, 0.3, 1.1, -1.6), 4L), "f64")
  y <- nv_tensor(matrix(c(0, 1, 1, 0)), "f64")
  clipped <- nv_custom_gradient(function(x) log(1 + exp(-abs(x))) + nv_max(x, 0), function(inputs, grads) list(grads * nv_logistic(inputs$x)))
  root <- nv_custom_gradient(function(a) {
    nv_while(list(x = a, i = 0L), \(x, i) i < 30L, \(x, i) list(x = (x + a / x) / 2, i = i + 1L))$x
  }, function(outputs, grads) list(a = grads / (2 * outputs)))
  cube <- primitive_of("check_right_cube",
    forward = function(x) x^3, backward = function(inputs, outputs, grads, .required) list(3 * grads[[1L]] * inputs[[1L]]^2),
    jvp = function(inputs, outputs, tangents) list(3 * tangents[[1L]] * inputs[[1L]]^2), batch = function(inputs, batched, size) list(inputs[[1L]]^3)
  )
  list(
    `likelihood of a GLM` = list(\(b, x, y) sum(y * (x %*% b) - nv_log1p(exp(x %*% b))), nv_aten("f64", c(2L, 1L)), x, y),
    `counts, with a log link` = list(\(b, x, y) sum(nv_convert(y, "f64") * (x %*% b) - exp(x %*% b)), nv_aten("f64", c(2L, 1L)), x, nv_tensor(matrix(c(0L, 2L, 1L, 5L)))),
    softmax = list(\(x) { e <- exp(x - nv_reduce_max(x)); e / sum(e) }, x3),
    `softmax in f32` = list(\(x) { e <- exp(x - nv_reduce_max(x)); e / sum(e) }, nv_aten("f32", 8L)),
    `in f16` = list(\(x) tanh(x) * 2, nv_aten("f16", 4L)),
    `a while loop` = list(\(x) nv_while(list(x = x, i = 0L), \(x, i) i < 4L, \(x, i) list(x = sin(x) + x / 2, i = i + 1L))$x, x3),
    `a loop as long as the values say` = list(\(x) nv_while(list(x = x), \(x) sum(x * x) > 1, \(x) list(x = x / 2))$x, x3),
    `a branch` = list(\(x) nv_if(sum(x) > 0, sin(x), x^2), x3),
    `a scan` = list(\(x) nv_scan(nv_scalar(1, "f64"), x, \(carry, x) list(carry = carry * 0.5 + x, out = carry * x)), nv_aten("f64", 5L)),
    `a sort` = list(\(x) nv_sort(x) * nv_tensor(c(1, -2, 3), "f64"), x3),
    `an order` = list(\(x) nv_argsort(x), x3),
    cholesky = list(\(a, v) { l <- nv_chol(a); sum(log(nv_extract_diag(l))) + sum(nv_solve(a, nv_unsqueeze(v, 2L))^2) }, m, v),
    eigenvalues = list(\(a) nv_eigh(a)$values, m),
    `a log determinant` = list(\(a) nv_slogdet(a)[[2L]], nv_aten("f64", c(3L, 3L))),
    `absolute values and maxima` = list(\(x, y) nv_max(abs(x), y) - nv_reduce_max(x), x3, x3),
    `kinks that cancel` = list(\(x) sum(nv_max(x, 0) - nv_max(-x, 0)), x3),
    `a rule of one's own` = list(\(x) sum(clipped(x)), x3),
    `the derivative of an equation` = list(\(a) root(a), v),
    `a primitive of one's own` = list(\(x) cube(x) + 1, x3),
    `integers and flags` = list(\(i, b) nv_ifelse(b, i * 2L, i %/% 2L), nv_aten("i32", 4L), nv_aten("bool", 4L)),
    indices = list(\(x, i) nvl_select(nv_convert(i > 1L, "bool"), x, -x), x3, nv_tensor(c(1L, 3L, 2L))),
    `sums that cancel` = list(\(x) (x + 1e8) - 1e8, x3),
    steps = list(\(x) floor(x) + sign(x), x3),
    `nested lists` = list(\(p) list(a = p$w %*% nv_unsqueeze(p$b$v, 2L), b = sum(p$w)), list(w = nv_aten("f64", c(2L, 3L)), b = list(v = nv_aten("f64", 3L)))),
    `many elements` = list(\(x) sum(nv_max(x, 0) * 2), nv_aten("f64", 1000L)),
    `a jitted function that is given its argument` = list(jit(function(x) x * 2, donate = "x"), x3),
    `a jitted function of parameters` = list(jit(function(x, k) x^k, static = "k"), x3, 2L),
    `nothing in it` = list(\(x) x * 2, nv_aten("f64", 0L))
  )
}

test_that("what is right passes", {
  for (name in names(functions <- right_functions())) {
    for (seed in 1:2) {
      found <- do.call(nv_check, c(functions[[name]], seed = seed))
      expect_false(any(found$status == "failed"), label = paste(c(name, format(found)), collapse = "\n"))
      expect_true("passed" %in% found$status, label = name)
    }
  }
})

test_that("random programs pass", {
  for (seed in 1:15) {
    program <- random_program(seed)
    constant <- function(sizes) nv_tensor(constant_values(sizes), program$dtype)
    f <- eval(parse(text = program_text(program), keep.source = FALSE), list2env(list(constant = constant), parent = asNamespace("anvil")))
    do.call(expect_nv_check, c(list(f), lapply(program$shapes[c("x", "v", "a")], function(sizes) nv_aten(program$dtype, sizes)), n = 3L))
  }
})

test_that("what cannot be checked is said, and is no failure", {
  status <- function(...) stats::setNames(nv_check(..., n = 3L)$status, c("compiled", "vjp", "jvp", "batch"))
  none <- "nothing to check"
  expect_identical(status(\(i) i + 1L, nv_aten("i32", 3L)), c(compiled = "passed", vjp = none, jvp = none, batch = "passed"))
  expect_identical(status(\(x) x > 0, x3), c(compiled = "passed", vjp = none, jvp = none, batch = "passed"))
  second <- nv_check(\(a) gradient(\(a) sum(nv_igamma(a, 2)))(a)$a, nv_tensor(c(1, 2), "f64"), n = 3L)
  expect_identical(second$status[2:3], rep("not supported", 2L))
  expect_match(second$reason[2:3], "no second derivatives")
  expect_identical(status(\(x) sqrt(x), nv_tensor(-1, "f64"))[["vjp"]], "undecided")
  expect_error(nv_check(\(x) x, 3), "nothing to draw", class = "anvil_error_argument")
  expect_error(nv_check(\(x) stop("here"), x3), "here")
})

test_that("the session's random numbers and options stay, and the same seed draws the same", {
  set.seed(3)
  before <- .Random.seed
  withr::local_options(anvil.check_nan = TRUE)
  one <- nv_check(\(x) sqrt(x), x3, n = 4L)
  expect_identical(.Random.seed, before)
  expect_true(getOption("anvil.check_nan"))
  expect_null(getOption("anvil.observe"))
  expect_identical(nv_check(\(x) sqrt(x), x3, n = 4L), one)
})

test_that("draws near an example keep what it is", {
  spd <- crossprod(matrix(c(1, 2, 0.5, -1, 0.3, 1, 2, 1, -1), 3L))
  drawn <- function(x, dtype = "f64") with_draws(1L, lapply(1:12, function(k) as_array(draw_input(input_template(nv_tensor(x, dtype)), k))))
  for (m in drawn(spd)) {
    expect_identical(m, t(m))
    expect_gt(min(eigen(m)$values), 0)
  }
  expect_identical(drawn(spd)[[1L]], spd)
  for (p in drawn(c(0, 0.2, 0.9, 1))) expect_true(all(p >= 0 & p <= 1))
  for (x in drawn(c(-2, 0, 3))[-c(2L, 7L, 12L)]) expect_identical(sign(c(x)), c(-1, 0, 1))
  for (i in drawn(c(2L, 5L), "i32")) expect_true(all(i %in% c(2L, 5L)))
  expect_setequal(unlist(drawn(c(TRUE, TRUE), "bool")), TRUE)
})

test_that("primitives are checked on operands of their own", {
  for (name in c("mul", "exp", "clamp", "svd")) {
    expect_nv_check(prim(name), n = 5L)
  }
  expect_nv_check(prim("chol"), nv_tensor(diag(2) + 1, dtype = "f64"), n = 5L)
  expect_true(all(check_primitive(prim("reduce_max"), dims = 1L, n = 5L)$status == "passed"))
  text <- primitive_of("check_text", forward = function(x) x * 2, stablehlo = function(x) x * 3)
  found <- check_primitive(prim("check_text"), n = 3L)
  expect_identical(found$status, c(rep("passed", 4L), "failed"))
  swish <- nv_custom_gradient(
    function(x) list(outputs = x * nv_logistic(x), residuals = nv_logistic(x)),
    function(outputs, grads, residuals) list(grads * (residuals + outputs * (1 - residuals)))
  )
  expect_true(all(check_primitive(swish)$status == "passed"))
  expect_error(check_primitive(AnvilPrimitive("check_nobody")), "not registered", class = "anvil_error_argument")
  expect_error(check_primitive(prim("sort")), "No operands", class = "anvil_error_argument")
})

test_that("what is no derivative on purpose is named, too", {
  found <- nv_check(\(x) x * nv_stop_gradient(x), x3, n = 3L)
  expect_match(found$call[2L], "nv_stop_gradient(x)", fixed = TRUE)
})

test_that("an expectation fails with the table", {
  halved <- nv_custom_gradient(function(x) x * x, function(inputs, grads) list(grads * inputs$x))
  expect_failure(expect_nv_check(halved, x3), "vjp gives")
  expect_success(expect_nv_check(\(x) x * 2, x3, n = 2L))
})

test_that("the table prints", {
  local_reproducible_output()
  halved <- nv_custom_gradient(function(x) x * x, function(inputs, grads) list(grads * inputs$x))
  table <- nv_check(\(x, i) exp(halved(x)) * nv_convert(i, "f64"), x3, nv_aten("i32", 3L), n = 5L)
  table$apart <- 0
  table$reason <- sub("gives .*", "...", table$reason)
  table$call <- sub(" at .*", "", table$call)
  expect_snapshot(table)
  expect_s3_class(table[1:2, ], "data.frame")
  expect_output(print(table[1:2, ]), "compiled = debug mode")
})
