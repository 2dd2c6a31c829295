# A part of the programs that the C++ tests run: operators with their expected values,
# modules to accept and to refuse, and programs exported from JAX. Those that are missing
# here need ../shared of the repository.
cases <- utils::read.csv(conformance_file("stablehlo", "index.csv"), stringsAsFactors = FALSE)
files_of <- function(kind) cases$file[cases$kind == kind]
# Absolute and relative distance and units in the last place; 1e-4 is what a check means by itself.
limits <- function(case) if (is.na(case$rec_ulp)) c(1e-4, 0, 0) else c(case$rec_atol, case$rec_rtol, case$rec_ulp)

test_that("operators give the values that their authors expect, at once and compiled", {
  for (i in which(cases$kind == "run")) {
    program <- return_checked(read_text("stablehlo", cases$file[i]))
    f <- read_stablehlo(program$text)
    for (run in list(f, jit(f))) {
      out <- leaves(run())
      expect_length(out, 2 * length(program$exact))
      for (k in seq_along(program$exact)) {
        limit <- if (program$exact[k]) c(0, 0, 0) else limits(cases[i, ])
        expect_true(tensors_close(out[[2 * k - 1]], out[[2 * k]], limit[1L], limit[2L], limit[3L]), label = cases$file[i])
      }
    }
  }
})

test_that("wrong programs are refused with the place", {
  for (file in files_of("reject")) {
    expect_error(read_stablehlo(read_text("stablehlo", file)), "[Ll]ine ", class = "anvil_error_stablehlo", info = file)
  }
})

test_that("valid programs are read", {
  for (file in files_of("accept")) {
    expect_s3_class(read_stablehlo(read_text("stablehlo", file)), "AnvilImported")
  }
})

test_that("what is not supported is said to be", {
  for (file in files_of("unsupported")) {
    expect_error(read_stablehlo(read_text("stablehlo", file)), "not supported", class = "anvil_error_stablehlo", info = file)
  }
})

test_that("programs exported from JAX give XLA's results, at once and compiled", {
  for (file in list.files(conformance_file("jax"), "\\.mlir$")) {
    case <- dget(conformance_file("jax", sub("mlir$", "R", file)))
    inputs <- lapply(case$inputs, row_major)
    expected <- lapply(case$outputs, row_major)
    f <- read_stablehlo(conformance_file("jax", file))
    for (run in list(f, jit(f))) {
      out <- leaves(do.call(run, inputs))
      expect_length(out, length(expected))
      for (k in seq_along(expected)) {
        expect_true(tensors_close(out[[k]], expected[[k]], case$atol[k], case$rtol[k]), label = sprintf("%s, output %d", file, k))
      }
    }
  }
})
