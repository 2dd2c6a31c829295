# The code of a graph: text of `nvl_*` calls that records it again. A walk over the graph (walk.R) whose values are
# pieces of that text. as.function() makes a function of it, and the rules of primitives print by it.

# `inputs`: the code of each input. `inline`: whether a result that is read once stands where it is read. `numbers`: whether
# scalar literals of all dtypes are numbers, for people.
# Gives the lines, the code of each output, and what they name in their environment.
graph_code <- function(graph, inputs, inline = FALSE, numbers = FALSE, dot = "") {
  code <- list2env(list(kept = list(), dot = dot, numbers = numbers))
  code$add <- line_collector(code)
  uses <- if (inline) table(labels_read(graph))
  code$inlines <- function(outputs, made) inline && uses[[labels_of(outputs)]] == 1L && nchar(made) < 250L && !grepl("\n", made, fixed = TRUE)
  outputs <- walk_graph(graph, as.list(inputs), function(call, inputs) call_code(code, call, inputs), function(node) constant_code(code, node))
  list(lines = code$lines(), outputs = unlist(outputs), kept = code$kept)
}

# A function that takes lines; code$lines() gives them.
line_collector <- function(code) {
  found <- character()
  n <- 0L
  code$lines <- function() found
  function(line) found[n <<- n + 1L] <<- line
}

# The label of each value that is read, as often as it is.
labels_read <- function(graph) {
  by_call <- lapply(graph$calls, function(call) c(labels_of(call$inputs), unlist(lapply(subgraphs(call), labels_read))))
  c(unlist(by_call), labels_of(graph$outputs))
}

names_of <- function(code, nodes) .Call(C_anvil_names, nodes, code$dot)

# --- calls -----------------------------------------------------------------------------------

# What stands for the outputs of a call, whose line is added.
call_code <- function(code, call, inputs) {
  about <- environment(call$primitive)
  form <- own_forms[[about$name]]
  made <- if (is.null(form)) plain_code(code, call, inputs, about) else form(code, call, inputs)
  outputs <- call$outputs
  n <- length(outputs)
  if (n == 0L) {
    code$add(made)
    return(list())
  }
  if (n == 1L && code$inlines(outputs, made)) {
    return(made)
  }
  name <- names_of(code, if (n == 1L) outputs else outputs[1L])
  code$add(paste0(name, " <- ", made))
  if (n == 1L && !identical(form, while_code)) {
    return(name)
  }
  parts <- sprintf("%s[[%dL]]", name, seq_len(n))
  if (n == 1L) parts else as.list(parts)
}

call_text_of <- function(head, ...) paste0(head, "(", paste(c(...), collapse = ", "), ")")

plain_code <- function(code, call, inputs, about) {
  params <- call$params
  head <- about$strict %||% callee_code(code, call$primitive, about)
  if (!length(params)) {
    return(paste0(head, "(", paste0(unlist(inputs), collapse = ", "), ")"))
  }
  texts <- vapply(params, param_code, "", code = code)
  call_text_of(head, unlist(inputs), paste(vapply(names(params), symbol_code, ""), "=", texts))
}

# The strict function, where it records just this call; else the primitive itself.
callee_code <- function(code, primitive, about) {
  if (!is.null(about$kept)) {
    name <- paste0(code$dot, "p", length(code$kept) + 1L)
    code$kept[[name]] <- primitive
    return(name)
  }
  about$strict <- strict_name(about$info) %||% sprintf("prim(%s)", text_code(about$info$key %||% about$name))
  about$strict
}

strict_name <- function(info) {
  name <- paste0("nvl_", info$key)
  f <- if (!is.null(info) && !info$positions && !length(info$graphs) && !info$effect) get0(name, topenv(), mode = "function")
  if (!is.null(f) && identical(setdiff(names(formals(f)), info$parameters), info$operands)) name
}

# nvl_if(p, function() {...}, function() {...})
if_code <- function(code, call, inputs) {
  branch <- function(f) function_code(code, character(), f())
  call_text_of("nvl_if", inputs[[1L]], branch(call$params$true_graph), branch(call$params$false_graph))
}

# nvl_while() takes a state with names: those of the inputs of the condition.
while_code <- function(code, call, inputs) {
  graphs <- subgraphs(call)
  names <- names_of(code, graphs$cond_graph$inputs)
  state <- paste0("list(", paste(names, "=", unlist(inputs), collapse = ", "), ")")
  cond <- function_code(code, names, do.call(call$params$cond_graph, as.list(names)))
  body <- function_code(code, names, do.call(call$params$body_graph, as.list(names)), names)
  segment <- call$params$segment
  checkpoint <- if (!is.null(segment)) paste("checkpoint =", if (segment == 0) "Inf" else param_code(segment, code))
  call_text_of("nvl_while", state, cond, body, checkpoint)
}

own_forms <- list(`if` = if_code, `while` = while_code)

# A function of these arguments: the lines that the walk `outputs` adds, and what it gives.
function_code <- function(code, arguments, outputs, labels = NULL) {
  outer <- list(add = code$add, lines = code$lines)
  code$add <- line_collector(code)
  outputs <- unlist(outputs)
  lines <- c(code$lines(), result_code(outputs, labels))
  list2env(outer, code)
  paste0("function(", paste(arguments, collapse = ", "), ") {\n", indented(lines), "\n}")
}

indented <- function(lines) paste0("  ", gsub("\n", "\n  ", lines, fixed = TRUE), collapse = "\n")

result_code <- function(outputs, labels = NULL) {
  if (length(outputs) == 1L && is.null(labels)) {
    return(outputs)
  }
  paste0("list(", paste(if (!is.null(labels)) paste(labels, "=", outputs) else outputs, collapse = ", "), ")")
}

# --- parameters and constants -------------------------------------------------------------------

param_code <- function(x, code) {
  if (inherits(x, "AnvilInnerGraph")) {
    inner_code(code, x)
  } else if (is.list(x)) {
    paste0("list(", paste(vapply(x, param_code, "", code = code), collapse = ", "), ")")
  } else if (is.character(x) || is_dtype(x)) {
    text_code(as.character(x))
  } else {
    numbers_code(x)
  }
}

inner_code <- function(code, walk) {
  inputs <- attr(walk, "graph")$inputs
  names <- names_of(code, inputs)
  f <- function_code(code, names, do.call(walk, as.list(names)))
  if (!length(inputs)) {
    return(f)
  }
  sprintf("trace_fn(%s, list(%s))", f, paste(vapply(inputs, function(v) type_code(v$aval), ""), collapse = ", "))
}

# A captured tensor by a name; a literal as a number.
constant_code <- function(code, node) {
  type <- node$aval
  if (inherits(type, "LiteralTensor")) {
    plain <- is_plain_number(type) || (code$numbers && !length(type$shape))
    return(if (plain) numbers_code(type$data) else literal_code(type))
  }
  name <- names_of(code, list(node))
  code$kept[[name]] <- type$data
  name
}

literal_code <- function(type) {
  ambiguous <- if (type$ambiguous == is.logical(type$data)) paste("ambiguous =", type$ambiguous)
  call_text_of("LiteralTensor", numbers_code(type$data), sizes_code(type$shape), text_code(as.character(type$dtype)), ambiguous)
}

type_code <- function(type) {
  call_text_of("nv_aten", text_code(as.character(type$dtype)), sizes_code(type$shape), if (type$ambiguous) "ambiguous = TRUE")
}
sizes_code <- function(shape) if (length(shape)) numbers_code(as.integer(shape)) else "c()"

# A small tensor as code that makes it; NULL of others.
tensor_code <- function(x) {
  if (length(x) > 16L || length(x) == 0L || !(as.character(dtype(x)) %in% written_dtypes)) {
    return(NULL)
  }
  data <- numbers_code(as.vector(as_array(x)), in_float = if (dtype(x) == "f32") float_value else identity)
  dtype <- text_code(as.character(dtype(x)))
  ambiguous <- if (ambiguous(x)) "ambiguous = TRUE"
  if (rank_of(x) == 0L) {
    return(call_text_of("nv_scalar", data, dtype, ambiguous))
  }
  call_text_of("nv_tensor", data, dtype, paste("shape =", sizes_code(shape(x))), ambiguous)
}
written_dtypes <- c("bool", "i8", "i16", "i32", "ui8", "ui16", "f32", "f64")

text_code <- function(x) encodeString(x, quote = "\"")
symbol_code <- function(x) if (make.names(x) == x) x else paste0("`", gsub("`", "\\`", x, fixed = TRUE), "`")

# Numbers as they are read back: c(1, 0.1), 2L, TRUE. `in_float` is what a tensor holds of a number that is read.
numbers_code <- function(x, in_float = identity) {
  if (is.character(x)) { # an integer that R has no number for
    return(text_code(x))
  }
  texts <- if (is.logical(x)) as.character(x) else if (is.integer(x)) paste0(x, "L") else vapply(x, double_code, "", in_float = in_float)
  if (length(x) == 1L) texts else if (length(x)) paste0("c(", paste(texts, collapse = ", "), ")") else paste0(typeof(x), "()")
}
float_value <- function(x) readBin(writeBin(x, raw(), size = 4L), "double", size = 4L)

# The shortest form that is read back as the number that it is.
double_code <- function(x, in_float) {
  if (!is.finite(x)) {
    return(if (is.nan(x)) "NaN" else if (is.na(x)) "NA_real_" else as.character(x))
  }
  for (digits in c(7L, 8L, 9L, 15L, 16L, 17L)) {
    text <- sprintf("%.*g", digits, x)
    if (in_float(as.numeric(text)) == x) break
  }
  text
}
