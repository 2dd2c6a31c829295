#' Integrate random effects out by Laplace's approximation
#'
#' Of a negative joint log-likelihood \eqn{f(\theta, u)} of parameters and random effects, `nv_laplace()` makes an objective of the
#' parameters alone: minus the logarithm of \eqn{\int e^{-f(\theta, u)} du}{the integral of exp(-f(theta, u)) over u},
#' with \eqn{f} replaced by its parabola at the mode \eqn{\hat u(\theta)}{u(theta)}:
#'
#' \deqn{f(\theta, \hat u) + \frac12 \log\det f_{uu}(\theta, \hat u) - \frac n2 \log 2\pi}{f(theta, u) + log(det(H)) / 2 - n log(2 pi) / 2,
#' with H the matrix of second derivatives of f by u.}
#'
#' It is exact where the random effects are normal and enter linearly. The mode is found by Newton's method in a compiled
#' loop, and its derivative is that of the implicit function, so that gradients and Hessian matrices of the objective are
#' exact to any order (Kristensen et al., 2016, J. Stat. Software 70(5)).
#'
#' Which effects meet in a second derivative is found once, at `start`. Where they fall into groups that do not meet, as effects of
#' the levels of one factor do, the matrix is computed and factorised by group; other sparse matrices, as those of
#' random walks, of fields on a graph and of crossed factors, by a sparse Cholesky factor ([nv_sparse_solve()]), if package Matrix is
#' installed. Its elements come from few products with vectors, by a colouring of the effects (Gebremedhin et al., 2005, SIAM Review
#' 47(4)). So time grows with the number of effects that meet, and not with the cube of their number.
#'
#' @param f A function `f(par, ...)` that returns a float, or a vector of what is summed up.
#' @param start A list of parameters and random effects with names, where the search starts.
#' @param random The names of the random effects.
#' @param ... Data, as for [as_objective()].
#' @param dtype The dtype of the computation, `"f64"` or `"f32"`.
#' @return An objective of the other parameters, as [as_objective()] gives it, for R's optimisers and for [nv_minimize()]; its element
#'   `random` is a function of a vector of them that gives the modes, nested like `start[random]`.
#' @section Errors:
#' Of class `anvil_error_argument` where `random` is no part of `start`. Where no mode is found, or the matrix is not positive definite
#' there, or where effects meet that do not at `start`, the objective is NaN.
#' @family fitting
#' @export
#' @examples
#' frame <- nv_model_frame(weight ~ Time + (1 | Chick), ChickWeight)
#' nll <- function(par, y, x, chick) {
#'   mean <- drop(x %*% par$beta) + par$u[chick] * exp(par$log_sd[1])
#'   sum(-dnorm(y, mean, exp(par$log_sd[2]), log = TRUE)) + sum(-dnorm(par$u, log = TRUE))
#' }
#' start <- list(beta = c(0, 0), log_sd = c(3, 3), u = numeric(50))
#' chick <- frame$random$Chick$index
#' objective <- nv_laplace(nll, start, "u", y = frame$y, x = frame$x, chick = chick)
#' fit <- nv_minimize(objective)
#' summary(fit)
#' objective$random(coef(fit))$u[1:3]
nv_laplace <- function(f, start, random, ..., dtype = "f64") {
  check_full_names(sys.call(), c("f", "start", "random"))
  check_function(f)
  if (!is_container(start) || is.null(names(start))) wrong_argument("start", "a list with names", start)
  if (!is.character(random) || !length(random) || !all(random %in% names(start)) || all(names(start) %in% random)) {
    wrong_argument("random", "names of some elements of `start`, but not of all", random)
  }
  check_taken(f, list(...), "There is an argument", "`f` does not take")
  effects <- fitting_problem(f, start[random], list(), dtype)
  joint <- function(u, par, given) {
    total_of(do.call(f, c(list(c(par, structured_tensors(effects, u))), given), quote = TRUE))
  }
  problem <- fitting_problem(function(par, ...) NULL, start[setdiff(names(start), random)], list(...), dtype)
  layout <- curvature_layout(meeting_effects(joint, effects$par, problem), dtype)
  mode <- mode_of(joint, layout, effects)
  problem$f <- with_data_as_list(function(par, given) {
    u <- mode(par, given)
    along <- curvature_along(joint, u, par, given)
    curvature <- layout$curvature(along)
    value <- joint(u, par, given) + layout$log_det(curvature) / 2 - length(effects$par) * log(2 * pi) / 2
    nv_ifelse(is_whole_curvature(layout, curvature, along), value, NaN)
  })
  modes <- problem
  modes$f <- with_data_as_list(mode)
  at <- compiled(modes, function(f, par) f(par), identity)
  objective <- objective_of(problem)
  objective$random <- function(par) structured(effects, as.double(at(par)))
  objective
}

# f(par, data) as a function of the parameters and of data with any names, `p` among them.
with_data_as_list <- function(f) function(...) f(..1, list(...)[-1L])

curvature_along <- function(joint, u, par, given) {
  function(v) hvp(function(u) joint(u, par, given))(list(u), list(v))[[1L]]
}

# Whether the curvature is the whole matrix, by its product with a vector: the effects may meet where they do not at the start.
is_whole_curvature <- function(layout, curvature, along) {
  v <- nv_tensor(cos(seq_len(layout$n)), layout$dtype)
  whole <- along(v)
  rest <- nv_reduce_max(nv_abs(whole - layout$times(curvature, v)))
  rest <= 1000 * machine_precision(whole) * layout$longest * nv_reduce_max(nv_abs(curvature))
}

# ---- the mode ------------------------------------------------------------------------------------

# As a function of the parameters and data, whose derivative is that of the implicit function.
mode_of <- function(joint, layout, effects) {
  slope <- function(u, par, given) gradient(joint, "u")(u, par, given)[[1L]]
  step <- function(u, par, given, towards, ridge = NULL) {
    layout$solve(layout$curvature(curvature_along(joint, u, par, given)), ridge, towards)
  }
  nv_custom_jvp(
    function(par, given) {
      by <- function(u, ridge) step(u, par, given, slope(u, par, given), ridge)
      newton_mode(par_tensor(effects, effects$par), function(u) joint(u, par, given), by)
    },
    function(inputs, outputs, tangents) {
      moved <- jvp(function(par) slope(outputs, par, inputs$given))(inputs["par"], tangents["par"])$tangent
      -step(outputs, inputs$par, inputs$given, moved)
    }
  )
}

newton_steps <- 100L

# Newton's method; where a step does not lead down, a multiple of the identity is added to the matrix (Levenberg). A small step
# without it ends the search. NaN where the steps do not become small.
newton_mode <- function(u, evaluate, step) {
  small <- sqrt(machine_precision(u))
  noise <- machine_precision(u)^(2 / 3) # of a sum of many terms
  zero <- nv_scalar_like(u, 0)
  found <- nv_while(
    list(u = u, value = evaluate(u), ridge = zero, steps = 0L, done = FALSE), function(u, value, ridge, steps, done) !done & steps < newton_steps,
    function(u, value, ridge, steps, done) {
      by <- step(u, ridge)
      new <- u - by
      new_value <- evaluate(new)
      down <- new_value <= value + noise * (1 + abs(value))
      near <- ridge <= 0 & nv_reduce_max(abs(by)) <= small * (1 + nv_reduce_max(abs(u)))
      list(
        u = nv_ifelse(down, new, u), value = nv_ifelse(down, new_value, value),
        ridge = nv_ifelse(down, nv_ifelse(ridge < 1e-4, 0, ridge / 10), nv_max(10 * ridge, 1e-3)), steps = steps + 1L, done = down & near
      )
    }
  )
  nv_ifelse(found$done, found$u, NaN)
}
