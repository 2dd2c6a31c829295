#' Walk a graph, call by call
#'
#' `walk_graph()` goes through the calls of a graph in order and lets `rule` say what each of them gives. The values
#' that it carries from call to call are whatever `inputs` and `rule` make of them: tensors, boxes of another trace,
#' intervals, shapes, numbers of operations, code. So any transformation of graphs can be written in R: a rule that
#' calls `do.call(call$primitive, c(inputs, call$params))` records or computes the same call, every other one
#' something else.
#'
#' Inner graphs, such as the branches of [nv_if()] and the body of [nv_while()], are functions among `call$params`: with
#' what stands for their inputs, they walk the inner graph by the same `rule` and give the list of what stands for
#' its outputs. What they capture is known to them. A rule can call them as often as it likes, with values of its own, or hand them to the call
#' that it records: then they are traced. [subgraphs()] of such a call are the graphs behind them.
#'
#' @section Positions:
#' A call is taken as it stands in the graph, where positions count from 0: so a call of
#' a primitive with operands or results that are positions (`dynamic_slice`, `gather`, `argmax`, `case` and others) is recorded
#' by `do.call()` without the shift by one that `nvl_dynamic_slice()` and the like make.
#'
#' @param graph An [AnvilGraph].
#' @param inputs A list with one value for each input of the graph.
#' @param rule A function of a `PrimitiveCall` and of the list of the values of its inputs. It gives what stands for the
#'   output of the call or, of a call that does not have one output, a list of what stands for each.
#' @param constant A function of a node, which is a literal or a captured tensor: what stands for it. By default a
#'   tensor for the tensor, and for a literal the R number that means it, or else a box or tensor of its type.
#' @return A list of the values of the outputs.
#' @section Errors:
#' `anvil_error_argument` where `inputs`, or what a rule gives for several outputs, has the wrong length.
#' @seealso [as.function.AnvilGraph()] for a graph as R code; `vignette("transformations")`.
#' @family graphs
#' @export
#' @examples
#' graph <- trace_fn(function(x) nv_if(sum(x) > 0, log(x), x * 2), list(x = nv_aten("f32", 3)))
#'
#' # the names of all calls
#' invisible(walk_graph(graph, list(NULL), function(call, inputs) {
#'   cat(call$primitive$name, "")
#'   for (branch in call$params[names(subgraphs(call))]) branch()
#' }))
#'
#' # the same graph once more, with log1p() in the place of log()
#' rule <- function(call, inputs) {
#'   if (call$primitive$name == "log") return(nv_log1p(inputs[[1]]))
#'   do.call(call$primitive, c(inputs, call$params))
#' }
#' f <- function(x) walk_graph(graph, list(x), rule)[[1]]
#' jit(f)(nv_tensor(c(1, 2, 3)))
walk_graph <- function(graph, inputs, rule, constant = function(node) node$value) {
  check_class(graph, "AnvilGraph")
  n <- length(graph$inputs)
  if (!is.list(inputs) || length(inputs) != n) {
    wrong_argument("inputs", sprintf("a list of %d value%s", n, if (n == 1L) "" else "s"), inputs)
  }
  check_function(rule, "rule")
  check_function(constant, "constant")
  check_whole(graph)
  walk_scope(.Call(C_anvil_scope, graph), inputs, list(rule = rule, constant = constant), NULL)
}

# An inner graph cannot be walked without the values that it captures.
check_whole <- function(graph) {
  if (length(read <- .Call(C_anvil_foreign, graph))) {
    abort_anvil("argument", "`graph` is an inner graph that reads values of the graph around it.", c(
      sprintf("x It reads %s.", paste(read, collapse = ", ")),
      "i In a walk over the graph around it, `call$params` has a function for it."
    ))
  }
}

# Values are known by numbers that no two of a program share, 0 of constants; `values` holds those of the scopes around.
walk_scope <- function(scope, inputs, by, values) {
  if (is.null(values)) values <- vector("list", scope$size)
  values[scope$inputs] <- inputs
  for (i in seq_along(scope$calls)) {
    call <- scope$calls[[i]]
    if (scope$nested[i]) {
      inner <- vapply(call$params, inherits, NA, "AnvilGraph")
      call$params[inner] <- lapply(call$params[inner], inner_walk, by = by, values = values)
    }
    found <- by$rule(call, values_at(scope$reads[[i]], call$inputs, values, by))
    made <- scope$makes[[i]]
    n <- length(made)
    if (n == 1L) {
      values[made] <- list(found)
    } else if (n > 0L) {
      if (!is.list(found) || length(found) != n) {
        abort_anvil("argument", sprintf("`rule` must give a list of %d values for a call of `%s`.", n, call$primitive$name), sprintf("x Got %s.", describe_value(found)))
      }
      values[made] <- found
    }
  }
  values_at(scope$outputs, scope$results, values, by)
}

values_at <- function(at, nodes, values, by) {
  if (all(at)) {
    return(values[at])
  }
  found <- vector("list", length(at))
  found[at > 0L] <- values[at]
  for (i in which(at == 0L)) found[i] <- list(by$constant(nodes[[i]]))
  found
}

labels_of <- function(nodes) .Call(C_anvil_labels, nodes)

# An inner graph as a function of the values of its inputs.
inner_walk <- function(graph, by, values) {
  force(values)
  scope <- .Call(C_anvil_scope, graph)
  walk <- function(...) {
    inputs <- list(...)
    n <- length(scope$inputs)
    if (length(inputs) != n) {
      abort_anvil("argument", sprintf("This inner graph has %d input%s.", n, if (n == 1L) "" else "s"), sprintf("x Got %d.", length(inputs)))
    }
    walk_scope(scope, inputs, by, values)
  }
  structure(walk, graph = graph, class = c("AnvilInnerGraph", "function"))
}


#' @export
format.AnvilInnerGraph <- function(x, ...) {
  graph <- attr(x, "graph")
  sprintf("<AnvilInnerGraph: %d -> %d>", length(graph$inputs), length(graph$outputs))
}

#' @export
print.AnvilInnerGraph <- function(x, ...) {
  cat(format(x), "\n", sep = "")
  invisible(x)
}

# A literal that R writes as a number is that number. A constant without data is a value of the trace around the graph.
node_value <- function(node) {
  type <- node$aval
  if (!inherits(type, "LiteralTensor")) {
    return(type$data %||% if (is_tracing()) GraphBox(node))
  }
  if (is_plain_number(type)) type$data else .Call(C_anvil_literal, type)
}

# Whether an R number alone means this literal.
is_plain_number <- function(type) {
  !length(type$shape) && is_literal(type$data) && type$ambiguous == !is.logical(type$data) && type$dtype == default_dtype(type$data)
}
