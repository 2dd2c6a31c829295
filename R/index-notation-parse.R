# The formula of nv_index() as a tree. A node is a list of its `kind`, the `expr` it came from, and of kind
# "constant": a `value` of R; "index": a `name`; "read": a tensor `x` and a form for each dimension; "call": a function
# `f`, its `name` and `args`; "reduction": what it is done `by`, `args`, and the indices `over` which it goes.
# An affine form is a list of `by`, the multiples of indices by name, and a `constant`.

code_text <- function(expr) if (is.call(expr)) call_text(expr) else deparse(expr, nlines = 1L)

# A formula as list(left, right): the indices of the left side in order, and the tree.
parse_formula <- function(formula, data, size) {
  if (!inherits(formula, "formula") || length(formula) != 3L) {
    wrong_argument("formula", "a formula with two sides, such as `c[i, j] ~ sum(a[i, k] * b[k, j])`", formula)
  }
  left <- left_indices(formula[[2L]])
  scope <- list(data = data, env = environment(formula))
  scope$indices <- unique(c(left, names(size), reduced_names(formula[[3L]])))
  unused <- setdiff(names(size), c(left, all.vars(formula[[3L]])))
  if (length(unused)) {
    message <- sprintf("`size` names `%s`, which is no index of the formula.", unused[1L])
    abort_anvil("argument", message, sprintf("x The formula is `%s`.", code_text(formula)))
  }
  right <- bind_indices(node_of(formula[[3L]], scope), left)
  loose <- setdiff(open_indices(right), left)
  if (length(loose)) {
    abort_anvil("index", sprintf("`%s` is neither on the left side nor inside of a reduction.", loose[1L]), c(
      sprintf("x In `%s`.", code_text(formula)),
      sprintf("i Write it on the left, or reduce over it, as by `sum(..., over = \"%s\")`.", loose[1L])
    ))
  }
  list(left = left, right = right, indices = scope$indices)
}

left_indices <- function(expr) {
  if (is.name(expr)) {
    return(character())
  }
  indices <- if (is_read(expr) && is.name(expr[[2L]])) as.list(expr)[-(1:2)]
  are_names <- all(vapply(indices, function(x) is.name(x) && !is_missing_argument(x), NA))
  if (!length(indices) || !are_names || anyDuplicated(indices)) {
    must <- "The left side must be a name with different indices, such as `c[i, j]`, or without any."
    abort_anvil("argument", must, sprintf("x Got `%s`.", code_text(expr)))
  }
  vapply(indices, as.character, "")
}

is_read <- function(expr) is.call(expr) && identical(expr[[1L]], quote(`[`))

# What a call reduces by, or NULL.
reduction_of <- function(expr) {
  head <- expr[[1L]]
  if (is.call(head) && as.character(head[[1L]])[1L] %in% c("::", ":::")) head <- head[[3L]]
  name <- if (is.name(head)) sub("^nv_(reduce_)?", "", as.character(head)) else ""
  if (name %in% c("sum", "prod", "mean", "any", "all") || name %in% c("max", "min") && !startsWith(as.character(head), "nv_m")) name
}

# The names that stand alone in a subscript inside of a reduction, or among those that it goes over.
reduced_names <- function(expr, inside = FALSE) {
  if (!is.call(expr)) {
    return(character())
  }
  parts <- Filter(Negate(is_missing_argument), as.list(expr)[-1L])
  inside <- inside || !is.null(reduction_of(expr))
  alone <- if (inside && is_read(expr)) unlist(lapply(Filter(is.name, parts[-1L]), as.character))
  explicit <- if (!is.null(reduction_of(expr))) names_in(parts[["over"]])
  c(alone, explicit, unlist(lapply(unname(parts), reduced_names, inside)))
}

# Of `k`, "k" or c(k, "d").
names_in <- function(expr) if (is.call(expr)) unlist(lapply(as.list(expr)[-1L], names_in)) else as.character(expr)

node_of <- function(expr, scope) {
  if (!any(all.vars(expr) %in% scope$indices)) {
    still <- still_reduction(expr)
    if (!is.null(still)) {
      nothing_to_reduce(still, "i An index that stands alone in no subscript is named in `over`, or in `size`.")
    }
    return(list(kind = "constant", expr = expr, value = value_in_scope(expr, scope)))
  }
  if (is.name(expr)) {
    return(list(kind = "index", expr = expr, name = as.character(expr)))
  }
  if (identical(expr[[1L]], quote(`(`))) {
    return(node_of(expr[[2L]], scope))
  }
  if (is_read(expr)) {
    return(read_node(expr, scope))
  }
  args <- as.list(expr)[-1L]
  by <- reduction_of(expr)
  if (is.null(by)) call_node(expr, args, scope) else reduction_node(expr, args, by, scope)
}

nothing_to_reduce <- function(expr, hint) abort_anvil("index", sprintf("`%s` has no index to go over.", code_text(expr)), hint)

# A reduction in R code of a read at one place that is computed, `sum(x[2 * i])`: a variable `i` is hardly what is meant.
still_reduction <- function(expr) {
  is_sum <- function(e) !is.call(e) || as.character(e[[1L]])[1L] %in% c("+", "-", "*", "(") && all(vapply(as.list(e)[-1L], is_sum, NA))
  is_place <- function(e) is_read(e) && length(all.vars(e)) > length(all.vars(e[[2L]])) && all(vapply(as.list(e)[-(1:2)], is_sum, NA))
  parts <- if (is.call(expr)) as.list(expr)[-1L]
  if (is.call(expr) && !is.null(reduction_of(expr)) && any(vapply(parts, is_place, NA))) {
    return(expr)
  }
  for (part in parts) if (!is_missing_argument(part) && !is.null(found <- still_reduction(part))) return(found)
}

value_in_scope <- function(expr, scope) {
  wrong <- NULL
  value <- in_term(expr, tryCatch(eval(expr, scope$data, scope$env), simpleError = function(e) wrong <<- e))
  if (!is.null(wrong)) {
    abort_anvil("argument", sprintf("`%s` has no value.", code_text(expr)), c(
      sprintf("x %s.", sub("[.]?$", "", conditionMessage(wrong))),
      "i Variables come from `data` and from where the formula was written.",
      "i An index stands on the left side, alone in a subscript inside of a reduction, or in `size`."
    ))
  }
  value
}

# --- reads ---------------------------------------------------------------------------------

read_node <- function(expr, scope) {
  head <- expr[[2L]]
  if (any(all.vars(head) %in% setdiff(scope$indices, if (is.name(head)) as.character(head)))) {
    refuse_subscript("`%s` is indexed, but depends on indices itself.", code_text(head), expr)
  }
  x <- as_vector(value_in_scope(head, scope), code_text(head))
  subscripts <- as.list(expr)[-(1:2)]
  if (length(subscripts) != rank_of(x) || any(vapply(subscripts, is_missing_argument, NA))) {
    message <- sprintf("`%s` must have one index for each dimension.", code_text(expr))
    abort_anvil("index", message, sprintf("x `%s` has shape %s.", code_text(head), shape2string(sizes_of(x))))
  }
  list(kind = "read", expr = expr, x = x, forms = lapply(subscripts, subscript_form, scope, expr))
}

subscript_form <- function(expr, scope, read) {
  form <- affine_form(expr, scope, read)
  gone <- setdiff(intersect(all.vars(expr), scope$indices), names(form$by))
  if (length(gone)) refuse_subscript("`%s` cancels out.", gone[1L], read)
  form
}

affine_form <- function(expr, scope, read) {
  if (!any(all.vars(expr) %in% scope$indices)) {
    return(list(by = integer(), constant = whole_subscript(expr, scope, read)))
  }
  if (is.name(expr)) {
    return(form_of(as.character(expr)))
  }
  operator <- if (is.name(expr[[1L]])) as.character(expr[[1L]]) else ""
  parts <- lapply(as.list(expr)[-1L], function(x) if (operator %in% c("(", "+", "-", "*")) affine_form(x, scope, read))
  fixed <- vapply(parts, function(x) length(x$by) == 0L, NA)
  switch(operator,
    `(` = parts[[1L]],
    `+` = if (length(parts) == 1L) parts[[1L]] else sum_of_forms(parts[[1L]], parts[[2L]]),
    `-` = if (length(parts) == 1L) sum_of_forms(NULL, parts[[1L]], -1) else sum_of_forms(parts[[1L]], parts[[2L]], -1),
    `*` = if (any(fixed)) sum_of_forms(NULL, parts[[2L - fixed[2L]]], parts[[1L + fixed[2L]]]$constant)
  ) %||% refuse_subscript("`%s` is not a sum of indices times whole numbers.", code_text(expr), read)
}

refuse_subscript <- function(message, what, read) abort_anvil("index", sprintf(message, what), sprintf("x In `%s`.", code_text(read)))

# a + times * b, without indices that cancel out.
sum_of_forms <- function(a, b, times = 1) {
  names <- union(names(a$by), names(b$by))
  of <- function(by) ifelse(names %in% names(by), by[names], 0)
  by <- stats::setNames(of(a$by) + times * of(b$by), names)
  list(by = by[by != 0], constant = (a$constant %||% 0) + times * b$constant)
}

whole_subscript <- function(expr, scope, read) {
  value <- value_in_scope(expr, scope)
  if (!is_whole(value) || length(value) != 1L) {
    abort_anvil("index", sprintf("`%s` in `%s` must be a whole number.", code_text(expr), code_text(read)), got_value(value))
  }
  as.double(value)
}

# --- calls and reductions ----------------------------------------------------------------------

call_node <- function(expr, args, scope) {
  head <- expr[[1L]]
  name <- if (is.name(head)) as.character(head) else ""
  instead <- c(`if` = "ifelse()", `&&` = "&", `||` = "|", `[[` = "[", `{` = "(", `<-` = "a function", `function` = "a function made before")
  if (name %in% names(instead)) {
    hint <- sprintf("i Use `%s`.", instead[[name]])
    abort_anvil("argument", sprintf("`%s` can't stand in an index formula.", name), c(sprintf("x In `%s`.", code_text(expr)), hint))
  }
  f <- if (nzchar(name)) get0(name, scope$env, mode = "function") else value_in_scope(head, scope)
  if (!is.function(f)) {
    abort_anvil("argument", sprintf("`%s` is no known function.", code_text(head)), sprintf("x In `%s`.", code_text(expr)))
  }
  # R's own ifelse() and pmax(), where anvil is not attached
  if (is_base_helper(f)) f <- verb_masks[[name]] %||% f
  list(kind = "call", expr = expr, f = f, name = if (is.primitive(f)) name else "", args = lapply(args, node_of, scope))
}

reduction_node <- function(expr, args, by, scope) {
  labels <- names(args) %||% rep("", length(args))
  over <- if (!is.null(args[["over"]])) names_in(args[["over"]])
  refuse <- function(message) abort_anvil("argument", message, sprintf("x In `%s`.", code_text(expr)))
  known <- labels %in% c("", "over")
  if (!all(known)) refuse(sprintf("`%s()` in an index formula has no argument `%s`.", by, labels[!known][1L]))
  args <- unname(lapply(args[labels == ""], node_of, scope))
  if (by == "mean" && length(args) != 1L) refuse("`mean()` in an index formula takes one argument.")
  list(kind = "reduction", expr = expr, by = by, args = args, over = over)
}

# The indices that a node depends on, in order. Those inside of a reduction are its own, unless it names others.
open_indices <- function(node) {
  of_args <- function() unique(unlist(lapply(node$args, open_indices)))
  switch(node$kind,
    constant = NULL,
    index = node$name,
    read = unique(unlist(lapply(node$forms, function(form) names(form$by)))),
    call = of_args(),
    reduction = if (!is.null(node$over)) setdiff(of_args(), node$over)
  )
}

# The tree in which every reduction says what it goes over: what `bound` does not hold, the left side and the reductions around it.
bind_indices <- function(node, bound) {
  if (node$kind == "reduction") {
    inside <- unique(unlist(lapply(node$args, open_indices)))
    wrong <- c(intersect(node$over, bound), setdiff(node$over, inside))
    if (length(wrong)) {
      why <- if (wrong[1L] %in% bound) "is on the left side or in a reduction around it" else "does not stand in it"
      message <- sprintf("`%s()` can't go over `%s`, which %s.", node$by, wrong[1L], why)
      abort_anvil("index", message, sprintf("x In `%s`.", code_text(node$expr)))
    }
    node$over <- node$over %||% setdiff(inside, bound)
    if (!length(node$over) && length(node$args) < 2L) {
      nothing_to_reduce(node$expr, "i All of them are on the left side or in a reduction around it.")
    }
    bound <- c(bound, node$over)
  }
  node$args <- lapply(node$args, bind_indices, bound)
  node
}
