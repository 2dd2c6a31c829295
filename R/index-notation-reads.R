# What a formula reads as a view of the tensor, in steps: a border is put around it, each dimension is cut to the positions
# that are read, dimensions in which several indices meet become windows, and of an index in several dimensions the diagonal
# is taken. Meanwhile a view is a list of its `value`, the `forms` of its dimensions and the numbers `low` and `high` of zeros around
# them that are still to be put there; in the end it is a list of its `value` and the `indices` of its dimensions, a term.

sliced_read <- function(node, ctx) {
  if (any(ctx$sizes[open_indices(node)] == 0L)) {
    return(empty_term(node, ctx))
  }
  none <- rep(0, length(node$forms))
  view <- list(value = node$x, forms = node$forms, low = none, high = none)
  if (!identical(ctx$border, "error")) view <- with_border(view, ctx)
  sizes <- sizes_of(view$value)
  ends <- vapply(view$forms, range_of_form, numeric(2L), ctx$sizes)
  first <- pmax(ends[1L, ] - view$low, 1)
  last <- pmin(ends[2L, ] - view$low, sizes)
  times <- vapply(view$forms, function(form) if (length(form$by) == 1L) form$by[[1L]] else 1, 1)
  if (any(first != 1 | last != sizes | abs(times) != 1)) view$value <- nv_static_slice(view$value, first, last, abs(times))
  if (any(times < 0)) view$value <- nv_reverse(view$value, which(times < 0))
  single <- count_indices(view) == 1L
  view$forms[single] <- lapply(view$forms[single], function(form) form_of(names(form$by)))
  moving <- count_indices(view) > 0L
  if (all(moving)) {
    return(view)
  }
  value <- record("reshape", list(view$value), list(shape = sizes_of(view$value)[moving]))
  list(value = value, forms = view$forms[moving], low = view$low[moving], high = view$high[moving])
}

form_of <- function(index) list(by = stats::setNames(1, index), constant = 0)
count_indices <- function(view) lengths(lapply(view$forms, `[[`, "by"))

# Of a read of which an index has size 0.
empty_term <- function(node, ctx) {
  indices <- as.character(open_indices(node))
  list(value = nv_fill(zero_like(node$x), unname(ctx$sizes[indices]), dtype(node$x)), indices = indices)
}

# --- borders -------------------------------------------------------------------------------

with_border <- function(view, ctx) {
  n <- sizes_of(view$value)
  ends <- vapply(view$forms, range_of_form, numeric(2L), ctx$sizes)
  low <- pmax(1 - ends[1L, ], 0)
  high <- pmax(ends[2L, ] - n, 0)
  view$forms <- Map(function(form, by) replace(form, "constant", form$constant + by), view$forms, low)
  if (is.numeric(ctx$border) || ctx$border == "zero") {
    return(padded(view, low, high, fill = if (is.numeric(ctx$border)) ctx$border else 0, ends))
  }
  for (d in which(low > 0 | high > 0)) {
    if (n[d] == 0L) {
      abort_anvil("shape", "A dimension of size 0 has no elements for its border.", "i A number as `border` needs none.")
    }
    extended <- if (ctx$border == "wrap") wrapped else clamped
    view$value <- extended(view$value, d, low[d], high[d])
  }
  view
}

# Zeros around windows wait for a convolution, which puts them there itself: `low` and `high` of them, if any window meets the tensor.
padded <- function(view, low, high, fill, ends) {
  wait <- identical(as.double(fill), 0) & count_indices(view) > 1L & ends[1L, ] <= sizes_of(view$value) & ends[2L, ] >= 1
  view$low <- ifelse(wait, low, 0)
  view$high <- ifelse(wait, high, 0)
  view$value <- with_zeros(view$value, low - view$low, high - view$high, if (fill == 0) zero_like(view$value) else fill)
  view
}

with_zeros <- function(x, low, high, fill = zero_like(x)) if (any(low > 0 | high > 0)) nv_pad(x, fill, low, high) else x

wrapped <- function(x, d, low, high) {
  n <- sizes_of(x)[d]
  take_picked(x, d, as.integer((seq(1 - low, n + high) - 1) %% n + 1))
}

clamped <- function(x, d, low, high) {
  n <- sizes_of(x)
  edge <- function(at, times) {
    ends <- replace(n, d, at)
    if (times > 0) nv_broadcast_to(nv_static_slice(x, replace(rep(1L, length(n)), d, at), ends), replace(n, d, as.integer(times)))
  }
  do.call(nv_concatenate, c(Filter(Negate(is.null), list(edge(1L, low), x, edge(n[d], high))), dimension = d))
}

# --- from views to terms ---------------------------------------------------------------------

is_term <- function(view) is.null(view$forms)

term_of_view <- function(view, ctx) {
  if (is_term(view)) {
    return(view)
  }
  view$value <- with_zeros(view$value, view$low, view$high)
  while (any(several <- count_indices(view) > 1L)) view <- with_windows(view, which(several)[1L], ctx)
  term <- list(value = view$value, indices = vapply(view$forms, function(form) names(form$by), ""))
  while (anyDuplicated(term$indices)) term <- with_diagonal(term)
  term
}

# Dimension d as that of its longest index, which stays there, and one of the others, which goes to the end.
with_windows <- function(view, d, ctx) {
  by <- view$forms[[d]]$by
  by <- by[order(-ctx$sizes[names(by)])]
  rest <- list(by = by[-1L], constant = 0)
  plain <- length(by) == 2L
  width <- if (plain) ctx$sizes[[names(by)[2L]]] else diff(range_of_form(rest, ctx$sizes)) + 1
  x <- nvl_windows(view$value, d, width, abs(by[[1L]]), if (plain) abs(by[[2L]]) else 1L)
  back <- c(if (by[[1L]] < 0) d, if (plain && by[[2L]] < 0) rank_of(x))
  view$forms[[d]] <- form_of(names(by)[1L])
  list(value = if (length(back)) nv_reverse(x, back) else x, forms = c(view$forms, list(if (plain) form_of(names(by)[2L]) else rest)))
}

# In R's order the elements of the diagonal of two first dimensions of size n are n + 1 apart.
with_diagonal <- function(term) {
  second <- anyDuplicated(term$indices)
  pair <- c(match(term$indices[second], term$indices), second)
  others <- setdiff(seq_along(term$indices), pair)
  x <- record("transpose", list(term$value), list(permutation = c(pair, others)))
  sizes <- sizes_of(x)
  x <- record("reshape", list(x), list(shape = c(sizes[1L] * sizes[2L], sizes[-(1:2)])))
  ones <- rep(1L, length(others))
  x <- nv_static_slice(x, c(1L, ones), c(sizes[1L] * sizes[2L], sizes[-(1:2)]), c(sizes[1L] + 1L, ones))
  list(value = x, indices = term$indices[c(pair[1L], others)])
}
