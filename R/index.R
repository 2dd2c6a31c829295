#' Parts of tensors
#'
#' `x[i, j]` takes a part of a tensor, `x[i, j] <- value` gives a tensor with another part;
#' tensors that share data with `x` do not change. `nv_subset()` and `nv_subset_assign()` are
#' the functions behind them.
#'
#' There is one index per dimension. Indices at the end may be left out. An index is
#'
#' * nothing: the whole dimension;
#' * a number: the dimension disappears, unless `drop = FALSE`;
#' * a range written as `a:b`, which may count down, as `seq_len(n)` or as [nv_seq()];
#' * `c(1, 3)`, `array(i)` or `list(1, 3)`: these elements in this order, possibly repeated. A vector `i` that happens
#'   to have one element is a number, as in R; `array(i)` always keeps the dimension;
#' * a logical vector as long as the dimension: the elements where it is `TRUE`;
#' * negative numbers (`-1`, `-3:-1`): all others;
#' * a scalar integer tensor, whose value may be known only when the program runs: the
#'   dimension disappears. `-i` of one leaves its place out, as in `x[-i]`;
#' * an integer tensor with one dimension: these elements, possibly repeated;
#' * in assignments, a `bool` tensor as long as the dimension, a mask: the elements where it is `TRUE`.
#'
#' `x[[i, j]]` takes or assigns one element.
#'
#' One index may also stand for all dimensions: a matrix of numbers or an integer tensor with one column for
#' each dimension, whose rows are the places of single elements; a logical array of the shape of `x`, and in assignments a
#' `bool` tensor of that shape: `x[x < 0] <- 0`.
#'
#' Indices are checked where their values are known, in debug mode always; negative numbers in a tensor
#' leave nothing out, but for `x[-i]`, which is known by how it is written, and are errors. In compiled code an index that points outside of the dimension counts as
#' the nearest end, and what is assigned there by a vector of indices is dropped; what is traced under
#' `options(anvil.check_index = TRUE)` checks its indices when it runs.
#'
#' `value` is a scalar, or has exactly the shape of the part, or is a vector of R as long as a part of one dimension; for a mask it
#' is a scalar. It is converted to the dtype of
#' `x`, if promotion leads there; a number written in R must be one that the dtype
#' has. When an index is repeated, the last value stays.
#'
#' # Differences from R
#'
#' * `x[2:2, ]`, a range written as one, keeps the dimension.
#' * `x[i]` of a matrix takes rows; there is no index into the flattened tensor, and none by names. What [which.max()] and [order()]
#'   count, `nv_flatten(x)[i]` takes. A tensor that is the only index of a matrix is a warning, once in a session: `x[i, ]` is not.
#' * What a `bool` tensor picks has a size that depends on data, so `x[mask]` is an error that says what to do.
#' * 0 is no index, and `value` is not recycled.
#'
#' @param x A tensor.
#' @param ... Indices.
#' @param value A tensor, R array or number.
#' @param drop Whether dimensions indexed by one number disappear.
#' @return A tensor of the dtype of `x`.
#' @family shapes and parts
#' @export
#' @examples
#' x <- nv_tensor(matrix(1:12, 3))
#' x[2, ]
#' x[1:2, c(1, 4)]
#' i <- nv_scalar(3L)
#' x[i, 1]
#' x[1, ] <- 0L
#' x
#' x[nv_tensor(c(3L, 1L, 3L)), ]
#' x[x > 9L] <- 9L
#' x[cbind(1:3, 2:4)]
nv_subset <- function(x, ..., drop = TRUE) {
  check_flag(drop)
  x <- as_operand(x, "x")
  exprs <- as.list(substitute(list(...)))[-1L]
  places <- places_of(sizes_of(x), exprs, function(k) ...elt(k))
  if (is.null(places)) {
    return(take_part(x, index_specs(sizes_of(x), exprs, function(k) ...elt(k), parent.frame()), drop))
  }
  if (!is.null(places$mask)) unknown_size(places$mask)
  take_points(x, places$points)
}

# The elements that the indices `s` name.
take_part <- function(x, s, drop = FALSE) {
  sizes <- sizes_of(x)
  if (any(s$masked)) unknown_size(s$index[[which(s$masked)[1L]]])
  if (any(s$dynamic)) {
    plain <- is_contiguous(s)
    sizes <- ifelse(plain, s$size, sizes)
    x <- record("dynamic_slice", c(list(x), start_operands(s, plain)), list(slice_sizes = sizes))
    s$start[plain] <- 1L
  }
  if (any(s$size != sizes)) {
    x <- record("static_slice", list(x), list(start_indices = s$start, limit_indices = s$start + (s$size - 1L) * s$stride, strides = s$stride))
  }
  if (any(s$flip)) {
    x <- nv_reverse(x, which(s$flip))
  }
  for (d in which(s$picked)) {
    x <- take_picked(x, d, s$pick[[d]])
  }
  few_first <- function(d) d[order(vapply(d, function(k) prod(sizes_of(s$index[[k]])) / sizes_of(x)[k], 0))]
  for (d in few_first(which(s$gathered))) {
    x <- take_gathered(x, d, s$index[[d]])
  }
  if (!drop || all(s$keep)) x else record("reshape", list(x), list(shape = result_sizes(s)[s$keep]))
}

#' @rdname nv_subset
#' @export
nv_subset_assign <- function(x, ..., value) {
  refuse_ifelse()
  x <- as_operand(x, "x")
  exprs <- as.list(substitute(list(...)))[-1L]
  places <- places_of(sizes_of(x), exprs, function(k) ...elt(k))
  if (is.null(places)) {
    s <- index_specs(sizes_of(x), exprs, function(k) ...elt(k), parent.frame())
    return(put_part(x, s, prepare_update(value, type_tag(x), s)))
  }
  if (!is.null(places$mask)) {
    return(nv_ifelse(places$mask, single_value(value, type_tag(x)), x))
  }
  count <- sizes_of(places$points)[1L]
  put_points(x, places$points, prepare_update(value, type_tag(x), list(size = count, picked = FALSE, gathered = FALSE, masked = FALSE, keep = TRUE)))
}

# x with other elements where the indices `s` are; `update` has all dimensions of x. What a tensor of
# indices or a mask names is a part by itself: the others are assigned to within it.
put_part <- function(x, s, update) {
  hard <- which(s$gathered | s$masked)
  if (length(hard) == 0L) {
    return(put_slices(x, s, update))
  }
  d <- hard[length(hard)]
  index <- s$index[[d]]
  mask <- s$masked[d]
  inner <- s
  inner$gathered[d] <- inner$masked[d] <- FALSE
  inner$size[d] <- if (mask) sizes_of(x)[d] else sizes_of(index)
  if (any(inner$size != sizes_of(x)) || any(inner$picked | inner$dynamic | inner$flip | inner$gathered | inner$masked)) {
    update <- put_part(if (mask) x else take_gathered(x, d, index), inner, update)
  }
  if (!mask) {
    return(put_gathered(x, d, index, update))
  }
  mask <- record("broadcast_in_dim", list(index), list(shape = sizes_of(x), broadcast_dimensions = d))
  nv_ifelse(mask, update, x)
}

put_slices <- function(x, s, update) {
  if (any(s$flip)) {
    update <- nv_reverse(update, which(s$flip))
  }
  plain <- is_contiguous(s)
  if (all(plain)) {
    return(record("dynamic_update_slice", c(list(x, update), start_operands(s, plain))))
  }
  for (block in contiguous_blocks(s, plain)) {
    s$start <- block$start
    part <- nv_static_slice(update, block$first, block$first + block$size - 1L)
    x <- record("dynamic_update_slice", c(list(x, part), start_operands(s, TRUE)))
  }
  x
}

# Start indices as operands, 1 where not `plain`; all of one dtype, at least i32.
start_operands <- function(s, plain) {
  starts <- as.list(replace(s$start, !plain, 1L))
  if (!any(s$dynamic)) {
    return(starts)
  }
  starts[s$dynamic] <- s$index[s$dynamic]
  i32 <- dtype_codes[["i32"]]
  codes <- rep(i32, length(starts))
  codes[s$dynamic] <- vapply(s$index[s$dynamic], function(i) type_tag(i)[1L], 1L)
  if (all(codes == i32)) {
    return(starts)
  }
  narrow <- codes < i32 | codes %in% dtype_codes[c("ui8", "ui16")]
  starts[narrow] <- lapply(starts[narrow], convert_to, code = i32)
  .Call(C_anvil_promote, starts, FALSE)
}

# Any elements along dimension d: one slice for each stretch with a constant step.
take_picked <- function(x, d, pick) {
  sizes <- sizes_of(x)
  if (length(pick) == 0L) {
    return(nv_static_slice(x, rep(1L, length(sizes)), replace(sizes, d, 0L)))
  }
  ones <- rep(1L, length(sizes))
  pieces <- lapply(arithmetic_runs(pick), function(run) {
    last <- run$first + (run$size - 1L) * run$step
    start <- replace(ones, d, min(run$first, last))
    limit <- replace(sizes, d, max(run$first, last))
    piece <- nv_static_slice(x, start, limit, replace(ones, d, abs(run$step)))
    if (run$step < 0L) nv_reverse(piece, d) else piece
  })
  record("concatenate", pieces, list(dimension = d))
}

# The stretches without gaps that an index writes to, in every combination, the first dimension
# fastest: where each starts in x, and which elements of the value it takes.
contiguous_blocks <- function(s, plain) {
  along <- lapply(seq_along(s$size), function(d) {
    if (plain[d]) {
      return(data.frame(start = s$start[d], first = 1L, size = s$size[d]))
    }
    places <- if (s$picked[d]) s$pick[[d]] else s$start[d] + (seq_len(s$size[d]) - 1L) * s$stride[d]
    ends <- c(which(diff(places) != 1L), length(places))
    firsts <- c(1L, ends[-length(ends)] + 1L)
    data.frame(start = places[firsts], first = firsts, size = ends - firsts + 1L)
  })
  choices <- do.call(expand.grid, lapply(along, function(b) seq_len(nrow(b))))
  lapply(seq_len(nrow(choices)), function(k) {
    column <- function(name) mapply(function(b, i) b[[name]][i], along, unlist(choices[k, ]))
    list(start = column("start"), first = column("first"), size = column("size"))
  })
}

# The value in the dtype of x, with all dimensions of x, those that are dropped of size 1.
prepare_update <- function(value, tag, s) {
  value <- vector_for(value, s)
  if (!is_tensorish(value)) {
    abort_anvil("argument", "`value` must be a tensor, an R array or a number.", c(
      sprintf("x Got %s.", describe_value(value)),
      if (is_r_data(value)) sprintf("i A vector of R goes with a part of one dimension and its length, and this one has shape %s.", shape2string(result_sizes(s)[s$keep]))
    ))
  }
  if (any(s$masked)) value <- single_value(value, tag)
  value <- value_as(value, tag)
  size <- result_sizes(s)
  given <- sizes_of(value)
  if (length(given) == 0L) {
    return(nv_broadcast_to(value, size))
  }
  if (prod(given) == 1 && prod(size) == 1) {
    return(nv_reshape(value, size))
  }
  if (!identical(given, size[s$keep])) {
    abort_anvil("shape", "Update shape does not match subset shape.", c(
      sprintf("x Got %s and %s.", shape2string(given), shape2string(size[s$keep])),
      "i `value` is repeated only if it is a scalar."
    ))
  }
  if (all(s$keep)) value else record("reshape", list(value), list(shape = size))
}

# A vector of R counts as what has its length and, but for dimensions of size 1, one dimension.
vector_for <- function(value, s) {
  size <- result_sizes(s)[s$keep]
  fits <- is_r_data(value) && length(value) != 1L && is.null(dim(value)) && !any(s$masked) && length(value) == prod(size) && sum(size != 1L) <= 1L
  if (fits) array(value, size) else value
}

# The value for the elements of a mask, of which nobody knows how many there are.
single_value <- function(value, tag) {
  if (!is_tensorish(value) || length(sizes_of(value)) > 0L) {
    abort_anvil("shape", "Where a mask is the index, `value` must be a scalar.", c(
      if (is_tensorish(value)) sprintf("x Got shape %s.", shape2string(sizes_of(value))) else sprintf("x Got %s.", describe_value(value)),
      "i `nv_ifelse(mask, value, x)` takes a `value` of the shape of `x`."
    ))
  }
  value_as(value, tag)
}

value_as <- function(value, tag) {
  dtype <- names(dtype_codes)[tag[1L] + 1L]
  from <- type_tag(value)
  whole <- is_r_data(value) && is.numeric(value) && is_integer_code(tag[1L]) && is_whole(value)
  if (!whole && .Call(C_anvil_common_dtype, from[1L], tag[1L], from[2L] != 0L, FALSE)[1L] != tag[1L]) {
    message <- "Value type %s is not promotable to left-hand side type %s."
    message <- sprintf(message, names(dtype_codes)[from[1L] + 1L], dtype)
    abort_anvil("dtype", message, "i Convert `x` or `value` with `nv_convert()`.")
  }
  if (whole) check_in_range(value, dtype)
  if (is_literal(value)) {
    return(nv_fill(value, integer(), dtype, ambiguous = tag[2L] != 0L))
  }
  if (is_r_array(value)) {
    return(nv_tensor(value, dtype = dtype))
  }
  if (from[1L] == tag[1L]) value else convert_to(value, tag[1L])
}

integer_bits <- function(dtype) as.integer(sub("^u?i", "", dtype))

check_in_range <- function(value, dtype) {
  bits <- integer_bits(dtype)
  signed <- startsWith(dtype, "i")
  whole <- trunc(value)
  wrong <- is.nan(whole) | whole < (if (signed) -2^(bits - 1) else 0) | whole >= 2^(bits - signed)
  if (any(wrong)) {
    abort_anvil("dtype", sprintf("The literal %s is no number of dtype %s.", format(value[wrong][1L]), dtype))
  }
}
