#' Derivatives of one's own
#'
#' `nv_custom_gradient(f, backward)` gives the values of `f`, and has the derivative that `backward` says in the place of
#' that of what `f` is made of: since a formula is cheaper or more accurate, the solution of an equation has a derivative that
#' does not go through the steps to it, or a gradient shall be clipped, reversed or passed straight through.
#' `nv_custom_jvp(f, jvp)` does the same by a rule of forward mode. One rule is enough: each mode follows from the rule of the other, which
#' has to be linear in what it is given. So [gradient()], [vjp()], [jvp()], [jacobian()] and [hessian()] all work. A loop that goes on until
#' what it was given no longer changes is not linear: it has the mode that it was written for, and [jacobian()] and [hessian()] take that.
#'
#' A rule is recorded like any other code, whenever a derivative is taken. So derivatives of derivatives are those of the
#' rule, and it may use what it likes: loops, and other functions of this kind. In [vectorize()] `f` and its rule are batched as they are made.
#' In compiled code and in StableHLO nothing is left of it but the calls of `f` and of the rule.
#'
#' @section What a rule gets:
#' `inputs` is the list of the arguments of `f`, with their names, `outputs` is what `f` returned. `grads` is nested like
#' `outputs` and holds the gradients by them, zeros where nothing depends on one; `tangents` is nested like `inputs`. Both
#' have `NULL` in the place of what is no float tensor. A rule has those of these arguments that it reads.
#'
#' `backward` returns a list with a gradient for each argument of `f`, with names or in order, nested
#' like the argument, with tensors of its dtypes and shapes; `jvp` returns what is nested like `outputs` likewise. `NULL`,
#' or nothing, stands for zero; it is all that there is for what is no float.
#'
#' What `backward` shall not compute again, `f` keeps for it: where `backward` has an argument `residuals`, `f` returns
#' `list(outputs = , residuals = )`, as the rule `"augment"` of an [AnvilPrimitive()] does, and its value is what it
#' gives as `outputs`. A program that takes no gradient does not compute `residuals`.
#'
#' @section What `f` reads from around it:
#' Tensors that `f` or its rule finds in its environment are constants, and no derivative flows to them. Where one would, since a traced
#' value that `f` reads depends on what is differentiated by, that is an error, which says so: make
#' it an argument. The same holds for a rule that reads a traced value of `f`, or of the function around it, when that trace has ended.
#'
#' @param f A function of tensors, of nested lists of them, or of anything else that R knows when it is traced. It returns tensors of any
#'   shape and dtype, or nested lists of them.
#' @param backward A function of some of `inputs`, `outputs`, `grads` and `residuals`.
#' @param jvp A function of some of `inputs`, `outputs` and `tangents`.
#' @return A function with the formals of `f`.
#' @section Errors:
#' `anvil_error_gradient` where a derivative would be lost or does not follow from the rule; `anvil_error_argument`,
#' `anvil_error_dtype` and `anvil_error_shape` where a rule returns something else than it should.
#' @seealso [AnvilPrimitive()] for a primitive with a name, parameters and more rules; [nv_check()] for whether a rule is
#'   right; [nv_stop_gradient()].
#' @family derivatives
#' @export
#' @examples
#' # log(1 + exp(x)), whose own derivative is NaN for large x
#' softplus <- nv_custom_gradient(
#'   function(x) log(1 + exp(-abs(x))) + nv_max(x, 0),
#'   function(inputs, grads) list(grads * nv_logistic(inputs$x))
#' )
#' jit(gradient(function(x) sum(softplus(x))))(nv_tensor(c(-1, 0, 100)))
#'
#' # a root by Newton's method, with the derivative of the implicit function, not of the steps
#' root <- nv_custom_gradient(
#'   function(a) {
#'     step <- \(x, i) list(x = (x + a / x) / 2, i = i + 1L)
#'     nv_while(list(x = a, i = 0L), \(x, i) i < 20L, step)$x
#'   },
#'   function(outputs, grads) list(a = grads / (2 * outputs))
#' )
#' jit(value_and_gradient(root))(nv_scalar(2))
#'
#' # rounding whose gradient passes straight through, of any order and mode
#' through <- nv_custom_jvp(function(x) round(x), function(tangents) tangents$x)
#' gradient(function(x) sum(through(x)^2))(nv_tensor(c(0.6, 1.4)))
#'
#' # what is kept for the way back
#' swish <- nv_custom_gradient(
#'   function(x) {
#'     gate <- nv_logistic(x)
#'     list(outputs = x * gate, residuals = list(gate = gate))
#'   },
#'   function(inputs, outputs, grads, residuals) {
#'     list(grads * (residuals$gate + outputs * (1 - residuals$gate)))
#'   }
#' )
#' gradient(function(x) sum(swish(x)))(nv_tensor(c(-1, 2)))
nv_custom_gradient <- function(f, backward) {
  check_function(f)
  keeps <- check_rule(backward, "backward", c("inputs", "outputs", "grads", "residuals"))
  spec <- list(f = f, backward = backward, name = "custom_gradient", keeps = "residuals" %in% keeps)
  with_formals(formals(args(f)), "ruled_call", spec)
}

#' @rdname nv_custom_gradient
#' @export
nv_custom_jvp <- function(f, jvp) {
  check_function(f)
  check_rule(jvp, "jvp", c("inputs", "outputs", "tangents"))
  with_formals(formals(args(f)), "ruled_call", list(f = f, jvp = jvp, name = "custom_jvp", keeps = FALSE))
}

# The names of the arguments of a rule, which gets some of `given`.
check_rule <- function(rule, name, given) {
  check_function(rule, name)
  taken <- names(formals(args(rule)))
  unknown <- setdiff(taken, c(given, "..."))
  if (length(unknown) || !length(taken)) {
    wrong <- if (length(unknown)) sprintf("It has an argument `%s`.", unknown[1L]) else "It has no arguments."
    abort_anvil("argument", sprintf("`%s` must be a function of some of %s.", name, paste0("`", given, "`", collapse = ", ")), paste("x", wrong))
  }
  taken
}

# --- a call ------------------------------------------------------------------------------

ruled_call <- function(spec, args) {
  force(args)
  if (!is_tracing()) {
    return(kept_apart(call_with(spec$f, args), spec$keeps)$outputs)
  }
  leaves <- flatten(args)
  operand <- vapply(leaves, is_value, NA)
  traced <- function(...) kept_apart(call_with(spec$f, list(...)), spec$keeps)
  graph <- trace_graph(traced, args, mode = "state", as_input = operand, what = "`f`")
  parts <- lapply(graph$out_tree$nodes, reindex_tree)
  about <- list(in_tree = build_tree(args), static = replace(leaves, operand, list(NULL)), operand = operand, out_tree = parts[[1L]], kept_tree = parts[[2L]])
  out <- .External2(C_anvil_record_ruled, spec$name, rules_of_call(spec, about), leaves[operand], graph, tree_size(parts[[2L]]))
  unflatten(about$out_tree, as_leaves(out))
}

# What `f` returned, as list(outputs = , residuals = ).
kept_apart <- function(out, keeps) {
  if (!keeps) {
    return(list(outputs = out, residuals = NULL))
  }
  if (!is_container(out) || !setequal(names(out), c("outputs", "residuals")) || length(out) != 2L) {
    abort_anvil("argument", "`f` must return `list(outputs = , residuals = )`.", c(
      sprintf("x Got <%s>%s.", described_class(out), if (length(names(out))) sprintf(" with names %s", paste0("`", names(out), "`", collapse = ", ")) else ""),
      "i `backward` has an argument `residuals`: what `f` keeps for it."
    ))
  }
  out[c("outputs", "residuals")]
}

# The rules of one call on flat lists of boxes, as the core calls them. What they keep of the call is no box.
rules_of_call <- function(spec, about) {
  force(about)
  list(
    if (!is.null(spec$backward)) function(inputs, outputs, grads, residuals, params, required) backward_of_call(spec$backward, about, inputs, outputs, grads),
    NULL,
    if (!is.null(spec$jvp)) function(inputs, outputs, tangents, params) jvp_of_call(spec$jvp, about, inputs, outputs, tangents),
    if (!is.null(spec$batch)) function(inputs, batched, size, params) batch_of_call(spec$batch, about, inputs, batched, size),
    NULL
  )
}

backward_of_call <- function(rule, about, inputs, outputs, grads) {
  n <- tree_size(about$out_tree)
  leaves <- all_inputs(about, inputs)
  found <- run_rule(rule, list(
    inputs = unflatten(about$in_tree, leaves),
    outputs = unflatten(about$out_tree, outputs[seq_len(n)]),
    grads = unflatten(about$out_tree, floats_only(grads[seq_len(n)])),
    residuals = unflatten(about$kept_tree, outputs[seq_along(outputs) > n])
  ))
  leaves_like(about$in_tree, found, leaves, "backward()", "argument")[about$operand]
}

jvp_of_call <- function(rule, about, inputs, outputs, tangents) {
  leaves <- all_inputs(about, inputs)
  moved <- replace(vector("list", length(leaves)), about$operand, floats_only(tangents))
  found <- run_rule(rule, list(
    inputs = unflatten(about$in_tree, leaves), outputs = unflatten(about$out_tree, outputs),
    tangents = unflatten(about$in_tree, moved)
  ))
  leaves_like(about$out_tree, found, outputs, "jvp()", "result")
}

batch_of_call <- function(rule, about, inputs, batched, size) {
  flags <- replace(as.list(rep(FALSE, length(about$operand))), about$operand, as.list(batched))
  run_rule(rule, list(inputs = unflatten(about$in_tree, all_inputs(about, inputs)), batched = unflatten(about$in_tree, flags), size = size))
}

all_inputs <- function(about, inputs) replace(about$static, about$operand, inputs)

floats_only <- function(leaves) lapply(leaves, function(x) if (is_float_dtype(dtype(x))) x)

run_rule <- function(rule, given) {
  taken <- names(formals(args(rule)))
  withCallingHandlers(
    trace_call(rule, if ("..." %in% taken) given else given[intersect(taken, names(given))]),
    anvil_error_trace = function(e) {
      if (grepl("after the trace had ended", conditionMessage(e), fixed = TRUE)) {
        abort_anvil("gradient", "A rule used a value of the function around it, whose trace had ended.", "i Make it an argument of `f`, or one of its `residuals`.")
      }
    }
  )
}
