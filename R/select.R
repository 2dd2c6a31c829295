#' Choose between two tensors element by element
#'
#' `nv_ifelse()` takes from `true_value` where `pred` is true, else from `false_value`.
#' `nv_select()` is another name of it. Both values are computed; to compute only one
#' use [nv_if()].
#'
#' The values are promoted to a common dtype. Scalars and dimensions of size 1, those of `pred` included,
#' are spread over the shape of the others.
#'
#' A derivative goes to the chosen side only: it stays zero through the functions of the other side, even where these
#' have an infinite derivative, as `log(x)` in `nv_ifelse(x > 0, log(x), x)` at 0. That holds through functions of
#' elements, sums, products, sorting, indexing and branches; through solves and loops where nothing of their result is
#' chosen.
#'
#' Where anvil is attached, R's `ifelse()` calls this function for tensors.
#'
#' @param pred A tensor of dtype `bool`.
#' @param true_value,false_value Tensors or numbers.
#' @return A tensor of the common dtype and shape.
#' @aliases ifelse
#' @family elementwise functions
#' @export
#' @examples
#' x <- nv_tensor(c(-1, 2, -3))
#' nv_ifelse(x > 0, x, 0)
nv_ifelse <- function(pred, true_value, false_value) {
  pred <- as_operand(pred, "pred")
  sizes <- sizes_of(pred)
  like <- function(x) if (length(sizes) == 1L && length(x) > 1L && length(x) == sizes && is_r_data(x)) array(x) else x # a vector of R
  values <- .Call(C_anvil_promote, list(true_value = like(true_value), false_value = like(false_value)), TRUE)
  operands <- c(list(pred), values)
  if (length(sizes) > 0L) operands <- .Call(C_anvil_broadcast, operands, TRUE)
  record("select", operands)
}

#' @rdname nv_ifelse
#' @export
nv_select <- nv_ifelse

#' Limit values to a range
#'
#' Elements below `min_val` become `min_val`, those above `max_val` become `max_val`; NaN
#' stays. The three operands are promoted to a common dtype, so a bound with a
#' fraction makes an integer tensor a float one. At a bound, `operand` and the bound
#' share the derivative equally.
#'
#' @param min_val,max_val Scalars, or tensors of the shape of `operand`.
#' @param operand A tensor.
#' @return A tensor of the shape of `operand`.
#' @family elementwise functions
#' @export
#' @examples
#' nv_clamp(0, nv_tensor(c(-1, 0.5, 2)), 1)
nv_clamp <- function(min_val, operand, max_val) {
  record_promoted("clamp", list(min_val, operand, max_val), broadcast = FALSE)
}
