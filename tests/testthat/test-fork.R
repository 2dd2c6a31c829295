# Workers made by fork() go on with what the parent has: its compiled programs, its pool.

test_that("forked workers compile, run and evaluate, before and after the parent did", {
  skip_on_cran()
  skip_on_os("windows")
  result <- in_child('
    work <- function(i) {
      x <- nv_tensor(as.double(1:50000) / i, "f64")
      f <- jit(function(x) sum(x * 2))
      got <- c(as_array(f(x)), as_array(sum(x) * 2), as_array(gradient(function(x) sum(x * x))(x)$x)[2])
      rm(x); gc()
      got
    }
    expected <- function(i) c(rep(sum(as.double(1:50000) / i) * 2, 2), 4 / i)
    before <- parallel::mclapply(1:3, work, mc.cores = 2)
    shared <- jit(function(x) sum(x * 2) + 1)
    y <- nv_tensor(as.double(1:50000), "f64")
    first <- as_array(shared(y))
    after <- parallel::mclapply(1:3, function(i) c(work(i), as_array(shared(y))), mc.cores = 2)
    # a worker that is stopped in the middle leaves the parent alone
    job <- parallel::mcparallel(repeat shared(y))
    Sys.sleep(0.5)
    tools::pskill(job$pid, tools::SIGKILL)
    suppressWarnings(parallel::mccollect(job))
    list(
      before = max(abs(unlist(before) - unlist(lapply(1:3, expected)))),
      after = max(abs(unlist(after) - unlist(lapply(1:3, function(i) c(expected(i), first))))),
      parent = identical(as_array(shared(y)), first), memory = anvil_memory(release = TRUE)$kept
    )
  ')
  expect_lt(result$before, 1e-6)
  expect_lt(result$after, 1e-6)
  expect_true(result$parent)
  expect_lt(result$memory, 5e6)
})
