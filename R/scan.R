#' Loops over steps
#'
#' * `nv_scan()` carries a state from step to step and stacks what each step gives;
#' * `nv_fori()` carries a state through the whole numbers from `from` to `to`;
#' * `nv_map()` applies a function to one element after the other, where [vectorize()] takes all at once: it
#'   needs the memory of one;
#' * `nv_associative_scan()` gives the combinations of the first 1, 2, ..., n elements by an associative function, in
#'   about \eqn{2 \log_2 n}{2 log2(n)} calls of it on many elements at once, instead of n calls one after the other.
#'
#' `body` and `f` are traced once; in debug mode they run as R loops. All of them have derivatives in both modes
#' ([gradient()], [jvp()]), can be batched ([vectorize()]), compiled ([jit()]), and written as StableHLO. The memory
#' of derivatives is that of [nv_while()].
#'
#' @param init The state before the first step: a tensor, or a nested list of them. R's numbers, vectors, arrays and time series become
#'   tensors: of the default dtype a number, else doubles of `f64` unless a default was set, see [default_dtypes()].
#' @param xs What the steps read, or `NULL`: a tensor or a nested list of them, or of R data as for `init`, whose first dimensions have
#'   one size. Step `i` gets the elements `i` along it, without that dimension.
#' @param body For `nv_scan()` a function `(carry, x)` that returns `list(carry = , out = )`: the next state, of the structure
#'   and types of `init`, and what is stacked, a tensor, a nested list of them, or `NULL`; `x` is `NULL` without
#'   `xs`. For `nv_fori()` a function `(i, state)` that returns the next state; `i` is an `i32` scalar.
#' @param steps How many steps there are, where `xs` does not say it.
#' @param reverse Whether to go from the last element to the first: then `nv_associative_scan()` gives `f(x[n], x[n-1])` and
#'   so on. Results stay in the order of the elements.
#' @param checkpoint As for [nv_while()].
#' @param from,to The first and the last whole number: numbers, or `i32` scalars. There is no step where `to` is less.
#' @param f For `nv_map()` a function of an element of `xs` that returns tensors; for `nv_associative_scan()` a function
#'   of two elements that gives one of their types, with `f(f(a, b), c)` equal to `f(a, f(b, c))`.
#' @param dims The dimension of all tensors in `xs` along which the elements lie.
#' @return `nv_scan()`: `list(carry = , out = )`, the last state and what the steps gave, stacked along a new first dimension.
#'   `nv_fori()`: the last state. `nv_map()`: the results, stacked along a new first dimension.
#'   `nv_associative_scan()`: tensors of the types of `xs`.
#' @family control flow
#' @name nv_scan
#' @examples
#' # an exponentially weighted mean
#' smooth <- function(x) {
#'   nv_scan(nv_scalar(0), x, function(m, x) {
#'     m <- 0.9 * m + 0.1 * x
#'     list(carry = m, out = m)
#'   })$out
#' }
#' jit(smooth)(nv_tensor(c(1, 2, 3)))
#' gradient(function(x) sum(smooth(x)))(nv_tensor(c(1, 2, 3)))
#'
#' jit(function(x) nv_fori(1, 10, x, function(i, x) x + i))(nv_scalar(0L))
#' nv_map(nv_tensor(matrix(1:6, 3)), function(row) sum(row))
#'
#' # the linear recurrence y[i] = a[i] y[i-1] + b[i] in logarithmic depth
#' after <- function(l, r) list(a = l$a * r$a, b = r$a * l$b + r$b)
#' nv_associative_scan(list(a = nv_tensor(c(0.5, 0.5, 2)), b = nv_tensor(c(1, 1, 1))), after)$b
NULL

#' @rdname nv_scan
#' @export
nv_scan <- function(init, xs = NULL, body, steps = NULL, reverse = FALSE, checkpoint = NULL) {
  check_function(body, "body")
  check_arity(body, 2L, "body")
  check_flag(reverse, "reverse")
  segment_length(checkpoint) # an error where it is wrong
  tree <- build_tree(init)
  state <- lapply(given_leaves(init, "`init`"), nv_value)
  scan <- list(tree = tree, xs = xs_of(xs), body = body, carried = length(state))
  n <- scan_steps(scan$xs$leaves, steps)
  places <- if (reverse) rev(seq_len(n)) else seq_len(n)
  if (n > 0L && !is_tracing() && !any(vapply(c(state, scan$xs$leaves), is_box, NA))) {
    return(scan_in_r(scan, state, places))
  }
  step <- trace_graph(function(i, carry) scan_step(scan, carry, i), list(i = nv_scalar(1L), carry = state), mode = "state", what = "`body`")
  carry <- seq_len(scan$carried)
  check_state_types(tree, list(inputs = step$inputs[-1L], outputs = step$outputs[carry]), "carry")
  outs <- lapply(step$outputs[setdiff(seq_along(step$outputs), carry)], function(out) {
    nv_fill(0, c(n, shape(out)), dtype = dtype(out), ambiguous = FALSE)
  })
  if (n == 0L) {
    return(list(carry = unflatten(tree, state), out = unflatten(out_tree_of(step$out_tree), outs)))
  }
  loop <- nv_while(
    list(k = 1L, carry = state, out = outs), function(k, carry, out) k <= n,
    function(k, carry, out) {
      i <- if (reverse) n + 1L - k else k
      made <- as_leaves(.Call(C_anvil_inline, step, c(list(i), carry)))
      list(k = k + 1L, carry = made[seq_along(carry)], out = Map(put_at, out, made[length(carry) + seq_along(out)], list(i)))
    },
    checkpoint = checkpoint
  )
  list(carry = unflatten(tree, loop$carry), out = unflatten(out_tree_of(step$out_tree), loop$out))
}

#' @rdname nv_scan
#' @export
nv_fori <- function(from, to, init, body, checkpoint = NULL) {
  check_function(body, "body")
  check_arity(body, 2L, "body")
  if (!tree_size(build_tree(init))) abort_anvil("argument", "`init` must hold tensors.")
  bound <- function(x, name) {
    if (!is_value(x)) {
      return(check_whole_number(x, name))
    }
    if (rank_of(x) != 0L || !is_integer_dtype(dtype(x))) wrong_argument(name, "a whole number or an integer scalar", x)
    nv_convert(x, "i32")
  }
  from <- bound(from, "from")
  to <- bound(to, "to")
  # behind the largest number comes the least one
  ends <- !is_value(to) && to < .Machine$integer.max
  nv_while(list(i = from, state = init), function(i, state) if (ends) i <= to else i <= to & i >= from, function(i, state) {
    list(i = i + 1L, state = body(i, state))
  }, checkpoint = checkpoint)$state
}

#' @rdname nv_scan
#' @export
nv_map <- function(xs, f) {
  check_function(f)
  nv_scan(list(), xs, function(carry, x) list(carry = carry, out = f(x)))$out
}

#' @rdname nv_scan
#' @export
nv_associative_scan <- function(xs, f, dims = 1L, reverse = FALSE) {
  check_function(f)
  check_flag(reverse, "reverse")
  xs <- xs_of(xs)
  if (!length(xs$leaves)) abort_anvil("argument", "`xs` must hold tensors.")
  dim <- check_whole_number(dims, "dims", lower = 1L)
  along <- vapply(xs$leaves, function(x) if (rank_of(x) < dim) NA_integer_ else as.integer(shape(x)[dim]), 1L)
  if (anyNA(along) || any(along != along[1L])) {
    abort_anvil("shape", "All tensors in `xs` must have the dimension `dims`, with one size.", sprintf("x `dims` is %d, the shapes are %s.", dim, shapes_text(xs$leaves)))
  }
  combine <- vectorize(function(a, b) f(a, b), axis = dim, out_axis = dim)
  joined <- function(a, b) {
    made <- combine(unflatten(xs$tree, a), unflatten(xs$tree, b))
    check_same_tree(xs$tree, build_tree(made), "`f` must give an element of the structure of those that it combines.", c("`xs`", "`f`"))
    flatten(made)
  }
  turn <- function(leaves) if (reverse) lapply(leaves, nvl_reverse, dims = dim) else leaves
  unflatten(xs$tree, turn(scan_pairs(turn(xs$leaves), joined, dim)))
}

# --- nv_scan() ---------------------------------------------------------------------------

xs_of <- function(xs) list(tree = build_tree(xs), leaves = lapply(given_leaves(xs, "`xs`"), nv_value))

shapes_text <- function(leaves) paste(vapply(leaves, function(x) shape2string(shape(x)), ""), collapse = " and ")

scan_steps <- function(xs, steps) {
  if (!is.null(steps)) steps <- check_whole_number(steps, "steps", lower = 0L)
  if (!length(xs)) {
    if (is.null(steps)) abort_anvil("argument", "Without `xs`, `steps` must say how many steps there are.")
    return(steps)
  }
  sizes <- vapply(xs, function(x) if (rank_of(x)) as.double(shape(x)[1L]) else NA_real_, 0)
  if (anyNA(sizes)) abort_anvil("shape", "All tensors in `xs` must have a dimension to go along.", sprintf("x The shapes are %s.", shapes_text(xs)))
  if (any(sizes != sizes[1L])) {
    abort_anvil("shape", "The first dimensions of all tensors in `xs` must have one size.", sprintf("x The shapes are %s.", shapes_text(xs)))
  }
  if (!is.null(steps) && steps != sizes[1L]) {
    abort_anvil("argument", "`steps` must be the size of the first dimensions in `xs`, or be left out.", sprintf("x It is %d, that size is %d.", steps, as.integer(sizes[1L])))
  }
  as.integer(sizes[1L])
}

# The leaves of the next state and of what is stacked, as a list of two.
scan_step <- function(scan, carry, i) {
  x <- unflatten(scan$xs$tree, lapply(scan$xs$leaves, element_at, i))
  made <- scan$body(unflatten(scan$tree, carry), x)
  if (!is_container(made) || !setequal(names(made), c("carry", "out")) && !identical(names(made), "carry")) {
    abort_anvil("argument", "`body` must return `list(carry = , out = )`.", sprintf("x Got %s.", describe_value(made)))
  }
  check_same_tree(scan$tree, build_tree(made$carry), "`body` must return a `carry` of the structure of `init`.", c("`init`", "`body`"))
  list(carry = flatten(made$carry), out = made["out"])
}

out_tree_of <- function(tree) {
  leaves <- unflatten(tree, as.list(seq_len(tree_size(tree))))$out$out
  reindex_tree(build_tree(leaves))
}

scan_in_r <- function(scan, state, places) {
  outs <- vector("list", length(places))
  for (i in places) {
    made <- scan_step(scan, state, i)
    next_state <- lapply(check_outputs(made$carry, "`body`"), nv_value)
    check_state_types(scan$tree, list(inputs = state, outputs = next_state), "carry")
    state <- next_state
    out <- made$out$out
    outs[[i]] <- lapply(check_outputs(flatten(out), "`body`"), nv_value)
  }
  stacked <- lapply(seq_along(outs[[1L]]), function(k) {
    rows <- lapply(outs, function(leaves) nv_reshape(leaves[[k]], c(1L, shape(leaves[[k]]))))
    do.call(nv_concatenate, c(rows, dimension = 1L))
  })
  list(carry = unflatten(scan$tree, state), out = unflatten(build_tree(out), stacked))
}

starts_at <- function(x, i) c(list(i), rep(list(1L), rank_of(x) - 1L))
# Without elements only the type of one counts.
element_at <- function(x, i) {
  sizes <- shape(x)
  if (sizes[1L] == 0L) {
    return(nv_fill(0, sizes[-1L], dtype = dtype(x)))
  }
  nv_reshape(record("dynamic_slice", c(list(x), starts_at(x, i)), list(slice_sizes = c(1L, sizes[-1L]))), sizes[-1L])
}
put_at <- function(x, value, i) {
  record("dynamic_update_slice", c(list(x, nv_reshape(value, c(1L, shape(value)))), starts_at(x, i)))
}

# --- nv_associative_scan() ---------------------------------------------------------------
# All running combinations: those of neighbouring pairs are every second one, and each of the others
# is the one before it with one more element (Blelloch, 1990).

scan_pairs <- function(x, joined, axis) {
  n <- as.integer(shape(x[[1L]])[axis])
  if (n < 2L) {
    return(x)
  }
  pairs <- n %/% 2L
  second <- scan_pairs(joined(along_axis(x, axis, 1L, 2L * pairs, 2L), along_axis(x, axis, 2L, 2L * pairs, 2L)), joined, axis)
  first <- along_axis(x, axis, 1L, 1L)
  if (n > 2L) {
    next_ones <- along_axis(x, axis, 3L, n, 2L)
    first <- join_along(first, joined(along_axis(second, axis, 1L, (n - 1L) %/% 2L), next_ones), axis)
  }
  both <- interleave(along_axis(first, axis, 1L, pairs), second, axis)
  if (n %% 2L) join_along(both, along_axis(first, axis, pairs + 1L, pairs + 1L), axis) else both
}

along_axis <- function(x, axis, from, to, by = 1L) {
  lapply(x, function(x) {
    sizes <- shape(x)
    nvl_static_slice(x, replace(rep(1L, length(sizes)), axis, from), replace(sizes, axis, to), replace(rep(1L, length(sizes)), axis, by))
  })
}
join_along <- function(a, b, axis) Map(function(a, b) nv_concatenate(a, b, dimension = axis), a, b)
interleave <- function(a, b, axis) {
  Map(function(a, b) {
    sizes <- shape(a)
    apart <- append(sizes, 1L, axis - 1L)
    nv_reshape(nv_concatenate(nv_reshape(a, apart), nv_reshape(b, apart), dimension = axis), replace(sizes, axis, 2L * sizes[axis]))
  }, a, b)
}
