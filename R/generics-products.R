# Products of matrices by R's own names. S3 methods of %*% exist since R 4.3, of crossprod() since
# R 4.4. Before, %*% is a function of the package, and crossprod() is the S4 generic that the
# methods package makes of R's function for all packages alike, so that Matrix and this one share
# it. Tensors have no S4 bit: the dispatch of closures does not want it, and R's deparse() takes
# the class off external pointers that have it. That of %*%, a primitive, would want it.

#' @rawNamespace
#' if (getRversion() >= "4.3.0") {
#'   S3method(matrixOps, AnvilValue, matrix_ops_tensor)
#' } else {
#'   export("%*%")
#' }
#' if (getRversion() >= "4.4.0") {
#'   S3method(crossprod, AnvilValue, crossprod_tensor)
#'   S3method(tcrossprod, AnvilValue, tcrossprod_tensor)
#' } else {
#'   exportMethods(crossprod, tcrossprod)
#' }
#' importFrom(methods, setMethod, setOldClass)
matrix_ops_tensor <- function(x, y) matrix_product(list(x = x, y = y), 0L, 1L)
crossprod_tensor <- function(x, y = NULL, ...) matrix_product(list(x = x, y = y %||% x), 1L, 1L)
tcrossprod_tensor <- function(x, y = NULL, ...) matrix_product(list(x = x, y = y %||% x), 0L, 0L)

if (getRversion() < "4.3.0") {
  `%*%` <- function(x, y) if (is_value(x) || is_value(y)) matrix_ops_tensor(x, y) else base::`%*%`(x, y)
}

for (x in c("AnvilTensor", "DebugBox", "GraphBox")) setOldClass(c(x, "AnvilValue"))

if (getRversion() < "4.4.0") {
  for (operands in list(c("AnvilValue", "AnvilValue"), c("AnvilValue", "ANY"), c("ANY", "AnvilValue"))) {
    setMethod("crossprod", operands, crossprod_tensor)
    setMethod("tcrossprod", operands, tcrossprod_tensor)
  }
  rm(operands)
}
rm(x)
