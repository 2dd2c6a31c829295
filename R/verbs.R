# How each function of R is served for tensors: one table, which the help page shows, and from which errors
# say what to write instead. `how` is "method": a method of a generic function; "mask": a function of the same
# name, attached with the package (masks.R); "instead": there is a function of the package by another name, or
# another way, and R's own is an error on tensors, or takes the data out of them, which is one in a trace.

verb_rows <- function() {
  rows <- function(how, ...) {
    given <- matrix(c(...), 3L)
    data.frame(verbs = given[1L, ], how = how, instead = given[2L, ], note = given[3L, ])
  }
  table <- rbind(
    rows("method",
      "+ - * / ^ %% %/%", "nv_add", "See [nv_arithmetic].",
      "== != < <= > >=", "nv_eq", "See [nv_compare].",
      "& | !", "nv_logic", "Of dtype `bool`.",
      "%*% crossprod tcrossprod", "nv_matmul", "",
      "[ [<-", "nv_subset", "See there for the differences.",
      "abs sqrt exp log log1p sin cos tanh floor round lgamma", "nv_math", "And all else of the group Math but `gamma` and `signif`.",
      "cumsum cumprod cummax cummin", "nv_cumsum", "",
      "sum prod max min any all mean", "nv_reduce_sum", "Also take `dims` and `drop`. With an R value first: masks.",
      "range", "nv_reduce_min", "",
      "median quantile", "nv_quantile", "Type 7. Of all elements, or of `dims`.",
      "scale", "nv_sweep", "Of matrices; the result has no attributes.",
      "t aperm rev dim<-", "nv_transpose", "",
      "rbind cbind", "nv_rbind", "",
      "head tail", "nv_subset", "The first or last along the first dimensions.",
      "rep", "nv_broadcast_to", "",
      "diff", "nv_sub", "Of a matrix, along the rows.",
      "sort", "nv_sort", "NaN is kept, as the largest element.",
      "rowsum", "nv_rowsum", "Groups in a tensor want `n`.",
      "solve det determinant", "nv_solve", "",
      "chol qr", "nv_chol", "`qr()` gives a list of `Q` and `R`.",
      "dim length is.matrix is.array is.numeric", "shape", "",
      "is.na is.nan is.finite is.infinite anyNA", "nv_is_nan", "NaN is what there is of `NA`.",
      "all.equal str print format summary", "", "`summary()` of known data.",
      "as.double as.integer as.logical as.vector as.matrix as.data.frame", "as_array", "R data of known values."
    ),
    rows("mask",
      "c", "nv_concatenate", "Where a tensor is not the first argument.",
      "sum prod max min range any all", "nv_reduce_sum", "Where a tensor is not the first argument.",
      "pmin pmax", "nv_min", "",
      "rowSums colSums rowMeans colMeans", "nv_row_sums", "",
      "sweep", "nv_sweep", "",
      "marginSums margin.table proportions prop.table", "nv_reduce_sum", "",
      "which.max which.min", "nv_argmax", "Of all elements, counted as in R. NaN does not count where there is a number.",
      "order", "nv_order", "Of all elements.",
      "rank", "nv_rank", "`na.last` is `TRUE` or `\"keep\"`.",
      "tabulate", "nv_tabulate", "In a trace, `nbins` must be given.",
      "weighted.mean", "nv_mean", "",
      "%in%", "nv_in", "",
      "var sd cov cor", "nv_cov", "Of Pearson; without observations that have NaN by `na.rm` or `use = \"complete.obs\"`.",
      "outer %o%", "nv_outer", "",
      "toeplitz", "nv_outer", "",
      "kronecker %x%", "nv_kronecker", "",
      "diag diag<-", "nv_diag", "",
      "drop", "nv_squeeze", "",
      "nrow ncol", "shape", "`NULL` for what has one dimension, as for vectors of R.",
      "ifelse", "nv_ifelse", "A single `test` takes all of `yes` or `no`.",
      "isTRUE isFALSE stopifnot", "nv_if", "Of known values: in a trace they are errors, as `if` is.",
      "is.logical", "dtype", "Whether the dtype is `bool`.",
      "identical", "", "In a trace, of types; an error where it depends on values.",
      "sprintf", "nv_print", "Of known values.",
      "atan2", "nv_atan2", "",
      "psigamma", "nv_polygamma", "",
      "besselI besselJ besselK besselY", "nv_bessel_k", "`nu` is a number.",
      "det", "nv_det", "",
      "solve", "nv_solve", "Where `b` is a tensor and `a` is not.",
      "svd", "nv_svd", "",
      "norm", "nv_norm", "",
      "findInterval", "nv_searchsorted", "",
      "eigen", "nv_eigh", "With `symmetric = TRUE`.",
      "chol2inv", "nv_chol2inv", "",
      "backsolve forwardsolve", "nv_triangular_solve", "",
      "qr.Q qr.R qr.X qr.coef qr.fitted qr.resid qr.qy qr.qty qr.solve", "nv_qr_solve", "Signs may differ from R's.",
      "convolve", "nv_convolve", "",
      paste(names(distribution_verbs()), collapse = " "), "", "`nv_dnorm()` and so on. Without `ncp`."
    ),
    rows("instead",
      "apply sapply vapply lapply mapply Map", "nv_map", "Or [vectorize()]; `sum(x, dims = 1)` and the like need no loop.",
      "unique duplicated rle factor", "", "How many there are depends on data. `nv_sort()` brings equal ones together.",
      "which", "", "How many there are depends on data. A mask is an index in assignments, and `nv_ifelse()` takes it.",
      "na.omit", "", "How many there are depends on data. `sum(x, na.rm = TRUE)`, `median()`, `var()` and their like leave NaN out.",
      "split", "nv_rowsum", "Sums of groups; or parts, with `[`.",
      "tapply", "nv_rowsum", "Sums of groups.",
      "table", "nv_tabulate", "Counts of the numbers 1, 2, ...",
      "xtfrm sort.list", "nv_order", "",
      "signif", "nv_round", "`round(x * 100) / 100` rounds to two digits.",
      "gamma factorial", "nv_lgamma", "`exp(lgamma(x))` is the absolute value.",
      "beta lbeta", "nv_lgamma", "`lbeta(a, b)` is `lgamma(a) + lgamma(b) - lgamma(a + b)`.",
      "choose lchoose", "nv_lgamma", "`lchoose(n, k)` is `lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)`.",
      "cospi sinpi tanpi", "nv_cos", "`cos(pi * x)`.",
      "fft", "nv_convolve", "",
      paste(grep("^r", refused_distributions(), value = TRUE), collapse = " "), "", "`nv_rnorm()` and so on: in a trace they take a state, [nv_rng_state()].",
      paste(grep("^r", refused_distributions(), value = TRUE, invert = TRUE), collapse = " "), "", "There is `nv_dhyper()`; the others want known data: `as_array()`.",
      "array matrix", "nv_reshape", "",
      "seq_len seq rep_len", "nv_seq", "",
      "mad IQR fivenum", "nv_quantile", "",
      "lm lm.fit glm", "nv_qr_solve", "",
      "dist", "nv_cdist", "",
      "mahalanobis", "nv_matmul", "",
      "approx", "nv_interp", "",
      "spline splinefun cut", "", "They want known data: `as_array()`.",
      "match", "nv_in", "`x %in% table`; places in what is sorted are those of `findInterval()`.",
      "cat nchar switch for", "", "They want known data: `cat(as_array(x))`."
    )
  )
  parts <- strsplit(table$verbs, " ", fixed = TRUE)
  data.frame(verb = unlist(parts), table[rep(seq_along(parts), lengths(parts)), -1L], row = rep(seq_along(parts), lengths(parts)), row.names = NULL)
}

# What to write instead of a function of R, as bullets of an error; none where it is not in the table.
verb_hint <- function(verb) {
  table <- verb_rows()
  row <- table[table$verb == verb & table$how != "method", ][1L, ]
  if (is.na(row$verb)) {
    return(character())
  }
  instead <- if (exists(paste0("nv_", verb), topenv(), mode = "function")) paste0("nv_", verb) else row$instead
  c(
    if (nzchar(instead)) sprintf("i Use `%s()`.", instead),
    if (row$how == "instead" && nzchar(row$note)) paste("i", gsub("\\[([a-z_]+\\(\\))\\]", "`\\1`", row$note)),
    if (row$how == "mask") sprintf("i Where anvil is attached, `%s()` itself takes tensors.", verb)
  )
}

# The function of R that asks for data, if it is one of these, and what to write instead.
hint_of_calls <- function() {
  verb <- outer_verb()
  if (is.null(verb)) {
    c(
      "x R asked for them while the function was being traced.",
      "i For `as.numeric()` and the like there is `nv_convert()`, for `as.vector()` and `as.matrix()` `nv_reshape()`."
    )
  } else {
    c(sprintf("x `%s()` of R wants them.", verb), verb_hint(verb))
  }
}

# The outermost function of R that the user called and that the table knows, or NULL. One that only waits for the value
# of its argument has not asked for data: what counts is who called, not who stands below on the stack.
outer_verb <- function() {
  home <- function(i) environmentName(topenv(environment(sys.function(i))))
  verb <- NULL
  i <- sys.nframe() - 1L
  while (i > 0L && home(i) %in% c("anvil", "base", "stats", "utils")) {
    called <- get0(".Generic", sys.frame(i), inherits = FALSE) %||% sys.call(i)[[1L]] # of a method: what found it
    if (is.name(called)) called <- as.character(called)
    if (is.character(called) && home(i) != "anvil" && length(verb_hint(called))) verb <- called
    i <- calling_frame(i)
  }
  verb
}

# The table as sections of the help page.
verb_sections <- function() {
  table <- verb_rows()
  titles <- c(method = "Work on tensors", mask = "Work where anvil is attached", instead = "Want known values, or have another name")
  unlist(lapply(names(titles), function(how) {
    rows <- split(table[table$how == how, ], table$row[table$how == how])
    lines <- vapply(rows, function(row) {
      instead <- row$instead[1L]
      link <- if (!nzchar(instead)) "" else if (instead %in% c("nv_logic", "nv_math")) sprintf("[%s]", instead) else sprintf("[%s()]", instead)
      sprintf("| %s | %s | %s |", paste0("`", gsub("|", "\\|", row$verb, fixed = TRUE), "`", collapse = ", "), link, row$note[1L])
    }, "")
    c(sprintf("@section %s:", titles[[how]]), "", "| R | see | |", "|---|---|---|", lines, "")
  }))
}
