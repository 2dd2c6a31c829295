# Quasi-Newton steps with limited memory: the last steps and the changes of the gradient along them, as columns of two
# matrices, the last one the newest. A column of zeros is none.

lbfgs_step <- function(problem, columns) {
  step <- function(evaluate, f, from, memory, box) {
    free <- free_parameters(from$par, from$gradient, box)
    direction <- -lbfgs_product(from$gradient, memory$steps, memory$changes, free)
    found <- wolfe_search(evaluate, from, direction, box)
    failed <- found$t == 0
    kept <- remember(memory, found$par - from$par, found$gradient - from$gradient)
    empty <- map_tree(function(x) x * 0, memory)
    new <- !nv_reduce_any(memory$steps != 0)
    list(
      par = found$par, value = found$value, gradient = found$gradient, tries = found$tries, stuck = failed & new,
      memory = choose_tree(failed, empty, kept), decrease = nv_ifelse(failed, Inf, from$value - found$value)
    )
  }
  none <- nv_fill(0, c(length(problem$par), columns), dtype = problem$dtype)
  list(step = step, memory = list(steps = none, changes = none))
}

# A pair without curvature says nothing of the minimum.
remember <- function(memory, step, change) {
  curved <- inner(step, change) > machine_precision(step) * inner(change, change)
  push <- function(columns, x) nv_cbind(columns[, -1L, drop = FALSE], x)
  choose_tree(curved, list(steps = push(memory$steps, step), changes = push(memory$changes, change)), memory)
}

# The two-loop recursion (Nocedal and Wright, 2006, algorithm 7.4) on the free parameters; the others have the identity.
lbfgs_product <- function(gradient, steps, changes, free = NULL) {
  n <- shape(steps)[2L]
  column <- function(x, k) if (is.null(free)) x[, k] else x[, k] * free
  s <- lapply(seq_len(n), function(k) column(steps, k))
  y <- lapply(seq_len(n), function(k) column(changes, k))
  curvature <- Map(inner, s, y)
  over_curvature <- function(x, k) nv_ifelse(curvature[[k]] > 0, x / curvature[[k]], 0)
  q <- if (is.null(free)) gradient else gradient * free
  a <- vector("list", n)
  for (k in rev(seq_len(n))) {
    a[[k]] <- over_curvature(inner(s[[k]], q), k)
    q <- q - a[[k]] * y[[k]]
  }
  first <- 1 / nv_max(nv_sqrt(inner(gradient, gradient)), .Machine$double.xmin^0.5)
  q <- q * nv_ifelse(curvature[[n]] > 0, curvature[[n]] / inner(y[[n]], y[[n]]), first)
  for (k in seq_len(n)) {
    q <- q + s[[k]] * (a[[k]] - over_curvature(inner(y[[k]], q), k))
  }
  if (is.null(free)) q else q + (1 - free) * gradient
}
