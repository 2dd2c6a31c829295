# Objects that are not what their class says, and every entry of the shared object with junk
# in every argument: an error of ours, or an answer, but never the end of the session.

junk_and_calls <- '
  x <- nv_tensor(c(1, 2, 3), "f64")
  graph <- trace_fn(function(x) sum(x * 2), list(x))
  imported <- as_graph(read_stablehlo("func.func @main(%x: tensor<f32>) -> tensor<f32> {\n return %x : tensor<f32>\n}"))
  cache <- environment(jit(function(x) x))$cache
  executable <- nv_compile(graph)
  descriptor <- NULL
  box <- NULL
  trace_fn(function(x) { box <<- x; descriptor <<- .current_descriptor(); x }, list(x))
  restored <- function(x) unserialize(serialize(x, NULL))
  as_class <- function(x, class) { x <- restored(x); attr(x, "class") <- class; x }
  tensor_class <- class(x)
  foreign <- restored(cache) # an external pointer
  attributes(foreign) <- NULL
  tag <- c(10L, 0L, 3L)

  junk <- list(
    NULL, TRUE, NA, 1L, -1L, NA_integer_, 1.5, NaN, 1e300, "a", NA_character_, character(), raw(3), 1i, list(), list(1, "a"),
    list(NULL), quote(a), quote(a + b), mean, sum, globalenv(), new.env(), foreign, x, x$tensor, debug_box("f32", 2), x > 1,
    nv_scalar(TRUE) & TRUE, graph, graph$inputs[[1L]], cache, executable, descriptor, box, tag, c(99L, 0L), c(10, 0, 1e18), c(10L, 0L, NA),
    restored(graph), restored(imported), restored(box), restored(executable), restored(descriptor), restored(graph$inputs[[1L]]),
    structure(list(1), class = c("GraphValue", "GraphNode")), structure(list(), class = "AnvilCache"),
    structure(1, class = "AnvilTensor"), structure(1, class = tensor_class), structure(list(), class = "AnvilGraph"), structure(TRUE, class = tensor_class), structure(NA, class = c("DebugBox", "AnvilValue")),
    structure(c(TRUE, FALSE), handle = attr(nv_scalar(TRUE), "handle"), class = tensor_class),
    structure(TRUE, handle = attr(nv_scalar(FALSE), "handle"), class = tensor_class),
    structure(TRUE, handle = x, class = tensor_class), structure(TRUE, handle = "a", class = tensor_class),
    as_class(attr(nv_scalar(TRUE), "handle"), tensor_class), nv_scalar(TRUE),
    as_class(foreign, "AnvilGraph"), as_class(foreign, tensor_class), as_class(foreign, c("DebugBox", "AnvilValue")), as_class(foreign, c("GraphBox", "AnvilValue")),
    as_class(x, c("GraphBox", "AnvilValue")), as_class(x, c("DebugBox", "AnvilValue")), as_class(x, "GraphDescriptor"), as_class(x, "AnvilGraph"), as_class(x, "AnvilCache"),
    as_class(graph, tensor_class), as_class(box, tensor_class), as_class(debug_box("f32", 2), tensor_class),
    local({ y <- restored(x); attr(y, "data") <- c(1, 2); y }), local({ y <- restored(x); attr(y, "data") <- "a"; y }),
    local({ y <- restored(x); attr(y, "type") <- c(10L, 0L, 4L); y }), local({ y <- restored(x); attr(y, "type") <- NULL; y }),
    local({ y <- restored(x); attr(y, "data") <- NULL; y }), structure(list(), class = c("LeafNode", "TreeNode")), as.name("x"), expression(a)
  )

  # good arguments of every routine
  good <- list(
    anvil_attach = list(asNamespace("anvil")), anvil_memory = list(FALSE), anvil_watch_collections = list(), anvil_fail_allocation = list(0L), anvil_threads = list(NULL), anvil_behind = list(globalenv(), quote(sum), FALSE),
    anvil_tensor = list(c(1, 2), 10L, 2L, FALSE, FALSE), anvil_empty = list(tag), anvil_tag = list(x), anvil_as_array = list(x), anvil_as_raw = list(x, FALSE),
    anvil_from_raw = list(raw(24), tag, FALSE, "AnvilTensor", NULL), anvil_safetensors = list(charToRaw("{}"), 0), anvil_rewrap = list(x, "AnvilBuffer"), anvil_format_data = list(x, 3, 30, 3), anvil_format_elements = list(x, "%5.1f"), anvil_dtype_code = list("f32"), anvil_dtypes = list(), anvil_dtypes = list(),
    anvil_push = list("program"), anvil_pop = list(descriptor), anvil_current = list(), anvil_purpose = list(), anvil_input = list(x), anvil_finish = list(descriptor, list(x), list()),
    anvil_box_value = list(box), anvil_negated = list(box), anvil_debug_box = list(x), anvil_in_debug = list(x), anvil_promote = list(list(x, 1), TRUE), anvil_broadcast = list(list(x, 1), TRUE),
    anvil_common_dtype = list(1L, 2L, FALSE, TRUE), anvil_default_dtypes = list(), anvil_inline = list(graph, list(x)),
    anvil_graph_text = list(graph, "AnvilGraph", TRUE), anvil_labels = list(graph$inputs), anvil_names = list(graph$inputs, ""), anvil_scope = list(graph), anvil_foreign = list(graph),
    anvil_new_node = list(tag, NULL, NULL), anvil_literal = list(LiteralTensor(1, 3, "f64")), anvil_descriptor = list(), anvil_enter = list(GraphDescriptor()), anvil_leave = list(GraphDescriptor()),
    anvil_graph_of = list(GraphDescriptor(), list(), list()), anvil_box = list(GraphValue(nv_aten("f32", 2)), GraphDescriptor()), anvil_box_text = list(box),
    anvil_override = list("mul", list(NULL, NULL, NULL, NULL, NULL), integer()), anvil_graph_field = list(graph, "calls"), anvil_graph_fields = list(graph), anvil_value_abstract = list(graph$inputs[[1L]]),
    anvil_gradient = list(graph, TRUE, FALSE, list()), anvil_jvp = list(graph, TRUE, list()), anvil_vjp = list(graph, TRUE, TRUE, list()), anvil_jacobian = list(graph, TRUE, list()), anvil_batch = list(graph, TRUE, 2L, list()), anvil_simplify = list(graph, "optimize"), anvil_evaluate = list(graph, list(x)), anvil_stablehlo = list(graph, FALSE, list(NULL, NULL, logical())),
    anvil_read_stablehlo = list("func.func @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }", ""),
    anvil_inspect = list(graph, "loops"), anvil_stages = list(graph), anvil_single_calls = list(graph), anvil_inner_graphs = list(graph),
    anvil_primitives = list(), anvil_primitive_info = list("mul"), anvil_reverse = list("mul", list(x, x), list(x), list(x), list(NULL, NULL)), anvil_forward = list("mul", list(x, x), list(x), list(x, NULL), NULL), anvil_register = list("forged", list(NULL, NULL, NULL, NULL, NULL), TRUE),
    anvil_custom = list("forged", getNativeSymbolInfo("C_anvil_tag", getLoadedDLLs()$anvil)$address, FALSE), anvil_sparse = list("factor"),
    anvil_cache = list(list(cache_size = 1, convert = FALSE)), anvil_cache_info = list(cache), anvil_jit_call = list(cache, list(x = x)), anvil_compile = list(graph),
    anvil_execute = list(executable, list(x)), anvil_llvm = list(NULL), anvil_jit_report = list(cache), anvil_profile = list(cache, list(x = x), 0), anvil_peak = list()
  )
  routines <- getDLLRegisteredRoutines("anvil")$.Call
  external <- getDLLRegisteredRoutines("anvil")$.External
  faults <- character()
  note <- function(name, position, i, what) faults <<- c(faults, paste0(name, " argument ", position, ", junk ", i, ": ", what))
  attempt <- function(name, args, position, i) {
    call <- base::c(list(routines[[paste0("C_", name)]]), args) # not by a routine of the package, which may be made to fail
    e <- tryCatch({ do.call(.Call, call, quote = TRUE); NULL }, error = function(e) e)
    if (!is.null(e) && !inherits(e, "anvil_error")) note(name, position, i, conditionMessage(e))
    if (inherits(e, "anvil_error_internal")) note(name, position, i, conditionMessage(e))
    while (!is.null(.current_descriptor(silent = TRUE))) .Call(anvil:::C_anvil_pop, .current_descriptor())
  }
'

test_that("every entry takes junk in every argument", {
  skip_on_cran()
  result <- in_child(paste(junk_and_calls, '
    for (name in setdiff(names(good), c("anvil_llvm", "anvil_attach"))) {
      attempt(name, good[[name]], 0, 0)
      for (position in seq_along(good[[name]])) for (i in seq_along(junk)) {
        args <- good[[name]]
        args[position] <- junk[i]
        attempt(name, args, position, i)
      }
    }
    for (i in seq_along(junk)) attempt("anvil_attach", junk[i], 1, i)
    for (i in seq_along(junk)) if (!is.character(junk[[i]]) && !is.null(junk[[i]])) attempt("anvil_llvm", junk[i], 1, i)
    for (what in c("C_anvil_record", "C_anvil_record_promoted")) for (position in 1:3) for (i in seq_along(junk)) {
      args <- list("mul", list(x, x), NULL)
      args[position] <- junk[i]
      if (what == "C_anvil_record_promoted") args <- c(args, TRUE, FALSE)
      e <- tryCatch({ do.call(.External2, c(list(external[[what]]), args), quote = TRUE); NULL }, error = function(e) e)
      if (!is.null(e) && !inherits(e, "anvil_error")) note(what, position, i, conditionMessage(e))
    }
    own <- .Call(anvil:::C_anvil_custom, "forged", getNativeSymbolInfo("C_anvil_tag", getLoadedDLLs()$anvil)$address, FALSE)
    others <- list(C_anvil_record_call = list("mul", list(x, x)), C_anvil_record_ruled = list("forged", list(NULL, NULL, NULL, NULL, NULL), list(x), graph, 0L), C_anvil_record_custom = list(own, list(debug_box("f32", 2)), list(tag)))
    for (what in names(others)) for (position in seq_along(others[[what]])) for (i in seq_along(junk)) {
      args <- others[[what]]
      args[position] <- junk[i]
      if (what == "C_anvil_record_custom" && position == 2L) next # would call what is no such function
      e <- tryCatch({ do.call(.External2, c(list(external[[what]]), args), quote = TRUE); NULL }, error = function(e) e)
      if (!is.null(e) && !inherits(e, "anvil_error") || inherits(e, "anvil_error_internal")) note(what, position, i, conditionMessage(e))
    }
    list(missing = setdiff(sub("^C_", "", names(routines)), names(good)), faults = faults, works = as_array(jit(function(x) sum(x))(x)))
  '))
  expect_identical(result$missing, character())
  expect_identical(result$faults, character())
  expect_equal(result$works, 6)
})

test_that("what users do to objects that are not theirs is an error", {
  skip_on_cran()
  result <- in_child(paste(junk_and_calls, '
    uses <- list(
      print = function(x) print(x), format = function(x) format(x), str = function(x) str(x), field = function(x) x$size, aval = function(x) x$aval, calls = function(x) x$calls,
      as_array = as_array, shape = shape, add = function(x) x + nv_scalar(1), jit = function(x) jit(function(x) x + 1)(x), trace = function(x) trace_fn(function(y) y, list(x)),
      gradient = function(x) transform_gradient(x), evaluate = function(x) evaluate_graph(x, list(nv_scalar(1))), simplify = function(x) simplify_graph(x),
      identical = function(x) identical(x, nv_scalar(1)), saved = function(x) unserialize(serialize(x, NULL))
    )
    sink(nullfile())
    for (i in seq_along(junk)) for (use in names(uses)) tryCatch(uses[[use]](junk[[i]]), error = function(e) {
      ours <- is.object(junk[[i]]) && !(inherits(junk[[i]], "GraphDescriptor") && use %in% c("field", "aval", "calls")) && inherits(junk[[i]], c("AnvilValue", "AnvilGraph", "AnvilCache", "GraphNode", "GraphDescriptor"))
      if (ours && !inherits(e, "anvil_error")) note(use, 1, i, conditionMessage(e))
      if (inherits(e, "anvil_error_internal")) note(use, 1, i, conditionMessage(e))
    })
    sink()
    list(faults = faults, works = as_array(jit(function(x) sum(x))(x)))
  '))
  expect_identical(result$faults, character())
  expect_equal(result$works, 6)
})
