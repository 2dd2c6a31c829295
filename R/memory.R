#' The memory of tensors
#'
#' Tensors of more than 64 kB, and what compiled programs need while they run, take their
#' memory from a pool. When R's garbage collector finds that a tensor is gone, its memory
#' is kept for the next one, because new memory from the system costs more than most
#' operations. At most a quarter of the memory that the process may use is kept (in a
#' container, of the container's), and what nobody needed for a while goes back to the
#' system after a garbage collection.
#'
#' When there is not enough memory, garbage is collected and all that is kept is given up; if that does
#' not help, the call fails with an error of class `anvil_error_memory`, and the session goes on.
#' LLVM, which makes machine code at the first call of a compiled function, is no part of that: it ends
#' the process when it gets no memory.
#'
#' @param release Whether to collect garbage and to give everything that is kept back to
#'   the system.
#' @return A list of numbers of bytes: `used` by tensors and running programs, `kept` for
#'   the next ones, `limit` of what is kept, and `available`: what the process can still
#'   get from the system. `anvil_memory(release = TRUE)` gives what is left, invisibly.
#' @family settings of a session
#' @export
#' @examples
#' x <- nv_empty("f64", c(1000, 1000))
#' anvil_memory()
#' rm(x)
#' anvil_memory(release = TRUE)
anvil_memory <- function(release = FALSE) {
  check_flag(release, "release")
  if (release) gc()
  bytes <- .Call(C_anvil_memory, release)
  memory <- structure(as.list(stats::setNames(bytes[1:4], c("used", "kept", "limit", "available"))), class = "anvil_memory")
  if (release) invisible(memory) else memory
}

#' @export
format.anvil_memory <- function(x, ...) {
  sizes <- vapply(unclass(x), format_amount, "", c("bytes", "kB", "MB", "GB", "TB", "PB"))
  c(
    "Memory of tensors",
    sprintf("  %-10s %10s", "used", sizes["used"]),
    sprintf("  %-10s %10s  for the next ones, of at most %s", "kept", sizes["kept"], sizes["limit"]),
    sprintf("  %-10s %10s  from the system", "available", sizes["available"])
  )
}

# A number of things with three digits; each of the units is a thousand times the one before.
format_amount <- function(x, units = c("", "k", "M", "G", "T", "P")) {
  if (is.na(x)) {
    return("")
  }
  unit <- if (x < 1000) 0 else min(floor(log10(x) / 3), length(units) - 1)
  trimws(paste(format(signif(x / 1000^unit, 3)), units[unit + 1]))
}

#' @export
print.anvil_memory <- function(x, ...) {
  cat(format(x), sep = "\n")
  invisible(x)
}
