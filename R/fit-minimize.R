#' Minimise a function
#'
#' Finds parameters at which a function of tensors is least. The whole search is one compiled program: a loop whose steps
#' evaluate `f` and its derivatives.
#'
#' * `"L-BFGS"`, quasi-Newton steps from the last gradients, for any number of parameters;
#' * `"newton"`, steps with the Hessian matrix, made positive definite where need be;
#' * `"trust"`, conjugate gradients in a trust region, with products of the Hessian matrix and vectors only;
#' * `"gauss-newton"` and `"levenberg-marquardt"`, least squares: `f` returns residuals, and the sum of their squares is
#'   minimised with their first derivatives, with a line search or damped steps.
#'
#' The line search finds points of the strong Wolfe conditions. With bounds, steps are projected into the box.
#'
#' `f`, `start` and `...` are as for [as_objective()], whose result can stand in the place of `f`: then programs are
#' compiled once for several searches.
#'
#' @inheritParams as_objective
#' @param f A function of the parameters, and of data, that returns one float, or a vector of what each observation
#'   contributes, which is summed up; for least squares the residuals. Or an objective of [as_objective()], without `...`.
#' @param start Parameters to start from. By default those of the objective, whose names and lengths others must have.
#' @param method The method.
#' @param lower,upper Bounds: a number for all parameters; a vector, by the names of the flat vector or without names in its order; or
#'   a list like `start`, whose elements may be one number for all of a vector. Parameters whose names are not there have no bound.
#' @param control A list with some of, named as for [optim()]: `maxit`, the most steps (1000); `reltol` (1e-12; 1e-6 for `f32`):
#'   a step that reduces the value by less than `reltol * (abs(value) + reltol)` is the last; `pgtol` (1e-8; 1e-4): so is one
#'   after which no element of the projected gradient is larger, whatever the scale of `f` is; `abstol` (`-Inf`): and one to a
#'   value below; `lmm` (5), how many steps `"L-BFGS"` remembers; `fnscale` (1) and `parscale` (1, or numbers as for bounds): the
#'   search is for the minimum of
#'   `f(par) / fnscale` by `par / parscale`, so that with a negative `fnscale` it finds a maximum, and the other elements are about
#'   that; `trace`: with `TRUE` or a positive number the search prints where it is, at every `REPORT`-th (10) step and the last.
#' @param model A function of the parameters and of further arguments, for `predict()`: `model(par, ...)`.
#' @param nobs The number of observations, where `f` does not return a value for each.
#' @return A list of class `anvil_fit`: `par`, in the structure of `start`; `value`, that of `f`; `counts` of evaluations; `iterations`;
#'   `convergence`, 0, or as for [optim()] 1 where `maxit` was reached and 52 where a step failed or where there is no minimum, since
#'   the value is infinite or fell for as far as steps go; `message`; and what the
#'   [methods][anvil_fit] need.
#'
#'   Errors: of class `anvil_error_argument` for wrong arguments, and where the value or gradient at `start` is not finite.
#' @references Nocedal, J. and Wright, S. J. (2006). Numerical Optimization. Springer.
#'
#'   More, J. J. and Thuente, D. J. (1994). Line search algorithms with guaranteed sufficient decrease. ACM Transactions on
#'   Mathematical Software 20, 286-307.
#'
#'   Bertsekas, D. P. (1982). Projected Newton methods for optimization problems with simple constraints. SIAM Journal on Control
#'   and Optimization 20, 221-246.
#' @seealso [anvil_fit] for standard errors, intervals and predictions.
#' @export
#' @examples
#' rosenbrock <- function(p) 100 * (p[2] - p[1]^2)^2 + (1 - p[1])^2
#' nv_minimize(rosenbrock, c(-1.2, 1))
#' nv_minimize(rosenbrock, c(-1.2, 1), "newton", upper = c(0.5, 2))$par
#'
#' # least squares
#' decay <- function(par, time) par$a * exp(-par$rate * time)
#' fit <- nv_minimize(
#'   function(par, time, y) y - decay(par, time), list(a = 5, rate = 1), "levenberg-marquardt",
#'   time = 1:6, y = c(5.9, 3.4, 2.2, 1.2, 0.7, 0.5), model = decay
#' )
#' summary(fit)
#' predict(fit, time = 7:8)
nv_minimize <- function(f, start = NULL, method = c("L-BFGS", "newton", "trust", "gauss-newton", "levenberg-marquardt"), ...,
                        lower = -Inf, upper = Inf, control = list(), model = NULL, nobs = NULL, dtype = "f64") {
  check_full_names(sys.call(), c("f", "start", "method"))
  if (missing(method)) method <- "L-BFGS"
  check_choice(method, names(minimisers), "method")
  if (!is.null(model)) check_function(model)
  if (!is.null(nobs)) nobs <- check_whole_number(nobs, lower = 1L)
  problem <- problem_of(f, start, list(...), dtype)
  control <- control_of(control, problem, method)
  box <- box_of(problem, lower, upper)
  programs <- search_programs(problem, method, control$search)
  from <- start_of(problem, programs, box)
  bounds <- lapply(box, par_tensor, problem = problem)
  found <- programs$search(from$par, from$value, from$gradient, bounds, control$stop, control$scale)
  about <- list(model = model, nobs = nobs %||% if (from$count > 1) from$count, maximum = control$maximum)
  fit_of(problem, method, found, box, about)
}

minimisers <- list(
  `L-BFGS` = function(problem, lmm) lbfgs_step(problem, lmm),
  newton = function(problem, lmm) newton_step(problem, exact_curvature),
  trust = function(problem, lmm) trust_step(problem, steihaug_proposal, 1),
  `gauss-newton` = function(problem, lmm) newton_step(problem, squares_curvature),
  `levenberg-marquardt` = function(problem, lmm) trust_step(problem, marquardt_proposal, 1e3)
)
least_squares_methods <- c("gauss-newton", "levenberg-marquardt")

# Why a search ends, in the order in which reasons count: what is said, and the code.
search_ends <- list(
  unbounded = list("the value has no bound, as far as steps go", 52L),
  flat = list("the projected gradient is at most pgtol", 0L),
  enough = list("the value is below abstol", 0L),
  small = list("the relative reduction of the value is at most reltol", 0L),
  stuck = list("no step reduces the value", 52L),
  maxit = list("maxit steps were taken", 1L)
)

problem_of <- function(f, start, data, dtype) {
  if (!inherits(f, "anvil_objective")) {
    return(fitting_problem(f, start, data, dtype))
  }
  if (length(data)) abort_anvil("argument", "`...` must be empty where `f` is an objective: that has its data.")
  problem <- f$problem
  if (!is.null(start)) {
    par <- for_each_parameter(problem, map_tree(parameter_leaf, start), "start")
    problem$par <- replace(problem$par, TRUE, par)
  }
  problem
}

# NULL without bounds.
box_of <- function(problem, lower, upper) {
  box <- list(lower = for_each_parameter(problem, lower, "lower", -Inf), upper = for_each_parameter(problem, upper, "upper", Inf))
  if (any(crossed <- box$lower > box$upper)) {
    abort_anvil("argument", "`lower` must not exceed `upper`.", sprintf("x It does for `%s`.", names(problem$par)[which(crossed)[1L]]))
  }
  if (any(is.finite(unlist(box)))) box
}

# A number for each parameter, of a vector or a list like the parameters; what has names goes by them. other: what stands for
# parameters that are not there, and then one number stands for all of a vector. Without it all must be there.
for_each_parameter <- function(problem, x, name, other = NULL) {
  labels <- names(problem$par)
  values <- rep(NA_real_, length(labels))
  set <- function(x, places) {
    one_for_all <- !is.null(other) && is.numeric(places)
    at <- if (one_for_all && length(x) == 1L && is.null(names(x))) TRUE else matched(x, places, name, one_for_all)
    if (is.list(places)) {
      Map(set, x, places[at])
    } else if (length(x)) {
      if (!is_plain_numbers(x)) wrong_argument(name, "numbers, in a vector or a list like the parameters", x)
      values[places[at]] <<- as.double(x)
    }
  }
  in_list <- is_container(x)
  places <- if (in_list) problem_places(problem)
  if (in_list && !is.list(places)) x <- unlist(x)
  set(x, if (is.list(places)) places else stats::setNames(seq_along(labels), labels))
  absent <- is.na(values)
  if (is.null(other) && any(absent)) abort_anvil("argument", sprintf("`%s` lacks the parameter `%s`.", name, labels[absent][1L]))
  replace(values, absent, other)
}

is_plain_numbers <- function(x) !is.object(x) && is.numeric(x) && !anyNA(x)

# In the structure of the parameters: where they are in the vector.
problem_places <- function(problem) {
  part <- function(end, leaf) stats::setNames(end - length(leaf) + seq_along(leaf), names(leaf))
  unflatten(problem$tree, unname(Map(part, problem$ends, problem$leaves)))
}

# Which of `places` the elements of x are for: by names, or in their order. What is NULL is for none.
matched <- function(x, places, name, one_for_all) {
  if (is.null(x)) {
    return(integer())
  }
  if (is.null(names(x))) {
    if (length(x) != length(places)) {
      in_order <- cli::pluralize("{length(places)} number{?s} in the order of the parameters, or numbers with names")
      wrong_argument(name, paste0(if (one_for_all) "one number, or ", in_order), x)
    }
    return(seq_along(places))
  }
  at <- match(names(x), names(places))
  if (length(wrong <- names(x)[is.na(at) | duplicated(at)])) {
    known <- if (is.null(names(places))) "i These parameters have no names." else sprintf("i Here are %s.", listed_names(names(places)))
    abort_anvil("argument", sprintf("`%s` has no parameter for the name `%s`, or has it twice.", name, wrong[1L]), known)
  }
  at
}

listed_names <- function(names, most = 10L) {
  toString(c(sprintf("`%s`", utils::head(names, most)), if (length(names) > most) "..."))
}

# The compiled programs of a method: of the value at the start, and of the search.
search_programs <- function(problem, method, options) {
  squares <- method %in% least_squares_methods
  total <- if (squares) total_of_squares else total_of
  search <- function(f, par, value, gradient, box, control, scale) {
    scaled <- scaled_problem(f, list(par = par, value = value, gradient = gradient), if (length(box)) box, scale, squares)
    report <- if (options$trace) reporter(options$REPORT, scaled)
    found <- search_loop(minimisers[[method]](problem, options$lmm), scaled$f, total, scaled$from, scaled$box, control, report)
    found$from <- scaled$unscaled(found$from)
    found
  }
  start <- program_of(problem, paste("start of", if (squares) "squares" else "values"), {
    compiled(problem, function(f, par) value_at(f, total)(par), total = identity)
  })
  key <- paste(c(method, unlist(options)), collapse = " ")
  list(start = start, search = program_of(problem, key, compiled(problem, search, total = identity)))
}

value_at <- function(f, total) {
  function(par) {
    both <- value_and_gradient(function(par) list(total(out <- f(par)), nv_scalar(prod(shape(out)), "f64")), aux = TRUE)(par)
    list(value = both$value, gradient = both$grad[[1L]], count = both$aux)
  }
}

start_of <- function(problem, programs, box) {
  par <- problem$par
  if (!is.null(box)) par <- pmin(pmax(par, box$lower), box$upper)
  at <- programs$start(par)
  value <- as.double(at$value)
  wrong <- which(!is.finite(as.double(at$gradient)))
  if (!is.finite(value) || length(wrong)) {
    abort_anvil("argument", "`f` and its gradient must be finite at `start`.", c(
      sprintf("x The value is %s.", if (is.na(value)) "NaN" else format(value)),
      if (is.na(value) && length(problem$data$tensors)) "i Missing values among the data do this, too.",
      if (is.finite(value)) sprintf("x The derivative by `%s` is not finite.", names(par)[wrong[1L]])
    ))
  }
  list(par = par, value = at$value, gradient = at$gradient, count = as.double(at$count))
}

# --- the loop, in a trace ---------------------------------------------------------------------

# report: NULL, or a function (iterations, at, slope, status) that prints.
search_loop <- function(method, f, total, from, box, control, report = NULL) {
  evaluate <- function(par) value_at(f, total)(par)[c("value", "gradient")]
  status <- first_reason(list(flat = largest_slope(from, box) <= control$pgtol, maxit = control$maxit == 0L))
  if (!is.null(report)) report(nv_scalar(0L), from, largest_slope(from, box), status)
  body <- function(from, memory, iterations, evaluations, status) {
    to <- method$step(evaluate, f, from, memory, box)
    iterations <- iterations + 1L
    status <- status_after(from, to, iterations, box, control)
    if (!is.null(report)) report(iterations, to, largest_slope(to, box), status)
    list(
      from = to[c("par", "value", "gradient")], memory = to$memory, iterations = iterations,
      evaluations = evaluations + to$tries, status = status
    )
  }
  nv_while(
    list(from = from, memory = method$memory, iterations = 0L, evaluations = 1L, status = status),
    function(from, memory, iterations, evaluations, status) status == 0L, body
  )
}

largest_slope <- function(at, box) nv_reduce_max(nv_abs(projected_gradient(at$par, at$gradient, box)))

# 0 to go on, or which of the ends it is.
status_after <- function(from, to, iterations, box, control) {
  small <- to$decrease <= control$reltol * (nv_abs(from$value) + control$reltol)
  first_reason(list(
    unbounded = to$unbounded | !nv_is_finite(to$value), flat = largest_slope(to, box) <= control$pgtol,
    enough = to$value < control$abstol, small = small & !to$stuck, stuck = to$stuck, maxit = iterations >= control$maxit
  ))
}

first_reason <- function(reasons) {
  ends <- match(names(reasons), names(search_ends))
  Reduce(function(otherwise, k) nv_ifelse(reasons[[k]], ends[k], otherwise), rev(seq_along(reasons)), nv_scalar(0L))
}
