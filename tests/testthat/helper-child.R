# Code in an R process of its own, for what may end or hang a session, or changes what all
# tests share. The code's value comes back; a child that dies is an error.
child_script <- function(code, results) {
  script <- tempfile("child", fileext = ".R")
  library <- dirname(find.package("anvil"))
  writeLines(c(
    sprintf(".libPaths(c(%s, .libPaths()))", deparse(library)),
    "suppressMessages(library(anvil))",
    "result <- local({", code, "})",
    sprintf("saveRDS(result, %s)", deparse(results))
  ), script)
  script
}

# limit: of the address space, in kB.
in_child <- function(code, timeout = 300, environment = character(), limit = NULL) {
  results <- tempfile("results", fileext = ".rds")
  log <- tempfile("log")
  script <- child_script(code, results)
  rscript <- file.path(R.home("bin"), "Rscript")
  command <- c(rscript, "--vanilla", shQuote(script))
  if (!is.null(limit)) command <- c("sh", "-c", shQuote(sprintf("ulimit -v %.0f; exec %s", limit, paste(command, collapse = " "))))
  status <- suppressWarnings(system2(command[1L], command[-1L], stdout = log, stderr = log, timeout = timeout, env = environment))
  if (status != 0L || !file.exists(results)) {
    stop("the child ended with status ", status, ":\n", paste(utils::tail(readLines(log, warn = FALSE), 15L), collapse = "\n"), call. = FALSE)
  }
  readRDS(results)
}
