#' Where the time of a compiled function goes
#'
#' Runs a jitted function with these arguments for a while, each nest of its program timed, and says which R calls each nest
#' comes from and how fast it is compared with what the machine can do. For this, a variant of the program is compiled that
#' reads the clock before and after each nest; what `f` itself has compiled stays as it is.
#'
#' What a nest is, and how its operations and bytes are counted, is said at [jit_report()]. Nests in the bodies of loops
#' ([nv_while()], [nv_scan()]) are summed up over all steps. A reading of the clock takes some ten nanoseconds, which are
#' subtracted; a loop of nothing but numbers is timed as a whole.
#'
#' What the machine can do is measured once in a session, by small compiled programs: multiplications and additions of one
#' core, in `f32` and in `f64`, on numbers in registers, and bytes a second from and to memory.
#'
#' @param f What [jit()] returned.
#' @param ... The arguments of `f`, as in a call of it. What is in `donate` is not given away.
#' @param seconds For how long to run `f`, at least: a number from 0 to 3600. Before that it runs once untimed, and what `f`
#'   prints is printed each time.
#' @param x What `anvil_profile()` returned.
#' @param type `"time"`: a bar for each nest; `"roofline"`: each nest by its operations for each byte and by its speed, below
#'   the lines that say what memory and the core allow.
#' @return A data frame of class `anvil_profile` with a row for each nest and a last one for the rest of the time: `nest`,
#'   `from` (R calls), `what`, `steps`, `schedule`, `runs`, `seconds` (in total), `share` of the total, `gflops` and `gbytes` (10^9
#'   operations and bytes a second), and `of_peak`: what that is of the machine's speed of computing or of that of its
#'   memory, the larger one; where more bytes move than memory can give, they come from a cache, and it is that of computing. Attributes: `runs` of `f`, `seconds` in total, and `peak`, the rates of the machine (operations a second
#'   on `f32`, on `f64`, bytes a second).
#'
#'   Errors: of class `anvil_error_argument` if `f` is not a jitted function, or the arguments are not what it takes, and of class
#'   `anvil_error_llvm` without LLVM.
#' @seealso [jit_report()] for what compiling took.
#' @family compilation
#' @export
#' @examples
#' f <- jit(function(x, w) sum(tanh(x %*% w)))
#' x <- nv_tensor(matrix(runif(1e4), 100), dtype = "f32")
#' p <- anvil_profile(f, x, x, seconds = 0.1)
#' p
#' plot(p)
#' plot(p, type = "roofline")
anvil_profile <- function(f, ..., seconds = 1) {
  cache <- jit_cache(f)
  check_number(seconds)
  if (seconds < 0 || seconds > 3600) wrong_argument("seconds", "a number from 0 to 3600", seconds)
  profile <- .Call(C_anvil_profile, cache, arguments_of(f, list(...)), seconds)
  profile_table(profile, machine_peak())
}

# Operations a second on f32 and f64, and bytes a second; measured once.
measured <- new.env(parent = emptyenv())
machine_peak <- function() {
  if (is.null(measured$peak)) {
    measured$peak <- stats::setNames(.Call(C_anvil_peak), c("f32", "f64", "bytes"))
  }
  measured$peak
}

profile_table <- function(profile, peak) {
  columns <- profile$nests
  table <- nest_table(columns)
  time <- profile$seconds
  rate <- function(amount) ifelse(time > 0, amount * profile$runs / time, NA_real_)
  computing <- rate(columns$flops / peak[["f32"]] + columns$wide_flops / peak[["f64"]])
  moving <- rate(columns$bytes / peak[["bytes"]])
  gflops <- rate(table$flops) / 1e9
  gbytes <- rate(table$bytes) / 1e9
  table <- cbind(table[c("nest", "from", "what", "steps", "schedule")],
    runs = profile$runs, seconds = time, share = time / profile$total, gflops = gflops, gbytes = gbytes,
    of_peak = ifelse(moving <= 1, pmax(computing, moving), computing)
  )
  rest <- max(0, profile$total - sum(time))
  table[nrow(table) + 1L, ] <- list(
    NA, "", "rest", "", "", profile$times, rest, rest / profile$total, NA, NA, NA
  )
  structure(table, runs = profile$times, seconds = profile$total, peak = peak, class = c("anvil_profile", "data.frame"))
}

# `rows`: how many nests to show, those that take most time.
#' @export
format.anvil_profile <- function(x, rows = 20L, ...) {
  peak <- attr(x, "peak")
  runs <- attr(x, "runs")
  y <- as.data.frame(x)[utils::head(order(-x$share), rows), ]
  number <- function(x) ifelse(is.na(x), "", sprintf("%.3g", x))
  columns <- list(
    nest = ifelse(is.na(y$nest), "", y$nest), time = vapply(y$seconds / runs, format_seconds, ""),
    share = sprintf("%.1f %%", 100 * y$share), ` ` = strrep("#", round(10 * y$share)), runs = number(y$runs / runs),
    `GFlop/s` = number(y$gflops), `GB/s` = number(y$gbytes),
    `of peak` = ifelse(is.na(y$of_peak), "", sprintf("%.0f %%", 100 * y$of_peak)), what = described_nest(y)
  )
  if (all(x$runs == runs)) columns$runs <- NULL
  c(
    sprintf("%s a run, of %.0f", format_seconds(attr(x, "seconds") / runs), runs),
    sprintf(
      "the machine: %.3g GFlop/s on f32, %.3g on f64; %.3g GB/s", peak[["f32"]] / 1e9, peak[["f64"]] / 1e9, peak[["bytes"]] / 1e9
    ),
    "",
    nest_lines(columns, setdiff(names(columns), c(" ", "what")), y$from),
    if (nrow(x) > rows) sprintf("... and %d more", nrow(x) - rows)
  )
}

#' @export
print.anvil_profile <- function(x, ...) {
  if (is.null(attr(x, "peak"))) {
    return(NextMethod()) # some rows of one
  }
  cli::cat_line(format(x, ...))
  invisible(x)
}

#' @rdname anvil_profile
#' @export
plot.anvil_profile <- function(x, type = c("time", "roofline"), ...) {
  type <- if (missing(type)) "time" else check_choice(type, eval(formals()$type))
  if (type == "time") plot_times(x, ...) else plot_roofline(x, ...)
  invisible(x)
}

plot_times <- function(x, ...) {
  shown <- rev(utils::head(order(-x$share), 15L))
  labels <- ifelse(is.na(x$nest), "rest", paste0(x$nest, ": ", ifelse(nzchar(x$from), x$from, x$what)))[shown]
  labels <- cut_short(labels, 40L)
  old <- graphics::par(mar = c(4, 1 + 0.5 * max(nchar(labels)), 2, 1))
  on.exit(graphics::par(old))
  percent <- 100 * x$share[shown]
  graphics::barplot(percent,
    names.arg = labels, horiz = TRUE, las = 1, border = NA, col = "#3366aa", xlim = range(pretty(c(0, percent))), xlab = "% of the time", ...
  )
}

plot_roofline <- function(x, ...) {
  peak <- attr(x, "peak") / 1e9
  known <- which(!is.na(x$gflops) & x$gflops > 0 & x$gbytes > 0)
  intensity <- x$gflops[known] / x$gbytes[known]
  across <- range(c(intensity, peak[["f64"]] / peak[["bytes"]], peak[["f32"]] / peak[["bytes"]])) * c(1 / 4, 4)
  up <- c(min(x$gflops[known], peak[["bytes"]] * across[1L]) / 2, 2 * max(peak[["f32"]], x$gflops[known]))
  graphics::plot(intensity, x$gflops[known],
    log = "xy", xlim = across, ylim = up, pch = 19, cex = 1 + 3 * sqrt(x$share[known]), col = "#3366aa80",
    xlab = "operations for each byte", ylab = "GFlop/s", las = 1, ...
  )
  at <- exp(seq(log(across[1L]), log(across[2L]), length.out = 200L))
  for (type in c("f32", "f64")) {
    graphics::lines(at, pmin(peak[[type]], peak[["bytes"]] * at), lty = if (type == "f32") 1 else 2)
    graphics::text(across[2L], peak[[type]], type, adj = c(1, -0.4))
  }
  if (length(known)) graphics::text(intensity, x$gflops[known], x$nest[known], pos = 4)
}
