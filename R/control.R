#' Control flow that depends on data
#'
#' `nv_if()` computes one of two branches, `nv_case()` the branch of a number, as R's `switch()`, and
#' `nv_while()` repeats a body as long as a condition holds. In a trace they become part of the program; what the
#' branches read from their environment is captured. All branches are traced, whatever the condition is: `return()`, `break`
#' and `next` in one are an error, and what one assigns is for itself; let it give the value. Bodies of loops
#' are traced once, with what R code in them does besides: `n <<- n + 1` adds 1, however many steps there are. Outside of a trace, on concrete values,
#' they are R's own `if`, `switch` and `while`, so that a debugger can step through them.
#'
#' @param pred A `bool` scalar.
#' @param true,false Expressions, or functions without arguments. In a trace both are
#'   traced; they must return the same structure of the same types.
#' @param index An i32 scalar: the number of the branch, from 1 on. Any other number takes the last branch. A
#'   number that is known in a trace chooses there.
#' @param ... The branches: expressions or functions without arguments, as `true` and `false`, at least one. All must
#'   return the same structure of the same types.
#' @param init A list with names: the state before the first iteration. Elements may
#'   be nested lists. Numbers become tensors of the default dtype, vectors, arrays and time series of R those that [nv_scan()] says.
#' @param cond,body Functions of the state, whose elements they get as named
#'   arguments. `cond` returns a `bool` scalar, `body` the next state, with the
#'   structure and types of `init`.
#' @param checkpoint How many steps apart the states are from which the derivative computes the steps between
#'   again: a whole number; `Inf`, to record every step; or `NULL`, to let anvil choose. See below.
#' @section Memory of derivatives:
#' The derivative of a loop goes back through its steps, the last one first. At each step the loop records what
#' the way back reads, and of the values from which that can be computed the smallest: of a vector that is read and
#' changed element by element the element, not the vector; nothing that is the same at each step; no counters.
#' Products of large matrices are recorded rather than computed again.
#' Where a step runs another loop, that may be the records of the other loop. If its number of steps is not known, it
#' is taken to be about thirty.
#' The records take memory in proportion to the number of steps.
#'
#' With `checkpoint = k` only the state at every `k`-th step is recorded. On the way back the `k` steps after such
#' a state are computed again and recorded, one such segment at a time. For `n` steps that is memory for `n / k`
#' states and `k` records, least with `k` about the root of `n`, and the time of one more run of the loop at most.
#' The gradient is the same. It does not pay where a state is much larger than a record.
#'
#' With `NULL`, every step is recorded, unless the number of steps is known when the function is compiled (a counter
#' is compared with a number), the records would take more than 1 GB, and segments take less: then the length of
#' the segments is chosen so that states and records take the same memory. Where the number of steps is not known,
#' as many steps are recorded as take 1 GB, and those after them in segments of as many. That is left out for
#' loops in loops, and where 1 GB is the records of more than a million steps: then the memory for records grows
#' until there is no more, which is an error of class `anvil_error_memory`.
#' Without a derivative, and in debug mode, `checkpoint` changes nothing. See also [nv_checkpoint()].
#' @return `nv_if()` and `nv_case()`: what the branch returns. `nv_while()`: the state at the end, a
#'   named list.
#' @family control flow
#' @export
#' @examples
#' f <- jit(function(x) nv_if(x > 0, sqrt(x), -x))
#' f(nv_scalar(9))
#' f(nv_scalar(-9))
#' choose <- jit(function(k, x) nv_case(k, x, x^2, x^3))
#' choose(nv_scalar(2L), nv_scalar(3))
#'
#' g <- jit(function(n) {
#'   nv_while(list(i = 0L, total = 0L), function(i, total) i < n, function(i, total) {
#'     list(i = i + 1L, total = total + i)
#'   })
#' })
#' g(nv_scalar(5L))
#'
#' # the slope of a loop that keeps 10 states and records 10 steps at a time
#' h <- function(x) {
#'   step <- \(i, x) list(i = i + 1L, x = sin(x))
#'   nv_while(list(i = 0L, x = x), \(i, x) i < 100L, step, checkpoint = 10)$x
#' }
#' jit(gradient(h))(nv_scalar(1))
nv_if <- function(pred, true, false) {
  if (!is_tracing()) {
    if (is_literal(pred) || is_tensor(pred)) {
      return(if (predicate(pred)) branch_value(true) else branch_value(false))
    }
  }
  # Arguments of the branches are made in the graph around them.
  force(pred)
  graphs <- trace_branches(
    function(k) branch_value(if (k == 1L) true else false), list(substitute(true), substitute(false)), c("`true`", "`false`"), parent.frame(), sys.call()
  )
  true_graph <- graphs[[1L]]
  false_graph <- graphs[[2L]]
  check_same_tree(true_graph$out_tree, false_graph$out_tree, "true and false branches must have the same output structure.", c("`true`", "`false`"))
  out <- record("if", list(pred), list(true_graph = true_graph, false_graph = false_graph))
  unflatten(true_graph$out_tree, as_leaves(out))
}

#' @rdname nv_if
#' @export
nv_case <- function(index, ...) {
  if (...length() == 0L) {
    abort_anvil("argument", "`nv_case()` needs at least one branch.")
  }
  if (is_literal(index) || (!is_tracing() && is_tensor(index))) {
    return(branch_value(...elt(branch_number(index, ...length()))))
  }
  from_zero <- nv_sub(as_operand(index, "index"), 1L)
  graphs <- trace_branches(
    function(k) branch_value(...elt(k)), as.list(substitute(list(...)))[-1L], paste("branch", seq_len(...length())), parent.frame(), sys.call()
  )
  for (k in seq_along(graphs)[-1L]) {
    check_same_tree(graphs[[1L]]$out_tree, graphs[[k]]$out_tree, "all branches must have the same output structure.", paste("branch", c(1L, k)))
  }
  names(graphs) <- sprintf("branch%d_graph", seq_along(graphs))
  out <- record("case", list(from_zero), graphs)
  unflatten(graphs[[1L]]$out_tree, as_leaves(out))
}

# Which of n branches a known index takes.
branch_number <- function(index, n) {
  value <- if (is_tensor(index)) as_array(index) else index
  if (!is.numeric(value) || length(value) != 1L || is.na(value) || value != trunc(value) || (is_tensor(index) && dtype(index) != "i32")) {
    abort_anvil("dtype", "`index` must be an i32 scalar.", sprintf("x Got %s.", if (is_tensor(index)) type_text(index) else describe_value(index)))
  }
  if (value >= 1 && value <= n) as.integer(value) else n
}

branch_value <- function(branch) if (is.function(branch) && length(formals(branch)) == 0L && !is.primitive(branch)) branch() else branch

# The value of a condition. Only R's own logicals can be `NA`: a bool tensor is true or false.
predicate <- function(x, what = "`pred` must be") {
  value <- if (is_tensor(x)) as_array(x) else x
  if (!is.logical(value) || length(value) != 1L || is.na(value)) {
    abort_anvil("dtype", paste(what, "a bool scalar."), c(
      sprintf("x Got %s.", if (is_tensor(x)) type_text(x) else describe_value(x)),
      if (is.logical(value) && length(value) == 1L) "i A missing value is neither true nor false."
    ))
  }
  value
}

as_leaves <- function(x) if (is.list(x)) x else list(x)

check_same_tree <- function(a, b, message, labels) {
  if (!identical(a, b)) {
    abort_anvil("argument", message, c(sprintf("x %s gives %s.", labels[1L], format(a)), sprintf("x %s gives %s.", labels[2L], format(b))))
  }
}

#' @rdname nv_if
#' @export
nv_while <- function(init, cond, body, checkpoint = NULL) {
  if (!is.function(cond)) abort_anvil("argument", "`cond` must be a function.", sprintf("x Got <%s>.", described_class(cond)))
  if (!is.function(body)) abort_anvil("argument", "`body` must be a function.", sprintf("x Got <%s>.", described_class(body)))
  if (!is_container(init) || is.null(names(init)) || !all(nzchar(names(init))) || anyDuplicated(names(init))) {
    abort_anvil("argument", "`init` must be a list with a name for every element.", "i `cond` and `body` get the elements as named arguments.")
  }
  segment <- segment_length(checkpoint)
  check_takes(cond, names(init), "cond", "the elements of `init`")
  check_takes(body, names(init), "body", "the elements of `init`")
  tree <- build_tree(init)
  state <- given_leaves(init, "`init`")
  if (!is_tracing() && !any(vapply(state, is_box, NA))) {
    out <- while_in_r(tree, lapply(state, nv_value), cond, body)
    if (!is.null(out)) {
      return(out)
    }
  }
  init <- unflatten(tree, state)
  cond_graph <- trace_graph(cond, init, mode = "state", what = "`cond`")
  body_graph <- trace_graph(body, init, mode = "state", what = "`body`")
  check_same_tree(tree, body_graph$out_tree, "`body` must have the same input and output structure.", c("`init`", "`body`"))
  check_state_types(tree, body_graph)
  out <- record("while", state, c(list(cond_graph = cond_graph, body_graph = body_graph), segment))
  unflatten(tree, as_leaves(out))
}

# As a parameter of the primitive, where 0 stands for no segments; none for NULL.
segment_length <- function(checkpoint) {
  if (is.null(checkpoint)) {
    list()
  } else if (identical(checkpoint, Inf)) {
    list(segment = 0L)
  } else {
    list(segment = check_whole_number(checkpoint, "checkpoint", lower = 1L))
  }
}

check_state_types <- function(tree, graph, root = "x") {
  inputs <- graph$inputs
  outputs <- graph$outputs
  for (i in seq_along(inputs)) {
    if (!eq_type(inputs[[i]], outputs[[i]], ambiguity = FALSE)) {
      path <- sub(sprintf("^%s[$]", root), "", tree_path(tree, i, root))
      same_dtype <- dtype(inputs[[i]]) == dtype(outputs[[i]])
      abort_anvil(if (same_dtype) "shape" else "dtype", sprintf("`body` must return `%s` with the type that it has in `init`.", path), c(
        sprintf("x It is %s in `init` and %s after an iteration.", type_text(inputs[[i]]), type_text(outputs[[i]])),
        if (!same_dtype) sprintf("i Give `init` the dtype %s, or convert the result with `nv_convert()`.", as.character(dtype(outputs[[i]])))
      ))
    }
  }
}

# NULL when the condition turns out to have no value, but only a type.
while_in_r <- function(tree, state, cond, body) {
  repeat {
    go_on <- call_with(cond, unflatten(tree, state))
    if (is_box(go_on)) {
      return(NULL)
    }
    if (!predicate(go_on, "`cond` must return")) {
      return(unflatten(tree, lapply(state, DebugBox)))
    }
    next_state <- call_with(body, unflatten(tree, state))
    check_same_tree(tree, build_tree(next_state), "`body` must have the same input and output structure.", c("`init`", "`body`"))
    next_state <- lapply(check_outputs(flatten(next_state), "`body`"), nv_value)
    check_state_types(tree, list(inputs = state, outputs = next_state))
    state <- next_state
  }
}

# Anything tensorish as a tensor or box: numbers and arrays get their default dtype, ambiguous.
nv_value <- function(x) {
  if (is_value(x)) {
    x
  } else if (inherits(x, "LiteralTensor")) {
    .Call(C_anvil_literal, x)
  } else if (is_literal(x)) {
    nv_scalar(x, ambiguous = !is.logical(x))
  } else {
    nv_tensor(x, dtype(x), ambiguous = !is.logical(x))
  }
}
