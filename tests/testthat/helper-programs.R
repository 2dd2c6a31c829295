# Random programs as people write them: one text, which is run at once, compiled and, where it
# computes with f64, by base R. random_program(seed) gives the same program at every call.
#
# A program is a function of a matrix `x`, a vector `v` (one number for each column) and a scalar
# `a`. Each line makes a new variable out of those that are there; the operations know the shape
# of each. base_meaning says what the functions of anvil mean in base R.

program_sizes <- c(1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 100, 150)

pick <- function(x) x[[sample.int(length(x), 1L)]]
as_code <- function(sizes) sprintf("c(%s)", paste0(sizes, "L", collapse = ", "))
constant <- function(...) sprintf("constant(%s)", as_code(c(...)))

random_program <- function(seed) {
  withr::with_seed(seed, {
    rows <- pick(program_sizes)
    columns <- pick(program_sizes[program_sizes * rows <= 5000])
    program <- list(seed = seed, dtype = if (seed %% 3 == 0) "f32" else "f64", lines = character(), shapes = list(a = integer(), v = columns, x = c(rows, columns)))
    for (k in seq_len(sample(3:9, 1L))) program <- add_line(program)
    program
  })
}

# One more variable: some operation on the newest one mostly, or on an older one.
add_line <- function(program) {
  names <- names(program$shapes)
  arrays <- names[lengths(program$shapes) > 0L]
  from <- if (stats::runif(1) < 0.05) pick(names) else if (stats::runif(1) < 0.6) arrays[length(arrays)] else pick(arrays[-1L])
  sh <- program$shapes[[from]]
  family <- pick(Filter(function(f) length(sh) %in% f$ranks, operations))
  made <- family$make(from, sh, program$shapes)
  if (is.null(made) || prod(made$shape) > 12000) {
    return(program)
  }
  new <- sprintf("z%d", length(program$lines) + 1L)
  program$lines <- c(program$lines, sprintf("%s <- %s", new, made$code))
  program$shapes[[new]] <- made$shape
  program
}

program_text <- function(program) {
  made <- setdiff(names(program$shapes), c("x", "v", "a"))
  returned <- if (length(made)) utils::tail(made, 2L) else "x"
  paste0("function(x, v, a) {\n  ", paste(c(program$lines, sprintf("list(%s)", paste(returned, collapse = ", "))), collapse = "\n  "), "\n}")
}

# --- operations -----------------------------------------------------------------------------------
# Each makes code and a shape from a variable, its shape and the shapes of all variables; NULL where
# it does not fit.

result <- function(code, shape, ...) list(code = sprintf(code, ...), shape = shape)

elementwise <- function(x, sh, all) {
  result(gsub("X", x, pick(c(
    "tanh(X)", "exp(-X * X)", "sqrt(X * X + 1)", "X * 1.3 + 0.2", "abs(X) - 0.5", "nv_max(X, 0.1)", "nv_ifelse(X > 0, X, X * 0.5)",
    "nv_logistic(X)", "log1p(abs(X))", "sin(X) * 2", "1 / (1 + X^2)", "nv_clamp(-0.7, X, 0.9)", "X * a", "a - X / 3"
  )), fixed = TRUE), sh)
}

combination <- function(x, sh, all) {
  other <- pick(names(Filter(function(s) identical(as.numeric(s), as.numeric(sh)), all)))
  result(pick(c("%s * %s", "%s + tanh(%s)", "%s - 0.5 * %s", "nv_max(%s, %s)", "%1$s / (%2$s * %2$s + 1)", "nv_ifelse(%1$s > %2$s, %1$s, -%2$s)")), sh, x, other)
}

# Rows or columns scaled, or shifted, by a vector that the program computes.
scaling <- function(x, sh, all) {
  vectors <- names(Filter(function(s) length(s) == 1L && s == sh[2L], all))
  along <- sample(2L, 1L)
  vector <- if (along == 2L && length(vectors)) pick(vectors) else sprintf(pick(c("nv_mean(%s, dims = %d)", "nv_reduce_max(%s, dims = %d)", "sum(%s, dims = %d) * 0.1")), x, 3L - along)
  vector <- sprintf(pick(c("%s", "exp(-abs(%s))", "tanh(%s) * 2")), vector)
  if (along == 1L) vector <- sprintf("nv_reshape(%s, %s)", vector, as_code(c(sh[1L], 1)))
  result(pick(c("%1$s * nv_broadcast_to(%2$s, %3$s)", "%1$s + nv_broadcast_to(%2$s, %3$s)", "tanh(%1$s - nv_broadcast_to(%2$s, %3$s))", "%1$s / (nv_broadcast_to(%2$s, %3$s)^2 + 1)")), sh, x, vector, as_code(sh))
}

product <- function(x, sh, all) {
  p <- pick(program_sizes[program_sizes * sh[1L] <= 5000])
  fitting <- names(Filter(function(s) length(s) == 2L && s[1L] == sh[2L], all))
  if (length(fitting) && stats::runif(1) < 0.4) {
    right <- pick(fitting)
    return(result("%s %%*%% %s * %.4f", c(sh[1L], all[[right]][2L]), x, right, 1 / sqrt(sh[2L])))
  }
  switch(sample(4L, 1L),
    result("%s %%*%% %s * %.4f", c(sh[1L], p), x, constant(sh[2L], p), 1 / sqrt(sh[2L])),
    result("t(%s) %%*%% %s * %.4f", c(sh[2L], p), x, constant(sh[1L], p), 1 / sqrt(sh[1L])),
    result("tanh(%s %%*%% %s + nv_broadcast_to(%s, %s))", c(sh[1L], p), x, constant(sh[2L], p), constant(p), as_code(c(sh[1L], p))),
    result("crossprod(%s, %s) * %.4f", c(sh[2L], p), x, constant(sh[1L], p), 1 / sqrt(sh[1L]))
  )
}

gram <- function(x, sh, all) {
  if (sh[1L] <= 33 && stats::runif(1) < 0.5) result("tcrossprod(%s) * %.4f", c(sh[1L], sh[1L]), x, 1 / sh[2L]) else if (sh[2L] <= 33) result("crossprod(%s) * %.4f", c(sh[2L], sh[2L]), x, 1 / sh[1L])
}

batches <- function(x, sh, all) {
  if (length(sh) == 3L) {
    p <- pick(c(1, 2, 3, 8, 17))
    return(result("nv_matmul(%s, %s) * %.4f", c(sh[1:2], p), x, constant(sh[1L], sh[3L], p), 1 / sqrt(sh[3L])))
  }
  n <- pick(c(2, 3, 5, 17))
  if (prod(sh) * n <= 6000) result("nv_broadcast_to(%s, %s) * %s", c(n, sh), x, as_code(c(n, sh)), constant(n, sh))
}

reduction <- function(x, sh, all) {
  d <- sample(length(sh), 1L)
  result(pick(c("sum(%s, dims = %d) * 0.3", "nv_mean(%s, dims = %d)", "nv_reduce_max(%s, dims = %d)", "nv_reduce_min(%s, dims = %d)", "nv_var(%s, dims = %d, correction = 0L)")), sh[-d], x, d)
}

normalisation <- function(x, sh, all) {
  d <- sample(2L, 1L)
  full <- as_code(sh)
  result(pick(c(
    "(%1$s - nv_broadcast_to(nv_mean(%1$s, dims = %2$d, drop = FALSE), %3$s)) / nv_broadcast_to(sqrt(nv_var(%1$s, dims = %2$d, drop = FALSE, correction = 0L) + 0.1), %3$s)",
    "{\n    e <- exp(%1$s - nv_broadcast_to(nv_reduce_max(%1$s, dims = %2$d, drop = FALSE), %3$s))\n    e / nv_broadcast_to(nv_reduce_sum(e, dims = %2$d, drop = FALSE), %3$s)\n  }",
    "%1$s - nv_broadcast_to(log(nv_reduce_sum(exp(%1$s), dims = %2$d, drop = FALSE)), %3$s)"
  )), sh, x, d, full)
}

movement <- function(x, sh, all) {
  d <- sample(length(sh), 1L)
  n <- sh[d]
  index <- function(i) sprintf("%s[%s]", x, paste(replace(rep("", length(sh)), d, i), collapse = ", "))
  switch(sample(8L, 1L),
    result("nv_transpose(%s)", rev(sh), x),
    if (n > 2) result("%s", replace(sh, d, n - 1), index(sprintf("2:%d", n))),
    if (n > 2) result("%s", replace(sh, d, 3), index(sprintf("array(%s)", as_code(sample(n, 3L, replace = TRUE))))),
    result("%s", sh[-d], index(sprintf("%dL", sample(n, 1L)))),
    if (prod(sh) < 2000) result("nv_concatenate(%1$s, tanh(%1$s), dimension = %2$d)", replace(sh, d, 2 * n), x, d),
    result("nv_reverse(%s, %d)", sh, x, d),
    result("nv_reshape(%s, %s)", rev(sh), x, as_code(rev(sh))),
    result("nv_pad(%s, 0.5, %s, %s)", replace(sh, d, n + 3), x, as_code(replace(0 * sh, d, 1)), as_code(replace(0 * sh, d, 2)))
  )
}

assignment <- function(x, sh, all) {
  commas <- strrep(", ", length(sh) - 1L)
  i <- sample(sh[1L], 1L)
  part <- if (sh[1L] > 2) pick(c(sprintf("%dL", i), sprintf("1:%d", sh[1L] - 1))) else "1L"
  result("{\n    y <- %1$s\n    y[%2$s%3$s] <- %4$s\n    y * 0.5 + %1$s\n  }", sh, x, part, commas, pick(c("0.7", sprintf("tanh(%s[%s%s])", x, part, commas))))
}

ordering <- function(x, sh, all) {
  d <- sample(length(sh), 1L)
  result(pick(c("nv_sort(%s, %d)", "nv_cumsum(%s, %d) * 0.2")), sh, x, d)
}

control <- function(x, sh, all) {
  result(pick(c(
    "nv_while(list(i = 0L, s = %1$s), function(i, s) i < 3L, function(i, s) list(i = i + 1L, s = tanh(s) + %1$s * 0.1))$s",
    "nv_if(sum(%1$s) > 0, tanh(%1$s), %1$s * 0.3)",
    "nv_while(list(i = 0L, s = %1$s, t = %1$s * 0.5), function(i, s, t) i < 2L, function(i, s, t) list(i = i + 1L, s = sin(t) + s * 0.2, t = s))$t"
  )), sh, x)
}

# A loop over the rows in R, as apply() would do it.
by_rows <- function(x, sh, all) {
  if (sh[1L] <= 9) result("do.call(nv_rbind, lapply(1:%2$d, function(i) %1$s[i, ] * i / sqrt(sum(%1$s[i, ]^2) + 1)))", sh, x, sh[1L])
}

operations <- list(
  list(ranks = 0:3, make = elementwise), list(ranks = 0:3, make = combination), list(ranks = 2, make = scaling), list(ranks = 2, make = scaling),
  list(ranks = 2, make = product), list(ranks = 2, make = product), list(ranks = 2, make = gram), list(ranks = 1:3, make = batches), list(ranks = 3, make = batches),
  list(ranks = 1:3, make = reduction), list(ranks = 2:3, make = reduction), list(ranks = 2, make = normalisation), list(ranks = 1:3, make = movement),
  list(ranks = 1:2, make = assignment), list(ranks = 1:3, make = ordering), list(ranks = 0:3, make = control), list(ranks = 2, make = by_rows)
)

# --- the same text in base R --------------------------------------------------------------------

# A reduction that keeps or drops dimensions as those of anvil do.
base_reduce <- function(f) {
  function(x, dims = NULL, drop = TRUE, ...) {
    if (is.null(dims)) {
      return(f(x, ...))
    }
    keep <- setdiff(seq_along(dim(x)), dims)
    out <- if (length(keep)) apply(x, keep, f, ...) else f(x, ...)
    shaped(out, if (drop) dim(x)[keep] else replace(dim(x), dims, 1L))
  }
}
# Scalars have no dimensions.
shaped <- function(x, sizes) if (length(sizes)) array(x, sizes) else c(x)
base_along <- function(f) {
  function(x, dim) {
    rank <- length(base::dim(x))
    order <- c(dim, setdiff(seq_len(rank), dim))
    moved <- aperm(x, order)
    lines <- matrix(moved, base::dim(moved)[1L])
    aperm(array(apply(lines, 2L, f), base::dim(moved)), order(order))
  }
}
base_variance <- function(x, correction) mean((x - mean(x))^2)
# Numbers written in the code drop their dimension, everything else keeps it.
base_subset <- function(x, ...) {
  indices <- as.list(substitute(list(...)))[-1L]
  frame <- parent.frame()
  values <- lapply(seq_along(dim(x)), function(d) if (identical(indices[[d]], quote(expr = ))) seq_len(dim(x)[d]) else eval(indices[[d]], frame))
  dropped <- vapply(indices, function(i) is.numeric(i) || identical(i, quote(i)), NA)
  shaped(do.call(base::`[`, c(list(x), lapply(values, as.vector), list(drop = FALSE))), lengths(values)[!dropped])
}

base_meaning <- function() {
  own <- list(
    `[` = base_subset,
    nv_max = function(x, y) if (length(y) == 1L) pmax(x, c(y)) else pmax(x, y), nv_ifelse = function(p, x, y) shaped(ifelse(p, x, y), dim(p)), nv_logistic = stats::plogis,
    nv_clamp = function(low, x, high) pmin(pmax(x, low), high),
    sum = base_reduce(base::sum), nv_reduce_sum = base_reduce(base::sum), nv_mean = base_reduce(base::mean), nv_reduce_max = base_reduce(base::max),
    nv_reduce_min = base_reduce(base::min), nv_var = base_reduce(base_variance),
    nv_broadcast_to = function(x, shape) {
      from <- c(rep(1L, length(shape) - length(dim(x))), dim(x))
      places <- lapply(seq_along(shape), function(d) if (from[d] == 1L) rep(1L, shape[d]) else seq_len(shape[d]))
      array(do.call(base::`[`, c(list(array(x, from)), places, list(drop = FALSE))), shape)
    },
    nv_reshape = function(x, shape) array(x, shape), nv_transpose = function(x) aperm(x), nv_sort = base_along(base::sort), nv_cumsum = base_along(base::cumsum),
    nv_matmul = function(x, y) {
      out <- array(0, c(dim(x)[1:2], dim(y)[3L]))
      for (b in seq_len(dim(x)[1L])) out[b, , ] <- matrix(x[b, , , drop = FALSE], dim(x)[2L]) %*% matrix(y[b, , , drop = FALSE], dim(y)[2L])
      out
    },
    nv_concatenate = function(x, y, dimension) {
      order <- c(setdiff(seq_along(dim(x)), dimension), dimension)
      sizes <- replace(dim(x), dimension, 2L * dim(x)[dimension])
      aperm(array(c(aperm(x, order), aperm(y, order)), sizes[order]), order(order))
    },
    nv_reverse = function(x, d) do.call(base::`[`, c(list(x), replace(lapply(dim(x), seq_len), d, list(rev(seq_len(dim(x)[d])))), list(drop = FALSE))),
    nv_pad = function(x, value, low, high) {
      out <- array(value, dim(x) + low + high)
      do.call(base::`[<-`, c(list(out), Map(function(n, l) l + seq_len(n), dim(x), low), list(value = x)))
    },
    nv_while = function(init, cond, body) {
      while (do.call(cond, init)) init <- do.call(body, init)
      init
    },
    nv_if = function(pred, true, false) if (pred) true else false,
    nv_rbind = function(...) unname(rbind(...)), tcrossprod = function(x) base::tcrossprod(x), crossprod = function(x, y = x) base::crossprod(x, y)
  )
  list2env(own, parent = baseenv())
}

# --- running ---------------------------------------------------------------------------------------

program_inputs <- function(program) {
  withr::with_seed(program$seed, lapply(program$shapes[c("x", "v", "a")], function(sh) if (length(sh)) array(stats::rnorm(prod(sh)), sh) else stats::rnorm(1)))
}
constant_values <- function(sizes) array(sin(seq_len(prod(sizes)) * 1.7) * 0.9, sizes)

program_tensors <- function(program) {
  lapply(program_inputs(program), function(x) if (is.null(dim(x))) nv_scalar(x, program$dtype) else nv_tensor(x, program$dtype))
}
program_function <- function(program) {
  around <- list2env(list(constant = function(sizes) nv_tensor(constant_values(sizes), program$dtype)), parent = asNamespace("anvil"))
  eval(parse(text = program_text(program), keep.source = FALSE), around)
}

# A program with a branch in a loop, and a loop in a branch, around what it computes.
with_control <- function(program) {
  newest <- function() utils::tail(setdiff(names(program$shapes), c("v", "a")), 1L)
  for (code in c(
    "nv_while(list(i = 0L, s = X), function(i, s) i < 3L, function(i, s) list(i = i + 1L, s = nv_if(sum(s) > a, tanh(s) * 0.7, s + X * 0.1)))$s",
    "nv_if(a > 0, nv_fori(1, 3, X, function(i, s) sin(s) * 0.9), nv_case(nv_convert(a, \"i32\"), X, X * a, -X))"
  )) {
    from <- newest()
    new <- sprintf("z%d", length(program$lines) + 1L)
    program$lines <- c(program$lines, sprintf("%s <- %s", new, gsub("X", from, code, fixed = TRUE)))
    program$shapes[[new]] <- program$shapes[[from]]
  }
  program
}

# What is wrong with one program, or "".
check_program <- function(program) {
  text <- program_text(program)
  wide <- program$dtype == "f64"
  inputs <- program_inputs(program)
  tensors <- program_tensors(program)
  f <- program_function(program)
  loss <- function(x, v, a) {
    Reduce(`+`, lapply(f(x, v, a), function(z) sum(z * nv_reshape(nv_tensor(cos(seq_len(prod(shape(z)))), program$dtype), shape(z)))))
  }
  differs <- function(what, actual, expected, tolerance) {
    actual <- as_numbers(actual)
    expected <- as_numbers(expected)
    scale <- max(1, abs(expected[is.finite(expected)]))
    right <- length(actual) == length(expected) && all(close_elements(actual, expected, tolerance, tolerance * scale))
    if (right) "" else sprintf("%s differ by up to %.3g of %.3g", what, max(abs(actual - expected)), scale)
  }
  tolerance <- if (wide) 1e-10 else 1e-4
  at_once <- do.call(f, tensors)
  found <- differs("values, compiled and at once,", do.call(jit(f), tensors), at_once, tolerance)
  if (wide) {
    in_base <- eval(parse(text = text), list2env(list(constant = constant_values), parent = base_meaning()))
    found <- c(found, differs("values, at once and in base R,", at_once, do.call(in_base, inputs), tolerance))
  }
  slope <- do.call(gradient(loss), tensors)
  found <- c(found, differs("gradients, compiled and at once,", do.call(jit(gradient(loss)), tensors), slope, 10 * tolerance))
  if (wide) {
    found <- c(found, differs("gradients and differences", sum(as_numbers(slope) * cos(seq_along(as_numbers(slope)))), difference_quotient(loss, inputs), 1e-5))
  }
  found <- found[nzchar(found)]
  if (length(found)) sprintf("seed %d, %s of %s: %s\n%s", program$seed, program$dtype, shape2string(program$shapes$x), paste(found, collapse = "; "), text) else ""
}

# The derivative along cos(1), cos(2), ...
difference_quotient <- function(loss, inputs, step = 1e-6) {
  ends <- cumsum(lengths(inputs))
  at <- function(sign) {
    moved <- Map(function(x, end) x + sign * step * cos(end - length(x) + seq_along(x)), inputs, ends)
    as_array(do.call(loss, lapply(moved, function(x) if (is.null(dim(x))) nv_scalar(x, "f64") else nv_tensor(x, "f64"))))
  }
  (at(1) - at(-1)) / (2 * step)
}

# In a process of its own: a crash is one more finding.
check_programs <- function(seeds) {
  job <- parallel::mcparallel(unlist(lapply(seeds, function(seed) {
    tryCatch(check_program(random_program(seed)), error = function(e) sprintf("seed %d: %s\n%s", seed, conditionMessage(e), program_text(random_program(seed))))
  })), silent = TRUE)
  found <- suppressWarnings(parallel::mccollect(job)[[1L]])
  if (is.character(found)) {
    return(found[nzchar(found)])
  }
  if (length(seeds) == 1L) {
    return(sprintf("seed %d: the process ended\n%s", seeds, program_text(random_program(seeds))))
  }
  unlist(lapply(seeds, check_programs))
}
