#' Check a function, its derivatives and its batches
#'
#' `nv_check()` runs a function on inputs that it draws and holds what must agree beside each other:
#'
#' * compiled code and debug mode;
#' * the derivative of reverse mode ([vjp()]) and finite differences;
#' * forward mode ([jvp()]) and reverse mode;
#' * the function for a batch ([vectorize()]) and for each example alone.
#'
#' Where a comparison fails, each call that the function makes is compared alone, at the values that reach it, and the
#' first that is wrong is named, with its line where R keeps it. So it finds wrong rules of [nv_custom_gradient()],
#' [nv_custom_jvp()], [nv_custom_call()] and [register_primitive()], and what R does otherwise in a trace than in debug
#' mode. `check_primitive()` does that for a primitive on operands of its own, and reads its StableHLO text back.
#'
#' @section Draws:
#' Of a type, floats are normal, integers from 1 to 3. Of an example, the first draw is the example itself, and the others are near
#' it: floats keep their signs, zeros stay zero, numbers from 0 to 1 stay there, symmetric matrices stay symmetric,
#' and positive definite if they are; integers and flags are drawn from those of the example. So
#' give examples where a function is not defined everywhere. Some draws have equal elements, of types also zeros, where functions have kinks.
#' The session's random numbers are left as they are.
#'
#' @section What counts as wrong:
#' Differences of fourth order are taken with three steps, which dtype and argument scale, and judged by how much they
#' disagree, so that an ill-conditioned function is not wrong for its rounding. At a kink, any number between the slopes of the two sides is
#' right, a call at a time. A draw that decides nothing, as a result that is not finite, does
#' not count: `"undecided"` says that none did. A derivative that shall not be that of the values, as those of [nv_stop_gradient()] or of a
#' clipped gradient, is wrong by this measure.
#'
#' @param f A function of tensors of any dtype and shape, or of nested lists of them.
#' @param primitive A primitive that was made by [AnvilPrimitive()] and registered, or one of [prim()], or a function, such as
#'   [nv_custom_gradient()] returns.
#' @param ... The arguments of the function, with names or in order. Tensors, R arrays and types ([nv_aten()]), in nested
#'   lists or not, are drawn; everything else is passed on. `check_primitive()` tries some types where it is given nothing to draw.
#' @param n How many draws.
#' @param seed A whole number that the draws follow from.
#' @return A data frame of class `anvil_check` with a row for each comparison: `check`; `status`, `"passed"`, `"failed"`, `"not supported"`,
#'   `"nothing to check"` or `"undecided"`; `draws`, how many were compared and agreed; `apart`, how far the two sides were from each other,
#'   relative to the largest number; `call` (with its line), `NA` where there is none at fault, and `reason`.
#'
#'   `expect_nv_check()` is an expectation of testthat that nothing failed; it gives the data frame, invisibly.
#'
#'   Errors: of class `anvil_error_argument` where there is nothing to draw, and those of `f` when it is traced.
#' @family debugging
#' @export
#' @examples
#' f <- function(x, w) sum(tanh(x %*% w))
#' nv_check(f, x = nv_aten("f64", c(2, 3)), w = nv_aten("f64", c(3, 2)))
#'
#' # a derivative that has lost a factor
#' square <- nv_custom_gradient(function(x) x * x, function(inputs, grads) list(grads * inputs$x))
#' nv_check(function(x) sum(exp(square(x))), nv_tensor(c(0.5, 1, 2), dtype = "f64"), n = 5)
nv_check <- function(f, ..., n = 20L, seed = 1L) {
  check_function(f)
  n <- check_whole_number(n, lower = 1L)
  seed <- check_whole_number(seed)
  check_drawn(f, list(...), n, seed, "f")
}

#' @rdname nv_check
#' @export
check_primitive <- function(primitive, ..., n = 20L, seed = 1L) {
  check_function(primitive)
  n <- check_whole_number(n, lower = 1L)
  seed <- check_whole_number(seed)
  own <- inherits(primitive, "AnvilPrimitive")
  if (!own) {
    return(check_drawn(primitive, with_operands(primitive, required_arguments(args(primitive)), list(...), "f"), n, seed, "f"))
  }
  name <- primitive$name
  info <- .Call(C_anvil_primitive_info, name)
  if (is.null(own_primitives[[name]]) && is.null(info)) {
    abort_anvil("argument", sprintf("`%s` is not registered.", name), "i Use `register_primitive()`.")
  }
  forward <- primitive$rules$forward
  f <- if (is.null(forward)) get(paste0("nvl_", info$key)) else primitive
  operands <- if (is.null(forward)) setdiff(info$operands, "...") else required_arguments(forward)
  arguments <- with_operands(f, operands, arguments_of(forward %||% f, list(...)), name)
  check_drawn(f, arguments, n, seed, name, text = !is.null(primitive$rules$stablehlo))
}

# The arguments, and where there is nothing to draw operands of the first types that work.
with_operands <- function(f, operands, given, name) {
  if (any(vapply(flatten(given), is_drawn, NA))) {
    return(given)
  }
  operands <- setdiff(operands, names(given))
  found <- NULL
  for (shape in list(3L, c(3L, 3L), integer())) {
    tried <- c(stats::setNames(rep(list(nv_aten("f64", shape)), length(operands)), operands), given)
    if (length(operands)) found <- caught(trace_graph(f, tried))
    if (inherits(found, "AnvilGraph")) {
      return(tried)
    }
  }
  abort_anvil("argument", sprintf("No operands are known that `%s` takes.", name), c(
    if (inherits(found, "error")) paste("x", brief_error(found)), "i Give examples or types in `...`."
  ))
}

#' @rdname nv_check
#' @export
expect_nv_check <- function(f, ..., n = 20L, seed = 1L) {
  if (!requireNamespace("testthat", quietly = TRUE)) {
    abort_anvil("argument", "`expect_nv_check()` needs the package testthat.")
  }
  found <- if (inherits(f, "AnvilPrimitive")) check_primitive(f, ..., n = n, seed = seed) else nv_check(f, ..., n = n, seed = seed)
  testthat::expect(!any(found$status == "failed"), paste(format(found), collapse = "\n"))
  invisible(found)
}

# --- running the comparisons --------------------------------------------------------------------

is_drawn <- function(x) is_input(x) || is_r_array(x)

check_drawn <- function(f, args, n, seed, name, text = FALSE) {
  if (is_tracing()) abort_anvil("trace", "A function cannot be checked inside of a trace.")
  if (!inherits(f, "AnvilPrimitive")) args <- arguments_of(f, args)
  tree <- build_tree(args)
  leaves <- flatten(args)
  drawn <- vapply(leaves, is_drawn, NA)
  if (!any(drawn)) {
    abort_anvil("argument", "There is nothing to draw: `...` must hold tensors, arrays or types.", "i `nv_aten()` makes a type.")
  }
  old <- options(anvil.check_nan = NULL)
  on.exit(options(old))
  templates <- lapply(leaves[drawn], input_template)
  with_leaves <- function(inputs) unflatten(tree, replace(leaves, drawn, inputs))
  called <- function(...) call_with(f, list(...), name)
  graph <- trace_graph(called, with_leaves(lapply(templates, `[[`, "type")), as_input = drawn)
  at_once <- function(inputs) {
    given <- lapply(inputs, function(x) tensor_like(x, as.vector(as_array(x)))) # which it may give away
    lapply(flatten(do.call(called, with_leaves(given))), nv_value)
  }
  utils::capture.output(rows <- with_draws(seed, {
    draws <- lapply(seq_len(n), function(k) lapply(templates, draw_input, k))
    c(
      list(row_compiled(graph, draws, at_once), row_derivatives(graph, draws, "vjp"), row_derivatives(graph, draws, "jvp"), row_batch(graph, draws)),
      if (text) list(row_text(graph, draws))
    )
  }))
  types <- vapply(templates, function(x) type_text(x$type), "")
  structure(do.call(rbind, rows), inputs = types, n = n, name = name, class = c("anvil_check", "data.frame"))
}

# One comparison for draw after draw, until one fails. `fault(k)` says which call is at fault; where kinks add up, only that
# is a failure.
check_row <- function(label, n, compare, fault) {
  row <- function(status, draws, apart, call = NA_character_, reason = "") {
    data.frame(check = label, status = status, draws = draws, apart = apart, call = call, reason = reason)
  }
  passed <- 0L
  apart <- NA_real_
  why <- ""
  for (k in seq_len(n)) {
    found <- tryCatch(compare(k), error = function(e) verdict("undecided", brief_error(e)))
    if (found$status %in% c("none", "unsupported")) {
      return(row(if (found$status == "none") "nothing to check" else "not supported", 0L, NA_real_, reason = found$reason))
    }
    if (found$status == "wrong") {
      at <- tryCatch(fault(k), error = function(e) NULL)
      if (!is.null(at) || !may_have_kinks(k)) {
        return(row("failed", passed, found$apart, if (is.null(at)) NA_character_ else location_of_fault(at$call), if (is.null(at)) found$reason else at$reason))
      }
    }
    if (found$status == "ok") {
      passed <- passed + 1L
      apart <- max(apart, found$apart, na.rm = TRUE)
    } else if (nzchar(found$reason)) {
      why <- found$reason
    }
  }
  if (passed == 0L) row("undecided", 0L, NA_real_, reason = why) else row("passed", passed, apart)
}

location_of_fault <- function(call) {
  if (is.null(call$location)) sprintf("`%s`", call$primitive$name) else location_text(call$location)
}

row_compiled <- function(graph, draws, at_once) {
  kit <- check_kit(graph)
  check_row("compiled = debug mode", length(draws), function(k) compare_compiled(kit, draws[[k]], at_once(draws[[k]])), function(k) {
    found <- call_at_fault(graph, draws[k], function(graph, draws, active) compare_compiled(check_kit(graph), draws[[1L]]))
    if (!is.null(found)) {
      return(found)
    }
    list(call = list(location = debug_fault(graph, draws[[k]], at_once), primitive = list(name = "f")), reason = "debug mode does something else than the trace")
  })
}

row_derivatives <- function(graph, draws, mode) {
  kit <- check_kit(graph)
  of_one <- lapply(which(kit$wrt), function(i) check_kit(graph, replace(logical(length(kit$wrt)), i, TRUE)))
  label <- if (mode == "vjp") "vjp = differences" else "jvp = vjp"
  compare <- function(k) {
    kit <- if (k %% 4L == 0L && length(of_one) > 1L) of_one[[1L + k %/% 4L %% length(of_one)]] else kit
    compare_derivatives(kit, draws[[k]], mode, single = k %% 3L == 0L)
  }
  check_row(label, length(draws), compare, function(k) {
    call_at_fault(graph, draws[k], function(graph, draws, active) {
      kit <- check_kit(graph, active)
      for (try in 1:12) {
        found <- compare_derivatives(kit, draws[[1L]], mode, single = try %% 2L == 0L)
        if (found$status == "wrong") break
      }
      found
    })
  })
}

# Three examples make a batch: all of their inputs are mapped, or some.
row_batch <- function(graph, draws) {
  batches <- split(draws, (seq_along(draws) - 1L) %/% 3L)
  inputs <- length(draws[[1L]])
  mapped_in <- lapply(seq_along(batches), function(k) {
    if (k %% 2L == 1L || inputs == 1L) rep(TRUE, inputs) else seq_len(inputs) %in% sample.int(inputs, sample.int(inputs - 1L, 1L))
  })
  batches <- Map(function(draws, mapped) lapply(draws, function(x) Map(function(a, b, m) if (m) a else b, x, draws[[1L]], mapped)), batches, mapped_in)
  check_row("batched = looped", length(batches), function(k) compare_batch(graph, batches[[k]], mapped_in[[k]]), function(k) {
    call_at_fault(graph, batches[[k]], function(graph, draws, active) {
      mapped <- vapply(seq_along(draws[[1L]]), function(i) !all(vapply(draws, function(x) identical(x[[i]], draws[[1L]][[i]]), NA)), NA)
      if (any(mapped)) compare_batch(graph, draws, mapped) else verdict("none")
    })
  })
}

row_text <- function(graph, draws) {
  kit <- check_kit(graph)
  read <- caught(.Call(C_anvil_read_stablehlo, repr(stablehlo(graph, FALSE)[[1L]]), ""))
  check_row("text = forward rule", length(draws), function(k) {
    if (inherits(read, "error")) {
      return(verdict_of_error(read, "anvil_error"))
    }
    expected <- flat_numbers(evaluated(graph, draws[[k]]))
    nearby <- flat_numbers(evaluated(graph, moved_inputs(draws[[k]], kit)))
    agreement(flat_numbers(evaluated(read, draws[[k]])), expected, nearby, kit$eps, "the text gives %s, the forward rule %s")
  }, function(k) list(call = graph$calls[[1L]], reason = "its text is another function"))
}

# --- the table -------------------------------------------------------------------------------------

#' @export
format.anvil_check <- function(x, ...) {
  mark <- c(passed = cli::symbol$tick, failed = cli::symbol$cross)[x$status]
  mark[is.na(mark)] <- cli::symbol$info
  said <- ifelse(x$status == "passed",
    sprintf("%d draw%s, %s", x$draws, ifelse(x$draws == 1L, "", "s"), ifelse(x$apart > 0, sprintf("apart by %.1g at most", x$apart), "equal")),
    paste0(x$status, ifelse(is.na(x$call), "", paste(" in", x$call)), ifelse(nzchar(x$reason), paste0(": ", x$reason), ""))
  )
  head <- sprintf("`%s`, drawn %s times: %s", attr(x, "name"), attr(x, "n"), paste(attr(x, "inputs"), collapse = ", "))
  c(head, paste(mark, format(x$check), said))
}

#' @export
print.anvil_check <- function(x, ...) {
  if (is.null(attr(x, "inputs"))) {
    return(NextMethod()) # some rows of one
  }
  cli::cat_line(format(x, ...))
  invisible(x)
}
