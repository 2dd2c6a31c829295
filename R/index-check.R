# Whether indices point to places that there are: at once where they are known, and else when the program runs, which
# in debug mode is at once, and what is compiled does if the option asks for it.

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
  } else if (is_tracing() && (identical(.Call(C_anvil_purpose), "debug") || option_is_on("anvil.check_index"))) {
    check_when_running(index, sizes)
  }
}

check_when_running <- function(index, sizes) {
  index <- nvl_convert(index, if (as.character(dtype(index)) == "ui64") "ui64" else "i64")
  dims <- seq_len(min(1L, rank_of(index)))
  least <- nv_reduce_min(index, dims)
  largest <- nv_reduce_max(index, dims)
  size <- nv_tensor(sizes, dtype(index), shape = shape(least))
  message <- "Index %s is out of bounds for dimension of size %s."
  nvl_check(least >= 0L, least, size, error = "index", message = paste0(message, "\n", no_negative))
  nvl_check(least >= 1L, least, size, error = "index", message = message)
  nvl_check(largest <= size, largest, size, error = "index", message = message)
}

no_negative <- "i A negative number in a tensor leaves nothing out: use `x[-i]` with a scalar tensor, `array(-i)` with R numbers, or a mask."

check_ends <- function(least, largest, sizes) {
  for (d in which(least < 1 | largest > sizes)) {
    wrong <- if (least[d] < 1) least[d] else largest[d]
    out_of_bounds(paste("Index", format(wrong)), sizes[d], if (wrong < 0) no_negative)
  }
}
