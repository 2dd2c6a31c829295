# The sessions of the document that the package implements.

f <- function(x, y, op) {
  if (op == "add") {
    nv_add(x, y)
  } else if (op == "mul") {
    nv_mul(x, y)
  } else {
    stop("Unsupported operation")
  }
}
x <- nv_scalar(3, "f32")
y <- nv_scalar(4, "f32")

test_that("a function is traced into a graph", {
  aten <- nv_aten("f32", c())
  expect_prints(aten, "AbstractTensor(dtype=f32, shape=)")
  graph <- trace_fn(f, list(x = aten, y = aten, op = "mul"))
  expect_prints(graph, "
<AnvilGraph>
  Inputs:
    %x1: f32[]
    %x2: f32[]
  Body:
    %1: f32[] = mul(%x1, %x2)
  Outputs:
    %1: f32[]")
  expect_length(graph$inputs, 2)
  expect_length(graph$outputs, 1)
  expect_identical(graph$constants, list())
  call <- graph$calls[[1]]
  expect_identical(call$primitive$name, "mul")
  expect_identical(call$inputs, graph$inputs)
  expect_identical(call$outputs, graph$outputs)
  expect_length(call$params, 0)
})

test_that("the graph is transformed into its gradient", {
  aten <- nv_aten("f32", c())
  graph <- trace_fn(f, list(x = aten, y = aten, op = "mul"))
  expect_prints(transform_gradient(graph, wrt = c("x", "y")), "
<AnvilGraph>
  Inputs:
    %x1: f32[]
    %x2: f32[]
  Constants:
    %c1: f32[]
  Body:
    %1: f32[] = mul(%x1, %x2)
    %2: f32[] = mul(%c1, %x2)
    %3: f32[] = mul(%c1, %x1)
  Outputs:
    %2: f32[]
    %3: f32[]")
})

test_that("primitives have rules", {
  backward <- prim("mul")$rules[["backward"]]
  expect_identical(names(formals(backward)), c("inputs", "outputs", "grads", ".required"))
  expect_identical(names(formals(prim("mul")$rules[["stablehlo"]])), c("lhs", "rhs"))
})

test_that("a graph is lowered, compiled and run", {
  aten <- nv_aten("f32", c())
  func <- stablehlo(trace_fn(f, list(x = aten, y = aten, op = "mul")))[[1L]]
  expect_prints(func, '
func.func @main (%0: tensor<f32>, %1: tensor<f32>) -> tensor<f32> {
%2 = "stablehlo.multiply" (%0, %1): (tensor<f32>, tensor<f32>) -> (tensor<f32>)
"func.return"(%2): (tensor<f32>) -> ()
}')
  exec <- nv_compile(nv_program(src = repr(func), format = "mlir"))
  out <- nv_execute(exec, x$tensor, y$tensor)
  expect_prints(out, "PJRTBuffer\n 12\n[ CPUf32{} ]")
  expect_prints(nv_tensor(out), "AnvilTensor\n 12\n[ CPUf32{} ]")
})

test_that("jit compiles once per types and static values", {
  f_jit <- jit(f, static = "op")
  cache_size <- function(f) environment(f)$cache$size
  expect_prints(f_jit(x, y, "add"), "AnvilTensor\n 7\n[ CPUf32{} ]")
  expect_equal(cache_size(f_jit), 1)
  expect_prints(f_jit(nv_scalar(-99, "f32"), nv_scalar(2, "f32"), "add"), "AnvilTensor\n -97\n[ CPUf32{} ]")
  expect_equal(cache_size(f_jit), 1)
  expect_prints(f_jit(nv_scalar(1, "i32"), nv_scalar(2, "i32"), "add"), "AnvilTensor\n 3\n[ CPUi32{} ]")
  expect_equal(cache_size(f_jit), 2)
  expect_prints(f_jit(nv_scalar(1, "f32"), nv_scalar(2, "f32"), "mul"), "AnvilTensor\n 2\n[ CPUf32{} ]")
  expect_equal(cache_size(f_jit), 3)
  expect_error(f_jit(x, y, "sub"), "Unsupported operation")
})

test_that("gradients are lazy and compose", {
  g <- gradient(f, wrt = c("x", "y"))
  expect_prints(g(x, y, "add"), "
$x
DebugBox(ConcreteTensor)
 1
[ CPUf32{} ]

$y
DebugBox(ConcreteTensor)
 1
[ CPUf32{} ]")
  expect_prints(jit(g, static = "op")(x, y, "add"), "
$x
AnvilTensor
 1
[ CPUf32{} ]

$y
AnvilTensor
 1
[ CPUf32{} ]")
  h <- function(x, y) {
    z <- nv_add(x, y)
    g(z, x, "mul")
  }
  expect_prints(jit(h)(x, y), "
$x
AnvilTensor
 3
[ CPUf32{} ]

$y
AnvilTensor
 7
[ CPUf32{} ]")
  expect_prints(trace_fn(h, list(x = x, y = y)), "
<AnvilGraph>
  Inputs:
    %x1: f32[]
    %x2: f32[]
  Constants:
    %c1: f32[]
  Body:
    %1: f32[] = add(%x1, %x2)
    %2: f32[] = mul(%1, %x1)
    %3: f32[] = mul(%c1, %x1)
    %4: f32[] = mul(%c1, %1)
  Outputs:
    %3: f32[]
    %4: f32[]")
})

test_that("constants are captured, inlined or passed as inputs", {
  y <- nv_tensor(rnorm(1000000L))
  graph <- trace_fn(function(x) {
    x + y + 1
  }, list(x = nv_scalar(1L)))
  expect_prints(graph, "
<AnvilGraph>
  Inputs:
    %x1: i32?[]
  Constants:
    %c1: f32[1000000]
  Body:
    %1: f32[] = convert [dtype = f32, ambiguous = FALSE] (%x1)
    %2: f32[1000000] = broadcast_in_dim [shape = 1000000, broadcast_dimensions = <any>] (%1)
    %3: f32[1000000] = add(%2, %c1)
    %4: f32?[1000000] = broadcast_in_dim [shape = 1000000, broadcast_dimensions = <any>] (1:f32?)
    %5: f32[1000000] = add(%3, %4)
  Outputs:
    %5: f32[1000000]")
  expect_prints(graph$constants, "[[1]]\nGraphValue(ConcreteTensor(f32, (1000000)))")
  expect_identical(graph$constants[[1]]$aval$data, y)
  out <- stablehlo(graph)
  expect_prints(out[[1L]], '
func.func @main (%0: tensor<1000000xf32>, %1: tensor<i32>) -> tensor<1000000xf32> {
%2 = "stablehlo.convert" (%1): (tensor<i32>) -> (tensor<f32>)
%3 = "stablehlo.broadcast_in_dim" (%2) {
broadcast_dimensions = array<i64>
}: (tensor<f32>) -> (tensor<1000000xf32>)
%4 = "stablehlo.add" (%3, %0): (tensor<1000000xf32>, tensor<1000000xf32>) -> (tensor<1000000xf32>)
%5 = "stablehlo.constant" () {
value = dense<1.00000000e+00> : tensor<f32>
}: () -> (tensor<f32>)
%6 = "stablehlo.broadcast_in_dim" (%5) {
broadcast_dimensions = array<i64>
}: (tensor<f32>) -> (tensor<1000000xf32>)
%7 = "stablehlo.add" (%4, %6): (tensor<1000000xf32>, tensor<1000000xf32>) -> (tensor<1000000xf32>)
"func.return"(%7): (tensor<1000000xf32>) -> ()
}')
  expect_prints(out[[2L]], "[[1]]\nGraphValue(ConcreteTensor(f32, (1000000)))")
  expect_error(transform_gradient(trace_fn(function(x) x + y, list(x = nv_scalar(1)))), class = "anvil_error_gradient")
})

# What the document says of extending the system: graphs with fields, calls with fields, descriptors and boxes, and rules
# that anybody may read and write for transformations of their own.
test_that("graphs, calls and descriptors have the parts that transformations are written with", {
  aten <- nv_aten("f32", c())
  graph <- trace_fn(f, list(x = aten, y = aten, op = "mul"))
  expect_true(all(c("inputs", "outputs", "calls", "in_tree", "out_tree", "constants") %in% names(graph)))
  expect_s3_class(graph$inputs[[1L]], "GraphValue")
  expect_s3_class(graph$calls[[1L]], "PrimitiveCall")
  expect_true(all(c("primitive", "inputs", "params", "outputs") %in% names(graph$calls[[1L]])))
  expect_s3_class(graph$calls[[1L]]$primitive, "AnvilPrimitive")
  during <- NULL
  by_hand <- (function() {
    desc <- local_descriptor()
    boxes <- lapply(list(aten, aten), function(type) GraphBox(GraphValue(type), desc))
    out <- f(boxes[[1L]], boxes[[2L]], "mul")
    during <<- desc$calls
    expect_s3_class(out, "GraphBox")
    as_graph(desc, out)
  })()
  expect_length(during, 1L)
  expect_identical(format(by_hand), format(graph))
})

test_that("rules are read by a gradient that is written in R", {
  expect_output(print(prim("mul")$rules[["backward"]]), "nvl_mul(grad, rhs)", fixed = TRUE)
  expect_output(print(prim("mul")$rules[["backward"]]), "nvl_mul(grad, lhs)", fixed = TRUE)
  expect_output(print(prim("mul")$rules[["stablehlo"]](nv_scalar(1), nv_scalar(2))), "stablehlo.multiply", fixed = TRUE)
  # walks the graph forwards and then, by the rules, backwards
  gradient_in_r <- function(graph, inputs) {
    tape <- list()
    outputs <- walk_graph(graph, inputs, function(call, inputs) {
      made <- do.call(call$primitive, c(inputs, call$params))
      tape[[length(tape) + 1L]] <<- list(call = call, inputs = inputs, outputs = list(made))
      made
    })
    grads <- list()
    add <- function(node, grad) grads[[node$label]] <<- if (is.null(grads[[node$label]])) grad else nvl_add(grads[[node$label]], grad)
    add(graph$outputs[[1L]], nv_fill_like(outputs[[1L]], 1))
    for (step in rev(tape)) {
      grad <- grads[[step$call$outputs[[1L]]$label]]
      if (is.null(grad)) next
      required <- vapply(step$call$inputs, inherits, NA, "GraphValue")
      rule <- step$call$primitive$rules[["backward"]]
      found <- do.call(rule, c(list(step$inputs, step$outputs, list(grad)), step$call$params, list(.required = required)))
      for (i in which(required)) if (!is.null(found[[i]])) add(step$call$inputs[[i]], found[[i]])
    }
    lapply(graph$inputs, function(node) grads[[node$label]])
  }
  h <- function(x, y) {
    z <- exp(x) * y + x / y
    sum(tanh(z) * f(z, x, "mul"))
  }
  type <- nv_aten("f64", 3)
  graph <- trace_fn(h, list(x = type, y = type))
  args <- list(nv_tensor(c(0.1, -0.4, 0.9), "f64"), nv_tensor(c(1.5, 2, -1), "f64"))
  expected <- unname(do.call(gradient(h), args))
  expect_equal(lapply(gradient_in_r(graph, args), as_array), lapply(expected, as_array))
  compiled <- jit(function(x, y) gradient_in_r(graph, list(x, y)))
  expect_equal(lapply(do.call(compiled, args), as_array), lapply(expected, as_array))
})

test_that("plain R values are refused where they would be ambiguous", {
  expect_error(jit(nv_add, static = character())(1, 2), class = "anvil_error_argument")
  expect_error(jit(\() gradient(nv_add)(1, 2))(), class = "anvil_error_gradient")
  expect_prints(nv_tensor(1)^2, "DebugBox(ConcreteTensor)\n 1\n[ CPUf32{1} ]")
})
