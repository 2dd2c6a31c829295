# The comparisons of nv_check(), each of one graph at one draw of its inputs. They are made of the whole graph, and
# where one fails of each of its calls alone, at the values that reach it, to find the call at fault.

# A graph with what is made of it once: its derivatives, or the error instead, and its executable.
# wrt: which inputs to differentiate by, where not by all floats.
check_kit <- function(graph, wrt = float_nodes(graph$inputs)) {
  kit <- list2env(list(graph = graph, wrt = wrt, from = float_nodes(graph$outputs)))
  types <- c(as.character(lapply(c(graph$inputs, graph$outputs), function(v) dtype(v$aval))))
  bits <- vapply(dtype_sizes[types], function(x) x$mantissa, 1L)
  kit$eps <- max(2^-52, 2^-bits[bits > 0L])
  delayedAssign("executable", nv_compile(graph), assign.env = kit)
  delayedAssign("vjp", caught(.Call(C_anvil_vjp, graph, kit$wrt, kit$from, list())), assign.env = kit)
  delayedAssign("jvp", caught(.Call(C_anvil_jvp, graph, kit$wrt, list())), assign.env = kit)
  kit
}

float_nodes <- function(nodes) vapply(nodes, function(v) is_float_dtype(dtype(v$aval)), NA)

caught <- function(expr) tryCatch(expr, error = identity)

# What a comparison says: "ok", "wrong", "undecided", "unsupported" or "none", why, and how far apart the sides are.
verdict <- function(status, reason = "", apart = NA_real_) list(status = status, reason = reason, apart = apart)

# A derivative or batch that cannot be made: for want of a rule, or by a rule that fails.
verdict_of_error <- function(e, unsupported = character()) {
  verdict(if (inherits(e, unsupported)) "unsupported" else "wrong", brief_error(e))
}

flat_numbers <- function(tensors) as.double(unlist(lapply(tensors, function(x) as.double(as_array(x)))))

# What an error says, and which call it is about.
brief_error <- function(e) {
  lines <- strsplit(cli::ansi_strip(conditionMessage(e)), "\n", fixed = TRUE)[[1L]]
  paste(c(lines[1L], sub("^[^I]*", "", grep("It was called by", lines, value = TRUE))), collapse = " ")
}

evaluated <- function(graph, inputs) .Call(C_anvil_evaluate, graph, inputs)

# Whether numbers agree, as far as rounding allows: `nearby` are those for inputs that are some units in the last place
# away. Beside a NaN that is not there nearby, anything is right.
agreement <- function(actual, expected, nearby, eps, said) {
  moved <- abs(nearby - expected)
  jumps <- is.na(moved) != is.na(expected)
  scale <- max(0, abs(expected[is.finite(expected)]))
  allowed <- 1e3 * eps * pmax(abs(expected), 1e-3 * scale) + 100 * max(0, moved[is.finite(moved)])
  apart <- abs(actual - expected)
  same <- is.na(actual) & is.na(expected) | !is.na(actual) & !is.na(expected) & (actual == expected | is.finite(apart) & apart <= allowed)
  wrong <- which(!(same | jumps))
  if (length(wrong)) {
    k <- wrong[which.max(replace(apart[wrong], !is.finite(apart[wrong]), Inf))]
    return(verdict("wrong", sprintf(said, format(actual[k], digits = 6), format(expected[k], digits = 6)), apart[k] / max(scale, 1e-300)))
  }
  verdict("ok", apart = max(0, apart[is.finite(apart)]) / max(scale, 1e-300))
}

# The same inputs, some units in the last place away.
moved_inputs <- function(inputs, kit) {
  inputs[kit$wrt] <- lapply(inputs[kit$wrt], function(x) {
    at <- as.double(as_array(x))
    tensor_like(x, at * (1 + 4 * kit$eps * sample(c(-1, 1), length(at), replace = TRUE)))
  })
  inputs
}

# --- debug mode and compiled code -----------------------------------------------------------

# at_once: the results of debug mode, where they are not those of the graph.
compare_compiled <- function(kit, inputs, at_once = NULL) {
  results <- evaluated(kit$graph, inputs)
  expected <- flat_numbers(results)
  nearby <- flat_numbers(evaluated(kit$graph, moved_inputs(inputs, kit)))
  found <- agreement(flat_numbers(lapply(.Call(C_anvil_execute, kit$executable, inputs), nv_tensor)), expected, nearby, kit$eps, "compiled code gives %s, debug mode %s")
  if (is.null(at_once) || found$status != "ok") {
    return(found)
  }
  types <- function(tensors) paste(vapply(tensors, function(x) type_text(nv_aten(dtype(x), shape(x))), ""), collapse = ", ")
  said <- "debug mode gives %s, the trace %s"
  if (types(at_once) != types(results)) {
    return(verdict("wrong", sprintf(said, types(at_once), types(results))))
  }
  agreement(flat_numbers(at_once), expected, nearby, kit$eps, said)
}

# --- derivatives ----------------------------------------------------------------------------

# The derivatives of the float results along `along`, by finite differences: the best of those with some steps, the
# slopes to both sides as bounds, and how far off all may be. That is what the next order changes, and rounding, which
# shows in the slopes of steps that are too small.
differences <- function(kit, inputs, along) {
  at <- function(h) {
    inputs[kit$wrt] <- Map(function(x, t) tensor_like(x, as.double(as_array(x)) + h * t), inputs[kit$wrt], along)
    flat_numbers(evaluated(kit$graph, inputs)[kit$from])
  }
  here <- at(0)
  steps <- kit$eps^0.2 * c(2, 1 / 2, 1 / 8, 1 / 64, 1 / 512)
  slopes <- lapply(steps, function(h) {
    f <- lapply(c(-2, -1, 1, 2) * h, at)
    narrow <- (f[[3L]] - f[[2L]]) / (2 * h)
    slope <- (4 * narrow - (f[[4L]] - f[[1L]]) / (4 * h)) / 3
    right <- (-3 * here + 4 * f[[3L]] - f[[4L]]) / (2 * h)
    left <- (3 * here - 4 * f[[2L]] + f[[1L]]) / (2 * h)
    list(slope = slope, left = left, right = right, off = abs(slope - narrow))
  })
  changed <- function(k) steps[k] * pmax(abs(slopes[[k]]$left - slopes[[k - 1L]]$left), abs(slopes[[k]]$right - slopes[[k - 1L]]$right))
  rounding <- pmax(changed(4L), changed(5L)) + 2 * kit$eps * abs(here)
  best <- list(slope = here, left = here, right = here, off = rep(Inf, length(here)))
  for (k in 1:3) {
    slopes[[k]]$off <- slopes[[k]]$off + rounding / steps[k]
    better <- !is.na(slopes[[k]]$off) & slopes[[k]]$off < best$off
    best <- Map(function(a, b) ifelse(better, b, a), best, slopes[[k]])
  }
  list(slope = best$slope, low = pmin(best$slope, best$left, best$right), high = pmax(best$slope, best$left, best$right), off = best$off, size = abs(here))
}

has_kink <- function(d) any(d$high - d$low > 0.01 * max(abs(d$slope)) + 10 * d$off, na.rm = TRUE)

# At a kink, any mean of the slopes around it is right.
with_neighbours <- function(d, kit, inputs, along) {
  for (neighbour in 1:8) {
    near <- inputs
    near[kit$wrt] <- lapply(inputs[kit$wrt], function(x) tensor_like(x, as.double(as_array(x)) + 3 * kit$eps^0.2 * draw_direction(x)))
    there <- differences(kit, near, along)
    d$low <- pmin(d$low, there$low, na.rm = TRUE)
    d$high <- pmax(d$high, there$high, na.rm = TRUE)
  }
  d
}

unsettled <- "finite differences do not settle"

# Whether `actual`, a sum of the slopes with weights, is one that the differences allow.
within_differences <- function(actual, d, weights, size, kit, said) {
  counts <- weights != 0
  bounds <- cbind(weights * d$low, weights * d$high)[counts, , drop = FALSE]
  off <- sum(abs(weights[counts]) * d$off[counts])
  low <- sum(pmin(bounds[, 1L], bounds[, 2L]))
  high <- sum(pmax(bounds[, 1L], bounds[, 2L]))
  if (!is.finite(low + high + off)) {
    return(verdict("undecided", unsettled))
  }
  slope <- sum(weights[counts] * d$slope[counts])
  scale <- max(abs(low), abs(high), sum(abs(weights[counts] * d$slope[counts])))
  allowed <- 10 * off + 10 * sqrt(kit$eps) * scale + 100 * kit$eps * (size + sum(abs(weights[counts]) * d$size[counts]))
  if (!is.finite(actual) && off > 0.1 * scale) {
    return(verdict("undecided", unsettled)) # a jump
  }
  if (!is.finite(actual) || actual < low - allowed || actual > high + allowed) {
    return(verdict("wrong", sprintf(said, format(actual, digits = 6), format(slope, digits = 6)), abs(actual - slope) / max(scale, abs(actual), 1e-300)))
  }
  if (high - low + allowed > 0.1 * max(scale, sum(abs(weights[counts]) * d$size[counts]))) {
    return(verdict("undecided", unsettled))
  }
  verdict("ok", apart = abs(actual - slope) / max(scale, 1e-300))
}

# Both derivatives along one direction for one weight of the results.
compare_derivatives <- function(kit, inputs, mode, single = FALSE) {
  if (!any(kit$wrt) || !any(kit$from)) {
    return(verdict("none", if (any(kit$wrt)) "no result is a float" else "no input is a float"))
  }
  derivative <- kit[[mode]]
  if (inherits(derivative, "error")) {
    return(verdict_of_error(derivative, "anvil_error_gradient"))
  }
  along <- lapply(inputs[kit$wrt], draw_direction, single)
  tangents <- Map(function(x, t) tensor_like(x, t), inputs[kit$wrt], along)
  results <- evaluated(kit$graph, inputs)
  values <- results[kit$from]
  if (!all(is.finite(flat_numbers(values)))) {
    return(verdict("undecided", "its results are not finite"))
  }
  cotangents <- lapply(values, function(y) tensor_like(y, stats::rnorm(length(y))))
  weights <- flat_numbers(cotangents)
  first <- seq_along(kit$from)
  made <- evaluated(derivative, c(inputs, if (mode == "vjp") cotangents else tangents))
  nearby <- flat_numbers(evaluated(kit$graph, moved_inputs(inputs, kit)))
  same <- agreement(flat_numbers(made[first]), flat_numbers(results), nearby, kit$eps, paste(mode, "gives the value %s, the function %s"))
  if (same$status == "wrong") {
    return(same)
  }
  this <- weighted(flat_numbers(made[-first]), if (mode == "vjp") flat_numbers(tangents) else weights)
  d <- differences(kit, inputs, along)
  if (mode == "vjp" || inherits(kit$vjp, "error")) {
    judge <- function(d) within_differences(this$sum, d, weights, this$size, kit, paste(mode, "gives %s, finite differences %s"))
    found <- judge(d)
    return(if (found$status == "wrong" && has_kink(d)) judge(with_neighbours(d, kit, inputs, along)) else found)
  }
  reverse <- weighted(flat_numbers(evaluated(kit$vjp, c(inputs, cotangents))[-first]), flat_numbers(tangents))
  compare_modes(this, reverse, d, weights, kit)
}

weighted <- function(x, weights) list(sum = sum(x * weights), size = sum(abs(x * weights)))

# Where the function has no kink, both modes must give the same number.
compare_modes <- function(forward, reverse, d, weights, kit) {
  smooth <- all(is.finite(d$off)) && sum(abs(weights) * (d$high - d$low)) <= 0.01 * sum(abs(weights * d$slope))
  size <- max(forward$size, reverse$size)
  apart <- abs(forward$sum - reverse$sum)
  if (isTRUE(apart <= sqrt(kit$eps) * size)) {
    return(verdict("ok", apart = apart / max(size, 1e-300)))
  }
  if (!smooth) {
    return(verdict("undecided", unsettled))
  }
  verdict("wrong", sprintf("jvp gives %s, vjp %s", format(forward$sum, digits = 6), format(reverse$sum, digits = 6)), apart / size)
}

# --- batches ----------------------------------------------------------------------------------

# draws: the inputs of each example; those that are not `mapped` are the same in all.
compare_batch <- function(graph, draws, mapped) {
  batch <- caught(.Call(C_anvil_batch, graph, mapped, length(draws), list()))
  if (inherits(batch, "error")) {
    return(verdict_of_error(batch)) # every call has a batch, so a rule failed
  }
  kit <- check_kit(graph)
  inputs <- draws[[1L]]
  inputs[mapped] <- lapply(which(mapped), function(k) stacked(lapply(draws, `[[`, k)))
  size <- length(draws)
  together <- evaluated(batch, inputs)
  example <- function(b) {
    unlist(lapply(together, function(y) {
      n <- length(y) / size
      as.double(as_array(y))[(b - 1) * n + seq_len(n)]
    }))
  }
  for (b in seq_len(size)) {
    expected <- flat_numbers(evaluated(graph, draws[[b]]))
    nearby <- flat_numbers(evaluated(graph, moved_inputs(draws[[b]], kit)))
    found <- agreement(as.double(example(b)), expected, nearby, kit$eps, "in a batch it gives %s, for the example alone %s")
    if (found$status != "ok") break
  }
  found
}

stacked <- function(tensors) {
  data <- do.call(c, lapply(tensors, function(x) as.vector(as_array(x))))
  tensor_like(tensors[[1L]], data, c(shape(tensors[[1L]]), length(tensors)))
}

# --- the call at fault --------------------------------------------------------------------------

# The first call for which `compare(graph, draws, active)` says "wrong", at the values that reach it, and why: NULL where there is
# none. What is wrong in a graph that a call runs is that graph's. `active`: the inputs that are differentiated by.
call_at_fault <- function(graph, draws, compare, active = float_nodes(graph$inputs)) {
  parts <- stats::setNames(.Call(C_anvil_single_calls, graph), c("values", "calls", "reads"))
  values <- lapply(draws, function(inputs) c(inputs, evaluated(parts$values, inputs)))
  for (k in seq_along(parts$calls)) {
    one <- parts$calls[[k]]
    given <- lapply(values, `[`, parts$reads[[k]])
    moves <- active[parts$reads[[k]]] & float_nodes(one$inputs)
    found <- compare(one, given, moves)
    if (found$status == "wrong") {
      return(inner_fault(one, given, compare, moves) %||% list(call = one$calls[[1L]], reason = found$reason))
    }
    active <- c(active, rep(any(moves), length(one$outputs)))
  }
  NULL
}

inner_fault <- function(one, given, compare, active) {
  for (inner in .Call(C_anvil_inner_graphs, one)) {
    more <- lapply(inner$inputs[-seq_along(one$inputs)], function(v) draw_input(input_template(v$aval), 3L))
    found <- call_at_fault(inner, lapply(given, c, more), compare, c(active, rep(TRUE, length(more))))
    if (!is.null(found)) {
      return(found)
    }
  }
  NULL
}

# Where debug mode does something else than the trace, the first call of it whose result no call of the trace has. Calls
# in the bodies of control flow have other results each time they run.
debug_fault <- function(graph, inputs, at_once) {
  seen <- list()
  old <- options(anvil.observe = function(call, result) seen <<- c(seen, list(list(call = call, numbers = flat_numbers(as_leaves(result))))))
  on.exit(options(old))
  at_once(inputs)
  parts <- .Call(C_anvil_single_calls, graph)
  traced <- lapply(graph$calls, `[[`, "location")
  counts <- vapply(graph$calls, function(call) length(call$outputs), 1L)
  results <- split(lapply(evaluated(parts[[1L]], inputs), function(x) flat_numbers(list(x))), rep(seq_along(traced), counts))
  inner <- inner_locations(graph$calls)
  for (one in seen) {
    same <- vapply(traced, identical, NA, one$call)
    right <- vapply(results[same], function(x) isTRUE(all.equal(unlist(x), one$numbers)), NA)
    if (!any(right) && (any(same) || !any(vapply(inner, identical, NA, one$call)))) {
      return(one$call)
    }
  }
  NULL
}

inner_locations <- function(calls) {
  inner <- unlist(lapply(calls, function(call) lapply(subgraphs(call), function(graph) graph$calls)), recursive = FALSE)
  inner <- unlist(unname(inner), recursive = FALSE)
  if (length(inner)) c(lapply(inner, `[[`, "location"), inner_locations(inner))
}

# Called by the core where the option `anvil.observe` is a function.
observed_result <- function(observe, call, result) {
  observe(call, result)
  result
}
