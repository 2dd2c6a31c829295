# Quasi-Newton steps with limited memory: the last steps and the changes of the gradient along them, as columns of two
# matrices that are written in turn.

lbfgs_step <- function(problem, columns) {
  step <- function(evaluate, f, from, memory, box) {
    free <- free_parameters(from$par, from$gradient, box)
    direction <- -lbfgs_product(from$gradient, memory, free)
    found <- wolfe_search(evaluate, from, direction, box)
    failed <- found$t == 0
    stuck <- failed & memory$pairs == 0L
    memory <- remember(memory, found$par - from$par, found$gradient - from$gradient)
    memory$pairs <- nv_ifelse(failed, 0L, memory$pairs) # a new beginning
    list(
      par = found$par, value = found$value, gradient = found$gradient, tries = found$tries, stuck = stuck, memory = memory,
      unbounded = found$unbounded, decrease = nv_ifelse(failed, Inf, from$value - found$value)
    )
  }
  none <- nv_fill(0, c(length(problem$par), columns), dtype = problem$dtype)
  list(step = step, memory = list(steps = none, changes = none, pairs = nv_scalar(0L, "i32")))
}

# The column of the k-th pair, from 0 on.
column_of <- function(x, k) (k %% as.integer(shape(x)[2L])) + 1L

# A pair without curvature says nothing of the minimum: it only takes the place of the oldest one.
remember <- function(memory, step, change) {
  curved <- inner(step, change) > machine_precision(step) * inner(change, change)
  write <- function(x, column) {
    column <- nv_reshape(nv_ifelse(curved, column, 0), c(shape(column), 1L))
    nvl_dynamic_update_slice(x, column, 1L, column_of(x, memory$pairs))
  }
  list(steps = write(memory$steps, step), changes = write(memory$changes, change), pairs = memory$pairs + nv_convert(curved, "i32"))
}

# The two-loop recursion (Nocedal and Wright, 2006, algorithm 7.4) on the free parameters; the others have the identity.
lbfgs_product <- function(gradient, memory, free = NULL) {
  n <- shape(memory$steps)[2L]
  among <- function(v) if (is.null(free)) v else v * free
  recent <- function(x, k) {
    column <- nvl_dynamic_slice(x, 1L, column_of(x, memory$pairs - k), slice_sizes = c(shape(x)[1L], 1L))
    among(nv_flatten(column))
  }
  # the newest pair first
  s <- lapply(seq_len(n), function(k) recent(memory$steps, k))
  y <- lapply(seq_len(n), function(k) recent(memory$changes, k))
  curvature <- lapply(seq_len(n), function(k) nv_ifelse(memory$pairs >= k, inner(s[[k]], y[[k]]), 0))
  over_curvature <- function(x, k) nv_ifelse(curvature[[k]] > 0, x / curvature[[k]], 0)
  q <- among(gradient)
  a <- vector("list", n)
  for (k in seq_len(n)) {
    a[[k]] <- over_curvature(inner(s[[k]], q), k)
    q <- q - a[[k]] * y[[k]]
  }
  first <- 1 / nv_max(nv_sqrt(inner(gradient, gradient)), .Machine$double.xmin^0.5)
  q <- q * nv_ifelse(curvature[[1L]] > 0, curvature[[1L]] / inner(y[[1L]], y[[1L]]), first)
  for (k in rev(seq_len(n))) {
    q <- q + s[[k]] * (a[[k]] - over_curvature(inner(y[[k]], q), k))
  }
  if (is.null(free)) q else q + (1 - free) * gradient
}
