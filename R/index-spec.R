# What the indices of a subset mean. Vectors with one element per dimension: `size` elements from
# `start` in steps of `stride`, in reverse order if `flip`. Where `dynamic`, the start is the scalar
# tensor in `index`. Where `picked`, the elements are those in `pick`, out of all. `keep`: whether
# the result has the dimension.

index_specs <- function(sizes, exprs, value, env) {
  rank <- length(sizes)
  none <- logical(rank)
  ones <- rep(1L, rank)
  s <- list(start = ones, size = sizes, stride = ones, flip = none, keep = !none, dynamic = none, index = vector("list", rank), picked = none, pick = vector("list", rank))
  n <- length(exprs)
  if (n == 1L && is_missing_argument(exprs[[1L]])) {
    return(s)
  }
  if (n > rank) {
    abort_anvil("argument", "Too many subset specifications.", c(
      sprintf("x Got %d, expected at most %d.", n, rank),
      "i There is one for each dimension; `x[i, ]` has two."
    ))
  }
  for (d in seq_len(n)) {
    if (!is_missing_argument(exprs[[d]])) {
      s <- set_spec(s, d, index_spec(exprs[[d]], function() value(d), sizes[d], env))
    }
  }
  s
}

is_missing_argument <- function(expr) identical(expr, quote(expr = ))

set_spec <- function(s, d, spec) {
  if (!is.null(spec$index)) {
    s$dynamic[d] <- TRUE
    s$index[[d]] <- spec$index
    s$size[d] <- 1L
    s$keep[d] <- FALSE
  } else if (!is.null(spec$pick)) {
    s$picked[d] <- TRUE
    s$pick[[d]] <- spec$pick
  } else {
    s$start[d] <- spec$start
    s$size[d] <- spec$size
    s$stride[d] <- spec$stride %||% 1L
    s$flip[d] <- isTRUE(spec$flip)
    s$keep[d] <- spec$keep %||% TRUE
  }
  s
}

is_contiguous <- function(s) !s$picked & s$stride == 1L

# Of the part, dropped dimensions included.
result_sizes <- function(s) {
  s$size[s$picked] <- lengths(s$pick)[s$picked]
  s$size
}

# --- one index ------------------------------------------------------------------------
# Lists of those of start, size, stride, flip, keep, index and pick that it takes.

index_spec <- function(expr, value, size, env) {
  while (is.call(expr) && identical(expr[[1L]], quote(`(`))) expr <- expr[[2L]]
  head <- if (is.call(expr) && is.name(expr[[1L]])) as.character(expr[[1L]]) else ""
  if (head == "nv_seq") {
    return(index_by_range(nv_seq_range(expr, env), size))
  }
  index <- value()
  if (is_value(index)) {
    index_by_tensor(index, size)
  } else if (head %in% c(":", "seq_len", "seq_along") && is.numeric(index)) {
    index_by_range(index, size)
  } else {
    index_by_numbers(index, size)
  }
}

nv_seq_range <- function(call, env) {
  call <- match.call(nv_seq, call)
  if (!is.null(call$steps)) {
    abort_anvil("argument", "As an index, `nv_seq()` must count: leave `steps` out.")
  }
  check_whole_number(eval(call$start, env), "start"):check_whole_number(eval(call$end, env), "end")
}

out_of_bounds <- function(what, size) {
  abort_anvil("index", sprintf("%s is out of bounds for dimension of size %d.", what, size))
}

index_by_range <- function(range, size) {
  n <- length(range)
  if (n == 0L) {
    return(list(start = 1L, size = 0L))
  }
  first <- range[1L]
  last <- range[n]
  if (!is_whole(c(first, last)) || min(first, last) < 1 || max(first, last) > size) {
    out_of_bounds(sprintf("Range %s:%s", format(first), format(last)), size)
  }
  list(start = as.integer(min(first, last)), size = n, flip = first > last)
}

index_by_numbers <- function(index, size) {
  if (is.list(index) && !is.object(index)) {
    if (length(index) == 0L || !all(lengths(index) == 1L)) {
      abort_anvil("index", "A list as an index must hold single whole numbers, and at least one.")
    }
    return(index_by_vector(unlist(index), size))
  }
  if (!(is.numeric(index) || is.logical(index)) || is.object(index) || length(dim(index)) > 1L) {
    abort_anvil("index", "An index must be a number, a range, `array()` or `list()` of numbers, or an integer tensor.", sprintf("x Got %s.", describe_value(index)))
  }
  if (is.null(dim(index)) && is.numeric(index)) {
    if (length(index) != 1L) {
      wrong <- if (length(index)) "> 1" else "0"
      abort_anvil("index", sprintf("Vectors of length %s are not allowed as subset indices.", wrong), c(
        sprintf("x Got %s.", describe_value(index)),
        "i With one element it would drop the dimension, with two not. Use `array(i)`, which never does."
      ))
    }
    if (isTRUE(index >= 1)) {
      return(list(start = check_index(index, size), size = 1L, keep = FALSE))
    }
  }
  index_by_vector(as.vector(index), size)
}

check_index <- function(index, size) {
  if (!is_whole(index)) {
    abort_anvil("index", "An index must be a whole number.", sprintf("x Got %s.", describe_value(index)))
  }
  wrong <- index < 1 | index > size
  if (any(wrong)) {
    out_of_bounds(paste("Index", format(index[wrong][1L])), size)
  }
  as.integer(index)
}

index_by_vector <- function(index, size) {
  if (is.logical(index)) {
    if (length(index) != size || anyNA(index)) {
      abort_anvil("index", sprintf("A logical index must have length %d, that of the dimension, and no `NA`.", size), sprintf("x Got %s.", describe_value(index)))
    }
    index <- which(index)
  } else if (length(index) > 0L && is_whole(index) && all(index < 0)) {
    index <- seq_len(size)[-check_index(-index, size)]
  }
  index <- check_index(index, size)
  index_by_places(index)
}

index_by_places <- function(index) {
  runs <- arithmetic_runs(index)
  if (length(runs) != 1L) {
    return(if (length(runs) == 0L) list(start = 1L, size = 0L) else list(pick = index))
  }
  step <- runs[[1L]]$step
  list(start = min(index), size = length(index), stride = abs(step), flip = step < 0L)
}

index_by_tensor <- function(index, size) {
  tag <- type_tag(index)
  if (!is_integer_code(tag[1L])) {
    abort_anvil("index", "Dynamic indices must be integers.", c(
      sprintf("x Got %s.", type_text(index)),
      if (tag[1L] == 0L) "i The shape of the result would depend on data: use `nv_ifelse()`, or a logical R vector."
    ))
  }
  if (length(tag) == 2L) {
    return(list(index = index))
  }
  if (length(tag) > 3L) {
    abort_anvil("index", "Dynamic indices must be at most 1D.", sprintf("x Got %s.", type_text(index)))
  }
  if (!is_tensor(index)) {
    abort_anvil("index", "Several indices must be known when the program is traced.", c(
      sprintf("x Got %s.", type_text(index)),
      "i Use a scalar tensor, or `array()` of fixed numbers."
    ))
  }
  if (size == 0L) {
    out_of_bounds("A dynamic index", size)
  }
  index_by_places(as.integer(pmin(pmax(as.double(as_array(index)), 1), size)))
}

# Stretches of a vector of indices with one step: lists of first, size and step. A step of 0
# does not count.
arithmetic_runs <- function(index) {
  runs <- list()
  at <- 1L
  steps <- diff(index)
  while (at <= length(index)) {
    end <- at
    step <- if (at < length(index) && steps[at] != 0L) steps[at] else 1L
    while (end < length(index) && steps[end] == step) end <- end + 1L
    runs[[length(runs) + 1L]] <- list(first = index[at], size = end - at + 1L, step = step)
    at <- end + 1L
  }
  runs
}
