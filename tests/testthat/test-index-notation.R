# Formulas with indices against loops over R's arrays, at once and compiled, with derivatives and in batches.

value_of_case <- function(case, data = lapply(case$data, f64), size = case$size) nv_index(case$formula, data, size, case$border)
label_of <- function(seed, case) {
  size <- paste(names(case$size), case$size, collapse = " ")
  sprintf("%d [%s, border %s] %s", seed, size, format(case$border), text_of(case$formula))
}
cases <- function(seeds, f) for (seed in seeds) with(list(case = random_formula(seed)), f(case, label_of(seed, case)))

test_that("random formulas give what loops give", {
  cases(1:300, function(case, label) {
    expected <- naive_index(case$formula, case$data, case$size, case$border)
    at_once <- value_of_case(case)
    compiled <- jit(function(data) value_of_case(case, data))(lapply(case$data, f64))
    for (got in list(at_once, compiled)) {
      if (length(case$formula[[2L]]) > 1L) expect_identical(shape(got), dim(expected), info = label)
      tolerance <- if (length(case$data)) 1e-10 else 1e-5 # of indices alone, in the default dtype
      expect_true(all(close_elements(as_array(got), expected, tolerance, tolerance)), info = label)
    }
  })
})

test_that("sizes that reads tell need not be given", {
  alone <- function(case) {
    found <- character()
    walk <- function(e) {
      if (!is.call(e)) return()
      if (identical(e[[1L]], quote(`[`))) found <<- c(found, as.character(Filter(is.name, as.list(e)[-(1:2)])))
      lapply(as.list(e), walk)
    }
    walk(case$formula[[3L]])
    intersect(names(case$size), found)
  }
  cases(301:400, function(case, label) {
    expected <- value_of_case(case)
    expect_identical(as_array(value_of_case(case, size = case$size[setdiff(names(case$size), alone(case))])), as_array(expected), info = label)
  })
})

test_that("derivatives of random formulas agree with differences", {
  cases(401:440, function(case, label) {
    if (!length(case$data)) return()
    loss <- function(data) sum(sin(value_of_case(case, data)))
    data <- lapply(case$data, f64)
    slopes <- jit(gradient(loss))(data)$data
    direction <- withr::with_seed(1, lapply(case$data, function(x) array(stats::runif(length(x), -1, 1), dim(x))))
    at <- function(h) flat(loss(Map(function(x, v) f64(x + h * v), case$data, direction)))
    expected <- (at(1e-5) - at(-1e-5)) / 2e-5
    along <- sum(unlist(Map(function(g, v) sum(as_array(g) * v), slopes, direction)))
    expect_true(close_elements(along, expected, 1e-5, 1e-6), info = label)
    forward <- jvp(loss)(list(data = data), list(data = lapply(direction, f64)))
    expect_true(close_elements(flat(forward$tangent), along, 1e-9, 1e-9), info = label)
  })
})

test_that("random formulas are vectorized", {
  cases(441:480, function(case, label) {
    if (!length(case$data)) return()
    stacks <- lapply(case$data, function(x) array(c(x, -x, x / 2), c(dim(x), 3L)))
    part <- function(x, k) array(x[seq_len(length(x) / 3L) + (k - 1L) * length(x) / 3L], dim(x)[-length(dim(x))])
    each <- lapply(1:3, function(k) flat(value_of_case(case, lapply(stacks, function(x) f64(part(x, k))))))
    together <- jit(vectorize(function(data) value_of_case(case, data), axis = -1L))(lapply(stacks, f64))
    expect_true(all(close_elements(as_array(together), unlist(each), 1e-10, 1e-10)), info = label)
  })
})

# --- meaning -------------------------------------------------------------------------------------

a <- matrix(c(1, 5, 2, 4, 3, 6), 2)
b <- matrix(c(2, 0, 1, 3, 1, 4), 3)

test_that("the usual products, reductions and rearrangements", {
  expect_equal(both(function(a, b) nv_index(c[i, j] ~ sum(a[i, k] * b[k, j])), f64(a), f64(b)), a %*% b)
  expect_equal(value(nv_index(c[i, j] ~ sum(a[k, i] * a[k, j]))), crossprod(a), tolerance = 1e-6)
  expect_equal(both(function(a) nv_index(y[j, i] ~ a[i, j]), f64(a)), t(a))
  expect_equal(flat(nv_index(y[i] ~ m[i, i], list(m = a %*% b))), diag(a %*% b), tolerance = 1e-6)
  expect_equal(flat(nv_index(s ~ sum(m[i, i]), list(m = f64(a %*% b)))), sum(diag(a %*% b)))
  expect_equal(both(function(a, b) nv_index(c[i, j, k, l] ~ a[i, j] * b[k, l]), f64(a), f64(b)), outer(a, b))
  expect_equal(both(function(a) nv_index(p[i, j] ~ exp(a[i, j]) / sum(exp(a[i, l]))), f64(a)), exp(a) / rowSums(exp(a)))
  expect_equal(both(function(a) nv_index(y[i] ~ log(sum(exp(a[i, k] - max(a[i, l]))))), f64(a)), array(log(rowSums(exp(a - apply(a, 1, max))))))
  expect_equal(flat(nv_index(y[i] ~ sum(ifelse(k <= i, x[k], 0)), list(x = f64(1:5)), c(i = 5))), cumsum(1:5))
  expect_identical(flat(nv_index(y[i] ~ any(a[i, k] > 4), list(a = f64(a)))), c(FALSE, TRUE))
  expect_equal(flat(nv_index(s ~ max(sum(a[i, k], over = "k")), list(a = f64(a)))), max(rowSums(a)))
  expect_equal(flat(nv_index(s ~ sum(a[i, k], 0.1, over = c("i", "k")), list(a = f64(a)))), sum(a) + 0.1)
})

test_that("code without indices is R's, and other functions get single elements", {
  x <- f64(c(3, 1, 2))
  n <- 3L
  ranks <- c(10, 20, 30)
  table <- f64(ranks)
  look_up <- function(table, at) table[nv_convert(at, "i32")]
  expect_equal(flat(nv_index(y[i] ~ x[i] / sum(x))), c(3, 1, 2) / 6)
  expect_equal(flat(nv_index(y[i] ~ x[n + 1 - i])), c(2, 1, 3))
  expect_equal(flat(nv_index(y[i] ~ x[i] * x[n])), c(6, 2, 4))
  expect_equal(flat(nv_index(s ~ sum(a[i, (n)]), list(a = f64(a)))), sum(a[, 3]))
  expect_equal(flat(nv_index(y[i] ~ list(p = x)$p[i] + nv_min(i, 2))), c(4, 3, 4))
  expect_equal(flat(nv_index(y[i] ~ look_up(table, x[i]))), expected <- ranks[c(3, 1, 2)])
  expect_equal(flat(jit(function(x) nv_index(y[i] ~ look_up(table, x[i])))(x)), expected)
  below <- function(v, all) nv_reduce_sum(nv_convert(nv_lt(all, v), "f64"))
  expect_equal(flat(nv_index(y[i] ~ below(x[i], x))), c(2, 0, 1))
})

test_that("dtypes are those of whole tensors, and no digits are lost", {
  i8 <- nv_tensor(c(100L, 100L), dtype = "i8")
  expect_identical(as.character(dtype(nv_index(y[i] ~ i8[i] * i))), "i32")
  expect_identical(flat(nv_index(y[i] ~ i8[i] * i)), c(100L, 200L))
  x <- f64(c(1, 1, 1))
  expect_identical(flat(nv_index(y[i] ~ x[i] * (i / 3))), (1:3) / 3)
  expect_identical(flat(nv_index(s ~ sum(0.1 * x[i]))), sum(x_r <- 0.1 * c(1, 1, 1)) -> s)
  expect_identical(flat(nv_index(y[i] ~ max(x[i], 0.1))), c(1, 1, 1))
  expect_identical(flat(nv_index(y[i] ~ min(x[i], 0.1))), c(0.1, 0.1, 0.1))
  flags <- nv_tensor(c(TRUE, FALSE, TRUE))
  expect_identical(flat(nv_index(s ~ sum(flags[i]))), 2L)
  expect_identical(flat(nv_index(s ~ sum(flags[i] * flags[i]))), 2L)
  expect_equal(flat(nv_index(s ~ mean(flags[i] * flags[i]))), 2 / 3, tolerance = 1e-6)
  expect_equal(flat(nv_index(s ~ sum(n[i] * n[i] * 0.5), list(n = nv_tensor(c(100000L, 1L))))), (1e10 + 1) / 2, tolerance = 1e-6)
  empty <- f64(numeric())
  expect_identical(flat(nv_index(s ~ sum(empty[i] * empty[i]))), 0)
  expect_identical(shape(nv_index(y[i, j] ~ empty[i] + x[j])), c(0L, 3L))
})

test_that("convolutions are one call, in steps, with gaps, backwards and with borders", {
  calls <- function(f, ...) unlist(lapply(trace_fn(f, list(...))$calls, function(call) call$primitive$name))
  x <- nv_aten("f32", c(9L, 8L, 2L))
  w <- nv_aten("f32", c(3L, 2L, 2L, 4L))
  steps <- function(x, w) nv_index(y[i, j, o] ~ sum(x[2 * i + 3 * d - 4, j - e + 2, c] * w[d, e, c, o]))
  expect_identical(calls(steps, x = x, w = w), c("reshape", "convolution", "reshape"))
  padded <- function(x, w) nv_index(y[i] ~ sum(x[i + d - 2] * w[d]), size = c(i = 9), border = "zero")
  expect_identical(calls(padded, x = nv_aten("f32", 9L), w = nv_aten("f32", 3L)), c("reshape", "reshape", "convolution", "reshape"))
  # groups are products of windows
  depthwise <- function(x, w) nv_index(y[i, c] ~ sum(x[i + d - 1, c] * w[d, c]))
  expect_identical(calls(depthwise, x = nv_aten("f32", c(9L, 2L)), w = nv_aten("f32", c(3L, 2L))), c("windows", "dot_general", "transpose"))
})

test_that("a product of several factors is contracted in the cheapest order, factors without the sum's index outside of it", {
  sizes_of_products <- function(f, ...) {
    found <- Filter(function(call) call$primitive$name == "dot_general", trace_fn(f, list(...))$calls)
    lapply(found, function(call) shape(call$outputs[[1L]]))
  }
  chain <- function(a, b, x) nv_index(y[i] ~ 2 * sum(a[i, k] * b[k, l] * x[l]))
  expect_identical(sizes_of_products(chain, a = nv_aten("f32", c(5L, 6L)), b = nv_aten("f32", c(6L, 7L)), x = nv_aten("f32", 7L)), list(6L, 5L))
  scaled <- function(u, a, b) nv_index(y[i, j] ~ sum(u[i] * a[i, k] * b[k, j]))
  expect_identical(sizes_of_products(scaled, u = nv_aten("f32", 5L), a = nv_aten("f32", c(5L, 6L)), b = nv_aten("f32", c(6L, 7L))), list(c(5L, 7L)))
})

test_that("what is no product is one nest of loops that stores nothing in between", {
  skip_if(built_without_llvm())
  distances <- function(x, y) nv_index(d[i, j] ~ sqrt(sum((x[i, k] - y[j, k])^2)))
  text <- capture.output(nv_inspect(distances, "loops", nv_aten("f32", c(50L, 6L)), nv_aten("f32", c(40L, 6L))))
  expect_false(any(grepl("^ *(alloc|t[0-9]+: )", text)))
})

test_that("captured formulas and data are found where they were written", {
  make <- function() {
    hidden <- f64(1:3)
    y[i] ~ hidden[i] * 2
  }
  expect_equal(flat(nv_index(make())), c(2, 4, 6))
  expect_equal(flat(nv_index(make(), list(hidden = f64(1)))), 2)
})

# --- what is wrong -----------------------------------------------------------------------------------

test_that("errors name the term", {
  a <- f64(matrix(1:6, 2))
  v <- f64(1:3)
  n <- 2.5
  m <- nv_scalar(2L)
  expect_snapshot(error = TRUE, {
    nv_index(~ a[i, j])
    nv_index(c[i, i] ~ a[i, i])
    nv_index(c[i, ] ~ a[i, 1])
    nv_index(y[i] ~ missing_one[i])
    nv_index(y[i] ~ v[i] + missing_one)
    nv_index(y[i] ~ v)
    nv_index(y[i] ~ v[i] + a)
    nv_index(y[i] ~ a[i])
    nv_index(y[i] ~ a[i, ])
    nv_index(y[i] ~ v[i * i])
    nv_index(y[i] ~ v[i^2])
    nv_index(y[i] ~ v[i + n])
    nv_index(y[i] ~ v[i + m])
    nv_index(y[i] ~ v[i - i + 1])
    nv_index(y[i] ~ v[v[i]])
    nv_index(y[i] ~ sum(v[k]) * v[k])
    nv_index(y[i] ~ sum(v[i]))
    nv_index(y[i] ~ sum(v[k] * max(v[k])))
    nv_index(y[i] ~ sum(v[i], over = "i"))
    nv_index(y[i] ~ v[i] + sum(v[2 * k]))
    nv_index(y[i] ~ sum(v[k], na.rm = TRUE))
    nv_index(y[i, j] ~ v[i])
    nv_index(c[i, j] ~ a[i, j] * a[j, i])
    nv_index(y[i] ~ v[i] - v[i + 1])
    nv_index(y[i] ~ v[i] * v[4])
    nv_index(y[i] ~ v[i + 3])
    nv_index(y[i] ~ v[i - 1], size = c(i = 3))
    nv_index(y[i] ~ v[i], size = c(i = 4))
    nv_index(y[i] ~ v[i], size = c(k = 4))
    nv_index(y[i] ~ v[i], size = 3)
    nv_index(y[i] ~ v[i], border = "mirror")
    nv_index(y[i] ~ v[i], data = list(1))
    nv_index(y[i] ~ if (v[i] > 1) 1 else 2)
    nv_index(y[i] ~ no_function(v[i]))
    nv_index(y[i] ~ nv_concatenate(v[i], v[i]))
    nv_index(y[i] ~ list(v[i]))
    nv_index(y[i] ~ -(v[i] & v[i]))
  })
})

test_that("nv_einsum() takes all forms", {
  withr::local_seed(1)
  draw <- function(...) array(stats::runif(prod(...)), c(...))
  x <- draw(3, 4)
  y <- draw(4, 5)
  s <- draw(2, 3, 4)
  expect_equal(both(function(x, y) nv_einsum("ij,jk->ik", x, y), f64(x), f64(y)), x %*% y)
  expect_equal(value(nv_einsum("ij, jk", f64(x), f64(y))), x %*% y)
  expect_equal(value(nv_einsum("ba", f64(x))), t(x))
  expect_equal(value(nv_einsum("ij->", f64(x))), sum(x))
  expect_equal(flat(nv_einsum("ii->i", f64(x[, 1:3]))), diag(x[, 1:3]))
  expect_equal(flat(nv_einsum("ii", f64(x[, 1:3]))), sum(diag(x[, 1:3])))
  expect_equal(value(nv_einsum("i,j,k->kji", f64(1:2), f64(3:5), f64(6:7))), outer(6:7, outer(3:5, 1:2)))
  stack <- vapply(1:2, function(k) s[k, , ] %*% y, y[1:3, ])
  expect_equal(value(nv_einsum("...ij,jk->...ik", f64(s), f64(y))), aperm(stack, c(3, 1, 2)))
  expect_equal(value(nv_einsum("...,...", f64(s), f64(s[1, , , drop = FALSE]))), s * s[c(1, 1), , ])
  expect_equal(value(nv_einsum("ij,jk,kl->il", f64(x), f64(y), f64(t(y)))), x %*% y %*% t(y))
  expect_identical(flat(nv_einsum("i->", nv_tensor(c(TRUE, TRUE)))), 2L)
  expect_snapshot(error = TRUE, {
    nv_einsum("ij,jk->ik", x)
    nv_einsum("ij->ik", x)
    nv_einsum("ij->ii", x)
    nv_einsum("i1->i", x)
    nv_einsum("i->j->k", x)
    nv_einsum("ijk", x)
    nv_einsum("ij,jk", x, x)
    nv_einsum(1, x)
  })
})

test_that("nv_einsum() says that the specification comes first", {
  expect_error(nv_einsum(nv_tensor(1:3), "i"), "`spec` comes first", class = "anvil_error_argument")
})
