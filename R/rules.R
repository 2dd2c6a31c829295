# The rules of the core as R functions, how they print, and rules that stand in their place for a while.

core_rules <- function(info) {
  rules <- list(
    backward = if (info$backward) shown_rule(backward_rule(info), info, "grads"),
    jvp = if (nzchar(info$jvp)) shown_rule(jvp_rule(info), info, "tangents"),
    batch = if (!(info$batched %in% c("shared", "loop"))) batch_rule(info),
    stablehlo = if (nzchar(info$hlo)) stablehlo_rule(info)
  )
  rules[!vapply(rules, is.null, NA)]
}

# A function with these arguments (no defaults) and this body.
make_function <- function(arguments, body) {
  formals <- stats::setNames(rep(list(quote(expr = )), length(arguments)), arguments)
  f <- as.function(c(formals, body), envir = topenv())
  attr(f, "srcref") <- NULL
  f
}

named_list_call <- function(names) as.call(c(quote(list), stats::setNames(lapply(names, as.name), names)))

backward_rule <- function(info) {
  params <- c(info$parameters, info$graphs)
  make_function(
    c("inputs", "outputs", "grads", params, ".required"),
    bquote(reverse_rule(.(info$key), inputs, outputs, grads, .(named_list_call(params)), .required))
  )
}

reverse_rule <- function(name, inputs, outputs, grads, params, .required) {
  .Call(C_anvil_reverse, name, inputs, outputs, grads, list(params, .required))
}

jvp_rule <- function(info) {
  params <- c(info$parameters, info$graphs)
  make_function(c("inputs", "outputs", "tangents", params), bquote(tangents_rule(.(info$key), inputs, outputs, tangents, .(named_list_call(params)))))
}

tangents_rule <- function(name, inputs, outputs, tangents, params) .Call(C_anvil_forward, name, inputs, outputs, tangents, params)

batch_rule <- function(info) {
  params <- c(info$parameters, info$graphs)
  make_function(c("inputs", "batched", "size", params), bquote(batched_record(.(info$key), inputs, batched, size, .(named_list_call(params)))))
}

# The outputs of a call for a batch of `size` examples, along a last dimension; so are the inputs that are `batched`.
batched_record <- function(name, inputs, batched, size, params) {
  inputs <- lapply(inputs, nv_value)
  sizes <- vapply(inputs[batched], function(x) as.double(rev(shape(x))[1L]), 0)
  if (length(batched) != length(inputs) || !any(batched) || !all(sizes %in% size)) {
    abort_anvil("argument", "`batched` must have a flag for each of `inputs`, `TRUE` for those whose last dimension has `size` examples.")
  }
  args <- list(operands = inputs)
  batched_call(function(operands) record(name, operands, params), build_tree(args), inputs, batched)$leaves
}

stablehlo_rule <- function(info) {
  arguments <- c(info$operands, info$parameters, info$graphs)
  operands <- as.call(c(quote(list), lapply(info$operands, as.name)))
  make_function(arguments, bquote(list(hlo_call(.(info$key), .(operands), .(named_list_call(c(info$parameters, info$graphs)))))))
}

# The StableHLO operation of one call of a primitive, as text.
hlo_call <- function(name, operands, params) {
  graph <- trace_graph(function(operands) record(name, operands, params), list(operands = operands), mode = "state")
  text <- strsplit(repr(stablehlo(graph)[[1L]]), "\n", fixed = TRUE)[[1L]]
  structure(list(text = paste(text[-c(1L, length(text) - 1:0)], collapse = "\n")), class = "HloCall")
}

#' @export
print.HloCall <- function(x, ...) {
  cat(x$text, "\n", sep = "")
  invisible(x)
}


# --- how they print ------------------------------------------------------------------------------
# The formula is what the rule records for a call: for the types of an example, since shapes are part of it, or of a
# call that is given.

# flows: "grads" or "tangents", what the rule gets
shown_rule <- function(f, info, flows) structure(f, info = info, flows = flows, class = c("AnvilRule", "function"))

#' @export
print.AnvilRule <- function(x, call = NULL, ...) {
  cat(format(x, call = call), sep = "\n")
  invisible(x)
}

#' @export
format.AnvilRule <- function(x, call = NULL, ...) {
  info <- attr(x, "info")
  if (!is.null(call)) check_class(call, "PrimitiveCall", "i The field `calls` of a graph is a list of them.")
  example <- if (is.null(call)) example_call(info) else list(types = lapply(call$inputs, pure_type), params = call$params)
  head <- sprintf("function(%s)", paste(names(formals(x)), collapse = ", "))
  if (is.null(example)) {
    return(c(head, sprintf("# The core's rule of `%s`: its formula depends on the call. print(rule, call = graph$calls[[1]]) shows that of a call.", info$key)))
  }
  # a derivative that does not exist says why
  code <- tryCatch(rule_code(x, info, example), anvil_error_gradient = function(e) paste("#", strsplit(conditionMessage(e), "\n", fixed = TRUE)[[1L]]))
  c(example_text(info, example), head, code)
}

pure_type <- function(v) to_abstract(v$aval, pure = TRUE)

example_text <- function(info, example) {
  names <- operand_names(info, length(example$types))
  types <- if (length(names)) paste0(names, ": ", vapply(example$types, type_text, ""))
  known <- Filter(Negate(is.null), lapply(names(example$params), function(name) {
    value <- example$params[[name]]
    if (!inherits(value, "AnvilGraph")) paste(name, "=", param_code(value, NULL))
  }))
  paste("#", paste(c(types, unlist(known)), collapse = ", "))
}

operand_names <- function(info, n) {
  own <- setdiff(info$operands, "...")
  c(own, sprintf("operand%d", seq_len(n)))[seq_len(n)]
}

rule_code <- function(rule, info, example) {
  operands <- operand_names(info, length(example$types))
  flows <- attr(rule, "flows")
  types <- list(inputs = example$types, outputs = output_types(info, example))
  names <- list(inputs = operands, outputs = named_outputs("output", types$outputs), flows = named_outputs(sub("s$", "", flows), types$outputs))
  types$flows <- types$outputs
  if (flows == "tangents") {
    types$flows <- types$inputs
    names$flows <- if (length(operands)) paste0(operands, "_tangent") else character()
  }
  wanted <- if (flows == "grads") seq_along(operands) else 0L
  parts <- lapply(wanted, function(i) {
    required <- if (i > 0L) list(.required = seq_along(operands) == i)
    graph <- trace_graph(function(inputs, outputs, flows) {
      do.call(rule, c(list(inputs, outputs, flows), unname(example$params), unname(required)))
    }, types, mode = "state", what = "A rule")
    fields <- list(in_tree = graph$in_tree, out_tree = graph$out_tree)
    graph <- .Call(C_anvil_simplify, graph, "dead_calls")
    code <- graph_code(graph, unlist(names, use.names = FALSE), inline = TRUE, numbers = TRUE)
    list(lines = code$lines, out = tree_code(if (i > 0L) fields$out_tree$nodes[[i]] else fields$out_tree, code$outputs))
  })
  if (flows == "grads") {
    gradients <- vapply(seq_along(parts), function(i) {
      if (parts[[i]]$out == "NULL") "NULL" else sprintf("if (.required[[%dL]]) %s", i, in_block(parts[[i]]$lines, parts[[i]]$out))
    }, "")
    body <- sprintf("list(%s)", paste(gradients, collapse = ", "))
  } else {
    body <- c(parts[[1L]]$lines, parts[[1L]]$out)
  }
  aliases <- unlist(Map(function(label, source) sprintf("%s <- %s[[%dL]]", label, source, seq_along(label)), names, c("inputs", "outputs", flows)), use.names = FALSE)
  read <- all.vars(parse(text = body, keep.source = FALSE))
  aliases <- aliases[sub(" <- .*", "", aliases) %in% read]
  deparse(parse(text = paste0("{\n", paste(c(aliases, body), collapse = "\n"), "\n}"), keep.source = FALSE)[[1L]], width.cutoff = 100L)
}

named_outputs <- function(name, types) if (length(types) == 1L) name else sprintf("%s%d", name, seq_along(types))
in_block <- function(lines, out) if (length(lines)) sprintf("{\n%s\n%s\n}", paste(lines, collapse = "\n"), out) else out

# The types of what a call gives.
output_types <- function(info, example) {
  graph <- trace_graph(function(operands) record_call(info$key, c(operands, example$params)), list(operands = example$types), mode = "state", what = "A call")
  lapply(graph$outputs, pure_type)
}

# Types and parameters of a call that the primitive takes, the simplest first; NULL where none was found.
example_call <- function(info) {
  if (length(info$graphs)) {
    return(NULL)
  }
  n <- length(setdiff(info$operands, "...")) + ("..." %in% info$operands)
  shapes <- list(integer(), 3L, c(2L, 3L), c(2L, 2L))
  if (any(info$kinds %in% c("axis", "axes", "axis_pairs", "shape", "starts", "limits", "sizes"))) shapes <- shapes[c(3L, 4L, 2L, 1L)]
  for (sizes in shapes) {
    for (dtype in c("f32", "i32", "bool")) {
      types <- rep(list(nv_aten(dtype, sizes)), n)
      for (dims in unique(list(1L, seq_along(sizes), rev(seq_along(sizes))))) {
        params <- stats::setNames(Map(example_param, info$kinds, list(sizes), list(dims)), info$parameters)
        params$batching_dims <- if (!is.null(params$batching_dims)) list(integer(), integer())
        example <- list(types = types, params = params)
        found <- tryCatch(output_types(info, example), anvil_error = function(e) NULL)
        if (!is.null(found)) {
          return(example)
        }
      }
    }
  }
  NULL
}

example_param <- function(kind, sizes, dims) {
  rank <- length(sizes)
  switch(kind,
    flag = FALSE, integer = 1L, real = 1, string = "nearest_even", dtype = "f64", shape = sizes, axis = 1L, axes = dims,
    axis_pairs = list(rank, if (rank) 1L), starts = rep(1L, rank), limits = sizes, sizes = rep(1L, rank)
  )
}

# --- rules for a while -----------------------------------------------------------------------------

#' A rule in the place of the package's own
#'
#' Until the function that calls `local_rule()` ends, derivatives and batches of calls of a primitive follow the rule `f`: in debug mode, in what is traced
#' and compiled meanwhile, and in the transformations of graphs. [jit()] keeps what it compiles meanwhile apart.
#'
#' The rules have the form that those of [AnvilPrimitive()] have, with the parameters of the primitive:
#' `formals(prim("reduce_sum")$rules[["backward"]])` says it. A rule may call the package's own, that `primitive$rules` held before.
#' Where a primitive has a rule for one mode of differentiation only, the other mode follows from it: so those of
#' elementwise functions of forward mode follow from `"backward"`, that of linear and bilinear primitives, as `mul`, does not.
#'
#' @param primitive A primitive of the package, [prim()].
#' @param rule `"backward"`, `"jvp"` or `"batch"`.
#' @param f A function.
#' @param envir The frame whose end restores the rule; not the global environment.
#' @return The primitive, invisibly.
#' @section Errors:
#' `anvil_error_argument` for other rules, for control flow, whose derivatives are those of its inner graphs, and for primitives made by
#' [AnvilPrimitive()], whose rules are set by `p[["backward"]] <- f`.
#' @family primitives
#' @export
#' @examples
#' # rounding whose gradient passes straight through
#' straight <- function(x) {
#'   local_rule(prim("round"), "backward", function(inputs, outputs, grads, method, .required) grads)
#'   gradient(function(x) sum(round(x)^2))(x)
#' }
#' straight(nv_tensor(c(0.6, 1.4)))
local_rule <- function(primitive, rule, f, envir = parent.frame()) {
  check_class(primitive, "AnvilPrimitive", "i `prim()` finds one.")
  check_choice(rule, replaceable_rules)
  check_function(f)
  about <- environment(primitive)
  if (is.null(about$core)) {
    abort_anvil("argument", sprintf("`%s` is not a primitive of the package.", primitive$name), sprintf("i `p[[\"%s\"]] <- f` sets its rule.", rule))
  }
  if (about$info$acts == "control") {
    abort_anvil("argument", sprintf("`%s` is control flow, which has no rule of its own.", primitive$name), "i Its derivative is that of its inner graphs.")
  }
  check_running_frame(envir, "The rule would stay for the rest of the session.")
  local_rules$count <- local_rules$count + 1
  number <- local_rules$count
  local_rules$list <- c(local_rules$list, list(list(number = number, about = about, rule = rule, f = f)))
  use_local_rules(about)
  defer(
    {
      local_rules$list <- Filter(function(entry) entry$number != number, local_rules$list)
      use_local_rules(about)
    },
    envir
  )
  invisible(primitive)
}

replaceable_rules <- c("backward", "jvp", "batch")
local_rules <- list2env(list(count = 0, list = list()), parent = emptyenv())

# Of each rule of a primitive the last one that is in force, else the package's own.
use_local_rules <- function(about) {
  mine <- Filter(function(entry) identical(entry$about, about), local_rules$list)
  given <- list()
  for (entry in mine) given[[entry$rule]] <- entry$f
  about$rules[names(about$core)] <- about$core
  for (rule in setdiff(replaceable_rules, names(about$core))) about$rules[[rule]] <- NULL
  about$rules[names(given)] <- given
  numbers <- vapply(local_rules$list, `[[`, 0, "number")
  .Call(C_anvil_override, about$info$key, rules_for_core(about$info$key, given, function(rule) given[[rule]]), numbers)
}
