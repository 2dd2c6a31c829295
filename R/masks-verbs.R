# Which functions of R have masks (masks.R), and what each does with tensors.

tensor_verbs <- function() {
  reductions <- lapply(c(sum = "sum", prod = "prod", max = "max", min = "min", range = "range", any = "any", all = "all"), function(name) {
    force(name)
    masked(function(..., na.rm = FALSE) reduce_generic(name, list(...), na.rm), at = NULL)
  })
  qr_verbs <- list(
    qr.Q = masked(function(qr, complete = FALSE) if (check_flag(complete)) complete_q(qr) else qr$Q, is = "qr"),
    qr.R = masked(function(qr, complete = FALSE) {
      only(complete, FALSE, "qr.R")
      qr$R
    }, is = "qr"),
    qr.X = masked(function(qr, complete = FALSE) {
      only(complete, FALSE, "qr.X")
      nv_matmul(qr$Q, qr$R)
    }, is = "qr"),
    qr.coef = masked(function(qr, y) nv_qr_solve(tensor_qr(qr), y), at = c("qr", "y"), is = "qr"),
    qr.fitted = masked(function(qr, y) fitted_by(tensor_qr(qr), y), at = c("qr", "y"), is = "qr"),
    qr.resid = masked(function(qr, y) nv_sub(as_vector(y), fitted_by(tensor_qr(qr), y)), at = c("qr", "y"), is = "qr"),
    qr.qy = masked(function(qr, y) times_vector(nv_matmul, complete_q(tensor_qr(qr)), y), at = c("qr", "y"), is = "qr"),
    qr.qty = masked(function(qr, y) times_vector(nv_crossprod, complete_q(tensor_qr(qr)), y), at = c("qr", "y"), is = "qr"),
    qr.solve = masked(function(a, b) if (missing(b)) nv_inv(a) else nv_qr_solve(a, b), at = c("a", "b"))
  )
  extremes <- list(pmin = masked(by_places(nv_min), at = NULL), pmax = masked(by_places(nv_max), at = NULL))
  c(refused_verbs(), reductions, extremes, qr_verbs, statistical_verbs(), distribution_verbs(), matrix_verbs(), truth_verbs(), list(
    c = masked(function(...) c.AnvilValue(...), at = NULL),
    drop = masked(function(x) nv_squeeze(x)),
    ifelse = masked(function(test, yes, no) nv_ifelse(as_vector(test), yes, no), also = quote(
      # what R's would not look at must not be looked at
      is.logical(test) && (any(test, na.rm = TRUE) && is.object(yes) && is_value(yes) || !all(test, na.rm = TRUE) && is.object(no) && is_value(no))
    )),
    `%in%` = masked(function(x, table) if (length(dim(x)) > 1L) nv_flatten(nv_in(x, table)) else nv_in(x, table), at = c("x", "table")),
    atan2 = masked(function(y, x) nv_atan2(y, x), at = c("y", "x")),
    psigamma = masked(function(x, deriv = 0L) nv_polygamma(deriv, x)),
    besselI = masked(function(x, nu, expon.scaled = FALSE) nv_bessel_i(x, nu, expon.scaled)),
    besselJ = masked(function(x, nu) nv_bessel_j(x, nu)),
    besselK = masked(function(x, nu, expon.scaled = FALSE) nv_bessel_k(x, nu, expon.scaled)),
    besselY = masked(function(x, nu) nv_bessel_y(x, nu))
  ))
}

# Which would fail without a word of what to do.
refused_verbs <- function() {
  any_of <- c("which", "fft", "beta", "lbeta", "choose", "lchoose", "match", refused_distributions())
  first_of <- c("rle", "cut", "nchar", "factor", "tapply", "factorial")
  sapply(c(any_of, first_of), function(name) {
    verb <- eval(bquote(function() unsupported(.(name), verb_hint(.(name)))))
    formals(verb) <- formals(args(function_of_r(name)))
    at <- setdiff(names(formals(verb)), "...")
    masked(verb, at = if (name %in% first_of) at[1L] else at)
  }, simplify = FALSE)
}

refused_distributions <- function() {
  of <- function(letters, families) c(outer(letters, families, paste0))
  c(of("r", setdiff(families_of_r, "hyper")), "rmultinom", of(c("p", "q"), c("hyper", "tukey")), of(c("d", "p", "q"), c("wilcox", "signrank")))
}

# dnorm() and kin. A parameter may be a tensor as well as a value.
families_of_r <- c(
  "norm", "lnorm", "t", "gamma", "chisq", "f", "exp", "weibull", "logis", "beta", "cauchy", "unif", "binom", "nbinom", "pois", "geom", "hyper"
)
distribution_verbs <- function() {
  verbs <- c(outer(c("d", "p", "q"), setdiff(families_of_r, "hyper"), paste0), "dhyper", "dmultinom")
  sapply(verbs, function(name) {
    masked(as.name(paste0("nv_", name)), at = setdiff(names(formals(function_of_r(name))), c("log", "log.p", "lower.tail")))
  }, simplify = FALSE)
}

by_places <- function(f) {
  force(f)
  function(..., na.rm = FALSE) {
    pair <- function(a, b) {
      both <- f(a, b)
      if (na.rm && is_float_code(type_tag(both)[1L])) nv_ifelse(nv_is_nan(a), b, nv_ifelse(nv_is_nan(b), a, both)) else both
    }
    Reduce(if (check_flag(na.rm)) pair else f, list(...))
  }
}

statistical_verbs <- function() {
  # of numbers: a NaN takes no part, also where all numbers are as large as what takes its place
  extreme_place <- function(place, extreme, least) {
    function(x) {
      x <- as_line(x)
      if (is_float_code(type_tag(x)[1L])) nv_argmax(x == extreme(without_nan(x, least, TRUE))) else place(x)
    }
  }
  list(
    rowSums = masked(nv_row_sums, is = c("AnvilValue", "AnvilSparse")), colSums = masked(nv_col_sums, is = c("AnvilValue", "AnvilSparse")), rowMeans = masked(nv_row_means), colMeans = masked(nv_col_means),
    sweep = masked(function(x, MARGIN, STATS, FUN = "-", ...) nv_sweep(x, MARGIN, STATS, FUN, ...), at = c("x", "STATS")),
    marginSums = masked(margin_sums), margin.table = masked(margin_sums), proportions = masked(margin_shares), prop.table = masked(margin_shares),
    which.max = masked(extreme_place(nv_argmax, nv_reduce_max, -Inf)), which.min = masked(extreme_place(nv_argmin, nv_reduce_min, Inf)),
    order = masked(function(..., na.last = TRUE, decreasing = FALSE) {
      only(na.last, TRUE, "order")
      do.call(nv_order, c(lapply(list(...), function(x) as_line(as_vector(x, "..."))), list(decreasing = decreasing)))
    }, at = NULL),
    rank = masked(function(x, na.last = formals(rank)$na.last, ties.method = "average") {
      one_of(na.last, list(TRUE, "keep"), "rank")
      nv_rank(as_line(x), ties.method[1L], nan_last = isTRUE(na.last))
    }),
    tabulate = masked(function(bin, nbins = NULL) nv_tabulate(if (is_float_code(type_tag(bin)[1L])) nv_convert(nv_ifelse(nv_is_finite(bin), bin, 0), "i32") else bin, nbins)),
    weighted.mean = masked(function(x, w, ...) weighted_mean(x, w, ...), at = c("x", "w")),
    findInterval = masked(nv_searchsorted, at = c("x", "vec")),
    var = masked(function(x, y = NULL, na.rm = FALSE, use) {
      if (!missing(use)) only(use, "everything", "var")
      if (is.null(y) && rank_of(x) < 2L) nv_var(x, na.rm = na.rm) else covariance("var", nv_cov, x, y, if (na.rm) "na.or.complete" else "everything")
    }, at = c("x", "y")),
    sd = masked(function(x, na.rm = FALSE) nv_sd(x, na.rm = na.rm)),
    cov = masked(function(x, y = NULL, use = "everything", method = "pearson") covariance("cov", nv_cov, x, y, use, method), at = c("x", "y")),
    cor = masked(function(x, y = NULL, use = "everything", method = "pearson") covariance("cor", nv_cor, x, y, use, method), at = c("x", "y"))
  )
}

margin_sums <- function(x, margin = NULL) {
  if (is.null(margin)) {
    return(nv_reduce_sum(x))
  }
  rank <- rank_of(x)
  margin <- check_dims(margin, rank, of = "x")
  sums <- if (length(margin) < rank) nv_reduce_sum(x, setdiff(seq_len(rank), margin)) else x
  nv_transpose(sums, order(order(margin)))
}

margin_shares <- function(x, margin = NULL) {
  x <- as_float(x)
  if (is.null(margin)) nv_div(x, nv_reduce_sum(x)) else nv_sweep(x, margin, margin_sums(x, margin), nv_div)
}

weighted_mean <- function(x, w, ..., na.rm = FALSE) {
  no_others("weighted.mean", c("w", "na.rm"), ...)
  if (missing(w)) {
    return(mean(x, na.rm = na.rm))
  }
  x <- as_float(as_vector(x))
  w <- as_float(as_vector(w))
  if (check_flag(na.rm)) w <- nv_ifelse(nv_is_nan(x), 0, w)
  nv_div(nv_reduce_sum(nv_mul(without_nan(x, 0, na.rm), w)), nv_reduce_sum(w))
}

covariance <- function(verb, f, x, y, use, method = "pearson") {
  one_of(use, list("everything", "complete.obs", "na.or.complete"), verb)
  only(method, "pearson", verb)
  f(x, y, na.rm = use != "everything")
}

matrix_verbs <- function() {
  triangular <- function(a, x, k, lower, transpose) {
    x <- at_least_vector(x)
    a <- at_least_vector(a)
    a <- first_square(a, k, "k")
    if (rank_of(a) > 1L) x <- first_rows(x, utils::tail(sizes_of(a), 1L), max(1L, rank_of(x) - 1L))
    nv_triangular_solve(a, x, lower = lower, transpose_a = transpose)
  }
  list(
    outer = masked(function(X, Y, FUN = "*", ...) nv_outer(X, Y, FUN, ...), at = c("X", "Y")),
    `%o%` = masked(function(X, Y) nv_outer(X, Y), at = c("X", "Y")),
    toeplitz = masked(function(x) toeplitz_of(x)),
    kronecker = masked(function(X, Y, FUN = "*", ...) nv_kronecker(X, Y, FUN, ...), at = c("X", "Y")),
    `%x%` = masked(function(X, Y) nv_kronecker(X, Y), at = c("X", "Y")),
    diag = masked(diagonal_of, is = c("AnvilValue", "AnvilSparse")),
    `diag<-` = masked(function(x, value) nv_set_diag(x, value), at = c("x", "value")),
    det = masked(function(x) nv_det(x)),
    solve = masked(function(a, b, ...) solve_by(a, b, ...), at = "b"),
    nrow = masked(function(x) if (rank_of(x) > 1L) sizes_of(x)[1L]),
    ncol = masked(function(x) if (rank_of(x) > 1L) sizes_of(x)[2L]),
    svd = masked(svd_tensor),
    norm = masked(nv_norm),
    eigen = masked(function(x, symmetric, only.values = FALSE) eigen_tensor(x, !missing(symmetric) && symmetric, only.values)),
    chol2inv = masked(function(x, size = NULL) nv_chol2inv(first_square(x, size, "size"))),
    backsolve = masked(function(r, x, k = NULL, upper.tri = TRUE, transpose = FALSE) triangular(r, x, k, !upper.tri, transpose), at = c("r", "x")),
    forwardsolve = masked(function(l, x, k = NULL, upper.tri = FALSE, transpose = FALSE) triangular(l, x, k, !upper.tri, transpose), at = c("l", "x")),
    convolve = masked(function(x, y, conj = TRUE, type = "circular") {
      only(conj, TRUE, "convolve")
      nv_convolve(x, y, match.arg(type[1L], c("circular", "open", "filter")))
    }, at = c("x", "y"))
  )
}

# The first n along these dimensions.
first_rows <- function(x, n, dims) {
  s <- index_specs(sizes_of(x), list(), NULL, NULL)
  for (d in dims) s <- set_spec(s, d, index_by_range(seq_len(n), sizes_of(x)[d]))
  take_part(x, s)
}

# The first n rows and columns of matrices, by default as many as there are columns.
first_square <- function(x, n, name) {
  rank <- rank_of(x)
  if (rank < 2L) {
    return(x)
  }
  sizes <- sizes_of(x)[rank - 1:0]
  first_rows(x, check_whole_number(n %||% sizes[2L], name, 0L, min(sizes)), rank - 1:0)
}

diagonal_of <- function(x, nrow, ncol) {
  rank <- if (is_sparse(x)) 2L else rank_of(x)
  if (rank > 1L) {
    if (!missing(nrow) || !missing(ncol)) abort_anvil("argument", "`diag()` of a matrix takes no `nrow` or `ncol`.")
    return(nv_extract_diag(x))
  }
  if (missing(nrow) && missing(ncol)) {
    if (rank == 0L) abort_anvil("argument", "The size of a matrix must be known when it is made.", "i Say `nrow`: `diag(x, 3)`; the identity matrix is `nv_eye(3)`.")
    return(nv_diag(x))
  }
  n <- check_whole_number(if (missing(nrow)) sizes_of(x) else nrow, "nrow", 0L)
  m <- check_whole_number(if (missing(ncol)) n else ncol, "ncol", 0L)
  zeros <- nv_fill(0L, c(n, m), dtype(x))
  nv_set_diag(if (type_tag(x)[1L] == 0L) nv_ne(zeros, zeros) else zeros, x)
}

# Each element stands where the distance from the diagonal is its place.
toeplitz_of <- function(x) {
  n <- sizes_of(x <- at_least_vector(x))
  if (length(n) != 1L) abort_anvil("shape", "`x` must be a vector, the first column of the matrix.", sprintf("x Got shape %s.", shape2string(n)))
  nv_reshape(x[array(c(stats::toeplitz(seq_len(n))))], c(n, n))
}

fitted_by <- function(qr, y) times_vector(nv_matmul, qr$Q, nv_crossprod_columns(qr$Q, as_vector(y)))

times_vector <- function(product, x, y) {
  y <- as_vector(y)
  keep_vector(product(x, y), y)
}

# What R's qr() gave for an R matrix goes with a tensor, too.
tensor_qr <- function(qr) if (is_qr(qr)) qr else nv_qr(as_float(qr.X(qr)))

# With columns for what the others leave of the space: reflections find them, whatever they reflect.
complete_q <- function(qr) {
  sizes <- sizes_of(qr$Q)
  if (sizes[1L] == sizes[2L]) {
    return(qr$Q)
  }
  all <- nv_qr(nv_cbind(qr$Q, nv_eye(sizes[1L], dtype(qr$Q))))$Q
  nv_cbind(qr$Q, nv_static_slice(all, c(1L, sizes[2L] + 1L), c(sizes[1L], sizes[1L])))
}

# An argument of R's function that has one meaning for tensors.
only <- function(x, value, verb, name = rlang::caller_arg(x)) {
  if (!identical(x, value) && !(is.character(value) && is.character(x) && x[1L] == value)) {
    abort_anvil("argument", sprintf("`%s()` of tensors takes only `%s = %s`.", verb, name, deparse(value)), got_value(x))
  }
}

# One that has a few.
one_of <- function(x, values, verb, name = rlang::caller_arg(x)) {
  if (!any(vapply(values, identical, NA, x))) {
    choices <- vapply(values, deparse, "")
    choices[1L] <- paste(name, "=", choices[1L])
    choices <- sprintf("`%s`", choices)
    last <- length(choices)
    abort_anvil("argument", sprintf("`%s()` of tensors takes %s or %s.", verb, paste(choices[-last], collapse = ", "), choices[last]), got_value(x))
  }
}
