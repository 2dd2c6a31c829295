#' Samples from a posterior distribution
#'
#' Draws from the distribution whose density is known up to a factor, by the no-U-turn sampler or by Hamiltonian Monte Carlo. Warming
#' up, which learns the size of steps and the metric, and sampling are one compiled program, with the gradient of
#' the density in it; the chains run one after the other.
#'
#' `log_density` is called as `log_density(par, ...)` and traced once. `par` has the structure of `start`: a vector is a tensor of one
#' dimension, and in a list arrays keep their shapes, vectors have one dimension, and single numbers none. Parameters
#' range over all real numbers. Where one does not, it is a function of one that does, and the logarithm of the derivative
#' belongs to the density: a standard deviation `exp(par$log_sigma)` adds `par$log_sigma`.
#'
#' Data with a name such as `s` or `log`, which begins that of an argument, need `start = ` and `log_density = ` to be written out.
#'
#' `nv_nuts()` doubles a trajectory until its ends come closer to each other, and draws one of its points (the multinomial variant with
#' Betancourt's criterion). `nv_hmc()` goes for a given time, or number of steps, in units in which
#' the metric is the identity, and accepts the end or does not. Steps adapt by dual averaging to the acceptance
#' `target`, the metric is estimated in windows that double in length, as in Stan (75 draws, then 25, 50, 100 and so on, and at the
#' end 50; shares of these below 150 draws; no metric below 20).
#'
#' The draws that a call returned can stand in the place of `log_density`: then the program runs again, for another `seed`, `start` or
#' data of the same shapes, without being compiled again. What is not given is as before, the settings among it; other settings
#' make another program.
#'
#' @param log_density A function of the parameters, and of data, that returns the logarithm of the density, one float; or
#'   what a call returned.
#' @param start Where chains start: a numeric vector or array, a float tensor, or a nested list of them, for all chains. Where
#'   a type ([nv_aten()]) stands for one, each chain starts at random numbers between -2 and 2. Or a function that
#'   returns all this, of the number of the chain.
#' @param ... Data, further arguments of `log_density`: vectors (doubles become tensors of `dtype`), arrays, tensors, and lists of
#'   them; a data frame is the list of its columns. Single numbers, strings and functions are known when the density is traced.
#' @param chains,draws,warmup How many chains, draws to keep of each, and draws to warm up with before.
#' @param thin Of so many draws the last one is kept.
#' @param seed A whole number from which all random numbers follow; `NULL` for R's own generator, that is, [set.seed()].
#' @param metric `"diagonal"`, or `"dense"` for parameters that are correlated, at the cost of a product with a matrix each step.
#' @param target The acceptance to adapt to, between 0 and 1: larger ones make smaller steps.
#' @param step_size The size of steps, where it shall not be learnt.
#' @param max_depth The largest number of doublings of a trajectory, from 1 to 20.
#' @param time How long a trajectory is. It has at most 1000 steps, while warming up 32.
#' @param steps The number of steps, in the place of `time`.
#' @param jitter By which share the size of steps varies at random, from 0 to less than 1.
#' @param dtype `"f64"` or `"f32"`: that of parameters, data and what `log_density` makes.
#' @return An array of class `anvil_draws`, iterations x chains x elements of the parameters, see [anvil_draws].
#'
#'   Warnings, where sampling went wrong: of class `anvil_warning_divergent` where the energy of trajectories was off by
#'   more than 1000, and `anvil_warning_long` where trajectories were cut.
#'
#'   Errors: of class `anvil_error_argument` for wrong arguments, and where the density is not finite where a chain starts; of
#'   class `anvil_error_gradient` where `log_density` does not return one float.
#' @references Hoffman, M. D. and Gelman, A. (2014). The no-U-turn sampler. Journal of Machine Learning Research 15,
#'   1593-1623.
#'
#'   Betancourt, M. (2017). A conceptual introduction to Hamiltonian Monte Carlo. arXiv:1701.02434.
#'
#'   Phan, D., Pradhan, N. and Jankowiak, M. (2019). Composable effects for flexible and accelerated probabilistic programming in
#'   NumPyro. arXiv:1912.11554: the loop in the place of the recursion.
#' @export
#' @examples
#' # eight schools: effects of coaching, and their standard errors
#' log_density <- function(par, y, se) {
#'   tau <- exp(par$log_tau)
#'   theta <- par$mu + tau * par$eta
#'   sum(nv_dnorm(y, theta, se, log = TRUE)) + sum(nv_dnorm(par$eta, log = TRUE)) +
#'     nv_dnorm(par$mu, 0, 5, log = TRUE) + nv_dcauchy(tau, 0, 5, log = TRUE) + par$log_tau
#' }
#' scalar <- nv_aten("f64", integer())
#' draws <- nv_nuts(
#'   log_density, start = list(mu = scalar, log_tau = scalar, eta = nv_aten("f64", 8)), seed = 1,
#'   y = c(28, 8, -3, 7, -1, 1, 18, 12), se = c(15, 10, 16, 11, 9, 11, 10, 18)
#' )
#' draws
#' mean(exp(draws[, , "log_tau"]))
#'
#' nv_hmc(function(x) -sum(x^2) / 2, c(0, 0), draws = 500, seed = 1)
nv_nuts <- function(log_density, start = NULL, ..., chains = 4L, draws = 1000L, warmup = 1000L, thin = 1L, seed = NULL, metric = "diagonal",
                    target = 0.8, step_size = NULL, max_depth = 10L, dtype = "f64") {
  max_depth <- check_whole_number(max_depth, lower = 1L)
  if (max_depth > 20L) wrong_argument("max_depth", "a whole number from 1 to 20", max_depth)
  sample_posterior(log_density, start, list(...), seed, list(
    method = "nuts", chains = chains, draws = draws, warmup = warmup, thin = thin, metric = metric, target = target,
    step_size = step_size, dtype = dtype, max_depth = max_depth
  ), names(match.call()))
}

#' @rdname nv_nuts
#' @export
nv_hmc <- function(log_density, start = NULL, ..., chains = 4L, draws = 1000L, warmup = 1000L, thin = 1L, seed = NULL, metric = "diagonal",
                   target = 0.8, step_size = NULL, time = pi / 2, steps = NULL, jitter = 0.2, dtype = "f64") {
  if (!is.null(steps)) steps <- check_whole_number(steps, lower = 1L)
  if (check_number(time) <= 0) wrong_argument("time", "a positive number", time)
  if (check_number(jitter) < 0 || jitter >= 1) wrong_argument("jitter", "a number of at least 0 and less than 1", jitter)
  sample_posterior(log_density, start, list(...), seed, list(
    method = "hmc", chains = chains, draws = draws, warmup = warmup, thin = thin, metric = metric, target = target,
    step_size = step_size, dtype = dtype, time = time, steps = steps, jitter = jitter
  ), names(match.call()))
}

# The program of earlier draws, or of a density; what earlier draws were made of takes the place of what is not among the
# names `given`.
sample_posterior <- function(log_density, start, data, seed, settings, given) {
  check_full_names(sys.call(-1L), c("log_density", "start"))
  again <- inherits(log_density, "anvil_draws")
  if (!again) check_taken(check_function(log_density), data, "There is an argument", "`log_density` does not take")
  before <- if (again) attr(log_density, "program") else list(run = chains_program(log_density))
  settings <- check_settings(settings_as_before(settings, before$settings, given))
  program <- list(run = before$run, start = start %||% before$start, data = if (length(data)) data else before$data, settings = settings)
  made <- chain_starts(program$start, settings)
  settings$layout <- made$layout
  data <- data_of(program$data, settings$dtype)
  settings$data <- data[c("tree", "leaves", "is_data")]
  states <- nv_rng_split(if (is.null(seed)) state_of_r() else nv_rng_state(seed), settings$chains)
  states <- do.call(nv_concatenate, c(lapply(states, nv_unsqueeze, 1L), dimension = 1L))
  begun <- proc.time()[["elapsed"]]
  found <- map_tree(as_array, program$run(states, nv_tensor(made$starts, settings$dtype), data$tensors, settings))
  check_started(found, is.nan(made$starts))
  made_draws(found, settings, proc.time()[["elapsed"]] - begun, program)
}

settings_as_before <- function(settings, before, given) {
  if ("time" %in% given) given <- c(given, "steps")
  kept <- setdiff(intersect(names(settings), names(before)), c("method", given))
  replace(settings, kept, before[kept])
}

check_settings <- function(s) {
  for (name in c("chains", "draws", "thin")) s[[name]] <- check_whole_number(s[[name]], name, lower = 1L)
  s$warmup <- check_whole_number(s$warmup, "warmup", lower = 0L)
  if (s$warmup + as.double(s$draws) * s$thin > 2^30) {
    wrong_argument("draws", "a number such that there are at most 2^30 iterations", s$draws)
  }
  check_choice(s$metric, names(metrics), "metric")
  if (check_number(s$target, "target") <= 0 || s$target >= 1) wrong_argument("target", "a number between 0 and 1", s$target)
  if (!is.null(s$step_size) && check_number(s$step_size, "step_size") <= 0) wrong_argument("step_size", "a positive number", s$step_size)
  s$dtype <- as.character(as_dtype_argument(s$dtype, "dtype"))
  if (!(s$dtype %in% c("f32", "f64"))) wrong_argument("dtype", "\"f32\" or \"f64\"", s$dtype)
  s
}

check_started <- function(found, random) {
  failed <- which(!found$finite)
  if (length(failed)) {
    none <- "i Of 100 random starts between -2 and 2 none was better: give `start` numbers."
    abort_anvil("argument", sprintf("The density is not finite where chain %d starts.", failed[1L]), c(
      "x Its logarithm or a derivative is NaN or infinite.", if (any(random[failed[1L], ])) none else "i Choose another `start`."
    ))
  }
}

# ---- the program -------------------------------------------------------------------------

statistics <- c("value", "accept", "steps", "divergent", "energy")

# Compiled for a density: what runs all chains, of their random states and starts, the tensors among the data, and settings. The
# chains run one after the other: vectorized, each would wait for the longest trajectory of all at every draw.
chains_program <- function(log_density) {
  jit(function(states, starts, tensors, settings) {
    local_default_dtypes(float = settings$dtype)
    model <- density_model(log_density, tensors, settings)
    one <- function(chain) run_chain(model, settings, chain$state, chain$start)
    nv_map(list(state = states, start = starts), one)
  }, static = "settings")
}

density_model <- function(log_density, tensors, settings) {
  data <- data_with(settings$data, tensors)
  density <- function(q) one_float(do.call(log_density, c(list(structured_tensors(settings$layout, q)), data), quote = TRUE))
  both <- value_and_gradient(density)
  model <- settings[c("dtype", "target", "step_size", "max_depth", "time", "steps", "jitter")]
  model$size <- settings$layout$size
  model$metric <- metrics[[settings$metric]]
  model$evaluate <- function(q) {
    found <- both(q)
    list(q = q, value = nv_convert(found$value, settings$dtype), slope = found$grad$q)
  }
  model
}

one_float <- function(x) {
  if (!is_value(x) || ndims(x) != 0L || !is_float_dtype(dtype(x))) {
    abort_anvil("gradient", "`log_density` must return one float.", c(
      sprintf("x Got %s.", if (is_value(x)) type_text(x) else describe_value(x)), hint_of_constant(x), "i `sum()` adds up what observations contribute."
    ))
  }
  x
}

# One chain: all iterations in one loop. Each draw is written over the last one until it is time for the next column.
run_chain <- function(model, settings, state, start) {
  phases <- warmup_phases(settings$warmup, settings$draws * settings$thin)
  phase_at <- nv_tensor(phases, "i32")
  draw <- if (settings$method == "nuts") nuts_draw else hmc_draw
  begin <- first_point(model, state, start)
  found <- nv_while(
    list(
      i = 1L, state = begin$state, point = begin$point, learnt = nothing_learnt(model),
      draws = nv_fill(0, c(model$size + length(statistics), settings$draws), dtype = settings$dtype)
    ),
    function(i, ...) i <= length(phases),
    function(i, state, point, learnt, draws) {
      phase <- element_at(phase_at, i)
      begun <- nv_if(
        learnt$fresh, function() first_pace(model, learnt$metric, learnt$pace$log_size, state, point),
        function() list(pace = learnt$pace, state = state)
      )
      learnt$pace <- begun$pace
      learnt$fresh <- nv_scalar(FALSE)
      size <- exp(nv_ifelse(phase == 0L, learnt$pace$log_mean, learnt$pace$log_size))
      drawn <- draw(model, learnt$metric, size, begun$state, point, phase > 0L)
      q <- drawn$point$q
      learnt <- nv_if(phase > 0L, function() learn_from(model, learnt, phase, q, drawn$stats$accept), function() learnt)
      column <- nv_div(nv_max(i - settings$warmup - 1L, 0L), settings$thin) + 1L
      list(i = i + 1L, state = drawn$state, point = drawn$point, learnt = learnt, draws = with_draw(draws, q, drawn$stats, column))
    }
  )
  list(
    draws = found$draws, start = begin$point$q, finite = begin$finite,
    step_size = exp(found$learnt$pace$log_mean), inverse = found$learnt$metric$inverse
  )
}

with_draw <- function(draws, q, stats, column) {
  numbers <- lapply(stats[statistics], function(x) nv_reshape(nv_convert(x, dtype(q)), 1L))
  new <- do.call(nv_concatenate, c(list(q), unname(numbers), dimension = 1L))
  record("dynamic_update_slice", list(draws, nv_unsqueeze(new, 2L), 1L, column))
}

# Where a chain starts: NaN stands for numbers uniform on (-2, 2), drawn again until the density is finite.
first_point <- function(model, state, start, tries = 100L) {
  zero <- nv_fill(0, model$size, dtype = model$dtype)
  nowhere <- list(q = zero, value = nv_scalar(-Inf, model$dtype), slope = zero)
  any_random <- nv_reduce_any(nv_is_nan(start), dims = 1L)
  found <- nv_while(
    list(point = nowhere, state = state, finite = FALSE, n = 0L),
    function(point, state, finite, n) !finite & n < nv_ifelse(any_random, tries, 1L),
    function(point, state, finite, n) {
      u <- nv_runif(model$size, state, dtype = model$dtype, min = -2, max = 2)
      point <- model$evaluate(nv_ifelse(nv_is_nan(start), u[[2L]], start))
      finite <- nv_is_finite(point$value) & nv_reduce_all(nv_is_finite(point$slope), dims = 1L)
      list(point = point, state = u[[1L]], finite = finite, n = n + 1L)
    }
  )
  found[c("point", "state", "finite")]
}

