#' Pictures of graphs
#'
#' `as_dot()` writes a graph as text for Graphviz, `plot()` draws it. Values flow downwards from inputs and captured tensors
#' through calls, which are called as in the printed form (`%3 mul`), to the outputs; their types are beside
#' the lines. Literals stand in the call that reads them.
#'
#' @param graph,x An [AnvilGraph].
#' @param nested Whether the inner graphs of calls, such as the branches of [nv_if()], are drawn as well, each in a frame of its
#'   own: the values that they capture come from outside, and dashed lines lead from their results to the call.
#' @param cex The size of the text; by default as fits.
#' @param ... For `plot()`: not used.
#' @return `as_dot()`: a string. `plot()`: `x`, invisibly. `anvil_error_argument` where `graph` is no graph.
#' @seealso [summary.AnvilGraph()]
#' @export
#' @examples
#' x <- nv_aten("f32", 3)
#' graph <- trace_fn(function(x, y) sum(exp(x) * y) / 2, list(x = x, y = x))
#' cat(as_dot(graph))
#' plot(graph)
as_dot <- function(graph, nested = TRUE) {
  check_class(graph, "AnvilGraph")
  check_flag(nested)
  drawn <- drawn_graph(graph, nested)
  shapes <- c(input = "shape=oval", constant = "shape=oval,style=dashed", call = "shape=box,style=rounded", output = "shape=plaintext")
  quoted <- function(x) paste0("\"", gsub("([\\\\\"])", "\\\\\\1", x), "\"")
  inside <- function(group, indent) {
    own <- drawn$nodes[drawn$nodes$group == group, ]
    lines <- sprintf("%s [label=%s,%s];", quoted(own$id), quoted(own$text), shapes[own$kind])
    parts <- drawn$groups[drawn$groups$parent == group, ]
    clusters <- Map(function(id, text) {
      c(sprintf("subgraph %s {", quoted(paste0("cluster ", id))), sprintf("  label=%s;", quoted(text)), inside(id, "  "), "}")
    }, parts$id, parts$text)
    all <- c(lines, unlist(clusters))
    if (length(all)) paste0(indent, all)
  }
  edges <- drawn$edges
  lines <- sprintf("  %s -> %s [label=%s%s];", quoted(edges$from), quoted(edges$to), quoted(edges$text), ifelse(edges$result, ",style=dashed", ""))
  head <- c("digraph anvil {", "  node [fontname=\"monospace\"]; edge [fontname=\"monospace\",fontsize=10];")
  paste0(c(head, inside("", "  "), lines, "}"), "\n", collapse = "")
}

# What there is to draw: `nodes` (id, text, kind, group, type of a call), `edges` (from, to, text, result) and `groups` (id, parent, text), the
# inner graphs. A node is known by the label of the first value that it makes, and no two values share one.
drawn_graph <- function(graph, nested) {
  maker <- new.env()
  rows <- list(nodes = list(), edges = list(), groups = list())
  add <- function(table, ...) rows[[table]][[length(rows[[table]]) + 1L]] <<- data.frame(..., stringsAsFactors = FALSE)
  node <- function(id, text, kind, group, makes = id, type = "") {
    add("nodes", id = id, text = text, kind = kind, group = group, type = type)
    for (label in makes) assign(label, id, envir = maker)
  }
  lines_to <- function(to, values, result = FALSE) {
    from <- unname(unlist(mget(labels_of(values), maker, ifnotfound = NA)))
    types <- vapply(values, type_text, "")
    if (any(known <- !is.na(from))) add("edges", from = from[known], to = to, text = types[known], result = result)
  }
  visit <- function(graph, group, call = NULL) {
    own <- if (group == "") graph$constants else list()
    for (value in c(graph$inputs, own)) {
      label <- labels_of(list(value))
      node(label, paste0(label, ": ", type_text(value)), if (label %in% labels_of(own)) "constant" else "input", group)
    }
    for (k in seq_along(graph$calls)) visit_call(graph$calls[[k]], paste0(group, "#", k), group)
    if (!is.null(call)) {
      return(lines_to(call, graph$outputs, TRUE))
    }
    for (k in seq_along(graph$outputs)) {
      value <- graph$outputs[[k]]
      node(paste("output", k), if (is_literal_node(value)) labels_of(list(value)) else paste("output", k), "output", group)
      lines_to(paste("output", k), list(value))
    }
  }
  visit_call <- function(call, number, group) {
    labels <- labels_of(call$outputs)
    id <- c(labels, number)[1L]
    node(id, call_title(call, labels), "call", group, labels, paste(vapply(call$outputs, type_text, ""), collapse = ", "))
    lines_to(id, call$inputs)
    inner <- if (nested) subgraphs(call)
    for (name in names(inner)) {
      frame <- paste(id, name)
      add("groups", id = frame, parent = group, text = name)
      visit(inner[[name]], frame, id)
    }
  }
  visit(graph, "")
  empty <- list(
    nodes = data.frame(id = character(), text = character(), kind = character(), group = character(), type = character()),
    edges = data.frame(from = character(), to = character(), text = character(), result = logical()),
    groups = data.frame(id = character(), parent = character(), text = character())
  )
  Map(function(rows, none) do.call(rbind, c(list(none), rows)), rows, empty)
}

is_literal_node <- function(value) inherits(value, "GraphLiteral")

# "%3 greater(., 0:f32?)": the operands are shown where one of them is a literal.
call_title <- function(call, labels) {
  literal <- vapply(call$inputs, is_literal_node, NA)
  operands <- ifelse(literal, labels_of(call$inputs), ".")
  paste0(paste(labels, collapse = " "), " ", call$primitive$name, if (any(literal)) paste0("(", paste(operands, collapse = ", "), ")"))
}

#' @rdname as_dot
#' @export
plot.AnvilGraph <- function(x, nested = TRUE, cex = NULL, ...) {
  check_flag(nested)
  drawn <- drawn_graph(x, nested)
  if (!nrow(drawn$nodes)) abort_anvil("argument", "There is nothing to draw: the graph is empty.")
  at <- layered(drawn)
  own <- seq_len(nrow(drawn$nodes))
  x0 <- at$x[own]
  y0 <- at$y[own]
  old <- graphics::par(mar = c(0, 0, 0, 0), family = "mono")
  on.exit(graphics::par(old))
  graphics::plot.new()
  graphics::plot.window(c(0, 1), c(max(y0) + 0.6, min(y0) - 0.6))
  texts <- drawn$nodes$text
  cex <- cex %||% min(1, 0.9 * at$room / graphics::strwidth(texts, cex = 1.15), abs(0.3 / graphics::strheight("X")))
  draw_frames(drawn, x0, y0, cex)
  half <- 0.7 * abs(graphics::strheight("X", cex = cex))
  for (k in seq_along(at$paths)) {
    path <- at$paths[[k]]
    n <- length(path)
    ends <- at$y[path] + half * (c(1, rep(0, n - 1L)) - c(rep(0, n - 1L), 1))
    dashed <- if (drawn$edges$result[k]) 2 else 1
    if (n > 2L) graphics::lines(at$x[path[-n]], ends[-n], lty = dashed, col = "grey50")
    graphics::arrows(at$x[path[n - 1L]], ends[n - 1L], at$x[path[n]], ends[n], length = 0.06, lty = dashed, col = "grey50")
  }
  graphics::text(x0, y0 + 2 * half, drawn$nodes$type, adj = c(-0.05, 0.5), cex = 0.75 * cex, col = "grey30")
  wide <- graphics::strwidth(texts, cex = 1.1 * cex) / 2
  fill <- c(input = "#dcebf7", constant = "#eeeeee", call = "#ffffff", output = "#e2f2dd")[drawn$nodes$kind]
  graphics::rect(x0 - wide, y0 - half, x0 + wide, y0 + half, col = fill, border = "grey40")
  graphics::text(x0, y0, texts, cex = cex)
  invisible(x)
}

# The place of each node: a layer below all that it reads, and within its layer near what it is joined with. Lines through
# several layers have a place in each of them: `paths` are the places from end to end. `room`: the width for a node.
layered <- function(drawn) {
  nodes <- drawn$nodes$id
  from <- match(drawn$edges$from, nodes)
  to <- match(drawn$edges$to, nodes)
  y <- layers_of(from, to, length(nodes))
  paths <- vector("list", length(from))
  for (k in seq_along(from)) {
    between <- y[from[k]] + seq_len(y[to[k]] - y[from[k]] - 1)
    paths[[k]] <- c(from[k], length(y) + seq_along(between), to[k])
    y <- c(y, between)
  }
  upper <- unlist(lapply(paths, function(path) path[-length(path)]))
  lower <- unlist(lapply(paths, `[`, -1L))
  by_rank <- function(wanted) stats::ave(wanted, y, FUN = function(one) (rank(one, ties.method = "first") - 0.5) / length(one))
  near <- function(x, these, others) vapply(split(c(x, x[others]), c(seq_along(x), these)), mean, 1)
  x <- by_rank(rep(1, length(y)))
  for (sweep in seq_len(12L)) x <- by_rank(unname(if (sweep %% 2L) near(x, lower, upper) else near(x, upper, lower)))
  list(x = x, y = y, paths = paths, room = 1 / max(table(y)))
}

# What reads nothing stands just above what reads it.
layers_of <- function(from, to, n) {
  y <- rep(0, n)
  repeat { # a graph has no cycles
    below <- y
    for (k in seq_along(from)) below[to[k]] <- max(below[to[k]], below[from[k]] + 1)
    if (identical(below, y)) break
    y <- below
  }
  for (i in setdiff(from, to)) y[i] <- min(y[to[from == i]]) - 1
  y
}

# The inner graphs, by their names, around what is in them.
draw_frames <- function(drawn, x, y, cex) {
  within <- function(group) c(group, unlist(lapply(drawn$groups$id[drawn$groups$parent == group], within)))
  wide <- graphics::strwidth(drawn$nodes$text, cex = 1.2 * cex) / 2
  for (k in seq_len(nrow(drawn$groups))) {
    own <- drawn$nodes$group %in% within(drawn$groups$id[k])
    if (!any(own)) next
    left <- min((x - wide)[own])
    top <- min(y[own]) - 0.35
    graphics::rect(left, top, max((x + wide)[own]), max(y[own]) + 0.35, lty = 3, border = "grey60")
    graphics::text(left, top, drawn$groups$text[k], adj = c(0, -0.2), cex = 0.75 * cex, col = "grey40")
  }
}
