#' Primitives and their rules
#'
#' `prim()` finds a primitive by its name. Its `$rules` hold R functions: `"backward"`
#' makes the gradients of its inputs, `"jvp"` the tangents of its outputs, `"batch"` the outputs for a batch of
#' examples, `"stablehlo"` its StableHLO form. The first two print the formula that they record, for an example, or
#' by `print(rule, call = graph$calls[[1]])` for a call of yours. Those of the package's own primitives cannot be set, but
#' [local_rule()] puts another one in their place for a while. Rules under any other name, such as `"cost"`,
#' can be set for all primitives, by `p[["cost"]] <- f` or `p$rules[["cost"]] <- f`: they are for transformations of your own, see [walk_graph()].
#'
#' A primitive is a function, too, which records one call as it stands in a graph: `prim("argmax")(x, dim = 1, drop = TRUE)` takes operands
#' in their order and parameters by their names, inner graphs as graphs, and gives positions that count from 0.
#'
#' `AnvilPrimitive()` makes a primitive of your own, in terms of others:
#' `p[["forward"]]` is a function of the operands and parameters that says what it
#' computes. Optionally, `p[["backward"]]` is its derivative, a function
#' `(inputs, outputs, grads, <parameters>, .required)` that returns a list with one
#' gradient, or `NULL`, per input; without a derivative, it goes through the
#' forward rule. What the backward rule shall not compute again, `p[["augment"]]` keeps: a function
#' `(inputs, <parameters>)` that in a gradient stands for the forward rule and returns
#' `list(outputs = , residuals = )`; the backward rule then gets `residuals`, a list of tensors, after `grads`.
#' A derivative of forward mode ([jvp()]) is `p[["jvp"]]`, a function `(inputs, outputs, tangents, <parameters>)`
#' that returns a list with one tangent, or `NULL`, per output; `tangents` has zeros where nothing flows. Each mode takes the
#' transpose of the other's rule where it has none, which has to be linear in `grads` or `tangents`. A rule says what the
#' derivatives by the operands are: where one by a value that the forward rule reads besides would be lost, that is an error.
#'
#' `p[["batch"]]` says what [vectorize()] makes of a call: a function `(inputs, batched, size, <parameters>)` of the inputs of all
#' examples, which lie along a last dimension of those that are `batched`, a logical vector, and are `size` many. It
#' returns the outputs of all examples, likewise. A derivative of the batch is that of what this rule records, so a primitive with a
#' backward rule calls itself there. Without it, a primitive is batched as what it, and its derivative, are made of.
#'
#' `p[["stablehlo"]]` says what text has in the place of a call: a function of the operands and parameters, as
#' `p[["forward"]]` is, of which it is another form; its calls are written, those of the forward rule where there is
#' none. So a call of a function that others have under a name ([nv_custom_call()]), or a form without loops, stands in text.
#' A reader of the text finds these calls there, [read_stablehlo()] as well.
#'
#' After `register_primitive()`, `p(operands..., parameters...)`
#' records a call, and compiled code, debug mode, gradients and StableHLO work.
#'
#' @param name The name; for `prim()` either spelling (`"div"` or `"divide"`), or
#'   nothing for a list of all primitives.
#' @param primitive An `AnvilPrimitive`.
#' @param overwrite Whether a primitive of that name, made by `AnvilPrimitive()`, may
#'   be replaced.
#' @return `prim()`: an `AnvilPrimitive`, or a list of them. `AnvilPrimitive()`: an `AnvilPrimitive`. `register_primitive()`: the
#'   primitive, as a function, invisibly.
#' @family primitives
#' @export
#' @examples
#' prim("mul")
#' prim("mul")$rules[["backward"]]
#'
#' # a primitive with a derivative of its own: clip gradients
#' p <- AnvilPrimitive("clip_gradient")
#' p[["forward"]] <- function(operand, limit) operand
#' p[["backward"]] <- function(inputs, outputs, grads, limit, .required) {
#'   list(nv_clamp(-limit, grads[[1L]], limit))
#' }
#' clip_gradient <- register_primitive("clip_gradient", p, overwrite = TRUE)
#' f <- function(x) clip_gradient(x, limit = 0.5) * 3
#' jit(gradient(f))(nv_scalar(1))
prim <- function(name = NULL) {
  if (is.null(name)) {
    keys <- .Call(C_anvil_primitives)
    return(stats::setNames(lapply(keys, prim), keys))
  }
  known_primitive(check_string(name)) %||%
    abort_anvil("argument", sprintf("There is no primitive named `%s`.", name), "i `names(prim())` lists all of them.")
}

# NULL where there is none.
known_primitive <- function(name) {
  known <- own_primitives[[name]] %||% core_primitives[[name]]
  if (!is.null(known)) {
    return(known)
  }
  info <- .Call(C_anvil_primitive_info, name)
  if (is.null(info)) {
    return(NULL)
  }
  if (is.null(core_primitives[[info$key]])) {
    p <- AnvilPrimitive(info$name, info$graphs)
    about <- environment(p)
    about$info <- info
    about$rules <- about$core <- core_rules(info)
    assign(info$key, p, envir = core_primitives)
  }
  core_primitives[[info$key]]
}

# What the registry says of each primitive of the core, one a row; for the vignette on internals.
primitive_table <- function() {
  infos <- lapply(.Call(C_anvil_primitives), function(key) .Call(C_anvil_primitive_info, key))
  infos <- Filter(function(info) info$family != "composite", infos)
  column <- function(field) vapply(infos, function(info) info[[field]], "")
  hlo <- column("hlo")
  hlo[!nzchar(hlo)] <- "expansion"
  data.frame(
    primitive = column("key"), acts = column("acts"), reverse = column("reverse"), jvp = column("jvp"), batched = column("batched"),
    loops = column("loops"), evaluated = column("evaluated"), StableHLO = hlo
  )
}

core_primitives <- new.env(parent = emptyenv())
own_primitives <- new.env(parent = emptyenv())

#' @rdname prim
#' @param subgraphs Names of the parameters that hold graphs.
#' @export
AnvilPrimitive <- function(name, subgraphs = character()) {
  check_string(name)
  if (!is.character(subgraphs)) wrong_argument("subgraphs", "a character vector", subgraphs)
  rules <- list()
  info <- core <- kept <- strict <- NULL # of a primitive of the core what the registry says and its rules; what a call keeps, its strict function
  self <- function(...) apply_primitive(environment(self), list(...))
  structure(self, class = "AnvilPrimitive")
}

primitive_rules <- c("forward", "backward", "augment", "jvp", "batch", "stablehlo")

#' @export
`$.AnvilPrimitive` <- function(x, name) {
  if (name %in% c("name", "rules", "subgraphs")) get(name, envir = environment(x)) else NULL
}

#' @export
`[[.AnvilPrimitive` <- function(x, i, ...) {
  check_rule_name(x, i)
  x$rules[[i]]
}

#' @export
`[[<-.AnvilPrimitive` <- function(x, i, value) {
  check_string(i)
  if (!is.function(value) && !is.null(value)) {
    abort_anvil("argument", sprintf("The rule \"%s\" must be a function.", i), sprintf("x Got <%s>.", described_class(value)))
  }
  about <- environment(x)
  if (!is.null(about$core) && i %in% primitive_rules) {
    abort_anvil("argument", sprintf("The rule \"%s\" of `%s` is the package's own.", i, x$name), c(
      if (i %in% replaceable_rules) sprintf("i `local_rule(p, \"%s\", f)` puts another one in its place until the calling function ends.", i),
      "i Rules under other names can be set, for transformations of your own."
    ))
  }
  about$rules[[i]] <- value
  x
}

# p$rules[["interval"]] <- f
#' @export
`$<-.AnvilPrimitive` <- function(x, name, value) {
  if (name != "rules" || !is.list(value)) {
    abort_anvil("argument", sprintf("The field `%s` of a primitive cannot be set.", name), "i Its rules can: `p[[\"cost\"]] <- f`.")
  }
  for (i in union(names(value), names(x$rules))) {
    if (!identical(value[[i]], x$rules[[i]])) x[[i]] <- value[[i]]
  }
  x
}

check_rule_name <- function(x, i) {
  if (!is.character(i) || !(i %in% c(primitive_rules, names(x$rules)))) {
    abort_anvil("argument", sprintf("A primitive has no rule \"%s\".", format(i)), sprintf("i The rules of `%s` are %s.", x$name, paste0("\"", union(primitive_rules, names(x$rules)), "\"", collapse = ", ")))
  }
}

#' @export
format.AnvilPrimitive <- function(x, ...) paste0("<AnvilPrimitive:", x$name, ">")

#' @export
print.AnvilPrimitive <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  invisible(x)
}

# --- primitives defined in R ----------------------------------------------------------

#' @rdname prim
#' @export
register_primitive <- function(name, primitive, overwrite = FALSE) {
  if (!inherits(primitive, "AnvilPrimitive")) {
    abort_anvil("argument", "`primitive` must be an AnvilPrimitive.", sprintf("x Got <%s>.", described_class(primitive)))
  }
  if (!identical(check_string(name), primitive$name)) {
    abort_anvil("argument", "`name` must be the primitive's name.", sprintf("x Got \"%s\" for `%s`.", name, primitive$name))
  }
  check_flag(overwrite)
  if (is.null(primitive[["forward"]])) {
    abort_anvil("argument", sprintf("`%s` has no rule \"forward\".", name), "i It says what the primitive computes, in terms of other functions.")
  }
  if (is.null(primitive[["backward"]]) && !is.null(primitive[["augment"]])) {
    abort_anvil("argument", sprintf("`%s` has a rule \"augment\" without a rule \"backward\".", name), "i The latter gets what the former keeps.")
  }
  .Call(C_anvil_register, name, rules_for_core(name, primitive$rules, function(rule) primitive[[rule]]), overwrite)
  assign(name, primitive, envir = own_primitives)
  invisible(primitive)
}

# A call of a primitive. One that is made of others: tensors among the arguments are its operands. Any other call, and
# one that brings its definition, is recorded as it stands in a graph.
apply_primitive <- function(about, args) {
  name <- about$name
  if (is.null(own_primitives[[name]]) || !is.null(args$definition) || !is.null(about$kept)) {
    if (is.null(about$info) && is.null(about$kept) && is.null(own_primitives[[name]])) {
      abort_anvil("argument", sprintf("`%s` is not registered.", name), "i Use `register_primitive()`.")
    }
    return(record_call(about$kept %||% name, args))
  }
  forward <- about$rules$forward
  args <- match_arguments(forward, args)
  operand <- vapply(args, function(x) is_value(x), NA)
  graph <- trace_graph(function(operands) call_with(forward, c(operands, args[!operand]), name), list(operands = args[operand]), mode = "state")
  out <- record(name, unname(args[operand]), c(args[!operand], list(definition = graph)))
  unflatten(graph$out_tree, if (is.list(out)) out else list(out))
}

# One call as it stands in a graph: positions count from 0; inner graphs are graphs, or functions of walk_graph().
record_call <- function(name, args) {
  inner <- vapply(args, function(x) is.function(x) || inherits(x, "AnvilGraph"), NA)
  args[inner] <- lapply(args[inner], inner_graph)
  .External2(C_anvil_record_call, name, args)
}

inner_graph <- function(x) {
  if (inherits(x, "AnvilGraph")) {
    if (length(foreign <- .Call(C_anvil_foreign, x))) {
      abort_anvil("trace", "An inner graph reads values of the graph around it, which is not the one that is being built.", c(
        sprintf("x It reads %s.", paste(foreign, collapse = ", ")),
        "i `walk_graph()` gives a function in its place, which reads the new values."
      ))
    }
    return(x)
  }
  graph <- attr(x, "graph")
  if (is.null(graph) && length(formals(args(x)))) {
    abort_anvil("argument", "An inner graph must be a graph, or a function without arguments.", "i `trace_fn(f, types)` makes a graph of a function.")
  }
  trace_graph(function(...) x(...), lapply(graph$inputs, function(v) to_abstract(v$aval, pure = TRUE)), mode = "state", what = "An inner graph")
}

# Records one call: operands are tensors, boxes or R values; params a named list of R
# values, dimensions and indices 1-based. Gives a box, or a list when there are several
# results. Strict: no promotion, no broadcasting.
record <- function(name, operands, params = NULL) .External2(C_anvil_record, name, operands, params)

# The same after promotion to the common dtype and, unless broadcast = FALSE,
# broadcasting of scalars. With `least = "number"` bools among themselves count as i32; with "float" they and integers become
# floats of the default dtype.
record_promoted <- function(name, operands, params = NULL, broadcast = TRUE, least = "any") {
  .External2(C_anvil_record_promoted, name, operands, params, broadcast, least)
}

# A function with the bodies of these two in its own: a call between costs R about as much as recording does.
recording_at_once <- function(f) {
  inline <- function(expr) {
    if (!is.call(expr)) {
      return(expr)
    }
    name <- if (is.name(expr[[1L]])) as.character(expr[[1L]]) else ""
    for (i in seq_along(expr)) if (is.call(expr[[i]])) expr[[i]] <- inline(expr[[i]])
    if (!name %in% c("record", "record_promoted")) {
      return(expr)
    }
    called <- get(name)
    given <- as.list(match.call(called, expr))[-1L]
    body <- body(called)
    if (identical(body[[1L]], quote(`{`))) body <- body[[2L]]
    eval(call("substitute", body, utils::modifyList(formals(called), given, keep.null = TRUE)))
  }
  body(f) <- inline(body(f))
  f
}
