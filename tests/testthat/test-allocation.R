# An allocation may fail anywhere: the n-th one that anvil makes for a tensor, or lets R make,
# fails, n = 1, 2, 3, ..., until the program succeeds. Each failure is an ordinary R error,
# and the same program works after it.
source(test_path("allocation-programs.R"), local = TRUE)
fail <- function(n) .Call(C_anvil_fail_allocation, as.integer(n))

for (name in names(programs)) {
  test_that(paste("an allocation may fail anywhere:", name), {
    withr::defer(fail(0))
    program <- programs[[name]]
    expected <- program()
    n <- 0L
    repeat {
      n <- n + 1L
      fail(n)
      got <- tryCatch(program(), error = function(e) e)
      fail(0)
      if (!inherits(got, "condition")) break
      stopifnot(n < 5000L)
      ours <- inherits(got, "anvil_error_memory") || grepl("cannot allocate memory", conditionMessage(got))
      if (!ours) expect_identical(conditionMessage(got), "an error about memory", info = n)
      if (!is.null(.current_descriptor(silent = TRUE))) testthat::fail("a trace stays open")
      if (n <= 20L || n %% 10L == 0L) expect_identical(program(), expected, info = n)
    }
    expect_gt(n, 1L)
    expect_identical(got, expected)
  })
}

# The same for what C++ allocates for itself: a library that is loaded before all others
# takes the place of `operator new`. LLVM, which ends the process when it gets no memory, is
# left out.
test_that("an allocation of C++ may fail anywhere", {
  skip_on_cran()
  skip_if_not(identical(Sys.info()[["sysname"]], "Linux"))
  folder <- withr::local_tempdir()
  file.copy(test_path("failing-new.cpp"), folder)
  built <- system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "-o", file.path(folder, "failing-new.so"), file.path(folder, "failing-new.cpp")), stdout = TRUE, stderr = TRUE)
  library <- file.path(folder, "failing-new.so")
  expect_true(file.exists(library), info = paste(built, collapse = "\n"))
  setup <- c(readLines(test_path("allocation-programs.R")), sprintf("dyn.load(%s)", deparse(library)))
  result <- in_child(c(setup, '
    fail <- function(n) .C("fail_new", as.double(n), PACKAGE = "failing-new")[[1L]]
    faults <- character()
    counts <- integer()
    for (name in names(programs)) {
      program <- programs[[name]]
      expected <- program()
      n <- 0
      repeat {
        n <- n + 1 + n %/% 20
        fail(n)
        got <- tryCatch(program(), error = function(e) e)
        left <- fail(0)
        if (inherits(got, "condition")) {
          if (!inherits(got, "anvil_error_memory")) faults <- c(faults, paste(name, n, conditionMessage(got)))
          while (!is.null(.current_descriptor(silent = TRUE))) { faults <- c(faults, paste(name, n, "a trace stays open")); .Call(anvil:::C_anvil_pop, .current_descriptor()) }
        } else if (!identical(got, expected)) {
          faults <- c(faults, paste(name, n, "another result"))
        }
        if (n <= 30 && !identical(program(), expected)) faults <- c(faults, paste(name, n, "does not work afterwards"))
        if (left > 0) break
      }
      counts[name] <- n
    }
    list(faults = faults, counts = counts)
  '), timeout = 280, environment = paste0("LD_PRELOAD=", shQuote(library)))
  expect_identical(result$faults, character())
  expect_true(all(result$counts > 1))
})
