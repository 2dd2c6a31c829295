# Rules that are R functions as the core calls them: with lists of boxes and the parameters in a list, and what they may return.

# Those of the rules that there are as the core calls them: with the parameters in a list. `rule()` finds one when it is called.
rules_for_core <- function(name, rules, rule) {
  call_rule <- function(key, args, params, last = list()) {
    params$definition <- NULL
    call_with(rule(key), c(args, params, last), paste0(key, "_", name))
  }
  keeps <- !is.null(rules$augment)
  known <- list(
    backward = function(inputs, outputs, grads, residuals, params, required) {
      kept <- if (keeps) list(residuals = residuals)
      call_rule("backward", c(list(inputs = inputs, outputs = outputs, grads = grads), kept), params, list(.required = required))
    },
    augment = function(inputs, params) call_rule("augment", list(inputs = inputs), params),
    jvp = function(inputs, outputs, tangents, params) call_rule("jvp", list(inputs = inputs, outputs = outputs, tangents = tangents), params),
    batch = function(inputs, batched, size, params) call_rule("batch", list(inputs = inputs, batched = batched, size = size), params),
    stablehlo = function(inputs, params) call_rule("stablehlo", inputs, params)
  )
  lapply(stats::setNames(names(known), names(known)), function(key) if (!is.null(rules[[key]])) known[[key]])
}

# Called by the core at gradient time; gives a list with one box, or NULL, per input.
call_backward_rule <- function(rule, inputs, outputs, grads, residuals, params, required) {
  out <- rule(inputs, outputs, grads, residuals, params, required)
  if (!is.list(out)) {
    abort_anvil("gradient", "A backward rule must return a list with one gradient, or NULL, per input.", sprintf("x Got <%s>.", described_class(out)))
  }
  out
}

# Likewise in forward mode: one box, or NULL, per output.
call_jvp_rule <- function(rule, inputs, outputs, tangents, params) {
  out <- rule(inputs, outputs, tangents, params)
  if (!is.list(out)) {
    abort_anvil("gradient", "A jvp rule must return a list with one tangent, or NULL, per output.", sprintf("x Got <%s>.", described_class(out)))
  }
  out
}

# Likewise: the boxes of `count` outputs, then of the residuals.
call_augment_rule <- function(rule, inputs, params, count) {
  out <- rule(inputs, params)
  outputs <- if (is.list(out) && setequal(names(out), c("outputs", "residuals"))) flatten(out$outputs)
  if (length(outputs) != count) {
    abort_anvil("gradient", "An augment rule must return `list(outputs = , residuals = )`.", sprintf("x There must be %d output%s.", count, if (count == 1L) "" else "s"))
  }
  c(outputs, flatten(out$residuals))
}

# Likewise: the boxes of `count` outputs, and nothing else.
call_text_rule <- function(rule, inputs, params, count) {
  outputs <- flatten(rule(inputs, params))
  if (length(outputs) != count) {
    abort_anvil("stablehlo", "A stablehlo rule must return the outputs of the forward rule.", sprintf("x There must be %d, got %d.", count, length(outputs)))
  }
  check_outputs(outputs, "A stablehlo rule")
}

# Likewise: the boxes of `count` outputs of the batch.
call_batch_rule <- function(rule, inputs, batched, size, params, count) {
  outputs <- flatten(rule(inputs, batched, size, params))
  if (length(outputs) != count) {
    abort_anvil("argument", "A batch rule must return the outputs of the forward rule, for all examples.", sprintf("x There must be %d, got %d.", count, length(outputs)))
  }
  outputs
}
