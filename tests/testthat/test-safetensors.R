counts <- matrix(c(0, 3, 1, 4, 2, 5), 2)
file_bytes <- function(path) readBin(path, "raw", file.size(path))

test_that("every dtype and shape comes back", {
  shapes <- list(integer(), 0L, 3L, c(2L, 3L), c(2L, 0L, 3L), c(3L, 1L, 4L), c(2L, 3L, 4L, 5L), c(70L, 90L), c(33L, 2L, 41L))
  for (dtype in names(anvil:::dtype_codes)) {
    x <- lapply(shapes, function(shape) nv_tensor(seq_len(prod(shape)) %% 97, dtype, shape = shape))
    names(x) <- paste0("s", seq_along(x))
    expect_identical(nv_unserialize(nv_serialize(x)), x)
  }
  path <- withr::local_tempfile()
  expect_null(expect_invisible(nv_save(x, path)))
  expect_identical(nv_read(path), x)
  expect_identical(file_bytes(path), nv_serialize(x))
})

test_that("lists, names, ambiguity and metadata come back", {
  x <- nv_tensor(c(0.5, NaN))
  back <- function(x, ...) nv_unserialize(nv_serialize(x, ...))
  expect_identical(back(x), x)
  expect_identical(back(list()), list())
  expect_true(ambiguous(back(list(a = nv_scalar(1), b = x))$a))
  nested <- list(bias = x, layers = list(list(w = nv_scalar(1), b = nv_scalar(TRUE)), list(w = x, b = x)), optimiser = list(state = list(x, x)))
  expect_identical(back(nested), nested)
  names(nested)[1] <- "a.b"
  nested$layers[[1]]$`x/y` <- x
  expect_identical(back(nested), nested)
  flat <- list(`model.layers.0.weight` = x, `quote"s\\` = x, "gr\u00f6\u00dfe" = x, ` ` = x, a = x, `a.b` = x)
  expect_identical(back(flat), flat)
  noted <- back(list(a = x), metadata = c(epoch = "3", `a"b` = "\u00e9\n\t\u2028\\"))
  expect_identical(attr(noted, "metadata"), c(epoch = "3", `a"b` = "\u00e9\n\t\u2028\\"))
  expect_identical(as_array(noted$a), as_array(x))
  expect_identical(names(back(list(b = nv_scalar(1L, "i8"), a = nv_scalar(1, "f64")))), c("b", "a"))
})

test_that("connections are read and written", {
  x <- list(a = nv_tensor(counts), b = nv_tensor(1:3))
  path <- withr::local_tempfile()
  expect_invisible(nv_serialize(x, gzfile(path)))
  expect_identical(nv_unserialize(gzfile(path)), x)
  con <- file(path, "wb")
  nv_serialize(x, con)
  nv_serialize(x["a"], con)
  close(con)
  con <- file(path, "rb")
  expect_identical(nv_unserialize(con), x)
  expect_identical(nv_unserialize(con), x["a"])
  expect_error(nv_unserialize(con), "too early", class = "anvil_error_safetensors")
  close(con)
  cut <- rawConnection(head(nv_serialize(x), -1))
  expect_error(nv_unserialize(cut), "too early", class = "anvil_error_safetensors")
  close(cut)
})

test_that("files that Python wrote are read", {
  x <- nv_read(test_path("fixtures", "dtypes.safetensors"))
  dtypes <- sub("^uint", "ui", sub("^int", "i", sub("^float", "f", sub("bfloat", "bf", names(x)))))
  expect_setequal(dtypes, names(anvil:::dtype_codes))
  expect_identical(unname(vapply(x, function(t) as.character(dtype(t)), "")), dtypes)
  for (t in x) expect_equal(as_array(t) * 1, if (dtype(t) == "bool") (counts > 0) * 1 else counts)
  y <- nv_read(test_path("fixtures", "shapes.safetensors"))
  expect_setequal(names(y), c("model.layers.0.weight", "scalar", "none", "gr\u00f6\u00dfe \"1\"\n"))
  expect_equal(as_array(y$model.layers.0.weight), aperm(array(0:23, 4:2)) * 1)
  expect_identical(y$scalar, nv_scalar(0.1, "f64"))
  expect_identical(shape(y$none), c(2L, 0L, 3L))
  expect_identical(as_raw(y[[grep("^gr", names(y))]]), as.raw(c(rep(255, 8), rep(0, 7), 64)))
  expect_identical(attr(y, "metadata")[c("format", "\u00b5")], c(format = "np", "\u00b5" = "\u2028 \U0001f600"))
  expect_identical(nv_read(test_path("fixtures", "nothing.safetensors")), list())
})

# 8 bytes of length, a header, data
with_header <- function(header, data = raw()) c(as.raw(c(nchar(header), rep(0, 7))), charToRaw(header), data)

test_that("what cannot be saved or read is an error that says why", {
  x <- nv_tensor(c(1, 2))
  path <- withr::local_tempfile()
  entry <- '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
  expect_snapshot(error = TRUE, {
    nv_save(1, path)
    nv_save(list(x), path)
    nv_save(list(a = x, b = list(c = 1)), path)
    nv_save(list(a = x, b = list()), path)
    nv_save(list(a = list(`1` = x)), path)
    nv_save(list(a = x, a = x), path)
    nv_save(list(a = x, x), path)
    nv_save(list(`__metadata__` = x), path)
    nv_save(list(a = debug_box("f32", 2)), path)
    nv_save(list(`./:|` = list(a = x)), path)
    nv_save(list(a = x), path, metadata = "a")
    nv_save(list(a = x), path, metadata = c(anvil.tree = "a"))
    nv_read("no such file")
    nv_read(path, device = "gpu")
    nv_unserialize(1)
    nv_unserialize(raw(5))
    nv_unserialize(as.raw(c(rep(0, 7), 1, 1)))
    nv_unserialize(with_header(entry, raw(7)))
    nv_unserialize(with_header(sub("F32", "F8_E5M2", entry), raw(8)))
    nv_unserialize(with_header(sub(":\\[2", ":[3", entry), raw(8)))
    nv_unserialize(with_header('{"__metadata__":{"anvil.tree":"."},"a..b":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}', raw(1)))
  })
  expect_false(file.exists(path))
  expect_error(nv_save(list(a = x), tempdir()), "is a folder", class = "anvil_error_argument")
})

test_that("a full device is noticed", {
  skip_if_not(file.exists("/dev/full"), "there is no /dev/full")
  expect_error(suppressWarnings(nv_save(list(a = nv_scalar(1)), "/dev/full")), "completely", class = "anvil_error_argument")
})

test_that("changed files are read or refused", {
  bytes <- nv_serialize(list(w = nv_tensor(matrix(1:6, 2), "i16"), l = list(b = nv_scalar(TRUE), "\u00e9" = nv_scalar(1))), metadata = c(a = "b"))
  withr::local_seed(1)
  outcomes <- replicate(1000L, {
    changed <- bytes
    for (k in seq_len(sample(3L, 1L))) {
      at <- sample(length(changed), 1L)
      some <- seq(at, min(length(changed), at + sample(12L, 1L)))
      changed <- switch(sample(4L, 1L),
        replace(changed, at, as.raw(sample(0:255, 1L))), changed[-some], append(changed, changed[some], sample(length(changed), 1L)), changed[seq_len(at)]
      )
      if (length(changed) == 0L) break
    }
    tryCatch({
      nv_unserialize(changed)
      "read"
    }, anvil_error_safetensors = function(e) "refused")
  })
  expect_setequal(outcomes, c("read", "refused"))
})

test_that("package safetensors writes tensors", {
  x <- nv_tensor(counts, "bf16")
  expect_identical(anvil:::safetensors_meta(x), list(shape = list(2L, 3L), dtype = "BF16"))
  expect_identical(anvil:::safetensors_buffer(x), as_raw(x, row_major = TRUE))
  skip_if_not_installed("safetensors")
  bytes <- getExportedValue("safetensors", "safe_serialize")(list(a = x))
  expect_identical(nv_unserialize(bytes), list(a = x))
})
