# The line search of the methods that follow a direction, in a box or without one, as a loop of tensors.
#
# The strong Wolfe conditions by bracketing: `low` is a point of sufficient decrease with a steep way down, `high` one
# without the decrease or on the way up, so that between them there is a point where both conditions hold (More and Thuente,
# 1994, On line searches with guaranteed sufficient decrease, ACM TOMS 20). The next trial is the minimum of the cubic
# through both (Nocedal and Wright, 2006, Numerical Optimization, formula 3.59), away from the ends. Where
# rounding hides the decrease, the slopes say that there is one (Hager and Zhang, 2005, SIAM J. Optim. 16, section 3).

search_tries <- 40L
tries_in_noise <- 3L

# from: list(par, value, gradient). Gives the point found, of the same fields with `t`, its place along the direction: 0 where
# nothing was found; the number of tries; and whether the value falls steeply as far as they went. Where nothing was found before a step promises less than rounding of the value hides,
# as with values that are noisier than that, there is nothing to find: the step is as good as none, and no failure.
wolfe_search <- function(evaluate, from, direction, box) {
  path <- projected_path(from$par, direction, box)
  downhill <- path$slope(nv_scalar_like(from$value, 0), from$gradient)
  start <- c(list(t = nv_scalar_like(from$value, 0)), from["value"], list(slope = downhill), from["gradient"])
  far <- list(t = nv_scalar_like(from$value, Inf), value = from$value, slope = downhill)
  body <- function(low, high, t, tries, done) {
    new <- evaluate(path$at(t))
    new <- c(list(t = t, value = new$value, slope = path$slope(t, new$gradient)), new["gradient"])
    decreased <- has_decreased(new, start, path$decrease(t, from$gradient))
    done <- decreased & (nv_abs(new$slope) <= -0.9 * downhill | path$is_clipped(t) | new$value == -Inf)
    go_on <- decreased & (done | new$slope < 0)
    low <- choose_tree(go_on, new, low)
    high <- choose_tree(go_on, high, new[names(high)])
    list(low = low, high = high, t = next_trial(low, high), tries = tries + 1L, done = done)
  }
  hidden <- function(t, tries) tries >= tries_in_noise & -t * downhill <= machine_precision(from$value) * nv_abs(from$value)
  found <- nv_while(
    list(low = start, high = far, t = nv_scalar_like(from$value, 1), tries = 0L, done = FALSE),
    function(low, high, t, tries, done) !done & tries < search_tries & downhill < 0 & !hidden(t, tries), body
  )
  t <- nv_ifelse(hidden(found$t, found$tries), found$t, found$low$t)
  par <- nv_ifelse(found$low$t == 0, from$par, path$at(found$low$t)) # 0 times an infinite direction is no number
  unbounded <- !found$done & found$tries >= search_tries & !nv_is_finite(found$high$t)
  list(t = t, par = par, value = found$low$value, gradient = found$low$gradient, tries = found$tries, unbounded = unbounded)
}

# decrease: what a line of the slope at the start would have given, negative.
has_decreased <- function(new, start, decrease) {
  noise <- 1000 * machine_precision(start$value) * nv_abs(start$value)
  new$value <= start$value + 1e-4 * decrease | (new$value <= start$value + noise & new$slope <= (2e-4 - 1) * start$slope)
}

machine_precision <- function(x) if (dtype(x) == "f32") 2^-23 else .Machine$double.eps

next_trial <- function(low, high) {
  width <- high$t - low$t
  a <- low$slope + high$slope + 3 * (high$value - low$value) / -width
  b <- nv_sqrt(nv_max(a * a - low$slope * high$slope, 0))
  cubic <- high$t - width * (high$slope + b - a) / (high$slope - low$slope + 2 * b)
  inside <- nv_clamp(low$t + 0.1 * width, cubic, high$t - 0.1 * width)
  between <- nv_ifelse(nv_is_finite(inside), inside, low$t + 0.5 * width)
  nv_ifelse(nv_is_finite(high$t), between, 4 * low$t)
}

# --- the box -----------------------------------------------------------------------------------

# box: NULL or list(lower, upper).
into_box <- function(par, box) if (is.null(box)) par else nv_min(nv_max(par, box$lower), box$upper)

# How far a step of steepest descent gets in the box: zero at a minimum.
projected_gradient <- function(par, gradient, box) if (is.null(box)) gradient else par - into_box(par - gradient, box)

# 1 for parameters that are free to move, 0 for those that are at a bound, or nearly, with a gradient that pushes against it (Bertsekas,
# 1982, Projected Newton methods, SIAM J. Control Optim. 20). NULL without a box.
free_parameters <- function(par, gradient, box) {
  if (is.null(box)) {
    return(NULL)
  }
  near <- nv_min(1e-6, nv_reduce_max(nv_abs(projected_gradient(par, gradient, box))))
  held <- (par <= box$lower + near & gradient > 0) | (par >= box$upper - near & gradient < 0)
  nv_convert(!held, dtype(par))
}

# The points par + t direction, each put back into the box, and the slope of the function along them.
projected_path <- function(par, direction, box) {
  at <- function(t) into_box(par + t * direction, box)
  moving <- function(t) {
    to <- par + t * direction
    (to > box$lower | direction > 0) & (to < box$upper | direction < 0)
  }
  along <- function(t) if (is.null(box)) direction else nv_ifelse(moving(t), direction, 0)
  list(
    at = at,
    slope = function(t, gradient) inner(gradient, along(t)),
    decrease = function(t, gradient) if (is.null(box)) t * inner(gradient, direction) else inner(gradient, at(t) - par),
    is_clipped = function(t) if (is.null(box)) FALSE else nv_reduce_any(!moving(t) & direction != 0)
  )
}

inner <- function(a, b) nv_reduce_sum(a * b)

choose_tree <- function(pred, yes, no) {
  unflatten(build_tree(yes), Map(function(a, b) nv_ifelse(pred, a, b), flatten(yes), flatten(no)))
}
