#' Compile a function
#'
#' Returns a function with the formals of `f` that runs as native code. At the first
#' call with arguments of given types, `f` is traced ([trace_fn()]) and compiled;
#' later calls with the same types run the compiled code. Inside of a trace, and so
#' inside of another jitted function, `f` is called as it is.
#'
#' The compiled programs are kept in a cache. What a call is known by: the nesting and
#' names of the arguments, the dtype, shape and ambiguity of each tensor, and the
#' values of static arguments, compared by [identical()], tensors among them by their types
#' and data. Static environments, reference objects and external pointers are refused,
#' because they can change while the program that was compiled for them stays; a function or a formula
#' is known by its code and its environment, not by what variables there hold. With other default dtypes ([default_dtypes()]), and with the options
#' `anvil.check_nan` and `anvil.check_index` ([anvil-package]), other programs are compiled. The tenth combination of shapes is told once, by a message of class `anvil_message_shapes`. What `f` finds in its environment is captured
#' when it is traced, and never looked up again. `options(anvil.check_captured = TRUE)` notes the variables that `f`
#' and the functions that it calls read (packages' functions left out), by their names in the code, and
#' gives a warning of class `anvil_warning_captured` when compiled code runs and one has changed since.
#'
#' That goes for R's random numbers, too: what [rnorm()] draws while `f` is traced is a
#' constant of the program, and a warning says so. [nv_rnorm()] and the like draw anew.
#'
#' Programs that are equal share their machine code as long as one of them is there, so that a function may be jitted
#' where it is used, again and again. From session to session code is kept where `options(anvil.cache_dir = "<folder>")`
#' says, for instance in `tools::R_user_dir("anvil", "cache")`: functions are traced as before, but what takes longest,
#' generating code, was done. A program's code is used only by the same build of the package with the same LLVM on the
#' same kind of processor. Several processes may use a folder at once, and files may be deleted at any time; what was
#' not used for 90 days, or exceeds 1 GB, is deleted. A folder into which everybody may write is not used, since what
#' lies there is run. Programs that call functions of this process ([nv_custom_call()]) are not kept.
#'
#' A jitted function can be saved with [saveRDS()] and sent to parallel workers: it compiles anew there.
#'
#' Arguments that are not static must be tensors or nested lists of them. A plain R
#' value is refused, because it is not clear whether it is meant as data or as
#' something to know at compile time; `convert = TRUE` takes it as data. Default
#' values are evaluated while `f` is traced.
#'
#' `xla()` traces `f` at once, for arguments of the given types, and takes no others.
#'
#' @param f A function, or an [AnvilGraph]: then a function of its inputs, with the names of the arguments that were traced.
#' @param static Names of arguments that are no tensors, or their positions: their
#'   values are known when `f` is traced.
#' @param cache_size How many compiled programs to keep; the least recently used one
#'   is dropped.
#' @param donate Names of arguments whose data are given away: after the call, these
#'   tensors cannot be used any more, and the next call puts its results where they were: a loop of steps needs the memory of
#'   two states. What else knows the data, an array that [as_array()] gave, say, keeps them. After an error all are as before.
#' @param device The device, `"cpu"`.
#' @param args A list of tensors, types and other arguments, see [trace_fn()].
#' @param convert Whether R vectors, arrays and time series become tensors by themselves. Doubles stay `f64`
#'   unless a default was set, see [default_dtypes()]; numbers in the code that meet no tensor, and floats that are made of integers, are
#'   `f32` until they do, as everywhere: `options(anvil.default_dtypes = "f64")` where they need R's digits. A vector of length one is a scalar: `array(x)` where it shall have a
#'   dimension. A data frame is the list of its columns, without rows: `nrow()` of it is `NULL`, and `head(d, 2)` its first two columns.
#' @aliases JitFunction-class
#' @return A function of class `JitFunction`. `environment(<it>)$cache$size` is the number of compiled
#'   programs. It prints what it was compiled for, how often that was called, and what it captured.
#' @family compilation
#' @export
#' @examples
#' f <- jit(function(x, y, op) if (op == "add") x + y else x * y, static = "op")
#' f(nv_scalar(3), nv_scalar(4), "add")
#' f(nv_scalar(3), nv_scalar(4), "mul")
#' environment(f)$cache$size
#'
#' jit(function(x) sqrt(x), convert = TRUE)(c(1, 4, 9))
jit <- function(f, static = character(), cache_size = 100L, donate = character(), device = NULL, convert = FALSE) {
  if (inherits(f, "AnvilGraph")) {
    names <- input_tree(f)$names
    f <- with_formals(stats::setNames(rep(list(quote(expr = )), length(names)), names), "graph_call", f)
  }
  check_wrapped_function(f)
  check_device(device)
  formals <- formals(args(f))
  static <- check_names(static, formals, "static")
  donate <- check_names(donate, formals, "donate")
  if (length(both <- intersect(static, donate))) {
    abort_anvil("argument", sprintf("`%s` cannot be both in `donate` and `static`.", both[1L]))
  }
  if (!identical(cache_size, Inf)) check_whole_number(cache_size, lower = 1L)
  check_flag(convert)
  spec <- list(f = f, static = static, donate = donate, convert = convert, cache_size = as.double(cache_size))
  cache <- .Call(C_anvil_cache, spec)
  wrapper <- function() NULL
  formals(wrapper) <- formals
  body(wrapper) <- bquote(.Call(C_anvil_jit_call, .anvil_cache, .(arguments_call(formals))))
  environment(wrapper) <- list2env(list(cache = cache, .anvil_cache = cache, .anvil_spec = spec), parent = topenv())
  attr(wrapper, "srcref") <- NULL
  structure(wrapper, class = c("JitFunction", "function"))
}

#' @rdname jit
#' @export
xla <- function(f, args, donate = character(), device = NULL) jit(trace_fn(f, args), donate = donate, device = device)

# The expression for the list of the arguments that were given: list(x = x, y = y) when
# all of them were. An argument that is called like a function in it hides nothing.
arguments_call <- function(formals) {
  labels <- names(formals)
  call <- function(name, ...) {
    as.call(list(if (name %in% labels) get(name, envir = baseenv()) else as.name(name), ...))
  }
  one <- function(label) as.call(c(as.list(call("list")), stats::setNames(list(as.name(label)), if (label != "...") label)))
  given <- function(label) {
    if (label == "...") one(label) else call("if", call("!", call("missing", as.name(label))), one(label))
  }
  some <- do.call(call, c(list("c"), lapply(labels, given)), quote = TRUE)
  if (length(labels) == 0L || "..." %in% labels) {
    return(if (length(labels)) some else quote(list()))
  }
  all <- as.call(c(as.list(call("list")), stats::setNames(lapply(labels, as.name), labels)))
  call("if", call("==", call("nargs"), length(labels)), all, some)
}

check_names <- function(wanted, formals, argument) {
  labels <- names(formals)
  if (!is.object(wanted) && is.numeric(wanted)) {
    if (any(is.na(wanted) | wanted < 1 | wanted > length(labels))) {
      abort_anvil("argument", sprintf("`%s` has an index that is out of range.", argument), cli::pluralize("x The function has {length(labels)} argument{?s}."))
    }
    wanted <- labels[wanted]
  }
  if (!is.character(wanted) && !is.null(wanted)) {
    abort_anvil("argument", sprintf("`%s` must hold names or positions of arguments.", argument), sprintf("x Got <%s>.", described_class(wanted)))
  }
  if ("..." %in% wanted) {
    abort_anvil("argument", sprintf("`%s` must not contain \"...\".", argument))
  }
  if (length(unknown <- setdiff(wanted, labels))) {
    abort_anvil("argument", sprintf("`%s` must be a subset of the formal arguments of f.", argument), c(
      sprintf("x There is no argument `%s`.", unknown[1L]),
      sprintf("i The arguments are %s.", paste0("`", labels, "`", collapse = ", "))
    ))
  }
  as.character(wanted)
}

# Called by the core: inside of a trace the function is inlined.
jit_inline <- function(spec, args) call_with(spec$f, args, parent = user_environment())

# Called by the core at a miss. `tensors` are the leaves of the arguments that are not
# static, in order.
jit_trace <- function(spec, args, tensors) {
  args <- as.list(unclass(args))
  is_static <- (names(args) %||% rep("", length(args))) %in% spec$static
  tree <- build_tree(args[!is_static])
  traced <- function(dynamic) {
    args[!is_static] <- unflatten(tree, dynamic)
    call_with(spec$f, args, parent = user_environment())
  }
  warn_frozen_random(trace_graph(traced, list(dynamic = tensors),
    as_input = rep(TRUE, length(tensors)), captured = noted_values(spec$f)
  ))
}

#' @export
format.JitFunction <- function(x, ...) {
  spec <- environment(x)$.anvil_spec
  versions <- .Call(C_anvil_jit_report, jit_cache(x, "x"))$versions
  noted <- Filter(Negate(is.null), lapply(versions, `[[`, "captured"))
  captured <- if (length(noted)) noted[[1L]] else captured_values(spec$f)
  changed <- changed_values(captured)
  values <- vapply(captured$values, described_capture, "")
  values[changed$at] <- paste0(values[changed$at], ", and now ", mapply(described_change, captured$values[changed$at], changed$now[changed$at]))
  called <- vapply(versions, function(v) if (v$runs == 1) "once" else sprintf("%.0f times", v$runs), "")
  types <- vapply(versions, function(v) {
    table <- version_tables(v)$arguments
    paste0(table$argument, " = ", table$type, collapse = ", ")
  }, "")
  c(
    sprintf("<jitted function(%s)>", paste(names(formals(x)), collapse = ", ")),
    if (length(versions)) paste0("compiled for ", types, "; called ", called) else "not compiled yet",
    if (length(values)) paste0(if (length(noted)) "captured " else "reads ", captured$names, ": ", values)
  )
}

#' @export
print.JitFunction <- function(x, ...) {
  cli::cat_line(format(x))
  invisible(x)
}

#' @export
`$.AnvilCache` <- function(x, name) {
  if (name != "size") {
    abort_anvil("argument", sprintf("A cache has no field `%s`.", name), "i `$size` is the number of compiled programs.")
  }
  .Call(C_anvil_cache_info, x)
}

#' @export
print.AnvilCache <- function(x, ...) {
  cat("<AnvilCache: ", x$size, " compiled>\n", sep = "")
  invisible(x)
}

#' Compile and evaluate an expression
#'
#' @param expr An expression; what it assigns stays inside.
#' @return Its value: a tensor, or a nested list of tensors.
#' @family compilation
#' @export
#' @examples
#' x <- nv_tensor(c(1, 2, 3))
#' jit_eval(sum(x * x))
jit_eval <- function(expr) {
  expr <- substitute(expr)
  frame <- new.env(parent = parent.frame())
  jit(function() eval(expr, frame))()
}
