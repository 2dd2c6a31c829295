test_that("as many threads work as is said, and as before afterwards", {
  former <- anvil_threads(3)
  on.exit(anvil_threads(former))
  expect_identical(anvil_threads(), 3L)
  expect_identical(with_threads(2, anvil_threads()), 2L)
  expect_error(with_threads(2, stop("no")), "no")
  expect_identical(anvil_threads(), 3L)
  expect_identical(withVisible(anvil_threads(0))$visible, FALSE)
  expect_gte(anvil_threads(), 1L)
  for (wrong in list(1.5, NA, "2", c(1, 2), -1)) {
    expect_error(anvil_threads(wrong), class = "anvil_error_argument")
    expect_error(with_threads(wrong, 1), class = "anvil_error_argument")
  }
  expect_error(with_threads(0, 1), class = "anvil_error_argument")
})

# Products, sums, sorts, factorisations, and loops over many elements with and without temporaries.
shared_work <- function() {
  set.seed(1)
  numbers <- function(...) nv_tensor(array(stats::runif(prod(...)), c(...)), "f64")
  m <- numbers(400, 300)
  list(
    sum = list(function(x) sum(exp(x)), numbers(200001)),
    product = list(function(x) x %*% t(x), m),
    softmax = list(function(x) {
      e <- exp(x - nv_broadcast_to(nv_reduce_max(x, 2L, drop = FALSE), c(400L, 300L)))
      e / nv_broadcast_to(nv_reduce_sum(e, 2L, drop = FALSE), c(400L, 300L))
    }, m),
    columns = list(function(x) list(nv_reduce_sum(x, 1L), nv_reduce_prod(x, 1L), nv_reduce_max(x, 1L)), m),
    gradient = list(gradient(function(x) sum(tanh(x %*% t(x)))), m),
    sort = list(function(x) nv_sort(x, 1L), m),
    batch = list(vectorize(function(x) nv_chol(x %*% t(x) + nv_eye(6L, "f64"))), numbers(2000, 6, 6)),
    running = list(function(x) nv_cumsum(x, 1L), m),
    samples = list(function(x) nv_rnorm(c(1000L, 100L), nv_rng_state(1L), dtype = "f64")[[2L]] + x, numbers(1000, 100)),
    loop = list(function(x) nv_while(list(x = x, i = 0L), function(x, i) i < 5L, function(x, i) list(x = sin(x) + x, i = i + 1L))$x, m)
  )
}

test_that("results have the same bits for any number of threads", {
  for (name in names(shared_work())) {
    work <- shared_work()[[name]]
    f <- jit(work[[1L]])
    results <- lapply(1:3, function(n) with_threads(n, lapply(flatten(f(work[[2L]])), as_raw)))
    expect_identical(results[[2L]], results[[1L]], info = name)
    expect_identical(results[[3L]], results[[1L]], info = name)
  }
})

test_that("workers start with one thread", {
  skip_on_cran()
  expect_true(is_worker(c("R", "--no-echo", "-e", "parallel:::.workRSOCK()", "--args", "MASTER=localhost")))
  expect_true(is_worker(c("R", "-e", "mirai::daemon('abstract://x')")))
  expect_false(is_worker(c("R", "--no-save", "--args", "daemon")))
  cluster <- parallel::makePSOCKcluster(1L)
  on.exit(parallel::stopCluster(cluster))
  parallel::clusterCall(cluster, function(paths) .libPaths(paths), .libPaths())
  threads <- parallel::clusterEvalQ(cluster, c(anvil::anvil_threads(), anvil::with_threads(2, anvil::anvil_threads())))
  expect_identical(threads[[1L]], 1:2)
  skip_on_os("windows")
  forked <- with_threads(2, parallel::mclapply(1:2, function(i) anvil_threads(), mc.cores = 2L))
  expect_identical(forked, list(1L, 1L))
  # before any work was shared, and where the worker loads the package
  unused <- in_child("anvil_threads(2)\nunlist(parallel::mclapply(1:2, function(i) anvil_threads(), mc.cores = 2L))")
  expect_identical(unused, c(1L, 1L))
  expect_identical(parallel::mclapply(1:2, function(i) is_worker(), mc.cores = 2L), list(TRUE, TRUE))
})
