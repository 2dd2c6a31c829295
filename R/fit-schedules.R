#' Learning rates that change
#'
#' Rates for [optimisers][nv_sgd] as functions of the number of steps taken before, from 0 on.
#'
#' * `nv_lr_constant()` always gives `lr`;
#' * `nv_lr_step()` multiplies it by `factor` after every `every` steps;
#' * `nv_lr_exponential()` multiplies it by `factor` after each step;
#' * `nv_lr_cosine()` falls from `lr` to `least` along half a wave in `steps` steps, and stays there;
#' * `nv_lr_warmup()` rises in `steps` steps to where another schedule begins, and goes on with that.
#'
#' @param lr The rate at first, a number.
#' @param every,steps Numbers of steps.
#' @param factor What the rate is multiplied by.
#' @param least The rate at the end.
#' @param schedule A schedule, or a number for a constant one.
#' @return A function of a number of steps: of a whole-number scalar in a program, then it gives an `f64` scalar, or of R's
#'   numbers, then it gives numbers.
#' @name nv_lr
#' @examples
#' rate <- nv_lr_warmup(nv_lr_cosine(0.1, steps = 100), steps = 5)
#' round(rate(c(0:6, 50, 200)), 4)
NULL

#' @rdname nv_lr
#' @export
nv_lr_constant <- function(lr) {
  check_positive(lr)
  schedule_of(function(step) lr + 0 * step)
}

#' @rdname nv_lr
#' @export
nv_lr_step <- function(lr, every, factor = 0.1) {
  check_positive(lr)
  check_positive(factor)
  check_whole_number(every, lower = 1L)
  schedule_of(function(step) lr * nv_pow(factor, nv_floor(step / every)))
}

#' @rdname nv_lr
#' @export
nv_lr_exponential <- function(lr, factor) {
  check_positive(lr)
  check_positive(factor)
  schedule_of(function(step) lr * nv_pow(factor, step))
}

#' @rdname nv_lr
#' @export
nv_lr_cosine <- function(lr, steps, least = 0) {
  check_positive(lr)
  check_positive(least, zero = TRUE)
  check_whole_number(steps, lower = 1L)
  schedule_of(function(step) least + (lr - least) * (1 + nv_cos(pi * nv_min(step, steps) / steps)) / 2)
}

#' @rdname nv_lr
#' @export
nv_lr_warmup <- function(schedule, steps) {
  schedule <- as_schedule(schedule, "schedule")
  check_whole_number(steps, lower = 1L)
  schedule_of(function(step) nv_min((step + 1) / steps, 1) * schedule(nv_max(step - steps, 0)))
}

# rate: a function of an f64 tensor.
schedule_of <- function(rate) {
  function(step) {
    if (is_value(step)) {
      return(rate(nv_convert(step, "f64")))
    }
    if (!is_whole(step) || any(step < 0)) wrong_argument("step", "numbers of steps, from 0 on", step)
    as.double(rate(nv_tensor(as.double(step), "f64")))
  }
}

as_schedule <- function(lr, name) {
  if (is.function(lr)) {
    return(lr)
  }
  nv_lr_constant(check_positive(lr, name, "a positive number, or a schedule"))
}

check_positive <- function(x, name = rlang::caller_arg(x), what = "a positive number", zero = FALSE) {
  if (is.object(x) || !is.numeric(x) || length(x) != 1L || !is.finite(x) || x < 0 || (x == 0 && !zero)) {
    wrong_argument(name, if (zero) "a number of at least 0" else what, x)
  }
  x
}
