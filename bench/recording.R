# What it takes to record one operation in a trace, in microseconds, beside what R takes for a call of a closure and for an
# operator with a method.  Rscript bench/recording.R [CALLS]
suppressMessages(library(anvil))
calls <- as.integer(c(commandArgs(TRUE), "20000")[1L])
options(anvil.unrolled_calls = Inf)

least_of_seven <- function(run) {
  once <- function() {
    gc(FALSE)
    system.time(run())[["elapsed"]]
  }
  min(replicate(7, once())) / calls * 1e6
}
recorded <- function(operation) {
  program <- eval(bquote(function(x) {
    for (i in seq_len(calls)) .(operation)
    x
  }))
  least_of_seven(function() trace_fn(program, list(x = nv_aten("f32", 8))))
}
closure <- function(lhs, rhs) NULL
`+.bench_number` <- function(e1, e2) NULL
number <- structure(1, class = "bench_number")

times <- c(
  `a closure of R` = recorded(quote(closure(x, x))),
  `an operator with a method` = least_of_seven(function() for (i in seq_len(calls)) number + number),
  `nvl_add(x, x)` = recorded(quote(nvl_add(x, x))),
  `nv_add(x, x)` = recorded(quote(nv_add(x, x))),
  `x + x` = recorded(quote(x + x)),
  `x + 1` = recorded(quote(x + 1)),
  `nv_sin(x)` = recorded(quote(nv_sin(x))),
  `sin(x)` = recorded(quote(sin(x)))
)
cat(sprintf("%-28s %5.2f us\n", names(times), times), sep = "")
