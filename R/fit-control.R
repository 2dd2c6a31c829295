# What `control` of nv_minimize() says: when a search stops, how the problem is scaled, and what is printed on the way.

control_of <- function(control, problem, method) {
  given <- with_usual(control, usual_control(problem$dtype))
  for (name in c("reltol", "pgtol", "fnscale")) check_number(given[[name]], paste0("control$", name))
  if (!identical(given$abstol, -Inf)) check_number(given$abstol, "control$abstol")
  least <- c(maxit = 0L, lmm = 1L, REPORT = 1L)
  whole <- Map(function(name, least) check_whole_number(given[[name]], paste0("control$", name), least), names(least), least)
  trace <- if (is.logical(given$trace)) check_flag(given$trace, "control$trace") else check_whole_number(given$trace, "control$trace", 0L) > 0L
  tests <- lapply(given[c("reltol", "pgtol", "abstol")], nv_scalar, dtype = problem$dtype)
  list(
    search = list(lmm = whole$lmm, trace = trace, REPORT = if (trace) whole$REPORT), stop = c(list(maxit = nv_scalar(whole$maxit)), tests),
    scale = problem_scale(given$fnscale, given$parscale, problem, method), maximum = given$fnscale < 0
  )
}

usual_control <- function(dtype) {
  narrow <- dtype == "f32"
  list(
    maxit = 1000L, reltol = if (narrow) 1e-6 else 1e-12, pgtol = if (narrow) 1e-4 else 1e-8, abstol = -Inf, lmm = 5L,
    fnscale = 1, parscale = 1, trace = 0L, REPORT = 10L
  )
}

with_usual <- function(control, usual) {
  if (!is_container(control) || (length(control) && is.null(names(control)))) wrong_argument("control", "a list with names", control)
  if (length(unknown <- setdiff(names(control), names(usual)))) {
    # as nlminb(), nlm() and optim() with other methods have them
    here <- c(iter.max = "maxit", iterlim = "maxit", rel.tol = "reltol", factr = "reltol", abs.tol = "abstol", gradtol = "pgtol", scale = "parscale")
    known <- paste0("`", names(usual), "`", collapse = ", ")
    abort_anvil("argument", sprintf("`control` has no element `%s`.", unknown[1L]), c(
      if (unknown[1L] %in% names(here)) sprintf("i What comes nearest is `%s`.", here[[unknown[1L]]]), sprintf("i It takes %s.", known)
    ))
  }
  replace(usual, names(control), control)
}

# NULL where nothing is scaled.
problem_scale <- function(fnscale, parscale, problem, method) {
  if (fnscale == 0) wrong_argument("control$fnscale", "a number other than 0", fnscale)
  if (fnscale < 0 && method %in% least_squares_methods) {
    abort_anvil("argument", "`control$fnscale` must be positive for least squares.", "x A sum of squares has no maximum.")
  }
  parscale <- for_each_parameter(problem, parscale, "control$parscale", 1)
  if (any(!is.finite(parscale) | parscale <= 0)) wrong_argument("control$parscale", "a positive number, or one for each parameter", parscale)
  if (fnscale == 1 && all(parscale == 1)) {
    return(NULL)
  }
  list(value = nv_scalar(fnscale, problem$dtype), par = par_tensor(problem, parscale))
}

# --- in the trace ------------------------------------------------------------------------------

# What a search sees of a problem: f(par) / fnscale as a function of par / parscale.
scaled_problem <- function(f, from, box, scale, squares) {
  if (!length(scale)) {
    return(list(f = f, from = from, box = box, unscaled = function(at) at))
  }
  narrow <- lapply(box, function(bound) bound / scale$par)
  # in the box, and at a bound where that is, whatever rounding makes of a product
  unscaled_par <- function(par) {
    wide <- par * scale$par
    if (is.null(box)) {
      return(wide)
    }
    exact <- nv_ifelse(par <= narrow$lower, box$lower, nv_ifelse(par >= narrow$upper, box$upper, into_box(wide, box)))
    wide + nv_stop_gradient(exact - wide)
  }
  of_results <- if (squares) nv_sqrt(scale$value) else scale$value
  list(
    f = function(par) f(unscaled_par(par)) / of_results,
    from = list(par = from$par / scale$par, value = from$value / scale$value, gradient = from$gradient * scale$par / scale$value),
    box = if (!is.null(box)) narrow,
    unscaled = function(at) list(par = unscaled_par(at$par), value = at$value * scale$value)
  )
}

# Prints every so many steps, and the last one.
reporter <- function(every, scaled) {
  function(iterations, at, slope, status) {
    line <- function() nv_print(iterations, scaled$unscaled(at)$value, slope, format = "step %d: value %.8g, largest slope %.2g")
    nv_if(iterations %% every == 0L | status != 0L, line(), iterations)
  }
}
