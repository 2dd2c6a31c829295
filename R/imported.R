#' Programs from elsewhere
#'
#' `read_stablehlo()` makes an R function of a program in StableHLO text, as JAX and
#' other tensor compilers print it. It is used like any function on tensors: called,
#' compiled with [jit()], differentiated with [gradient()], or called by another
#' function that is traced. Outside of a trace it is evaluated at once.
#'
#' # Arguments and results
#'
#' The arguments are called as in the text: by the names in their locations, where it
#' has them (JAX writes them with `as_text(debug_info = True)`), else `%arg0` is
#' `arg0`, and numbers become `x1`, `x2`, and so on. Names like `params['w']` make one
#' argument `params` that is a list. Likewise for results, from what JAX notes as
#' `jax.result_info`. Without such notes, several results are an unnamed list.
#'
#' The program fixes dtypes and shapes, and its arguments must have them. R vectors
#' and arrays are refused, as by [jit()], unless `convert = TRUE`: then they become
#' tensors of the dtype that the program wants.
#'
#' @param source A file, or the text itself: a string with a function in it, or a
#'   vector of lines.
#' @param entry The name of the function to read. By default `@main`, or the only
#'   public function.
#' @param convert Whether R vectors and arrays become tensors by themselves.
#' @param x What `read_stablehlo()` or [nv_program()] returns, a graph, or a descriptor ([local_descriptor()]).
#' @param outputs Of a descriptor: what the graph gives, a box or a nested list of them.
#' @aliases AnvilImported-class
#' @return `read_stablehlo()`: a function of class `AnvilImported`. `as_graph()`: the
#'   [AnvilGraph] of the program, or of what a descriptor has recorded.
#' @seealso [write_stablehlo()] for the other direction.
#' @family exchange
#' @export
#' @examples
#' f <- read_stablehlo("
#'   func.func @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<f32> {
#'     %0 = stablehlo.multiply %x, %y : tensor<3xf32>
#'     %1 = stablehlo.constant dense<0.0> : tensor<f32>
#'     %2 = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0]
#'       : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
#'     return %2 : tensor<f32>
#'   }")
#' f
#' x <- nv_tensor(c(1, 2, 3))
#' f(x, x)
#' jit(gradient(f))(x, x)
#' as_graph(f)
#'
#' # a solver of differential equations, exported from JAX
#' file <- system.file("extdata", "predator_prey.mlir", package = "anvil")
#' solve <- read_stablehlo(file, convert = TRUE)
#' solve
#' solve(y0 = c(10, 5), theta = c(1.1, 0.4, 0.1, 0.4), t_end = 1, tolerance = 1e-6)
read_stablehlo <- function(source, entry = NULL, convert = FALSE) {
  check_flag(convert, "convert")
  spec <- list(graph = .Call(C_anvil_read_stablehlo, program_text(source, "source"), entry_name(entry)), convert = convert)
  arguments <- fields_of(spec$graph)$in_tree$names
  formals <- stats::setNames(rep(list(quote(expr = )), length(arguments)), arguments)
  structure(with_formals(formals, "imported_call", spec), class = c("AnvilImported", "function"))
}

entry_name <- function(entry) {
  if (is.null(entry)) {
    return("")
  }
  if (!is.character(entry) || length(entry) != 1L || is.na(entry) || !nzchar(entry)) {
    abort_anvil("argument", "`entry` must be the name of a function of the text.", sprintf("x Got %s.", describe_value(entry)))
  }
  sub("^@", "", entry)
}

fields_of <- function(graph) .Call(C_anvil_graph_fields, graph)

#' @rdname read_stablehlo
#' @export
as_graph <- function(x, outputs = NULL) {
  if (inherits(x, "GraphDescriptor")) {
    return(finished_graph(x, outputs))
  }
  if (!is.null(outputs)) wrong_argument("outputs", "NULL, except for a descriptor", outputs)
  graph_behind(x)
}

# The graph that a descriptor has made, a copy: more may be recorded into it.
finished_graph <- function(desc, outputs) {
  if (.Call(C_anvil_enter, desc)) on.exit(.Call(C_anvil_leave, desc))
  n <- length(desc$inputs)
  names <- if (n) paste0("x", seq_len(n))
  fields <- list(in_tree = ListNode(lapply(seq_len(n), LeafNode), names), out_tree = build_tree(outputs), is_static = logical(n))
  .Call(C_anvil_graph_of, desc, check_outputs(flatten(outputs), "A graph"), fields)
}

graph_behind <- function(x, name = rlang::caller_arg(x)) {
  if (inherits(x, "AnvilGraph")) {
    x
  } else if (inherits(x, "AnvilImported")) {
    environment(x)$.anvil_spec$graph
  } else if (inherits(x, "AnvilProgram")) {
    x$graph
  } else {
    abort_anvil("argument", sprintf("`%s` has no graph of its own.", name), c(
      sprintf("x Got <%s>.", described_class(x)),
      if (is.function(x)) {
        "i `trace_fn()` makes a graph of a function and the types of its arguments."
      } else {
        "i `trace_fn()` makes a graph, `read_stablehlo()` reads one."
      }
    ))
  }
}

# --- the text ---------------------------------------------------------------------

# Text that is given as such or as the name of a file.
program_text <- function(source, argument) {
  if (!is.character(source) || anyNA(source)) {
    abort_anvil("argument", sprintf("`%s` must be text.", argument), sprintf("x Got <%s>.", described_class(source)))
  }
  is_text <- length(source) != 1L || grepl("\n|\\{|func\\.func", source, useBytes = TRUE)
  text <- if (is_text) enc2utf8(paste(source, collapse = "\n")) else file_text(source, argument)
  name <- if (is_text) sprintf("`%s`", argument) else sprintf("The file \"%s\"", source)
  if (!validUTF8(text)) {
    line <- which(!validUTF8(strsplit(text, "\n", fixed = TRUE, useBytes = TRUE)[[1L]]))[1L]
    abort_anvil("stablehlo", sprintf("%s is not UTF-8 text.", name), sprintf("x Line %d has a byte that is none.", line))
  }
  if (!grepl("[^[:space:]]", text, useBytes = TRUE)) {
    abort_anvil("stablehlo", sprintf("%s is empty.", name), "i A program has a function: `func.func @main(...) { ... }`.")
  }
  text
}

file_text <- function(path, argument) {
  if (!file.exists(path) || dir.exists(path)) {
    message <- sprintf("`%s` is \"%s\", but there is no such file.", argument, path)
    abort_anvil("argument", message, "i A program that is no file has a function: `func.func @main(...) { ... }`.")
  }
  bytes <- readBin(path, "raw", file.size(path))
  refuse <- function(what, ...) abort_anvil("stablehlo", sprintf("The file \"%s\" is not StableHLO text.", path), c(paste("x It is", what), ...))
  if (identical(bytes[1:4], as.raw(c(0x4d, 0x4c, 0xef, 0x52)))) {
    refuse("MLIR bytecode.", "i Export it as text, in JAX with `lowered.as_text()`.")
  }
  if (any(bytes == 0L)) refuse("binary data.")
  text <- rawToChar(bytes)
  Encoding(text) <- "UTF-8"
  text
}

# --- calls ------------------------------------------------------------------------------

# Called by imported functions.
imported_call <- function(spec, args) {
  graph <- spec$graph
  fields <- fields_of(graph)
  leaves <- checked_leaves(fields$in_tree, lapply(graph$inputs, function(value) value$aval), args, spec$convert)
  unflatten(fields$out_tree, .Call(C_anvil_inline, graph, leaves))
}

# The leaves of `args` in the order of `tree`, each of its type.
checked_leaves <- function(tree, types, args, convert) {
  leaves <- matched_leaves(tree, args, "")
  for (i in seq_along(leaves)) {
    path <- sub("^x[$]", "", tree_path(tree, i))
    leaves[[i]] <- imported_argument(leaves[[i]], types[[i]], path, convert)
  }
  leaves
}

# The leaves of `args` in the order of `tree`; lists are matched by name where they have names.
matched_leaves <- function(tree, args, path) {
  if (inherits(tree, "LeafNode")) {
    return(list(args))
  }
  wanted <- tree$names %||% as.character(seq_along(tree$nodes))
  refuse <- function(details) {
    head <- if (nzchar(path)) {
      of <- if (is.null(tree$names)) sprintf("%d elements", length(wanted)) else paste0("`", wanted, "`", collapse = ", ")
      sprintf("`%s` must be a list of %s.", path, of)
    } else {
      sprintf("The program takes %s.", paste0("`", wanted, "`", collapse = ", "))
    }
    abort_anvil("argument", head, details)
  }
  if (!is_container(args)) refuse(sprintf("x Got %s.", describe_value(args)))
  given <- names(args)
  if (is.null(given) && length(args) == length(wanted)) {
    given <- wanted
  } else if (is.null(given) || is.null(tree$names)) {
    if (length(args) != length(wanted)) refuse(sprintf("x Got %d.", length(args)))
    given <- wanted
  }
  if (length(missing <- setdiff(wanted, given))) refuse(sprintf("x `%s` is missing.", missing[1L]))
  if (length(extra <- setdiff(given, wanted)) || anyDuplicated(given)) {
    refuse(sprintf("x Got `%s`%s.", c(extra, given[duplicated(given)])[1L], if (length(extra)) "" else " twice"))
  }
  at <- match(wanted, given)
  leaves <- Map(function(node, k) {
    label <- if (!nzchar(path)) wanted[k] else paste0(path, if (is.null(tree$names)) sprintf("[[%d]]", k) else paste0("$", wanted[k]))
    matched_leaves(node, args[[at[k]]], label)
  }, tree$nodes, seq_along(wanted))
  unlist(leaves, recursive = FALSE) %||% list()
}

imported_argument <- function(x, type, path, convert) {
  if (convert && inherits(x, "ts")) x <- as_tensor_data(x)
  if (convert && is_r_data(x)) {
    return(converted_argument(x, type, path))
  }
  if (!is_value(x)) {
    abort_anvil("argument", sprintf("`%s` must be a tensor of type %s.", path, type_text(type)), c(
      sprintf("x Got %s.", describe_value(x)),
      if (is_r_data(x)) "i Make a tensor of it with `nv_tensor()` or `nv_scalar()`, or let `read_stablehlo(convert = TRUE)` do so."
    ))
  }
  if (!identical(shape(x), shape(type))) {
    abort_anvil("shape", sprintf("`%s` must have shape %s.", path, shape2string(shape(type))), sprintf("x Got %s.", shape2string(shape(x))))
  }
  if (dtype(x) != dtype(type)) {
    abort_anvil("dtype", sprintf("`%s` must have dtype <%s>.", path, as.character(dtype(type))), c(
      sprintf("x Got <%s>.", as.character(dtype(x))),
      sprintf("i `nv_convert(x, \"%s\")` converts a tensor.", as.character(dtype(type)))
    ))
  }
  x
}

# R data as a tensor of the program's type: numbers keep their value.
converted_argument <- function(x, type, path) {
  sizes <- shape(type)
  given <- dim(x) %||% if (length(x) == 1L && length(sizes) == 0L) integer() else length(x)
  if (!identical(as.integer(given), sizes)) {
    abort_anvil("shape", sprintf("`%s` must have shape %s.", path, shape2string(sizes)), sprintf("x Got %s.", shape2string(as.integer(given))))
  }
  wanted <- dtype(type)
  kept <- if (is.logical(x)) wanted == "bool" else if (is_float_dtype(wanted)) TRUE else wanted != "bool" && (is.object(x) || is_whole(x))
  if (!kept) {
    abort_anvil("dtype", sprintf("`%s` must have dtype <%s>.", path, as.character(wanted)), sprintf("x Got %s.", describe_value(x)))
  }
  new_tensor(x, as.character(wanted), sizes, FALSE)
}

# --- printing -----------------------------------------------------------------------------

#' @export
format.AnvilImported <- function(x, ...) {
  graph <- as_graph(x)
  fields <- fields_of(graph)
  line <- function(values, tree, root) {
    types <- vapply(values, function(value) type_text(value$aval), "")
    paths <- vapply(seq_along(types), function(i) sub("^x[$]", "", tree_path(tree, i, root) %||% ""), "")
    if (length(types)) sprintf("  %s: %s", formatC(paths, width = -max(nchar(paths))), types)
  }
  results <- if (inherits(fields$out_tree, "LeafNode")) {
    sprintf("returns %s", type_text(graph$outputs[[1L]]$aval))
  } else {
    c(sprintf("returns a list of %d", length(graph$outputs)), line(graph$outputs, fields$out_tree, ""))
  }
  c(
    sprintf("<AnvilImported> function(%s)", paste(names(formals(x)), collapse = ", ")),
    line(graph$inputs, fields$in_tree, "x"),
    results
  )
}

#' @export
print.AnvilImported <- function(x, ...) {
  cat(format(x), sep = "\n")
  invisible(x)
}
