#' R's generic functions on tensors
#'
#' Operators and functions of base R that work on tensors, by calling the `nv_*` function
#' of the same meaning:
#'
#' * `+ - * / ^ %% %/%`, see [nv_arithmetic]; `== != < <= > >=`, see [nv_compare]; `& | !`, for
#'   `bool` only, see [nv_logic];
#' * `%*%`, `crossprod()` and `tcrossprod()`, see [nv_matmul()]; `chol()`, see [nv_chol()];
#'   `solve()`, `det()` and `determinant()`, see [nv_solve()];
#' * `abs()`, `sqrt()`, `exp()`, `log()`, `round()` and so on, see [nv_math]; `cumsum()`, see
#'   [nv_cumsum()];
#' * `sum()`, `prod()`, `max()`, `min()`, `range()`, `any()`, `all()` and `mean()`, see [nv_reduce];
#'   all but `range()` also take `dims` and `drop`;
#' * `x[i, j]` and `x[i, j] <- value`, see [nv_subset()];
#' * `sort()`, which keeps NaN as the largest element, see [nv_sort()];
#' * `t()`, `aperm()`, `rev()`, `rbind()`, `cbind()`, `c()` and `dim(x) <- value`, see [nv_reshape()],
#'   [nv_movement] and [nv_concatenate()];
#' * `dim()`, `length()`, `is.finite()`, `is.infinite()`, `is.nan()`, `is.na()` and `anyNA()`;
#' * `identical()` and `all.equal()`, which compare types and data; `all.equal()` says what differs.
#'
#' Before R 4.3, `%*%` is a function of this package, which leaves everything but tensors to R, and
#' before R 4.4 `crossprod()` and `tcrossprod()` are S4 generics, the same as those of the package
#' Matrix, in whatever order the packages are attached.
#'
#' At least one operand of an operator must be a tensor. `%*%`, `rbind()` and `cbind()` work with the
#' tensor in any place, the others look at their first argument.
#'
#' `na.rm = TRUE`, `round(x, digits)` and functions that are not listed are errors. Functions of
#' R that are not generic do not know tensors: instead of `ifelse()`, `pmax()` and `rowSums()` use
#' [nv_ifelse()], [nv_max()] and the reductions. Some, such as `apply()`, `outer()` and `svd()`, take the
#' data out of a tensor as an R array; inside of a trace they are errors. So does [as_array()], for
#' `quantile()`, `which.max()`, `solve()` and what else is not there.
#'
#' @name anvil_generics
#' @examples
#' x <- nv_tensor(matrix(c(1, 2, 3, 4), 2))
#' 1 - exp(-x)
#' x %*% t(x)
#' sum(x, dims = 1)
#' mean(x)
#' range(x)
#' cbind(x, 0)
NULL

# Tensors and boxes are of one class to R's generics, so that mixed operands find the same method.

#' @export
Ops.AnvilValue <- function(e1, e2) {
  if (missing(e2)) {
    return(switch(.Generic, `-` = nv_negate(e1), `+` = e1, `!` = bool_only(nv_not(e1), .Generic)))
  }
  switch(.Generic,
    `+` = nv_add(e1, e2),
    `-` = nv_sub(e1, e2),
    `*` = nv_mul(e1, e2),
    `/` = real_div(e1, e2),
    `^` = real_pow(e1, e2),
    `%%` = nv_mod(e1, e2),
    `%/%` = nv_floor_div(e1, e2),
    `==` = nv_eq(e1, e2),
    `!=` = nv_ne(e1, e2),
    `<` = nv_lt(e1, e2),
    `<=` = nv_le(e1, e2),
    `>` = nv_gt(e1, e2),
    `>=` = nv_ge(e1, e2),
    `&` = bool_only(nv_and(e1, e2), .Generic),
    `|` = bool_only(nv_or(e1, e2), .Generic),
    unsupported(.Generic)
  )
}

bool_only <- function(result, operator) {
  if (type_tag(result)[1L] != 0L) {
    bits <- c(`&` = "nv_and", `|` = "nv_or", `!` = "nv_not")[[operator]]
    abort_anvil("dtype", sprintf("`%s` wants operands of dtype bool.", operator), c(
      sprintf("x Got %s.", names(dtype_codes)[type_tag(result)[1L] + 1L]),
      sprintf("i Compare with 0 before, or use `%s()` for the bits of integers.", bits)
    ))
  }
  result
}

unsupported <- function(generic, hint = character()) {
  abort_anvil("argument", sprintf("`%s()` is not defined for tensors.", generic), hint)
}

# --- mathematics ----------------------------------------------------------------------

#' @export
Math.AnvilValue <- function(x, ...) {
  if (...length() > 0L) {
    return(math_with(.Generic, x, ...))
  }
  switch(.Generic,
    abs = nv_abs(x),
    sign = nv_sign(x),
    sqrt = nv_sqrt(x),
    exp = nv_exp(x),
    expm1 = nv_expm1(x),
    log = nv_log(x),
    log1p = nv_log1p(x),
    log2 = nv_log2(x),
    log10 = nv_log10(x),
    floor = nv_floor(x),
    ceiling = nv_ceiling(x),
    round = nv_round(x),
    trunc = nv_trunc(x),
    sin = nv_sin(x),
    cos = nv_cos(x),
    tan = nv_tan(x),
    asin = nv_asin(x),
    acos = nv_acos(x),
    atan = nv_atan(x),
    sinh = nv_sinh(x),
    cosh = nv_cosh(x),
    tanh = nv_tanh(x),
    asinh = nv_asinh(x),
    acosh = nv_acosh(x),
    atanh = nv_atanh(x),
    lgamma = nv_lgamma(x),
    digamma = nv_digamma(x),
    trigamma = nv_polygamma(1, x),
    cumsum = nv_cumsum(x),
    cumprod = nv_cumprod(x),
    cummax = nv_cummax(x),
    cummin = nv_cummin(x),
    gamma = unsupported("gamma", "i `exp(lgamma(x))` is its absolute value."),
    unsupported(.Generic)
  )
}

# The members of the group that have a second argument.
math_with <- function(generic, x, ...) {
  switch(generic,
    log = nv_div(nv_log(x), log_base(...)),
    round = {
      if (!is.numeric(..1) || !identical(as.double(..1), 0)) {
        abort_anvil("argument", "`digits` is not supported: tensors are rounded to whole numbers.", "i `round(x * 100) / 100` rounds to two digits.")
      }
      nv_round(x)
    },
    signif = unsupported("signif"),
    abort_anvil("argument", sprintf("`%s()` takes no further arguments for tensors.", generic))
  )
}

log_base <- function(base) {
  if (is_literal(base)) {
    return(log(base))
  }
  type_tag(base)
  nv_log(base)
}

# What R's own method would take, or what is misspelt, does not pass in silence.
no_others <- function(generic, known, ...) {
  others <- list(...)
  if (length(others)) {
    other <- c(Filter(nzchar, names(others)), "...")[1L]
    hint <- sprintf("i It takes %s.", paste0("`", known, "`", collapse = " and "))
    abort_anvil("argument", sprintf("`%s()` of tensors has no argument `%s`.", generic, other), hint)
  }
}

# --- reductions -------------------------------------------------------------------------

#' @export
Summary.AnvilValue <- function(..., na.rm = FALSE) {
  check_na_rm(na.rm)
  reduce_generic(.Generic, list(...))
}

reduce_generic <- function(generic, operands) {
  dims <- NULL
  drop <- TRUE
  if (!is.null(names(operands))) {
    known <- if (generic != "range") c("dims", "drop")
    unknown <- setdiff(names(operands), c("", known))
    if (length(unknown)) {
      hint <- if (length(known)) {
        "i Its arguments are `dims` and `drop`; anything else is one more operand, without a name."
      } else {
        "i Use `min()` and `max()` with `dims`."
      }
      abort_anvil("argument", sprintf("`%s()` of tensors has no argument `%s`.", generic, unknown[1L]), hint)
    }
    dims <- operands[["dims"]]
    drop <- operands[["drop"]] %||% TRUE
    operands <- unname(operands[!(names(operands) %in% known)])
  }
  sizes_of_any(operands)
  if (generic == "range") {
    return(nv_concatenate(reduce_generic("min", operands), reduce_generic("max", operands)))
  }
  reduce_one <- switch(generic, sum = nv_reduce_sum, prod = nv_reduce_prod, max = nv_reduce_max, min = nv_reduce_min, any = nv_reduce_any, all = nv_reduce_all)
  if (length(operands) == 1L) {
    return(reduce_one(operands[[1L]], dims, drop))
  }
  combine <- switch(generic, sum = nv_add, prod = nv_mul, max = nv_max, min = nv_min, any = nv_or, all = nv_and)
  Reduce(combine, lapply(operands, reduce_one, dims = dims, drop = drop))
}

check_na_rm <- function(na.rm) {
  if (!identical(na.rm, FALSE)) {
    abort_anvil("argument", "`na.rm = TRUE` is not supported: tensors do not carry NAs.", "i To leave NaN out, replace it first: `nv_ifelse(is.nan(x), 0, x)`.")
  }
}

#' @export
mean.AnvilValue <- function(x, dims = NULL, drop = TRUE, trim = 0, na.rm = FALSE, ...) {
  check_na_rm(na.rm)
  if (!is.numeric(trim) || !identical(as.double(trim), 0)) {
    abort_anvil("argument", "`trim` is not supported for tensors.")
  }
  no_others("mean", c("dims", "drop"), ...)
  nv_reduce_mean(x, dims, drop)
}

#' @export
is.nan.AnvilValue <- function(x) nv_is_nan(x)
#' @export
is.na.AnvilValue <- is.nan.AnvilValue
#' @export
anyNA.AnvilValue <- function(x, recursive = FALSE) nv_reduce_any(nv_is_nan(x))
#' @export
is.finite.AnvilValue <- function(x) nv_is_finite(x)
#' @export
is.infinite.AnvilValue <- function(x) nv_is_infinite(x)
