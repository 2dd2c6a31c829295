# Runs calls of every kind of binding while R collects garbage at every STEP-th allocation, so
# that what is not protected is gone: Rscript tests/testthat/gctorture.R [STEP] [SECONDS]
# test-gctorture.R runs it with few collections.
arguments <- commandArgs(TRUE)
step <- if (length(arguments) >= 1L) as.integer(arguments[1L]) else 1L
seconds <- if (length(arguments) >= 2L) as.numeric(arguments[2L]) else 600
suppressMessages(library(anvil))

x <- nv_tensor(c(1, 2, 3), "f64")
calls <- list(
  tensors = function() c(as_array(nv_tensor(1:3, "f32")), as_array(nv_tensor(matrix(1:4, 2), "i64")), as.integer(as_raw(nv_scalar(1L, "i16"), TRUE))),
  debug = function() as_array(sum(sin(x) * x + 1)),
  tests = function() if (nv_scalar(2) > 1) "yes" else "no",
  trace = function() format(trace_fn(function(x) sum(x * 2), list(x = x))),
  calls = function() vapply(trace_fn(function(x) nv_transpose(x), list(x = nv_tensor(matrix(1:4, 2))))$calls, format, ""),
  gradient = function() as_array(gradient(function(x) sum(x * x))(x)$x),
  jit = function() as_array(jit(function(x, k) list(a = x * k, b = list(x, NULL)), static = "k")(x, 2)$a),
  loop = function() as_array(jit(function(x) nv_while(list(v = x), function(v) sum(v) < 50, function(v) list(v = v * 2))$v)(x)),
  text = function() as_array(read_stablehlo("func.func @main(%x: tensor<3xf64>) -> tensor<3xf64> { %y = stablehlo.add %x, %x : tensor<3xf64>\n return %y : tensor<3xf64> }")(x)),
  write = function() repr(stablehlo(trace_fn(function(x) exp(x), list(x = x)))[[1L]]),
  evaluate = function() as_array(evaluate_graph(trace_fn(function(x) x + 1, list(x = x)), list(x))[[1L]]),
  print = function() capture.output(print(nv_tensor(matrix(c(1.5, 2, 3, 4), 2)))),
  saved = function() as_array(unserialize(serialize(x, NULL))),
  saved_graph = function() {
    rule <- nv_custom_gradient(function(x) x * 2, function(grads) list(grads * 2))
    format(unserialize(serialize(unserialize(serialize(trace_fn(rule, list(x = x)), NULL)), NULL)), nested = TRUE)
  },
  file = function() lapply(nv_unserialize(nv_serialize(list(a = x, b = list(c = x)), metadata = c(b = "c"))), is.list),
  errors = function() tryCatch(x + nv_tensor(1:2), error = function(e) class(e)[1L]),
  rule = local({
    p <- AnvilPrimitive("tortured")
    p[["forward"]] <- function(operand) operand * 2
    p[["backward"]] <- function(inputs, outputs, grads, .required) list(grads[[1L]] * 2)
    twice <- register_primitive("tortured", p, overwrite = TRUE)
    function() as_array(gradient(function(x) sum(twice(x)))(x)$x)
  }),
  memory = function() names(anvil_memory(release = TRUE)),
  report = function() {
    f <- jit(function(x, k) sum(x) + k, static = "k")
    f(x, 1)
    f(x, 2)
    jit_report(f)[c("arguments", "nests")]
  },
  loops = function() capture.output(nv_inspect(function(x) exp(x) + 1, "loops", x))
)
expected <- lapply(calls, function(f) f())
end <- Sys.time() + seconds
wrong <- character()
done <- 0L
repeat {
  for (name in names(calls)) {
    gctorture2(step)
    got <- tryCatch(calls[[name]](), error = conditionMessage)
    gctorture2(0)
    if (!identical(got, expected[[name]])) wrong <- union(wrong, name)
    done <- done + 1L
    if (Sys.time() > end && done >= length(calls)) break
  }
  if (Sys.time() > end) break
}
cat(sprintf("%d calls with a collection at every %d. allocation; wrong: %s\n", done, step, if (length(wrong)) toString(wrong) else "none"))
quit(status = length(wrong) > 0L)
