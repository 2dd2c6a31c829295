# Likelihoods of series whose terms come from a recurrence of a few numbers, as loops over 20,000 steps: the recurrence
# alone is left in the loop (src/transform/step_calls.cpp), what a gradient records lies in arrays (src/transform/tapes.cpp),
# and what a step reads of a vector that it fills is carried (src/transform/last_writes.cpp). Milliseconds, one thread,
# beside R's own loop.
#
#   Rscript bench/recurrences.R
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
anvil_threads(1L)
set.seed(1)
n <- 20000L
y <- rnorm(n)
y_tensor <- nv_tensor(y, "f64")

# next_state and term: functions of the parameters, the state before, the observation and, for the term, the next state
series <- function(next_state, term, start) {
  list(
    r = function(p) {
      h <- start
      total <- 0
      for (x in y) {
        after <- next_state(p, h, x)
        total <- total + term(p, h, x, after)
        h <- after
      }
      total
    },
    "nv_while()" = function(p) {
      nv_while(
        list(i = nv_scalar(1L), h = nv_scalar(start, "f64"), total = nv_scalar(0, "f64")),
        function(i, h, total) i <= n,
        function(i, h, total) {
          x <- y_tensor[i]
          after <- next_state(p, h, x)
          list(i = i + 1L, h = after, total = total + term(p, h, x, after))
        }
      )$total
    },
    "nv_scan()" = function(p) {
      step <- function(h, x) {
        after <- next_state(p, h, x)
        list(carry = after, out = term(p, h, x, after))
      }
      sum(nv_scan(nv_scalar(start, "f64"), y_tensor, step)$out)
    },
    "h[i] <-" = function(p) {
      states <- nv_fori(1L, n, nv_fill(start, n + 1L, "f64"), function(i, h) {
        h[i + 1L] <- next_state(p, h[i], y_tensor[i])
        h
      })
      before <- states[1:n]
      sum(term(p, before, y_tensor, states[2:(n + 1L)]))
    }
  )
}
models <- list(
  "volatility (GARCH)" = series(
    function(p, h, x) exp(p[1]) + 0.1 * x * x + 0.8 * p[2] * h,
    function(p, h, x, after) -0.5 * log(after) - 0.5 * x * x / after,
    1
  ),
  "mean (AR with log scale)" = series(
    function(p, h, x) x,
    function(p, h, x, after) -p[2] - 0.5 * ((x - p[1] * h) / exp(p[2]))^2,
    0
  ),
  "counts (log-linear)" = series(
    function(p, h, x) 0.1 * p[1] + 0.3 * p[2] * h + 0.1 * x,
    function(p, h, x, after) x * after - exp(after),
    0
  )
)
p <- c(-2.3, 0.9)
p_tensor <- nv_tensor(p, "f64")
for (model in names(models)) {
  f <- models[[model]]
  by_r <- least_ms(function() f$r(p), 3L)
  for (loop in names(f)[-1L]) {
    value <- jit(f[[loop]])
    slope <- jit(gradient(f[[loop]]))
    stopifnot(all.equal(as_array(value(p_tensor)), f$r(p), tolerance = 1e-9))
    cat(sprintf(
      "%-26s %-11s %6.3f ms, its gradient %6.3f; R's loop %6.1f\n", model, loop,
      least_ms(function() value(p_tensor), 40L), least_ms(function() slope(p_tensor), 40L), by_r
    ))
  }
}
