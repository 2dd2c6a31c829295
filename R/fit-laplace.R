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
#' the levels of one factor do, the matrix is computed and factorised by group: time grows with their number, and not with its cube.
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
  effects <- fitting_problem(f, start[random], list(), dtype)
  joint <- function(u, par, given) {
    total_of(do.call(f, c(list(c(par, structured_tensors(effects, u))), given), quote = TRUE))
  }
  problem <- fitting_problem(function(par, ...) NULL, start[setdiff(names(start), random)], list(...), dtype)
  groups <- effect_groups(meeting_effects(joint, effects$par, problem), dtype)
  mode <- mode_of(joint, groups, effects)
  problem$f <- function(par, ...) {
    u <- mode(par, list(...))
    along <- curvature_along(joint, u, par, list(...))
    blocks <- group_blocks(groups, along)
    value <- joint(u, par, list(...)) + log_det_of(group_roots(blocks)) / 2 - length(effects$par) * log(2 * pi) / 2
    nv_ifelse(is_whole_curvature(groups, blocks, along), value, NaN)
  }
  modes <- problem
  modes$f <- function(par, ...) mode(par, list(...))
  at <- compiled(modes, function(f, par) f(par), identity)
  objective <- objective_of(problem)
  objective$random <- function(par) structured(effects, as.double(at(par)))
  objective
}

# ---- which effects meet in a second derivative --------------------------------------------------

# Pairs of effects, as a matrix of two columns: at two points in the neighbourhood of the start, where no derivative vanishes by
# chance. NaN counts as meeting.
meeting_effects <- function(joint, u0, problem) {
  n <- length(u0)
  columns <- jit(function(par, tensors, u, seeds) {
    local_default_dtypes(float = problem$dtype)
    given <- data_with(problem$data, tensors)
    across_columns(curvature_along(joint, u, structured_tensors(problem, par), given), seeds)
  })
  near <- function(x, k) x + 0.01 * (1 + abs(x)) * sin(seq_along(x) * k)
  pairs <- list()
  for (first in seq(1L, n, by = 256L)) {
    at <- first - 1L + seq_len(min(256L, n - first + 1L))
    seeds <- nv_tensor(outer(seq_len(n), at, "==") + 0, problem$dtype)
    for (k in c(1.1, 2.3)) {
      found <- as_array(columns(par_tensor(problem, near(problem$par, k)), problem$data$tensors, nv_tensor(near(u0, k), problem$dtype), seeds))
      meet <- which(is.na(found) | found != 0, arr.ind = TRUE)
      pairs[[length(pairs) + 1L]] <- cbind(meet[, 1L], at[meet[, 2L]])
    }
  }
  list(n = n, pairs = unique(do.call(rbind, pairs)))
}

curvature_along <- function(joint, u, par, given) {
  function(v) hvp(function(u) joint(u, par, given))(list(u), list(v))[[1L]]
}
across_columns <- function(f, seeds) vectorize(f, axis = -1L)(seeds)

# Effects that meet, directly or through others, are a group. Groups are columns of `members`, the places of effects, and n + 1
# where a group has less than the largest; one group where that would be more than the whole matrix.
effect_groups <- function(meeting, dtype) {
  n <- meeting$n
  label <- seq_len(n)
  repeat {
    new <- pmin(label, as.vector(tapply(label[meeting$pairs[, 2L]], factor(meeting$pairs[, 1L], seq_len(n)), min, default = n)))
    new <- new[new]
    if (identical(new, label)) break
    label <- new
  }
  of <- split(seq_len(n), label)
  largest <- max(lengths(of))
  if (length(of) * largest^2 > n^2) of <- list(seq_len(n))
  largest <- max(lengths(of))
  members <- vapply(of, function(places) c(places, rep(n + 1L, largest - length(places))), integer(largest))
  members <- matrix(as.integer(members), largest)
  seeds <- matrix(0, n + 1L, largest)
  seeds[cbind(c(members), c(row(members)))] <- 1
  list(
    n = n, dtype = dtype, size = largest, count = ncol(members), members = c(members), place = match(seq_len(n), members),
    seeds = seeds[seq_len(n), , drop = FALSE],
    fill = array(apply(members > n, 2L, function(free) diag(as.numeric(free), largest)), c(largest, largest, ncol(members)))
  )
}

# ---- matrices of second derivatives by group -------------------------------------------------------

# Column q holds those by the effects that are the q-th of their groups: no two of them meet the same effect.
# What fills up groups has ones on the diagonal. [size, size, count].
group_blocks <- function(groups, along) {
  compressed <- across_columns(along, nv_tensor(groups$seeds, groups$dtype))
  rows <- nv_reshape(by_group(groups, compressed), c(groups$size, groups$count, groups$size))
  nv_transpose(rows, c(1L, 3L, 2L)) + nv_tensor(groups$fill, groups$dtype)
}

# Whether the blocks are the whole matrix, by its product with a vector: the effects may meet where they do not at the start.
is_whole_curvature <- function(groups, blocks, along) {
  v <- nv_tensor(cos(seq_len(groups$n)), groups$dtype)
  whole <- along(v)
  by_blocks <- from_groups(groups, vectorize(function(block, v) nv_matmul(block, v), axis = -1L)(blocks, grouped(groups, v)))
  nv_reduce_max(nv_abs(whole - by_blocks)) <= 1000 * machine_precision(whole) * groups$size * nv_reduce_max(nv_abs(blocks))
}

grouped <- function(groups, x) nv_reshape(by_group(groups, x), c(groups$size, groups$count))
from_groups <- function(groups, x) slices_at(nv_flatten(x), nv_tensor(groups$place))
by_group <- function(groups, x) {
  zero <- nv_fill(0, replace(sizes_of(x), 1L, 1L), dtype(x))
  slices_at(nv_concatenate(x, zero, dimension = 1L), nv_tensor(groups$members))
}

# Cholesky factors, upper triangular.
group_roots <- function(blocks, ridge = 0) {
  vectorize(function(block) chol(block + ridge * nv_eye(shape(block)[1L], dtype = dtype(block))), axis = -1L)(blocks)
}

log_det_of <- function(root) 2 * sum(vectorize(function(r) sum(log(nv_extract_diag(r))), axis = -1L)(root))

solve_by_group <- function(groups, root, b) {
  solved <- vectorize(function(r, b) {
    half <- nv_triangular_solve(r, nv_unsqueeze(b, 2L), lower = FALSE, transpose_a = TRUE)
    nv_squeeze(nv_triangular_solve(r, half, lower = FALSE), 2L)
  }, axis = -1L)(root, grouped(groups, b))
  from_groups(groups, solved)
}

# ---- the mode ------------------------------------------------------------------------------------

# As a function of the parameters and data, whose derivative is that of the implicit function.
mode_of <- function(joint, groups, effects) {
  slope <- function(u, par, given) gradient(joint, "u")(u, par, given)[[1L]]
  step <- function(u, par, given, towards, ridge = 0) {
    solve_by_group(groups, group_roots(group_blocks(groups, curvature_along(joint, u, par, given)), ridge), towards)
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

# Newton's method; where a step does not lead down, a multiple of the identity is added to the matrix (Levenberg). NaN
# where the steps do not become small.
newton_mode <- function(u, evaluate, step) {
  small <- sqrt(machine_precision(u))
  zero <- nv_scalar_like(u, 0)
  found <- nv_while(
    list(u = u, value = evaluate(u), ridge = zero, steps = 0L, done = FALSE), function(u, value, ridge, steps, done) !done & steps < newton_steps,
    function(u, value, ridge, steps, done) {
      by <- step(u, ridge)
      new <- u - by
      new_value <- evaluate(new)
      down <- new_value <= value + 1e-10 * (1 + abs(value))
      near <- nv_reduce_max(abs(by)) <= small * (1 + nv_reduce_max(abs(u)))
      list(
        u = nv_ifelse(down, new, u), value = nv_ifelse(down, new_value, value),
        ridge = nv_ifelse(down, nv_ifelse(ridge < 1e-4, 0, ridge / 10), nv_max(10 * ridge, 1e-3)), steps = steps + 1L, done = down & near
      )
    }
  )
  nv_ifelse(found$done, found$u, NaN)
}
