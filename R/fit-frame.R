#' Tensors of a formula and a data frame
#'
#' `nv_model_frame()` evaluates a formula as [lm()], [glm()] and the mixed models of lme4 do, by [stats::model.frame()] and
#' [stats::model.matrix()], and gives tensors: the response, the model matrix, weights, offset, the factors, and for each random
#' term `(effects | group)` the matrix of its effects and which group a row belongs to. What is needed for new data,
#' levels, contrasts, and the bases of `poly()` or `ns()`, stays with it.
#'
#' `a | b / c` stands for the terms of `b` and `b:c`, `effects || group` for one term by effect.
#'
#' @param formula A formula; or, with `data`, a model frame of before, whose terms then see the new data: no response is needed.
#' @param data A data frame, list or environment.
#' @param subset,weights,offset As in [lm()], evaluated in `data`.
#' @param na.action What becomes of rows with missing values: a function, or the name of one.
#' @param contrasts For factors, a list as in [stats::model.matrix()].
#' @param dtype The dtype of what is no index.
#' @return A list of class `anvil_model_frame`, `n` rows and `p` coefficients:
#'
#' * `y`: the response, `[n]`, or `[n, k]` where it is a matrix; `NULL` without one. A logical response, and a factor with two levels, is 0 and 1 as in
#'   [glm()], a factor with more the number of its level as `i32`;
#' * `x`: the model matrix, `[n, p]`;
#' * `weights`, `offset`: `[n]`; the scalars 1 and 0 where there are none;
#' * `factors`: by name, lists of `index`, `[n]` of `i32` from 1, 0 where the level is missing, and `levels`;
#' * `random`: for each term a list of `index` and `levels` of its groups, and `z`, `[n, k]`, its effects; named by the group;
#' * `names`: those of the coefficients, and `effects`, in a random term, those of its effects;
#' * `terms`, `xlevels`, `contrasts`, `na.action`: as in a model of R's own.
#'
#' New data have no `y` and `weights`. Where variables of them are missing, rows of `x` are NaN; a group must be there.
#' @section Errors:
#' Of class `anvil_error_argument`: for what [stats::model.frame()] and [stats::model.matrix()] refuse, variables and levels that
#' are not there, a response that is no number, flag or factor, groups that the model has not seen.
#' @family fitting
#' @export
#' @examples
#' frame <- nv_model_frame(cyl > 4 ~ wt + factor(gear), mtcars)
#' frame
#' loss <- function(beta) -sum(nv_dbinom(frame$y, 1, nv_logistic(drop(frame$x %*% beta)), log = TRUE))
#' gradient(loss)(nv_tensor(numeric(4), "f64"))
#'
#' nv_model_frame(frame, data.frame(wt = 3, gear = 4))$x
#' nv_model_frame(weight ~ Time + (Time | Chick), ChickWeight)$random
nv_model_frame <- function(formula, data = NULL, subset = NULL, weights = NULL, offset = NULL,
                           na.action = getOption("na.action", "na.omit"), contrasts = NULL, dtype = "f64") {
  if (inherits(formula, "anvil_model_frame")) {
    own <- intersect(names(match.call()), c("subset", "weights", "offset", "na.action", "contrasts"))
    if (length(own)) abort_anvil("argument", sprintf("`%s` must not be given with a model frame, which has its own.", own[1L]))
    if (is.null(data)) abort_anvil("argument", "`data` is missing: the rows that the model frame shall see.")
    return(new_model_frame(formula, data, dtype))
  }
  if (!inherits(formula, "formula")) {
    abort_anvil("argument", "`formula` must be a formula, or a model frame.", sprintf("x Got %s.", describe_value(formula)))
  }
  if (!is.null(contrasts) && !(is.list(contrasts) && !is.object(contrasts))) wrong_argument("contrasts", "a list", contrasts)
  # `subset` and kin are expressions of columns
  call <- as.call(list(
    quote(stats::model.frame), without_bars(formula, keep = TRUE), data = data, subset = substitute(subset),
    weights = substitute(weights), offset = substitute(offset), na.action = na.action, drop.unused.levels = TRUE
  ))
  where <- parent.frame()
  frame <- of_stats("`formula`, `data`, `subset`, `weights`, `offset` and `na.action` make no model frame.", eval(call, where))
  terms <- stats::terms(frame)
  kept <- list(
    formula = formula, terms = terms, given_offset = substitute(offset), xlevels = stats::.getXlevels(terms, frame),
    fixed = stats::delete.response(stats::terms(without_bars(formula, keep = FALSE), data = frame))
  )
  response <- stats::model.response(frame)
  rows <- tensors_of_rows(frame, kept, contrasts, dtype)
  kept$contrasts <- attr(rows, "contrasts")
  kept$na.action <- stats::na.action(frame)
  weights <- stats::model.weights(frame)
  structure(
    c(list(y = response_tensor(response, dtype), weights = tensor_of_rows(weights, dtype, none = 1)), rows, kept),
    class = "anvil_model_frame"
  )
}

new_model_frame <- function(old, data, dtype) {
  kept <- unclass(old)[c("formula", "terms", "given_offset", "fixed", "xlevels", "contrasts")]
  # the offset is an expression of columns
  call <- as.call(list(
    stats::model.frame, stats::delete.response(old$terms), data = data, offset = old$given_offset, na.action = stats::na.pass, xlev = old$xlevels
  ))
  frame <- of_stats("`formula` and `data` make no model frame.", eval(call))
  structure(c(tensors_of_rows(frame, kept, old$contrasts, dtype, old$random), kept), class = "anvil_model_frame")
}

# What R's own functions say, under what was given to them.
of_stats <- function(what, value) {
  value <- tryCatch(value, error = identity)
  if (inherits(value, "condition")) abort_anvil("argument", what, paste("x", conditionMessage(value)))
  value
}

# What does not depend on the response. before: the random terms in whose levels the groups are looked up.
tensors_of_rows <- function(frame, kept, contrasts, dtype, before = NULL) {
  design <- of_stats("`formula` and `contrasts` make no model matrix.", stats::model.matrix(kept$fixed, frame, contrasts.arg = contrasts))
  is_factor <- names(frame) %in% names(kept$xlevels)
  structure(
    list(
      x = tensor_of_rows(unname(design), dtype), offset = tensor_of_rows(stats::model.offset(frame), dtype, none = 0),
      factors = Map(index_of, unclass(frame)[is_factor], kept$xlevels[names(frame)[is_factor]]),
      random = random_terms(kept$formula, frame, dtype, before), names = colnames(design), rows = rownames(frame)
    ),
    contrasts = attr(design, "contrasts")
  )
}

# none: the number that stands for what is not there.
tensor_of_rows <- function(x, dtype, none) if (is.null(x)) nv_scalar(none, dtype) else nv_tensor(x, dtype, shape = dim(x) %||% length(x))

# A missing level is none of them: 0.
index_of <- function(x, levels) {
  list(index = nv_tensor(match(as.character(x), levels, nomatch = 0L), "i32", shape = length(x)), levels = levels)
}

response_tensor <- function(y, dtype) {
  if (is.null(y)) {
    return(NULL)
  }
  if (is.character(y)) y <- as.factor(y)
  if (is.factor(y)) {
    if (anyNA(y) && nlevels(y) != 2L) abort_missing("The response, a factor,")
    y <- if (nlevels(y) == 2L) y != levels(y)[1L] else as.integer(y)
  }
  if (!is.numeric(y) && !is.logical(y)) {
    abort_anvil("argument", "The response must be numbers, flags or a factor.", sprintf("x Got <%s>.", described_class(y)))
  }
  y <- unclass(y)
  attributes(y) <- list(dim = dim(y))
  if (is.logical(y) || anyNA(y)) y <- y + 0
  nv_tensor(y, if (is.integer(y) && is.null(dim(y))) "i32" else dtype, shape = dim(y) %||% length(y))
}

abort_missing <- function(what) {
  abort_anvil("argument", paste(what, "has missing values."), c(
    "x A level that is missing has no number.", "i `data[complete.cases(data), ]`, or `na.action = na.omit` with a formula, leave such rows out."
  ))
}

#' @export
print.anvil_model_frame <- function(x, ...) {
  cat(sprintf("<model frame %s>\n", paste(deparse(x$formula, width.cutoff = 500L), collapse = " ")))
  cat(sprintf("%d rows, %d coefficients: %s\n", nrow(x$x), ncol(x$x), toString(x$names)))
  for (name in names(x$factors)) cat(sprintf("factor %s: %d levels\n", name, length(x$factors[[name]]$levels)))
  for (term in x$random) cat(sprintf("random %s by %s: %d groups\n", toString(term$effects), term$group, length(term$levels)))
  if (length(x$na.action)) cat(sprintf("%d rows with missing values left out\n", length(x$na.action)))
  invisible(x)
}

# ---- random terms --------------------------------------------------------------------------------------

is_bar <- function(e) is.call(e) && (identical(e[[1L]], quote(`|`)) || identical(e[[1L]], quote(`||`)))

without_parentheses <- function(e) {
  while (is.call(e) && identical(e[[1L]], quote(`(`))) e <- e[[2L]]
  e
}

# The formula without its random terms; or with their variables in their places (`keep`), for the frame.
without_bars <- function(formula, keep) {
  strip <- function(e) {
    if (is_bar(without_parentheses(e))) {
      e <- without_parentheses(e)
      return(if (keep) call("+", e[[2L]], e[[3L]]))
    }
    if (!is.call(e)) {
      return(e)
    }
    if (!as.character(e[[1L]])[1L] %in% c("+", "-")) {
      return(e)
    }
    parts <- Filter(Negate(is.null), lapply(as.list(e)[-1L], strip))
    if (length(parts) == length(e) - 1L) as.call(c(e[[1L]], parts)) else if (length(parts)) parts[[1L]]
  }
  n <- length(formula)
  formula[[n]] <- strip(formula[[n]]) %||% 1
  if (has_bar(formula[[n]])) {
    abort_anvil("argument", "A random term of `formula` must be added to others, by `+`.", sprintf("x It has `%s`.", deparse1(formula[[n]])))
  }
  formula
}

# Within a function's call `|` is R's own.
has_bar <- function(e) {
  if (!is.call(e) || !as.character(e[[1L]])[1L] %in% c("(", "+", "-", "*", "/", ":", "^", "%in%", "|", "||")) {
    return(FALSE)
  }
  is_bar(e) || any(vapply(as.list(e)[-1L], has_bar, NA))
}

bars_of <- function(e) {
  if (is_bar(e)) list(e) else if (is.call(e) && as.character(e[[1L]])[1L] %in% c("+", "-", "(")) unlist(lapply(as.list(e)[-1L], bars_of)) else list()
}

# `b / c` is b and b:c.
groups_of <- function(e) {
  e <- without_parentheses(e)
  if (!is.call(e) || !identical(e[[1L]], quote(`/`))) {
    return(list(e))
  }
  outer <- groups_of(e[[2L]])
  c(outer, lapply(groups_of(e[[3L]]), function(inner) call(":", outer[[length(outer)]], inner)))
}

random_terms <- function(formula, frame, dtype, before = NULL) {
  terms <- list()
  for (bar in bars_of(formula[[length(formula)]])) {
    z <- stats::model.matrix(stats::as.formula(call("~", bar[[2L]]), environment(formula)), frame)
    parts <- if (identical(bar[[1L]], quote(`||`))) as.list(seq_len(ncol(z))) else list(seq_len(ncol(z)))
    for (group in groups_of(bar[[3L]])) {
      for (columns in parts) {
        name <- paste(deparse(group), collapse = "")
        terms[[length(terms) + 1L]] <- random_term(z[, columns, drop = FALSE], group, name, frame, dtype, before[[length(terms) + 1L]]$levels)
        names(terms)[length(terms)] <- name
      }
    }
  }
  terms
}

random_term <- function(z, group, name, frame, dtype, levels) {
  variables <- lapply(as.list(frame)[all.vars(group)], as.factor)
  of_row <- eval(group, variables)
  if (anyNA(of_row)) abort_missing(sprintf("`%s`, by which random effects are grouped,", name))
  levels <- levels %||% levels(droplevels(of_row))
  unknown <- setdiff(levels(droplevels(of_row)), levels)
  if (length(unknown)) {
    abort_anvil("argument", sprintf("`%s` has groups that the model has not seen.", name), sprintf("x %s", toString(unknown)))
  }
  c(list(group = name), index_of(of_row, levels), list(z = tensor_of_rows(unname(z), dtype), effects = colnames(z)))
}
