#' Types of tensors
#'
#' An `AbstractTensor` is the type of a tensor: dtype, shape, and whether the dtype
#' is ambiguous, that is, came from an R value and yields to others. A
#' `ConcreteTensor` is the type of a captured tensor together with the tensor, a
#' `LiteralTensor` that of a number written in the code, which can stand in the place of an operand; an `IotaTensor` that of the numbers
#' from `start` on along a dimension ([nvl_iota()]).
#'
#' @param dtype A dtype or its name.
#' @param shape Sizes; `c()` for a scalar.
#' @param ambiguous A flag.
#' @param dimension,start The dimension along which numbers are counted, and the first one.
#' @param data For `ConcreteTensor()` an `AnvilTensor`, for `LiteralTensor()` an R
#'   number or flag, or text of an integer that is beyond 2^53.
#' @param x,e1,e2 Tensors, boxes, types or R values.
#' @param ambiguity Whether types must agree in `ambiguous`, too.
#' @param pure Whether to drop data.
#' @return An object of class `AbstractTensor`, for `eq_type()` and `neq_type()` a
#'   flag.
#' @family graphs
#' @export
#' @examples
#' nv_aten("f32", c(2, 3))
#' nv_aten("f32", c())
#' to_abstract(nv_tensor(1:3))
#' eq_type(nv_aten("f32", 2), nv_aten("f32", 2, ambiguous = TRUE), ambiguity = FALSE)
nv_aten <- function(dtype, shape, ambiguous = FALSE) AbstractTensor(dtype, shape, ambiguous)

#' @rdname nv_aten
#' @export
AbstractTensor <- function(dtype, shape, ambiguous = FALSE) {
  tag <- make_tag(dtype, shape, ambiguous)
  abstract_from_tag(tag)
}

abstract_from_tag <- function(tag, fields = list(), class = character()) {
  type <- list(dtype = dtype_from_code(tag[1L]), shape = tag[-(1:2)], ambiguous = tag[2L] != 0L)
  structure(c(fields, type), class = c(class, "AbstractTensor"))
}

#' @rdname nv_aten
#' @export
ConcreteTensor <- function(data) {
  data <- concrete(data, "data")
  abstract_from_tag(type_tag(data), list(data = data), "ConcreteTensor")
}

#' @rdname nv_aten
#' @export
LiteralTensor <- function(data, shape = c(), dtype = default_dtype(data), ambiguous = !is.logical(data)) {
  is_text <- is.character(data) && length(data) == 1L && !is.na(data) && grepl("^-?[0-9]+$", data) && is_integer_dtype(as_dtype_argument(dtype))
  if (!is_literal(data) && !is_text) wrong_argument("data", "a number or flag", data)
  abstract_from_tag(make_tag(dtype, shape, ambiguous), list(data = data), "LiteralTensor")
}

#' @rdname nv_aten
#' @export
IotaTensor <- function(shape, dtype, dimension, start = 1L, ambiguous = FALSE) {
  type <- make_tag(dtype, shape, ambiguous)
  check_whole_number(dimension, lower = 1L, upper = max(1L, length(shape)))
  abstract_from_tag(type, list(dimension = as.integer(dimension), start = check_whole_number(start)), "IotaTensor")
}

# Called by the core: the type of the result of a call of iota.
range_type <- function(tag, params) {
  IotaTensor(params$shape, params$dtype, params$dim, params$start, params$ambiguous)
}

# Called by the core: the type of a value of a graph.
abstract_value <- function(tag, data, kind) {
  switch(kind + 1L,
    abstract_from_tag(tag),
    abstract_from_tag(tag),
    abstract_from_tag(tag, list(data = data), "LiteralTensor"),
    abstract_from_tag(tag, list(data = data), "ConcreteTensor")
  )
}

# c(dtype, ambiguous, sizes...) of a type or a bare R value.
abstract_tag <- function(x, name = "x") {
  if (inherits(x, "AbstractTensor")) {
    return(make_tag(x$dtype, x$shape, x$ambiguous))
  }
  if (inherits(x, "GraphNode")) {
    return(abstract_tag(x$aval))
  }
  tag <- .Call(C_anvil_tag, x)
  if (!is.null(tag)) {
    return(tag)
  }
  wrong_argument(name, "a tensor, an R array or a number", x, if (is_r_data(x)) "i Vectors do not become tensors by themselves: use `array()` or `nv_tensor()`.")
}

is_r_data <- function(x) (is.logical(x) || is.integer(x) || is.double(x)) && (!is.object(x) || inherits(x, "integer64"))
is_literal <- function(x) is_r_data(x) && length(x) == 1L && is.null(dim(x))
# NA_real_ is a NaN to tensors.
is_missing_literal <- function(x) is_literal(x) && !is.double(x) && is.na(x)
is_r_array <- function(x) is_r_data(x) && !is.null(dim(x))

#' Whether a value can stand where a tensor is expected
#'
#' True for tensors, boxes, R arrays, single numbers and flags, and literals of a type ([LiteralTensor()]).
#'
#' @param x Any object.
#' @param literal Whether R's values can.
#' @return A flag.
#' @family graphs
#' @export
#' @examples
#' is_tensorish(1)
#' is_tensorish("a")
is_tensorish <- function(x, literal = TRUE) is_value(x) || check_flag(literal) && (is_literal(x) || is_r_array(x) || inherits(x, "LiteralTensor"))

#' @rdname nv_aten
#' @export
to_abstract <- function(x, pure = FALSE) {
  check_flag(pure)
  type <- if (inherits(x, "AbstractTensor")) {
    x
  } else if (inherits(x, "GraphBox")) {
    .Call(C_anvil_box_value, x)
  } else if (is_tensor(x)) {
    ConcreteTensor(x)
  } else if (is_literal(x)) {
    LiteralTensor(x)
  } else {
    abstract_from_tag(type_tag(x))
  }
  if (pure) abstract_from_tag(abstract_tag(type)) else type
}

#' @rdname nv_aten
#' @export
eq_type <- function(e1, e2, ambiguity) {
  a <- type_tag(e1)
  b <- type_tag(e2)
  identical(a[-2L], b[-2L]) && (!check_flag(ambiguity) || a[2L] == b[2L])
}

#' @rdname nv_aten
#' @export
neq_type <- function(e1, e2, ambiguity) !eq_type(e1, e2, ambiguity)

#' @rdname dtype
#' @export
dtype_abstract <- function(x) dtype(x)

#' @rdname dtype
#' @export
shape_abstract <- function(x) shape(x)

#' @rdname dtype
#' @export
ndims_abstract <- function(x) ndims(x)

#' @rdname dtype
#' @export
ambiguous_abstract <- function(x) ambiguous(x)

# Operators find the method of tensors, which says what to do instead.
#' @rawNamespace S3method(Ops, AbstractTensor, Ops.AnvilValue)
NULL

#' @export
format.AbstractTensor <- function(x, ...) {
  sprintf("AbstractTensor(dtype=%s%s, shape=%s)", as.character(x$dtype), if (x$ambiguous) "?" else "", paste(x$shape, collapse = "x"))
}

#' @export
format.ConcreteTensor <- function(x, ...) {
  sprintf("ConcreteTensor(%s%s, %s)", as.character(x$dtype), if (x$ambiguous) "?" else "", shape2string(x$shape))
}

#' @export
format.LiteralTensor <- function(x, ...) {
  sprintf("LiteralTensor(%s, %s%s, %s)", format(x$data), as.character(x$dtype), if (x$ambiguous) "?" else "", shape2string(x$shape))
}

#' @export
format.IotaTensor <- function(x, ...) {
  sprintf("IotaTensor(shape=%s, dtype=%s%s, dimension=%d, start=%d)", shape2string(x$shape), as.character(x$dtype), if (x$ambiguous) "?" else "", x$dimension, x$start)
}

#' @export
print.AbstractTensor <- function(x, ...) {
  cat(format(x), "\n")
  invisible(x)
}

#' @export
print.ConcreteTensor <- function(x, ...) {
  cat("ConcreteTensor\n")
  print(x$data, header = FALSE)
  invisible(x)
}
