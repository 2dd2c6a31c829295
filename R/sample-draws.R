#' Draws from a posterior distribution
#'
#' What [nv_nuts()] and [nv_hmc()] return: an array, iterations x chains x variables, the elements of the parameters: `mu`,
#' `beta[1]`, `Sigma[1,2]`. It prints a summary. `posterior::as_draws()` takes it, and so do the functions of that package
#' that begin by it, such as `posterior::summarise_draws()`.
#'
#' `summary()` gives the mean, standard deviation and quantiles of each variable, and how far they can be trusted, as Vehtari and
#' others (2021) define it: `rhat`, of split chains and ranks, is above 1.01 where chains have not come to the same
#' distribution; `ess_bulk` and `ess_tail` are the numbers of independent draws that would be as good, for the middle and for the 5 %
#' and 95 % quantiles (by Geyer's initial monotone sequences of autocorrelations).
#'
#' @param x,object Draws.
#' @param probs Probabilities of the quantiles.
#' @param row.names,optional Ignored.
#' @param ... For `print()`, arguments of the method for data frames. Else ignored.
#' @return `summary()`: a data frame with a row for each variable. `as.data.frame()`: one with a row for each draw and columns `.chain`,
#'   `.iteration` and the variables. `as.array()`: the array alone.
#'
#'   Attributes of draws: `method`; `step_size` of each chain; `metric`, the inverse mass matrices, a list of vectors or matrices;
#'   `seconds` (with compiling); and `statistics`, a list of matrices iterations x chains: `value`, the logarithm of the density, `accept`,
#'   the acceptance, `steps` of the trajectory, `divergent`, and `energy`.
#' @references Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. and Buerkner, P.-C. (2021). Rank-normalization, folding, and
#'   localization: an improved R-hat for assessing convergence of MCMC. Bayesian Analysis 16, 667-718.
#' @name anvil_draws
#' @examples
#' x <- nv_nuts(function(x) -sum(x^2) / 2, c(a = 0, b = 0), draws = 200, warmup = 200, seed = 1)
#' summary(x)
#' head(as.data.frame(x), 2)
#' colSums(attr(x, "statistics")$divergent)
NULL

# found: what the program gave, chains x rows x iterations.
made_draws <- function(found, settings, seconds, program) {
  names <- settings$layout$names
  size <- length(names)
  all <- aperm(found$draws, c(3L, 1L, 2L))
  statistic <- function(k) matrix(all[, , size + k], dim(all)[1L])
  stats <- stats::setNames(lapply(seq_along(statistics), statistic), statistics)
  stats$divergent <- stats$divergent == 1
  x <- structure(
    all[, , seq_len(size), drop = FALSE],
    dimnames = list(iteration = NULL, chain = NULL, variable = names), class = "anvil_draws", method = settings$method,
    step_size = as.vector(found$step_size), metric = lapply(seq_len(settings$chains), function(i) drop_first(found$inverse, i)),
    seconds = seconds, statistics = stats, program = program
  )
  warn_of_draws(stats, settings)
  x
}

drop_first <- function(x, i) if (length(dim(x)) == 3L) array(x[i, , ], dim(x)[-1L]) else x[i, ]

warn_of_draws <- function(stats, settings) {
  of_all <- function(n) sprintf("%d of %d draws", sum(n), length(n))
  say <- function(kind, ...) rlang::warn(c(...), class = c(paste0("anvil_warning_", kind), "anvil_warning"), call = user_call())
  if (any(stats$divergent)) {
    say("divergent", paste(of_all(stats$divergent), "ended a divergent trajectory."),
      x = "Where the density bends most it was not explored, and what is estimated may be biased.",
      i = "Take a `target` nearer to 1, such as 0.95, or other parameters: independent standard normal ones that are scaled."
    )
  }
  longest <- if (settings$method == "nuts") 2^settings$max_depth - 1 else if (is.null(settings$steps)) most_steps else Inf
  cut <- stats$steps >= longest
  if (any(cut)) {
    say("long", cli::pluralize("The trajectories of {of_all(cut)} were cut after {longest} step{?s}."),
      x = "Draws are right, but more of them depend on each other.",
      i = paste0(
        "Scale parameters alike, or take `metric = \"dense\"`, a longer `warmup`, or a ",
        if (settings$method == "nuts") "larger `max_depth`." else "shorter `time`."
      )
    )
  }
}

#' @rdname anvil_draws
#' @export
summary.anvil_draws <- function(object, probs = c(0.05, 0.5, 0.95), ...) {
  if (is.object(probs) || !is.numeric(probs) || anyNA(probs) || any(probs < 0 | probs > 1)) wrong_argument("probs", "probabilities", probs)
  x <- as.array(object)
  of_variable <- function(k) {
    draws <- matrix(x[, , k], dim(x)[1L])
    quantiles <- stats::setNames(stats::quantile(draws, probs, names = FALSE), sprintf("q%.15g", 100 * probs))
    c(mean = mean(draws), sd = stats::sd(draws), quantiles, rhat = rhat(draws), ess_bulk = ess_bulk(draws), ess_tail = ess_tail(draws))
  }
  table <- t(vapply(seq_len(dim(x)[3L]), of_variable, numeric(5L + length(probs))))
  data.frame(variable = dimnames(x)[[3L]], table, check.names = FALSE)
}

#' @rdname anvil_draws
#' @export
print.anvil_draws <- function(x, ...) {
  cli::cat_line(format(x))
  table <- summary(x)
  table[grepl("^ess", names(table))] <- lapply(table[grepl("^ess", names(table))], round)
  print(table, ..., digits = 3L, row.names = FALSE)
  invisible(x)
}

#' @export
format.anvil_draws <- function(x, ...) {
  stats <- attr(x, "statistics")
  sizes <- dim(x)
  cli::pluralize(
    "<{c(nuts = 'NUTS', hmc = 'HMC')[[attr(x, 'method')]]}: {sizes[2L]} chain{?s} of {sizes[1L]} draw{?s}, ",
    "{sum(stats$divergent)} divergent, acceptance {sprintf('%.2f', mean(stats$accept))}, {sprintf('%.1f', mean(stats$steps))} steps>"
  )
}

#' @rdname anvil_draws
#' @export
as.array.anvil_draws <- function(x, ...) array(as.vector(unclass(x)), dim(x), dimnames(x))

#' @rdname anvil_draws
#' @export
as.data.frame.anvil_draws <- function(x, row.names = NULL, optional = FALSE, ...) {
  sizes <- dim(x)
  values <- matrix(as.array(x), ncol = sizes[3L], dimnames = list(NULL, dimnames(x)[[3L]]))
  chain <- rep(seq_len(sizes[2L]), each = sizes[1L])
  data.frame(.chain = chain, .iteration = rep(seq_len(sizes[1L]), sizes[2L]), values, check.names = FALSE)
}

# As package posterior makes them of arrays.
#' @exportS3Method posterior::as_draws
as_draws.anvil_draws <- function(x, ...) {
  names <- c(lapply(dim(x)[1:2], function(n) as.character(seq_len(n))), dimnames(x)[3L])
  structure(as.array(x), dimnames = stats::setNames(names, names(dimnames(x))), class = c("draws_array", "draws", "array"))
}
#' @exportS3Method posterior::as_draws_array
as_draws_array.anvil_draws <- function(x, ...) as_draws.anvil_draws(x)
