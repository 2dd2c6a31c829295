# Random expressions whose values base R knows: parts and assignments with indices of every kind, and calls of the verbs.
# Each is text, from a seed, with data by name: R data for base R, tensors at once and compiled, where every
# tensor is an argument, so that no index is known.

choose_one <- function(x) x[[sample.int(length(x), 1L)]]
text_of <- function(x) paste(deparse(x, width.cutoff = 500L), collapse = "")

# --- indices -------------------------------------------------------------------------------

# One index into n elements: its code, the places in R, whether the dimension stays, and tensors by name.
random_index <- function(n, name, assigned) {
  several <- function(k = sample(6L, 1L)) sample.int(n, k, replace = TRUE)
  ends <- sample.int(n, 2L, replace = TRUE)
  kinds <- list(
    function() list(code = "", places = seq_len(n), keep = TRUE),
    function() list(code = as.character(ends[1L]), places = ends[1L], keep = FALSE),
    function() list(code = sprintf("%d:%d", ends[1L], ends[2L]), places = ends[1L]:ends[2L], keep = TRUE),
    function() list(code = sprintf("seq_len(%d)", ends[1L]), places = seq_len(ends[1L]), keep = TRUE),
    function() with(list(i = several()), list(code = sprintf("array(c(%s))", toString(i)), places = i, keep = TRUE)),
    function() with(list(i = several(sample(2:6, 1L))), list(code = sprintf("c(%s)", toString(i)), places = i, keep = TRUE)),
    function() list(code = sprintf("-%d", ends[1L]), places = seq_len(n)[-ends[1L]], keep = TRUE),
    function() with(list(i = unique(several())), list(code = sprintf("-c(%s)", toString(i)), places = seq_len(n)[-i], keep = TRUE)),
    function() with(list(flags = sample(c(TRUE, FALSE), n, replace = TRUE)), list(code = sprintf("c(%s)", toString(flags)), places = which(flags), keep = TRUE)),
    function() list(code = name, places = ends[1L], keep = FALSE, data = nv_scalar(ends[1L], choose_one(list("i32", "i64", "ui8")))),
    function() with(list(i = several()), list(code = name, places = i, keep = TRUE, data = nv_tensor(i, choose_one(list("i32", "i64", "i8"))))),
    if (assigned) function() with(list(flags = sample(c(TRUE, FALSE), n, replace = TRUE)), list(code = name, places = which(flags), keep = TRUE, mask = TRUE, data = nv_tensor(flags)))
  )
  choose_one(Filter(Negate(is.null), kinds))()
}

# A part of x, or x with another part: the code, the tensors that it reads, and what it gives in R.
random_subset <- function(seed) {
  withr::with_seed(seed, {
    sizes <- sample.int(5L, sample.int(3L, 1L), replace = TRUE)
    x <- array(as.double(sample.int(prod(sizes))), sizes)
    assigned <- stats::runif(1) < 0.5
    if (stats::runif(1) < 0.2) random_points(x, assigned) else random_block(x, assigned)
  })
}

random_block <- function(x, assigned) {
  sizes <- dim(x)
  used <- if (stats::runif(1) < 0.2) sample.int(length(sizes), 1L) else length(sizes) # the last ones may be left out
  index <- lapply(seq_len(used), function(d) random_index(sizes[d], paste0("i", d), assigned))
  places <- c(lapply(index, `[[`, "places"), lapply(sizes[-seq_len(used)], seq_len))
  keep <- c(vapply(index, `[[`, NA, "keep"), rep(TRUE, length(sizes) - used))
  data <- c(list(x = nv_tensor(x, "f64")), stats::setNames(lapply(index, `[[`, "data"), paste0("i", seq_len(used))))
  data <- Filter(Negate(is.null), data)
  code <- paste(vapply(index, `[[`, "", "code"), collapse = ", ")
  if (!nzchar(code) && used == 1L) places <- lapply(sizes, seq_len)
  shape <- lengths(places)[keep]
  if (!assigned) {
    part <- array(do.call(`[`, c(list(x), places, drop = FALSE)), c(shape, 1L))
    return(list(code = sprintf("x[%s]", code), data = data, expected = part))
  }
  masked <- any(vapply(index, function(i) isTRUE(i$mask), NA))
  single <- masked || stats::runif(1) < 0.4 || !length(shape)
  value <- if (single) 0.5 else array(-seq_len(prod(shape)), shape)
  if (!single) data$value <- nv_tensor(value, "f64")
  expected <- do.call(`[<-`, c(list(x), places, list(value = if (prod(lengths(places))) c(value) else numeric())))
  list(code = sprintf("{ x[%s] <- %s; x }", code, if (single) "0.5" else "value"), data = data, expected = array(expected, c(sizes, 1L)))
}

# Single elements: the rows of a matrix, or a mask of all.
random_points <- function(x, assigned) {
  sizes <- dim(x)
  k <- sample.int(5L, 1L)
  points <- matrix(vapply(sizes, function(n) sample.int(n, k, replace = TRUE), integer(k)), k)
  flags <- array(sample(c(TRUE, FALSE), prod(sizes), replace = TRUE), sizes)
  index <- choose_one(list(
    list(code = "p", where = points, data = nv_tensor(points)),
    list(code = text_of(points), where = points),
    if (length(sizes) > 1L) list(code = text_of(flags), where = flags) else list(code = "p", where = points, data = nv_tensor(points)),
    if (assigned) list(code = "p", where = flags, data = nv_tensor(flags)) else list(code = "p", where = points, data = nv_tensor(points))
  ))
  data <- list(x = nv_tensor(x, "f64"), p = index$data)
  data <- Filter(Negate(is.null), data)
  if (!assigned) {
    return(list(code = sprintf("x[%s]", index$code), data = data, expected = array(x[index$where], c(length(x[index$where]), 1L))))
  }
  expected <- x
  expected[index$where] <- 0.5
  list(code = sprintf("{ x[%s] <- 0.5; x }", index$code), data = data, expected = array(expected, c(sizes, 1L)))
}

# What is wrong with some of them, at once and compiled: one function for all, since compiling takes the time.
check_subsets <- function(seeds) {
  cases <- lapply(seeds, random_subset)
  functions <- lapply(cases, function(case) eval(str2lang(sprintf("function(%s) %s", toString(names(case$data)), case$code)), globalenv()))
  all_of <- function(data) Map(do.call, functions, data)
  found <- lapply(list(`at once` = all_of, compiled = jit(all_of)), function(f) tryCatch(f(lapply(cases, `[[`, "data")), error = identity))
  if (any(vapply(found, inherits, NA, "error")) && length(seeds) > 1L) {
    return(unlist(lapply(seeds, check_subsets)))
  }
  unlist(lapply(names(found), function(how) {
    if (inherits(found[[how]], "error")) {
      return(sprintf("seed %d, %s, %s: %s", seeds, how, cases[[1L]]$code, conditionMessage(found[[how]])))
    }
    same <- mapply(function(case, x) identical(c(shape(x), 1L), dim(case$expected)) && identical(as.double(as_array(x)), as.double(case$expected)), cases, found[[how]])
    sprintf("seed %d, %s: %s of shape %s", seeds, how, vapply(cases, `[[`, "", "code"), vapply(cases, function(case) text_of(shape(case$data$x)), ""))[!same]
  }))
}

# --- verbs ---------------------------------------------------------------------------------

random_verb <- function(seed) {
  withr::with_seed(seed, {
    n <- sample(2:7, 1L)
    p <- sample(1:4, 1L)
    vector <- function(size = n) choose_one(list(round(stats::rnorm(size), 2), as.double(sample(-3:3, size, replace = TRUE)), sample(-4:9, size, replace = TRUE)))
    tall <- matrix(stats::rnorm((n + p) * p), n + p)
    data <- list(
      v = vector(), w = vector(), z = replace(as.double(vector()), sample.int(n, sample(0:2, 1L)), NaN), m = matrix(vector(n * p), n), y = matrix(stats::rnorm(p * n), p),
      s = crossprod(matrix(stats::rnorm((n + 2) * n), n + 2)), q = tall, u = stats::rnorm(n + p), k = sample.int(n, n, replace = TRUE), b = sample(c(TRUE, FALSE), n, replace = TRUE),
      a = array(vector(n * p * 2), c(n, p, 2L))
    )
    code <- choose_one(verb_texts())
    fill <- list(N = n, P = p, I = sample.int(n, 1L), J = sample.int(p, 1L), H = sample(-n:n, 1L), X = text_of(round(stats::rnorm(1), 2)), U = text_of(round(stats::runif(1), 3)),
      G = text_of(sample(c("a", "b", "c"), n, replace = TRUE)), V = text_of(round(stats::rnorm(n), 2)), F = text_of(choose_one(list("-", "+", "*"))), T = text_of(sample(c(TRUE, FALSE), 1L)))
    for (name in names(fill)) code <- gsub(paste0("@", name), fill[[name]], code, fixed = TRUE)
    code <- str2lang(code)
    list(code = code, data = data[intersect(names(data), all.vars(code))])
  })
}

# @N and @P are the sizes, @I and @J places in them, @H a number of at most @N, @X and @U numbers, @V numbers and @G letters for each
# of N, @F an operator, @T a flag.
verb_texts <- function() {
  c(
    "rowSums(m)", "colSums(m)", "rowMeans(m)", "colMeans(m)", "rowSums(a, dims = 2)", "colSums(a, dims = 2)", "rowMeans(a)", "colMeans(a, dims = 1)", "rowSums(cbind(z, 1), na.rm = TRUE)", "colMeans(cbind(z, v), na.rm = @T)",
    "pmin(v, @X)", "pmax(@X, v)", "pmin(v, w, 0.5)", "pmax(z, w, na.rm = TRUE)", "range(v)", "range(@X, v, m)", "diff(v)", "diff(m)", "diff(v, lag = @I)", "diff(v, differences = 2)",
    "cumsum(v)", "cumprod(v)", "cummax(v)", "cummin(m)", "rep(v, @I)", "rep(v, each = @I)", "rep(v, length.out = @N + @I)", "rep(v, times = c(2, rep(1, @N - 1)))", "rep(m, 2)", "rep(v, times = @I, each = 2)",
    "outer(v, w)", "outer(v, w, @F)", "v %o% w", "outer(m, w)", "outer(v, c(1, 2), function(x, y) x - 2 * y)", "kronecker(m, s)", "m %x% v", "kronecker(v, w)",
    "diag(v)", "diag(m)", "diag(s)", "diag(v, @N)", "{ diag(s) <- v; s }", "{ m <- m + 0.5; diag(m) <- @X; m }", "scale(q)", "scale(q, scale = FALSE)", "scale(q, center = FALSE)",
    "sweep(m, 1, v)", "sweep(m, 1, v, @F)", "sweep(m, 2, colMeans(m))", "sweep(a, 1, v, @F)", "sweep(a, c(1, 2), m)", "sweep(m, 2, m[@I, ], @F)",
    "which.max(v)", "which.min(m)", "which.max(c(z, @X))", "order(v)", "order(v, decreasing = TRUE)", "order(k, w)", "order(z)", "order(z, decreasing = @T)", "order(b, v)", "rank(v)", "rank(k)", "rank(z, na.last = \"keep\")", "rank(v, ties.method = \"min\")", "rank(v, ties.method = \"first\")", "rank(v, ties.method = \"max\")",
    "tabulate(k, @N)", "tabulate(k, @I)", "rowsum(m, @G)", "rowsum(v, @G)", "max(@X, v)", "sum(1, v, m)", "prod(v, 0.5)", "min(c(1, 2), v)", "any(b)", "all(TRUE, b)", "any(FALSE, v > 0)", "sum(b)", "mean(b)", "mean(m)",
    "median(v)", "median(m)", "median(z, na.rm = TRUE)", "quantile(v)", "quantile(v, @U)", "quantile(z, c(@U, 0.1), na.rm = TRUE)", "var(v)", "sd(v)", "var(z, na.rm = TRUE)", "sd(z, na.rm = TRUE)", "cov(q)", "var(q)", "cor(q)", "cov(v, w)", "cor(cbind(v, w + k), k)", "cov(q, u)",
    "sum(z, na.rm = TRUE)", "prod(z, na.rm = TRUE)", "mean(z, na.rm = TRUE)", "max(z, na.rm = TRUE)", "min(0, z, na.rm = TRUE)", "is.na(z)", "anyNA(z)", "v %in% w", "@X %in% v", "v %in% c(1, 2, 3)", "k %in% m", "w %in% z",
    "m %*% y", "y %*% v", "v %*% m", "v %*% w", "s %*% @V", "@V %*% s", "crossprod(m, v)", "crossprod(v)", "tcrossprod(m)", "tcrossprod(v, w)", "crossprod(m)", "y %*% m %*% y[, 1:@P, drop = FALSE][, 1]",
    "solve(s)", "solve(s, v)", "solve(s, m)", "solve(s, @V)", "det(s)", "determinant(s)$modulus", "svd(q)$d", "abs(svd(q)$u)", "abs(svd(q)$v)", "eigen(s, symmetric = TRUE)$values", "abs(eigen(s, symmetric = TRUE)$vectors)", "chol(s)", "chol2inv(chol(s))",
    "backsolve(chol(s), v)", "backsolve(chol(s), m, transpose = TRUE)", "forwardsolve(s, v)", "forwardsolve(s, m, upper.tri = TRUE)", "backsolve(s, @V)", "qr.coef(qr(q), u)", "qr.fitted(qr(q), u)", "qr.resid(qr(q), u)", "qr.X(qr(q))", "abs(qr.R(qr(q)))", "abs(qr.Q(qr(q)))", "qr.solve(q, u)",
    "convolve(v, w)", "convolve(v, k, type = \"open\")", "convolve(v, c(1, 2), type = \"filter\")", "convolve(u, v, type = \"o\")",
    "head(v, @H)", "tail(v, @H)", "head(m, @I)", "tail(m, -@I)", "head(m, c(@I, @J))", "rev(v)", "rev(m)", "drop(m[@I, , drop = FALSE])", "drop(a)", "c(@X, v)", "c(1, v, m)", "c(v, @V)", "c(b, TRUE)", "sort(v)", "sort(v, decreasing = TRUE)",
    "ifelse(b, v, w)", "ifelse(v > 0, v, @X)", "atan2(v, w)", "v + @V", "@V * v", "v > @V", "v %% 3", "v %/% 2", "t(m)", "aperm(a)", "aperm(a, c(2, 3, 1))", "rbind(v, w)", "cbind(m, v)", "cbind(1, v)", "nrow(m) + v", "is.matrix(m) + v", "is.numeric(b) + v", "length(a) * v", "identical(v, v) + v", "abs(v)", "round(v)", "floor(z)", "exp(m)", "sqrt(abs(v))", "exp(k)", "-v", "!b", "b & v > 0", "b | w > 0",
    "b + (v > 0)", "b - (v > 0)", "@T * b", "b %*% (v > 0)", "crossprod(b)", "tcrossprod(b)", "outer(b, v > 0)", "-b", "+b", "abs(b)", "sign(b)", "sqrt(b)", "diff(b)", "max(b)", "range(b)", "pmax(b, v > 0)",
    "scale(cbind(z, v))", "var(cbind(z, v), na.rm = TRUE)", "rowsum(v, @G, reorder = FALSE)"
  )
}

# What differs from R in some of them. One function computes all, and where that fails each is tried.
check_verbs <- function(seeds) {
  withr::local_options(anvil.default_dtypes = "f64") # into which integers go
  cases <- lapply(seeds, random_verb)
  together <- tryCatch(
    {
      expected <- lapply(cases, function(case) outcome(in_session(case$code, case$data)))
      functions <- lapply(cases, function(case) eval(call("function", as.pairlist(lapply(case$data, function(x) quote(expr = ))), case$code), globalenv()))
      all_of <- function(data) Map(do.call, functions, data)
      data <- lapply(cases, function(case) as_f64(case$data))
      results <- list(all_of(data), jit(all_of)(data))
      same <- lapply(results, function(result) mapply(function(x, y) identical(dim(x), dim(y)) && isTRUE(all.equal(c(x), c(y), tolerance = 1e-7)), lapply(result, bare_data), expected))
      same[[1L]] & same[[2L]]
    },
    error = function(e) rep(FALSE, length(seeds))
  )
  found <- lapply(which(!together), function(i) {
    wrong <- differences_from_r(cases[[i]]$code, cases[[i]]$data, 1e-7)
    if (length(wrong)) sprintf("seed %d: %s", seeds[i], wrong)
  })
  unlist(found)
}

in_pieces_of <- function(size, seeds, check) unlist(lapply(split(seeds, ceiling(seq_along(seeds) / size)), check), use.names = FALSE)
