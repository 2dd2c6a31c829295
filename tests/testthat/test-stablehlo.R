extdata <- function(file) system.file("extdata", file, package = "anvil")
dot_text <- "
  // a program
  func.func public @main(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<f32> {
    %0 = call @product(%x, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    %1 = stablehlo.constant dense<0.0> : tensor<f32>
    %2 = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
  func.func private @product(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>) -> tensor<3xf32> {
    %0 = stablehlo.multiply %arg0, %arg1 : tensor<3xf32>
    return %0 : tensor<3xf32>
  }
"
nested_text <- "
module @jit_f {
  func.func public @main(%arg0: tensor<2xf64> loc(\"p['b']\"), %arg1: tensor<2xf64> loc(\"p['w'][0]\"), %arg2: tensor<2xf64> loc(\"p['w'][1]\"), %arg3: tensor<f64> loc(\"x\"))
      -> (tensor<2xf64> {jax.result_info = \"result['a']\"}, tensor<f64> {jax.result_info = \"result['z'][0]\"}, tensor<2xf64> {jax.result_info = \"result['z'][1]\"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<2xf64> loc(#loc1)
    return %0, %arg3, %arg2 : tensor<2xf64>, tensor<f64>, tensor<2xf64>
  }
}
#loc1 = loc(\"add\")
"

test_that("a program is a function that is called, compiled, differentiated and traced", {
  f <- read_stablehlo(dot_text)
  expect_s3_class(f, "AnvilImported")
  expect_true(is.function(f))
  expect_named(formals(f), c("x", "y"))
  x <- nv_tensor(c(1, 2, 3))
  y <- nv_tensor(c(4, 5, 6))
  expect_equal(value(f(x, y)), 32)
  expect_equal(value(f(y = y, x = x)), 32)
  expect_equal(value(jit(f)(x, y)), 32)
  expect_equal(lapply(jit(gradient(f))(x, y), value), list(x = array(c(4, 5, 6)), y = array(c(1, 2, 3))))
  expect_equal(value(gradient(f, wrt = "y")(x, y)$y), array(c(1, 2, 3)))
  both <- jit(value_and_gradient(f, wrt = "x"))(x, y)
  expect_equal(value(both$value), 32)
  expect_equal(value(both$grad$x), array(c(4, 5, 6)))
  squared <- jit(function(x) f(x, x * 2)^2)
  expect_equal(value(squared(x)), 28^2)
  graph <- trace_fn(f, list(nv_aten("f32", 3), nv_aten("f32", 3)))
  expect_identical(format(graph), format(as_graph(f)))
  expect_equal(value(evaluate_graph(as_graph(f), list(x, y))[[1L]]), 32)
  slope <- transform_gradient(as_graph(f), "x")
  expect_equal(value(evaluate_graph(slope, list(x, y))[[1L]]), array(c(4, 5, 6)))
  expect_output(nv_inspect(f, "graph"), "reduce_sum")
  expect_output(nv_inspect(f, "loops"), "program")
  expect_output(nv_inspect(f, "stablehlo", x, y), "stablehlo.multiply")
})

test_that("programs print as signatures", {
  expect_snapshot({
    read_stablehlo(dot_text)
    read_stablehlo(nested_text)
    read_stablehlo("func.func @main() -> () { return }")
  })
})

test_that("names with dots come back", {
  x <- nv_tensor(c(1, 2))
  f <- function(max.iter, .rate, parts) list(a.b = max.iter + .rate, c = parts$d.e * 2)
  back <- read_stablehlo(write_stablehlo(f, args = list(max.iter = x, .rate = x, parts = list(d.e = x))))
  expect_identical(names(formals(back)), c("max.iter", ".rate", "parts"))
  found <- back(max.iter = x, .rate = x * 10, parts = list(d.e = x))
  expect_identical(names(found), c("a.b", "c"))
  expect_identical(as_array(found$a.b), array(c(11, 22)))
  expect_identical(as_array(found$c), array(c(2, 4)))
})

test_that("names of arguments and results make lists", {
  f <- read_stablehlo(nested_text)
  v <- function(...) nv_tensor(c(...), dtype = "f64")
  s <- nv_scalar(5, "f64")
  expect_named(formals(f), c("p", "x"))
  out <- f(list(w = list(v(1, 2), v(3, 4)), b = v(10, 20)), s)
  expect_equal(map_tree(value, out), list(a = array(c(11, 22)), z = list(5, array(c(3, 4)))))
  # without names, in order
  expect_equal(map_tree(value, f(list(v(10, 20), list(v(1, 2), v(3, 4))), s)), map_tree(value, out))
  loss <- function(p, x) sum(f(p, x)$a * v(1, 3))
  grads <- jit(gradient(loss, wrt = "p"))(list(b = v(0, 0), w = list(v(1, 2), v(3, 4))), s)
  expect_equal(map_tree(value, grads), list(p = list(b = array(c(1, 3)), w = list(array(c(1, 3)), array(c(0, 0))))))
  expect_snapshot(error = TRUE, {
    f(v(1, 2), s)
    f(list(b = v(1, 2)), s)
    f(list(b = v(1, 2), w = list(v(1, 2))), s)
    f(list(b = v(1, 2), w = list(v(1, 2), v(1, 2)), c = s), s)
    f(list(b = v(1, 2), w = list(v(1, 2), nv_tensor(c(1, 2)))), s)
  })
})

test_that("names that make no list stay flat", {
  arguments <- function(...) {
    names <- c(...)
    labels <- paste0("%a", seq_along(names), ": tensor<f32> loc(\"", names, "\")", collapse = ", ")
    names(formals(read_stablehlo(sprintf("func.func @main(%s) -> tensor<f32> { return %%a1 : tensor<f32> }", labels))))
  }
  expect_identical(arguments("x", "y"), c("x", "y"))
  expect_identical(arguments("x['a']", "x['b']", "y"), c("x", "y"))
  expect_identical(arguments("x['a']", "y", "x['b']"), c("x..a..", "y", "x..b.."))
  expect_identical(arguments("x['a']", "x", "x"), c("x..a..", "x", "x_1"))
  expect_identical(arguments("x[0]", "x[2]"), c("x.0.", "x.2."))
  expect_identical(arguments("jit(f)/add", "if", "...", "args[0]"), c("jit.f..add", "if.", "x...", "args.0."))
  expect_identical(arguments("args[0]", "args[1]", "c", "list"), c("args", "c", "list"))
  f <- read_stablehlo("func.func @main(%0: tensor<f32>, %1: tensor<f32>) -> (tensor<f32>, tensor<f32>) { return %1, %0 : tensor<f32>, tensor<f32> }")
  expect_named(formals(f), c("x1", "x2"))
  expect_equal(lapply(f(nv_scalar(1), nv_scalar(2)), value), list(2, 1))
})

test_that("arguments are checked and said by name", {
  f <- read_stablehlo(dot_text)
  x <- nv_tensor(c(1, 2, 3))
  expect_snapshot(error = TRUE, {
    f(x)
    f(x, nv_tensor(c(1, 2)))
    f(x, nv_tensor(1:3))
    f(x, c(1, 2, 3))
    f(x, "a")
    f(x, x, x)
    f(x, z = x)
    jit(f)(x, nv_scalar(1))
  })
  expect_error(f(x, nv_tensor(c(1, 2))), class = "anvil_error_shape")
  expect_error(f(x, nv_tensor(1:3)), class = "anvil_error_dtype")
  expect_error(f(x, 1), class = "anvil_error_argument")
})

test_that("R data are converted on request", {
  f <- read_stablehlo(
    "func.func @main(%x: tensor<2x3xf64>, %n: tensor<i32>, %l: tensor<2xi1>) -> (tensor<2x3xf64>, tensor<i32>, tensor<2xi1>) {
      return %x, %n, %l : tensor<2x3xf64>, tensor<i32>, tensor<2xi1>
    }",
    convert = TRUE
  )
  m <- matrix(c(1.5, 2, 3, 4, 5, 6), 2)
  out <- f(m, 3, c(TRUE, FALSE))
  expect_equal(lapply(out, value), list(m, 3L, array(c(TRUE, FALSE))))
  expect_equal(lapply(f(ts(m, start = 1990), 3, c(TRUE, FALSE)), value), lapply(out, value))
  traced <- jit(function(n) f(m, n, nv_tensor(c(TRUE, TRUE))))(nv_scalar(7L, "i32"))
  expect_equal(value(traced[[2L]]), 7L)
  expect_snapshot(error = TRUE, {
    f(1:6, 3, c(TRUE, FALSE))
    f(m, 2.5, c(TRUE, FALSE))
    f(m, TRUE, c(TRUE, FALSE))
    f(m, 1:2, c(TRUE, FALSE))
    f(m, 1, c(1, 0))
  })
})

test_that("other functions of the text are read by name", {
  f <- read_stablehlo(dot_text, entry = "product")
  expect_named(formals(f), c("arg0", "arg1"))
  expect_equal(value(f(nv_tensor(c(1, 2, 3)), nv_tensor(c(2, 2, 2)))), array(c(2, 4, 6)))
  expect_named(formals(read_stablehlo(dot_text, entry = "@main")), c("x", "y"))
  expect_snapshot(error = TRUE, {
    read_stablehlo(dot_text, entry = "sum")
    read_stablehlo(dot_text, entry = 1)
  })
})

test_that("bad sources are refused with place and reason", {
  folder <- withr::local_tempdir()
  withr::local_dir(folder)
  write <- function(bytes) writeBin(bytes, "program.mlir")
  read <- function(bytes) {
    write(bytes)
    read_stablehlo("program.mlir")
  }
  expect_snapshot(error = TRUE, {
    read_stablehlo("missing.mlir")
    read_stablehlo(".")
    read_stablehlo(1)
    read_stablehlo(NA_character_)
    read_stablehlo(dot_text, convert = NA)
    read(raw())
    read(charToRaw(" \n\t\r\n"))
    read(charToRaw("x <- 1\n"))
    read(as.raw(c(0x4d, 0x4c, 0xef, 0x52, 0x0d)))
    read(as.raw(c(0x6d, 0x00, 0x6f)))
    read(as.raw(c(0x6d, 0x6f, 0x0a, 0x64, 0xe9, 0x0a)))
    read(charToRaw("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\r\n  %0 = stablehlo.frobnicate %x : tensor<2xf32>\r\n  return %0 : tensor<2xf32>\r\n}"))
    read(charToRaw("func.func @main(%x: tensor<2xf32>) -> tensor<3xf32> {\n  return %x : tensor<3xf32>\n}"))
    as_graph(function(x) x)
    as_graph(1)
  })
})

test_that("files, lines, CRLF and byte-order marks are read", {
  file <- withr::local_tempfile(fileext = ".mlir")
  lines <- strsplit(dot_text, "\n", fixed = TRUE)[[1L]]
  writeBin(c(as.raw(c(0xef, 0xbb, 0xbf)), charToRaw(paste(lines, collapse = "\r\n"))), file)
  graph <- format(as_graph(read_stablehlo(dot_text)))
  expect_identical(format(as_graph(read_stablehlo(file))), graph)
  expect_identical(format(as_graph(read_stablehlo(lines))), graph)
  expect_identical(format(nv_program(file)$graph), graph)
  x <- nv_tensor(c(1, 2, 3))
  expect_equal(value(nv_tensor(nv_execute(nv_compile(read_stablehlo(file)), x, x))), 14)
})

test_that("imported functions survive saveRDS()", {
  f <- read_stablehlo(dot_text)
  g <- unserialize(serialize(f, NULL))
  x <- nv_tensor(c(1, 2, 3))
  expect_equal(value(g(x, x)), 14)
  expect_output(print(g), "returns f32\\[\\]")
})

# Written and read again, a graph prints the same; captured scalars become literals.
expect_same_again <- function(graph) {
  text <- write_stablehlo(graph)
  again <- read_stablehlo(text)
  testthat::expect_identical(format(as_graph(again)), format(simplify_graph(graph)))
  testthat::expect_identical(write_stablehlo(again), text)
  again
}

test_that("graphs, functions and imported programs are written and read again", {
  k <- nv_tensor(matrix(c(0.1, 1 / 3, -2, 1e-30, 5, 6), 2), dtype = "f64")
  f <- jit(function(x, p, n) list(y = x %*% k, s = list(sum(p$w) / n, p$w)), static = "n")
  arguments <- list(x = nv_aten("f64", c(3, 2)), p = list(w = nv_aten("f64", 4)), n = 2)
  file <- withr::local_tempfile(fileext = ".mlir")
  text <- write_stablehlo(f, file, arguments)
  expect_identical(readChar(file, file.size(file)), text)
  expect_match(text, "^module \\{\n  func.func @main ")
  expect_invisible(write_stablehlo(trace_fn(f, arguments), file))
  again <- read_stablehlo(file)
  expect_named(formals(again), c("x", "p"))
  x <- nv_tensor(matrix(rnorm(6), 3), dtype = "f64")
  p <- list(w = nv_tensor(c(1, 2, 3, 4), dtype = "f64"))
  expect_identical(map_tree(value, jit(again)(x, p)), map_tree(value, f(x, p, 2)))
  expect_identical(write_stablehlo(again), text)
  expect_same_again(as_graph(read_stablehlo(nested_text)))
  expect_same_again(as_graph(read_stablehlo(dot_text)))
  loop <- function(x) {
    nv_while(list(x = x, i = nv_scalar(0L, "i32")), function(x, i) i < 5L, function(x, i) list(x = x * 1.5 + sum(x), i = i + 1L))$x
  }
  expect_same_again(trace_fn(loop, list(x = nv_aten("f32", c(2, 2)))))
  expect_snapshot(error = TRUE, {
    write_stablehlo(1)
    write_stablehlo(read_stablehlo(dot_text), 1)
    write_stablehlo(read_stablehlo(dot_text), constants_as_inputs = 2)
  })
})

test_that("constants are inputs or text", {
  k <- nv_tensor(c(1, 2))
  graph <- trace_fn(function(x) x + k, list(nv_aten("f32", 2)))
  expect_length(stablehlo(graph)[[2]], 1)
  expect_identical(stablehlo(graph)[[2]][[1]]$aval$data, k)
  written <- stablehlo(graph, constants_as_inputs = FALSE)
  expect_length(written[[2]], 0)
  expect_match(repr(written[[1]]), "dense<")
  expect_match(write_stablehlo(graph, constants_as_inputs = TRUE), "@main (%0: tensor<2xf32>, %1: tensor<2xf32>", fixed = TRUE)
})

test_that("a network exported from JAX gives JAX's results and can be trained", {
  x <- nv_tensor(unname(as.matrix(iris[1:4])), dtype = "f32")
  expected <- unname(as.matrix(utils::read.csv(extdata("iris_probabilities.csv"))))
  classify <- read_stablehlo(extdata("iris_classifier.mlir"))
  expect_equal(value(classify(x)), expected, tolerance = 1e-5)
  expect_equal(value(jit(classify)(x)), expected, tolerance = 1e-5)
  network <- read_stablehlo(extdata("iris_network.mlir"))
  params <- read_stablehlo(extdata("iris_weights.mlir"))()
  expect_named(params, c("b1", "b2", "w1", "w2"))
  expect_equal(exp(value(jit(network)(params, x))), expected, tolerance = 1e-5)
  y <- nv_tensor(unname(stats::model.matrix(~ Species - 1, iris)), dtype = "f32")
  loss <- function(params, x, y) -sum(y * network(params, x)) / 150
  out <- jit(value_and_gradient(loss, wrt = "params"))(params, x, y)
  expect_equal(value(out$value), -mean(log(expected[cbind(1:150, as.integer(iris$Species))])), tolerance = 1e-5)
  step <- Map(function(p, g) p - 0.01 * g, params, out$grad$params)
  expect_lt(value(loss(step, x, y)), value(out$value))
})

test_that("a solver exported from JAX takes the same steps, and has gradients", {
  jax <- utils::read.csv(extdata("predator_prey.csv"))
  solve <- read_stablehlo(extdata("predator_prey.mlir"))
  y0 <- f64(c(10, 5))
  theta <- f64(c(1.1, 0.4, 0.1, 0.4))
  tolerance <- nv_scalar(1e-8, "f64")
  solve_jit <- jit(solve)
  for (i in c(1, 10, 30)) {
    out <- solve_jit(y0, theta, nv_scalar(jax$t_end[i], "f64"), tolerance)
    expect_equal(flat(out$y), c(jax$prey[i], jax$predators[i]), tolerance = 1e-9)
    expect_equal(c(value(out$accepted), value(out$rejected)), c(jax$accepted[i], jax$rejected[i]))
  }
  expect_equal(flat(solve(y0, theta, nv_scalar(1, "f64"), tolerance)$y), c(jax$prey[1], jax$predators[1]), tolerance = 1e-9)
  prey <- function(y0, theta, t_end) nv_reshape(solve(y0, theta, t_end, tolerance)$y[1], integer())
  slope <- jit(gradient(prey, wrt = "theta"))(y0, theta, nv_scalar(10, "f64"))$theta
  expect_equal(flat(slope), unlist(jax[10, 6:9], use.names = FALSE), tolerance = 1e-6)
})

test_that("donated arguments say which result may have their memory", {
  graph <- trace_fn(function(x, y, k) list(x[[1]], x[[2]] + y, k), list(x = list(nv_tensor(1), nv_tensor(2)), y = nv_tensor(1), k = nv_scalar(1L)))
  aliases <- function(...) {
    arguments <- strsplit(sub("[)] -> .*", "", repr(stablehlo(graph, ...)[[1L]])), "%")[[1L]][-1L]
    as.integer(sub(".*aliasing_output = ([0-9]+) : i32.*|.*", "\\1", arguments))
  }
  expect_identical(aliases(), rep(NA_integer_, 4L))
  expect_identical(aliases(donate = c("x", "y", "k")), c(0L, 1L, NA, 2L))
  expect_identical(aliases(donate = "y"), c(NA, NA, 0L, NA))
  expect_error(stablehlo(graph, donate = "z"), "no argument `z`")
  back <- read_stablehlo(repr(stablehlo(graph, donate = "x")[[1L]]))
  expect_length(formals(back), 4L)
  static <- trace_fn(function(how, x) if (how == "a") x else -x, list(how = "a", x = nv_tensor(1)))
  expect_match(repr(stablehlo(static, donate = "x")[[1L]]), "aliasing_output = 0", fixed = TRUE)
})

test_that("notes on results that have no place in a list leave all of them", {
  notes <- function(...) {
    infos <- sprintf('tensor<f32> {jax.result_info = "%s"}', c(...))
    f <- read_stablehlo(sprintf("func.func @main(%%x: tensor<f32>) -> (%s) {
      %%0 = stablehlo.add %%x, %%x : tensor<f32>
      return %%x, %%0 : tensor<f32>, tensor<f32>
    }", paste(infos, collapse = ", ")))
    expect_match(format(f)[3L], "list of 2")
    lapply(f(nv_scalar(1, "f32")), value)
  }
  for (info in list(c("result[(0, 0)]", "result[(0, 1)]"), c("result[False]", "result[True]"), c("a", "b"), c("result[0]", "result{1}"), c("result", "out"))) {
    expect_equal(notes(info), list(1, 2))
  }
  expect_equal(notes("['a']", "['b']"), list(a = 1, b = 2))
})
