# Steps as long as the quadratic model was right about the last one (Nocedal and Wright, 2006, algorithm 4.1): what
# a step gave, relative to what the model promised, decides on the step and on the size of the region. In a box the steps are
# projected, and the model is asked about the projected ones.

# About as far as a line search goes.
longest_step <- 1e18

# A method's `propose(f, from, radius, free)` gives list(step, multiply, reach): a step, the model's matrix as a function of a
# vector, and the radius that the step made use of.
trust_step <- function(problem, propose, radius) {
  step <- function(evaluate, f, from, memory, box) {
    free <- free_parameters(from$par, from$gradient, box)
    proposed <- propose(f, from, memory$radius, free)
    par <- into_box(from$par + proposed$step, box)
    moved <- par - from$par
    promised <- -inner(moved, from$gradient + 0.5 * proposed$multiply(moved))
    new <- evaluate(par)
    gain <- (from$value - new$value) / promised
    good <- gain > 1e-4 & promised > 0
    bad <- !(good & gain >= 0.25)
    longer <- nv_ifelse(gain > 0.75 & proposed$reach >= 0.99 * memory$radius, 4 * memory$radius, memory$radius)
    radius <- nv_ifelse(bad, 0.25 * proposed$reach, longer)
    c(
      choose_tree(good, list(par = par, value = new$value, gradient = new$gradient), from),
      list(
        tries = 1L, stuck = radius < 1e-30, memory = list(radius = radius),
        unbounded = good & nv_reduce_max(nv_abs(moved)) > longest_step, decrease = nv_ifelse(good, from$value - new$value, nv_ifelse(promised > 0, promised, Inf))
      )
    )
  }
  list(step = step, memory = list(radius = nv_scalar(radius, problem$dtype)))
}

# The damped step: the solution of (H + D / radius) step = -gradient with the diagonal D of H (Marquardt, 1963, SIAM J. Appl. Math. 11).
marquardt_proposal <- function(f, from, radius, free) {
  h <- squares_curvature(f, from$par)
  held <- among_free(h, free)
  scale <- nv_extract_diag(held)
  scale <- nv_max(scale, machine_precision(scale) * nv_reduce_max(scale))
  step <- -solve_regularised(held + nv_diag(scale / radius), from$gradient)
  list(step = step, multiply = function(v) nv_flatten(h %*% v), reach = radius)
}

# Conjugate gradients up to the edge of the region, or to a direction without curvature (Steihaug, 1983, SIAM J. Numer. Anal. 20;
# Nocedal and Wright, 2006, algorithm 7.2). It wants products with the Hessian matrix only.
steihaug_proposal <- function(f, from, radius, free) {
  among <- function(v) if (is.null(free)) v else v * free
  along <- hvp(function(par) total_of(f(par)))
  multiply <- function(v) along(list(from$par), list(v))[[1L]]
  residual <- among(from$gradient)
  size <- nv_sqrt(inner(residual, residual))
  enough <- size * nv_min(0.1, nv_sqrt(size))
  body <- function(z, r, d, k, done) {
    hd <- among(multiply(d))
    curvature <- inner(d, hd)
    rr <- inner(r, r)
    t <- rr / curvature
    to <- z + t * d
    outside <- curvature <= 0 | inner(to, to) >= radius * radius
    r_next <- r + t * hd
    list(
      z = nv_ifelse(outside, z + to_edge(z, d, radius) * d, to), r = r_next, d = inner(r_next, r_next) / rr * d - r_next,
      k = k + 1L, done = outside | nv_sqrt(inner(r_next, r_next)) <= enough
    )
  }
  most <- 2L * as.integer(shape(residual))
  found <- nv_while(
    list(z = 0 * residual, r = residual, d = -residual, k = 0L, done = size == 0),
    function(z, r, d, k, done) !done & k < most, body
  )
  step <- if (is.null(free)) found$z else found$z - (1 - free) * nv_clamp(-radius, from$gradient, radius)
  list(step = step, multiply = multiply, reach = nv_sqrt(inner(found$z, found$z)))
}

# The positive root of |z + t d| = radius.
to_edge <- function(z, d, radius) {
  a <- inner(d, d)
  b <- inner(z, d)
  (nv_sqrt(nv_max(b * b + a * (radius * radius - inner(z, z)), 0)) - b) / a
}
