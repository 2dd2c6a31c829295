#' R's own functions on tensors
#'
#' Many functions of R work on tensors as they do on R data, in debug mode and in a trace. Generic functions have methods. Of
#' others, there are functions of the same name and formals in the attached package: with a tensor they do what the table says, and
#' without one they call what the session would call if anvil were not attached, whatever the order in which packages are
#' attached. Code in packages does not see those: it calls the `nv_*` functions that the tables name.
#'
#' At least one operand of an operator must be a tensor. Operands have the same number of dimensions, or are scalars; dimensions of
#' size 1 are repeated. A vector of R goes with tensors that have one dimension and its length. All else is an error where
#' R would recycle: `sweep(m, 2, v)` lines `v` up with the columns of `m`, and `m - mean(m, dims = 1, drop = FALSE)` keeps the
#' dimension that it needs.
#'
#' What is not in these tables does not know tensors, nor does what the last one lists: some of it takes the data out of a tensor and
#' gives R data in debug mode, which is an error in a trace; else [as_array()] does so. See `vignette("differences", "anvil")` for all
#' that differs from R.
#'
#' @eval verb_sections()
#' @name anvil_generics
#' @aliases all any atan2 besselI besselJ besselK besselY c drop identical is.logical isFALSE isTRUE max min ncol norm nrow pmax pmin prod
#' @aliases margin.table marginSums prop.table proportions psigamma range sprintf stopifnot sum weighted.mean which.max which.min
#' @eval paste("@aliases", paste(c(names(refused_verbs()), names(distribution_verbs())), collapse = " "))
#' @examples
#' x <- nv_tensor(matrix(c(1, 2, 3, 4), 2))
#' 1 - exp(-x)
#' x %*% c(1, 2)
#' sum(x, dims = 1)
#' rowSums(x)
#' sweep(x, 2, colMeans(x))
#' max(1, x)
#' cbind(x, 0)
#' jit(function(x) c(0, diff(cumsum(x[, 1]))))(x)
NULL

# Tensors and boxes are of one class to R's generics, so that mixed operands find the same method.

#' @export
Ops.AnvilValue <- function(e1, e2) {
  # is.list() first: it spares every other operand the call of a closure
  if (is.list(e1) && is_sparse(e1) || !missing(e2) && is.list(e2) && is_sparse(e2)) {
    return(sparse_operator(.Generic, e1, e2))
  }
  if (missing(e2)) {
    return(switch(.Generic, `-` = nv_negate(e1), `+` = as_number(e1), `!` = bool_only(nv_not(e1), .Generic)))
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
  # integers are whole, and go into functions of real numbers as floats
  if (!is_float_code(type_tag(x)[1L]) && !(.Generic %in% c("abs", "sign", "cumsum", "cumprod", "cummax", "cummin"))) {
    if (.Generic %in% c("floor", "ceiling", "round", "trunc")) {
      return(as_number(x))
    }
    x <- as_float(x)
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
    cumsum = nv_cumsum(at_least_vector(x)),
    cumprod = nv_cumprod(at_least_vector(x)),
    cummax = nv_cummax(at_least_vector(x)),
    cummin = nv_cummin(at_least_vector(x)),
    unsupported(.Generic, verb_hint(.Generic))
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
    signif = unsupported("signif", verb_hint("signif")),
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
    hint <- if (length(known)) sprintf("i It takes %s.", paste0("`", known, "`", collapse = ", "))
    abort_anvil("argument", sprintf("`%s()` of tensors has no argument `%s`.", generic, other), hint)
  }
}

# --- reductions -------------------------------------------------------------------------

#' @export
Summary.AnvilValue <- function(..., na.rm = FALSE) reduce_generic(.Generic, list(...), na.rm)

reduce_generic <- function(generic, operands, na.rm = FALSE) {
  dims <- NULL
  drop <- TRUE
  if (!is.null(names(operands))) {
    known <- if (generic != "range") c("dims", "drop")
    unknown <- setdiff(names(operands), c("", known))
    if (length(unknown)) {
      hint <- if (length(known)) {
        "i Its arguments are `dims`, `drop` and `na.rm`; anything else is one more operand, without a name."
      } else {
        "i Use `min()` and `max()` with `dims`."
      }
      abort_anvil("argument", sprintf("`%s()` of tensors has no argument `%s`.", generic, unknown[1L]), hint)
    }
    dims <- operands[["dims"]]
    drop <- operands[["drop"]] %||% TRUE
    operands <- unname(operands[!(names(operands) %in% known)])
  }
  operands <- operands[!vapply(operands, is.null, NA)]
  if (generic == "range") {
    return(nv_concatenate(reduce_generic("min", operands, na.rm), reduce_generic("max", operands, na.rm)))
  }
  verb <- reduction_verb(generic)
  # a number takes the dtype of what it meets
  numbers <- vapply(operands, function(x) is.null(dims) && is.double(x) && is_literal(x) && !is.nan(x), NA)
  operands[!numbers] <- lapply(operands[!numbers], function(x) without_nan(as_vector(x, "..."), verb[[3L]], na.rm))
  sizes_of_any(operands)
  Reduce(verb[[2L]], c(lapply(operands[!numbers], verb[[1L]], dims, drop), operands[numbers]))
}

# How it reduces one operand, joins what two of them give, and from what it starts.
reduction_verb <- function(generic) {
  switch(generic,
    sum = list(nv_reduce_sum, nv_add, 0), prod = list(nv_reduce_prod, nv_mul, 1), max = list(nv_reduce_max, nv_max, -Inf),
    min = list(nv_reduce_min, nv_min, Inf), any = list(nv_reduce_any, nv_or, FALSE), all = list(nv_reduce_all, nv_and, TRUE)
  )
}

#' @export
mean.AnvilValue <- function(x, dims = NULL, drop = TRUE, trim = 0, na.rm = FALSE, ...) {
  if (!is.numeric(trim) || !identical(as.double(trim), 0)) {
    abort_anvil("argument", "`trim` is not supported for tensors.")
  }
  no_others("mean", c("dims", "drop", "na.rm"), ...)
  mean_without_nan(x, dims, drop, na.rm)
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
