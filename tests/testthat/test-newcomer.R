# What somebody meets who does not know the package yet: the messages name the argument and say
# what to do.

x <- nv_tensor(c(1, 2, 3))
m <- nv_tensor(matrix(1:6, 2), "f32")
n <- nv_scalar(3L)
f <- jit(function(x, n) x * n)
one <- function(body) jit(function(n) nv_while(list(i = 0L), function(i) i < n, body))(n)

test_that("making tensors", {
  expect_snapshot(error = TRUE, {
    nv_tensor("a")
    nv_tensor(factor("a"))
    nv_tensor(iris)
    nv_tensor(list(1, 2))
    nv_tensor(NULL)
    nv_tensor(1:6, shape = c(2, 2))
    nv_tensor(1:3, dtype = "double")
    nv_tensor(1:3, dtype = "f8")
    nv_scalar(1:3)
    nv_scalar(x)
    nv_matrix(x, 3)
    nv_fill(1, c(1e10, 1e10))
    jit(function(x) nv_tensor(x))(x)
    x$shape
  })
})

test_that("operators", {
  expect_snapshot(error = TRUE, {
    x + c(1, 2, 3)
    nv_tensor(1:4) + nv_tensor(1:2)
    x + "a"
    m %*% m
    m %*% x
    m %*% c(1, 2, 3)
    x & x
    sum(m, dims = 3)
    sum(m, axis = 1)
    mean(m, 3)
    nv_concatenate(x, m)
    nv_ifelse(x, 1, 0)
  })
})

test_that("what is misspelt, or an argument of R's own method, does not pass in silence", {
  expect_snapshot(error = TRUE, {
    mean(m, axis = 1)
    range(m, dims = 1)
    nv_concatenate(x, x, dim = 1)
    chol(m, pivot = TRUE)
    round(x, "a")
    log(x, "a")
    rbind(x, "a")
    nv_concatenate(list(x, x))
    head(x)
    nv_sort(n)
    nv_runif(3, nv_rng_state(1), upper = NA)
    nv_rng_state(nv_scalar(1))
  })
})

test_that("indices", {
  expect_snapshot(error = TRUE, {
    x[4]
    x[0]
    x[x > 1]
    x["a"]
    m[1, 2, 3]
    x[4] <- 1
    x[1:2] <- x
  })
})

test_that("compiled functions", {
  expect_snapshot(error = TRUE, {
    f(x, 2)
    f(x, "a")
    jit(function(x, op) if (op == "add") x + x else x)(x, "add")
    jit(function(x) x, static = "y")
    jit(function(x) if (sum(x) > 1) x else -x)(x)
    jit(function(x) sum(x) > 1 && TRUE)(x)
    jit(function(x) as.numeric(x))(x)
    jit(function(n) nv_fill(1, n))(n)
    jit(function(x, n) nv_reshape(x, c(n, 1)))(x, n)
    jit(function(x, n) x[1:n])(x, n)
    jit(function(n) seq_len(n))(n)
    jit(function(x) "a")(x)
    trace_fn(function(x) x, list(y = x))
    trace_fn(function(x) x, list(x, x))
  })
})

test_that("gradients", {
  expect_snapshot(error = TRUE, {
    gradient(function(x) x * 2)(x)
    gradient(function(x) sum(x))(c(1, 2))
    gradient(function(x) sum(x))(nv_tensor(1:3))
    gradient(function(x) sum(x), wrt = "y")
  })
})

test_that("loops and branches", {
  expect_snapshot(error = TRUE, {
    one(function(i) list(i = i + 0.5))
    one(function(i) list(j = i + 1L))
    one(function(i) i + 1L)
    one(function(i) list(i = nv_broadcast_to(i, 2)))
    one(function(j) list(i = j))
    one(function(i) "a")
    nv_while(list(i = 0L), function(i) i < 3L, function(i) list(i = "a"))
    nv_while(list(i = NA), function(i) i, function(i) list(i = i))
    nv_while(list(0L), function(i) i < 3L, function(i) list(i + 1L))
    nv_if(x > 0, x, -x)
    jit(function(x) nv_if(sum(x) > 0, x, sum(x)))(x)
  })
})

test_that("fits, samplers and loops", {
  y <- nv_tensor(c(1, 2))
  expect_snapshot(error = TRUE, {
    nv_minimize(c(1, 1), function(p) sum(p^2))
    nv_minimize(function(p) sum(p^2), c(1, 1), hessian = TRUE)
    nv_minimize(function(p) p["a"]^2, c(a = 1))
    nv_nuts(function(p) -sum(p^2), c(0, 1), iter = 100)
    nv_rnorm(3, 0, 1)
    nv_rnorm(3, 1)
    nv_rpois(3, 2)
    gradient(sum(x^2))
    nv_fori(1, 3, 0, function(x) x + 1)
    nv_scan(0, x, function(x) list(carry = x))
    nv_map(x, function(x) c(1, 2))
    m %*% t(m) + y
    m + y
  })
  expect_identical(shape(nv_sample(1:3, 2)), 2L)
})

test_that("R's functions that do not know traced tensors", {
  expect_snapshot(error = TRUE, {
    jit(function(x) {
      y <- numeric(3)
      y[1] <- sum(x)
      y
    })(x)
    jit(function(x) {
      cat(x)
      x
    })(x)
    jit(function(x) nchar(x))(x)
    jit(function(x) vapply(1:3, function(i) x[i], 1))(x)
    jit(function(x) seq(0, sum(x)))(x)
    jit(function(x) sum(x) > 1 && TRUE)(x)
  })
})

test_that("sparse tensors", {
  a <- nv_sparse(c(1, 2), i = c(1, 2), j = c(2, 1))
  expect_snapshot(error = TRUE, {
    a[1, 2]
    a[1, 2] <- 1
    mean(a)
    solve(a, x)
    determinant(a)
  })
})

test_that("a function that only waits for its argument is not blamed for it", {
  x <- nv_tensor(c(1, 2, 3))
  message_of <- function(expr) conditionMessage(tryCatch(expr, error = identity))
  at_work <- function(f) message_of(jit(f)(x))
  sum_of <- in_session(quote(function(x) sum(as.numeric(x))), list())
  expect_match(at_work(sum_of), "there is `nv_convert\\(\\)`")
  expect_no_match(at_work(sum_of), "sum")
  expect_match(at_work(in_session(quote(function(x) sum(x[seq(1, x[1])])), list())), "nv_seq")
  expect_no_match(message_of(cat(as_array(unique(x)))), "cat")
  expect_match(at_work(function(x) array(x, c(3, 1))), "`array\\(\\)` of R wants them") # which asks for them itself
})

test_that("a list of tensors is no vector, which functions of R say in a trace", {
  x <- nv_tensor(c(1, 2, 3))
  squares <- function(x) sapply(1:3, function(i) x[i]^2)
  refused <- function(f) expect_error(jit(function(x) f(squares(x)))(x), "does not take a list", class = "anvil_error_trace")
  for (f in list(base::mean, base::sum, base::max, base::sort, base::cumsum, stats::median, base::which.max)) refused(f)
  expect_equal(as.numeric(jit(function(x) mean(do.call(c, squares(x))))(x)), 14 / 3, tolerance = 1e-6)
  # R's own lists are R's business
  expect_warning(jit(function(x) {
    mean(list(1, 2))
    x
  })(x), "returning NA")
})
