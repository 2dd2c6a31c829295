m <- matrix(1:12, 3)
x <- nv_tensor(m)
a <- array(1:60, 3:5)

test_that("single numbers drop, ranges and vectors keep", {
  expect_equal(both(function(x) x[2, ], x), array(m[2, ]))
  expect_equal(both(function(x) x[2, 3], x), m[2, 3])
  expect_equal(both(function(x) x[1:2, ], x), m[1:2, ])
  expect_equal(both(function(x) x[2:2, ], x), m[2, , drop = FALSE])
  expect_equal(both(function(x) x[3:1, ], x), m[3:1, ])
  expect_equal(both(function(x) x[array(c(1, 3)), 2:3], x), m[c(1, 3), 2:3])
  expect_equal(both(function(x) x[c(3, 1), -c(1, 4)], x), m[c(3, 1), -c(1, 4)])
  expect_identical(dim(x[array(2), c(1, 1)]), c(1L, 2L))
  expect_identical(dim(x[, integer()]), c(nrow(m), 0L))
  expect_equal(both(function(x) x[list(2, 2), ], x), m[c(2, 2), ])
  expect_equal(both(function(x) x[list(2), ], x), m[2, , drop = FALSE])
  expect_equal(both(function(x) x[, array(c(4, 1, 1, 3))], x), m[, c(4, 1, 1, 3)])
  expect_equal(both(function(x) x[array(c(3, 1)), array(c(4, 2))], x), m[c(3, 1), c(4, 2)])
  expect_equal(both(function(x) x[1, , drop = FALSE], x), m[1, , drop = FALSE])
  expect_equal(both(function(x) x[(1:2), seq_len(1)], x), m[1:2, 1, drop = FALSE])
  expect_equal(both(function(x) x[nv_seq(2, 3), ], x), m[2:3, ])
  expect_equal(both(function(x) x[c(TRUE, FALSE, TRUE), ], x), m[c(TRUE, FALSE, TRUE), ])
  expect_equal(both(function(x) x[-1, array(-(1:2))], x), m[-1, -(1:2)])
  expect_equal(both(function(x) x[2, 2:4, 5:1], nv_tensor(a)), a[2, 2:4, 5:1])
  expect_equal(both(function(x) x[, array(c(1, 4, 2)), 3], nv_tensor(a)), a[, c(1, 4, 2), 3])
})

test_that("ranges count down below zero, and NULL is no place, as in R", {
  expect_equal(both(function(x) x[-1:-2, ], x), m[-1:-2, , drop = FALSE])
  expect_equal(both(function(x) x[, -3:-1], x), m[, -3:-1, drop = FALSE])
  expect_equal(shape(x[NULL, ]), c(0L, 4L))
  expect_error(x[-1:1, ], "Range -1:1 is out of bounds", class = "anvil_error_index")
})

test_that("[[ takes one element", {
  expect_equal(both(function(x) x[[2, 3]], x), m[[2, 3]])
  expect_equal(both(function(v, i) v[[i]], f64(c(5, 6)), nv_scalar(2L)), 6)
  expect_error(x[[2]], "one number for each dimension", class = "anvil_error_index")
  expect_error(x[[1:2, 1]], class = "anvil_error_index")
})

test_that("a tensor as the only index of a matrix takes rows, and says so", {
  rlang::reset_warning_verbosity("anvil_rows")
  y <- f64(m)
  expect_warning(rows <- jit(function(y, i) y[i])(y, nv_scalar(2L)), "takes rows.*nv_flatten", class = "anvil_warning_index")
  expect_equal(value(rows), array(as.double(m[2, ])))
  expect_warning(y[nv_tensor(1:2), ], NA)
  expect_warning(y[cbind(1, 2)], NA)
})

test_that("vectors of R are assigned where they have the length of the part", {
  as_in_r <- function(code) expect_identical(differences_from_r(code, list(x = m + 0, v = c(1, 2, 3), k = 1:3)), character())
  as_in_r(quote({ x[1, ] <- c(9, 8, 7, 6); x }))
  as_in_r(quote({ x[, 2] <- 1:3; x }))
  as_in_r(quote({ x[2, c(4, 1)] <- c(7, 8); x }))
  as_in_r(quote({ x[cbind(1:2, 2:3)] <- c(7, 8); x }))
  as_in_r(quote({ x[1, , drop = FALSE] <- c(9, 8, 7, 6); x }))
  as_in_r(quote({ v[1:2] <- c(5, 6); v }))
  as_in_r(quote({ v[c(TRUE, FALSE, TRUE)] <- c(5, 6); v }))
  as_in_r(quote({ k[2:3] <- c(5, 6); k }))
  narrow <- nv_tensor(1:2, "i8")
  expect_error(narrow[1:2] <- c(1, 1000), "1000 is no number of dtype i8", class = "anvil_error_dtype")
})

test_that("indices may be left out", {
  expect_equal(value(x[]), m)
  expect_equal(value(x[2]), array(m[2, ]))
  expect_equal(value(x[, ]), m)
  expect_equal(value(nv_scalar(3)[]), 3)
  expect_equal(value(nv_tensor(1:10)[3:5]), array(3:5))
  expect_equal(shape(x[array(integer()), ]), c(0L, 4L))
  expect_equal(shape(x[c(FALSE, FALSE, FALSE), ]), c(0L, 4L))
})

test_that("bounds of ranges may be variables", {
  from <- 2
  n <- shape(x)[1]
  expect_equal(value(x[from:n, ]), m[2:3, ])
  f <- function(x, k) x[(k - 1):k, k]
  expect_equal(value(f(x, 2)), array(m[1:2, 2]))
})

test_that("scalar tensors index at run time, are checked in debug mode and clamped in compiled code", {
  pick <- function(x, i, j) x[i, j]
  expect_equal(both(pick, x, nv_scalar(2L), nv_scalar(3L)), m[2, 3])
  expect_equal(both(function(x, i) x[i, ], x, nv_scalar(3L)), array(m[3, ]))
  expect_equal(both(function(x, i) x[i, 2:3], x, nv_scalar(3L)), array(m[3, 2:3]))
  expect_equal(both(function(x, i) x[i, array(c(1, 3))], x, nv_scalar(3L)), array(m[3, c(1, 3)]))
  expect_equal(both(function(x, i) x[4:1, i, 2], nv_tensor(a[, , ] |> aperm(c(2, 1, 3))), nv_scalar(3L)), array(a[3, 4:1, 2]))
  expect_equal(both(function(x, i) x[array(c(3, 1, 2)), i], x, nv_scalar(4L)), array(m[c(3, 1, 2), 4]))
  expect_equal(flat(jit(pick)(x, nv_scalar(100L), nv_scalar(-100L))), m[3, 1])
  expect_error(x[nv_scalar(100L), 1], "out of bounds", class = "anvil_error_index")
  expect_error(x[nv_scalar(-1L), 1], "leaves nothing out", class = "anvil_error_index")
  for (dtype in c("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")) {
    expect_equal(both(pick, x, nv_scalar(2L, dtype), nv_scalar(3L)), m[2, 3], label = dtype)
    expect_equal(both(pick, x, nv_scalar(2L, dtype), nv_scalar(3L, dtype)), m[2, 3], label = dtype)
    expect_equal(value(jit(function(x, i) x[i, 1:2])(x, nv_scalar(100L, dtype))), array(m[3, 1:2]), label = dtype)
  }
  long <- nv_tensor(1:300)
  expect_equal(both(function(x, i) x[i], long, nv_scalar(200L, "ui8")), 200L)
})

test_that("integer tensors are vectors of indices", {
  y <- nv_tensor(matrix(1:12, 3, byrow = TRUE))
  expect_error(y[nv_tensor(c(2L, -1L)), ], "Index -1 is out of bounds", class = "anvil_error_index")
  expect_error(y[, nv_tensor(c(2L, 100L))], "Index 100 is out of bounds", class = "anvil_error_index")
  expect_equal(value(jit(function(y, i) y[i, ])(y, nv_tensor(c(-1L, 100L)))), value(y)[c(1, 3), ])
  expect_equal(value(y[nv_tensor(c(2L, 2L)), ]), value(y)[c(2, 2), ])
  rows <- nv_tensor(c(3L, 1L))
  expect_equal(value(jit(function(x) x[rows, ])(x)), m[c(3, 1), ])
})

test_that("no places of what is empty are nothing, as in R", {
  none <- nv_tensor(integer())
  empty <- nv_tensor(numeric(), "f64")
  rows <- nv_tensor(matrix(0, 0, 3), "f64")
  expect_equal(both(function(x, i) x[i], empty, none), array(numeric()[integer()]))
  expect_equal(both(function(x, i) x[i, ], rows, none), matrix(0, 0, 3)[integer(), ])
  expect_equal(both(function(x, i) x[, i], rows, nv_tensor(c(3L, 1L))), matrix(0, 0, 3)[, c(3, 1)])
  expect_equal(both(function(x, i) x[i], rows, nv_tensor(matrix(0L, 0, 2))), array(numeric()))
  expect_equal(shape(nv_tensor(array(0, c(2, 0, 3)))[, nv_tensor(matrix(0L, 0, 1)[, 1]), ]), c(2L, 0L, 3L))
  expect_equal(type_of(nv_tensor(logical())[none]), "bool[0]")
  expect_equal(shape(gradient(function(x) sum(x[none]))(empty)$x), 0L)
  expect_error(empty[nv_tensor(1L)], class = "anvil_error_index")
  expect_error(jit(function(x, i) x[i])(empty, nv_tensor(1L)), class = "anvil_error_index")
})

test_that("assignment agrees with R", {
  check <- function(set, ...) {
    expected <- set(m, ...)
    actual <- both(function(x) set(x, ...), x)
    expect_equal(actual, expected)
  }
  check(function(x) { x[1, ] <- 0L; x })
  check(function(x) { x[2, 3] <- 100L; x })
  check(function(x) { x[, 2:3] <- -1L; x })
  check(function(x) { x[] <- 7L; x })
  check(function(x) { x[2:3, 3:4] <- array(21:24, c(2, 2)); x })
  check(function(x) { x[3:2, 4:3] <- array(21:24, c(2, 2)); x })
  check(function(x) { x[1, ] <- array(21:24); x })
  check(function(x) { x[array(c(1, 3)), array(c(4, 2))] <- array(21:24, c(2, 2)); x })
  check(function(x) { x[array(c(3, 1, 2)), 1] <- array(31:33); x })
  check(function(x) { x[array(c(1, 3)), 1:2] <- array(21:24, c(2, 2)); x })
  check(function(x) { x[-1, c(TRUE, FALSE, FALSE, TRUE)] <- array(21:24, c(2, 2)); x })
  check(function(x) { x[array(c(2, 2)), 1] <- array(5:6); x })
  check(function(x) { x[1, ] <- x[2, ]; x })
  expect_equal(value(x), m)
})

test_that("assignment at run-time indices clamps", {
  set <- function(x, i) {
    x[i, 2:3] <- 0L
    x
  }
  expected <- m
  expected[3, 2:3] <- 0L
  expect_equal(both(set, x, nv_scalar(3L)), expected)
  expect_equal(value(jit(set)(x, nv_scalar(30L, "ui64"))), expected)
  expect_error(set(x, nv_scalar(30L, "ui64")), "Index 30", class = "anvil_error_index")
})

test_that("vectors of indices, masks and places are R's, known or not", {
  i <- c(3L, 1L, 3L)
  j <- c(2L, 2L, 4L)
  expect_equal(both(function(x, i) x[i, ], x, nv_tensor(i)), m[i, ])
  expect_equal(both(function(x, i, j) x[i, j], x, nv_tensor(i), nv_tensor(j, "i64")), m[i, j])
  expect_equal(both(function(x, i, k) x[i, k], x, nv_tensor(i), nv_scalar(2L)), array(m[i, 2]))
  expect_equal(both(function(x, i) x[2:1, i, array(c(5, 1))], nv_tensor(a), nv_tensor(i)), a[2:1, i, c(5, 1)])
  places <- cbind(1:3, 2:4)
  expect_equal(both(function(x, p) x[p], x, nv_tensor(places)), array(m[places]))
  expect_equal(both(function(x) x[places], x), array(m[places]))
  expect_equal(both(function(x) x[m > 4], x), array(m[m > 4]))
  long <- c(1:9, sample(9, 100, replace = TRUE))
  expect_equal(both(function(x) x[array(long)], nv_tensor(1:9)), array(long))
  assigned <- function(set, ...) expect_equal(both(set, x, ...), do.call(set, c(list(m), lapply(list(...), flat_matrix))))
  flat_matrix <- function(x) if (ndims(x) == 2L) value(x) else flat(x)
  block <- nv_tensor(matrix(21:29, 3))
  assigned(function(x, i, j, v) { x[i, j] <- v; x }, nv_tensor(i), nv_tensor(j), block)
  assigned(function(x, i, v) { x[i, 4:2] <- v; x }, nv_tensor(i), block)
  assigned(function(x, i) { x[x[, 2] > 4L, i] <- 0L; x }, nv_tensor(j))
  assigned(function(x) { x[x > 4L] <- -1L; x })
  assigned(function(x) { x[m > 4L] <- -1L; x })
  assigned(function(x, p, v) { x[p] <- v; x }, nv_tensor(places), nv_tensor(31:33))
  g <- gradient(function(x, i) sum(x[i, ]^2), wrt = "x")(f64(m), nv_tensor(i))
  expect_equal(value(g$x), m * c(2, 0, 4))
})

test_that("values take the dtype of the left side", {
  set <- function(x, value) {
    x[1] <- value
    x
  }
  expect_equal(type_of(set(nv_tensor(1:2, "i16"), 1L)), "i16[2]")
  expect_equal(flat(set(nv_tensor(1:2), 5)), c(5L, 2L))
  expect_equal(flat(set(f64(1:2), 0.1)), c(0.1, 2))
  expect_equal(flat(set(f64(1:2), 3L)), c(3, 2))
  expect_equal(flat(set(f64(1:2), nv_scalar(0.5))), c(0.5, 2))
  expect_equal(flat(set(nv_tensor(c(TRUE, TRUE)), FALSE)), c(FALSE, TRUE))
  expect_equal(type_of(set(nv_tensor(1:2, "f32"), TRUE)), "f32[2]")
  expect_equal(type_of(set(nv_tensor(1:2, ambiguous = TRUE), 1L)), "i32?[2]")
  for (dtype in all_dtypes) expect_equal(as.numeric(flat(set(nv_tensor(c(1L, 1L), dtype), nv_scalar(0L, dtype)))), c(0, 1))
})

test_that("derivatives go through parts and assignments", {
  g <- gradient(function(x) sum(x[2:3, array(c(1, 4, 4))]^2))(f64(m))
  expected <- matrix(0, 3, 4)
  expected[2:3, 1] <- 2 * m[2:3, 1]
  expected[2:3, 4] <- 4 * m[2:3, 4]
  expect_equal(value(g$x), expected)
  f <- function(x, v) {
    x[1:2, 3] <- v
    sum(x * x)
  }
  g <- gradient(f)(f64(m), f64(c(10, 20)))
  expect_equal(flat(g$v), c(20, 40))
  expect_equal(value(g$x)[1:2, 3], c(0, 0))
  expect_equal(value(g$x)[3, ], 2 * m[3, ])
  g <- jit(gradient(function(x, i) x[i], wrt = "x"))(f64(1:3), nv_scalar(9L))
  expect_equal(flat(g$x), c(0, 0, 1))
})

test_that("a stencil in a loop", {
  f <- jit(function(T) {
    nv_while(list(T = T, i = nv_scalar(0L)), function(T, i) i < 3L, function(T, i) {
      T[2:9] <- T[2:9] + 0.1 * (T[1:8] - 2 * T[2:9] + T[3:10])
      list(T = T, i = i + 1L)
    })$T
  })
  v <- c(1, rep(0, 9))
  w <- v
  for (i in 1:3) w[2:9] <- w[2:9] + 0.1 * (w[1:8] - 2 * w[2:9] + w[3:10])
  expect_equal(flat(f(f64(v))), w)
})

test_that("mistakes in indices are explained", {
  v <- nv_tensor(1:10)
  expect_snapshot(error = TRUE, {
    v[11]
    v[0]
    v[1.5]
    v[c(-1, 2)]
    v[NA]
    v["a"]
    v[0:3]
    v[8:12]
    v[list()]
    v[list(1:2)]
    v[array(c(1, 11))]
    v[c(TRUE, FALSE)]
    v[1, 2]
    v[1, ]
    v[nv_scalar(1)]
    v[nv_tensor(matrix(1:2, 1))]
    v[v > 2L]
    x[x[, 1] > 1L, ]
    v[nv_tensor(c(1L, -3L))]
  })
})

test_that("compiled code checks indices on request", {
  withr::local_options(anvil.check_index = TRUE)
  rows <- jit(function(x, i) x[i, ])
  expect_equal(value(rows(x, nv_tensor(c(3L, 1L)))), m[c(3, 1), ])
  e <- tryCatch(rows(x, nv_tensor(c(3L, 9L))), error = identity)
  expect_s3_class(e, "anvil_error_index")
  expect_match(conditionMessage(e), "Index 9 is out of bounds for dimension of size 3", fixed = TRUE)
  expect_identical(conditionCall(e), quote(x[i, ]))
  expect_error(jit(function(x, i) x[1, i])(x, nv_scalar(-1L)), "leaves nothing out", class = "anvil_error_index")
  expect_error(jit(function(x, p) x[p])(x, nv_tensor(cbind(1L, 5L))), "size 4", class = "anvil_error_index")
  expect_error(jit(function(x, i) { x[i, ] <- 0L; x })(x, nv_tensor(4L)), "Index 4.*`x\\[i, \\] <- \\.\\.\\.`", class = "anvil_error_index")
  expect_error(jit(vectorize(function(i) x[i, 1]))(nv_tensor(c(1L, 4L))), "Index 4", class = "anvil_error_index")
  expect_equal(flat(jit(gradient(function(v, i) sum(v[i]^2), wrt = "v"))(f64(1:3), nv_tensor(c(1L, 1L)))$v), c(4, 0, 0))
})

test_that("mistakes in assignments are explained", {
  v <- nv_tensor(1:10)
  expect_snapshot(error = TRUE, {
    v[11] <- 1L
    v[1:2] <- nv_tensor(1:3)
    x[1:2, 1:2] <- nv_tensor(1:3)
    v[1] <- 1.5
    v[1] <- nv_scalar(1)
    v[1:2] <- 1:3
    x[1:2, 1:2] <- 1:4
    v[1:2] <- c(1.5, 2)
    v[1] <- "a"
    u <- nv_tensor(1L, "ui8")
    u[1] <- -2L
    v[1, 1] <- 1L
    v[v > 2L] <- nv_tensor(1:3)
  })
})

test_that("the functions behind the brackets can be called as such", {
  m <- matrix(1:12, 3)
  x <- nv_tensor(m)
  expect_identical(value(nv_subset(x, 1:2, )), m[1:2, ])
  expect_identical(value(nv_subset(x, 2, drop = FALSE)), m[2, , drop = FALSE])
  expect_identical(value(nv_subset(x, array(c(1, 3)), array(c(4, 1)))), m[c(1, 3), c(4, 1)])
  part <- function(x, i) nv_subset(x, i, array(1:2))
  expect_identical(flat(part(x, 3)), m[3, 1:2])
  expect_identical(flat(jit(part)(x, nv_scalar(3L))), m[3, 1:2])
  changed <- nv_subset_assign(x, 2, , value = 0L)
  expect_identical(value(changed), replace(m, cbind(2, 1:4), 0L))
  expect_identical(value(x), m)
  assign_row <- function(x, i, value) nv_subset_assign(x, i, value = value)
  expect_identical(value(assign_row(x, 1, nv_tensor(4:1))), rbind(4:1, m[-1, ]))
  expect_identical(value(suppressWarnings(jit(assign_row)(x, nv_scalar(1L), nv_tensor(4:1)))), rbind(4:1, m[-1, ]))
  e <- tryCatch(nv_subset_assign(x, 9, value = 1L), error = identity)
  expect_identical(conditionCall(e), quote(nv_subset_assign(x, 9, value = 1L)))
  expect_identical(conditionCall(tryCatch(nv_subset(x, 0), error = identity)), quote(nv_subset(x, 0)))
})

test_that("errors of assignments show an assignment", {
  x <- nv_tensor(matrix(1:12, 3))
  shown <- function(expr) conditionCall(tryCatch(expr, error = identity))
  expect_identical(shown(x[9, ] <- 1L), quote(x[9, ] <- ...))
  expect_identical(shown(dim(x) <- 7), quote(dim(x) <- ...))
  expect_identical(shown(x[[1]] <- 7), quote(x[[1]] <- ...))
  expect_identical(shown(x$a <- 7), quote(x$a <- ...))
})

test_that("positions count from 1 in every dtype, jitted or not", {
  x <- nv_tensor(c(10, 20, 30, 40), "f64")
  slice <- function(x, i) nvl_dynamic_slice(x, i, slice_sizes = 2L)
  replaced <- function(x, i) nvl_dynamic_update_slice(x, nv_tensor(c(1, 2), "f64"), i)
  added <- function(x, i) {
    nvl_scatter(x, nv_reshape(i, 1L), nv_tensor(5, "f64"), integer(), 1L, integer(), integer(), 1L, 2L, update_computation = function(a, b) a + b)
  }
  for (dtype in c("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")) {
    least <- if (startsWith(dtype, "u")) 0 else -100
    for (place in c(least, 0:5, 120)) {
      i <- nv_scalar(place, dtype)
      first <- min(max(place, 1), 3)
      expect_identical(as_array(slice(x, i)), array(c(10, 20, 30, 40)[first + 0:1]))
      expect_identical(as_array(jit(slice)(x, i)), array(c(10, 20, 30, 40)[first + 0:1]))
      expect_identical(as_array(jit(replaced)(x, i)), array(replace(c(10, 20, 30, 40), first + 0:1, c(1, 2))))
      expect_identical(as_array(jit(added)(x, i)), array(c(10, 20, 30, 40) + 5 * (1:4 == place)))
    }
  }
  missing <- nv_scalar(-2147483648, "i32") # the smallest number
  expect_identical(as_array(jit(slice)(x, missing)), array(c(10, 20)))
  expect_identical(as_array(jit(added)(x, missing)), array(c(10, 20, 30, 40)))
  expect_identical(as_array(jit(function(x) nv_top_k(x, 2L))(x)$indices), array(c(4L, 3L)))
})

test_that("a value of one element, whatever its shape, goes where one element is", {
  for (value in list(f64(0.5), nv_tensor(matrix(0.5), "f64"), nv_scalar(0.5, "f64"))) {
    set <- function(o, m, p) {
      o[2] <- p
      m[1, 2] <- p
      list(o, m)
    }
    for (found in list(set(f64(1:3), f64(diag(2)), value), jit(set)(f64(1:3), f64(diag(2)), value))) {
      expect_identical(c(as_array(found[[1L]])), c(1, 0.5, 3))
      expect_identical(as_array(found[[2L]]), matrix(c(1, 0, 0.5, 1), 2))
    }
  }
})
