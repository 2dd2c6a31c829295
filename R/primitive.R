#' Primitives and their rules
#'
#' `prim()` finds a primitive by its name. Its `$rules` hold R functions: `"backward"`
#' makes the gradients of its inputs, `"jvp"` the tangents of its outputs, `"batch"` the outputs for a batch of
#' examples, `"stablehlo"` its StableHLO form.
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
  own <- own_primitives[[name]]
  if (!is.null(own)) {
    return(own)
  }
  info <- .Call(C_anvil_primitive_info, name)
  if (is.null(info)) {
    return(NULL)
  }
  if (is.null(core_primitives[[info$key]])) {
    p <- AnvilPrimitive(info$name, info$graphs)
    rules <- list()
    if (info$backward) rules$backward <- backward_rule(info)
    if (nzchar(info$jvp)) rules$jvp <- jvp_rule(info)
    if (!(info$batched %in% c("shared", "loop"))) rules$batch <- batch_rule(info)
    if (nzchar(info$hlo)) rules$stablehlo <- stablehlo_rule(info)
    assign("rules", rules, envir = environment(p))
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
  hlo[!nzchar(hlo) & column("evaluated") == "expansion"] <- "expansion"
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
  self <- function(...) apply_primitive(name, rules, list(...))
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
  environment(x)$rules[[i]]
}

#' @export
`[[<-.AnvilPrimitive` <- function(x, i, value) {
  check_rule_name(x, i)
  if (!is.function(value) && !is.null(value)) {
    abort_anvil("argument", sprintf("The rule \"%s\" must be a function.", i), sprintf("x Got <%s>.", described_class(value)))
  }
  env <- environment(x)
  env$rules[[i]] <- value
  x
}

check_rule_name <- function(x, i) {
  if (!is.character(i) || !(i %in% primitive_rules)) {
    abort_anvil("argument", sprintf("A primitive has no rule \"%s\".", format(i)), sprintf("i The rules of `%s` are %s.", x$name, paste0("\"", primitive_rules, "\"", collapse = ", ")))
  }
}

#' @export
format.AnvilPrimitive <- function(x, ...) paste0("<AnvilPrimitive:", x$name, ">")

#' @export
print.AnvilPrimitive <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  invisible(x)
}

# --- rules of the core as R functions ---------------------------------------------

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
  text <- strsplit(.Call(C_anvil_stablehlo, graph, TRUE, list(NULL, NULL))[[1L]], "\n", fixed = TRUE)[[1L]]
  structure(list(text = paste(text[-c(1L, length(text) - 1:0)], collapse = "\n")), class = "HloCall")
}

#' @export
print.HloCall <- function(x, ...) {
  cat(x$text, "\n", sep = "")
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
  call_rule <- function(rule, args, params, last = list()) {
    params$definition <- NULL
    call_with(primitive[[rule]], c(args, params, last), paste0(rule, "_", name))
  }
  augment <- if (!is.null(primitive[["augment"]])) function(inputs, params) call_rule("augment", list(inputs = inputs), params)
  backward <- if (!is.null(primitive[["backward"]])) {
    function(inputs, outputs, grads, residuals, params, required) {
      kept <- if (!is.null(augment)) list(residuals = residuals)
      call_rule("backward", c(list(inputs = inputs, outputs = outputs, grads = grads), kept), params, list(.required = required))
    }
  }
  jvp <- if (!is.null(primitive[["jvp"]])) {
    function(inputs, outputs, tangents, params) call_rule("jvp", list(inputs = inputs, outputs = outputs, tangents = tangents), params)
  }
  batch <- if (!is.null(primitive[["batch"]])) {
    function(inputs, batched, size, params) call_rule("batch", list(inputs = inputs, batched = batched, size = size), params)
  }
  text <- if (!is.null(primitive[["stablehlo"]])) {
    function(inputs, params) call_rule("stablehlo", inputs, params)
  }
  .Call(C_anvil_register, name, list(backward, augment, jvp, batch, text), overwrite)
  assign(name, primitive, envir = own_primitives)
  invisible(primitive)
}

# Called by the core at gradient time; gives a list with one box, or NULL, per input.
call_backward_rule <- function(rule, inputs, outputs, grads, residuals, params, required) {
  out <- rule(inputs, outputs, grads, residuals, params, required)
  if (!is.list(out)) {
    abort_anvil("argument", "A backward rule must return a list with one gradient, or NULL, per input.", sprintf("x Got <%s>.", described_class(out)))
  }
  out
}

# Likewise in forward mode: one box, or NULL, per output.
call_jvp_rule <- function(rule, inputs, outputs, tangents, params) {
  out <- rule(inputs, outputs, tangents, params)
  if (!is.list(out)) {
    abort_anvil("argument", "A jvp rule must return a list with one tangent, or NULL, per output.", sprintf("x Got <%s>.", described_class(out)))
  }
  out
}

# Likewise: the boxes of `count` outputs, then of the residuals.
call_augment_rule <- function(rule, inputs, params, count) {
  out <- rule(inputs, params)
  outputs <- if (is.list(out) && setequal(names(out), c("outputs", "residuals"))) flatten(out$outputs)
  if (length(outputs) != count) {
    abort_anvil("argument", "An augment rule must return `list(outputs = , residuals = )`.", sprintf("x There must be %d output%s.", count, if (count == 1L) "" else "s"))
  }
  c(outputs, flatten(out$residuals))
}

# Likewise: the boxes of `count` outputs, and nothing else.
call_text_rule <- function(rule, inputs, params, count) {
  outputs <- flatten(rule(inputs, params))
  if (length(outputs) != count) {
    abort_anvil("stablehlo", "A stablehlo rule must return the outputs of the forward rule.", sprintf("x There must be %d, got %d.", count, length(outputs)))
  }
  check_outputs(outputs, "A stablehlo rule")
}

# Likewise: the boxes of `count` outputs of the batch.
call_batch_rule <- function(rule, inputs, batched, size, params, count) {
  outputs <- flatten(rule(inputs, batched, size, params))
  if (length(outputs) != count) {
    abort_anvil("argument", "A batch rule must return the outputs of the forward rule, for all examples.", sprintf("x There must be %d, got %d.", count, length(outputs)))
  }
  outputs
}

# A call of a primitive: tensors among the arguments are its operands.
apply_primitive <- function(name, rules, args) {
  if (is.null(own_primitives[[name]])) {
    if (!is.null(core_primitives[[name]])) {
      return(do.call(paste0("nvl_", name), args))
    }
    abort_anvil("argument", sprintf("`%s` is not registered.", name), "i Use `register_primitive()`.")
  }
  args <- match_arguments(rules$forward, args)
  operand <- vapply(args, function(x) is_value(x), NA)
  graph <- trace_graph(function(operands) call_with(rules$forward, c(operands, args[!operand]), name), list(operands = args[operand]), mode = "state")
  out <- record(name, unname(args[operand]), c(args[!operand], list(definition = graph)))
  unflatten(graph$out_tree, if (is.list(out)) out else list(out))
}

# Records one call: operands are tensors, boxes or R values; params a named list of R
# values, dimensions and indices 1-based. Gives a box, or a list when there are several
# results. Strict: no promotion, no broadcasting.
record <- function(name, operands, params = NULL) .External2(C_anvil_record, name, operands, params)

# The same after promotion to the common dtype and, unless broadcast = FALSE,
# broadcasting of scalars. With to_float, integers and bools become floats of the default dtype.
record_promoted <- function(name, operands, params = NULL, broadcast = TRUE, to_float = FALSE) {
  .External2(C_anvil_record_promoted, name, operands, params, broadcast, to_float)
}
