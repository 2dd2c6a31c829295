# The values of a formula's tree. A term is a list of a `value`, a tensor or a number of R, and the `indices` that its
# dimensions stand for. `ctx` holds the `sizes` of all indices, the `order` in which terms have them, the `border`
# and the dtype of indices that are used as numbers.

term_of <- function(node, ctx) {
  switch(node$kind,
    constant = list(value = scalar_constant(node), indices = character()),
    index = list(value = nv_iota(1L, ctx$index_dtype, ctx$sizes[[node$name]]), indices = node$name),
    read = term_of_view(sliced_read(node, ctx), ctx),
    call = term_of_call(node, ctx),
    reduction = term_of_reduction(node, ctx)
  )
}

scalar_constant <- function(node) {
  x <- node$value
  if (!is_literal(x) && !(is_tensorish(x) && rank_of(x) == 0L)) {
    what <- if (is_tensorish(x)) sprintf("has shape %s", shape2string(sizes_of(x))) else sprintf("is %s", describe_value(x))
    abort_anvil("index", sprintf("`%s` must be a single number where it has no indices.", code_text(node$expr)), sprintf("x It %s.", what))
  }
  x
}

ordered <- function(indices, ctx) intersect(ctx$order, indices)
indices_of <- function(terms, ctx) ordered(unlist(lapply(terms, `[[`, "indices")), ctx)

# The value of a term with dimensions for these indices, in their order.
spread_term <- function(term, indices, ctx) {
  if (identical(term$indices, indices)) {
    return(term$value)
  }
  if (length(term$indices) == length(indices)) {
    return(record("transpose", list(term$value), list(permutation = match(indices, term$indices))))
  }
  shape <- unname(ctx$sizes[indices])
  record("broadcast_in_dim", list(term$value), list(shape = shape, broadcast_dimensions = match(term$indices, indices)))
}

# Two terms by an elementwise function; numbers of R stay what they are.
joined <- function(f, a, b, ctx) {
  indices <- indices_of(list(a, b), ctx)
  values <- lapply(list(a, b), function(term) if (length(term$indices)) spread_term(term, indices, ctx) else term$value)
  list(value = f(values[[1L]], values[[2L]]), indices = indices)
}

# --- calls -------------------------------------------------------------------------------------

# Functions that are known to act element by element. Any other is called for one element, and vectorized.
elementwise_functions <- c(
  "+", "-", "*", "/", "^", "%%", "%/%", "==", "!=", "<", "<=", ">", ">=", "&", "|", "!", "abs", "sign", "floor", "ceiling", "sqrt", "exp",
  "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
  "lgamma", "digamma"
)

term_of_call <- function(node, ctx) {
  direct <- node$name %in% elementwise_functions
  values <- lapply(node$args, function(arg) if (arg$kind == "constant" && !direct) list(value = arg$value) else term_of(arg, ctx))
  indices <- indices_of(values, ctx)
  mapped <- lengths(lapply(values, `[[`, "indices")) > 0L
  args <- lapply(values, `[[`, "value")
  args[mapped] <- lapply(values[mapped], spread_term, indices, ctx)
  f <- node$f
  value <- in_term(node$expr, if (direct || !any(mapped)) call_with(f, args) else vectorized_call(f, args, mapped, length(indices)))
  if (!is_tensorish(value) || rank_of(value) != length(indices)) {
    got <- if (is_tensorish(value)) shape2string(sizes_of(value)[-seq_along(indices)]) else describe_value(value)
    abort_anvil("shape", sprintf("`%s` must give one number for each element.", code_text(node$expr)), c(
      sprintf("x It gives %s%s.", if (is_tensorish(value)) "shape " else "", got),
      "i Reductions are `sum()`, `prod()`, `max()`, `min()`, `mean()`, `any()` and `all()`."
    ))
  }
  list(value = value, indices = indices)
}

vectorized_call <- function(f, args, mapped, rank) {
  each <- function(elements) call_with(f, replace(args, mapped, elements))
  for (k in seq_len(rank)) each <- vectorize(each)
  each(unname(args[mapped]))
}

# Errors name the innermost term in which they happened.
in_term <- function(expr, code) {
  failed <- NULL
  value <- tryCatch(code, anvil_error = function(e) failed <<- e)
  if (is.null(failed)) {
    return(value)
  }
  if (is.null(failed$term)) {
    failed$message <- paste0(failed$message, "\n", rlang::format_error_bullets(c(i = sprintf("In `%s`.", code_text(expr)))))
    failed$term <- expr
  }
  failed$call <- user_call()
  stop(failed)
}

# --- reductions ----------------------------------------------------------------------------------

term_of_reduction <- function(node, ctx) {
  verb <- reduction_verb(if (node$by == "mean") "sum" else node$by)
  reduced <- function(arg) {
    over <- intersect(node$over, open_indices(arg))
    if (length(over) && node$by %in% c("sum", "mean")) {
      return(sum_of_product(factors_of(arg), over, ctx, if (node$by == "mean") as_float else identity))
    }
    term <- term_of(arg, ctx)
    if (is_literal(term$value)) {
      return(term)
    }
    list(value = verb[[1L]](term$value, match(over, term$indices)), indices = setdiff(term$indices, over))
  }
  in_term(node$expr, {
    term <- Reduce(function(a, b) joined(verb[[2L]], a, b, ctx), lapply(node$args, reduced))
    if (node$by == "mean") term$value <- nv_div(term$value, prod(as.double(ctx$sizes[node$over])))
    term
  })
}

# The factors of a product.
factors_of <- function(node) {
  if (node$kind == "call" && node$name == "*") unlist(lapply(node$args, factors_of), recursive = FALSE) else list(node)
}

# The sum of a product over indices: factors without these stand before the sum, the others are contracted.
sum_of_product <- function(factors, over, ctx, to = identity) {
  views <- lapply(factors, function(node) if (node$kind == "read") sliced_read(node, ctx) else term_of(node, ctx))
  values <- unname(do.call(nv_promote_to_common, lapply(views, `[[`, "value")))
  if (type_tag(values[[1L]])[1L] == 0L) values <- lapply(values, as_number)
  views <- Map(function(view, value) replace(view, "value", list(to(value))), views, values)
  summed <- vapply(factors, function(node) any(open_indices(node) %in% over), NA)
  term <- if (sum(summed) == 2L) convolved(views[summed], over, ctx)
  if (any(summed) && is.null(term)) term <- contracted(lapply(views[summed], term_of_view, ctx), over, ctx)
  Reduce(function(a, b) joined(nv_mul, a, b, ctx), c(if (any(summed)) list(term), lapply(views[!summed], term_of_view, ctx)))
}
