# The code of a graph: text of `nvl_*` calls that records it again. A walk over the graph (walk.R) whose values are
# pieces of that text. as.function() makes a function of it, and the rules of primitives print by it.

# `inputs`: the code of each input. `inline`: whether a result that is read once stands where it is read. `numbers`: whether
# scalar literals of all dtypes are numbers, for people.
# Gives the lines, the code of each output, and what they name in their environment.
graph_code <- function(graph, inputs, inline = FALSE, numbers = FALSE, dot = "") {
  code <- new.env(parent = emptyenv())
  code$lines <- new.env(parent = emptyenv())
  code$count <- 0L
  code$kept <- list()
  code$constants <- character()
  code$dot <- dot
  code$numbers <- numbers
  code$uses <- if (inline) table(labels_read(graph))
  outputs <- walk_graph(graph, as.list(inputs), function(call, inputs) call_code(code, call, inputs), function(node) constant_code(code, node))
  list(lines = lines_of(code), outputs = unlist(outputs), constants = code$constants, kept = code$kept)
}

# The label of each value that is read, as often as it is.
labels_read <- function(graph) {
  by_call <- lapply(graph$calls, function(call) c(labels_of(call$inputs), unlist(lapply(subgraphs(call), labels_read))))
  c(unlist(by_call), labels_of(graph$outputs))
}

add_code_line <- function(code, line) {
  code$count <- code$count + 1L
  assign(as.character(code$count), line, envir = code$lines)
}
lines_of <- function(code) unlist(mget(as.character(seq_len(code$count)), envir = code$lines), use.names = FALSE)

# "%2.1" is v2.1, and "%2.x1", an input of an inner graph, is x2.1.
name_of_label <- function(code, label) {
  at <- sub("^%", "", label)
  paste0(code$dot, if (grepl("x", at, fixed = TRUE)) paste0("x", sub("x", "", at, fixed = TRUE)) else if (grepl("c", at, fixed = TRUE)) paste0("c", sub("c", "", at, fixed = TRUE)) else paste0("v", at))
}

# --- calls -----------------------------------------------------------------------------------

# What stands for the outputs of a call, whose line is added.
call_code <- function(code, call, inputs) {
  labels <- labels_of(call$outputs)
  params <- call$params
  made <- switch(call$primitive$name,
    `if` = head_and_arguments("nvl_if", inputs[[1L]], branch_code(code, params$true_graph), branch_code(code, params$false_graph)),
    `while` = while_code(code, call, inputs),
    plain_code(code, call, inputs)
  )
  n <- length(labels)
  if (n == 1L && !is.null(code$uses) && isTRUE(code$uses[[labels]] == 1L) && !any(grepl("\n", made, fixed = TRUE))) {
    return(made)
  }
  if (n == 0L) {
    add_code_line(code, made)
    return(list())
  }
  name <- name_of_label(code, labels[1L])
  add_code_line(code, paste(name, "<-", made))
  if (n == 1L && call$primitive$name != "while") {
    return(name)
  }
  parts <- sprintf("%s[[%dL]]", name, seq_len(n))
  if (n == 1L) parts else as.list(parts)
}

head_and_arguments <- function(head, ...) paste0(head, "(", paste(c(...), collapse = ", "), ")")

plain_code <- function(code, call, inputs) {
  primitive <- call$primitive
  params <- vapply(call$params, param_code, "", code = code)
  if (length(params)) params <- paste(vapply(names(params), symbol_code, ""), "=", params)
  head_and_arguments(callee_code(code, primitive), unlist(inputs), params)
}

# The strict function, where it records just this call; else the primitive itself.
callee_code <- function(code, primitive) {
  about <- environment(primitive)
  if (!is.null(about$kept)) {
    name <- paste0(code$dot, "p", length(code$kept) + 1L)
    code$kept[[name]] <- primitive
    return(name)
  }
  if (is.null(about$strict)) about$strict <- strict_name(about$info)
  if (nzchar(about$strict)) about$strict else sprintf("prim(%s)", text_code(about$info$key %||% about$name))
}

strict_name <- function(info) {
  name <- paste0("nvl_", info$key)
  f <- if (!is.null(info) && !info$positions && !length(info$graphs) && info$key != "print") get0(name, topenv(), mode = "function")
  if (!is.null(f) && identical(setdiff(names(formals(f)), info$parameters), info$operands)) name else ""
}

# nvl_if(p, function() {...}, function() {...})
branch_code <- function(code, branch) function_code(code, character(), branch())

# nvl_while() takes a state with names: those of the inputs of the condition.
while_code <- function(code, call, inputs) {
  graphs <- subgraphs(call)
  names <- vapply(labels_of(graphs$cond_graph$inputs), name_of_label, "", code = code)
  state <- paste0("list(", paste(names, "=", unlist(inputs), collapse = ", "), ")")
  cond <- function_code(code, names, do.call(call$params$cond_graph, as.list(names)))
  body <- function_code(code, names, do.call(call$params$body_graph, as.list(names)), names)
  segment <- call$params$segment
  checkpoint <- if (!is.null(segment)) paste("checkpoint =", if (segment == 0) "Inf" else param_code(segment, code))
  head_and_arguments("nvl_while", state, cond, body, checkpoint)
}

# A function of these arguments: the lines that the walk `outputs` adds, and what it gives.
function_code <- function(code, arguments, outputs, labels = NULL) {
  outer <- list(lines = code$lines, count = code$count)
  code$lines <- new.env(parent = emptyenv())
  code$count <- 0L
  outputs <- unlist(outputs)
  lines <- c(lines_of(code), result_code(outputs, labels))
  code$lines <- outer$lines
  code$count <- outer$count
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
  names <- vapply(labels_of(inputs), name_of_label, "", code = code)
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
  label <- labels_of(list(node))
  if (is.null(code$constants[label]) || is.na(code$constants[label])) {
    code$constants[label] <- name_of_label(code, label)
    code$kept[[code$constants[[label]]]] <- type$data
  }
  code$constants[[label]]
}

literal_code <- function(type) {
  ambiguous <- if (type$ambiguous == is.logical(type$data)) paste("ambiguous =", type$ambiguous)
  head_and_arguments("LiteralTensor", numbers_code(type$data), sizes_code(type$shape), text_code(as.character(type$dtype)), ambiguous)
}

type_code <- function(type) {
  head_and_arguments("nv_aten", text_code(as.character(type$dtype)), sizes_code(type$shape), if (type$ambiguous) "ambiguous = TRUE")
}
sizes_code <- function(shape) if (length(shape)) numbers_code(as.integer(shape)) else "c()"

# A small tensor as code that makes it; NULL of others.
tensor_code <- function(x) {
  if (length(x) > 16L || length(x) == 0L || !(as.character(dtype(x)) %in% written_dtypes)) {
    return(NULL)
  }
  data <- numbers_code(as.vector(as_array(x)))
  dtype <- text_code(as.character(dtype(x)))
  ambiguous <- if (ambiguous(x)) "ambiguous = TRUE"
  if (rank_of(x) == 0L) {
    return(head_and_arguments("nv_scalar", data, dtype, ambiguous))
  }
  head_and_arguments("nv_tensor", data, dtype, paste("shape =", sizes_code(shape(x))), ambiguous)
}
written_dtypes <- c("bool", "i8", "i16", "i32", "ui8", "ui16", "f32", "f64")

text_code <- function(x) encodeString(x, quote = "\"")
symbol_code <- function(x) if (make.names(x) == x) x else paste0("`", gsub("`", "\\`", x, fixed = TRUE), "`")

# Numbers as they are read back: c(1, 0.1), 2L, TRUE.
numbers_code <- function(x) {
  if (inherits(x, "integer64")) {
    return(sprintf("bit64::as.integer64(\"%s\")", format(x)))
  }
  texts <- if (is.logical(x)) as.character(x) else if (is.integer(x)) paste0(x, "L") else vapply(x, double_code, "")
  if (length(x) == 1L) texts else if (length(x)) paste0("c(", paste(texts, collapse = ", "), ")") else paste0(typeof(x), "()")
}

# The shortest form that is read back as the number that it is.
double_code <- function(x) {
  if (!is.finite(x)) {
    return(if (is.nan(x)) "NaN" else if (is.na(x)) "NA_real_" else as.character(x))
  }
  for (digits in c(15L, 16L, 17L)) {
    text <- sprintf("%.*g", digits, x)
    if (as.numeric(text) == x) {
      return(text)
    }
  }
  text
}
