# Products of matrices by R's own names, and what else package Matrix would take first. S3 methods of %*% exist since R 4.3, of crossprod() since
# R 4.4. Before, %*% is a function of the package, and crossprod() is the S4 generic that the
# methods package makes of R's function for all packages alike, so that Matrix and this one share
# it. Tensors have no S4 bit: the dispatch of closures does not want it, and R's deparse() takes
# the class off external pointers that have it. That of %*%, a primitive, would want it.

#' @rawNamespace
#' if (getRversion() >= "4.3.0") {
#'   S3method(matrixOps, AnvilValue, matrix_ops_tensor)
#'   S3method(matrixOps, AnvilSparse, matrix_ops_tensor)
#'   exportMethods("%*%")
#' } else {
#'   export("%*%")
#' }
#' exportMethods(crossprod, tcrossprod)
#' exportClasses(AnvilValue, AnvilTensor, DebugBox, GraphBox, AnvilSparse, JitFunction, AnvilImported, AnvilFunction)
#' if (getRversion() >= "4.4.0") {
#'   S3method(crossprod, AnvilValue, crossprod_tensor)
#'   S3method(tcrossprod, AnvilValue, tcrossprod_tensor)
#'   S3method(crossprod, AnvilSparse, crossprod_tensor)
#'   S3method(tcrossprod, AnvilSparse, tcrossprod_tensor)
#' }
#' importFrom(methods, setMethod, setOldClass)
matrix_ops_tensor <- function(x, y) matrix_product(list(x = x, y = y), 0L, 1L)
crossprod_tensor <- function(x, y = NULL, ...) matrix_product(list(x = x, y = y %||% x), 1L, 1L)
tcrossprod_tensor <- function(x, y = NULL, ...) matrix_product(list(x = x, y = y %||% x), 0L, 0L)

if (getRversion() < "4.3.0") {
  `%*%` <- function(x, y) if (is_value(x) || is_value(y) || is_sparse(x) || is_sparse(y)) matrix_ops_tensor(x, y) else base::`%*%`(x, y)
}

# For S4 methods, slots and class unions of other packages; S3 classes elsewhere.
for (x in c("AnvilTensor", "DebugBox", "GraphBox")) setOldClass(c(x, "AnvilValue"))
setOldClass("AnvilSparse")
for (x in c("JitFunction", "AnvilImported", "AnvilFunction")) setOldClass(c(x, "function"))

# A matrix of package Matrix decides by S4 methods, of which it has some for anything as the other operand. Its class need not be there.
product_signatures <- function(others) {
  ours <- c("AnvilValue", "AnvilSparse")
  mixed <- c(lapply(ours, c, others), lapply(ours, function(x) c(others, x)))
  if (others == "ANY") c(mixed, list(ours, rev(ours)), lapply(ours, rep, 2L)) else mixed
}

local({
  set <- function(name, signatures, method) {
    for (operands in signatures) suppressMessages(setMethod(name, operands, method, where = topenv()))
  }
  with_matrix <- product_signatures("Matrix")
  all <- c(with_matrix, if (getRversion() < "4.4.0") product_signatures("ANY"))
  if (getRversion() >= "4.3.0") set("%*%", with_matrix, function(x, y) matrix_ops_tensor(x, y))
  set("crossprod", all, crossprod_tensor)
  set("tcrossprod", all, tcrossprod_tensor)
  set("Ops", with_matrix, function(e1, e2) get(.Generic, baseenv())(matrix_operand(e1), matrix_operand(e2)))
})
rm(x)

product_method_aliases <- function() {
  aliases <- function(name, signatures) vapply(signatures, function(operands) sprintf("%s,%s-method", name, paste(operands, collapse = ",")), "")
  with_matrix <- product_signatures("Matrix")
  all <- c(with_matrix, product_signatures("ANY"))
  c(aliases("Ops", with_matrix), aliases("%*%", with_matrix), aliases("crossprod", all), aliases("tcrossprod", all))
}
