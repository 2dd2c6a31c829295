#' Threads
#'
#' Compiled programs share large work among threads: products, factorisations of batches, sorting of several lines, and
#' loops over many elements. Small work is done by one. Results have the same bits for any number of
#' threads. In debug mode, outside of [jit()], one thread works.
#'
#' At first as many threads work as the process may use: its processors, less where a container or a batch
#' job has a share of them, where the environment variables `OMP_NUM_THREADS` or `OMP_THREAD_LIMIT` say less, and
#' two in checks of packages that ask for few (`_R_CHECK_LIMIT_CORES_`). A worker of 'parallel', 'future' or
#' 'mirai' starts with one, and so does a process made by `parallel::mclapply()`, because there the
#' processors have work already: call `anvil_threads(n)` in the worker for more.
#'
#' @param n How many threads work at once, R's own among them: a whole number. 0 is as many as at first; `NULL`
#'   changes nothing.
#' @param expr An expression, evaluated with so many threads.
#' @return `anvil_threads()`: the number of threads; with `n` the former number, invisibly.
#'   `with_threads()`: the value of `expr`.
#' @family settings of a session
#' @export
#' @examples
#' anvil_threads()
#' f <- jit(function(x) sum(exp(x)))
#' x <- nv_tensor(seq(0, 1, length.out = 1e6), "f64")
#' one <- with_threads(1, f(x))
#' identical(as_array(one), as_array(f(x)))
anvil_threads <- function(n = NULL) {
  if (is.null(n)) return(.Call(C_anvil_threads, NULL))
  invisible(.Call(C_anvil_threads, check_whole_number(n, "n", lower = 0)))
}

#' @rdname anvil_threads
#' @export
with_threads <- function(n, expr) {
  check_whole_number(n, "n", lower = 1)
  former <- anvil_threads(n)
  on.exit(anvil_threads(former))
  expr
}

# Whether this process is one of several that a package started to share its work.
is_worker <- function(arguments = commandArgs()) {
  is_forked() || any(grepl("(workRSOCK|slaveRSOCK|workMPI|mirai::+\\.?daemon)", arguments))
}

# By parallel, which tells nobody but itself.
is_forked <- function() {
  asks <- if (isNamespaceLoaded("parallel")) get0("isChild", asNamespace("parallel"), mode = "function")
  !is.null(asks) && isTRUE(asks())
}
