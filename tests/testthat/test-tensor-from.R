test_that("data frames of numbers become matrices", {
  x <- nv_tensor(data.frame(a = 1:2, b = c(0.5, 1)))
  expect_identical(type_of(x), "f32[2,2]")
  expect_equal(as_array(x), matrix(c(1, 2, 0.5, 1), 2L))
  expect_identical(type_of(nv_tensor(data.frame(a = 1:2, b = 3:4))), "i32[2,2]")
  expect_identical(type_of(nv_tensor(data.frame(a = c(TRUE, FALSE)))), "bool[2,1]")
  expect_identical(type_of(nv_tensor(mtcars, "f64")), "f64[32,11]")
  expect_snapshot(nv_tensor(iris), error = TRUE)
})

test_that("time series are their values", {
  expect_identical(type_of(nv_tensor(Nile)), "f32[100]")
  expect_identical(as_array(nv_tensor(Nile, "f64")), array(as.vector(Nile)))
  stocks <- utils::head(EuStockMarkets)
  expect_identical(as_array(nv_tensor(EuStockMarkets, "f64"))[1:6, ], matrix(stocks, 6L))
})

test_that("dense matrices of package Matrix are the matrices that they stand for", {
  skip_if_not_installed("Matrix")
  m <- matrix(c(2, 1, 0.5, 1, 3, 0, 0.5, 0, 1), 3L)
  upper <- replace(m, lower.tri(m), 0)
  dense <- list(
    dgeMatrix = methods::as(m[, 1:2], "denseMatrix"), dsyMatrix = Matrix::Matrix(m, sparse = FALSE), dpoMatrix = methods::as(Matrix::Matrix(m, sparse = FALSE), "dpoMatrix"),
    dtrMatrix = Matrix::triu(Matrix::Matrix(m, sparse = FALSE)), dspMatrix = Matrix::pack(Matrix::Matrix(m, sparse = FALSE)), lgeMatrix = methods::as(m[, 1:2] > 0.7, "denseMatrix")
  )
  for (class in names(dense)) {
    x <- dense[[class]]
    expect_s4_class(x, class)
    if (class == "dgeMatrix") dimnames(x) <- list(letters[1:3], NULL)
    expect_identical(as_array(nv_tensor(x)), unname(as.matrix(x)), label = class)
  }
  expect_identical(dtype(nv_tensor(dense$dsyMatrix, "f64")), as_dtype("f64"))
  for (x in list(Matrix::Diagonal(2), Matrix::sparseMatrix(1:2, 2:1, x = c(1, 2)))) expect_error(nv_tensor(x), "as.matrix", class = "anvil_error_argument")
  expect_snapshot(nv_tensor(Matrix::sparseMatrix(1:2, 2:1, x = c(1, 2))), error = TRUE)
})

local_peer <- function(f, envir = parent.frame()) {
  replace_peer <- function(f) {
    namespace <- asNamespace("anvil")
    get("unlockBinding", baseenv())("peer", namespace)
    assign("peer", f, envir = namespace)
  }
  old <- peer
  replace_peer(f)
  withr::defer(replace_peer(old), envir)
}

# Packages torch and reticulate are not needed for these tests: objects with the fields and functions that their
# documentation has.
test_that("tensors of torch keep their dtype", {
  local_peer(function(package, name) {
    stopifnot(package == "torch")
    if (name == "as_array") function(x) x$values else if (name == "torch_uint8") stop("too old") else function() name
  })
  torch <- function(values, dtype, shape = dim(values)) {
    x <- structure(list2env(list(values = values, dtype = dtype, shape = shape)), class = c("torch_tensor", "R7"))
    x$detach <- x$cpu <- function() x
    x$to <- function(dtype) torch(values, dtype, shape)
    x
  }
  m <- matrix(c(1.5, 2, 3, 4, 5, 6), 2L)
  for (dtype in c(f32 = "torch_float32", f64 = "torch_float64", f16 = "torch_float16", bf16 = "torch_bfloat16")) {
    x <- nv_tensor(torch(m, dtype))
    expect_identical(as_array(x), m)
    expect_identical(as.character(dtype(x)), sub("^bfloat", "bf", sub("^float", "f", sub("torch_", "", dtype))))
  }
  expect_identical(type_of(nv_tensor(torch(c(1L, 2L), "torch_int64", 2L))), "i64[2]")
  expect_identical(type_of(nv_tensor(torch(3, "torch_float32", integer()))), "f32[]")
  expect_identical(type_of(nv_tensor(torch(array(TRUE, c(1L, 1L)), "torch_bool"))), "bool[1,1]")
  expect_identical(type_of(nv_tensor(torch(m, "torch_float32"), "f64", shape = 6L)), "f64[6]")
  expect_error(nv_tensor(torch(m, "torch_complex64")), "torch_complex64", class = "anvil_error_dtype")
})

test_that("arrays of NumPy keep their dtype", {
  local_peer(function(package, name) {
    stopifnot(package == "reticulate", name == "py_to_r")
    function(x) x$values
  })
  python <- function(values, ...) structure(list(values = values, ...), class = "python.builtin.object")
  numpy <- function(values, dtype, shape = dim(values)) {
    x <- python(values, dtype = python(NULL, name = python(dtype)), shape = python(as.list(shape)), astype = function(dtype) {
      stopifnot(dtype == "float64")
      python(values + 0)
    })
    structure(x, class = c("numpy.ndarray", "python.builtin.object"))
  }
  m <- matrix(1:6, 2L)
  for (dtype in c("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")) {
    x <- nv_tensor(numpy(m, dtype))
    expect_equal(as_array(x), m + 0)
    expect_identical(as.character(dtype(x)), sub("int", "i", sub("float", "f", dtype)))
  }
  expect_identical(type_of(nv_tensor(numpy(TRUE, "bool", integer()))), "bool[]")
  expect_identical(type_of(nv_tensor(numpy(m, "float32"), "bool")), "bool[2,3]")
  scalar <- structure(unclass(numpy(2, "float32", integer())), class = c("numpy.float32", "numpy.generic", "python.builtin.object"))
  expect_identical(nv_tensor(scalar), nv_scalar(2, "f32"))
  expect_error(nv_tensor(numpy(array(2^60), "int64")), "2^53", fixed = TRUE, class = "anvil_error_dtype")
  expect_error(nv_tensor(numpy(m, "complex128")), "complex128", class = "anvil_error_dtype")
})

test_that("others can register theirs", {
  registerS3method("as_tensor_data", "check_kelvin", function(x, ...) list(data = unclass(x)$degrees, dtype = "f64"))
  x <- structure(list(degrees = c(273, 300)), class = "check_kelvin")
  expect_identical(nv_tensor(x), nv_tensor(c(273, 300), "f64"))
  expect_identical(type_of(nv_tensor(x, "f32", shape = c(1L, 2L))), "f32[1,2]")
  registerS3method("as_tensor_data", "check_wrong", function(x, ...) list(value = 1))
  expect_error(nv_tensor(structure(list(), class = "check_wrong")), "check_wrong", class = "anvil_error_argument")
  expect_error(nv_tensor(structure(list(), class = "nobodys")), "must be a logical, integer or double", class = "anvil_error_argument")
})
