# Steps from a matrix of second derivatives, that of the function or of its Gauss-Newton approximation: Newton steps with
# a line search, and damped steps (Levenberg and Marquardt), whose damping is a trust region (fit-trust.R).

# curvature: a function (f, par) that gives the matrix.
newton_step <- function(problem, curvature) {
  step <- function(evaluate, f, from, memory, box) {
    h <- among_free(curvature(f, from$par), free_parameters(from$par, from$gradient, box))
    found <- wolfe_search(evaluate, from, -solve_regularised(h, from$gradient), box)
    # a step that the search has cut short says nothing about how far the minimum is
    cut <- found$t < 1e-2 & found$value < from$value
    list(
      par = found$par, value = found$value, gradient = found$gradient, tries = found$tries, stuck = found$t == 0,
      memory = memory, unbounded = found$unbounded, decrease = nv_ifelse(cut, Inf, from$value - found$value)
    )
  }
  list(step = step, memory = list())
}

exact_curvature <- function(f, par) hessian(function(par) total_of(f(par)))(par)[[1L]][[1L]]

# That of a sum of squares without the second derivatives of the residuals.
squares_curvature <- function(f, par) 2 * nv_crossprod(jacobian_of_rows(f, par))

# The derivatives of each result: a row for each, a column for each parameter.
jacobian_of_rows <- function(f, par) jacobian(function(par) one_row_each(f(par)))(par)[[1L]]

one_row_each <- function(x) nv_reshape(x, prod(shape(x)))

# With the rows and columns of parameters that are held at a bound those of the identity.
among_free <- function(h, free) if (is.null(free)) h else h * nv_outer(free, free) + nv_diag(1 - free)

# The solution of (h + tau d) x = b with the first tau of a growing sequence, from 0 on where the diagonal allows it, with which
# the matrix is positive definite (Nocedal and Wright, 2006, algorithm 3.3), and no parameter as good as a combination of others:
# d is the diagonal where that is positive, as in Marquardt's method, else the identity. Without any curvature the length of x
# is at most 1000.
solve_regularised <- function(h, b) {
  own <- nv_extract_diag(h)
  least <- nv_reduce_min(own)
  scale <- nv_ifelse(least > 0, own, 1)
  beta <- 1e-3 * nv_ifelse(least > 0, 1, nv_max(nv_sqrt(inner(h, h)), nv_sqrt(inner(b, b))))
  root_with <- function(tau) {
    root <- nv_chol(h + nv_diag(tau * scale), lower = TRUE)
    apart <- nv_extract_diag(root)^2 > machine_precision(h)^0.75 * nv_abs(own + tau * scale)
    nv_ifelse(nv_reduce_all(apart), root, NaN)
  }
  first <- nv_ifelse(least > 0, 0, beta - least)
  found <- nv_while(
    list(tau = first, root = root_with(first), tries = 0L),
    function(tau, root, tries) !nv_reduce_all(nv_is_finite(root)) & tries < 100L,
    function(tau, root, tries) {
      tau <- nv_max(2 * tau, beta)
      list(tau = tau, root = root_with(tau), tries = tries + 1L)
    }
  )
  nv_triangular_solve(found$root, nv_triangular_solve(found$root, b), transpose_a = TRUE)
}
