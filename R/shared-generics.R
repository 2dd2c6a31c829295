# Of some functions that are masked (masks.R) the methods package makes one generic function for all packages, which Matrix
# and others export: where theirs stands first, since they were attached later, it has methods for tensors.

#' @rawNamespace exportMethods(rowSums, colSums, rowMeans, colMeans, diag, "diag<-", kronecker)
NULL

# The verb with the formals of the generic function.
shared_method <- function(name, verb) {
  formals <- formals(methods::getGeneric(name))
  method <- function() NULL
  formals(method) <- formals
  body(method) <- mask_calls(quote(.verb), intersect(names(formals), names(formals(verb))), asked = character())
  environment(method) <- list2env(list(.verb = verb), parent = topenv())
  method
}

local({
  verbs <- tensor_verbs()[c("rowSums", "colSums", "rowMeans", "colMeans", "diag", "diag<-", "kronecker")]
  for (name in names(verbs)) {
    both <- name == "kronecker"
    for (operands in if (both) list(c("AnvilValue", "AnvilValue"), c("AnvilValue", "ANY"), c("ANY", "AnvilValue")) else verbs[[name]]$is) {
      setMethod(name, operands, shared_method(name, verbs[[name]]$verb), where = topenv())
    }
  }
})
