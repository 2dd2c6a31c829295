# Whether indices point to places that there are: at once where they are known, and else, if the option asks for it,
# when the program runs.

out_of_bounds <- function(what, size, hint = character(), call = NULL) {
  abort_anvil("index", sprintf("%s is out of bounds for dimension of size %d.", what, size), hint, call = call)
}

# index: an integer tensor or box. sizes: the size of the dimension, or one for each column.
check_places <- function(index, sizes) {
  if (prod(sizes_of(index)) == 0) {
    return(invisible())
  }
  if (is_tensor(index)) {
    data <- matrix(as.double(as_array(index)), ncol = length(sizes))
    check_ends(apply(data, 2L, min), apply(data, 2L, max), sizes)
  } else if (is_tracing() && isTRUE(getOption("anvil.check_index"))) {
    dims <- seq_len(min(1L, rank_of(index)))
    where <- c(paste(sizes, collapse = " "), call_text(user_call() %||% quote(x[...])))
    nvl_print(nv_reduce_min(index, dims), nv_reduce_max(index, dims), format = paste(c(index_check, where), collapse = "\n"))
  }
}

check_ends <- function(least, largest, sizes, ...) {
  for (d in which(least < 1 | largest > sizes)) {
    wrong <- if (least[d] < 1) least[d] else largest[d]
    out_of_bounds(paste("Index", format(wrong)), sizes[d], if (wrong < 0) "i A negative number in a tensor leaves nothing out: use `array(-i)` with R numbers, or a mask.", ...)
  }
}

# A program checks by printing the least and the largest index under this heading; the sizes and the R call follow.
index_check <- "<check of indices>"

check_when_running <- function(format, tensors) {
  where <- strsplit(format, "\n", fixed = TRUE)[[1L]][-1L]
  sizes <- as.integer(strsplit(where[1L], " ", fixed = TRUE)[[1L]])
  ends <- lapply(tensors, function(x) matrix(as.double(as_array(x)), length(sizes))) # a column for each example
  check_ends(apply(ends[[1L]], 1L, min), apply(ends[[2L]], 1L, max), sizes, call = str2lang(where[2L]))
}
