test_that("tensors keep R data and give them back", {
  x <- nv_tensor(1:4, dtype = "i32", shape = c(4, 1))
  expect_true(inherits(x, "AnvilTensor"))
  expect_identical(shape(x), c(4L, 1L))
  expect_identical(as_array(x), array(1:4, c(4, 1)))
  m <- matrix(rnorm(6), 2)
  expect_identical(as_array(nv_tensor(m, "f64")), m)
  expect_identical(as_array(nv_scalar(TRUE)), TRUE)
  expect_identical(as_array(nv_tensor(c(TRUE, FALSE))), array(c(TRUE, FALSE)))
  expect_identical(shape(nv_scalar(1L, dtype = "f32")), integer())
  expect_identical(ndims(nv_tensor(array(0, c(2, 3, 4)))), 3L)
  expect_identical(dim(nv_tensor(m)), c(2L, 3L))
  expect_identical(length(nv_tensor(m)), 6L)
  expect_identical(length(nv_scalar(1)), 1L)
})

test_that("every dtype is stored and read", {
  for (t in c("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f32", "f64")) {
    x <- nv_tensor(c(0, 1, 100), t)
    expect_true(dtype(x) == t)
    expect_equal(as.double(x), c(0, 1, 100))
  }
  expect_identical(as_array(nv_convert(nv_tensor(c(0, 2, NaN)), "bool")), array(c(FALSE, TRUE, TRUE)))
  expect_identical(as_array(nv_convert(nv_tensor(c(1.9, -1.9, 1e20, NaN)), "i32")), array(c(1L, -1L, .Machine$integer.max, 0L)))
  expect_identical(as_array(nv_convert(nv_tensor(c(-5, 300)), "ui8")), array(c(0L, 255L)))
})

test_that("data become no other numbers in silence", {
  for (t in c("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")) {
    bits <- as.integer(sub("^u?i", "", t))
    end <- if (startsWith(t, "u")) 2^bits else 2^(bits - 1)
    start <- if (startsWith(t, "u")) 0 else -end
    last <- end - max(1, end * 2^-53)
    if (bits < 64L) expect_equal(as.double(nv_tensor(c(last + 0.5, start + 1), t)), c(last, start + 1), label = t)
    for (x in c(end, start - max(1, end * 2^-52), Inf, -Inf)) expect_error(nv_tensor(x, t), "is no number of dtype", class = "anvil_error_dtype")
    for (x in c(NA, NaN)) expect_error(nv_tensor(c(1, x), t), "1 missing value", class = "anvil_error_missing")
    expect_equal(as.double(nv_tensor(c(1, NA), t, na = 5)), c(1, 5))
  }
  expect_error(nv_tensor(300L, "i8"), "`data` has 300, which is no number of dtype i8", class = "anvil_error_dtype")
  expect_error(nv_scalar(-1L, "ui64"), class = "anvil_error_dtype")
  expect_error(nv_tensor(1:2, "i8") + array(c(1L, 300L)), class = "anvil_error_dtype")
  expect_error(nv_fill(300L, 2, "i8"), class = "anvil_error_dtype")
  expect_error(nv_fill(NaN, 2, "i32"), class = "anvil_error_dtype")
  expect_error(nv_tensor(c(1, NA), "bool"), class = "anvil_error_missing")
})

test_that("default dtypes and ambiguity follow the kind of data", {
  expect_true(dtype(nv_tensor(1)) == "f32")
  expect_true(dtype(nv_tensor(1L)) == "i32")
  expect_true(dtype(nv_tensor(TRUE)) == "bool")
  expect_false(ambiguous(nv_tensor(1)))
  expect_true(ambiguous(nv_scalar(1)))
  expect_true(ambiguous(nv_scalar(1L)))
  expect_false(ambiguous(nv_scalar(TRUE)))
  expect_false(ambiguous(nv_scalar(1, "f32")))
  expect_true(ambiguous(nv_tensor(1, ambiguous = TRUE)))
})

test_that("large integers are never rounded silently", {
  x <- nv_tensor(c(2^52, -2^53), "i64")
  expect_identical(as_array(x), array(c(2^52, -2^53)))
  skip_if_not_installed("bit64")
  big <- bit64::as.integer64("9223372036854775807")
  expect_identical(as.character(as_array(nv_tensor(big))), "9223372036854775807")
  y <- nv_from_raw(as.raw(rep(255, 8)), "ui64", integer())
  expect_error(as_array(y), class = "anvil_error_dtype")
})

test_that("shapes are checked", {
  expect_identical(shape(nv_tensor(0, shape = c(2, 3))), c(2L, 3L))
  expect_error(nv_tensor(1:5, shape = c(2, 3)), class = "anvil_error_shape")
  expect_error(nv_tensor(1, shape = c(-1, 3)), class = "anvil_error_shape")
  expect_error(nv_tensor("a"), class = "anvil_error_argument")
  expect_error(nv_tensor(factor("a")), class = "anvil_error_argument")
  expect_error(nv_scalar(1:2), class = "anvil_error_shape")
  expect_error(nv_tensor(1, "f8"), class = "anvil_error_dtype")
  expect_identical(shape(nv_empty("i32", c(0, 1))), c(0L, 1L))
  expect_identical(as_array(nv_empty("f32", 2)), array(c(0, 0)))
  expect_identical(as_array(nv_tensor(numeric(0))), array(numeric(0)))
})

test_that("missing values are found on request", {
  expect_error(nv_tensor(c(1, NA), check = TRUE), class = "anvil_error_missing")
  expect_error(nv_tensor(c(1L, NA)), "`na = 0L`|na = 0L", class = "anvil_error_missing")
  expect_error(nv_tensor(c(TRUE, NA), "i8"), "1 missing value", class = "anvil_error_missing")
  expect_error(jit(function(x) x + array(c(1L, NA)))(nv_tensor(1:2)), class = "anvil_error_missing")
  expect_identical(as_array(nv_tensor(c(1L, NA), na = 7L)), array(c(1L, 7L)))
  expect_identical(as_array(nv_tensor(c(NA, 1L), "f32")), array(c(NaN, 1)))
  expect_identical(as_array(nv_tensor(c(FALSE, NA), na = TRUE)), array(c(FALSE, TRUE)))
  # the data keep their type where it holds the number
  expect_identical(as_array(nv_tensor(c(16777217L, NA), na = 0)), array(c(16777217L, 0L)))
  expect_identical(as_array(nv_tensor(c(FALSE, NA), na = 1)), array(c(FALSE, TRUE)))
  expect_identical(as_array(nv_tensor(c(1L, NA), na = 0.5)), array(c(1, 0.5)))
  expect_true(is.na(as_array(nv_tensor(NA_real_, "f64"))))
  expect_error(nv_tensor(1L) + NA_integer_, class = "anvil_error_missing")
})

test_that("an existing tensor cannot become another one", {
  x <- nv_tensor(1:2)
  expect_identical(nv_tensor(x), x)
  expect_identical(nv_tensor(x, dtype = "i32", shape = 2), x)
  expect_snapshot(error = TRUE, {
    nv_tensor(x, dtype = "f32")
    nv_tensor(x, shape = c(2, 1))
    nv_tensor(x, ambiguous = TRUE)
    nv_tensor(x, device = "cuda")
    nv_tensor(1:3, "f64", "cpu")
  })
})

test_that("data, dtype and shape are given by position", {
  expect_identical(nv_tensor(1:3, "f64", c(3, 1)), nv_tensor(matrix(c(1, 2, 3), 3), "f64"))
  expect_identical(nv_tensor_like(nv_scalar(1, "f64"), 1:2, "i32", c(1, 2)), nv_tensor(matrix(1:2, 1)))
})

test_that("byrow fills by row", {
  expect_equal(as_array(nv_tensor(1:6, shape = c(2, 3), byrow = TRUE)), matrix(1:6, 2, byrow = TRUE))
  expect_equal(as_array(nv_tensor(matrix(1:6, 2), byrow = TRUE)), matrix(1:6, 2, byrow = TRUE))
  expect_equal(as_array(nv_tensor(1:3, byrow = TRUE)), array(1:3))
})

test_that("matrices are filled like R's, without partial recycling", {
  expect_equal(as_array(nv_matrix(1:6, ncol = 2)), matrix(1:6, ncol = 2))
  expect_identical(shape(nv_matrix(0, 2)), c(2L, 1L))
  expect_identical(shape(nv_matrix(0, 2, 3)), c(2L, 3L))
  expect_identical(shape(nv_matrix(integer(0), nrow = 0)), c(0L, 0L))
  expect_identical(shape(nv_matrix(integer(0), ncol = 3)), c(0L, 3L))
  expect_error(nv_matrix(1:6), "nrow")
  expect_error(nv_matrix(1:5, nrow = 2), "not a multiple")
})

test_that("conversions to vectors are R's", {
  expect_identical(as.integer(nv_tensor(matrix(1:4, 2))), 1:4)
  expect_identical(as.integer(nv_tensor(c(1.7, -1.7))), c(1L, -1L))
  expect_identical(as.logical(nv_tensor(c(0, 2))), c(FALSE, TRUE))
  expect_identical(as.double(nv_tensor(TRUE)), 1)
  expect_identical(as.data.frame(nv_tensor(matrix(1:4, 2))), as.data.frame(matrix(1:4, 2)))
  expect_identical(as.logical(nv_tensor(TRUE)), TRUE)
  expect_identical(as.vector(nv_tensor(matrix(1:4, 2))), 1:4)
  expect_identical(as.double(nv_tensor(1:2)), c(1, 2))
})

test_that("bytes go both ways in both orders", {
  x <- nv_tensor(1:6, "i16", shape = c(2, 3))
  expect_identical(as_raw(x), as.raw(c(1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0)))
  expect_identical(as_raw(x, row_major = TRUE), as.raw(c(1, 0, 3, 0, 5, 0, 2, 0, 4, 0, 6, 0)))
  expect_equal(nv_from_raw(as_raw(x), "i16", c(2, 3)), x)
  expect_equal(nv_from_raw(as_raw(x, TRUE), "i16", c(2, 3), row_major = TRUE), x)
  expect_error(nv_from_raw(raw(3), "i16", 2), class = "anvil_error_shape")
})

test_that("tensors fail loudly where R would read their insides", {
  x <- nv_tensor(c(1, 2))
  expect_error(ifelse(x, 1, 2))
  expect_error(which.max(x))
  expect_error(x$data, class = "anvil_error_argument")
  expect_error(x[[1:2]], class = "anvil_error_index")
})

test_that("tensors are compared by value where tests do so", {
  x <- nv_tensor(c(1, 2))
  expect_equal(x, nv_tensor(c(1, 2)))
  expect_true(isTRUE(all.equal(x, nv_tensor(c(1, 2)))))
  expect_false(isTRUE(all.equal(x, nv_tensor(c(1, 2), "f64"))))
  expect_true(identical(x, nv_tensor(c(1, 2))))
  expect_false(identical(x, nv_tensor(c(1, 3))))
  expect_false(identical(x, nv_tensor(c(1, 2), "f64")))
  expect_false(identical(nv_tensor(1:4), nv_tensor(1:4, shape = c(2, 2))))
  expect_true(identical(nv_tensor(matrix(1:4, 2)), nv_tensor(1:4, shape = c(2, 2))))
  expect_length(unique(list(x, nv_tensor(c(1, 2)), x + 0, x * 2)), 2)
  restored <- function(x) unserialize(serialize(x, NULL))
  expect_true(identical(restored(x), x))
  expect_false(identical(restored(x), restored(nv_tensor(c(3, 4)))))
  expect_length(unique(lapply(list(x, x + 0, x * 2), restored)), 2)
  expect_failure(expect_equal(x, nv_tensor(c(1, 3))))
})

test_that("tensors share memory with R vectors, which stay as they are", {
  v <- c(1, 2, 3)
  x <- nv_tensor(v, "f64")
  v[1] <- 100
  expect_identical(as.double(x), c(1, 2, 3))
  a <- as_array(x)
  a[1] <- 100
  expect_identical(as.double(x), c(1, 2, 3))
  expect_identical(as.double(nv_tensor(1:10, "i32")), as.double(1:10))
})

test_that("tensors survive saveRDS and serialize", {
  x <- nv_tensor(matrix(c(1.5, 2, 3, 4), 2), "f32")
  file <- withr::local_tempfile()
  saveRDS(list(x, nv_scalar(1L) + 1L), file)
  back <- readRDS(file)
  expect_equal(back[[1]], x)
  expect_equal(as_array(back[[2]]), 2)
  expect_identical(printed(back[[1]]), printed(x))
  expect_equal(jit(function(a) a + a)(back[[1]]), nv_tensor(2 * as_array(x)))
})

test_that("devices are known for data only", {
  x <- nv_tensor(1)
  expect_identical(platform(x), "cpu")
  expect_prints(device(x), "<CpuDevice(id=0)>")
  expect_error(device(nv_aten("f32", 2)), "not accessible during tracing")
})

test_that("sizes are not cut to 32 bits", {
  wide <- 2^32 + 3
  expect_identical(shape(debug_box("i8", c(wide, 2))), c(wide, 2))
  expect_identical(shape(nv_concatenate(debug_box("i8", 2e9), debug_box("i8", 2e9), dimension = 1L)), 4e9)
  expect_identical(shape(nv_aten("i8", 3)$shape), integer())
  expect_identical(nv_aten("i8", wide)$shape, wide)
  expect_identical(trace_fn(function(x) x, list(nv_aten("i8", wide)))$inputs[[1]]$aval$shape, wide)
  f <- read_stablehlo("func.func @main(%x: tensor<4294967299xi8>) -> tensor<4294967299xi8> {\n return %x : tensor<4294967299xi8>\n}")
  expect_error(f(nv_tensor(1:3, "i8")), class = "anvil_error")
  expect_error(jit(f)(nv_tensor(1:3, "i8")), class = "anvil_error")
  expect_error(nv_execute(nv_compile(as_graph(f)), nv_tensor(1:3, "i8")), class = "anvil_error")
  expect_error(nv_tensor(1, shape = 2^50), class = "anvil_error_memory")
  expect_error(nv_tensor(1, shape = c(2^40, 2^40)), "too many elements", class = "anvil_error_shape")
})

test_that("flags and numbers of rows are checked", {
  expect_error(nv_tensor(1:4, shape = c(2, 2), byrow = NA), "byrow", class = "anvil_error_argument")
  expect_error(nv_tensor(1:4, check = "yes"), "check", class = "anvil_error_argument")
  expect_error(nv_matrix(1:6, nrow = NA), "nrow", class = "anvil_error_argument")
  expect_error(nv_matrix(1:6, ncol = -1), "ncol", class = "anvil_error_argument")
  expect_error(nv_from_raw(raw(4), "i32", 1, row_major = NA), "row_major", class = "anvil_error_argument")
})

test_that("the least integer is no missing value", {
  expect_identical(as_array(nv_tensor(c(-2^31, 5), "i32")), array(c(-2^31, 5)))
  expect_identical(as.double(nv_tensor(2147483647L) + 1L), -2^31)
  expect_identical(as_array(max(nv_tensor(integer()))), -2^31)
  expect_identical(as_array(nv_tensor(c(-2^63, 5), "i64")), array(c(-2^63, 5)))
  expect_error(as_array(nv_tensor(-2^63, "i64") + nv_tensor(c(0, 2^53 + 2, 1), "i64") - nv_tensor(c(0, 1, 1), "i64")), class = "anvil_error_dtype")
})

test_that("a class in front of a tensor's own leaves it a tensor", {
  x <- nv_tensor(c(4, 1, 2))
  y <- I(x)
  expect_identical(as_array(y + 1), array(c(5, 2, 3)))
  expect_identical(as_array(jit(function(x) x * 2)(y)), array(c(8, 2, 4)))
  expect_identical(as_array(sum(structure(nv_tensor(1:3), class = c("mine", "AnvilTensor", "AnvilValue")))), 6L)
})
