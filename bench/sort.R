# Sorting a million numbers: the package, base R's radix sort and std::sort, interleaved in one
# run; medians in milliseconds. Run in this folder after
#   R CMD SHLIB -o build/sort_peers.so sort_peers.cpp
suppressPackageStartupMessages(library(anvil))
source(file.path(dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))), "timing.R"))
invisible(dyn.load(file.path("build", "sort_peers.so")))
n <- 1e6
set.seed(1)
sorted <- jit(function(x) nv_sort(x))
ordered <- jit(function(x) nv_argsort(x))
measure <- function(x, dtype) {
  t <- nv_tensor(x, dtype = dtype)
  stopifnot(identical(as.vector(as_array(sorted(t))), sort(x)))
  stopifnot(identical(as.vector(as_array(ordered(t))), order(x)))
  functions <- list(
    anvil = function() sorted(t), r_radix = function() sort(x, method = "radix"),
    std_sort = function() .Call("peer_sort", x),
    anvil_order = function() ordered(t), r_order = function() order(x, method = "radix")
  )
  round(median_ms(functions, 15L), 1)
}
print(rbind(f64 = measure(rnorm(n), "f64"), i32 = measure(sample.int(1e9, n), "i32")))
