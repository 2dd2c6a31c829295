#' Calls of compiled functions
#'
#' `nv_custom_call()` makes a function of tensors of a compiled one, in C or what has C's calling convention, which is then called
#' like any other `nv_*` function: at once in debug mode, and by compiled programs directly, without R. Its derivative and its
#' form for a batch are rules in R.
#'
#' @section The compiled function:
#' The header `anvil/custom_call.h` of the package declares its arguments, arrays of buffers, and says what it may do:
#' `system.file("include", package = "anvil")` is the folder to compile with, `LinkingTo: anvil` in a package does the same. Elements
#' are dense and column-major, as in R. The memory of the results is there when it is called, and it returns 0 when it has
#' filled them, or anything else for an error of class `anvil_error_call`, with a message.
#'
#' It runs on the thread that runs the program, R's own, but need not do so in later versions: it should neither call R
#' nor depend on being called by one thread at a time. An R error or a C++ exception in it becomes an R error here, too; what it had
#' allocated itself is then lost. Ctrl-C is heard when it has returned. Where it writes outside of its results, or `pointer` does not point to such a function,
#' or its library is unloaded while programs have it, R may end.
#'
#' @section What may be done with a call:
#' By default the function is taken for pure, one whose results depend on its arguments only: equal calls are made once, calls
#' that nobody needs not at all, and they are in no particular order. With `effect = TRUE` each call
#' is made as often as it was recorded, in that order, even if nothing reads its results: once for each run of the program, once for each example of
#' a batch. What [nv_checkpoint()] computes again is called again.
#'
#' @section Rules:
#' `backward` and `jvp` are those of [nv_custom_gradient()] and [nv_custom_jvp()]. Without one, the call has no derivative; to need one is an
#' error of class `anvil_error_gradient` that names it. In [vectorize()] the function is called for one example after the
#' other, unless `batch` says better: a function of some of `inputs`, `batched`, and `size`. Of the `inputs` those that are
#' `batched`, flags nested likewise, have the examples, `size` of them, along a last dimension; it returns the results of all examples,
#' along a last dimension, by another compiled function for example. With `backward` or `jvp` it says what the derivative of the batch is, too: that of what it records.
#'
#' In StableHLO the call is `stablehlo.custom_call @name` with column-major layouts. What that is to a reader of the text is the reader's
#' business; [read_stablehlo()] knows no functions by name, and refuses it.
#'
#' @param name The name of the function, in messages and in text: letters, digits, `_`, `.` and `$`.
#' @param pointer An external pointer to the compiled function: `getNativeSymbolInfo(symbol, library)`, or its `$address`, or what `R_MakeExternalPtrFn()`
#'   makes in C of the function itself. One that was saved in another session is an error.
#' @param types What it returns: a type ([nv_aten()]), or a nested list of them; or a function of the arguments' types that
#'   gives that.
#' @param backward,jvp,batch Rules, or `NULL`.
#' @param effect Whether calls do more than to make their results.
#' @return A function of tensors of any dtype and shape, of nested lists of them, and of R's numbers and arrays. It gives a tensor, or
#'   lists of them as `types` has them.
#' @section Errors:
#' `anvil_error_argument` where an argument is none of these, or the pointer is not valid; `anvil_error_call` where the function
#' fails.
#' @family primitives
#' @export
#' @examplesIf nzchar(Sys.which("make"))
#' code <- '
#' #include <anvil/custom_call.h>
#' int twice(const anvil_buffer *inputs, int n_inputs, const anvil_buffer *outputs, int n_outputs,
#'           char *message, size_t message_size) {
#'   const double *x = inputs[0].data;
#'   double *y = outputs[0].data;
#'   for (int64_t i = 0, n = anvil_elements(&inputs[0]); i < n; i++) y[i] = 2 * x[i];
#'   return 0;
#' }'
#' source <- tempfile("twice", fileext = ".c")
#' writeLines(code, source)
#' flags <- paste0("PKG_CPPFLAGS=-I", shQuote(system.file("include", package = "anvil")))
#' library <- sub("[.]c$", .Platform$dynlib.ext, source)
#' old <- setwd(tempdir())
#' build <- c("CMD", "SHLIB", "-o", library, source)
#' system2(file.path(R.home("bin"), "R"), build, env = flags, stdout = FALSE)
#' setwd(old)
#' dll <- dyn.load(library)
#' twice <- nv_custom_call("twice", getNativeSymbolInfo("twice", dll),
#'   types = function(x) x, backward = function(grads) list(2 * grads)
#' )
#' x <- nv_tensor(c(1, 2, 3), "f64")
#' twice(x)
#' jit(gradient(function(x) sum(twice(x) * x)))(x)
nv_custom_call <- function(name, pointer, types, backward = NULL, jvp = NULL, batch = NULL, effect = FALSE) {
  check_string(name)
  if (!grepl("^[A-Za-z_.][A-Za-z0-9_.$]*$", name)) {
    abort_anvil("argument", "`name` must have letters, digits, `_`, `.` and `$` only.", sprintf("x Got \"%s\".", name))
  }
  if (inherits(pointer, "NativeSymbolInfo")) pointer <- pointer$address
  if (!is.function(types)) types <- check_result_types(types, "types")
  rules <- list(
    backward = if (!is.null(backward)) check_custom_rule(backward, "backward", c("inputs", "outputs", "grads")),
    jvp = if (!is.null(jvp)) check_custom_rule(jvp, "jvp", c("inputs", "outputs", "tangents")),
    batch = if (!is.null(batch)) check_custom_rule(batch, "batch", c("inputs", "batched", "size"))
  )
  rules <- rules[!vapply(rules, is.null, NA)]
  handle <- .Call(C_anvil_custom, name, pointer, check_flag(effect))
  plain <- function(...) custom_call(handle, types, list(...))
  if (!length(rules)) {
    return(plain)
  }
  spec <- c(list(f = plain, name = name, keeps = FALSE), rules)
  function(...) ruled_call(spec, map_tree(nv_value, list(...)))
}

check_custom_rule <- function(rule, name, given) {
  check_rule(rule, name, given)
  rule
}

check_result_types <- function(types, name) {
  leaves <- flatten(types)
  wrong <- which(!vapply(leaves, is_input, NA))
  if (length(wrong)) {
    wrong_argument(name, "a type, a nested list of them, or a function that gives that", leaves[[wrong[1L]]], "i `nv_aten()` makes a type.")
  }
  types
}

custom_call <- function(handle, types, args) {
  operands <- lapply(check_outputs(flatten(args), "A custom call", "take"), nv_value)
  if (is.function(types)) {
    given <- unflatten(build_tree(args), lapply(operands, function(x) nv_aten(dtype(x), shape(x))))
    types <- check_result_types(call_with(types, given, "types"), "types()")
  }
  tree <- build_tree(types)
  out <- .External2(C_anvil_record_custom, handle, operands, lapply(flatten(types), abstract_tag))
  unflatten(tree, as_leaves(out))
}
