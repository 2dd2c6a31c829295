type <- nv_aten("f32", 3L)
control <- trace_fn(
  function(x) {
    w <- nv_tensor(c(1, 2, 3))
    top <- nv_top_k(x * w, 2L)
    list(nv_if(sum(x) > 0, exp(x) * w, x), nv_while(list(i = 0), function(i) i < 3, function(i) list(i = i + 1)), top, 1)
  }, list(x = type)
)
straight <- trace_fn(function(x, y) sum(tanh(x) * y) / 2, list(x = type, y = type))

# Whether text is what Graphviz reads: quoted names, one statement a line, braces in pairs. Gives the nodes and the edges.
read_dot <- function(text) {
  lines <- trimws(strsplit(text, "\n", fixed = TRUE)[[1L]])
  name <- '"(?:[^"\\\\]|\\\\.)*"'
  attributes <- '\\[label="(?:[^"\\\\]|\\\\.)*"(?:,(?:shape|style)=[a-z]+)*\\];'
  node <- sprintf("^(%s) %s$", name, attributes)
  edge <- sprintf("^(%s) -> (%s) %s$", name, name, attributes)
  opens <- grepl(sprintf("^(digraph anvil|subgraph %s) [{]$", name), lines)
  other <- lines == "}" | grepl("^(node|edge) [[]font", lines) | grepl(sprintf("^label=%s;$", name), lines)
  list(
    wrong = lines[!(opens | other | grepl(node, lines, perl = TRUE) | grepl(edge, lines, perl = TRUE))], balanced = sum(opens) == sum(lines == "}"),
    nodes = sub(node, "\\1", lines[grepl(node, lines, perl = TRUE) & !grepl(edge, lines, perl = TRUE)], perl = TRUE),
    from = sub(edge, "\\1", grep(edge, lines, perl = TRUE, value = TRUE), perl = TRUE), to = sub(edge, "\\2", grep(edge, lines, perl = TRUE, value = TRUE), perl = TRUE)
  )
}

test_that("Graphviz text shows calls, types and inner graphs", {
  expect_snapshot(cat(as_dot(straight)))
  expect_snapshot(cat(as_dot(control)))
})

test_that("Graphviz text is one", {
  strange <- trace_fn(function(x) nv_print(x, format = "a \"%g\" \\ %%"), list(type))
  none <- trace_fn(function() list(), list())
  for (graph in list(straight, control, strange, none, transform_gradient(straight))) {
    for (nested in c(TRUE, FALSE)) {
      dot <- read_dot(as_dot(graph, nested))
      expect_identical(dot$wrong, character())
      expect_true(dot$balanced)
      expect_identical(anyDuplicated(dot$nodes), 0L)
      expect_identical(setdiff(c(dot$from, dot$to), dot$nodes), character())
    }
  }
  expect_lt(nchar(as_dot(control, nested = FALSE)), nchar(as_dot(control)))
  skip_if_not(nzchar(Sys.which("dot")), "Graphviz is not installed")
  expect_identical(system2("dot", "-Tplain", input = as_dot(control), stdout = FALSE), 0L)
})

test_that("a plot puts each node below what it reads, and no two in one place", {
  for (graph in list(straight, control, trace_fn(function(x) x, list(x = type)))) {
    drawn <- anvil:::drawn_graph(graph, TRUE)
    at <- anvil:::layered(drawn)
    own <- seq_len(nrow(drawn$nodes))
    expect_true(all(at$y[match(drawn$edges$from, drawn$nodes$id)] < at$y[match(drawn$edges$to, drawn$nodes$id)]))
    expect_identical(anyDuplicated(data.frame(at$x, at$y)), 0L)
    expect_true(all(at$x > 0 & at$x < 1))
    withr::with_pdf(NULL, expect_identical(withVisible(plot(graph)), list(value = graph, visible = FALSE)))
  }
  expect_error(plot(trace_fn(function() list(), list())), "empty", class = "anvil_error_argument")
  expect_error(as_dot(1), "AnvilGraph", class = "anvil_error_argument")
})
