# Functions of R that are not generic, for tensors: where the package is attached, a function of the same name and formals
# stands before R's, sees whether it is meant, and otherwise calls what the session would call without the package, now:
# whatever was attached before or after. They live in the attached environment only, so that the code of packages, this
# one's as well, keeps R's own; packages call the `nv_*` functions that are named in the table (verbs.R).

# They are made when the package is installed (verb_masks and shared_masks, zzz.R).

.onAttach <- function(libname, pkgname) {
  attached <- as.environment(paste0("package:", pkgname))
  assign(".conflicts.OK", TRUE, envir = attached) # what is masked does what it did: library() need not list it
  assign(".attached", attached, envir = mask_home)
  masks <- c(verb_masks$masks, shared_masks)
  for (name in names(masks)) assign(name, masks[[name]], envir = attached)
}

# What masks see: base, as near as R's own functions do, and of the package what `load_masks()` puts here; what is attached
# is `.attached`, before that nothing that stands before the session.
mask_home <- new.env(parent = .BaseNamespaceEnv)
mask_home$.attached <- new.env(parent = globalenv())

# verb: the function of tensors, or the name of one of the package's, with those of the formals that it takes. at: which arguments may be tensors;
# NULL: any in `...`. is: what a tensor is there. also: when else it is meant. A list of `mask` alone holds the mask itself.
masked <- function(verb, at = names(formals(own_function(verb)))[1L], is = "AnvilValue", also = NULL) {
  list(verb = verb, at = at, is = is, also = also)
}

own_function <- function(f) if (is.name(f)) get(as.character(f), topenv(), mode = "function") else f

mask <- function(name, spec) {
  mask <- spec$mask %||% mask_of_verb(name, spec)
  environment(mask) <- if (is.function(spec$verb)) list2env(list(.verb = spec$verb), parent = mask_home) else mask_home
  attr(mask, "srcref") <- NULL
  compiler::cmpfun(mask) # which neither the installation nor R's own compiler does for functions in a list
}

mask_of_verb <- function(name, spec) {
  symbol <- as.name(name)
  base <- function_of_r(name)
  formals <- formals(args(base))
  asked <- asked_arguments(base)
  verb <- own_function(spec$verb)
  taken <- intersect(names(formals), names(formals(verb)))
  may_be_missing <- setdiff(optional_arguments(base), names(formals)[1L])
  # R's defaults are for R data; what R may do without, the other function has a default for
  calls <- names(formals)[vapply(formals, is.call, NA)]
  has_default <- setdiff(may_be_missing, required_arguments(verb))
  ours <- mask_calls(if (is.name(spec$verb)) spec$verb else quote(.verb), taken, intersect(c(asked, calls, has_default), c(taken, NA)))
  behind <- mask_calls(symbol, names(formals), asked)
  own <- body_without_others(base)
  unknown <- setdiff(names(formals), c(names(formals(verb)), names(formals)[1L], "...", without_meaning))
  refusals <- lapply(unknown, function(x) bquote(if (!missing(.(as.name(x)))) refuse_argument(.(name), .(x))))
  mask <- function() NULL
  formals(mask) <- formals
  ours <- as.call(c(quote(`{`), refusals, ours))
  otherwise <- if (is.null(own)) behind else bquote(if (is.logical(.(symbol))) .(own) else .(behind))
  body(mask) <- if (is.null(spec$at)) {
    bquote({
      .(symbol) <- .External2(C_anvil_behind_data, .attached, quote(.(symbol)), .(!is.null(own)), ...)
      if (is.null(.(symbol))) .(ours) else .(otherwise)
    })
  } else {
    condition <- Reduce(function(a, b) bquote(.(a) || .(b)), c(mask_condition(spec$at, spec$is, may_be_missing), spec$also))
    bquote(if (.(condition)) .(ours) else {
      .(symbol) <- .Call(C_anvil_behind, .attached, quote(.(symbol)), .(!is.null(own)))
      .(otherwise)
    })
  }
  mask
}

# The body of R's function, if all that it sees are its arguments, variables of its own, base, and what of stats the masks'
# home has: its mask does what that says, where nothing stands before R's function. Handing on arguments would take longer
# than many of these functions. The call and the caller of the mask are those that R's function would have.
body_without_others <- function(f) {
  if (is.primitive(f)) {
    return(NULL)
  }
  # Seen anywhere: what is named with its package, and what is internal.
  body <- str2lang(gsub("([[:alnum:].]+::|(?<=\\.Internal\\())[[:alnum:]._]+", "identity", body_text(f), perl = TRUE))
  own <- Filter(function(name) !exists(name, environment(f), inherits = FALSE), all.vars(body))
  seen <- setdiff(all.names(body), c(names(formals(f)), own, seen_of_stats(f)))
  of_function <- c("environment", "Recall", "sys.function", "UseMethod")
  base <- ls(baseenv(), all.names = TRUE)
  if (all(seen %in% setdiff(c(base, sub("<-$", "", base)), of_function))) body(f)
}

# What the body of a function of stats sees of its package: routines, and other functions.
seen_of_stats <- function(f) {
  stats <- asNamespace("stats")
  if (identical(environment(f), stats)) Filter(function(name) exists(name, stats, inherits = FALSE), all.names(body(f), unique = TRUE))
}

make_verb_masks <- function() {
  verbs <- tensor_verbs()
  masks <- Map(mask, names(verbs), verbs)
  held <- Filter(function(name) !is.null(body_without_others(function_of_r(name))), names(verbs))
  list(
    masks = masks,
    verbs = vapply(Filter(is.name, lapply(verbs, `[[`, "verb")), as.character, ""),
    stats = unique(unlist(lapply(held, function(name) seen_of_stats(function_of_r(name))))),
    r = R.version.string
  )
}

# Bodies and routines are those of the R that runs.
load_masks <- function() {
  if (!identical(R.version.string, verb_masks$r)) assign("verb_masks", make_verb_masks(), envir = topenv())
  home <- topenv()
  helpers <- c("C_anvil_behind", "C_anvil_behind_data", "as_given", "is_qr", "is_value", "refuse_argument", "truth_of_bool")
  for (name in verb_masks$stats) assign(name, get(name, asNamespace("stats")), envir = mask_home)
  for (name in helpers) assign(name, get(name, home), envir = mask_home)
  for (name in verb_masks$verbs) eval(bquote(delayedAssign(.(name), .(as.name(name)), home, mask_home)))
}

# Of base or stats, whatever is attached.
function_of_r <- function(name) get0(name, baseenv(), mode = "function", inherits = FALSE) %||% getExportedValue("stats", name)

# Arguments of R's functions that change no value.
without_meaning <- c("check.margin", "method", "make.dimnames", "names", "LINPACK", "EISPACK", "tol")

refuse_argument <- function(verb, argument) {
  abort_anvil("argument", sprintf("`%s()` of tensors has no argument `%s`.", verb, argument))
}

# The call of f with the arguments of the mask. Of those in `asked`, f asks whether they were given, and those that were
# not are not handed on: by branches where they are few, as a match takes several microseconds.
mask_calls <- function(f, names, asked) {
  if (anyNA(asked) || length(asked) > 3L) {
    return(bquote(if (nargs() == 1L) .(as.call(c(f, arguments_of_call(names[1L])))) else as_given(.(f), match.call())))
  }
  if (length(asked) == 0L) {
    return(as.call(c(f, arguments_of_call(names))))
  }
  without <- mask_calls(f, setdiff(names, asked[1L]), asked[-1L])
  bquote(if (missing(.(as.name(asked[1L])))) .(without) else .(mask_calls(f, names, asked[-1L])))
}

# Of the arguments with a default, those of which a function asks whether they were given, or whose default it makes
# inside; NA where it looks at the whole call.
asked_arguments <- function(f) {
  if (is.primitive(f)) {
    return(character())
  }
  text <- body_text(f)
  if (is_generic_text(text)) {
    return(required_arguments(f)[-1L])
  }
  with_default <- setdiff(names(formals(f)), required_arguments(f))
  if (length(with_default) == 0L) {
    return(character())
  }
  if (looks_at_its_call(text)) {
    return(NA_character_)
  }
  made_inside <- function(x) length(setdiff(all.vars(formals(f)[[x]]), names(formals(f)))) > 0L
  Filter(function(x) asks_for(x, text) || made_inside(x), with_default)
}

# Arguments without a default that a call may do without; of a generic function its methods decide.
optional_arguments <- function(f) {
  required <- required_arguments(f)
  text <- body_text(f)
  if (is.primitive(f) || is_generic_text(text) || looks_at_its_call(text)) required else Filter(function(x) asks_for(x, text), required)
}

body_text <- function(f) paste(deparse(body(f)), collapse = "\n")
is_generic_text <- function(text) grepl("^UseMethod\\(", text)
looks_at_its_call <- function(text) grepl("nargs\\(\\)|(match|sys)\\.call\\(", text)
asks_for <- function(argument, text) grepl(sprintf("missing(%s)", argument), text, fixed = TRUE)

# f(x, na.rm = na.rm, ...): positions before `...`, or up to the first argument; then names.
arguments_of_call <- function(names) {
  arguments <- lapply(names, as.name)
  names(arguments) <- ifelse(seq_along(names) == 1L | names == "...", "", names)
  arguments
}

mask_condition <- function(at, is, may_be_missing) {
  if (identical(is, "qr")) may_be_missing <- at[-1L] # R's function looks at its first argument first
  tests <- lapply(at, function(x) {
    test <- if (identical(is, "qr") && x == "qr") bquote(!is.object(.(as.name(x))) && is_qr(.(as.name(x)))) else bquote(is.object(.(as.name(x))) && inherits(.(as.name(x)), .(if (identical(is, "qr")) "AnvilValue" else is)))
    if (x %in% may_be_missing) bquote(!missing(.(as.name(x))) && .(test)) else test
  })
  Reduce(function(a, b) bquote((.(a)) || (.(b))), tests)
}

as_given <- function(f, call) {
  given <- names(as.list(call))[-1L]
  arguments <- lapply(given, as.name)
  names(arguments) <- given
  do.call(f, arguments, envir = parent.frame())
}

# --- the functions of tensors ------------------------------------------------------------

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
  first_of <- c("rle", "cut", "nchar", "factor", "tapply", "factorial", "toeplitz")
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
  extreme_place <- function(f, least) function(x) f(as_line(without_nan(x, least, TRUE)))
  list(
    rowSums = masked(nv_row_sums, is = c("AnvilValue", "AnvilSparse")), colSums = masked(nv_col_sums, is = c("AnvilValue", "AnvilSparse")), rowMeans = masked(nv_row_means), colMeans = masked(nv_col_means),
    sweep = masked(function(x, MARGIN, STATS, FUN = "-", ...) nv_sweep(x, MARGIN, STATS, FUN, ...), at = c("x", "STATS")),
    which.max = masked(extreme_place(nv_argmax, -Inf)), which.min = masked(extreme_place(nv_argmin, Inf)),
    order = masked(function(..., na.last = TRUE, decreasing = FALSE) {
      only(na.last, TRUE, "order")
      do.call(nv_order, c(lapply(list(...), function(x) as_line(as_vector(x, "..."))), list(decreasing = decreasing)))
    }, at = NULL),
    rank = masked(function(x, na.last = formals(rank)$na.last, ties.method = "average") {
      if (!isTRUE(na.last) && !identical(na.last, "keep")) {
        abort_anvil("argument", "`rank()` of tensors takes `na.last = TRUE` or `\"keep\"`.", got_value(na.last))
      }
      nv_rank(as_line(x), ties.method[1L], nan_last = isTRUE(na.last))
    }),
    tabulate = masked(function(bin, nbins = NULL) nv_tabulate(if (is_float_code(type_tag(bin)[1L])) nv_convert(bin, "i32") else bin, nbins)),
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

weighted_mean <- function(x, w, ..., na.rm = FALSE) {
  no_others("weighted.mean", c("w", "na.rm"), ...)
  if (missing(w)) {
    return(mean(x, na.rm = na.rm))
  }
  x <- as_vector(x)
  w <- as_vector(w)
  if (check_flag(na.rm)) w <- nv_ifelse(nv_is_nan(x), 0, w)
  nv_div(nv_reduce_sum(nv_mul(without_nan(x, 0, na.rm), w)), nv_reduce_sum(w))
}

covariance <- function(verb, f, x, y, use, method = "pearson") {
  complete <- identical(use, "complete.obs") || identical(use, "na.or.complete")
  if (!complete) only(use, "everything", verb)
  only(method, "pearson", verb)
  f(x, y, na.rm = complete)
}

matrix_verbs <- function() {
  triangular <- function(a, x, k, lower, transpose) {
    x <- at_least_vector(x)
    a <- at_least_vector(a)
    n <- k %||% sizes_of(a)[2L]
    nv_triangular_solve(first_rows(a, n, 1:2), first_rows(x, n, 1L), lower = lower, transpose_a = transpose)
  }
  list(
    outer = masked(function(X, Y, FUN = "*", ...) nv_outer(X, Y, FUN, ...), at = c("X", "Y")),
    `%o%` = masked(function(X, Y) nv_outer(X, Y), at = c("X", "Y")),
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
    chol2inv = masked(function(x, size = NULL) nv_chol2inv(first_rows(x, size %||% sizes_of(x)[2L], 1:2))),
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
