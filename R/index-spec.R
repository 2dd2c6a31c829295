# What the indices of a subset mean. Vectors with one element per dimension: `size` elements from
# `start` in steps of `stride`, in reverse order if `flip`. Where `dynamic`, the start is the scalar
# tensor in `index`. Where `picked`, the elements are those in `pick`, out of all, where `gathered` those
# in the tensor `index`, where `masked` those where the tensor `index` is true. `keep`: whether the
# result has the dimension.

index_specs <- function(sizes, exprs, value, env) {
  rank <- length(sizes)
  none <- logical(rank)
  ones <- rep(1L, rank)
  s <- list(start = ones, size = sizes, stride = ones, flip = none, keep = !none, dynamic = none, index = vector("list", rank), picked = none, pick = vector("list", rank), gathered = none, masked = none)
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
    s$index[[d]] <- spec$index
    kind <- spec$kind %||% "dynamic"
    s[[kind]][d] <- TRUE
    if (kind == "dynamic") {
      s$size[d] <- 1L
      s$keep[d] <- FALSE
    }
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

is_contiguous <- function(s) !s$picked & !s$gathered & s$stride == 1L

# Of the part, dropped dimensions included.
result_sizes <- function(s) {
  s$size[s$picked] <- lengths(s$pick)[s$picked]
  s$size[s$gathered] <- vapply(s$index[s$gathered], sizes_of, 1L)
  s$size
}

# --- one index ------------------------------------------------------------------------
# Lists of those of start, size, stride, flip, keep, index with its kind, and pick that it takes.

index_spec <- function(expr, value, size, env) {
  while (is.call(expr) && identical(expr[[1L]], quote(`(`))) expr <- expr[[2L]]
  head <- if (is.call(expr) && is.name(expr[[1L]])) as.character(expr[[1L]]) else ""
  if (head == "nv_seq") {
    return(index_by_range(nv_seq_range(expr, env), size))
  }
  index <- value()
  if (is_value(index)) {
    index_by_tensor(index, size, is_minus = head == "-" && length(expr) == 2L)
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

index_by_range <- function(range, size) {
  n <- length(range)
  if (n == 0L) {
    return(list(start = 1L, size = 0L))
  }
  first <- range[1L]
  last <- range[n]
  if (isTRUE(max(first, last) < 0)) {
    return(index_by_vector(range, size))
  }
  if (!is_whole(c(first, last)) || min(first, last) < 1 || max(first, last) > size) {
    out_of_bounds(sprintf("Range %s:%s", format(first), format(last)), size)
  }
  list(start = as.integer(min(first, last)), size = n, flip = first > last)
}

index_by_numbers <- function(index, size) {
  if (is.null(index)) index <- integer()
  if (is.list(index) && !is.object(index)) {
    if (length(index) == 0L || !all(lengths(index) == 1L)) {
      abort_anvil("index", "A list as an index must hold single whole numbers, and at least one.")
    }
    return(index_by_vector(unlist(index), size))
  }
  if (!(is.numeric(index) || is.logical(index)) || is.object(index) || length(dim(index)) > 1L) {
    abort_anvil("index", "An index must be a number, a range, a vector or `list()` of numbers, or an integer tensor.", c(
      sprintf("x Got %s.", describe_value(index)),
      if (is.character(index)) "i Tensors have no names; a list of tensors, `x$a`, has."
    ))
  }
  if (is.null(dim(index)) && is.numeric(index) && length(index) == 1L && isTRUE(index >= 1)) {
    return(list(start = check_index(index, size), size = 1L, keep = FALSE))
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
  } else if (is_whole(index) && any(index < 0) && any(index > 0)) {
    abort_anvil("index", "Negative numbers in an index leave places out, and go with no positive ones.", sprintf("x Got %s.", describe_value(index)))
  }
  index <- check_index(index, size)
  index_by_places(index)
}

# A few stretches become slices, of more the elements are gathered.
index_by_places <- function(index) {
  if (length(index) == 0L) {
    return(list(start = 1L, size = 0L))
  }
  steps <- diff(index)
  if (length(steps) > 64L && sum(diff(steps) != 0L) > 32L) {
    return(list(index = nv_tensor(as.integer(index)), kind = "gathered"))
  }
  runs <- arithmetic_runs(index)
  if (length(runs) != 1L) {
    return(list(pick = index))
  }
  step <- runs[[1L]]$step
  list(start = min(index), size = length(index), stride = abs(step), flip = step < 0L)
}

index_by_tensor <- function(index, size, is_minus) {
  tag <- type_tag(index)
  rank <- length(tag) - 2L
  if (tag[1L] == 0L && rank == 1L && tag[3L] == size) {
    return(list(index = index, kind = "masked"))
  }
  if (!is_integer_code(tag[1L])) {
    abort_anvil("index", "Dynamic indices must be integers.", c(
      sprintf("x Got %s.", type_text(index)),
      if (is_float_code(tag[1L]) && tag[2L] != 0L) "i Numbers beside an integer need an `L`, as `i + 1L`: `1` makes it a float.",
      if (is_float_code(tag[1L])) "i `nv_convert(i, \"i32\")` makes integers of it.",
      if (tag[1L] == 0L) sprintf("i A mask has the length %d of the dimension, or the shape of the tensor.", size)
    ))
  }
  if (rank > 1L) {
    abort_anvil("index", "Dynamic indices must be at most 1D.", c(
      sprintf("x Got %s.", type_text(index)),
      "i A matrix of indices is the only index, and has a column for each dimension."
    ))
  }
  if (size == 0L && (rank == 0L || tag[3L] > 0L)) {
    out_of_bounds("A dynamic index", size)
  }
  if (!is.null(out <- left_out(index, is_minus))) {
    return(list(index = all_others(out, size), kind = "gathered"))
  }
  check_places(index, size)
  list(index = index, kind = if (rank == 0L) "dynamic" else "gathered")
}

# The place that `-i` leaves out, NULL for another index. Values are not asked: programs that are compiled do not know
# them. How many places several leave out depends on data.
left_out <- function(index, is_minus) {
  out <- if (!is_tensor(index)) .Call(C_anvil_negated, index)
  if (is.null(out) && is_minus) out <- nv_negate(index)
  if (is.null(out)) {
    return(NULL)
  }
  if (prod(sizes_of(out)) == 1) {
    return(nv_reshape(out, integer()))
  }
  abort_anvil("index", "How many places a vector of negative numbers leaves out depends on data.", c(
    sprintf("x Got %s.", type_text(index)),
    "i Leave out one, `x[-i]` of a scalar `i`, use `array(-i)` with R numbers, or a mask."
  ))
}

all_others <- function(out, size) {
  check_places(out, size)
  if (integer_bits(as.character(dtype(out))) < 32L) out <- nv_convert(out, "i32")
  places <- nv_iota(1L, dtype(out), size - 1L, start = 1L)
  nv_add(places, nv_convert(nv_ge(places, out), dtype(out)))
}

unknown_size <- function(mask) {
  abort_anvil("index", "The size of what a mask picks depends on data.", c(
    sprintf("x Got %s.", type_text(mask)),
    "i `nv_ifelse(mask, x, 0)` keeps the shape; sums and means take that as well.",
    "i A mask whose values are known is an index as R data: `x[as_array(mask)]`."
  ))
}

# --- one index for all dimensions ------------------------------------------------------
# NULL, or a list of `mask`, a bool tensor of the shape of x, or of `points`, a matrix of places.

places_of <- function(sizes, exprs, value) {
  if (length(exprs) != 1L || length(sizes) == 0L || is_missing_argument(exprs[[1L]])) {
    return(NULL)
  }
  index <- value(1L)
  if (is_value(index)) {
    return(places_by_tensor(index, sizes))
  }
  if (is.object(index) || length(dim(index)) < 2L) {
    return(NULL)
  }
  if (is.logical(index) && identical(dim(index), sizes) && !anyNA(index)) {
    return(list(points = nv_tensor(unname(which(index, arr.ind = TRUE)))))
  }
  if (!is.numeric(index) || !identical(dim(index)[2L], length(sizes)) || length(dim(index)) > 2L) {
    return(NULL)
  }
  columns <- vapply(seq_along(sizes), function(d) check_index(index[, d], sizes[d]), integer(nrow(index)))
  list(points = nv_tensor(matrix(columns, ncol = length(sizes))))
}

places_by_tensor <- function(index, sizes) {
  tag <- type_tag(index)
  if (tag[1L] == 0L && identical(tag[-(1:2)], sizes)) {
    return(list(mask = index))
  }
  if (is_integer_code(tag[1L]) && length(tag) < 4L && length(sizes) > 1L) warn_rows()
  if (!is_integer_code(tag[1L]) || length(tag) != 4L || tag[4L] != length(sizes)) {
    return(NULL)
  }
  check_places(index, sizes)
  list(points = index)
}

# Stretches of a vector of indices with one step: lists of first, size and step. A step of 0
# does not count.
arithmetic_runs <- function(index) {
  runs <- list()
  steps <- diff(index)
  changes <- c(which(diff(steps) != 0L), length(steps)) # the last step of each stretch
  at <- 1L
  while (at <= length(index)) {
    step <- if (at < length(index)) steps[at] else 0L
    end <- if (step == 0L) at else changes[match(TRUE, changes >= at)] + 1L
    runs[[length(runs) + 1L]] <- list(first = index[at], size = end - at + 1L, step = if (step == 0L) 1L else step)
    at <- end + 1L
  }
  runs
}
