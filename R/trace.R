#' Trace a function into a graph
#'
#' Runs `f` once with boxes in the place of tensors and records what `nv_*`
#' functions do with them. R's own control flow happens while tracing: loops are
#' unrolled, `if` takes one branch. Arguments that are no tensors are passed on as
#' they are. Tensors that `f` finds in its environment become constants.
#'
#' @param f A function.
#' @param args A list of arguments: tensors or their types ([nv_aten()]), nested
#'   lists of them, or any other R values. Unnamed ones are matched to the formals.
#' @return An [AnvilGraph].
#' @family graphs
#' @export
#' @examples
#' f <- function(x, y) x * y + 1
#' trace_fn(f, list(x = nv_aten("f32", 2), y = nv_aten("f32", 2)))
trace_fn <- function(f, args = list()) trace_arguments(f, args, "record")

trace_arguments <- function(f, args, mode) {
  check_function(f)
  args <- arguments_of(f, args) # what R draws for them is drawn before
  warn_frozen_random(trace_graph(f, args, mode = mode))
}

# A list of arguments with the names of the formals that they are for.
arguments_of <- function(f, args) {
  if (!is_container(args)) {
    abort_anvil("argument", "`args` must be a list.", c(
      sprintf("x Got <%s>.", described_class(args)),
      sprintf("i The arguments of `f` come in one: `list(%s)`.", toString(names(formals(base::args(f)))))
    ))
  }
  args <- match_arguments(f, args)
  check_takes(f, names(args) %||% rep("", length(args)), "f", "the elements of `args`")
  args
}

# What R draws while a function is traced is the same number at every call of the program.
warn_frozen_random <- function(graph) {
  state <- function() get0(".Random.seed", globalenv(), inherits = FALSE)
  before <- state()
  force(graph)
  if (!is_tracing() && !identical(before, state())) {
    rlang::warn(
      c("R's random numbers were drawn while a function was traced.",
        x = "The compiled program has them as constants: every call repeats them.",
        i = "Draw them with `nv_rnorm()`, `nv_runif()`, `nv_rbinom()` or `nv_rdunif()`, or pass them as an argument."
      ),
      class = c("anvil_warning_frozen_random", "anvil_warning"), call = user_call()
    )
  }
  graph
}

# mode "program": tensors become inputs, everything else is passed on; "debug": likewise, and an outermost trace is
# evaluated at once; "record": likewise, and what `f` records stays as it was made.
# mode "state": every leaf becomes an input (loops and branches).
# as_input: which leaves become inputs, where the caller knows.
# what: how an error calls the function.
# captured: what is noted with the graph once `f` has run.
trace_graph <- function(f, args, mode = "program", as_input = NULL, what = "A traced function", captured = NULL) {
  in_tree <- build_tree(args)
  leaves <- flatten(args)
  if (is.null(as_input)) {
    as_input <- if (mode == "state") rep(TRUE, length(leaves)) else vapply(leaves, is_input, NA)
  }
  purpose <- if (mode != "state") mode else if (is_tracing()) "program" else "types"
  descriptor <- .Call(C_anvil_push, purpose)
  on.exit(.Call(C_anvil_pop, descriptor))
  leaves[as_input] <- lapply(leaves[as_input], function(x) .Call(C_anvil_input, x))
  out <- trace_call(f, unflatten(in_tree, leaves))
  fields <- list(in_tree = in_tree, out_tree = build_tree(out), is_static = !as_input, captured = captured)
  .Call(C_anvil_finish, descriptor, check_outputs(flatten(out), what), fields)
}

is_input <- function(x) is_value(x) || inherits(x, "AbstractTensor")

check_outputs <- function(outputs, what, verb = "return") {
  for (x in outputs) {
    if (!is_tensorish(x)) {
      message <- paste(what, "must", verb, "tensors, or nested lists of them.")
      abort_anvil("argument", message, c(
        sprintf("x Got <%s>.", described_class(x)),
        if (is_r_data(x)) "i Vectors do not become tensors by themselves: use `array()` or `nv_tensor()`."
      ))
    }
    if (is_missing_literal(x)) {
      message <- paste(what, "must not", verb, "NA: tensors know NaN, but no NA.")
      abort_anvil("missing", message, if (!is.logical(x)) "i Use `NaN` or `NA_real_`.")
    }
  }
  outputs
}

# What a loop starts from, or reads: also R's vectors and time series are data there.
given_leaves <- function(x, what) {
  leaves <- lapply(flatten(x), function(leaf) vector_as_array(if (inherits(leaf, "ts")) as_tensor_data(leaf) else leaf))
  check_outputs(leaves, what, "hold")
}

# Elements that f is called with by name; `given` says what they are.
check_takes <- function(f, labels, name, given) {
  own <- names(formals(args(f)))
  if (is.primitive(f) || "..." %in% own) {
    return(invisible())
  }
  unknown <- labels[is.na(pmatch(labels, own))]
  if (length(unknown)) {
    wrong <- if (nzchar(unknown[1L])) sprintf("It has no argument `%s`.", unknown[1L]) else sprintf("There are %d.", length(labels))
    abort_anvil("argument", sprintf("`%s` must be a function of %s.", name, given), c(
      paste("x", wrong),
      if (length(own)) sprintf("i Its arguments are %s.", paste0("`", own, "`", collapse = ", "))
    ))
  }
}

# Positional arguments get the names of the formals that they fill.
match_arguments <- function(f, args) {
  formals <- names(formals(args(f)))
  given <- names(args) %||% rep("", length(args))
  free <- setdiff(formals[seq_len(match("...", c(formals, "...")) - 1L)], given)
  unnamed <- which(!nzchar(given))
  k <- min(length(unnamed), length(free))
  given[unnamed[seq_len(k)]] <- free[seq_len(k)]
  if (any(nzchar(given))) names(args) <- given
  args
}

# A function with these formals that calls `call(spec, args)` with the list of the arguments that were given.
with_formals <- function(formals, call, spec) {
  wrapper <- function() NULL
  formals(wrapper) <- formals
  body(wrapper) <- bquote(.(as.name(call))(.anvil_spec, .(arguments_call(formals))))
  environment(wrapper) <- list2env(list(.anvil_spec = spec), parent = topenv())
  attr(wrapper, "srcref") <- NULL
  wrapper
}

# f(args), with short names in the place of the values, so that calls stay readable. They are called from within
# `parent`, so that generics find the methods that are seen there.
call_with <- function(f, args, label = "f", parent = environment(f) %||% globalenv()) {
  args <- as.list(args)
  n <- length(args)
  labels <- names(args) %||% rep("", n)
  symbols <- ifelse(nzchar(labels), labels, paste0("arg", seq_len(n)))
  symbols <- make.unique(as.character(symbols))
  fname <- if (label %in% symbols) paste0(".", label) else label
  frame <- list2env(stats::setNames(args, symbols), parent = parent, size = n + 1L)
  assign(fname, f, envir = frame)
  actual <- lapply(symbols, as.name)
  names(actual) <- if (any(nzchar(labels))) labels
  eval(as.call(c(as.name(fname), actual)), frame)
}

trace_call <- function(f, args) {
  withCallingHandlers(call_with(f, args, parent = user_environment()), simpleError = function(e) {
    explain_missing(e)
    explain_control_flow(e)
  }, simpleWarning = refuse_mean_of_list)
}

explain_missing <- function(e) {
  around <- strsplit(gettext("argument \"%s\" is missing, with no default", domain = "R"), "%s", fixed = TRUE)[[1L]]
  message <- conditionMessage(e)
  if (startsWith(message, around[1L]) && endsWith(message, around[2L])) {
    label <- substring(message, nchar(around[1L]) + 1L, nchar(message) - nchar(around[2L]))
    abort_anvil("argument", sprintf("The argument `%s` is missing, with no default.", label), call = conditionCall(e))
  }
}

# What R says when its own control flow meets a value that is not there yet.
explain_control_flow <- function(e) {
  head <- conditionCall(e)[[1L]]
  if (is.call(head) && identical(head[[1L]], quote(`::`))) head <- head[[3L]]
  head <- if (is.name(head)) as.character(head) else ""
  if (head %in% c("if", "while") && identical(conditionMessage(e), gettext("argument is not interpretable as logical", domain = "R"))) {
    refuse_condition(head, if (head == "if") "nv_if" else "nv_while", conditionCall(e))
  }
  if (head %in% c("&&", "||") && grepl(head, conditionMessage(e), fixed = TRUE)) {
    within <- outer_verb()
    hint <- if (is.null(within)) sprintf("i Use `%s`.", substr(head, 1L, 1L)) else verb_hint(within)
    abort_anvil("trace", sprintf("R's `%s` cannot use the value of a traced tensor.", head), hint, call = conditionCall(e))
  }
  if (head %in% c(":", "seq_len") && conditionMessage(e) %in% gettext("NA/NaN argument", "argument must be coercible to non-negative integer", domain = "R")) {
    abort_anvil("trace", sprintf("R's `%s` needs numbers that are known while tracing.", head), c(
      "i A traced tensor has no value yet: name the argument that it comes from in `static`.",
      if (head == ":") "i Of an index, only the size must be known: `x[i]` takes a scalar tensor."
    ), call = conditionCall(e))
  }
  if (head == "for") {
    abort_anvil("trace", "R's `for` cannot run over a traced tensor.", "i Loop over `seq_len(shape(x)[1])`, or use `nv_while()`.", call = conditionCall(e))
  }
  # the name of the type is in every language
  if (grepl("externalptr", conditionMessage(e), fixed = TRUE)) {
    assigned <- head %in% c("<-", "=")
    what <- if (assigned) {
      "A part of an R vector cannot become a traced tensor."
    } else if (is_name_of_r(head)) {
      sprintf("R's `%s` does not know traced tensors.", head)
    } else {
      sprintf("A function of R that `%s()` calls does not know traced tensors.", head)
    }
    abort_anvil("trace", what, if (assigned) begin_with_tensor else trace_hint(head), call = conditionCall(e))
  }
  in_r <- function(...) conditionMessage(e) %in% gettext(..., domain = "R")
  # of which R only sees that it does not fit
  if (head %in% c("<-", "=", "[<-") && in_r("replacement has length zero", "number of items to replace is not a multiple of replacement length")) {
    abort_anvil("trace", paste0(conditionMessage(e), "."), c("i A part of an R array cannot become a traced tensor.", begin_with_tensor), call = conditionCall(e))
  }
  of_lists <- c(
    sprintf(gettext("invalid '%s' (%s) of argument", domain = "R"), "type", "list"), gettext("'x' must be atomic", domain = "R-base"),
    sprintf(gettext("'%s' object cannot be coerced to type '%s'", domain = "R"), "list", "double")
  )
  if (conditionMessage(e) %in% of_lists) {
    what <- if (is_name_of_r(head)) sprintf("R's `%s`", head) else "A function of R"
    abort_anvil("trace", paste(what, "does not take a list."), join_first, call = conditionCall(e))
  }
  if (in_r("non-numeric argument to mathematical function", "Non-numeric argument to mathematical function")) {
    abort_anvil("trace", sprintf("R's `%s` does not know traced tensors.", head), trace_hint(head), call = conditionCall(e))
  }
}

# R's mean of a list of tensors is NA, which a program would keep as a constant.
refuse_mean_of_list <- function(w) {
  if (!identical(conditionMessage(w), gettext("argument is not numeric or logical: returning NA", domain = "R-base"))) {
    return(invisible())
  }
  of_mean <- Filter(function(i) identical(sys.function(i), base::mean.default), rev(seq_len(sys.nframe())))
  x <- if (length(of_mean)) get("x", sys.frame(of_mean[1L]))
  if (is.list(x) && any(vapply(x, is_value, NA))) {
    abort_anvil("trace", "R's `mean` does not take a list of tensors.", join_first, call = conditionCall(w))
  }
}

join_first <- "i `do.call(c, x)` puts scalars together, `do.call(rbind, x)` rows; `vectorize()` and `nv_map()` give tensors at once."

begin_with_tensor <- "i Begin with a tensor, as `nv_fill(0, 3)` is, or put the parts together with `c()`."

# Where R's functions are called by primitives' calls, the error is that of whoever called.
is_name_of_r <- function(name) any(vapply(c("base", "stats", "utils"), function(ns) exists(name, asNamespace(ns), mode = "function", inherits = FALSE), NA))

refuse_condition <- function(head, instead, call = NULL) {
  abort_anvil("trace", sprintf("R's `%s` cannot depend on the value of a traced tensor.", head), c(
    sprintf("i Use `%s()`, or name the argument in `static` so that R sees its value.", instead),
    "i Outside of `jit()`, in debug mode, it works as written."
  ), call = call)
}

trace_hint <- function(head) {
  switch(head,
    log = "i A base that is traced: `log(x) / log(base)`.",
    cat = "i `nv_print()` prints when the program runs.", vapply = "i `lapply()` makes a list of tensors.",
    c(verb_hint(head), "i `nv_*` functions take them.")[1L]
  )
}
