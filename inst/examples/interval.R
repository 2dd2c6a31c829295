# Interval arithmetic: what values a function can take when each argument is known between two bounds. An interval is a
# list of two tensors. Each primitive has a rule "interval" of its own; those of control flow call inner graphs.
interval <- function(lo, hi = lo) list(lo = lo, hi = hi)
hull <- function(a, b) interval(nv_min(a$lo, b$lo), nv_max(a$hi, b$hi))

interval_rule <- function(names, f) {
  for (p in prim()[names]) p[["interval"]] <- f
}
at <- function(call, inputs, ends) {
  do.call(call$primitive, c(Map(function(x, end) x[[end]], inputs, ends), call$params))
}

ends_rule <- function(names, lo, hi) {
  interval_rule(names, function(call, inputs) interval(at(call, inputs, lo), at(call, inputs, hi)))
}

ends_rule(c(
  "add", "max", "min", "exp", "log", "sqrt", "tanh", "logistic", "convert", "broadcast_in_dim", "reshape", "transpose",
  "static_slice", "concatenate", "reduce_sum", "reduce_max", "reduce_min", "cumsum", "fill", "iota", "and", "or"
), "lo", "hi")
ends_rule(c("negate", "not"), "hi", "lo")
# of a condition, `lo` is whether it is certain, and `hi` whether it is possible
ends_rule(c("sub", "gt", "ge"), c("lo", "hi"), c("hi", "lo"))
ends_rule(c("lt", "le"), c("hi", "lo"), c("lo", "hi"))
interval_rule("mul", function(call, inputs) {
  ends <- list(c("lo", "lo"), c("lo", "hi"), c("hi", "lo"), c("hi", "hi"))
  corners <- lapply(ends, at, call = call, inputs = inputs)
  interval(Reduce(nv_min, corners), Reduce(nv_max, corners))
})

choose <- function(p, a, b) {
  both <- hull(a, b)
  interval(nv_ifelse(p$lo, a$lo, nv_ifelse(p$hi, both$lo, b$lo)), nv_ifelse(p$lo, a$hi, nv_ifelse(p$hi, both$hi, b$hi)))
}
results_of <- function(found) if (length(found) == 1L) found[[1]] else found
interval_rule("select", function(call, inputs) choose(inputs[[1]], inputs[[2]], inputs[[3]]))
interval_rule("if", function(call, inputs) {
  results_of(Map(function(a, b) choose(inputs[[1]], a, b), call$params$true_graph(), call$params$false_graph()))
})
# every state with which the loop may end
interval_rule("while", function(call, inputs) {
  may <- function(state) do.call(call$params$cond_graph, state)[[1]]
  loop <- nv_while(list(state = inputs, end = inputs, ended = FALSE), function(state, end, ended) may(state)$hi, function(state, end, ended) {
    end <- Map(function(e, s) choose(interval(!may(state)$lo), choose(interval(ended), hull(e, s), s), e), end, state)
    list(state = do.call(call$params$body_graph, state), end = end, ended = ended | !may(state)$lo)
  })
  results_of(Map(function(e, s) choose(interval(loop$ended), hull(e, s), s), loop$end, loop$state))
})

bounds <- function(f, ...) {
  arguments <- list(...)
  graph <- trace_fn(f, lapply(arguments, `[[`, "lo"))
  found <- walk_graph(graph, unname(arguments), function(call, inputs) {
    rule <- call$primitive$rules[["interval"]]
    if (is.null(rule)) stop("There is no rule \"interval\" for `", call$primitive$name, "`.")
    rule(call, inputs)
  }, constant = function(node) interval(node$value))
  unflatten(graph$out_tree, found)
}
