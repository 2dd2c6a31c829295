# What test-allocation.R runs while allocations fail, here and in a process of its own.
text <- "func.func @main(%x: tensor<3xf64>) -> tensor<3xf64> {
  %y = stablehlo.exponential %x : tensor<3xf64>
  %z = stablehlo.add %x, %y : tensor<3xf64>
  return %z : tensor<3xf64>
}"
x <- nv_tensor(c(1, 2, 3), "f64")
big <- seq(0, 1, length.out = 20000)
programs <- list(
  tensor = function() as_array(nv_tensor(big, "f32"))[c(1, 20000)],
  trace = function() length(trace_fn(function(x) sum(sin(x) * x), list(x = x))$calls),
  loop = function() format(trace_fn(function(x) nv_while(list(v = x), function(v) sum(v) < 1, function(v) list(v = v + 1)), list(x = x))),
  debug = function() as_array(sum(sin(x) * 2)),
  gradient = function() as_array(gradient(function(x) sum(sin(x) * x))(x)$x),
  jit = function() as_array(jit(function(x, k) list(a = x * k, b = nv_broadcast_to(sum(x), 20000L)), static = "k")(x, 2)$a),
  run = local({
    f <- jit(function(x) x + nv_broadcast_to(nv_scalar(1, "f64"), 20000L))
    y <- nv_tensor(big, "f64")
    function() as_array(f(y))[1:3]
  }),
  read = function() as_array(read_stablehlo(text)(x)),
  write = function() repr(stablehlo(trace_fn(function(x) exp(x) + 1, list(x = x)))[[1L]]),
  evaluate = function() as_array(evaluate_graph(trace_fn(function(x) x * 2, list(x = x)), list(x))[[1L]]),
  print = function() capture.output(print(nv_tensor(matrix(1:6, 2)))),
  as_array = function() as_array(nv_tensor(1:10, "i64")),
  bytes = function() as_raw(nv_tensor(matrix(1:6, 2), "i16"), row_major = TRUE),
  saved = function() as_array(unserialize(serialize(x, NULL))),
  saved_graph = function() format(unserialize(serialize(trace_fn(function(x) x * 2, list(x = x)), NULL))),
  file = function() as_array(nv_unserialize(nv_serialize(list(a = x), metadata = c(b = "c")))$a),
  calls = function() format(trace_fn(function(x) nv_transpose(x), list(x = nv_tensor(matrix(1:6, 2))))$calls[[1L]]),
  own_rule = local({
    p <- AnvilPrimitive("allocation_test")
    p[["forward"]] <- function(operand) operand * 2
    p[["backward"]] <- function(inputs, outputs, grads, .required) list(grads[[1L]] * 2)
    twice <- register_primitive("allocation_test", p, overwrite = TRUE)
    function() as_array(gradient(function(x) sum(twice(x)))(x)$x)
  })
)
