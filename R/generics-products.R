# Products of matrices by R's own names. S3 methods of %*% exist since R 4.3, of crossprod() since
# R 4.4. Before, %*% is a function of the package, and crossprod() is the S4 generic that the
# methods package makes of R's function for all packages alike, so that Matrix and this one share
# it. Tensors have no S4 bit: the dispatch of closures does not want it, and R's deparse() takes
# the class off external pointers that have it. That of %*%, a primitive, would want it.

#' @rawNamespace
#' if (getRversion() >= "4.3.0") {
#'   S3method(matrixOps, AnvilTensor, matrix_ops_tensor)
#'   S3method(matrixOps, AnvilBox, matrix_ops_tensor)
#' } else {
#'   export("%*%")
#' }
#' if (getRversion() >= "4.4.0") {
#'   S3method(crossprod, AnvilTensor, crossprod_tensor)
#'   S3method(crossprod, AnvilBox, crossprod_tensor)
#'   S3method(tcrossprod, AnvilTensor, tcrossprod_tensor)
#'   S3method(tcrossprod, AnvilBox, tcrossprod_tensor)
#' } else {
#'   exportMethods(crossprod, tcrossprod)
#' }
#' importFrom(methods, setMethod, setOldClass)
matrix_ops_tensor <- function(x, y) matrix_product(list(x = x, y = y), 0L, 1L)
crossprod_tensor <- function(x, y = NULL, ...) matrix_product(list(x = x, y = y %||% x), 1L, 1L)
tcrossprod_tensor <- function(x, y = NULL, ...) matrix_product(list(x = x, y = y %||% x), 0L, 0L)

if (getRversion() < "4.3.0") {
  is_value <- function(x) is.object(x) && inherits(x, c("AnvilTensor", "AnvilBox"))
  `%*%` <- function(x, y) if (is_value(x) || is_value(y)) matrix_ops_tensor(x, y) else base::`%*%`(x, y)
}

if (getRversion() < "4.4.0") {
  setOldClass("AnvilTensor")
  setOldClass(c("DebugBox", "AnvilBox"))
  setOldClass(c("GraphBox", "AnvilBox"))
  for (x in c("AnvilTensor", "AnvilBox", "ANY")) {
    for (y in c("AnvilTensor", "AnvilBox", if (x != "ANY") "ANY")) {
      setMethod("crossprod", c(x, y), crossprod_tensor)
      setMethod("tcrossprod", c(x, y), tcrossprod_tensor)
    }
  }
  rm(x, y)
}
